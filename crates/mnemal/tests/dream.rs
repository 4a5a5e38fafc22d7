//! Consolidation: validated, limited, recorded, and undoable.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::dream::{Assessment, DreamCycle, DreamFamily, DreamMode, DreamSample};
use mnemal::events::{Classification, LedgerKind, Operation, OperationKind, Selector};
use mnemal::learnings::{LearningDelta, LearningStatus};
use mnemal::model::BackgroundPermit;
use mnemal::ports::{LearningStore as _, Pass, PassOutcome, Proposal};
use mnemal::types::{Category, EntityId, Importance, InstallationKey, OwnerId, Producer, Tag};
use mnemal::{
    Engine, ErrorKind, EventId, Learning, LearningFilter, LearningKind, Memory, Message, Scope, Settings,
    SpaceId,
};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{ManualClock, SeededIds};

struct Space {
    memory: Memory,
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
}

impl Space {
    fn new() -> Self {
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
        Self { memory: opened(&store, &clock, 1), store, clock }
    }

    /// The same space after a restart of the process.
    fn restarted(&self, seed: u64) -> Memory {
        opened(&self.store, &self.clock, seed)
    }

    async fn note(&self, text: &str) -> EventId {
        self.clock.advance(Duration::from_secs(1));
        self.memory.remember(text).await.unwrap().value.event
    }

    async fn dream(&self, run: DreamMode) -> DreamCycle {
        self.clock.advance(Duration::from_secs(1));
        self.memory.admin().engine().dream(&owner(), run).await.unwrap()
    }

    /// Runs cycles until one does nothing; returns the number of operations.
    async fn settle(&self) -> usize {
        let mut done = 0;
        for _ in 0..50 {
            match self.dream(DreamMode::Asked).await.accepted().count() {
                0 => return done,
                some => done += some,
            }
        }
        panic!("50 cycles find no end");
    }

    async fn with(&self, proposals: Vec<Proposal>, run: DreamMode) -> DreamCycle {
        let pass = Scripted(Mutex::new(proposals));
        let dreamer = self.memory.admin().engine().dreamer(vec![Arc::new(pass)]).unwrap();
        dreamer.cycle(run).await.unwrap()
    }

    async fn rows(&self) -> Vec<Learning> {
        self.memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap()
    }

    async fn live(&self) -> Vec<String> {
        let rows = self.rows().await.into_iter().filter(|row| row.status == LearningStatus::Active);
        rows.map(|row| row.content).collect()
    }

    async fn undo(&self, event: EventId) {
        self.clock.advance(Duration::from_secs(1));
        let decision = self.memory.facts().undoing(event).await.unwrap();
        assert!(self.memory.facts().decide(decision).await.unwrap().gaps.is_empty());
    }

    async fn recalled(&self, query: &str) -> Vec<String> {
        let hits = self.memory.recall(query).await.unwrap().value.hits;
        hits.into_iter().filter_map(|hit| Some(hit.event.body()?.content.clone())).collect()
    }
}

fn opened(store: &Arc<MemoryStore>, clock: &Arc<ManualClock>, seed: u64) -> Memory {
    let mut settings = Settings::default();
    settings.dream.insights = Some(true);
    let builder = Engine::builder()
        .with_settings(settings)
        .with_stores(Stores::all(Arc::clone(store)))
        .with_clock(Arc::<ManualClock>::clone(clock))
        .with_ids(Arc::new(SeededIds::new(seed)))
        .with_key(InstallationKey::new([7; 32]));
    builder.build().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()))
}

fn owner() -> OwnerId {
    OwnerId::new("test").unwrap()
}

/// A pass that makes scripted proposals, once.
#[derive(Debug)]
struct Scripted(Mutex<Vec<Proposal>>);

#[async_trait]
impl Pass for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> mnemal::Result<PassOutcome> {
        let proposals = std::mem::take(&mut *self.0.lock().unwrap());
        Ok(PassOutcome { proposals, ..PassOutcome::default() })
    }
}

