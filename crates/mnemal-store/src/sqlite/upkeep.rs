//! File maintenance: integrity check, scrub, sealing.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    ErrorKind, Event, EventId, IndexEntry, Integrity, Layer, Remnant, Result, Scrub, Seq, Upkeep,
};

use super::SqliteStore;
use super::writer::Job;
use crate::port::{check, quick_check, upkeep};
use crate::seal::Seal;
use crate::sql::Sql;

const QUICK_CHECK: &str = "pragma quick_check";
/// Tables and indexes with the bytes of their pages, the largest first.
const TABLES: &str = "select name, sum(pgsize) as bytes from dbstat group by name order by bytes desc, name";
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

    /// Returns the bytes of each layer in the file, the largest first; `None` for what belongs to no layer. The vectors of recall
    /// stand in the blocks of its index and count as [`Layer::Lexical`]. Reads every page.
    ///
    /// # Errors
    /// As [`table_bytes`](Self::table_bytes).
    pub async fn layer_bytes(&self) -> Result<Vec<(Option<Layer>, u64)>> {
        let mut sums: Vec<(Option<Layer>, u64)> = Vec::new();
        for (name, bytes) in self.table_bytes().await? {
            let layer = layer_of(&name);
            match sums.iter_mut().find(|(of, _)| *of == layer) {
                Some((_, sum)) => *sum += bytes,
                None => sums.push((layer, bytes)),
            }
        }
        sums.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        Ok(sums)
    }
}

/// Returns the layer of a table or an index, by the first word of its name.
fn layer_of(name: &str) -> Option<Layer> {
    let name = name.strip_prefix("sqlite_autoindex_").unwrap_or(name);
    match name.split('_').next().unwrap_or_default() {
        "event" | "tombstone" | "forgetting" | "tally" => Some(Layer::Events),
        "block" | "vector" => Some(Layer::Lexical),
        "learning" => Some(Layer::Learnings),
        "entity" | "fact" | "graph" | "mention" | "edition" => Some(Layer::Graph),
        "summary" => Some(Layer::Summaries),
        "receipt" | "seen" => Some(Layer::Receipts),
        "working" => Some(Layer::Working),
        _ => None,
    }
}

impl SqliteStore {
    /// Truncates the write-ahead log, as soon as no reader holds it.
    async fn emptied(&self) -> Result<Scrub> {
        let mut residual: Vec<String> = RESIDUAL.iter().map(|what| (*what).to_owned()).collect();
        let (mut pause, mut waited) = (FIRST_PAUSE, Duration::ZERO);
        loop {
            if self.inner.driver.ask(|answer| Job::Checkpoint { answer }).await? {
                return Ok(Scrub { truncated: true, residual, reaches_files: true });
            }
            if waited >= PATIENCE {
                residual.push("the write-ahead log, which another reader holds".to_owned());
                return Ok(Scrub { truncated: false, residual, reaches_files: true });
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
        pages(sql, &mut found).await;
        check::contents(sql, &mut found).await?;
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

/// Runs SQLite's own integrity check.
async fn pages(sql: &dyn Sql, found: &mut Integrity) {
    match sql.rows(QUICK_CHECK, Vec::new()).await {
        Ok(rows) => {
            let said = rows.into_iter().filter_map(|mut row| row.text().ok());
            found.findings.extend(said.filter(|text| text != "ok").map(|text| format!("the file: {text}")));
        }
        Err(error) => check::note(found, "the file", &error),
    }
}
