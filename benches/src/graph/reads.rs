//! Graph queries: one entity with its facts, and its neighborhood.

use std::num::NonZeroUsize;

use anyhow::{Context as _, Result, ensure};
use mnemal::graph::EntityFilter;
use mnemal::{AsOf, Timestamp};

use super::UnfoldedSpace;
use crate::cpu::{Cost, Watch, quantile};
use crate::figure::{Figure, TargetBound};
use crate::words::Dice;

/// The seed of the names that are asked for.
const SEED: u64 = 7;
/// Most facts of a neighborhood. Source: own choice, more than any context takes.
const AROUND: NonZeroUsize = NonZeroUsize::new(200).expect("200 is not zero");
/// Facts from which on the times are asked for.
const FACTS: usize = 100_000;
/// Most time to show an entity, in milliseconds.
const ASKED_SHOW: f64 = 5.0;
/// Most time for a neighborhood of two hops, in milliseconds.
const ASKED_AROUND: f64 = 10.0;

/// The queries.
#[derive(Clone, Copy, Debug)]
pub struct Reads {
    /// Entities that are asked for.
    pub samples: usize,
    /// Facts that the space holds.
    pub facts: usize,
}

/// Asks for entities by chance, the most talked of among them.
///
/// # Errors
/// A question that fails, or finds nothing.
pub async fn reads(told: &UnfoldedSpace, wanted: Reads) -> Result<Vec<Figure>> {
    let memory = told.open().await?;
    let graph = memory.facts().graph().await?.value;
    let as_of = AsOf { world: memory.admin().engine().now(), belief: Timestamp::MAX };
    let all = graph.all(&EntityFilter::all(), as_of).await?;
    let mut dice = Dice::new(SEED);
    let (mut shown, mut around, mut walked) = (Vec::new(), Vec::new(), 0);
    for _ in 0..wanted.samples {
        let one = all.get(dice.below(all.len())).context("a graph without entities")?;
        let watch = Watch::start()?;
        // By its id, because several may have the name; the command does the rest with this one call.
        let profile = memory.facts().entity_profile(&one.id.to_string(), as_of).await?;
        shown.push(watch.stop()?);
        ensure!(profile.gaps.is_empty(), "a portrait lacks a part: {:?}", profile.gaps);
        let watch = Watch::start()?;
        let found = graph.neighborhood(&[one.id], 2, AROUND, as_of).await?;
        around.push(watch.stop()?);
        walked = walked.max(found.facts.len());
    }
    memory.admin().engine().close().await?;
    let is_large = |facts: usize| facts >= FACTS;
    let size = wanted.facts;
    let figure = |what: &str, costs: &[Cost], share, asked: f64| {
        let cpu: Vec<_> = costs.iter().map(|cost| cost.cpu).collect();
        Figure::time(what, size, quantile(&cpu, share)).asked_if(TargetBound::AtMost(asked), is_large)
    };
    let wall = |what: &str, costs: &[Cost]| {
        let wall: Vec<_> = costs.iter().map(|cost| cost.wall).collect();
        Figure::time(what, size, quantile(&wall, 0.5))
    };
    Ok(vec![
        Figure::new("entities", size, all.len() as f64, "entities"),
        figure("entity show, CPU p50", &shown, 0.5, ASKED_SHOW),
        figure("entity show, CPU p99", &shown, 0.99, ASKED_SHOW),
        wall("entity show, wall p50", &shown),
        figure("neighbourhood of two hops, CPU p50", &around, 0.5, ASKED_AROUND),
        figure("neighbourhood of two hops, CPU p99", &around, 0.99, ASKED_AROUND),
        wall("neighbourhood of two hops, wall p50", &around),
        Figure::new("facts in the largest neighbourhood", size, walked as f64, "facts"),
    ])
}
