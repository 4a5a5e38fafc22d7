//! Decisions on notes and learnings: by key, by note, or by the words on which they rest.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    Decision, Event, EventId, FactChoice, FactDecision, Learning, LearningId, LearningStatus, NewEvent,
    NoteKey, NoteTarget, Result, Source, Timestamp, Verdict,
};
use mnemal_text::fold as folded;

use crate::fold::{Fold, is_learned, note_id, weigh};
use crate::rows::Rows;

/// Returns the source events of a decision's subject, if no key identifies it.
pub(crate) fn concerned(decision: &Decision) -> Vec<EventId> {
    let events = |sources: &[Source]| sources.iter().map(|source| source.event).collect();
    match decision {
        Decision::Archive(target) | Decision::Restore(target) | Decision::Reject(target) => {
            target.maker().into_iter().collect()
        }
        Decision::Fact(fact) => events(&fact.sources),
        _ => Vec::new(),
    }
}

impl Fold {
    /// Applies a decision.
    ///
    /// # Errors
    /// `Invalid` when a note has no text or a reserved key.
    pub(crate) fn decide(&mut self, event: &Event, kept: &NewEvent, decision: &Decision) -> Result<()> {
        let now = event.recorded_at;
        match decision {
            Decision::Remember(remember) => return self.remember(event, kept, remember),
            Decision::Archive(target) => self.decide_about(event, target, Some(Verdict::Archived(now))),
            Decision::Reject(target) => self.decide_about(event, target, Some(Verdict::Rejected(now))),
            Decision::Restore(target) => self.decide_about(event, target, None),
            Decision::Fact(fact) => self.follow_fact(event, fact),
            _ => {}
        }
        Ok(())
    }

    fn decide_about(&mut self, event: &Event, target: &NoteTarget, verdict: Option<Verdict>) {
        match (&target.key, verdict) {
            (Some(key), verdict) if is_learned(key) => self.judge(event, key, verdict, |_| true),
            (Some(key), Some(verdict)) => self.put_key_away(event, key, verdict),
            (Some(key), None) => self.restore_key(event, key),
            (None, verdict) => {
                let row = target.maker().and_then(|event| self.rows.get(note_id(event)).cloned());
                match (row, verdict) {
                    (Some(row), Some(verdict)) => self.put_row_away(event, row, verdict),
                    (Some(row), None) if row.status != LearningStatus::Active => self.restore_row(event, row),
                    _ => {}
                }
            }
        }
    }

    /// Applies a decision on a fact to the learnings that rest on the same words.
    fn follow_fact(&mut self, event: &Event, fact: &FactDecision) {
        let now = event.recorded_at;
        let verdict = match fact.choice {
            FactChoice::Reject => Some(Verdict::Refuted(now)),
            FactChoice::End { at } if at.as_seconds() <= now.as_micros().div_euclid(MICROS) => {
                Some(Verdict::Archived(now))
            }
            FactChoice::End { .. } => return,
            FactChoice::Add { .. } => None,
        };
        let rests = |row: &&Learning| rests_on(row, &fact.sources);
        let concerned: Vec<Learning> = self.rows.all().filter(rests).cloned().collect();
        let keys: BTreeSet<NoteKey> = concerned.iter().filter_map(|row| row.key.clone()).collect();
        for key in keys.iter().filter(|key| is_learned(key)) {
            // Affirming a fact only reverts an earlier refutation.
            let is_meant =
                |row: &Learning| rests_on(row, &fact.sources) && (verdict.is_some() || is_refuted(row));
            self.judge(event, key, verdict, is_meant);
        }
        let notes = concerned.into_iter().filter(|row| !row.key.as_ref().is_some_and(is_learned));
        for row in notes {
            match verdict {
                Some(verdict) => self.put_row_away(event, row, verdict),
                None if is_refuted(&row) => self.restore_row(event, row),
                None => {}
            }
        }
    }

    /// Applies a person's verdict to the matching rows of a learned key.
    fn judge(
        &mut self,
        event: &Event,
        key: &NoteKey,
        verdict: Option<Verdict>,
        is_meant: impl Fn(&Learning) -> bool,
    ) {
        let now = event.recorded_at;
        // Later learnings are excluded, though a refold from the start knows them already.
        let known: Vec<Learning> =
            self.rows.of_key(key).filter(|row| row.created_at < now).cloned().collect();
        let meant: BTreeSet<String> =
            known.iter().filter(|row| is_meant(row)).map(|row| folded(&row.content)).collect();
        let judged = |row: &Learning| {
            let may = row.level <= event.level && meant.contains(&folded(&row.content));
            Learning { verdict: if may { verdict } else { row.verdict }, ..row.clone() }
        };
        let mut judged: Vec<Learning> = known.iter().map(judged).collect();
        if verdict.is_none() {
            note_absences((key, &self.rows), known, &mut judged, now);
        }
        for row in judged {
            self.rows.put(row);
        }
        for content in &meant {
            match verdict {
                Some(refuted @ Verdict::Refuted(_)) => self.refute_later(key, content, (now, refuted)),
                None => self.lift_refutation(key, content, now),
                Some(_) => {}
            }
        }
        self.settle(key);
    }

