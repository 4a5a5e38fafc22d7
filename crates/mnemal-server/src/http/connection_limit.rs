//! Connection limit: when all places are taken, the connection that has been idle longest is closed for a new one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The connection limit of a server.
#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    free: Arc<Semaphore>,
    most: u32,
    taken: Mutex<IdleQueue>,
}

#[derive(Debug, Default)]
struct IdleQueue {
    /// Counter of idle periods: lower numbers started earlier.
    turn: u64,
    /// Idle connections, by the start of their idle period.
    idle: BTreeMap<u64, Arc<Notify>>,
}

/// The place of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connections: Arc<ConnectionLimit>,
    place: Mutex<SlotState>,
    leave: Arc<Notify>,
    _permit: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct SlotState {
    /// Number of requests in progress.
    working: u32,
    /// Start of its idle period, while it is idle.
    waiting: Option<u64>,
}

/// Marks a request of a connection as in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct RequestGuard(Arc<ConnectionSlot>);

impl ConnectionLimit {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(most)),
            most: u32::try_from(most).unwrap_or(u32::MAX),
            taken: Mutex::default(),
        })
    }

    /// Waits for a place. If there is none, the connection that has been idle longest is asked to close; connections with
    /// requests in progress are not.
    ///
    /// Returns `None` when the server is shutting down.
    pub(crate) async fn take(self: &Arc<Self>) -> Option<Arc<ConnectionSlot>> {
        let free = if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit)
        } else {
            let longest = self.queue().idle.pop_first();
            if let Some((_, leave)) = longest {
                leave.notify_one();
            }
            Arc::clone(&self.free).acquire_owned().await
        };
        let slot = ConnectionSlot {
            connections: Arc::clone(self),
            place: Mutex::new(SlotState { working: 0, waiting: None }),
            leave: Arc::new(Notify::new()),
            _permit: free.ok()?,
        };
        slot.wait();
        Some(Arc::new(slot))
    }

    /// Waits until all connections are closed, and accepts no more.
    pub(crate) async fn all_left(&self) {
        let _all = self.free.acquire_many(self.most).await;
    }

    fn queue(&self) -> MutexGuard<'_, IdleQueue> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionSlot {
    /// Registers a request in progress.
    pub(crate) fn work(self: &Arc<Self>) -> RequestGuard {
        let mut place = self.slot_state();
        place.working += 1;
        if let Some(turn) = place.waiting.take() {
            self.connections.queue().idle.remove(&turn);
        }
        RequestGuard(Arc::clone(self))
    }

    /// Waits until a new connection needs the place.
    pub(crate) async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }

    /// Whether none of its requests is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.slot_state().working == 0
    }

    /// Registers the start of an idle period.
    fn wait(&self) {
        let mut place = self.slot_state();
        let mut taken = self.connections.queue();
        taken.turn += 1;
        let turn = taken.turn;
        taken.idle.insert(turn, Arc::clone(&self.leave));
        place.waiting = Some(turn);
    }

    fn slot_state(&self) -> MutexGuard<'_, SlotState> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let is_idle = {
            let mut place = self.0.slot_state();
            place.working = place.working.saturating_sub(1);
            place.working == 0
        };
        if is_idle {
            self.0.wait();
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        if let Some(turn) = self.slot_state().waiting {
            self.connections.queue().idle.remove(&turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn whoever_has_waited_longest_makes_room_and_whoever_works_does_not() {
        let connections = ConnectionLimit::new(3);
        let [one, two, three] =
            [connections.take().await, connections.take().await, connections.take().await];
        let [one, two, three] = [one.unwrap(), two.unwrap(), three.unwrap()];
        let working = one.work();
        drop(two.work());
        // Now the third has been idle longest, then the second.
        let mut coming = Box::pin(connections.take());
        assert!(coming.as_mut().now_or_never().is_none(), "all seats are taken");
        assert!(three.asked_to_leave().now_or_never().is_some());
        assert!(one.asked_to_leave().now_or_never().is_none());
        assert!(two.asked_to_leave().now_or_never().is_none());
        drop(three);
        let four = coming.await.unwrap();
        let mut coming = Box::pin(connections.take());
        assert!(coming.as_mut().now_or_never().is_none());
        assert!(two.asked_to_leave().now_or_never().is_some());
        assert!(four.asked_to_leave().now_or_never().is_none());
        drop((two, working));
        coming.await.unwrap();
    }

    #[tokio::test]
    async fn where_all_work_whoever_comes_waits() {
        let connections = ConnectionLimit::new(1);
        let slot = connections.take().await.unwrap();
        let working = slot.work();
        let mut coming = Box::pin(connections.take());
        assert!(coming.as_mut().now_or_never().is_none());
        assert!(slot.asked_to_leave().now_or_never().is_none());
        drop((slot, working));
        assert!(coming.now_or_never().flatten().is_some());
    }
}
