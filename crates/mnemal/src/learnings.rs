//! Preferences and learnings, with feedback.

pub use crate::areas::PreferencesHandle;
pub use crate::feedback::Feedback;
pub use mnemal_core::{
    AntiPattern, Basis, Consent, Learning, LearningDelta, LearningFilter, LearningKind, LearningStatus,
    Signal, Stance, Tally, Verdict,
};
pub use mnemal_learnings::{
    LearningOrigin, Objective, ProfileHeading, Sentiment, THIS_CONVERSATION, is_about_user, recommendation,
};

use std::sync::Arc;

use mnemal_core::{
    AsOf, Category, Cursor, Decision, Degraded, Error, ErrorKind, EventId, EventKind, LearningId, NoteKey,
    NoteTarget, Origin, Remember, Result, Scored, Tag, Timestamp,
};
use mnemal_events::Ack;
use mnemal_learnings::{Notes, PINNED, is_learned, is_pinned};

use crate::engine::{Engine, FOLD_EVERY, missing};
use crate::memory::Memory;
use crate::message::Message;

/// Maximum number of pins. Source: own choice; pins take part of every context.
const MOST_PINS: usize = 8;
/// Maximum size of all pins together, in tokens. Source: own choice; pins take part of every context.
const PINNED_TOKENS: u32 = 600;
/// Tag of inferred learnings. Source: RockBot.
const INFERRED: &str = "inferred";
/// Category of inferred preferences. Source: RockBot.
const OF_INFERRED: &str = "user-preferences/inferred";
/// Category of stated preferences. Source: own name, within RockBot's `user-preferences/`.
const OF_TOLD: &str = "user-preferences/told";

impl PreferencesHandle<'_> {
    /// Returns the notes and learnings that are valid as of a moment and pass the filter, best first by confidence × weight,
    /// after they had 200 ms to catch up with the log.
    ///
    /// # Errors
    /// `Unsupported` without the layer, `Unavailable` when the store does not answer.
    pub async fn learnings(self, filter: &LearningFilter, as_of: AsOf) -> Result<Vec<Scored<Learning>>> {
        self.memory.engine.caught_up().await;
        let store = self.memory.engine.guarded().learnings.part().map_err(|_| missing("notes"))?;
        let Some(filter) = &self.memory.own_rows(filter) else { return Ok(Vec::new()) };
        let rows = store.active(filter, as_of).await?.iter().map(|row| Learning::clone(row)).collect();
        Ok(self.memory.engine.decay().holding(rows, as_of))
    }

    /// Returns every note and learning that passes the filter, including superseded, expired and future ones, by id.
    ///
    /// # Errors
    /// As [`learnings`](Self::learnings).
    pub async fn all_learnings(self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        self.memory.engine.caught_up().await;
        let store = self.memory.engine.guarded().learnings.part().map_err(|_| missing("notes"))?;
        match self.memory.own_rows(filter) {
            Some(filter) => store.all(&filter).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns a note or learning by its key (the valid version, else the newest), its id, or the id of an event it was read
    /// from.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub async fn learning(self, name: &str) -> Result<Learning> {
        let rows = self.all_learnings(&LearningFilter::all()).await?;
        let (id, event) = (name.parse::<LearningId>().ok(), name.parse::<EventId>().ok());
        let is_meant = |row: &&Learning| {
            row.key.as_ref().is_some_and(|key| key.as_str() == name)
                || id == Some(row.id)
                || event.is_some_and(|event| row.sources.iter().any(|source| source.event == event))
        };
        let newest = |row: &&Learning| (row.expired_at.is_none(), row.version, row.created_at, row.id);
        let found = rows.iter().filter(is_meant).max_by_key(newest).cloned();
        found.ok_or_else(|| Error::not_found(format!("no memory {name:?}")))
    }

    /// Returns the categories in use, each with the number of valid notes and learnings in it and below it.
    ///
    /// # Errors
    /// As [`learnings`](Self::learnings).
    pub async fn categories(self) -> Result<Vec<(Category, u64)>> {
        self.memory.engine.caught_up().await;
        let slot = &self.memory.engine.guarded().learnings;
        let mnemal_core::Slot::Filled(store) = slot else { return Err(missing("notes")) };
        let as_of = AsOf::present(self.memory.engine.now());
        let own = self.memory.own_rows(&LearningFilter::all()).unwrap_or_else(LearningFilter::all);
        Notes::new(Arc::clone(store)).categories(&own, as_of).await
    }

    /// Records the user's confirmation of a note or learning with exactly this text: an agent's note becomes the user's, and an
    /// inferred one becomes stated.
    ///
    /// # Errors
    /// `Conflict` when its text has changed, `Invalid` for one without a key or about a tool.
    pub async fn confirm(self, learning: &Learning, text: &str) -> Result<Degraded<Ack>> {
        let current = self.learning(&learning.id.to_string()).await?;
        if current.content != text {
            return Err(Error::new(
                ErrorKind::Conflict,
                "these are not the words that it has; read it again",
            ));
        }
        if current.kind == LearningKind::Tool {
            return Err(Error::invalid("what was counted of a tool cannot be confirmed"));
        }
        let is_inferred = current.category.as_str() == OF_INFERRED;
        let category = if is_inferred { Category::new(OF_TOLD)? } else { current.category.clone() };
        let mut tags = current.tags.clone();
        tags.retain(|tag| tag.as_str() != INFERRED);
        let message = restatement(Learning { content: text.to_owned(), category, tags, ..current })?;
        self.memory.updating(self.memory.log(message)).await
    }
}

/// The change of a pin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pin {
    Set,
    Take,
}

