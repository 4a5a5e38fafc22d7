//! Split of a wish into parts: one row each, so that a change replaces only its part.

use mnemal_core::{Basis, Event, Learning, LearningKind, NewEvent, Result, Span};
use mnemal_extract::{
    Anchor, Duration, Ending, Form, FormPart, FormWish, OwnWords, duration, form_wish, form_wish_behind,
    is_weighed_wish,
};
use mnemal_text::sentences;

use super::topic_key::MessageTopic;
use super::{meets, row, span_of};

/// Returns the rows of a message by the parts of their sentences, plus rows for sentences that only wish for forms of an
/// answer.
pub(super) fn by_part(
    event: &Event,
    (kept, words): (&NewEvent, &OwnWords<'_>),
    rows: Vec<Learning>,
    endings: &[Ending],
) -> Result<Vec<Learning>> {
    let mut found = rows;
    for sentence in sentences(words.as_str()) {
        let Some(span) = span_of(&sentence.range()) else { continue };
        let is_here = |row: &Learning| row.sources.iter().any(|source| meets(source.span, span));
        let wish = wish_beside(sentence.of(words.as_str()), span, endings);
        // Its clauses give reasons, too.
        if !wish.is_pure && found.iter().any(|row| is_here(row) && is_weighed(row)) {
            continue;
        }
        let is_here = |row: &Learning| is_here(row) && is_wish(row);
        let is_said = found.iter().any(is_here);
        let anchor = Anchor { at: kept.occurred_at, zone: &kept.zone };
        let lasts = || duration(sentence.of(words.as_str()), &anchor) == Duration::Lasting;
        let is_split = is_said && (wish.parts.len() > 1 || is_shape(&wish));
        let is_asked = !is_said
            && wish.is_pure
            && (wish.parts.len() > 1 || !wish.parts.is_empty() && (is_beside(endings, span) || lasts()));
        if !is_split && !is_asked {
            continue;
        }
        let target = found.iter().find(|row| is_here(row)).and_then(|row| row.key.clone());
        let target = target
            .as_ref()
            .and_then(MessageTopic::target_of)
            .filter(|target| form_wish(target).parts.is_empty())
            .unwrap_or(super::topic_key::WHOLE_ANSWER.to_owned());
        found.retain(|row| !is_here(row));
        let is_cut = wish.parts.len() > 1 || is_beside(endings, span);
        for part in &wish.parts {
            found.extend(of_part(event, (kept, words), (span, is_cut), (part, &target))?);
        }
    }
    Ok(found)
}

/// Whether no phrase told the wish of a row.
fn is_weighed(row: &Learning) -> bool {
    row.signal.as_ref().is_some_and(|signal| is_weighed_wish(&signal.rule))
}

/// Whether a row is an explicit wish about work.
fn is_wish(row: &Learning) -> bool {
    let is_own = row.key.as_ref().is_some_and(super::is_own);
    row.basis == Basis::Stated && row.kind == LearningKind::Preference && !is_own
}

/// Returns the forms that a sentence names outside the words of an ending.
fn wish_beside(text: &str, span: Span, endings: &[Ending]) -> FormWish {
    let is_over = |ending: &&Ending| !ending.has_rest && meets(ending.cue, span);
    let from = endings.iter().find(is_over).map_or(0, |ending| ending.cue.end.saturating_sub(span.start));
    form_wish_behind(text, from as usize)
}

fn is_beside(endings: &[Ending], span: Span) -> bool {
    endings.iter().any(|ending| !ending.has_rest && meets(ending.cue, span))
}

/// Whether the only form in a sentence is a wished shape of an answer, in a clause of its own: there is one shape at a
/// time, whatever else the sentence says.
fn is_shape(wish: &FormWish) -> bool {
    matches!(wish.parts.as_slice(), [FormPart { form: Form::Shape, denies: false, is_pure: true, .. }])
}

/// Returns the row of a part; a single part gets the whole sentence.
fn of_part(
    event: &Event,
    (kept, words): (&NewEvent, &OwnWords<'_>),
    (sentence, is_cut): (Span, bool),
    (part, target): (&FormPart, &str),
) -> Result<Option<Learning>> {
    let own = Span { start: sentence.start + part.span.start, end: sentence.start + part.span.end };
    let text = own.of(words.as_str()).unwrap_or_default();
    let about = MessageTopic::of_part(text, part, target);
    row(event, kept, if is_cut { own } else { sentence }, &about)
}
