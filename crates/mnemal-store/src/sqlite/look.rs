//! Shared change check for all queries of one piece of work.
//!
//! The parts of a context query the database independently, and each first checks whether its cache is still valid: a dozen
//! round trips for the same answer.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sql::State;

tokio::task_local! {
    /// The states seen by this piece of work, by store.
    static SEEN: RefCell<Vec<Seen>>;
}

/// The state of one store, as seen by a piece of work.
#[derive(Debug)]
struct Seen {
    writes: Writes,
    /// Number of writes before the check.
    at: u64,
    state: Arc<State>,
}

/// Runs work whose reads of a [`SqliteStore`](crate::SqliteStore) share one cache-validity check.
///
/// Everything committed before its first read is visible, by any process, and so are writes through the same handle meanwhile.
/// Commits of other processes meanwhile may become visible with the next work.
pub fn at_one_look<W: Future>(work: W) -> impl Future<Output = W::Output> {
    SEEN.scope(RefCell::default(), work)
}

/// Counts the writes through one handle; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes(Arc<AtomicU64>);

/// The knowledge before a check.
#[derive(Debug)]
pub(super) enum Known {
    /// Nothing that outlives one read.
    Nothing,
    /// The result of a check.
    State(Arc<State>),
    /// Nothing yet; a state seen after this many writes is to be [kept](Writes::keep).
    Due(u64),
}

impl Writes {
    /// Counts a commit, before its caller is answered.
    pub(super) fn count(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the state that this piece of work has seen, unless the store was written to since.
    pub(super) fn known(&self) -> Known {
        let at = self.0.load(Ordering::Acquire);
        let known = SEEN.try_with(|seen| {
            let seen = seen.borrow();
            let last = seen.iter().find(|one| Arc::ptr_eq(&one.writes.0, &self.0) && one.at == at);
            last.map_or(Known::Due(at), |last| Known::State(Arc::clone(&last.state)))
        });
        known.unwrap_or(Known::Nothing)
    }

    /// Keeps a state for the rest of this piece of work.
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
