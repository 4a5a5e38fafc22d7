//! Behavior of the file store: group commits, restarts, damage, file modes, erased bytes.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the parts that tests share are tests too")]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use mnemal_core::{
    Advance, AsOf, Category, Cursor, Decision, Entity, EntityFilter, EntityId, EntityKind, ErrorKind, Event,
    EventFilter, EventKind, EventStore, Fact, FactFilter, FactId, FactStatus, Forget, GraphDelta, GraphStore,
    Importance, IndexEntry, IndexStore, Layer, Learning, LearningDelta, LearningFilter, LearningKind,
    LearningStatus, LearningStore, LogEntry, ModelId, NoteKey, Predicate, Projection, Remember, Result, Role,
    Selector, Seq, SessionId, Span, Speaker, Tag, TermHash, Timestamp, ToolName, Upkeep, UserId, Value,
    Within, WorkingEntry, WorkingKey,
};
use mnemal_store::{Durability, Options, SqliteStore, Stores};
use mnemal_testkit::{Records, TermIndexer, entity, fact, learning, tombstone};
use tempfile::TempDir;

const ALL: NonZeroUsize = NonZeroUsize::MAX;

async fn fresh() -> (TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("space.db")).await.unwrap();
    (folder, store)
}

async fn contents(store: &SqliteStore) -> Vec<String> {
    let events = store.scan(&EventFilter::all(), Cursor::START, ALL).await.unwrap();
    events.iter().filter_map(|event| event.body().map(|kept| kept.content.clone())).collect()
}

fn raw(store: &SqliteStore) -> Vec<u8> {
    let read = |end: &str| {
        let mut name = store.path().as_os_str().to_owned();
        name.push(end);
        std::fs::read(Path::new(&name)).unwrap_or_default()
    };
    ["", "-wal", "-shm"].map(read).concat()
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

/// Puts texts of many lengths at sixty places, one over the other; returns those that stand nowhere in the end.
async fn put_over_and_over(store: &SqliteStore, seed: u64) -> Result<Vec<String>> {
    let mut number = seed;
    let mut random = |below: u64| {
        // Knuth's linear congruential generator.
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % below
    };
    let mut texts: BTreeMap<u64, String> = BTreeMap::new();
    let mut gone = Vec::new();
    for round in 0..400 {
        let (place, times) = (random(60), random(119) + 1);
        let text = format!("<{seed}-{round:03}>");
        let value = text.repeat(usize::try_from(times).unwrap());
        let entry = WorkingEntry {
            value,
            stored_at: Timestamp::EPOCH,
            expires_at: Timestamp::MAX,
            category: None,
            tags: Vec::new(),
        };
        mnemal_core::WorkingStore::put(store, &WorkingKey::new(&format!("p/{place}"))?, &entry, ALL).await?;
        gone.extend(texts.insert(place, text));
    }
    Ok(gone)
}

#[tokio::test]
async fn copies_that_moved_rows_left_in_pages_are_gone_after_a_scrub_that_is_told_of_them() -> Result<()> {
    let mut left = 0;
    for seed in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { durability: Durability::Process, ..Options::default() };
        let store = SqliteStore::open_with(folder.path().join("space.db"), options).await?;
        let gone = put_over_and_over(&store, seed).await?;
        let found = |bytes: &[u8]| {
            let start = |piece: &[u8]| piece.iter().rposition(|byte| *byte == b'<').unwrap_or_default();
            let pieces = bytes.split_inclusive(|byte| *byte == b'>');
            let words: BTreeSet<&[u8]> = pieces.map(|piece| &piece[start(piece)..]).collect();
            gone.iter().filter(|text| words.contains(text.as_bytes())).cloned().collect::<Vec<String>>()
        };
        assert!(store.scrub(&[]).await?.truncated);
        let copies = found(&raw(&store));
        left += copies.len();
        let scrub = store.scrub(&copies).await?;
        assert!(scrub.truncated, "{:?}", scrub.residual);
        assert_eq!(found(&raw(&store)), Vec::<String>::new(), "seed {seed}");
        assert_eq!(store.check().await?.findings, Vec::<String>::new());
    }
    assert!(left > 0, "the database leaves no copies: nothing was tried");
    Ok(())
}

