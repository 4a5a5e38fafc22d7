//! Recovery of a damaged file: everything intact is appended to a new file through the log's ordinary pipeline.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mnemal_core::{Error, ErrorKind, Event, EventId, Gap, Gaps, Result, Seq, Tombstone};
use mnemal_events::{RestoreBatch, RestoreRecord};
use mnemal_store::{Salvage, SqliteStore};

use crate::backup::{aside, beside, clear, refuse_held};
use crate::builder::Builder;
use crate::engine::Engine;

/// Events of a batch. Source: own default, half of the store's largest batch.
const BATCH: usize = 500;

/// The result of a recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Number of events recovered with their bodies.
    pub kept: u64,
    /// Number of erased events recovered as erased, including those whose forget was unfinished.
    pub erased: u64,
    /// Number of event-like rows with a wrong checksum; older copies of a recovered row count too.
    pub damaged: u64,
    /// Former positions that are lost; what came after the last recovered one is unknown.
    pub missing: Vec<(Seq, Seq)>,
    /// Intact events that were rejected, with the reason.
    pub refused: Vec<(EventId, String)>,
    /// Tombstones in the new file.
    pub tombstones: u64,
    /// The new file.
    pub file: PathBuf,
    /// The damaged file's new path; `None` if it was left in place.
    pub aside: Option<PathBuf>,
    /// The new path of an unreadable installation key; it was replaced by a new key, which knows earlier forgets by id only, not
    /// by content.
    pub damaged_key: Option<PathBuf>,
    /// Layers that could not be rebuilt; upkeep rebuilds them later.
    pub gaps: Vec<Gap>,
}

impl Builder {
    /// Recovers every event with a correct checksum, and every tombstone, into a new file, and rebuilds index and notes.
    ///
    /// Ids, times and order are kept; positions are new, because the log has no holes. A link to a lost event is dropped, and
    /// receipts are not recovered. Without `out` the new file takes the damaged file's path, which is renamed; nothing is
    /// deleted.
    ///
    /// # Errors
    /// `NotFound` without a file; `Conflict` when `out` exists or another process has the space open; `Corrupt` when nothing can
    /// be recovered, which changes nothing; `Unavailable` when files cannot be read or written.
    pub async fn recover(self, file: &Path, out: Option<&Path>) -> Result<RecoveryReport> {
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
    /// Returns the installation's key; an unreadable one is renamed, and a new one created.
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

/// Stores the recovered records in order, and reads all of them back.
async fn save(engine: &Engine, salvage: &Salvage) -> Result<RecoveryReport> {
    let mut saved = RecoveryReport::default();
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
        let batch: Vec<RestoreRecord> = records.by_ref().take(BATCH).collect();
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

/// Returns the record to store for an event: its content, or its erasure.
fn record(
    engine: &Engine,
    event: &Event,
    stone: Option<Tombstone>,
    unfinished: &HashSet<EventId>,
) -> Option<RestoreRecord> {
    let (id, role, recorded_at) = (event.id, event.role, event.recorded_at);
    let made =
        || mnemal_events::tombstones_for(std::slice::from_ref(event), &engine.parts().key, engine.now());
    let stone = match stone {
        Some(stone) => Some(stone),
        None if unfinished.contains(&id) => made().into_iter().next(),
        None => None,
    };
    match (stone, event.body()) {
        (Some(tombstone), _) => Some(RestoreRecord::Erased { recorded_at, role, tombstone }),
        (None, Some(kept)) => Some(RestoreRecord::Event {
            id,
            recorded_at,
            event: Box::new(kept.clone()),
            quarantined: event.quarantined.clone(),
            echo: event.echo.clone(),
        }),
        (None, None) => None,
    }
}

/// Stores a batch; if it is rejected, tries each record alone.
async fn store(
    engine: &Engine,
    batch: Vec<RestoreRecord>,
    buried: &Arc<HashSet<EventId>>,
    (saved, gaps): (&mut RecoveryReport, &mut Gaps),
) -> Result<()> {
    let log = engine.log()?;
    let exact = |records| RestoreBatch { records, forgotten: Arc::clone(buried) };
    let mut alone = Vec::new();
    match log.append_entries(exact(batch.clone())).await {
        Ok(answer) => drop(gaps.merge(answer)),
        Err(error) if refuses(&error) => alone.clone_from(&batch),
        Err(error) => return Err(error),
    }
    for record in alone {
        let id = match &record {
            RestoreRecord::Event { id, .. } => *id,
            RestoreRecord::Erased { tombstone, .. } | RestoreRecord::Tombstone(tombstone) => tombstone.event,
        };
        match log.append_entries(exact(vec![record])).await {
            Ok(answer) => drop(gaps.merge(answer)),
            Err(error) if refuses(&error) => saved.refused.push((id, error.what().to_owned())),
            Err(error) => return Err(error),
        }
    }
    let erased = batch.iter().filter(|record| matches!(record, RestoreRecord::Erased { .. })).count() as u64;
    saved.erased += erased;
    saved.kept += (batch.len() as u64).saturating_sub(erased);
    Ok(())
}

/// Whether an error concerns one record and not the file.
fn refuses(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Conflict)
}
