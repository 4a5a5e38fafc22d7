//! Rebuild of missing tables: created empty, with the layer's cursor at the start, so that it reads the log again.
//!
//! The primary data (the log, its tombstones and its head) is excluded: without it there is nothing to rebuild from.

use std::collections::{BTreeSet, HashSet};
use std::str::FromStr as _;
use std::sync::{Mutex, PoisonError};

use mnemal_core::{Layer, Result};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::driver::{failed, rows};
use super::schema::{MIGRATIONS, REFILL_FORGETTING, REFILL_TALLIES};
use super::writer::{begin, commit, rollback};
use crate::codec::corrupt;
use crate::removal;

const NAMES: &str = "select name from sqlite_schema where type = 'table'";
/// The statements that create a table and its indexes, the table first.
const TEXTS: &str =
    "select sql from sqlite_schema where tbl_name = $1 and sql is not null order by type desc, name";

/// Tables that belong together, and the repair if one of them is missing.
struct TableGroup {
    tables: &'static [&'static str],
    /// Empties the remaining ones.
    empty: &'static [&'static str],
    /// The layer that reads the log again.
    layer: Option<Layer>,
    /// Fills them from the log.
    fill: &'static [&'static str],
}

const PARTS: [TableGroup; 12] = [
    TableGroup { tables: &["block"], empty: &[], layer: None, fill: &[] },
    TableGroup { tables: &["vector_model"], empty: &[], layer: None, fill: &[] },
    TableGroup {
        tables: &["learning", "learning_source"],
        empty: &removal::RESET_LEARNINGS,
        layer: Some(Layer::Learnings),
        fill: &[],
    },
    TableGroup {
        tables: &["entity", "entity_name", "fact", "graph_source", "mention", "edition"],
        empty: &removal::RESET_GRAPH,
        layer: Some(Layer::Graph),
        fill: &[],
    },
    TableGroup {
        tables: &["summary", "summary_parent", "summary_source"],
        empty: &removal::RESET_SUMMARIES,
        layer: Some(Layer::Summaries),
        fill: &[],
    },
    TableGroup {
        tables: &["receipt", "receipt_source"],
        empty: &removal::RESET_RECEIPTS,
        layer: None,
        fill: &[],
    },
    TableGroup { tables: &["seen", "seen_source"], empty: &removal::RESET_SEEN, layer: None, fill: &[] },
    TableGroup {
        tables: &["completion", "completion_source"],
        empty: &removal::RESET_COMPLETIONS,
        layer: None,
        fill: &[],
    },
    TableGroup { tables: &["working", "ledger", "lease"], empty: &[], layer: None, fill: &[] },
    TableGroup { tables: &["dead_letter"], empty: &[], layer: None, fill: &[] },
    TableGroup { tables: &["tally"], empty: &[], layer: None, fill: &REFILL_TALLIES },
    TableGroup { tables: &["forgetting"], empty: &[], layer: None, fill: &[REFILL_FORGETTING] },
];
/// The cursors of the layers; without it all of them read the log again.
const PROGRESS: &str = "progress";

/// The tables that this process rebuilt and that were not reported yet.
#[derive(Debug, Default)]
pub(super) struct RebuiltTables(Mutex<BTreeSet<&'static str>>);

impl RebuiltTables {
    /// Records rebuilt tables.
    pub(super) fn note(&self, made: &[&'static str]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(made);
    }

    /// Returns them, and keeps them for later calls.
    pub(super) fn all(&self) -> Vec<&'static str> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    /// Returns and clears them.
    pub(super) fn take(&self) -> Vec<&'static str> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *made).into_iter().collect()
    }
}

/// Rebuilds missing tables, in one transaction; returns their names.
///
/// # Errors
/// `Unavailable` while another process writes; else the database's error.
pub(super) async fn mend(connection: &mut SqliteConnection) -> Result<Vec<&'static str>> {
    if missing_tables(&names(connection).await?).is_empty() {
        return Ok(Vec::new());
    }
    begin(connection).await?;
    match make(connection).await {
        Ok(made) => commit(connection).await.map(|()| made),
        Err(error) => {
            rollback(connection).await;
            Err(error)
        }
    }
}

