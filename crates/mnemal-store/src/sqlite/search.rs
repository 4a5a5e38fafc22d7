//! Byte search for erased texts, in the files and in the names of the index.

mod forms;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mnemal_core::{Error, ErrorKind, IndexBlock, Remnant, Result};

use self::forms::EncodedTexts;
use super::SqliteStore;
use super::file::beside;
use crate::sql::Sql;
use crate::{codec, statement};

/// Bytes read at once.
///
/// Source: own default, one megabyte.
const CHUNK: usize = 1 << 20;
/// Blocks read at once.
///
/// Source: own default, about four megabytes.
const BLOCKS: usize = 16;

/// Returns the places that hold a form of one of the texts, ascending.
pub(super) async fn search(store: &SqliteStore, texts: &[String]) -> Result<Vec<Remnant>> {
    let forms = EncodedTexts::of(texts);
    if forms.is_empty() {
        return Ok(Vec::new());
    }
    // The shared memory beside them holds numbers of pages and no words, and must not be opened: see `open_kept`.
    let own = [(store.inner.path.clone(), open_kept as OpenFile), (beside(&store.inner.path, "-wal"), fresh)];
    let mut remnants = BTreeSet::new();
    for (path, open) in own.into_iter().filter(|(path, _)| path.exists()) {
        remnants.extend(search_file(&path, open, &forms)?);
    }
    for path in copies(&store.inner.path) {
        // A copy can be removed by its owner at any time.
        let found = search_file(&path, fresh, &forms).unwrap_or_default();
        remnants.extend(found.into_iter().map(|found| Remnant { is_copy: true, ..found }));
    }
    let mut after = 0_i64;
    loop {
        let page = store.inner.driver.rows(statement::BLOCKS_FROM, vec![after.into(), BLOCKS.into()]).await?;
        if page.is_empty() {
            return Ok(remnants.into_iter().collect());
        }
        for mut row in page {
            after = row.int()?;
            let block = codec::decode(&row.blob()?)?;
            let holds = |text: &&usize| {
                texts.get(**text).is_some_and(|text| names(&block).any(|name| name.contains(text)))
            };
            let place = format!("index block {after}");
            let found = forms.texts().iter().filter(holds);
            remnants.extend(found.map(|text| Remnant { text: *text, is_copy: false, place: place.clone() }));
        }
    }
}

/// Returns the copies of a space that a restore or a repair set aside next to it.
fn copies(file: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let start = format!("{name}.");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_copy = |path: &PathBuf| {
        path.is_file()
            && path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&start))
    };
    let mut copies: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_copy).collect();
    copies.sort();
    copies
}

fn names(block: &IndexBlock) -> impl Iterator<Item = &String> {
    [&block.sessions, &block.channels, &block.speakers, &block.users, &block.agents]
        .into_iter()
        .flat_map(|labels| labels.names.iter())
}

/// How a file is opened for reading.
type OpenFile = fn(&Path) -> io::Result<Arc<File>>;

/// Opens a file that has no locks.
fn fresh(path: &Path) -> io::Result<Arc<File>> {
    File::open(path).map(Arc::new)
}

/// Opens a file that SQLite locks, and keeps it open until the process ends.
///
/// On Unix a process that closes any handle of a file loses all its locks on that file. SQLite's locks would be among them, and
/// another process that closes the space would then remove the write-ahead log while it is in use here.
#[cfg(unix)]
fn open_kept(path: &Path) -> io::Result<Arc<File>> {
    use std::os::unix::fs::MetadataExt as _;
    use std::sync::{Mutex, PoisonError};

    static KEPT: Mutex<Vec<Arc<File>>> = Mutex::new(Vec::new());

    let is = |file: &File, it: &std::fs::Metadata| {
        file.metadata().is_ok_and(|file| (file.dev(), file.ino()) == (it.dev(), it.ino()))
    };
    let wanted = std::fs::metadata(path)?;
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = kept.iter().find(|file| is(file, &wanted)) {
        return Ok(Arc::clone(file));
    }
    let file = fresh(path)?;
    kept.push(Arc::clone(&file));
    Ok(file)
}