fn proposal(operation_kind: OperationKind, text: &str) -> Proposal {
    let producer = Producer { id: "dream/scripted".to_owned(), version: 1 };
    let shown = operation_kind.names();
    let operation =
        Operation { kind: operation_kind, producer, prompt: None, shown, because: "a test".to_owned() };
    Proposal { operation, text: text.to_owned() }
}

fn classification() -> Classification {
    Classification {
        category: Category::new("team").unwrap(),
        tags: Vec::new(),
        importance: Importance::DEFAULT,
    }
}

fn merge(notes: &[EventId], text: &str) -> Proposal {
    proposal(OperationKind::Merge { notes: notes.to_vec(), classification: classification() }, text)
}

// proves: AD-40, AD-41, DF-18
#[tokio::test]
async fn five_copies_become_one_without_a_model_and_four_can_come_back() {
    let space = Space::new();
    for _ in 0..5 {
        space.note("The till in Genoa listens on port 4711.").await;
    }
    let first = space.dream(DreamMode::Asked).await;
    assert_eq!((first.accepted().count(), first.waiting, first.archived), (1, 3, 1));
    assert_eq!(space.settle().await, 3);
    let rows = space.rows().await;
    let count = |status| rows.iter().filter(|row| row.status == status).count();
    assert_eq!((count(LearningStatus::Active), count(LearningStatus::Archived), rows.len()), (1, 4, 5));
    assert_eq!(space.recalled("which port does the till listen on?").await.len(), 1);
    let stays = rows.iter().find(|row| row.status == LearningStatus::Active).unwrap();
    let (maker, retire) =
        (stays.sources[0].event, |notes| proposal(OperationKind::Retire { notes, into: None }, ""));
    let cycle = space.with(vec![retire(vec![maker])], DreamMode::Asked).await;
    assert_eq!(
        cycle.refused().next().unwrap().refused,
        Some(mnemal::dream::Refusal::Dear),
        "it rests on five"
    );
}

// proves: NX-04.2, NX-04.T2
#[tokio::test]
async fn a_dry_run_says_exactly_what_a_run_does_and_changes_nothing() {
    let space = Space::new();
    for text in ["Ada repairs the Genoa till.", "Ada repairs the Genoa till.", "The lift is loud."] {
        space.note(text).await;
    }
    let before = space.rows().await;
    let head = mnemal::ports::EventStore::head(&*space.store).await.unwrap();
    let dry = space.memory.admin().engine().dream(&owner(), DreamMode::Dry).await.unwrap();
    assert_eq!(space.rows().await, before);
    assert_eq!(mnemal::ports::EventStore::head(&*space.store).await.unwrap(), head);
    assert!(space.memory.admin().engine().dream_ledger(LedgerKind::Cycle).await.unwrap().is_empty());
    let real = space.memory.admin().engine().dream(&owner(), DreamMode::Asked).await.unwrap();
    let proposals =
        |cycle: &DreamCycle| cycle.judged.iter().map(|one| one.proposal.clone()).collect::<Vec<_>>();
    assert_eq!((proposals(&dry), dry.waiting), (proposals(&real), real.waiting));
    assert_eq!(dry.accepted().count(), 1);
}

// proves: NX-04.3
#[tokio::test]
async fn what_is_taken_back_is_as_before_and_is_not_done_again() {
    let space = Space::new();
    for text in ["The lift is loud.", "The lift is  loud.", "The lift is very loud today."] {
        space.note(text).await;
    }
    let before = space.rows().await;
    let cycle = space.dream(DreamMode::Asked).await;
    let done: Vec<EventId> = cycle.accepted().filter_map(|one| one.event).collect();
    assert_ne!(space.rows().await, before);
    for event in done {
        space.undo(event).await;
    }
    assert_eq!(space.rows().await, before);
    let again = space.dream(DreamMode::Asked).await;
    let same =
        |one: &Proposal| cycle.judged.iter().any(|other| other.proposal.operation.kind == one.operation.kind);
    assert!(again.accepted().all(|one| !same(&one.proposal)), "{again:?}");
    assert_eq!(again.refused().next().unwrap().refused.as_ref().unwrap().as_str(), "taken_back");
}

