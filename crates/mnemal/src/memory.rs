//! `Memory`, the main handle: one engine and one complete scope.

use std::num::NonZeroUsize;
#[cfg(feature = "sqlite")]
use std::path::Path;

use mnemal_core::{
    AgentId, Cursor, Degraded, Error, Event, EventFilter, EventId, HealthReport, Learning, LearningFilter,
    NoteKey, Receipt, ReceiptId, Result, Scope, Selector, SessionId, SessionSummary, SpaceId, UserId, Within,
};
use mnemal_events::Ack;

use crate::answer::{ContextCall, RecallCall};
use crate::areas::{AdminHandle, EventsHandle, PreferencesHandle};
use crate::ask::AskCall;
use crate::builder::StorageSwitch;
use crate::engine::Engine;
use crate::forget::ForgetCall;
use crate::message::{Defaults, Message};
use crate::remember::RememberCall;
use crate::secondary::Secondary;
use crate::status::{RecentLanguage, Stats, recent_languages};

/// Events per request. Source: own default, below the smallest parameter limit of a store's statement.
const EVENTS: usize = 500;

/// One engine and one scope, with its secondary spaces; cheap to clone.
///
/// Reads return [`Degraded`]: an absent, failing, late or lagging part is a gap. Writes return `Err` when they fail.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) engine: Engine,
    pub(crate) scope: Scope,
    pub(crate) secondary: Secondary,
}