/// The same on a separate connection.
pub(super) async fn mend_beside(connect: &SqliteConnectOptions) -> Result<Vec<&'static str>> {
    let mut connection = connect.connect().await.map_err(failed)?;
    let made = mend(&mut connection).await;
    connection.close().await.map_err(failed)?;
    made
}

async fn names(connection: &mut SqliteConnection) -> Result<HashSet<String>> {
    rows(connection, NAMES, Vec::new()).await?.into_iter().map(|mut row| row.text()).collect()
}

/// Returns the missing tables.
fn missing_tables(there: &HashSet<String>) -> Vec<&'static str> {
    let all = PARTS.iter().flat_map(|part| part.tables).chain([&PROGRESS]);
    all.copied().filter(|table| !there.contains(*table)).collect()
}

/// Creates the tables within the open transaction; another process may have done so in the meantime.
async fn make(connection: &mut SqliteConnection) -> Result<Vec<&'static str>> {
    let gone = missing_tables(&names(connection).await?);
    if gone.is_empty() {
        return Ok(gone);
    }
    let mut model =
        SqliteConnectOptions::from_str("sqlite::memory:").map_err(failed)?.connect().await.map_err(failed)?;
    for text in MIGRATIONS {
        rows(&mut model, text, Vec::new()).await?;
    }
    for table in &gone {
        let texts = rows(&mut model, TEXTS, vec![(*table).into()]).await?;
        if texts.is_empty() {
            return Err(corrupt("a table that no step makes"));
        }
        for mut text in texts {
            rows(connection, AssertSqlSafe(text.text()?), Vec::new()).await?;
        }
    }
    model.close().await.map_err(failed)?;
    for part in &PARTS {
        let is_new = part.layer.is_some() && gone.contains(&PROGRESS);
        if is_new || part.tables.iter().any(|table| gone.contains(table)) {
            start_over(connection, part).await?;
        }
    }
    Ok(gone)
}

