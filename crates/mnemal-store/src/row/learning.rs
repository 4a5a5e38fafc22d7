//! Learnings.

use mnemal_core::{
    AgentId, AntiPattern, Basis, Category, Confidence, Consent, EventId, Learning, LearningId, LearningKind,
    LearningStatus, NoteKey, Producer, Result, RuleId, SessionId, Signal, Source, Span, Speaker, Stance, Tag,
    Tally, Timestamp, ToolName, UserId, Verdict,
};
use serde::{Deserialize, Serialize};

use super::decision::importance_of;
use super::{named, required};
use crate::{codec, entry};

#[derive(Deserialize, Serialize)]
struct LearningRow {
    id: String,
    kind: String,
    key: Option<String>,
    version: u32,
    category: String,
    tags: Vec<String>,
    importance: f64,
    content: String,
    session: String,
    user: Option<String>,
    agent: Option<String>,
    sources: Vec<(String, u32, u32)>,
    trust: u8,
    level: u8,
    status: String,
    expires_at: Option<i64>,
    created_at: i64,
    expired_at: Option<i64>,
    producer: (String, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    learnt: Option<LearntRow>,
}

/// Fields of learnings that plain notes do not have; absent for a stored note.
#[derive(Deserialize, Serialize)]
struct LearntRow {
    is_inferred: bool,
    confidence: f64,
    asks_leave: bool,
    topics: Vec<String>,
    tool: Option<String>,
    speaker: Option<String>,
    superseded_by: Option<String>,
    verdict: Option<VerdictRow>,
    signal: Option<SignalRow>,
    tally: Option<(u64, u64)>,
    occurred_at: i64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    away: Vec<(i64, i64)>,
    /// Parts of an anti-pattern: what to avoid, the reason, the alternative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pattern: Option<(String, Option<String>, Option<String>)>,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum VerdictRow {
    Archived(i64),
    Rejected(i64),
    Refuted(i64),
}

#[derive(Deserialize, Serialize)]
struct SignalRow {
    rule: String,
    leaves: bool,
    /// It is praise; what it leaves says nothing then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keeps: bool,
    weight: f64,
    supports: u32,
}

/// Writes a learning.
pub(crate) fn write(learning: &Learning) -> Result<String> {
    let text = |name: &str| name.to_owned();
    super::write_sealed(&LearningRow {
        id: learning.id.to_string(),
        kind: text(learning.kind.as_str()),
        key: learning.key.as_ref().map(|key| text(key.as_str())),
        version: learning.version,
        category: text(learning.category.as_str()),
        tags: learning.tags.iter().map(|tag| text(tag.as_str())).collect(),
        importance: f64::from(learning.importance.get()),
        content: learning.content.clone(),
        session: text(learning.session.as_str()),
        user: learning.user.as_ref().map(|user| text(user.as_str())),
        agent: learning.agent.as_ref().map(|agent| text(agent.as_str())),
        sources: learning.sources.iter().map(source_row).collect(),
        trust: entry::trust_code(learning.trust),
        level: codec::level_code(learning.level),
        status: text(learning.status.as_str()),
        expires_at: learning.expires_at.map(Timestamp::as_micros),
        created_at: learning.created_at.as_micros(),
        expired_at: learning.expired_at.map(Timestamp::as_micros),
        producer: (learning.producer.id.clone(), learning.producer.version),
        learnt: Some(learnt_row(learning)),
    })
}

fn learnt_row(learning: &Learning) -> LearntRow {
    LearntRow {
        is_inferred: learning.basis == Basis::Inferred,
        confidence: f64::from(learning.confidence.get()),
        asks_leave: learning.consent == Consent::Required,
        topics: learning.topics.clone(),
        tool: learning.tool.as_ref().map(|tool| tool.as_str().to_owned()),
        speaker: learning.speaker.as_ref().map(|speaker| speaker.as_str().to_owned()),
        superseded_by: learning.superseded_by.map(|id| id.to_string()),
        verdict: learning.verdict.map(|verdict| match verdict {
            Verdict::Archived(at) => VerdictRow::Archived(at.as_micros()),
            Verdict::Rejected(at) => VerdictRow::Rejected(at.as_micros()),
            Verdict::Refuted(at) => VerdictRow::Refuted(at.as_micros()),
        }),
        signal: learning.signal.as_ref().map(|signal| SignalRow {
            rule: signal.rule.as_str().to_owned(),
            leaves: matches!(signal.stance, Stance::Leave | Stance::End),
            keeps: matches!(signal.stance, Stance::Keep | Stance::End),
            weight: f64::from(signal.weight),
            supports: signal.supports,
        }),
        tally: learning.tally.map(|tally| (tally.uses, tally.errors)),
        occurred_at: learning.occurred_at.as_micros(),
        away: learning.away.iter().map(|(from, until)| (from.as_micros(), until.as_micros())).collect(),
        pattern: learning
            .pattern
            .as_ref()
            .map(|AntiPattern { avoid, reason, instead }| (avoid.clone(), reason.clone(), instead.clone())),
    }
}

/// Reads a learning.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read(stored: &str) -> Result<Learning> {
    let row: LearningRow = super::read_sealed(stored)?;
    let time = |micros: Option<i64>| named(micros.map(Timestamp::from_micros).transpose());
    let learnt = row.learnt.unwrap_or_else(|| plain(row.created_at));
    Ok(Learning {
        pattern: learnt.pattern.map(|(avoid, reason, instead)| AntiPattern { avoid, reason, instead }),
        basis: if learnt.is_inferred { Basis::Inferred } else { Basis::Stated },
        confidence: Confidence::new(narrow(learnt.confidence)),
        consent: if learnt.asks_leave { Consent::Required } else { Consent::NotRequired },
        topics: learnt.topics,
        tool: named(learnt.tool.map(ToolName::new).transpose())?,
        speaker: named(learnt.speaker.map(Speaker::new).transpose())?,
        superseded_by: named(learnt.superseded_by.map(|id| id.parse::<LearningId>()).transpose())?,
        verdict: named(learnt.verdict.map(verdict_of).transpose())?,
        signal: named(learnt.signal.map(signal_of).transpose())?,
        tally: learnt.tally.map(|(uses, errors)| Tally { uses, errors }),
        occurred_at: named(Timestamp::from_micros(learnt.occurred_at))?,
        id: named(row.id.parse::<LearningId>())?,
        kind: required(LearningKind::from_name(&row.kind))?,
        key: named(row.key.map(NoteKey::new).transpose())?,
        version: row.version,
        category: named(Category::new(row.category))?,
        tags: named(row.tags.into_iter().map(Tag::new).collect())?,
        importance: named(importance_of(row.importance))?,
        content: row.content,
        session: named(SessionId::new(row.session))?,
        user: named(row.user.map(UserId::new).transpose())?,
        agent: named(row.agent.map(AgentId::new).transpose())?,
        sources: row.sources.iter().map(source_of).collect::<Result<_>>()?,
        trust: entry::trust(row.trust)?,
        level: codec::level(row.level)?,
        status: required(LearningStatus::from_name(&row.status))?,
        expires_at: time(row.expires_at)?,
        created_at: required(time(Some(row.created_at))?)?,
        expired_at: time(row.expired_at)?,
        away: named(learnt.away.iter().map(away_of).collect())?,
        producer: Producer { id: row.producer.0, version: row.producer.1 },
    })
}

