//! Undo of decisions in any order restores the state without them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mnemal::events::{FactChoice, FactDecision, Selector};
use mnemal::extract::WorldTime;
use mnemal::graph::{EntityFilter, Value, renaming, value_key};
use mnemal::types::{InstallationKey, Predicate};
use mnemal::{
    AsOf, Decision, Engine, ErrorKind, EventId, FactFilter, Learning, LearningFilter, Memory, Message,
    NoteKey, Scope, SessionId, SpaceId, Speaker, Timestamp,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds};

const KEYS: [&str; 6] = ["ferry", "gate", "lamp", "oven", "pump", "till"];
const PEOPLE: [&str; 4] = ["Anna Berg", "Bruno Kohl", "Clara Voss", "Dario Neri"];

/// A pseudo-random generator: `SplitMix64`.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}

struct Space {
    memory: Memory,
    clock: Arc<ManualClock>,
}

/// The state of belief: the notes bit by bit, and facts and names in words.
#[derive(Debug, PartialEq)]
struct State {
    notes: Vec<Learning>,
    facts: BTreeSet<String>,
    entities: BTreeSet<String>,
}

impl Space {
    async fn new(seed: u64) -> Self {
        let clock = Arc::new(ManualClock::default());
        let engine = Engine::builder()
            .with_stores(MemoryStore::new())
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(seed)))
            .with_key(InstallationKey::new([5; 32]))
            .build()
            .unwrap();
        let space = Self { memory: engine.memory(Scope::whole(SpaceId::new("test").unwrap())), clock };
        let session = SessionId::new("hall").unwrap();
        for (n, name) in PEOPLE.iter().enumerate() {
            let friend = PEOPLE[(n + 1) % PEOPLE.len()];
            let said = format!("My friend {friend} lives in Lisbon and works at Acme.");
            let speaker = Speaker::new(*name).unwrap();
            space.clock.advance(Duration::from_mins(1));
            let _ack = space
                .memory
                .log(Message::user(said).speaker(speaker).session(session.clone()))
                .await
                .unwrap();
        }
        for key in &KEYS[..3] {
            space.clock.advance(Duration::from_mins(1));
            let note = format!("The {key} is as it was at first.");
            let _ack = space.memory.remember(note).key(NoteKey::new(*key).unwrap()).by_user().await.unwrap();
        }
        space
    }

    async fn graph(&self) -> mnemal::Graph {
        for _ in 0..1_000 {
            let graph = self.memory.facts().graph().await.unwrap();
            if graph.gaps.is_empty() && !self.is_behind().await {
                return graph.value;
            }
        }
        panic!("the graph does not catch up");
    }

    async fn is_behind(&self) -> bool {
        match self.memory.facts().diff(Timestamp::EPOCH, Timestamp::EPOCH.plus_micros(1)).await {
            Err(error) => error.kind() == ErrorKind::Unavailable,
            Ok(_) => false,
        }
    }

    async fn state(&self) -> State {
        let mut notes = self.memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap();
        notes.sort_by_key(|note| note.id);
        let graph = self.graph().await;
        let now = AsOf::present(Timestamp::MAX);
        let facts = graph.facts(&FactFilter::all(), now).await.unwrap();
        let fact = |fact: &mnemal::Fact| {
            let supports: BTreeSet<String> =
                fact.supports.iter().map(|one| format!("{:?} {:?}", one.source, one.act)).collect();
            format!(
                "{} {} {:?} {} {:?} {:?} {:?} {:?} {supports:?}",
                fact.subject,
                fact.predicate,
                fact.topic,
                fact.object.key(),
                fact.act,
                fact.valid_at,
                fact.invalid_at,
                fact.status,
            )
        };
        let entities = graph.all(&EntityFilter::all(), now).await.unwrap();
        let entity =
            |entity: &mnemal::graph::Entity| format!("{} {} {:?}", entity.id, entity.name, entity.kind);
        State {
            notes,
            facts: facts.iter().map(fact).collect(),
            entities: entities.iter().map(entity).collect(),
        }
    }

    /// Makes a random decision; `None` if it is not possible.
    async fn decide(&self, dice: &mut Dice) -> Option<EventId> {
        self.clock.advance(Duration::from_mins(1));
        let key = NoteKey::new(KEYS[dice.below(KEYS.len())]).unwrap();
        let person =
            async |name: &str| self.graph().await.whom(name, AsOf::present(Timestamp::MAX)).await.ok();
        let name = PEOPLE[dice.below(PEOPLE.len())];
        let decision = match dice.below(9) {
            0 | 1 => {
                let note = format!("The {key} has the number {} now.", dice.below(1_000));
                return Some(self.memory.remember(note).key(key).by_user().await.unwrap().value.event);
            }
            2 => Decision::Archive(key.into()),
            3 => Decision::Restore(key.into()),
            4 => Decision::Reject(key.into()),
            5 => renaming(person(name).await?.id, &format!("{name} {}", dice.below(9))).unwrap(),
            6 => {
                let (one, into) = (person(name).await?.id, person(PEOPLE[0]).await?.id);
                if one == into {
                    return None;
                }
                Decision::Merge { one, into }
            }
            choice => {
                let text = format!("City {}", dice.below(3));
                let at = WorldTime::from_seconds(1_700_000_000 + i64::try_from(dice.below(1_000)).unwrap());
                Decision::Fact(FactDecision {
                    subject: person(name).await?.id,
                    predicate: Predicate::new("likes").unwrap(),
                    topic: None,
                    object: Value::Literal { key: value_key(&text), text },
                    choice: match (choice, dice.below(2)) {
                        (7, _) => FactChoice::Add { valid_at: Some(at), invalid_at: None },
                        (_, 0) => FactChoice::End { at },
                        _ => FactChoice::Reject,
                    },
                    sources: Vec::new(),
                })
            }
        };
        Some(self.memory.facts().decide(decision).await.unwrap().value.id)
    }

    async fn undo(&self, event: EventId) -> mnemal::Result<()> {
        self.clock.advance(Duration::from_mins(1));
        let undo = self.memory.facts().undoing(event).await?;
        self.memory.facts().decide(undo).await.map(drop)
    }
}

