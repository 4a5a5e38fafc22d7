//! Random contexts: each line has a source in the log, and each hit is accounted for in the receipt.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use mnemal::context::{Grounding, ReceiptLine, RecordRef};
use mnemal::types::{Layer, LearningId};
use mnemal::{Context, Engine, EventId, Memory, Receipt, Scope, SessionId, Settings, SpaceId};
use mnemal_learnings::note_id;

use super::mixed::Space;
use super::verdict::Fault;
use super::{Order, Report};
use crate::cpu::Watch;

/// Mixed operations of the space that is asked. Source: own choice, a space whose contexts are full.
const HISTORY: u32 = 1_500;
/// Hits that a context is offered. Source: ADR 21.
const OFFERED: usize = 24;
/// Most time for one part, in milliseconds: nothing is cut off on a busy machine.
const PATIENCE_MS: u64 = 3_600_000;
/// Contexts of which each is also assembled without receipts, to compare what it costs.
const TIMED: u64 = 200;

/// The results of the contexts.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Accounts {
    /// The common part of every program's report.
    #[serde(flatten)]
    pub report: Report,
    /// CPU time of contexts with receipts ÷ without, minus one.
    pub receipts_cost: f64,
    /// The smallest share of content stems of a line that its words cover.
    pub least_covered: f64,
}

impl Accounts {
    /// Whether nothing went wrong, and receipts are within their cost target.
    pub fn is_clean(&self) -> bool {
        self.report.is_clean()
    }
}

/// Runs the program with `order.runs` contexts. The details count their lines: said verbatim, covered by their words, facts whose
/// value is in the words that they were read in (how a fact is worded is the engine's), and lines that tell of an event where
/// and when it was; and the hits that are lines, left out with a reason, or counted beyond the hundred omissions that a receipt
/// lists.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Accounts> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start a runtime")?.block_on(life(order))
}

async fn life(order: &Order) -> Result<Accounts> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let home = tempfile::tempdir()?;
    let file = home.path().join("space.db");
    let (builder, clock) = Space::parts(order.seed);
    let mut settings = Settings::default();
    settings.recall.part_deadline_ms = PATIENCE_MS;
    let builder = builder.with_settings(settings);
    let engine = builder.clone().open(&file).await?;
    let mut space = Space::new(&engine, Arc::clone(&clock), order.seed)?;
    for _ in 0..HISTORY.min(u32::try_from(order.runs * 3).unwrap_or(u32::MAX)) {
        space.step().await?;
    }
    space.settle().await?;
    let bare = builder.without(Layer::Receipts).open(&file).await?;
    let mut accounts = Accounts { report: Report::of("receipts", order), ..Accounts::default() };
    accounts.least_covered = 1.0;
    while accounts.report.runs < order.runs && start.elapsed() < order.time {
        clock.advance(Duration::from_mins(1));
        let query = space.question();
        // A conversation of ten questions sees each thing once.
        let session = SessionId::new(format!("reader-{}", accounts.report.runs / 10))?;
        let context = space.memory.context(&query).session(session).await?;
        accounts.judge(&space.memory, &query, &context).await?;
        accounts.report.runs += 1;
    }
    accounts.receipts_cost = cost(&mut space, &engine, &bare, order.runs.min(TIMED)).await?;
    accounts.report.seconds = start.elapsed().as_secs_f64();
    Ok(accounts)
}

/// Returns how much more CPU time contexts take with receipts than without, as a share.
async fn cost(space: &mut Space, with: &Engine, without: &Engine, contexts: u64) -> Result<f64> {
    let scope = || Ok::<_, mnemal::Error>(Scope::whole(SpaceId::new("mixed")?));
    let (with, without) = (with.memory(scope()?), without.memory(scope()?));
    let (mut on, mut off) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..contexts {
        let query = space.question();
        for (memory, spent) in [(&with, &mut on), (&without, &mut off)] {
            let watch = Watch::start()?;
            let _context = memory.context(&query).await?;
            *spent += watch.stop()?.cpu;
        }
    }
    Ok(on.as_secs_f64() / off.as_secs_f64().max(f64::EPSILON) - 1.0)
}

impl Accounts {
    /// Looks at one context: its receipt, each line of its text, each hit for its question.
    async fn judge(&mut self, memory: &Memory, query: &str, context: &Context) -> Result<()> {
        let receipt = &context.receipt;
        if context.text.is_empty() {
            self.report.count("contexts without a line", 1);
            return Ok(());
        }
        let check = memory.admin().check_receipt(receipt.id, Some(&context.text)).await?;
        for finding in &check.findings {
            self.report.blame(Fault::SilentWrong, format_args!("{query}: {finding}"));
        }
        let (told, said) = (receipt.lines.len(), check.grounds.len());
        if said != told {
            self.report
                .blame(Fault::SilentWrong, format_args!("{query}: {said} lines, {told} accounted for"));
        }
        self.report.count("lines", said as u64);
        for ground in &check.grounds {
            // One of which its words hold too little is among the findings.
            if ground.is_enough() {
                self.report.count(told_of(*ground), 1);
            }
            self.least_covered = self.least_covered.min(f64::from(ground.percent()) / 100.0);
        }
        let hits = memory.recall(query).limit(OFFERED).await?;
        for hit in &hits.hits {
            let id = hit.event.id;
            if let Some(what) = fate(receipt, id) {
                self.report.count(what, 1);
            } else {
                self.report.blame(Fault::SilentWrong, format_args!("{query}: nothing is said of {id}"));
            }
        }
        Ok(())
    }
}

/// Says what is counted of a line.
fn told_of(ground: Grounding) -> &'static str {
    match ground {
        Grounding::Covered(_) => "lines covered by their words",
        Grounding::Value => "facts whose value stands in their words",
        Grounding::Verbatim => "lines said verbatim",
    }
}

/// Returns what became of a hit, by its event, by the note that it made, or by a record that rests on it.
fn fate(receipt: &Receipt, event: EventId) -> Option<&'static str> {
    let note: LearningId = note_id(event);
    let is_it = |record: RecordRef| match record {
        RecordRef::Event(id) => id == event,
        RecordRef::Learning(id) => id == note,
        _ => false,
    };
    let rests = |line: &ReceiptLine| line.sources.iter().any(|source| source.event == event);
    if receipt.lines.iter().any(|line| is_it(line.record) || rests(line)) {
        return Some("hits that are lines");
    }
    if receipt.omitted.iter().any(|omitted| is_it(omitted.record)) {
        return Some("hits left out with a reason");
    }
    let counted: u32 = receipt.omitted_counts.iter().map(|(_, count)| count).sum();
    (counted as usize > receipt.omitted.len()).then_some("hits counted beyond the hundred that are listed")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    // proves: NX-01.3
    #[test]
    fn every_line_stands_on_words_and_every_hit_is_accounted_for() {
        let time = Duration::from_mins(3);
        let done = run(&Order { runs: 40, first: 0, seed: 3, time, program: PathBuf::new() }).unwrap();
        assert!(done.is_clean(), "{done:?}");
        assert!(done.least_covered >= 0.9, "{done:?}");
        let counted =
            [told_of(Grounding::Verbatim), told_of(Grounding::Value), "hits left out with a reason"];
        assert!(counted.iter().all(|what| done.report.details.contains_key(what)), "{done:?}");
    }
}
