//! Concurrency: many callers, several handles, readers during a checkpoint, canceled callers.

#![expect(clippy::unwrap_used, reason = "the parts that tests share are tests too")]

#[path = "reference/two_handles.rs"]
mod two_handles;

use std::num::NonZeroUsize;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mnemal_core::{
    Acquisition, Cursor, EventFilter, EventStore, IndexStore, LeaseName, LeaseStore, OwnerId, ReceiptStore,
    Result, SessionId, Timestamp, Upkeep,
};
use mnemal_store::SqliteStore;
use mnemal_testkit::{Records, receipt};

const ALL: NonZeroUsize = NonZeroUsize::MAX;

/// Polls a future a number of times, gives way in between, and drops it.
async fn cancelled_after<T>(polls: u64, work: impl Future<Output = Result<T>>) -> bool {
    let mut work = pin!(work);
    for _ in 0..polls {
        if work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

// proves: DF-77, D4 (random cancellation)
#[tokio::test]
async fn callers_that_walk_away_leave_no_open_transaction() -> Result<()> {
    for seed in 1..=3 {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("space.db")).await?;
        let (mut state, mut records, mut finished) = (seed, Records::new(seed), 0);
        let name = LeaseName::new("background")?;
        for round in 0..300_u64 {
            // Some callers wait to the end, however long the machine takes.
            let polls = Some(next(&mut state) % 12).filter(|polls| *polls < 11).unwrap_or(u64::MAX);
            let batch = [records.turn("s", &format!("turn {round}"))?];
            let ended = match next(&mut state) % 7 {
                0 => cancelled_after(polls, store.scan(&EventFilter::all(), Cursor::START, ALL)).await,
                1 => cancelled_after(polls, store.load(Cursor::START, ALL)).await,
                2 => cancelled_after(polls, store.seal()).await,
                3 => {
                    let shown = receipt(u128::from(round), "s", batch[0].id, Timestamp::EPOCH)?;
                    cancelled_after(polls, store.put(&shown)).await
                }
                4 => {
                    let (owner, at) = (OwnerId::new(format!("o{round}"))?, Timestamp::EPOCH);
                    cancelled_after(polls, store.acquire(&name, &owner, at, Duration::from_secs(1))).await
                }
                _ => cancelled_after(polls, store.append(&batch)).await,
            };
            finished += u64::from(ended);
        }
        assert!((1..300).contains(&finished), "seed {seed}: {finished} of 300 ended");
        // The writer answers in order: when this has returned, everything before it is done.
        store.append(&[records.turn("s", "the last one")?]).await?;
        assert!(store.scrub(&[]).await?.truncated, "seed {seed}: a transaction is open");
        let other = SqliteStore::open(store.path()).await?;
        other.append(&[records.turn("s", "from elsewhere")?]).await?;
        assert_eq!(store.check().await?.findings, Vec::<String>::new(), "seed {seed}");
        let seqs: Vec<_> = store.scan(&EventFilter::all(), Cursor::START, ALL).await?;
        assert!(seqs.iter().zip(1..).all(|(event, seq)| event.seq.0 == seq), "seed {seed}");
        other.close().await?;
        store.close().await?;
    }
    Ok(())
}

// proves: D4 (readers beside a checkpoint)
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_never_fails_while_the_write_ahead_log_is_emptied() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.db");
    let (one, other) = (SqliteStore::open(&path).await?, SqliteStore::open(&path).await?);
    let write = async {
        let mut records = Records::new(1);
        for round in 0..60 {
            one.append(&[records.turn("s", &format!("turn {round}"))?]).await?;
            let _scrubbed = one.scrub(&[]).await?;
        }
        Result::Ok(())
    };
    let read = async {
        let mut last = 0;
        while last < 60 {
            let head = other.head().await?.count();
            assert!(head >= last, "the head went back from {last} to {head}");
            assert!(other.scan(&EventFilter::all(), Cursor::START, ALL).await?.len() as u64 >= head);
            last = head;
        }
        Result::Ok(())
    };
    let (writing, reading) = tokio::join!(write, read);
    writing?;
    reading?;
    one.close().await?;
    other.close().await
}

