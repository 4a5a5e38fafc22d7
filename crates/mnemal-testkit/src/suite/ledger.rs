//! Cases of `LedgerStore`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{LedgerKind, LedgerLine, Result, Timestamp};

use super::Storage;

const ALL: NonZeroUsize = NonZeroUsize::MAX;
const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("2 is not zero");

fn line(kind: LedgerKind, key: &str, seconds: i64) -> LedgerLine {
    LedgerLine {
        kind,
        key: key.to_owned(),
        at: Timestamp::EPOCH.plus_micros(seconds * 1_000_000),
        hash: u128::MAX - 7,
        counts: BTreeMap::from([("shown".to_owned(), u64::MAX), ("kept".to_owned(), 0)]),
        note: "nothing to do, \"yet\"".to_owned(),
    }
}

/// The newest line under a key stands, in its own book, and everything of it comes back.
pub async fn the_newest_line_under_a_key_stands(storage: &Storage) -> Result<()> {
    let (first, second) = (line(LedgerKind::Pass, "fold", 10), line(LedgerKind::Pass, "fold", 5));
    storage.ledger.put(&[first]).await?;
    storage.ledger.put(&[second.clone(), line(LedgerKind::Cycle, "fold", 7)]).await?;
    assert_eq!(storage.ledger.lines(LedgerKind::Pass, ALL).await?, [second]);
    let twice = [
        line(LedgerKind::Pass, "fold", 8),
        line(LedgerKind::Pass, "other", 2),
        line(LedgerKind::Pass, "fold", 9),
    ];
    storage.ledger.put(&twice).await?;
    let [_, other, last] = twice;
    assert_eq!(storage.ledger.lines(LedgerKind::Pass, ALL).await?, [last, other]);
    for kind in LedgerKind::ALL {
        assert_eq!(LedgerKind::from_name(kind.as_str()), Some(kind));
    }
    Ok(())
}

/// Lines come newest first, then by key, and no more than were asked for.
pub async fn lines_come_newest_first(storage: &Storage) -> Result<()> {
    let lines = [
        line(LedgerKind::Cycle, "b", 20),
        line(LedgerKind::Cycle, "c", 30),
        line(LedgerKind::Cycle, "a", 20),
    ];
    storage.ledger.put(&lines).await?;
    let found = storage.ledger.lines(LedgerKind::Cycle, ALL).await?;
    assert_eq!(found.iter().map(|line| line.key.as_str()).collect::<Vec<_>>(), ["c", "a", "b"]);
    assert_eq!(storage.ledger.lines(LedgerKind::Cycle, TWO).await?, found.get(..2).unwrap_or_default());
    Ok(())
}

/// A sweep drops what is older, of one book.
pub async fn a_sweep_drops_old_lines_of_one_book(storage: &Storage) -> Result<()> {
    storage
        .ledger
        .put(&[
            line(LedgerKind::Audit, "a", 1),
            line(LedgerKind::Audit, "b", 2),
            line(LedgerKind::Cycle, "a", 1),
        ])
        .await?;
    assert_eq!(storage.ledger.sweep(LedgerKind::Audit, Timestamp::EPOCH.plus_micros(2_000_000)).await?, 1);
    assert_eq!(storage.ledger.lines(LedgerKind::Audit, ALL).await?, [line(LedgerKind::Audit, "b", 2)]);
    assert_eq!(storage.ledger.lines(LedgerKind::Cycle, ALL).await?.len(), 1);
    Ok(())
}
