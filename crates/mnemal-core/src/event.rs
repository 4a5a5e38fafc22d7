//! Event records: new events, stored events, and the filters that select them.

use std::collections::BTreeMap;

use crate::{
    AgentId, Cardinality, Category, ChannelId, EntityId, EventId, Forget, Importance, IndexEntry,
    LearningKind, Level, NoteKey, Operation, Origin, Predicate, ReceiptId, RecordRef, RuleId, SessionId,
    Source, Span, Speaker, Tag, Timestamp, ToolName, Trust, UserId, Value, Within, WorldTime, Zone,
};

/// Position in a space's log: dense, from 1, in commit order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seq(pub u64);

/// The last consumed position; `None` before the first. An empty cursor orders before every position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cursor(pub Option<Seq>);

impl Cursor {
    /// The cursor before the first event.
    pub const START: Self = Self(None);

    /// Returns the number of events up to here.
    pub fn count(self) -> u64 {
        self.0.map_or(0, |seq| seq.0)
    }

    /// Returns how many events lie between this cursor and `head`.
    pub fn behind(self, head: Self) -> u64 {
        head.count().saturating_sub(self.count())
    }
}

/// The kind of an event.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A message of a person.
    UserMessage,
    /// A message of the agent.
    AssistantMessage,
    /// A tool call by the agent.
    ToolCall {
        /// The tool.
        tool: ToolName,
    },
    /// The result of a tool call.
    ToolResult {
        /// The tool.
        tool: ToolName,
        /// Whether the call succeeded.
        ok: bool,
    },
    /// Something that the host observed and reports, such as the end of a task.
    Observation,
    /// Text of a file.
    Document,
    /// A decision about memory, by a person or by an agent on a person's behalf.
    Decision(Decision),
    /// An operation of the engine on memory, with its result; people can undo it.
    Operation(Operation),
}

/// A decision about memory. It names its target by content and not by a derived id, so that it survives a new producer.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Keep the event's text as a note.
    Remember(Remember),
    /// Archive the note or learning; reversible by restoring it or remembering it again.
    Archive(NoteTarget),
    /// Reactivate what was archived or rejected.
    Restore(NoteTarget),
    /// Mark a statement as wrong: it no longer holds, nor do facts based on the same words, until the user repeats it.
    Reject(NoteTarget),
    /// Erase events; the record holds their ids and no content.
    Forget(Forget),
    /// Add, end or reject a fact. Adding a `name` renames the entity: it is displayed by that name from then on.
    Fact(FactDecision),
    /// Merge two entities. Facts of each are kept separately, so that the merge can be undone.
    Merge {
        /// The entity that is merged.
        one: EntityId,
        /// The entity that represents both.
        into: EntityId,
    },
    /// Split two merged entities; they stay distinct.
    Split {
        /// One of them.
        one: EntityId,
        /// The other.
        from: EntityId,
    },
    /// Set the cardinality of a predicate in this space; existing claims are resolved again with it.
    Cardinality {
        /// The predicate: a built-in one, or one of the space's own.
        predicate: Predicate,
        /// The new cardinality; `Event` stays `Event`, and nothing else becomes it.
        cardinality: Cardinality,
    },
    /// Release a quarantined event: a copy at its own level may be used, and the event itself stays as it is.
    Release {
        /// The quarantined event.
        event: EventId,
        /// The copy.
        copy: EventId,
    },
    /// A judgment on an item of an answer. It concerns that answer only: the memory stays as it is. Among judgments of one
    /// level on the same item of the same answer the last one counts.
    Feedback {
        /// The receipt of the answer.
        recall: ReceiptId,
        /// The item: a line of the answer.
        record: RecordRef,
        /// The judgment.
        verdict: Judgment,
    },
    /// Undo a decision about facts, a merge, a note or a learning, or an operation; a second time changes nothing.
    Undo {
        /// The decision or operation.
        decision: EventId,
    },
}

