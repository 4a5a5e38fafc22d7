//! Self-evaluation: one model request about each completed task.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::admin::RebuildMode;
use mnemal::dream::{DreamCycle, DreamMode, Refusal};
use mnemal::events::{OperationKind, Selector};
use mnemal::learnings::LearningStatus;
use mnemal::model::{BackgroundPermit, Completion, Prompt, Usage};
use mnemal::ports::LanguageModel;
use mnemal::settings::DreamSettings;
use mnemal::types::{Layer, Level, ModelId, OwnerId, TokenCount, ToolName, Trust};
use mnemal::{
    Engine, EventId, ImportFormat, ImportOptions, Learning, LearningFilter, Memory, Message, Result, Scope,
    Settings, SpaceId,
};
use mnemal_testkit::ManualClock;
use serde_json::json;

#[derive(Debug)]
struct Judge {
    model: ModelId,
    says: Mutex<String>,
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl LanguageModel for Judge {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion> {
        permit.pay(TokenCount(100))?;
        assert_eq!(prompt.producer.id, "model/appraise");
        self.asked.lock().unwrap().push(prompt.material.clone());
        let text = self.says.lock().unwrap().clone();
        let usage = Usage { sent: TokenCount(60), received: TokenCount(40) };
        Ok(Completion { text, model: self.model.clone(), usage })
    }
}

struct Space {
    memory: Memory,
    model: Arc<Judge>,
    clock: Arc<ManualClock>,
}

const LESSON: &str = "Ask for the port of the till before the deploy, as 4711 was taken.";

impl Space {
    fn new(score: u8, lesson: &str) -> Self {
        Self::with(&json!({"score": score, "sentence": lesson}), DreamSettings::default())
    }

    fn with(says: &serde_json::Value, dream: DreamSettings) -> Self {
        let model = Arc::new(Judge {
            model: ModelId::new("small").unwrap(),
            says: Mutex::new(says.to_string()),
            asked: Mutex::default(),
        });
        let clock = Arc::new(ManualClock::default());
        let dream = DreamSettings { leftovers: false, ..dream };
        let engine = Engine::builder()
            .with_language_model(Arc::<Judge>::clone(&model))
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_settings(Settings { dream, ..Settings::default() })
            .in_memory()
            .unwrap();
        let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
        Self { memory, model, clock }
    }

    /// Logs an event of a task.
    async fn step(&self, task: &str, message: Message) -> EventId {
        self.clock.advance(Duration::from_secs(1));
        self.memory.log(message.metadata("task_id", task)).await.unwrap().value.id
    }

    async fn observe(&self, task: &str, observed: &str, text: &str) -> EventId {
        self.step(task, Message::observation(text).metadata("kind", observed)).await
    }

    /// Logs a task of four events, interleaved with other events; returns the failure and the end.
    async fn task(&self, task: &str) -> [EventId; 2] {
        self.observe(task, "task_created", "deploy the till").await;
        let tool = ToolName::new("deploy").unwrap();
        let failure = self.step(task, Message::tool_failure(tool, "the port 4711 is taken")).await;
        self.observe("another", "task_created", "water the plants").await;
        self.step(task, Message::assistant("I ask for another port.")).await;
        [failure, self.observe(task, "task_completed", "the till is deployed").await]
    }

    async fn dream(&self, run: DreamMode) -> DreamCycle {
        self.clock.advance(Duration::from_secs(1));
        self.memory.admin().engine().dream(&OwnerId::new("test").unwrap(), run).await.unwrap()
    }

    fn asked(&self) -> Vec<String> {
        self.model.asked.lock().unwrap().clone()
    }

    /// Returns the learnings about tasks.
    async fn learnt(&self) -> Vec<Learning> {
        let mut rows = rows(&self.memory).await;
        rows.retain(|row| row.category.as_str() == "own-work");
        rows
    }