// proves: NX-04.5 (near duplicates fold where the survivor covers every specific, and only there)
#[tokio::test]
async fn near_notes_fold_only_into_one_that_says_all_of_it() {
    let space = Space::new();
    for text in [
        "Deploys of the shop happen on Tuesday morning.",
        "Deploys of the shop happen on Tuesday morning at 09:30.",
        "Deploys of the depot do happen on Friday.",
        "Deploys of the depot do not happen on Friday.",
        "The red boiler in room 12 needs a new valve.",
        "The red boiler in room 14 needs a new valve.",
        "The dog of the caretaker bites the postman.",
        "The postman bites the dog of the caretaker.",
    ] {
        space.note(text).await;
    }
    space.settle().await;
    let live = space.live().await;
    assert!(!live.contains(&"Deploys of the shop happen on Tuesday morning.".to_owned()), "{live:?}");
    assert_eq!(live.iter().filter(|text| !text.starts_with("These belong")).count(), 7, "{live:?}");
}

// proves: AD-46, AD-47, AD-55, DF-22, NX-04.1
#[tokio::test]
async fn a_bad_proposal_changes_nothing_and_is_written_down_with_its_reason() {
    let space = Space::new();
    let ada = space.note("Ada Berg repairs the till in Genoa.").await;
    let bob = space.note("Bob Keller paints the lift of the depot.").await;
    let named = space
        .memory
        .remember("The key word is marzipan, says Eve.")
        .key(mnemal::NoteKey::new("word").unwrap());
    let named = named.await.unwrap().value.event;
    let dear =
        space.memory.remember("Never restart the pump at night.").importance(Importance::new(0.9).unwrap());
    let dear = dear.await.unwrap().value.event;
    let own = space.memory.remember("I own the till.").by_user().await.unwrap().value.event;
    let wish = space.memory.remember("I like tea.").kind(LearningKind::Preference).by_user();
    let wish = wish.await.unwrap().value.event;
    let both = "Ada Berg repairs the till in Genoa, Bob Keller paints the lift of the depot.";
    let unseen = Proposal {
        operation: Operation { shown: vec![ada], ..merge(&[ada, bob], both).operation },
        text: both.to_owned(),
    };
    let retire = |notes: Vec<EventId>, into| proposal(OperationKind::Retire { notes, into }, "");
    let infer = |kind| {
        proposal(
            OperationKind::Infer { from: vec![ada, bob], kind, classification: classification() },
            "They both work at the depot.",
        )
    };
    let rows = [
        (merge(&[ada, bob], ""), "empty_text"),
        (merge(&[ada, bob], "  \n"), "empty_text"),
        (merge(&[ada, bob], "abc"), "empty_text"),
        (merge(&[ada, bob], "*** --- *** --- *** --- ***"), "empty_text"),
        (merge(&[ada, bob], "Ada repairs and Keller paints, at the depot."), "specifics_lost"),
        (merge(&[ada, bob], &format!("{both} It costs 4999.")), "specifics_invented"),
        (merge(&[ada, EventId(12)], both), "unknown_note"),
        (merge(&[ada, ada], both), "malformed"),
        (unseen, "unknown_note"),
        (
            merge(&[ada, named], "Ada Berg repairs the till in Genoa. The key word is marzipan, says Eve."),
            "named_note",
        ),
        (merge(&[ada, own], "Ada Berg repairs the till in Genoa. I own the till."), "mixed"),
        (retire(vec![dear], None), "protected"),
        (retire(vec![wish], None), "protected"),
        (retire(vec![ada], Some(bob)), "not_the_same"),
        (infer(LearningKind::Preference), "raised"),
    ];
    let before = space.rows().await;
    for (bad, reason) in rows {
        let cycle = space.with(vec![bad.clone()], DreamMode::Asked).await;
        let judged: Vec<_> = cycle.judged.iter().filter(|one| one.proposal == bad).collect();
        let refused = judged[0].refused.as_ref().map(mnemal::dream::Refusal::as_str);
        assert_eq!(refused, Some(reason), "{bad:?}");
        assert_eq!(space.rows().await, before, "{reason}");
        let book = space.memory.admin().engine().dream_ledger(LedgerKind::Refused).await.unwrap();
        assert!(book.iter().any(|line| line.note == format!("dream/scripted: {reason}")), "{book:?}");
    }
    let cycle = space.with(vec![merge(&[ada, bob], both)], DreamMode::Asked).await;
    assert_eq!((cycle.accepted().count(), cycle.archived, cycle.created), (1, 2, 1), "{cycle:?}");
}

