//! A file that SQLite has open: every call on it, as plain functions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libsqlite3_sys as sys;

use super::disk::{Disk, Inode, OperationOutcome, State, find};
use super::fault::{DiskFault, Operation};
use super::lock::HandleId;
use super::shared_memory::{MissingPiece, SharedMemory};

/// Files whose new name reaches the disk with their first flush, as SQLite does it on Unix.
const JOURNALS: i32 = sys::SQLITE_OPEN_MAIN_JOURNAL | sys::SQLITE_OPEN_SUPER_JOURNAL | sys::SQLITE_OPEN_WAL;

/// An open file; every error is a result code of SQLite.
#[derive(Debug)]
pub(super) struct OpenFile {
    disk: Arc<Disk>,
    boot: u64,
    inode: u64,
    id: HandleId,
    delete: Option<String>,
    journal: bool,
    shared: Mutex<Option<Arc<SharedMemory>>>,
}

impl OpenFile {
    /// Opens a file, or creates it where the flags say so; one without a name is gone when it is closed.
    pub(super) fn open(name: Option<&str>, flags: i32) -> Result<Self, i32> {
        let disk = match name {
            Some(name) => find(name).ok_or(sys::SQLITE_CANTOPEN)?,
            None => Disk::nameless(),
        };
        let name = name.unwrap_or("nameless");
        let mut state = disk.state();
        let course = state.begin(Operation::Open)?;
        if matches!(course, OperationOutcome::Bad(_) | OperationOutcome::Cut { done: false }) {
            return Err(Operation::Open.failure_code());
        }
        let inode = match state.live.get(name) {
            Some(_) if flags & sys::SQLITE_OPEN_EXCLUSIVE != 0 => return Err(sys::SQLITE_CANTOPEN),
            Some(inode) => *inode,
            None if flags & sys::SQLITE_OPEN_CREATE == 0 => return Err(sys::SQLITE_CANTOPEN),
            None => {
                let inode = state.create(name);
                // Whoever makes a database flushes its folder; the journals are SQLite's own affair.
                if flags & sys::SQLITE_OPEN_MAIN_DB != 0 {
                    state.flush_directory();
                }
                inode
            }
        };
        if matches!(course, OperationOutcome::Cut { .. }) {
            return Err(Operation::Open.failure_code());
        }
        let (boot, id) = (state.boot, state.number());
        if let Some(inode) = state.inodes.get_mut(&inode) {
            inode.users += 1;
        }
        drop(state);
        let delete = (flags & sys::SQLITE_OPEN_DELETEONCLOSE != 0).then(|| name.to_owned());
        let journal = flags & JOURNALS != 0;
        Ok(Self { disk, boot, inode, id, delete, journal, shared: Mutex::default() })
    }

    /// Gives everything back.
    pub(super) fn close(&self) {
        self.unlock(sys::SQLITE_LOCK_NONE);
        self.unmap();
        let mut state = self.disk.state();
        if state.boot != self.boot {
            return;
        }
        if let Some(name) = &self.delete {
            state.live.remove(name);
        }
        if let Some(inode) = state.inodes.get_mut(&self.inode) {
            inode.users = inode.users.saturating_sub(1);
        }
        state.sweep();
    }

    /// Begins an operation on a file that is still there.
    fn begin(&self, operation: Operation) -> Result<(MutexGuard<'_, State>, OperationOutcome), i32> {
        let mut state = self.disk.state();
        if state.boot != self.boot {
            return Err(operation.failure_code());
        }
        let course = state.begin(operation)?;
        Ok((state, course))
    }

