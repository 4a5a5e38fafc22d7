//! The request for a context, and the fragments that layers offer for it.

use crate::{
    AgentId, AsOf, Because, ChannelId, Importance, Level, ModelId, OmittedReason, Producer, RecordRef, Score,
    ScorePart, SessionId, Source, SpaceId, Speaker, Timestamp, TokenCount, ToolName, Trust, UserId, Within,
    Zone,
};

/// A part of a context with a minimum share; the order is the order of rendering within a block.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// Who the user and the agent are.
    Identity,
    /// How the user wants things done.
    Preferences,
    /// Keyed notes and root knowledge.
    Knowledge,
    /// What several notes say together; only where it is asked for by name, and then knowledge has notes alone, a few for the
    /// question.
    Insights,
    /// What is known about this channel.
    Channel,
    /// What is known about the entities in question.
    Entity,
    /// What is known about the topics in question.
    Topics,
    /// The time, and where the conversation stands.
    State,
    /// What was said just now.
    Recent,
    /// What was learnt from mistakes.
    Learnings,
    /// What matches the query.
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

/// What to do with records that the session was shown before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injected {
    /// Leave them out: the host keeps earlier injections in its transcript.
    Skip,
    /// Show them again: the host builds its prompt anew each time.
    Repeat,
}

/// What is asked of a context.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextRequest {
    /// What the turn is about; `None` gives the sections that need no question.
    pub query: Option<String>,
    /// The query's own vector, made by the caller, with its model.
    pub query_vector: Option<(ModelId, Vec<f32>)>,
    /// The conversation that will be shown the context; its own events are not recalled into it.
    pub session: SessionId,
    /// The channel of that conversation, of which more is told; what was said elsewhere is not left out.
    pub channel: Within<ChannelId>,
    /// One person's records.
    pub user: Within<UserId>,
    /// One agent's records.
    pub agent: Within<AgentId>,
    /// Hard limit of the rendered text.
    pub budget: TokenCount,
    /// Sections that are wanted.
    pub sections: Within<Vec<Section>>,
    /// What held, as known when.
    pub as_of: AsOf,
    /// What to do with what the session was shown.
    pub injected: Injected,
    /// The tool that is about to be used: what is known of how it fares comes first.
    pub tool: Option<ToolName>,
    /// Most lines of the part that changes with the question, of which none is much weaker than the best; `None` for as many
    /// as the budget takes.
    pub lines: Option<usize>,
}

impl ContextRequest {
    /// Whether a section is asked for by name.
    pub fn asks_for(&self, section: Section) -> bool {
        self.sections.only().is_some_and(|wanted| wanted.contains(&section))
    }
}

/// What a line says of its text beside who said it when. It stands outside the quoted words.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Remark {
    /// The user must be asked before anybody acts on it.
    AskFirst,
    /// The words are somebody else's: a mail, a page, a text to work on.
    Pasted,
    /// Some of the words are somebody else's.
    PartlyPasted,
    /// What it says holds no more.
    Past,
}

impl Remark {
    /// Returns the words on a line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AskFirst => "ask the user first",
            Self::Pasted => "pasted",
            Self::PartlyPasted => "partly pasted",
            Self::Past => "no longer so",
        }
    }
}

/// What stands before the text on a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Where the line may stand.
    pub level: Level,
    /// When it was said.
    pub at: Timestamp,
    /// In which zone.
    pub zone: Zone,
    /// Who said it.
    pub speaker: Option<Speaker>,
    /// The space that it comes from; `None` for the one that was asked, whose lines do not name it.
    pub space: Option<SpaceId>,
    /// What else is to be said of the text.
    pub remark: Option<Remark>,
}

/// Text that a layer offers for a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// The section it is meant for.
    pub section: Section,
    /// The record.
    pub record: RecordRef,
    /// What made the record; `None` for an event.
    pub producer: Option<Producer>,
    /// Where the text stands; never empty.
    pub sources: Vec<Source>,
    /// The text, unescaped.
    pub text: String,
    /// What stands before it.
    pub label: Label,
    /// How far it may be believed.
    pub trust: Trust,
    /// How much it matters.
    pub importance: Importance,
    /// Order within the section, best first; layers that do not rank give the same score to all.
    pub score: Score,
    /// What the score is made of.
    pub parts: Vec<ScorePart>,
    /// Why it is offered.
    pub because: Because,
    /// The layer already knows that it must not be shown, and why; it is offered for the receipt.
    pub withheld: Option<OmittedReason>,
}

/// Of whose scratch an inventory tells, seen from the conversation that will be shown it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shelf {
    /// Its own.
    Own,
    /// What patrols found.
    Patrol,
    /// The outlines that subagents left.
    Outlines,
}

/// What stands in working memory: names and times, never values. It is no record, so a receipt does not name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inventory {
    /// Whose.
    pub shelf: Shelf,
    /// One text an entry, unescaped, the one that matters most first; empty ones are not told.
    pub items: Vec<String>,
}
