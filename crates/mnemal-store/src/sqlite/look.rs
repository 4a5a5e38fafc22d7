//! Shared change check for all queries of one piece of work.
//!
//! A context asks its parts one by one, which do not know of each other, and each asks the database first whether what it keeps
//! in memory still holds: a dozen trips to a connection and back, for the same answer.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sql::State;

tokio::task_local! {
    /// What this piece of work has seen, by store.
    static SEEN: RefCell<Vec<Seen>>;
}

/// What a piece of work saw of one store.
#[derive(Debug)]
struct Seen {
    writes: Writes,
    /// How many writes there were before the look.
    at: u64,
    state: Arc<State>,
}

/// Runs work whose reads of a [`SqliteStore`](crate::SqliteStore) look once whether what it keeps in memory still holds, and not
/// each by itself.
///
/// What was committed before its first read counts, by whomever, and so does what is written through the same handle meanwhile.
/// What another process commits meanwhile may be seen by the next work.
pub fn at_one_look<W: Future>(work: W) -> impl Future<Output = W::Output> {
    SEEN.scope(RefCell::default(), work)
}

/// Counts what was written through one handle; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes(Arc<AtomicU64>);

/// What is known before a look.
#[derive(Debug)]
pub(super) enum Known {
    /// Nothing that holds for longer than one read.
    Nothing,
    /// What a look would tell.
    State(Arc<State>),
    /// Nothing yet; what is seen after so many writes is to be [kept](Writes::keep).
    Due(u64),
}

impl Writes {
    /// Counts one that was committed, before whoever asked for it is told.
    pub(super) fn count(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns what this piece of work has seen of the store, unless it was written to since.
    pub(super) fn known(&self) -> Known {
        let at = self.0.load(Ordering::Acquire);
        let known = SEEN.try_with(|seen| {
            let seen = seen.borrow();
            let last = seen.iter().find(|one| Arc::ptr_eq(&one.writes.0, &self.0) && one.at == at);
            last.map_or(Known::Due(at), |last| Known::State(Arc::clone(&last.state)))
        });
        known.unwrap_or(Known::Nothing)
    }

    /// Keeps what was seen, for the rest of this piece of work.
    pub(super) fn keep(&self, at: u64, state: &Arc<State>) {
        let seen = Seen { writes: self.clone(), at, state: Arc::clone(state) };
        // Outside of any it is of no use.
        let _outside = SEEN.try_with(|all| {
            let mut all = all.borrow_mut();
            all.retain(|one| !Arc::ptr_eq(&one.writes.0, &self.0));
            all.push(seen);
        });
    }
}
