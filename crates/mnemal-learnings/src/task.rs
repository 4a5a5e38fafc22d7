//! Tasks: what a host observed of one, as a note of category `tasks` that is put away when the task is over.

use mnemal_core::{
    Category, EventKind, Importance, Learning, LearningKind, NewEvent, NoteKey, Producer, Remember, Result,
};

/// Where tasks are filed; a note that somebody files there is one too, until it is put away.
pub(crate) const TASKS: &str = "tasks";
/// The field of an observation that names a task. Source: BA-01.
const ID: &str = "task_id";
/// The field of an observation that says what it is about. Source: BA-02.
const KIND: &str = "kind";
/// Who makes the rows of observed tasks.
const PRODUCER: &str = "learnings/tasks";
/// Counts up with every change of what is read in the same observations.
const VERSION: u32 = 1;

/// What an observation says of a task. Source: BA-02.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is to be done; the text says what.
    Created,
    /// It is done, or was given up.
    Over,
}

/// Returns the producer of observed tasks.
pub(crate) fn producer() -> Producer {
    Producer { id: PRODUCER.to_owned(), version: VERSION }
}

/// Returns what an event says of a task, and which; `None` for one that says nothing of the kind.
fn named(kept: &NewEvent) -> Option<(&str, Step)> {
    if kept.kind != EventKind::Observation {
        return None;
    }
    let step = match kept.metadata.get(KIND)?.as_str() {
        "task_created" => Step::Created,
        "task_completed" | "task_failed" => Step::Over,
        _ => return None,
    };
    Some((kept.metadata.get(ID)?.trim(), step)).filter(|(id, _)| !id.is_empty())
}

/// Whether an event says that a task is to be done, or is over.
pub(crate) fn is_step(kept: &NewEvent) -> bool {
    named(kept).is_some()
}

/// Returns the key of the task that an observation is about, with what it says of it.
///
/// # Errors
/// `Invalid` for a name that can be no key.
pub(crate) fn step(kept: &NewEvent) -> Result<Option<(NoteKey, Step)>> {
    let Some((id, step)) = named(kept) else { return Ok(None) };
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
