//! Keeping a note: one event that is a decision, folded before the call returns.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use mnemal_core::{
    AsOf, Category, Decision, Degraded, Error, ErrorKind, EventId, EventKind, Importance, LearningFilter,
    LearningId, LearningKind, NoteKey, Origin, Remember, Result, RuleId, Scored, Tag, Timestamp, Within,
};
use mnemal_events::{Ack, Durability};

use crate::memory::Memory;
use crate::message::Message;
use crate::span::{Observed, Operation};

mod once;

/// Where a note is filed that names no category. Source: `general` in PB-01.
pub(crate) const DEFAULT_CATEGORY: &str = "general";
/// Where a note is filed that names none, and that an agent takes for a preference. Source: RB-04, the conventional categories.
const INFERRED_CATEGORY: &str = "user-preferences/inferred";

/// What became of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The event that stored it; its id never changes.
    pub event: EventId,
    /// The note; `None` when the notes could not be folded in time, which is a gap.
    pub id: Option<LearningId>,
    /// Its version under its key, from 1.
    pub version: u32,
    /// Whether this call made it; false for a repetition of what was known.
    pub created: bool,
    /// What the acknowledgement promises.
    pub durability: Durability,
    /// Secrets that were replaced by placeholders.
    pub redactions: u32,
    /// The rule that holds it back from recall and contexts until a person releases it: what it reads like, or that too much
    /// came within an hour. Then it is no note.
    pub held_back: Option<RuleId>,
    /// A note that holds and says nearly the same; only [`once`](RememberCall::once) looks for one.
    pub alike: Option<Alike>,
}

/// A note that holds and says nearly the same as a new one; both are kept, and nothing is written over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alike {
    /// The note that holds.
    pub id: LearningId,
    /// What the new one does to it.
    pub how: Overlap,
}

/// What a note does to one that says nearly the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// It says nothing that the other does not.
    Reinforces,
    /// It says more, or otherwise.
    Extends,
}

/// A note on its way; awaiting it stores it.
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
        // The kind is set when the call runs; until then it stands for any decision.
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

    /// Names the note: storing again with the same key makes a new version, which is of the same user.
    ///
    /// A key is one note of the space: what another user has stored under it is a `Conflict`.
    pub fn key(mut self, key: NoteKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets the kind. Only the user's own words make a preference; what an agent takes for one is a note, which is filed below
    /// `user-preferences/inferred` unless it is filed elsewhere.
    pub fn kind(mut self, kind: LearningKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Files the note.
    pub fn category(mut self, category: Category) -> Self {
        self.category = Some(category);
        self
    }

    /// Attaches a word.
    pub fn tag(mut self, tag: Tag) -> Self {
        self.tags.push(tag);
        self
    }

    /// Says how much it matters.
    pub fn importance(mut self, importance: Importance) -> Self {
        self.importance = Some(importance);
        self
    }

    /// Says when it ends to hold.
    pub fn expires_at(mut self, at: Timestamp) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// Keeps what the call does not say: kind, category, words, importance and end are as the version has them that holds under
    /// the key.
    pub fn amend(mut self) -> Self {
        self.is_amendment = true;
        self
    }

    /// Says that these are the user's own words; without it they are the agent's.
    pub fn by_user(mut self) -> Self {
        self.message.origin = Origin::UserDirect;
        self
    }

    /// Says that an application keeps it in a store of its own: it is believed like a note of the agent, but is no part of what
    /// an agent may note in an hour.
    pub fn by_application(mut self) -> Self {
        self.of_application = true;
        self
    }

    /// Changes the event that carries the note: session, user, time, idempotency key.
    pub fn message(mut self, change: impl FnOnce(Message) -> Message) -> Self {
        let origin = self.message.origin;
        self.message = change(self.message);
        self.message.origin = origin;
        self
    }

    fn observed(&self, operation: Operation) -> Observed {
        let session = self.message.session.as_ref().or(self.memory.scope.session.only());
        self.memory.observed(operation).session(session)
    }

    /// Returns where the note is filed.
    fn filed(&self) -> Result<Category> {
        let is_inferred =
            self.kind == Some(LearningKind::Preference) && self.message.origin != Origin::UserDirect;
        let usual = if is_inferred { INFERRED_CATEGORY } else { DEFAULT_CATEGORY };
        self.category.clone().map_or_else(|| Category::new(usual), Ok)
    }

    /// Takes over from the version that holds what the call leaves open.
    async fn completed(mut self) -> Result<Self> {
        let Some(key) = &self.key else { return Ok(self) };
        let filter = LearningFilter { key: Within::Only(key.clone()), ..LearningFilter::all() };
        // Another user's key is in use, though his note is not seen.
        let all = self.memory.for_everybody();
        let holding = all.learnings(&filter, AsOf::present(self.memory.engine.now())).await;
        let holding = match holding {
            Ok(rows) => rows.into_iter().next(),
            // Without the layer there is nothing to keep.
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

    async fn run(self) -> Result<Degraded<Stored>> {
        crate::learnings::check_free(self.key.as_ref())?;
        self.completed().await?.store().await
    }

    async fn store(self) -> Result<Degraded<Stored>> {
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
        // What a repetition would be found to be now is not what became of the first.
        let held_back =
            if ack.duplicate { self.memory.get(ack.id).await?.quarantined } else { ack.quarantined };
        let notes = self.memory.engine.notes_of(&[ack.id]).await;
        let note = gaps.keep(mnemal_core::Layer::Learnings, notes).into_iter().last();
        Ok(gaps.attach(Stored {
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
    type Output = Result<Degraded<Stored>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let operation = if self.key.is_some() { Operation::Upsert } else { Operation::Create };
        let observed = self.observed(operation);
        Box::pin(observed.run(self.run(), tell))
    }
}

/// Logs an item of an application's own store, for which the limits of the hour do not hold.
async fn log_item(memory: &Memory, message: Message) -> Result<Degraded<Ack>> {
    let events = vec![message.into_event(&memory.defaults())?];
    let acks = match memory.engine.dropped(&events) {
        Some(dropped) => dropped,
        None => memory.engine.append_to(&memory.event_log()?.without_hourly_limits(), events).await?,
    };
    let ack = acks.value.into_iter().next();
    Ok(Degraded { value: ack.ok_or_else(|| Error::internal("an append answered nothing"))?, gaps: acks.gaps })
}

/// Says what became of a note.
fn tell(stored: &Degraded<Stored>, observed: &Observed) {
    observed.records(stored.id.iter());
    observed.gaps(&stored.gaps);
}

/// The filter for the notes that were read in these events.
pub(crate) fn read_in(events: &[EventId]) -> LearningFilter {
    LearningFilter { sources: Within::Only(events.to_vec()), ..LearningFilter::all() }
}
