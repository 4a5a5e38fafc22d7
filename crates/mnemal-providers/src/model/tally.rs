//! Process-wide counts of model requests.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use mnemal_core::{CallOutcome, Error, ModelCall, Purpose};

/// Counts what was asked of models outside the process, over all spaces that share it. It holds no words and no names, and begins
/// anew with the process; what a space has spent stands in its ledger.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Asked>);

/// What was asked up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Requests to language models, repetitions included, by what for and how their question ended.
    pub requests: BTreeMap<(Purpose, CallOutcome), u64>,
    /// Tokens that were sent to them.
    pub sent: u64,
    /// Tokens of what they answered.
    pub received: u64,
    /// Batches of texts that a model of vectors was asked about, by how that ended.
    pub embeddings: BTreeMap<CallOutcome, u64>,
}

impl Tally {
    /// Counts a question that has ended.
    pub(super) fn ended(&self, call: &ModelCall) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *asked.requests.entry((call.purpose, call.outcome)).or_default() += u64::from(call.requests);
        asked.sent += u64::from(call.usage.sent.0);
        asked.received += u64::from(call.usage.received.0);
    }

    /// Counts a batch of texts of which vectors were asked for, by the error that came, if one did.
    pub fn embedded(&self, error: Option<&Error>) {
        let outcome = error.map_or(CallOutcome::Answered, CallOutcome::of);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).embeddings.entry(outcome).or_default() += 1;
    }

    /// Returns what was asked up to now.
    pub fn asked(&self) -> Asked {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
