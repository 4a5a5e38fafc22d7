//! File ingestion through the facade: single documents, and an inbox that upkeep reads.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mnemal::events::{Document, InboxCounts, InboxItem, InboxOutcome, Metadata, Passage};
use mnemal::ports::Inbox;
use mnemal::types::OwnerId;
use mnemal::{Engine, Memory, Result, Scope, Settings, SpaceId};

fn document(name: &str, text: &str) -> Document {
    let mut hash = [0; 32];
    for (to, byte) in hash.iter_mut().zip(text.bytes()) {
        *to = byte;
    }
    let passages = vec![Passage { text: text.to_owned(), ..Passage::default() }];
    Document {
        name: name.to_owned(),
        kind: "txt".to_owned(),
        hash,
        written_at: None,
        fields: Metadata::new(),
        passages,
        location: None,
        undescribed: None,
    }
}

/// An inbox of a host's mails, without folders.
#[derive(Debug, Default)]
struct Mails {
    waiting: Mutex<Vec<InboxItem>>,
    settled: Mutex<Vec<(String, InboxOutcome)>>,
}

#[async_trait]
impl Inbox for Mails {
    async fn counts(&self) -> Result<InboxCounts> {
        let waiting = self.waiting.lock().unwrap().len() as u64;
        Ok(InboxCounts { waiting, ..InboxCounts::default() })
    }

    async fn poll(&self, limit: NonZeroUsize) -> Result<Vec<InboxItem>> {
        Ok(self.waiting.lock().unwrap().iter().take(limit.get()).cloned().collect())
    }

    async fn settle(&self, item: &InboxItem, fate: &InboxOutcome) -> Result<()> {
        self.waiting.lock().unwrap().retain(|other| other.claim != item.claim);
        self.settled.lock().unwrap().push((item.name.clone(), fate.clone()));
        Ok(())
    }
}

fn item(name: &str, content: Result<Document, String>) -> InboxItem {
    InboxItem { name: name.to_owned(), claim: name.into(), content }
}

fn memory(engine: &Engine) -> Memory {
    engine.memory(Scope::whole(SpaceId::new("test").unwrap()))
}

// proves: GB-28 (a host's own reader in place of ours)
#[tokio::test]
async fn upkeep_reads_the_inbox_of_a_host_and_says_what_became_of_each() {
    let mails = Arc::new(Mails::default());
    *mails.waiting.lock().unwrap() = vec![
        item("one", Ok(document("one", "The boiler is serviced by Quentin."))),
        item("two", Err("an encrypted mail".to_owned())),
        item("three", Ok(document("three", "Alfonso likes quince."))),
        item("copy", Ok(document("copy", "Alfonso likes quince."))),
    ];
    let engine = Engine::builder().with_inbox(Arc::<Mails>::clone(&mails)).in_memory().unwrap();
    assert_eq!(engine.inbox_standing().await.unwrap().unwrap().waiting, 4);
    let tended = engine.maintain(&OwnerId::new("test").unwrap()).await.unwrap();
    assert_eq!((tended.ingested, tended.gaps.len()), (2, 0), "{tended:?}");
    let settled = mails.settled.lock().unwrap().clone();
    let refused = InboxOutcome::Refused("an encrypted mail".to_owned());
    let expect = [
        ("one", InboxOutcome::Ingested),
        ("two", refused),
        ("three", InboxOutcome::Ingested),
        ("copy", InboxOutcome::Ingested),
    ];
    assert_eq!(settled, expect.map(|(name, fate)| (name.to_owned(), fate)));
    let found = memory(&engine).recall("who services the boiler").await.unwrap();
    assert!(found.hits.first().unwrap().event.body().unwrap().content.contains("Quentin"));
}

#[tokio::test]
async fn a_document_that_cannot_be_stored_is_refused_and_the_next_is_read() {
    let mails = Arc::new(Mails::default());
    let long = (0..50).map(|n| format!("Sentence {n}. ")).collect::<Vec<_>>().concat();
    *mails.waiting.lock().unwrap() = vec![
        item("long", Ok(document("long", &long.repeat(20)))),
        item("short", Ok(document("short", "Short."))),
    ];
    let mut settings = Settings::default();
    settings.ingest.max_chunks = 3;
    settings.ingest.chunk_chars = 200;
    let builder = Engine::builder().with_settings(settings).with_inbox(Arc::<Mails>::clone(&mails));
    let engine = builder.in_memory().unwrap();
    let taken = engine.take_inbox(Duration::from_mins(1)).await.unwrap();
    assert_eq!((taken.taken, taken.stored, taken.refused.len()), (1, 1, 1));
    assert!(taken.refused.iter().all(|(name, why)| name == "long" && why.contains("3 chunks")), "{taken:?}");
}

// proves: GA-06 (20 MB and more are taken; the setting says how many)
#[test]
fn the_limit_of_a_file_is_a_setting_and_at_least_20_mb() {
    let mut settings = Settings::default();
    assert!(settings.ingest.most_bytes() >= 20_000_000);
    settings.ingest.max_file_mb = 1;
    assert_eq!(settings.ingest.most_bytes(), 1_048_576);
}