#[tokio::test]
async fn the_bytes_of_the_tables_are_those_of_the_file() -> Result<()> {
    let (_folder, store) = fresh().await;
    let mut records = Records::new(1);
    let long = "every second Tuesday ".repeat(4_000);
    store.append(&[records.turn("one", &long)?]).await?;
    let tables = store.table_bytes().await?;
    assert!(tables.is_sorted_by(|one, next| one.1 >= next.1), "{tables:?}");
    let (name, bytes) = &tables[0];
    assert!(name == "event" && *bytes >= long.len() as u64, "{tables:?}");
    let layers = store.layer_bytes().await?;
    assert_eq!(layers.first().map(|(layer, _)| *layer), Some(Some(Layer::Events)), "{layers:?}");
    let of_tables: u64 = tables.iter().map(|one| one.1).sum();
    assert_eq!(layers.iter().map(|one| one.1).sum::<u64>(), of_tables, "{layers:?} {tables:?}");
    assert_eq!(layers.iter().filter(|one| one.0.is_some()).count(), 7, "each layer with tables: {tables:?}");
    Ok(())
}

// proves: D4, DF-74 (forty callers of two handles)
#[tokio::test]
async fn callers_of_two_handles_share_one_dense_log() -> Result<()> {
    let (_folder, one) = fresh().await;
    let two = SqliteStore::open(one.path()).await?;
    let mut tasks = Vec::new();
    for caller in 0..40_u64 {
        let store = if caller % 2 == 0 { one.clone() } else { two.clone() };
        #[expect(clippy::disallowed_methods, reason = "callers of a test")]
        tasks.push(tokio::spawn(async move {
            let mut records = Records::new(caller);
            let mut seqs = Vec::new();
            for turn in 0..10 {
                let entry = records.turn(&format!("s{caller}"), &format!("turn {turn} of {caller}"))?;
                seqs.push(store.append(&[entry]).await?[0].seq);
            }
            Ok::<_, mnemal_core::Error>(seqs)
        }));
    }
    let mut seqs = Vec::new();
    for task in tasks {
        let own = task.await.unwrap()?;
        assert!(own.is_sorted(), "the order of one caller");
        seqs.extend(own);
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=400).map(Seq).collect::<Vec<_>>());
    let events = two.scan(&EventFilter::all(), Cursor::START, ALL).await?;
    assert!(events.is_sorted_by(|one, two| one.recorded_at < two.recorded_at));
    assert_eq!(
        one.load(Cursor::START, ALL).await?.iter().map(mnemal_core::IndexBlock::len).sum::<usize>(),
        400
    );
    assert_eq!(one.check().await?.findings, Vec::<String>::new());
    Ok(())
}

