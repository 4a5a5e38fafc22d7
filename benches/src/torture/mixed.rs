//! Random operations of people, agents and tools on a space: turns, notes, decisions, undos, forgets, cycles.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use mnemal::admin::RebuildMode;
use mnemal::events::{FactChoice, FactDecision, Selector};
use mnemal::extract::WorldTime;
use mnemal::graph::{EntityFilter, Value, renaming, value_key};
use mnemal::types::{InstallationKey, Layer, OwnerId, Predicate, ToolName};
use mnemal::{
    AsOf, Builder, Decision, Engine, ErrorKind, EventId, Memory, Message, NoteKey, Scope, SessionId, SpaceId,
    Speaker, Timestamp,
};
use mnemal_testkit::{ManualClock, SeededIds};

use crate::words::{Dice, Words};

const PEOPLE: [&str; 6] = ["Anna Berg", "Bruno Kohl", "Clara Voss", "Dario Neri", "Edda Lund", "Fritz Amann"];
const PLACES: [&str; 6] = ["Lisbon", "Turin", "Graz", "Bergen", "Porto", "Ghent"];
const KEYS: [&str; 8] = ["ferry", "gate", "lamp", "oven", "pump", "till", "scale", "fan"];

/// What chance may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chance {
    /// Everything.
    Whatever,
    /// Nothing that says of what was that it never was: no forget and no undo.
    Keeps,
}

/// A space and the chance that acts on it.
pub(super) struct Space {
    pub(super) memory: Memory,
    pub(super) clock: Arc<ManualClock>,
    pub(super) dice: Dice,
    words: Words,
    chance: Chance,
    /// What can be forgotten or undone.
    said: Vec<EventId>,
    pub(super) decided: Vec<EventId>,
}

