//! Requests to a space, and its acknowledgements.

use mnemal::events::{Ack, Seq};
use mnemal::{EventId, Message, NoteKey};
use mnemal_testkit::vfs::Dice;

/// Everything that was said, in the order of the calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    pub(crate) said: Vec<BookEntry>,
    calls: usize,
}

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct BookEntry {
    /// The call that it was part of.
    pub(crate) call: usize,
    pub(crate) key: String,
    pub(crate) text: String,
    /// The word of the text that no other has.
    pub(crate) word: String,
    /// The key of the note.
    pub(crate) note: Option<NoteKey>,
    pub(crate) acked: Option<(EventId, Seq)>,
    pub(crate) forgotten: ForgetState,
}

/// Whether an event was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForgetState {
    No,
    /// It was asked for, and no answer came.
    Perhaps,
    /// It was acknowledged, by this decision.
    By(EventId),
}

impl Book {
    /// Records the events of one call before it is made; returns their indexes.
    pub(crate) fn call(&mut self, count: usize, dice: &mut Dice) -> Vec<usize> {
        self.calls += 1;
        (0..count).map(|_| self.say(None, dice)).collect()
    }

    /// Notes a note before it is kept; some share a key, so that they have versions.
    pub(crate) fn note(&mut self, dice: &mut Dice) -> mnemal::Result<usize> {
        self.calls += 1;
        let key = NoteKey::new(format!("topic_{}", dice.below(4)))?;
        Ok(self.say(Some(key), dice))
    }

    fn say(&mut self, note: Option<NoteKey>, dice: &mut Dice) -> usize {
        let number = self.said.len();
        let word = format!("kelp{number}mark");
        let filler = "the harbour keeps its ledger dry ".repeat(dice.below(20));
        let text = format!("Turn {number} says {word}, and {filler}that is all.");
        let (call, key) = (self.calls, format!("said-{number}"));
        let forgotten = ForgetState::No;
        self.said.push(BookEntry { call, key, text, word, note, acked: None, forgotten });
        number
    }

    /// Records the answer of a call.
    pub(crate) fn acknowledge(&mut self, places: &[usize], acks: &[Ack]) {
        for (place, ack) in places.iter().zip(acks) {
            if let Some(said) = self.said.get_mut(*place) {
                said.acked = Some((ack.id, ack.seq));
            }
        }
    }

    /// Returns an event that was acknowledged and not forgotten, with its place.
    pub(crate) fn living(&self, dice: &mut Dice) -> Option<(usize, EventId)> {
        let living = |(place, said): (usize, &BookEntry)| match (said.acked, said.forgotten) {
            (Some((id, _)), ForgetState::No) => Some((place, id)),
            _ => None,
        };
        let all: Vec<_> = self.said.iter().enumerate().filter_map(living).collect();
        all.get(dice.below(all.len())).copied()
    }

    /// Notes how a forget went for all these events.
    pub(crate) fn forget(&mut self, ids: &[EventId], how: ForgetState) {
        let concerned = |said: &&mut BookEntry| said.acked.is_some_and(|(id, _)| ids.contains(&id));
        for said in self.said.iter_mut().filter(concerned) {
            said.forgotten = how;
        }
    }

    /// Returns the places of each call, in order.
    pub(crate) fn by_call(&self) -> Vec<Vec<usize>> {
        let mut calls: Vec<Vec<usize>> = vec![Vec::new(); self.calls + 1];
        for (place, said) in self.said.iter().enumerate() {
            if let Some(call) = calls.get_mut(said.call) {
                call.push(place);
            }
        }
        calls
    }

    /// Returns the messages of a call, the same each time.
    pub(crate) fn messages(&self, places: &[usize]) -> Vec<Message> {
        let said = places.iter().filter_map(|place| self.said.get(*place));
        said.map(|said| Message::user(&said.text).idempotency_key(&said.key)).collect()
    }
}
