//! The file store agrees with the in-memory reference for any sequence of calls.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the parts that tests share are tests too")]

#[path = "reference/sequence.rs"]
mod sequence;

use mnemal_store::SqliteStore;
use proptest::prelude::*;

use self::sequence::{Reopen, ask, run};

impl Reopen for SqliteStore {
    async fn close(self) {
        SqliteStore::close(&self).await.unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_agrees_with_the_reference(asks in proptest::collection::vec(ask(), 1..25)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("space.db");
            run(asks, async || SqliteStore::open(&path).await.unwrap()).await;
        });
    }
}
