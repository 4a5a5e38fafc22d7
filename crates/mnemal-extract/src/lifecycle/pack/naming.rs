//! Words that name the subject of a sentence.

use std::ops::Range;

use mnemal_text::{fold, is_stop_word};

use super::{LifecyclePack, MOST_AMONG, is_name_start};
use crate::clause::AnalyzedSentence;
use crate::feedback::token::{Token, stands_alone};
use crate::lifecycle::stop_words_of;

/// Most words, or characters of a script without spaces, of a person's name. Source: own choice; more are a sentence.
const MOST_OF_NAME: usize = 4;

impl LifecyclePack {
    /// Returns the words with content of a sentence, without those of time.
    pub(super) fn all_words(&self, text: &str, tokens: &[Token]) -> Vec<String> {
        let times = self.times.find(tokens, &self.lexicon);
        let of_time: Vec<Range<usize>> = times.iter().map(|hit| hit.from..hit.to).collect();
        self.words(text, tokens, (0..tokens.len(), MOST_AMONG), &of_time)
    }

    /// Returns the content words that name the subject of a statement.
    pub(crate) fn subject_words(&self, text: &str) -> Vec<String> {
        let spaced = self.spaced(text);
        let tokens = self.lexicon.tokens(&spaced, 0..spaced.len());
        let framing = self.framing.find(&tokens, &self.lexicon);
        let times = self.times.find(&tokens, &self.lexicon);
        let left_out: Vec<Range<usize>> = framing.iter().chain(&times).map(|hit| hit.from..hit.to).collect();
        self.words(&spaced, &tokens, (0..tokens.len(), MOST_AMONG), &left_out)
    }

    /// Returns the parts of a text between words that join, and signs where there are such words: each of them is meant for
    /// itself.
    pub(crate) fn parts<'t>(&self, text: &'t str) -> Vec<&'t str> {
        // What follows a colon explains.
        let text = text.split_once(':').map_or(text, |(before, _)| before);
        let tokens = self.lexicon.tokens(text, 0..text.len());
        let joins = self.joins.find(&tokens, &self.lexicon);
        if joins.is_empty() {
            return vec![text];
        }
        let mut parts = Vec::new();
        let mut from = 0;
        for (at, token) in tokens.iter().enumerate() {
            let join =
                joins.iter().find(|hit| hit.from == at).and_then(|hit| tokens.get(hit.to.checked_sub(1)?));
            let (end, next) = match join {
                Some(last) => (token.span.start, last.span.end),
                None if token.is_parted => (token.span.start, token.span.start),
                None => continue,
            };
            parts.extend(text.get(from..end));
            from = next;
        }
        parts.extend(text.get(from..));
        parts.retain(|part| part.chars().any(char::is_alphanumeric));
        parts
    }

    /// Returns the role that some words name, as in facts, followed by the other named words.
    pub(super) fn of_role(&self, named: &str, words: Vec<String>) -> Option<Vec<String>> {
        let pack = crate::language::Pack::of(&self.language)?;
        let reading = AnalyzedSentence::new(named, pack.gates());
        let subjects = &pack.rules()?.subjects;
        let named = |at| Some((at, subjects.role_of(&reading, at)?.0));
        let (at, role) = (0..reading.words.len()).find_map(named)?;
        let first = fold(reading.lower(at));
        let besides = words.into_iter().filter(|word| !word.contains(&first));
        Some(std::iter::once(role.to_owned()).chain(besides).collect())
    }

    /// Returns the name among some tokens, without titles: the first run of words that begin as names do.
    pub(super) fn name(&self, text: &str, tokens: &[Token], of: Range<usize>) -> Option<String> {
        let titles = self.titles.find(tokens, &self.lexicon);
        let is_title = |at: usize| titles.iter().any(|hit| (hit.from..hit.to).contains(&at));
        let is_of_name = |at: usize| {
            let word = tokens.get(at).and_then(|token| text.get(token.span.clone()))?;
            let word = self.without_verb(word);
            let is_particle = word.chars().count() < 2 && self.is_empty_word(&fold(word));
            let is_name = word.starts_with(is_name_start) && !is_title(at) && !is_particle;
            is_name.then_some(word)
        };
        let first = of.clone().find(|at| is_of_name(*at).is_some())?;
        let run: Vec<&str> = (first..of.end).map_while(is_of_name).take(MOST_OF_NAME).collect();
        let is_unspaced = run.iter().all(|word| word.chars().all(stands_alone));
        Some(run.join(if is_unspaced { "" } else { " " }))
    }

    /// Returns the words with content among some tokens but those left out, folded, not more than so many; in scripts without
    /// spaces the runs between words that name nothing.
    pub(super) fn words(
        &self,
        text: &str,
        tokens: &[Token],
        (of, most): (Range<usize>, usize),
        left_out: &[Range<usize>],
    ) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut run_end = None;
        for at in of {
            let Some(token) = tokens.get(at) else { break };
            // "I've" is spelled out, and names nothing.
            let is_spelled_out =
                at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|one| one.span == token.span)
                    || tokens.get(at + 1).is_some_and(|one| one.span == token.span);
            if is_spelled_out || left_out.iter().any(|range| range.contains(&at)) {
                run_end = None;
                continue;
            }
            let raw = self.without_verb(text.get(token.span.clone()).unwrap_or_default());
            let word = fold(raw);
            let goes_on = raw.chars().all(stands_alone) && run_end == Some(token.span.start);
            if self.is_empty_word(&word) {
                run_end = None;
                continue;
            }
            run_end = raw.chars().all(stands_alone).then_some(token.span.end);
            if let Some(last) = words.last_mut().filter(|_| goes_on) {
                last.push_str(&word);
            } else if words.len() < most && !words.contains(&word) {
                words.push(word);
            }
        }
        words
    }

    /// Returns a word without a short verb, or whose it is, at its end: "bouldering's been ditched".
    fn without_verb<'t>(&self, word: &'t str) -> &'t str {
        self.owners.iter().find_map(|ending| word.strip_suffix(ending.as_str())).unwrap_or(word)
    }

    fn is_empty_word(&self, word: &str) -> bool {
        let is_single = word.chars().count() < 2 && !word.chars().all(|c| stands_alone(c) || c.is_numeric());
        is_single || self.empty.contains(word) || is_stop_word(stop_words_of(&self.language), word)
    }
}
