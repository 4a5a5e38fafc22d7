//! Indexing cost: analysis, marks and vectors of each event, and the blocks written with the log.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use mnemal::NewEvent;
use mnemal::events::LogEntry;
use mnemal::ports::{EventStore as _, Indexer as _};
use mnemal::types::Slot;
use mnemal_providers::StaticEmbedder;
use mnemal_recall::EventIndexer;
use mnemal_store::SqliteStore;
use mnemal_text::Language;

use super::append::entries;
use super::{CorpusSpace, SEED};
use crate::chat::Chat;
use crate::cpu::Watch;
use crate::figure::{Figure, TargetBound};

/// Events of one batch.
const BATCH: usize = 1_000;
/// Batches.
const BATCHES: usize = 20;
/// Events a second of CPU time.
const ASKED_BUILD: f64 = 15_000.0;

/// Indexes events and appends them twice, with what recall needs and without; the difference is what the blocks cost.
///
/// # Errors
/// A batch that is refused.
pub async fn build(bed: &CorpusSpace) -> Result<Vec<Figure>> {
    let mut turns = Chat::new(SEED);
    let mut batches = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        batches.push(entries(&mut turns, BATCH).await?);
    }
    let analysis = analysed(&batches).await?;
    let with = appended(bed, "with.db", &batches).await?;
    for entry in batches.iter_mut().flatten() {
        entry.index = None;
    }
    let blocks = with.saturating_sub(appended(bed, "without.db", &batches).await?);
    let events = BATCH * BATCHES;
    let each = |name: &str, cost: Duration| {
        Figure::new(name, events, cost.as_secs_f64() * 1e6 / events as f64, "µs/event")
    };
    let rate = events as f64 / (analysis + blocks).as_secs_f64();
    Ok(vec![
        each("index build: terms, marks and vectors, CPU", analysis),
        each("index build: blocks, CPU", blocks),
        Figure::new("index build with vectors, events a CPU-second", events, rate, "events/s")
            .asked_if(TargetBound::AtLeast(ASKED_BUILD), |_| true),
    ])
}

async fn analysed(batches: &[Vec<LogEntry>]) -> Result<Duration> {
    let embedder = Arc::new(StaticEmbedder::built_in()) as Arc<dyn mnemal::ports::Embedder>;
    let indexer = EventIndexer::new(Language::English, Slot::Filled(embedder));
    let mut cost = Duration::ZERO;
    for batch in batches {
        let events: Vec<NewEvent> = batch.iter().map(|entry| entry.event.clone()).collect();
        let watch = Watch::start()?;
        drop(indexer.index(&events).await?);
        cost += watch.stop()?.cpu;
    }
    Ok(cost)
}

async fn appended(bed: &CorpusSpace, name: &str, batches: &[Vec<LogEntry>]) -> Result<Duration> {
    let store = SqliteStore::open(bed.folder().join(name)).await?;
    let watch = Watch::start()?;
    for batch in batches {
        store.append(batch).await?;
    }
    let cost = watch.stop()?;
    store.close().await?;
    Ok(cost.cpu)
}
