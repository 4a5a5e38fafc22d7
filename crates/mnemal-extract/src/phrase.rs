//! Tables of phrases, and the search for them in a list of words.
//!
//! A phrase is written as a line of steps: `ignore|disregard ?all ..3 instructions|rules`.
//! A step is a word or several with `|` between them; `?` marks an optional step, `..3` allows up to three words in between,
//! and `^` at the start requires the start of a clause. `_` joins words into one choice (`give_up|stop`); signs of scripts
//! without spaces are joined as they are.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use mnemal_text::{Language, is_stop_word};

use crate::hash::WordHashBuilder;
use crate::prefilter::Prefilter;
use crate::word::{Word, is_sign, start};

/// Relative frequencies of a short stop word, a longer one, and another short word, against a content word. Source: own choice,
/// about those of English.
const FREQUENCIES: [usize; 3] = [400, 100, 4];
/// Letters of a word from which on it is not short. Source: own choice.
const SHORT_WORD: usize = 4;

/// Phrases by their first word.
#[derive(Debug)]
pub(crate) struct Phrases<T> {
    by_first: HashMap<Box<str>, Vec<Phrase<T>>, WordHashBuilder>,
    firsts: Prefilter,
}

impl<T> Default for Phrases<T> {
    fn default() -> Self {
        Self { by_first: HashMap::default(), firsts: Prefilter::default() }
    }
}

#[derive(Clone, Debug)]
struct Phrase<T> {
    is_clause_start: bool,
    steps: Arc<[Step]>,
    tag: T,
}

/// One step of a phrase.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    choices: Arc<[Choice]>,
    /// The choices by the start of their first word, with their places.
    by_start: Arc<[(u64, usize)]>,
    /// The beginnings of the choices.
    pub(crate) prefilter: Prefilter,
    /// It may be missing.
    pub(crate) is_optional: bool,
    /// Words that may pass before the step.
    pub(crate) gap: usize,
}

/// One word or several.
#[derive(Clone, Debug)]
struct Choice {
    /// How the first word begins, which most words fail at.
    start: u64,
    words: Vec<Box<str>>,
}

impl Step {
    /// Reads `?one|two_words`.
    pub(crate) fn new(part: &str, gap: usize) -> Self {
        let choices = part
            .trim_start_matches('?')
            .split('|')
            .map(choice)
            .map(|words| Choice { start: words.first().map_or(0, |word| start(word)), words });
        let choices: Arc<[Choice]> = choices.collect();
        let prefilter = choices.iter().map(|choice| choice.start).collect();
        let mut by_start: Vec<(u64, usize)> =
            choices.iter().enumerate().map(|(place, choice)| (choice.start, place)).collect();
        by_start.sort_unstable();
        Self { choices, by_start: by_start.into(), prefilter, is_optional: part.starts_with('?'), gap }
    }

    /// Returns the first words of the choices.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = &str> {
        self.choices.iter().filter_map(|choice| choice.words.first().map(AsRef::as_ref))
    }

    /// Returns where the longest choice that is at `at` ends.
    pub(crate) fn end_at(&self, words: &[Word<'_>], at: usize) -> Option<usize> {
        let start = words.get(at).filter(|word| self.prefilter.meets(word.prefilter()))?.start;
        let first = self.by_start.partition_point(|(of, _)| *of < start);
        let alike = self.by_start.iter().skip(first).take_while(|(of, _)| *of == start);
        let stands = |choice: &&Choice| {
            let here = words.get(at..at + choice.words.len());
            here.is_some_and(|here| choice.words.iter().zip(here).all(|(of, word)| is_same(of, word)))
        };
        let choices = alike.filter_map(|(_, place)| self.choices.get(*place)).filter(stands);
        choices.map(|choice| at + choice.words.len()).max()
    }
}

/// Returns whether a word of a text is this one; the eight bytes of a short word say it all.
fn is_same(of: &str, word: &Word<'_>) -> bool {
    of.len() == word.lower.len() && start(of) == word.start && (of.len() <= 8 || *of == *word.lower)
}