    /// Refutes later restatements, which only a refold from the start knows already.
    fn refute_later(&mut self, key: &NoteKey, content: &str, (since, verdict): (Timestamp, Verdict)) {
        let is_later = |row: &&Learning| row.created_at >= since && folded(&row.content) == *content;
        let later: Vec<Learning> = self.rows.of_key(key).filter(is_later).cloned().collect();
        for row in later {
            self.rows.put(Learning { verdict: Some(verdict), ..row });
        }
    }

    /// Reverts a refutation for later restatements.
    pub(crate) fn lift_refutation(&mut self, key: &NoteKey, content: &str, since: Timestamp) {
        let content = folded(content);
        let is_later = |row: &&Learning| {
            let refuted_at = row.verdict.filter(|_| is_refuted(row)).map(time);
            row.created_at >= since
                && refuted_at.is_some_and(|at| at < since)
                && folded(&row.content) == content
        };
        let later: Vec<Learning> = self.rows.of_key(key).filter(is_later).cloned().collect();
        for row in later {
            self.rows.put(Learning { verdict: None, ..row });
        }
    }

    /// Returns an earlier verdict on these words: a refuted fact stays refuted, and a decision covers an import of
    /// statements recorded before it.
    pub(crate) fn standing_verdict(&self, key: &NoteKey, row: &Learning) -> Option<Verdict> {
        let content = folded(&row.content);
        let of_content = self.rows.of_key(key).filter(|other| folded(&other.content) == content);
        let earlier =
            of_content.filter(|other| other.level >= row.level && other.created_at < row.created_at);
        let newest = earlier.max_by_key(|other| (other.created_at, other.id));
        let refuted = newest.and_then(|other| other.verdict.filter(|_| is_refuted(other)));
        let covering = |other: &Learning| {
            let is_alike = other.level >= row.level && folded(&other.content) == content;
            other.verdict.filter(|verdict| is_alike && time(*verdict) > row.created_at)
        };
        let last = || self.rows.of_key(key).filter_map(covering).max_by_key(|one| time(*one));
        row.verdict.or(refuted).or_else(last)
    }

    /// Archives the active row of a key.
    pub(crate) fn put_key_away(&mut self, event: &Event, key: &NoteKey, verdict: Verdict) {
        if let Some(active) = self.active(Some(key)) {
            self.put_row_away(event, active, verdict);
        }
    }

    fn put_row_away(&mut self, event: &Event, mut row: Learning, verdict: Verdict) {
        let is_open = row.status == LearningStatus::Active;
        if is_open && row.level <= event.level && row.created_at < event.recorded_at {
            row.status = match verdict {
                Verdict::Archived(_) => LearningStatus::Archived,
                Verdict::Rejected(_) | Verdict::Refuted(_) => LearningStatus::Rejected,
            };
            row.expired_at = Some(event.recorded_at);
            self.rows.put(Learning { verdict: Some(verdict), ..row });
        }
    }

    /// Reactivates the row of a key that was archived last, unless another one is active.
    fn restore_key(&mut self, event: &Event, key: &NoteKey) {
        if self.active(Some(key)).is_some() {
            return;
        }
        let is_away = |row: &&Learning| row.verdict.is_some() && row.level <= event.level;
        let row =
            self.rows.of_key(key).filter(is_away).max_by_key(|row| (row.expired_at, row.version)).cloned();
        if let Some(row) = row {
            self.restore_row(event, row);
        }
    }

    fn restore_row(&mut self, event: &Event, row: Learning) {
        if row.level > event.level || row.created_at >= event.recorded_at {
            return;
        }
        let mut away = row.away.clone();
        away.extend(row.expired_at.map(|from| (from, event.recorded_at)));
        self.rows.put(Learning {
            status: LearningStatus::Active,
            superseded_by: None,
            expired_at: None,
            away,
            verdict: None,
            ..row
        });
    }
}

/// Microseconds in a second.
const MICROS: i64 = 1_000_000;

fn is_refuted(row: &Learning) -> bool {
    matches!(row.verdict, Some(Verdict::Refuted(_)))
}

fn time(verdict: Verdict) -> Timestamp {
    match verdict {
        Verdict::Archived(at) | Verdict::Rejected(at) | Verdict::Refuted(at) => at,
    }
}

/// Whether a row rests on some of these words.
fn rests_on(row: &Learning, sources: &[Source]) -> bool {
    row.sources.iter().any(|source| sources.iter().any(|other| source.overlaps(*other)))
}

/// Records the inactive period of restored rows, and of rows that became active with them.
fn note_absences(
    (key, rows): (&NoteKey, &Rows),
    mut before: Vec<Learning>,
    after: &mut [Learning],
    now: Timestamp,
) {
    weigh(key, &mut before, rows);
    let ends: BTreeMap<LearningId, Option<Timestamp>> =
        before.iter().map(|row| (row.id, row.expired_at)).collect();
    weigh(key, after, rows);
    for row in after {
        let Some(from) = ends.get(&row.id).copied().flatten() else { continue };
        let until = row.expired_at.map_or(now, |end| end.min(now));
        if from < until {
            row.away.push((from, until));
        }
    }
}
