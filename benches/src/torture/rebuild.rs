//! Mixed operations, and every layer made anew from the log: the same rows, bit by bit, twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use mnemal::{
    AsOf, Decision, Engine, EntityFilter, ErrorKind, EventId, FactChoice, FactDecision, FactFilter,
    GraphStore as _, InstallationKey, Layer, LearningFilter, Memory, MentionFilter, Message, NoteKey,
    Predicate, Rebuild, Scope, Selector, SessionId, SpaceId, Speaker, Timestamp, ToolName, Value, renaming,
    value_key,
};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{ManualClock, SeededIds};

use super::verdict::Fault;
use super::{Order, Report};
use crate::words::{Dice, Words};

/// Layers that are made anew.
const LAYERS: [Layer; 4] = [Layer::Graph, Layer::Learnings, Layer::Summaries, Layer::Lexical];
const PEOPLE: [&str; 6] = ["Anna Berg", "Bruno Kohl", "Clara Voss", "Dario Neri", "Edda Lund", "Fritz Amann"];
const PLACES: [&str; 6] = ["Lisbon", "Turin", "Graz", "Bergen", "Porto", "Ghent"];
const KEYS: [&str; 8] = ["ferry", "gate", "lamp", "oven", "pump", "till", "scale", "fan"];

/// Runs the programme with `order.runs` operations. The details count them by kind, the rows of each layer that are not what
/// the log gives, and the rows that were compared.
///
/// # Errors
/// What keeps it from running; what it finds is in the report.
pub fn run(order: &Order) -> Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start a runtime")?.block_on(life(order))
}

struct Space {
    memory: Memory,
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    dice: Dice,
    words: Words,
    /// What can be forgotten or taken back.
    said: Vec<EventId>,
    decided: Vec<EventId>,
}