// proves: AD-67
#[tokio::test]
async fn one_callers_refusal_is_not_anothers() -> Result<()> {
    let (_folder, store) = fresh().await;
    let mut records = Records::new(1);
    let known = records.turn("s", "known")?;
    store.append(std::slice::from_ref(&known)).await?;
    let mut orphan = records.turn("s", "orphan")?;
    orphan.event.parent = Some(mnemal_core::EventId(404));
    let good: Vec<LogEntry> =
        (0..6).map(|n| records.turn("s", &format!("good {n}"))).collect::<Result<_>>()?;
    let one = |entry: &LogEntry| {
        let (store, entry) = (store.clone(), entry.clone());
        async move { store.append(&[entry]).await }
    };
    let (first, known, second, orphan, third) =
        tokio::join!(one(&good[0]), one(&known), one(&good[1]), one(&orphan), one(&good[2]));
    assert_eq!(known.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(orphan.unwrap_err().kind(), ErrorKind::Invalid);
    let mut seqs = [first?[0].seq, second?[0].seq, third?[0].seq];
    seqs.sort_unstable();
    assert_eq!(seqs, [Seq(2), Seq(3), Seq(4)]);
    Ok(())
}

// proves: D4, DF-77
#[tokio::test]
async fn a_dropped_future_leaves_the_store_usable() -> Result<()> {
    let (_folder, store) = fresh().await;
    let mut records = Records::new(1);
    for round in 0..30 {
        let entry = records.keyed("s", &format!("turn {round}"), &format!("key {round}"))?;
        let dropped = store.append(std::slice::from_ref(&entry));
        tokio::select! {
            biased;
            _ = dropped => {}
            () = async { for _ in 0..round % 7 { tokio::task::yield_now().await } } => {}
        }
        let again = store.append(std::slice::from_ref(&entry)).await?;
        assert_eq!(again[0].id, entry.id, "the retry has one effect");
    }
    assert_eq!(store.head().await?, Cursor(Some(Seq(30))));
    assert_eq!(contents(&store).await.len(), 30);
    Ok(())
}

// proves: E1, NX-03.6 (on SQLite)
#[tokio::test]
async fn nothing_of_an_erased_event_stays_in_the_bytes() -> Result<()> {
    let (_folder, store) = fresh().await;
    let mut records = Records::new(1);
    let model = ModelId::new("m")?;
    let mut entries = Vec::new();
    for n in 0..300 {
        entries.push(records.turn("crowd", &format!("word{n} common"))?);
    }
    let canary = "the canary sleeps under quixotic zephyrs";
    let mut secret = records.embedded(canary, &model, &[0.6, 0.8])?;
    secret.event.session = SessionId::new("session-of-the-canary")?;
    secret.event.speaker = Some(Speaker::new("Canaria")?);
    secret.event.metadata.insert("caption".to_owned(), "plumage-in-metadata".to_owned());
    entries.insert(150, secret.clone());
    for entry in &entries {
        store.append(std::slice::from_ref(entry)).await?;
    }
    store.seal().await?;
    let hashes: Vec<TermHash> =
        secret.index.iter().flat_map(|index| &index.terms.counts).map(|(term, _)| *term).collect();
    let texts = [canary, "session-of-the-canary", "Canaria", "plumage-in-metadata"];
    let before = raw(&store);
    assert!(texts.iter().all(|text| holds(&before, text.as_bytes())));
    assert!(hashes.iter().all(|term| holds(&before, &term.0.to_le_bytes())));
    assert!(!store.search_bytes(&[canary.to_owned()]).await?.is_empty());

    assert_eq!(store.erase(&[tombstone(secret.id, secret.recorded_at)]).await?, 1);
    assert!(store.scrub(&[]).await?.truncated);

    let after = raw(&store);
    for text in texts {
        assert!(!holds(&after, text.as_bytes()), "{text}");
        assert_eq!(store.search_bytes(&[text.to_owned()]).await?, []);
    }
    for term in hashes {
        assert!(!holds(&after, &term.0.to_le_bytes()), "{term:?}");
    }
    assert!(!holds(&after, &secret.body_hash));
    for block in store.load(Cursor::START, ALL).await? {
        assert!(!block.events.contains(&secret.id));
        assert!(
            block
                .vectors
                .iter()
                .all(|column| column.model != model || column.scales.iter().all(|scale| *scale == 0.0))
        );
    }
    assert_eq!(store.check().await?.findings, Vec::<String>::new());
    assert_eq!(contents(&store).await.len(), 300);
    Ok(())
}

// proves: D1
#[tokio::test]
async fn everything_is_there_after_a_restart() -> Result<()> {
    let (_folder, store) = fresh().await;
    let mut records = Records::new(1);
    let entries = every_kind(&mut records)?;
    store.append(&entries).await?;
    store.close().await?;
    assert_eq!(store.head().await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(store.append(&entries).await.unwrap_err().kind(), ErrorKind::Unavailable);

    let store = SqliteStore::open(store.path()).await?;
    let events = store.scan(&EventFilter::all(), Cursor::START, ALL).await?;
    assert_eq!(events.len(), entries.len());
    for (event, entry) in events.iter().zip(&entries) {
        assert_eq!(event.body(), Some(&entry.event));
        assert_eq!((event.id, &event.echo, event.role), (entry.id, &entry.echo, entry.event.kind.role()));
        assert_eq!((event.trust, event.level), (entry.event.origin.trust(), entry.event.origin.level()));
    }
    let mut late = records.turn("s", "late")?;
    late.recorded_at = Timestamp::EPOCH;
    let id = store.append(&[late]).await?[0].id;
    assert!(store.get(&[id]).await?[0].recorded_at > events.last().unwrap().recorded_at);
    Ok(())
}

fn every_kind(records: &mut Records) -> Result<Vec<LogEntry>> {
    let tool = ToolName::new("shell")?;
    let key = NoteKey::new("editor")?;
    let remember = Remember {
        key: Some(key.clone()),
        kind: LearningKind::Preference,
        category: Category::new("a/b")?,
        tags: vec![Tag::new("x")?, Tag::new("ü")?],
        importance: Importance::new(0.1)?,
        expires_at: Some(Timestamp::from_micros(12_345)?),
    };
    let plain = Remember { key: None, tags: Vec::new(), expires_at: None, ..remember.clone() };
    let selectors = [
        Selector::Events(vec![mnemal_core::EventId(7)]),
        Selector::Key(key.clone()),
        Selector::Session(SessionId::new("gone")?),
        Selector::User(UserId::new("ana")?),
    ];
    let forget =
        |selector| Decision::Forget(Forget { selector, events: vec![mnemal_core::EventId(u128::MAX)] });
    let mut kinds = vec![
        EventKind::UserMessage,
        EventKind::AssistantMessage,
        EventKind::ToolCall { tool: tool.clone() },
        EventKind::ToolResult { tool: tool.clone(), ok: true },
        EventKind::ToolResult { tool, ok: false },
        EventKind::Observation,
        EventKind::Document,
        EventKind::Decision(Decision::Remember(remember)),
        EventKind::Decision(Decision::Remember(plain)),
        EventKind::Decision(Decision::Archive(key.into())),
    ];
    kinds.extend(selectors.into_iter().map(|selector| EventKind::Decision(forget(selector))));
    let mut entries: Vec<LogEntry> = Vec::new();
    for (n, kind) in kinds.into_iter().enumerate() {
        let mut entry = records.turn("s", &format!("{n} \0 \"quoted\" \u{1f99c} ' -- ; drop"))?;
        entry.event.kind = kind;
        entry.event.origin = mnemal_core::Origin::ALL[n % 9];
        entry.event.parent = entries.last().map(|before| before.id);
        entry.event.metadata.extend([("k\"".to_owned(), "v\0".to_owned()), (String::new(), String::new())]);
        entry.event.zone = mnemal_core::Zone { name: String::new(), offset_seconds: -3_600 };
        entry.event.idempotency_key = Some(format!("key {n}"));
        entry.echo = vec![Span { start: 0, end: 1 }, Span { start: 3, end: u32::MAX }];
        entries.push(entry);
    }
    entries[0].event.content = String::new();
    entries[1].event.content = "long ".repeat(50_000);
    Ok(entries)
}

#[tokio::test]
async fn a_damaged_row_is_named_and_never_served() -> Result<()> {
    let (_folder, store) = fresh().await;
    let mut records = Records::new(1);
    let entries = [records.turn("s", "left alone")?, records.turn("s", "MARKED-TO-BE-DAMAGED")?];
    store.append(&entries).await?;
    store.close().await?;
    let mut bytes = std::fs::read(store.path()).unwrap();
    let place = bytes.windows(6).position(|window| window == b"MARKED").unwrap();
    bytes[place] = b'P';
    std::fs::write(store.path(), bytes).unwrap();

    let store = SqliteStore::open(store.path()).await?;
    let error = store.get(&[entries[1].id]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.what().contains(&entries[1].id.to_string()));
    assert_eq!(store.get(&[entries[0].id]).await?.len(), 1);
    let findings = store.check().await?.findings;
    assert!(findings.iter().any(|finding| finding.contains(&entries[1].id.to_string())), "{findings:?}");
    Ok(())
}

/// Lists that a filter narrows, each as it is or with the kind of its error.
async fn lists(store: &SqliteStore) -> Vec<(&'static str, Result<Vec<String>>)> {
    let session = EventFilter {
        session: Within::Only(SessionId::new("MARKED-session").unwrap()),
        ..EventFilter::live()
    };
    let speaker =
        EventFilter { speaker: Within::Only(Speaker::new("MARKED-speaker").unwrap()), ..EventFilter::live() };
    let decisions = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::all() };
    let ids = |events: Result<Vec<Event>>| {
        events.map(|events| events.iter().map(|event| event.id.to_string()).collect::<Vec<_>>())
    };
    let sessions = store
        .sessions(ALL)
        .await
        .map(|all| all.iter().map(|one| format!("{} {}", one.session, one.events)).collect::<Vec<_>>());
    vec![
        ("session", ids(store.latest(&session, ALL).await)),
        ("speaker", ids(store.scan(&speaker, Cursor::START, ALL).await)),
        ("decisions", ids(store.scan(&decisions, Cursor::START, ALL).await)),
        ("sessions", sessions),
    ]
}

// proves: D7 (damage hides no row from a filter)
#[tokio::test]
async fn a_damaged_name_hides_no_event_from_a_narrowed_list() -> Result<()> {
    let (folder, store) = fresh().await;
    let mut records = Records::new(1);
    let mut entries = Vec::new();
    for turn in 0..4 {
        entries.push(records.turn("other", &format!("left alone {turn}"))?);
        let mut marked = records.turn("MARKED-session", &format!("in the list {turn}"))?;
        marked.event.speaker = Some(Speaker::new("MARKED-speaker")?);
        entries.push(marked);
    }
    store.append(&entries).await?;
    let truth: Vec<_> = lists(&store).await.into_iter().map(|(name, list)| (name, list.unwrap())).collect();
    store.close().await?;
    let whole = std::fs::read(store.path()).unwrap();
    let places: Vec<usize> =
        (0..whole.len() - 6).filter(|&at| whole.get(at..at + 6) == Some(b"MARKED")).collect();
    assert!(places.len() > 4 * 3, "four rows, their index, a tally: {}", places.len());
    let mut told = BTreeSet::new();
    for (number, place) in places.into_iter().enumerate() {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        let path = folder.path().join(format!("damaged-{number}.db"));
        std::fs::write(&path, bytes).unwrap();
        let damaged = SqliteStore::open(&path).await?;
        for ((name, list), (_, expected)) in lists(&damaged).await.into_iter().zip(&truth) {
            match list {
                Ok(list) => assert_eq!(&list, expected, "{name} at {place}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}: {error}");
                    told.insert(name);
                }
            }
        }
        assert!(!damaged.check().await?.findings.is_empty(), "nobody saw the byte at {place}");
        damaged.close().await?;
    }
    assert_eq!(told, BTreeSet::from(["session", "sessions", "speaker"]));
    Ok(())
}