/// Splits a choice into the words that a text has for it.
fn choice(line: &str) -> Vec<Box<str>> {
    let mut words: Vec<Box<str>> = Vec::new();
    for part in line.split('_').filter(|part| !part.is_empty()) {
        let mut rest = part;
        while let Some(at) = rest.find(is_sign) {
            let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            let size = from.chars().next().map_or(0, char::len_utf8);
            let (sign, after) = from.split_at_checked(size).unwrap_or((from, ""));
            if !before.is_empty() {
                words.push(before.into());
            }
            words.push(sign.into());
            rest = after;
        }
        if !rest.is_empty() {
            words.push(rest.into());
        }
    }
    words
}

impl<T: Copy> Phrases<T> {
    /// Reads a table of lines with their tags.
    pub(crate) fn new(table: &[(T, &[&str])]) -> Self {
        let mut phrases = Self::default();
        phrases.add_all(table);
        phrases
    }

    /// Adds a table of lines with their tags.
    pub(crate) fn add_all(&mut self, table: &[(T, &[&str])]) {
        for (tag, lines) in table {
            for line in *lines {
                self.add(*tag, line);
            }
        }
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, tag: T, line: &str) {
        let steps = steps(line.trim_start_matches('^'), &mut Step::new);
        self.add_steps(tag, line.starts_with('^'), &steps.into());
    }

    /// Adds the steps of a line.
    #[expect(clippy::fn_params_excessive_bools, reason = "whether the line asks for the start of a clause")]
    pub(crate) fn add_steps(&mut self, tag: T, is_clause_start: bool, steps: &Arc<[Step]>) {
        let Some(first) = steps.first() else { return };
        let mut seen: HashSet<&str, WordHashBuilder> = HashSet::default();
        for word in first.firsts().filter(|word| seen.insert(word)) {
            self.firsts = self.firsts.with(Prefilter::of(start(word)));
            let phrase = Phrase { is_clause_start, steps: Arc::clone(steps), tag };
            self.by_first.entry(word.into()).or_default().push(phrase);
        }
    }

