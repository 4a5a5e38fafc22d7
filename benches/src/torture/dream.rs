//! A month of consolidation cycles with a model that often lies: no loss, no archiving of protected notes, and everything can
//! be undone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use mnemal::dream::{DreamCycle, DreamMode};
use mnemal::events::{Classification, Operation, OperationKind};
use mnemal::learnings::LearningStatus;
use mnemal::model::BackgroundPermit;
use mnemal::ports::{EventStore as _, LearningStore, Pass, PassOutcome, Proposal};
use mnemal::types::{Category, Importance, InstallationKey, OwnerId, Producer};
use mnemal::{Engine, EventId, Learning, LearningFilter, Memory, Scope, Settings, SpaceId};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::vfs::Dice;
use mnemal_testkit::{ManualClock, SeededIds};
use mnemal_text::uncovered;

use super::verdict::Fault;
use super::{Order, Report};

/// Notes at the start. Source: the corpus of a reported incident, in which consolidation lost a quarter of it (DF-14).
const NOTES: u64 = 300;
/// Notes on one thing, which may be merged. Source: own choice.
const ALIKE: u64 = 3;
/// Every n-th note is protected. Source: a tenth, as many as were heavily supported in that incident.
const DEAR: u64 = 10;
/// Proposals of the model a cycle. Source: own choice, more than a cycle may carry out.
const PROPOSED: usize = 12;
/// Cycles a day. Source: the incident, 30.
const A_DAY: u32 = 30;
/// One of so many proposals is sound. Source: own choice; an attacker would not do more.
const SOUND: usize = 2;

const PEOPLE: [&str; 10] = ["Ada", "Ben", "Carla", "Dario", "Edda", "Fritz", "Gesa", "Hugo", "Ines", "Jonas"];
const THINGS: [&str; 10] =
    ["pump", "lift", "till", "boiler", "shutter", "fan", "gate", "scale", "oven", "lamp"];

/// Runs the program: so many cycles over 300 notes, then everything is undone. The details count cycles, merges, refusals,
/// `second_cycle_changes` and `not_undone`.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start a runtime")?.block_on(month(order))
}

struct Space {
    memory: Memory,
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    owner: OwnerId,
}

impl Space {
    fn new(seed: u64) -> Result<Self> {
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
        let mut settings = Settings::default();
        // The notes come at one time, and each of them must be used.
        settings.privacy.agent_items_per_hour = 0;
        let builder = Engine::builder()
            .with_settings(settings)
            .with_stores(Stores::all(Arc::clone(&store)))
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(seed)))
            .with_key(InstallationKey::new([7; 32]));
        let memory = builder.build()?.memory(Scope::whole(SpaceId::new("dream")?));
        Ok(Self { memory, store, clock, owner: OwnerId::new("dream")? })
    }

    async fn rows(&self) -> Result<Vec<Learning>> {
        Ok(self.memory.preferences().all_learnings(&LearningFilter::all()).await?)
    }

    async fn settle(&self, report: &mut Report) -> Result<()> {
        for _ in 0..1_000 {
            self.clock.advance(Duration::from_mins(31));
            let cycle = self.memory.admin().engine().dream(&self.owner, DreamMode::Asked).await?;
            report.count("cycles", 1);
            if cycle.accepted().count() == 0 {
                return Ok(());
            }
        }
        report.blame(Fault::SilentWrong, format_args!("a thousand cycles find no end"));
        Ok(())
    }
}

