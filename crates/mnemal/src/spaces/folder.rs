//! The files of spaces: databases by name, markers of always-on spaces, and copies.

use std::fs;
use std::io::{ErrorKind as Io, Result as IoResult};
use std::path::{Path, PathBuf};

use mnemal_core::{Error, ErrorKind, Result, SpaceId};

use super::marker::Marker;

/// Extension of a database.
const DATABASE: &str = ".db";
/// Extension of a marker.
const ALWAYS_ON: &str = ".always-on";
/// Suffixes of the files that SQLite keeps with a database that is open, or was when its process was killed.
const BESIDE: [&str; 2] = ["-wal", "-shm"];
/// Suffixes of a database's copies: of migrations, recoveries and restores.
const COPIES: [&str; 6] = [".v", ".before-restore", ".damaged", ".restoring", ".recovering", ".partial"];

/// The folder of all spaces.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Returns the path of a space's database.
    pub(crate) fn file(&self, space: &SpaceId) -> PathBuf {
        self.0.join(format!("{space}{DATABASE}"))
    }

    /// Whether a database of this name exists.
    pub(crate) fn has(&self, space: &SpaceId) -> bool {
        self.file(space).is_file()
    }

    /// Returns the content of a space's marker; an unreadable one counts as empty.
    pub(crate) fn marked(&self, space: &SpaceId) -> Marker {
        match fs::read_to_string(self.marker(space)) {
            Ok(text) => Marker::read(&text),
            Err(cause) if cause.kind() == Io::NotFound => Marker::default(),
            Err(_) => Marker { is_on: true, ..Marker::default() },
        }
    }

    /// Returns the spaces with a database, by name.
    pub(crate) fn names(&self) -> Result<Vec<SpaceId>> {
        let found = self.entries()?;
        let mut names: Vec<SpaceId> = found.iter().filter_map(|name| named(name, DATABASE)).collect();
        names.sort();
        Ok(names)
    }

    /// Returns the spaces with a database and a marker that makes them always-on, by name.
    pub(crate) fn always_on(&self) -> Result<Vec<SpaceId>> {
        let found = self.entries()?;
        let marked = found.iter().filter_map(|name| named(name, ALWAYS_ON));
        let mut names: Vec<SpaceId> =
            marked.filter(|space| self.has(space) && self.marked(space).is_on).collect();
        names.sort();
        Ok(names)
    }

    /// Returns the size of a database and its write-ahead log, in bytes.
    pub(crate) fn bytes(&self, space: &SpaceId) -> u64 {
        size(&self.file(space))
    }

    /// Replaces the marker atomically.
    pub(crate) fn mark(&self, space: &SpaceId, marker: &Marker) -> Result<()> {
        let partial = self.beside(space, ".always-on.partial");
        let written = fs::write(&partial, marker.render())
            .and_then(|()| fs::File::open(&partial)?.sync_all())
            .and_then(|()| fs::rename(&partial, self.marker(space)))
            .and_then(|()| self.flush());
        written.map_err(|cause| failed("mark", space, cause))
    }

    /// Unlinks all files of a space, its database last, and flushes the folder.
    pub(crate) fn remove(&self, space: &SpaceId) -> Result<()> {
        let found = self.entries()?;
        let mut files: Vec<PathBuf> = found.iter().filter_map(|name| self.copy(name, space)).collect();
        files.push(self.marker(space));
        files.extend(BESIDE.iter().map(|end| self.beside(space, end)));
        files.push(self.file(space));
        let unlinked = files.iter().try_for_each(|file| unlink(file)).and_then(|()| self.flush());
        unlinked.map_err(|cause| failed("remove", space, cause))
    }

    fn marker(&self, space: &SpaceId) -> PathBuf {
        self.0.join(format!("{space}{ALWAYS_ON}"))
    }

    fn beside(&self, space: &SpaceId, end: &str) -> PathBuf {
        self.0.join(format!("{space}{DATABASE}{end}"))
    }

    /// Returns the path of a copy of this space; `NAME.db` may be the prefix of another space's name.
    fn copy(&self, name: &str, space: &SpaceId) -> Option<PathBuf> {
        let rest = name.strip_prefix(space.as_str())?.strip_prefix(DATABASE)?;
        let is_ours = !rest.contains(DATABASE) && !rest.ends_with(ALWAYS_ON);
        (is_ours && COPIES.iter().any(|copy| rest.starts_with(copy))).then(|| self.0.join(name))
    }

    fn entries(&self) -> Result<Vec<String>> {
        let unread = |cause| {
            Error::new(ErrorKind::Unavailable, format!("cannot read {}", self.0.display())).because(cause)
        };
        let found = match fs::read_dir(&self.0) {
            Ok(found) => found,
            Err(cause) if cause.kind() == Io::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(unread(cause)),
        };
        let name = |entry: IoResult<fs::DirEntry>| Ok(entry.map_err(unread)?.file_name().into_string().ok());
        found.filter_map(|entry| name(entry).transpose()).collect()
    }

    #[cfg(unix)]
    fn flush(&self) -> IoResult<()> {
        fs::File::open(&self.0)?.sync_all()
    }

    #[cfg(not(unix))]
    fn flush(&self) -> IoResult<()> {
        Ok(())
    }
}

/// Returns the size of a database and its write-ahead log, in bytes.
pub(crate) fn size(database: &Path) -> u64 {
    let log = {
        let mut name = database.as_os_str().to_owned();
        name.push("-wal");
        PathBuf::from(name)
    };
    [database, &log].iter().filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}

/// Parses a space's name before an extension; invalid names are unrelated files.
fn named(file: &str, end: &str) -> Option<SpaceId> {
    SpaceId::new(file.strip_suffix(end)?).ok()
}

fn unlink(file: &Path) -> IoResult<()> {
    match fs::remove_file(file) {
        Err(cause) if cause.kind() != Io::NotFound => Err(cause),
        _ => Ok(()),
    }
}

fn failed(what: &str, space: &SpaceId, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot {what} space {space}")).because(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_space_goes_and_its_namesakes_stay() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path().to_owned());
        let space = SpaceId::new("a").unwrap();
        let own = ["", "-wal", "-shm", ".v1.bak", ".v1.bak.partial", ".before-restore-3Z", ".damaged-3Z-wal"]
            .map(|end| format!("a.db{end}"));
        let others = ["a.db.db", "a.db.db.v1.bak", "a.db.v1.bak.db", "a.db.v2.always-on", "a.db.txt"];
        let others = [others.as_slice(), &["ab.db", "a.b.db", "a.b.always-on", "b.db.v1.bak"]].concat();
        let own: Vec<&str> = own.iter().map(String::as_str).chain(["a.always-on"]).collect();
        for name in own.iter().chain(&others) {
            fs::write(home.path().join(name), "x").unwrap();
        }
        assert_eq!(folder.bytes(&space), 2);
        let names: Vec<String> = folder.names().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a", "a.b", "a.db", "a.db.v1.bak", "ab"]);
        let always: Vec<String> = folder.always_on().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(always, ["a", "a.b"]);
        folder.remove(&space).unwrap();
        let mut left: Vec<String> = folder.entries().unwrap();
        left.sort();
        let mut others = others;
        others.sort_unstable();
        assert_eq!(left, others);
        folder.remove(&space).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_holds_no_spaces() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path().join("none"));
        assert_eq!((folder.names().unwrap(), folder.always_on().unwrap()), (vec![], vec![]));
    }
}
