//! Validity of a wish: a session-only or time-limited row is kept next to the lasting one, without replacing it.

use mnemal_core::{Basis, Learning, NewEvent, NoteKey, Producer, Result, Span, Tag, derived_id};
use mnemal_extract::{Anchor, Duration, OwnWords, duration};
use mnemal_text::sentences;

/// Tag of a learning limited to the session in which it was said.
pub const THIS_CONVERSATION: &str = "this-conversation";
/// Most words of a following sentence that limits the previous one. Source: own choice; a longer one states something else.
const SHORT: usize = 8;

/// Whether a row is limited to one session.
pub(crate) fn is_of_conversation(row: &Learning) -> bool {
    row.tags.iter().any(|tag| tag.as_str() == THIS_CONVERSATION)
}

/// Sets the validity of a row by its sentence, or by the short one after it; `None` for a wish about a single answer.
pub(super) fn set_validity(row: Learning, kept: &NewEvent, words: &OwnWords<'_>) -> Result<Option<Learning>> {
    if row.basis != Basis::Stated {
        return Ok(Some(row));
    }
    let Some(span) = row.sources.first().map(|source| source.span) else { return Ok(Some(row)) };
    match stated_duration(kept, words.as_str(), span) {
        Duration::Answer => Ok(None),
        Duration::Session => {
            let session = Producer { id: kept.session.as_str().to_owned(), version: 0 };
            let session = derived_id("conversation", &session, &[], 0) >> 64;
            let mut row = apart(row, &format!("in-{session:016x}"))?;
            row.tags.push(Tag::new(THIS_CONVERSATION)?);
            Ok(Some(row))
        }
        Duration::Until(end) => {
            let row = apart(row, &format!("until-{}", end.as_micros()))?;
            Ok(Some(Learning { expires_at: Some(end), ..row }))
        }
        _ => Ok(Some(row)),
    }
}

fn stated_duration(kept: &NewEvent, text: &str, span: Span) -> Duration {
    let anchor = Anchor { at: kept.occurred_at, zone: &kept.zone };
    let all = sentences(text);
    let at = span.start as usize;
    let mut rest = all.iter().skip_while(|sentence| !sentence.range().contains(&at));
    let Some(own) = rest.next() else { return Duration::Unsaid };
    match duration(own.of(text), &anchor) {
        Duration::Unsaid => {
            let next = rest.next().map(|next| next.of(text));
            let next = next.filter(|next| next.split_whitespace().count() <= SHORT);
            let next = next.map_or(Duration::Unsaid, |next| duration(next, &anchor));
            // Only "for this mail", said of the previous sentence: another day may have its own wish.
            if matches!(next, Duration::Answer | Duration::Session) { next } else { Duration::Unsaid }
        }
        said => said,
    }
}

/// Gives a row its own key next to the lasting one.
fn apart(row: Learning, place: &str) -> Result<Learning> {
    let key = row.key.as_ref().map(|key| NoteKey::new(format!("{}/{place}", key.as_str()))).transpose()?;
    Ok(Learning { key, ..row })
}
