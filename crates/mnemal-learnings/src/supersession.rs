//! Supersession of versions under a learned key: a pure function of the statements in their order.

use std::collections::BTreeSet;

use mnemal_core::{Basis, Confidence, EventId, Learning, LearningKind, LearningStatus, Stance, Verdict};

use mnemal_extract::is_slot_change;

use crate::ending::{Ending, is_ending, order};

/// Total weight that evidence needs. Source: RB-62, one very irritated, two mild or three casual signals.
const ENOUGH: f32 = 3.0;
/// Sessions that evidence needs if no single signal is enough. Source: RB-62, evidence of at least two sessions.
const SESSIONS: usize = 2;
/// Confidence from one message. Source: NB-09, strength of a single support.
const ONE_SUPPORT: f32 = 0.5;
/// Increase per further message. Source: NB-09, strength of further supports.
const FURTHER_SUPPORT: f32 = 0.1;

/// Whether an inferred preference becomes active with enough evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inference {
    /// It does.
    #[default]
    On,
    /// Only explicit preferences are active; an inferred one stays a candidate.
    Off,
}

/// Sets status, version, supports and times of all rows of one key, whatever they were.
///
/// An explicit statement is active until another one, or until a word of another value that is no wish by itself. An inferred one is active when the messages of one stance weigh
/// enough, and never against an explicit one or after a person archived it. An anti-pattern without an alternative waits
/// for one, whatever its weight, and counts as evidence. Praise is never active: it supports the active row of its time,
/// and does not reset its age. A statement before an ending is no longer active, and is no evidence for later ones.
pub(crate) fn settle(group: &mut [Learning], endings: &[&Ending], inference: Inference) {
    group.sort_by_key(order);
    let is_blocked = group.iter().any(|row| row.verdict.is_some());
    let mut endings: Vec<&Ending> = endings.to_vec();
    endings.sort_by_key(|ending| ending.at);
    let mut later = endings.iter().peekable();
    let mut leader: Option<usize> = None;
    for place in 0..group.len() {
        let at = group.get(place).map(order);
        while let Some(ending) = later.next_if(|ending| at.is_some_and(|at| ending.at < at)) {
            end(group, &mut leader, ending);
        }
        let (is_told, has_enough) = weigh(group, place, &endings);
        let leads_told = leader.and_then(|at| group.get(at)).is_some_and(|row| row.basis == Basis::Stated);
        let is_open = group.get(place).is_some_and(|row| row.verdict.is_some()) || !is_blocked;
        let may_infer = inference == Inference::On && has_enough;
        let is_change = group.get(place).is_some_and(changes) && leader.is_some() && is_open;
        if is_told || is_change || (may_infer && !leads_told && is_open) {
            if let Some(leader) = leader {
                supersede(group, leader, place);
            }
            if let Some(row) = group.get_mut(place) {
                (row.status, row.expired_at) = (LearningStatus::Active, None);
            }
            leader = Some(place);
        }
        if is_told {
            end_candidates(group, place);
        }
    }
    later.for_each(|ending| end(group, &mut leader, ending));
    if let Some(leader) = leader {
        praise(group, leader);
    }
    group.iter_mut().for_each(put_away);
}

/// Ends the candidates before an explicit statement, which says what they waited for. They never held, and stay evidence.
fn end_candidates(group: &mut [Learning], told: usize) {
    let Some(id) = group.get(told).map(|row| row.id) else { return };
    for row in group.iter_mut().take(told) {
        if row.status == LearningStatus::Candidate && row.verdict.is_none() {
            (row.status, row.superseded_by) = (LearningStatus::Superseded, Some(id));
        }
    }
}

/// Ends the active row, and candidates that wait for evidence, if an ending concerns them.
fn end(group: &mut [Learning], leader: &mut Option<usize>, ending: &Ending) {
    for (place, row) in group.iter_mut().enumerate() {
        let holds = *leader == Some(place);
        if !(holds || row.status == LearningStatus::Candidate) || !ending.ends(row) {
            continue;
        }
        row.status = LearningStatus::Superseded;
        row.superseded_by = Some(ending.id);
        row.expired_at = Some(ending.created_at.max(row.created_at));
        if holds {
            *leader = None;
        }
    }
}

