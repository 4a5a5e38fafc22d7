//! Safety of consolidation in every mode: off, by rule alone, and with a lying model.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::dream::{DreamCycle, DreamMode};
use mnemal::events::{Classification, LedgerKind, Operation, OperationKind};
use mnemal::learnings::LearningStatus;
use mnemal::model::{BackgroundPermit, Completion, Prompt, Usage};
use mnemal::ports::{LanguageModel, Pass, PassOutcome, Proposal};
use mnemal::settings::DreamSchedule;
use mnemal::types::{Category, Importance, ModelId, OwnerId, Producer, TokenCount};
use mnemal::{
    Engine, Event, EventFilter, EventId, EventKind, Learning, LearningFilter, LearningKind, Memory, Result,
    Scope, Settings, SpaceId,
};
use mnemal_testkit::ManualClock;

/// Shelves, each with numbers of its own.
const SHELVES: usize = 100;
/// More events than any space of this test has.
const EVENTS: NonZeroUsize = NonZeroUsize::new(10_000).expect("10,000 is not zero");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Off,
    Rules,
    Model,
}

/// A model that merges any two notes into an unrelated sentence.
#[derive(Debug)]
struct Liar {
    model: ModelId,
    asked: AtomicUsize,
}

#[async_trait]
impl LanguageModel for Liar {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn complete(&self, permit: &mut BackgroundPermit, _prompt: &Prompt) -> Result<Completion> {
        permit.pay(TokenCount(100))?;
        self.asked.fetch_add(1, Ordering::Relaxed);
        let usage = Usage { sent: TokenCount(60), received: TokenCount(40) };
        let text = "All of it is said elsewhere already.".to_owned();
        Ok(Completion { text, model: self.model.clone(), usage })
    }
}

/// A pass that makes the same proposals in every cycle.
#[derive(Debug)]
struct Insists(Mutex<Vec<Proposal>>);

#[async_trait]
impl Pass for Insists {
    fn name(&self) -> &'static str {
        "insists"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        Ok(PassOutcome { proposals: self.0.lock().unwrap().clone(), ..PassOutcome::default() })
    }
}

struct Space {
    memory: Memory,
    clock: Arc<ManualClock>,
    liar: Arc<Liar>,
}

impl Space {
    fn new(mode: Mode) -> Self {
        let clock = Arc::new(ManualClock::default());
        let liar = Arc::new(Liar { model: ModelId::new("liar").unwrap(), asked: AtomicUsize::new(0) });
        let mut settings = Settings::default();
        if mode == Mode::Off {
            settings.dream.schedule = DreamSchedule::Off;
        }
        let mut builder =
            Engine::builder().with_clock(Arc::<ManualClock>::clone(&clock)).with_settings(settings);
        if mode == Mode::Model {
            builder = builder.with_language_model(Arc::<Liar>::clone(&liar));
        }
        let memory = builder.in_memory().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()));
        Self { memory, clock, liar }
    }

    async fn note(&self, text: &str, importance: f32) -> EventId {
        // Faster writes hit the rate limit.
        self.clock.advance(Duration::from_mins(1));
        let note = self.memory.remember(text).importance(Importance::new(importance).unwrap());
        note.await.unwrap().value.event
    }

    async fn rows(&self) -> Vec<Learning> {
        self.memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap()
    }

    async fn insisting(&self, proposals: &[Proposal]) -> DreamCycle {
        self.clock.advance(Duration::from_mins(1));
        let pass = Insists(Mutex::new(proposals.to_vec()));
        let dreamer = self.memory.admin().engine().dreamer(vec![Arc::new(pass)]).unwrap();
        dreamer.cycle(DreamMode::Asked).await.unwrap()
    }

    async fn asked_for(&self) -> DreamCycle {
        self.clock.advance(Duration::from_mins(1));
        self.memory.admin().engine().dream(&OwnerId::new("test").unwrap(), DreamMode::Asked).await.unwrap()
    }

    async fn by_itself(&self) -> usize {
        for _ in 0..4 {
            self.clock.advance(Duration::from_hours(1));
            let _tended =
                self.memory.admin().engine().maintain(&OwnerId::new("test").unwrap()).await.unwrap();
        }
        self.memory.admin().engine().dream_ledger(LedgerKind::Cycle).await.unwrap().len()
    }
}

fn proposal(kind: OperationKind, text: &str) -> Proposal {
    let producer = Producer { id: "dream/insists".to_owned(), version: 1 };
    let shown = kind.names();
    let operation = Operation { kind, producer, prompt: None, shown, because: "a test".to_owned() };
    Proposal { operation, text: text.to_owned() }
}

