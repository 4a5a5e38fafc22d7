//! What a power cut takes of rows that are made from the log, which are not flushed by themselves: they are made again, the same.

#![expect(clippy::unwrap_used, reason = "the parts that tests share are tests too")]

use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal::{
    Cursor, EntityFilter, EventId, EventStore, FactFilter, GraphStore, LearningFilter, LearningStore,
    MentionFilter, Projector, SummaryStore,
};
use mnemal_core::{Error, Projection, SummaryDelta, Upkeep as _};
use mnemal_extract::RuleExtractor;
use mnemal_graph::GraphProjector;
use mnemal_learnings::LearningProjector;
use mnemal_store::{Durability, Options, SqliteStore};
use mnemal_summaries::SummaryProjector;
use mnemal_testkit::Records;
use mnemal_testkit::vfs::{Dice, FaultyDisk, Keep, VFS};
use mnemal_text::Language;

/// Events of a step.
const STEP: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not zero");
/// What is said, one after the other; each says something of somebody, some how it is wanted.
const SAID: [&str; 5] = [
    "My sister Anna lives in Lyon.",
    "Please always answer in short sentences.",
    "Anna moved to Porto and works for Larkfield.",
    "I bought a bicycle from Robert Hale.",
    "Robert Hale lives in Lyon and likes chess.",
];

async fn open(disk: &FaultyDisk) -> Result<SqliteStore, Error> {
    let options = Options { durability: Durability::Disk, readers: 2, vfs: Some(VFS) };
    SqliteStore::open_with(disk.path("space.db"), options).await
}

fn projectors(store: &SqliteStore) -> [Arc<dyn Projector>; 3] {
    let (events, store): (Arc<dyn EventStore>, _) = (Arc::new(store.clone()), Arc::new(store.clone()));
    [
        Arc::new(GraphProjector::new(Arc::clone(&events), store.clone(), Arc::new(RuleExtractor::new()))),
        Arc::new(LearningProjector::new(Arc::clone(&events), store.clone())),
        Arc::new(SummaryProjector::new(events, store, Language::English)),
    ]
}

async fn cursors(store: &SqliteStore) -> Result<[Cursor; 3], Error> {
    Ok([
        Projection::<mnemal_core::GraphDelta>::cursor(store).await?,
        Projection::<mnemal_core::LearningDelta>::cursor(store).await?,
        Projection::<SummaryDelta>::cursor(store).await?,
    ])
}

async fn fold(store: &SqliteStore) {
    for projector in projectors(store) {
        while projector.step(STEP).await.unwrap().behind > 0 {}
    }
}

/// Returns every row of the three.
async fn rows(store: &SqliteStore) -> Vec<String> {
    let mut rows = vec![
        format!("{:#?}", store.entities(&EntityFilter::all()).await.unwrap()),
        format!("{:#?}", GraphStore::history(store, &FactFilter::all()).await.unwrap()),
        format!("{:#?}", store.mentions(&MentionFilter::all()).await.unwrap()),
        format!("{:#?}", LearningStore::all(store, &LearningFilter::all()).await.unwrap()),
    ];
    rows.push(format!("{:#?}", SummaryStore::all(store).await.unwrap()));
    rows
}

/// What was acknowledged: the events, how far each projection was, and how far with the last event.
#[derive(Debug, Default)]
struct Told {
    events: Vec<EventId>,
    at: [Cursor; 3],
    flushed: [Cursor; 3],
}

/// Says something, folds some of it, and merges blocks, by turns as chance wants, until the power goes.
async fn write(disk: &FaultyDisk, dice: &mut Dice, told: &mut Told) -> Result<(), Error> {
    let store = open(disk).await?;
    let projectors = projectors(&store);
    let mut records = Records::new(1);
    for said in SAID.iter().cycle().take(200) {
        if told.events.is_empty() || dice.happens(2) {
            let entry = records.turn("live", said).unwrap();
            store.append(std::slice::from_ref(&entry)).await?;
            told.events.push(entry.id);
            told.flushed = told.at;
        } else if dice.happens(1) {
            store.seal().await?;
        } else {
            projectors[dice.below(projectors.len())].step(STEP).await?;
            told.at = cursors(&store).await?;
        }
    }
    Ok(())
}