#[cfg(not(unix))]
fn open_kept(path: &Path) -> io::Result<Arc<File>> {
    fresh(path)
}

/// Reads into a buffer at an offset; the handle has no position of its own, because several threads may read.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, place)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, place)
}

fn search_file(path: &Path, open: OpenFile, forms: &EncodedTexts) -> Result<Vec<Remnant>> {
    let unreadable =
        |error| Error::new(ErrorKind::Unavailable, format!("cannot read {}", path.display())).because(error);
    let file = open(path).map_err(unreadable)?;
    let mut place = 0;
    let overlap = forms.longest();
    let mut window: Vec<u8> = Vec::with_capacity(CHUNK + overlap);
    let mut hits = BTreeSet::new();
    loop {
        let old = window.len();
        window.resize(old + CHUNK, 0);
        let more = window.get_mut(old..).unwrap_or_default();
        let read = read_at(&file, more, place).map_err(unreadable)?;
        window.truncate(old + read);
        place += read as u64;
        forms.find(&window, &mut hits);
        if read == 0 {
            break;
        }
        window.drain(..(old + read).saturating_sub(overlap));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let remnant = |(text, form): (usize, &str)| Remnant {
        text,
        is_copy: false,
        place: format!("the file {name} holds it {form}"),
    };
    Ok(hits.into_iter().map(remnant).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_every_form_and_across_chunks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        let text = "Grüße \"Kiosk\"".to_owned();
        let forms = EncodedTexts::of(&["something else".to_owned(), text.clone()]);
        for (name, bytes) in forms::tests::encodings(&text) {
            for before in [0, CHUNK - 3, CHUNK + 5] {
                let mut content = vec![b'.'; before];
                content.extend_from_slice(&bytes);
                content.extend_from_slice(&[b'.'; 9]);
                std::fs::write(&path, content).unwrap();
                let hits = search_file(&path, fresh, &forms).unwrap();
                assert!(!hits.is_empty(), "{name} at {before}");
                assert!(hits.iter().all(|hit| hit.text == 1), "{name} at {before}: {hits:?}");
            }
        }
        std::fs::write(&path, "Gruesse").unwrap();
        assert_eq!(search_file(&path, fresh, &forms).unwrap(), []);
        assert!(EncodedTexts::of(&[String::new()]).is_empty());
    }

    // proves: D4, D1
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_search_leaves_the_locks_of_the_file_alone() {
        use std::os::unix::fs::MetadataExt as _;

        use mnemal_core::EventStore as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("space.db");
        let store = SqliteStore::open(&path).await.unwrap();
        store.head().await.unwrap();
        let locks = |end: &str| {
            let inode = format!(":{} ", std::fs::metadata(beside(&path, end)).unwrap().ino());
            let all = std::fs::read_to_string("/proc/locks").unwrap();
            all.lines().filter(|line| line.contains(&inode)).count()
        };
        let before = (locks(""), locks("-shm"));
        assert!(before.0 > 0 && before.1 > 0, "{before:?}");
        for _ in 0..2 {
            assert_eq!(search(&store, &["nothing of the kind".to_owned()]).await.unwrap(), []);
        }
        assert_eq!((locks(""), locks("-shm")), before);
    }

    #[tokio::test]
    async fn a_copy_that_was_put_aside_is_searched_and_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("space.db");
        let store = SqliteStore::open(&path).await.unwrap();
        std::fs::write(folder.path().join("space.db.damaged-20260301T120000Z"), "the lost ledger").unwrap();
        std::fs::write(folder.path().join("space.dbx"), "the lost ledger").unwrap();
        let found = search(&store, &["the lost ledger".to_owned()]).await.unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].is_copy && found[0].place.contains(".damaged-"), "{found:?}");
    }
}