/// Adds messages that praise a row since it was said to its supports; each counts once.
fn praise(group: &mut [Learning], leader: usize) {
    let later = group.iter().skip(leader + 1).filter(|row| is_praise(row) && row.verdict.is_none());
    let praising: BTreeSet<EventId> =
        later.flat_map(|row| row.sources.iter().map(|source| source.event)).collect();
    let Some(row) = group.get_mut(leader) else { return };
    let is_inferred = row.basis == Basis::Inferred;
    let Some(signal) = row.signal.as_mut().filter(|_| !praising.is_empty()) else { return };
    signal.supports = signal.supports.saturating_add(u32::try_from(praising.len()).unwrap_or(u32::MAX));
    if is_inferred {
        row.confidence = confidence(signal.supports);
    }
}

/// Whether a row only holds in the place of an earlier one: "on repasse aux euros".
fn changes(row: &Learning) -> bool {
    row.signal.as_ref().is_some_and(|signal| is_slot_change(&signal.rule))
}

fn is_praise(row: &Learning) -> bool {
    row.signal.as_ref().is_some_and(|signal| signal.stance == Stance::Keep)
}

/// Evaluates the rows up to an index for the one there; returns whether it is explicit, and whether the evidence is enough.
fn weigh(group: &mut [Learning], place: usize, endings: &[&Ending]) -> (bool, bool) {
    let (supports, is_enough) = evidence(group, place, endings);
    let Some(row) = group.get_mut(place) else { return (false, false) };
    row.version = u32::try_from(place + 1).unwrap_or(u32::MAX);
    (row.status, row.superseded_by) = (LearningStatus::Candidate, None);
    row.expired_at = Some(row.created_at);
    let is_told = row.basis == Basis::Stated && !is_ending(row);
    row.confidence = if is_told { Confidence::new(1.0) } else { confidence(supports) };
    if let Some(signal) = &mut row.signal {
        signal.supports = supports;
    }
    (is_told, is_enough)
}

/// Returns how many messages up to an index say the same as the one there, and whether they weigh enough.
fn evidence(group: &[Learning], place: usize, endings: &[&Ending]) -> (u32, bool) {
    let stance = |row: &Learning| row.signal.as_ref().map(|signal| signal.stance);
    let Some(row) = group.get(place) else { return (0, false) };
    let is_over =
        |other: &Learning| endings.iter().any(|ending| ending.at < order(row) && ending.ends(other));
    let is_alike =
        |other: &&Learning| other.verdict == row.verdict && stance(other) == stance(row) && !is_over(other);
    let (mut events, mut sessions) = (BTreeSet::new(), BTreeSet::new());
    let (mut weight, mut heaviest) = (0.0, 0.0_f32);
    for other in group.iter().take(place + 1).filter(is_alike) {
        let is_new = other.sources.iter().any(|source| events.insert(source.event));
        let adds = other.signal.as_ref().map_or(0.0, |signal| signal.weight);
        if is_new {
            weight += adds;
            heaviest = heaviest.max(adds);
            sessions.insert(&other.session);
        }
    }
    let may_hold = !is_praise(row) && !is_ending(row) && says_all(row);
    let is_enough = heaviest >= ENOUGH || (weight >= ENOUGH && sessions.len() >= SESSIONS);
    (u32::try_from(events.len()).unwrap_or(u32::MAX), is_enough && may_hold)
}

/// Whether an anti-pattern row also has an alternative.
fn says_all(row: &Learning) -> bool {
    let has_alternative = row.pattern.as_ref().is_none_or(|pattern| pattern.instead.is_some());
    row.kind != LearningKind::AntiPattern || has_alternative
}

fn confidence(supports: u32) -> Confidence {
    let further = u16::try_from(supports.saturating_sub(1)).unwrap_or(u16::MAX);
    Confidence::new(ONE_SUPPORT + FURTHER_SUPPORT * f32::from(further))
}

fn supersede(group: &mut [Learning], older: usize, newer: usize) {
    let Some((id, at)) = group.get(newer).map(|row| (row.id, row.created_at)) else { return };
    let Some(row) = group.get_mut(older) else { return };
    row.status = LearningStatus::Superseded;
    row.superseded_by = Some(id);
    row.expired_at = Some(at.max(row.created_at));
}

/// Ends a row that a person archived, if it was active until then.
fn put_away(row: &mut Learning) {
    let Some(verdict) = row.verdict else { return };
    let (status, at) = match verdict {
        Verdict::Archived(at) => (LearningStatus::Archived, at),
        Verdict::Rejected(at) | Verdict::Refuted(at) => (LearningStatus::Rejected, at),
    };
    if row.expired_at.is_none_or(|end| end >= at) {
        row.expired_at = Some(at.max(row.created_at));
        row.status = status;
    } else if row.status == LearningStatus::Candidate {
        row.status = status;
    }
}

#[cfg(test)]
mod tests;