async fn month(order: &Order) -> Result<Report> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let mut report = Report::of("dream", order);
    let space = Space::new(order.seed)?;
    let dear = fill(&space).await?;
    let first = space.rows().await?;
    let pass = Arc::new(Model {
        learnings: Arc::clone(&space.store) as Arc<dyn LearningStore>,
        dice: Mutex::new(Dice::new(order.seed)),
    });
    let dreamer = space.memory.admin().engine().dreamer(vec![pass])?;
    let mut states: Vec<(Vec<EventId>, Vec<Learning>)> = Vec::new();
    let mut before = first.clone();
    while report.runs < order.runs && start.elapsed() < order.time {
        space.clock.advance(Duration::from_hours(24) / A_DAY);
        let cycle = dreamer.cycle(DreamMode::Asked).await?;
        let after = space.rows().await?;
        count(&mut report, &cycle);
        judge(&mut report, (&before, &after), &cycle);
        let done: Vec<EventId> = cycle.accepted().filter_map(|one| one.event).collect();
        if !done.is_empty() {
            states.push((done, std::mem::replace(&mut before, after)));
        }
        report.runs += 1;
    }
    space.settle(&mut report).await?;
    lost(&mut report, &first, &space.rows().await?, &dear);
    report.count("second_cycle_changes", second(&space).await?);
    let undone = undone(&space, &first, states).await?;
    report.count("not_undone", undone);
    for (what, fault) in [("second_cycle_changes", Fault::SilentWrong), ("not_undone", Fault::Lost)] {
        let times = report.details.get(what).copied().unwrap_or_default();
        if times > 0 {
            report.blame(fault, format_args!("{what}: {times}"));
        }
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// Stores the notes, and returns those that are dear.
async fn fill(space: &Space) -> Result<Vec<EventId>> {
    let mut dear = Vec::new();
    for n in 0..NOTES {
        space.clock.advance(Duration::from_secs(1));
        let (thing, way) = (n / ALIKE, n % ALIKE);
        let (person, what) = (name(&PEOPLE, thing), name(&THINGS, thing / 10));
        let text = match way {
            0 => format!("{person} repairs the {what} no. {} in hall {}.", 1_000 + thing, 10 + thing),
            1 => format!(
                "{person} ordered parts for the {what} no. {} on 2026-02-{:02}.",
                1_000 + thing,
                1 + thing % 28
            ),
            _ => format!("{person} repairs the {what} no. {}.", 1_000 + thing),
        };
        let is_dear = n.is_multiple_of(DEAR);
        let importance = Importance::new(if is_dear { 0.9 } else { 0.4 })?;
        let stored = space.memory.remember(text).importance(importance).await?.value;
        dear.extend(is_dear.then_some(stored.event));
    }
    Ok(dear)
}

fn name(from: &[&'static str; 10], n: u64) -> &'static str {
    usize::try_from(n % 10).ok().and_then(|place| from.get(place)).copied().unwrap_or_default()
}

fn count(report: &mut Report, cycle: &DreamCycle) {
    report.count("cycles", 1);
    report.count("rejected", cycle.refused().count() as u64);
    report.count("accepted", cycle.accepted().count() as u64);
    let merges =
        cycle.accepted().filter(|one| matches!(one.proposal.operation.kind, OperationKind::Merge { .. }));
    report.count("merges", merges.count() as u64);
}

/// Checks one cycle: no row gone, no more changed than it may, and no dear note archived for nothing.
fn judge(report: &mut Report, (before, after): (&[Learning], &[Learning]), cycle: &DreamCycle) {
    let is: BTreeMap<_, &Learning> = after.iter().map(|row| (row.id, row)).collect();
    let gone = before.iter().filter(|row| !is.contains_key(&row.id)).count();
    if gone > 0 {
        report.blame(Fault::Lost, format_args!("{gone} rows are gone"));
    }
    let live = before.iter().filter(|row| row.status == LearningStatus::Active).count();
    let shrunk = live.saturating_sub(after.iter().filter(|row| row.status == LearningStatus::Active).count());
    if shrunk > (live / 50).max(1) {
        report.blame(Fault::SilentWrong, format_args!("a cycle took {shrunk} of {live} notes away"));
    }
    // A person is warned when that many notes disappear within a day, and rightly so: they were merged.
    let (shrinking, broken): (Vec<_>, Vec<_>) = cycle
        .findings
        .iter()
        .filter(|found| found.severity == mnemal::dream::Severity::Alert)
        .partition(|found| found.name == "loss-percent-threshold");
    report.count("loss_alerts", shrinking.len() as u64);
    if cycle.vanished > 0 || !broken.is_empty() {
        report.blame(Fault::Corrupt, format_args!("the audit found {broken:?}"));
    }
}

/// Counts the notes whose names, numbers and dates no note that holds carries together, and the dear ones archived for nothing.
fn lost(report: &mut Report, first: &[Learning], last: &[Learning], dear: &[EventId]) {
    let live: Vec<&str> = last
        .iter()
        .filter(|row| row.status == LearningStatus::Active)
        .map(|row| row.content.as_str())
        .collect();
    for row in first {
        if !live.iter().any(|text| uncovered(text, &[&row.content]).is_empty()) {
            report.blame(Fault::Lost, format_args!("nothing carries note {}", row.id));
        }
    }
    let is_dear = |row: &&Learning| row.sources.first().is_some_and(|source| dear.contains(&source.event));
    for row in last.iter().filter(is_dear) {
        if row.status != LearningStatus::Active && row.superseded_by.is_none() {
            report.blame(Fault::Lost, format_args!("dear note {} was put away for nothing", row.id));
        }
    }
    report.count("live", live.len() as u64);
}

/// Runs a cycle over what is settled, and returns how much it changed.
async fn second(space: &Space) -> Result<u64> {
    let (rows, head) = (space.rows().await?, space.store.head().await?);
    space.clock.advance(Duration::from_mins(31));
    space.memory.admin().engine().dream(&space.owner, DreamMode::Asked).await?;
    let (now, last) = (space.rows().await?, space.store.head().await?);
    let changed = now.iter().filter(|row| !rows.contains(row)).count() as u64;
    Ok(changed + head.behind(last))
}

/// Takes everything back, the newest first, and returns how many rows differ from what they were.
async fn undone(
    space: &Space,
    first: &[Learning],
    states: Vec<(Vec<EventId>, Vec<Learning>)>,
) -> Result<u64> {
    // What the last cycles did without the model comes first.
    let mut differ = 0;
    let known: Vec<EventId> = states.iter().flat_map(|(done, _)| done).copied().collect();
    for event in operations(space).await?.into_iter().rev().filter(|event| !known.contains(event)) {
        take_back(space, event).await?;
    }
    for (done, before) in states.into_iter().rev() {
        for event in done.into_iter().rev() {
            take_back(space, event).await?;
        }
        let rows = space.rows().await?;
        differ += before.iter().filter(|row| !rows.contains(row)).count() as u64
            + (rows.len().abs_diff(before.len())) as u64;
    }
    let rows = space.rows().await?;
    Ok(differ + first.iter().filter(|row| !rows.contains(row)).count() as u64)
}

async fn operations(space: &Space) -> Result<Vec<EventId>> {
    let filter = mnemal::EventFilter {
        roles: mnemal::Within::Only(vec![mnemal::Role::Decision]),
        ..mnemal::EventFilter::all()
    };
    let events =
        space.store.scan(&filter, mnemal::events::Cursor::START, std::num::NonZeroUsize::MAX).await?;
    let is_one = |event: &mnemal::Event| {
        event.body().is_some_and(|kept| matches!(kept.kind, mnemal::EventKind::Operation(_)))
    };
    Ok(events.into_iter().filter(is_one).map(|event| event.id).collect())
}

async fn take_back(space: &Space, event: EventId) -> Result<()> {
    let decision = space.memory.facts().undoing(event).await?;
    let answer = space.memory.facts().decide(decision).await?;
    anyhow::ensure!(answer.gaps.is_empty(), "the notes have not caught up: {:?}", answer.gaps);
    Ok(())
}

/// A model that merges what belongs together, and as often lies, drops, invents and kills.
#[derive(Debug)]
struct Model {
    learnings: Arc<dyn LearningStore>,
    dice: Mutex<Dice>,
}

#[async_trait]
impl Pass for Model {
    fn name(&self) -> &'static str {
        "model"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> mnemal::Result<PassOutcome> {
        let rows = self.learnings.all(&LearningFilter::all()).await?;
        let live: Vec<(EventId, &Learning)> = rows
            .iter()
            .filter(|row| row.status == LearningStatus::Active)
            .filter_map(|row| Some((row.sources.first()?.event, row)))
            .collect();
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        let mut looked = PassOutcome::default();
        for _ in 0..PROPOSED {
            let Some((event, row)) = drawn(&live, &mut dice) else { break };
            let number = row.content.split_whitespace().find(|word| word.starts_with('1')).unwrap_or("?");
            let number = number.trim_matches('.');
            let twin = live.iter().find(|(other, twin)| *other != event && twin.content.contains(number));
            let sound = dice.below(SOUND) == 0;
            let other = twin.filter(|_| sound).copied().or_else(|| drawn(&live, &mut dice));
            let Some((second, other)) = other else { break };
            looked.proposals.push(if sound {
                let text = format!("{} {}", row.content, other.content);
                proposed(
                    OperationKind::Merge {
                        notes: vec![event, second],
                        classification: classification(row, other)?,
                    },
                    text,
                )
            } else {
                bad((event, row), (second, other), &mut dice)?
            });
        }
        Ok(looked)
    }
}

fn drawn<'r>(live: &[(EventId, &'r Learning)], dice: &mut Dice) -> Option<(EventId, &'r Learning)> {
    let place = dice.below(live.len().max(1));
    live.get(place).copied()
}