impl Decision {
    /// Whether an undo that names its event can reverse it. A new decision must be added here.
    pub fn can_be_undone(&self) -> bool {
        match self {
            Self::Remember(_)
            | Self::Archive(_)
            | Self::Restore(_)
            | Self::Reject(_)
            | Self::Fact(_)
            | Self::Merge { .. }
            | Self::Split { .. }
            | Self::Cardinality { .. }
            | Self::Release { .. } => true,
            // A forget is final; an undone decision can be made again, and a judgment given again.
            Self::Forget(_) | Self::Undo { .. } | Self::Feedback { .. } => false,
        }
    }
}

/// A judgment on an item of an answer. The list is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Judgment {
    /// It helped.
    Useful,
    /// It was unrelated to the query.
    Irrelevant,
    /// Its statement is false.
    Wrong,
}

impl Judgment {
    /// All verdicts.
    pub const ALL: [Self; 3] = [Self::Useful, Self::Irrelevant, Self::Wrong];

    /// Returns the name on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Useful => "useful",
            Self::Irrelevant => "irrelevant",
            Self::Wrong => "wrong",
        }
    }

    /// Reads the name on the wire and in the store.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == name)
    }
}

/// The note or learning that a decision concerns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoteTarget {
    /// Its stable key. Without one, the note made by the event of the first source.
    pub key: Option<NoteKey>,
    /// The words on which it rests: through them the decision reaches what other layers extracted from the same words.
    pub sources: Vec<Source>,
}

impl NoteTarget {
    /// Returns the event whose note is meant, if there is no key.
    pub fn maker(&self) -> Option<EventId> {
        self.sources.first().filter(|_| self.key.is_none()).map(|source| source.event)
    }
}

impl From<NoteKey> for NoteTarget {
    fn from(key: NoteKey) -> Self {
        Self { key: Some(key), sources: Vec::new() }
    }
}

/// A person's decision about a fact. The fact is identified by its content; entity ids are derived from names. A literal object
/// of a relation names an entity, which is created if it is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct FactDecision {
    /// The subject.
    pub subject: EntityId,
    /// The predicate.
    pub predicate: Predicate,
    /// The topic, in lower case.
    pub topic: Option<String>,
    /// The object.
    pub object: Value,
    /// The choice.
    pub choice: FactChoice,
    /// The words on which the fact rests: through them the decision reaches what other layers extracted from the same words.
    pub sources: Vec<Source>,
}

/// The choice in a decision about a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactChoice {
    /// The fact is true.
    Add {
        /// Start of validity; `None` for unknown.
        valid_at: Option<WorldTime>,
        /// End of validity; `None` for still valid.
        invalid_at: Option<WorldTime>,
    },
    /// The fact has ended.
    End {
        /// The first moment at which it no longer holds.
        at: WorldTime,
    },
    /// The fact was never true, and stays rejected despite repetitions, until it is added.
    Reject,
}

/// How a note is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Remember {
    /// Its stable key; a second note with the same key is a new version of the first.
    pub key: Option<NoteKey>,
    /// The kind of learning.
    pub kind: LearningKind,
    /// Its category.
    pub category: Category,
    /// Its tags, at most 64.
    pub tags: Vec<Tag>,
    /// Its importance.
    pub importance: Importance,
    /// Expiration time; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// The role of an event's author; recall keeps a budget for each role.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool: its calls and results.
    Tool,
    /// A file, or an observation of the host.
    Document,
    /// A decision about memory: a note, a correction, or the engine's own operation on notes.
    Decision,
}

