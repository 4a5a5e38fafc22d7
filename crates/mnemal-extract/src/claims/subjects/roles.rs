//! Relation nouns: "sister", "vet", "cat".

use mnemal_text::{Language, is_stop_word};

use super::{Gender, SubjectWords};
use crate::clause::{AnalyzedSentence, Break};

#[derive(Clone, Debug)]
pub(super) struct Role {
    pub(super) name: Box<str>,
    pub(super) group: Box<str>,
    pub(super) gender: Gender,
}

impl SubjectWords {
    /// Returns the role of a group at a word, and its end.
    pub(crate) fn role_at(
        &self,
        reading: &AnalyzedSentence<'_>,
        at: usize,
        group: &str,
    ) -> Option<(Box<str>, usize)> {
        match group {
            "job" => return self.job_at(reading, at),
            "beast" => return self.beast_at(reading, at),
            _ => {}
        }
        let (role, end) = self.longest_role(reading, at, |role| &*role.group == group)?;
        Some((role.name.clone(), end))
    }

    /// Returns the first words of the roles of a group.
    pub(crate) fn role_firsts(&self, group: &str) -> impl Iterator<Item = &str> {
        self.firsts.iter().filter(move |(of, _)| **of == *group).map(|(_, first)| &**first)
    }

    /// Returns whether a word is a form of address for one's own relative: "mama".
    pub(crate) fn is_role_word(&self, word: &str) -> bool {
        self.firsts.iter().any(|(of, first)| matches!(&**of, "kin" | "partner") && **first == *word)
    }

    /// Returns whether a role is that of an animal.
    pub(crate) fn is_animal(&self, role: &str) -> bool {
        self.roles.iter().any(|known| &*known.group == "animal" && &*known.name == role)
    }

    /// Returns the role that a word names, with its group.
    pub(crate) fn role_of(&self, reading: &AnalyzedSentence<'_>, at: usize) -> Option<(&str, &str)> {
        let (role, _) = self.longest_role(reading, at, |_| true)?;
        Some((&role.name, &role.group))
    }

    pub(super) fn longest_role(
        &self,
        reading: &AnalyzedSentence<'_>,
        at: usize,
        fits: impl Fn(&Role) -> bool,
    ) -> Option<(&Role, usize)> {
        let mut found: Option<(&Role, usize)> = None;
        self.forms.find_at(&reading.words, at, |number, places| {
            if let Some(role) = self.roles.get(number)
                && fits(role)
                && found.is_none_or(|(_, end)| places.end > end)
            {
                found = Some((role, places.end));
            }
        });
        found
    }

    /// Returns the occupation at a word, and its end.
    pub(super) fn job_at(&self, reading: &AnalyzedSentence<'_>, at: usize) -> Option<(Box<str>, usize)> {
        let word = &*reading.words.get(at)?.lower;
        let is_job = !self.no_jobs.contains(word) && self.jobs.iter().any(|kind| kind.has(word));
        is_job.then(|| (word.into(), at + 1))
    }

    /// Returns the animal at a word, and its end.
    fn beast_at(&self, reading: &AnalyzedSentence<'_>, at: usize) -> Option<(Box<str>, usize)> {
        let word = &*reading.words.get(at)?.lower;
        let is_beast = !self.no_beasts.contains(word) && self.beasts.iter().any(|kind| kind.has(word));
        let known = self.longest_role(reading, at, |role| &*role.group == "animal");
        let known = known.map(|(role, end)| (role.name.clone(), end));
        known.or_else(|| is_beast.then(|| (word.strip_suffix('s').unwrap_or(word).into(), at + 1)))
    }

    /// Returns whether a word may be an adjective between an owner and a role.
    pub(crate) fn describes(&self, reading: &AnalyzedSentence<'_>, at: usize) -> bool {
        reading.words.get(at).is_some_and(|word| {
            self.adjectives.holds(word)
                || word.lower.len() > 2
                    && reading.break_at(at + 1) == Break::None
                    && !self.genitive.holds(word)
                    && !self.own.holds(word)
                    && !self.skip.holds(word)
                    && !is_stop_word(Language::English, &word.lower)
        })
    }
}