/// Returns one of the ways in which a model is wrong; the engine must refuse each, or be right to let it pass.
fn bad(one: (EventId, &Learning), other: (EventId, &Learning), dice: &mut Dice) -> mnemal::Result<Proposal> {
    let notes = vec![one.0, other.0];
    let classification = classification(one.1, other.1)?;
    let both = format!("{} {}", one.1.content, other.1.content);
    let merge = |text: String| {
        proposed(OperationKind::Merge { notes: notes.clone(), classification: classification.clone() }, text)
    };
    Ok(match dice.below(7) {
        0 => merge(String::new()),
        1 => merge("They all are about repairs.".to_owned()),
        2 => merge(one.1.content.clone()),
        3 => proposed(
            OperationKind::Merge { notes: vec![one.0, EventId(77)], classification: classification.clone() },
            both,
        ),
        4 => merge(format!("{both} It cost 98765 euros.")),
        5 => proposed(OperationKind::Retire { notes: vec![one.0], into: Some(other.0) }, String::new()),
        _ => {
            let proposal = merge(both);
            let shown = vec![one.0];
            Proposal { operation: Operation { shown, ..proposal.operation }, ..proposal }
        }
    })
}

fn classification(one: &Learning, other: &Learning) -> mnemal::Result<Classification> {
    let importance = one.importance.get().max(other.importance.get());
    Ok(Classification {
        category: Category::new("repairs")?,
        tags: Vec::new(),
        importance: Importance::new(importance)?,
    })
}

fn proposed(kind: OperationKind, text: String) -> Proposal {
    let producer = Producer { id: "dream/model".to_owned(), version: 1 };
    let shown = kind.names();
    let operation =
        Operation { kind, producer, prompt: None, shown, because: "the model says so".to_owned() };
    Proposal { operation, text }
}
