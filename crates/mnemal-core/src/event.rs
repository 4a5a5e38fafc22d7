//! The log's records: what enters, what is stored, and how a part of it is named.

use std::collections::BTreeMap;

use crate::{
    AgentId, Cardinality, Category, ChannelId, EntityId, EventId, Forget, Importance, IndexEntry,
    LearningKind, Level, NoteKey, Operation, Origin, Predicate, ReceiptId, RecordRef, RuleId, SessionId,
    Source, Span, Speaker, Tag, Timestamp, ToolName, Trust, UserId, Value, Within, WorldTime, Zone,
};

/// Position in a space's log: dense, starts at 1, in the order of commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seq(pub u64);

/// The last position that was consumed; `None` before the first. Orders before every position when empty.
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

/// What an event is.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A turn of a person.
    UserMessage,
    /// A turn of the agent.
    AssistantMessage,
    /// The agent asks a tool.
    ToolCall {
        /// Which tool.
        tool: ToolName,
    },
    /// A tool answers.
    ToolResult {
        /// Which tool.
        tool: ToolName,
        /// Whether it succeeded.
        ok: bool,
    },
    /// Something the host noticed.
    Observation,
    /// Text of a file.
    Document,
    /// A choice about memory that a person, or an agent for one, made.
    Decision(Decision),
    /// What the engine did about memory, with its result; people can take it back.
    Operation(Operation),
}

/// A choice about memory. It names its target by content and not by a derived id, so that it survives a new producer.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Keep the event's text as a note.
    Remember(Remember),
    /// Put the note or learning away; reversible by restoring it or remembering it again.
    Archive(NoteTarget),
    /// Let what was put away or called wrong hold again.
    Restore(NoteTarget),
    /// What it says is wrong: it holds no more, and neither do the facts that rest on the same words, until the user says it
    /// again.
    Reject(NoteTarget),
    /// Erase events; the record holds their ids and no content.
    Forget(Forget),
    /// Say that something is so, that it is over, or that it never was. To add a `name` is to rename: what it is about is
    /// shown by that name from then on.
    Fact(FactDecision),
    /// Two entities are one from now on; what was read of either is kept apart below, so that it can be taken back.
    Merge {
        /// The one that is taken for the other.
        one: EntityId,
        /// The one that stands for both.
        into: EntityId,
    },
    /// Two entities that were taken for one are two again, and stay two.
    Split {
        /// One of them.
        one: EntityId,
        /// The other.
        from: EntityId,
    },
    /// A predicate holds so many values for one subject in this space from now on; what was said before is weighed again by it.
    Cardinality {
        /// The predicate: a shipped one, or one of the space's own.
        predicate: Predicate,
        /// How many; a happening stays one, and nothing else becomes one.
        cardinality: Cardinality,
    },
    /// What a rule holds back may be used: a copy says it again at its own level, and the event itself stays as it is.
    Release {
        /// What is held back.
        event: EventId,
        /// What says it again.
        copy: EventId,
    },
    /// What an item of an answer was found to be. It tells of that answer: what the memory holds stays as it is. Among those
    /// of one level about the same item of the same answer the last one holds.
    Feedback {
        /// The account of the answer.
        recall: ReceiptId,
        /// The item: a line of it.
        record: RecordRef,
        /// What it was found to be.
        verdict: Judgment,
    },
    /// Take a decision about facts, a merge, a note or a learning back, or an operation; a second time changes nothing.
    Undo {
        /// The decision or operation.
        decision: EventId,
    },
}

impl Decision {
    /// Whether an undo that names its event takes it back. A new decision has to say so here.
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
            // What was forgotten stays so; what an undo took back can be decided again, and a verdict be given again.
            Self::Forget(_) | Self::Undo { .. } | Self::Feedback { .. } => false,
        }
    }
}

/// What an item of an answer was found to be. The list is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Judgment {
    /// It helped.
    Useful,
    /// It had nothing to do with what was asked.
    Irrelevant,
    /// What it says is not so.
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

/// Which note or learning a decision is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoteTarget {
    /// Its stable name. Without one it is the note that the event of the first source made.
    pub key: Option<NoteKey>,
    /// The words on which it rests: by them the decision reaches what other layers read in the same words.
    pub sources: Vec<Source>,
}

