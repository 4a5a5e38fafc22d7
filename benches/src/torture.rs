//! Torture programs that try to make a space lose, double, damage or misread something; each is reproducible by its seed.

pub mod corrupt;
pub mod dream;
pub mod erase;
pub mod formats;
pub mod fuzz;
pub mod histories;
pub mod history;
pub mod inbox;
pub mod io;
pub mod kill;
pub mod lies;
pub mod poison;
pub mod postgres;
pub mod powercut;
pub mod prefix;
pub mod processes;
pub mod questions;
pub mod rebuild;
pub mod receipts;
pub mod servers;
pub mod undo;

mod calls;
pub mod crew;
mod faulty;
pub mod ledger;
mod mixed;
mod names;
mod trial;
mod verdict;
pub mod wire;
pub mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

/// The size of a run.
#[derive(Clone, Debug)]
pub struct Order {
    /// Kills, cuts, failures or files.
    pub runs: u64,
    /// The number of the first run; a slice that goes on where another stopped says where.
    pub first: u64,
    /// Seed of every random choice.
    pub seed: u64,
    /// When to stop before all runs are done.
    pub time: Duration,
    /// This program, which is started again as the child that is killed or that reads a damaged file.
    pub program: PathBuf,
}

/// The result. Everything but `runs`, `seconds` and `details` must be 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Name of the program.
    pub name: &'static str,
    /// The seed.
    pub seed: u64,
    /// Number of the first run.
    pub first: u64,
    /// Runs that were done.
    pub runs: u64,
    /// Acknowledged events that were not there afterwards and should have been.
    pub lost: u64,
    /// Events that were there twice, after a retry with the same key.
    pub doubled: u64,
    /// Undamaged files that a check reported as damaged.
    pub corrupt: u64,
    /// Panics, aborts, and processes that had to be stopped because they hung.
    pub panics: u64,
    /// Answers that were wrong and did not say so.
    pub silent_wrong: u64,
    /// Wrong errors, or errors that no caller should see.
    pub wrong_errors: u64,
    /// Duration.
    pub seconds: f64,
    /// What else was counted, by name.
    pub details: BTreeMap<&'static str, u64>,
}

impl Report {
    /// Starts the account of a program.
    pub fn of(name: &'static str, order: &Order) -> Self {
        Self { name, seed: order.seed, first: order.first, ..Self::default() }
    }

    /// Whether nothing went wrong.
    pub fn is_clean(&self) -> bool {
        [self.lost, self.doubled, self.corrupt, self.panics, self.silent_wrong, self.wrong_errors] == [0; 6]
    }

    /// Counts an additional figure of the report.
    pub fn count(&mut self, what: &'static str, times: u64) {
        *self.details.entry(what).or_default() += times;
    }
}
