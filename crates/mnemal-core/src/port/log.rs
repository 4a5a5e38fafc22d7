//! Ports of the log, of the index that is written with it, and of their upkeep.

use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::path::Path;

use async_trait::async_trait;

use crate::{
    Appended, Cursor, ErrorKind, Event, EventCaps, EventFilter, EventId, IndexBlock, IndexEntry, IndexMark,
    Layer, LogEntry, ModelId, Remnant, Result, Seq, SessionSummary, Tombstone, Vector,
};

/// The log of one space.
///
/// Guarantees: an acknowledged entry is durable as [`EventCaps`] says and visible to every handle; `seq` is dense and in
/// the order of commit; `recorded_at` strictly increases; nothing but [`erase`](Self::erase) changes an event.
/// A dropped future leaves the store usable; whether its entries were written is then unknown, so retry with the key.
/// Not guaranteed: any order of `occurred_at` or of ids.
#[async_trait]
pub trait EventStore: Debug + Send + Sync + 'static {
    /// Returns what this log promises.
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
    async fn append(&self, batch: &[LogEntry]) -> Result<Vec<Appended>>;

    /// Returns events in the order asked.
    ///
    /// # Errors
    /// `NotFound` when one is missing; `Corrupt` when one does not match its checksum.
    async fn get(&self, ids: &[EventId]) -> Result<Vec<Event>>;

    /// Returns events in the order asked, as [`get`](Self::get) does, each from the place where an index has it, so that a store can
    /// do without a look for its id. A place where another event stands, or none, costs that look.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    async fn get_at(&self, places: &[(EventId, Seq)]) -> Result<Vec<Event>> {
        let ids: Vec<EventId> = places.iter().map(|(id, _)| *id).collect();
        self.get(&ids).await
    }

    /// Returns up to `limit` events behind `after` that pass the filter, by `seq`, oldest first, without holes.
    ///
    /// # Errors
    /// `Corrupt` when one does not match its checksum.
    async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>>;

    /// Returns the newest `limit` events that pass the filter, by `seq`, newest first.
    ///
    /// # Errors
    /// `Corrupt` when one does not match its checksum.
    async fn latest(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>>;

    /// Returns the newest `limit` conversations with living events, by their last event, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn sessions(&self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>>;

    /// Erases events in one transaction: bodies become tombstones, their index rows go, the forget generation is raised;
    /// id, seq, role and `recorded_at` stay. Events that are erased already stay as they are. Returns how many were new.
    ///
    /// # Errors
    /// `NotFound` when an event is missing; then nothing is erased.
    async fn erase(&self, tombstones: &[Tombstone]) -> Result<u64>;

    /// Returns all tombstones, by event id.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn tombstones(&self) -> Result<Vec<Tombstone>>;

    /// Takes over tombstones of another installation or an older copy, for events that this log need not know; raises the
    /// forget generation if one of them was new.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn adopt(&self, tombstones: &[Tombstone]) -> Result<()>;
}

/// The stored form of the recall index: rebuildable, never truth. The store scores nothing.
///
/// Guarantees: what `append` acknowledged is in the next [`load`](Self::load); no block holds an erased or quarantined
/// event; loading many small blocks or few merged ones gives the same rows.
#[async_trait]
pub trait IndexStore: Debug + Send + Sync + 'static {
    /// Returns what a reader compares before each answer. Costs one small read.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn mark(&self) -> Result<IndexMark>;

    /// Returns blocks by `seq` with all rows behind `after`, until at least `limit` rows or the end are reached; an empty
    /// answer is the end. Rows at or before `after` are left out of the first block.
    ///
    /// # Errors
    /// `Corrupt` when a block does not match its checksum.
    async fn load(&self, after: Cursor, limit: NonZeroUsize) -> Result<Vec<IndexBlock>>;

    /// Adds vectors of one model to indexed events and raises the vector generation; unknown and erased events are left
    /// out. Returns how many were stored.
    ///
    /// # Errors
    /// `Invalid` when dimensions differ among the rows or from what the model has stored.
    async fn put_vectors(&self, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64>;
}

