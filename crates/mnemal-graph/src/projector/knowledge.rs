//! Fold state kept in memory between steps.

use std::collections::{HashMap, VecDeque};

use mnemal_core::{Decision, Event, EventId, EventKind, NewEvent, Role, Seq, SessionId};

use crate::cardinality::Cardinalities;
use crate::fold::Fold;
use crate::names::Names;

/// Preceding events of the session that an extractor sees with an event. Source: own choice, four exchanges.
pub(super) const BEFORE: usize = 8;
/// Approximate bytes of reloadable state kept between steps; above it only the names stay, and the rest is loaded on
/// demand. Source: own choice.
const MOST: usize = 64 << 20;
/// Transactions between two size checks; each adds some 64 rows, so a hundred add 10 MB. Source: own choice.
const WEIGHED_EVERY: u64 = 100;
/// Sessions whose last events stay in memory; the older half is dropped when there are more. Source: own choice.
const MOST_SESSIONS: usize = 256;
/// Events until the first retry of an unread event, and the factor between further retries. Source: own choice; with
/// [`TRIES`] the last retry comes 4,096 events later.
const FIRST_TRY: u64 = 16;
const LATER: u64 = 4;
/// Most retries. Source: NB-38, five attempts before a failing event is given up.
const TRIES: u32 = 5;

/// The fold with its context.
#[derive(Debug)]
pub(super) struct Knowledge {
    pub(super) fold: Fold,
    /// The last events of each session, oldest first, with the event at which they were needed last.
    recent: HashMap<SessionId, (u64, VecDeque<Event>)>,
    /// How many times state was asked to be trimmed.
    trims: u64,
    /// How many times a session was needed.
    needed: u64,
    /// Whether a session that is not in memory is known to have no recent events.
    is_from_start: bool,
    /// Events that could not be read.
    pub(super) unread: Vec<(EventId, Seq)>,
}

impl Knowledge {
    /// Starts with these names only, at the beginning of a log.
    pub(super) fn whole(names: Names) -> Self {
        Self {
            fold: Fold::whole(names),
            recent: HashMap::new(),
            trims: 0,
            needed: 0,
            is_from_start: true,
            unread: Vec::new(),
        }
    }

    /// Starts with the names; everything else is loaded on demand.
    pub(super) fn from_names(names: Names, held: Cardinalities, unread: Vec<(EventId, Seq)>) -> Self {
        Self {
            fold: Fold::from_names(names, held),
            recent: HashMap::new(),
            trims: 0,
            needed: 0,
            is_from_start: false,
            unread,
        }
    }

    /// Whether the last events of a session must be loaded.
    pub(super) fn lacks(&self, session: &SessionId) -> bool {
        !self.is_from_start && !self.recent.contains_key(session)
    }

    pub(super) fn know_recent(&mut self, session: &SessionId, events: VecDeque<Event>) {
        *self.of_session(session) = events;
    }

    fn of_session(&mut self, session: &SessionId) -> &mut VecDeque<Event> {
        self.needed += 1;
        let (needed, events) = self.recent.entry(session.clone()).or_default();
        *needed = self.needed;
        events
    }

    /// Returns the preceding events of the session, oldest first, with the known names.
    pub(super) fn scene(&mut self, session: &SessionId) -> (&[Event], &Names) {
        self.of_session(session).make_contiguous();
        let recent = self.recent.get(session).map_or(&[][..], |(_, events)| events.as_slices().0);
        (recent, &self.fold.names)
    }

    /// Appends an event to its session.
    pub(super) fn hear(&mut self, event: &Event, session: &SessionId) {
        let recent = self.of_session(session);
        recent.push_back(event.clone());
        if recent.len() > BEFORE {
            recent.pop_front();
        }
    }

    /// Drops the least recently used sessions' events, if there are many sessions.
    pub(super) fn trim_recent(&mut self) {
        if self.recent.len() <= MOST_SESSIONS {
            return;
        }
        let mut needed: Vec<u64> = self.recent.values().map(|(needed, _)| *needed).collect();
        needed.sort_unstable_by(|one, other| other.cmp(one));
        let least = needed.get(MOST_SESSIONS / 2).copied().unwrap_or_default();
        self.recent.retain(|_, (needed, _)| *needed > least);
        self.is_from_start = false;
    }

    /// Drops reloadable state if it is large; checks at every hundredth call, because the check costs as much as the state
    /// is large.
    pub(super) fn trim(&mut self) {
        self.trim_recent();
        self.trims += 1;
        if self.trims.is_multiple_of(WEIGHED_EVERY) && self.fold.weight() > MOST {
            let (names, held) = (&mut self.fold.names, &mut self.fold.held);
            self.fold = Fold::from_names(std::mem::take(names), std::mem::take(held));
        }
    }

    /// Returns the unread events to retry between two positions, the second one included.
    pub(super) fn to_try(&self, after: u64, until: u64) -> Vec<EventId> {
        let is_due = |seq: Seq| {
            (0..TRIES).any(|n| {
                let at = seq.0.saturating_add(FIRST_TRY * LATER.pow(n));
                after < at && at <= until
            })
        };
        self.unread.iter().filter(|(_, seq)| is_due(*seq)).map(|(event, _)| *event).collect()
    }
}

/// Returns the content of an event that may hold claims: messages of users and agents, and files; no tool results, and
/// nothing in quarantine.
pub(super) fn readable(event: &Event) -> Option<&NewEvent> {
    let is_speech = matches!(event.role, Role::User | Role::Assistant | Role::Document);
    event.body().filter(|_| is_speech && event.quarantined.is_none())
}

/// A note in the form that the graph reads.
#[derive(Debug)]
pub(super) struct GraphNote {
    /// The content. The versions of a note under one key form a session of their own; the speaker name is removed, because
    /// what a note says about the user is not about its author.
    pub(super) kept: NewEvent,
    /// Whether it replaces earlier notes of its key.
    pub(super) has_key: bool,
}

/// Returns the note that an event stores, unless it is in quarantine.
pub(super) fn note_of(event: &Event) -> Option<GraphNote> {
    let kept = event.body().filter(|_| event.quarantined.is_none())?;
    let EventKind::Decision(Decision::Remember(note)) = &kept.kind else { return None };
    let session = note.key.as_ref().and_then(|key| SessionId::new(format!("note {}", key.as_str())).ok());
    let has_key = session.is_some();
    let session = session.unwrap_or_else(|| kept.session.clone());
    Some(GraphNote { kept: NewEvent { session, speaker: None, ..kept.clone() }, has_key })
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: NB-38 (five attempts at growing distances, counted in events: ADR 36)
    #[test]
    fn what_could_not_be_read_is_tried_five_times_ever_later() {
        let mut known = Knowledge::whole(Names::default());
        known.unread.push((EventId(7), Seq(100)));
        let tried: Vec<u64> =
            (100..10_000).filter(|at| !known.to_try(at - 1, *at).is_empty()).map(|at| at - 100).collect();
        assert_eq!(tried, [16, 64, 256, 1_024, 4_096]);
        assert_eq!(known.to_try(100, 10_000), [EventId(7)], "a long step tries once");
    }
}
