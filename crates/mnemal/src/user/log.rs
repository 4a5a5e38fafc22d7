//! The log restricted to the events of one user.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use mnemal_core::{
    AppendOutcome, Cursor, Error, ErrorKind, Event, EventCaps, EventFilter, EventId, EventStore, LogEntry,
    Result, Seq, SessionId, SessionSummary, Tombstone, UserId, Within,
};

use super::both;

/// Events per page. Source: own default, the largest batch of one append (1,000 events).
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

/// Read access to the events of one user.
#[derive(Debug)]
pub(crate) struct UserLog {
    log: Arc<dyn EventStore>,
    user: Within<UserId>,
    /// Position up to which the projector has read; an earlier scan starts there.
    read: AtomicU64,
}

impl UserLog {
    pub(crate) fn new(log: Arc<dyn EventStore>, user: UserId) -> Self {
        Self { log, user: Within::Only(user), read: AtomicU64::new(0) }
    }

    /// Sets the position up to which the projector has read.
    pub(super) fn is_read_to(&self, cursor: Cursor) {
        self.read.fetch_max(cursor.count(), Ordering::Relaxed);
    }

    fn narrowed(&self, filter: &EventFilter) -> Option<EventFilter> {
        Some(EventFilter { user: both(&self.user, &filter.user)?, ..filter.clone() })
    }
}

/// Whether an event exists and belongs to these users.
pub(super) fn is_of(event: &Event, user: &Within<UserId>) -> bool {
    user.contains_opt(event.body().and_then(|kept| kept.user.as_ref()))
}

fn only_read<T>() -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, "the log of one user is only read"))
}

#[async_trait]
impl EventStore for UserLog {
    fn capabilities(&self) -> EventCaps {
        self.log.capabilities()
    }

    async fn head(&self) -> Result<Cursor> {
        self.log.head().await
    }

    async fn append(&self, _: &[LogEntry]) -> Result<Vec<AppendOutcome>> {
        only_read()
    }

    async fn get(&self, ids: &[EventId]) -> Result<Vec<Event>> {
        let found = self.log.get(ids).await?;
        match found.iter().find(|event| !is_of(event, &self.user)) {
            Some(foreign) => Err(Error::not_found(format!("no event {}", foreign.id))),
            None => Ok(found),
        }
    }

    async fn get_at(&self, places: &[(EventId, Seq)]) -> Result<Vec<Event>> {
        let ids: Vec<EventId> = places.iter().map(|(id, _)| *id).collect();
        self.get(&ids).await
    }

    async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>> {
        let Some(filter) = self.narrowed(filter) else { return Ok(Vec::new()) };
        let read = self.read.load(Ordering::Relaxed);
        self.log.scan(&filter, after.max(Cursor((read > 0).then_some(Seq(read)))), limit).await
    }

    async fn latest(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
        match self.narrowed(filter) {
            Some(filter) => self.log.latest(&filter, limit).await,
            None => Ok(Vec::new()),
        }
    }

    async fn sessions(&self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
        let filter = EventFilter { user: self.user.clone(), ..EventFilter::all() };
        let (mut known, mut after) = (BTreeMap::<SessionId, (SessionSummary, Seq)>::new(), Cursor::START);
        loop {
            let page = self.log.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for (event, kept) in page.iter().filter_map(|event| Some((event, event.body()?))) {
                let fresh = || SessionSummary {
                    session: kept.session.clone(),
                    channel: kept.channel.clone(),
                    events: 0,
                    first_at: kept.occurred_at,
                    last_at: kept.occurred_at,
                };
                let (one, seq) = known.entry(kept.session.clone()).or_insert_with(|| (fresh(), event.seq));
                one.events += 1;
                one.channel.clone_from(&kept.channel);
                (one.last_at, *seq) = (kept.occurred_at, event.seq);
            }
        }
        let mut found: Vec<_> = known.into_values().collect();
        found.sort_by_key(|(_, last)| std::cmp::Reverse(*last));
        Ok(found.into_iter().take(limit.get()).map(|(one, _)| one).collect())
    }

    async fn erase(&self, _: &[Tombstone]) -> Result<u64> {
        only_read()
    }

    async fn tombstones(&self) -> Result<Vec<Tombstone>> {
        Ok(Vec::new())
    }

    async fn adopt(&self, _: &[Tombstone]) -> Result<()> {
        only_read()
    }
}