async fn life(order: &Order) -> Result<Report> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let mut report = Report::of("rebuild", order);
    let mut space = Space::new(order.seed)?;
    while report.runs < order.runs && start.elapsed() < order.time {
        let kind = space.step().await?;
        report.count(kind, 1);
        report.runs += 1;
    }
    space.settle().await?;
    let live = space.dump().await?;
    report.count("rows", live.values().map(|(rows, _)| *rows).sum());
    for layer in LAYERS {
        let rows = space.memory.engine().rebuild(layer, Rebuild::Check).await?.rows;
        if rows > 0 {
            report.blame(Fault::SilentWrong, format_args!("{rows} rows of {} differ", layer.as_str()));
        }
    }
    for round in 1..=2 {
        for layer in LAYERS {
            space.memory.engine().rebuild(layer, Rebuild::Anew).await?;
        }
        space.memory.engine().refresh_summaries().await?;
        for (name, (rows, hash)) in space.dump().await? {
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

impl Space {
    fn new(seed: u64) -> Result<Self> {
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
        let engine = Engine::builder()
            .with_stores(Stores::all(Arc::clone(&store)))
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(seed)))
            .with_key(InstallationKey::new([7; 32]))
            .build()?;
        let memory = engine.memory(Scope::whole(SpaceId::new("rebuild")?));
        let (dice, words) = (Dice::new(seed), Words::default());
        Ok(Self { memory, store, clock, dice, words, said: Vec::new(), decided: Vec::new() })
    }

    /// Does one thing by chance, and returns what it was.
    async fn step(&mut self) -> Result<&'static str> {
        self.clock.advance(Duration::from_secs(1 + self.dice.below(5_000) as u64));
        let person = self.dice.one_of(&PEOPLE);
        let session = SessionId::new(format!("talk-{}", self.dice.below(40)))?;
        let key = NoteKey::new(self.dice.one_of(&KEYS))?;
        match self.dice.below(100) {
            0..60 => {
                let text = self.sentence();
                let by = if self.dice.below(3) == 0 { Message::assistant(text) } else { Message::user(text) };
                let turn = by.speaker(Speaker::new(person)?).session(session);
                self.said.push(self.memory.log(turn).await?.value.id);
                Ok("turns")
            }
            60..66 => {
                let tool = ToolName::new(self.dice.one_of(&["look_up", "weather"]))?;
                let failed = self.dice.below(4) == 0;
                let result = if failed {
                    Message::tool_failure(tool, "it timed out after 5 s")
                } else {
                    Message::tool_result(tool, self.sentence())
                };
                self.said.push(self.memory.log(result.session(session)).await?.value.id);
                Ok("results of tools")
            }
            66..76 => {
                let text = self.sentence();
                let note = self.memory.remember(text).key(key).by_user().await?;
                self.decided.push(note.value.event);
                Ok("notes")
            }
            76..82 => {
                let decision = match self.dice.below(3) {
                    0 => Decision::Archive { key },
                    1 => Decision::Restore { key },
                    _ => Decision::Reject { key },
                };
                self.decide(decision).await
            }
            82..90 => match self.about(person).await? {
                Some(decision) => self.decide(decision).await,
                None => Ok("nobody to decide about"),
            },
            90..94 => {
                let Some(event) = self.one_decided() else { return Ok("nothing to take back") };
                match self.memory.undoing(event).await {
                    Ok(undo) => {
                        let _ack = self.memory.decide(undo).await?;
                        Ok("undos")
                    }
                    Err(error) if error.kind() != ErrorKind::Unavailable => Ok("nothing to take back"),
                    Err(error) => Err(error.into()),
                }
            }
            94..96 => match self.memory.compress(session).keep_last(2).await {
                Ok(_) => Ok("compressions"),
                Err(error) if error.kind() != ErrorKind::Unavailable => Ok("nothing to compress"),
                Err(error) => Err(error.into()),
            },
            96..98 => {
                let owner = mnemal::OwnerId::new("rebuild")?;
                let _cycle = self.memory.engine().dream(&owner, mnemal::DreamRun::Asked).await?;
                Ok("cycles")
            }
            _ => {
                let gone = match self.dice.below(3) {
                    0 => self.one_decided(),
                    _ if self.said.is_empty() => None,
                    _ => Some(self.said.swap_remove(self.dice.below(self.said.len()))),
                };
                let Some(gone) = gone else { return Ok("nothing to forget") };
                match self.memory.forget(Selector::Events(vec![gone])).await {
                    Ok(_) => Ok("forgets"),
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok("nothing to forget"),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    fn one_decided(&mut self) -> Option<EventId> {
        (!self.decided.is_empty()).then(|| self.decided.swap_remove(self.dice.below(self.decided.len())))
    }

    fn sentence(&mut self) -> String {
        let (person, place) = (self.dice.one_of(&PEOPLE), self.dice.one_of(&PLACES));
        match self.dice.below(9) {
            0 => format!("My friend {person} lives in {place}."),
            1 => format!("I moved to {place} last month."),
            2 => format!("I work at the {place} library as a cook."),
            3 => format!("I always want short answers about {place}, please."),
            4 => format!("{person} is allergic to peanuts."),
            5 => format!("No, that is wrong: {person} lives in {place}."),
            _ => {
                let words: Vec<String> = (0..8).map(|_| self.words.draw(&mut self.dice)).collect();
                format!("Today {}.", words.join(" "))
            }
        }
    }

    /// Returns a decision about somebody whom the graph knows.
    async fn about(&mut self, name: &str) -> Result<Option<Decision>> {
        let always = AsOf::present(Timestamp::MAX);
        let graph = self.memory.graph().await?.value;
        let Ok(one) = graph.whom(name, always).await else { return Ok(None) };
        let other =
            graph.whom(self.dice.one_of(&PEOPLE), always).await.ok().filter(|other| other.id != one.id);
        let text = self.dice.one_of(&PLACES).to_owned();
        let fact = |choice| FactDecision {
            subject: one.id,
            predicate: Predicate::new("likes").expect("the name is made of letters"),
            topic: None,
            object: Value::Literal { key: value_key(&text), text: text.clone() },
            choice,
        };
        Ok(match (self.dice.below(5), other) {
            (0, _) => Some(renaming(one.id, &format!("{name} {}", self.dice.below(9)))?),
            (1, Some(other)) => Some(Decision::Merge { one: one.id, into: other.id }),
            (2, Some(other)) => Some(Decision::Split { one: one.id, from: other.id }),
            (3, _) => Some(Decision::Fact(fact(FactChoice::Reject))),
            _ => Some(Decision::Fact(fact(FactChoice::Add { valid_at: None, invalid_at: None }))),
        })
    }

    async fn decide(&mut self, decision: Decision) -> Result<&'static str> {
        let kind = match decision {
            Decision::Archive { .. } | Decision::Restore { .. } | Decision::Reject { .. } => "verdicts",
            Decision::Merge { .. } | Decision::Split { .. } => "merges and splits",
            _ => "facts and names",
        };
        self.decided.push(self.memory.decide(decision).await?.value.id);
        Ok(kind)
    }

    /// Lets every layer catch up.
    async fn settle(&self) -> Result<()> {
        let engine = self.memory.engine();
        engine.rebuild(Layer::Graph, Rebuild::Anew).await?;
        loop {
            let gaps = engine.fold_within(Duration::from_secs(5)).await;
            let gaps_of_summaries = engine.refresh_summaries().await?;
            if gaps.is_empty() && gaps_of_summaries.is_empty() {
                return Ok(());
            }
        }
    }

    /// Returns how many rows each layer has, and their hash.
    async fn dump(&self) -> Result<BTreeMap<&'static str, (u64, blake3::Hash)>> {
        let mut dump = BTreeMap::new();
        let entities = self.store.entities(&EntityFilter::all()).await?;
        dump.insert("entities", hashed(&entities));
        let facts = self.store.history(&FactFilter::all()).await?;
        dump.insert("facts", hashed(&facts));
        let mentions = self.store.mentions(&MentionFilter::all()).await?;
        dump.insert("mentions", hashed(&mentions));
        let learnings = mnemal::LearningStore::all(self.store.as_ref(), &LearningFilter::all()).await?;
        dump.insert("learnings", hashed(&learnings));
        let summaries = mnemal::SummaryStore::all(self.store.as_ref()).await?;
        dump.insert("summaries", hashed(&summaries));
        Ok(dump)
    }
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
