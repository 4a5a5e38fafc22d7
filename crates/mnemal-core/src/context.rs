//! Context requests, and the fragments that layers offer for a context.

use crate::{
    AgentId, AsOf, ChannelId, Event, Importance, InclusionReason, Level, ModelId, OmittedReason, Producer,
    RecordRef, Score, ScorePart, SessionId, Source, SpaceId, Span, Speaker, Timestamp, TokenCount, ToolName,
    Trust, UserId, Within, Zone,
};

/// A section of a context, with a minimum share of the budget; declaration order is rendering order within a block.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// Identity of the user and of the agent.
    Identity,
    /// The user's preferences.
    Preferences,
    /// Keyed notes and root knowledge.
    Knowledge,
    /// Insights drawn from several notes. Included only on request; then the knowledge section holds notes only, a few for the
    /// query.
    Insights,
    /// Knowledge about this channel.
    Channel,
    /// Knowledge about the entities in question.
    Entity,
    /// Knowledge about the topics in question.
    Topics,
    /// The current time and the state of the conversation.
    State,
    /// Recent turns.
    Recent,
    /// Lessons from mistakes.
    Learnings,
    /// Recall hits for the query.
    Recall,
}

impl Section {
    /// All sections, in order.
    pub const ALL: [Self; 11] = [
        Self::Identity,
        Self::Preferences,
        Self::Knowledge,
        Self::Insights,
        Self::Channel,
        Self::Entity,
        Self::Topics,
        Self::State,
        Self::Recent,
        Self::Learnings,
        Self::Recall,
    ];

    /// Returns the name on the wire and in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Preferences => "preferences",
            Self::Knowledge => "knowledge",
            Self::Insights => "insights",
            Self::Channel => "channel",
            Self::Entity => "entity",
            Self::Topics => "topics",
            Self::State => "state",
            Self::Recent => "recent",
            Self::Learnings => "learnings",
            Self::Recall => "recall",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.as_str() == name)
    }
}

/// Treatment of records that the session was shown before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatPolicy {
    /// Omit them: the host keeps earlier injections in its transcript.
    Skip,
    /// Repeat them: the host rebuilds its prompt each time.
    Repeat,
}

/// A context request.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextRequest {
    /// The topic of the turn; `None` returns the sections that need no query.
    pub query: Option<String>,
    /// The query's vector, computed by the caller, with its model.
    pub query_vector: Option<(ModelId, Vec<f32>)>,
    /// The conversation that receives the context; its own events are not recalled into it.
    pub session: SessionId,
    /// The channel of that conversation, which gets more detail; other channels are not excluded.
    pub channel: Within<ChannelId>,
    /// Restricts to one user's records.
    pub user: Within<UserId>,
    /// Restricts to one agent's records.
    pub agent: Within<AgentId>,
    /// Hard limit of the rendered text, in tokens.
    pub budget: TokenCount,
    /// The requested sections.
    pub sections: Within<Vec<Section>>,
    /// The bi-temporal point of the answer.
    pub as_of: AsOf,
    /// Treatment of records that the session was shown before.
    pub injected: RepeatPolicy,
    /// The tool that is about to be called: what is known of its reliability comes first.
    pub tool: Option<ToolName>,
    /// Most lines of the query-dependent part, none much weaker than the best; `None` for as many as the budget allows.
    pub lines: Option<usize>,
}

impl ContextRequest {
    /// Whether a section is requested by name.
    pub fn asks_for(&self, section: Section) -> bool {
        self.sections.only().is_some_and(|wanted| wanted.contains(&section))
    }
}

/// A remark on a line's text, in addition to speaker and time. It is rendered outside the quoted words.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Remark {
    /// Ask the user before acting on it.
    AskFirst,
    /// The words are by someone else: a mail, a page, a text to work on.
    Pasted,
    /// Some of the words are by someone else.
    PartlyPasted,
    /// The statement no longer holds.
    Past,
}

impl Remark {
    /// Returns the rendered words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AskFirst => "ask the user first",
            Self::Pasted => "pasted",
            Self::PartlyPasted => "partly pasted",
            Self::Past => "no longer so",
        }
    }
}

/// The label in front of a line's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The level, which decides where the line may appear.
    pub level: Level,
    /// Time of the statement.
    pub at: Timestamp,
    /// Zone of that time.
    pub zone: Zone,
    /// The speaker.
    pub speaker: Option<Speaker>,
    /// The space of origin; `None` for the queried space, whose lines do not name it.
    pub space: Option<SpaceId>,
    /// A remark about the text.
    pub remark: Option<Remark>,
}

/// A piece of text that a layer offers for a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// The target section.
    pub section: Section,
    /// The record.
    pub record: RecordRef,
    /// The producer of the record; `None` for an event.
    pub producer: Option<Producer>,
    /// The sources of the text; never empty.
    pub sources: Vec<Source>,
    /// The text, unescaped.
    pub text: String,
    /// The label in front of the text.
    pub label: Label,
    /// Trust of the record.
    pub trust: Trust,
    /// Importance of the record.
    pub importance: Importance,
    /// Order within the section, best first; layers that do not rank give the same score to all.
    pub score: Score,
    /// The summands of the score.
    pub parts: Vec<ScorePart>,
    /// The reason for the offer.
    pub because: InclusionReason,
    /// The reason to withhold it, where the layer already knows one; it is offered for the receipt only.
    pub withheld: Option<OmittedReason>,
}

impl Fragment {
    /// Makes an unranked fragment of an event's whole text; `None` for an erased event.
    pub fn of_event(event: &Event, section: Section, because: InclusionReason) -> Option<Self> {
        let kept = event.body()?;
        let span = Span::whole(&kept.content).ok()?;
        Some(Self {
            section,
            record: RecordRef::Event(event.id),
            producer: None,
            sources: vec![Source { event: event.id, span }],
            text: kept.content.clone(),
            label: Label {
                level: event.level,
                at: kept.occurred_at,
                zone: kept.zone.clone(),
                speaker: kept.speaker.clone(),
                space: None,
                remark: None,
            },
            trust: event.trust,
            importance: Importance::DEFAULT,
            score: Score::new(0.0),
            parts: Vec::new(),
            because,
            withheld: None,
        })
    }
}

/// Owner of the working memory in an inventory, relative to the conversation that receives it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InventoryScope {
    /// The conversation itself.
    Own,
    /// Findings of patrols.
    Patrol,
    /// Outlines of subagents.
    Outlines,
}

/// An inventory of working memory: names and times, never values. It is no record, so a receipt does not list it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inventory {
    /// The owner.
    pub scope: InventoryScope,
    /// One unescaped text per entry, most important first; empty ones are not rendered.
    pub items: Vec<String>,
}
