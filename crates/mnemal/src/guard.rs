//! Fault isolation of one part of an answer: a deadline, a circuit breaker, and panic isolation.

mod breaker;
mod ports;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use mnemal_core::{Clock, Elapsed, Error, ErrorKind, Result};

use self::breaker::Breaker;

/// A part with a guard; it implements the part's port.
#[derive(Debug)]
pub(crate) struct GuardedPort<P: ?Sized> {
    part: Arc<P>,
    clock: Arc<dyn Clock>,
    deadline: Duration,
    breaker: Breaker,
}

impl<P: ?Sized> GuardedPort<P> {
    /// Wraps a part in its own guard.
    pub(crate) fn new(part: Arc<P>, clock: &Arc<dyn Clock>, deadline: Duration) -> Self {
        Self { part, clock: Arc::clone(clock), deadline, breaker: Breaker::default() }
    }

    /// Runs one call of the part.
    ///
    /// A call that misses the deadline, panics, or finds the breaker open returns `Unavailable` or `Internal`; a missed deadline
    /// carries [`Elapsed`], for the cause of its gap.
    async fn run<T>(&self, what: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.run_within(self.deadline, what, work).await
    }

    /// Runs one call of the part with a given deadline.
    async fn run_within<T>(
        &self,
        deadline: Duration,
        what: &'static str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let now = self.clock.monotonic();
        if !self.breaker.admits(now) {
            return Err(Error::new(
                ErrorKind::Unavailable,
                format!("{what} is paused after repeated failures"),
            ));
        }
        let answer = match tokio::time::timeout(deadline, AssertUnwindSafe(work).catch_unwind()).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_panic)) => Err(Error::internal(format!("{what} panicked"))),
            Err(_late) => {
                Err(Error::new(ErrorKind::Unavailable, format!("{what} is late")).because(Elapsed(deadline)))
            }
        };
        match &answer {
            Err(error) if is_failure(error.kind()) => {
                tracing::warn!(part = what, kind = error.kind().as_str(), "part failed");
                self.breaker.failed(self.clock.monotonic());
            }
            _ => self.breaker.succeeded(),
        }
        answer
    }
}

/// Whether an error is caused by the state of the part rather than by the request.
fn is_failure(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Unavailable | ErrorKind::Internal | ErrorKind::Corrupt)
}
