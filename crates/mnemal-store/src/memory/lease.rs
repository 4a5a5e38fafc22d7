//! Leases.

use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{Acquisition, Error, ErrorKind, Lease, LeaseName, LeaseStore, OwnerId, Result, Timestamp};

use super::MemoryStore;

/// The last state of a lease.
#[derive(Clone, Debug)]
pub(super) struct LeaseState {
    lease: Lease,
    released: bool,
}

#[async_trait]
impl LeaseStore for MemoryStore {
    async fn acquire(
        &self,
        name: &LeaseName,
        owner: &OwnerId,
        at: Timestamp,
        ttl: Duration,
    ) -> Result<Acquisition> {
        let until = Lease::end(at, ttl)?;
        let mut state = self.state();
        let before = state.leases.get(name).cloned();
        if let Some(held) = before.as_ref().filter(|slip| !slip.released && slip.lease.holds_at(at)) {
            return Ok(Acquisition::Held(held.lease.clone()));
        }
        let turn = before.as_ref().map_or(0, |slip| slip.lease.turn) + 1;
        let lease = Lease { name: name.clone(), owner: owner.clone(), turn, until };
        state.leases.insert(name.clone(), LeaseState { lease: lease.clone(), released: false });
        let left_by = before.filter(|slip| !slip.released).map(|slip| slip.lease.owner);
        Ok(Acquisition::Acquired { lease, left_by })
    }

    async fn renew(&self, lease: &Lease, at: Timestamp, ttl: Duration) -> Result<Lease> {
        let until = Lease::end(at, ttl)?;
        let mut state = self.state();
        let slip = state.leases.get_mut(&lease.name).filter(|slip| slip.is(lease));
        let slip = slip.filter(|slip| slip.lease.holds_at(at)).ok_or_else(|| {
            let what = format!(
                "cannot renew lease {} of {}: it has run out or was taken over",
                lease.name, lease.owner
            );
            Error::new(ErrorKind::Conflict, what)
        })?;
        slip.lease.until = until;
        Ok(slip.lease.clone())
    }

    async fn release(&self, lease: Lease) -> Result<()> {
        let mut state = self.state();
        if let Some(slip) = state.leases.get_mut(&lease.name).filter(|slip| slip.is(&lease)) {
            slip.released = true;
        }
        Ok(())
    }

    async fn holder(&self, name: &LeaseName) -> Result<Option<Lease>> {
        let state = self.state();
        Ok(state.leases.get(name).filter(|slip| !slip.released).map(|slip| slip.lease.clone()))
    }
}

impl LeaseState {
    /// Whether this is the given turn, unreleased.
    fn is(&self, lease: &Lease) -> bool {
        !self.released && self.lease.owner == lease.owner && self.lease.turn == lease.turn
    }
}
