//! Timings of write transactions by kind.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Timings of the write transactions of one kind, from the request for the write lock to the result of the commit, which with
/// [`Durability::Disk`](super::Durability) waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteTimes {
    /// The kind: `append`, `graph`, `vectors` and so on.
    pub kind: &'static str,
    /// Number of transactions.
    pub count: u64,
    /// Total time.
    pub total: Duration,
    /// Longest time.
    pub longest: Duration,
    /// How many exceeded [`ASKED`](Self::ASKED).
    pub long: u64,
    /// Most CPU time of one; zero without a [`CpuClock`].
    pub longest_cpu: Duration,
}

impl WriteTimes {
    /// Limit for a transaction of background work. Source: own choice, 5 ms.
    pub const ASKED: Duration = Duration::from_millis(5);
}

/// Reads CPU time, for measurements: wall-clock time includes the load of other programs.
pub trait CpuClock: Debug + Send + Sync {
    /// Returns the CPU time of the calling thread.
    fn own(&self) -> Duration;
    /// Returns the CPU time of the thread of the write connection, which is named `mnemal-writer`, up to its last context
    /// switch.
    fn writer(&self) -> Duration;
}

/// The recorded timings.
#[derive(Debug, Default)]
pub(super) struct WriteTimings {
    kinds: Mutex<BTreeMap<&'static str, WriteTimes>>,
    clock: OnceLock<Arc<dyn CpuClock>>,
}

impl WriteTimings {
    /// Enables the recording of CPU time; the first clock stays.
    pub(super) fn watch(&self, clock: Arc<dyn CpuClock>) {
        drop(self.clock.set(clock));
    }

    /// Runs the work of a transaction, and records its time.
    pub(super) async fn of<T>(&self, kind: &'static str, work: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let (done, cpu) = match self.clock.get() {
            Some(clock) => with_cpu(clock.as_ref(), work).await,
            None => (work.await, Duration::ZERO),
        };
        self.note(kind, begun.elapsed(), cpu);
        done
    }

    fn note(&self, kind: &'static str, time: Duration, cpu: Duration) {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let of = kinds.entry(kind).or_insert(WriteTimes {
            kind,
            count: 0,
            total: Duration::ZERO,
            longest: Duration::ZERO,
            long: 0,
            longest_cpu: Duration::ZERO,
        });
        of.count += 1;
        of.total = of.total.saturating_add(time);
        of.longest = of.longest.max(time);
        of.long += u64::from(time > WriteTimes::ASKED);
        of.longest_cpu = of.longest_cpu.max(cpu);
    }

    /// Returns the timings since the last call, by kind.
    pub(super) fn take(&self) -> Vec<WriteTimes> {
        std::mem::take(&mut *self.kinds.lock().unwrap_or_else(PoisonError::into_inner))
            .into_values()
            .collect()
    }
}

/// Runs work, and returns its result with the CPU time of the threads involved: the polling ones, during the polls, and the
/// writer's.
async fn with_cpu<T>(clock: &dyn CpuClock, work: impl Future<Output = T>) -> (T, Duration) {
    let (writer, mut own) = (clock.writer(), Duration::ZERO);
    let mut work = pin!(work);
    let done = poll_fn(|context| {
        let before = clock.own();
        let polled = work.as_mut().poll(context);
        own += clock.own().saturating_sub(before);
        polled
    });
    let done = done.await;
    (done, own + clock.writer().saturating_sub(writer))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A clock that is a millisecond further each time a thread asks for its own time.
    #[derive(Debug, Default)]
    struct Ticks {
        own: AtomicU64,
        writer: AtomicU64,
    }

    impl CpuClock for Ticks {
        fn own(&self) -> Duration {
            Duration::from_millis(self.own.fetch_add(1, Ordering::Relaxed))
        }

        fn writer(&self) -> Duration {
            Duration::from_millis(self.writer.load(Ordering::Relaxed))
        }
    }

    #[tokio::test]
    async fn a_transaction_costs_what_its_own_threads_do_while_they_do_it() {
        let (timings, clock) = (WriteTimings::default(), Arc::new(Ticks::default()));
        timings.of("graph", async {}).await;
        timings.watch(Arc::clone(&clock) as Arc<dyn CpuClock>);
        for worked in [20, 30, 5] {
            let work = async {
                clock.writer.fetch_add(worked, Ordering::Relaxed);
                // What this thread does for others meanwhile is not the transaction's.
                tokio::task::yield_now().await;
                worked
            };
            assert_eq!(timings.of("graph", work).await, worked);
        }
        let noted = timings.take();
        let [times] = noted.as_slice() else { panic!("{noted:?}") };
        assert_eq!((times.kind, times.count), ("graph", 4));
        // Two polls of a millisecond each beside the writer's thirty.
        assert_eq!(times.longest_cpu, Duration::from_millis(32));
        assert!(timings.take().is_empty());
    }
}
