//! Desks: how many searches and contexts are worked out at once, and whether nobody works now.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::http::problem::Problem;

/// Searches and contexts that are worked out at once, for each processor. Source: ADR 47; they take processor time, so that
/// more of them finish none earlier, and all at once miss the deadlines of their parts.
const DESKS: usize = 4;
/// How long a stream waits before it looks again whether a desk is taken. Source: own choice, the time of a search.
const PAUSE: Duration = Duration::from_millis(2);
/// Pauses after which a stream goes on nevertheless. Source: own choice; 64 KiB every 20 ms are 3 MB a second of a stream beside
/// searches without end.
const PAUSES: u32 = 10;

/// The desks at which searches and contexts are worked out.
#[derive(Clone, Debug)]
pub(crate) struct Desks {
    free: Arc<Semaphore>,
    most: usize,
}

impl Desks {
    /// Has four desks for each processor.
    pub(crate) fn of_this_machine() -> Self {
        Self::new(DESKS * thread::available_parallelism().map_or(1, usize::from))
    }

    pub(crate) fn new(most: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(most)), most }
    }

    /// Waits until a search or a context may be worked out, first come, first served.
    ///
    /// # Errors
    /// `unavailable` when the server ends.
    pub(crate) async fn take(&self) -> Result<SemaphorePermit<'_>, Problem> {
        self.free.acquire().await.map_err(|_| Problem::new("unavailable", "the server ends"))
    }

    /// Waits, on a thread of its own, while somebody works at a desk, 20 ms at most; returns how many pauses that were.
    pub(crate) fn give_way(&self) -> u32 {
        let mut pauses = 0;
        while pauses < PAUSES && self.free.available_permits() < self.most {
            thread::park_timeout(PAUSE);
            pauses += 1;
        }
        pauses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_gives_way_while_somebody_works_and_not_for_ever() {
        let desks = Desks::new(2);
        assert_eq!(desks.give_way(), 0);
        let one = desks.take().await.unwrap();
        assert_eq!(desks.give_way(), PAUSES);
        drop(one);
        assert_eq!(desks.give_way(), 0);
    }
}
