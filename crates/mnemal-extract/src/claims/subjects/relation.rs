//! Relations of the speaker in a sentence: "my older sister Anna", "our baker, Tom".

use std::borrow::Cow;

use mnemal_core::Subject;

use super::roles::Role;
use super::{Gender, SubjectForm, SubjectMatch, SubjectWords, begins, name_run};
use crate::clause::{AnalyzedSentence, Break};

/// Words between "my" and the role: "my older twin sister". Source: own choice.
const ADJECTIVES: usize = 2;
/// Words of a role. Source: own choice.
const LONGEST_ROLE: usize = 3;

impl SubjectWords {
    /// Returns the person of the speaker that is named from "my" on.
    pub(super) fn relation_at(
        &self,
        reading: &AnalyzedSentence<'_>,
        at: usize,
    ) -> Option<(SubjectMatch, Gender)> {
        let is_own = reading.has(at, &self.own);
        if !is_own && !reading.has(at, &self.some) {
            return None;
        }
        let article = usize::from(at > 0 && reading.has(at - 1, &self.articles));
        if at > article && reading.has(at - 1 - article, &self.behind)
            || article == 1 && reading.has(at - 1, &self.behind)
        {
            return None;
        }
        let adjectives =
            (0..ADJECTIVES).take_while(|place| reading.has(at + 1 + place, &self.adjectives)).count();
        let roles =
            (0..=adjectives).rev().find_map(|skipped| self.longest_role(reading, at + 1 + skipped, |_| true));
        let (role, mut end) = match roles {
            Some((role, end)) => (Cow::Borrowed(role), end),
            None => self.described_at(reading, at + 1).filter(|_| is_own)?,
        };
        let name = name_run(reading, end);
        if let Some(run) = &name {
            end = run.end;
        }
        let name = name.and_then(|run| reading.text.get(reading.bytes(&run))).map(str::to_owned);
        let has_someone = || {
            let near = |role: &Role| matches!(&*role.group, "partner" | "animal");
            self.longest_role(reading, end + 1, near).is_some()
        };
        if is_own
            && reading.has(end, &self.genitive)
            && (reading.has(end + 1, &self.of_genitive) || has_someone())
        {
            let subject = Subject::Relation { role: role.name.to_string(), name };
            return Some((
                SubjectMatch { words: at..end + 1, subject, how: SubjectForm::Relation },
                role.gender,
            ));
        }
        let relative = usize::from(reading.has(end, &self.who));
        if relative == 0
            && (!is_own
                || reading.has(end, &self.genitive) && !self.is_verb_after(reading, end)
                || reading.has(end, &self.joiners))
        {
            return None;
        }
        let subject = Subject::Relation { role: role.name.to_string(), name };
        Some((SubjectMatch { words: at..end + relative, subject, how: SubjectForm::Relation }, role.gender))
    }

    /// Returns a relation after any adjective, and any person whose name follows: "our Ukrainian colleague Bohdan".
    fn described_at<'r>(
        &'r self,
        reading: &AnalyzedSentence<'_>,
        at: usize,
    ) -> Option<(Cow<'r, Role>, usize)> {
        for skipped in 0..=ADJECTIVES {
            if skipped > 0 && !self.describes(reading, at + skipped - 1) {
                return None;
            }
            let found = self.longest_role(reading, at + skipped, |role| &*role.group != "partner");
            if let Some((role, end)) = found
                && (&*role.group == "kin" || is_named_at(reading, end))
            {
                return Some((Cow::Borrowed(role), end));
            }
            if let Some((name, end)) = self.job_at(reading, at + skipped)
                && is_named_at(reading, end)
            {
                let role = Role { name, group: "job".into(), gender: Gender::Unknown };
                return Some((Cow::Owned(role), end));
            }
        }
        None
    }

    /// Returns the role that needs no owner: "mum" at the start of a clause, "the wife".
    pub(super) fn alone_at(
        &self,
        reading: &AnalyzedSentence<'_>,
        at: usize,
    ) -> Option<(SubjectMatch, Gender)> {
        let is_behind_article = at > 0 && reading.has(at - 1, &self.lead) && !reading.starts_clause(at) && {
            reading.words.get(at - 1).is_some_and(|word| word.lower == "the")
        };
        let fits = if is_behind_article {
            reading.has(at, &self.with_article)
        } else {
            reading.has(at, &self.alone)
        };
        if !fits || !begins(reading, self, at) {
            return None;
        }
        let (role, mut end) = self.longest_role(reading, at, |_| true)?;
        let name = name_run(reading, end).filter(|run| reading.break_at(run.start) == Break::None);
        if let Some(run) = &name {
            end = run.end;
        }
        let name = name.and_then(|run| reading.text.get(reading.bytes(&run))).map(str::to_owned);
        if reading.has(end, &self.genitive) && !self.is_verb_after(reading, end)
            || reading.has(end, &self.joiners)
        {
            return None;
        }
        let subject = Subject::Relation { role: role.name.to_string(), name };
        Some((SubjectMatch { words: at..end, subject, how: SubjectForm::Relation }, role.gender))
    }

    /// Returns the role that precedes a name: "our baker, Tom", "the greyhound, Biscuit", "my kid (Ida)".
    pub(super) fn role_before(
        &self,
        reading: &AnalyzedSentence<'_>,
        at: usize,
    ) -> Option<(Box<str>, Gender)> {
        let mut end = at;
        while end > 0 && reading.has(end - 1, &self.titles) {
            end -= 1;
        }
        if !reading.between(end).is_some_and(|between| matches!(between.trim(), "" | "," | "(")) {
            return None;
        }
        let (start, role) = (end.saturating_sub(LONGEST_ROLE)..end).find_map(|start| {
            let (role, stop) = self.longest_role(reading, start, |_| true)?;
            (stop == end).then_some((start, role))
        })?;
        let adjectives = (1..=ADJECTIVES)
            .take_while(|back| start > *back && reading.has(start - back, &self.adjectives))
            .count();
        let owner = start.checked_sub(1 + adjectives)?;
        (reading.has(owner, &self.own) || reading.has(owner, &self.appositive))
            .then(|| (role.name.clone(), role.gender))
    }

    /// Returns whether "me and" precedes a word.
    pub(super) fn is_beside_speaker(&self, reading: &AnalyzedSentence<'_>, at: usize) -> bool {
        let at =
            at - usize::from(at > 0 && reading.words.get(at - 1).is_some_and(|word| word.lower == "the"));
        let before = at.checked_sub(2).map_or(0..0, |at| reading.bytes(&(at..at + 2)));
        let is_apart = reading.text.get(before).is_some_and(|text| text.contains([',', '.', ';']));
        at >= 2 && !is_apart && reading.has(at - 1, &self.joiners) && reading.has(at - 2, &self.beside)
    }
}

/// Returns whether a name follows.
fn is_named_at(reading: &AnalyzedSentence<'_>, at: usize) -> bool {
    reading.break_at(at) <= Break::Comma && name_run(reading, at).is_some()
}
