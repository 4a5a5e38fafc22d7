//! Clause segmentation of a sentence, with the gates that hold in each clause.

use std::ops::Range;

use crate::gates::Gates;
use crate::gates::pack::{GatePack, Words};
use crate::gates::scope::{Mark, marks};
use crate::phrase::Phrases;
use crate::prefilter::Prefilter;
use crate::word::Word;

/// The kind of break before a word, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Break {
    /// Nothing.
    None,
    /// A comma, after which the same clause may continue.
    Comma,
    /// A comma or a word like "and", followed by a subject.
    Start,
    /// A sign that ends a clause: `;`, `:`, a dash, a bracket.
    Strong,
    /// A semicolon before a sentence of its own.
    Halt,
    /// A word like "but".
    Terminator,
}

/// Words of a further denied item. Source: own choice.
const LONGEST_ITEM: usize = 2;

/// A sentence with its words, breaks and gates.
#[derive(Clone, Debug)]
pub(crate) struct AnalyzedSentence<'t> {
    /// The sentence.
    pub(crate) text: &'t str,
    /// Its words; forms like "I'm" are split.
    pub(crate) words: Vec<Word<'t>>,
    /// The break before each word.
    pub(crate) breaks: Vec<Break>,
    /// The cues of gates, with their scopes.
    pub(crate) marks: Vec<Mark>,
    /// The words from each one on, in a prefilter.
    ahead: Vec<Prefilter>,
    /// Which words join clauses.
    joins: Vec<bool>,
    /// Places where a reason begins, which holds inside a question or an order too.
    reasons: Vec<usize>,
}

impl<'t> AnalyzedSentence<'t> {
    /// Analyzes a sentence.
    pub(crate) fn new(text: &'t str, pack: &GatePack) -> Self {
        Self::of_words(text, pack.forms.words(text), pack)
    }

    /// Analyzes a sentence whose words are given, split by the forms of the pack.
    pub(crate) fn of_words(text: &'t str, words: Vec<Word<'t>>, pack: &GatePack) -> Self {
        let breaks = breaks(text, &words, pack);
        let reasons = reasons(&words, pack);
        let joins = words.iter().map(|word| pack.connectors.holds(word)).collect();
        let ahead = ahead(&words);
        let mut reading = Self { text, words, breaks, marks: Vec::new(), ahead, joins, reasons };
        reading.marks = marks(&reading, pack);
        reading
    }

    /// Returns the gates that hold anywhere in the sentence.
    pub(crate) fn gates(&self) -> Gates {
        self.marks.iter().fold(Gates::NONE, |gates, mark| gates | mark.gate)
    }

    /// Returns the marks that hold for some of the words, except those whose cue lies in `own`.
    pub(crate) fn marks_over(&self, words: Range<usize>, own: &Range<usize>) -> impl Iterator<Item = &Mark> {
        let own = own.clone();
        self.marks.iter().filter(move |mark| {
            let is_own = !mark.cue.is_empty()
                && mark.gate != Gates::SARCASM
                && own.start <= mark.cue.start
                && mark.cue.end <= own.end;
            mark.scope.start < words.end && words.start < mark.scope.end && !is_own
        })
    }

    /// Returns a prefilter for the words from this one on.
    pub(crate) fn ahead(&self, at: usize) -> Prefilter {
        self.ahead.get(at).copied().unwrap_or_default()
    }