// proves: D2
#[tokio::test]
async fn a_power_cut_takes_the_newest_rows_and_they_are_made_again_the_same() {
    let (mut lost, mut kept) = (0, 0);
    for seed in 0..30 {
        let (disk, mut dice) = (FaultyDisk::new(seed), Dice::new(seed));
        disk.cut_at(150 + dice.throw() % 1_500);
        let mut told = Told::default();
        let _cut = write(&disk, &mut dice, &mut told).await;
        disk.power_cut();
        disk.reboot(Keep::Drawn);
        let store = open(&disk).await.unwrap();
        let events = EventStore::get(&store, &told.events).await.unwrap();
        assert_eq!(events.len(), told.events.len(), "seed {seed}");
        let places = cursors(&store).await.unwrap().into_iter().zip(told.at).zip(told.flushed);
        for ((found, at), flushed) in places {
            assert!(found >= flushed, "seed {seed}: {found:?} and {told:?}");
            if found < at {
                lost += 1;
            } else {
                kept += 1;
            }
        }
        assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new(), "seed {seed}");
        fold(&store).await;
        let found = rows(&store).await;
        for projector in projectors(&store) {
            projector.reset().await.unwrap();
        }
        fold(&store).await;
        assert!(found == rows(&store).await, "seed {seed}: the rows are not those that the log gives");
        store.close().await.unwrap();
    }
    assert!(lost > 0 && kept > 0, "{lost} were lost and {kept} kept, so the cut cuts nothing, or everything");
}

#[tokio::test]
async fn rows_are_on_the_disk_with_the_next_event_and_not_before() {
    for is_next_said in [false, true] {
        let disk = FaultyDisk::new(7);
        let store = open(&disk).await.unwrap();
        let mut records = Records::new(1);
        let mut say = async |text| {
            let entry = records.turn("live", text).unwrap();
            store.append(std::slice::from_ref(&entry)).await.unwrap();
        };
        say(SAID[0]).await;
        fold(&store).await;
        say(SAID[2]).await;
        fold(&store).await;
        let (before, at) = (rows(&store).await, cursors(&store).await.unwrap());
        if is_next_said {
            say("Good morning.").await;
        }
        disk.power_cut();
        disk.reboot(Keep::Nothing);
        let store = open(&disk).await.unwrap();
        let found = cursors(&store).await.unwrap();
        if is_next_said {
            assert_eq!((found, rows(&store).await), (at, before));
        } else {
            assert!(found.iter().zip(at).all(|(found, at)| *found < at), "{found:?} of {at:?} was flushed");
            fold(&store).await;
            assert_eq!(rows(&store).await, before, "they are made again");
        }
        store.close().await.unwrap();
    }
}

// proves: D2
#[tokio::test]
async fn what_the_rows_as_a_whole_are_is_flushed_by_itself() {
    let disk = FaultyDisk::new(9);
    let store = open(&disk).await.unwrap();
    let mut records = Records::new(1);
    store.append(&[records.turn("live", SAID[0]).unwrap()]).await.unwrap();
    fold(&store).await;
    let shared = Arc::new(store.clone());
    let graph = GraphProjector::new(shared.clone(), shared, Arc::new(RuleExtractor::new()));
    assert!(!graph.is_due().await.unwrap());
    graph.doubt().await.unwrap();
    disk.power_cut();
    disk.reboot(Keep::Nothing);
    let store = Arc::new(open(&disk).await.unwrap());
    let graph = GraphProjector::new(store.clone(), store.clone(), Arc::new(RuleExtractor::new()));
    assert!(graph.is_due().await.unwrap(), "somebody asked for the rows to be made anew");
    store.close().await.unwrap();
}