impl Role {
    /// All roles, in the order of their stored codes.
    pub const ALL: [Self; 5] = [Self::User, Self::Assistant, Self::Tool, Self::Document, Self::Decision];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Document => "document",
            Self::Decision => "decision",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

impl EventKind {
    /// Returns the role of the event's author.
    pub fn role(&self) -> Role {
        match self {
            Self::UserMessage => Role::User,
            Self::AssistantMessage => Role::Assistant,
            Self::ToolCall { .. } | Self::ToolResult { .. } => Role::Tool,
            Self::Observation | Self::Document => Role::Document,
            Self::Decision(_) | Self::Operation(_) => Role::Decision,
        }
    }
}

/// Free-form fields of the host, at most 16 KiB; keys and values are never interpreted. `caption` is indexed with the text.
pub type Metadata = BTreeMap<String, String>;

/// An event as the host reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// Its kind.
    pub kind: EventKind,
    /// Its text, at most 256 KiB.
    pub content: String,
    /// The conversation.
    pub session: SessionId,
    /// The channel of the conversation.
    pub channel: ChannelId,
    /// The event that this one replies to.
    pub parent: Option<EventId>,
    /// The speaker's name as it appears; indexed with the text.
    pub speaker: Option<Speaker>,
    /// The user, as a filter.
    pub user: Option<UserId>,
    /// The agent, as a filter.
    pub agent: Option<AgentId>,
    /// Time of occurrence; data, never an order of the log.
    pub occurred_at: Timestamp,
    /// The zone of that time, with the offset then in force.
    pub zone: Zone,
    /// The origin of the words; set by the code path that received them.
    pub origin: Origin,
    /// Identifies the call, so that a retry has one effect; 1 to 200 visible ASCII characters.
    pub idempotency_key: Option<String>,
    /// Free-form fields of the host.
    pub metadata: Metadata,
}

/// An event ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Its id, from the `IdSource`; a lossless import keeps the old one.
    pub id: EventId,
    /// Time of arrival at the engine; the store raises it above the last one.
    pub recorded_at: Timestamp,
    /// The event, after redaction.
    pub event: NewEvent,
    /// Its index entry for recall; `None` for a quarantined event, or without an indexer.
    pub index: Option<IndexEntry>,
    /// The rule that quarantined it.
    pub quarantined: Option<RuleId>,
    /// Spans that repeat what the session was shown; ascending, disjoint.
    pub echo: Vec<Span>,
    /// Keyed hash of the canonical redacted body; distinguishes a retry from another call with the same key.
    pub body_hash: [u8; 32],
}

/// Outcome of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendOutcome {
    /// The event's id; that of the first call when the key was known.
    pub id: EventId,
    /// Its position.
    pub seq: Seq,
    /// False when the idempotency key was known and nothing was written.
    pub fresh: bool,
}

/// The step of a task that an observation reports. Source: task events of an earlier design, as metadata (BA-02).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// The task was created; the text describes it.
    Created,
    /// The task is completed.
    Completed,
    /// The task failed.
    Failed,
}

/// Metadata field that names a task. Source: the `task_id` of an earlier design (BA-01).
const TASK: &str = "task_id";
/// Metadata field for the kind of an observation. Source: as above (BA-02).
const OBSERVED: &str = "kind";

impl NewEvent {
    /// Returns the task's name from the field `task_id`; `None` for a blank one.
    pub fn task(&self) -> Option<&str> {
        Some(self.metadata.get(TASK)?.trim()).filter(|task| !task.is_empty())
    }

    /// Returns the task step of an observation, from its field `kind`; `None` for other observations and for every other event.
    pub fn task_step(&self) -> Option<TaskStep> {
        if self.kind != EventKind::Observation || self.task().is_none() {
            return None;
        }
        match self.metadata.get(OBSERVED)?.as_str() {
            "task_created" => Some(TaskStep::Created),
            "task_completed" => Some(TaskStep::Completed),
            "task_failed" => Some(TaskStep::Failed),
            _ => None,
        }
    }
}

/// A recorded unit of the log: a message, a tool call or its result, an observation, a document, a decision or an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// Its position.
    pub seq: Seq,
    /// Time of arrival at the engine; strictly increasing within a space.
    pub recorded_at: Timestamp,
    /// The role of its author; kept when the body is erased.
    pub role: Role,
    /// Its trust.
    pub trust: Trust,
    /// Its level.
    pub level: Level,
    /// The rule that quarantined it.
    pub quarantined: Option<RuleId>,
    /// Spans that repeat what the session was shown.
    pub echo: Vec<Span>,
    /// Its body, unless it was erased.
    pub body: Body,
}

