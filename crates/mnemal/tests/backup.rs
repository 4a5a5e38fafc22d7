//! Backup, restore and recovery: erased events stay erased, and no intact event is lost.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use mnemal::admin::{Manifest, events_in};
use mnemal::events::{Cursor, Selector};
use mnemal::{
    Engine, ErrorKind, EventFilter, ImportFormat, ImportOptions, Memory, Message, NoteKey, Result, Scope,
    SpaceId,
};

const CANARY: &str = "the canary sings at quarter past midnight";
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

fn space() -> SpaceId {
    SpaceId::new("space").unwrap()
}

async fn open(path: &Path) -> Memory {
    Engine::builder().open(path).await.unwrap().memory(Scope::whole(space()))
}

async fn contents(memory: &Memory) -> Vec<String> {
    let events = memory.events().scan(&EventFilter::live(), Cursor::START, PAGE).await.unwrap();
    events.iter().filter_map(|event| event.body()).map(|kept| kept.content.clone()).collect()
}

async fn export(memory: &Memory) -> Vec<u8> {
    let mut bytes = Vec::new();
    memory.admin().export(&mut bytes).await.unwrap();
    bytes
}

fn holds(path: &Path, text: &str) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A space with some turns, a note, a canary, and a backup that was made before the canary was forgotten.
async fn space_with_backup(folder: &Path) -> (PathBuf, PathBuf) {
    let (file, backup) = (folder.join("space.db"), folder.join("copy.db"));
    let memory = open(&file).await;
    for number in 0..30 {
        drop(memory.log(Message::user(format!("turn {number} about the harbour"))).await.unwrap());
    }
    let canary = memory.log(Message::user(CANARY)).await.unwrap().value.id;
    drop(memory.remember("The tide table is in drawer 4").key(NoteKey::new("tides").unwrap()).await.unwrap());
    let manifest = memory.admin().backup(&backup).await.unwrap();
    assert_eq!((manifest.events, manifest.tombstones, manifest.space.as_str()), (32, 0, "space"));
    let forgotten = memory.forget(Selector::Events(vec![canary])).await.unwrap();
    assert!(forgotten.verified());
    memory.admin().engine().close().await.unwrap();
    (file, backup)
}

// proves: NX-03.10
#[tokio::test]
async fn a_restore_brings_everything_back_but_what_was_forgotten_since() {
    let folder = tempfile::tempdir().unwrap();
    let (file, backup) = space_with_backup(folder.path()).await;
    assert!(holds(&backup, CANARY));
    let restored = Engine::builder().restore(&space(), &backup, &file).await.unwrap();
    assert_eq!((restored.events, restored.forgotten_again, restored.tombstones), (32, 1, 1));
    assert!(restored.manifest.is_some());
    let aside = restored.aside.unwrap();
    assert_eq!(events_in(&aside).unwrap(), 33, "the former file is as it was");
    let memory = open(&file).await;
    let contents = contents(&memory).await;
    assert!(contents.len() == 31 && !contents.iter().any(|text| text.contains("canary")), "{contents:?}");
    assert!(
        !memory
            .recall("when does the canary sing")
            .await
            .unwrap()
            .value
            .hits
            .iter()
            .any(|hit| { hit.event.body().is_some_and(|kept| kept.content == CANARY) })
    );
    assert!(!memory.recall("tide table drawer").await.unwrap().value.hits.is_empty());
    assert_eq!(memory.admin().engine().check().await.unwrap().findings, Vec::<String>::new());
    assert!(memory.admin().engine().search_bytes(CANARY).await.unwrap().is_empty());
    memory.admin().engine().close().await.unwrap();
    assert!(!holds(&file, CANARY) && !holds(&aside, CANARY));
}

#[tokio::test]
async fn a_backup_that_is_foreign_damaged_or_another_one_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (file, backup) = space_with_backup(folder.path()).await;
    let before = std::fs::read(&file).unwrap();
    let foreign = folder.path().join("foreign.db");
    std::fs::write(&foreign, b"no database at all").unwrap();
    let damaged = folder.path().join("damaged.db");
    let mut bytes = std::fs::read(&backup).unwrap();
    let place = bytes.windows(12).position(|window| window == b"turn 7 about").unwrap();
    bytes[place] = b'b';
    std::fs::write(&damaged, &bytes).unwrap();
    let swapped = folder.path().join("swapped.db");
    std::fs::copy(&file, &swapped).unwrap();
    std::fs::copy(Manifest::path(&backup), Manifest::path(&swapped)).unwrap();
    let missing = folder.path().join("missing.db");
    for (path, kind) in [
        (foreign, ErrorKind::Invalid),
        (damaged, ErrorKind::Corrupt),
        (swapped, ErrorKind::Corrupt),
        (missing, ErrorKind::NotFound),
    ] {
        let refused = Engine::builder().restore(&space(), &path, &file).await.unwrap_err();
        assert_eq!(refused.kind(), kind, "{}: {refused}", path.display());
        assert_eq!(std::fs::read(&file).unwrap(), before, "{}", path.display());
    }
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("restoring")), "{left:?}");
}

