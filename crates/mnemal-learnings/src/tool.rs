//! Tool statistics, counted from results: one row per tool, and another for calls not made by the agent itself.

use mnemal_core::{
    Basis, Category, Confidence, Consent, Event, EventKind, Importance, Learning, LearningId, LearningKind,
    LearningStatus, Level, NewEvent, NoteKey, Origin, Producer, Result, Source, Span, Tally, ToolName, Trust,
    Verdict, derived_id,
};

use crate::read::LEARNED;

/// Producer of tallies, for rows and ids.
const PRODUCER: &str = "learnings/tools";
/// Incremented with every change of the counting of the same results.
const VERSION: u32 = 2;
/// Key prefix of tools.
const TOOL: &str = "tool/";
/// Uses below which a tool counts as healthy. Source: BA-10, fewer than 3 uses.
const FEW: u64 = 3;
/// Errors from which there is a learning. Source: BA-33, at least 3 errors.
const ERRORS: u64 = 3;
/// Uses for full confidence. Source: BA-33, confidence min(uses / 10, 1).
const SURE: u16 = 10;

/// Returns the key of a tool's statistics.
pub(crate) fn key(tool: &ToolName) -> Result<NoteKey> {
    let name = tool.as_str();
    let cut = name.floor_char_boundary(200);
    NoteKey::new(format!("{LEARNED}{TOOL}{}", name.get(..cut).unwrap_or_default()))
}

/// Whether a key is that of a tool.
pub(crate) fn is_of_tool(key: &NoteKey) -> bool {
    key.as_str().strip_prefix(LEARNED).is_some_and(|rest| rest.starts_with(TOOL))
}

/// Returns the call of a result: the newest call of this tool by the agent in this session without another result; `before`
/// are the preceding live events of the log, oldest first.
///
/// The agent itself observed its call, and the host's failure flag, so the statistics rest on the call. The text of the
/// result is external, and none of it enters the statistics.
pub(crate) fn call<'e>(kept: &NewEvent, tool: &ToolName, before: &[&'e Event]) -> Option<&'e Event> {
    let mut answered = 0_usize;
    for event in before.iter().rev().copied().filter(|event| event.quarantined.is_none()) {
        let Some(earlier) = event.body().filter(|earlier| earlier.session == kept.session) else { continue };
        match &earlier.kind {
            EventKind::ToolResult { tool: other, .. } if other == tool => answered += 1,
            EventKind::ToolCall { tool: other } if other == tool && answered > 0 => answered -= 1,
            EventKind::ToolCall { tool: other } if other == tool => {
                return (earlier.origin == Origin::Assistant).then_some(event);
            }
            _ => {}
        }
    }
    None
}

/// Returns the row of a tool with one more result; `event` is the result or its call. It rests on the newest failure, or
/// else the newest result.
pub(crate) fn counted(
    event: &Event,
    kept: &NewEvent,
    known: Option<Learning>,
    (tool, ok): (&ToolName, bool),
) -> Result<Learning> {
    let mut tally = known.as_ref().and_then(|row| row.tally).unwrap_or_default();
    let verdict = known.as_ref().and_then(|row| row.verdict);
    let away = known.as_ref().map(|row| row.away.clone()).unwrap_or_default();
    let id = known.as_ref().map(|row| row.id);
    let is_older_failure = ok && tally.errors > 0;
    tally.uses += 1;
    tally.errors += u64::from(!ok);
    let mut row = match known.filter(|_| is_older_failure) {
        Some(row) => row,
        None => Learning { verdict, away, ..new_row(event, kept, tool)? },
    };
    row.id = id.unwrap_or(row.id);
    row.tally = Some(tally);
    row.content = format!("`{}` failed in {} of {} uses.", tool.as_str(), tally.errors, tally.uses);
    settle(&mut row);
    Ok(row)
}

/// Sets whether a tool is bad enough for a warning, unless a person archived the warning.
pub(crate) fn settle(row: &mut Learning) {
    let tally = row.tally.unwrap_or_default();
    row.confidence =
        Confidence::new(f32::from(u16::try_from(tally.uses).unwrap_or(u16::MAX)) / f32::from(SURE));
    (row.status, row.expired_at) = match row.verdict {
        Some(Verdict::Archived(at)) => (LearningStatus::Archived, Some(at)),
        Some(Verdict::Rejected(at) | Verdict::Refuted(at)) => (LearningStatus::Rejected, Some(at)),
        None if is_bad(tally) => (LearningStatus::Active, None),
        None => (LearningStatus::Candidate, Some(row.created_at)),
    };
}

/// Whether a tool is unhealthy or has failed often. Source: BA-10, a success rate under 50 %, and BA-33, at least 3 errors.
fn is_bad(tally: Tally) -> bool {
    let is_unhealthy = tally.uses >= FEW && tally.errors * 2 > tally.uses;
    is_unhealthy || tally.errors >= ERRORS
}

fn new_row(event: &Event, kept: &NewEvent, tool: &ToolName) -> Result<Learning> {
    let producer = Producer { id: PRODUCER.to_owned(), version: VERSION };
    let named = Producer { id: format!("{PRODUCER} {}", tool.as_str()), version: VERSION };
    Ok(Learning {
        id: LearningId(derived_id("learning", &named, &[], u32::from(event.level > Level::External))),
        kind: LearningKind::Tool,
        key: Some(key(tool)?),
        version: 1,
        category: Category::new("tools")?,
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        content: String::new(),
        pattern: None,
        basis: Basis::Inferred,
        confidence: Confidence::new(0.0),
        consent: Consent::NotRequired,
        topics: Vec::new(),
        tool: Some(tool.clone()),
        session: kept.session.clone(),
        speaker: None,
        user: kept.user.clone(),
        agent: kept.agent.clone(),
        sources: vec![Source { event: event.id, span: Span::whole(&kept.content)? }],
        trust: event.trust.min(Trust::Inferred),
        level: event.level,
        status: LearningStatus::Candidate,
        superseded_by: None,
        verdict: None,
        signal: None,
        tally: None,
        occurred_at: kept.occurred_at,
        expires_at: None,
        created_at: event.recorded_at,
        expired_at: None,
        away: Vec::new(),
        producer,
    })
}
