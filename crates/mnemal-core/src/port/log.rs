//! Ports of the log, of its index, and of their maintenance.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::path::Path;

use async_trait::async_trait;

use crate::{
    AppendOutcome, Cursor, ErrorKind, Event, EventCaps, EventFilter, EventId, IndexBlock, IndexEntry,
    IndexMark, Layer, LogEntry, ModelId, Remnant, Result, Seq, SessionSummary, Tombstone, Vector, Within,
};

/// Events that are read at once to be counted. Source: own default, the largest batch of one append.
const COUNTED: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// The log of one space.
///
/// Guarantees: an acknowledged entry is durable as [`EventCaps`] states and visible to every handle; `seq` is dense and in
/// commit order; `recorded_at` strictly increases; nothing but [`erase`](Self::erase) changes an event. A dropped future leaves
/// the store usable; whether its entries were written is then unknown, so retry with the key. Not guaranteed: any order of
/// `occurred_at` or of ids.
#[async_trait]
pub trait EventStore: Debug + Send + Sync + 'static {
    /// Returns the guarantees of this log.
    fn capabilities(&self) -> EventCaps;

    /// Returns the last position.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn head(&self) -> Result<Cursor>;

    /// Stores a batch, all or none, with its index entries, and answers in the order of the batch.
    ///
    /// A known idempotency key with the same `body_hash` writes nothing and answers with the first id, also inside one
    /// batch. Costs one transaction.
    ///
    /// # Errors
    /// `Conflict` for a known key with another body, or a known id; `Invalid` for a batch larger than the capability or
    /// an unknown parent; `Unavailable` when the database does not answer.
    async fn append(&self, batch: &[LogEntry]) -> Result<Vec<AppendOutcome>>;

    /// Returns events in the requested order.
    ///
    /// # Errors
    /// `NotFound` when one is missing; `Corrupt` when one fails its checksum.
    async fn get(&self, ids: &[EventId]) -> Result<Vec<Event>>;

    /// Returns events in the requested order, as [`get`](Self::get) does, each by its position from an index, so that a store
    /// can skip the lookup by id. A wrong position costs that lookup.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    async fn get_at(&self, places: &[(EventId, Seq)]) -> Result<Vec<Event>> {
        let ids: Vec<EventId> = places.iter().map(|(id, _)| *id).collect();
        self.get(&ids).await
    }

    /// Returns up to `limit` events after `after` that pass the filter, by `seq`, oldest first, without holes.
    ///
    /// # Errors
    /// `Corrupt` when one fails its checksum.
    async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>>;

    /// Returns the newest `limit` events that pass the filter, by `seq`, newest first.
    ///
    /// # Errors
    /// `Corrupt` when one fails its checksum.
    async fn latest(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>>;

    /// Returns the newest `limit` conversations with remaining events, by their last event, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn sessions(&self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>>;

    /// Returns the number of conversations with remaining events, up to `most`. Cheaper than the list where the store counts them
    /// by itself.
    ///
    /// # Errors
    /// As [`sessions`](Self::sessions).
    async fn count_sessions(&self, most: NonZeroUsize) -> Result<u64> {
        Ok(self.sessions(most).await?.len() as u64)
    }

    /// Returns the number of quarantined events after a position, up to another. Cheaper than a scan where the store reads no
    /// bodies for it.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    async fn count_quarantined(&self, after: Cursor, through: Cursor) -> Result<u64> {
        let filter = EventFilter { quarantined: Within::Only(true), ..EventFilter::all() };
        let (mut count, mut after) = (0, after);
        loop {
            let page = self.scan(&filter, after, COUNTED).await?;
            count += page.iter().filter(|event| Cursor(Some(event.seq)) <= through).count() as u64;
            match page.last() {
                Some(last) if Cursor(Some(last.seq)) < through => after = Cursor(Some(last.seq)),
                _ => return Ok(count),
            }
        }
    }

    /// Erases events in one transaction: bodies become tombstones, their index rows are deleted, the forget generation is
    /// incremented; id, seq, role and `recorded_at` stay. Already erased events stay as they are. Returns the number of newly
    /// erased ones.
    ///
    /// # Errors
    /// `NotFound` when an event is missing; then nothing is erased.
    async fn erase(&self, tombstones: &[Tombstone]) -> Result<u64>;

    /// Returns all tombstones, by event id.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn tombstones(&self) -> Result<Vec<Tombstone>>;

    /// Adopts tombstones of another installation or an older copy, for events that this log need not know; increments the
    /// forget generation if one of them was new.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn adopt(&self, tombstones: &[Tombstone]) -> Result<()>;
}

