//! Habits: frequency expressions.

use mnemal_core::ExtractedFact;

use super::{Match, Sentence};
use crate::claims::objects::Cutter;
use crate::claims::pattern::Slots;
use crate::claims::remark::Reason;
use crate::claims::subjects::SubjectForm;
use crate::clause::Break;

/// Words of a habit up to its frequency. Source: own choice.
const LONGEST_HABIT: usize = 14;
/// Words between a frequency and the following subject. Source: own choice.
const LONGEST_LEAD: usize = 1;

impl Sentence<'_, '_> {
    /// Habits with a frequency: "I run in the park every morning", "On Sundays we visit my aunt".
    pub(super) fn frequent(
        &self,
        found: &Match<'_>,
        cutter: &Cutter<'_, '_>,
    ) -> Result<Vec<ExtractedFact>, Reason> {
        let own = &found.slots.own;
        if !self.is_verb(found) {
            return Err(Reason::WrongKind);
        }
        let stands = |at: usize| {
            let mut end = None;
            self.rules
                .frequency
                .find_at(&self.reading.words, at, |(), places| end = end.max(Some(places.end)));
            end.map(|end| at..end)
        };
        let last = self.reading.next_break(own.end, Break::Start).min(own.start + LONGEST_HABIT);
        let (cut, tail) = if let Some(behind) = (own.end..last).find_map(stands) {
            let mut end = behind.end;
            while end < last
                && let Some(more) = stands(end)
            {
                end = more.end;
            }
            (cutter.checked(own.start..behind.start, own.start..end)?, None)
        } else {
            let first = self.reading.last_break(found.said.start.saturating_sub(1), Break::Strong);
            let before = (first..found.said.start).filter_map(stands).find(|places| {
                places.end <= found.said.start && found.said.start <= places.end + LONGEST_LEAD
            });
            let tail = before.ok_or(Reason::WrongKind)?;
            let end = self.reading.next_break(own.end, Break::Start);
            (cutter.objects(own.start..end)?.swap_remove(0), Some(tail))
        };
        let act = self.act(found, found.said.start..cut.words.end.max(own.end))?;
        let slots = Slots { tail, ..found.slots.clone() };
        let of_habit = Match { slots, subject: found.subject.clone(), said: found.said.clone(), ..*found };
        Ok(vec![self.fact(&of_habit, &cut, act, None)])
    }

    /// Returns whether the first word of a pattern has the form that a verb has behind its subject; where that is not said
    /// again, only verbs that are known count.
    pub(super) fn is_verb(&self, found: &Match<'_>) -> bool {
        let verb = self.reading.lower(found.slots.own.start);
        let is_plural = found.said.clone().last().is_some_and(|at| self.reading.lower(at).ends_with('s'));
        match found.how {
            _ if found.said.is_empty() => self.rules.is_of("base", verb),
            SubjectForm::Relation | SubjectForm::Named | SubjectForm::Pronoun => {
                is_plural || verb.ends_with('s')
            }
            SubjectForm::Speaker | SubjectForm::Group | SubjectForm::Unsaid => true,
        }
    }
}