#[tokio::test]
async fn what_builds_on_an_operation_is_taken_back_first() {
    let space = Space::new();
    let ada = space.note("Ada Berg repairs the till in Genoa.").await;
    let bob = space.note("Bob Keller paints the lift of the depot.").await;
    let before = space.rows().await;
    let both = "Ada Berg repairs the till in Genoa, Bob Keller paints the lift of the depot.";
    let cycle = space.with(vec![merge(&[ada, bob], both)], DreamMode::Asked).await;
    let merged = cycle.accepted().next().unwrap().event.unwrap();
    let tagged = Classification { tags: vec![Tag::new("staff").unwrap()], ..classification() };
    let refine = proposal(OperationKind::Refine { note: merged, classification: tagged }, "");
    let cycle = space.with(vec![refine], DreamMode::Asked).await;
    let refined = cycle.accepted().next().unwrap().event.unwrap();
    let error = space.memory.facts().undoing(merged).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.what().contains(&refined.to_string()), "{error}");
    space.undo(refined).await;
    space.undo(merged).await;
    assert_eq!(space.rows().await, before);
}

#[tokio::test]
async fn what_is_forgotten_leaves_with_everything_that_was_made_of_it() {
    let space = Space::new();
    let ada = space.note("Ada Berg repairs the till in Genoa.").await;
    let bob = space.note("Bob Keller paints the lift of the depot.").await;
    let both = "Ada Berg repairs the till in Genoa, Bob Keller paints the lift of the depot.";
    space.with(vec![merge(&[ada, bob], both)], DreamMode::Asked).await;
    assert_eq!(space.live().await, [both]);
    let erased = space.memory.forget(Selector::Events(vec![ada])).await.unwrap();
    assert!(erased.verified(), "{:?}", erased.residual);
    assert_eq!(space.live().await, ["Bob Keller paints the lift of the depot."]);
    assert!(space.recalled("who repairs the till?").await.iter().all(|text| !text.contains("Berg")));
}

#[tokio::test]
async fn ten_restarts_in_an_hour_are_two_cycles_and_talk_puts_them_off() {
    let space = Space::new();
    space.note("The lift is loud.").await;
    let _ack = space.memory.log(Message::user("hello there")).await.unwrap();
    let tended = space.memory.admin().engine().maintain(&owner()).await.unwrap();
    assert_eq!(tended.gaps, []);
    let cycles = async || space.memory.admin().engine().dream_ledger(LedgerKind::Cycle).await.unwrap().len();
    assert_eq!(cycles().await, 0, "somebody talks");
    for restart in 0..10 {
        space.clock.advance(Duration::from_mins(6));
        let memory = space.restarted(100 + restart);
        let _tended = memory.admin().engine().maintain(&owner()).await.unwrap();
    }
    assert_eq!(cycles().await, 2);
}

