//! Fault-injecting in-memory VFS for SQLite that loses unflushed data at a power cut.
//!
//! Each file has two images: the live one, which every reader sees, and the durable one from the last flush. A power cut
//! discards the live image and keeps the durable one, with a random part of the writes in between: nothing, a prefix with a
//! torn end, or some of their sectors in any order. File names have the same two states. The design, live against durable, is
//! that of redb's crash tests.
//!
//! It supports write-ahead logs with several connections of one process, like SQLite's own file system: shared memory has
//! stable addresses, locks exclude. It promises no atomic write, only that a write leaves the neighboring bytes alone.
//!
//! ```
//! use mnemal_testkit::vfs::{DiskFault, FaultyDisk, SurvivingWrites, VFS};
//!
//! let disk = FaultyDisk::new(7);
//! disk.fail_at(100, DiskFault::IoError); // the hundredth operation fails, once
//! let (_name, _path) = (VFS, disk.path("space.db")); // what a connection is opened with
//! disk.power_cut(); // from now on everything fails …
//! disk.reboot(SurvivingWrites::Drawn); // … until here, where what was not flushed is gone, or torn
//! ```

mod callbacks;
mod dice;
mod disk;
mod fault;
mod image;
mod lock;
mod open_file;
mod shared_memory;

#[cfg(test)]
mod connection;
#[cfg(test)]
mod tests;

pub use self::dice::Dice;
pub use self::disk::FaultyDisk;
pub use self::fault::{DiskFault, Operation};
pub use self::image::SurvivingWrites;

/// Name of the file system; it is registered with the first disk, and never the default.
pub const VFS: &str = "mnemal-faulty";
