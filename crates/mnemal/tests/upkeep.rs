//! Upkeep by one process at a time, and repair after a crash.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mnemal::admin::MaintenanceReport;
use mnemal::events::{Forget, Selector};
use mnemal::ports::{Acquisition, EventStore as _, LeaseStore as _};
use mnemal::types::{InstallationKey, LeaseName, OwnerId};
use mnemal::{
    Decision, Engine, EventId, EventKind, Memory, Message, NoteKey, Scope, SessionId, SpaceId, Timestamp,
};
use mnemal_store::SqliteStore;
use mnemal_testkit::{ManualClock, Records, SeededIds};

fn owner(name: &str) -> OwnerId {
    OwnerId::new(name).unwrap()
}

async fn open(path: &Path, clock: &Arc<ManualClock>, seed: u64) -> Memory {
    let builder = Engine::builder().with_clock(Arc::<ManualClock>::clone(clock));
    let builder = builder.with_ids(Arc::new(SeededIds::new(seed))).with_key(InstallationKey::new([7; 32]));
    builder.open(path).await.unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()))
}

async fn maintain(memory: &Memory, name: &str) -> MaintenanceReport {
    let tended = memory.admin().engine().maintain(&owner(name)).await.unwrap();
    assert_eq!(tended.gaps, []);
    tended.value
}

// proves: D12 (one worker at a time; a stopped holder is replaced, and what it left is checked)
#[tokio::test]
async fn one_process_tends_a_space_and_the_next_takes_over_when_it_stops() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("space.db");
    let clock = Arc::new(ManualClock::default());
    let (one, two) = (open(&path, &clock, 1).await, open(&path, &clock, 2).await);
    let _ack = one.log(Message::user("the boiler is in the cellar")).await.unwrap();
    assert_eq!(maintain(&one, "one").await, MaintenanceReport::default(), "there is nothing to do");
    assert_eq!(maintain(&two, "two").await, MaintenanceReport::default(), "the turn was given back");

    let store = SqliteStore::open(&path).await.unwrap();
    let name = LeaseName::new("background").unwrap();
    let (stopped, now) = (owner("stopped"), mnemal::ports::Clock::now(&*clock));
    let turn = store.acquire(&name, &stopped, now, Duration::from_secs(30)).await.unwrap();
    let Acquisition::Acquired { lease, .. } = turn else { panic!("the lease is free") };
    clock.advance(Duration::from_secs(29));
    assert_eq!(maintain(&two, "two").await.held_by, Some(owner("stopped")));
    clock.advance(Duration::from_secs(1));
    let tended = maintain(&two, "two").await;
    assert_eq!((tended.held_by, tended.left_by), (None, Some(owner("stopped"))));
    let check = tended.check.unwrap();
    assert_eq!((check.events, check.findings), (1, Vec::new()));
    let late = store.renew(&lease, mnemal::ports::Clock::now(&*clock), Duration::from_secs(30)).await;
    assert_eq!(late.unwrap_err().kind(), mnemal::ErrorKind::Conflict, "who stood still has lost its turn");
    assert_eq!(store.holder(&name).await.unwrap(), None);
}

// proves: NX-01.8 (receipts are kept for 30 days)
#[tokio::test]
async fn receipts_are_swept_after_thirty_days_and_not_before() {
    let home = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let memory = open(&home.path().join("space.db"), &clock, 1).await;
    let _ack = memory.log(Message::user("the boiler is in the cellar")).await.unwrap();
    let session = SessionId::new("later").unwrap();
    let told = memory.context("where is the boiler?").session(session).await.unwrap();
    clock.advance(Duration::from_hours(30 * 24));
    assert_eq!(maintain(&memory, "one").await.swept, 0);
    assert!(memory.admin().receipt(told.receipt.id).await.is_ok());
    clock.advance(Duration::from_secs(1));
    assert_eq!(maintain(&memory, "one").await.swept, 1);
    assert!(memory.admin().receipt(told.receipt.id).await.is_err());
}

/// Returns the offsets of the index blocks of single events in a file: after the format version, a checksum and the count 1 comes
/// the event's id.
fn blocks(bytes: &[u8], events: &[EventId]) -> Vec<usize> {
    let ids: Vec<[u8; 16]> = events.iter().map(|event| event.0.to_be_bytes()).collect();
    let is_block = |at: &usize| {
        let window = &bytes[*at..*at + 26];
        window[0] == 1 && window[9] == 1 && ids.iter().any(|id| window[10..] == id[..])
    };
    (0..bytes.len() - 26).filter(is_block).collect()
}

