//! Audit of the notes: a read-only check of their invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mnemal_core::{
    EventId, Learning, LearningId, LearningKind, LearningStatus, Level, OperationKind, Timestamp, Trust,
};
use mnemal_text::{jaccard, shingles};

use crate::note::{is_note, is_of_one, maker, open};

mod table;
#[cfg(test)]
mod tests;

pub use self::table::INVARIANTS;

/// A loss of more than one note in this many is an alert. Source: RockBot `memory-audit.md`, 10 %.
const LOSS: u64 = 10;
/// New notes per day and user from which growth is a finding. Source: RockBot `memory-audit.md`.
const GROWTH: u64 = 5;
/// Shortest period over which growth is measured. Source: RockBot `memory-audit.md`.
const WINDOW: Duration = Duration::from_hours(12);
/// Acceptable number of consecutive merges of one note. Source: RockBot `memory-audit.md`.
const DEEP: u32 = 2;
/// Acceptable number of refused merges per week. Source: RockBot `memory-audit.md`.
const REFUSED: u64 = 5;
/// Words per shingle for the measurement of copies. Source: RockBot `memory-audit.md`, word 6-grams.
const RUN: usize = 6;
/// Jaccard similarity of shingles from which two notes are copies. Source: RockBot `memory-audit.md`.
const ALIKE: f32 = 0.3;
/// Most notes compared with each other, the newest. Source: RockBot, up to 1,000 live memories per run.
const COMPARED: usize = 1_000;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Needs attention.
    Warning,
    /// Pauses background changes until a person resumes them.
    Alert,
}

impl Severity {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Alert => "alert",
        }
    }
}

/// An invariant of the notes.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name, as in the requirements.
    pub name: &'static str,
    /// The severity of a violation.
    pub severity: Severity,
    /// The meaning of a violation, for a person.
    pub meaning: &'static str,
    /// The suggested next step, for a person.
    pub next: &'static str,
    /// Counts the violating rows.
    count: fn(&Audit<'_>) -> u64,
}

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its name, as in the requirements.
    pub name: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// Number of violating rows.
    pub rows: u64,
    /// Its meaning, for a person.
    pub meaning: &'static str,
    /// The suggested next step, for a person.
    pub next: &'static str,
}

/// The inputs of an audit.
#[derive(Clone, Copy, Debug)]
pub struct Audit<'r> {
    /// Time of the audit.
    pub at: Timestamp,
    /// All rows, of any status.
    pub rows: &'r [Learning],
    /// Notes seen by the previous audit.
    pub known: &'r [AuditedNote],
    /// Events that were forgotten or undone.
    pub explained: &'r BTreeSet<EventId>,
    /// Operations in effect, in log order.
    pub operations: &'r [(EventId, OperationKind)],
    /// The source events of the rows, as far as this space has them.
    pub events: &'r BTreeMap<EventId, Rank>,
    /// Counts of the previous audit, if any.
    pub before: Option<AuditCounts>,
    /// Refused proposals.
    pub refused: RefusalCounts,
    /// Results of checks beyond the notes.
    pub inspected: InspectionCounts,
}

/// A note as seen by an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditedNote {
    /// The note.
    pub id: LearningId,
    /// The event that created it.
    pub maker: EventId,
    /// Whether it was live.
    pub state: NoteState,
}

/// The state of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteState {
    /// Live.
    Held,
    /// Not live.
    Away,
}

/// Level and trust of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Its level.
    pub level: Level,
    /// Its trust.
    pub trust: Trust,
}

/// Counts kept for the next audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditCounts {
    /// Time of the audit.
    pub at: Timestamp,
    /// Live notes.
    pub live: u64,
    /// Live notes merged more than twice in a row.
    pub deep: u64,
    /// Near-copies of an older note, by word 6-grams, among the newest 1,000.
    pub copies: u64,
}

/// Refused proposals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusalCounts {
    /// Note groups for which the same proposal was refused in three consecutive runs.
    pub repeatedly: u64,
    /// Merges refused in the last seven days.
    pub merges: u64,
}

/// Results of checks beyond the notes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InspectionCounts {
    /// Projections whose event count differs from the log.
    pub unbalanced: u64,
    /// Events whose index rows differ from the log.
    pub unindexed: u64,
    /// Unreadable rows.
    pub undecodable: u64,
}

