//! Notes and learnings: which hold and what they weigh, and what a person decides about them.

use mnemal_core::{
    AsOf, Category, Cursor, Decision, Degraded, Error, ErrorKind, EventId, EventKind, Learning,
    LearningFilter, LearningId, LearningKind, NoteKey, Origin, Remember, Result, Scored, Tag, Timestamp,
};
use mnemal_events::Ack;
use mnemal_learnings::{Notes, is_learned};

use crate::engine::{Engine, FOLD_EVERY, missing};
use crate::memory::Memory;
use crate::message::Message;

/// What only learnings carry that were concluded. Source: RB-63.
const INFERRED: &str = "inferred";
/// Where preferences are filed that were concluded. Source: RB-63.
const OF_INFERRED: &str = "user-preferences/inferred";
/// Where they are filed that are told. Source: RB-04.
const OF_TOLD: &str = "user-preferences/told";

impl Memory {
    /// Returns the notes and learnings that hold as known at a moment and pass the filter, best first by confidence × weight,
    /// after they were given 200 ms to catch up with the log.
    ///
    /// # Errors
    /// `Unsupported` without the layer, `Unavailable` when the store does not answer.
    pub async fn learnings(&self, filter: &LearningFilter, as_of: AsOf) -> Result<Vec<Scored<Learning>>> {
        self.engine.caught_up().await;
        let store = self.engine.guarded().learnings.part().map_err(|_| missing("notes"))?;
        Ok(self.engine.decay().holding(store.active(filter, as_of).await?, as_of))
    }

    /// Returns every note and learning that passes the filter, also those that hold no more or not yet, by id.
    ///
    /// # Errors
    /// As [`learnings`](Self::learnings).
    pub async fn all_learnings(&self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        self.engine.caught_up().await;
        self.engine.guarded().learnings.part().map_err(|_| missing("notes"))?.all(filter).await
    }

    /// Returns the note or learning that is meant by its key (the version that holds, else the newest), its id, or the id of an
    /// event in which it was read.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub async fn learning(&self, name: &str) -> Result<Learning> {
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

    /// Returns the categories in use, each with the number of notes and learnings that hold in it and below it.
    ///
    /// # Errors
    /// As [`learnings`](Self::learnings).
    pub async fn categories(&self) -> Result<Vec<(Category, u64)>> {
        self.engine.caught_up().await;
        let slot = &self.engine.guarded().learnings;
        let mnemal_core::Slot::Filled(store) = slot else { return Err(missing("notes")) };
        let as_of = AsOf::present(self.engine.now());
        Notes::new(std::sync::Arc::clone(store)).categories(&LearningFilter::all(), as_of).await
    }

    /// Takes the user's word for a note or learning, in exactly these words: what the agent noted becomes the user's, and
    /// what was inferred is told.
    ///
    /// # Errors
    /// `Conflict` when it reads otherwise by now, `Invalid` for one without a key or about a tool.
    pub async fn confirm(&self, learning: &Learning, text: &str) -> Result<Degraded<Ack>> {
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
        let remember = Remember {
            key: Some(key_of(&current)?),
            kind: current.kind,
            category: if is_inferred { Category::new(OF_TOLD)? } else { current.category },
            tags: current.tags.into_iter().filter(|tag: &Tag| tag.as_str() != INFERRED).collect(),
            importance: current.importance,
            expires_at: current.expires_at,
        };
        let message =
            Message::of(EventKind::Decision(Decision::Remember(remember)), Origin::UserConfirmed, text);
        self.log(message).await
    }
}

/// Returns the key by which a note or learning is decided about.
///
/// # Errors
/// `Invalid` when it has none.
pub fn key_of(learning: &Learning) -> Result<NoteKey> {
    let without = || Error::invalid(format!("{} has no key; forget it, or store it under one", learning.id));
    learning.key.clone().ok_or_else(without)
}

/// Refuses a key that is kept for what is learnt.
pub(crate) fn check_free(key: Option<&NoteKey>) -> Result<()> {
    match key.filter(|key| is_learned(key)) {
        Some(key) => {
            Err(Error::invalid(format!("the key {key} is kept for what is learnt; confirm it instead")))
        }
        None => Ok(()),
    }
}

impl Engine {
    /// Folds the few events that wait, so that what the user has just said is in what is read next. Many are left to upkeep:
    /// nobody who reads waits for them. Returns up to where the log is folded, if that can be said.
    pub(crate) async fn fold_soon(&self, head: Cursor) -> Option<Cursor> {
        let notes = self.guarded().learnings.part().ok()?;
        let cursor = notes.cursor().await.ok()?;
        if !(1..=FOLD_EVERY).contains(&cursor.behind(head)) {
            return Some(cursor);
        }
        self.caught_up().await;
        notes.cursor().await.ok()
    }

    /// Folds if anything waits. What cannot be folded is known by the cursor, which stays behind.
    async fn caught_up(&self) {
        if self.behind().await > 0 {
            let _gaps = self.fold().await;
        }
    }

    /// Returns how many events wait; 0 where nobody can say.
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

    /// Returns what a learning weighs at a moment, from the floor of the settings to 1.
    pub fn weight(&self, learning: &Learning, at: Timestamp) -> f32 {
        self.decay().weight(learning, at)
    }
}