// proves: AD-52, AD-56
#[tokio::test]
async fn rows_that_vanish_stop_the_cycles_until_a_person_asks() {
    let space = Space::new();
    for text in ["The lift is loud.", "Ada has the key of the cellar.", "The pump is old."] {
        space.note(text).await;
    }
    let tend = async || {
        space.clock.advance(Duration::from_hours(25));
        space.memory.admin().engine().maintain(&owner()).await.unwrap()
    };
    assert!(tend().await.gaps.is_empty());
    let gone = space.rows().await.into_iter().find(|row| row.content == "The lift is loud.").unwrap().id;
    let notes: &dyn mnemal::ports::Projection<LearningDelta> = &*space.store;
    let cursor = notes.cursor().await.unwrap();
    let delta = LearningDelta { put: Vec::new(), remove: vec![gone] };
    let advance =
        mnemal::ports::Advance { expect: cursor, next: cursor, ..mnemal::ports::Advance::default() };
    notes.apply(&delta, &advance).await.unwrap();
    assert_eq!(space.store.all(&LearningFilter::all()).await.unwrap().len(), 2);
    let _tended = tend().await;
    let pause = space.memory.admin().engine().dream_ledger(LedgerKind::Pause).await.unwrap();
    assert!(pause[0].note.contains("no-hard-delete-outside-forget"), "{pause:?}");
    let cycles = space.memory.admin().engine().dream_ledger(LedgerKind::Cycle).await.unwrap().len();
    space.note("The pump is old.").await;
    let _tended = tend().await;
    assert_eq!(
        space.memory.admin().engine().dream_ledger(LedgerKind::Cycle).await.unwrap().len(),
        cycles,
        "it waits"
    );
    assert_eq!(space.dream(DreamMode::Asked).await.accepted().count(), 1);
    assert!(space.memory.admin().engine().dream_ledger(LedgerKind::Pause).await.unwrap()[0].note.is_empty());
}

// proves: NX-04.T3, GB-34
#[tokio::test]
async fn notes_that_share_names_are_connected_once_and_fifty_cycles_change_nothing_more() {
    let space = Space::new();
    let ada = space.note("Ada Berg repairs the till in Genoa.").await;
    assert_eq!(space.settle().await, 0, "one note has nothing to be connected with");
    let supplier = space.note("The supplier in Genoa sends letters to Ada Berg.").await;
    space.note("The lift of the depot is loud.").await;
    assert_eq!(space.settle().await, 1);
    let rows = space.rows().await;
    let insight = rows.iter().find(|row| row.kind == LearningKind::Insight).unwrap();
    assert_eq!(insight.content, "2 notes of 2026-03-01 are about Ada Berg and Genoa.");
    let rests: Vec<EventId> = insight.sources.iter().skip(1).map(|source| source.event).collect();
    assert_eq!(rests, [ada, supplier]);
    let head = mnemal::ports::EventStore::head(&*space.store).await.unwrap();
    for _ in 0..50 {
        assert_eq!(space.dream(DreamMode::Asked).await.judged, []);
    }
    assert_eq!(space.rows().await, rows);
    assert_eq!(mnemal::ports::EventStore::head(&*space.store).await.unwrap(), head);
}

// proves: AD-49 (what has not changed is not looked at again, for seven days)
#[tokio::test]
async fn a_pass_looks_again_when_something_has_changed_and_after_seven_days() {
    let space = Space::new();
    space.note("The lift is loud.").await;
    let looked = async || {
        space.clock.advance(Duration::from_hours(1));
        let _tended = space.memory.admin().engine().maintain(&owner()).await.unwrap();
        let lines = space.memory.admin().engine().dream_ledger(LedgerKind::Pass).await.unwrap();
        lines.into_iter().find(|line| line.key == "near_copies").unwrap().at
    };
    let first = looked().await;
    for _ in 0..7 * 24 - 1 {
        assert_eq!(looked().await, first);
    }
    let second = looked().await;
    assert!(second > first, "after seven days");
    assert_eq!(looked().await, second);
    space.note("The pump is old.").await;
    assert!(looked().await > second, "after a change");
}