/// The stored form of the recall index: rebuildable, never the source of truth. The store computes no scores.
///
/// Guarantees: what `append` acknowledged is in the next [`load`](Self::load); no block holds an erased or quarantined event;
/// many small blocks and few merged ones give the same rows.
#[async_trait]
pub trait IndexStore: Debug + Send + Sync + 'static {
    /// Returns the mark that a reader compares before each answer. Costs one small read.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn mark(&self) -> Result<IndexMark>;

    /// Returns blocks by `seq` with all rows after `after`, until at least `limit` rows or the end are reached; an empty answer
    /// is the end. Rows at or before `after` are omitted from the first block.
    ///
    /// # Errors
    /// `Corrupt` when a block fails its checksum.
    async fn load(&self, after: Cursor, limit: NonZeroUsize) -> Result<Vec<IndexBlock>>;

    /// Adds vectors of one model to indexed events and increments the vector generation; unknown and erased events are skipped.
    /// Returns how many were stored.
    ///
    /// # Errors
    /// `Invalid` when dimensions differ among the rows or from the stored vectors of the model.
    async fn put_vectors(&self, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64>;
}

/// The result of an integrity check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    /// Events that were read and match their checksum, or are erased.
    pub events: u64,
    /// Index rows of events that are not erased.
    pub index_rows: u64,
    /// One sentence per finding, with ids; empty when all is well.
    pub findings: Vec<String>,
}

/// The result of a scrub, which makes erased bytes unreadable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrub {
    /// Whether the write-ahead log was truncated; false while a reader holds it.
    pub truncated: bool,
    /// Remaining places, one sentence each.
    pub residual: Vec<String>,
    /// Whether [`search_bytes`](Upkeep::search_bytes) reaches all bytes that the space is stored in, and not only its rows.
    pub reaches_files: bool,
}

/// Maintenance of a space's storage.
#[async_trait]
pub trait Upkeep: Debug + Send + Sync + 'static {
    /// Reads everything and checks checksums and consistency.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; damage is a finding, not an error.
    async fn check(&self) -> Result<Integrity>;

    /// Checks derived data without reading all of it: whether the newest rows of each layer can be read, and whether their
    /// number matches the layer's sources. Returns the damaged layers with their errors.
    ///
    /// A store that cannot lose rows returns nothing.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; damage is the answer, not an error.
    async fn look_over(&self) -> Result<Vec<(Layer, ErrorKind)>> {
        Ok(Vec::new())
    }

    /// Whether the index lacks events after its last block, which happens where its rows were lost. Costs one lookup.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn lacks_index(&self) -> Result<bool> {
        Ok(false)
    }

    /// Scrubs the space: makes erased bytes unreadable.
    ///
    /// Where a database moved rows within its pages, copies of them can remain: if the bytes of the space still hold one of
    /// these texts, the file is rewritten, which costs in proportion to the size of the space.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn scrub(&self, texts: &[String]) -> Result<Scrub>;

    /// Backs the space up into a new file.
    ///
    /// # Errors
    /// `Conflict` when the file exists; `Unsupported` when the store has no file form.
    async fn backup(&self, to: &Path) -> Result<()>;

    /// Searches the raw bytes of every file of the space (database, write-ahead log), of copies that were set aside next to it,
    /// and the decoded index blocks for erased texts, in one pass through each file: as they are, in lower case, as UTF-16 in
    /// both byte orders, JSON-escaped and percent-encoded, and as base64 at each of its three alignments. A store writes
    /// nothing compressed, so no stream has to be unpacked.
    ///
    /// An empty text is never found. Returns the remnants, ascending; they contain no words.
    ///
    /// # Errors
    /// `Unavailable` when a file cannot be read.
    async fn search_bytes(&self, texts: &[String]) -> Result<Vec<Remnant>>;

    /// Merges runs of small index blocks into blocks of about 1,024 events; returns how many blocks were replaced.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn seal(&self) -> Result<u64>;

    /// Returns the log ranges, first and last position, whose index rows cannot be read or do not match their events,
    /// ascending; each is at most one block long, and [`reindex`](Self::reindex) rebuilds it.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; damage is the answer, not an error.
    async fn damaged_index(&self) -> Result<Vec<(Seq, Seq)>>;

    /// Replaces the index rows of a range with those of these events. Events that were erased in between are left out. Returns
    /// how many rows were written.
    ///
    /// # Errors
    /// `Invalid` for an event outside the range; `Conflict` when the index was sealed in between: look again.
    async fn reindex(&self, stretch: (Seq, Seq), rows: &[(Event, IndexEntry)]) -> Result<u64>;

    /// Returns the stored forget decisions that were not reported as finished, oldest first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn unfinished_forgets(&self) -> Result<Vec<EventId>>;

    /// Marks these forget decisions as finished.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn forgets_finished(&self, decisions: &[EventId]) -> Result<()>;
}