fn classification() -> Classification {
    Classification {
        category: Category::new("depot").unwrap(),
        tags: Vec::new(),
        importance: Importance::DEFAULT,
    }
}

/// Proposals that must all be rejected.
fn bad(one: EventId, other: EventId, dear: EventId, unknown: EventId) -> Vec<Proposal> {
    let merge = |notes: [EventId; 2], text: &str| {
        proposal(OperationKind::Merge { notes: notes.to_vec(), classification: classification() }, text)
    };
    let raised = OperationKind::Infer {
        from: vec![one, other],
        kind: LearningKind::Preference,
        classification: classification(),
    };
    vec![
        merge([one, other], "The shelves of the halls hold crates."),
        merge([one, other], ""),
        merge(
            [one, other],
            "Shelf 10 of hall 1010 holds crate 2010, shelf 11 of hall 1011 crate 2011 and 9999.",
        ),
        merge([one, unknown], "Shelf 10 of hall 1010 holds crate 2010."),
        proposal(OperationKind::Retire { notes: vec![dear], into: None }, ""),
        proposal(OperationKind::Retire { notes: vec![one], into: Some(other) }, ""),
        proposal(raised, "The user wants crates on shelves of halls."),
    ]
}

// proves: NX-04.4
#[tokio::test(start_paused = true)]
async fn the_safety_set_holds_in_every_mode() {
    for mode in [Mode::Off, Mode::Rules, Mode::Model] {
        let space = Space::new(mode);
        let mut shelves = Vec::new();
        for number in 0..SHELVES {
            let text = format!("Shelf {number} of hall {} holds crate {}.", number + 1_000, number + 2_000);
            shelves.push(space.note(&text, 0.5).await);
        }
        let dear = space.note("Never restart the pump at night.", 0.9).await;
        for _ in 0..3 {
            space.note("The lift is loud.", 0.5).await;
        }
        space.note("Bo paints the fence of the orchard with green paint", 0.5).await;
        space.note("Bo paints the fence of the orchard with paint on Sunday", 0.5).await;
        let before = space.rows().await;
        let bad = bad(shelves[10], shelves[11], dear, EventId(12));

        // Off: no scheduled cycle runs. Otherwise duplicates are merged, and every operation can be undone.
        let cycles = space.by_itself().await;
        assert_eq!(cycles == 0, mode == Mode::Off, "{mode:?}");
        assert!(mode != Mode::Off || space.rows().await == before);

        for round in 0..4 {
            for cycle in [space.insisting(&bad).await, space.asked_for().await] {
                let refused = cycle.refused().filter(|judged| judged.pass == "insists").count();
                assert!(refused == 0 || refused == bad.len(), "{mode:?} {round}: {cycle:?}");
                assert_eq!(cycle.vanished, 0, "{mode:?} {round}");
                assert!(cycle.archived <= 2, "a fiftieth of 106 at most: {cycle:?}");
                assert!(cycle.model_calls <= 20 && cycle.tokens <= 60_000, "{mode:?} {round}");
                assert_eq!(cycle.findings, [], "{mode:?} {round}");
            }
        }
        assert_eq!(space.liar.asked.load(Ordering::Relaxed) > 0, mode == Mode::Model);

        let after = space.rows().await;
        for row in &before {
            let now = after.iter().find(|other| other.id == row.id).unwrap();
            assert_eq!(now.content, row.content, "{mode:?}: nothing is deleted or changed");
            let is_copy = row.content == "The lift is loud.";
            assert!(is_copy || now.status == LearningStatus::Active, "{mode:?}: {}", row.content);
            assert_eq!(now.status == LearningStatus::Active, now.expired_at.is_none(), "{mode:?}");
        }
        let lifts = after.iter().filter(|row| row.content == "The lift is loud.");
        assert_eq!(lifts.filter(|row| row.status == LearningStatus::Active).count(), 1, "{mode:?}");
        assert!(
            !space.memory.admin().engine().dream_ledger(LedgerKind::Refused).await.unwrap().is_empty(),
            "{mode:?}"
        );

        let log = space.memory.events().latest(&EventFilter::all(), EVENTS).await.unwrap();
        let is_operation =
            |event: &&Event| event.body().is_some_and(|kept| matches!(kept.kind, EventKind::Operation(_)));
        for operation in log.iter().filter(is_operation) {
            let undo = space.memory.facts().undoing(operation.id).await.unwrap();
            assert_eq!(space.memory.facts().decide(undo).await.unwrap().gaps, []);
        }
        assert_eq!(space.rows().await, before, "{mode:?}: the log takes every change back");
    }
}
