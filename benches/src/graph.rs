//! Graph projection and queries: from the log to committed rows, and reads.

mod append;
mod observed;
mod people;
mod reads;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use mnemal::ports::Projector as _;
use mnemal::settings::DurabilityMode;
use mnemal::{Builder, Engine, ImportFormat, Memory, Scope, Settings, SpaceId, Within};
use mnemal_core::GraphStore as _;
use mnemal_extract::RuleExtractor;
use mnemal_graph::GraphProjector;
use mnemal_store::SqliteStore;

use self::observed::{Tally, WatchedParts};
use crate::cpu::{Watch, quantile, resident_bytes};
use crate::figure::{Figure, TargetBound};
use crate::spaces::{is_behind, own_history};

pub use self::append::append_beside;
pub use self::people::write_people;
pub use self::reads::{Reads, reads};

/// Events of a step, as those who step it ask for.
const STEP: NonZeroUsize = NonZeroUsize::new(100).expect("100 is not zero");
/// Most time for a part of an answer, in milliseconds; one that lacks a part costs nothing worth measuring.
const PATIENCE: u64 = 60_000;
/// Bytes of a megabyte.
const MEGABYTE: f64 = 1e6;
/// Turns a second of CPU time, from the log to committed rows.
const ASKED_TURNS: f64 = 3_000.0;
/// The longest write transaction, in milliseconds.
const ASKED_TRANSACTION: f64 = 5.0;

/// A space on disk with a conversation whose graph is not folded yet.
#[derive(Clone, Debug)]
pub struct UnfoldedSpace {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// Turns in it.
    pub turns: usize,
}

impl UnfoldedSpace {
    /// Imports a corpus into a new file, without vectors: the graph reads none.
    ///
    /// # Errors
    /// A corpus that is not read in full.
    pub async fn import(name: &str, corpus: &Path, folder: &Path) -> Result<Self> {
        let mut settings = Settings::default();
        settings.storage.durability = DurabilityMode::Normal;
        let file = folder.join(format!("{name}.db"));
        let engine = Builder::default().with_settings(settings).open(&file).await?;
        let memory = engine.memory(Scope::whole(SpaceId::new("bench")?));
        let lines = std::io::BufReader::new(std::fs::File::open(corpus)?);
        let report = memory
            .events()
            .import(lines, ImportFormat::Neutral, own_history(Within::All), &mut |_| {})
            .await?;
        ensure!(
            report.skipped_total == 0 && report.gaps.iter().all(is_behind),
            "{name} was not imported in full"
        );
        let unread = engine.fold_within(Duration::from_millis(PATIENCE)).await;
        ensure!(unread.is_empty(), "the notes of {name} did not catch up: {unread:?}");
        let turns = usize::try_from(report.taken.stored)?;
        engine.close().await?;
        Ok(Self { name: name.to_owned(), file, turns })
    }

    /// Opens it as a host would.
    ///
    /// # Errors
    /// Those of the engine.
    pub async fn open(&self) -> Result<Memory> {
        let mut settings = Settings::default();
        // Where other work keeps the machine from answering in time, the answer comes later.
        settings.recall.part_deadline_ms = PATIENCE;
        let engine = Engine::builder().with_settings(settings).open(&self.file).await?;
        Ok(engine.memory(Scope::whole(SpaceId::new("bench")?)))
    }
}

/// Folds the graph of a space from its start, in steps: once as a whole, and once with its parts measured.
///
/// # Errors
/// A step that fails.
pub async fn fold(told: &UnfoldedSpace) -> Result<Vec<Figure>> {
    let store = Arc::new(SqliteStore::open(&told.file).await?);
    let plain = GraphProjector::new(store.clone(), store.clone(), Arc::new(RuleExtractor::new()));
    let all = folded(&plain).await?;
    let observed = Arc::new(WatchedParts::new(Arc::clone(&store)));
    let projector = GraphProjector::new(store.clone(), observed.clone(), observed.clone());
    let watched = folded(&projector).await?;
    let tally = observed.take();
    store.close().await?;
    Ok(figures(told, (all, watched), &tally))
}

