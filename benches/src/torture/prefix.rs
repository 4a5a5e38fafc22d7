//! Bi-temporal check: the belief as of a moment equals the belief of a space that ended at that moment.
//!
//! Two spaces have the same life by the same seed; one ends early. The other is asked what it believed then.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use mnemal::graph::EntityFilter;
use mnemal::ports::Clock as _;
use mnemal::summaries::NodePath;
use mnemal::{AsOf, ErrorKind, FactFilter, LearningFilter, LearningKind, SessionId, Timestamp};
use mnemal_store::MemoryStore;
use mnemal_testkit::ManualClock;

use super::mixed::{Chance, Space};
use super::verdict::Fault;
use super::{Order, Report};
use crate::words::Dice;

/// Operations before the moment, at most, and behind it.
const BEFORE: usize = 150;
const BEHIND: u64 = 60;
/// Hits that are compared: more than fit a question of so short a life.
const HITS: usize = 200;
/// Conversations whose summaries are compared. Source: those of a mixed life.
const SESSIONS: usize = 40;

/// Runs the program with `order.runs` lives, in which nothing is forgotten or undone, because both say that something never
/// was.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start a runtime")?.block_on(lives(order))
}

async fn lives(order: &Order) -> Result<Report> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let mut report = Report::of("prefix", order);
    while report.runs < order.runs && start.elapsed() < order.time {
        let seed = order.seed.wrapping_add(order.first).wrapping_add(report.runs);
        let steps = 10 + Dice::new(seed).below(BEFORE) as u64;
        let (mut short, clock) = life(seed)?;
        let (mut long, long_clock) = life(seed)?;
        for _ in 0..steps {
            short.step().await?;
            long.step().await?;
        }
        let then = clock.now();
        anyhow::ensure!(then == long_clock.now(), "two lives of one seed are not alike");
        for _ in 0..BEHIND {
            long.step().await?;
        }
        short.settle().await?;
        long.settle().await?;
        let query = short.question();
        let (one, other) = (Belief::of(&short, &query, then).await?, Belief::of(&long, &query, then).await?);
        for (name, expect, found) in [
            ("facts", &one.facts, &other.facts),
            ("notes", &one.notes, &other.notes),
            ("names", &one.names, &other.names),
            ("summaries", &one.summaries, &other.summaries),
            ("hits", &one.hits, &other.hits),
        ] {
            report.count(name, expect.len() as u64);
            for row in expect.symmetric_difference(found) {
                let side = if expect.contains(row) { "missing" } else { "too much" };
                report.blame(Fault::SilentWrong, format_args!("seed {seed}, {name}, {side}: {row}"));
            }
        }
        report.runs += 1;
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

fn life(seed: u64) -> Result<(Space, Arc<ManualClock>)> {
    let (builder, clock) = Space::parts(seed);
    let engine = builder.with_stores(MemoryStore::new()).build()?;
    let space = Space::new(&engine, Arc::clone(&clock), seed)?.with(Chance::Keeps);
    Ok((space, clock))
}

/// What is believed as of a moment of both times.
struct Belief {
    facts: BTreeSet<String>,
    notes: BTreeSet<String>,
    names: BTreeSet<String>,
    summaries: BTreeSet<String>,
    hits: BTreeSet<String>,
}

impl Belief {
    async fn of(space: &Space, query: &str, then: Timestamp) -> Result<Self> {
        let as_of = AsOf { world: then, belief: then };
        let graph = space.memory.facts().graph().await?.value;
        let fact = |fact: mnemal::Fact| {
            let (from, to) = (fact.valid_at, fact.invalid_at);
            format!(
                "{} {} {:?} {} {from:?} {to:?}",
                fact.subject,
                fact.predicate,
                fact.topic,
                fact.object.key()
            )
        };
        let facts = graph.facts(&FactFilter::all(), as_of).await?.into_iter().map(fact).collect();
        let all = graph.all(&EntityFilter::all(), as_of).await?;
        let names = all.into_iter().map(|entity| format!("{} {}", entity.id, entity.name)).collect();
        let notes = space.memory.preferences().learnings(&LearningFilter::all(), as_of).await?;
        let notes = notes.into_iter().map(|note| note.item);
        // A tally of a tool is one row that grows.
        let notes = notes.filter(|note| note.kind != LearningKind::Tool);
        let notes = notes.map(|note| format!("{} {}", note.id, note.content)).collect();
        let mut summaries = BTreeSet::new();
        let sessions = (0..SESSIONS).map(|number| SessionId::new(format!("talk-{number}")));
        let sessions = sessions.collect::<mnemal::Result<Vec<_>>>()?.into_iter().map(NodePath::Session);
        for path in sessions.chain([NodePath::Root, NodePath::Preferences]) {
            match space.memory.summaries().get(&path, Some(as_of)).await {
                Ok(found) => {
                    let said = found.value.node.lines.iter().map(|line| line.text.as_str());
                    summaries.insert(format!("{path} {}", said.collect::<Vec<_>>().join(" ")));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        let found = space.memory.recall(query).as_of(as_of).limit(HITS).await?;
        let hits = found.hits.iter().map(|hit| hit.event.id.to_string()).collect();
        Ok(Self { facts, notes, names, summaries, hits })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    // proves: NX-02.T2
    #[test]
    fn what_was_believed_then_is_what_one_believes_who_was_told_nothing_since() {
        let time = Duration::from_mins(2);
        let report = run(&Order { runs: 6, first: 0, seed: 40, time, program: PathBuf::new() }).unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert!(
            ["facts", "notes", "names", "summaries", "hits"].iter().all(|name| report.details[name] > 0),
            "{report:?}"
        );
    }
}
