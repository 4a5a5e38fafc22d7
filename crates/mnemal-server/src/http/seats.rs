//! Connection limit: when all places are taken, the connection that has been idle longest is closed for a new one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The connection limit of a server.
#[derive(Debug)]
pub(crate) struct Seats {
    free: Arc<Semaphore>,
    most: u32,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    /// Counter of idle periods: lower numbers started earlier.
    turn: u64,
    /// Idle connections, by the start of their idle period.
    idle: BTreeMap<u64, Arc<Notify>>,
}

/// The place of one connection.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    place: Mutex<Place>,
    leave: Arc<Notify>,
    _permit: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct Place {
    /// Number of requests in progress.
    working: u32,
    /// Start of its idle period, while it is idle.
    waiting: Option<u64>,
}

/// Marks a request of a connection as in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct Working(Arc<Seat>);

impl Seats {
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
    pub(crate) async fn take(self: &Arc<Self>) -> Option<Arc<Seat>> {
        let free = if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit)
        } else {
            let longest = self.taken().idle.pop_first();
            if let Some((_, leave)) = longest {
                leave.notify_one();
            }
            Arc::clone(&self.free).acquire_owned().await
        };
        let seat = Seat {
            seats: Arc::clone(self),
            place: Mutex::new(Place { working: 0, waiting: None }),
            leave: Arc::new(Notify::new()),
            _permit: free.ok()?,
        };
        seat.wait();
        Some(Arc::new(seat))
    }

    /// Waits until all connections are closed, and accepts no more.
    pub(crate) async fn all_left(&self) {
        let _all = self.free.acquire_many(self.most).await;
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Registers a request in progress.
    pub(crate) fn work(self: &Arc<Self>) -> Working {
        let mut place = self.place();
        place.working += 1;
        if let Some(turn) = place.waiting.take() {
            self.seats.taken().idle.remove(&turn);
        }
        Working(Arc::clone(self))
    }

    /// Waits until a new connection needs the place.
    pub(crate) async fn asked_to_leave(&self) {
        self.leave.notified().await;
    }

    /// Whether none of its requests is in progress.
    pub(crate) fn waits(&self) -> bool {
        self.place().working == 0
    }

    /// Registers the start of an idle period.
    fn wait(&self) {
        let mut place = self.place();
        let mut taken = self.seats.taken();
        taken.turn += 1;
        let turn = taken.turn;
        taken.idle.insert(turn, Arc::clone(&self.leave));
        place.waiting = Some(turn);
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let is_idle = {
            let mut place = self.0.place();
            place.working = place.working.saturating_sub(1);
            place.working == 0
        };
        if is_idle {
            self.0.wait();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(turn) = self.place().waiting {
            self.seats.taken().idle.remove(&turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn whoever_has_waited_longest_makes_room_and_whoever_works_does_not() {
        let seats = Seats::new(3);
        let [one, two, three] = [seats.take().await, seats.take().await, seats.take().await];
        let [one, two, three] = [one.unwrap(), two.unwrap(), three.unwrap()];
        let working = one.work();
        drop(two.work());
        // Now the third has been idle longest, then the second.
        let mut coming = Box::pin(seats.take());
        assert!(coming.as_mut().now_or_never().is_none(), "all seats are taken");
        assert!(three.asked_to_leave().now_or_never().is_some());
        assert!(one.asked_to_leave().now_or_never().is_none());
        assert!(two.asked_to_leave().now_or_never().is_none());
        drop(three);
        let four = coming.await.unwrap();
        let mut coming = Box::pin(seats.take());
        assert!(coming.as_mut().now_or_never().is_none());
        assert!(two.asked_to_leave().now_or_never().is_some());
        assert!(four.asked_to_leave().now_or_never().is_none());
        drop((two, working));
        coming.await.unwrap();
    }

    #[tokio::test]
    async fn where_all_work_whoever_comes_waits() {
        let seats = Seats::new(1);
        let seat = seats.take().await.unwrap();
        let working = seat.work();
        let mut coming = Box::pin(seats.take());
        assert!(coming.as_mut().now_or_never().is_none());
        assert!(seat.asked_to_leave().now_or_never().is_none());
        drop((seat, working));
        assert!(coming.now_or_never().flatten().is_some());
    }
}