/// Folds from the begin; returns the CPU time.
async fn folded(projector: &GraphProjector) -> Result<Duration> {
    projector.reset().await?;
    let watch = Watch::start()?;
    while projector.step(STEP).await?.behind > 0 {}
    Ok(watch.stop()?.cpu)
}

/// Rebuilds the rows of a graph, as after a forget, and returns the cost.
///
/// # Errors
/// A step that fails, or rows that come out otherwise.
pub async fn renewal(told: &UnfoldedSpace) -> Result<Vec<Figure>> {
    let store = Arc::new(SqliteStore::open(&told.file).await?);
    let observed = Arc::new(WatchedParts::new(Arc::clone(&store)));
    let projector = GraphProjector::new(store.clone(), observed.clone(), observed.clone());
    projector.doubt().await?;
    let (mut steps, mut resident) = (Vec::new(), 0);
    loop {
        let watch = Watch::start()?;
        let behind = projector.renew(STEP).await?.behind;
        steps.push(watch.stop()?.cpu);
        resident = resident.max(resident_bytes()?);
        if behind == 0 {
            break;
        }
    }
    let difference = store.edition().await?.difference.unwrap_or_default();
    ensure!(difference.rows == 0, "rows made anew are not the same: {difference:?}");
    let writes = observed.take().writes;
    store.close().await?;
    let figure =
        |what: &str, value, unit| Figure::new(format!("{}: {what}", told.name), told.turns, value, unit);
    let ms = |of: Duration| of.as_secs_f64() * 1_000.0;
    Ok(vec![
        figure("renewal, CPU", steps.iter().sum::<Duration>().as_secs_f64(), "s"),
        figure("renewal, memory of the whole process", resident as f64 / MEGABYTE, "MB"),
        figure("renewal, step CPU p99", ms(quantile(&steps, 0.99)), "ms"),
        figure("renewal, step CPU longest", ms(quantile(&steps, 1.0)), "ms"),
        figure("renewal, write transaction CPU longest", ms(quantile(&writes, 1.0)), "ms")
            .asked_if(TargetBound::AtMost(ASKED_TRANSACTION), |_| true),
    ])
}

fn figures(told: &UnfoldedSpace, (all, watched): (Duration, Duration), tally: &Tally) -> Vec<Figure> {
    let UnfoldedSpace { name, turns, .. } = told;
    let figure = |what: &str, value, unit| Figure::new(format!("{name}: {what}"), *turns, value, unit);
    let share = |part: Duration| part.as_secs_f64() / watched.as_secs_f64();
    let write = tally.writes.iter().sum::<Duration>();
    let rest = watched.saturating_sub(tally.reading + write + tally.loading);
    let longest = |share| quantile(&tally.writes, share).as_secs_f64() * 1_000.0;
    vec![
        figure("turns a CPU second", *turns as f64 / all.as_secs_f64(), "turns/s")
            .asked_if(TargetBound::AtLeast(ASKED_TURNS), |_| true),
        figure(
            "turns a CPU second, extraction alone",
            *turns as f64 / tally.reading.as_secs_f64(),
            "turns/s",
        ),
        figure("of it extraction", share(tally.reading), "share"),
        figure("of it fold and reading the log", share(rest), "share"),
        figure("of it looking up rows", share(tally.loading), "share"),
        figure("of it writing rows", share(write), "share"),
        figure("facts", tally.facts as f64, "rows"),
        figure("transactions", tally.writes.len() as f64, "transactions"),
        figure("write transaction, most rows", tally.most_rows as f64, "rows"),
        figure("write transaction, CPU p50", longest(0.5), "ms"),
        figure("write transaction, CPU p99", longest(0.99), "ms"),
        figure("write transaction, CPU longest", longest(1.0), "ms")
            .asked_if(TargetBound::AtMost(ASKED_TRANSACTION), |_| true),
    ]
}
