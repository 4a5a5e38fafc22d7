//! Rule-based insights: connections of notes, each note reviewed once, oldest first.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::dream::{DreamCycle, DreamMode};
use mnemal::events::Selector;
use mnemal::types::{InstallationKey, OwnerId, Tag};
use mnemal::{Engine, EventId, Learning, LearningFilter, LearningKind, Memory, Scope, Settings, SpaceId};
use mnemal_core::{Error, ErrorKind, LedgerKind, LedgerLine, LedgerStore, Result, Slot, Timestamp};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{ManualClock, SeededIds};

/// A ledger whose writes fail for a while.
#[derive(Debug)]
struct Full {
    store: Arc<MemoryStore>,
    is_full: AtomicBool,
}

#[async_trait]
impl LedgerStore for Full {
    async fn put(&self, lines: &[LedgerLine]) -> Result<()> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Unavailable, "the disk is full"));
        }
        self.store.put(lines).await
    }

    async fn lines(&self, kind: LedgerKind, limit: NonZeroUsize) -> Result<Vec<LedgerLine>> {
        self.store.lines(kind, limit).await
    }

    async fn sweep(&self, kind: LedgerKind, before: Timestamp) -> Result<u64> {
        self.store.sweep(kind, before).await
    }
}

struct Space {
    memory: Memory,
    clock: Arc<ManualClock>,
    ledger: Arc<Full>,
}

impl Space {
    fn new() -> Self {
        Self::with(Settings::default())
    }

    fn with(settings: Settings) -> Self {
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
        let ledger = Arc::new(Full { store: Arc::clone(&store), is_full: AtomicBool::new(false) });
        let shared: Arc<dyn LedgerStore> = Arc::<Full>::clone(&ledger);
        let stores = Stores { ledger: Slot::Filled(shared), ..Stores::all(store) };
        let builder = Engine::builder()
            .with_settings(settings)
            .with_stores(stores)
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(1)))
            .with_key(InstallationKey::new([7; 32]));
        let memory = builder.build().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()));
        Self { memory, clock, ledger }
    }

    async fn note(&self, text: &str) -> EventId {
        self.clock.advance(Duration::from_secs(1));
        self.memory.remember(text).await.unwrap().value.event
    }

    async fn tagged(&self, text: &str, tags: &[&str]) -> EventId {
        self.clock.advance(Duration::from_secs(1));
        let call =
            tags.iter().fold(self.memory.remember(text), |call, tag| call.tag(Tag::new(*tag).unwrap()));
        call.await.unwrap().value.event
    }

    async fn consolidate(&self) -> DreamCycle {
        self.clock.advance(Duration::from_secs(1));
        self.memory.admin().engine().consolidate(&owner()).await.unwrap()
    }

    async fn rows(&self) -> Vec<Learning> {
        self.memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap()
    }

    /// Returns the texts of insights, each with its source notes.
    async fn insights(&self) -> Vec<(String, Vec<EventId>)> {
        let mut rows = self.rows().await;
        rows.retain(|row| row.kind == LearningKind::Insight);
        rows.sort_by_key(|row| (row.created_at, row.id));
        let rests = |row: &Learning| row.sources.iter().skip(1).map(|source| source.event).collect();
        rows.iter().map(|row| (row.content.clone(), rests(row))).collect()
    }

    /// Returns the texts of the reviewed notes.
    async fn consolidated(&self) -> Vec<String> {
        let mut rows = self.rows().await;
        rows.retain(|row| row.kind != LearningKind::Insight);
        let known = self.memory.admin().engine().consolidated(&rows).await.unwrap();
        rows.sort_by_key(|row| (row.created_at, row.id));
        rows.into_iter().filter(|row| known.contains(&row.id)).map(|row| row.content).collect()
    }
}

fn owner() -> OwnerId {
    OwnerId::new("test").unwrap()
}

const DAY: Duration = Duration::from_hours(24);

// proves: GB-37 (two entities or topics in common; names, count and dates)
#[tokio::test]
async fn an_insight_names_what_its_notes_share_how_many_they_are_and_from_when() {
    let space = Space::new();
    let first = space.note("Ada Berg repairs the till in Genoa.").await;
    space.clock.advance(2 * DAY);
    let second = space.note("The supplier in Genoa sends letters to Ada Berg.").await;
    space.note("The lift is loud.").await;
    assert_eq!(space.consolidate().await.accepted().count(), 1);
    let text = "2 notes from 2026-03-01 to 2026-03-03 are about Ada Berg and Genoa.";
    assert_eq!(space.insights().await, [(text.to_owned(), vec![first, second])]);
    let tags = Space::new();
    let pump = tags.tagged("The pump is due in spring.", &["cellar", "upkeep"]).await;
    let tank = tags.tagged("Somebody has to look at the tank.", &["upkeep", "cellar", "oil"]).await;
    tags.tagged("The stairs creak.", &["upkeep"]).await;
    tags.consolidate().await;
    let text = "2 notes of 2026-03-01 are about cellar and upkeep.";
    assert_eq!(tags.insights().await, [(text.to_owned(), vec![pump, tank])]);
}