    /// Calls `found` with the tag and the places (in `words`) of every phrase, by its first word.
    pub(crate) fn find(&self, words: &[Word<'_>], mut found: impl FnMut(T, Range<usize>)) {
        for at in 0..words.len() {
            self.find_at(words, at, &mut found);
        }
    }

    /// Returns whether a phrase stands anywhere in `words`.
    pub(crate) fn stand_in(&self, words: &[Word<'_>]) -> bool {
        (0..words.len()).any(|at| self.stand_at(words, at))
    }

    /// Returns whether a phrase begins at one word.
    pub(crate) fn stand_at(&self, words: &[Word<'_>], at: usize) -> bool {
        let mut stands = false;
        self.find_at(words, at, |_, _| stands = true);
        stands
    }

    /// Calls `found` with the tag and the places of every phrase that begins at one word.
    pub(crate) fn find_at(&self, words: &[Word<'_>], at: usize, mut found: impl FnMut(T, Range<usize>)) {
        let Some(word) = words.get(at).filter(|word| self.firsts.meets(word.prefilter())) else { return };
        let Some(phrases) = self.by_first.get(word.lower.as_ref()) else { return };
        for phrase in phrases.iter().filter(|phrase| !phrase.is_clause_start || word.starts_clause) {
            if let Some(end) = matched(&phrase.steps, words, at) {
                found(phrase.tag, at..end);
            }
        }
    }
}

/// Steps by the words that packs write them with: long lists stand in many lines.
#[derive(Debug, Default)]
pub(crate) struct StepCache(HashMap<Box<str>, (Step, Keys), WordHashBuilder>);

/// The words of which a text has one wherever a step stands, with how often texts have them together.
type Keys = (Arc<[Box<str>]>, usize);

impl StepCache {
    /// Returns the steps of a line, and the words of which a text must have one wherever the line stands: one of each choice of
    /// the step that fewest texts have.
    ///
    /// The fewer, the longer and the less common its words are, the fewer texts have a step.
    pub(crate) fn steps(&mut self, line: &str) -> (Arc<[Step]>, Arc<[Box<str>]>) {
        let mut rarest: Option<Keys> = None;
        let steps = steps(line.trim_start_matches('^'), &mut |part, gap| {
            let known = self.0.entry(part.into()).or_insert_with(|| {
                let step = Step::new(part, 0);
                let keys = step.keys();
                (step, keys)
            });
            let (step, keys) = known;
            if !step.is_optional && rarest.as_ref().is_none_or(|(_, frequency)| keys.1 < *frequency) {
                rarest = Some(keys.clone());
            }
            Step { gap, ..step.clone() }
        });
        (steps.into(), rarest.map(|(keys, _)| keys).unwrap_or_default())
    }
}

impl Step {
    /// Returns one word of each choice, and how often texts have them.
    fn keys(&self) -> Keys {
        let keys: Arc<[Box<str>]> = self.choices.iter().filter_map(|choice| rarest(&choice.words)).collect();
        let frequency = keys.iter().map(|word| frequency(word)).sum();
        (keys, frequency)
    }
}

/// Returns the word of a choice that fewest texts have.
fn rarest(words: &[Box<str>]) -> Option<Box<str>> {
    match words {
        [only] => Some(only.clone()),
        words => words.iter().min_by_key(|word| frequency(word)).cloned(),
    }
}

/// Returns about how often a word is in texts, beside others.
pub(crate) fn frequency(word: &str) -> usize {
    let is_small =
        |language: &&str| Language::from_code(language).is_some_and(|language| is_stop_word(language, word));
    let is_common = ["en", "de", "fr", "es", "pt"].iter().any(is_small);
    let [short_common, common, short] = FREQUENCIES;
    match (is_common, word.chars().count() < SHORT_WORD) {
        (true, true) => short_common,
        (true, false) => common,
        (false, true) => short,
        (false, false) => 1,
    }
}

fn steps(line: &str, step: &mut dyn FnMut(&str, usize) -> Step) -> Vec<Step> {
    let mut gap = 0;
    let mut steps = Vec::new();
    for part in line.split(' ').filter(|part| !part.is_empty()) {
        if let Some(number) = part.strip_prefix("..") {
            gap = number.parse().unwrap_or(0);
        } else {
            steps.push(step(part, std::mem::take(&mut gap)));
        }
    }
    steps
}

/// Returns the end of the shortest match of the steps from `at` on.
fn matched(steps: &[Step], words: &[Word<'_>], at: usize) -> Option<usize> {
    let Some((step, rest)) = steps.split_first() else { return Some(at) };
    for place in at..=at + step.gap {
        if let Some(after) = step.end_at(words, place)
            && let Some(end) = matched(rest, words, after)
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

    #[test]
    fn the_keys_of_a_line_are_its_rarest_step() {
        let of = |line: &str| {
            let (_, keys) = StepCache::default().steps(line);
            keys.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(of("^?please make|turn this ..4 riddle"), ["riddle"]);
        assert_eq!(of("sum_up|translate"), ["sum", "translate"]);
        assert_eq!(of("的 ?please 翻译"), ["的"]);
    }

    #[test]
    fn a_choice_may_be_several_words_or_signs() {
        let phrases = Phrases::new(&[((), &["i|we gave_up|stopped smoking", "我|我们 不再 ..2 抽烟"])]);
        let check = |text: &str| {
            let mut found = 0;
            phrases.find(&words(text), |(), _| found += 1);
            found
        };
        assert_eq!(check("Then we gave up smoking."), 1);
        assert_eq!(check("I stopped smoking."), 1);
        assert_eq!(check("I gave smoking"), 0);
        assert_eq!(check("我们不再抽烟了。"), 1);
        assert_eq!(check("我不抽烟"), 0);
    }
}
