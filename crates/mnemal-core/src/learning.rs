//! Notes and other learnings, folded from decisions in the log.

use crate::{
    AgentId, Category, EventId, Importance, LearningId, Level, NoteKey, Producer, SessionId, Source, Tag,
    Timestamp, Trust, UserId, Within,
};

/// What kind of learning it is.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LearningKind {
    /// Something to know.
    Note,
    /// How the user wants things done; only the user's own words make one.
    Preference,
}

impl LearningKind {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "knowledge",
            Self::Preference => "preference",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Note, Self::Preference].into_iter().find(|kind| kind.as_str() == name)
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
}

impl LearningStatus {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Superseded => "superseded",
            Self::Archived => "archived",
        }
    }
}

/// One version of a note.
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
    /// Its text.
    pub content: String,
    /// The conversation in which it was said.
    pub session: SessionId,
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
    /// When it ends to hold in the world; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// Belief time from which it was known; `recorded_at` of its event.
    pub created_at: Timestamp,
    /// Belief time from which it was superseded or archived.
    pub expired_at: Option<Timestamp>,
    /// What made it.
    pub producer: Producer,
}

/// Which learnings are meant. Every field is said aloud: start from [`LearningFilter::all`].
#[derive(Clone, Debug, PartialEq)]
pub struct LearningFilter {
    /// One kind.
    pub kind: Within<LearningKind>,
    /// One key.
    pub key: Within<NoteKey>,
    /// A category and what lies below it.
    pub category: Within<Category>,
    /// One person's.
    pub user: Within<UserId>,
    /// One agent's.
    pub agent: Within<AgentId>,
    /// Those that were read in one of these events.
    pub sources: Within<Vec<EventId>>,
}

impl LearningFilter {
    /// Returns the filter that every learning passes.
    pub fn all() -> Self {
        Self {
            kind: Within::All,
            key: Within::All,
            category: Within::All,
            user: Within::All,
            agent: Within::All,
            sources: Within::All,
        }
    }

    /// Whether a learning passes; the reference that every store must agree with.
    pub fn accepts(&self, learning: &Learning) -> bool {
        let of_sources =
            |events: &Vec<EventId>| learning.sources.iter().any(|source| events.contains(&source.event));
        self.kind.contains(&learning.kind)
            && self.key.contains_opt(learning.key.as_ref())
            && self.category.only().is_none_or(|parent| learning.category.is_within(parent))
            && self.user.contains_opt(learning.user.as_ref())
            && self.agent.contains_opt(learning.agent.as_ref())
            && self.sources.only().is_none_or(of_sources)
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
        for kind in [LearningKind::Note, LearningKind::Preference] {
            let name = kind.as_str();
            assert_eq!(LearningKind::from_name(name), Some(kind));
            assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'), "{name}");
        }
        assert_eq!(["", "Knowledge", "note", "memo"].map(LearningKind::from_name), [None; 4]);
    }
}
