//! Processes that forked while a memory was open: SQLite and the runtime of a memory work only in the process that opened it.

use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// The memories that are open, and the process that opened them.
#[derive(Debug, Default)]
pub(crate) struct OpenMemories {
    count: AtomicUsize,
    process: AtomicU32,
}

/// One open memory; it counts until it is closed or dropped in the process that opened it.
#[derive(Debug)]
pub(crate) struct OpenMemory<'m> {
    memories: &'m OpenMemories,
    process: u32,
    is_counted: AtomicBool,
}

impl OpenMemories {
    /// Creates an empty count.
    pub(crate) const fn new() -> Self {
        Self { count: AtomicUsize::new(0), process: AtomicU32::new(0) }
    }

    /// Counts a memory of this process; `None` if another process had one open when it forked this one.
    ///
    /// A new one would share SQLite's table of locked files with those that this process only inherited.
    pub(crate) fn open(&self) -> Option<OpenMemory<'_>> {
        self.open_in(process::id())
    }

    fn open_in(&self, process: u32) -> Option<OpenMemory<'_>> {
        let is_inherited = self.process.load(Ordering::Acquire) != process;
        if is_inherited && self.count.load(Ordering::Acquire) > 0 {
            return None;
        }
        self.process.store(process, Ordering::Release);
        self.count.fetch_add(1, Ordering::AcqRel);
        Some(OpenMemory { memories: self, process, is_counted: AtomicBool::new(true) })
    }
}

impl OpenMemory<'_> {
    /// Whether this process opened it.
    pub(crate) fn is_own(&self) -> bool {
        self.is_of(process::id())
    }

    /// Counts it no longer. A second time nothing happens.
    pub(crate) fn close(&self) {
        if self.is_own() && self.is_counted.swap(false, Ordering::AcqRel) {
            self.memories.count.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn is_of(&self, process: u32) -> bool {
        self.process == process
    }
}

impl Drop for OpenMemory<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forked_process_opens_nothing_beside_what_it_inherited() {
        let memories = OpenMemories::new();
        let own = memories.open().unwrap();
        let child = process::id() + 1;
        assert!(own.is_own() && !own.is_of(child));
        assert!(memories.open_in(child).is_none());
        assert!(memories.open().is_some(), "the parent opens more");
        drop(own);
        assert!(memories.open_in(child).is_some(), "nothing was open when it forked");
    }

    #[test]
    fn what_is_dropped_in_a_child_stays_counted() {
        let memories = OpenMemories::new();
        drop(memories.open_in(process::id() + 1));
        assert!(memories.open().is_none());
    }
}
