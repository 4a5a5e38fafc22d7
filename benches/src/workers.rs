//! Foreground latency under background work at full speed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use async_trait::async_trait;
use mnemal::admin::RebuildMode;
use mnemal::dream::DreamMode;
use mnemal::settings::RetentionSettings;
use mnemal::types::{Layer, OwnerId};
use mnemal::{Builder, Engine, Memory, Message, Scope, SessionId, Settings, SpaceId};
use mnemal_core::{BackgroundEmbedder, BackgroundPermit, ModelId};
use mnemal_store::{CpuClock, SqliteStore, WriteTimes};

use crate::cpu::{NamedThread, Watch, quantile, thread_cpu};
use crate::figure::{Figure, TargetBound};
use crate::spaces::{is_behind, is_logged};

/// Appends and questions of one round, in each state.
const ROUND: usize = 20;
/// Highest allowed increase of either median. Source: the target of the product.
const ASKED_RATIO: f64 = 1.5;
/// Layers that are rebuilt again and again.
const LAYERS: [Layer; 3] = [Layer::Graph, Layer::Learnings, Layer::Summaries];

/// Share of the turns that upkeep forgets, because there are more than are kept: one in so many.
const FORGOTTEN: usize = 40;

/// A model of vectors that answers at once, so that upkeep has vectors to store.
#[derive(Debug)]
struct Remote(ModelId);

