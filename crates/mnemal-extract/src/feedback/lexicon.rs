//! Vocabulary of a pack's patterns, its word classes, and the mapping of a sentence to word ids.

use std::collections::HashMap;
use std::ops::Range;

use mnemal_core::{Error, Result};

use super::ids::Ids;
use super::pattern::{Branch, Reader};
use super::token::{NUMBER, Token, UNKNOWN, parts, parts_clauses, stands_alone};
use crate::hash::WordHashBuilder;
use crate::phrase::frequency;
use crate::section::Section;
use crate::word::words;

/// Relative frequency of numbers in texts. Source: own choice.
const NUMBERS: usize = 100;

/// Words, classes and contractions of one pack.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    ids: HashMap<String, u32, WordHashBuilder>,
    /// How often each word is in texts, by its number less those that are no words'.
    frequencies: Vec<usize>,
    classes: Vec<Class>,
    names: HashMap<String, usize>,
    spelled_out: HashMap<String, Vec<u32>, WordHashBuilder>,
    joins: Ids,
    fillers: Ids,
    tails: Ids,
    /// Beginnings of words that are words of their own: "l'" of "l'anglais".
    elisions: Vec<String>,
    /// Endings of words that are words of their own: "-moi" of "appelle-moi".
    enclitics: Vec<String>,
}

/// A list of words and phrases that a pattern names in one word.
#[derive(Debug, Default)]
pub(crate) struct Class {
    pub(crate) words: Ids,
    pub(crate) phrases: Vec<Branch>,
}

impl Lexicon {
    /// Reads the tables `expand`, `edges` and `classes` of a pack.
    ///
    /// # Errors
    /// `Invalid` for a value of another type, or a class that is used before its definition.
    pub(crate) fn read(pack: Section<'_>) -> Result<Self> {
        let mut lexicon = Self::default();
        if let Some(section) = pack.section("expand")? {
            for word in section.keys() {
                let long = section.text(word)?.unwrap_or_default();
                let ids = long.split(' ').map(|part| lexicon.intern(part)).collect();
                lexicon.spelled_out.insert(word.to_owned(), ids);
            }
        }
        if let Some(edges) = pack.section("edges")? {
            lexicon.joins = lexicon.set(&edges.lines("joins")?);
            lexicon.fillers = lexicon.set(&edges.lines("fillers")?);
            lexicon.tails = lexicon.set(&edges.lines("tails")?);
            lexicon.elisions = edges.lines("elisions")?.into_iter().map(str::to_owned).collect();
            lexicon.enclitics = edges.lines("enclitics")?.into_iter().map(str::to_owned).collect();
        }
        for class in pack.sections("class")? {
            let name = class.text("name")?.ok_or_else(|| Error::invalid("a pack: a class has no name"))?;
            lexicon.add_class(name, &class.lines("words")?)?;
        }
        Ok(lexicon)
    }

    fn set(&mut self, lines: &[&str]) -> Ids {
        lines.iter().flat_map(|line| line.split(' ')).map(|word| self.intern(word)).collect()
    }

    fn add_class(&mut self, name: &str, lines: &[&str]) -> Result<()> {
        let mut class = Class::default();
        for line in lines {
            let items = Reader::new(self).read(line)?;
            match items.as_slice() {
                [item] if item.as_words().is_some() => {
                    class.words.extend(item.as_words().unwrap_or_default().iter().copied());
                }
                _ => class.phrases.push(Branch::new(items, self)),
            }
        }
        self.names.insert(name.to_owned(), self.classes.len());
        self.classes.push(class);
        Ok(())
    }

