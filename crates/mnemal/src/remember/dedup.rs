//! Deduplication of notes: a repeated note returns the existing one instead of a copy.

use std::fmt::Write as _;
use std::time::Duration;

use mnemal_core::{
    AgentId, Category, Degraded, ErrorKind, EventFilter, Importance, Learning, LearningFilter, LearningKind,
    Level, NoteKey, Result, Role, SessionId, Tag, Timestamp, UserId, Within,
};
use mnemal_events::Durability;
use mnemal_recall::Mode;
use mnemal_text::{jaccard, shingles};

use super::{NearDuplicate, Overlap, RememberCall, StoredNote, record_outcome};
use crate::memory::Memory;
use crate::span::Operation;

/// Hits that are checked for a duplicate. Source: own default; equal texts rank first, and a few old versions may rank before the
/// valid one.
const LOOK_AT: usize = 8;
/// Jaccard index of terms above which two notes are near-duplicates. Source: RockBot's memory deduplicator, its threshold without
/// vectors.
const ALIKE: f32 = 0.60;
/// Longest prefix of a text that is used as the query, in characters. Source: own default, more words than a query may have.
const ASKED: usize = 4_096;

impl RememberCall {
    /// Stores the note unless it exists, and returns the existing one otherwise (`created` is false).
    ///
    /// With a key, the existing one is the valid version, if all its fields are equal. Without a key, it is any valid note with
    /// the same text; case, spaces and a final full stop do not count. A note of lower level, or one that ends sooner than the
    /// new one by more than `window`, is not a duplicate.
    ///
    /// Concurrent calls in two processes have one effect: without an idempotency key the call gets one from its content, the
    /// version that it finds, and its slot of the `window`. A repetition in a later slot finds the note itself.
    ///
    /// # Errors
    /// As [`log`](crate::Memory::log).
    pub async fn once(self, window: Duration) -> Result<Degraded<StoredNote>> {
        let observed = self.observed(Operation::Upsert);
        observed.run(Box::pin(self.unless_known(window)), record_outcome).await
    }

    async fn unless_known(self, window: Duration) -> Result<Degraded<StoredNote>> {
        crate::learnings::check_free(self.key.as_ref())?;
        let mut call = self.completed().await?;
        let told = NoteFields::of(&call)?;
        let near = told.near().await;
        let holding = told.holding(&near);
        if let Some(known) = holding.iter().find(|note| told.is(note, window)) {
            return Ok(Degraded::whole(stored(known)));
        }
        let unnamed = call.message.idempotency_key.is_none();
        if unnamed {
            call.message = call.message.idempotency_key(told.name(holding.first().copied(), window));
        }
        match call.store().await {
            // The same note was stored a moment ago, with an end that differs by that moment.
            Err(error) if unnamed && error.kind() == ErrorKind::Conflict => {
                let near = told.near().await;
                let known = near.iter().find(|note| told.is(note, window));
                known.map(|known| Degraded::whole(stored(known))).ok_or(error)
            }
            done => done.map(|mut stored| {
                stored.value.alike = told.alike(&near);
                stored
            }),
        }
    }
}

/// The fields of a call.
struct NoteFields {
    memory: Memory,
    content: String,
    key: Option<NoteKey>,
    kind: LearningKind,
    category: Category,
    tags: Vec<Tag>,
    importance: Importance,
    expires_at: Option<Timestamp>,
    session: Option<SessionId>,
    user: Option<UserId>,
    agent: Option<AgentId>,
    level: Level,
}

impl NoteFields {
    fn of(call: &RememberCall) -> Result<Self> {
        let (message, scope) = (&call.message, &call.memory.scope);
        Ok(Self {
            memory: call.memory.clone(),
            content: message.content.clone(),
            key: call.key.clone(),
            kind: call.kind.unwrap_or(LearningKind::Note),
            category: call.filed()?,
            tags: call.tags.clone(),
            importance: call.importance.unwrap_or(Importance::DEFAULT),
            expires_at: call.expires_at,
            session: message.session.clone().or_else(|| scope.session.only().cloned()),
            user: message.user.clone().or_else(|| scope.user.only().cloned()),
            agent: message.agent.clone().or_else(|| scope.agent.only().cloned()),
            level: message.origin.level(),
        })
    }

    /// Returns the valid note under the key, or the near-duplicates, newest first. If a layer does not answer the list is empty,
    /// and only the idempotency key prevents duplicates.
    async fn near(&self) -> Vec<Learning> {
        let mut notes = self.candidates().await.unwrap_or_default();
        notes.sort_by_key(|note| std::cmp::Reverse((note.created_at, note.id)));
        notes
    }

