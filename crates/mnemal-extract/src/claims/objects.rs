//! The object of a claim: the words of a sentence that fill the slot of a rule.

mod bounds;
mod key;
mod kind;
mod sense;
mod words;

use std::ops::Range;

use mnemal_core::EntityKind;

pub(crate) use self::key::{key, language};
pub(crate) use self::words::ObjectWords;
use crate::claims::hints::Hints;
use crate::claims::remark::Reason;
use crate::claims::rule::Rule;
use crate::claims::rules::Rules;
use crate::clause::{AnalyzedSentence, Break};
use crate::gates::pack::Words;

/// Words of a further thing in a list. Source: own choice.
const LONGEST_ITEM: usize = 4;
/// Words over which a row of things may reach: "Wolof, French and a little Spanish". Source: own choice.
const LONGEST_ROW: usize = 14;
/// Things in a list. Source: own choice.
const LONGEST_LIST: usize = 8;

/// An accepted object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Its words, without article.
    pub(crate) words: Range<usize>,
    /// Whether it was cut for its length.
    pub(crate) is_long: bool,
    /// Whether it has a vague adjective: "great".
    pub(crate) is_bland: bool,
    /// Content words.
    pub(crate) content: usize,
    /// The place of its head.
    pub(crate) head: usize,
}

/// Cuts objects out of one sentence for one rule.
pub(crate) struct Cutter<'c, 't> {
    pub(crate) reading: &'c AnalyzedSentence<'t>,
    pub(crate) rules: &'c Rules,
    pub(crate) rule: &'c Rule,
    pub(crate) hints: &'c Hints<'c>,
}

impl Cutter<'_, '_> {
    /// Returns the objects in `range`: one, or each of a list; or the reason for having none.
    pub(crate) fn objects(&self, range: Range<usize>) -> Result<Vec<Cut>, Reason> {
        if let Some(of) = &self.rule.each {
            return self.each(range, of);
        }
        let (first, mut next) = self.one(range.clone())?;
        let mut all = vec![first];
        if !self.rule.is_list {
            return Ok(all);
        }
        let mut items = Vec::new();
        let mut is_closed = false;
        while items.len() < LONGEST_LIST && !is_closed && next < range.end {
            let is_comma = self.reading.break_at(next) == Break::Comma;
            let is_joined = self.has(next, &self.words().joiners);
            if !is_comma && !is_joined || self.reading.break_at(next) > Break::Comma {
                break;
            }
            is_closed = is_joined;
            let from = next + usize::from(is_joined);
            if self.begins_clause(from) {
                break;
            }
            let Ok((item, behind)) = self.one(from..range.end) else { break };
            if item.words.len() > LONGEST_ITEM && !self.has(from, &self.words().determiners) {
                break;
            }
            items.push((item, self.is_capital(from) || self.has(from, &self.words().determiners)));
            next = behind;
        }
        if is_closed || items.iter().all(|(_, is_marked)| *is_marked) {
            all.extend(items.into_iter().map(|(item, _)| item));
        }
        Ok(all)
    }

    /// Returns one object and where the cut is.
    fn one(&self, range: Range<usize>) -> Result<(Cut, usize), Reason> {
        let start = self.start(range.clone());
        if self.words().is_close && start > 0 && self.reading.break_at(start) > Break::None {
            return Err(Reason::EmptyObject);
        }
        let (end, is_long) = self.end(start..range.end);
        let is_marked = self.is_marked(start) || start > 0 && self.is_article(start - 1);
        let mut words = self.without_determiners(start..end);
        if words.is_empty() {
            return Err(Reason::EmptyObject);
        }
        words = self.of_kind(words, is_marked)?;
        words.end = self.without_trail(&words);
        if words.is_empty() {
            return Err(Reason::EmptyObject);
        }
        let cut = self.check(words, start, is_marked)?;
        Ok((Cut { is_long, ..cut }, end))
    }

