//! Tasks: what a host observed of one, as a note of category `tasks` that is put away when the task is over.

use mnemal_core::{
    Category, Importance, Learning, LearningKind, NewEvent, NoteKey, Producer, Remember, Result, TaskStep,
};

/// Where tasks are filed; a note that somebody files there is one too, until it is put away.
pub(crate) const TASKS: &str = "tasks";
/// Who makes the rows of observed tasks.
const PRODUCER: &str = "learnings/tasks";
/// Counts up with every change of what is read in the same observations.
const VERSION: u32 = 1;

/// Returns the producer of observed tasks.
pub(crate) fn producer() -> Producer {
    Producer { id: PRODUCER.to_owned(), version: VERSION }
}

/// Whether an event says that a task is to be done, or is over.
pub(crate) fn is_step(kept: &NewEvent) -> bool {
    kept.task_step().is_some()
}

/// Returns the key of the task that an observation is about, with what it says of it.
///
/// # Errors
/// `Invalid` for a name that can be no key.
pub(crate) fn step(kept: &NewEvent) -> Result<Option<(NoteKey, TaskStep)>> {
    let Some((id, step)) = kept.task().zip(kept.task_step()) else { return Ok(None) };
    Ok(Some((NoteKey::new(format!("{TASKS}/{id}"))?, step)))
}

/// Returns how a task is kept.
///
/// # Errors
/// `Invalid` never for a category that is written here.
pub(crate) fn filed(key: NoteKey) -> Result<Remember> {
    Ok(Remember {
        key: Some(key),
        kind: LearningKind::Note,
        category: Category::new(TASKS)?,
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        expires_at: None,
    })
}

/// Whether a row may rest on observations of a task.
pub(crate) fn may_be_observed(row: &Learning) -> bool {
    row.key.as_ref().is_some_and(|key| name(key).is_some())
}

/// Whether a row was made of what the host observed, and not of what somebody asked to keep.
pub(crate) fn is_observed(row: &Learning) -> bool {
    row.producer.id == PRODUCER
}

/// Returns the name of the task of a key.
pub(crate) fn name(key: &NoteKey) -> Option<&str> {
    key.as_str().strip_prefix(TASKS)?.strip_prefix('/')
}