// proves: D12 (of many processes that ask at once, one has the lease)
#[tokio::test]
async fn of_many_handles_one_has_the_lease() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.db");
    let mut stores = Vec::new();
    for _ in 0..6 {
        stores.push(SqliteStore::open(&path).await?);
    }
    let name = LeaseName::new("background")?;
    for round in 0..20 {
        let at = Timestamp::EPOCH.plus_micros(round * 60_000_000);
        let mut asking = tokio::task::JoinSet::new();
        for (number, store) in stores.iter().cloned().enumerate() {
            let (name, owner) = (name.clone(), OwnerId::new(format!("handle {number}"))?);
            asking.spawn(async move { store.acquire(&name, &owner, at, Duration::from_secs(30)).await });
        }
        let turns = asking.join_all().await.into_iter().collect::<Result<Vec<_>>>()?;
        let taken: Vec<_> =
            turns.iter().filter(|turn| matches!(turn, Acquisition::Acquired { .. })).collect();
        assert_eq!(taken.len(), 1, "round {round}: {turns:?}");
        let Acquisition::Acquired { lease, left_by } = taken[0] else { continue };
        assert_eq!((lease.turn, left_by.is_some()), (u64::try_from(round).unwrap() + 1, round > 0));
    }
    Ok(())
}

// proves: DF-75
#[test]
fn every_transaction_that_writes_begins_immediate() {
    let mut begins = 0;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // A database with many spaces locks the row of the space instead.
    let is_of_files =
        |file: &Path| !file.starts_with(source.join("postgres")) && file != source.join("postgres.rs");
    for file in sources(&source).into_iter().filter(|file| is_of_files(file)) {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            let line = line.trim();
            let place = || format!("{}:{}: {line}", file.display(), number + 1);
            if line.starts_with("//") || file.ends_with("tests.rs") {
                continue;
            }
            let lower = line.to_lowercase();
            for (at, _) in lower.match_indices("\"begin") {
                let begun = lower.get(at..).is_some_and(|rest| rest.starts_with("\"begin immediate\""));
                assert!(begun, "{}", place());
                begins += 1;
            }
            let deferred = [".begin(", "begin_with(", "savepoint", "begin deferred", "begin transaction"];
            assert!(deferred.iter().all(|word| !lower.contains(word)), "{}", place());
        }
    }
    assert_eq!(begins, 1, "one place begins transactions");
}

fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push(path);
        }
    }
    found
}

// proves: D3, D7 (nothing but what was asked changes a file: to open and read a space writes not a byte)
#[tokio::test]
async fn opening_and_reading_a_space_writes_nothing() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.db");
    let store = SqliteStore::open(&path).await?;
    store.append(&[Records::new(1).turn("s", "x")?]).await?;
    store.close().await?;
    let before = std::fs::read(&path).unwrap();
    let store = SqliteStore::open(&path).await?;
    assert_eq!(store.scan(&EventFilter::all(), Cursor::START, ALL).await?.len(), 1);
    assert_eq!(store.seen(&SessionId::new("s")?).await?.items, []);
    let log = folder.path().join("space.db-wal");
    assert_eq!(std::fs::metadata(&log).map_or(0, |found| found.len()), 0);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    store.close().await
}

#[test]
fn a_poll_that_is_never_made_cancels_at_once() {
    let mut work = pin!(cancelled_after(0, std::future::pending::<Result<()>>()));
    let polled = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(false));
}

// proves: NX-10.3
#[tokio::test]
async fn rows_that_another_handle_makes_anew_are_read_at_once() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.db");
    let (one, other) = (SqliteStore::open(&path).await?, SqliteStore::open(&path).await?);
    two_handles::rows_made_anew_are_read_at_once(&one, &other).await
}