    /// Begins an operation that is done or not done, and in whose course nothing else can happen.
    fn begin_plain(&self, operation: Operation) -> Result<MutexGuard<'_, State>, i32> {
        match self.begin(operation)? {
            (state, OperationOutcome::Good) => Ok(state),
            _ => Err(operation.failure_code()),
        }
    }

    /// Fills a buffer.
    pub(super) fn read(&self, into: &mut [u8], at: usize) -> Result<(), i32> {
        let (mut state, course) = self.begin(Operation::Read)?;
        let State { inodes, dice, .. } = &mut *state;
        let inode = inodes.get_mut(&self.inode).ok_or(sys::SQLITE_IOERR_READ)?;
        match course {
            OperationOutcome::Good => {}
            OperationOutcome::Bad(DiskFault::ShortRead) => {
                let half = into.len() / 2;
                inode.image.read(into.get_mut(..half).unwrap_or_default(), at);
                return Err(sys::SQLITE_IOERR_READ);
            }
            OperationOutcome::Bad(DiskFault::BitFlip) => {
                let read = inode.image.read(into, at);
                if let Some(byte) = into.get_mut(dice.below(read)) {
                    *byte ^= 1 << dice.below(8);
                }
                return if read < into.len() { Err(sys::SQLITE_IOERR_SHORT_READ) } else { Ok(()) };
            }
            OperationOutcome::Bad(_) | OperationOutcome::Cut { .. } => return Err(sys::SQLITE_IOERR_READ),
        }
        // Behind the end there is nothing, which SQLite takes for zeros.
        if inode.image.read(into, at) < into.len() { Err(sys::SQLITE_IOERR_SHORT_READ) } else { Ok(()) }
    }

    /// Writes, flushing nothing.
    pub(super) fn write(&self, bytes: &[u8], at: usize) -> Result<(), i32> {
        let (mut state, course) = self.begin(Operation::Write)?;
        let len = state.inodes.get(&self.inode).map_or(0, |inode| inode.image.live().len());
        let room = state.has_room(at.saturating_add(bytes.len()).saturating_sub(len));
        let State { inodes, dice, .. } = &mut *state;
        let inode = inodes.get_mut(&self.inode).ok_or(sys::SQLITE_IOERR_WRITE)?;
        match course {
            OperationOutcome::Good if room => {
                inode.image.write(at, bytes);
                return Ok(());
            }
            OperationOutcome::Good | OperationOutcome::Bad(DiskFault::DiskFull) => {
                return Err(sys::SQLITE_FULL);
            }
            OperationOutcome::Bad(DiskFault::ShortWrite) => {
                inode.image.write(at, bytes.get(..bytes.len() / 2).unwrap_or_default());
            }
            OperationOutcome::Bad(DiskFault::TornWrite) => inode.image.write_torn(at, bytes, dice),
            OperationOutcome::Cut { done: true } => inode.image.write(at, bytes),
            OperationOutcome::Bad(_) | OperationOutcome::Cut { done: false } => {}
        }
        Err(sys::SQLITE_IOERR_WRITE)
    }

    /// Changes the length.
    pub(super) fn truncate(&self, len: usize) -> Result<(), i32> {
        let (mut state, course) = self.begin(Operation::Truncate)?;
        let inode = self.inode(&mut state, Operation::Truncate)?;
        if matches!(course, OperationOutcome::Good | OperationOutcome::Cut { done: true }) {
            inode.image.resize(len);
        }
        if course == OperationOutcome::Good { Ok(()) } else { Err(sys::SQLITE_IOERR_TRUNCATE) }
    }

    /// Makes the file durable, and the names of its folder where it is a new journal.
    pub(super) fn flush(&self) -> Result<(), i32> {
        let (mut state, course) = self.begin(Operation::Sync)?;
        let State { inodes, dice, .. } = &mut *state;
        let inode = inodes.get_mut(&self.inode).ok_or(sys::SQLITE_IOERR_FSYNC)?;
        match course {
            OperationOutcome::Good | OperationOutcome::Cut { done: true } => inode.image.flush(),
            OperationOutcome::Bad(DiskFault::SyncFails) => inode.image.fail_to_flush(dice),
            OperationOutcome::Bad(DiskFault::SyncLags) => return Ok(()),
            OperationOutcome::Bad(_) | OperationOutcome::Cut { done: false } => {}
        }
        if course != OperationOutcome::Good {
            return Err(sys::SQLITE_IOERR_FSYNC);
        }
        if self.journal && !state.directory_is_flushed(self.inode) {
            state.flush_directory();
        }
        Ok(())
    }

    /// Returns the length.
    pub(super) fn size(&self) -> Result<usize, i32> {
        let mut state = self.begin_plain(Operation::Size)?;
        Ok(self.inode(&mut state, Operation::Size)?.image.live().len())
    }

    /// Raises the lock.
    pub(super) fn lock(&self, level: i32) -> Result<(), i32> {
        let mut state = self.begin_plain(Operation::Lock)?;
        let granted = self.inode(&mut state, Operation::Lock)?.locks.raise(self.id, level);
        if granted { Ok(()) } else { Err(sys::SQLITE_BUSY) }
    }

    /// Lowers the lock; it cannot fail.
    pub(super) fn unlock(&self, level: i32) {
        let mut state = self.disk.state();
        if state.boot == self.boot
            && let Some(inode) = state.inodes.get_mut(&self.inode)
        {
            inode.locks.lower(self.id, level);
        }
    }

    /// Whether a connection intends to write.
    pub(super) fn is_reserved(&self) -> Result<bool, i32> {
        let mut state = self.begin_plain(Operation::Lock)?;
        Ok(self.inode(&mut state, Operation::Lock)?.locks.reserved())
    }

    /// Returns the address of a piece of shared memory, which holds until [`unmap`](Self::unmap).
    pub(super) fn map(
        &self,
        number: usize,
        size: usize,
        missing: MissingPiece,
    ) -> Result<Option<*mut u8>, i32> {
        let (mut state, course) = self.begin(Operation::Map)?;
        match course {
            OperationOutcome::Good => {}
            OperationOutcome::Bad(DiskFault::DiskFull) => return Err(sys::SQLITE_IOERR_SHMSIZE),
            OperationOutcome::Bad(_) | OperationOutcome::Cut { .. } => return Err(sys::SQLITE_IOERR_SHMMAP),
        }
        let inode = self.inode(&mut state, Operation::Map)?;
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = shared.get_or_insert_with(|| Arc::clone(inode.shared.get_or_insert_default()));
        let piece = memory.piece(number, size, missing);
        Ok(piece.map(|piece| piece.cast_mut().cast()))
    }

    /// Locks or releases slots of the shared memory.
    pub(super) fn lock_slots(&self, slots: u32, flags: i32) -> Result<(), i32> {
        if flags & sys::SQLITE_SHM_UNLOCK == 0 {
            drop(self.begin_plain(Operation::MapLock)?);
        }
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = shared.as_ref().ok_or(sys::SQLITE_IOERR_SHMLOCK)?;
        let mut locks = memory.locks.lock().unwrap_or_else(PoisonError::into_inner);
        let granted = if flags & sys::SQLITE_SHM_UNLOCK != 0 {
            locks.release(self.id, slots);
            true
        } else if flags & sys::SQLITE_SHM_SHARED != 0 {
            locks.share(self.id, slots)
        } else {
            locks.take(self.id, slots)
        };
        if granted { Ok(()) } else { Err(sys::SQLITE_BUSY) }
    }

    /// Releases the shared memory; the last release frees it, and the next connection rebuilds it from the log.
    pub(super) fn unmap(&self) {
        let mut state = self.disk.state();
        let Some(memory) = self.shared.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        memory.locks.lock().unwrap_or_else(PoisonError::into_inner).leave(self.id);
        let current = state.boot == self.boot;
        if let Some(inode) = state.inodes.get_mut(&self.inode).filter(|_| current) {
            // One is the file's own, the other is ours.
            if Arc::strong_count(&memory) <= 2 {
                inode.shared = None;
            }
        }
    }

    fn inode<'s>(&self, state: &'s mut State, operation: Operation) -> Result<&'s mut Inode, i32> {
        state.inodes.get_mut(&self.inode).ok_or(operation.failure_code())
    }
}

