//! The memory that connections to one file share, in place of a mapped file.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use super::lock::SlotLocks;

/// What becomes of a piece that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingPiece {
    Make,
    Leave,
}

/// Pieces of memory that keep their address, and the locks on their slots.
#[derive(Debug, Default)]
pub(super) struct SharedMemory {
    pieces: Mutex<Vec<Box<[AtomicU64]>>>,
    pub(super) locks: Mutex<SlotLocks>,
}

impl SharedMemory {
    /// Returns the address of a piece of `size` bytes, all zero where it is new; `None` where there is none and none is made.
    /// The address holds as long as the shared memory does.
    pub(super) fn piece(
        &self,
        number: usize,
        size: usize,
        missing: MissingPiece,
    ) -> Option<*const AtomicU64> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        while missing == MissingPiece::Make && pieces.len() <= number {
            pieces.push((0..size.div_ceil(size_of::<AtomicU64>())).map(|_| AtomicU64::new(0)).collect());
        }
        pieces.get(number).map(|piece| piece.as_ptr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_keeps_its_address() {
        let memory = SharedMemory::default();
        assert_eq!(memory.piece(0, 32_768, MissingPiece::Leave), None);
        let first = memory.piece(0, 32_768, MissingPiece::Make);
        let later = memory.piece(9, 32_768, MissingPiece::Make);
        assert!(first.is_some() && later.is_some() && first != later);
        assert_eq!(memory.piece(0, 32_768, MissingPiece::Leave), first);
    }
}
