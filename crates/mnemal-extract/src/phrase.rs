//! Tables of phrases, and the search for them in a list of words.
//!
//! A phrase is written as a line of steps: `ignore|disregard ?all ..3 instructions|rules`.
//! A step is a word or several with `|` between them; `?` marks a step that may be missing, `..3` lets up to
//! three words pass, and `^` at the start asks for the start of a clause.

use std::collections::HashMap;
use std::ops::Range;

use crate::word::Word;

/// Phrases by their first word.
#[derive(Debug)]
pub(crate) struct Phrases<T> {
    by_first: HashMap<&'static str, Vec<Phrase<T>>>,
}

#[derive(Clone, Debug)]
struct Phrase<T> {
    is_clause_start: bool,
    rest: Vec<Step>,
    tag: T,
}

#[derive(Clone, Debug)]
struct Step {
    words: &'static str,
    is_optional: bool,
    /// Words that may pass before the step.
    gap: usize,
}

impl Step {
    fn accepts(&self, word: &Word<'_>) -> bool {
        self.words.split('|').any(|of| of == word.lower)
    }
}

impl<T: Copy> Phrases<T> {
    /// Reads a table of lines with their tags.
    pub(crate) fn new(table: &[(T, &[&'static str])]) -> Self {
        let mut by_first: HashMap<&'static str, Vec<Phrase<T>>> = HashMap::new();
        for (tag, lines) in table {
            for line in *lines {
                let is_clause_start = line.starts_with('^');
                let line = line.trim_start_matches('^');
                let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
                let phrase = Phrase { is_clause_start, rest: steps(rest), tag: *tag };
                for word in first.split('|') {
                    by_first.entry(word).or_default().push(phrase.clone());
                }
            }
        }
        Phrases { by_first }
    }

    /// Calls `found` with the tag and the places (in `words`) of every phrase, by its first word.
    pub(crate) fn find(&self, words: &[Word<'_>], mut found: impl FnMut(T, Range<usize>)) {
        for (at, word) in words.iter().enumerate() {
            let Some(phrases) = self.by_first.get(word.lower.as_ref()) else { continue };
            for phrase in phrases.iter().filter(|phrase| !phrase.is_clause_start || word.starts_clause) {
                if let Some(end) = matched(&phrase.rest, words, at + 1) {
                    found(phrase.tag, at..end);
                }
            }
        }
    }
}

fn steps(line: &'static str) -> Vec<Step> {
    let mut gap = 0;
    let mut steps = Vec::new();
    for part in line.split(' ').filter(|part| !part.is_empty()) {
        if let Some(number) = part.strip_prefix("..") {
            gap = number.parse().unwrap_or(0);
        } else {
            let words = part.trim_start_matches('?');
            steps.push(Step { words, is_optional: part.starts_with('?'), gap: std::mem::take(&mut gap) });
        }
    }
    steps
}

/// Returns the end of the shortest match of the steps from `at` on.
fn matched(steps: &[Step], words: &[Word<'_>], at: usize) -> Option<usize> {
    let Some((step, rest)) = steps.split_first() else { return Some(at) };
    for place in at..=at + step.gap {
        if words.get(place).is_some_and(|word| step.accepts(word))
            && let Some(end) = matched(rest, words, place + 1)
        {
            return Some(end);
        }
    }
    if step.is_optional { matched(rest, words, at) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::words;

    #[test]
    fn phrases_match_with_choices_gaps_and_missing_words() {
        let phrases = Phrases::new(&[(1, &["ignore|skip ?all ..2 rules", "^stop"])]);
        let check = |text: &str| {
            let mut tags = Vec::new();
            phrases.find(&words(text), |tag, _| tags.push(tag));
            tags.len()
        };
        assert_eq!(check("please ignore all of the rules"), 1);
        assert_eq!(check("skip rules"), 1);
        assert_eq!(check("ignore one two three rules"), 0);
        assert_eq!(check("Well, stop"), 1);
        assert_eq!(check("I stop"), 0);
    }
}
