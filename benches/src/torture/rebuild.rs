//! Mixed operations followed by a rebuild of every layer from the log: the same rows, bit by bit, twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use mnemal::admin::RebuildMode;
use mnemal::graph::{EntityFilter, MentionFilter};
use mnemal::ports::GraphStore as _;
use mnemal::types::Layer;
use mnemal::{FactFilter, LearningFilter};
use mnemal_store::{MemoryStore, Stores};

use super::mixed::Space;
use super::verdict::Fault;
use super::{Order, Report};

/// Layers that are rebuilt.
const LAYERS: [Layer; 4] = [Layer::Graph, Layer::Learnings, Layer::Summaries, Layer::Lexical];

/// Runs the program with `order.runs` operations. The details count them by kind, the rows of each layer that are not what
/// the log gives, and the rows that were compared.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start a runtime")?.block_on(life(order))
}

async fn life(order: &Order) -> Result<Report> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let mut report = Report::of("rebuild", order);
    let store = Arc::new(MemoryStore::new());
    let (builder, clock) = Space::parts(order.seed);
    let engine = builder.with_stores(Stores::all(Arc::clone(&store))).build()?;
    let mut space = Space::new(&engine, clock, order.seed)?;
    // Rebuilding everything takes about as long as the operations before.
    while report.runs < order.runs && start.elapsed() < order.time / 2 {
        let kind = space.step().await?;
        report.count(kind, 1);
        report.runs += 1;
    }
    space.settle().await?;
    let live = dump(&store).await?;
    report.count("rows", live.values().map(|(rows, _)| *rows).sum());
    for layer in LAYERS {
        let rows = space.memory.admin().engine().rebuild(layer, RebuildMode::Check).await?.rows;
        if rows > 0 {
            report.blame(Fault::SilentWrong, format_args!("{rows} rows of {} differ", layer.as_str()));
        }
    }
    for round in 1..=2 {
        for layer in LAYERS {
            space.memory.admin().engine().rebuild(layer, RebuildMode::Anew).await?;
        }
        space.memory.admin().engine().refresh_summaries().await?;
        for (name, (rows, hash)) in dump(&store).await? {
            if live.get(name) != Some(&(rows, hash)) {
                let was = live.get(name).map_or(0, |(rows, _)| *rows);
                report.blame(
                    Fault::SilentWrong,
                    format_args!(
                        "{name}: {rows} rows of another hash than the {was} of before, round {round}"
                    ),
                );
            }
        }
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// Returns how many rows each layer has, and their hash.
async fn dump(store: &MemoryStore) -> Result<BTreeMap<&'static str, (u64, blake3::Hash)>> {
    let mut dump = BTreeMap::new();
    let entities = store.entities(&EntityFilter::all()).await?;
    dump.insert("entities", hashed(&entities));
    let facts = store.history(&FactFilter::all()).await?;
    dump.insert("facts", hashed(&facts));
    let mentions = store.mentions(&MentionFilter::all()).await?;
    dump.insert("mentions", hashed(&mentions));
    let learnings = mnemal::ports::LearningStore::all(store, &LearningFilter::all()).await?;
    dump.insert("learnings", hashed(&learnings));
    let summaries = mnemal::ports::SummaryStore::all(store).await?;
    dump.insert("summaries", hashed(&summaries));
    Ok(dump)
}

fn hashed(rows: &[impl std::fmt::Debug]) -> (u64, blake3::Hash) {
    let mut hash = blake3::Hasher::new();
    for row in rows {
        hash.update(format!("{row:?}\n").as_bytes());
    }
    (rows.len() as u64, hash.finalize())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    // proves: NX-02.2
    #[test]
    fn every_layer_made_anew_twice_after_mixed_operations_has_the_same_hash() {
        let order =
            Order { runs: 250, first: 0, seed: 4, time: Duration::from_mins(3), program: PathBuf::new() };
        let report = run(&order).unwrap();
        assert!(report.is_clean(), "{report:?}");
        let kinds = ["turns", "notes", "verdicts", "facts and names", "undos", "forgets", "rows"];
        assert!(kinds.iter().all(|kind| report.details.contains_key(kind)), "{report:?}");
    }
}
