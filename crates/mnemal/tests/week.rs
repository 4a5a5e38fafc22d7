//! A simulated week of turns, documents and notes, with hourly upkeep and without a model: everything converges, and nothing is
//! done twice.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::sync::Arc;
use std::time::Duration;

use mnemal::dream::DreamMode;
use mnemal::events::{Cursor, LedgerKind};
use mnemal::graph::GraphDelta;
use mnemal::learnings::{LearningDelta, LearningStatus};
use mnemal::ports::{EventStore as _, Projection};
use mnemal::recall::EmbeddedBy;
use mnemal::summaries::SummaryDelta;
use mnemal::types::{ChannelId, InstallationKey, OwnerId};
use mnemal::{
    Engine, Learning, LearningFilter, Memory, Message, Scope, SessionId, Settings, SpaceId, Speaker,
};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{ManualClock, SeededIds};

/// Hours of the week.
const HOURS: u64 = 7 * 24;
/// Turns per hour: 5,040 in the week.
const TURNS: u64 = 30;
const CHANNELS: [&str; 6] = ["mail", "shop", "depot", "phone", "board", "cli"];
const PEOPLE: [&str; 4] = ["Ada", "Ben", "Carla", "Dario"];
const THINGS: [&str; 5] = ["pump", "lift", "till", "boiler", "shutter"];
const TOWNS: [&str; 4] = ["Genoa", "Lisbon", "Porto", "Ghent"];

fn pick<'t>(from: &[&'t str], n: u64) -> &'t str {
    from[usize::try_from(n).unwrap() % from.len()]
}

fn turn(n: u64) -> Message {
    let (person, thing, town) = (pick(&PEOPLE, n), pick(&THINGS, n / 3), pick(&TOWNS, n / 7));
    let text = match n % 5 {
        0 => format!("I moved the {thing} to {town} on Monday, {person} helped."),
        1 => format!("From now on, always send the report about the {thing} before noon."),
        2 => format!("{person} lives in {town} and repairs the {thing}."),
        3 => format!("Did the {thing} of {town} arrive?"),
        _ => format!("My order number {} for the {thing} is paid.", 1_000 + n),
    };
    let channel = pick(&CHANNELS, n);
    let message = if n % 4 == 3 { Message::assistant(text) } else { Message::user(text) };
    let session = format!("{channel}/{}", n / 60);
    let message = message.channel(ChannelId::new(channel).unwrap()).session(SessionId::new(session).unwrap());
    message.speaker(Speaker::new(person).unwrap())
}

async fn remember(memory: &Memory, n: u64) {
    let (thing, town) = (pick(&THINGS, n), pick(&TOWNS, n / 2));
    let text = match n % 3 {
        0 => format!("The {thing} in {town} belongs to {}.", pick(&PEOPLE, n)),
        1 => format!("The {thing} in {town} belongs to {} Meyer.", pick(&PEOPLE, n)),
        _ => "Invoices go to the depot by Friday.".to_owned(),
    };
    assert!(memory.remember(text).await.unwrap().gaps.is_empty());
}

#[derive(PartialEq, Debug)]
struct State {
    head: Cursor,
    behind: [u64; 3],
    rows: Vec<Learning>,
}

async fn state(memory: &Memory, store: &MemoryStore) -> State {
    let head = store.head().await.unwrap();
    let cursors = [
        Projection::<LearningDelta>::cursor(store).await.unwrap(),
        Projection::<GraphDelta>::cursor(store).await.unwrap(),
        Projection::<SummaryDelta>::cursor(store).await.unwrap(),
    ];
    let rows = memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap();
    State { head, behind: cursors.map(|cursor| cursor.behind(head)), rows }
}

// proves: NX-04.5 (a whole cycle without a model)
#[tokio::test]
async fn a_week_converges_without_a_model_and_a_second_cycle_changes_nothing() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
    let mut settings = Settings::default();
    settings.dream.insights = Some(true);
    let engine = Engine::builder()
        .with_settings(settings)
        .with_stores(Stores::all(Arc::clone(&store)))
        .with_clock(Arc::<ManualClock>::clone(&clock))
        .with_ids(Arc::new(SeededIds::new(1)))
        .with_key(InstallationKey::new([7; 32]))
        .build()
        .unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("week").unwrap()));
    let owner = OwnerId::new("week").unwrap();
    for hour in 0..HOURS {
        let said: Vec<Message> = (0..TURNS).map(|n| turn(hour * TURNS + n)).collect();
        assert!(memory.events().log_all(said).await.unwrap().gaps.is_empty());
        if hour % 4 == 1 {
            let text = format!("Manual {hour}. The {} is checked every {hour} days.", pick(&THINGS, hour));
            assert!(memory.log(Message::document(text)).await.unwrap().gaps.is_empty());
        }
        if hour % 4 == 0 {
            remember(&memory, hour / 4).await;
        }
        clock.advance(Duration::from_hours(1));
        let tended = engine.maintain(&owner).await.unwrap();
        assert_eq!(tended.gaps, [], "hour {hour}");
    }
    for _ in 0..60 {
        clock.advance(Duration::from_mins(31));
        let _tended = engine.maintain(&owner).await.unwrap();
    }
    let settled = state(&memory, &store).await;
    assert_eq!(settled.behind, [0; 3]);
    let cycle = engine.dream(&owner, DreamMode::Asked).await.unwrap();
    assert_eq!((cycle.judged.len(), cycle.waiting, cycle.findings.len()), (0, 0, 0), "{cycle:?}");
    clock.advance(Duration::from_mins(31));
    let passes = async || {
        let lines = engine.dream_ledger(LedgerKind::Pass).await.unwrap();
        lines
            .into_iter()
            .filter(|line| line.key != "cycle")
            .map(|line| (line.key, line.at))
            .collect::<Vec<_>>()
    };
    let (ran, cycles) = (passes().await, engine.dream_ledger(LedgerKind::Cycle).await.unwrap().len());
    let tended = engine.maintain(&owner).await.unwrap();
    assert_eq!((tended.value.dreamt, tended.gaps.len()), (0, 0));
    assert_eq!(
        engine.dream_ledger(LedgerKind::Cycle).await.unwrap().len(),
        cycles + 1,
        "it was time for a cycle"
    );
    assert_eq!((passes().await, ran.len()), (ran.clone(), 7), "and no pass looked at the same again");
    assert_eq!(
        engine.backlog(EmbeddedBy::InProcess).await.unwrap().waiting(),
        0,
        "every event has its vector"
    );
    assert_eq!(state(&memory, &store).await, settled);

    let archived = settled.rows.iter().filter(|row| row.status == LearningStatus::Archived);
    assert!(archived.clone().count() > 10, "the copies were folded");
    assert!(archived.clone().all(|row| row.superseded_by.is_some()), "each in favour of another");
    let invoices = settled.rows.iter().filter(|row| row.content.starts_with("Invoices"));
    assert_eq!(invoices.filter(|row| row.status == LearningStatus::Active).count(), 1);
    assert!(engine.dream_ledger(LedgerKind::Pause).await.unwrap().iter().all(|line| line.note.is_empty()));
    assert!(!engine.dream_ledger(LedgerKind::Audit).await.unwrap().is_empty());
}