    /// Returns each word of a class, or each product, up to where the clause ends; brackets do not end it.
    fn each(&self, range: Range<usize>, of: &str) -> Result<Vec<Cut>, Reason> {
        let end_at = |at: usize| {
            if of == "@product" {
                let found = self.hints.mention_at(self.reading, at);
                return found.filter(|(_, mention)| mention.kind == EntityKind::Product).map(|(end, _)| end);
            }
            self.rules.is_of(of, self.reading.lower(at)).then_some(at + 1)
        };
        let mut all = Vec::new();
        let mut at = range.start;
        while at < range.end.min(range.start + LONGEST_ROW) && !self.ends_row(at, range.start) {
            match end_at(at) {
                Some(end) if !self.has(at, &self.rule.reject) => {
                    let words = at..end.max(at + 1);
                    at = words.end;
                    all.push(self.thing(words));
                }
                _ => at += 1,
            }
        }
        let is_first = all.first().is_some_and(|cut: &Cut| cut.words.start == range.start);
        if all.is_empty() || self.rule.is_light && !is_first { Err(Reason::WrongKind) } else { Ok(all) }
    }

    /// Returns whether a row of things cannot go on at a word: a sign other than a comma or a bracket, a verb, a subject.
    fn ends_row(&self, at: usize, start: usize) -> bool {
        let is_bracket = self.reading.between(at).is_some_and(|between| between.contains(['(', ')']));
        at > start && self.reading.break_at(at) >= Break::Start && !is_bracket
            || self.is_cut(at)
            || self.has(at, &self.rule.stop)
            || at > start && self.rules.subjects.is_subject(self.reading.lower(at))
    }

    /// Returns whether a verb or a subject follows "and".
    fn begins_clause(&self, at: usize) -> bool {
        let Some(word) = self.reading.words.get(at) else { return true };
        self.has(at, &self.words().verb_after_and) || self.rules.subjects.is_subject(&word.lower)
    }

    /// One item of a list as an object, unchanged.
    fn thing(&self, words: Range<usize>) -> Cut {
        let head = self.head(&words);
        Cut { is_long: false, is_bland: false, content: 1, head, words }
    }

    /// Returns the words of the pattern itself as an object.
    pub(crate) fn own(&self, words: Range<usize>) -> Cut {
        let times = words.clone().filter_map(|at| self.time_end(at)).max();
        let words = words.start..times.unwrap_or(words.end).max(words.end);
        let head = self.head(&words);
        Cut { is_long: false, is_bland: false, content: self.content(&words), head, words }
    }

    /// Returns `all` as an object when `words` of it say enough.
    pub(crate) fn checked(&self, words: Range<usize>, all: Range<usize>) -> Result<Cut, Reason> {
        let cut = self.check(words.clone(), words.start, false)?;
        let is_joiner = |at: &usize| self.has(*at, &self.words().joiners);
        let end = all.end - all.clone().rev().take_while(is_joiner).count();
        Ok(Cut { content: self.content(&all), words: all.start..end, ..cut })
    }

    /// Returns whether these words contain a rejected word.
    pub(crate) fn rejects(&self, words: &Range<usize>) -> bool {
        words.clone().any(|at| self.has(at, &self.rule.reject))
    }

    /// Whether an article, a number, an owner or a name comes first.
    fn is_marked(&self, at: usize) -> bool {
        self.is_article(at) || self.is_capital(at)
    }

    /// Whether there is an article, a number or an owner.
    fn is_article(&self, at: usize) -> bool {
        self.has(at, &self.words().determiners) || self.is_number(at)
    }

    fn is_number(&self, at: usize) -> bool {
        self.has(at, &self.words().numbers)
            || self.reading.lower(at).starts_with(|c: char| c.is_ascii_digit())
    }

    fn is_capital(&self, at: usize) -> bool {
        self.reading
            .words
            .get(at)
            .is_some_and(|word| word.is_capitalised(self.reading.text) && word.lower != "i")
    }

    fn has(&self, at: usize, of: &Words) -> bool {
        self.reading.has(at, of)
    }

    fn words(&self) -> &ObjectWords {
        &self.rules.objects
    }
}
