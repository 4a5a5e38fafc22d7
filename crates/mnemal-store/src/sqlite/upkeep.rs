//! File maintenance: integrity check, scrub, sealing.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    Error, ErrorKind, Event, EventId, IndexEntry, Integrity, Layer, LearningFilter, Remnant, Result, Scrub,
    Seq, Upkeep,
};

use super::SqliteStore;
use super::writer::Job;
use crate::port::{index, learning, log, quick_check, upkeep};
use crate::seal::Seal;
use crate::sql::Sql;
use crate::{codec, entry, statement};

const QUICK_CHECK: &str = "pragma quick_check";
/// Tables and indexes with the bytes of their pages, the largest first.
const TABLES: &str = "select name, sum(pgsize) as bytes from dbstat group by name order by bytes desc, name";
/// Rows read at once by a check.
///
/// Source: own default, about a megabyte.
const PAGE: usize = 1_000;
/// Blocks read at once by a check.
///
/// Source: own default, about four megabytes.
const BLOCK_PAGE: usize = 16;
/// First pause between two attempts to truncate the write-ahead log; it doubles up to [`LONGEST_PAUSE`].
///
/// Source: own choice.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Longest pause between two attempts.
///
/// Source: own choice.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Time limit of the attempts.
///
/// Source: own choice; after that the erasure is reported as pending and goes on in the background.
const PATIENCE: Duration = Duration::from_secs(30);
/// Remains that no engine can reach.
const RESIDUAL: [&str; 2] = [
    "backups, exports and other copies that were made before",
    "snapshots of the file system and worn blocks of the disk",
];

impl SqliteStore {
    /// Returns the tables and indexes of the file with the bytes of their pages, the largest first. Reads every page.
    ///
    /// # Errors
    /// `Corrupt` for a damaged file; `Unavailable` when it cannot be read.
    pub async fn table_bytes(&self) -> Result<Vec<(String, u64)>> {
        let rows = self.inner.driver.rows(TABLES, Vec::new()).await?;
        rows.into_iter().map(|mut row| Ok((row.text()?, row.count()?))).collect()
    }
}