    /// Returns the number of a word, a new one if it has none.
    pub(crate) fn intern(&mut self, word: &str) -> u32 {
        if let Some(id) = self.ids.get(word) {
            return *id;
        }
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX - 2) + NUMBER + 1;
        self.ids.insert(word.to_owned(), next);
        self.frequencies.push(frequency(word));
        next
    }

    /// Returns about how often a word is in texts, beside others, by its number.
    pub(crate) fn frequency(&self, id: u32) -> usize {
        let place = id.checked_sub(NUMBER + 1);
        place.and_then(|place| self.frequencies.get(place as usize)).copied().unwrap_or(NUMBERS)
    }

    /// Returns how texts spell each word: by itself, and drawn together with others.
    pub(crate) fn spellings(&self) -> HashMap<u32, Vec<&str>> {
        let mut spellings: HashMap<u32, Vec<&str>> = HashMap::new();
        for (word, id) in &self.ids {
            spellings.entry(*id).or_default().push(word);
        }
        for (word, ids) in &self.spelled_out {
            for id in ids {
                spellings.entry(*id).or_default().push(word);
            }
        }
        spellings
    }

    /// Returns the words that a contraction stands for.
    pub(crate) fn spelled_out(&self, word: &str) -> Option<&[u32]> {
        self.spelled_out.get(word).map(Vec::as_slice)
    }

    /// Returns whether a word joins clauses.
    pub(crate) fn joins(&self, word: u32) -> bool {
        self.joins.contains(word)
    }

    /// Returns the place of a class.
    pub(crate) fn class_named(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Returns the class at a place.
    pub(crate) fn class(&self, place: usize) -> Option<&Class> {
        self.classes.get(place)
    }

    /// Turns the words of a part of the text into numbers.
    pub(crate) fn tokens(&self, text: &str, of: Range<usize>) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut last_end = of.start;
        for word in words(text.get(of.clone()).unwrap_or_default()) {
            let span = of.start + word.span.start..of.start + word.span.end;
            let between = text.get(last_end..span.start).unwrap_or_default();
            let is_parted = tokens.is_empty() || parts_clauses(between);
            last_end = span.end;
            let first = tokens.len();
            self.push(&word.lower, span, &mut tokens);
            if let Some(token) = tokens.get_mut(first) {
                token.is_parted = is_parted;
            }
        }
        self.mark_edges(&mut tokens);
        mark_loud(text, of.end, &mut tokens);
        for token in tokens.iter_mut().skip(1) {
            let first = text.get(token.span.clone()).and_then(|word| word.chars().next());
            token.is_capital = first.is_some_and(char::is_uppercase);
        }
        tokens
    }

    fn push(&self, word: &str, span: Range<usize>, tokens: &mut Vec<Token>) {
        let mut push = |id: u32, span: Range<usize>| tokens.push(Token::new(id, span));
        if let Some(ids) = self.spelled_out.get(word) {
            for id in ids {
                push(*id, span.clone());
            }
        } else if word.chars().any(stands_alone) {
            for part in parts(word) {
                let id = self.id(word.get(part.clone()).unwrap_or_default());
                // Small letters may have other lengths than the text; the span of the word is always right.
                let is_same = span.len() == word.len();
                let bytes =
                    if is_same { span.start + part.start..span.start + part.end } else { span.clone() };
                push(id, bytes);
            }
        } else if let Some((article, rest)) = self.elided(word) {
            push(self.id(article), span.clone());
            push(self.id(rest), span);
        } else {
            push(self.id(word), span);
        }
    }

    /// Returns the parts of a word that begins with an elided one and is no word of the patterns itself.
    fn elided<'w>(&self, word: &'w str) -> Option<(&'w str, &'w str)> {
        if self.ids.contains_key(word) {
            return None;
        }
        if let Some(elision) = self.elisions.iter().find(|elision| word.starts_with(elision.as_str())) {
            return word.split_at_checked(elision.len());
        }
        let verb = self.enclitics.iter().find_map(|enclitic| word.strip_suffix(enclitic.as_str()))?;
        Some((verb, word.get(verb.len() + 1..)?))
    }

    fn id(&self, word: &str) -> u32 {
        match self.ids.get(word) {
            Some(id) => *id,
            None if word.starts_with(|c: char| c.is_numeric()) => NUMBER,
            None => UNKNOWN,
        }
    }

    /// Marks where clauses may start and end.
    fn mark_edges(&self, tokens: &mut [Token]) {
        let mut is_start = true;
        for token in tokens.iter_mut() {
            token.is_start = is_start || token.is_parted;
            is_start = self.joins.contains(token.id) || token.is_start && self.fillers.contains(token.id);
        }
        let mut is_end = true;
        for token in tokens.iter_mut().rev() {
            // What follows this word ends a clause, so the clause may end after it.
            let is_behind = is_end;
            token.is_end = token.is_parted
                || self.joins.contains(token.id)
                || is_behind && self.tails.contains(token.id);
            is_end = token.is_end;
        }
    }
}

/// Marks the words that several marks follow (`!!`, `?!`, `??`), or an ellipsis.
fn mark_loud(text: &str, end: usize, tokens: &mut [Token]) {
    let mut next = end;
    for token in tokens.iter_mut().rev() {
        let behind = text.get(token.span.end..next).unwrap_or_default();
        token.is_loud = behind.chars().filter(|c| matches!(c, '!' | '?' | '！' | '？')).count() > 1;
        token.is_trailing = behind.contains("...") || behind.contains('…');
        next = token.span.start.min(next);
    }
}