// proves: D7, D12 (after an unclean end the index is checked and a damaged block made anew from the log)
#[tokio::test]
async fn a_damaged_index_block_is_made_anew_after_an_unclean_end() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("space.db");
    let clock = Arc::new(ManualClock::default());
    let memory = open(&path, &clock, 1).await;
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(memory.log(Message::user(format!("turn {number} about gardens"))).await.unwrap().id);
    }
    let target = memory.log(Message::user("the zanzibar protocol starts at dawn")).await.unwrap().id;
    ids.push(target);
    let before = memory.recall("zanzibar protocol").await.unwrap().value;
    let store = SqliteStore::open(&path).await.unwrap();
    let name = LeaseName::new("background").unwrap();
    let _never_released =
        store.acquire(&name, &owner("killed"), Timestamp::EPOCH, Duration::from_secs(1)).await;
    store.close().await.unwrap();
    memory.admin().engine().close().await.unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let found = blocks(&bytes, &ids);
    assert_eq!(found.len(), 21);
    for at in found {
        bytes[at + 40] ^= 0x10;
    }
    std::fs::write(&path, bytes).unwrap();

    let memory = open(&path, &clock, 2).await;
    let broken = memory.recall("zanzibar protocol").await.unwrap();
    assert!(!broken.gaps.is_empty(), "a damaged index is a gap");
    let tended = maintain(&memory, "next").await;
    assert_eq!((tended.left_by, tended.reindexed), (Some(owner("killed")), 21));
    assert_eq!(tended.sealed, 21, "they are one block now");
    assert!(!tended.check.unwrap().findings.is_empty());
    assert_eq!(memory.admin().engine().check().await.unwrap().findings, Vec::<String>::new());
    let after = memory.recall("zanzibar protocol").await.unwrap();
    assert_eq!(after.gaps, []);
    let scores = |recalled: &mnemal::RecallResult| {
        recalled.hits.iter().map(|hit| (hit.event.id, hit.score.get().to_bits())).collect::<Vec<_>>()
    };
    assert_eq!(scores(&after.value), scores(&before));
    assert_eq!(after.hits[0].event.id, target);
    assert_eq!(memory.admin().engine().reindex_damaged().await.unwrap(), 0);
    memory.admin().engine().close().await.unwrap();
    let memory = open(&path, &clock, 3).await;
    assert_eq!(scores(&memory.recall("zanzibar protocol").await.unwrap().value), scores(&before));
}

// proves: E3 (however much was decided since)
#[tokio::test]
async fn an_interrupted_forget_is_finished_behind_any_number_of_decisions() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("space.db");
    let clock = Arc::new(ManualClock::default());
    let memory = open(&path, &clock, 1).await;
    let target = memory.log(Message::user("the marianas ledger is complete")).await.unwrap().id;
    let missing = EventId(77);
    let store = SqliteStore::open(&path).await.unwrap();
    let forget = Forget { selector: Selector::Events(vec![target]), events: vec![missing, target] };
    let mut entry = Records::new(3).turn("default", "").unwrap();
    entry.event.kind = EventKind::Decision(Decision::Forget(forget));
    store.append(&[entry]).await.unwrap();
    store.close().await.unwrap();
    for number in 0..100 {
        let key = NoteKey::new(format!("note-{number}")).unwrap();
        let _stored = memory.remember("something else").key(key).await.unwrap();
    }
    assert!(memory.events().get(target).await.unwrap().body().is_some(), "nobody has finished it yet");
    memory.admin().engine().close().await.unwrap();
    let memory = open(&path, &clock, 2).await;
    assert!(memory.events().get(target).await.unwrap().body().is_none());
    assert!(memory.admin().engine().search_bytes("marianas").await.unwrap().is_empty());
    let everything = memory.events().latest(&mnemal::EventFilter::all(), NonZeroUsize::MAX).await.unwrap();
    assert_eq!(everything.len(), 102);
}

// proves: D5, DF-74 (64 tasks and two handles on one file: one active version, no lost update)
#[tokio::test]
async fn many_writers_of_one_note_leave_one_version_and_lose_none() {
    const TASKS: usize = 64;
    const EACH: usize = 4;
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("space.db");
    let clock = Arc::new(ManualClock::default());
    let (one, two) = (open(&path, &clock, 1).await, open(&path, &clock, 2).await);
    let key = NoteKey::new("contended").unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        let (memory, key) = (if task % 2 == 0 { one.clone() } else { two.clone() }, key.clone());
        tasks.spawn(async move {
            for round in 0..EACH {
                let text = format!("value {round} of {task}");
                let _stored = memory.remember(text).key(key.clone()).by_user().await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    // On a busy machine a part may be paused after missing its deadline; by this time it is asked again.
    clock.advance(Duration::from_hours(1));
    assert_eq!(maintain(&two, "two").await.held_by, None);
    let history = two.preferences().history(&key).await.unwrap();
    assert_eq!(history.len(), TASKS * EACH, "no update is lost");
    let versions: Vec<usize> = history.iter().map(|note| note.version as usize).collect();
    assert_eq!(versions, (1..=TASKS * EACH).rev().collect::<Vec<_>>());
    let active = history.iter().filter(|note| note.expired_at.is_none()).count();
    assert_eq!(active, 1);
    assert_eq!(one.admin().engine().check().await.unwrap().findings, Vec::<String>::new());
}

#[tokio::test]
async fn a_space_in_memory_and_one_without_stores_are_tended_too() {
    let memory = Memory::in_memory().await.unwrap();
    assert_eq!(maintain(&memory, "one").await, MaintenanceReport::default());
    let bare = Engine::builder().build().unwrap();
    assert_eq!(bare.maintain(&owner("one")).await.unwrap().value, MaintenanceReport::default());
}
