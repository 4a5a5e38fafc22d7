//! Latency by log size, on SQLite with the default settings: full durability, every layer.

mod answer;
mod append;
mod build;
mod import;
mod life;
mod process;
mod sizes;
mod start;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use mnemal::{Builder, Engine, Memory, Scope, Settings, SpaceId};

use crate::chat;
use crate::figure::Figure;

pub use answer::{context, life_contexts, recall};
pub use append::{entries, flush, log_one, store_alone};
pub use build::build;
pub use import::import;
pub use life::furnish;
pub use process::{ProcessMetrics, fresh, fresh_here, hooks, one_shot};
pub use sizes::sizes;
pub use start::start;

/// The seed of the conversations.
pub(crate) const SEED: u64 = 20_260_301;

/// What the turns of a corpus are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CorpusKind {
    /// Small talk of two people.
    Chat,
    /// A life: people, places and wishes among the small talk.
    Life,
}

/// One space on disk with its corpus.
#[derive(Clone, Debug)]
pub struct CorpusSpace {
    folder: PathBuf,
    size: usize,
    told: CorpusKind,
    /// Calls that are measured for each quantile.
    pub samples: usize,
}

impl CorpusSpace {
    /// Writes a corpus of this many turns into a folder.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn make(folder: &Path, size: usize, samples: usize) -> Result<Self> {
        let told = CorpusKind::Chat;
        Self { folder: Self::folder_of(folder, told, size), size, told, samples }.written()
    }

    /// Writes a corpus of this many turns that gives every layer something to hold.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn life(folder: &Path, size: usize, samples: usize) -> Result<Self> {
        let told = CorpusKind::Life;
        Self { folder: Self::folder_of(folder, told, size), size, told, samples }.written()
    }

    fn written(self) -> Result<Self> {
        std::fs::create_dir_all(&self.folder)?;
        let mut out = BufWriter::new(File::create(self.corpus())?);
        match self.told {
            CorpusKind::Chat => chat::write_corpus(SEED, self.size, &mut out)?,
            CorpusKind::Life => life::write_life(self.size, &mut out)?,
        }
        out.flush()?;
        Ok(self)
    }

    /// Reuses the result of an earlier run in a folder.
    ///
    /// # Errors
    /// A folder without the space.
    pub fn left(folder: &Path, size: usize, samples: usize) -> Result<Self> {
        Self {
            folder: Self::folder_of(folder, CorpusKind::Chat, size),
            size,
            told: CorpusKind::Chat,
            samples,
        }
        .found()
    }

    /// Takes the life that an earlier run has left in a folder.
    ///
    /// # Errors
    /// A folder without the space.
    pub fn life_left(folder: &Path, size: usize, samples: usize) -> Result<Self> {
        Self {
            folder: Self::folder_of(folder, CorpusKind::Life, size),
            size,
            told: CorpusKind::Life,
            samples,
        }
        .found()
    }

    fn found(self) -> Result<Self> {
        ensure!(self.space().exists(), "there is no space at {}", self.space().display());
        Ok(self)
    }

    fn folder_of(folder: &Path, told: CorpusKind, size: usize) -> PathBuf {
        let kind = match told {
            CorpusKind::Chat => "events",
            CorpusKind::Life => "life",
        };
        folder.join(format!("{kind}-{size}"))
    }

    /// Returns the number of turns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the file of the space.
    pub fn space(&self) -> PathBuf {
        self.folder.join("space.db")
    }

    pub(crate) fn corpus(&self) -> PathBuf {
        self.folder.join("corpus.jsonl")
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn questions(&self) -> Vec<String> {
        match self.told {
            CorpusKind::Chat => chat::questions(SEED, self.size, self.samples),
            CorpusKind::Life => life::questions(self.size, self.samples),
        }
    }

    /// Opens the space as a host would.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn open(&self) -> Result<Memory> {
        open(&self.space()).await
    }
}

/// Most time for a part of an answer, in milliseconds: where other work keeps the machine from answering in time, the answer
/// comes later, because one that lacks a part costs nothing worth measuring.
const PATIENCE: u64 = 60_000;

/// Opens a space as a host would, but for its patience.
pub(crate) async fn open(space: &Path) -> Result<Memory> {
    let engine = builder().open(space).await?;
    Ok(engine.memory(Scope::whole(SpaceId::new("space")?)))
}

/// An engine as a host would build it, but for its patience.
fn builder() -> Builder {
    let mut settings = Settings::default();
    settings.recall.part_deadline_ms = PATIENCE;
    Engine::builder().with_settings(settings)
}

/// Measures everything that one process can measure of itself: import, writes and reads.
///
/// # Errors
/// Any call that fails; a measurement of failures would be none.
pub async fn in_process(bed: &CorpusSpace) -> Result<Vec<Figure>> {
    let mut figures = import(bed).await?;
    figures.extend(reads(bed).await?);
    let memory = bed.open().await?;
    figures.extend(log_one(bed, &memory).await?);
    figures.push(flush(bed)?);
    Ok(figures)
}

/// Makes a space in which every layer holds something, and measures what contexts of it cost.
///
/// # Errors
/// As [`in_process`].
pub async fn whole_life(bed: &CorpusSpace) -> Result<Vec<Figure>> {
    let mut figures = import(bed).await?;
    let memory = bed.open().await?;
    figures.extend(furnish(bed, &memory).await?);
    memory.admin().engine().close().await?;
    figures.extend(life_reads(bed).await?);
    Ok(figures)
}

/// Measures what contexts cost in a space that [`whole_life`] made.
///
/// # Errors
/// As [`in_process`].
pub async fn life_reads(bed: &CorpusSpace) -> Result<Vec<Figure>> {
    let memory = bed.open().await?;
    memory.admin().engine().load().await?;
    let mut figures = recall(bed, &memory).await?;
    figures.extend(life_contexts(bed, &memory).await?);
    Ok(figures)
}

/// Measures what asking costs.
///
/// # Errors
/// As [`in_process`].
pub async fn reads(bed: &CorpusSpace) -> Result<Vec<Figure>> {
    let memory = bed.open().await?;
    memory.admin().engine().load().await?;
    let mut figures = recall(bed, &memory).await?;
    figures.extend(context(bed, &memory).await?);
    Ok(figures)
}
