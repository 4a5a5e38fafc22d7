//! Forgetting: selectors, and the tombstones that prevent a return.

use crate::{EventId, NoteKey, SessionId, Timestamp, UserId};

/// The target of a forget.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// These events.
    Events(Vec<EventId>),
    /// Every version of the note with this key.
    Key(NoteKey),
    /// Every event of this conversation.
    Session(SessionId),
    /// Every event of this user.
    User(UserId),
}

/// The log record of a forget: the selector and the selected events, so that the next opener of the space can finish it after a
/// crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forget {
    /// The selector, without event ids, which are listed below. Older logs hold the complete selector.
    pub selector: Selector,
    /// The events to erase, ascending by id.
    pub events: Vec<EventId>,
}

/// Keyed BLAKE3 of a folded text: of a whole body, or of one sentence of at least five words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TombstoneHash(pub [u8; 16]);

/// Keyed hashes of an erased event's text, which keep the text from coming back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// The event.
    pub event: EventId,
    /// Hash of its whole body.
    pub body: TombstoneHash,
    /// Hashes of its longer sentences.
    pub sentences: Vec<TombstoneHash>,
    /// Time of erasure. The user's own words with a later `occurred_at` may state it again.
    pub at: Timestamp,
}

/// A place that still holds an erased text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remnant {
    /// Index of the text in the request, from 0.
    pub text: usize,
    /// Whether it is in a copy set aside by a restore or a repair, and not in the space itself.
    pub is_copy: bool,
    /// Location and encoding, as a sentence without the text.
    pub place: String,
}
