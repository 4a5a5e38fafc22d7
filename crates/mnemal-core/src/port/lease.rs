//! The port of leases.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use crate::{Acquisition, Lease, LeaseName, OwnerId, Result, Timestamp};

/// Leases among the processes that share one space.
///
/// Guarantees: of several concurrent callers, one gets the lease; `turn` is incremented with every acquisition.
/// Not guaranteed: that a holder notices the end of its lease. A store has no clock, so the caller passes the time; a wrong
/// clock costs effort and never data, because every write is checked against its cursor.
#[async_trait]
pub trait LeaseStore: Debug + Send + Sync + 'static {
    /// Acquires a lease at a moment if it is free, released or expired.
    ///
    /// # Errors
    /// `Invalid` for a time to live of zero or more than an hour; `Unavailable` when the database does not answer.
    async fn acquire(
        &self,
        name: &LeaseName,
        owner: &OwnerId,
        at: Timestamp,
        ttl: Duration,
    ) -> Result<Acquisition>;

    /// Renews a lease from a moment on.
    ///
    /// # Errors
    /// `Conflict` when it expired by then or has another owner; `Invalid` as for [`acquire`](Self::acquire).
    async fn renew(&self, lease: &Lease, at: Timestamp, ttl: Duration) -> Result<Lease>;

    /// Releases a lease, so that the next caller gets it at once; has no effect on another owner's lease.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn release(&self, lease: Lease) -> Result<()>;

    /// Returns the holder of a lease that was not released, expired or not.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    async fn holder(&self, name: &LeaseName) -> Result<Option<Lease>>;
}
