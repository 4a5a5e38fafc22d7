//! Consumers with cursors.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mnemal_core::{
    Cursor, Error, ErrorKind, EventFilter, Gap, GapCause, Layer, Progress, Projector, Result, Seq,
};
use mnemal_events::{Consumer, catch_up};
use mnemal_testkit::{ManualClock, block_on};

use crate::desk::{desk, said};

#[derive(Debug)]
struct Counter {
    at: AtomicU64,
    stuck: Option<u64>,
    clock: Arc<ManualClock>,
}

#[async_trait::async_trait]
impl Projector for Counter {
    fn layer(&self) -> Layer {
        Layer::Learnings
    }

    async fn step(&self, limit: NonZeroUsize) -> Result<Progress> {
        self.clock.advance(Duration::from_millis(10));
        let before = self.at.load(Ordering::Relaxed);
        if self.stuck == Some(0) {
            return Err(Error::new(ErrorKind::Unavailable, "no"));
        }
        let end = self.stuck.unwrap_or(1_000).min(before + limit.get() as u64);
        self.at.store(end, Ordering::Relaxed);
        Ok(Progress { consumed: end - before, cursor: Cursor(Some(Seq(end))), behind: 1_000 - end })
    }

    async fn reset(&self) -> Result<()> {
        Ok(())
    }
}

fn gaps(stuck: Option<u64>, budget: u64) -> Vec<Gap> {
    let clock = Arc::new(ManualClock::default());
    let projector: Arc<dyn Projector> =
        Arc::new(Counter { at: AtomicU64::new(0), stuck, clock: Arc::clone(&clock) });
    let head = Cursor(Some(Seq(1_000)));
    let work =
        async { Ok(catch_up(&[projector], head, Duration::from_millis(budget), clock.as_ref()).await) };
    block_on(work).unwrap()
}

#[test]
fn projectors_are_stepped_to_the_head_or_leave_a_gap() {
    let gap = |cause| [Gap { layer: Layer::Learnings, cause }];
    assert_eq!(gaps(None, 200), []);
    assert_eq!(gaps(None, 30), gap(GapCause::Stale { behind: 700 }));
    assert_eq!(gaps(Some(400), 1_000), gap(GapCause::Stale { behind: 600 }));
    assert_eq!(gaps(Some(0), 200), gap(GapCause::Failed(ErrorKind::Unavailable)));
}

// proves: RB-65, RB-53
#[test]
fn a_consumer_reads_every_event_once_and_its_cursor_moves_with_them() {
    let desk = desk();
    for number in 0..5 {
        desk.one(said("s", &format!("turn {number}")));
    }
    let mut consumer = Consumer { name: "test".to_owned(), cursor: Cursor::START };
    let mut seen = Vec::new();
    loop {
        let two = NonZeroUsize::new(2).unwrap();
        let page = block_on(consumer.next(desk.store.as_ref(), &EventFilter::all(), two)).unwrap();
        if page.is_empty() {
            break;
        }
        seen.extend(page.iter().map(|event| event.seq.0));
    }
    assert_eq!(seen, [1, 2, 3, 4, 5]);
    assert_eq!(consumer.cursor, Cursor(Some(Seq(5))));
    assert_eq!(desk.all().len(), 5, "reading clears nothing");
}
