//! Storing a note: one decision event, folded before the call returns.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use mnemal_core::{
    AsOf, Category, Decision, Degraded, Error, ErrorKind, EventId, EventKind, Importance, LearningFilter,
    LearningId, LearningKind, NoteKey, Origin, Remember, Result, RuleId, Scored, Tag, Timestamp, Within,
};
use mnemal_events::{Ack, Durability};

use crate::memory::Memory;
use crate::message::Message;
use crate::span::{Operation, OperationSpan};

mod dedup;

/// Category of a note that names none. Source: `general`, RockBot's default category.
pub(crate) const DEFAULT_CATEGORY: &str = "general";
/// Category of an inferred preference that names none. Source: the conventional categories of RockBot.
const INFERRED_CATEGORY: &str = "user-preferences/inferred";

/// The result of storing a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredNote {
    /// The event that holds it; its id never changes.
    pub event: EventId,
    /// The note; `None` when it could not be folded in time, which is a gap.
    pub id: Option<LearningId>,
    /// Its version under its key, from 1.
    pub version: u32,
    /// Whether this call created it; false for a duplicate.
    pub created: bool,
    /// The durability of the acknowledgement.
    pub durability: Durability,
    /// Number of secrets that were replaced by placeholders.
    pub redactions: u32,
    /// The rule that quarantined it, for its content or because of the rate limit per hour; recall and contexts leave it out
    /// until a person releases it. It is not a note then.
    pub held_back: Option<RuleId>,
    /// A valid near-duplicate; only [`once`](RememberCall::once) looks for one.
    pub alike: Option<NearDuplicate>,
}

/// A valid note that is a near-duplicate of a new one; both are kept, and nothing is overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearDuplicate {
    /// The existing note.
    pub id: LearningId,
    /// How the new one relates to it.
    pub how: Overlap,
}

/// How a note relates to a near-duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// It adds nothing to the other one.
    Reinforces,
    /// It adds something or differs.
    Extends,
}

/// A pending note; awaiting it stores it.
#[derive(Debug)]
#[must_use = "a note is not stored until it is awaited"]
pub struct RememberCall {
    memory: Memory,
    message: Message,
    key: Option<NoteKey>,
    kind: Option<LearningKind>,
    category: Option<Category>,
    tags: Vec<Tag>,
    importance: Option<Importance>,
    expires_at: Option<Timestamp>,
    is_amendment: bool,
    of_application: bool,
}

impl RememberCall {
    pub(crate) fn new(memory: Memory, text: String) -> Self {
        // The kind is a placeholder and is set when the call runs.
        let message = Message::of(EventKind::Observation, Origin::Assistant, text);
        Self {
            memory,
            message,
            key: None,
            kind: None,
            category: None,
            tags: Vec::new(),
            importance: None,
            expires_at: None,
            is_amendment: false,
            of_application: false,
        }
    }

