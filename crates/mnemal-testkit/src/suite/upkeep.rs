//! Cases of `Upkeep`.

use mnemal_core::{Result, Timestamp};

use super::Storage;
use crate::record::{Records, tombstone};

/// A check reads everything and finds nothing wrong with what was written and erased properly.
pub async fn a_healthy_space_has_no_findings(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let entries = (0..5).map(|n| records.turn("s", &format!("turn {n}"))).collect::<Result<Vec<_>>>()?;
    storage.events.append(&entries).await?;
    storage.events.append(&[records.quarantined("s", "held back")?]).await?;
    let target = entries.first().map(|entry| tombstone(entry.id, Timestamp::EPOCH));
    storage.events.erase(target.as_slice()).await?;
    let found = storage.upkeep.check().await?;
    assert_eq!(found.findings, Vec::<String>::new());
    assert_eq!((found.events, found.index_rows), (6, 4));
    Ok(())
}

/// Sealing again finds nothing to do.
pub async fn sealing_is_idempotent(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    for n in 0..30 {
        storage.events.append(&[records.turn("s", &format!("turn {n}"))?]).await?;
    }
    storage.upkeep.seal().await?;
    assert_eq!(storage.upkeep.seal().await?, 0);
    assert_eq!(storage.upkeep.check().await?.findings, Vec::<String>::new());
    Ok(())
}

/// Scrubbing says whether everything could be reached.
pub async fn scrubbing_answers(storage: &Storage) -> Result<()> {
    storage.events.append(&[Records::new(1).turn("s", "x")?]).await?;
    let scrub = storage.upkeep.scrub().await?;
    assert!(scrub.truncated);
    Ok(())
}
