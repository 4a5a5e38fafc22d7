//! Locks on files and on parts of their shared memory.

use std::collections::BTreeMap;

use libsqlite3_sys::{
    SQLITE_LOCK_EXCLUSIVE, SQLITE_LOCK_NONE, SQLITE_LOCK_PENDING, SQLITE_LOCK_RESERVED, SQLITE_LOCK_SHARED,
};

/// Number of an open file.
pub(super) type HandleId = u64;

/// The five levels of SQLite's lock on a file, by open file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileLocks(BTreeMap<HandleId, i32>);

impl FileLocks {
    fn level(&self, id: HandleId) -> i32 {
        self.0.get(&id).copied().unwrap_or(SQLITE_LOCK_NONE)
    }

    fn others(&self, id: HandleId) -> i32 {
        let others = self.0.iter().filter(|(other, _)| **other != id);
        others.map(|(_, level)| *level).max().unwrap_or(SQLITE_LOCK_NONE)
    }

    /// Raises a lock; false when another handle blocks it. On the way to exclusive it may stay pending, which blocks new
    /// handles.
    pub(super) fn raise(&mut self, id: HandleId, to: i32) -> bool {
        if self.level(id) >= to {
            return true;
        }
        let others = self.others(id);
        let granted = match to {
            SQLITE_LOCK_SHARED => others < SQLITE_LOCK_PENDING,
            SQLITE_LOCK_RESERVED => others < SQLITE_LOCK_RESERVED,
            _ if others >= SQLITE_LOCK_RESERVED => false,
            _ => {
                self.0.insert(id, SQLITE_LOCK_PENDING);
                to < SQLITE_LOCK_EXCLUSIVE || others == SQLITE_LOCK_NONE
            }
        };
        if granted {
            self.0.insert(id, to);
        }
        granted
    }

    pub(super) fn lower(&mut self, id: HandleId, to: i32) {
        if to == SQLITE_LOCK_NONE {
            self.0.remove(&id);
        } else if self.level(id) > to {
            self.0.insert(id, to);
        }
    }

    /// Whether anybody means to write.
    pub(super) fn reserved(&self) -> bool {
        self.0.values().any(|level| *level >= SQLITE_LOCK_RESERVED)
    }
}

/// The locks on the slots of shared memory: a slot is held by one, or shared by many.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotLocks(BTreeMap<HandleId, HeldSlots>);

/// Slots that one open file holds, a bit each.
#[derive(Clone, Copy, Debug, Default)]
struct HeldSlots {
    shared: u32,
    alone: u32,
}

impl SlotLocks {
    pub(super) fn share(&mut self, id: HandleId, slots: u32) -> bool {
        let free = !self.0.iter().any(|(other, held)| *other != id && held.alone & slots != 0);
        if free {
            self.0.entry(id).or_default().shared |= slots;
        }
        free
    }

    pub(super) fn take(&mut self, id: HandleId, slots: u32) -> bool {
        let free =
            !self.0.iter().any(|(other, held)| *other != id && (held.alone | held.shared) & slots != 0);
        if free {
            self.0.entry(id).or_default().alone |= slots;
        }
        free
    }

    pub(super) fn release(&mut self, id: HandleId, slots: u32) {
        let held = self.0.entry(id).or_default();
        held.shared &= !slots;
        held.alone &= !slots;
    }

    pub(super) fn leave(&mut self, id: HandleId) {
        self.0.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_and_one_writer_excludes() {
        let mut locks = FileLocks::default();
        assert!(locks.raise(1, SQLITE_LOCK_SHARED) && locks.raise(2, SQLITE_LOCK_SHARED));
        assert!(locks.raise(1, SQLITE_LOCK_RESERVED));
        assert!(locks.reserved());
        assert!(!locks.raise(2, SQLITE_LOCK_RESERVED), "there is one writer");
        assert!(!locks.raise(1, SQLITE_LOCK_EXCLUSIVE), "a reader is in the way");
        assert!(!locks.raise(3, SQLITE_LOCK_SHARED), "a pending writer lets nobody new in");
        locks.lower(2, SQLITE_LOCK_NONE);
        assert!(locks.raise(1, SQLITE_LOCK_EXCLUSIVE));
        assert!(!locks.raise(2, SQLITE_LOCK_SHARED));
        locks.lower(1, SQLITE_LOCK_SHARED);
        assert!(locks.raise(2, SQLITE_LOCK_SHARED) && !locks.reserved());
    }

    #[test]
    fn a_slot_is_shared_by_many_or_held_by_one() {
        let mut locks = SlotLocks::default();
        assert!(locks.share(1, 0b1000) && locks.share(2, 0b1000));
        assert!(!locks.take(3, 0b1100));
        assert!(locks.take(3, 0b0100));
        assert!(!locks.share(1, 0b0100));
        locks.leave(2);
        locks.release(1, 0b1000);
        assert!(locks.take(3, 0b1000));
    }
}
