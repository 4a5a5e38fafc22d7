//! The tree of summaries: what was said in few of its own sentences, folded from the log.

use std::fmt;
use std::str::FromStr;

use crate::{
    ChannelId, EntityId, EntityKind, Error, EventId, Level, Producer, Result, Seq, SessionId, Source,
    Speaker, Timestamp, Trust, Zone,
};

/// Where a node stands in the tree; its text form is its key (`root`, `channel:mail`, `day:2026-11-21`).
///
/// A session stands below its channel, a part below its session and its day, a day below its week, a week below the month of
/// its Thursday; an entity below its kind; channels, months, kinds, topics and what the user prefers stand below the root.
/// A store keeps the nodes of conversations and of time; the others are made when they are read.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodePath {
    /// Everything.
    Root,
    /// A place of conversations.
    Channel(ChannelId),
    /// A conversation.
    Session(SessionId),
    /// What of a conversation was said on one day and stands within one block of positions of the log; a leaf.
    Part {
        /// Which block, from 0.
        block: u64,
        /// On which day, `2026-11-21`.
        day: String,
        /// Of which conversation.
        session: SessionId,
    },
    /// A day in the zone of its events, `2026-11-21`.
    Day(String),
    /// A week that begins on Monday, `2026-W47`.
    Week(String),
    /// The weeks whose Thursday lies in a month, `2026-11`.
    Month(String),
    /// Those of one kind who are named most.
    EntityType(EntityKind),
    /// Somebody or something with a name.
    Entity(EntityId),
    /// What is talked about.
    Topic(EntityId),
    /// How the user wants things.
    Preferences,
}

/// The key of what the user prefers. Source: NB-11.
const PREFERENCES: &str = "user_preferences";

impl fmt::Display for NodePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => out.write_str("root"),
            Self::Channel(name) => write!(out, "channel:{name}"),
            Self::Session(name) => write!(out, "session:{name}"),
            Self::Part { block, day, session } => write!(out, "part:{block}:{day}:{session}"),
            Self::Day(day) => write!(out, "day:{day}"),
            Self::Week(week) => write!(out, "week:{week}"),
            Self::Month(month) => write!(out, "month:{month}"),
            Self::EntityType(kind) => write!(out, "entity_type:{}", kind.as_str()),
            Self::Entity(id) => write!(out, "entity:{id}"),
            Self::Topic(id) => write!(out, "topic:{id}"),
            Self::Preferences => out.write_str(PREFERENCES),
        }
    }
}

impl FromStr for NodePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (kind, name) = text.split_once(':').unwrap_or((text, ""));
        Ok(match kind {
            "root" if name.is_empty() => Self::Root,
            "channel" => Self::Channel(ChannelId::new(name)?),
            "session" => Self::Session(SessionId::new(name)?),
            "part" => {
                let mut parts = name.splitn(3, ':');
                let mut next = || parts.next().ok_or_else(|| unknown(text));
                let (block, day, session) = (next()?, next()?, next()?);
                let block = block.parse().map_err(|_| unknown(text))?;
                Self::Part { block, day: day.to_owned(), session: SessionId::new(session)? }
            }
            "day" if !name.is_empty() => Self::Day(name.to_owned()),
            "week" if !name.is_empty() => Self::Week(name.to_owned()),
            "month" if !name.is_empty() => Self::Month(name.to_owned()),
            "entity_type" => Self::EntityType(EntityKind::from_name(name).ok_or_else(|| unknown(text))?),
            "entity" => Self::Entity(name.parse()?),
            "topic" => Self::Topic(name.parse()?),
            PREFERENCES if name.is_empty() => Self::Preferences,
            _ => return Err(unknown(text)),
        })
    }
}

fn unknown(text: &str) -> Error {
    Error::invalid(format!(
        "{text} is no node of the summaries: root, channel:…, session:…, day:2026-11-21, week:2026-W47, month:2026-11, \
         entity_type:person, entity:…, topic:… or user_preferences"
    ))
}

/// A sentence of a summary: words of one event.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryLine {
    /// Where it stands.
    pub source: Source,
    /// The words, as they were said.
    pub text: String,
    /// The conversation.
    pub session: SessionId,
    /// Who said it.
    pub speaker: Option<Speaker>,
    /// When.
    pub occurred_at: Timestamp,
    /// In which zone.
    pub zone: Zone,
    /// How far it may be believed.
    pub trust: Trust,
    /// What it may become.
    pub level: Level,
}

/// A node with its text.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryNode {
    /// Where it stands.
    pub path: NodePath,
    /// The nodes right above it.
    pub parents: Vec<NodePath>,
    /// Its sentences, in the order in which they were said.
    pub lines: Vec<SummaryLine>,
    /// Events without which it must be made anew: those that a part was chosen from, and those of the lines of other nodes;
    /// ascending.
    pub sources: Vec<EventId>,
    /// How many events the lines were chosen from, directly or through the children that were read.
    pub events: u64,
    /// Where they took place; `None` for a stretch of time and for the root.
    pub channel: Option<ChannelId>,
    /// Time of the first of these events.
    pub first_at: Timestamp,
    /// Time of the last of these events.
    pub last_at: Timestamp,
    /// Position of the last of these events in the log.
    pub through: Seq,
    /// When the engine heard of that event.
    pub updated_at: Timestamp,
    /// What made the text.
    pub producer: Producer,
}

/// What leads from some nodes to others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryDelta {
    /// Nodes that are new or changed.
    pub put: Vec<SummaryNode>,
    /// Nodes under which nothing is left.
    pub remove: Vec<NodePath>,
}

impl SummaryDelta {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.put.is_empty() && self.remove.is_empty()
    }
}

/// A node that lost its text, because one of its sources was erased.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HollowNode {
    /// Where it stands.
    pub path: NodePath,
    /// The nodes right above it, by their text forms.
    pub parents: Vec<NodePath>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_back_from_its_text() {
        let session = SessionId::new("chat:1/a b").unwrap();
        let paths = [
            NodePath::Root,
            NodePath::Channel(ChannelId::new("mail").unwrap()),
            NodePath::Session(session.clone()),
            NodePath::Part { block: 7, day: "2026-11-21".to_owned(), session },
            NodePath::Day("2026-11-21".to_owned()),
            NodePath::Week("2026-W47".to_owned()),
            NodePath::Month("2026-11".to_owned()),
            NodePath::EntityType(EntityKind::Person),
            NodePath::Entity(EntityId(7)),
            NodePath::Topic(EntityId(8)),
            NodePath::Preferences,
        ];
        for path in paths {
            assert_eq!(path.to_string().parse::<NodePath>().unwrap(), path);
        }
        for wrong in [
            "",
            "roots",
            "root:x",
            "channel:",
            "part:x:d:s",
            "part:1:d",
            "day:",
            "entity",
            "topic:x",
            "entity_type:x",
        ] {
            assert!(wrong.parse::<NodePath>().is_err(), "{wrong}");
        }
    }
}
