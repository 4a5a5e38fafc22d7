//! Cases of `Upkeep`.

use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, ErrorKind, EventId, EventKind, Forget, Result, Selector, Seq, Timestamp,
};

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
    let scrub = storage.upkeep.scrub(&[]).await?;
    assert!(scrub.truncated);
    Ok(())
}

/// A range of the index that is rebuilt finds what it found before, and an erased event does not come back.
pub async fn an_index_made_anew_is_the_same(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let entries = (0..6).map(|n| records.turn("s", &format!("turn {n}"))).collect::<Result<Vec<_>>>()?;
    storage.events.append(&entries).await?;
    storage.events.append(&[records.quarantined("s", "held back")?]).await?;
    assert_eq!(storage.upkeep.damaged_index().await?, []);
    let rows = async || -> Result<Vec<EventId>> {
        let blocks = storage.index.load(Cursor::START, NonZeroUsize::MAX).await?;
        Ok(blocks.into_iter().flat_map(|block| block.events).collect())
    };
    let ids: Vec<_> = entries.iter().map(|entry| entry.id).collect();
    let events = storage.events.get(&ids).await?;
    let anew: Vec<_> = events
        .into_iter()
        .zip(&entries)
        .filter_map(|(event, entry)| Some((event, entry.index.clone()?)))
        .collect();
    let (before, mark) = (rows().await?, storage.index.mark().await?);
    assert_eq!(storage.upkeep.reindex((Seq(1), Seq(7)), &anew).await?, 6);
    assert_eq!(rows().await?, before);
    assert!(storage.index.mark().await?.vectors > mark.vectors, "whoever holds the index must load it again");
    let outside = storage.upkeep.reindex((Seq(1), Seq(3)), &anew).await;
    assert_eq!(outside.map_err(|error| error.kind()).err(), Some(ErrorKind::Invalid));
    let third = ids.into_iter().nth(2).unwrap_or(EventId(0));
    storage.events.erase(&[tombstone(third, Timestamp::EPOCH)]).await?;
    assert_eq!(storage.upkeep.reindex((Seq(1), Seq(7)), &anew).await?, 5);
    assert!(!rows().await?.contains(&third));
    assert_eq!(storage.upkeep.damaged_index().await?, []);
    Ok(())
}

/// Work that a crash interrupted stays unfinished until it is reported as done.
// proves: E3
pub async fn a_forget_is_unfinished_until_it_is_reported(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let target = records.turn("s", "gone")?;
    let mut decisions = Vec::new();
    for _ in 0..2 {
        let forget = Forget { selector: Selector::Events(vec![target.id]), events: vec![target.id] };
        let mut entry = records.turn("s", "")?;
        entry.event.kind = EventKind::Decision(Decision::Forget(forget));
        decisions.push(entry);
    }
    storage.events.append(std::slice::from_ref(&target)).await?;
    storage.events.append(&decisions).await?;
    let ids: Vec<_> = decisions.iter().map(|decision| decision.id).collect();
    storage.events.erase(&[tombstone(target.id, Timestamp::EPOCH)]).await?;
    assert_eq!(storage.upkeep.unfinished_forgets().await?, ids);
    let (first, rest) = ids.split_at(1);
    storage.upkeep.forgets_finished(first).await?;
    assert_eq!(storage.upkeep.unfinished_forgets().await?, rest);
    storage.upkeep.forgets_finished(&ids).await?;
    assert_eq!(storage.upkeep.unfinished_forgets().await?, []);
    Ok(())
}