impl Space {
    /// Returns the parts of an engine, all but its store, and its clock.
    pub(super) fn parts(seed: u64) -> (Builder, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::default());
        let builder = Engine::builder()
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(seed)))
            .with_key(InstallationKey::new([7; 32]));
        (builder, clock)
    }

    pub(super) fn new(engine: &Engine, clock: Arc<ManualClock>, seed: u64) -> Result<Self> {
        let memory = engine.memory(Scope::whole(SpaceId::new("mixed")?));
        let (dice, words) = (Dice::new(seed), Words::default());
        let chance = Chance::Whatever;
        Ok(Self { memory, clock, dice, words, chance, said: Vec::new(), decided: Vec::new() })
    }

    pub(super) fn with(self, chance: Chance) -> Self {
        Self { chance, ..self }
    }

    /// Does one random operation, and returns it.
    pub(super) async fn step(&mut self) -> Result<&'static str> {
        self.clock.advance(Duration::from_secs(1 + self.dice.below(5_000) as u64));
        let person = self.dice.one_of(&PEOPLE);
        let session = SessionId::new(format!("talk-{}", self.dice.below(40)))?;
        match self.dice.below(100) {
            0..60 => {
                let text = self.sentence();
                let by = if self.dice.below(3) == 0 { Message::assistant(text) } else { Message::user(text) };
                self.say(by.speaker(Speaker::new(person)?).session(session), "turns").await
            }
            60..66 => {
                let tool = ToolName::new(self.dice.one_of(&["look_up", "weather"]))?;
                let failed = self.dice.below(4) == 0;
                let result = if failed {
                    Message::tool_failure(tool, "it timed out after 5 s")
                } else {
                    Message::tool_result(tool, self.sentence())
                };
                self.say(result.session(session), "results of tools").await
            }
            66..90 => self.decide_something().await,
            90..94 if self.chance != Chance::Keeps => {
                let Some(event) = self.one_decided() else { return Ok("nothing to take back") };
                match self.memory.facts().undoing(event).await {
                    Ok(undo) => {
                        let _ack = self.memory.facts().decide(undo).await?;
                        Ok("undos")
                    }
                    Err(error) if error.kind() != ErrorKind::Unavailable => Ok("nothing to take back"),
                    Err(error) => Err(error.into()),
                }
            }
            94..96 => match self.memory.events().compress(session).keep_last(2).await {
                Ok(_) => Ok("compressions"),
                Err(error) if error.kind() != ErrorKind::Unavailable => Ok("nothing to compress"),
                Err(error) => Err(error.into()),
            },
            96..98 => {
                let owner = OwnerId::new("mixed")?;
                let _cycle =
                    self.memory.admin().engine().dream(&owner, mnemal::dream::DreamMode::Asked).await?;
                Ok("cycles")
            }
            _ if self.chance == Chance::Keeps => Ok("nothing is taken back"),
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

    /// Says something; what was forgotten may not be said again by an agent or a tool.
    async fn say(&mut self, message: Message, kind: &'static str) -> Result<&'static str> {
        match self.memory.log(message).await {
            Ok(said) => {
                self.said.push(said.value.id);
                Ok(kind)
            }
            Err(error) if error.kind() == ErrorKind::Invalid => Ok("refused, because it was forgotten"),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a random decision; the newest of `decided` is its event, unless there was no target.
    pub(super) async fn decide_something(&mut self) -> Result<&'static str> {
        let key = NoteKey::new(self.dice.one_of(&KEYS))?;
        match self.dice.below(24) {
            0..10 => {
                let text = self.sentence();
                let note = self.memory.remember(text).key(key).by_user().await?;
                self.decided.push(note.value.event);
                Ok("notes")
            }
            10..16 => {
                let decision = match self.dice.below(3) {
                    0 => Decision::Archive(key.into()),
                    1 => Decision::Restore(key.into()),
                    _ => Decision::Reject(key.into()),
                };
                self.decide(decision).await
            }
            _ => match self.about().await? {
                Some(decision) => self.decide(decision).await,
                None => Ok("nobody to decide about"),
            },
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

    /// Returns a random question about the dialogue.
    pub(super) fn question(&mut self) -> String {
        let (person, place) = (self.dice.one_of(&PEOPLE), self.dice.one_of(&PLACES));
        match self.dice.below(6) {
            0 => format!("Where does {person} live?"),
            1 => format!("Who lives in {place}?"),
            2 => format!("How should I answer about {place}?"),
            3 => format!("What is {person} allergic to?"),
            _ => self.sentence(),
        }
    }

    /// Returns a decision about an entity of the graph.
    async fn about(&mut self) -> Result<Option<Decision>> {
        let graph = self.memory.facts().graph().await?.value;
        let known = graph.all(&EntityFilter::all(), AsOf::present(Timestamp::MAX)).await?;
        let Some(one) = known.get(self.dice.below(known.len())) else { return Ok(None) };
        let other = known.get(self.dice.below(known.len())).filter(|other| other.id != one.id);
        let text = self.dice.one_of(&PLACES).to_owned();
        let fact = |choice| FactDecision {
            subject: one.id,
            predicate: Predicate::new("likes").expect("the name is made of letters"),
            topic: None,
            object: Value::Literal { key: value_key(&text), text: text.clone() },
            choice,
            sources: Vec::new(),
        };
        let at = WorldTime::from_seconds(1_700_000_000 + i64::try_from(self.dice.below(1_000))?);
        Ok(match (self.dice.below(7), other) {
            (0, _) => Some(renaming(one.id, &format!("{} {}", one.name, self.dice.below(9)))?),
            (1, Some(other)) => Some(Decision::Merge { one: one.id, into: other.id }),
            (2, Some(other)) => Some(Decision::Split { one: one.id, from: other.id }),
            (3, _) => Some(Decision::Fact(fact(FactChoice::Reject))),
            (4, _) => Some(Decision::Fact(fact(FactChoice::End { at }))),
            (5, _) => Some(Decision::Fact(fact(FactChoice::Add { valid_at: Some(at), invalid_at: None }))),
            _ => Some(Decision::Fact(fact(FactChoice::Add { valid_at: None, invalid_at: None }))),
        })
    }

    async fn decide(&mut self, decision: Decision) -> Result<&'static str> {
        let kind = match decision {
            Decision::Archive(_) | Decision::Restore(_) | Decision::Reject(_) => "verdicts",
            Decision::Merge { .. } | Decision::Split { .. } => "merges and splits",
            _ => "facts and names",
        };
        self.decided.push(self.memory.facts().decide(decision).await?.value.id);
        Ok(kind)
    }

    /// Lets every layer catch up.
    pub(super) async fn settle(&self) -> Result<()> {
        let engine = self.memory.admin().engine();
        engine.rebuild(Layer::Graph, RebuildMode::Anew).await?;
        loop {
            let gaps = engine.fold_within(Duration::from_secs(5)).await;
            let gaps_of_summaries = engine.refresh_summaries().await?;
            if gaps.is_empty() && gaps_of_summaries.is_empty() {
                return Ok(());
            }
        }
    }
}
