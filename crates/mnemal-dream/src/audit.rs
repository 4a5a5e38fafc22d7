//! Whether the notes are as they must be. Reads only.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mnemal_core::{
    Deed, EventId, Learning, LearningId, LearningKind, LearningStatus, Level, Timestamp, Trust,
};
use mnemal_text::{jaccard, shingles};

use crate::note::{is_note, is_of_one, maker, open};

mod table;
#[cfg(test)]
mod tests;

pub use self::table::INVARIANTS;

/// A loss of more than one note of so many is an alert. Source: AD-51, 10 %.
const LOSS: u64 = 10;
/// New notes a day and user from which growth is a finding. Source: AD-51.
const GROWTH: u64 = 5;
/// Least time over which growth is measured. Source: AD-51.
const WINDOW: Duration = Duration::from_hours(12);
/// Merges of merges that are in order. Source: AD-51.
const DEEP: u32 = 2;
/// Refused merges a week that are in order. Source: AD-51.
const REFUSED: u64 = 5;
/// Words of the runs by which copies are measured, and the share of them in common. Source: AD-51.
const RUN: usize = 6;
/// Source: AD-51.
const ALIKE: f32 = 0.3;
/// Most notes that are compared with each other, the newest. Source: RB-55, up to 1,000 live memories.
const COMPARED: usize = 1_000;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// To be looked at.
    Warning,
    /// Background changes wait for a person.
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

/// Something that must hold.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name, as in the requirements.
    pub name: &'static str,
    /// How bad it is when it does not hold.
    pub severity: Severity,
    /// What it means when it does not hold, for a person.
    pub meaning: &'static str,
    /// What a person can do then.
    pub next: &'static str,
    /// Counts the rows for which it does not hold.
    count: fn(&Audit<'_>) -> u64,
}

/// One invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its name, as in the requirements.
    pub name: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// How many rows.
    pub rows: u64,
    /// What it means, for a person.
    pub meaning: &'static str,
    /// What a person can do.
    pub next: &'static str,
}

/// What an audit compares.
#[derive(Clone, Copy, Debug)]
pub struct Audit<'r> {
    /// When.
    pub at: Timestamp,
    /// All rows, whatever their status.
    pub rows: &'r [Learning],
    /// Notes that the audit before saw.
    pub known: &'r [Seen],
    /// Events that were forgotten or taken back.
    pub explained: &'r BTreeSet<EventId>,
    /// Operations that hold, in the order of the log.
    pub operations: &'r [(EventId, Deed)],
    /// The events that the rows rest on, as far as this space has them.
    pub events: &'r BTreeMap<EventId, Rank>,
    /// What the audit before counted, if there was one.
    pub before: Option<Counted>,
    /// What was refused.
    pub refused: Refused,
    /// What stands beside the notes.
    pub inspected: Inspected,
}

/// A note as an audit saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The note.
    pub id: LearningId,
    /// The event that made it.
    pub maker: EventId,
    /// Whether it held.
    pub standing: Standing,
}

/// How a note stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It held.
    Held,
    /// It did not.
    Away,
}

/// How far an event may be believed, and what it may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// What it may become.
    pub level: Level,
    /// How far it may be believed.
    pub trust: Trust,
}

/// What an audit counts for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// When.
    pub at: Timestamp,
    /// Notes that hold.
    pub live: u64,
    /// Notes that hold and were merged more than twice in a row.
    pub deep: u64,
    /// Notes that nearly repeat an older one, by runs of six words, of the newest 1,000.
    pub copies: u64,
}

/// Proposals that were refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Groups of notes for which the same was refused in three runs in a row.
    pub repeatedly: u64,
    /// Merges that were refused in the last seven days.
    pub merges: u64,
}

/// What is wrong beside the notes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// Projections whose events do not add up to those of the log.
    pub unbalanced: u64,
    /// Events whose index rows are not those of the log.
    pub unindexed: u64,
    /// Rows that cannot be read.
    pub undecodable: u64,
}

