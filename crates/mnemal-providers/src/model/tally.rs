//! Process-wide counts of model requests.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use mnemal_core::{CallOutcome, Error, ModelCall, Purpose};

/// Counts of model requests outside the process, over all spaces that share it. It holds no words and no names, and starts at
/// zero with the process; a space's own consumption is in its ledger.
#[derive(Debug, Default)]
pub struct RequestTally(Mutex<RequestCounts>);

/// The counts up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Requests to language models, retries included, by purpose and outcome.
    pub requests: BTreeMap<(Purpose, CallOutcome), u64>,
    /// Tokens sent to them.
    pub sent: u64,
    /// Tokens received from them.
    pub received: u64,
    /// Batches of texts sent to an embedding model, by outcome.
    pub embeddings: BTreeMap<CallOutcome, u64>,
}

impl RequestTally {
    /// Counts a finished call.
    pub(super) fn ended(&self, call: &ModelCall) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *asked.requests.entry((call.purpose, call.outcome)).or_default() += u64::from(call.requests);
        asked.sent += u64::from(call.usage.sent.0);
        asked.received += u64::from(call.usage.received.0);
    }

    /// Counts a batch of texts for embedding, by its error, if any.
    pub fn embedded(&self, error: Option<&Error>) {
        let outcome = error.map_or(CallOutcome::Answered, CallOutcome::of);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).embeddings.entry(outcome).or_default() += 1;
    }

    /// Returns the counts up to now.
    pub fn counts(&self) -> RequestCounts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