// proves: GB-37 (one entity connects what is near by its words, and nothing else)
#[tokio::test]
async fn one_name_connects_notes_that_are_near_and_no_others() {
    let near = Space::new();
    near.note("Ada Berg repairs the old till on the second floor every spring.").await;
    near.note("Ada Berg repairs the new till on the first floor.").await;
    near.consolidate().await;
    let text = "2 notes of 2026-03-01 are about Ada Berg.";
    assert_eq!(near.insights().await.first().map(|(said, _)| said.as_str()), Some(text));
    let far = Space::new();
    far.note("Ada Berg repairs the old till on the second floor every spring.").await;
    far.note("Nobody knows whether Ada Berg likes quince.").await;
    far.consolidate().await;
    assert_eq!(far.insights().await, []);
}

// proves: GB-33, GA-18 (the 20 oldest past the cursor), GB-06 (what was looked at is a position, and no row changes)
#[tokio::test]
async fn the_twenty_oldest_notes_are_looked_at_first_and_none_starves() {
    let space = Space::new();
    let mut made = Vec::new();
    for number in 0..45 {
        let name = ["Ada Berg", "Ben Carr", "Cleo Dorn"][number / 20];
        let text = match number % 20 {
            0 => format!("{name} repairs the till in Genoa."),
            1 => format!("The supplier in Genoa sends letters to {name}."),
            _ => format!("Thing {number} of the list is done."),
        };
        made.push((space.note(&text).await, text));
    }
    let texts = |to: usize| made.iter().take(to).map(|(_, text)| text.clone()).collect::<Vec<_>>();
    let before = space.rows().await;
    assert_eq!(space.consolidated().await, [""; 0]);
    let cycle = space.consolidate().await;
    assert_eq!(space.consolidated().await, texts(20));
    assert!(cycle.waiting > 0, "there are more");
    let insights = space.insights().await;
    assert_eq!(insights[0].0, "2 notes of 2026-03-01 are about Ada Berg and Genoa.");
    assert_eq!((insights.len(), &insights[0].1), (1, &vec![made[0].0, made[1].0]));
    let mut after = space.rows().await;
    after.retain(|row| row.kind != LearningKind::Insight);
    assert_eq!(after, before, "no note was updated");
    space.consolidate().await;
    assert_eq!(space.consolidated().await, texts(40));
    space.consolidate().await;
    assert_eq!(space.consolidated().await, texts(45));
    let insights = space.insights().await;
    assert_eq!(insights.len(), 3);
    for (place, (_, rests)) in insights.iter().enumerate() {
        assert_eq!(rests, &[made[20 * place].0, made[20 * place + 1].0]);
    }
    // A new note is connected with an old one that supports no insight yet.
    let old = space.tagged("The attic is damp.", &["roof", "attic"]).await;
    space.note("Thing 46 of the list is done.").await;
    space.consolidate().await;
    assert_eq!(space.insights().await.len(), 3);
    let new = space.tagged("A carpenter comes on Friday.", &["attic", "roof"]).await;
    space.note("Thing 47 of the list is done.").await;
    space.consolidate().await;
    assert_eq!(space.insights().await.last().unwrap().1, [old, new]);
}

// proves: GA-04
#[tokio::test]
async fn fewer_than_two_new_notes_are_left_for_later_and_other_passes_run() {
    let space = Space::new();
    assert_eq!(space.consolidate().await.skipped, ["insights: fewer than two notes are new"]);
    space.note("Ada Berg repairs the till in Genoa.").await;
    let cycle = space.consolidate().await;
    assert_eq!(cycle.skipped, ["insights: fewer than two notes are new"]);
    assert!(cycle.ran.iter().any(|pass| pass == "copies"), "{:?}", cycle.ran);
    assert_eq!((cycle.waiting, space.consolidated().await.len()), (0, 0), "it is not passed over");
    space.note("The supplier in Genoa sends letters to Ada Berg.").await;
    let cycle = space.consolidate().await;
    assert_eq!((cycle.skipped.len(), cycle.accepted().count()), (0, 1));
    assert_eq!(space.consolidated().await.len(), 2);
}