// proves: AD-61, NX-04.6 (at most 2 % of the notes in a cycle)
#[tokio::test]
async fn a_cycle_changes_a_fiftieth_and_says_what_waits() {
    let space = Space::new();
    // An agent that stores faster hits the rate limit.
    let later = || space.clock.advance(Duration::from_mins(1));
    for number in 0..140 {
        later();
        space
            .note(&format!("Shelf {number} of hall {} holds crate {}.", number + 1_000, number + 2_000))
            .await;
    }
    for _ in 0..11 {
        later();
        space.note("The lift is loud.").await;
    }
    let mut left = 10;
    while left > 0 {
        let cycle = space.dream(DreamMode::Asked).await;
        let done = cycle.accepted().filter(|judged| judged.pass == "copies").count();
        assert_eq!(done, left.min(3).min(usize::try_from(cycle.live).unwrap() / 50), "{left} wait");
        left -= done;
        assert!(cycle.waiting >= left as u64, "what waits comes first in the next cycle: {cycle:?}");
    }
}

// proves: DF-05 (repeated saves for 30 days: the live count is stable, nothing is merged into what was merged)
#[tokio::test]
async fn thirty_days_of_the_same_notes_leave_as_many_as_one() {
    let space = Space::new();
    let texts = [
        "The lift is loud.",
        "The lift of the depot is loud.",
        "Ada has the key.",
        "Ada has the key of the cellar.",
    ];
    let mut after_a_day = None;
    for day in 0..30 {
        for text in texts {
            space.note(text).await;
        }
        space.settle().await;
        space.clock.advance(Duration::from_hours(23));
        let live = space.live().await;
        let live = live.iter().filter(|text| !text.starts_with("These belong")).count();
        assert_eq!(*after_a_day.get_or_insert(live), live, "day {day}");
    }
    let rows = space.rows().await;
    let into = |row: &Learning| rows.iter().find(|other| Some(other.id) == row.superseded_by);
    let depth = |row: &Learning| std::iter::successors(into(row), |row| into(row)).count();
    assert!(rows.iter().map(depth).max() <= Some(2), "{:?}", rows.iter().map(depth).max());
}

// proves: DF-24, RB-59
#[tokio::test]
async fn one_note_does_not_keep_wishes_from_being_read() {
    let space = Space::new();
    space.note("The lift is loud.").await;
    for text in [
        "From now on, always answer in short sentences.",
        "Never use tables.",
        "I prefer tea.",
        "Please always write dates in full.",
        "Don't call me by my first name.",
    ] {
        let _ack = space.memory.log(Message::user(text)).await.unwrap();
    }
    space.dream(DreamMode::Asked).await;
    let wishes = space.rows().await.into_iter().filter(|row| row.kind == LearningKind::Preference).count();
    assert!(wishes >= 3, "{wishes}");
}

// proves: DF-28
#[tokio::test]
async fn a_merge_that_drops_a_specific_is_refused_in_every_script() {
    let space = Space::new();
    for (one, other, both) in [
        (
            "Анна хранит ключ от склада 4711 в синей коробке.",
            "Анна хранит ключ от склада у входной двери.",
            "Анна хранит ключ от склада в синей коробке у входной двери.",
        ),
        (
            "李雷把仓库的钥匙放在4711号蓝色盒子里，盒子在书架上面。",
            "李雷把仓库的钥匙放在办公室门口的书架上面。",
            "李雷把仓库的钥匙放在蓝色盒子里，盒子在办公室门口的书架上面。",
        ),
        (
            "تحتفظ ليلى بمفتاح المستودع 4711 في الصندوق الأزرق.",
            "تحتفظ ليلى بمفتاح المستودع عند الباب.",
            "تحتفظ ليلى بمفتاح المستودع في الصندوق الأزرق عند الباب.",
        ),
    ] {
        let (first, second) = (space.note(one).await, space.note(other).await);
        let cycle = space.with(vec![merge(&[first, second], both)], DreamMode::Asked).await;
        let judged = cycle.judged.iter().find(|one| one.proposal.text == both).unwrap();
        let refused = judged.refused.as_ref().map(mnemal::dream::Refusal::as_str);
        assert_eq!(refused, Some("specifics_lost"), "{both}");
    }
}

