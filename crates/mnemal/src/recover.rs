//! Saves what is left of a damaged file into a new one, made as every other file is: through the log's front door.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mnemal_core::{Error, ErrorKind, Event, EventId, Gap, Gaps, Result, Seq, Tombstone};
use mnemal_events::{Exact, ExactRecord};
use mnemal_store::{Salvage, SqliteStore};

use crate::backup::{aside, beside, clear, refuse_held};
use crate::builder::Builder;
use crate::engine::Engine;

/// Events that are stored at once. Source: own default, half of the store's largest batch.
const BATCH: usize = 500;

/// What was saved of a damaged file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Events that were saved with their words.
    pub kept: u64,
    /// Erased events that were saved as erased, those among them whose forgetting was not finished.
    pub erased: u64,
    /// Rows that look like events and do not match their checksum; older copies of a row that was saved are counted too.
    pub damaged: u64,
    /// Former positions of which nothing was left; what stood behind the last one saved is not known.
    pub missing: Vec<(Seq, Seq)>,
    /// Events that are whole and were refused nevertheless, with the reason.
    pub refused: Vec<(EventId, String)>,
    /// Tombstones that hold in the new file.
    pub tombstones: u64,
    /// The new file.
    pub file: PathBuf,
    /// Where the damaged file is now; `None` where it was left in its place.
    pub aside: Option<PathBuf>,
    /// Where the installation's key is now that could not be read; a new one was made, which knows what was forgotten before
    /// by its id only and not by its words.
    pub damaged_key: Option<PathBuf>,
    /// What could not be made anew; it comes later.
    pub gaps: Vec<Gap>,
}

impl Builder {
    /// Saves every event whose checksum is right, and every tombstone, into a new file, and makes index and notes anew.
    ///
    /// Ids, times and order stay; positions are given anew, because the log has no holes. A link to a lost event is dropped,
    /// and what contexts once showed (receipts) is not saved. Without `out` the new file takes the damaged one's place,
    /// which stays beside it; nothing is deleted.
    ///
    /// # Errors
    /// `NotFound` without a file; `Conflict` when `out` exists or another process has the space open; `Corrupt` when nothing
    /// can be saved, which changes nothing; `Unavailable` when files cannot be read or written.
    pub async fn recover(self, file: &Path, out: Option<&Path>) -> Result<Recovered> {
        if let Some(taken) = out.filter(|out| out.exists()) {
            return Err(Error::new(ErrorKind::Conflict, format!("{} exists", taken.display())));
        }
        if out.is_none() {
            refuse_held(file)?;
        }
        let salvage = Salvage::of(file)?;
        if salvage.is_empty() && salvage.tombstones().next().is_none() {
            let what = format!("nothing can be saved of {}; it is as it was", file.display());
            return Err(Error::new(ErrorKind::Corrupt, what));
        }
        let (key, damaged_key) = self.key_or_new(file)?;
        let draft = out.map_or_else(|| beside(file, ".recovering"), Path::to_owned);
        clear(&draft)?;
        let now = self.clock().now();
        let engine = self.with_key(key).open(&draft).await?;
        let saved = save(&engine, &salvage).await;
        let closed = engine.close().await;
        let mut saved = match saved.and_then(|saved| closed.map(|()| saved)) {
            Ok(saved) => saved,
            Err(error) => {
                clear(&draft)?;
                return Err(error);
            }
        };
        (saved.damaged, saved.missing) = (salvage.damaged(), salvage.missing());
        saved.damaged_key = damaged_key;
        saved.file = out.unwrap_or(file).to_owned();
        if out.is_none() {
            let aside = aside(file, "damaged", now);
            SqliteStore::alone(&draft).await?;
            SqliteStore::replace(file, &draft, &aside)?;
            saved.aside = Some(aside);
        }
        Ok(saved)
    }
}

impl Builder {
    /// Returns the installation's key; one that cannot be read is put aside, and a new one made.
    fn key_or_new(&self, file: &Path) -> Result<(mnemal_core::InstallationKey, Option<PathBuf>)> {
        match self.installation_key(file) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let key = self.key_path(file);
                let aside = aside(&key, "damaged", self.clock().now());
                std::fs::rename(&key, &aside).map_err(|cause| {
                    Error::new(ErrorKind::Unavailable, format!("cannot move {}", key.display()))
                        .because(cause)
                })?;
                Ok((self.installation_key(file)?, Some(aside)))
            }
            known => Ok((known?, None)),
        }
    }
}

