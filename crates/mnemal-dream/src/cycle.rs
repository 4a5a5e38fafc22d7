//! One cycle: what was proposed, what became of it, and what really changed.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{Deed, EventId, Learning, LearningId, LearningStatus, Proposal, Timestamp};

use crate::audit::Finding;
use crate::check::Refusal;
use crate::note::{is_note, maker};

/// How a cycle is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// As often as the settings say, and not at all while changes wait for a person.
    Due,
    /// Because a person asks: at once, and what had stopped is looked at again.
    Asked,
    /// As if a person asked, and nothing is written.
    Dry,
}

/// A proposal, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The pass that proposed it.
    pub pass: &'static str,
    /// What was proposed.
    pub proposal: Proposal,
    /// Why it was refused; `None` for one that is carried out.
    pub refused: Option<Refusal>,
    /// The event that carries it out; `None` in a dry run.
    pub event: Option<EventId>,
}

/// What one cycle did. The numbers are the difference between the rows before and after, and no pass's own account.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycle {
    /// When it began.
    pub at: Timestamp,
    /// Why it did nothing, if it did nothing.
    pub idle: Option<String>,
    /// Notes that hold, before.
    pub live: u64,
    /// Notes that hold and were made since the cycle of this name before.
    pub created_since: u64,
    /// Notes about which a pass proposed something or asked a model.
    pub reviewed: u64,
    /// Proposals that a model completed when it was told what was missing.
    pub repaired: u64,
    /// Requests to models.
    pub model_calls: u64,
    /// Tokens of those, sent and received.
    pub tokens: u64,
    /// Passes that ran.
    pub ran: Vec<String>,
    /// Passes that looked at nothing because there was too little, with the reason.
    pub skipped: Vec<String>,
    /// Passes that failed, with the kind of their error; their input is looked at again.
    pub failed: Vec<String>,
    /// Every proposal that was looked at.
    pub judged: Vec<Judged>,
    /// Proposals that wait for the next cycle, because this one may change no more.
    pub waiting: u64,
    /// Notes that were put away.
    pub archived: u64,
    /// Notes that were made.
    pub created: u64,
    /// Notes that were filed or founded otherwise, and hold.
    pub changed: u64,
    /// Notes that are gone and that nobody forgot or took back, which no operation can bring about; background changes wait for a person from then on.
    pub vanished: u64,
    /// What the audit found, once a day: alerts, warnings that are new or have changed, and every other one once a week.
    pub findings: Vec<Finding>,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

impl Cycle {
    /// Begins.
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

    /// Returns the proposals that were carried out, or would be.
    pub fn accepted(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|judged| judged.refused.is_none())
    }

    /// Returns the proposals that were refused.
    pub fn refused(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|judged| judged.refused.is_some())
    }

    /// Returns how many notes, carried out, went in favour of another, or would.
    pub fn merged(&self) -> u64 {
        let went = self.accepted().map(|judged| match &judged.proposal.operation.deed {
            Deed::Merge { notes, .. } | Deed::Retire { notes, into: Some(_) } => notes.len(),
            _ => 0,
        });
        went.sum::<usize>() as u64
    }

    /// Returns how many proposals would have put away what is dear, with nothing in its place.
    pub fn protected(&self) -> u64 {
        self.refused().filter(|judged| judged.refused == Some(Refusal::Dear)).count() as u64
    }

    /// Takes the numbers from the rows.
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

    /// Returns the numbers of the line of a cycle, by their names in the ledger.
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
