//! The subject of a clause: the speaker, a relation of the speaker, or a named person.

mod memory;
mod relation;
mod roles;
mod words;

use std::ops::Range;

use mnemal_core::{EntityKind, Subject};

pub(crate) use self::memory::Memory;
pub(crate) use self::words::SubjectWords;
use crate::clause::{AnalyzedSentence, Break};

/// The form of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubjectForm {
    /// "I".
    Speaker,
    /// "We".
    Group,
    /// "My sister".
    Relation,
    /// "Anna".
    Named,
    /// "She".
    Pronoun,
    /// Implicit: "Moved to Lyon."
    Unsaid,
}

/// A subject in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SubjectMatch {
    /// Its words; a cue may follow them.
    pub(crate) words: Range<usize>,
    pub(crate) subject: Subject,
    pub(crate) how: SubjectForm,
}

/// Pronouns that may refer to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gender {
    Male,
    Female,
    Unknown,
}

impl Gender {
    fn fits(self, other: Self) -> bool {
        self == other || self == Self::Unknown || other == Self::Unknown
    }
}

impl SubjectWords {
    /// "My sister's a nurse" and "dad's diabetic" against "my sister's car": a word that shows a verb, or an "-ing", follows.
    fn is_verb_after(&self, reading: &AnalyzedSentence<'_>, at: usize) -> bool {
        reading.has(at + 1, &self.shows_verb)
            || reading.words.get(at + 1).is_some_and(|word| word.lower.ends_with("ing"))
    }

    /// Whether a possessive marker follows a word: "my cousin's wedding".
    pub(crate) fn is_owner(&self, reading: &AnalyzedSentence<'_>, at: usize) -> bool {
        let word = |at: usize| reading.words.get(at).map_or("", |word| &*word.lower);
        let is_adverb =
            |word: &str| self.skip.contains(word) || self.lead.contains(word) || word.ends_with("ly");
        self.genitive.contains(word(at))
            && reading.words.get(at + 1).is_some()
            && reading.break_at(at + 1) == Break::None
            && !self.is_verb_after(reading, at)
            && !is_adverb(word(at + 1))
            && !self.own.contains(word(at + 1))
    }

    /// Whether the clause continues about a relation of the subject: "John's wife", "her cat".
    pub(crate) fn is_anothers(
        &self,
        reading: &AnalyzedSentence<'_>,
        subject: &SubjectMatch,
        at: usize,
    ) -> bool {
        let Some(before) = at.checked_sub(1).filter(|_| subject.how != SubjectForm::Speaker) else {
            return false;
        };
        let is_owner = reading.has(before, &self.genitive)
            || subject.how == SubjectForm::Pronoun && subject.words.contains(&before);
        is_owner && self.longest_role(reading, at, |_| true).is_some()
    }
}

/// Returns the capitalized words from `at` on, at most three, if they may be a name.
pub(crate) fn name_run(reading: &AnalyzedSentence<'_>, at: usize) -> Option<Range<usize>> {
    let is_name = |at: usize| {
        let word = reading.words.get(at)?;
        let is_plain = word.is_capitalised(reading.text) && word.span.len() > 1 && word.lower != "i";
        is_plain.then_some(())
    };
    is_name(at)?;
    if at > 0 && reading.break_at(at) >= Break::Strong {
        return None;
    }
    let end = (at + 1..at + 3).find(|at| is_name(*at).is_none() || reading.break_at(*at) > Break::None);
    Some(at..end.unwrap_or(at + 3))
}

/// Returns whether only introductory words are between the start of the clause and a word.
fn begins(reading: &AnalyzedSentence<'_>, of: &SubjectWords, at: usize) -> bool {
    let mut at = at;
    loop {
        if reading.starts_clause(at) {
            return true;
        }
        let Some(before) = at.checked_sub(1).and_then(|before| reading.words.get(before)) else {
            return true;
        };
        if !of.lead.holds(before) {
            return false;
        }
        at -= 1;
    }
}

/// Returns whether a mention may be a person.
pub(crate) fn is_person(kind: EntityKind) -> bool {
    matches!(kind, EntityKind::Person | EntityKind::Animal)
}
