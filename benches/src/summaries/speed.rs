//! Summary throughput: leaves of the tree per second of CPU time, with the branches above them.

use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::Result;
use mnemal_core::{EventStore as _, NodePath, Projector as _, SummaryStore as _};
use mnemal_store::MemoryStore;
use mnemal_summaries::SummaryProjector;
use mnemal_testkit::{Records, block_on};
use mnemal_text::Language;

use super::Session;
use crate::cpu::Watch;

/// Events of a step. Source: that of a rebuild.
const STEP: NonZeroUsize = NonZeroUsize::new(100).expect("100 is not zero");
/// Entries of an append.
const BATCH: usize = 1_000;

/// Folds all sessions, in memory, from the start of the log; the leaves that there are then, each made at least once, over
/// the CPU time of the fold.
///
/// # Errors
/// A session that is no name, and those of the processor's clock.
pub fn leaves_per_second(sessions: &[Session]) -> Result<f64> {
    let store = Arc::new(MemoryStore::new());
    let mut records = Records::new(1);
    let mut entries = Vec::new();
    for (session, number) in sessions.iter().zip(1..) {
        for (_, text) in &session.turns {
            entries.push(records.turn(&format!("s{number}"), text)?);
        }
    }
    let projector = SummaryProjector::new(
        Arc::<MemoryStore>::clone(&store),
        Arc::<MemoryStore>::clone(&store),
        Language::English,
    );
    block_on(async {
        for batch in entries.chunks(BATCH) {
            store.append(batch).await?;
        }
        Ok(())
    })?;
    let watch = Watch::start()?;
    block_on(async {
        while projector.step(STEP).await?.behind > 0 {}
        Ok(())
    })?;
    let cpu = watch.stop()?.cpu.as_secs_f64();
    let nodes = block_on(async { store.all().await })?;
    let leaves = nodes.iter().filter(|node| matches!(node.path, NodePath::Part { .. })).count();
    Ok(leaves as f64 / cpu.max(f64::MIN_POSITIVE))
}