impl Memory {
    /// Opens a space in a SQLite file, which is created if it does not exist; the space is named by the file's stem.
    ///
    /// The installation's key is kept in `installation.key` in the same folder.
    ///
    /// # Errors
    /// `Invalid` for a file name that is not a valid space name or a file of another format, `Unsupported` for one of a newer
    /// version, `Corrupt` for a damaged one, `Unavailable` when it cannot be opened.
    #[cfg(feature = "sqlite")]
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let space = SpaceId::new(stem.ok_or_else(|| Error::invalid("a space needs a file name"))?)?;
        let engine = Engine::builder().open(path).await?;
        Ok(engine.memory(Scope::whole(space)))
    }

    /// Creates an in-memory space that lives as long as its last handle.
    ///
    /// # Errors
    /// `Unavailable` when the operating system has no randomness for the key.
    #[expect(
        clippy::unused_async,
        reason = "opened like a space on disk, so that one can stand in for the other"
    )]
    pub async fn in_memory() -> Result<Self> {
        let engine = Engine::builder().in_memory()?;
        Ok(engine.memory(Scope::whole(SpaceId::new("memory")?)))
    }

    /// Creates a disabled memory: writes are accepted and dropped, a search or a context is empty with the gap of the missing
    /// log, and conversations are compressed from the turns that the host passes.
    ///
    /// # Errors
    /// `Unavailable` when the operating system has no randomness for the key.
    pub fn disabled() -> Result<Self> {
        let engine = Engine::builder().disabled()?;
        Ok(engine.memory(Scope::whole(SpaceId::new("disabled")?)))
    }

    /// Returns the same memory narrowed to one session; new records belong to it.
    #[must_use]
    pub fn for_session(&self, session: SessionId) -> Self {
        Self { scope: Scope { session: Within::Only(session), ..self.scope.clone() }, ..self.clone() }
    }

    /// Returns the same memory narrowed to one user; new records belong to that user.
    ///
    /// It is a boundary: this memory reads, decides and erases only records of that user, and records derived from that user's
    /// words alone. An id of another user's record is not found, and operations on the whole space, such as an export, are
    /// refused. A memory that is already narrowed stays as it is.
    #[must_use]
    pub fn for_user(&self, user: UserId) -> Self {
        let user = self.only_user().cloned().unwrap_or(user);
        Self { scope: Scope { user: Within::Only(user), ..self.scope.clone() }, ..self.clone() }
    }

    /// Returns the same memory narrowed to one agent; new records belong to it.
    #[must_use]
    pub fn for_agent(&self, agent: AgentId) -> Self {
        Self { scope: Scope { agent: Within::Only(agent), ..self.scope.clone() }, ..self.clone() }
    }

    /// Stores an event; when this returns it is durable as the acknowledgement states, and recall finds it.
    ///
    /// # Errors
    /// `Invalid` for an event beyond the limits, `Conflict` for a known idempotency key with another body, `Unavailable`
    /// when the store does not answer: retry with the same key.
    pub async fn log(&self, message: impl Into<Message> + Send) -> Result<Degraded<Ack>> {
        let acks = self.events().log_all([message.into()]).await?;
        let gaps = acks.gaps;
        let first = acks.value.into_iter().next();
        Ok(Degraded { value: first.ok_or_else(|| Error::internal("an append answered nothing"))?, gaps })
    }

    /// Rejects messages of another user, and replies to another user's events, in a memory of one user.
    async fn must_be_own(&self, messages: &[Message]) -> Result<()> {
        for message in messages {
            self.must_be_of(message.user.as_ref())?;
        }
        let parents: Vec<EventId> = messages.iter().filter_map(|message| message.parent).collect();
        if self.only_user().is_some() && !parents.is_empty() {
            let _own = self.events().get_many(&parents).await?;
        }
        Ok(())
    }

    /// Returns the defaults of messages logged through this memory.
    pub(crate) fn defaults(&self) -> Defaults<'_> {
        Defaults {
            session: self.scope.session.only(),
            user: self.scope.user.only(),
            agent: self.scope.agent.only(),
            now: self.engine.now(),
            key: &self.engine.parts().key,
        }
    }

    /// Stores a note; it is the agent's unless [`by_user`](RememberCall::by_user) is called.
    pub fn remember(&self, text: impl Into<String>) -> RememberCall {
        RememberCall::new(self.clone(), text.into())
    }

    /// Searches turns and notes, best first.
    pub fn recall(&self, query: impl Into<String>) -> RecallCall {
        RecallCall::new(self.clone(), query.into())
    }

    /// Assembles a context within a token budget.
    pub fn context(&self, query: impl Into<String>) -> ContextCall {
        ContextCall::new(self.clone(), query.into())
    }

    /// Answers a question with logged sentences, or returns no answer.
    pub fn ask(&self, question: impl Into<String>) -> AskCall {
        AskCall::new(self, &question.into())
    }

    /// Erases records in every layer; there is no undo.
    pub fn forget(&self, selector: Selector) -> ForgetCall {
        ForgetCall::new(self.clone(), selector)
    }
}

impl<'a> AdminHandle<'a> {
    /// Returns the scope.
    pub fn scope(self) -> &'a Scope {
        &self.memory.scope
    }

    /// Returns the engine, for operations beyond this handle.
    pub fn engine(self) -> &'a Engine {
        &self.memory.engine
    }

    /// Returns the receipt of an earlier context.
    ///
    /// # Errors
    /// `NotFound` when there is none with this id, or it is older than the retention of receipts.
    pub async fn receipt(self, id: ReceiptId) -> Result<Receipt> {
        let receipt = self.memory.engine.receipt(id).await?;
        self.memory.own_receipt(receipt).await
    }

    /// Returns the health of every layer, after a check of its rows, as [`Engine::examine`](crate::Engine::examine).
    ///
    /// # Errors
    /// As [`health`](Self::health).
    pub async fn examine(self) -> Result<HealthReport> {
        self.memory.engine.examine().await
    }

    /// Returns the health of every layer.
    ///
    /// # Errors
    /// `Unavailable` when there is no log; failures of other parts are in the report.
    pub async fn health(self) -> Result<HealthReport> {
        self.memory.engine.health().await
    }

    /// Returns counts, for one user's records in a memory of one user; the log position is that of the space.
    ///
    /// # Errors
    /// `Unavailable` when the log does not answer.
    pub async fn stats(self) -> Result<Stats> {
        if self.memory.engine.parts().switch == StorageSwitch::Off {
            return Ok(Stats::default());
        }
        let notes = self.memory.own_rows(&LearningFilter::all()).unwrap_or_else(LearningFilter::all);
        self.memory.engine.stats_of(self.memory.log_to_read()?.as_ref(), &notes).await
    }

    /// Returns the languages of the newest 200 turns of people, most frequent first; none in a disabled memory.
    ///
    /// # Errors
    /// `Unavailable` when the log does not answer.
    pub async fn recent_languages(self) -> Result<Vec<RecentLanguage>> {
        if self.memory.engine.parts().switch == StorageSwitch::Off {
            return Ok(Vec::new());
        }
        recent_languages(self.memory.log_to_read()?.as_ref()).await
    }
}