    async fn candidates(&self) -> Option<Vec<Learning>> {
        if let Some(key) = &self.key {
            let filter = LearningFilter { key: Within::Only(key.clone()), ..LearningFilter::all() };
            return self.memory.preferences().notes(&filter).await.ok();
        }
        let asked: String = self.content.chars().take(ASKED).collect();
        let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        let found = self.memory.recall(asked).filter(filter).mode(Mode::Lexical).limit(LOOK_AT).await.ok()?;
        let events = found.hits.iter().map(|hit| hit.event.id).collect();
        let filter = LearningFilter { sources: Within::Only(events), ..LearningFilter::all() };
        self.memory.preferences().notes(&filter).await.ok()
    }

    /// Returns those with the same text; with a key all.
    fn holding<'n>(&self, near: &'n [Learning]) -> Vec<&'n Learning> {
        let words = words(&self.content);
        near.iter().filter(|note| self.key.is_some() || self::words(&note.content) == words).collect()
    }

    /// Returns the near-duplicate to report; with a key there is none, because the key already identifies the note.
    fn alike(&self, near: &[Learning]) -> Option<NearDuplicate> {
        let terms = shingles(&self.content, 1);
        let near = near.iter().filter(|note| self.key.is_none() && note.level > Level::External);
        let near = near.map(|note| (shingles(&note.content, 1), note.id));
        let likeness = |other: &[u64]| jaccard(&terms, other);
        let (other, id) = near.max_by(|(one, _), (other, _)| likeness(one).total_cmp(&likeness(other)))?;
        let is_within = terms.iter().all(|term| other.binary_search(term).is_ok());
        let how = if is_within { Overlap::Reinforces } else { Overlap::Extends };
        (likeness(&other) >= ALIKE).then_some(NearDuplicate { id, how })
    }

    /// Whether a note is a duplicate of this one.
    fn is(&self, note: &Learning, window: Duration) -> bool {
        let same_kind = self.level < Level::User || note.kind == self.kind;
        let same_text = match &self.key {
            Some(_) => {
                note.content == self.content
                    && note.category == self.category
                    && note.tags == self.tags
                    && note.importance == self.importance
            }
            None => words(&note.content) == words(&self.content),
        };
        let same_people = note.user == self.user && note.agent == self.agent;
        same_text && same_kind && same_people && note.level >= self.level && self.ends_like(note, window)
    }

    fn ends_like(&self, note: &Learning, window: Duration) -> bool {
        match (note.expires_at, self.expires_at) {
            (None, None) => true,
            (None, Some(_)) => self.key.is_none(),
            (Some(_), None) => false,
            (Some(held), Some(wanted)) => wanted <= held.plus_micros(micros(window)),
        }
    }

    /// Returns the idempotency key of the call.
    fn name(&self, holding: Option<&Learning>, window: Duration) -> String {
        let slot = (self.memory.engine.now().as_micros() / micros(window)).to_le_bytes();
        let held = holding.map(|note| note.id.to_string()).unwrap_or_default();
        let importance = self.importance.get().to_bits().to_le_bytes();
        // Ends within one slot are equal, so that a call with the same key is one that `is` accepts.
        let end = self.expires_at.map_or(-1, |at| at.as_micros() / micros(window)).to_le_bytes();
        let mut parts: Vec<&[u8]> = vec![
            &slot,
            &end,
            &importance,
            held.as_bytes(),
            self.content.as_bytes(),
            self.key.as_ref().map_or("", NoteKey::as_str).as_bytes(),
            self.category.as_str().as_bytes(),
            self.kind.as_str().as_bytes(),
            self.session.as_ref().map_or("", SessionId::as_str).as_bytes(),
        ];
        parts.extend(self.tags.iter().map(|tag| tag.as_str().as_bytes()));
        let seal = self.memory.engine.seal("note", &parts);
        seal.iter().take(16).fold("once:".to_owned(), |mut text, byte| {
            // Writing into a string cannot fail.
            let _written = write!(text, "{byte:02x}");
            text
        })
    }
}

fn micros(window: Duration) -> i64 {
    i64::try_from(window.as_micros()).unwrap_or(i64::MAX).max(1)
}

/// Normalizes a text: case, runs of spaces, and a final full stop are removed.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.join(" ").trim_end_matches(['.', '。']).to_owned()
}