    /// Returns a word in lower case; empty after the last.
    pub(crate) fn lower(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.lower)
    }

    /// Returns whether a list holds a word.
    pub(crate) fn has(&self, at: usize, of: &Words) -> bool {
        self.words.get(at).is_some_and(|word| of.holds(word))
    }

    /// Returns the signs and spaces between a word and the one before it, or the start.
    pub(crate) fn between(&self, at: usize) -> Option<&'t str> {
        let before = at.checked_sub(1).and_then(|before| self.words.get(before));
        let start = before.map_or(0, |word| word.span.end);
        self.words.get(at).and_then(|word| self.text.get(start..word.span.start))
    }

    /// Returns whether a word is written in one with the word before it: "'s".
    pub(crate) fn is_glued(&self, at: usize) -> bool {
        at > 0 && self.between(at) == Some("")
    }

    /// Returns the bytes from the first to the last of some words.
    pub(crate) fn bytes(&self, words: &Range<usize>) -> Range<usize> {
        let first = self.words.get(words.start).map_or(self.text.len(), |word| word.span.start);
        let last = self.words.get(words.start..words.end).and_then(<[_]>::last);
        first..last.map_or(first, |word| word.span.end)
    }

    /// Returns the break before a word.
    pub(crate) fn break_at(&self, at: usize) -> Break {
        self.breaks.get(at).copied().unwrap_or(Break::Terminator)
    }

    /// Returns whether a clause begins at a word, as far as signs and words like "but" show it.
    pub(crate) fn starts_clause(&self, at: usize) -> bool {
        self.break_at(at) > Break::None || self.breaks.get(at.wrapping_sub(1)) == Some(&Break::Terminator)
    }

    /// Returns the first word at or after `from` before which at least such a break stands.
    pub(crate) fn next_break(&self, from: usize, least: Break) -> usize {
        (from..self.words.len()).find(|at| self.break_at(*at) >= least).unwrap_or(self.words.len())
    }

    /// Returns the last word at or before `from` before which at least such a break stands.
    pub(crate) fn last_break(&self, from: usize, least: Break) -> usize {
        (0..=from).rev().find(|at| self.break_at(*at) >= least).unwrap_or(0)
    }

    /// Returns the start of a word's clause.
    pub(crate) fn clause_at(&self, at: usize) -> usize {
        self.last_break(at, Break::Comma)
    }

    /// Whether exactly a colon precedes a word.
    pub(crate) fn is_behind_colon(&self, at: usize) -> bool {
        self.between(at).is_some_and(|between| {
            between
                .trim_end_matches(|c: char| {
                    c.is_whitespace() || matches!(c, '"' | '“' | '„' | '«' | '\'' | '‘')
                })
                .trim_start()
                == ":"
        })
    }

    /// Returns the first word from `from` on that follows a word like "but", or a comma with a subject.
    pub(crate) fn next_splice(&self, from: usize) -> usize {
        let all = self.words.len();
        (from..all).find(|at| self.break_at(*at) >= Break::Halt || self.is_spliced(*at)).unwrap_or(all)
    }

    /// Returns the end of a clause with an ending, or the start of what begins in it: "I quit and joined them".
    pub(crate) fn next_begin(&self, from: usize, pack: &GatePack) -> usize {
        let over = self.next_break(from, Break::Start);
        (from..over).find(|at| pack.begins.stand_at(&self.words, *at)).unwrap_or(over)
    }

    /// Returns the end of a report: at a word like "but", or where its speaker continues as "he" or "she" after a comma.
    pub(crate) fn next_other(&self, from: usize, pack: &GatePack) -> usize {
        let all = self.words.len();
        let is_of_reader = self.has(from, &pack.addressed);
        let goes_on = |at: usize| (self.has(at, &pack.others) || is_of_reader) && self.is_spliced(at);
        (from..all).find(|at| self.break_at(*at) >= Break::Halt || goes_on(*at)).unwrap_or(all)
    }

    /// A subject stands right behind a comma.
    fn is_spliced(&self, at: usize) -> bool {
        self.break_at(at) == Break::Start
            && self.between(at).is_some_and(|between| between.contains(','))
            && !self.joins(at)
    }

    /// Returns whether a word joins clauses.
    fn joins(&self, at: usize) -> bool {
        self.joins.get(at).copied().unwrap_or_default()
    }

    /// Returns the comma that begins a new clause instead of a list item: "not swim, ski or skate".
    pub(crate) fn next_after_list(&self, from: usize) -> usize {
        let mut at = self.next_break(from, Break::Comma);
        while self.break_at(at) == Break::Comma && at < self.words.len() {
            let is_end = |place: &usize| self.break_at(*place) > Break::None || self.joins(*place);
            let next = (at + 1..self.words.len()).find(is_end).unwrap_or(self.words.len());
            if next - at > LONGEST_ITEM {
                break;
            }
            at = next;
        }
        at
    }

    /// Returns the start of the clause part that a word like "so" joins to the preceding part.
    pub(crate) fn joined_clause_at(&self, at: usize, pack: &GatePack) -> usize {
        let start = self.clause_at(at);
        let joined = (start + 1..=at).rev().find(|at| self.joins(*at));
        joined.filter(|joined| (start..*joined).any(|at| self.has(at, &pack.subjects))).unwrap_or(start)
    }

    /// Returns the start of the clause before that of a word.
    pub(crate) fn clause_before(&self, at: usize) -> usize {
        self.clause_at(self.clause_at(at).saturating_sub(1))
    }

    /// Returns the end of a question that begins at `from`: at a reason, or with the sentence.
    pub(crate) fn next_reason(&self, from: usize) -> usize {
        self.reasons.iter().copied().find(|at| *at > from).unwrap_or(self.words.len())
    }

    /// Returns the end of an order: at a reason, at a subject of its own, or at a strong sign.
    pub(crate) fn next_order_end(&self, from: usize) -> usize {
        self.next_break(from, Break::Start).min(self.next_reason(from))
    }
}