impl Audit<'_> {
    /// Returns the violated invariants, alerts first.
    pub fn findings(&self) -> Vec<Finding> {
        let broken = INVARIANTS.iter().filter_map(|invariant| {
            let Invariant { name, severity, meaning, next, count } = *invariant;
            Some(count(self)).filter(|rows| *rows > 0).map(|rows| Finding {
                name,
                severity,
                rows,
                meaning,
                next,
            })
        });
        broken.collect()
    }

    /// Returns the counts for the next audit. Compares each pair of the newest 1,000 notes.
    pub fn counts(&self) -> AuditCounts {
        AuditCounts { at: self.at, live: self.live(), deep: self.deep(), copies: self.copies() }
    }

    fn count(&self, is: impl Fn(&Learning) -> bool) -> u64 {
        self.rows.iter().filter(|row| is(row)).count() as u64
    }

    fn live(&self) -> u64 {
        self.count(|row| is_note(row) && row.status == LearningStatus::Active)
    }

    /// Notes that are missing although their events were neither forgotten nor undone.
    fn vanished(&self) -> u64 {
        let ids: BTreeSet<LearningId> = self.rows.iter().map(|row| row.id).collect();
        let is_gone = |seen: &&AuditedNote| !ids.contains(&seen.id) && !self.explained.contains(&seen.maker);
        self.known.iter().filter(is_gone).count() as u64
    }

    /// The decrease of live notes since the previous audit; a note replaced by another is not lost.
    fn lost(&self) -> u64 {
        let by_id: BTreeMap<LearningId, &Learning> = self.rows.iter().map(|row| (row.id, row)).collect();
        let stands = |seen: &AuditedNote| {
            let into = by_id.get(&seen.id).and_then(|row| row.superseded_by);
            into.is_some_and(|into| by_id.contains_key(&into))
        };
        let stood =
            |seen: &&AuditedNote| seen.state == NoteState::Held && !self.explained.contains(&seen.maker);
        let earlier = self.known.iter().filter(stood).filter(|seen| !stands(seen)).count() as u64;
        let lost = earlier.saturating_sub(self.live());
        if lost * LOSS > earlier { lost } else { 0 }
    }

    fn broken(&self) -> u64 {
        let ids: BTreeSet<LearningId> = self.rows.iter().map(|row| row.id).collect();
        self.count(|row| row.superseded_by.is_some_and(|into| !ids.contains(&into)))
    }

    /// Rows with a higher level than their origin: the event, or the lowest note of an operation. Rows that a person
    /// confirmed keep the level the person set.
    fn risen(&self) -> u64 {
        let by_maker = self.by_maker();
        let operation_kinds: BTreeMap<EventId, &OperationKind> =
            self.operations.iter().map(|(id, operation_kind)| (*id, operation_kind)).collect();
        self.count(|row| {
            let Some(event) = maker(row).filter(|_| row.verdict.is_none()) else { return false };
            let least = match operation_kinds.get(&event) {
                Some(operation_kind) => {
                    let of = || operation_kind.names().into_iter().filter_map(|name| by_maker.get(&name));
                    let (levels, trusts) = (of().map(|row| row.level).min(), of().map(|row| row.trust).min());
                    levels.zip(trusts).map(|(level, trust)| Rank { level, trust })
                }
                None => self.events.get(&event).copied(),
            };
            least.is_some_and(|least| row.level > least.level || row.trust > least.trust)
        })
    }

    /// Rows whose source event was never in this space.
    fn foreign(&self) -> u64 {
        let is_here = |event: &EventId| self.events.contains_key(event) || self.explained.contains(event);
        self.count(|row| row.sources.iter().any(|source| !is_here(&source.event)))
    }

    fn raised(&self) -> u64 {
        let is_users = |kind| matches!(kind, LearningKind::Preference | LearningKind::AntiPattern);
        self.count(|row| is_users(row.kind) && row.level < Level::User)
    }

    fn without_source(&self) -> u64 {
        self.count(|row| row.sources.iter().all(|source| self.explained.contains(&source.event)))
    }

    /// Merges in effect that name a note which is neither present nor forgotten.
    fn unresolved(&self) -> u64 {
        let by_maker = self.by_maker();
        let is_missing = |name: &EventId| !by_maker.contains_key(name) && !self.explained.contains(name);
        let merges = self.operations.iter().filter(|(id, operation_kind)| {
            matches!(operation_kind, OperationKind::Merge { notes, .. } if by_maker.contains_key(id) && notes.iter().any(is_missing))
        });
        merges.count() as u64
    }

    fn half_archived(&self) -> u64 {
        self.count(|row| row.status == LearningStatus::Archived && row.expired_at.is_none())
    }

    fn live_sources(&self) -> u64 {
        self.count(|row| row.status == LearningStatus::Active && row.superseded_by.is_some())
    }

    /// New notes since the previous audit, if they exceed the normal growth.
    fn grown(&self) -> u64 {
        let Some(before) = self.before else { return 0 };
        let grown = self.live().saturating_sub(before.live);
        let over = u64::try_from(self.at.as_micros() - before.at.as_micros()).unwrap_or_default();
        let users: BTreeSet<_> = self.rows.iter().filter_map(|row| row.user.as_ref()).collect();
        let users = u128::from(users.len().max(1) as u64);
        let day = Duration::from_hours(24).as_micros();
        let is_much = u128::from(grown) * day > u128::from(GROWTH) * users * u128::from(over);
        if Duration::from_micros(over) >= WINDOW && is_much { grown } else { 0 }
    }

    fn deepened(&self) -> u64 {
        self.before.map_or(0, |before| self.deep().saturating_sub(before.deep))
    }

    /// Live notes merged more than twice in a row.
    fn deep(&self) -> u64 {
        let mut depths: BTreeMap<EventId, u32> = BTreeMap::new();
        for (id, operation_kind) in self.operations {
            if let OperationKind::Merge { notes, .. } = operation_kind {
                let below = notes.iter().filter_map(|note| depths.get(note)).max().copied();
                depths.insert(*id, below.unwrap_or_default().saturating_add(1));
            }
        }
        let depth = |row: &Learning| maker(row).and_then(|event| depths.get(&event)).copied();
        self.count(|row| row.status == LearningStatus::Active && depth(row).is_some_and(|depth| depth > DEEP))
    }

    fn copies(&self) -> u64 {
        let notes = open(self.rows);
        let newest = notes.get(notes.len().saturating_sub(COMPARED)..).unwrap_or_default();
        let runs: Vec<(&Learning, Vec<u64>)> =
            newest.iter().map(|row| (*row, shingles(&row.content, RUN))).collect();
        let repeats = |place: usize, one: &(&Learning, Vec<u64>)| {
            let earlier = runs.iter().take(place);
            earlier.filter(|other| is_of_one(one.0, other.0)).any(|other| jaccard(&one.1, &other.1) >= ALIKE)
        };
        runs.iter().enumerate().filter(|(place, one)| repeats(*place, one)).count() as u64
    }

    fn by_maker(&self) -> BTreeMap<EventId, &Learning> {
        self.rows.iter().filter_map(|row| Some((maker(row)?, row))).collect()
    }
}
