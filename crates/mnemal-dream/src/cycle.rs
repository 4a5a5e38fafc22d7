//! Consolidation cycle: its proposals, their outcome, and the measured changes.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{EventId, Learning, LearningId, LearningStatus, OperationKind, Proposal, Timestamp};

use crate::audit::Finding;
use crate::check::Refusal;
use crate::note::{is_note, maker};

/// The mode of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleMode {
    /// Scheduled: subject to the interval, and not while changes are paused.
    Due,
    /// Requested by a person: immediately, and paused work is resumed.
    Asked,
    /// As if requested, without writing (preview).
    Dry,
}

/// A proposal and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposalOutcome {
    /// The pass that made it.
    pub pass: &'static str,
    /// The proposal.
    pub proposal: Proposal,
    /// The reason of a refusal; `None` for an accepted one.
    pub refused: Option<Refusal>,
    /// The event that applies it; `None` in a preview.
    pub event: Option<EventId>,
}

/// The result of a cycle. The numbers are the difference between the rows before and after, independent of the passes' own
/// counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycle {
    /// Start time.
    pub at: Timestamp,
    /// The reason if it did nothing.
    pub idle: Option<String>,
    /// Live notes before the cycle.
    pub live: u64,
    /// Live notes created since the previous cycle of this name.
    pub created_since: u64,
    /// Notes in a proposal or in a question to a model.
    pub reviewed: u64,
    /// Proposals that a model completed after it was told what was missing.
    pub repaired: u64,
    /// Model requests.
    pub model_calls: u64,
    /// Tokens of those requests, sent and received.
    pub tokens: u64,
    /// Passes that ran.
    pub ran: Vec<String>,
    /// Passes skipped for lack of input, with the reason.
    pub skipped: Vec<String>,
    /// Passes that failed, with the kind of the error; their input is processed again.
    pub failed: Vec<String>,
    /// Every checked proposal.
    pub judged: Vec<ProposalOutcome>,
    /// Proposals deferred to the next cycle by the change limit.
    pub waiting: u64,
    /// Archived notes.
    pub archived: u64,
    /// Created notes.
    pub created: u64,
    /// Live notes with changed filing or sources.
    pub changed: u64,
    /// Notes missing although they were neither forgotten nor undone, which no operation can cause; background changes
    /// pause after that.
    pub vanished: u64,
    /// Findings of the daily audit: alerts, new or changed warnings, and each other warning once a week.
    pub findings: Vec<Finding>,
    /// Duration, in milliseconds.
    pub ms: u64,
}

impl Cycle {
    /// Starts a cycle.
    pub(crate) fn new(at: Timestamp) -> Self {
        Self {
            at,
            idle: None,
            live: 0,
            created_since: 0,
            reviewed: 0,
            repaired: 0,
            model_calls: 0,
            tokens: 0,
            ran: Vec::new(),
            skipped: Vec::new(),
            failed: Vec::new(),
            judged: Vec::new(),
            waiting: 0,
            archived: 0,
            created: 0,
            changed: 0,
            vanished: 0,
            findings: Vec::new(),
            ms: 0,
        }
    }

    /// Returns the accepted proposals, applied or not.
    pub fn accepted(&self) -> impl Iterator<Item = &ProposalOutcome> {
        self.judged.iter().filter(|judged| judged.refused.is_none())
    }

    /// Returns the refused proposals.
    pub fn refused(&self) -> impl Iterator<Item = &ProposalOutcome> {
        self.judged.iter().filter(|judged| judged.refused.is_some())
    }

    /// Returns how many notes were, or would be, replaced by another.
    pub fn merged(&self) -> u64 {
        let went = self.accepted().map(|judged| match &judged.proposal.operation.kind {
            OperationKind::Merge { notes, .. } | OperationKind::Retire { notes, into: Some(_) } => {
                notes.len()
            }
            _ => 0,
        });
        went.sum::<usize>() as u64
    }

    /// Returns how many proposals would have archived a protected note without a replacement.
    pub fn protected(&self) -> u64 {
        self.refused().filter(|judged| judged.refused == Some(Refusal::Dear)).count() as u64
    }

    /// Computes the numbers from the rows.
    pub(crate) fn measure(&mut self, before: &[Learning], after: &[Learning], explained: &BTreeSet<EventId>) {
        let was: BTreeMap<LearningId, &Learning> = before.iter().map(|row| (row.id, row)).collect();
        let is: BTreeSet<LearningId> = after.iter().map(|row| row.id).collect();
        let is_gone = |row: &&Learning| {
            is_note(row)
                && !is.contains(&row.id)
                && maker(row).is_none_or(|event| !explained.contains(&event))
        };
        self.vanished = before.iter().filter(is_gone).count() as u64;
        for row in after {
            match was.get(&row.id) {
                None => self.created += 1,
                Some(old) if *old == row => {}
                Some(_) if row.status == LearningStatus::Archived => self.archived += 1,
                Some(_) => self.changed += 1,
            }
        }
    }

    /// Returns the numbers of a cycle's ledger line, by name.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let count = |name: &str, number: u64| (name.to_owned(), number);
        BTreeMap::from([
            count("live", self.live),
            count("reviewed", self.reviewed),
            count("created_since", self.created_since),
            count("merged", self.merged()),
            count("repaired", self.repaired),
            count("protected", self.protected()),
            count("model_calls", self.model_calls),
            count("tokens", self.tokens),
            count("accepted", self.accepted().count() as u64),
            count("rejected", self.refused().count() as u64),
            count("waiting", self.waiting),
            count("archived", self.archived),
            count("created", self.created),
            count("changed", self.changed),
            count("failed", self.failed.len() as u64),
            count("vanished", self.vanished),
            count("ms", self.ms),
        ])
    }
}
