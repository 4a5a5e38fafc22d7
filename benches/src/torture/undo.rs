//! Random decisions over a space with a history, undone in any permitted order: as if they had never been made.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use mnemal::graph::EntityFilter;
use mnemal::{AsOf, ErrorKind, EventId, FactFilter, Learning, LearningFilter, LearningKind, Timestamp};
use mnemal_store::MemoryStore;

use super::mixed::Space;
use super::verdict::Fault;
use super::{Order, Report};

/// Mixed operations before the first decision. Source: own choice, so that decisions meet notes and names of every kind.
const HISTORY: u32 = 120;
/// Refusals in a row after which the rest counts as not to be undone.
const MOST_REFUSED: u32 = 2_000;

/// Runs the program with `order.runs` decisions. The details count them by kind, and how often one had to wait for another.
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
    let mut report = Report::of("undo", order);
    let (builder, clock) = Space::parts(order.seed);
    let engine = builder.with_stores(MemoryStore::new()).build()?;
    let mut space = Space::new(&engine, Arc::clone(&clock), order.seed)?;
    for _ in 0..HISTORY {
        space.step().await?;
    }
    space.settle().await?;
    let before = State::of(&space).await?;
    space.decided.clear();
    // Taking back costs more than deciding.
    while report.runs < order.runs && start.elapsed() < order.time / 4 {
        clock.advance(Duration::from_mins(1));
        let known = space.decided.len();
        let kind = space.decide_something().await?;
        report.count(kind, 1);
        report.runs += u64::from(space.decided.len() > known);
    }
    space.settle().await?;
    ensure!(State::of(&space).await? != before, "the decisions changed nothing");
    let mut open = std::mem::take(&mut space.decided);
    let mut refused = 0;
    while !open.is_empty() {
        let event = open.swap_remove(space.dice.below(open.len()));
        clock.advance(Duration::from_mins(1));
        match taken_back(&space, event).await {
            Ok(()) => {
                refused = 0;
                report.count("taken back", 1);
            }
            Err(error) if error.kind() == ErrorKind::Conflict && refused < MOST_REFUSED => {
                open.push(event);
                refused += 1;
                report.count("had to wait for another", 1);
            }
            Err(error) => {
                report.blame(Fault::WrongError, format_args!("{event} cannot be taken back: {error}"));
            }
        }
    }
    space.settle().await?;
    let after = State::of(&space).await?;
    for (name, rows) in before.differing(&after) {
        if let Some(first) = rows.first() {
            let many = rows.len();
            let first = rows.get(..6.min(many)).map_or_else(|| first.clone(), |rows| rows.join("\n  "));
            report.blame(Fault::SilentWrong, format_args!("{name}: {many} differ, first {first}"));
        }
    }
    report.count("notes at the beginning", before.notes.len() as u64);
    report.count("facts at the beginning", before.facts.len() as u64);
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

async fn taken_back(space: &Space, event: EventId) -> mnemal::Result<()> {
    let undo = space.memory.facts().undoing(event).await?;
    space.memory.facts().decide(undo).await.map(drop)
}

/// What is believed: the notes bit by bit, and facts and names as they are said.
#[derive(Debug, PartialEq)]
struct State {
    notes: Vec<Learning>,
    facts: BTreeSet<String>,
    entities: BTreeSet<String>,
}

impl State {
    async fn of(space: &Space) -> Result<Self> {
        let mut notes = space.memory.preferences().all_learnings(&LearningFilter::all()).await?;
        // How tools fare is no decision.
        notes.retain(|note| note.kind != LearningKind::Tool);
        notes.sort_by_key(|note| note.id);
        let graph = space.memory.facts().graph().await?.value;
        let now = AsOf::present(Timestamp::MAX);
        let facts = graph.facts(&FactFilter::all(), now).await?;
        let fact = |fact: &mnemal::Fact| {
            let supports: BTreeSet<String> =
                fact.supports.iter().map(|one| format!("{:?} {:?}", one.source, one.act)).collect();
            let mnemal::Fact { subject, predicate, topic, act, valid_at, invalid_at, status, .. } = fact;
            let object = fact.object.key();
            format!(
                "{subject} {predicate} {topic:?} {object} {act:?} {valid_at:?} {invalid_at:?} {status:?} {supports:?}"
            )
        };
        let entities = graph.all(&EntityFilter::all(), now).await?;
        let entity =
            |entity: &mnemal::graph::Entity| format!("{} {} {:?}", entity.id, entity.name, entity.kind);
        Ok(Self {
            notes,
            facts: facts.iter().map(fact).collect(),
            entities: entities.iter().map(entity).collect(),
        })
    }

    /// Returns what is in one of the two only.
    fn differing(&self, after: &Self) -> [(&'static str, Vec<String>); 3] {
        let only = |before: &BTreeSet<String>, after: &BTreeSet<String>| {
            let gone = before.difference(after).map(|row| format!("gone: {row}"));
            gone.chain(after.difference(before).map(|row| format!("new: {row}"))).collect::<Vec<_>>()
        };
        let rows = |state: &Self| state.notes.iter().map(|note| format!("{note:?}")).collect::<BTreeSet<_>>();
        [
            ("notes", only(&rows(self), &rows(after))),
            ("facts", only(&self.facts, &after.facts)),
            ("names", only(&self.entities, &after.entities)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn decisions_taken_back_in_any_order_leave_the_state_of_the_beginning() {
        for seed in 0..6 {
            let time = Duration::from_mins(3);
            let report = run(&Order { runs: 30, first: 0, seed, time, program: PathBuf::new() }).unwrap();
            assert!(report.is_clean(), "{report:?}");
            assert_eq!((report.runs, report.details["taken back"]), (30, 30), "{report:?}");
        }
    }
}