impl SqliteStore {
    /// Truncates the write-ahead log, as soon as no reader holds it.
    async fn emptied(&self) -> Result<Scrub> {
        let mut residual: Vec<String> = RESIDUAL.iter().map(|what| (*what).to_owned()).collect();
        let (mut pause, mut waited) = (FIRST_PAUSE, Duration::ZERO);
        loop {
            if self.inner.driver.ask(|answer| Job::Checkpoint { answer }).await? {
                return Ok(Scrub { truncated: true, residual });
            }
            if waited >= PATIENCE {
                residual.push("the write-ahead log, which another reader holds".to_owned());
                return Ok(Scrub { truncated: false, residual });
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "a reader must have time to finish; tests pause the clock"
            )]
            tokio::time::sleep(pause).await;
            waited += pause;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

#[async_trait]
impl Upkeep for SqliteStore {
    async fn check(&self) -> Result<Integrity> {
        let mut found = Integrity::default();
        let sql: &dyn Sql = &self.inner.driver;
        let mark = index::mark(sql).await?;
        let head = Seq(mark.head.count());
        pages(sql, &mut found).await;
        events(sql, head, &mut found).await;
        let rows = index_rows(sql, head, &mut found).await;
        compare(sql, head, rows, &mut found).await;
        for error in log::disagreements(sql).await {
            note(&mut found, "the lists", &error);
        }
        if let Err(error) = learning::all(sql, &LearningFilter::all()).await {
            note(&mut found, "the notes", &error);
        }
        for (layer, kind) in quick_check::look_over(sql).await {
            if layer != Layer::Learnings {
                found.findings.push(format!("the layer {}: {}", layer.as_str(), kind.as_str()));
            }
        }
        if !found.findings.is_empty() && index::mark(sql).await?.forgets != mark.forgets {
            found.findings.push("events were erased during the check; run it again".to_owned());
        }
        Ok(found)
    }

    async fn look_over(&self) -> Result<Vec<(Layer, ErrorKind)>> {
        Ok(quick_check::look_over(&self.inner.driver).await)
    }

    async fn lacks_index(&self) -> Result<bool> {
        quick_check::lacks_index(&self.inner.driver).await
    }

    async fn scrub(&self, texts: &[String]) -> Result<Scrub> {
        let mut scrub = self.emptied().await?;
        let is_left = |remnant: &Remnant| !remnant.is_copy;
        if scrub.truncated && super::search::search(self, texts).await?.iter().any(is_left) {
            return match self.inner.driver.ask(|answer| Job::Repack { answer }).await {
                Ok(()) => self.emptied().await,
                Err(error) => {
                    scrub.residual.push(format!("pages that could not be written anew: {error}"));
                    Ok(scrub)
                }
            };
        }
        Ok(scrub)
    }

    async fn backup(&self, to: &Path) -> Result<()> {
        self.copy(to).await
    }

    async fn search_bytes(&self, texts: &[String]) -> Result<Vec<Remnant>> {
        super::search::search(self, texts).await
    }

    async fn seal(&self) -> Result<u64> {
        let mut replaced = 0;
        loop {
            match self.inner.driver.commit(Box::new(Seal)).await? {
                0 => return Ok(replaced),
                more => replaced += more,
            }
        }
    }

    async fn damaged_index(&self) -> Result<Vec<(Seq, Seq)>> {
        upkeep::damaged_index(&self.inner.driver).await
    }

    async fn reindex(&self, stretch: (Seq, Seq), rows: &[(Event, IndexEntry)]) -> Result<u64> {
        upkeep::reindex(&self.inner.driver, stretch, rows).await
    }

    async fn unfinished_forgets(&self) -> Result<Vec<EventId>> {
        upkeep::unfinished_forgets(&self.inner.driver).await
    }

    async fn forgets_finished(&self, decisions: &[EventId]) -> Result<()> {
        upkeep::forgets_finished(&self.inner.driver, decisions).await
    }
}

fn note(found: &mut Integrity, what: &str, error: &Error) {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    found.findings.push(format!("{what}: {error}{cause}"));
}

/// Runs SQLite's own integrity check.
async fn pages(sql: &dyn Sql, found: &mut Integrity) {
    match sql.rows(QUICK_CHECK, Vec::new()).await {
        Ok(rows) => {
            let said = rows.into_iter().filter_map(|mut row| row.text().ok());
            found.findings.extend(said.filter(|text| text != "ok").map(|text| format!("the file: {text}")));
        }
        Err(error) => note(found, "the file", &error),
    }
}

/// Compares every event with its checksum.
async fn events(sql: &dyn Sql, head: Seq, found: &mut Integrity) {
    let mut next = 0;
    while next < head.0 {
        let args = vec![next.into(), PAGE.into()];
        let page = match sql.rows(statement::SCAN, args).await {
            Ok(page) if !page.is_empty() => page,
            Ok(_) => return found.findings.push(format!("events behind position {next} are missing")),
            Err(error) => return note(found, &format!("events behind position {next}"), &error),
        };
        for row in page {
            let seq = match row.rest().first() {
                Some(crate::sql::Value::Int(seq)) => u64::try_from(*seq).unwrap_or_default(),
                _ => 0,
            };
            if seq > head.0 {
                return;
            }
            if seq != next + 1 {
                found.findings.push(format!("position {next} is followed by {seq}"));
            }
            next = seq.max(next + 1);
            match entry::event(row) {
                Ok(_) => found.events += 1,
                Err(error) => note(found, &format!("position {seq}"), &error),
            }
        }
    }
}

/// Reads every block up to the head.
async fn index_rows(sql: &dyn Sql, head: Seq, found: &mut Integrity) -> BTreeMap<Seq, EventId> {
    let mut known = BTreeMap::new();
    let mut after = 0_i64;
    loop {
        let args = vec![after.into(), BLOCK_PAGE.into()];
        let page = match sql.rows(statement::BLOCKS_FROM, args).await {
            Ok(page) if page.is_empty() => return known,
            Ok(page) => page,
            Err(error) => {
                note(found, &format!("index blocks behind position {after}"), &error);
                return known;
            }
        };
        for mut row in page {
            let first = row.int().unwrap_or(i64::MAX);
            after = first.max(after + 1);
            match row.blob().and_then(|bytes| codec::decode(&bytes)) {
                Ok(block) => {
                    let rows = block.seqs.into_iter().zip(block.events);
                    known.extend(rows.filter(|(seq, _)| *seq <= head));
                }
                Err(error) => note(found, &format!("index block {first}"), &error),
            }
        }
    }
}

/// Compares the rows of the index with the events that must be in it.
async fn compare(sql: &dyn Sql, head: Seq, mut rows: BTreeMap<Seq, EventId>, found: &mut Integrity) {
    let mut after = Seq(0);
    loop {
        let page = match log::indexed(sql, after, PAGE).await {
            Ok(page) => page,
            Err(error) => return note(found, &format!("indexed events behind position {}", after.0), &error),
        };
        let Some((last, _)) = page.last() else { break };
        after = *last;
        for (seq, id) in page.into_iter().filter(|(seq, _)| *seq <= head) {
            if rows.remove(&seq) == Some(id) {
                found.index_rows += 1;
            } else {
                found.findings.push(format!("event {id} is not in the index"));
            }
        }
    }
    let stray = rows.values().map(|id| format!("the index names event {id}, which must not be found"));
    found.findings.extend(stray);
}
