//! The port of an inbox of files.

use std::fmt::Debug;
use std::num::NonZeroUsize;

use async_trait::async_trait;

use crate::{InboxCounts, InboxItem, InboxOutcome, Result};

/// A place where people and programs put files for the memory to read.
///
/// Guarantees: a claimed file is offered to one caller at a time, across processes, until it is settled; after the end of a
/// process it is offered again. A file is waiting, claimed, processed or failed, and is removed only by [`erase`](Self::erase).
/// Not guaranteed: that a file is offered once. The caller makes ingestion idempotent by the document's hash, writes first, and
/// settles then; a file whose settling was interrupted is offered again.
#[async_trait]
pub trait Inbox: Debug + Send + Sync + 'static {
    /// Counts the files without claiming or reading one.
    ///
    /// # Errors
    /// `Unavailable` when the place cannot be read.
    async fn counts(&self) -> Result<InboxCounts>;

    /// Claims and reads up to `limit` files, first those that were claimed and not settled, then by name; none while another
    /// process holds files of this place.
    ///
    /// A dropped future leaves files claimed; the next call offers them again.
    ///
    /// # Errors
    /// `Unavailable` when the place cannot be read; a file that cannot be read is an item with the reason.
    async fn poll(&self, limit: NonZeroUsize) -> Result<Vec<InboxItem>>;

    /// Waits until a file may have arrived since the call; never returns where the place cannot notify, so the caller also
    /// polls. A dropped future leaves nothing behind.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    /// Settles a claimed file, with the reason if it was refused. A file that another process settled is no error.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be settled; it stays claimed.
    async fn settle(&self, item: &InboxItem, fate: &InboxOutcome) -> Result<()>;

    /// Removes the settled files whose BLAKE3 hash `is_gone` accepts, because their content is forgotten; returns how many.
    /// Waiting and claimed files stay: their content is checked against the tombstones when they are read.
    ///
    /// A place that keeps no settled files has nothing to remove.
    ///
    /// # Errors
    /// `Unavailable` when a file cannot be read or removed; call it again.
    async fn erase(&self, is_gone: &(dyn for<'h> Fn(&'h [u8; 32]) -> bool + Sync)) -> Result<u64> {
        let _keeps_nothing = is_gone;
        Ok(0)
    }
}
