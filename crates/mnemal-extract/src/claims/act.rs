//! Effect of the gates on a claim: dropped, or kept with an act.

use std::ops::Range;

use mnemal_core::Act;

use super::{Match, Sentence};
use crate::claims::remark::Reason;
use crate::gates::Gates;

/// Gates that no claim passes; a presupposed claim passes the first two.
const CLOSED: [Gates; 6] =
    [Gates::IMPERATIVE, Gates::HYPOTHETICAL, Gates::QUESTION, Gates::SARCASM, Gates::QUOTED, Gates::FICTION];

impl Sentence<'_, '_> {
    /// Weighs the gates that hold over the words of a claim.
    pub(super) fn act(&self, found: &Match<'_>, words: Range<usize>) -> Result<Act, Reason> {
        let rule = found.rule;
        let mut gates = Gates::NONE;
        let is_in_subject = |cue: &Range<usize>| {
            !cue.is_empty() && found.said.start <= cue.start && cue.end <= found.said.end
        };
        let is_not =
            |at: usize| rule.keeps_not && self.reading.words.get(at).is_some_and(|word| word.lower == "not");
        let own = found.slots.own.start..found.slots.own.end + usize::from(is_not(found.slots.own.end));
        let own = if rule.is_strict { 0..0 } else { own };
        let over = self.reading.marks_over(words.clone(), &own);
        let ends: Vec<_> = over.filter(|mark| !is_in_subject(&mark.cue)).collect();
        let cues = |gate: Gates| -> Vec<Range<usize>> {
            ends.iter().filter(|mark| mark.gate == gate).map(|mark| mark.cue.clone()).collect()
        };
        let (end_cues, past_cues) = (cues(Gates::END), cues(Gates::PAST_HABIT));
        for mark in &ends {
            let is_in = |cues: &[Range<usize>]| {
                cues.iter().any(|cue| cue.start <= mark.cue.start && mark.cue.end <= cue.end)
            };
            let is_of_end = mark.gate == Gates::NEGATION && is_in(&end_cues);
            // "Used to" tells of the past; that it is over is only likely.
            let is_of_past = mark.gate == Gates::END && is_in(&past_cues);
            // "I gave notice and work as a baker now": the end is that of something before.
            let is_before = mark.gate == Gates::END && self.is_before_now(mark.cue.end, words.end);
            if !is_of_end && !is_of_past && !is_before {
                gates |= mark.gate;
            }
        }
        let closed = if rule.is_presupposed { CLOSED.get(2..) } else { CLOSED.get(..) };
        let closed = closed.into_iter().flatten().copied();
        if let Some(closed) = closed.clone().find(|closed| gates.intersects(*closed)) {
            return Err(Reason::gate(closed));
        }
        if gates.intersects(Gates::REPORTED) {
            return Err(Reason::gate(Gates::REPORTED));
        }
        if gates.intersects(Gates::OBLIGATION) && rule.act != Act::Plan && !rule.is_presupposed {
            return Err(Reason::gate(Gates::OBLIGATION));
        }
        let is_former = rule.act == Act::Assert && self.is_former(found);
        if rule.is_presupposed {
            return Ok(if is_former { Act::Past } else { rule.act });
        }
        let is_negated = gates.intersects(Gates::NEGATION);
        let is_told = gates.intersects(Gates::END | Gates::PAST_HABIT);
        if is_told && !rule.act.is_of_past() {
            let may_end = rule.ends && rule.act == Act::Assert && !is_negated;
            return if may_end { Ok(of_past(gates)) } else { Err(Reason::gate(Gates::END)) };
        }
        match rule.act {
            _ if is_negated => Err(Reason::gate(Gates::NEGATION)),
            Act::Past => Ok(of_past(gates)),
            Act::Assert if self.is_late(found) => Ok(Act::End),
            Act::Assert if is_former => Ok(Act::Past),
            act => Ok(act),
        }
    }
}

impl Sentence<'_, '_> {
    /// Whether a further current statement lies between two positions, by the language's words for both.
    fn is_before_now(&self, from: usize, to: usize) -> bool {
        let mut places = from..to;
        let mut has = |class: &str| places.any(|at| self.rules.is_of(class, self.reading.lower(at)));
        has("further") && has("at_present")
    }
}

/// Returns how words tell of the past: something is over, or was so once.
fn of_past(gates: Gates) -> Act {
    if gates.intersects(Gates::END) {
        Act::End
    } else if gates.intersects(Gates::EARLIER) {
        Act::Earlier
    } else {
        Act::Past
    }
}
