//! Notes from the view of consolidation.

use mnemal_core::{Consent, EventId, Learning, LearningKind, LearningStatus, Timestamp, Zone, named_id};

/// Importance from which a note is never archived without a replacement. Source: RockBot, the high-value floor.
const DEAR: f32 = 0.80;
/// Number of source events from which a note is never archived without a replacement. Source: RockBot, the high-value
/// floor.
const SUPPORTED: usize = 5;

/// Returns the event that created a note: the one that stored it, or the operation that wrote it.
pub fn maker(row: &Learning) -> Option<EventId> {
    row.sources.first().map(|source| source.event)
}

/// Whether it is a note, and not a learning from messages or tool results, which changes with its sources.
pub(crate) fn is_note(row: &Learning) -> bool {
    row.signal.is_none() && row.tally.is_none()
}

/// Whether consolidation may change it: a live note without a user-given key, and without rules of its own.
pub(crate) fn is_open(row: &Learning) -> bool {
    row.status == LearningStatus::Active && row.key.is_none() && is_note(row)
}

/// Whether it is protected from archiving without a replacement.
pub(crate) fn is_dear(row: &Learning) -> bool {
    row.importance.get() >= DEAR
        || row.sources.len() >= SUPPORTED
        || row.kind == LearningKind::Preference
        || (row.kind == LearningKind::AntiPattern && row.consent == Consent::Required)
}

/// Whether two notes may be merged: of one kind, one owner, one level.
pub(crate) fn is_of_one(a: &Learning, b: &Learning) -> bool {
    (a.kind, a.level) == (b.kind, b.level) && a.user == b.user && a.agent == b.agent
}

/// Returns the number of notes and their dates: `3 notes from 2026-11-02 to 2026-11-21`.
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

/// Returns the notes that consolidation may change, oldest first.
pub(crate) fn open(rows: &[Learning]) -> Vec<&Learning> {
    let mut notes: Vec<&Learning> = rows.iter().filter(|row| is_open(row)).collect();
    notes.sort_by_key(|row| (row.created_at, row.id));
    notes
}

/// Hashes the input of the passes: the live notes with text and filing, without values that drift with time.
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
