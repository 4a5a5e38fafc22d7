//! Shown-record tracking of a session, with two handles on one file.

use mnemal_core::{EventId, ReceiptStore, Result, SessionId, Timestamp};
use mnemal_store::SqliteStore;
use mnemal_testkit::receipt;

/// Microseconds.
const HOUR: i64 = 3_600_000_000;

fn at(micros: i64) -> Timestamp {
    Timestamp::EPOCH.plus_micros(micros)
}

async fn show(store: &SqliteStore, id: u128, micros: i64) -> Result<()> {
    store.put(&receipt(id, "s", EventId(5), at(micros))?).await
}

#[tokio::test]
async fn what_another_handle_forgot_is_remembered_when_it_is_shown_again() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.db");
    let (one, other) = (SqliteStore::open(&path).await?, SqliteStore::open(&path).await?);
    let session = SessionId::new("s")?;
    for id in 0..3 {
        show(&one, 2 * id + 1, 10).await?;
        show(&one, 2 * id + 2, 11).await?;
        assert_eq!(other.seen(&session).await?.items.len(), 1);
        other.clear_seen(&session).await?;
        assert_eq!(one.seen(&session).await?.items.len(), 0);
    }
    Ok(())
}

#[tokio::test]
async fn what_is_shown_for_hours_outlives_its_first_showing() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("space.db")).await?;
    let session = SessionId::new("s")?;
    show(&store, 1, 0).await?;
    show(&store, 2, HOUR).await?;
    show(&store, 3, HOUR + 1).await?;
    assert_eq!(store.sweep(at(HOUR)).await?, 1);
    assert_eq!(store.seen(&session).await?.items.len(), 1, "it was shown again more than an hour later");
    Ok(())
}