/// Returns the result for an existing note.
fn stored(note: &Learning) -> StoredNote {
    StoredNote {
        event: note.sources.first().map_or(mnemal_core::EventId(0), |source| source.event),
        id: Some(note.id),
        version: note.version,
        created: false,
        // The note was acknowledged when it was made, and nothing is written now.
        durability: Durability::Disk,
        redactions: 0,
        held_back: None,
        alike: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: own choice, the deduplication window of the servers.
    const WINDOW: Duration = Duration::from_mins(10);

    async fn remember_note(memory: &Memory, key: Option<&str>, text: &str) -> StoredNote {
        let mut call = memory.remember(text);
        if let Some(key) = key {
            call = call.key(NoteKey::new(key).unwrap());
        }
        call.once(WINDOW).await.unwrap().value
    }

    async fn events(memory: &Memory) -> u64 {
        memory.admin().stats().await.unwrap().head.count()
    }

    #[tokio::test]
    async fn a_note_of_the_same_words_is_linked_and_another_one_is_stored() {
        let memory = Memory::in_memory().await.unwrap();
        let first = remember_note(&memory, None, "We use pnpm, never npm.").await;
        assert!(first.created);
        for same in ["We use pnpm, never npm.", "we use  pnpm, never npm", "We use pnpm,\nnever npm"] {
            let again = remember_note(&memory, None, same).await;
            assert_eq!((again.id, again.created), (first.id, false), "{same}");
        }
        assert_eq!(events(&memory).await, 1);
        for other in ["We use npm, never pnpm.", "We use pnpm, never npm!?", "We use pnpm"] {
            assert!(remember_note(&memory, None, other).await.created, "{other}");
        }
    }

    #[tokio::test]
    async fn a_note_of_nearly_the_same_words_is_stored_and_named_and_nothing_is_written_over() {
        let memory = Memory::in_memory().await.unwrap();
        let first =
            remember_note(&memory, None, "The staging server restarts every Sunday night at two").await;
        assert_eq!(first.alike, None);
        let id = first.id.unwrap();
        for (text, how) in [
            ("the staging server restarts every sunday night", Overlap::Reinforces),
            ("The staging server restarts every Monday night at two", Overlap::Extends),
        ] {
            let again = remember_note(&memory, None, text).await;
            assert_eq!((again.created, again.alike), (true, Some(NearDuplicate { id, how })), "{text}");
            let _gone = memory.forget(mnemal_core::Selector::Events(vec![again.event])).await.unwrap();
        }
        assert_eq!(remember_note(&memory, None, "The ferry leaves at noon").await.alike, None);
    }

    #[tokio::test]
    async fn a_key_takes_a_new_version_for_every_change_and_none_for_a_repetition() {
        let memory = Memory::in_memory().await.unwrap();
        let versions =
            [("Tuesday", 1, true), ("Tuesday", 1, false), ("Monday", 2, true), ("Tuesday", 3, true)];
        for (text, version, created) in versions {
            let stored = remember_note(&memory, Some("deploy_day"), text).await;
            assert_eq!((stored.version, stored.created), (version, created), "{text}");
        }
        let call = memory.remember("Tuesday").key(NoteKey::new("deploy_day").unwrap());
        let tagged = call.tag(Tag::new("ops").unwrap()).once(WINDOW).await.unwrap();
        assert_eq!((tagged.version, tagged.created), (4, true));
    }

    #[tokio::test]
    async fn the_users_own_words_are_not_swallowed_by_the_agents_note() {
        let memory = Memory::in_memory().await.unwrap();
        assert!(remember_note(&memory, None, "prefers short answers").await.created);
        let said = memory.remember("prefers short answers").by_user().kind(LearningKind::Preference);
        assert!(said.once(WINDOW).await.unwrap().created);
        assert!(!remember_note(&memory, None, "prefers short answers").await.created);
    }

    #[tokio::test]
    async fn a_lasting_note_is_not_linked_to_one_that_ends() {
        let memory = Memory::in_memory().await.unwrap();
        let until = |minutes: i64| memory.admin().engine().now().plus_micros(minutes * 60_000_000);
        let short = |minutes| memory.remember("the build is red").expires_at(until(minutes)).once(WINDOW);
        assert!(short(30).await.unwrap().created);
        assert!(!short(30).await.unwrap().created);
        assert!(short(90).await.unwrap().created);
        assert!(remember_note(&memory, None, "the build is red").await.created);
        assert!(!short(30).await.unwrap().created);
    }
}
