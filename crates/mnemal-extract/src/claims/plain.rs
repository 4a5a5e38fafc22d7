//! Plain wording, calibrated separately because it is more often right.

use mnemal_core::{Act, ExtractedFact};

use super::{Match, Sentence};
use crate::claims::rule::Kind;
use crate::claims::subjects::SubjectForm;
use crate::clause::Break;

/// Words of the longest plain sentence. Source: own choice.
const LONGEST_PLAIN: usize = 24;

impl Sentence<'_, '_> {
    /// Returns whether a claim of a rule that knows plain wording is said so: at the start of its clause, of a subject that is
    /// named there, in a short sentence without a hedge, with a name right there where the rule asks for a name or a place, and
    /// with a time to come where it is a plan.
    pub(super) fn is_plain(&self, found: &Match<'_>, fact: &ExtractedFact) -> bool {
        let (reading, rule) = (self.reading, found.rule);
        if !rule.is_plain || reading.words.len() > LONGEST_PLAIN {
            return false;
        }
        let is_said = !matches!(found.how, SubjectForm::Pronoun | SubjectForm::Unsaid);
        let is_told = match fact.act {
            Act::Assert => true,
            Act::Plan => self.is_told_ahead(fact),
            _ => false,
        };
        let own = &found.slots.own;
        let end = found.slots.object.as_ref().map_or(own.end, |object| object.start);
        let is_apart =
            (found.said.end..end).any(|at| reading.break_at(at + 1) != Break::None && at + 1 < end);
        let is_described = self.describes_object(fact);
        let is_named =
            || fact.object.text.split_whitespace().any(|word| word.starts_with(char::is_uppercase));
        let needs_name = matches!(rule.kind, Kind::Name | Kind::Place);
        is_said
            && is_told
            && !is_apart
            && !is_described
            && (!needs_name || is_named() && self.is_next(found, fact))
            && !self.rules.hedges.stand_in(&reading.words)
            && self.begins(found.said.start.min(own.start))
    }

    /// Returns whether a plan has a time that is still to come, and is no habit: "I'm doing cards on the train daily".
    fn is_told_ahead(&self, fact: &ExtractedFact) -> bool {
        let words = &self.reading.words;
        fact.time.is_some()
            && (0..words.len()).any(|at| self.is_ahead(at))
            && !self.rules.frequency.stand_in(words)
    }

    /// Returns whether a name stands where its rule looks for it, behind a determiner at most: not so in "I'm in the middle of a
    /// translation into Dutch".
    fn is_next(&self, found: &Match<'_>, fact: &ExtractedFact) -> bool {
        let Some(slot) = found.slots.object.clone().filter(|_| !found.rule.is_list) else { return true };
        let start = (fact.object.span.start as usize).saturating_sub(self.hints.base);
        let first = slot.clone().find(|at| !self.rules.objects.determines(self.reading.lower(*at)));
        first.and_then(|at| self.reading.words.get(at)).is_none_or(|word| start <= word.span.start)
    }

    /// Returns whether words behind an object say more of it ("a van with a long tank"), or a figure precedes it ("9 kids").
    fn describes_object(&self, fact: &ExtractedFact) -> bool {
        let place = |at: u32| (at as usize).saturating_sub(self.hints.base);
        let (start, end) = (place(fact.object.span.start), place(fact.object.span.end));
        let words = &self.reading.words;
        let behind = words.iter().find(|word| word.span.start >= end);
        let before = words.iter().rev().find(|word| word.span.end <= start);
        let goes_on = behind.is_some_and(|word| self.rules.is_of("attributive", &word.lower));
        let is_figure = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        goes_on || fact.time.is_none() && before.is_some_and(|word| is_figure(&word.lower))
    }
}