/// What becomes of the folder when a name is removed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FolderSync {
    Flushed,
    Unflushed,
}

/// Removes a file.
pub(super) fn delete(name: &str, folder: FolderSync) -> Result<(), i32> {
    let disk = find(name).ok_or(sys::SQLITE_IOERR_DELETE)?;
    let mut state = disk.state();
    let course = state.begin(Operation::Delete)?;
    if matches!(course, OperationOutcome::Bad(_) | OperationOutcome::Cut { done: false }) {
        return Err(sys::SQLITE_IOERR_DELETE);
    }
    state.live.remove(name).ok_or(sys::SQLITE_IOERR_DELETE_NOENT)?;
    if matches!(course, OperationOutcome::Cut { .. }) {
        return Err(sys::SQLITE_IOERR_DELETE);
    }
    if folder == FolderSync::Flushed {
        state.flush_directory();
    } else {
        state.sweep();
    }
    Ok(())
}

/// Whether there is such a file; one without bytes counts as absent, as in SQLite's own file system on Unix.
pub(super) fn exists(name: &str) -> Result<bool, i32> {
    let Some(disk) = find(name) else { return Ok(false) };
    let mut state = disk.state();
    match state.begin(Operation::Access)? {
        OperationOutcome::Good => {}
        OperationOutcome::Bad(_) | OperationOutcome::Cut { .. } => return Err(sys::SQLITE_IOERR_ACCESS),
    }
    let inode = state.live.get(name).and_then(|inode| state.inodes.get(inode));
    Ok(inode.is_some_and(|inode| !inode.image.live().is_empty()))
}