// proves: D7
#[tokio::test]
async fn flipped_bytes_and_cut_files_give_errors_and_never_wrong_text() -> Result<()> {
    let (folder, store) = fresh().await;
    let mut records = Records::new(1);
    for n in 0..60 {
        store.append(&[records.turn("s", &format!("text number {n}"))?]).await?;
    }
    store.seal().await?;
    let known = contents(&store).await;
    store.close().await?;
    let whole = std::fs::read(store.path()).unwrap();
    let mut state = 1_u64;
    for round in 0..60_usize {
        let mut bytes = whole.clone();
        for _ in 0..=round % 4 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = usize::try_from(state >> 33).unwrap() % bytes.len();
            bytes[place] ^= 1 << (state & 7);
        }
        if round % 5 == 0 {
            bytes.truncate(whole.len() * round / 60);
        }
        let path = folder.path().join(format!("damaged-{round}.db"));
        std::fs::write(&path, bytes).unwrap();
        let store = match SqliteStore::open(&path).await {
            Ok(store) => store,
            Err(error) => {
                let expected =
                    [ErrorKind::Corrupt, ErrorKind::Invalid, ErrorKind::Unsupported, ErrorKind::Unavailable];
                assert!(expected.contains(&error.kind()), "{error}");
                continue;
            }
        };
        if let Ok(events) = store.scan(&EventFilter::all(), Cursor::START, ALL).await {
            let texts: Vec<_> = events.iter().filter_map(|event| event.body()).collect();
            assert!(texts.iter().all(|kept| known.contains(&kept.content)), "a wrong text in round {round}");
        }
        if let Ok(blocks) = store.load(Cursor::START, ALL).await {
            assert!(blocks.iter().all(|block| block.len() <= 60));
        }
        drop(store.check().await);
        drop(store.close().await);
    }
    Ok(())
}

