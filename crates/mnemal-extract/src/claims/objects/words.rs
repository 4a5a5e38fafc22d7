//! The words of a language for objects.

use mnemal_core::Result;

use crate::gates::pack::{Words, phrases, words};
use crate::phrase::Phrases;
use crate::section::Section;

/// The words of a language for objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectWords {
    /// Phrases at which an object ends.
    pub(super) cut: Phrases<()>,
    /// Time expressions that name no interval: "these days".
    pub(super) times: Phrases<()>,
    /// Forms of "be", which an object does not begin with.
    pub(in crate::claims) copulas: Words,
    pub(super) determiners: Words,
    pub(in crate::claims) numbers: Words,
    pub(super) pronouns: Words,
    pub(super) generic: Words,
    pub(super) hollow: Words,
    /// Adjectives that praise or count and say nothing.
    pub(super) bland: Words,
    pub(super) prepositions: Words,
    /// Prepositions at which a thing ends.
    pub(super) thing_stop: Words,
    /// Prepositions at which a phrase ends.
    pub(super) phrase_stop: Words,
    pub(super) joiners: Words,
    pub(super) lead: Words,
    pub(super) trail: Words,
    pub(super) not_first: Words,
    pub(super) places: Words,
    pub(super) particles: Words,
    pub(super) verb_after_and: Words,
    /// The head comes first, as in Spanish, and not last, as in English.
    pub(super) is_head_first: bool,
    /// Whether an object never follows a comma.
    pub(super) is_close: bool,
}

impl ObjectWords {
    /// Reads the table `object` of a pack.
    pub(crate) fn read(section: Option<Section<'_>>) -> Result<Self> {
        let list = |key| words(section, key);
        Ok(Self {
            cut: phrases(section, "cut")?,
            times: phrases(section, "times")?,
            copulas: list("copulas")?,
            determiners: list("determiners")?,
            numbers: list("numbers")?,
            pronouns: list("pronouns")?,
            generic: list("generic")?,
            hollow: list("hollow")?,
            bland: list("bland")?,
            prepositions: list("prepositions")?,
            thing_stop: list("thing_stop")?,
            phrase_stop: list("phrase_stop")?,
            joiners: list("joiners")?,
            lead: list("lead")?,
            trail: list("trail")?,
            not_first: list("not_first")?,
            places: list("places")?,
            particles: list("particles")?,
            verb_after_and: list("verb_after_and")?,
            is_close: section.map(|section| section.flag("close")).transpose()?.unwrap_or_default(),
            is_head_first: section.map(|section| section.flag("head_first")).transpose()?.unwrap_or_default(),
        })
    }

    /// Returns whether a word may precede a noun without being part of it: "the", "my".
    pub(crate) fn determines(&self, word: &str) -> bool {
        self.determiners.contains(word)
    }

    /// Returns whether a word joins two things or two verbs.
    pub(crate) fn joins(&self, word: &str) -> bool {
        self.joiners.contains(word)
    }

    /// Returns whether a word may follow a complete noun: a preposition, or a joining word.
    pub(crate) fn may_follow(&self, word: &str) -> bool {
        self.prepositions.contains(word) || self.joins(word) || word == "who"
    }
}
