//! Task evaluations: notes about the agent's own work, kept apart from other notes.

use mnemal_core::{
    BEST_SCORE, Basis, Category, Confidence, EventId, Importance, Learning, LearningKind, NoteKey, Remember,
    Result, derived_id,
};

use crate::fold::producer;

/// Their category.
const OWN_WORK: &str = "own-work";

/// Returns the key of the evaluation of a task with these events: the same for the same events.
///
/// # Errors
/// `Invalid`, which the generated name never causes.
pub(crate) fn key(turns: &[EventId]) -> Result<NoteKey> {
    let id = derived_id("own work", &producer(), turns, 0) >> 64;
    NoteKey::new(format!("{OWN_WORK}/{id:016x}"))
}

/// Returns the note's filing.
///
/// # Errors
/// `Invalid`, which the constant category never causes.
pub(crate) fn filing(key: NoteKey) -> Result<Remember> {
    Ok(Remember {
        key: Some(key),
        kind: LearningKind::Note,
        category: Category::new(OWN_WORK)?,
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        expires_at: None,
    })
}

/// Returns the confidence. Source: BA-32, score / 10.
pub(crate) fn confidence(score: u8) -> Confidence {
    Confidence::new(f32::from(score) / f32::from(BEST_SCORE))
}

/// Whether a row is a task evaluation made by the engine.
pub(crate) fn is_own_work(row: &Learning) -> bool {
    let key = row.key.as_ref().and_then(|key| key.as_str().strip_prefix(OWN_WORK));
    key.is_some_and(|rest| rest.starts_with('/'))
        && row.category.as_str() == OWN_WORK
        && row.basis == Basis::Inferred
}

/// Returns its labeled line.
pub(crate) fn line(row: &Learning) -> String {
    let score = (row.confidence.get() * f32::from(BEST_SCORE)).round();
    format!("own judgement of a task, {score} of {BEST_SCORE}: {}", row.content)
}
