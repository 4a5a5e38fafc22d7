//! Forgetting: what is asked, and what stays so that it does not come back.

use crate::{EventId, NoteKey, SessionId, Timestamp};

/// What somebody asks to forget.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// These events.
    Events(Vec<EventId>),
    /// Every version of the note of this key.
    Key(NoteKey),
    /// Everything said in this conversation.
    Session(SessionId),
}

/// The record of a forget in the log: the selector and the events that it named, so that a crash in between can be
/// finished by whoever opens the space next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forget {
    /// What was asked, without the names in it: no events, which stand below. Logs of before have the whole selector.
    pub selector: Selector,
    /// The events to erase, ascending by id.
    pub events: Vec<EventId>,
}

/// Keyed BLAKE3 of a folded text: of a whole body, or of one sentence of at least five words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TombstoneHash(pub [u8; 16]);

/// What stays of an erased event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// The event.
    pub event: EventId,
    /// Hash of its whole body.
    pub body: TombstoneHash,
    /// Hashes of its longer sentences.
    pub sentences: Vec<TombstoneHash>,
    /// When it was erased. User words of a later `occurred_at` may say it again.
    pub at: Timestamp,
}

/// A place that still holds a text which must be gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remnant {
    /// Which of the texts that were asked for, from 0.
    pub text: usize,
    /// Whether it stands in a copy that was put aside, by a restore or a repair, and not in the space.
    pub is_copy: bool,
    /// Where and in which form, as a sentence without the text.
    pub place: String,
}