// proves: AD-44 (a name that the space knows is protected, however it is written)
#[tokio::test]
async fn a_merge_keeps_a_name_that_the_space_knows() {
    let text = "We walk by the river every morning before work.";
    for is_known in [false, true] {
        let space = Space::new();
        if is_known {
            let _ack = space.memory.log(Message::user("I have a dog called Biscuit.")).await.unwrap();
        }
        let first = space.note("We walk with biscuit by the river every morning.").await;
        let second = space.note(text).await;
        // Folds the log.
        space.dream(DreamMode::Dry).await;
        let cycle = space.with(vec![merge(&[first, second], text)], DreamMode::Asked).await;
        let judged = cycle.judged.iter().find(|one| one.pass == "scripted").unwrap();
        let refused = judged.refused.as_ref().map(mnemal::dream::Refusal::as_str);
        assert_eq!(refused, is_known.then_some("specifics_lost"), "{cycle:?}");
    }
}

// proves: DF-100, GB-35
#[tokio::test]
async fn a_proposal_that_names_an_archived_or_invented_note_is_dropped_and_counted() {
    let space = Space::new();
    let stays = space.note("The lift of the depot is loud.").await;
    let copy = space.note("The lift of the depot is loud.").await;
    let other = space.note("Ada has the key of the cellar.").await;
    assert_eq!(space.settle().await, 1);
    let text = "The lift of the depot is loud, Ada has the key of the cellar.";
    for (notes, accepted) in [([copy, other], 0), ([EventId(77), other], 0), ([stays, other], 1)] {
        let cycle = space.with(vec![merge(&notes, text)], DreamMode::Asked).await;
        assert_eq!(cycle.accepted().count(), accepted, "{notes:?}");
        let refused: Vec<_> = cycle
            .refused()
            .filter_map(|one| one.refused.as_ref())
            .map(mnemal::dream::Refusal::as_str)
            .collect();
        assert_eq!(refused, vec!["unknown_note"; 1 - accepted], "{notes:?}");
        let book = space.memory.admin().engine().dream_ledger(LedgerKind::Cycle).await.unwrap();
        assert_eq!(book[0].counts["rejected"], 1 - accepted as u64);
    }
}

// proves: BA-20 (every proposal of a pair is checked)
#[tokio::test]
async fn a_pair_is_proposed_of_two_who_were_seen_and_of_whom_nobody_has_decided() {
    let space = Space::new();
    let (tom, tim, event) = (EntityId(1), EntityId(2), space.note("Tom and Tim sail.").await);
    let pair = |one, into, shown: &[EventId]| {
        let mut proposal = proposal(OperationKind::Suggest { one, into }, "");
        proposal.operation.shown = shown.to_vec();
        proposal
    };
    let refused = async |proposal: Proposal| {
        let cycle = space.with(vec![proposal], DreamMode::Asked).await;
        cycle.judged.into_iter().find(|judged| judged.pass == "scripted").unwrap()
    };
    let is = |judged: mnemal::dream::DreamOutcome| judged.refused;
    assert_eq!(is(refused(pair(tom, tom, &[event])).await), Some(mnemal::dream::Refusal::Malformed));
    assert_eq!(is(refused(pair(tom, tim, &[])).await), Some(mnemal::dream::Refusal::Unknown));
    let done = refused(pair(tom, tim, &[event])).await;
    assert_eq!(done.refused, None);
    assert_eq!(
        is(refused(pair(tim, tom, &[event])).await),
        Some(mnemal::dream::Refusal::Nothing),
        "it waits already"
    );
    space.undo(done.event.unwrap()).await;
    assert_eq!(is(refused(pair(tim, tom, &[event])).await), Some(mnemal::dream::Refusal::TakenBack));
    let split = mnemal::Decision::Split { one: EntityId(3), from: tom };
    let _ack = space.memory.facts().decide(split).await.unwrap();
    let parted = pair(tom, EntityId(3), &[event]);
    assert_eq!(is(refused(parted).await), Some(mnemal::dream::Refusal::Nothing), "somebody has decided");
}

