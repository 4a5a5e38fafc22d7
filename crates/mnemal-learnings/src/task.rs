//! Observed tasks: a host's observations as a note of category `tasks`, archived when the task is finished.

use mnemal_core::{
    Category, Importance, Learning, LearningKind, NewEvent, NoteKey, Producer, Remember, Result, TaskStep,
};

/// Category of tasks; a note filed there by hand is a task too, until it is archived.
pub(crate) const TASKS: &str = "tasks";
/// Producer of observed task rows.
const PRODUCER: &str = "learnings/tasks";
/// Incremented with every change of the reading of the same observations.
const VERSION: u32 = 1;

/// Returns the producer of observed tasks.
pub(crate) fn producer() -> Producer {
    Producer { id: PRODUCER.to_owned(), version: VERSION }
}

/// Whether an event opens or finishes a task.
pub(crate) fn is_step(kept: &NewEvent) -> bool {
    kept.task_step().is_some()
}

/// Returns the key of an observation's task, with the observed step.
///
/// # Errors
/// `Invalid` for a name that cannot be a key.
pub(crate) fn step(kept: &NewEvent) -> Result<Option<(NoteKey, TaskStep)>> {
    let Some((id, step)) = kept.task().zip(kept.task_step()) else { return Ok(None) };
    Ok(Some((NoteKey::new(format!("{TASKS}/{id}"))?, step)))
}

/// Returns the filing of a task.
///
/// # Errors
/// `Invalid`, which the constant category never causes.
pub(crate) fn filing(key: NoteKey) -> Result<Remember> {
    Ok(Remember {
        key: Some(key),
        kind: LearningKind::Note,
        category: Category::new(TASKS)?,
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        expires_at: None,
    })
}

/// Whether a row may rest on task observations.
pub(crate) fn may_be_observed(row: &Learning) -> bool {
    row.key.as_ref().is_some_and(|key| name(key).is_some())
}

/// Whether a row was made from observations, and not stored on request.
pub(crate) fn is_observed(row: &Learning) -> bool {
    row.producer.id == PRODUCER
}

/// Returns the task name in a key.
pub(crate) fn name(key: &NoteKey) -> Option<&str> {
    key.as_str().strip_prefix(TASKS)?.strip_prefix('/')
}
