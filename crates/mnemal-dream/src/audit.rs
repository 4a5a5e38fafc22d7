//! Whether the notes are as they must be. Reads only.

use std::collections::BTreeSet;

use mnemal_core::{EventId, Learning, LearningId, LearningKind, LearningStatus, Level};

use crate::note::is_note;

/// A loss of more than one note of so many is an alert. Source: AD-51, 10 %.
const LOSS: u64 = 10;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// To be looked at.
    Warning,
    /// Background changes wait for a person.
    Alert,
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
}

/// What an audit compares.
#[derive(Clone, Copy, Debug)]
pub struct Audit<'r> {
    /// All rows, whatever their status.
    pub rows: &'r [Learning],
    /// Notes that the audit before saw.
    pub known: &'r [Seen],
    /// Events that were forgotten or taken back.
    pub explained: &'r BTreeSet<EventId>,
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

impl Audit<'_> {
    /// Returns what does not hold, alerts first.
    pub fn findings(&self) -> Vec<Finding> {
        use Severity::{Alert, Warning};
        let checks = [
            ("no-hard-delete-outside-forget", Alert, self.vanished()),
            ("loss-percent-threshold", Alert, self.lost()),
            ("merge-chain-unbroken", Alert, self.broken()),
            ("no-preference-from-low-level", Alert, self.raised()),
            ("every-row-has-a-live-source", Warning, self.without_source()),
            ("archive-fields-present", Warning, self.half_archived()),
            ("live-not-merge-source", Warning, self.live_sources()),
        ];
        let broken = checks.into_iter().filter(|(_, _, rows)| *rows > 0);
        broken.map(|(name, severity, rows)| Finding { name, severity, rows }).collect()
    }

    fn count(&self, is: impl Fn(&Learning) -> bool) -> u64 {
        self.rows.iter().filter(|row| is(row)).count() as u64
    }

    /// Notes that are gone, and whose events nobody forgot or took back.
    fn vanished(&self) -> u64 {
        let ids: BTreeSet<LearningId> = self.rows.iter().map(|row| row.id).collect();
        let is_gone = |seen: &&Seen| !ids.contains(&seen.id) && !self.explained.contains(&seen.maker);
        self.known.iter().filter(is_gone).count() as u64
    }

    fn lost(&self) -> u64 {
        let stood = |seen: &&Seen| seen.standing == Standing::Held && !self.explained.contains(&seen.maker);
        let earlier = self.known.iter().filter(stood).count() as u64;
        let lost =
            earlier.saturating_sub(self.count(|row| is_note(row) && row.status == LearningStatus::Active));
        if lost * LOSS > earlier { lost } else { 0 }
    }

    fn broken(&self) -> u64 {
        let ids: BTreeSet<LearningId> = self.rows.iter().map(|row| row.id).collect();
        self.count(|row| row.superseded_by.is_some_and(|into| !ids.contains(&into)))
    }

    fn raised(&self) -> u64 {
        let is_users = |kind| matches!(kind, LearningKind::Preference | LearningKind::AntiPattern);
        self.count(|row| is_users(row.kind) && row.level < Level::User)
    }

    fn without_source(&self) -> u64 {
        self.count(|row| row.sources.iter().all(|source| self.explained.contains(&source.event)))
    }

    fn half_archived(&self) -> u64 {
        self.count(|row| row.status == LearningStatus::Archived && row.expired_at.is_none())
    }

    fn live_sources(&self) -> u64 {
        self.count(|row| row.status == LearningStatus::Active && row.superseded_by.is_some())
    }
}
