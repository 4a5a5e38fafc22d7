//! Corrections: a value retracted next to a claim: "It's not hazelnuts. I'm allergic to walnuts."

use std::ops::Range;

use mnemal_core::{Act, ExtractedFact, RuleId, Support};

use super::{Match, Sentence};
use crate::claims::hints::Hints;
use crate::claims::pattern::Slots;
use crate::claims::rule::{Kind, Rule};
use crate::clause::{AnalyzedSentence, Break};
use crate::gates::Gates;

/// Words of a retracted value. Source: own choice; a longer phrase tells a story.
const LONGEST_VALUE: usize = 4;
/// Words before such a value in a sentence without other content: "Sorry, no, it is not". Source: own choice.
const LONGEST_START: usize = 6;

/// A value that a sentence denies, with the subject from the next sentence.
#[derive(Debug)]
pub(super) struct DeniedValue<'t> {
    reading: AnalyzedSentence<'t>,
    /// First byte of its sentence in the text.
    base: usize,
    value: Range<usize>,
}

impl<'t> Sentence<'_, 't> {
    /// Returns the values that the sentence denies and nothing else.
    pub(super) fn values_denied(&self) -> Vec<Range<usize>> {
        if !self.reading.gates().intersects(Gates::NEGATION) {
            return Vec::new();
        }
        let patterns = |at: usize| self.rules.denials.iter().map(move |pattern| (at, pattern));
        let value = |(at, pattern): (usize, &crate::claims::pattern::Pattern)| {
            // "I can swim but not dive" puts nothing right.
            let is_contrast = |at: usize| self.reading.break_at(at) == Break::Terminator;
            let begins = (!pattern.is_start || self.begins(at))
                && !is_contrast(at)
                && !is_contrast(at.saturating_sub(1));
            let start = begins.then(|| pattern.at(self.reading, self.rules, at))??.object?.start;
            let end = self.reading.next_break(start + 1, Break::Comma);
            (end - start <= LONGEST_VALUE).then_some(start..end)
        };
        let mut values: Vec<_> = (0..self.reading.words.len()).flat_map(patterns).filter_map(value).collect();
        values.dedup();
        values
    }

    /// Returns the denied value if the sentence has no other content.
    pub(super) fn denied_alone(&self, values: &[Range<usize>]) -> Option<DeniedValue<'t>> {
        let all = self.reading.words.len();
        let value = values.last().filter(|value| value.end == all && value.start <= LONGEST_START)?;
        Some(DeniedValue { reading: self.reading.clone(), base: self.hints.base, value: value.clone() })
    }

    /// Returns the corrections of a claim: the neighboring denied values were never true.
    pub(super) fn corrections(&self, found: &Match<'_>, fact: &ExtractedFact) -> Vec<ExtractedFact> {
        if fact.act != Act::Assert || found.slots.object.is_none() {
            return Vec::new();
        }
        let taken = found.said.start.min(found.slots.own.start)..found.slots.own.end;
        let is_apart = |value: &&Range<usize>| value.end <= taken.start || taken.end <= value.start;
        let mut all: Vec<_> = self
            .denied
            .iter()
            .filter(is_apart)
            .filter_map(|value| self.correction(value.clone(), found, fact))
            .collect();
        // Only the first clause answers the sentence before.
        if let Some(before) = self.before.filter(|_| self.reading.last_break(taken.start, Break::Start) == 0)
        {
            let hints = Hints { base: before.base, ..self.hints.clone() };
            let sentence = Sentence {
                subjects: &[],
                reading: &before.reading,
                rules: self.rules,
                hints: &hints,
                denied: &[],
                before: None,
            };
            all.extend(sentence.correction(before.value.clone(), found, fact));
        }
        all
    }

    /// Reads a value that is denied as the rule of a claim reads its object.
    fn correction(
        &self,
        value: Range<usize>,
        found: &Match<'_>,
        fact: &ExtractedFact,
    ) -> Option<ExtractedFact> {
        let cuts = self.cutter(found.rule).objects(value.clone()).ok()?;
        let cut = cuts.first().filter(|cut| cut.words.end == value.end)?;
        let of_value = Match {
            rule: found.rule,
            slots: Slots { own: cut.words.clone(), ..Slots::default() },
            subject: found.subject.clone(),
            how: found.how,
            said: cut.words.start..cut.words.start,
        };
        let denied = self.fact(&of_value, cut, Act::Negative, None);
        let is_other = denied.object.key != fact.object.key && denied.object.kind == fact.object.kind;
        let topic = fact.object.topic.clone();
        let last = |of: &ExtractedFact| of.object.text.rsplit(' ').next().unwrap_or_default().to_lowercase();
        let is_alike = is_typed(found.rule) || self.rules.are_alike(&last(&denied), &last(fact));
        (is_other && is_alike).then(|| ExtractedFact {
            rule: RuleId::new(Support::correction_rule()).unwrap_or_else(|_| fact.rule.clone()),
            object: mnemal_core::Object { topic, ..denied.object },
            confidence: fact.confidence,
            ..denied
        })
    }
}

/// Returns whether what a rule looks for shows that a value is one of its own.
fn is_typed(rule: &Rule) -> bool {
    let is_kind = matches!(
        rule.kind,
        Kind::Name | Kind::Place | Kind::Number | Kind::Date | Kind::Contact | Kind::Value
    );
    is_kind || !rule.head.is_empty() || !rule.first.is_empty()
}
