//! The space to damage: some hundred events of every kind, with a write-ahead log that holds the last commits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use mnemal::events::{Cursor, Selector};
use mnemal::{Engine, EventFilter, EventId, Memory, Message, NoteKey, Scope, SessionId, SpaceId, Speaker};
use mnemal_store::{ByteRange, Salvage};
use mnemal_testkit::{ManualClock, SeededIds};

use super::reading::digest;
use crate::words::Dice;

/// Events before the last close. Source: own choice; the file then has about 200 pages.
const OLD: usize = 260;
/// Events that only the write-ahead log holds. Source: own choice; for each of them a process tells what a whole space answers.
const NEW: usize = 16;
/// Bytes before the first frame of a write-ahead log, and of a frame. Source: SQLite's file format.
const LOG: (usize, usize) = (32, 24 + 4_096);

/// The files of the space, with its true contents.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) file: Vec<u8>,
    pub(super) log: Vec<u8>,
    pub(super) shared: Vec<u8>,
    pub(super) key: Vec<u8>,
    /// A write-ahead log of the same file that was emptied long ago.
    pub(super) old_log: Vec<u8>,
    /// The write-ahead log of another space.
    pub(super) foreign_log: Vec<u8>,
    /// All events, by position.
    pub(super) ids: Vec<String>,
    /// The contents of each event.
    pub(super) truth: BTreeMap<String, String>,
    /// The bytes of each event.
    pub(super) stretches: BTreeMap<String, Vec<ByteRange>>,
}

impl Sample {
    pub(super) fn make(folder: &Path) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(make(folder))
    }

    /// Returns the write-ahead log as it was after each commit: first none, last all.
    pub(super) fn earlier_logs(&self) -> Vec<Vec<u8>> {
        let mut logs = vec![Vec::new()];
        let mut end = LOG.0;
        while let Some(frame) = self.log.get(end..end + LOG.1) {
            end += LOG.1;
            if frame.get(4..8).is_some_and(|pages| pages != [0; 4]) {
                logs.extend(self.log.get(..end).map(<[u8]>::to_vec));
            }
        }
        logs
    }

    /// Writes the files of a space into a new folder.
    pub(super) fn write(&self, place: &Path, file: &[u8], log: &[u8]) -> Result<()> {
        std::fs::create_dir_all(place)?;
        std::fs::write(place.join("space.db"), file)?;
        if !log.is_empty() {
            std::fs::write(place.join("space.db-wal"), log)?;
        }
        std::fs::write(place.join("installation.key"), &self.key)?;
        Ok(())
    }
}

async fn make(folder: &Path) -> Result<Sample> {
    let clock = Arc::new(ManualClock::default());
    let base = folder.join("base/space.db");
    let old = open(&base, &clock, 1).await?;
    talk(&old, &clock, 0..OLD).await?;
    let old_log = std::fs::read(beside(&base, "-wal"))?;
    forget(&old).await?;
    old.admin().engine().close().await?;
    let memory = open(&base, &clock, 2).await?;
    talk(&memory, &clock, OLD..OLD + NEW).await?;
    let foreign = folder.join("foreign/space.db");
    let other = open(&foreign, &clock, 3).await?;
    talk(&other, &clock, 0..30).await?;
    let mut sample = Sample {
        file: std::fs::read(&base)?,
        log: std::fs::read(beside(&base, "-wal"))?,
        shared: std::fs::read(beside(&foreign, "-shm"))?,
        key: std::fs::read(base.with_file_name("installation.key"))?,
        old_log,
        foreign_log: std::fs::read(beside(&foreign, "-wal"))?,
        ids: Vec::new(),
        truth: BTreeMap::new(),
        stretches: BTreeMap::new(),
    };
    let mut after = Cursor::START;
    loop {
        let limit = std::num::NonZeroUsize::new(100).context("100 is not zero")?;
        let page = memory.events().scan(&EventFilter::all(), after, limit).await?;
        let Some(last) = page.last() else { break };
        after = Cursor(Some(last.seq));
        sample.ids.extend(page.iter().map(|event| event.id.to_string()));
        sample.truth.extend(page.iter().map(|event| (event.id.to_string(), digest(event))));
    }
    let place = folder.join("stretches");
    sample.write(&place, &sample.file, &sample.log)?;
    let stretches = Salvage::of(&place.join("space.db"))?;
    sample.stretches = stretches.stretches().map(|(id, all)| (id.to_string(), all)).collect();
    drop(memory.admin().engine().close().await);
    drop(other.admin().engine().close().await);
    Ok(sample)
}

fn beside(file: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}{end}", file.display()))
}

async fn open(file: &Path, clock: &Arc<ManualClock>, seed: u64) -> Result<Memory> {
    let builder = Engine::builder()
        .with_clock(Arc::<ManualClock>::clone(clock))
        .with_ids(Arc::new(SeededIds::new(seed)));
    Ok(builder.open(file).await?.memory(Scope::whole(SpaceId::new("sample")?)))
}

async fn talk(memory: &Memory, clock: &ManualClock, numbers: std::ops::Range<usize>) -> Result<()> {
    let mut dice = Dice::new(numbers.start as u64 + 7);
    let mut next = numbers.start;
    while next < numbers.end {
        let batch: Vec<Message> = (next..(next + 1 + dice.below(6)).min(numbers.end))
            .map(|number| message(number, &mut dice))
            .collect::<Result<_>>()?;
        next += batch.len();
        clock.advance(Duration::from_mins(1));
        drop(memory.events().log_all(batch).await?);
        if dice.below(5) == 0 {
            let note = memory.remember(format!("Note {next}: the {} is kept in drawer {next}.", thing(next)));
            drop(note.key(NoteKey::new(format!("drawer_{}", next % 9))?).await?);
        }
        if dice.below(20) == 0 {
            let context =
                memory.context(format!("where is the {}?", thing(next))).session(SessionId::new("asker")?);
            drop(context.await?);
        }
    }
    Ok(())
}

fn thing(number: usize) -> &'static str {
    ["anchor", "barometer", "compass", "dinghy", "engine", "fender", "gangway", "hawser"]
        .get(number % 8)
        .copied()
        .unwrap_or_default()
}

fn message(number: usize, dice: &mut Dice) -> Result<Message> {
    // Some texts are longer than a page.
    let words = if dice.below(15) == 0 { 900 } else { 4 + dice.below(60) };
    let mut text = format!("Turn {number} is about the {}.", thing(number));
    for _ in 0..words {
        text.push(' ');
        text.push_str(
            dice.one_of(&["harbour", "rope", "tide", "lamp", "mast", "salt", "gull", "chart", "oar"]),
        );
    }
    let message = match number % 7 {
        0..=3 => Message::user(text).speaker(Speaker::new("Ada")?),
        4 | 5 => Message::assistant(text),
        _ => Message::document(text),
    };
    let message =
        if number.is_multiple_of(11) { message.idempotency_key(format!("turn-{number}")) } else { message };
    Ok(message.session(SessionId::new(format!("watch:{}", number % 5))?))
}

async fn forget(memory: &Memory) -> Result<()> {
    let limit = std::num::NonZeroUsize::new(200).context("200 is not zero")?;
    let events = memory.events().scan(&EventFilter::live(), Cursor::START, limit).await?;
    let gone: Vec<EventId> = events.iter().step_by(31).map(|event| event.id).collect();
    memory.forget(Selector::Events(gone)).await?;
    Ok(())
}
