//! The comfortable handle: one engine and one complete scope.

use std::num::NonZeroUsize;
#[cfg(feature = "sqlite")]
use std::path::Path;

use mnemal_core::{
    AgentId, Cursor, Degraded, Error, Event, EventFilter, EventId, HealthReport, Learning, LearningFilter,
    NoteKey, Receipt, ReceiptId, Result, Scope, Selector, SessionId, SessionSummary, SpaceId, UserId, Within,
};
use mnemal_events::Ack;

use crate::answer::{ContextCall, RecallCall};
use crate::engine::Engine;
use crate::forget::ForgetCall;
use crate::message::{Defaults, Message};
use crate::remember::RememberCall;
use crate::secondary::Secondary;
use crate::status::Stats;

/// Events that are asked for at once. Source: own default, below the fewest parameters that a statement of a store may have.
const EVENTS: usize = 500;

/// One engine and one scope, and what is read beside it; cheap to clone.
///
/// Reads return [`Degraded`]: a part that is absent, failing, late or behind is a gap. Writes return `Err` when they fail.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(crate) engine: Engine,
    pub(crate) scope: Scope,
    pub(crate) secondary: Secondary,
}

impl Memory {
    /// Opens a space in a SQLite file, which is made if it is not there; the space is named by the file's stem.
    ///
    /// The installation's key is kept in `installation.key` beside it.
    ///
    /// # Errors
    /// `Invalid` for a file name that is no name of a space or a file that is not ours, `Unsupported` for one of a newer
    /// version, `Corrupt` for a damaged one, `Unavailable` when it cannot be opened.
    #[cfg(feature = "sqlite")]
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let space = SpaceId::new(stem.ok_or_else(|| Error::invalid("a space needs a file name"))?)?;
        let engine = Engine::builder().open(path).await?;
        Ok(engine.memory(Scope::whole(space)))
    }

    /// Makes a space that lives as long as its last handle.
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

    /// Makes a memory that is switched off: what is written is accepted and dropped, a search or a context is empty with the gap
    /// that there is no log, and conversations are compressed as the host hands them in.
    ///
    /// # Errors
    /// `Unavailable` when the operating system has no randomness for the key.
    pub fn disabled() -> Result<Self> {
        let engine = Engine::builder().disabled()?;
        Ok(engine.memory(Scope::whole(SpaceId::new("disabled")?)))
    }

    /// Returns the same memory narrowed to one conversation, which new records join.
    #[must_use]
    pub fn for_session(&self, session: SessionId) -> Self {
        Self { scope: Scope { session: Within::Only(session), ..self.scope.clone() }, ..self.clone() }
    }

    /// Returns the same memory narrowed to one person, whose records new ones become.
    #[must_use]
    pub fn for_user(&self, user: UserId) -> Self {
        Self { scope: Scope { user: Within::Only(user), ..self.scope.clone() }, ..self.clone() }
    }

    /// Returns the same memory narrowed to one agent, whose records new ones become.
    #[must_use]
    pub fn for_agent(&self, agent: AgentId) -> Self {
        Self { scope: Scope { agent: Within::Only(agent), ..self.scope.clone() }, ..self.clone() }
    }

    /// Returns whose memory this is.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the engine, for explicit requests.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Stores an event; when this returns it is durable as the acknowledgement says, and recall finds it.
    ///
    /// # Errors
    /// `Invalid` for an event beyond the limits, `Conflict` for a known idempotency key with another body, `Unavailable`
    /// when the store does not answer: retry with the same key.
    pub async fn log(&self, message: impl Into<Message> + Send) -> Result<Degraded<Ack>> {
        let acks = self.log_all([message.into()]).await?;
        let gaps = acks.gaps;
        let first = acks.value.into_iter().next();
        Ok(Degraded { value: first.ok_or_else(|| Error::internal("an append answered nothing"))?, gaps })
    }

    /// Stores a batch of up to 1,000 events, all or none.
    ///
    /// # Errors
    /// As [`log`](Self::log).
    pub async fn log_all(
        &self,
        messages: impl IntoIterator<Item = Message> + Send,
    ) -> Result<Degraded<Vec<Ack>>> {
        let defaults = self.defaults();
        let events =
            messages.into_iter().map(|message| message.into_event(&defaults)).collect::<Result<Vec<_>>>()?;
        if let Some(dropped) = self.engine.dropped(&events) {
            return Ok(dropped);
        }
        self.engine.append_to(&self.event_log()?, events).await
    }

    /// Returns what a message takes over from this memory.
    pub(crate) fn defaults(&self) -> Defaults<'_> {
        Defaults {
            session: self.scope.session.only(),
            user: self.scope.user.only(),
            agent: self.scope.agent.only(),
            now: self.engine.now(),
            key: &self.engine.parts().key,
        }
    }

    /// Keeps a note; it is the agent's unless [`by_user`](RememberCall::by_user) says otherwise.
    pub fn remember(&self, text: impl Into<String>) -> RememberCall {
        RememberCall::new(self.clone(), text.into())
    }

    /// Finds what was said or noted, best first.
    pub fn recall(&self, query: impl Into<String>) -> RecallCall {
        RecallCall::new(self.clone(), query.into())
    }

    /// Assembles a context within a token budget.
    pub fn context(&self, query: impl Into<String>) -> ContextCall {
        ContextCall::new(self.clone(), query.into())
    }

    /// Erases, in every layer; there is no undo.
    pub fn forget(&self, selector: Selector) -> ForgetCall {
        ForgetCall::new(self.clone(), selector)
    }

    /// Returns an event.
    ///
    /// # Errors
    /// `NotFound` when there is none of this id, `Corrupt` when its bytes do not match their checksum.
    pub async fn get(&self, id: EventId) -> Result<Event> {
        let found = self.engine.events()?.get(&[id]).await?;
        found.into_iter().next().ok_or_else(|| Error::not_found(format!("no event {id}")))
    }

    /// Returns those of these events that there are, in any number.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, `Corrupt` for damaged bytes.
    pub async fn events(&self, ids: &[EventId]) -> Result<Vec<Event>> {
        let mut found = Vec::new();
        for ids in ids.chunks(EVENTS) {
            found.extend(self.engine.events()?.get(ids).await?);
        }
        Ok(found)
    }

    /// Returns up to `limit` events behind `after` that pass the filter, oldest first.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, `Corrupt` for damaged bytes.
    pub async fn scan(&self, filter: &EventFilter, after: Cursor, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.engine.events()?.scan(filter, after, limit).await
    }

    /// Returns the newest `limit` events that pass the filter, newest first.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub async fn latest(&self, filter: &EventFilter, limit: NonZeroUsize) -> Result<Vec<Event>> {
        self.engine.events()?.latest(filter, limit).await
    }

    /// Returns the newest `limit` conversations, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn sessions(&self, limit: NonZeroUsize) -> Result<Vec<SessionSummary>> {
        self.engine.events()?.sessions(limit).await
    }

    /// Returns the notes that hold now and pass the filter, by category, then key.
    ///
    /// # Errors
    /// `Unsupported` without the layer, `Unavailable` when the store does not answer.
    pub async fn notes(&self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        self.engine.notes(filter).await
    }

    /// Returns all versions of a note, newest first. Those that a process stored and had no time to fold are folded
    /// before, for at most 200 ms; what is left then is missing, and [`health`](Self::health) tells how much waits.
    ///
    /// # Errors
    /// `NotFound` when the key was never used or is forgotten.
    pub async fn history(&self, key: &NoteKey) -> Result<Vec<Learning>> {
        let _behind = self.engine.fold().await;
        self.engine.history(key).await
    }

    /// Returns the account of an earlier context.
    ///
    /// # Errors
    /// `NotFound` when there is none of this id, or it is older than the retention of receipts.
    pub async fn receipt(&self, id: ReceiptId) -> Result<Receipt> {
        self.engine.receipt(id).await
    }

    /// Returns the standing state of every layer.
    ///
    /// # Errors
    /// None of a part's; `Unavailable` only when there is no log at all.
    pub async fn health(&self) -> Result<HealthReport> {
        self.engine.health().await
    }

    /// Returns counts.
    ///
    /// # Errors
    /// `Unavailable` when the log does not answer.
    pub async fn stats(&self) -> Result<Stats> {
        self.engine.stats().await
    }
}