// proves: BA-45
#[tokio::test]
async fn what_is_no_space_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let text = "just some notes, long enough to be more than a header ".repeat(40);
    std::fs::write(&path, &text).unwrap();
    assert_eq!(SqliteStore::open(&path).await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert_eq!(SqliteStore::open(folder.path()).await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_private_and_made_private_again() -> Result<()> {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").join("space.db");
    let mode = |path: &Path| metadata(path).unwrap().permissions().mode() & 0o777;
    let store = SqliteStore::open(&path).await?;
    store.append(&[Records::new(1).turn("s", "x")?]).await?;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(mode(&folder.path().join("data").join("space.db-wal")), 0o600);
    store.close().await?;
    set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let store = SqliteStore::open(&path).await?;
    assert_eq!(mode(&path), 0o600);
    store.backup(&folder.path().join("copy.db")).await?;
    assert_eq!(mode(&folder.path().join("copy.db")), 0o600);
    Ok(())
}

// proves: D10
#[tokio::test]
async fn a_backup_is_a_space_and_never_replaces_a_file() -> Result<()> {
    let (folder, store) = fresh().await;
    let mut records = Records::new(1);
    let entries = every_kind(&mut records)?;
    store.append(&entries).await?;
    store.erase(&[tombstone(entries[2].id, entries[2].recorded_at)]).await?;
    let to = folder.path().join("copy.db");
    store.backup(&to).await?;
    assert_eq!(store.backup(&to).await.unwrap_err().kind(), ErrorKind::Conflict);
    let copy = SqliteStore::open(&to).await?;
    let all = EventFilter::all();
    assert_eq!(copy.scan(&all, Cursor::START, ALL).await?, store.scan(&all, Cursor::START, ALL).await?);
    assert_eq!(copy.tombstones().await?, store.tombstones().await?);
    assert_eq!(copy.load(Cursor::START, ALL).await?, store.load(Cursor::START, ALL).await?);
    Ok(())
}

#[tokio::test]
async fn imports_and_single_turns_end_in_packed_blocks() -> Result<()> {
    let (_folder, store) = fresh().await;
    let mut records = Records::new(1);
    for _ in 0..3 {
        let batch: Vec<_> =
            (0..1_000).map(|n| records.turn("s", &format!("t{}", n % 50))).collect::<Result<_>>()?;
        store.append(&batch).await?;
    }
    for _ in 0..44 {
        let batch: Vec<_> = (0..50).map(|n| records.turn("s", &format!("t{n}"))).collect::<Result<_>>()?;
        store.append(&batch).await?;
    }
    let blocks = store.load(Cursor::START, ALL).await?;
    assert_eq!(blocks.iter().map(mnemal_core::IndexBlock::len).sum::<usize>(), 5_200);
    assert!(blocks.len() <= 3 + 2 + 21, "{} blocks", blocks.len());
    store.seal().await?;
    let sealed = store.load(Cursor::START, ALL).await?;
    assert!(sealed.len() <= 8, "{} blocks", sealed.len());
    assert_eq!(store.seal().await?, 0);
    let ids = |blocks: &[mnemal_core::IndexBlock]| {
        blocks.iter().flat_map(|block| block.events.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&sealed), ids(&blocks));
    let part = store.load(Cursor(Some(Seq(1_500))), NonZeroUsize::MIN).await?;
    assert_eq!(part[0].seqs[0], Seq(1_501));
    Ok(())
}

#[tokio::test]
async fn the_acknowledgement_says_what_it_survives() -> Result<()> {
    let (folder, store) = fresh().await;
    assert!(store.capabilities().durable && store.capabilities().shared);
    let options = Options { durability: Durability::Process, readers: 1, ..Options::default() };
    let process = SqliteStore::open_with(folder.path().join("other.db"), options).await?;
    assert!(!process.capabilities().durable);
    let stores = Stores::from(process);
    let (events, index) = (stores.events.part(), stores.index.part());
    let entry = Records::new(1).turn("s", "x")?;
    events.as_ref().unwrap().append(&[entry]).await?;
    assert_eq!(index.unwrap().mark().await?.head, Cursor(Some(Seq(1))));
    assert!(stores.learnings.is_filled() && stores.receipts.is_filled() && stores.upkeep.is_filled());
    assert!(!Stores::none().events.is_filled());
    Ok(())
}

#[tokio::test]
async fn a_batch_may_be_larger_than_a_group() -> Result<()> {
    let (_folder, store) = fresh().await;
    let store = Arc::new(store);
    let mut records = Records::new(1);
    let large: Vec<_> = (0..1_000).map(|_| records.turn("s", "x")).collect::<Result<_>>()?;
    let small = records.turn("s", "y")?;
    let (one, two) = tokio::join!(store.append(std::slice::from_ref(&small)), store.append(&large));
    assert_eq!((one?.len(), two?.len()), (1, 1_000));
    assert_eq!(
        store.load(Cursor::START, ALL).await?.iter().map(mnemal_core::IndexBlock::len).sum::<usize>(),
        1_001
    );
    let roles = EventFilter { roles: Within::Only(Vec::new()), ..EventFilter::all() };
    assert_eq!(store.scan(&roles, Cursor::START, ALL).await?, []);
    let empty = LogEntry { index: Some(IndexEntry::default()), ..records.turn("s", "")? };
    store.append(&[empty]).await?;
    assert!(TermIndexer::entry("word").terms.length > 0);
    Ok(())
}

/// Moves the cursor by one, from `seq` on, with these rows.
async fn fold(store: &SqliteStore, seq: u64, rows: &[Learning]) {
    let cursor = |seq: u64| Cursor((seq > 0).then_some(Seq(seq)));
    let delta = LearningDelta { put: rows.to_vec(), remove: Vec::new() };
    let advance = Advance { expect: cursor(seq), next: cursor(seq + 1), ..Advance::default() };
    store.apply(&delta, &advance).await.unwrap();
}

#[tokio::test]
async fn what_holds_is_asked_again_and_again_and_every_change_is_seen_at_once_by_both_handles() {
    let (_folder, one) = fresh().await;
    let other = SqliteStore::open(one.path()).await.unwrap();
    let mut records = Records::new(1);
    let mut events = Vec::new();
    for number in 0..3 {
        let entry = records.turn("s", &format!("note {number}")).unwrap();
        one.append(std::slice::from_ref(&entry)).await.unwrap();
        events.push(entry.id);
    }
    let at = Timestamp::EPOCH.plus_micros(9);
    let row = |number: usize| learning(number as u128, &format!("k{number}"), events[number], at).unwrap();
    let keys = async |store: &SqliteStore, world: i64| {
        let as_of = AsOf::present(Timestamp::EPOCH.plus_micros(world));
        let found = store.active(&LearningFilter::all(), as_of).await.unwrap();
        found.iter().map(|row| row.key.as_ref().unwrap().to_string()).collect::<Vec<_>>()
    };
    let both = async |expected: &[&str]| {
        for store in [&one, &other] {
            assert_eq!(keys(store, 10).await, expected);
            assert_eq!(keys(store, 10).await, expected, "asked again");
        }
    };
    both(&[]).await;
    fold(&one, 0, &[row(0)]).await;
    both(&["k0"]).await;
    fold(&other, 1, &[]).await;
    both(&["k0"]).await;
    fold(&other, 2, &[row(1), row(2)]).await;
    both(&["k0", "k1", "k2"]).await;
    let ended = Learning { expired_at: Some(at.plus_micros(1)), ..row(1) };
    fold(&one, 3, &[ended]).await;
    both(&["k0", "k2"]).await;
    one.erase(&[tombstone(events[0], at)]).await.unwrap();
    both(&["k2"]).await;
    // What ends by the clock ends without a write.
    let short = Learning { expires_at: Some(Timestamp::EPOCH.plus_micros(20)), ..row(2) };
    fold(&one, 4, &[short]).await;
    both(&["k2"]).await;
    assert_eq!(keys(&other, 20).await, [""; 0]);
    both(&["k2"]).await;
    Projection::<LearningDelta>::reset(&other).await.unwrap();
    both(&[]).await;
}

#[tokio::test]
async fn notes_of_events_are_asked_again_and_again_and_every_change_is_seen_by_both_handles() {
    let (_folder, one) = fresh().await;
    let other = SqliteStore::open(one.path()).await.unwrap();
    let mut records = Records::new(1);
    let entry = records.turn("s", "a note").unwrap();
    one.append(std::slice::from_ref(&entry)).await.unwrap();
    let at = Timestamp::EPOCH.plus_micros(9);
    let filter = LearningFilter { sources: Within::Only(vec![entry.id]), ..LearningFilter::all() };
    let statuses = async |store: &SqliteStore| {
        let found = store.all(&filter).await.unwrap();
        found.iter().map(|row| row.status).collect::<Vec<_>>()
    };
    let both = async |expected: &[LearningStatus]| {
        for store in [&one, &other, &one, &other] {
            assert_eq!(statuses(store).await, expected);
        }
    };
    both(&[]).await;
    let row = learning(1, "k", entry.id, at).unwrap();
    fold(&one, 0, std::slice::from_ref(&row)).await;
    both(&[LearningStatus::Active]).await;
    let archived =
        Learning { status: LearningStatus::Archived, expired_at: Some(at.plus_micros(1)), ..row.clone() };
    fold(&other, 1, &[archived]).await;
    both(&[LearningStatus::Archived]).await;
    one.erase(&[tombstone(entry.id, at)]).await.unwrap();
    both(&[]).await;
}

/// Moves the cursor of the graph by one, from `seq` on.
async fn fold_graph(store: &SqliteStore, seq: u64, delta: GraphDelta) {
    let cursor = |seq: u64| Cursor((seq > 0).then_some(Seq(seq)));
    let advance = Advance { expect: cursor(seq), next: cursor(seq + 1), ..Advance::default() };
    store.apply(&delta, &advance).await.unwrap();
}

#[tokio::test]
async fn facts_are_asked_again_and_again_and_every_change_is_seen_by_both_handles() {
    let (_folder, one) = fresh().await;
    let other = SqliteStore::open(one.path()).await.unwrap();
    let mut records = Records::new(1);
    let mut events = Vec::new();
    for number in 0..3 {
        let entry = records.turn("s", &format!("turn {number}")).unwrap();
        one.append(std::slice::from_ref(&entry)).await.unwrap();
        events.push(entry.id);
    }
    let at = Timestamp::EPOCH.plus_micros(9);
    let row = |id: u128, predicate: &str, event: usize| fact(id, 1, predicate, events[event], at).unwrap();
    let put = |facts: Vec<Fact>| GraphDelta { facts, ..GraphDelta::default() };
    let (likes, uses) = (Predicate::new("likes").unwrap(), Predicate::new("uses").unwrap());
    let of = Within::Only(vec![EntityId(1)]);
    let about = FactFilter { subjects: of.clone(), ..FactFilter::all() };
    let of_slot = |predicates| FactFilter { predicates: Within::Only(predicates), ..about.clone() };
    let (slot, slots) = (of_slot(vec![likes.clone()]), of_slot(vec![likes, uses]));
    let leading = FactFilter { objects: of, ..FactFilter::all() };
    let ids = async |store: &SqliteStore, filter: &FactFilter| {
        let mut found = store.facts(filter, AsOf::present(at)).await.unwrap();
        found.sort_by_key(|fact| fact.id);
        found.iter().map(|fact| fact.id.0).collect::<Vec<_>>()
    };
    let both = async |of_likes: &[u128], all: &[u128], to_it: &[u128]| {
        for store in [&one, &other, &one, &other] {
            assert_eq!(ids(store, &slot).await, of_likes);
            assert_eq!(ids(store, &slots).await, all);
            assert_eq!(ids(store, &about).await, all);
            assert_eq!(ids(store, &leading).await, to_it);
        }
    };
    both(&[], &[], &[]).await;
    fold_graph(&one, 0, put(vec![row(1, "likes", 0), row(2, "uses", 1)])).await;
    both(&[1], &[1, 2], &[]).await;
    let back = Fact { subject: EntityId(2), object: Value::Entity(EntityId(1)), ..row(3, "knows", 2) };
    fold_graph(&other, 1, put(vec![row(4, "likes", 1), back])).await;
    both(&[1, 4], &[1, 2, 4], &[3]).await;
    let ended = Fact { expired_at: Some(at), status: FactStatus::Superseded, ..row(1, "likes", 0) };
    fold_graph(&one, 2, put(vec![ended])).await;
    both(&[4], &[2, 4], &[3]).await;
    fold_graph(&one, 3, GraphDelta { remove_facts: vec![FactId(2)], ..GraphDelta::default() }).await;
    both(&[4], &[4], &[3]).await;
    one.erase(&[tombstone(events[2], at)]).await.unwrap();
    both(&[4], &[4], &[]).await;
    Projection::<GraphDelta>::reset(&other).await.unwrap();
    both(&[], &[], &[]).await;
}

#[tokio::test]
async fn entities_are_asked_again_and_again_and_every_change_is_seen_by_both_handles() {
    let (_folder, one) = fresh().await;
    let other = SqliteStore::open(one.path()).await.unwrap();
    let mut records = Records::new(1);
    let mut events = Vec::new();
    for number in 0..2 {
        let entry = records.turn("s", &format!("turn {number}")).unwrap();
        one.append(std::slice::from_ref(&entry)).await.unwrap();
        events.push(entry.id);
    }
    let at = Timestamp::EPOCH.plus_micros(9);
    let made = |id, name: &str, event: usize| entity(id, name, EntityKind::Person, events[event], at);
    let put = |entities: Vec<Entity>| GraphDelta { entities, ..GraphDelta::default() };
    let key = |name: &str| made(0, name, 0).names[0].key.clone();
    let keys = ["Ada", "Eva", "Ida"].map(key).to_vec();
    let by_id = EntityFilter { ids: Within::Only(vec![EntityId(2), EntityId(1)]), ..EntityFilter::all() };
    let named = EntityFilter { keys: Within::Only(keys), ..EntityFilter::all() };
    let of_kind = EntityFilter { kind: Within::Only(EntityKind::Animal), ..by_id.clone() };
    let both = async |expected: &[&str]| {
        for store in [&one, &other, &one, &other] {
            for filter in [&by_id, &named] {
                let found = store.entities(filter).await.unwrap();
                assert_eq!(found.iter().map(|entity| entity.name.as_str()).collect::<Vec<_>>(), expected);
            }
            assert_eq!(store.entities(&of_kind).await.unwrap(), []);
        }
    };
    both(&[]).await;
    fold_graph(&one, 0, put(vec![made(1, "Ada", 0), made(2, "Eva", 1)])).await;
    both(&["Ada", "Eva"]).await;
    fold_graph(&other, 1, put(vec![made(1, "Ida", 0)])).await;
    both(&["Ida", "Eva"]).await;
    fold_graph(&one, 2, GraphDelta { remove_entities: vec![EntityId(1)], ..GraphDelta::default() }).await;
    both(&["Eva"]).await;
    one.erase(&[tombstone(events[1], at)]).await.unwrap();
    both(&[]).await;
}

#[tokio::test]
async fn the_newest_events_are_those_of_the_log_whoever_writes_it() {
    let (_folder, one) = fresh().await;
    let other = SqliteStore::open(one.path()).await.unwrap();
    let mut records = Records::new(1);
    let newest = async |store: &SqliteStore, limit: usize| {
        let found = store.latest(&EventFilter::live(), NonZeroUsize::new(limit).unwrap()).await.unwrap();
        found.iter().map(|event| event.body().unwrap().content.clone()).collect::<Vec<_>>()
    };
    let mut said: Vec<String> = Vec::new();
    let mut first = None;
    for round in 0..40 {
        let writer = if round % 3 == 0 { &one } else { &other };
        let count = [1, 3, 40, 90][round % 4];
        let batch: Vec<_> =
            (0..count).map(|turn| records.turn("s", &format!("{round}: {turn}")).unwrap()).collect();
        writer.append(&batch).await.unwrap();
        first = first.or(batch.first().map(|entry| entry.id));
        said.extend(batch.iter().map(|entry| entry.event.content.clone()));
        for store in [&one, &other] {
            for limit in [2, 50, 300, if round % 10 == 9 { 5_000 } else { 100 }] {
                let expected: Vec<_> = said.iter().rev().take(limit).cloned().collect();
                assert_eq!(newest(store, limit).await, expected, "round {round}, {limit}");
            }
        }
        if round == 9 {
            other.erase(&[tombstone(first.unwrap(), Timestamp::EPOCH)]).await.unwrap();
            said.remove(0);
        }
    }
    assert!(said.len() > 1_024, "more than is kept: {}", said.len());
}