// The content of the backup, the restored copy and the export is compared.
#[tokio::test]
async fn backup_restore_export_and_import_agree_while_others_write() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("space.db");
    let memory = open(&file).await;
    let canary = memory.log(Message::user(CANARY)).await?.value.id;
    let writers = (0..4).map(|writer| {
        let memory = memory.clone();
        async move {
            for number in 0..25 {
                drop(memory.log(Message::user(format!("writer {writer} says {number}"))).await.unwrap());
            }
        }
    });
    let backup = folder.path().join("copy.db");
    let copies = async {
        memory.forget(Selector::Events(vec![canary])).await?;
        memory.admin().backup(&backup).await
    };
    let (_, manifest) = futures_util::future::join(futures_util::future::join_all(writers), copies).await;
    let manifest = manifest?;
    assert_eq!(manifest.tombstones, 1);
    let copy = open(&backup).await;
    let of_copy = export(&copy).await;
    copy.admin().engine().close().await?;
    let other = folder.path().join("restored/space.db");
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    std::fs::copy(folder.path().join("installation.key"), other.with_file_name("installation.key")).unwrap();
    let restored = Engine::builder().restore(&space(), &backup, &other).await?;
    assert_eq!((restored.events, restored.forgotten_again, restored.aside), (manifest.events, 0, None));
    let restored = open(&other).await;
    assert_eq!(export(&restored).await, of_copy);
    let imported = Engine::builder().in_memory()?.memory(Scope::whole(space()));
    let options = ImportOptions::new("export", imported.admin().engine().now());
    drop(imported.events().import(of_copy.as_slice(), ImportFormat::Mnemal, options, &mut |_| ()).await?);
    assert_eq!(export(&imported).await, of_copy);
    for path in [&file, &backup, &other] {
        assert!(!holds(path, CANARY), "{}", path.display());
    }
    assert!(!of_copy.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()));
    Ok(())
}

#[tokio::test]
async fn a_damaged_space_is_read_where_it_can_be_and_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = space_with_backup(folder.path()).await;
    let mut bytes = std::fs::read(&file).unwrap();
    let place = bytes.windows(12).position(|window| window == b"turn 7 about").unwrap();
    bytes[place] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let memory = open(&file).await;
    let found = memory.recall("turn 7 about the harbour").limit(50).await.unwrap();
    assert!(found.gaps.iter().any(|gap| gap.layer == mnemal::types::Layer::Events), "{:?}", found.gaps);
    assert!(found.value.hits.len() > 5, "what is whole is found");
    let refused = memory.log(Message::user("one more")).await.unwrap_err();
    assert!(refused.kind() == ErrorKind::Corrupt && refused.what().contains("mnemal recover"), "{refused}");
    memory.admin().engine().close().await.unwrap();
    let saved = Engine::builder().recover(&file, None).await.unwrap();
    assert_eq!((saved.kept, saved.erased, saved.missing.len(), saved.tombstones), (31, 1, 1, 1));
    assert!(saved.aside.is_some_and(|aside| std::fs::read(aside).unwrap() == bytes));
    let memory = open(&file).await;
    let texts = contents(&memory).await;
    assert!(
        texts.iter().any(|text| text == "turn 8 about the harbour")
            && !texts.iter().any(|text| text.contains("canary"))
    );
    assert!(memory.log(Message::user("one more")).await.is_ok());
    assert_eq!(memory.admin().engine().check().await.unwrap().findings, Vec::<String>::new());
    memory.admin().engine().close().await.unwrap();
}

#[tokio::test]
async fn recover_finds_every_event_when_the_way_to_them_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("space.db");
    let memory = open(&file).await;
    let long = "harbour ".repeat(2_000);
    for number in 0..40 {
        let text = if number % 10 == 0 { format!("{number} {long}") } else { format!("turn {number}") };
        drop(memory.log(Message::user(text)).await.unwrap());
    }
    let before = contents(&memory).await;
    memory.admin().engine().close().await.unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    // Without the first page there is no header and no list of tables; the rows are recovered from inner pages.
    bytes[..4_096].fill(0);
    for page in bytes.chunks_mut(4_096).filter(|page| page[0] == 5) {
        page.fill(0xff);
    }
    std::fs::write(&file, &bytes).unwrap();
    let refused = Engine::builder().open(&file).await.unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Invalid | ErrorKind::Corrupt), "{refused}");
    let saved = Engine::builder().recover(&file, None).await.unwrap();
    assert_eq!((saved.kept, saved.missing.len()), (40, 0));
    let memory = open(&file).await;
    assert_eq!(contents(&memory).await, before);
    memory.admin().engine().close().await.unwrap();
}
