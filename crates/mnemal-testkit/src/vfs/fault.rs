//! Disk operations and their faults.

use libsqlite3_sys as sys;

/// What a disk is asked to do; closing and unlocking are not counted, because nothing can be done about their failure.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Open or create a file.
    Open,
    /// Read bytes.
    Read,
    /// Write bytes.
    Write,
    /// Change the length.
    Truncate,
    /// Flush a file.
    Sync,
    /// Ask for the length.
    Size,
    /// Remove a file.
    Delete,
    /// Ask whether a file is there.
    Access,
    /// Lock a file.
    Lock,
    /// Map a piece of shared memory.
    Map,
    /// Lock slots of shared memory.
    MapLock,
}

impl Operation {
    /// Returns SQLite's code for a failure of it.
    pub(super) fn failure_code(self) -> i32 {
        match self {
            Self::Open => sys::SQLITE_CANTOPEN,
            Self::Read => sys::SQLITE_IOERR_READ,
            Self::Write => sys::SQLITE_IOERR_WRITE,
            Self::Truncate => sys::SQLITE_IOERR_TRUNCATE,
            Self::Sync => sys::SQLITE_IOERR_FSYNC,
            Self::Size => sys::SQLITE_IOERR_FSTAT,
            Self::Delete => sys::SQLITE_IOERR_DELETE,
            Self::Access => sys::SQLITE_IOERR_ACCESS,
            Self::Lock => sys::SQLITE_IOERR_LOCK,
            Self::Map => sys::SQLITE_IOERR_SHMMAP,
            Self::MapLock => sys::SQLITE_IOERR_SHMLOCK,
        }
    }
}

/// What can go wrong with an operation; each is delivered once.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiskFault {
    /// Nothing is done and an error is returned. Strikes every operation.
    IoError,
    /// There is no room. Strikes writes, and new pieces of shared memory.
    DiskFull,
    /// The flush fails, and what it should have flushed is lost for good unless it is written again. Strikes flushes.
    SyncFails,
    /// The flush says that it is done, and is done with the next one. Strikes flushes.
    SyncLags,
    /// Some of the bytes come, then an error. Strikes reads.
    ShortRead,
    /// The first half of the bytes is written, then an error. Strikes writes.
    ShortWrite,
    /// Some sectors are written, then an error. Strikes writes.
    TornWrite,
    /// A read returns one flipped bit without an error. Applies to reads.
    BitFlip,
}

impl DiskFault {
    /// Whether it can strike such an operation.
    pub fn suits(self, operation: Operation) -> bool {
        match self {
            Self::IoError => true,
            Self::DiskFull => matches!(operation, Operation::Write | Operation::Map),
            Self::SyncFails | Self::SyncLags => operation == Operation::Sync,
            Self::ShortRead | Self::BitFlip => operation == Operation::Read,
            Self::ShortWrite | Self::TornWrite => operation == Operation::Write,
        }
    }
}