/// For each seed, makes this many decisions and undoes them in random order; rejected undos are retried after the others.
async fn check(seed: u64, decisions: usize) {
    let space = Space::new(seed).await;
    let mut dice = Dice(seed);
    let before = space.state().await;
    let mut open = Vec::new();
    while open.len() < decisions {
        open.extend(space.decide(&mut dice).await);
    }
    let changed = space.state().await;
    assert_ne!(changed, before, "{seed}");
    let mut refused = 0;
    while !open.is_empty() {
        let event = open.swap_remove(dice.below(open.len()));
        match space.undo(event).await {
            Ok(()) => refused = 0,
            Err(error) if error.kind() == ErrorKind::Conflict => {
                open.push(event);
                refused += 1;
                assert!(refused < 1_000, "{seed}: {error}");
            }
            Err(error) => panic!("{seed}: {event}: {error}"),
        }
    }
    let after = space.state().await;
    assert_eq!(after.notes, before.notes, "{seed}");
    assert_eq!(after.entities, before.entities, "{seed}");
    assert_eq!(after.facts, before.facts, "{seed}");
}

// proves: NX-04.3 (decisions of a person too)
#[tokio::test]
async fn decisions_taken_back_in_any_order_leave_the_state_of_the_beginning() {
    for seed in 0..8 {
        check(seed, 25).await;
    }
}

#[tokio::test]
async fn a_split_is_taken_back_and_what_it_ended_holds_again() {
    let space = Space::new(99).await;
    let always = AsOf::present(Timestamp::MAX);
    let graph = space.graph().await;
    let (one, into) =
        (graph.whom(PEOPLE[1], always).await.unwrap().id, graph.whom(PEOPLE[0], always).await.unwrap().id);
    let before = space.state().await;
    let _merge = space.memory.facts().decide(Decision::Merge { one, into }).await.unwrap();
    let merged = space.state().await;
    assert_ne!(merged.entities, before.entities);
    space.clock.advance(Duration::from_mins(1));
    let split = space.memory.facts().decide(Decision::Split { one, from: into }).await.unwrap().value.id;
    assert_eq!(space.state().await.entities, before.entities);
    space.undo(split).await.unwrap();
    assert_eq!(space.state().await.entities, merged.entities);
    space.clock.advance(Duration::from_mins(1));
    let again = space.memory.facts().decide(Decision::Split { one: into, from: one }).await.unwrap().value.id;
    space.undo(again).await.unwrap();
    assert_eq!(space.state().await.entities, merged.entities, "whichever is named first");
    let stranger = graph.whom(PEOPLE[2], always).await.unwrap().id;
    space.clock.advance(Duration::from_mins(1));
    let nothing =
        space.memory.facts().decide(Decision::Split { one: stranger, from: into }).await.unwrap().value.id;
    space.undo(nothing).await.unwrap();
    assert_eq!(space.state().await.entities, merged.entities, "nor where it ended nothing");
}

