//! Keeps a log that no private text enters, with `mnemal-events` and a store in memory: no index, no facade, no runtime.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mnemal_core::{
    ChannelId, Clock, EventFilter, EventKind, IdSource, InstallationKey, Metadata, NewEvent, Origin, Result,
    SessionId, Slot, Timestamp, Zone,
};
use mnemal_events::{EventLog, EventLogParts, LogSettings};
use mnemal_store::MemoryStore;

/// The time and the ids that a host brings.
#[derive(Debug, Default)]
struct Host(AtomicU64);

impl Clock for Host {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH.plus_micros(1_770_000_000_000_000)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

impl IdSource for Host {
    fn next(&self, _: Timestamp) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1
    }
}

fn said(key: &str, text: &str) -> Result<NewEvent> {
    Ok(NewEvent {
        kind: EventKind::UserMessage,
        content: text.to_owned(),
        session: SessionId::new("chat:1")?,
        channel: ChannelId::new("chat")?,
        parent: None,
        speaker: None,
        user: None,
        agent: None,
        occurred_at: Host::default().now(),
        zone: Zone::utc(),
        origin: Origin::UserDirect,
        idempotency_key: Some(key.to_owned()),
        metadata: Metadata::new(),
    })
}

async fn keep() -> Result<()> {
    let log = EventLog::new(EventLogParts {
        store: Arc::new(MemoryStore::new()),
        marks: Slot::Empty,
        indexer: Slot::Empty,
        receipts: Slot::Empty,
        clock: Arc::new(Host::default()),
        ids: Arc::new(Host::default()),
        key: InstallationKey::new([1; 32]),
        settings: LogSettings::default(),
    });
    let turns =
        || Ok(vec![said("1", "My door code is <private>4711</private>.")?, said("2", "I moved to Kiruna.")?]);
    let _ = log.append(turns()?).await?;
    // A client that did not hear the answer says it again: nothing is stored twice.
    let again = log.append(turns()?).await?;
    assert!(again.iter().all(|ack| ack.as_ref().is_ok_and(|ack| ack.duplicate)));
    let stored = log.recent(&EventFilter::live(), NonZeroUsize::MAX).await?;
    let texts: Vec<&str> =
        stored.iter().filter_map(|event| event.body()).map(|event| event.content.as_str()).collect();
    assert_eq!(texts.len(), 2);
    assert!(texts.contains(&"My door code is [private]."));
    println!("{texts:#?}");
    Ok(())
}

fn main() -> Result<()> {
    let (mut work, mut context) = (pin!(keep()), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(answer) = work.as_mut().poll(&mut context) {
            return answer;
        }
    }
}
