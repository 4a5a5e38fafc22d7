//! Query permits: the limit of concurrent searches and contexts, and a check whether any is running.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::http::problem::Problem;

/// Concurrent searches and contexts per processor. Source: ADR 47; they are bound by processor time, so more of them finish none
/// earlier, and too many at once miss the deadlines of their parts.
const DESKS: usize = 4;
/// Time that a stream waits before it checks the permits again. Source: own choice, the time of a search.
const PAUSE: Duration = Duration::from_millis(2);
/// Number of waits after which a stream continues anyway. Source: own choice; 64 KiB every 20 ms are 3 MB a second for a stream
/// under constant query load.
const PAUSES: u32 = 10;

/// The permits of searches and contexts.
#[derive(Clone, Debug)]
pub(crate) struct QueryPermits {
    free: Arc<Semaphore>,
    most: usize,
}

impl QueryPermits {
    /// Creates four permits per processor.
    pub(crate) fn of_this_machine() -> Self {
        Self::new(DESKS * thread::available_parallelism().map_or(1, usize::from))
    }

    pub(crate) fn new(most: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(most)), most }
    }

    /// Waits for a permit of a search or a context, in order of arrival.
    ///
    /// # Errors
    /// `unavailable` when the server stops.
    pub(crate) async fn take(&self) -> Result<SemaphorePermit<'_>, Problem> {
        self.free.acquire().await.map_err(|_| Problem::new("unavailable", "the server ends"))
    }

    /// Blocks the current thread while a query is running, at most 20 ms; returns the number of waits.
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
        let query_permits = QueryPermits::new(2);
        assert_eq!(query_permits.give_way(), 0);
        let one = query_permits.take().await.unwrap();
        assert_eq!(query_permits.give_way(), PAUSES);
        drop(one);
        assert_eq!(query_permits.give_way(), 0);
    }
}
