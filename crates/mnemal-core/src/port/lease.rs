//! The port of leases.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use crate::{Lease, LeaseName, OwnerId, Result, Timestamp, Turn};

/// Turns of the processes that share one space.
///
/// Guarantees: of several that ask at once, one gets the lease; `turn` counts up with every acquisition.
/// Not guaranteed: that a holder notices the end of its lease. A store has no clock, so the caller says what time it is; a
/// wrong clock costs effort and never data, because every write is held to its cursor.
#[async_trait]
pub trait LeaseStore: Debug + Send + Sync + 'static {
    /// Takes a lease at a moment if it is free, released or run out.
    ///
    /// # Errors
    /// `Invalid` for a time to live of zero or more than an hour; `Unavailable` when the database does not answer.
    async fn acquire(&self, name: &LeaseName, owner: &OwnerId, at: Timestamp, ttl: Duration) -> Result<Turn>;

    /// Makes a lease last longer, from a moment on.
    ///
    /// # Errors
    /// `Conflict` when it has run out by then or somebody else took it; `Invalid` as for [`acquire`](Self::acquire).
    async fn renew(&self, lease: &Lease, at: Timestamp, ttl: Duration) -> Result<Lease>;

    /// Gives a lease back, so that the next one who asks has it at once; does nothing to the lease of somebody else.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn release(&self, lease: Lease) -> Result<()>;

    /// Returns who has a lease that was not released, whether or not it has run out.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn holder(&self, name: &LeaseName) -> Result<Option<Lease>>;
}
