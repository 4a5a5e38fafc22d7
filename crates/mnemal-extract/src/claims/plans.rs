//! Plans: a verb or an event with a future time.

use std::ops::Range;

use mnemal_core::ExtractedFact;

use super::{Match, Sentence};
use crate::claims::objects::language;
use crate::claims::remark::Reason;
use crate::claims::subjects::SubjectForm;
use crate::clause::Break;

/// Words of an event before its head: "carpal tunnel operation". Source: own choice.
const LONGEST_EVENT: usize = 5;
/// Words between an event and its time: "exam is with Dr Novak in Leeds on". Source: own choice.
const LONGEST_WAY: usize = 7;

impl Sentence<'_, '_> {
    /// Returns whether a word belongs to a time that is still to come.
    pub(super) fn is_ahead(&self, at: usize) -> bool {
        self.hints.time_at(self.reading, at).is_some_and(|time| time.is_ahead)
    }

    /// Returns whether a verb in the present stands with a time to come: "I sit the exam on the 9th".
    pub(super) fn is_planned(&self, found: &Match<'_>) -> bool {
        let own = &found.slots.own;
        let is_ing = self.reading.lower(own.start).ends_with("ing");
        // "Am Freitag fliegen wir", "el viernes volamos": the subject follows the verb, or in its ending.
        let is_free = self.rules.code != "en" || found.rule.weight.is_some();
        let is_inverted = found.said.is_empty() && is_free;
        if matches!(self.reading.lower(own.end), "n't" | "not")
            || !is_ing && !is_inverted && !self.is_verb(found)
        {
            return false;
        }
        let to = self.reading.next_break(own.end, Break::Start);
        let from = if found.said.is_empty() && !is_inverted {
            own.end
        } else {
            self.reading.last_break(found.said.start.saturating_sub(1), Break::Start)
        };
        let is_new = |at: &usize| self.is_ahead(*at) && !self.is_lasting(*at);
        let words = self.reading.words.get(from..to).unwrap_or_default();
        let is_frequent = self.rules.frequency.stand_in(words);
        !is_frequent && (own.start..to).chain(from..found.said.start).any(|at| is_new(&at))
    }

    /// "Since January" refers to a current state.
    fn is_lasting(&self, at: usize) -> bool {
        let time = self.hints.time_at(self.reading, at);
        let first =
            (0..=at).rev().take_while(|place| self.hints.time_at(self.reading, *place) == time).last();
        let is_since =
            |at: usize| matches!(self.reading.lower(at), "since" | "until" | "till" | "every" | "each");
        first.is_some_and(|first| is_since(first) || first > 0 && is_since(first - 1))
    }

    /// "My anatomy exam is on the 9th", "Interview Thursday": an event with nothing but a time.
    pub(super) fn event_ahead(&self, found: &Match<'_>) -> Result<Vec<ExtractedFact>, Reason> {
        let head = found.slots.own.start;
        let noun = self.noun_at(head).ok_or(Reason::WrongSubject)?;
        let end = found.slots.own.end;
        let behind = end..self.reading.next_break(end, Break::Start).min(end + LONGEST_WAY);
        let before = noun.start.saturating_sub(LONGEST_WAY)..noun.start;
        let is_before = |at: usize| self.is_ahead(at) && self.reading.next_break(at + 1, Break::Start) > head;
        let time =
            behind.clone().find(|at| self.is_ahead(*at)).or_else(|| before.clone().find(|at| is_before(*at)));
        let time = time.ok_or(Reason::WrongKind)?;
        let is_over = |at: usize| self.is_past(at) && self.hints.time_at(self.reading, at).is_none();
        let clause = self.reading.next_break(end, Break::Start);
        if (end..time).any(|at| self.is_told(at)) || (end..clause).any(is_over) || self.goes_on(end) {
            return Err(Reason::WrongKind);
        }
        let act = self.act(found, noun.start..time.max(end))?;
        let cutter = self.cutter(found.rule);
        let cut = cutter.own(noun.clone());
        let when = self.time(found.rule, noun.start..end, act);
        Ok(vec![self.fact(found, &cut, act, when)])
    }

    /// "My late aunt played chess" is over.
    pub(super) fn is_late(&self, found: &Match<'_>) -> bool {
        let of_late = |at: usize| self.rules.is_of("late", self.reading.lower(at));
        found.how == SubjectForm::Relation && found.said.clone().any(of_late)
    }

    /// Whether somebody had a role and has it no more: "my former boss Karl". An old friend is still one.
    pub(super) fn is_former(&self, found: &Match<'_>) -> bool {
        let is_of_role =
            found.rule.predicate.as_str() == "knows" && found.slots.role.as_deref() != Some("friend");
        let of_former = |at: usize| self.rules.is_of("former", self.reading.lower(at));
        let own = &found.slots.own;
        // The adjective stands right before the role, inside the words of the rule or before them.
        is_of_role && (own.start.saturating_sub(1)..own.end).any(of_former)
    }

    /// A verb in the past without information on the time: unlike "booked".
    fn is_past(&self, at: usize) -> bool {
        let word = self.reading.lower(at);
        let has = |class: &str| self.rules.is_of(class, word);
        has("past") && !has("event_tail")
    }

    /// A word that tells something else of the event: "the exam was hard".
    fn is_told(&self, at: usize) -> bool {
        let word = self.reading.lower(at);
        let has = |class: &str| self.rules.is_of(class, word);
        !has("event_tail") && (has("past") || has("event_told"))
    }

    /// A noun follows, so that the event only tells of which kind it is: "exam stress".
    fn goes_on(&self, at: usize) -> bool {
        let word = self.reading.lower(at);
        !word.is_empty()
            && self.reading.break_at(at) == Break::None
            && self.hints.time_at(self.reading, at).is_none()
            && !mnemal_text::is_stop_word(language(self.rules.code), word)
            && !self.rules.is_of("event_tail", word)
    }

    /// Returns the words of an event up to its head, if a clause or the event's owner begins there.
    fn noun_at(&self, head: usize) -> Option<Range<usize>> {
        let is_of_noun = |at: &usize| {
            let word = self.reading.lower(*at);
            self.reading.break_at(*at + 1) == Break::None
                && !mnemal_text::is_stop_word(language(self.rules.code), word)
                && self.hints.time_at(self.reading, *at).is_none()
                && !self.rules.subjects.lead.contains(word)
                && !self.rules.is_of("event_before", word)
        };
        let is_count = |at: &usize| {
            self.reading.lower(*at).starts_with(|c: char| c.is_ascii_digit())
                || self.rules.is_of("count_word", self.reading.lower(*at))
        };
        let count = (0..head).rev().take(LONGEST_EVENT).take_while(is_of_noun).count();
        let start = head - count;
        let counted = (start..head).take_while(is_count).count();
        let noun = start + counted..head + 1;
        if self.reading.starts_clause(start) {
            return Some(noun);
        }
        let before = start.checked_sub(1)?;
        let has = |at: usize, class: &str| self.rules.is_of(class, self.reading.lower(at));
        let mut first = before;
        if has(before, "event_owner") {
            if self.reading.starts_clause(before) {
                return Some(noun);
            }
            first = before.checked_sub(1)?;
        }
        let is_led = self.begins(first + 1) || self.hints.time_at(self.reading, first).is_some();
        (is_led || has(first, "event_before")).then_some(noun)
    }
}
