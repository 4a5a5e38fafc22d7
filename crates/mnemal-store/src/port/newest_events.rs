//! In-memory cache of the newest events of the log.
//!
//! Every context reads the latest turns, and only a turn or two is written between two contexts: reading forty rows again, with
//! the notes and tool results between them, costs some milliseconds, a check for new ones some microseconds.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use mnemal_core::{Event, EventFilter, Result};

use super::index;
use super::log::{LogScan, ScanOrder, ScanRows, list, lost, page};
use crate::sql::Sql;

/// Most cached events. Source: own default, about a megabyte; a context needs the last 40 turns.
const MOST: usize = 1_024;

/// The cached range, without holes up to the head of the log, with the forget generation at which it was read.
///
/// Only an erase changes an event, and each erase increments the generation, in any process: so reading the mark shows whether
/// the cached events are current, and how many are new.
#[derive(Debug, Default)]
pub(crate) struct NewestEvents(Mutex<Option<Arc<CachedRange>>>);

#[derive(Debug)]
struct CachedRange {
    forgets: u64,
    /// Oldest first; never empty.
    events: Vec<Arc<Event>>,
}

impl CachedRange {
    fn first(&self) -> u64 {
        self.events.first().map_or(0, |event| event.seq.0)
    }

    fn last(&self) -> u64 {
        self.events.last().map_or(0, |event| event.seq.0)
    }

    /// Returns the newest events that pass, newest first.
    fn latest(&self, filter: &EventFilter, limit: usize) -> Vec<Event> {
        let passing = self.events.iter().rev().filter(|event| filter.accepts(event));
        passing.take(limit).map(|event| Event::clone(event)).collect()
    }

    /// Whether it begins at the start of the log.
    fn is_all(&self) -> bool {
        self.first() == 1
    }
}

impl NewestEvents {
    /// Clears the cache.
    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn range(&self) -> Option<Arc<CachedRange>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, forgets: u64, events: Vec<Arc<Event>>) -> Arc<CachedRange> {
        let kept = Arc::new(CachedRange { forgets, events });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&kept));
        kept
    }

    /// Returns the newest events that pass the filter, newest first. What is not cached is read from the log, and
    /// damage hides none.
    pub(crate) async fn latest(
        &self,
        sql: &dyn Sql,
        filter: &EventFilter,
        limit: NonZeroUsize,
    ) -> Result<Vec<Event>> {
        let end = filter.before.map_or(u64::MAX >> 1, |before| before.0.min(u64::MAX >> 1));
        let walk = LogScan::of(filter, end, ScanOrder::Backwards);
        let is_kept_for = match walk.rows {
            // A list that goes on further back is read from the log.
            _ if filter.before.is_some() => false,
            ScanRows::All => limit.get() <= MOST,
            // A conversation has an index of its own: it is looked for here only where others have asked for the newest events.
            ScanRows::OfSession(_) => limit.get() <= MOST && self.range().is_some(),
            ScanRows::Decisions => false,
        };
        if is_kept_for {
            let mut kept = self.level(sql, limit.get()).await?;
            while let Some(known) = kept {
                let found = known.latest(filter, limit.get());
                if found.len() == limit.get() || known.is_all() {
                    return Ok(found);
                }
                kept = match walk.rows {
                    ScanRows::All if known.events.len() < MOST => Some(self.longer(sql, &known).await?),
                    _ => None,
                };
            }
        }
        list(sql, filter, walk, limit.get()).await
    }

    /// Returns the cached events up to the head of the log, after a check for new ones; `None` for an empty log.
    async fn level(&self, sql: &dyn Sql, size: usize) -> Result<Option<Arc<CachedRange>>> {
        let mark = index::mark(sql).await?;
        let head = mark.head.count();
        if head == 0 {
            return Ok(None);
        }
        let known = self.range().filter(|kept| kept.forgets == mark.forgets && kept.last() <= head);
        let Some(known) = known else {
            return self.longer_than(sql, (mark.forgets, head), size, &[]).await.map(Some);
        };
        let new = usize::try_from(head - known.last()).unwrap_or(usize::MAX);
        if new == 0 {
            return Ok(Some(known));
        }
        if known.events.len().saturating_add(new) > MOST {
            return self.longer_than(sql, (mark.forgets, head), size, &[]).await.map(Some);
        }
        let read = page(sql, (ScanRows::All, ScanOrder::Forwards), known.last(), new).await?;
        let is_dense =
            read.len() == new && (known.last() + 1..).zip(&read).all(|(seq, one)| one.seq.0 == seq);
        if !is_dense {
            return Err(lost());
        }
        let events = known.events.iter().cloned().chain(read.into_iter().map(Arc::new)).collect();
        Ok(Some(self.keep(mark.forgets, events)))
    }

    /// Doubles the number of cached events with older ones.
    async fn longer(&self, sql: &dyn Sql, known: &CachedRange) -> Result<Arc<CachedRange>> {
        let size = known.events.len().min(MOST - known.events.len()).max(1);
        self.longer_than(sql, (known.forgets, known.first() - 1), size, &known.events).await
    }

    /// Reads the events that end at a position, and prepends them to the cached ones.
    async fn longer_than(
        &self,
        sql: &dyn Sql,
        (forgets, end): (u64, u64),
        size: usize,
        known: &[Arc<Event>],
    ) -> Result<Arc<CachedRange>> {
        let read = page(sql, (ScanRows::All, ScanOrder::Backwards), end + 1, size).await?;
        let wanted = size.min(usize::try_from(end).unwrap_or(usize::MAX));
        let is_dense = read.len() == wanted && (1..=end).rev().zip(&read).all(|(seq, one)| one.seq.0 == seq);
        if !is_dense {
            return Err(lost());
        }
        let events = read.into_iter().rev().map(Arc::new).chain(known.iter().cloned()).collect();
        Ok(self.keep(forgets, events))
    }
}
