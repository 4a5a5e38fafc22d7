//! Cases of `ReceiptStore`.

use std::num::NonZeroUsize;

use mnemal_core::{
    ErrorKind, EventId, Omitted, OmittedReason, Receipt, ReceiptId, RecordRef, Result, Section, SessionId,
    Timestamp,
};

use super::Storage;
use crate::record::receipt;

fn at(micros: i64) -> Timestamp {
    Timestamp::EPOCH.plus_micros(micros)
}

/// The account of an answer is kept to the letter.
pub async fn a_receipt_comes_back_whole(storage: &Storage) -> Result<()> {
    let mut stored = receipt(1, "s", EventId(5), at(10))?;
    let record = RecordRef::Event(EventId(6));
    stored.omitted =
        vec![Omitted { record, section: Section::Recall, reason: OmittedReason::Budget, score: 0.25 }];
    stored.omitted_counts = vec![(OmittedReason::Budget, 1)];
    storage.receipts.put(&stored).await?;
    assert_eq!(storage.receipts.get(ReceiptId(1)).await?, stored);
    let unknown = storage.receipts.get(ReceiptId(2)).await;
    assert_eq!(unknown.map_err(|error| error.kind()).err(), Some(ErrorKind::NotFound));
    Ok(())
}

/// A receipt is written once.
pub async fn a_known_id_is_a_conflict(storage: &Storage) -> Result<()> {
    storage.receipts.put(&receipt(1, "s", EventId(5), at(10))?).await?;
    let again = storage.receipts.put(&receipt(1, "t", EventId(6), at(11))?).await;
    assert_eq!(again.map_err(|error| error.kind()).err(), Some(ErrorKind::Conflict));
    assert_eq!(storage.receipts.get(ReceiptId(1)).await?.session.as_str(), "s");
    Ok(())
}

/// The newest receipts come first, without what was erased since.
pub async fn the_newest_receipts_come_first(storage: &Storage) -> Result<()> {
    let many = NonZeroUsize::MAX;
    assert_eq!(storage.receipts.latest(many).await?, []);
    for (id, time) in [(1_u128, 30), (2, 10), (3, 20), (4, 30)] {
        let event = EventId(50 + id);
        storage.receipts.put(&receipt(id, "s", event, at(time))?).await?;
    }
    let ids = |found: Vec<Receipt>| found.iter().map(|receipt| receipt.id.0).collect::<Vec<_>>();
    assert_eq!(ids(storage.receipts.latest(many).await?), [4, 1, 3, 2]);
    assert_eq!(ids(storage.receipts.latest(NonZeroUsize::MIN).await?), [4]);
    for ((since, until), expected) in
        [((10, 30), vec![3, 2]), ((11, 31), vec![4, 1, 3]), ((30, 30), vec![]), ((20, 21), vec![3])]
    {
        assert_eq!(ids(storage.receipts.between(at(since), at(until), many).await?), expected);
    }
    assert_eq!(ids(storage.receipts.between(at(0), at(99), NonZeroUsize::MIN).await?), [4]);
    storage.receipts.erase(&[EventId(54)]).await?;
    let left = storage.receipts.latest(many).await?;
    let lines: Vec<usize> = left.iter().map(|receipt| receipt.lines.len()).collect();
    assert_eq!(lines, [0, 1, 1, 1]);
    let left = storage.receipts.between(at(0), at(99), many).await?;
    let lines: Vec<usize> = left.iter().map(|receipt| receipt.lines.len()).collect();
    assert_eq!(lines, [0, 1, 1, 1]);
    Ok(())
}

/// What was shown is known by record and text.
// proves: RB-10
pub async fn a_session_remembers_what_it_was_shown(storage: &Storage) -> Result<()> {
    storage.receipts.put(&receipt(1, "s", EventId(5), at(10))?).await?;
    storage.receipts.put(&receipt(2, "s", EventId(5), at(11))?).await?;
    let mut two_lines = receipt(3, "s", EventId(6), at(12))?;
    two_lines.lines.extend(two_lines.lines.clone());
    if let Some(line) = two_lines.lines.last_mut() {
        line.content_hash = [9; 16];
    }
    storage.receipts.put(&two_lines).await?;
    let seen = storage.receipts.seen(&SessionId::new("s")?).await?;
    assert_eq!(seen.items.len(), 3);
    assert!(seen.has(RecordRef::Event(EventId(5)), &[7; 16]));
    assert!(!seen.has(RecordRef::Event(EventId(5)), &[8; 16]));
    assert!(
        seen.has(RecordRef::Event(EventId(6)), &[7; 16]) && seen.has(RecordRef::Event(EventId(6)), &[9; 16])
    );
    assert!(seen.items.iter().all(|item| item.sources.len() == 1));
    assert_eq!(storage.receipts.seen(&SessionId::new("unknown")?).await?.items, []);
    Ok(())
}

