//! Files that wait to be read.

use std::fmt::Debug;
use std::num::NonZeroUsize;

use async_trait::async_trait;

use crate::{InboxFate, InboxItem, InboxStanding, Result};

/// A place where people and programs put files that the memory shall read.
///
/// Guarantees: a claimed file is offered to one caller at a time, in this process and in others, until it is settled; after
/// the end of a process it is offered again. A file waits, is claimed, processed or failed, and is removed only by
/// [`erase`](Self::erase).
/// Not guaranteed: that a file is offered once. The caller makes taking it in idempotent by the document's hash, writes
/// first, and settles then; a file whose settling was interrupted comes again.
#[async_trait]
pub trait Inbox: Debug + Send + Sync + 'static {
    /// Counts the files without claiming or reading one.
    ///
    /// # Errors
    /// `Unavailable` when the place cannot be looked at.
    async fn standing(&self) -> Result<InboxStanding>;

    /// Claims and reads up to `limit` files, those first that were claimed and not settled, then in the order of their names;
    /// nothing while another process has files of this place in hand.
    ///
    /// A dropped future leaves files claimed; the next call offers them again.
    ///
    /// # Errors
    /// `Unavailable` when the place cannot be read; a file that cannot be read is an item with the reason.
    async fn poll(&self, limit: NonZeroUsize) -> Result<Vec<InboxItem>>;

    /// Waits until a file may have come since the call; never ends where the place cannot say that, so whoever waits looks now
    /// and then in any case. A dropped future leaves nothing behind.
    async fn changed(&self) {
        std::future::pending::<()>().await;
    }

    /// Puts a claimed file away, with the reason where it was refused. A file that somebody else put away is no error.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be put away; it stays claimed.
    async fn settle(&self, item: &InboxItem, fate: &InboxFate) -> Result<()>;

    /// Removes the files that were put away and whose bytes have a hash (BLAKE3) of which `is_gone` says so, because what
    /// was read in them is forgotten; returns how many. Files that wait or are claimed are left: what they say is held
    /// against the tombstones when they are read.
    ///
    /// A place that keeps nothing of what it has offered has nothing to remove.
    ///
    /// # Errors
    /// `Unavailable` when a file cannot be read or removed; call it again.
    async fn erase(&self, is_gone: &(dyn for<'h> Fn(&'h [u8; 32]) -> bool + Sync)) -> Result<u64> {
        let _keeps_nothing = is_gone;
        Ok(0)
    }
}
