//! Nodes of the summary tree.

use mnemal_core::{
    ChannelId, EventId, NodePath, Producer, Result, Seq, SessionId, Speaker, SummaryLine, SummaryNode,
    Timestamp, Zone,
};
use serde::{Deserialize, Serialize};

use super::learning::{source_of, source_row};
use super::named;
use crate::{codec, entry};

#[derive(Deserialize, Serialize)]
struct NodeRow {
    path: String,
    parents: Vec<String>,
    lines: Vec<LineRow>,
    sources: Vec<String>,
    events: u64,
    channel: Option<String>,
    first_at: i64,
    last_at: i64,
    through: u64,
    updated_at: i64,
    producer: (String, u32),
}

#[derive(Deserialize, Serialize)]
struct LineRow {
    source: (String, u32, u32),
    text: String,
    session: String,
    speaker: Option<String>,
    occurred_at: i64,
    zone: (String, i32),
    trust: u8,
    level: u8,
}

/// Writes a node.
pub(crate) fn write(node: &SummaryNode) -> Result<String> {
    super::write_sealed(&NodeRow {
        path: node.path.to_string(),
        parents: node.parents.iter().map(NodePath::to_string).collect(),
        lines: node.lines.iter().map(line_row).collect(),
        sources: node.sources.iter().map(EventId::to_string).collect(),
        events: node.events,
        channel: node.channel.as_ref().map(|channel| channel.as_str().to_owned()),
        first_at: node.first_at.as_micros(),
        last_at: node.last_at.as_micros(),
        through: node.through.0,
        updated_at: node.updated_at.as_micros(),
        producer: (node.producer.id.clone(), node.producer.version),
    })
}

fn line_row(line: &SummaryLine) -> LineRow {
    LineRow {
        source: source_row(&line.source),
        text: line.text.clone(),
        session: line.session.as_str().to_owned(),
        speaker: line.speaker.as_ref().map(|speaker| speaker.as_str().to_owned()),
        occurred_at: line.occurred_at.as_micros(),
        zone: (line.zone.name.clone(), line.zone.offset_seconds),
        trust: entry::trust_code(line.trust),
        level: codec::level_code(line.level),
    }
}

/// Reads a node.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read(stored: &str) -> Result<SummaryNode> {
    let row: NodeRow = super::read_sealed(stored)?;
    Ok(SummaryNode {
        path: named(row.path.parse())?,
        parents: row.parents.iter().map(|parent| named(parent.parse())).collect::<Result<_>>()?,
        lines: row.lines.into_iter().map(line).collect::<Result<_>>()?,
        sources: row.sources.iter().map(|event| named(event.parse())).collect::<Result<_>>()?,
        events: row.events,
        channel: named(row.channel.map(ChannelId::new).transpose())?,
        first_at: named(Timestamp::from_micros(row.first_at))?,
        last_at: named(Timestamp::from_micros(row.last_at))?,
        through: Seq(row.through),
        updated_at: named(Timestamp::from_micros(row.updated_at))?,
        producer: Producer { id: row.producer.0, version: row.producer.1 },
    })
}

fn line(row: LineRow) -> Result<SummaryLine> {
    Ok(SummaryLine {
        source: source_of(&row.source)?,
        text: row.text,
        session: named(SessionId::new(row.session))?,
        speaker: named(row.speaker.map(Speaker::new).transpose())?,
        occurred_at: named(Timestamp::from_micros(row.occurred_at))?,
        zone: Zone { name: row.zone.0, offset_seconds: row.zone.1 },
        trust: entry::trust(row.trust)?,
        level: codec::level(row.level)?,
    })
}
