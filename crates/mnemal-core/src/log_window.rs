//! Reading a log ahead, within a limit of bytes.

use std::num::NonZeroUsize;

use crate::{Cursor, Event, EventFilter, EventStore, Result};

/// Bytes of texts above which nothing more is read ahead. Source: own choice; some thousand turns of a chat.
const MOST: usize = 1 << 20;
/// Events of a page, which is read whole. Source: own choice; of the longest texts a page has 8 MiB.
const PAGE: usize = 32;

impl Event {
    /// Returns the bytes of its text and its metadata, about what it holds in memory.
    pub fn text_bytes(&self) -> usize {
        let Some(kept) = self.body() else { return 0 };
        kept.content.len() + kept.metadata.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>()
    }
}

/// Whether events hold so many bytes that nothing more is read beside them.
pub fn is_window_full(events: &[Event]) -> bool {
    events.iter().map(Event::text_bytes).sum::<usize>() >= MOST
}

/// Appends the events after a position to those that were read before, oldest first: at most `limit`, and in pages as long as all
/// of them hold less than 1 MiB of texts.
///
/// # Errors
/// `Unavailable` when the database does not answer.
pub async fn read_ahead(
    log: &dyn EventStore,
    held: &mut Vec<Event>,
    after: Cursor,
    limit: NonZeroUsize,
) -> Result<()> {
    let (mut after, mut left) = (after, limit.get());
    while let Some(wanted) = NonZeroUsize::new(left.min(PAGE)) {
        if is_window_full(held) {
            break;
        }
        let page = log.scan(&EventFilter::all(), after, wanted).await?;
        let is_end = page.len() < wanted.get();
        left -= page.len().min(left);
        held.extend(page);
        after = held.last().map_or(after, |event| Cursor(Some(event.seq)).max(after));
        if is_end {
            break;
        }
    }
    Ok(())
}
