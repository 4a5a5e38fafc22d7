//! Notes and other learnings, folded from the decisions in the log.

use crate::{
    AgentId, AntiPattern, Category, Confidence, EventId, Importance, LearningId, Level, NoteKey, Producer,
    RuleId, SessionId, Source, Speaker, Tag, Timestamp, ToolName, Trust, UserId, Within,
};

/// The kind of a learning.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LearningKind {
    /// Knowledge.
    Note,
    /// A preference: a wish, taste or need of the user; only the user's own words make one.
    Preference,
    /// An anti-pattern: something to avoid, and its alternative; only the user's own words make one.
    AntiPattern,
    /// Reliability of a tool, from its results; never the user's words.
    Tool,
    /// An insight from several notes; the engine's inference, never the user's words.
    Insight,
}

impl LearningKind {
    /// Every kind, in declaration order.
    pub const ALL: [Self; 5] = [Self::Note, Self::Preference, Self::AntiPattern, Self::Tool, Self::Insight];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "knowledge",
            Self::Preference => "preference",
            Self::AntiPattern => "anti_pattern",
            Self::Tool => "tool",
            Self::Insight => "insight",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The status of a learning; nothing is overwritten.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LearningStatus {
    /// It holds.
    Active,
    /// Replaced by a newer version.
    Superseded,
    /// Archived; it can be restored.
    Archived,
    /// Not enough evidence yet, or contradicted by the user; it was never active.
    Candidate,
    /// Rejected by the user.
    Rejected,
}

impl LearningStatus {
    /// Every status, in declaration order.
    pub const ALL: [Self; 5] =
        [Self::Active, Self::Superseded, Self::Archived, Self::Candidate, Self::Rejected];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Superseded => "superseded",
            Self::Archived => "archived",
            Self::Candidate => "candidate",
            Self::Rejected => "rejected",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// The basis of a learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// Inferred from events; its weight decays.
    Inferred,
    /// Stated explicitly, or stored; it does not decay.
    Stated,
}

impl Basis {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inferred => "inferred",
            Self::Stated => "told",
        }
    }
}

/// Whether acting on a learning requires the user's consent. It is decided by rule, and no model can clear it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Consent {
    /// No consent is needed.
    NotRequired,
    /// It concerns security, credentials, money, health, law, or sending and deleting on the user's behalf: ask first.
    Required,
}

/// The stance of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stance {
    /// Do it, or it is so.
    Do,
    /// Avoid it, or it is not so.
    Leave,
    /// Keep it as it is: support for the current stance, whichever that is.
    Keep,
    /// Ended: it closes an earlier statement, and is never active itself.
    End,
}

/// The evidence for a preference in one message of the user, as extracted.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The rule that matched.
    pub rule: RuleId,
    /// The stance.
    pub stance: Stance,
    /// Its weight: casual 1, mild 1.5, very irritated or explicit 3; a sum of 3 is enough to learn from.
    pub weight: f32,
    /// Number of messages up to this one with the same content, this one included.
    pub supports: u32,
}

/// Use and failure counts of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Its results.
    pub uses: u64,
    /// Its failed results.
    pub errors: u64,
}

/// A person's decision about a key, or about some words, as of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Archived at this belief time.
    Archived(Timestamp),
    /// Rejected at this belief time; a repetition reactivates them.
    Rejected(Timestamp),
    /// A fact with the same words was rejected at this belief time. As for the fact, a repetition does not reactivate them.
    Refuted(Timestamp),
}

/// One thing that was learned, in one version: a note, a preference, an anti-pattern, an insight, or the reliability of a tool.
///
/// What is learned from a message of the user has its own key (`learned/…`), and each message on the same subject is a version:
/// the active one is the newest with enough evidence, so a row rests on one message and is erased with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Learning {
    /// Derived from its source events.
    pub id: LearningId,
    /// Its kind.
    pub kind: LearningKind,
    /// Its stable key, if any.
    pub key: Option<NoteKey>,
    /// Version under its key, from 1.
    pub version: u32,
    /// Its category.
    pub category: Category,
    /// Its tags.
    pub tags: Vec<Tag>,
    /// Its importance.
    pub importance: Importance,
    /// Its text; for a user's message the sentence, verbatim.
    pub content: String,
    /// The parts of an anti-pattern; `None` for every other kind, and where its words do not show the parts.
    pub pattern: Option<AntiPattern>,
    /// Its basis.
    pub basis: Basis,
    /// The probability that it is meant so.
    pub confidence: Confidence,
    /// Whether acting on it requires the user's consent.
    pub consent: Consent,
    /// Content words of its subject, in lower case, for selection by topic.
    pub topics: Vec<String>,
    /// The tool that it concerns.
    pub tool: Option<ToolName>,
    /// The conversation of its source.
    pub session: SessionId,
    /// Its speaker, as named.
    pub speaker: Option<Speaker>,
    /// The user, as a filter.
    pub user: Option<UserId>,
    /// The agent, as a filter.
    pub agent: Option<AgentId>,
    /// Its sources; never empty.
    pub sources: Vec<Source>,
    /// The minimum trust of its sources.
    pub trust: Trust,
    /// The minimum level of its sources.
    pub level: Level,
    /// Its status.
    pub status: LearningStatus,
    /// The learning that superseded it.
    pub superseded_by: Option<LearningId>,
    /// A person's decision about it.
    pub verdict: Option<Verdict>,
    /// The extracted evidence, if it was learned from a message.
    pub signal: Option<Signal>,
    /// The counts, if it concerns a tool.
    pub tally: Option<Tally>,
    /// Time of its last statement; the start of its decay.
    pub occurred_at: Timestamp,
    /// Expiration in world time; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// Start of belief time; `recorded_at` of its event.
    pub created_at: Timestamp,
    /// Belief time of its supersession or archiving.
    pub expired_at: Option<Timestamp>,
    /// Intervals of belief time in which it was archived by a person and later restored; the latest last.
    pub away: Vec<(Timestamp, Timestamp)>,
    /// Its producer.
    pub producer: Producer,
}

