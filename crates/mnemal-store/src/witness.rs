//! Detection of another history than the one that a handle has shown.
//!
//! A failover to a standby can lose the newest events, a file can be put back from a backup: then other events take the positions
//! of those that readers hold. A handle keeps the newest event that it has written, loaded or seen at the head, and asks with
//! each mark which event is there now. Another one, or none, means another history, and readers must drop what they hold.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mnemal_core::EventId;

/// The count of an ended history: a history that is lost can take erasures with it, and the sum of both must not be the same
/// again. Source: own choice; no space has as many erasures.
const HISTORY: u64 = 1 << 32;

/// The newest event that a handle knows.
#[derive(Debug, Default)]
pub(crate) struct Witness(Mutex<KnownEvent>);

#[derive(Clone, Copy, Debug, Default)]
struct KnownEvent {
    /// Its position; 0 for none.
    seq: u64,
    id: Option<EventId>,
    /// Histories that ended so far, times [`HISTORY`].
    ended: u64,
}

impl Witness {
    fn known(&self) -> MutexGuard<'_, KnownEvent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the position of the newest known event; 0 for none.
    pub(crate) fn seq(&self) -> u64 {
        self.known().seq
    }

    /// Returns how many histories have ended, times [`HISTORY`]; it counts like as many erasures for readers.
    pub(crate) fn ended(&self) -> u64 {
        self.known().ended
    }

    /// Remembers an event that was written or read.
    pub(crate) fn saw(&self, seq: u64, id: EventId) {
        let mut known = self.known();
        if seq > known.seq {
            (known.seq, known.id) = (seq, Some(id));
        }
    }

    /// Compares the event at the position `asked` with the known one, and remembers the head; returns [`ended`](Self::ended).
    pub(crate) fn judge(&self, asked: u64, found: Option<EventId>, (seq, id): (u64, Option<EventId>)) -> u64 {
        let mut known = self.known();
        let is_another = known.seq == asked && asked > 0 && found != known.id;
        if is_another {
            known.ended += HISTORY;
        }
        if is_another || seq > known.seq {
            (known.seq, known.id) = (seq, id);
        }
        known.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_event_or_none_at_a_known_position_is_another_history() {
        let (a, b) = (Some(EventId(1)), Some(EventId(2)));
        let witness = Witness::default();
        assert_eq!(witness.judge(0, None, (0, None)), 0, "an empty log");
        assert_eq!(witness.judge(0, None, (3, a)), 0, "the first events");
        assert_eq!(witness.judge(3, a, (5, b)), 0, "more of them");
        assert_eq!((witness.seq(), witness.judge(5, a, (7, a))), (5, HISTORY), "another event");
        assert_eq!((witness.seq(), witness.judge(7, None, (4, b))), (7, 2 * HISTORY), "none");
        assert_eq!((witness.seq(), witness.judge(4, b, (4, b))), (4, 2 * HISTORY), "the same again");
        witness.saw(9, EventId(7));
        assert_eq!(witness.judge(4, None, (4, b)), 2 * HISTORY, "asked before the newest was known");
        assert_eq!((witness.seq(), witness.ended()), (9, 2 * HISTORY));
        witness.saw(8, EventId(8));
        assert_eq!(
            witness.judge(9, Some(EventId(7)), (9, Some(EventId(7)))),
            2 * HISTORY,
            "an older event says nothing"
        );
    }
}