/// The body of an event, or its erasure.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The event as it was stored.
    Present(Box<NewEvent>),
    /// The event was forgotten.
    Erased {
        /// Time of the erasure.
        at: Timestamp,
    },
}

impl Event {
    /// Returns the event as stored, unless it was erased.
    pub fn body(&self) -> Option<&NewEvent> {
        match &self.body {
            Body::Present(event) => Some(event),
            Body::Erased { .. } => None,
        }
    }
}

/// A selection of events. Every field is explicit: start from [`EventFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct EventFilter {
    /// One conversation.
    pub session: Within<SessionId>,
    /// One channel.
    pub channel: Within<ChannelId>,
    /// One speaker, by the exact name.
    pub speaker: Within<Speaker>,
    /// One user's events.
    pub user: Within<UserId>,
    /// One agent's events.
    pub agent: Within<AgentId>,
    /// Authors with one of these roles.
    pub roles: Within<Vec<Role>>,
    /// Lower bound of `occurred_at`, inclusive.
    pub since: Option<Timestamp>,
    /// Upper bound of `occurred_at`, exclusive.
    pub until: Option<Timestamp>,
    /// Upper bound of `seq`, exclusive: where a list of the newest events goes on.
    pub before: Option<Seq>,
    /// Whether quarantined events are included.
    pub quarantined: Within<bool>,
    /// Whether erased events are included; they have no session any more and pass only unrestricted filters.
    pub erased: Within<bool>,
}

impl EventFilter {
    /// Returns the filter that every event passes, erased and quarantined ones included.
    pub fn all() -> Self {
        Self {
            session: Within::All,
            channel: Within::All,
            speaker: Within::All,
            user: Within::All,
            agent: Within::All,
            roles: Within::All,
            since: None,
            until: None,
            before: None,
            quarantined: Within::All,
            erased: Within::All,
        }
    }

    /// Returns the filter for displayable events: not erased and not quarantined.
    pub fn live() -> Self {
        Self { quarantined: Within::Only(false), erased: Within::Only(false), ..Self::all() }
    }

    /// Whether an event passes; the reference that every store must agree with.
    pub fn accepts(&self, event: &Event) -> bool {
        if !self.quarantined.contains(&event.quarantined.is_some())
            || !self.erased.contains(&event.body().is_none())
        {
            return false;
        }
        if self.roles.only().is_some_and(|roles| !roles.contains(&event.role)) {
            return false;
        }
        if self.before.is_some_and(|before| event.seq >= before) {
            return false;
        }
        match event.body() {
            Some(kept) => {
                self.session.contains(&kept.session)
                    && self.channel.contains(&kept.channel)
                    && self.speaker.contains_opt(kept.speaker.as_ref())
                    && self.user.contains_opt(kept.user.as_ref())
                    && self.agent.contains_opt(kept.agent.as_ref())
                    && self.since.is_none_or(|since| kept.occurred_at >= since)
                    && self.until.is_none_or(|until| kept.occurred_at < until)
            }
            None => self.asks_for_every_body(),
        }
    }

    fn asks_for_every_body(&self) -> bool {
        self.session == Within::All
            && self.channel == Within::All
            && self.speaker == Within::All
            && self.user == Within::All
            && self.agent == Within::All
            && self.since.is_none()
            && self.until.is_none()
    }
}

/// Summary data of one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its name.
    pub session: SessionId,
    /// Its channel.
    pub channel: ChannelId,
    /// Number of its events that are not erased.
    pub events: u64,
    /// Time of its first event that is not erased.
    pub first_at: Timestamp,
    /// Time of its last event that is not erased.
    pub last_at: Timestamp,
}

/// Guarantees of a log; plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCaps {
    /// Whether an acknowledged event survives a power cut (`true`), or only the end of the process (`false`).
    pub durable: bool,
    /// Whether other processes see the same log.
    pub shared: bool,
    /// Most entries in one call of `append`.
    pub largest_batch: usize,
}
