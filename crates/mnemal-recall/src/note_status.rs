//! Note status: excludes hits on note versions that are superseded, archived or ended.

use mnemal_core::{
    AsOf, Event, EventId, EventKind, GapCause, Gaps, Layer, Learning, LearningFilter, LearningStatus,
    OmittedReason, Role, Within,
};

use crate::recall::Recall;
use crate::request::{Hit, WithheldHit};

/// Removes the hits on notes that are superseded, archived or no longer valid.
///
/// A note that is not folded yet counts as valid: it was just stored.
pub(crate) async fn exclude(
    recall: &Recall,
    hits: Vec<Hit>,
    as_of: Option<AsOf>,
    gaps: &mut Gaps,
) -> (Vec<Hit>, Vec<WithheldHit>) {
    let notes: Vec<EventId> =
        hits.iter().filter(|hit| hit.event.role == Role::Decision).map(|hit| hit.event.id).collect();
    if notes.is_empty() {
        return (hits, Vec::new());
    }
    let filter = LearningFilter { sources: Within::Only(notes), ..LearningFilter::all() };
    let known = match recall.parts.learnings.part() {
        Ok(learnings) => learnings.all(&filter).await.map_err(GapCause::from),
        Err(cause) => Err(cause),
    };
    let known = gaps.keep(Layer::Learnings, known);
    let (mut shown, mut withheld) = (Vec::with_capacity(hits.len()), Vec::new());
    for hit in hits {
        match reason(&known, &hit.event, as_of) {
            Some(reason) => withheld.push(WithheldHit { hit, reason }),
            None => shown.push(hit),
        }
    }
    (shown, withheld)
}

/// The reason to exclude a hit. A note that the engine archived in favor of another is excluded, although that note rests
/// on it; and an engine-written note counts only while its learning exists.
fn reason(known: &[Learning], event: &Event, as_of: Option<AsOf>) -> Option<OmittedReason> {
    let rests = |note: &&Learning| note.sources.iter().any(|source| source.event == event.id);
    let versions: Vec<&Learning> = known.iter().filter(rests).collect();
    let is_made = event.body().is_some_and(|kept| matches!(kept.kind, EventKind::Operation(_)));
    let folded = |note: &&&Learning| {
        let into = versions.iter().any(|other| note.superseded_by == Some(other.id));
        into && note.status == LearningStatus::Archived && exclusion(note, as_of).is_some()
    };
    if versions.iter().any(|note| folded(&note)) || (is_made && versions.is_empty()) {
        return Some(OmittedReason::Archived);
    }
    let mut reason = None;
    for note in versions {
        match exclusion(note, as_of) {
            None => return None,
            Some(why) => reason = Some(why),
        }
    }
    reason
}

/// The reason to exclude a version; `None` if it is valid.
fn exclusion(note: &Learning, as_of: Option<AsOf>) -> Option<OmittedReason> {
    let ended = as_of.is_some_and(|as_of| note.expires_at.is_some_and(|at| at <= as_of.world));
    let replaced = match as_of {
        Some(as_of) => note.ended_at(as_of.belief).is_some(),
        None => note.status != LearningStatus::Active,
    };
    match note.status {
        // A version that is valid today was archived at the time.
        LearningStatus::Archived | LearningStatus::Active if replaced => Some(OmittedReason::Archived),
        _ if replaced => Some(OmittedReason::Superseded),
        _ => ended.then_some(OmittedReason::Expired),
    }
}
