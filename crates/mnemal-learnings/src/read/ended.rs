//! Rows for what a message ends, and what its sentences leave of a preference.

use mnemal_core::{
    Category, Event, EventId, Learning, NewEvent, NoteKey, Producer, Result, Span, Stance, Tag, derived_id,
};
use mnemal_extract::{Ending, EndingScope, NoteKind};

use super::{about, is_read, meets, row};
use crate::ending::{AMONG, ENDED};

/// Returns the row of what a message ends; `scene` is what the session said before it. What takes back the wish before is bound to
/// the message in which that was.
pub(super) fn of_ending(
    event: &Event,
    kept: &NewEvent,
    ending: &Ending,
    scene: &[&Event],
) -> Result<Option<Learning>> {
    let words = match ending.scope {
        EndingScope::Last => {
            scene.iter().rev().find(|event| is_read(event)).map(|event| vec![event.id.to_string()])
        }
        _ => Some(ending.words.clone()),
    };
    let Some(words) = words else { return Ok(None) };
    let about = about::About::of_ending(ending, words.clone());
    let Some(mut row) = row(event, kept, ending.span, &about)? else { return Ok(None) };
    row.key = Some(key(kept, ending, &words)?);
    row.category = Category::new("user-preferences/ended")?;
    row.tags = vec![Tag::new("end")?, Tag::new(ending.scope.as_str())?, Tag::new(ending.side.as_str())?];
    row.tags.extend(ending.is_among.then(|| Tag::new(AMONG)).transpose()?);
    if let Some(signal) = &mut row.signal {
        (signal.rule, signal.stance) = (ending.rule.clone(), Stance::End);
    }
    Ok(Some(row))
}

/// Whether what an ending ends may stand among learnings: wishes, tastes, and what is said among other words of habits and of what
/// one does not bear. Homes, jobs and their like are facts alone.
pub(super) fn reaches_learnings(ending: &Ending) -> bool {
    let is_of_habits = matches!(ending.scope, EndingScope::Habit | EndingScope::Illness);
    !ending.scope.is_of_facts() || ending.is_among && is_of_habits
}

/// Returns the key of an ending, which holds no words of the message.
fn key(kept: &NewEvent, ending: &Ending, words: &[String]) -> Result<NoteKey> {
    let person = [
        kept.user.as_ref().map(|user| format!("user {}", user.as_str())),
        kept.speaker.as_ref().map(|speaker| format!("speaker {}", speaker.as_str())),
    ];
    let mut parts = vec![ending.scope.as_str().to_owned(), ending.side.as_str().to_owned()];
    parts.extend(words.iter().cloned().chain(person.into_iter().flatten()));
    let producer = Producer { id: parts.join("\n"), version: 0 };
    NoteKey::new(format!("{ENDED}{:016x}", derived_id("ended", &producer, &[] as &[EventId], 0) >> 64))
}

/// Whether a sentence ends what a note of its kind would say, and says nothing of it from now on.
pub(super) fn leaves_no_note(endings: &[Ending], span: Span, kind: NoteKind) -> bool {
    endings.iter().any(|ending| {
        let is_of_kind = match kind {
            NoteKind::Aversion => false,
            NoteKind::Taste => ending.scope == EndingScope::Taste,
            _ => true,
        };
        !ending.has_rest && is_of_kind && meets(ending.span, span)
    })
}

/// Whether feedback stands in the words of an ending that say nothing of what is to be done from now on.
pub(super) fn leaves_no_wish(endings: &[Ending], span: Span) -> bool {
    endings
        .iter()
        .any(|ending| !ending.has_rest && ending.cue.start <= span.start && span.start < ending.cue.end)
}