/// What a check of the stored bytes found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    /// Events that were read and match their checksum, or are erased.
    pub events: u64,
    /// Index rows that name a living event.
    pub index_rows: u64,
    /// One sentence a finding, with ids; empty when all is well.
    pub findings: Vec<String>,
}

/// What making erased bytes unreadable came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrub {
    /// Whether the write-ahead log was emptied; false while a reader holds it.
    pub truncated: bool,
    /// What could not be reached, one sentence each.
    pub residual: Vec<String>,
}

/// Upkeep of a space's storage.
#[async_trait]
pub trait Upkeep: Debug + Send + Sync + 'static {
    /// Reads everything and compares it with its checksums and with each other.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; damage is a finding, not an error.
    async fn check(&self) -> Result<Integrity>;

    /// Looks at what is derived from the log without reading all of it: whether the newest rows of each layer can be read, and
    /// whether there are as many as the sources of the layer name. Returns the layers that are damaged, with what is wrong.
    ///
    /// A store that can lose no rows has nothing to look at.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; damage is the answer, not an error.
    async fn look_over(&self) -> Result<Vec<(Layer, ErrorKind)>> {
        Ok(Vec::new())
    }

    /// Whether the index lacks events behind its last block, which happens where its rows were lost. Costs one look-up.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn lacks_index(&self) -> Result<bool> {
        Ok(false)
    }

    /// Makes erased bytes unreadable.
    ///
    /// Where a database moved rows within its pages, copies of them can stay behind: if the bytes of the space still hold one
    /// of these texts, everything is written anew, which costs as much as the space is long.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn scrub(&self, texts: &[String]) -> Result<Scrub>;

    /// Copies the space into a new file.
    ///
    /// # Errors
    /// `Conflict` when the file exists; `Unsupported` when the store has no file form.
    async fn backup(&self, to: &Path) -> Result<()>;

    /// Searches the raw bytes of every file of the space (database, write-ahead log), of the copies of it that were put aside
    /// beside it, and the decoded index blocks for texts that must be gone, on one way through each file: as they are, in
    /// lower case, as UTF-16 in both orders, escaped as in JSON and as in addresses, and as base64 at each of its three
    /// alignments. Nothing that a store writes is compressed, so that no stream has to be unpacked.
    ///
    /// An empty text is nowhere. Returns the remnants, ascending; none holds words.
    ///
    /// # Errors
    /// `Unavailable` when a file cannot be read.
    async fn search_bytes(&self, texts: &[String]) -> Result<Vec<Remnant>>;

    /// Merges runs of small index blocks into blocks of about 1,024 events; returns how many blocks were replaced.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn seal(&self) -> Result<u64>;

    /// Returns the stretches of the log, first and last position, whose index rows cannot be read or are not those of its
    /// living events, ascending; each is at most a block long, and [`reindex`](Self::reindex) makes it anew.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer; damage is the answer, not an error.
    async fn damaged_index(&self) -> Result<Vec<(Seq, Seq)>>;

    /// Puts index rows of these events in the place of whatever the index holds of a stretch. Events that were erased in
    /// between are left out. Returns how many rows were written.
    ///
    /// # Errors
    /// `Invalid` for an event outside the stretch; `Conflict` when the index was sealed in between: look again.
    async fn reindex(&self, stretch: (Seq, Seq), rows: &[(Event, IndexEntry)]) -> Result<u64>;

    /// Returns the decisions to forget that were stored and not reported as finished, oldest first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn unfinished_forgets(&self) -> Result<Vec<EventId>>;

    /// Notes that everything these decisions ask for is done.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn forgets_finished(&self, decisions: &[EventId]) -> Result<()>;
}
