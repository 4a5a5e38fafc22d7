//! Notes as the dream sees them.

use mnemal_core::{EventId, Learning, LearningKind, LearningStatus, Leave, Timestamp, Zone, named_id};

/// Importance from which a note is never put away for nothing. Source: AD-46.
const DEAR: f32 = 0.80;
/// Events that a note rests on, from which it is never put away for nothing. Source: AD-46.
const SUPPORTED: usize = 5;

/// Returns the event that made a note: the one that stored it, or the operation that wrote it.
pub fn maker(row: &Learning) -> Option<EventId> {
    row.sources.first().map(|source| source.event)
}

/// Whether it is a note, and not what was learnt from messages or results of tools, which changes with what is read.
pub(crate) fn is_note(row: &Learning) -> bool {
    row.signal.is_none() && row.tally.is_none()
}

/// Whether the dream may touch it: a note that holds, that nobody gave a name, and that is not kept by rules of its own.
pub(crate) fn is_open(row: &Learning) -> bool {
    row.status == LearningStatus::Active && row.key.is_none() && is_note(row)
}

/// Whether it must not be put away unless another note stands for it.
pub(crate) fn is_dear(row: &Learning) -> bool {
    row.importance.get() >= DEAR
        || row.sources.len() >= SUPPORTED
        || row.kind == LearningKind::Preference
        || (row.kind == LearningKind::AntiPattern && row.leave == Leave::Asked)
}

/// Whether two notes may become one: of one kind, one owner, one level.
pub(crate) fn is_of_one(a: &Learning, b: &Learning) -> bool {
    (a.kind, a.level) == (b.kind, b.level) && a.user == b.user && a.agent == b.agent
}

/// Says how many notes there are and on which days what they say was said: `3 notes from 2026-11-02 to 2026-11-21`.
pub(crate) fn extent(rows: &[&Learning]) -> String {
    let day = |at: Timestamp| at.civil(&Zone::utc()).day_text();
    let said = || rows.iter().map(|row| row.occurred_at);
    let (first, last) = (said().min().map(day), said().max().map(day));
    let when = match (first, last) {
        (Some(first), Some(last)) if first != last => format!(" from {first} to {last}"),
        (Some(first), _) => format!(" of {first}"),
        _ => String::new(),
    };
    format!("{} notes{when}", rows.len())
}

/// Returns the notes that the dream may touch, oldest first.
pub(crate) fn open(rows: &[Learning]) -> Vec<&Learning> {
    let mut notes: Vec<&Learning> = rows.iter().filter(|row| is_open(row)).collect();
    notes.sort_by_key(|row| (row.created_at, row.id));
    notes
}

/// Hashes what the passes look at: which notes hold, what they say and how they are filed. What drifts with time is no part.
pub(crate) fn fingerprint(rows: &[Learning]) -> u128 {
    let mut parts = Vec::new();
    for row in open(rows) {
        parts.extend([row.id.to_string(), row.content.clone(), row.category.to_string()]);
        parts.extend(row.tags.iter().map(ToString::to_string));
        parts.push(row.importance.get().to_string());
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    named_id("dream/corpus", &parts)
}