/// What was asked in no conversation was shown to none: another one who asks so has seen nothing.
pub async fn nobody_remembers_what_was_shown(storage: &Storage) -> Result<()> {
    storage.receipts.put(&receipt(1, SessionId::NOBODY, EventId(5), at(10))?).await?;
    assert_eq!(storage.receipts.seen(&SessionId::nobody()).await?.items, []);
    assert_eq!(storage.receipts.get(ReceiptId(1)).await?.lines.len(), 1);
    assert!(storage.receipts.erase(&[EventId(5)]).await? > 0, "the receipt names it all the same");
    assert_eq!(storage.receipts.get(ReceiptId(1)).await?.lines.len(), 0);
    Ok(())
}

/// A compaction of one transcript forgets what that session saw.
pub async fn clearing_a_session_leaves_the_others(storage: &Storage) -> Result<()> {
    storage.receipts.put(&receipt(1, "s", EventId(5), at(10))?).await?;
    storage.receipts.put(&receipt(2, "t", EventId(5), at(10))?).await?;
    storage.receipts.clear_seen(&SessionId::new("s")?).await?;
    assert_eq!(storage.receipts.seen(&SessionId::new("s")?).await?.items, []);
    assert_eq!(storage.receipts.seen(&SessionId::new("t")?).await?.items.len(), 1);
    assert!(storage.receipts.get(ReceiptId(1)).await.is_ok());
    Ok(())
}

/// What was removed of a session, in whatever way, or was refused, is stored when it is shown once more.
pub async fn what_is_shown_again_is_remembered_again(storage: &Storage) -> Result<()> {
    let session = SessionId::new("s")?;
    let shown = async |id: u128, time: i64| -> Result<usize> {
        storage.receipts.put(&receipt(id, "s", EventId(5), at(time))?).await?;
        Ok(storage.receipts.seen(&session).await?.items.len())
    };
    assert_eq!((shown(1, 10).await?, shown(2, 11).await?), (1, 1));
    storage.receipts.clear_seen(&session).await?;
    assert_eq!(shown(3, 12).await?, 1, "after a compaction");
    storage.receipts.erase(&[EventId(5)]).await?;
    assert_eq!(storage.receipts.seen(&session).await?.items, []);
    assert_eq!(shown(4, 13).await?, 1, "after an erase");
    storage.receipts.sweep(at(14)).await?;
    assert_eq!(storage.receipts.seen(&session).await?.items, []);
    assert_eq!(shown(5, 15).await?, 1, "after a sweep");
    let refused = receipt(5, "s", EventId(6), at(16))?;
    assert!(storage.receipts.put(&refused).await.is_err(), "the id is known");
    assert!(!storage.receipts.seen(&session).await?.has(RecordRef::Event(EventId(6)), &[7; 16]));
    storage.receipts.put(&receipt(6, "s", EventId(6), at(17))?).await?;
    assert!(storage.receipts.seen(&session).await?.has(RecordRef::Event(EventId(6)), &[7; 16]));
    Ok(())
}

/// What was shown rests on what it rested on last.
pub async fn what_was_shown_rests_on_what_it_rested_on_last(storage: &Storage) -> Result<()> {
    let session = SessionId::new("s")?;
    let sources = [EventId(7), EventId(8), EventId(7)];
    for (id, event) in (1..).zip(sources) {
        let mut shown = receipt(id, "s", EventId(5), at(10))?;
        for source in shown.lines.iter_mut().flat_map(|line| &mut line.sources) {
            source.event = event;
        }
        storage.receipts.put(&shown).await?;
        let seen = storage.receipts.seen(&session).await?;
        let rests_on: Vec<EventId> =
            seen.items.iter().flat_map(|item| &item.sources).map(|source| source.event).collect();
        assert_eq!(rests_on, [event]);
    }
    Ok(())
}

/// Retention is bounded, and exact.
pub async fn a_sweep_drops_only_what_is_older(storage: &Storage) -> Result<()> {
    storage.receipts.put(&receipt(1, "s", EventId(5), at(10))?).await?;
    storage.receipts.put(&receipt(2, "s", EventId(6), at(20))?).await?;
    assert_eq!(storage.receipts.sweep(at(20)).await?, 1);
    assert!(storage.receipts.get(ReceiptId(1)).await.is_err());
    assert!(storage.receipts.get(ReceiptId(2)).await.is_ok());
    Ok(())
}

/// After a forget no receipt names the event, and no session has seen it.
// proves: NX-01.9
pub async fn erasing_removes_every_mention_of_a_source(storage: &Storage) -> Result<()> {
    let mut both = receipt(1, "s", EventId(5), at(10))?;
    let record = RecordRef::Event(EventId(6));
    both.omitted =
        vec![Omitted { record, section: Section::Recall, reason: OmittedReason::Duplicate, score: 0.0 }];
    storage.receipts.put(&both).await?;
    storage.receipts.put(&receipt(2, "s", EventId(7), at(11))?).await?;
    storage.receipts.erase(&[EventId(5), EventId(6)]).await?;
    let left = storage.receipts.get(ReceiptId(1)).await?;
    assert_eq!((left.lines.len(), left.omitted.len()), (0, 0));
    assert_eq!(storage.receipts.get(ReceiptId(2)).await?.lines.len(), 1);
    assert_eq!(storage.receipts.seen(&SessionId::new("s")?).await?.items.len(), 1);
    Ok(())
}
