//! Ending rows of a message, and preferences left over in its sentences.

use mnemal_core::{
    Category, Event, EventId, Learning, NewEvent, NoteKey, Producer, Result, RuleId, Span, Stance, Support,
    Tag, derived_id,
};
use mnemal_extract::{EndedSide, Ending, EndingScope, NoteKind, repaired_turn, taken_back_turn};
use mnemal_text::fold;

use super::{is_read, meets, row, topic_key};
use crate::ending::{AMONG, ENDED};

/// Returns the row of an ending; `scene` is the preceding session. An ending of the previous wish refers to the message of
/// that wish.
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
    let about = topic_key::MessageTopic::of_ending(ending, words.clone());
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

/// Returns the ending of what a turn of a few words puts right in the turn before: it was never so. Its last word is the id of that
/// turn.
pub(super) fn of_repair(kept: &NewEvent, scene: &[&Event]) -> Result<Option<Ending>> {
    let Some((event, told)) = repaired_turn(kept, scene) else { return Ok(None) };
    let old = fold(&told.old);
    let words = old.split_whitespace().map(str::to_owned).chain([event.to_string()]).collect();
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let span = Span { start: place(told.new.start), end: place(told.new.end) };
    Ok(Some(Ending {
        rule: RuleId::new(Support::correction_rule())?,
        scope: EndingScope::Any,
        side: EndedSide::Either,
        words,
        is_among: false,
        has_rest: false,
        cue: span,
        span,
    }))
}

/// Returns the ending of all that the turn before says, which a turn takes back: "That was a joke."
pub(super) fn of_jest(kept: &NewEvent, scene: &[&Event]) -> Result<Option<Ending>> {
    let Some((_, span)) = taken_back_turn(kept, scene.iter().rev().copied()) else { return Ok(None) };
    Ok(Some(Ending {
        rule: RuleId::new(Support::correction_rule())?,
        scope: EndingScope::Last,
        side: EndedSide::Either,
        words: Vec::new(),
        is_among: false,
        has_rest: false,
        cue: span,
        span,
    }))
}

/// Whether an ending can concern learnings: wishes, tastes, and habits or intolerances named among other words. Homes, jobs
/// and similar are facts only.
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

/// Whether a sentence ends a note's subject, and states nothing for the future.
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

/// Whether feedback is within the words of an ending that state nothing for the future.
pub(super) fn leaves_no_wish(endings: &[Ending], span: Span) -> bool {
    endings
        .iter()
        .any(|ending| !ending.has_rest && ending.cue.start <= span.start && span.start < ending.cue.end)
}