impl EventsHandle<'_> {
    /// Stores a batch of up to 1,000 events, all or none.
    ///
    /// # Errors
    /// As [`log`](crate::Memory::log).
    pub async fn log_all(
        self,
        messages: impl IntoIterator<Item = Message> + Send,
    ) -> Result<Degraded<Vec<Ack>>> {
        let defaults = self.memory.defaults();
        let messages: Vec<Message> = messages.into_iter().collect();
        self.memory.must_be_own(&messages).await?;
        let events =
            messages.into_iter().map(|message| message.into_event(&defaults)).collect::<Result<Vec<_>>>()?;
        if let Some(dropped) = self.memory.engine.dropped(&events) {
            return Ok(dropped);
        }
        self.memory.engine.append_to(&self.memory.event_log()?, events).await
    }

    /// Returns an event.
    ///
    /// # Errors
    /// `NotFound` when there is none with this id, `Corrupt` when its bytes do not match their checksum.
    pub async fn get(self, id: EventId) -> Result<Event> {
        let found = self.memory.log_to_read()?.get(&[id]).await?;
        found.into_iter().next().ok_or_else(|| Error::not_found(format!("no event {id}")))
    }

    /// Returns those of these events that exist, in any number.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, `Corrupt` for damaged bytes.
    pub async fn get_many(self, ids: &[EventId]) -> Result<Vec<Event>> {
        let mut found = Vec::new();
        for ids in ids.chunks(EVENTS) {
            found.extend(self.memory.log_to_read()?.get(ids).await?);
        }
        Ok(found)
    }

    /// Returns up to `limit` events after `after` that pass the filter, oldest first.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, `Corrupt` for damaged bytes.
    pub async fn scan(self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.memory.log_to_read()?.scan(filter, after, limit).await
    }

    /// Returns the newest `limit` events that pass the filter, newest first.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub async fn latest(self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.memory.log_to_read()?.latest(filter, limit).await
    }

    /// Returns the newest `limit` sessions, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn sessions(self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
        self.memory.log_to_read()?.sessions(limit).await
    }
}

impl PreferencesHandle<'_> {
    /// Returns the valid notes that pass the filter, by category, then key.
    ///
    /// # Errors
    /// `Unsupported` without the layer, `Unavailable` when the store does not answer.
    pub async fn notes(self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        match self.memory.own_rows(filter) {
            Some(filter) => self.memory.engine.notes(&filter).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns all versions of a note, newest first. Pending versions are folded first, for at most 200 ms; the remaining ones
    /// are missing, and [`health`](crate::areas::AdminHandle::health) tells how many are pending.
    ///
    /// # Errors
    /// `NotFound` when the key was never used or its note is forgotten.
    pub async fn history(self, key: &NoteKey) -> Result<Vec<Learning>> {
        let _behind = self.memory.engine.fold().await;
        let mut versions = self.memory.engine.history(key).await?;
        versions.retain(|row| self.memory.is_own_row(row));
        if versions.is_empty() {
            return Err(Error::not_found(format!("no memory {key}")));
        }
        Ok(versions)
    }
}
