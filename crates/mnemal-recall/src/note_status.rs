//! Note status: excludes hits on note versions that are superseded, archived or ended.

use mnemal_core::{
    AsOf, Cursor, Decision, Event, EventKind, GapCause, Gaps, Layer, Learning, LearningFilter,
    LearningStatus, LearningStore, OmittedReason, Result, Role, Within,
};

use crate::recall::Recall;
use crate::request::{Hit, WithheldHit};

/// Removes the hits on notes that are superseded, archived or no longer valid.
///
/// A note that is not folded yet counts as valid: it was just stored. One that is folded and has no row was undone.
pub(crate) async fn exclude(
    recall: &Recall,
    hits: Vec<Hit>,
    as_of: Option<AsOf>,
    gaps: &mut Gaps,
) -> (Vec<Hit>, Vec<WithheldHit>) {
    let notes: Vec<&Event> =
        hits.iter().map(|hit| &hit.event).filter(|event| event.role == Role::Decision).collect();
    if notes.is_empty() {
        return (hits, Vec::new());
    }
    let known = match recall.parts.learnings.part() {
        Ok(learnings) => read(learnings, &notes).await.map_err(GapCause::from),
        Err(cause) => Err(cause),
    };
    let (known, cursor) = gaps.keep(Layer::Learnings, known);
    let (mut shown, mut withheld) = (Vec::with_capacity(hits.len()), Vec::new());
    for hit in hits {
        match reason((&known, cursor), &hit.event, as_of) {
            Some(reason) => withheld.push(WithheldHit { hit, reason }),
            None => shown.push(hit),
        }
    }
    (shown, withheld)
}

/// Returns the rows of notes, and a position up to which they are folded; the start of the log if each has one.
async fn read(learnings: &dyn LearningStore, notes: &[&Event]) -> Result<(Vec<Learning>, Cursor)> {
    let sources = notes.iter().map(|event| event.id).collect();
    let filter = LearningFilter { sources: Within::Only(sources), ..LearningFilter::all() };
    let known = learnings.all(&filter).await?;
    if notes.iter().all(|event| known.iter().any(|row| rests(row, event))) {
        return Ok((known, Cursor::START));
    }
    // A fold may have added rows since.
    let cursor = learnings.cursor().await?;
    Ok((learnings.all(&filter).await?, cursor))
}

fn rests(row: &Learning, event: &Event) -> bool {
    row.sources.iter().any(|source| source.event == event.id)
}

/// The reason to exclude a hit. A note that the engine archived in favor of another is excluded, although that note rests
/// on it; and a note that is folded, or that the engine wrote, counts only while its row exists.
fn reason(
    (known, cursor): (&[Learning], Cursor),
    event: &Event,
    as_of: Option<AsOf>,
) -> Option<OmittedReason> {
    let versions: Vec<&Learning> = known.iter().filter(|row| rests(row, event)).collect();
    let needs_row = event.body().is_some_and(|kept| match kept.kind {
        EventKind::Operation(_) => true,
        EventKind::Decision(Decision::Remember(_)) => Cursor(Some(event.seq)) <= cursor,
        _ => false,
    });
    let folded = |note: &&&Learning| {
        let into = versions.iter().any(|other| note.superseded_by == Some(other.id));
        into && note.status == LearningStatus::Archived && exclusion(note, as_of).is_some()
    };
    if versions.iter().any(|note| folded(&note)) || (needs_row && versions.is_empty()) {
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