impl Audit<'_> {
    /// Returns what does not hold, alerts first.
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

    /// Counts what the next audit compares with. Costs a comparison of each of the newest 1,000 notes with each.
    pub fn counted(&self) -> Counted {
        Counted { at: self.at, live: self.live(), deep: self.deep(), copies: self.copies() }
    }

    fn count(&self, is: impl Fn(&Learning) -> bool) -> u64 {
        self.rows.iter().filter(|row| is(row)).count() as u64
    }

    fn live(&self) -> u64 {
        self.count(|row| is_note(row) && row.status == LearningStatus::Active)
    }

    /// Notes that are gone, and whose events nobody forgot or took back.
    fn vanished(&self) -> u64 {
        let ids: BTreeSet<LearningId> = self.rows.iter().map(|row| row.id).collect();
        let is_gone = |seen: &&Seen| !ids.contains(&seen.id) && !self.explained.contains(&seen.maker);
        self.known.iter().filter(is_gone).count() as u64
    }

    /// How many fewer notes hold than at the audit before; one that another note stands for is not lost.
    fn lost(&self) -> u64 {
        let by_id: BTreeMap<LearningId, &Learning> = self.rows.iter().map(|row| (row.id, row)).collect();
        let stands = |seen: &Seen| {
            let into = by_id.get(&seen.id).and_then(|row| row.superseded_by);
            into.is_some_and(|into| by_id.contains_key(&into))
        };
        let stood = |seen: &&Seen| seen.standing == Standing::Held && !self.explained.contains(&seen.maker);
        let earlier = self.known.iter().filter(stood).filter(|seen| !stands(seen)).count() as u64;
        let lost = earlier.saturating_sub(self.live());
        if lost * LOSS > earlier { lost } else { 0 }
    }

    fn broken(&self) -> u64 {
        let ids: BTreeSet<LearningId> = self.rows.iter().map(|row| row.id).collect();
        self.count(|row| row.superseded_by.is_some_and(|into| !ids.contains(&into)))
    }

    /// Rows that stand higher than what made them: the event, or the least of the notes of an operation. What a person confirmed
    /// stands where he put it.
    fn risen(&self) -> u64 {
        let by_maker = self.by_maker();
        let deeds: BTreeMap<EventId, &Deed> = self.operations.iter().map(|(id, deed)| (*id, deed)).collect();
        self.count(|row| {
            let Some(event) = maker(row).filter(|_| row.verdict.is_none()) else { return false };
            let least = match deeds.get(&event) {
                Some(deed) => {
                    let of = || deed.names().into_iter().filter_map(|name| by_maker.get(&name));
                    let (levels, trusts) = (of().map(|row| row.level).min(), of().map(|row| row.trust).min());
                    levels.zip(trusts).map(|(level, trust)| Rank { level, trust })
                }
                None => self.events.get(&event).copied(),
            };
            least.is_some_and(|least| row.level > least.level || row.trust > least.trust)
        })
    }

    /// Rows that rest on an event which this space never had.
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

    /// Merges that hold and name a note which is neither here nor forgotten.
    fn unresolved(&self) -> u64 {
        let by_maker = self.by_maker();
        let is_missing = |name: &EventId| !by_maker.contains_key(name) && !self.explained.contains(name);
        let merges = self.operations.iter().filter(|(id, deed)| {
            matches!(deed, Deed::Merge { notes, .. } if by_maker.contains_key(id) && notes.iter().any(is_missing))
        });
        merges.count() as u64
    }

    fn half_archived(&self) -> u64 {
        self.count(|row| row.status == LearningStatus::Archived && row.expired_at.is_none())
    }

    fn live_sources(&self) -> u64 {
        self.count(|row| row.status == LearningStatus::Active && row.superseded_by.is_some())
    }

    /// Notes that came since the audit before, if they are more than grows by itself.
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

    /// Notes that hold and were merged more than twice in a row.
    fn deep(&self) -> u64 {
        let mut depths: BTreeMap<EventId, u32> = BTreeMap::new();
        for (id, deed) in self.operations {
            if let Deed::Merge { notes, .. } = deed {
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
