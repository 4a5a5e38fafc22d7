//! Appends during projection at full speed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use mnemal::ports::Projector as _;
use mnemal::{Builder, Memory, Message, Scope, SessionId, SpaceId};
use mnemal_extract::RuleExtractor;
use mnemal_graph::GraphProjector;
use mnemal_store::{SqliteStore, Stores};

use super::{STEP, UnfoldedSpace};
use crate::cpu::{Watch, quantile};
use crate::figure::{Figure, TargetBound};
use crate::spaces::is_logged;

/// Appends of one round, in each state.
const ROUND: usize = 40;
/// How much longer the median of an append may be.
const ASKED_RATIO: f64 = 1.5;

/// Appends single durable events, in turns while nothing else is done and while a projector folds the same file in the same
/// process as fast as it can.
///
/// # Errors
/// An append or a step that fails.
pub async fn append_beside(told: &UnfoldedSpace, rounds: usize) -> Result<Vec<Figure>> {
    let store = Arc::new(SqliteStore::open(&told.file).await?);
    let engine = Builder::default().with_stores(Stores::all(Arc::clone(&store))).build()?;
    let memory = engine.memory(Scope::whole(SpaceId::new("bench")?));
    let projector =
        Arc::new(GraphProjector::new(store.clone(), store.clone(), Arc::new(RuleExtractor::new())));
    let (mut idle, mut beside, mut steps) = (Vec::new(), Vec::new(), 0);
    log_some(&memory, &mut Vec::new()).await?;
    projector.reset().await?;
    for _ in 0..rounds {
        log_some(&memory, &mut idle).await?;
        let is_over = Arc::new(AtomicBool::new(false));
        let work = full_speed(Arc::clone(&projector), Arc::clone(&is_over));
        #[expect(
            clippy::disallowed_methods,
            reason = "the projector runs beside the appends and is joined here"
        )]
        let running = tokio::spawn(work);
        let logged = log_some(&memory, &mut beside).await;
        is_over.store(true, Ordering::Relaxed);
        steps += running.await??;
        logged?;
    }
    store.close().await?;
    let (idle, beside) = (quantile(&idle, 0.5), quantile(&beside, 0.5));
    let ratio = beside.as_secs_f64() / idle.as_secs_f64();
    Ok(vec![
        Figure::time("append, wall p50", told.turns, idle),
        Figure::time("append beside the projector, wall p50", told.turns, beside),
        Figure::new("append beside the projector, ratio of medians", told.turns, ratio, "ratio")
            .asked_if(TargetBound::AtMost(ASKED_RATIO), |_| true),
        Figure::new("events folded meanwhile", told.turns, steps as f64, "events"),
    ])
}

async fn log_some(memory: &Memory, wall: &mut Vec<Duration>) -> Result<()> {
    for number in 0..ROUND {
        let said = Message::user(format!("I bought {number} apples and a melon"));
        let watch = Watch::start()?;
        let ack = memory.log(said.session(SessionId::new("live")?)).await?;
        wall.push(watch.stop()?.wall);
        is_logged(&ack)?;
    }
    Ok(())
}

/// Folds, again from the start after each pass, until it is stopped; returns how many events.
async fn full_speed(projector: Arc<GraphProjector>, is_over: Arc<AtomicBool>) -> Result<u64> {
    let mut events = 0;
    while !is_over.load(Ordering::Relaxed) {
        let progress = projector.step(STEP).await?;
        events += progress.consumed;
        if progress.behind == 0 {
            projector.reset().await?;
        }
    }
    Ok(events)
}