/// The fields of a note from an older file.
fn plain(created_at: i64) -> LearntRow {
    LearntRow {
        is_inferred: false,
        confidence: 1.0,
        asks_leave: false,
        topics: Vec::new(),
        tool: None,
        speaker: None,
        superseded_by: None,
        verdict: None,
        signal: None,
        tally: None,
        occurred_at: created_at,
        away: Vec::new(),
        pattern: None,
    }
}

fn away_of((from, until): &(i64, i64)) -> Result<(Timestamp, Timestamp)> {
    Ok((Timestamp::from_micros(*from)?, Timestamp::from_micros(*until)?))
}

fn verdict_of(row: VerdictRow) -> Result<Verdict> {
    Ok(match row {
        VerdictRow::Archived(at) => Verdict::Archived(Timestamp::from_micros(at)?),
        VerdictRow::Rejected(at) => Verdict::Rejected(Timestamp::from_micros(at)?),
        VerdictRow::Refuted(at) => Verdict::Refuted(Timestamp::from_micros(at)?),
    })
}

fn signal_of(row: SignalRow) -> Result<Signal> {
    Ok(Signal {
        rule: RuleId::new(row.rule)?,
        stance: match (row.keeps, row.leaves) {
            (true, true) => Stance::End,
            (true, false) => Stance::Keep,
            (false, true) => Stance::Leave,
            (false, false) => Stance::Do,
        },
        weight: narrow(row.weight),
        supports: row.supports,
    })
}

/// Converts back a number that was an `f32`.
#[expect(clippy::cast_possible_truncation, reason = "the number was an f32")]
fn narrow(value: f64) -> f32 {
    value as f32
}

pub(super) fn source_row(source: &Source) -> (String, u32, u32) {
    (source.event.to_string(), source.span.start, source.span.end)
}

pub(super) fn source_of((event, start, end): &(String, u32, u32)) -> Result<Source> {
    let event = named(event.parse::<EventId>())?;
    Ok(Source { event, span: Span { start: *start, end: *end } })
}