impl NoteTarget {
    /// Returns the event whose note is meant, where there is no key.
    pub fn maker(&self) -> Option<EventId> {
        self.sources.first().filter(|_| self.key.is_none()).map(|source| source.event)
    }
}

impl From<NoteKey> for NoteTarget {
    fn from(key: NoteKey) -> Self {
        Self { key: Some(key), sources: Vec::new() }
    }
}

/// What a person decides about a fact. The fact is named by what it says; the ids of entities are made of their names.
/// Words as the object of a relation name an entity, which is made if nobody is known by them.
#[derive(Clone, Debug, PartialEq)]
pub struct FactDecision {
    /// Of whom.
    pub subject: EntityId,
    /// What.
    pub predicate: Predicate,
    /// The topic, in small letters.
    pub topic: Option<String>,
    /// The value.
    pub object: Value,
    /// What is decided about it.
    pub choice: FactChoice,
    /// The words on which the fact rests: by them the decision reaches what other layers read in the same words.
    pub sources: Vec<Source>,
}

/// What is decided about a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactChoice {
    /// It is so.
    Add {
        /// Since when; `None`: since before anybody said.
        valid_at: Option<WorldTime>,
        /// Until when; `None`: still.
        invalid_at: Option<WorldTime>,
    },
    /// It is over.
    End {
        /// The first moment at which it no longer holds.
        at: WorldTime,
    },
    /// It never was so, and stays wrong whoever says it again, until it is added.
    Reject,
}

/// How a note is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Remember {
    /// Its stable name; a second note with the same key is a new version of the first.
    pub key: Option<NoteKey>,
    /// What kind of learning it is.
    pub kind: LearningKind,
    /// Where it is filed.
    pub category: Category,
    /// Words attached to it, at most 64.
    pub tags: Vec<Tag>,
    /// How much it matters.
    pub importance: Importance,
    /// When it ends to hold; `None` for never.
    pub expires_at: Option<Timestamp>,
}

/// The part that somebody plays; recall keeps a budget for each.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool, asking or answering.
    Tool,
    /// A file, or something that the host noticed.
    Document,
    /// A choice about memory: a note, a correction, or what the engine made of notes.
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
    /// Returns the part that the event's author plays.
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

/// Free fields of the host, at most 16 KiB; keys and values are never interpreted. `caption` is indexed with the text.
pub type Metadata = BTreeMap<String, String>;

/// What a host says happened.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// What it is.
    pub kind: EventKind,
    /// Its text, at most 256 KiB.
    pub content: String,
    /// The conversation.
    pub session: SessionId,
    /// Where the conversation takes place.
    pub channel: ChannelId,
    /// The event that this one answers.
    pub parent: Option<EventId>,
    /// The name as spoken; indexed with the text.
    pub speaker: Option<Speaker>,
    /// The person, as a filter.
    pub user: Option<UserId>,
    /// The agent, as a filter.
    pub agent: Option<AgentId>,
    /// When it happened; data, never an order of the log.
    pub occurred_at: Timestamp,
    /// The zone in which that was, with the offset that held.
    pub zone: Zone,
    /// Whose words these are; set by the code path that received them.
    pub origin: Origin,
    /// Names the call, so that a repetition has one effect; 1 to 200 visible ASCII characters.
    pub idempotency_key: Option<String>,
    /// Free fields of the host.
    pub metadata: Metadata,
}

/// An event ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// Its id, from the `IdSource`; a lossless import keeps the old one.
    pub id: EventId,
    /// When the engine heard of it; the store moves it behind the last one.
    pub recorded_at: Timestamp,
    /// The event, after redaction.
    pub event: NewEvent,
    /// What recall can find it by; `None` when it must not be found (quarantined) or no indexer is there.
    pub index: Option<IndexEntry>,
    /// The rule that holds it back from recall and contexts.
    pub quarantined: Option<RuleId>,
    /// Parts that repeat what the session was shown; ascending, disjoint.
    pub echo: Vec<Span>,
    /// Keyed hash of the canonical redacted body; tells the repetition of a call from another call with its key.
    pub body_hash: [u8; 32],
}

