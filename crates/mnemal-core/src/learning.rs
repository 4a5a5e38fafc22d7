//! Notes and other learnings, folded from decisions in the log.

use crate::{
    AgentId, AntiPattern, Category, Confidence, EventId, Importance, LearningId, Level, NoteKey, Producer,
    RuleId, SessionId, Source, Speaker, Tag, Timestamp, ToolName, Trust, UserId, Within,
};

/// What kind of learning it is.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LearningKind {
    /// Something to know.
    Note,
    /// How the user wants things done, likes them or needs them; only the user's own words make one.
    Preference,
    /// What not to do, and what to do instead; only the user's own words make one.
    AntiPattern,
    /// How a tool fares, read from its results; never the user's words.
    Tool,
    /// What several notes say together; the engine's conclusion, never the user's words.
    Insight,
}

impl LearningKind {
    /// Every kind, in the order of their declaration.
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

/// Where a learning stands; nothing is overwritten.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LearningStatus {
    /// It holds.
    Active,
    /// A newer version holds.
    Superseded,
    /// It was put away and can come back.
    Archived,
    /// There is not enough evidence for it, or a word of the user stands against it; it never held.
    Candidate,
    /// The user said that it is wrong.
    Rejected,
}

impl LearningStatus {
    /// Every status, in the order of their declaration.
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

/// How a learning came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// Concluded from what happened; its weight fades.
    Inferred,
    /// Said in so many words, or stored; it does not fade.
    Told,
}

impl Basis {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inferred => "inferred",
            Self::Told => "told",
        }
    }
}

/// Whether the user must be asked before anybody acts on a learning. It is decided by rule, and no model can clear it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leave {
    /// It may be followed.
    Given,
    /// It touches security, credentials, money, health, law, or sending and deleting on the user's behalf: ask first.
    Asked,
}

/// Whether what was said is to be done or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stance {
    /// To be done, or so.
    Do,
    /// To be left, or not so.
    Leave,
    /// Right as it is: it speaks for what holds, whichever that is.
    Keep,
    /// Over: it ends what was said before, and never holds itself.
    End,
}

/// What one message of the user says about how he wants things, as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The rule that read it.
    pub rule: RuleId,
    /// Whether it is to be done or left.
    pub stance: Stance,
    /// How much it weighs: casual 1, mild 1.5, very irritated or told 3; a sum of 3 is enough to learn from.
    pub weight: f32,
    /// Messages up to this one that say the same, this one included.
    pub supports: u32,
}

/// How often a tool was used, and how often it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Results that it gave.
    pub uses: u64,
    /// Those that say that it failed.
    pub errors: u64,
}

/// What a person decided about what was known of a key, or of some words, up to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They were put away at this belief time.
    Archived(Timestamp),
    /// They were called wrong at this belief time; they hold again when they are said again.
    Rejected(Timestamp),
    /// A fact that rests on the same words was called wrong at this belief time. As the fact, they stay wrong when they are said
    /// again.
    Refuted(Timestamp),
}

/// One version of a note, or one thing that was learnt.
///
/// What is learnt from a message of the user has a key of its own (`learned/…`), and each message about the same is a version:
/// the one that holds is the newest with enough evidence, so a row rests on one message and goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Learning {
    /// Derived from its source events.
    pub id: LearningId,
    /// What kind it is.
    pub kind: LearningKind,
    /// Its stable name, if it has one.
    pub key: Option<NoteKey>,
    /// Version under its key, from 1.
    pub version: u32,
    /// Where it is filed.
    pub category: Category,
    /// Words attached to it.
    pub tags: Vec<Tag>,
    /// How much it matters.
    pub importance: Importance,
    /// Its text; of a user's message the sentence, verbatim.
    pub content: String,
    /// What an anti-pattern says, part by part; `None` for every other kind, and where its words do not show the parts.
    pub pattern: Option<AntiPattern>,
    /// How it came to be.
    pub basis: Basis,
    /// The probability that it is meant so.
    pub confidence: Confidence,
    /// Whether the user must be asked before it is followed.
    pub leave: Leave,
    /// Words with content that say what it is about, in small letters, for choosing by topic.
    pub topics: Vec<String>,
    /// The tool that it is about.
    pub tool: Option<ToolName>,
    /// The conversation in which it was said.
    pub session: SessionId,
    /// Who said it, as spoken.
    pub speaker: Option<Speaker>,
    /// The person, as a filter.
    pub user: Option<UserId>,
    /// The agent, as a filter.
    pub agent: Option<AgentId>,
    /// Where it was read; never empty.
    pub sources: Vec<Source>,
    /// The minimum over its sources.
    pub trust: Trust,
    /// The minimum over its sources.
    pub level: Level,
    /// Where it stands.
    pub status: LearningStatus,
    /// What holds in its place.
    pub superseded_by: Option<LearningId>,
    /// What a person decided about it.
    pub verdict: Option<Verdict>,
    /// What was read, if it was learnt from a message.
    pub signal: Option<Signal>,
    /// What was counted, if it is about a tool.
    pub tally: Option<Tally>,
    /// When it was said last; the age of what fades.
    pub occurred_at: Timestamp,
    /// When it ends to hold in the world; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// Belief time from which it was known; `recorded_at` of its event.
    pub created_at: Timestamp,
    /// Belief time from which it was superseded or archived.
    pub expired_at: Option<Timestamp>,
    /// Belief times from which and until which it did not hold, because a person had put it away and took it out again; the
    /// latest last.
    pub away: Vec<(Timestamp, Timestamp)>,
    /// What made it.
    pub producer: Producer,
}

impl Learning {
    /// Whether it was known and held at a moment of belief time.
    pub fn is_believed_at(&self, at: Timestamp) -> bool {
        self.created_at <= at && self.ended_at(at).is_none()
    }

    /// Returns since when it holds no more, as it was believed at a moment; `None` where it held then, or was not known yet.
    pub fn ended_at(&self, at: Timestamp) -> Option<Timestamp> {
        let away = self.away.iter().find(|(from, until)| *from <= at && at < *until);
        away.map(|(from, _)| *from).or_else(|| self.expired_at.filter(|end| *end <= at))
    }

    /// Returns the last change of what was believed of it.
    pub fn updated_at(&self) -> Timestamp {
        let back = self.away.iter().map(|(_, until)| *until);
        back.chain(self.expired_at).fold(self.created_at, Ord::max)
    }

    /// Returns since when it held, as it was believed at a moment: since it was known, or was taken out again last.
    pub fn held_since(&self, at: Timestamp) -> Timestamp {
        let back = self.away.iter().map(|(_, until)| *until).filter(|until| *until <= at).max();
        back.unwrap_or(self.created_at)
    }
}

/// Which learnings are meant. Every field is said aloud: start from [`LearningFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct LearningFilter {
    /// One kind.
    pub kind: Within<LearningKind>,
    /// One key.
    pub key: Within<NoteKey>,
    /// Those with a key, or those without.
    pub keyed: Within<bool>,
    /// A category and what lies below it.
    pub category: Within<Category>,
    /// One person's.
    pub user: Within<UserId>,
    /// One agent's.
    pub agent: Within<AgentId>,
    /// Those that were read in one of these events.
    pub sources: Within<Vec<EventId>>,
    /// Those about one of these words, in small letters.
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

/// What one fold changes; applied in one transaction with the cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearningDelta {
    /// New rows, and rows whose status or times changed; by id.
    pub put: Vec<Learning>,
    /// Rows that lost their last living source.
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
