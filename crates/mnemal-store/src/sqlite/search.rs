//! Looks for a text that must be gone, in the bytes of the files and in the names of the index.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use mnemal_core::{Error, ErrorKind, IndexBlock, Result};

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

/// Returns one sentence a place where a form of the text stands.
pub(super) async fn search(store: &SqliteStore, text: &str) -> Result<Vec<String>> {
    let forms = forms(text);
    let mut places = Vec::new();
    if forms.is_empty() {
        return Ok(places);
    }
    // The shared memory beside them holds numbers of pages and no words, and must not be opened: see `kept`.
    let files = [(store.inner.path.clone(), kept as Open), (beside(&store.inner.path, "-wal"), fresh)];
    for (path, open) in files {
        if path.exists() {
            places.extend(search_file(&path, open, &forms)?);
        }
    }
    let mut after = 0_i64;
    loop {
        let page = store.inner.driver.rows(statement::BLOCKS_FROM, vec![after.into(), BLOCKS.into()]).await?;
        if page.is_empty() {
            return Ok(places);
        }
        for mut row in page {
            after = row.int()?;
            let block = codec::decode(&row.blob()?)?;
            if names(&block).any(|name| name.contains(text)) {
                places.push(format!("index block {after}"));
            }
        }
    }
}

fn names(block: &IndexBlock) -> impl Iterator<Item = &String> {
    [&block.sessions, &block.channels, &block.speakers, &block.users, &block.agents]
        .into_iter()
        .flat_map(|labels| labels.names.iter())
}

/// A form of the text with what it is called.
type Form = (&'static str, Vec<u8>);

fn forms(text: &str) -> Vec<Form> {
    let lower = text.to_lowercase();
    let wide = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let escaped = serde_json::to_string(text).unwrap_or_default();
    let escaped = escaped.get(1..escaped.len().saturating_sub(1)).unwrap_or_default().as_bytes().to_vec();
    let all = [
        ("as it is", text.as_bytes().to_vec()),
        ("in lower case", lower.into_bytes()),
        ("as UTF-16, low byte first", wide(u16::to_le_bytes)),
        ("as UTF-16, high byte first", wide(u16::to_be_bytes)),
        ("escaped as in JSON", escaped),
        ("escaped as in JSON, ASCII only", ascii_only(text)),
    ];
    let mut known = BTreeSet::new();
    all.into_iter().filter(|(_, bytes)| !bytes.is_empty() && known.insert(bytes.clone())).collect()
}

fn ascii_only(text: &str) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out.into_bytes()
}

/// How a file is opened for reading.
type Open = fn(&Path) -> io::Result<Arc<File>>;

/// Opens a file that nobody locks.
fn fresh(path: &Path) -> io::Result<Arc<File>> {
    File::open(path).map(Arc::new)
}

/// Opens a file that SQLite locks, and keeps it open until the process ends.
///
/// On Unix a process that closes any handle of a file loses all its locks on that file. SQLite's would be among them, and
/// another process that closes the space would then remove the write-ahead log while it is in use here.
#[cfg(unix)]
fn kept(path: &Path) -> io::Result<Arc<File>> {
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
fn kept(path: &Path) -> io::Result<Arc<File>> {
    fresh(path)
}

/// Reads from a place on, into a window; the handle has no place of its own, because several may read.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, place)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, place)
}

fn search_file(path: &Path, open: Open, forms: &[Form]) -> Result<Vec<String>> {
    let unreadable =
        |error| Error::new(ErrorKind::Unavailable, format!("cannot read {}", path.display())).because(error);
    let file = open(path).map_err(unreadable)?;
    let mut place = 0;
    let overlap = forms.iter().map(|(_, bytes)| bytes.len()).max().unwrap_or_default();
    let mut window: Vec<u8> = Vec::with_capacity(CHUNK + overlap);
    let mut hits = BTreeSet::new();
    loop {
        let old = window.len();
        window.resize(old + CHUNK, 0);
        let more = window.get_mut(old..).unwrap_or_default();
        let read = read_at(&file, more, place).map_err(unreadable)?;
        window.truncate(old + read);
        place += read as u64;
        for (name, bytes) in forms {
            if !hits.contains(name) && holds(&window, bytes) {
                hits.insert(*name);
            }
        }
        if read == 0 {
            break;
        }
        window.drain(..(old + read).saturating_sub(overlap));
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(hits.into_iter().map(|form| format!("the file {name} holds it {form}")).collect())
}

/// Whether `needle`, which is not empty, stands in `hay`.
fn holds(hay: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else { return false };
    let mut rest = hay;
    while let Some(place) = rest.iter().position(|byte| byte == first) {
        let Some(found) = rest.get(place..) else { return false };
        if found.starts_with(needle) {
            return true;
        }
        rest = found.get(1..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_every_form_and_across_chunks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        let text = "Grüße \"Kiosk\"";
        for (name, bytes) in forms(text) {
            for before in [0, CHUNK - 3, CHUNK + 5] {
                let mut content = vec![b'.'; before];
                content.extend_from_slice(&bytes);
                content.extend_from_slice(&[b'.'; 9]);
                std::fs::write(&path, content).unwrap();
                let hits = search_file(&path, fresh, &forms(text)).unwrap();
                assert!(hits.iter().any(|hit| hit.ends_with(name)), "{name} at {before}: {hits:?}");
            }
        }
        std::fs::write(&path, "Gruesse").unwrap();
        assert_eq!(search_file(&path, fresh, &forms(text)).unwrap(), Vec::<String>::new());
        assert!(forms("").is_empty());
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
            assert_eq!(search(&store, "nothing of the kind").await.unwrap(), Vec::<String>::new());
        }
        assert_eq!((locks(""), locks("-shm")), before);
    }
}