#[cfg(all(feature = "inbox", feature = "sqlite", unix))]
#[tokio::test]
async fn a_space_has_its_own_folder_in_the_inbox_of_the_settings() {
    let home = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.ingest.inbox = home.path().join("inboxes").display().to_string();
    let engine = Engine::builder().with_settings(settings).open(home.path().join("notes.db")).await.unwrap();
    assert!(
        engine.has_inbox() && !home.path().join("inboxes").exists(),
        "nothing is made before it is needed"
    );
    let folder = home.path().join("inboxes/notes");
    std::fs::create_dir_all(&folder).unwrap();
    let file = std::fs::File::create(folder.join("house.md")).unwrap();
    std::io::Write::write_all(&mut &file, b"# Heating\n\nThe boiler is serviced by Quentin.").unwrap();
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    let tended = engine.maintain(&OwnerId::new("test").unwrap()).await.unwrap();
    assert_eq!((tended.ingested, tended.gaps.len()), (1, 0), "{tended:?}");
    assert!(folder.join("processed/house.md").is_file());
    let found = memory(&engine).recall("boiler").await.unwrap();
    let event = found.hits.first().unwrap().event.body().unwrap().clone();
    assert_eq!(event.metadata["heading"], "Heating");
    assert_eq!(event.occurred_at.as_micros(), 1_700_000_000_000_000, "a file is as old as it says");
}

// proves: GB-27, GB-26, GA-08 (what it is at first, and what it says when something describes it)
#[cfg(all(feature = "inbox", feature = "sqlite", unix))]
#[tokio::test]
async fn a_picture_is_named_in_the_log_and_described_when_something_can() {
    use std::fs;
    let home = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.ingest.inbox = home.path().join("inboxes").display().to_string();
    settings.ingest.processed = home.path().join("read").display().to_string();
    let opened = async |settings: &Settings| {
        let builder = Engine::builder().with_settings(settings.clone());
        builder.open(home.path().join("notes.db")).await.unwrap()
    };
    let folder = home.path().join("inboxes/notes");
    let put = || {
        fs::create_dir_all(&folder).unwrap();
        let file = fs::File::create(folder.join("cat.png")).unwrap();
        std::io::Write::write_all(&mut &file, b"\x89PNG").unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    };
    put();
    let engine = opened(&settings).await;
    let taken = engine.take_inbox(Duration::from_mins(1)).await.unwrap();
    let why = "nothing describes image files: name a program in `ingest.describe`";
    assert_eq!(taken.unsupported, [("cat.png".to_owned(), why.to_owned())]);
    assert_eq!((taken.taken, taken.stored, taken.refused.len()), (0, 1, 0));
    assert!(folder.join("failed/cat.png").is_file() && folder.join("failed/cat.png.reason.txt").is_file());
    let kept = async |engine: &Engine, query: &str| {
        let found = memory(engine).recall(query).await.unwrap().value.hits;
        found.first().and_then(|hit| hit.event.body().cloned())
    };
    let named = kept(&engine, "cat.png").await.unwrap();
    assert_eq!(named.kind, mnemal::EventKind::Document);
    assert_eq!(named.content, "cat.png: image of 4 bytes that nobody has described");
    assert_eq!((named.metadata["type"].as_str(), named.metadata["size"].as_str()), ("image", "4"));
    assert_eq!(named.metadata["blake3"].len(), 64);
    // The same files again are recognized.
    put();
    let again = engine.take_inbox(Duration::from_mins(1)).await.unwrap();
    assert_eq!((again.stored, again.duplicates, again.unsupported.len()), (0, 1, 1));
    engine.close().await.unwrap();

    let script = "cat > /dev/null; echo a grey cat called Mimi";
    settings.ingest.describe = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    let engine = opened(&settings).await;
    fs::rename(folder.join("failed/cat.png"), folder.join("cat.png")).unwrap();
    let taken = engine.take_inbox(Duration::from_mins(1)).await.unwrap();
    assert_eq!((taken.taken, taken.stored, taken.unsupported.len()), (1, 1, 0), "{taken:?}");
    assert!(home.path().join("read/notes/cat.png").is_file(), "where the settings say");
    assert!(kept(&engine, "what is the cat called").await.unwrap().content.contains("Mimi"));
}

// proves: GA-08 (the types that are read unless the settings say otherwise)
#[test]
fn every_type_of_the_designs_is_read_by_default() {
    let types = Settings::default().ingest.types;
    let of_the_designs = "txt md json csv log xml yaml yml png jpg jpeg gif webp bmp svg mp3 wav ogg flac m4a \
                          aac mp4 webm mov avi mkv pdf";
    let missing: Vec<&str> =
        of_the_designs.split(' ').filter(|ending| !types.iter().any(|one| one == ending)).collect();
    assert_eq!(missing, [""; 0]);
}