#[async_trait]
impl BackgroundEmbedder for Remote {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn embed(&self, _permit: &mut BackgroundPermit, texts: &[&str]) -> mnemal::Result<Vec<Vec<f32>>> {
        let vector = |text: &&str| {
            let hash = blake3::hash(text.as_bytes());
            hash.as_bytes().iter().map(|byte| f32::from(*byte) - 127.5).cycle().take(256).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// The CPU time of what writes. Only one store may be open.
#[derive(Debug)]
struct WriterClock(NamedThread);

impl WriterClock {
    /// Finds the thread of a store that has written.
    fn find() -> Result<Self> {
        let [writer]: [NamedThread; 1] = NamedThread::all("mnemal-writer")?
            .try_into()
            .map_err(|writers: Vec<_>| anyhow!("{} connections write", writers.len()))?;
        Ok(Self(writer))
    }
}

impl CpuClock for WriterClock {
    fn own(&self) -> Duration {
        thread_cpu().unwrap_or_default()
    }

    fn writer(&self) -> Duration {
        self.0.cpu().unwrap_or_default()
    }
}

/// Times of one state.
#[derive(Debug, Default)]
struct Times {
    append: Vec<Duration>,
    recall: Vec<Duration>,
}

/// Appends and asks in turns without background work, and while the same engine rebuilds the graph, the notes and the summaries
/// from the log, runs consolidation cycles, and maintenance with vectors and retention, each at full speed. Returns for every
/// kind of write transaction its longest duration, in wall time, which includes waits for the disk and for busy processors, and
/// in CPU time.
///
/// # Errors
/// A call that fails, or work that did nothing.
pub async fn workers_beside(file: &Path, turns: usize, rounds: usize) -> Result<Vec<Figure>> {
    let store = SqliteStore::open(file).await?;
    let retention = RetentionSettings {
        enabled: true,
        max_events: (turns - turns / FORGOTTEN) as u64,
        ..RetentionSettings::default()
    };
    let engine = Builder::default()
        .with_settings(Settings { retention, ..Settings::default() })
        .with_background_embedder(Arc::new(Remote(ModelId::new("bench")?)))
        .with_stores(store.clone())
        .build()?;
    let memory = engine.memory(Scope::whole(SpaceId::new("bench")?));
    fill(&memory, turns).await?;
    let (mut idle, mut beside, mut works) = (Times::default(), Times::default(), [0; 4]);
    talk(&memory, &mut Times::default()).await?;
    let writing = Arc::new(WriterClock::find()?);
    store.watch_writes(Arc::clone(&writing) as Arc<dyn CpuClock>);
    let _filled = store.write_times();
    for _ in 0..rounds {
        talk(&memory, &mut idle).await?;
        let is_over = Arc::new(AtomicBool::new(false));
        let running = [0, 1, 2, 3].map(|which| {
            #[expect(
                clippy::disallowed_methods,
                reason = "the workers run beside the calls and are joined here"
            )]
            tokio::spawn(work(engine.clone(), which, Arc::clone(&is_over)))
        });
        let talked = talk(&memory, &mut beside).await;
        is_over.store(true, Ordering::Relaxed);
        for (done, running) in works.iter_mut().zip(running) {
            *done += running.await??;
        }
        talked?;
    }
    ensure!(works.iter().all(|done| *done > 0), "a worker did nothing: {works:?}");
    let written = store.write_times();
    // A reopened connection would have been counted as nothing.
    let _writer = writing.0.cpu()?;
    engine.close().await?;
    store.close().await?;
    let mut figures = Vec::new();
    for (name, idle, beside) in
        [("append", &idle.append, &beside.append), ("recall", &idle.recall, &beside.recall)]
    {
        let (alone, busy) = (quantile(idle, 0.5), quantile(beside, 0.5));
        let ratio = busy.as_secs_f64() / alone.as_secs_f64();
        figures.extend([
            Figure::time(format!("{name}, wall p50"), turns, alone),
            Figure::time(format!("{name} beside all workers, wall p50"), turns, busy),
            Figure::time(format!("{name} beside all workers, wall longest"), turns, quantile(beside, 1.0)),
            Figure::new(format!("{name} beside all workers, ratio of medians"), turns, ratio, "ratio")
                .asked_if(TargetBound::AtMost(ASKED_RATIO), |_| true),
        ]);
    }
    for WriteTimes { kind, count, total, longest, long, longest_cpu } in written {
        let mean = total / u32::try_from(count).unwrap_or(u32::MAX);
        figures.extend([
            Figure::time(format!("{kind}, write transaction, wall mean"), turns, mean),
            Figure::time(format!("{kind}, write transaction, CPU longest"), turns, longest_cpu)
                .asked_if(TargetBound::AtMost(WriteTimes::ASKED.as_secs_f64() * 1_000.0), |_| true),
            Figure::time(format!("{kind}, write transaction, wall longest"), turns, longest),
            Figure::new(format!("{kind}, write transactions, wall above 5 ms"), turns, long as f64, "count"),
            Figure::new(format!("{kind}, write transactions"), turns, count as f64, "count"),
        ]);
    }
    let done: u64 = works.iter().sum();
    figures.push(Figure::new("folds of the whole log and cycles meanwhile", turns, done as f64, "runs"));
    Ok(figures)
}

async fn fill(memory: &Memory, turns: usize) -> Result<()> {
    let said = (0..turns).map(|number| {
        let text = match number % 4 {
            0 => format!("I moved box {number} to Genoa on Monday, Ada helped."),
            1 => format!("From now on, always check crate {number} before noon."),
            2 => format!("Ben lives in Porto and repairs machine {number}."),
            _ => format!("My order number {number} is paid."),
        };
        SessionId::new(format!("past-{}", number / 50)).map(|session| Message::user(text).session(session))
    });
    let said: Vec<Message> = said.collect::<mnemal::Result<_>>()?;
    for batch in said.chunks(500) {
        ensure!(
            memory.events().log_all(batch.to_vec()).await?.gaps.iter().all(is_behind),
            "turns were not logged in full"
        );
    }
    for number in 0..turns / 100 {
        let session = SessionId::new(format!("past-{number}"))?;
        let note = memory.remember(format!("Shelf {number} of the depot holds the boxes of Genoa."));
        let _note = note.message(|message| message.session(session)).await?;
    }
    Ok(())
}

async fn talk(memory: &Memory, times: &mut Times) -> Result<()> {
    for number in 0..ROUND {
        let said = Message::user(format!("I bought {number} apples and a melon"));
        let watch = Watch::start()?;
        let ack = memory.log(said.session(SessionId::new("live")?)).await?;
        times.append.push(watch.stop()?.wall);
        is_logged(&ack)?;
        let watch = Watch::start()?;
        let found = memory.recall(format!("Who repairs machine {}?", 4 * number + 2)).await?;
        times.recall.push(watch.stop()?.wall);
        ensure!(!found.hits.is_empty(), "nothing was found");
    }
    Ok(())
}

/// Repeats one kind of background work until it is stopped; returns how often.
async fn work(engine: Engine, which: usize, is_over: Arc<AtomicBool>) -> Result<u64> {
    let (owner, mut done) = (OwnerId::new("bench")?, 0);
    while !is_over.load(Ordering::Relaxed) || done == 0 {
        if let Some(layer) = LAYERS.get(which) {
            drop(engine.rebuild(*layer, RebuildMode::Anew).await?);
        } else {
            // One after the other, because both have the same lease.
            let _cycle = engine.dream(&owner, DreamMode::Asked).await?;
            let _tended = engine.maintain(&owner).await?;
        }
        done += 1;
    }
    Ok(done)
}
