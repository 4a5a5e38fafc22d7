//! The four folders of an inbox, each as a handle.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use mnemal_core::{Error, ErrorKind, Result, Timestamp};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, flock, fstat, mkdirat, openat,
    renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::names::{ClaimedName, candidates, reason};

/// Most names that are tried for an archived file. Source: own choice.
const NAMES: usize = 10_000;

/// How a folder is opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// One of the folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InboxFolder {
    Waiting,
    Claimed,
    Processed,
    Failed,
}

/// A file in a folder; two findings are equal if nothing was written in between, as far as can be determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FolderFile {
    is_regular: bool,
    size: i64,
    changed: (i64, i64),
}

impl FolderFile {
    /// Whether it is a file; links, pipes and devices are not.
    pub(super) fn is_regular(&self) -> bool {
        self.is_regular
    }

    /// Returns the time since its last change, zero if that is in the future.
    pub(super) fn age(&self, now: Timestamp) -> Duration {
        let changed = self.changed.0.saturating_mul(1_000_000).saturating_add(self.changed.1 / 1_000);
        Duration::from_micros(u64::try_from(now.as_micros().saturating_sub(changed)).unwrap_or_default())
    }
}

/// The folders.
#[derive(Debug)]
pub(super) struct InboxFolders {
    waiting: OwnedFd,
    claimed: OwnedFd,
    processed: OwnedFd,
    failed: OwnedFd,
}

impl InboxFolders {
    /// Opens a folder, and creates it and its subfolders if they are missing.
    ///
    /// Files that were read go to `processed`, or else to a subfolder of that name.
    pub(super) fn open(folder: &Path, processed: Option<&Path>) -> Result<Self> {
        let waiting = named(folder)?;
        let below = |name: &str| {
            match mkdirat(&waiting, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(why) => return Err(failed("make a folder of the inbox")(why)),
            }
            let opened = openat(&waiting, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
            opened.map_err(failed("open a folder of the inbox"))
        };
        let (claimed, failed) = (below(".claimed")?, below("failed")?);
        let processed = match processed {
            Some(elsewhere) => on_one_system(named(elsewhere)?, &waiting)?,
            None => below("processed")?,
        };
        Ok(Self { waiting, claimed, processed, failed })
    }

    /// Acquires the lock of this folder, held until this object is dropped or the process ends; false while another process has
    /// it.
    pub(super) fn take_turn(&self) -> Result<bool> {
        match flock(&self.claimed, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(why) => Err(failed("lock the inbox")(why)),
        }
    }

    fn folder(&self, of: InboxFolder) -> BorrowedFd<'_> {
        match of {
            InboxFolder::Waiting => self.waiting.as_fd(),
            InboxFolder::Claimed => self.claimed.as_fd(),
            InboxFolder::Processed => self.processed.as_fd(),
            InboxFolder::Failed => self.failed.as_fd(),
        }
    }

    /// Lists everything that is no folder and not hidden, by name.
    pub(super) fn list(&self, of: InboxFolder) -> Result<Vec<(OsString, FolderFile)>> {
        let folder = self.folder(of);
        let mut list = Vec::new();
        for entry in Dir::read_from(folder).map_err(failed("list the inbox"))? {
            let entry = entry.map_err(failed("list the inbox"))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name.as_bytes().starts_with(b".") {
                continue;
            }
            match file_info(folder, name) {
                Ok(Some(found)) => list.push((name.to_owned(), found)),
                // It is a folder, or was moved meanwhile.
                Ok(None) | Err(Errno::NOENT) => {}
                Err(why) => return Err(failed("look at a file of the inbox")(why)),
            }
        }
        list.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(list)
    }

    /// Claims a waiting file; `None` when it is gone, or another with its name is claimed.
    pub(super) fn claim(&self, name: &OsStr) -> Result<Option<ClaimedName>> {
        let claim = ClaimedName::new(name, 1);
        let moved = move_to((self.waiting.as_fd(), name), (self.claimed.as_fd(), &claim.file));
        Ok(moved?.then_some(claim))
    }

    /// Claims a file left by a process that ended; `None` when it is gone.
    pub(super) fn claim_again(&self, claim: &ClaimedName) -> Result<Option<ClaimedName>> {
        let next = ClaimedName::new(&claim.name, claim.attempt + 1);
        let claimed = self.claimed.as_fd();
        Ok(move_to((claimed, &claim.file), (claimed, &next.file))?.then_some(next))
    }

