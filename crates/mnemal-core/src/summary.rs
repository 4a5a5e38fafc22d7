//! The summary tree: extractive summaries of conversations, folded from the log.

use std::fmt;
use std::str::FromStr;

use crate::{
    ChannelId, EntityId, EntityKind, Error, EventId, Level, Producer, Result, Seq, SessionId, Source,
    Speaker, Timestamp, Trust, Zone,
};

/// The position of a node in the tree; its text form is its key (`root`, `channel:mail`, `day:2026-11-21`).
///
/// A session is below its channel, a part below its session and its day, a day below its week, a week below the month of its
/// Thursday; an entity below its kind; channels, months, kinds, topics and the user's preferences below the root. A store keeps
/// the nodes of conversations and of time; the others are computed when they are read.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodePath {
    /// The root.
    Root,
    /// A channel.
    Channel(ChannelId),
    /// A conversation.
    Session(SessionId),
    /// The part of a conversation from one day and within one block of log positions; a leaf.
    Part {
        /// The block, from 0.
        block: u64,
        /// The day, `2026-11-21`.
        day: String,
        /// The conversation.
        session: SessionId,
    },
    /// A day in the zone of its events, `2026-11-21`.
    Day(String),
    /// A week that begins on Monday, `2026-W47`.
    Week(String),
    /// The weeks whose Thursday lies in a month, `2026-11`.
    Month(String),
    /// The most frequently named entities of one kind.
    EntityType(EntityKind),
    /// An entity.
    Entity(EntityId),
    /// A topic.
    Topic(EntityId),
    /// The user's preferences.
    Preferences,
}

/// The key of the user's preferences. Source: the node name of an earlier design (NB-11).
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
    /// Its source.
    pub source: Source,
    /// The words, verbatim.
    pub text: String,
    /// The conversation.
    pub session: SessionId,
    /// The speaker.
    pub speaker: Option<Speaker>,
    /// The time of the statement.
    pub occurred_at: Timestamp,
    /// The zone of that time.
    pub zone: Zone,
    /// Its trust.
    pub trust: Trust,
    /// Its level.
    pub level: Level,
}

/// One place in the summary tree, such as a conversation or a day, with the sentences that stand for its events.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryNode {
    /// Its position.
    pub path: NodePath,
    /// Its direct parents.
    pub parents: Vec<NodePath>,
    /// Its sentences, in their original order.
    pub lines: Vec<SummaryLine>,
    /// Events whose loss requires a rebuild: those that a part was chosen from, and those of the lines of other nodes;
    /// ascending.
    pub sources: Vec<EventId>,
    /// Number of events that the lines were chosen from, directly or through the children that were read.
    pub events: u64,
    /// The channel; `None` for a time range and for the root.
    pub channel: Option<ChannelId>,
    /// Time of the first of these events.
    pub first_at: Timestamp,
    /// Time of the last of these events.
    pub last_at: Timestamp,
    /// Position of the last of these events in the log.
    pub through: Seq,
    /// Time of arrival of that event at the engine.
    pub updated_at: Timestamp,
    /// The producer of the text.
    pub producer: Producer,
}

/// The changes between two states of the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryDelta {
    /// Nodes that are new or changed.
    pub put: Vec<SummaryNode>,
    /// Nodes without remaining content.
    pub remove: Vec<NodePath>,
}

impl SummaryDelta {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.put.is_empty() && self.remove.is_empty()
    }
}

/// A stale node, which lost its text because one of its sources was erased.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErasedNode {
    /// Its position.
    pub path: NodePath,
    /// Its direct parents, by their text forms.
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