// proves: GB-36 (one event; on failure the position stays, and nothing is said twice)
#[tokio::test]
async fn a_position_moves_when_all_that_was_found_is_written_and_nothing_is_said_twice() {
    let space = Space::new();
    for name in ["Ada Berg", "Ben Carr", "Cleo Dorn"] {
        let place = format!("{}ville", name.split(' ').next().unwrap());
        space.note(&format!("{name} repairs the till in {place}.")).await;
        space.note(&format!("The supplier in {place} sends letters to {name}.")).await;
    }
    let events = async || space.memory.admin().stats().await.unwrap().head.count();
    let before = events().await;
    // One of 50 notes may change in a cycle, at least one: the rest is not skipped.
    let cycle = space.consolidate().await;
    assert_eq!((cycle.accepted().count(), cycle.waiting), (1, 2));
    assert_eq!((events().await, space.consolidated().await.len()), (before + 1, 0));
    space.ledger.is_full.store(true, Ordering::SeqCst);
    space.clock.advance(Duration::from_secs(1));
    let failed = space.memory.admin().engine().consolidate(&owner()).await.unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::Unavailable);
    assert_eq!(space.insights().await.len(), 2, "its event was written");
    assert_eq!(space.consolidated().await.len(), 0);
    space.ledger.is_full.store(false, Ordering::SeqCst);
    assert_eq!(space.consolidate().await.accepted().count(), 1);
    assert_eq!((space.insights().await.len(), space.consolidated().await.len()), (3, 6));
    let mut rests: Vec<EventId> = space.insights().await.into_iter().flat_map(|(_, rests)| rests).collect();
    rests.sort_unstable();
    rests.dedup();
    assert_eq!((rests.len(), events().await), (6, before + 3), "each note stands in one insight");
}

#[tokio::test]
async fn insights_are_looked_for_where_the_settings_say_so_or_somebody_asks() {
    let of = async |is_on: bool| {
        let mut settings = Settings::default();
        settings.dream.insights = Some(is_on);
        let space = Space::with(settings);
        space.note("Ada Berg repairs the till in Genoa.").await;
        space.note("The supplier in Genoa sends letters to Ada Berg.").await;
        space.clock.advance(DAY);
        let engine = space.memory.admin().engine();
        let _tended = engine.maintain(&owner()).await.unwrap();
        let by_itself = space.insights().await.len();
        let _cycle = engine.dream(&owner(), DreamMode::Asked).await.unwrap();
        (by_itself, space.insights().await.len())
    };
    assert_eq!((of(false).await, of(true).await), ((0, 0), (1, 1)));
}

// proves: GB-36 (what an insight rests on is gone, and so is the insight)
#[tokio::test]
async fn an_insight_goes_with_what_it_rests_on() {
    let space = Space::new();
    let first = space.note("Ada Berg repairs the till in Genoa.").await;
    space.note("The supplier in Genoa sends letters to Ada Berg.").await;
    space.consolidate().await;
    assert_eq!(space.insights().await.len(), 1);
    space.memory.forget(Selector::Events(vec![first])).await.unwrap();
    assert_eq!(space.insights().await, []);
}

#[tokio::test]
async fn what_was_true_of_forgotten_notes_may_be_true_of_others() {
    let space = Space::new();
    let first = space.note("Ada Berg repairs the till in Genoa.").await;
    let second = space.note("The supplier in Genoa sends letters to Ada Berg.").await;
    space.consolidate().await;
    let said = space.insights().await[0].0.clone();
    space.memory.forget(Selector::Events(vec![first, second])).await.unwrap();
    assert_eq!(space.insights().await, []);
    space.note("Ada Berg hired a painter for the house in Genoa.").await;
    space.note("A train to Genoa was booked by Ada Berg for June.").await;
    space.consolidate().await;
    assert_eq!(space.insights().await.len(), 1);
    assert_eq!(space.insights().await[0].0, said, "the same line, of other notes");
}

#[tokio::test]
async fn notes_that_are_not_connected_are_told_of_with_the_reason() {
    let reason = async |notes: [&str; 2]| {
        let space = Space::new();
        for text in notes {
            space.note(text).await;
        }
        let cycle = space.consolidate().await;
        assert_eq!(cycle.accepted().count(), 0, "{notes:?}");
        cycle.skipped.join("; ")
    };
    let near = ["Ada Berg approved the Genoa budget.", "Ada Berg approved the Genoa timeline."];
    assert_eq!(reason(near).await, "insights: two notes say nearly the same, which connects nothing");
    let near = ["Ida Mol hat das Budget von Turin genehmigt.", "Ida Mol hat das Logo von Turin genehmigt."];
    assert!(reason(near).await.ends_with("say nearly the same, which connects nothing"));
    let far = ["Ada Berg approved the Genoa budget.", "Bo Lind repairs a bicycle."];
    assert_eq!(
        reason(far).await,
        "insights: no two of the new notes share two names or topics, or one and many words"
    );
}