    /// Opens a claimed file, without following a link and without waiting for the other end of a pipe.
    pub(super) fn file(&self, claim: &ClaimedName) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let about = file_info(self.claimed.as_fd(), &claim.file).map_err(failed("look at a claimed file"))?;
        if about.is_none_or(|about| !about.is_regular()) {
            return Err(Error::invalid("not a regular file: links, pipes and devices are not read"));
        }
        match openat(&self.claimed, &claim.file, flags, Mode::empty()) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::ACCESS | Errno::PERM) => Err(Error::invalid("this user may not read it")),
            Err(why) => Err(failed("open a claimed file")(why)),
        }
    }

    /// Moves a claimed file to its final folder, with the reason if it failed; a missing file is no error.
    pub(super) fn put_away(&self, claim: &ClaimedName, why: Option<&str>) -> Result<()> {
        let target = self.folder(if why.is_some() { InboxFolder::Failed } else { InboxFolder::Processed });
        match file_info(self.claimed.as_fd(), &claim.file) {
            Err(Errno::NOENT) => return Ok(()),
            Err(errno) => return Err(failed("look at a claimed file")(errno)),
            Ok(_) => {}
        }
        for name in candidates(&claim.name).take(NAMES) {
            if is_there(target, &name)? {
                continue;
            }
            if let Some(why) = why {
                // The reason comes first, so that no file is there without one.
                if !explain(target, &name, why)? {
                    continue;
                }
            }
            if move_to((self.claimed.as_fd(), &claim.file), (target, &name))? {
                return Ok(());
            }
        }
        Err(Error::new(ErrorKind::Unavailable, "cannot put a file away: too many of its name"))
    }

    /// Returns the BLAKE3 of a file that was archived; `None` when it is gone, or may not be read.
    pub(super) fn hash(&self, of: InboxFolder, name: &OsStr) -> Result<Option<[u8; 32]>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(self.folder(of), name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT | Errno::ACCESS | Errno::PERM) => return Ok(None),
            Err(why) => return Err(failed("open a file of the inbox")(why)),
        };
        let mut hash = blake3::Hasher::new();
        let read = std::io::copy(&mut std::io::BufReader::new(file), &mut hash);
        let failed = |why| Error::new(ErrorKind::Unavailable, "cannot read a file of the inbox").because(why);
        read.map(|_| Some(*hash.finalize().as_bytes())).map_err(failed)
    }

    /// Removes an archived file, with its reason file if there is one; false when it was gone.
    pub(super) fn remove(&self, of: InboxFolder, name: &OsStr) -> Result<bool> {
        let remove = |name: &OsStr| match unlinkat(self.folder(of), name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(why) => Err(failed("remove a file of the inbox")(why)),
        };
        let removed = remove(name)?;
        if of == InboxFolder::Failed {
            remove(&reason(name))?;
        }
        Ok(removed)
    }
}

/// Opens a folder that the user has named, which may be a link, and makes it if it is not there.
fn named(folder: &Path) -> Result<OwnedFd> {
    std::fs::create_dir_all(folder)
        .map_err(|why| Error::new(ErrorKind::Unavailable, "cannot make the inbox").because(why))?;
    openat(CWD, folder, FOLDER, Mode::empty()).map_err(failed("open the inbox"))
}

/// Returns a folder into which files of another can be moved at once, as a whole.
fn on_one_system(folder: OwnedFd, other: &OwnedFd) -> Result<OwnedFd> {
    let system = |of: &OwnedFd| fstat(of).map(|about| about.st_dev).map_err(failed("look at the inbox"));
    if system(&folder)? == system(other)? {
        return Ok(folder);
    }
    let what = "`ingest.processed` must lie on the file system of `ingest.inbox`, so that files can be moved";
    Err(Error::new(ErrorKind::Unavailable, what))
}

/// Writes the reason file for a failed file, which is moved afterwards; false when another failed file has its name.
///
/// A reason file without its file is left by a process that ended between the two steps; a failed file with such a name has its
/// own reason file.
fn explain(folder: BorrowedFd<'_>, name: &OsStr, why: &str) -> Result<bool> {
    let own = reason(name);
    if is_there(folder, &own)? {
        if is_there(folder, &reason(&own))? {
            return Ok(false);
        }
        match unlinkat(folder, &own, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(why) => return Err(failed("replace why a file failed")(why)),
        }
    }
    write(folder, &own, why)
}

/// Writes a small file that is not there yet; false when it is.
fn write(folder: BorrowedFd<'_>, name: &OsStr, text: &str) -> Result<bool> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match openat(folder, name, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => file,
        Err(Errno::EXIST) => return Ok(false),
        Err(why) => return Err(failed("write why a file failed")(why)),
    };
    let written = File::from(file).write_all(format!("{text}\n").as_bytes());
    let failed = |why| Error::new(ErrorKind::Unavailable, "cannot write why a file failed").because(why);
    written.map(|()| true).map_err(failed)
}

fn file_info(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<Option<FolderFile>> {
    let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let kind = FileType::from_raw_mode(about.st_mode);
    if kind == FileType::Directory {
        return Ok(None);
    }
    #[expect(
        clippy::useless_conversion,
        clippy::cast_possible_wrap,
        reason = "the types of a system's own record"
    )]
    let changed = (i64::from(about.st_mtime), about.st_mtime_nsec as i64);
    Ok(Some(FolderFile { is_regular: kind == FileType::RegularFile, size: about.st_size, changed }))
}

fn is_there(folder: BorrowedFd<'_>, name: &OsStr) -> Result<bool> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(why) => Err(failed("look at a file of the inbox")(why)),
    }
}

/// Moves a file without replacing one; false when it is gone, or the place is taken.
fn move_to(from: (BorrowedFd<'_>, &OsStr), to: (BorrowedFd<'_>, &OsStr)) -> Result<bool> {
    let moved = match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // This file system cannot promise it; this process alone has the turn.
        Err(Errno::INVAL | Errno::NOSYS) if !is_there(to.0, to.1)? => renameat(from.0, from.1, to.0, to.1),
        moved => moved,
    };
    match moved {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::EXIST | Errno::INVAL | Errno::NOSYS) => Ok(false),
        Err(why) => Err(failed("move a file of the inbox")(why)),
    }
}

fn failed(what: &'static str) -> impl Fn(Errno) -> Error {
    move |why| Error::new(ErrorKind::Unavailable, format!("cannot {what}")).because(std::io::Error::from(why))
}