async fn start_over(connection: &mut SqliteConnection, part: &TableGroup) -> Result<()> {
    for sql in part.empty.iter().chain(part.fill) {
        rows(connection, *sql, Vec::new()).await?;
    }
    if let Some(layer) = part.layer {
        for sql in [removal::DELETE_CURSOR, removal::DELETE_DEAD, removal::DELETE_EDITION] {
            rows(connection, sql, vec![layer.as_str().into()]).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::path::Path;

    use mnemal_core::{
        Advance, Cursor, EntityKind, EventFilter, EventStore as _, GraphDelta, Projection, Seq, Timestamp,
        Upkeep as _,
    };
    use mnemal_testkit::{Records, entity, fact};

    use super::*;
    use crate::SqliteStore;

    // proves: NB-97 (no table of a derived layer is needed to write)
    #[tokio::test]
    async fn every_table_but_those_of_the_log_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("space.db");
        let store = SqliteStore::open(&path).await.unwrap();
        store.close().await.unwrap();
        let connect = SqliteConnectOptions::new().filename(&path).foreign_keys(false);
        let mut connection = connect.connect().await.unwrap();
        let before = schema(&mut connection).await;
        for table in PARTS.iter().flat_map(|part| part.tables).chain([&PROGRESS]) {
            let drop = AssertSqlSafe(format!("drop table {table}"));
            rows(&mut connection, drop, Vec::new()).await.unwrap();
            assert_eq!(mend(&mut connection).await.unwrap(), [*table]);
            assert_eq!(schema(&mut connection).await, before, "{table}");
        }
        assert!(mend(&mut connection).await.unwrap().is_empty());
        let kept: Vec<String> = names(&mut connection).await.unwrap().into_iter().collect();
        let known: Vec<&str> = PARTS.iter().flat_map(|part| part.tables).copied().chain([PROGRESS]).collect();
        let mut rest: Vec<&String> = kept.iter().filter(|name| !known.contains(&name.as_str())).collect();
        rest.retain(|name| !name.starts_with("sqlite_"));
        rest.sort();
        assert_eq!(rest, ["event", "space", "tombstone"], "what is the log itself");
    }

    async fn spoil(path: &Path, sql: &str) {
        let connect = SqliteConnectOptions::new().filename(path).foreign_keys(false);
        let mut connection = connect.connect().await.unwrap();
        rows(&mut connection, AssertSqlSafe(sql.to_owned()), Vec::new()).await.unwrap();
        connection.close().await.unwrap();
    }

    async fn damaged(store: &SqliteStore) -> Vec<Layer> {
        store.look_over().await.unwrap().into_iter().map(|(layer, _)| layer).collect()
    }

    #[tokio::test]
    async fn a_table_that_goes_while_the_file_is_open_stops_no_append() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        let mut records = Records::new(1);
        store.append(&[records.turn("s", "before").unwrap()]).await.unwrap();
        for table in PARTS.iter().flat_map(|part| part.tables).chain([&PROGRESS]) {
            spoil(store.path(), &format!("drop table {table}")).await;
            let appended = store.append(&[records.turn("s", table).unwrap()]).await;
            assert!(appended.is_ok(), "{table}: {appended:?}");
        }
        spoil(store.path(), "drop table fact").await;
        let again = SqliteStore::open(store.path()).await.unwrap();
        let all = again.scan(&EventFilter::all(), Cursor::START, NonZeroUsize::MAX).await.unwrap();
        assert_eq!(all.len(), 1 + PARTS.iter().map(|part| part.tables.len()).sum::<usize>() + 1);
        assert_eq!(<SqliteStore as Projection<GraphDelta>>::cursor(&again).await.unwrap(), Cursor::START);
        assert!(again.rebuilt_tables().contains(&"fact"), "whoever opens it is told");
        assert!(
            again.take_rebuilt_tables().contains(&"fact") && again.take_rebuilt_tables().is_empty(),
            "and once"
        );
        assert!(store.take_rebuilt_tables().contains(&"block"), "what is made anew under an append too");
    }

    #[tokio::test]
    async fn rows_that_were_lost_are_noticed_by_a_short_look() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
        let mut records = Records::new(1);
        let turn = records.turn("s", "before").unwrap();
        let id = turn.id;
        store.append(&[turn]).await.unwrap();
        let who = entity(1, "Anna", EntityKind::Person, id, Timestamp::EPOCH);
        let what = fact(2, 1, "likes", id, Timestamp::EPOCH).unwrap();
        let delta = GraphDelta { entities: vec![who], facts: vec![what], ..GraphDelta::default() };
        let advance = Advance { expect: Cursor::START, next: Cursor(Some(Seq(1))), ..Advance::default() };
        <SqliteStore as Projection<GraphDelta>>::apply(&store, &delta, &advance).await.unwrap();
        assert_eq!(damaged(&store).await, []);
        spoil(store.path(), "delete from fact").await;
        assert_eq!(damaged(&store).await, [Layer::Graph]);
        spoil(store.path(), "delete from graph_source where record not in (select id from entity)").await;
        spoil(store.path(), "update entity set body = 'garbage'").await;
        assert_eq!(damaged(&store).await, [Layer::Graph]);
        let found = store.check().await.unwrap().findings;
        assert!(found.iter().any(|line| line.contains("graph")), "{found:?}");
    }

    async fn schema(connection: &mut SqliteConnection) -> Vec<String> {
        let sql = "select name || ' ' || coalesce(sql, '') from sqlite_schema order by name";
        rows(connection, sql, Vec::new())
            .await
            .unwrap()
            .into_iter()
            .map(|mut row| row.text().unwrap())
            .collect()
    }
}