/// Stores what was found, in its order, and reads all of it back.
async fn save(engine: &Engine, salvage: &Salvage) -> Result<Recovered> {
    let mut saved = Recovered::default();
    let mut gaps = Gaps::default();
    let unfinished = salvage.forgotten();
    let stones: std::collections::HashMap<EventId, &Tombstone> =
        salvage.tombstones().map(|stone| (stone.event, stone)).collect();
    let buried: Arc<HashSet<EventId>> = Arc::new(stones.keys().chain(&unfinished).copied().collect());
    let record = |event: Event| {
        let stone = stones.get(&event.id).map(|stone| (*stone).clone());
        record(engine, &event, stone, &unfinished)
    };
    let mut records = salvage.events().filter_map(record).peekable();
    while records.peek().is_some() {
        let batch: Vec<ExactRecord> = records.by_ref().take(BATCH).collect();
        store(engine, batch, &buried, (&mut saved, &mut gaps)).await?;
    }
    let tombstones: Vec<Tombstone> = salvage.tombstones().cloned().collect();
    engine.log()?.adopt(&tombstones).await?;
    saved.tombstones = engine.events()?.tombstones().await?.len() as u64;
    for gap in engine.fold().await {
        gaps.add(gap);
    }
    let found = engine.check().await?;
    if let Some(finding) = found.findings.first() {
        return Err(Error::internal(format!("the new file is not whole: {finding}")));
    }
    saved.kept = saved.kept.saturating_sub(saved.refused.len() as u64);
    saved.gaps = gaps.attach(()).gaps;
    Ok(saved)
}

/// Returns what is to be stored of an event: all of it, or that it is erased.
fn record(
    engine: &Engine,
    event: &Event,
    stone: Option<Tombstone>,
    unfinished: &HashSet<EventId>,
) -> Option<ExactRecord> {
    let (id, role, recorded_at) = (event.id, event.role, event.recorded_at);
    let made =
        || mnemal_events::tombstones_for(std::slice::from_ref(event), &engine.parts().key, engine.now());
    let stone = match stone {
        Some(stone) => Some(stone),
        None if unfinished.contains(&id) => made().into_iter().next(),
        None => None,
    };
    match (stone, event.kept()) {
        (Some(tombstone), _) => Some(ExactRecord::Erased { recorded_at, role, tombstone }),
        (None, Some(kept)) => Some(ExactRecord::Event {
            id,
            recorded_at,
            event: Box::new(kept.clone()),
            quarantined: event.quarantined.clone(),
            echo: event.echo.clone(),
        }),
        (None, None) => None,
    }
}

/// Stores a batch; where it is refused, each record is tried alone.
async fn store(
    engine: &Engine,
    batch: Vec<ExactRecord>,
    buried: &Arc<HashSet<EventId>>,
    (saved, gaps): (&mut Recovered, &mut Gaps),
) -> Result<()> {
    let log = engine.log()?;
    let exact = |records| Exact { records, forgotten: Arc::clone(buried) };
    let mut alone = Vec::new();
    match log.append_entries(exact(batch.clone())).await {
        Ok(answer) => drop(gaps.merge(answer)),
        Err(error) if refuses(&error) => alone.clone_from(&batch),
        Err(error) => return Err(error),
    }
    for record in alone {
        let id = match &record {
            ExactRecord::Event { id, .. } => *id,
            ExactRecord::Erased { tombstone, .. } | ExactRecord::Tombstone(tombstone) => tombstone.event,
        };
        match log.append_entries(exact(vec![record])).await {
            Ok(answer) => drop(gaps.merge(answer)),
            Err(error) if refuses(&error) => saved.refused.push((id, error.what().to_owned())),
            Err(error) => return Err(error),
        }
    }
    let erased = batch.iter().filter(|record| matches!(record, ExactRecord::Erased { .. })).count() as u64;
    saved.erased += erased;
    saved.kept += (batch.len() as u64).saturating_sub(erased);
    Ok(())
}

/// Whether an error is about one record and not about the file.
fn refuses(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Conflict)
}