    /// Sets the key: storing again under the same key makes a new version, for the same user.
    ///
    /// Keys are unique in a space: a key that another user has stored is a `Conflict`.
    pub fn key(mut self, key: NoteKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets the kind. Only the user's own words make a preference; a preference that an agent infers is a note, filed below
    /// `user-preferences/inferred` unless a category is set.
    pub fn kind(mut self, kind: LearningKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets the category.
    pub fn category(mut self, category: Category) -> Self {
        self.category = Some(category);
        self
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: Tag) -> Self {
        self.tags.push(tag);
        self
    }

    /// Sets the importance.
    pub fn importance(mut self, importance: Importance) -> Self {
        self.importance = Some(importance);
        self
    }

    /// Sets the end of its validity.
    pub fn expires_at(mut self, at: Timestamp) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// Keeps the fields that the call does not set: kind, category, tags, importance and end are those of the valid version under
    /// the key.
    pub fn amend(mut self) -> Self {
        self.is_amendment = true;
        self
    }

    /// Marks the text as the user's own words; by default it is the agent's.
    pub fn by_user(mut self) -> Self {
        self.message.origin = Origin::UserDirect;
        self
    }

    /// Marks it as an item of an application's own store: it has the trust of an agent's note, but does not count against the
    /// agent's hourly limit.
    pub fn by_application(mut self) -> Self {
        self.of_application = true;
        self
    }

    /// Changes the event that holds the note: session, user, time, idempotency key.
    pub fn message(mut self, change: impl FnOnce(Message) -> Message) -> Self {
        let origin = self.message.origin;
        self.message = change(self.message);
        self.message.origin = origin;
        self
    }

    fn observed(&self, operation: Operation) -> OperationSpan {
        let session = self.message.session.as_ref().or(self.memory.scope.session.only());
        self.memory.observed(operation).session(session)
    }

    /// Returns the category of the note.
    fn filed(&self) -> Result<Category> {
        let is_inferred =
            self.kind == Some(LearningKind::Preference) && self.message.origin != Origin::UserDirect;
        let usual = if is_inferred { INFERRED_CATEGORY } else { DEFAULT_CATEGORY };
        self.category.clone().map_or_else(|| Category::new(usual), Ok)
    }

    /// Fills in fields from the valid version.
    async fn completed(mut self) -> Result<Self> {
        let Some(key) = &self.key else { return Ok(self) };
        let filter = LearningFilter { key: Within::Only(key.clone()), ..LearningFilter::all() };
        // A key of another user is taken, although that user's note is not visible.
        let all = self.memory.for_everybody();
        let holding = all.preferences().learnings(&filter, AsOf::present(self.memory.engine.now())).await;
        let holding = match holding {
            Ok(rows) => rows.into_iter().next(),
            // Without the layer there are no earlier values.
            Err(error) if error.kind() == ErrorKind::Unsupported => None,
            Err(error) => return Err(error),
        };
        let Some(Scored { item: known, .. }) = holding else { return Ok(self) };
        let user = self.message.user.as_ref().or(self.memory.scope.user.only());
        match (user, &known.user) {
            (Some(user), Some(owner)) if user != owner => {
                let of =
                    if self.memory.scope.user.only().is_some() { "another user" } else { owner.as_str() };
                let what =
                    format!("the key {key} is in use by {of}; take a key of its own, such as {user}/{key}");
                return Err(Error::new(ErrorKind::Conflict, what));
            }
            (Some(user), None) if self.memory.scope.user.only().is_some() => {
                let what = format!("the key {key} is in use; take a key of its own, such as {user}/{key}");
                return Err(Error::new(ErrorKind::Conflict, what));
            }
            (None, Some(owner)) => self.message.user = Some(owner.clone()),
            _ => {}
        }
        if std::mem::take(&mut self.is_amendment) {
            self.kind = self.kind.or(Some(known.kind));
            self.category = self.category.or(Some(known.category));
            self.importance = self.importance.or(Some(known.importance));
            self.expires_at = self.expires_at.or(known.expires_at);
            if self.tags.is_empty() {
                self.tags = known.tags;
            }
        }
        Ok(self)
    }

    async fn run(self) -> Result<Degraded<StoredNote>> {
        crate::learnings::check_free(self.key.as_ref())?;
        self.completed().await?.store().await
    }

    async fn store(self) -> Result<Degraded<StoredNote>> {
        let category = self.filed()?;
        let remember = Remember {
            key: self.key,
            kind: self.kind.unwrap_or(LearningKind::Note),
            category,
            tags: self.tags,
            importance: self.importance.unwrap_or(Importance::DEFAULT),
            expires_at: self.expires_at,
        };
        let message = Message { kind: EventKind::Decision(Decision::Remember(remember)), ..self.message };
        let acked = if self.of_application {
            log_item(&self.memory, message).await?
        } else {
            self.memory.log(message).await?
        };
        let mut gaps = mnemal_core::Gaps::default();
        let ack = gaps.merge(acked);
        // A duplicate reports the quarantine state of the first call, not what today's rules say.
        let held_back =
            if ack.duplicate { self.memory.events().get(ack.id).await?.quarantined } else { ack.quarantined };
        let notes = self.memory.engine.notes_of(&[ack.id]).await;
        let note = gaps.keep(mnemal_core::Layer::Learnings, notes).into_iter().last();
        Ok(gaps.attach(StoredNote {
            event: ack.id,
            id: note.as_ref().map(|note| note.id),
            version: note.map_or(1, |note| note.version),
            created: !ack.duplicate,
            durability: ack.durability,
            redactions: ack.redactions,
            held_back,
            alike: None,
        }))
    }
}

impl IntoFuture for RememberCall {
    type Output = Result<Degraded<StoredNote>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let operation = if self.key.is_some() { Operation::Upsert } else { Operation::Create };
        let observed = self.observed(operation);
        Box::pin(observed.run(self.run(), record_outcome))
    }
}

/// Logs an item of an application's own store, which the hourly limits do not apply to.
async fn log_item(memory: &Memory, message: Message) -> Result<Degraded<Ack>> {
    let events = vec![message.into_event(&memory.defaults())?];
    let acks = match memory.engine.dropped(&events) {
        Some(dropped) => dropped,
        None => memory.engine.append_to(&memory.event_log()?.without_hourly_limits(), events).await?,
    };
    let ack = acks.value.into_iter().next();
    Ok(Degraded { value: ack.ok_or_else(|| Error::internal("an append answered nothing"))?, gaps: acks.gaps })
}

/// Records the outcome in the span.
fn record_outcome(stored: &Degraded<StoredNote>, observed: &OperationSpan) {
    observed.records(stored.id.iter());
    observed.gaps(&stored.gaps);
}

/// Returns the filter for the notes that were read from these events.
pub(crate) fn read_in(events: &[EventId]) -> LearningFilter {
    LearningFilter { sources: Within::Only(events.to_vec()), ..LearningFilter::all() }
}