impl Learning {
    /// Whether it was known and active at a belief time.
    pub fn is_believed_at(&self, at: Timestamp) -> bool {
        self.created_at <= at && self.ended_at(at).is_none()
    }

    /// Returns the end of its validity as believed at a moment; `None` where it held then, or was not known yet.
    pub fn ended_at(&self, at: Timestamp) -> Option<Timestamp> {
        let away = self.away.iter().find(|(from, until)| *from <= at && at < *until);
        away.map(|(from, _)| *from).or_else(|| self.expired_at.filter(|end| *end <= at))
    }

    /// Returns the time of its last change in belief.
    pub fn updated_at(&self) -> Timestamp {
        let back = self.away.iter().map(|(_, until)| *until);
        back.chain(self.expired_at).fold(self.created_at, Ord::max)
    }

    /// Returns the start of its validity as believed at a moment: when it became known, or was last restored.
    pub fn held_since(&self, at: Timestamp) -> Timestamp {
        let back = self.away.iter().map(|(_, until)| *until).filter(|until| *until <= at).max();
        back.unwrap_or(self.created_at)
    }
}

/// A selection of learnings. Every field is explicit: start from [`LearningFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct LearningFilter {
    /// One kind.
    pub kind: Within<LearningKind>,
    /// One key.
    pub key: Within<NoteKey>,
    /// Those with a key, or those without.
    pub keyed: Within<bool>,
    /// A category and its subcategories.
    pub category: Within<Category>,
    /// One user's learnings.
    pub user: Within<UserId>,
    /// One agent's learnings.
    pub agent: Within<AgentId>,
    /// Learnings with a source in one of these events.
    pub sources: Within<Vec<EventId>>,
    /// Learnings on one of these topics, in lower case.
    pub topics: Within<Vec<String>>,
}

impl LearningFilter {
    /// Returns the filter that every learning passes.
    pub fn all() -> Self {
        Self {
            kind: Within::All,
            key: Within::All,
            keyed: Within::All,
            category: Within::All,
            user: Within::All,
            agent: Within::All,
            sources: Within::All,
            topics: Within::All,
        }
    }

    /// Whether a learning passes; the reference that every store must agree with.
    pub fn accepts(&self, learning: &Learning) -> bool {
        let of_sources =
            |events: &Vec<EventId>| learning.sources.iter().any(|source| events.contains(&source.event));
        self.kind.contains(&learning.kind)
            && self.key.contains_opt(learning.key.as_ref())
            && self.keyed.contains(&learning.key.is_some())
            && self.category.only().is_none_or(|parent| learning.category.is_within(parent))
            && self.user.contains_opt(learning.user.as_ref())
            && self.agent.contains_opt(learning.agent.as_ref())
            && self.sources.only().is_none_or(of_sources)
            && self
                .topics
                .only()
                .is_none_or(|words| learning.topics.iter().any(|topic| words.contains(topic)))
    }
}

/// The changes of one fold; applied in one transaction with the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearningDelta {
    /// New rows, and rows whose status or times changed; by id.
    pub put: Vec<Learning>,
    /// Rows that lost their last remaining source.
    pub remove: Vec<LearningId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: PB-12, PB-13, DF-105 (an unknown name is none)
    #[test]
    fn kinds_read_their_own_names_and_no_others() {
        for kind in LearningKind::ALL {
            let name = kind.as_str();
            assert_eq!(LearningKind::from_name(name), Some(kind));
            assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'), "{name}");
        }
        assert_eq!(["", "Knowledge", "note", "memo"].map(LearningKind::from_name), [None; 4]);
    }
}