/// Returns the samples of a family, each as the texts of its notes.
fn of(all: &[DreamSample], family: DreamFamily) -> Vec<Vec<&str>> {
    let all = all.iter().filter(|sample| sample.family == family);
    all.map(|sample| sample.notes.iter().map(|row| row.content.as_str()).collect()).collect()
}

// proves: AD-53
#[tokio::test]
async fn decisions_of_every_family_are_listed_for_a_person_and_judged_once() {
    let space = Space::new();
    let (till, lift) = ("The till in Genoa listens on port 4711.", "The lift is loud.");
    for text in [till, till, till, till, till, "Ada mends the green boat.", "Ada mends the red boat."] {
        space.note(text).await;
    }
    let noise = space.note(lift).await;
    space.settle().await;
    space
        .with(vec![proposal(OperationKind::Retire { notes: vec![noise], into: None }, "")], DreamMode::Asked)
        .await;
    let sampled = async || space.memory.admin().engine().dream_sample().await.unwrap();
    let all = sampled().await;
    assert_eq!(of(&all, DreamFamily::Merged), [[till, till]; 4]);
    assert_eq!(of(&all, DreamFamily::Near), [["Ada mends the green boat.", "Ada mends the red boat."]]);
    assert_eq!(of(&all, DreamFamily::Supported), [[till]]);
    assert_eq!(of(&all, DreamFamily::Noise), [[lift]]);
    let away = all.iter().find(|sample| sample.family == DreamFamily::Noise).unwrap();
    assert_eq!(away.beside.len(), 3, "what holds stands beside it");
    let judge =
        async |id, words| space.memory.admin().engine().note_opinion(id, Assessment::Wrong, words).await;
    let kind = |done: mnemal::Result<()>| done.unwrap_err().kind();
    assert_eq!(kind(judge(away.id, "is quiet").await), ErrorKind::Invalid, "it rests on what stands there");
    assert_eq!(kind(judge(away.id, " ").await), ErrorKind::Invalid);
    assert_eq!(kind(judge(1, "lift").await), ErrorKind::NotFound);
    judge(away.id, "is loud").await.unwrap();
    assert_eq!(of(&sampled().await, DreamFamily::Noise), Vec::<Vec<&str>>::new(), "it is asked once");
    let book = space.memory.admin().engine().dream_ledger(LedgerKind::Opinion).await.unwrap();
    assert_eq!(
        (book[0].note.as_str(), book[0].counts["start"], book[0].counts["end"]),
        ("noise: wrong", 9, 16)
    );
    assert!(!format!("{book:?}").contains("loud"), "no words are kept");
    space.clock.advance(Duration::from_hours(15 * 24));
    assert_eq!(of(&sampled().await, DreamFamily::Merged), Vec::<Vec<&str>>::new(), "they are old");
    assert_eq!(of(&sampled().await, DreamFamily::Noise).len(), 0);
    let green = space.note("Ada mends the green boat again.").await;
    assert!(of(&sampled().await, DreamFamily::Near).len() > 1, "other notes are asked about: {green}");
}

// proves: AD-53 (ten of a family, others every week)
#[tokio::test]
async fn ten_of_a_family_are_drawn_in_a_week_and_the_draw_stays_as_it_is() {
    let space = Space::new();
    for place in ["Rome", "Oslo", "Bern", "Riga", "Kyiv", "Lima"] {
        space.note(&format!("The spare key of the office is in {place}.")).await;
    }
    let drawn = async || {
        let all = space.memory.admin().engine().dream_sample().await.unwrap();
        all.into_iter().map(|sample| sample.id).collect::<Vec<_>>()
    };
    let first = drawn().await;
    assert_eq!(first.len(), 10, "of 15 pairs");
    assert_eq!(drawn().await, first);
    space.clock.advance(Duration::from_hours(7 * 24));
    let next = drawn().await;
    assert!(next.len() == 10 && next != first);
}
