//! Filtering and ordering of derived rows; the same for every store.

use mnemal_core::{AsOf, Error, EventId, Learning, NoteKey, Omitted, Receipt, RecordRef, Result, Source};

/// Keeps the learnings that are active and known, by category, then key, then id.
pub(crate) fn active(mut learnings: Vec<Learning>, as_of: AsOf) -> Vec<Learning> {
    learnings.retain(|learning| {
        learning.expires_at.is_none_or(|end| as_of.world < end) && learning.is_believed_at(as_of.belief)
    });
    learnings.sort_by(|one, other| {
        (&one.category, &one.key, one.id).cmp(&(&other.category, &other.key, other.id))
    });
    learnings
}

/// Orders the versions of a key, newest first.
pub(crate) fn history(key: &NoteKey, mut versions: Vec<Learning>) -> Result<Vec<Learning>> {
    if versions.is_empty() {
        return Err(Error::not_found(format!("no note {key}")));
    }
    versions.sort_by_key(|learning| std::cmp::Reverse((learning.version, learning.created_at, learning.id)));
    Ok(versions)
}

/// Whether one of the sources is among the events that `gone` names.
pub(crate) fn rests_on(sources: &[Source], gone: impl Fn(EventId) -> bool) -> bool {
    sources.iter().any(|source| gone(source.event))
}

/// Whether an omission names one of the events that `gone` names.
pub(crate) fn names(omitted: &Omitted, gone: impl Fn(EventId) -> bool) -> bool {
    matches!(omitted.record, RecordRef::Event(id) if gone(id))
}

/// Removes the lines and omissions that rest on these events from a receipt; returns how many.
pub(crate) fn cleanse(receipt: &mut Receipt, gone: impl Fn(EventId) -> bool) -> u64 {
    let before = receipt.lines.len() + receipt.omitted.len();
    receipt.lines.retain(|line| !rests_on(&line.sources, &gone));
    receipt.omitted.retain(|omitted| !names(omitted, &gone));
    (before - receipt.lines.len() - receipt.omitted.len()) as u64
}
