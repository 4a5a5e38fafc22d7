//! Shared change check for all queries of one piece of work.
//!
//! The parts of a context query the database independently, and each first checks whether its cache is still valid: a dozen
//! round trips for the same answer.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::port::projection;
use crate::sql::{ChangeState, Sql};

tokio::task_local! {
    /// The states seen by this piece of work, by store.
    static SNAPSHOTS: RefCell<Vec<Snapshot>>;
}

/// The state of one store, as seen by a piece of work.
#[derive(Debug)]
struct Snapshot {
    writes: WriteCounter,
    /// Number of writes before the check.
    at: u64,
    state: Arc<ChangeState>,
}

/// Runs work whose reads of a space share one cache-validity check.
///
/// Everything committed before its first read is visible, by any process, and so are writes through the same handle meanwhile.
/// Commits of other processes meanwhile may become visible with the next work.
pub fn with_read_snapshot<W: Future>(work: W) -> impl Future<Output = W::Output> {
    SNAPSHOTS.scope(RefCell::default(), work)
}

/// Returns the change state for a piece of work; reads it if it is not there yet.
pub(crate) async fn shared_state(sql: &dyn Sql, writes: &WriteCounter) -> Option<Arc<ChangeState>> {
    let at = match writes.state() {
        SnapshotState::Nothing => return None,
        SnapshotState::State(state) => return Some(state),
        SnapshotState::Due(at) => at,
    };
    // What cannot be looked at together is asked one by one, and says by itself what is wrong with it.
    let state = Arc::new(projection::state(sql).await.ok()?);
    writes.keep(at, &state);
    Some(state)
}

/// Counts the writes through one handle; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteCounter(Arc<AtomicU64>);

/// The knowledge before a check.
#[derive(Debug)]
enum SnapshotState {
    /// Nothing that outlives one read.
    Nothing,
    /// The result of a check.
    State(Arc<ChangeState>),
    /// Nothing yet; a state seen after this many writes is to be [kept](WriteCounter::keep).
    Due(u64),
}

impl WriteCounter {
    /// Counts a commit, before its caller is answered.
    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the state that this piece of work has seen, unless the store was written to since.
    fn state(&self) -> SnapshotState {
        let at = self.0.load(Ordering::Acquire);
        let known = SNAPSHOTS.try_with(|seen| {
            let seen = seen.borrow();
            let last = seen.iter().find(|one| Arc::ptr_eq(&one.writes.0, &self.0) && one.at == at);
            last.map_or(SnapshotState::Due(at), |last| SnapshotState::State(Arc::clone(&last.state)))
        });
        known.unwrap_or(SnapshotState::Nothing)
    }

    /// Keeps a state for the rest of this piece of work.
    fn keep(&self, at: u64, state: &Arc<ChangeState>) {
        let seen = Snapshot { writes: self.clone(), at, state: Arc::clone(state) };
        // Outside of any it is of no use.
        let _outside = SNAPSHOTS.try_with(|all| {
            let mut all = all.borrow_mut();
            all.retain(|one| !Arc::ptr_eq(&one.writes.0, &self.0));
            all.push(seen);
        });
    }
}
