//! Cases of `LeaseStore`.

use std::time::Duration;

use mnemal_core::{Acquisition, ErrorKind, Lease, LeaseName, OwnerId, Result, Timestamp};

use super::Storage;

const TTL: Duration = Duration::from_secs(30);

fn at(seconds: i64) -> Timestamp {
    Timestamp::EPOCH.plus_micros(seconds * 1_000_000)
}

async fn ask(storage: &Storage, name: &str, owner: &str, seconds: i64) -> Result<Acquisition> {
    storage.leases.acquire(&LeaseName::new(name)?, &OwnerId::new(owner)?, at(seconds), TTL).await
}

async fn take(storage: &Storage, owner: &str, seconds: i64) -> Result<(Lease, Option<OwnerId>)> {
    match ask(storage, "work", owner, seconds).await? {
        Acquisition::Acquired { lease, left_by } => Ok((lease, left_by)),
        Acquisition::Held(lease) => Err(mnemal_core::Error::internal(format!("{} has it", lease.owner))),
    }
}

/// Of two that ask, one gets it; the other learns who has it and until when.
pub async fn one_at_a_time_has_a_lease(storage: &Storage) -> Result<()> {
    let (lease, left_by) = take(storage, "a", 100).await?;
    assert_eq!((lease.turn, lease.until, left_by), (1, at(130), None));
    for owner in ["a", "b"] {
        assert_eq!(ask(storage, "work", owner, 129).await?, Acquisition::Held(lease.clone()));
    }
    assert!(matches!(
        ask(storage, "other work", "b", 129).await?,
        Acquisition::Acquired { left_by: None, .. }
    ));
    assert_eq!(storage.leases.holder(&lease.name).await?, Some(lease));
    assert_eq!(storage.leases.holder(&LeaseName::new("nobody's")?).await?, None);
    Ok(())
}

/// A released lease is free at once, and its next holder finds nothing unclean.
pub async fn a_released_lease_is_free_at_once(storage: &Storage) -> Result<()> {
    let (first, _) = take(storage, "a", 100).await?;
    storage.leases.release(first.clone()).await?;
    assert_eq!(storage.leases.holder(&first.name).await?, None);
    let (second, left_by) = take(storage, "b", 100).await?;
    assert_eq!((second.turn, left_by), (2, None));
    storage.leases.release(first).await?;
    assert_eq!(
        storage.leases.holder(&second.name).await?,
        Some(second),
        "a late release frees nobody else's"
    );
    Ok(())
}

/// A lease that ran out is taken over, and the new holder learns who left it.
// proves: D12
pub async fn a_lease_that_ran_out_is_taken_over(storage: &Storage) -> Result<()> {
    take(storage, "a", 100).await?;
    let (lease, left_by) = take(storage, "b", 130).await?;
    assert_eq!((lease.turn, left_by), (2, Some(OwnerId::new("a")?)));
    Ok(())
}

/// A stale lease cannot be renewed: not when it ran out, not after another turn, not even another turn of its owner.
// proves: D12
pub async fn a_stale_lease_cannot_be_renewed(storage: &Storage) -> Result<()> {
    let (first, _) = take(storage, "a", 100).await?;
    let renewed = storage.leases.renew(&first, at(120), TTL).await?;
    assert_eq!((renewed.turn, renewed.until), (1, at(150)));
    let refused = async |lease: &Lease, seconds| {
        let answer = storage.leases.renew(lease, at(seconds), TTL).await;
        answer.err().map(|error| error.kind()) == Some(ErrorKind::Conflict)
    };
    assert!(refused(&renewed, 150).await, "it has run out");
    let (second, _) = take(storage, "b", 150).await?;
    assert!(refused(&renewed, 151).await, "another has it");
    storage.leases.release(second).await?;
    let (third, _) = take(storage, "a", 152).await?;
    assert!(refused(&renewed, 153).await, "the same owner has a later turn");
    storage.leases.release(third.clone()).await?;
    assert!(refused(&third, 153).await, "it was released");
    Ok(())
}

/// A clock that went back blocks callers no longer than a lease can last.
// proves: D12
pub async fn a_clock_that_went_back_holds_no_lease_for_ever(storage: &Storage) -> Result<()> {
    let month = 30 * 86_400;
    take(storage, "a", month).await?;
    assert!(matches!(ask(storage, "work", "b", month - 60).await?, Acquisition::Held(_)));
    let (lease, left_by) = take(storage, "b", 0).await?;
    assert_eq!((lease.until, left_by), (at(30), Some(OwnerId::new("a")?)));
    Ok(())
}

/// No time, and more than an hour, are no lease.
pub async fn a_time_to_live_has_bounds(storage: &Storage) -> Result<()> {
    let (name, owner) = (LeaseName::new("work")?, OwnerId::new("a")?);
    for ttl in [Duration::ZERO, Duration::from_secs(3_601)] {
        let refused = storage.leases.acquire(&name, &owner, at(1), ttl).await;
        assert_eq!(refused.map_err(|error| error.kind()).err(), Some(ErrorKind::Invalid));
    }
    Ok(())
}
