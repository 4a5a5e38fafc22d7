//! Inbox notifications: a notifying inbox is scanned at once, and not more often than necessary.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "the parts that tests share may panic as the tests do; time is paused, so that nobody sleeps"
)]

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::admin::BackgroundReport;
use mnemal::dream::Pace;
use mnemal::events::{Document, InboxCounts, InboxItem, InboxOutcome, Metadata, Passage};
use mnemal::ports::{Clock, Inbox};
use mnemal::types::OwnerId;
use mnemal::{Engine, Result, Timestamp};
use mnemal_testkit::ManualClock;
use tokio::sync::Notify;

/// A clock that follows the paused timers of the runtime.
#[derive(Debug)]
struct Paused(tokio::time::Instant);

impl Clock for Paused {
    fn now(&self) -> Timestamp {
        ManualClock::default().now().plus_micros(i64::try_from(self.0.elapsed().as_micros()).unwrap())
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

fn document(text: &str) -> Document {
    let mut hash = [0; 32];
    for (to, byte) in hash.iter_mut().zip(text.bytes()) {
        *to = byte;
    }
    let passages = vec![Passage { text: text.to_owned(), ..Passage::default() }];
    let (name, kind) = ("mail".to_owned(), "txt".to_owned());
    Document {
        name,
        kind,
        hash,
        written_at: None,
        fields: Metadata::new(),
        passages,
        location: None,
        undescribed: None,
    }
}

/// An inbox of a host's mails with notifications.
#[derive(Debug)]
struct Mails {
    begun: tokio::time::Instant,
    waiting: Mutex<Vec<InboxItem>>,
    came: Notify,
    looks: Mutex<Vec<Duration>>,
    settled: Mutex<Vec<Duration>>,
}

impl Mails {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            begun: tokio::time::Instant::now(),
            waiting: Mutex::default(),
            came: Notify::new(),
            looks: Mutex::default(),
            settled: Mutex::default(),
        })
    }

    fn come(&self, number: usize) {
        self.put(number);
        self.came.notify_waiters();
    }

    /// A file of an inbox without notifications.
    fn put(&self, number: usize) {
        let text = format!("The ferry number {number} to Genoa leaves at noon.");
        let content = Ok(document(&text));
        let item = InboxItem { name: format!("{number}.txt"), claim: number.to_string().into(), content };
        self.waiting.lock().unwrap().push(item);
    }
}

#[async_trait]
impl Inbox for Mails {
    async fn counts(&self) -> Result<InboxCounts> {
        Ok(InboxCounts::default())
    }

    async fn poll(&self, limit: NonZeroUsize) -> Result<Vec<InboxItem>> {
        self.looks.lock().unwrap().push(self.begun.elapsed());
        Ok(self.waiting.lock().unwrap().iter().take(limit.get()).cloned().collect())
    }

    async fn changed(&self) {
        self.came.notified().await;
    }

    async fn settle(&self, item: &InboxItem, _fate: &InboxOutcome) -> Result<()> {
        self.waiting.lock().unwrap().retain(|other| other.claim != item.claim);
        self.settled.lock().unwrap().push(self.begun.elapsed());
        Ok(())
    }
}

/// Runs the background worker for ten minutes, in which nothing else is due.
async fn attended(mails: &Arc<Mails>, meanwhile: impl Future<Output = ()>) -> BackgroundReport {
    let hour = Duration::from_hours(1);
    let pace = Pace { look: hour, ..quiet() };
    attended_at(&pace, mails, meanwhile).await
}

/// A pace that scans the inbox at the default interval, and does nothing else.
fn quiet() -> Pace {
    let hour = Duration::from_hours(1);
    Pace { first: hour, every: hour, idle: hour, ..Pace::default() }
}

async fn attended_at(
    pace: &Pace,
    mails: &Arc<Mails>,
    meanwhile: impl Future<Output = ()>,
) -> BackgroundReport {
    let engine = Engine::builder()
        .with_clock(Arc::new(Paused(mails.begun)))
        .with_inbox(Arc::<Mails>::clone(mails))
        .in_memory()
        .unwrap();
    let owner = OwnerId::new("test").unwrap();
    let work = engine.run_background(&owner, pace, tokio::time::sleep(Duration::from_mins(10)));
    tokio::join!(work, meanwhile).0
}

// proves: GA-09 (notifications)
#[tokio::test(start_paused = true)]
async fn what_came_is_read_when_it_came_and_not_at_the_next_look() {
    let mails = Mails::new();
    let minute = Duration::from_mins(1);
    let done = attended(&mails, async {
        for number in 0..3 {
            tokio::time::sleep(minute).await;
            mails.come(number);
        }
    });
    assert_eq!((done.await.ingested, mails.waiting.lock().unwrap().len()), (3, 0));
    assert_eq!(*mails.settled.lock().unwrap(), [minute, 2 * minute, 3 * minute]);
}

// proves: GA-09 (a poll of five seconds as fallback)
#[tokio::test(start_paused = true)]
async fn where_nothing_is_told_a_file_is_noticed_within_five_seconds() {
    let mails = Mails::new();
    let came = Duration::from_secs(61);
    let pace = quiet();
    let done = attended_at(&pace, &mails, async {
        tokio::time::sleep(came).await;
        mails.put(1);
    });
    assert_eq!(done.await.ingested, 1);
    let read = mails.settled.lock().unwrap()[0];
    assert!(read <= came + Duration::from_secs(5), "{read:?}");
}

#[tokio::test(start_paused = true)]
async fn steps_that_come_more_often_than_looks_keep_no_file_waiting() {
    let mails = Mails::new();
    let came = Duration::from_secs(61);
    let pace = Pace { every: Duration::from_secs(1), ..Pace::default() };
    let done = attended_at(&pace, &mails, async {
        tokio::time::sleep(came).await;
        mails.put(1);
    });
    assert_eq!(done.await.ingested, 1);
    let read = mails.settled.lock().unwrap()[0];
    assert!(read <= came + Duration::from_secs(5), "{read:?}");
}

// proves: GA-09 (a debounce)
#[tokio::test(start_paused = true)]
async fn a_thousand_that_come_at_once_are_a_few_looks() {
    let mails = Mails::new();
    let done = attended(&mails, async {
        for number in 0..1_000 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            mails.come(number);
        }
    });
    assert_eq!((done.await.ingested, mails.waiting.lock().unwrap().len()), (1_000, 0));
    let last = *mails.settled.lock().unwrap().last().unwrap();
    assert!(last < Duration::from_secs(4), "{last:?}");
    let looks: std::collections::BTreeSet<u64> =
        mails.looks.lock().unwrap().iter().map(Duration::as_secs).collect();
    assert!(looks.len() <= 3, "{looks:?}");
}