/// What became of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The event's id; of the first one when the key was known.
    pub id: EventId,
    /// Its position.
    pub seq: Seq,
    /// False when the idempotency key was known and nothing was written.
    pub fresh: bool,
}

/// What an observation says of a task. Source: BA-02.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// It is to be done; the text says what.
    Created,
    /// It is done.
    Completed,
    /// It was given up.
    Failed,
}

/// The field of an event that names a task. Source: BA-01.
const TASK: &str = "task_id";
/// The field of an observation that says what it is about. Source: BA-02.
const OBSERVED: &str = "kind";

impl NewEvent {
    /// Returns the name of the task that it belongs to, as its field `task_id` says; `None` for a blank one.
    pub fn task(&self) -> Option<&str> {
        Some(self.metadata.get(TASK)?.trim()).filter(|task| !task.is_empty())
    }

    /// Returns what an observation says of the task that it names, by its field `kind`; `None` for one that says nothing of the kind,
    /// and for every other event.
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

/// A stored event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// Its position.
    pub seq: Seq,
    /// When the engine heard of it; strictly increasing within a space.
    pub recorded_at: Timestamp,
    /// The part its author plays; kept when the body is erased.
    pub role: Role,
    /// How far it may be believed.
    pub trust: Trust,
    /// What it may become.
    pub level: Level,
    /// The rule that holds it back.
    pub quarantined: Option<RuleId>,
    /// Parts that repeat what the session was shown.
    pub echo: Vec<Span>,
    /// The text, or the fact that there was one.
    pub body: Body,
}

/// The text, or the fact that there was one.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The event as it was stored.
    Kept(Box<NewEvent>),
    /// It was forgotten.
    Erased {
        /// When.
        at: Timestamp,
    },
}

impl Event {
    /// Returns what was said, unless it was forgotten.
    pub fn kept(&self) -> Option<&NewEvent> {
        match &self.body {
            Body::Kept(event) => Some(event),
            Body::Erased { .. } => None,
        }
    }
}

/// Which events are meant. Every field is said aloud: start from [`EventFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct EventFilter {
    /// One conversation.
    pub session: Within<SessionId>,
    /// One place.
    pub channel: Within<ChannelId>,
    /// One speaker, by the exact name.
    pub speaker: Within<Speaker>,
    /// One person's events.
    pub user: Within<UserId>,
    /// One agent's events.
    pub agent: Within<AgentId>,
    /// Authors who play one of these parts.
    pub roles: Within<Vec<Role>>,
    /// `occurred_at` at or after.
    pub since: Option<Timestamp>,
    /// `occurred_at` before.
    pub until: Option<Timestamp>,
    /// Whether events that a rule holds back are meant too.
    pub quarantined: Within<bool>,
    /// Whether erased events are meant too; they have no session any more and pass only filters that ask for everything.
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
            quarantined: Within::All,
            erased: Within::All,
        }
    }

    /// Returns the filter for what may be shown: living events that no rule holds back.
    pub fn live() -> Self {
        Self { quarantined: Within::Only(false), erased: Within::Only(false), ..Self::all() }
    }

    /// Whether an event passes; the reference that every store must agree with.
    pub fn accepts(&self, event: &Event) -> bool {
        if !self.quarantined.contains(&event.quarantined.is_some())
            || !self.erased.contains(&event.kept().is_none())
        {
            return false;
        }
        if self.roles.only().is_some_and(|roles| !roles.contains(&event.role)) {
            return false;
        }
        match event.kept() {
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

/// One conversation at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its name.
    pub session: SessionId,
    /// Where it takes place.
    pub channel: ChannelId,
    /// Living events in it.
    pub events: u64,
    /// Time of its first living event.
    pub first_at: Timestamp,
    /// Time of its last living event.
    pub last_at: Timestamp,
}

/// What a log promises; plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCaps {
    /// Whether an acknowledged event survives a power cut (`true`), or only the end of the process (`false`).
    pub durable: bool,
    /// Whether other processes see the same log.
    pub shared: bool,
    /// Most entries in one call of `append`.
    pub largest_batch: usize,
}
