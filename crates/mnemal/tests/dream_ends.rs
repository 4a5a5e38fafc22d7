//! Crash safety of a cycle: interrupted between any two steps, it loses nothing, and the next one does the rest.
#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mnemal::dream::DreamMode;
use mnemal::learnings::LearningStatus;
use mnemal::types::OwnerId;
use mnemal::{Engine, LearningFilter, Memory, Scope, SpaceId};
use mnemal_testkit::ManualClock;

/// Notes of which two are duplicates and one is contained in another.
const NOTES: [&str; 5] = [
    "The till in Genoa listens on port 4711.",
    "The till in Genoa listens on port 4711.",
    "Deploys of the shop happen on Tuesday morning.",
    "Deploys of the shop happen on Tuesday morning at 09:30.",
    "The lift is loud.",
];

async fn opened(folder: &Path, clock: &Arc<ManualClock>) -> Memory {
    // The lease of the crashed process expires.
    clock.advance(Duration::from_mins(1));
    let builder = Engine::builder().with_clock(Arc::<ManualClock>::clone(clock));
    let engine = builder.open(folder.join("space.db")).await.unwrap();
    engine.memory(Scope::whole(SpaceId::new("test").unwrap()))
}

/// Polls a future for a number of steps, then drops it; a step ends where it waits for the store. Returns whether it completed.
async fn driven<T>(work: impl Future<Output = T>, steps: usize) -> bool {
    let (mut work, mut left) = (pin!(work), steps);
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(true),
        Poll::Pending if left == 0 => Poll::Ready(false),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// Returns the texts of the valid notes, and of all notes.
async fn said(memory: &Memory) -> (Vec<String>, BTreeSet<String>) {
    let rows = memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap();
    let mut live: Vec<String> = rows
        .iter()
        .filter(|row| row.status == LearningStatus::Active)
        .map(|row| row.content.clone())
        .collect();
    live.sort_unstable();
    (live, rows.into_iter().map(|row| row.content).collect())
}

async fn settled(memory: &Memory, owner: &OwnerId) {
    for _ in 0..10 {
        let cycle = memory.admin().engine().dream(owner, DreamMode::Asked).await.unwrap();
        assert_eq!(cycle.vanished, 0);
        if cycle.accepted().count() == 0 {
            return;
        }
    }
    unreachable!("ten cycles find no end");
}

// proves: AD-59, DF-15
#[tokio::test]
async fn a_cycle_that_ends_between_any_two_steps_loses_nothing_and_the_next_one_goes_on() {
    let start = tempfile::tempdir().unwrap();
    let (owner, clock) = (OwnerId::new("test").unwrap(), Arc::new(ManualClock::default()));
    let memory = opened(start.path(), &clock).await;
    for note in NOTES {
        let _stored = memory.remember(note).await.unwrap();
    }
    let (_, all) = said(&memory).await;
    memory.admin().engine().close().await.unwrap();
    let (mut steps, mut expected, mut cut) = (0, None, 0);
    loop {
        let folder = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(start.path()).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        let memory = opened(folder.path(), &clock).await;
        let is_whole = driven(memory.admin().engine().dream(&owner, DreamMode::Asked), steps).await;
        // The last request to the store may be done or not; a crash leaves either.
        memory.admin().engine().close().await.unwrap();
        let memory = opened(folder.path(), &clock).await;
        let (live, kept) = said(&memory).await;
        assert_eq!(kept, all, "a note is gone after {steps} steps");
        let is_said = |note: &String| live.iter().any(|row| row.starts_with(note.trim_end_matches('.')));
        assert!(all.iter().all(is_said), "nothing stands for a note after {steps} steps: {live:?}");
        settled(&memory, &owner).await;
        let (live, _) = said(&memory).await;
        assert_eq!(&live, expected.get_or_insert(live.clone()), "another end after {steps} steps");
        memory.admin().engine().close().await.unwrap();
        if is_whole {
            break;
        }
        cut += 1;
        steps += 1;
    }
    assert_eq!(expected.unwrap().len(), 3);
    assert!(cut > 10, "a cycle of {cut} steps");
}
