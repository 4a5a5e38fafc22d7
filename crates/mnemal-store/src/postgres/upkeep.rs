//! Maintenance of a space in a database.

use std::path::Path;

use async_trait::async_trait;
use mnemal_core::{
    Error, ErrorKind, Event, EventId, IndexBlock, IndexEntry, Integrity, Layer, Remnant, Result, Scrub, Seq,
    Upkeep,
};

use super::PostgresStore;
use crate::backend::Backend as _;
use crate::port::{check, quick_check, upkeep};
use crate::seal::Seal;
use crate::sql::Value;
use crate::{codec, statement};

/// Rows read at once by a search. Source: own default, about a megabyte.
const PAGE: usize = 1_000;
/// Blocks read at once by a search. Source: own default, about four megabytes.
const BLOCKS: usize = 16;
/// Remains that no statement reaches.
const RESIDUAL: [&str; 5] = [
    "row versions in the files of the database, until a vacuum and new rows overwrite them",
    "the write-ahead log and its archives, as long as the operator keeps them",
    "replicas, backups, exports and other copies that were made before",
    "snapshots of the file system and worn blocks of the disk",
    "rows of the derived layers, which are erased and not searched again for the words",
];

#[async_trait]
impl Upkeep for PostgresStore {
    async fn check(&self) -> Result<Integrity> {
        let mut found = Integrity::default();
        check::contents(self.inner.sql(), &mut found).await?;
        Ok(found)
    }

    async fn look_over(&self) -> Result<Vec<(Layer, ErrorKind)>> {
        Ok(quick_check::look_over(self.inner.sql()).await)
    }

    async fn lacks_index(&self) -> Result<bool> {
        quick_check::lacks_index(self.inner.sql()).await
    }

    /// Does nothing: erased rows are gone for every statement, and the files belong to the operator. What remains is said.
    async fn scrub(&self, _texts: &[String]) -> Result<Scrub> {
        let residual = RESIDUAL.iter().map(|what| (*what).to_owned()).collect();
        Ok(Scrub { truncated: true, residual, reaches_files: false })
    }

    async fn backup(&self, _to: &Path) -> Result<()> {
        Err(Error::new(
            ErrorKind::Unsupported,
            "a space in a database has no file: back up the database, or export",
        ))
    }

    /// Searches events and index blocks as statements return them; the files of the database are out of reach.
    async fn search_bytes(&self, texts: &[String]) -> Result<Vec<Remnant>> {
        let mut remnants = self.events_with(texts).await?;
        remnants.extend(self.blocks_with(texts).await?);
        remnants.sort();
        Ok(remnants)
    }

    async fn seal(&self) -> Result<u64> {
        let mut replaced = 0;
        loop {
            match self.inner.sql().commit(Box::new(Seal)).await? {
                0 => return Ok(replaced),
                more => replaced += more,
            }
        }
    }

    async fn damaged_index(&self) -> Result<Vec<(Seq, Seq)>> {
        upkeep::damaged_index(self.inner.sql()).await
    }

    async fn reindex(&self, stretch: (Seq, Seq), rows: &[(Event, IndexEntry)]) -> Result<u64> {
        upkeep::reindex(self.inner.sql(), stretch, rows).await
    }

    async fn unfinished_forgets(&self) -> Result<Vec<EventId>> {
        upkeep::unfinished_forgets(self.inner.sql()).await
    }

    async fn forgets_finished(&self, decisions: &[EventId]) -> Result<()> {
        upkeep::forgets_finished(self.inner.sql(), decisions).await
    }
}

impl PostgresStore {
    async fn events_with(&self, texts: &[String]) -> Result<Vec<Remnant>> {
        let (mut remnants, mut after) = (Vec::new(), 0_i64);
        loop {
            let page = self.inner.sql().rows(statement::SCAN, vec![after.into(), PAGE.into()]).await?;
            if page.is_empty() {
                return Ok(remnants);
            }
            for row in page {
                if let Some(Value::Int(seq)) = row.rest().first() {
                    after = *seq;
                }
                let holds = |text: &str| {
                    row.rest()
                        .iter()
                        .any(|value| matches!(value, Value::Text(stored) if stored.contains(text)))
                };
                remnants.extend(
                    named(texts, holds).map(|text| remnant(text, format!("position {after} of the log"))),
                );
            }
        }
    }

    async fn blocks_with(&self, texts: &[String]) -> Result<Vec<Remnant>> {
        let (mut remnants, mut after) = (Vec::new(), 0_i64);
        loop {
            let page =
                self.inner.sql().rows(statement::BLOCKS_FROM, vec![after.into(), BLOCKS.into()]).await?;
            if page.is_empty() {
                return Ok(remnants);
            }
            for mut row in page {
                after = row.int()?;
                let block = codec::decode(&row.blob()?)?;
                let holds = |text: &str| names(&block).any(|name| name.contains(text));
                remnants
                    .extend(named(texts, holds).map(|text| remnant(text, format!("index block {after}"))));
            }
        }
    }
}

/// Returns the numbers of the texts that are held; an empty text never is.
fn named(texts: &[String], holds: impl Fn(&str) -> bool) -> impl Iterator<Item = usize> {
    let texts = texts.iter().enumerate();
    texts.filter(move |(_, text)| !text.is_empty() && holds(text)).map(|(number, _)| number)
}

fn remnant(text: usize, place: String) -> Remnant {
    Remnant { text, is_copy: false, place }
}

fn names(block: &IndexBlock) -> impl Iterator<Item = &String> {
    [&block.sessions, &block.channels, &block.speakers, &block.users, &block.agents]
        .into_iter()
        .flat_map(|labels| labels.names.iter())
}