fn ahead(words: &[Word<'_>]) -> Vec<Prefilter> {
    let mut ahead = vec![Prefilter::default(); words.len()];
    let mut behind = Prefilter::default();
    for (place, word) in ahead.iter_mut().zip(words).rev() {
        behind = behind.with(word.prefilter());
        *place = behind;
    }
    ahead
}

fn breaks(text: &str, words: &[Word<'_>], pack: &GatePack) -> Vec<Break> {
    let mut before = 0;
    let mut breaks = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let between = text.get(before..word.span.start).unwrap_or_default();
        before = word.span.end;
        breaks.push(if at == 0 { Break::Strong } else { break_before(text, words, at, between, pack) });
    }
    breaks
}

fn break_before(text: &str, words: &[Word<'_>], at: usize, between: &str, pack: &GatePack) -> Break {
    let is_plain = between == " ";
    let is_joint = !is_plain
        && between.len() == 1
        && between.contains(['.', ':', '/', '@', '_', '&', '+', '-', '#', '~', '\\']);
    // What ends no sentence before a capital follows a short form: "St. Vincent", "J. Smith".
    let is_short_form = between == ". " && words.get(at).is_some_and(|word| word.is_capitalised(text));
    if is_joint || is_short_form {
        return Break::None;
    }
    let is_comma = !is_plain && (between.contains([',', '，', '、']) || matches!(between, " / " | " + "));
    let is_strong = !is_plain && is_strong(between);
    let stands = |phrases: &Phrases<()>| phrases.stand_at(words, at);
    let begins_anew =
        || words.get(at).is_some_and(|word| pack.subjects.holds(word) || word.is_capitalised(text));
    if !is_plain && between.contains(';') && begins_anew() && !stands(&pack.terminators) {
        return Break::Halt;
    }
    if stands(&pack.terminators) || (is_comma || is_strong) && stands(&pack.asides) {
        return Break::Terminator;
    }
    if is_strong {
        return Break::Strong;
    }
    let is = |at: usize, of: &Words| words.get(at).is_some_and(|word| of.holds(word));
    let is_connector = is(at, &pack.connectors);
    let follows = at + usize::from(is_connector) + usize::from(is_connector && is(at + 1, &pack.connectors));
    let has_subject = is(follows, &pack.subjects);
    match (is_comma, is_connector) {
        (_, true) | (true, false) if has_subject => Break::Start,
        (true, _) => Break::Comma,
        _ => Break::None,
    }
}

/// Returns whether signs between two words end a clause.
fn is_strong(between: &str) -> bool {
    between.contains([
        '.', ';', ':', '—', '–', '(', ')', '\n', '!', '?', '…', '[', ']', '|', '•', '；', '：', '（', '）',
        '。', '！', '？',
    ]) || between.contains(" -")
        || between.contains("- ")
        || between
            .chars()
            .any(|c| c >= '\u{2600}' && !c.is_alphanumeric() && !matches!(c, '，' | '、' | '“' | '”'))
}

/// A reason begins at its word if a subject follows.
fn reasons(words: &[Word<'_>], pack: &GatePack) -> Vec<usize> {
    let mut reasons = Vec::new();
    pack.reasons.find(words, |(), places| {
        let is_subject = words.get(places.end).is_some_and(|word| pack.subjects.holds(word));
        if is_subject && places.start > 0 {
            reasons.push(places.start);
        }
    });
    reasons
}