impl Memory {
    async fn repinned(&self, note: Learning, pin: Pin) -> Result<Degraded<Ack>> {
        if note.kind == LearningKind::Tool {
            return Err(Error::invalid("what was counted of a tool cannot be pinned"));
        }
        let mut tags = note.tags.clone();
        tags.retain(|tag| tag.as_str() != PINNED);
        if pin == Pin::Set {
            tags.push(Tag::new(PINNED)?);
        }
        self.updating(self.log(restatement(Learning { tags, ..note })?)).await
    }
}

impl PreferencesHandle<'_> {
    /// Pins a note or learning: it is part of the identity section of every context until it is unpinned. Only a person pins.
    ///
    /// # Errors
    /// `Invalid` for one without a key or about a tool, and when there are already eight pins or 600 tokens of them: the message
    /// lists them; nothing is truncated. `NotFound` when there is no such note.
    pub async fn pin(self, name: &str) -> Result<Degraded<Ack>> {
        let note = self.learning(name).await?;
        let mut pins = self.pins().await?;
        pins.retain(|pin| pin.id != note.id);
        let counter = &self.memory.engine.parts().context.counter;
        let tokens = |notes: &[Learning]| notes.iter().map(|one| counter.count(&one.content).0).sum::<u32>();
        if pins.len() >= MOST_PINS || tokens(&pins) + counter.count(&note.content).0 > PINNED_TOKENS {
            let list: Vec<String> = pins
                .iter()
                .map(|pin| pin.key.as_ref().map_or_else(|| pin.id.to_string(), ToString::to_string))
                .collect();
            return Err(Error::invalid(format!(
                "there is room for {MOST_PINS} pins of {PINNED_TOKENS} tokens; unpin one of {}",
                list.join(", ")
            )));
        }
        self.memory.repinned(note, Pin::Set).await
    }

    /// Removes a pin; the note stays.
    ///
    /// # Errors
    /// As [`pin`](Self::pin), without the limits.
    pub async fn unpin(self, name: &str) -> Result<Degraded<Ack>> {
        self.memory.repinned(self.learning(name).await?, Pin::Take).await
    }

    /// Returns the pinned records, by rank.
    ///
    /// # Errors
    /// As [`learnings`](Self::learnings).
    pub async fn pins(self) -> Result<Vec<Learning>> {
        let rows = self.learnings(&LearningFilter::all(), AsOf::present(self.memory.engine.now())).await?;
        Ok(rows.into_iter().map(|row| row.item).filter(is_pinned).collect())
    }
}

/// Returns the user's decision that a note or learning is stored as it is here; it stays its owner's.
///
/// # Errors
/// `Invalid` when it has no key.
fn restatement(note: Learning) -> Result<Message> {
    let remember = Remember {
        key: Some(key_of(&note)?),
        kind: note.kind,
        category: note.category,
        tags: note.tags,
        importance: note.importance,
        expires_at: note.expires_at,
    };
    let decision = EventKind::Decision(Decision::Remember(remember));
    let message = Message::of(decision, Origin::UserConfirmed, note.content);
    Ok(Message { user: note.user, agent: note.agent, ..message })
}

/// Returns the key under which decisions about a note or learning are stored.
///
/// # Errors
/// `Invalid` when it has none.
pub fn key_of(learning: &Learning) -> Result<NoteKey> {
    let without = || Error::invalid(format!("{} has no key; forget it, or store it under one", learning.id));
    learning.key.clone().ok_or_else(without)
}

/// Returns the target of a decision about a note or learning: its key, or the event that made it.
pub fn target_of(learning: &Learning) -> NoteTarget {
    let sources = if learning.key.is_none() { learning.sources.clone() } else { Vec::new() };
    NoteTarget { key: learning.key.clone(), sources }
}

/// Rejects a key that is reserved for learnings.
pub(crate) fn check_free(key: Option<&NoteKey>) -> Result<()> {
    match key.filter(|key| is_learned(key)) {
        Some(key) => {
            Err(Error::invalid(format!("the key {key} is kept for what is learnt; confirm it instead")))
        }
        None => Ok(()),
    }
}

impl Engine {
    /// Folds a small lag at once, so that the user's last statement is part of the next read. A large lag is left to upkeep, and
    /// reads do not wait for it. Returns the position up to which the log is folded, if it is known.
    pub(crate) async fn fold_soon(&self, head: Cursor) -> Option<Cursor> {
        let notes = self.guarded().learnings.part().ok()?;
        let cursor = notes.cursor().await.ok()?;
        if !(1..=FOLD_EVERY).contains(&cursor.behind(head)) {
            return Some(cursor);
        }
        self.caught_up().await;
        notes.cursor().await.ok()
    }

    /// Folds if events are pending. Failures are visible in the cursor, which stays behind.
    async fn caught_up(&self) {
        if self.behind().await > 0 {
            let _gaps = self.fold().await;
        }
    }

    /// Returns the number of pending events; 0 if it is unknown.
    async fn behind(&self) -> u64 {
        let (Ok(events), Ok(learnings)) = (self.events(), self.guarded().learnings.part()) else { return 0 };
        match (events.head().await, learnings.cursor().await) {
            (Ok(head), Ok(cursor)) => cursor.behind(head),
            _ => 0,
        }
    }

    pub(crate) fn decay(&self) -> mnemal_learnings::Decay {
        self.settings().learning.decay()
    }

    /// Returns the weight of a learning at a moment, from the floor of the settings to 1.
    pub fn weight(&self, learning: &Learning, at: Timestamp) -> f32 {
        self.decay().weight(learning, at)
    }
}
