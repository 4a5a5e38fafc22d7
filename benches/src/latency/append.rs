//! Write latency: single durable events next to the flush that they need, and the store alone in large batches.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::Arc;

use anyhow::Result;
use mnemal::events::LogEntry;
use mnemal::ports::{EventStore as _, Indexer as _};
use mnemal::types::Slot;
use mnemal::{Memory, Message, NewEvent, Origin};
use mnemal_core::{ChannelId, EventId, EventKind, Metadata, SessionId, Speaker, Zone};
use mnemal_providers::StaticEmbedder;
use mnemal_recall::EventIndexer;
use mnemal_store::SqliteStore;
use mnemal_text::Language;

use super::{CorpusSpace, SEED};
use crate::chat::{Chat, Turn};
use crate::cpu::{Watch, quantile};
use crate::figure::{Figure, TargetBound};
use crate::spaces::is_logged;

/// Bytes of the write that is flushed for comparison: one page of the database.
const PAGE: [u8; 4_096] = [7; 4_096];
/// Entries of one batch.
const BATCH: usize = 1_000;
/// Batches that are appended.
const BATCHES: usize = 20;
/// Events a second of CPU time.
const ASKED_APPEND: f64 = 50_000.0;

/// Logs one event after the other; each is durable when the call returns.
///
/// # Errors
/// A call that fails or lacks something.
pub async fn log_one(bed: &CorpusSpace, memory: &Memory) -> Result<Vec<Figure>> {
    let (mut cpu, mut wall) = (Vec::new(), Vec::new());
    for turn in Chat::new(!SEED).take(bed.samples) {
        let message =
            Message::user(turn.text).speaker(Speaker::new(turn.speaker)?).session(SessionId::new("live")?);
        let watch = Watch::start()?;
        let ack = memory.log(message).await?;
        let cost = watch.stop()?;
        is_logged(&ack)?;
        cpu.push(cost.cpu);
        wall.push(cost.wall);
    }
    Ok(vec![
        Figure::time("log of one durable event, CPU p50", bed.size(), quantile(&cpu, 0.5)),
        Figure::time("log of one durable event, CPU p99", bed.size(), quantile(&cpu, 0.99)),
        Figure::time("log of one durable event, wall p50", bed.size(), quantile(&wall, 0.5)),
    ])
}

/// Appends 4 KiB to a file and flushes it, again and again: what this disk takes for one durable write.
///
/// # Errors
/// A file that cannot be written.
pub fn flush(bed: &CorpusSpace) -> Result<Figure> {
    let path = bed.folder().join("flush.bin");
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let mut wall = Vec::new();
    for _ in 0..bed.samples {
        let watch = Watch::start()?;
        file.write_all(&PAGE)?;
        file.sync_data()?;
        wall.push(watch.stop()?.wall);
    }
    Ok(Figure::time("one flush of 4 KiB, wall p50", bed.size(), quantile(&wall, 0.5)))
}

/// Appends entries that are ready, with terms and vectors, in batches of 1,000 to a new file: the store alone.
///
/// # Errors
/// A batch that is refused.
pub async fn store_alone(bed: &CorpusSpace) -> Result<Figure> {
    let store = SqliteStore::open(bed.folder().join("alone.db")).await?;
    let mut turns = Chat::new(SEED);
    let mut batches = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        batches.push(entries(&mut turns, BATCH).await?);
    }
    let watch = Watch::start()?;
    for batch in &batches {
        store.append(batch).await?;
    }
    let cost = watch.stop()?;
    store.close().await?;
    let rate = (BATCH * BATCHES) as f64 / cost.cpu.as_secs_f64();
    let figure =
        Figure::new("append of ready entries, events a CPU-second", BATCH * BATCHES, rate, "events/s");
    Ok(figure.asked_if(TargetBound::AtLeast(ASKED_APPEND), |_| true))
}

/// Makes entries as the log's pipeline would, with terms and vectors.
///
/// # Errors
/// None for these turns.
pub async fn entries(turns: &mut Chat, count: usize) -> mnemal::Result<Vec<LogEntry>> {
    let turns: Vec<Turn> = turns.take(count).collect();
    let events = turns.iter().map(event).collect::<mnemal::Result<Vec<_>>>()?;
    let embedder = Arc::new(StaticEmbedder::built_in()) as Arc<dyn mnemal::ports::Embedder>;
    let indexer = EventIndexer::new(Language::English, Slot::Filled(embedder));
    let index = indexer.index(&events).await?;
    let entry = |((turn, event), index): ((&Turn, NewEvent), _)| LogEntry {
        id: EventId(turn.number as u128 + 1),
        recorded_at: turn.at,
        event,
        index: Some(index),
        quarantined: None,
        echo: Vec::new(),
        body_hash: [0; 32],
    };
    Ok(turns.iter().zip(events).zip(index).map(entry).collect())
}

fn event(turn: &Turn) -> mnemal::Result<NewEvent> {
    Ok(NewEvent {
        kind: EventKind::UserMessage,
        content: turn.text.clone(),
        session: SessionId::new(format!("s{}", turn.session))?,
        channel: ChannelId::new("bench")?,
        parent: None,
        speaker: Some(Speaker::new(turn.speaker)?),
        user: None,
        agent: None,
        occurred_at: turn.at,
        zone: Zone::utc(),
        origin: Origin::UserConfirmed,
        idempotency_key: None,
        metadata: Metadata::new(),
    })
}