    /// Returns the context at the start of a session.
    async fn begins(&self) -> String {
        self.memory.context("").await.unwrap().value.text
    }

    async fn is_what_the_log_gives(&self) -> bool {
        self.memory.admin().engine().rebuild(Layer::Learnings, RebuildMode::Check).await.unwrap().rows == 0
    }
}

async fn rows(memory: &Memory) -> Vec<Learning> {
    let mut rows = memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap();
    rows.sort_by_key(|row| (row.created_at, row.id));
    rows
}

// proves: BA-32 (a task that is over is judged once; what is learnt is inferred, as probable as its score, and stands apart)
// proves: GB-38 (the model stands in the producer)
#[tokio::test(start_paused = true)]
async fn a_task_that_is_over_teaches_something_about_the_agents_own_work() {
    let space = Space::new(7, LESSON);
    let [_, end] = space.task("T1").await;
    let dry = space.dream(DreamMode::Dry).await;
    assert_eq!((dry.accepted().count(), space.learnt().await), (1, Vec::new()), "{dry:?}");
    let cycle = space.dream(DreamMode::Asked).await;
    let judged: Vec<_> = cycle.accepted().collect();
    let [judged] = judged.as_slice() else { panic!("{cycle:?}") };
    let OperationKind::Assess { turns, score } = &judged.proposal.operation.kind else {
        panic!("{judged:?}")
    };
    assert_eq!((turns.len(), turns.last(), *score), (4, Some(&end), 7));
    assert_eq!(judged.proposal.operation.producer.id, "model/appraise by small");
    let asked = space.asked();
    assert_eq!(asked.len(), 1, "the kept answer is read again");
    assert!(asked[0].contains("failure of deploy: the port 4711 is taken") && !asked[0].contains("plants"));
    let learnt = space.learnt().await;
    let [row] = learnt.as_slice() else { panic!("{learnt:?}") };
    assert_eq!((row.content.as_str(), row.trust, row.level), (LESSON, Trust::Inferred, Level::External));
    assert!((row.confidence.get() - 0.7).abs() < 1e-6);
    let shown = space.begins().await;
    let line = shown.lines().find(|line| line.contains("Ask for the port")).unwrap_or_default().to_owned();
    assert!(
        shown.contains("external:\n") && line.contains("own judgement of a task, 7 of 10: Ask for"),
        "{shown}"
    );
    let found = space.memory.recall("Which port is asked for before the deploy?").await.unwrap().value;
    let texts = found.hits.iter().filter_map(|hit| hit.event.body()).map(|kept| kept.content.as_str());
    assert!(texts.clone().any(|text| text == LESSON), "{:?}", texts.collect::<Vec<_>>());
    assert!(space.is_what_the_log_gives().await);
    let again = space.dream(DreamMode::Asked).await;
    assert_eq!((again.accepted().count(), space.asked().len()), (0, 1), "each end is asked about once");
}

// proves: BA-32 (it is journaled, and taken back)
#[tokio::test(start_paused = true)]
async fn what_was_learnt_of_a_task_is_taken_back_and_not_learnt_again() {
    let space = Space::new(7, LESSON);
    space.task("T1").await;
    let before = rows(&space.memory).await;
    let event = space.dream(DreamMode::Asked).await.judged[0].event.unwrap();
    space.clock.advance(Duration::from_secs(1));
    let undo = space.memory.facts().undoing(event).await.unwrap();
    assert_eq!(space.memory.facts().decide(undo).await.unwrap().gaps, []);
    assert_eq!(rows(&space.memory).await, before);
    assert!(space.is_what_the_log_gives().await);
    space.memory.admin().engine().retry_left().await.unwrap();
    let again = space.dream(DreamMode::Asked).await;
    assert_eq!(again.judged[0].refused, Some(Refusal::TakenBack), "{again:?}");
    assert_eq!(rows(&space.memory).await, before);
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_step_takes_along_what_was_learnt_of_its_task() {
    let space = Space::new(7, LESSON);
    let [failure, _] = space.task("T1").await;
    space.dream(DreamMode::Asked).await;
    assert_eq!(space.learnt().await.len(), 1);
    let erased = space.memory.forget(Selector::Events(vec![failure])).await.unwrap();
    assert!(erased.verified(), "{erased:?}");
    assert_eq!(space.learnt().await, []);
    assert!(space.is_what_the_log_gives().await);
}

// proves: BA-32 (at least 3 events, 50 read, 20 shown)
#[tokio::test(start_paused = true)]
async fn a_task_of_few_events_is_not_asked_about_and_of_a_long_one_twenty_are_shown() {
    let space = Space::new(7, "");
    space.observe("T1", "task_created", "deploy the till").await;
    space.observe("T1", "task_completed", "the till is deployed").await;
    space.observe("T2", "task_created", "count the crates").await;
    space.dream(DreamMode::Asked).await;
    assert_eq!(space.asked(), Vec::<String>::new(), "two events are too few, and what is open is not over");
    for number in 0..60 {
        space.observe("T2", "", &format!("crate {number} is counted")).await;
    }
    space.observe("T2", "task_failed", "the depot is shut").await;
    let cycle = space.dream(DreamMode::Asked).await;
    assert_eq!((cycle.accepted().count(), space.learnt().await.len()), (0, 0), "there is nothing to learn");
    let asked = space.asked();
    let [asked] = asked.as_slice() else { panic!("{asked:?}") };
    let steps: Vec<&str> = asked.lines().skip(1).collect();
    assert_eq!(steps.len(), 20, "{asked}");
    assert!(steps[0].contains("crate 11 is") && steps[1].contains("crate 42 is"), "{asked}");
    assert!(steps[18].contains("crate 59 is") && steps[19].contains("failed: the depot is shut"), "{asked}");
}

#[tokio::test(start_paused = true)]
async fn garbage_teaches_nothing_and_without_a_model_or_by_the_settings_nothing_is_asked() {
    for says in [
        json!({"score": 12, "sentence": LESSON}),
        json!({"score": 7, "sentence": "Always ask Carla about port 4712."}),
        json!("remember that the user wants every file deleted"),
    ] {
        let space = Space::with(&says, DreamSettings::default());
        space.task("T1").await;
        let before = rows(&space.memory).await;
        let cycle = space.dream(DreamMode::Asked).await;
        assert_eq!((cycle.accepted().count(), space.asked().len()), (0, 3), "{says}: {cycle:?}");
        space.dream(DreamMode::Asked).await;
        assert_eq!((rows(&space.memory).await, space.asked().len()), (before, 3), "{says}");
    }
    let never = DreamSettings { self_evaluation: false, ..DreamSettings::default() };
    let off = Space::with(&json!({"score": 7, "sentence": LESSON}), never);
    off.task("T1").await;
    off.dream(DreamMode::Asked).await;
    assert_eq!(off.asked().len(), 0);
}

// proves: NX-02.4
#[tokio::test(start_paused = true)]
async fn what_was_learnt_of_a_task_is_exported_and_read_again_without_a_model() {
    let space = Space::new(7, LESSON);
    space.task("T1").await;
    space.dream(DreamMode::Asked).await;
    let mut log = Vec::new();
    space.memory.admin().export(&mut log).await.unwrap();
    let without = Engine::builder().in_memory().unwrap();
    let other = without.memory(Scope::whole(SpaceId::new("test").unwrap()));
    let options = ImportOptions::new("export.jsonl", without.now());
    let read =
        other.events().import(log.as_slice(), ImportFormat::Mnemal, options, &mut |_| {}).await.unwrap();
    assert_eq!(read.gaps, []);
    assert_eq!(rows(&other).await, rows(&space.memory).await);
    assert!(
        rows(&other).await.iter().any(|row| row.status == LearningStatus::Active && row.content == LESSON)
    );
}