#[tokio::test]
async fn each_kind_of_decision_says_how_it_is_taken_back_and_is() {
    let space = Space::new(7).await;
    let graph = space.graph().await;
    let anna = graph.whom(PEOPLE[0], AsOf::present(Timestamp::MAX)).await.unwrap().id;
    let key = |place: usize| NoteKey::new(KEYS[place]).unwrap();
    let lives = |object: &Value, choice: FactChoice| {
        let (predicate, object) = (Predicate::new("lives_in").unwrap(), object.clone());
        Decision::Fact(FactDecision {
            subject: anna,
            predicate,
            topic: None,
            object,
            choice,
            sources: Vec::new(),
        })
    };
    let city = |name: &str| Value::Literal { text: name.to_owned(), key: value_key(name) };
    let add = FactChoice::Add { valid_at: None, invalid_at: None };
    let end = FactChoice::End { at: WorldTime::from_seconds(1_772_360_000) };
    let _away = space.memory.facts().decide(Decision::Archive(key(2).into())).await.unwrap();
    let _told = space.memory.facts().decide(lives(&city("Bergen"), add)).await.unwrap();
    let told = space.graph().await.whom("Bergen", AsOf::present(Timestamp::MAX)).await.unwrap().id;
    let bergen = Value::Entity(told);
    let rows = [
        Decision::Archive(key(0).into()),
        Decision::Reject(key(1).into()),
        Decision::Restore(key(2).into()),
        lives(&city("Lisbon"), add),
        lives(&bergen, end),
        lives(&bergen, FactChoice::Reject),
        renaming(anna, "Anna Lind").unwrap(),
    ];
    for decision in rows {
        space.clock.advance(Duration::from_mins(1));
        let before = space.state().await;
        let event = space.memory.facts().decide(decision.clone()).await.unwrap().value.id;
        assert_ne!(space.state().await, before, "{decision:?}");
        assert!(decision.can_be_undone());
        space.undo(event).await.unwrap();
        assert_eq!(space.state().await, before, "{decision:?}");
    }
    let before = space.state().await;
    let noted = space.memory.remember("The gate is green.").key(key(0)).by_user().await.unwrap().value.event;
    assert_ne!(space.state().await, before);
    space.undo(noted).await.unwrap();
    assert_eq!(space.state().await, before);
    // The undo of a merge and its split is tested above; these two are never undone.
    let undo = space
        .memory
        .facts()
        .decide(space.memory.facts().undoing(noted).await.unwrap())
        .await
        .unwrap()
        .value
        .id;
    let forgotten = space.memory.forget(Selector::Events(vec![noted])).await.unwrap().event.unwrap();
    for (event, kind) in [(undo, "undo"), (forgotten, "forget")] {
        assert_eq!(
            space.memory.facts().undoing(event).await.unwrap_err().kind(),
            ErrorKind::Invalid,
            "{kind}"
        );
    }
}

#[tokio::test]
async fn a_note_that_was_undone_is_shown_nowhere() {
    let space = Space::new(9).await;
    let plain = space.memory.remember("The kiln cools on Thursdays.").by_user().await.unwrap().value.event;
    let first = space
        .memory
        .remember("Tea at 4")
        .key(NoteKey::new("tea").unwrap())
        .by_user()
        .await
        .unwrap()
        .value
        .event;
    space.clock.advance(Duration::from_mins(1));
    let second = space
        .memory
        .remember("Tea at 5")
        .key(NoteKey::new("tea").unwrap())
        .by_user()
        .await
        .unwrap()
        .value
        .event;
    let shown = async |question: &str| {
        let found = space.memory.recall(question).await.unwrap().value;
        let context = space.memory.context(question).await.unwrap().value;
        (found.hits.iter().map(|hit| hit.event.id).collect::<Vec<_>>(), context.text)
    };
    let (hits, _) = shown("when is tea?").await;
    assert!(hits.contains(&second) && !hits.contains(&first), "{hits:?}");
    space.undo(second).await.unwrap();
    let (hits, text) = shown("when is tea?").await;
    assert!(hits.contains(&first) && !hits.contains(&second), "{hits:?}");
    assert!(text.contains("Tea at 4") && !text.contains("Tea at 5"), "{text}");
    space.undo(plain).await.unwrap();
    let (hits, text) = shown("when does the kiln cool?").await;
    assert!(!hits.contains(&plain) && !text.contains("kiln"), "{text}");
}
