//! A context checks once for changes (ADR 13).

use mnemal_core::{Advance, Cursor, EventStore as _, GraphDelta, IndexStore as _, Projection, Seq};
use mnemal_store::{SqliteStore, with_read_snapshot};
use mnemal_testkit::Records;

#[tokio::test]
async fn one_piece_of_work_looks_once_and_sees_what_its_own_handle_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("one.db")).await.unwrap();
    let other = SqliteStore::open(store.path()).await.unwrap();
    let mut records = Records::new(1);
    let mut say = async |to: &SqliteStore| {
        let entry = records.turn("s", "said").unwrap();
        to.append(std::slice::from_ref(&entry)).await.unwrap();
    };
    let head = async || store.head().await.unwrap().count();
    say(&store).await;
    with_read_snapshot(async {
        assert_eq!((head().await, store.mark().await.unwrap().head.count()), (1, 1));
        say(&other).await;
        assert_eq!(head().await, 1, "this work has looked already");
        let own = with_read_snapshot(async { head().await }).await;
        assert_eq!(own, 2, "another one has not");
        say(&store).await;
        assert_eq!(head().await, 3, "what was written through the handle is seen, and all before it");
        assert_eq!(other.head().await.unwrap().count(), 3, "each handle is looked at by itself");
        let cursor = async || Projection::<GraphDelta>::cursor(&store).await.unwrap().count();
        assert_eq!(cursor().await, 0);
        let next = Advance { next: Cursor(Some(Seq(3))), ..Advance::default() };
        store.apply(&GraphDelta::default(), &next).await.unwrap();
        assert_eq!(cursor().await, 3);
    })
    .await;
    say(&other).await;
    assert_eq!(head().await, 4, "outside of it every read looks");
    other.close().await.unwrap();
}
