//! `memory_store`: a note of the agent.

use std::time::Duration;

use jiff::tz::TimeZone;
use mnemal::events::{Overlap, RememberCall, StoredNote};
use mnemal::{Memory, Message};
use mnemal_core::{
    Category, ChannelId, Degraded, Importance, Learning, LearningFilter, LearningKind, LearningStatus,
    NoteKey, SessionId, Tag, Within,
};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::parse_time;
use crate::mcp::tool::Tool;

/// Deduplication window of a call. Source: own choice, 10 minutes cover the retries of a client.
const WINDOW: Duration = Duration::from_mins(10);
/// Channel of this surface. Source: own choice, its name.
pub(super) const CHANNEL: &str = "mcp";
/// Session of a write that names none. Source: own choice.
const SESSION: &str = "default";
/// Maximum validity of an expiring note, in minutes: 100 years. Source: own default.
const LONGEST: f64 = 52_560_000.0;
/// Ceiling of the answer, in tokens, which is a line or two. Source: own default, as for every answer.
const CEILING: u32 = 2_000;

/// Stores a note.
pub(super) async fn call(
    memory: &Memory,
    given: Map<String, Value>,
    zone: &TimeZone,
) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::Store, given);
    let content = arguments.required("content", "say what to remember, in one or two sentences.")?;
    let key = arguments.name("key", |name| NoteKey::new(name))?;
    let session = arguments.session()?.map_or_else(|| SessionId::new(SESSION), Ok)?;
    let channel = ChannelId::new(CHANNEL)?;
    let mut tail = Remarks::default();
    let mut request = filed(memory.remember(content), &arguments, &mut tail)?;
    if let Some(key) = &key {
        request = request.key(key.clone()).amend();
    }
    if let Some(minutes) = arguments.number("ttl_minutes")? {
        if !(minutes > 0.0 && minutes <= LONGEST) {
            return Err(CorrectableError::new(
                "ttl_minutes must be more than 0; leave it out for a note that stays.",
            ));
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most a hundred years of microseconds")]
        let micros = (minutes * 60_000_000.0) as i64;
        request = request.expires_at(memory.admin().engine().now().plus_micros(micros));
    }
    for note in arguments.notes {
        tail.say(note);
    }
    let place = parse_time::event_zone(None, memory.admin().engine().now(), zone);
    let said = |message: Message| message.session(session).channel(channel).zone(place);
    let stored = request.message(said).once(WINDOW).await?;
    answer(memory, key.as_ref(), &stored, tail).await
}

/// Sets kind, category, tags and importance of the note.
fn filed(
    request: RememberCall,
    arguments: &Arguments,
    tail: &mut Remarks,
) -> Result<RememberCall, CorrectableError> {
    let mut category = arguments.text("category")?.map(|name| name.trim().to_owned());
    let mut kind = arguments.text("kind")?.map(|name| name.trim().to_owned());
    // Names of kinds that another memory server uses as categories.
    if kind.is_none() && matches!(category.as_deref(), Some("knowledge" | "timeline")) {
        kind = category.take();
    }
    let mut request = request;
    let top = match kind.as_deref() {
        None | Some("knowledge") => None,
        Some("preference") => {
            tail.say("A preference that the user did not say is kept as a note until the user says it.");
            request = request.kind(LearningKind::Preference);
            None
        }
        Some("timeline") => Some("timeline"),
        Some("anti_pattern") => Some("anti-patterns"),
        Some(_) => {
            return Err(CorrectableError::new(
                "kind must be knowledge, preference, timeline or anti_pattern.",
            ));
        }
    };
    if let Some(category) = filed_under(top, category.as_deref())? {
        request = request.category(category);
    }
    for tag in arguments.list("tags")? {
        request = request.tag(Tag::new(tag).map_err(|error| CorrectableError::about("tags", &error))?);
    }
    if let Some(importance) = arguments.number("importance")? {
        #[expect(clippy::cast_possible_truncation, reason = "an importance is a small number")]
        let importance = Importance::new(importance as f32);
        request =
            request.importance(importance.map_err(|error| CorrectableError::about("importance", &error))?);
    }
    Ok(request)
}

/// Returns the category of a kind that has its own, with the caller's below it.
pub(crate) fn filed_under(
    top: Option<&str>,
    category: Option<&str>,
) -> Result<Option<Category>, CorrectableError> {
    let name = match (top, category) {
        (None, None) => return Ok(None),
        (None, Some(category)) => category.to_owned(),
        (Some(top), None) => top.to_owned(),
        (Some(top), Some(category)) => {
            let inside =
                category.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if inside { category.to_owned() } else { format!("{top}/{category}") }
        }
    };
    category_of(&name).map(Some)
}

/// Parses a category.
pub(super) fn category_of(name: &str) -> Result<Category, CorrectableError> {
    Category::new(name).map_err(|error| CorrectableError::about("category", &error))
}

async fn answer(
    memory: &Memory,
    key: Option<&NoteKey>,
    stored: &Degraded<StoredNote>,
    mut tail: Remarks,
) -> Result<ToolAnswer, CorrectableError> {
    let (note, status) = current_state(memory, key, stored).await;
    let id = stored.id.map_or_else(|| stored.event.to_string(), |id| id.to_string());
    let named =
        key.map(|key| format!(" under the key '{key}', version {}", stored.version)).unwrap_or_default();
    let head = match (status, stored.created) {
        ("active", true) => format!("Stored {id}{named}."),
        ("active", false) => format!("Known already as {id}{named}; nothing was added."),
        ("superseded", _) => {
            format!("Kept {id} in the history{named}: the user's own words hold under this key.")
        }
        ("quarantined", _) => {
            format!(
                "Stored {id}, but it reads like an instruction, or too much came at once, and will not be recalled until a \
                 person releases it."
            )
        }
        ("echo", _) => format!("Logged {id}: it repeats what memory said, so no new memory was made."),
        _ => format!("Stored {id}; it will be listed soon."),
    };
    if let Some(alike) = stored.alike {
        let advice = match alike.how {
            Overlap::Reinforces => "it holds all of this, so this one can be forgotten",
            Overlap::Extends => "keep both, or store one text under a key and forget these",
        };
        tail.say(format!("{} says nearly the same: {advice}.", alike.id));
    }
    if stored.redactions > 0 {
        tail.say(format!("{} secret(s) were replaced before anything was stored.", stored.redactions));
    }
    tail.gaps(&stored.gaps);
    let known_key = key.or_else(|| note.as_ref().and_then(|note| note.key.as_ref()));
    let mut structured = json!({
        "id": id,
        "version": stored.version,
        "created": stored.created,
        "status": status,
    });
    if let (Some(key), Some(fields)) = (known_key, structured.as_object_mut()) {
        fields.insert("key".to_owned(), key.as_str().into());
    }
    Ok(ToolAnswer { text: tail.behind(&head, memory.admin().engine(), CEILING), structured })
}

/// Returns the current state of the note, `None` if the event made none, and a word for the result.
pub(crate) async fn current_state(
    memory: &Memory,
    key: Option<&NoteKey>,
    stored: &Degraded<StoredNote>,
) -> (Option<Learning>, &'static str) {
    let note = note(memory, key, stored).await;
    let status = if let Some(note) = &note { note.status.as_str() } else { unlisted(memory, stored).await };
    (note, status)
}

/// Returns the current state of the note; `None` if the event made none.
async fn note(memory: &Memory, key: Option<&NoteKey>, stored: &StoredNote) -> Option<Learning> {
    let id = stored.id?;
    let versions = if let Some(key) = key {
        memory.preferences().history(key).await.ok()?
    } else {
        let filter = LearningFilter { sources: Within::Only(vec![stored.event]), ..LearningFilter::all() };
        memory.preferences().notes(&filter).await.ok()?
    };
    versions.into_iter().find(|note| note.id == id)
}

/// Returns the reason why an event is no note.
async fn unlisted(memory: &Memory, stored: &Degraded<StoredNote>) -> &'static str {
    match memory.events().get(stored.event).await {
        Ok(event) if event.quarantined.is_some() => "quarantined",
        Ok(event) if !event.echo.is_empty() => "echo",
        Ok(_) if stored.gaps.is_empty() && stored.id.is_some() => LearningStatus::Active.as_str(),
        _ => "pending",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_without_a_layer_of_their_own_are_categories() {
        for (top, category, expect) in [
            (None, None, None),
            (None, Some("a/b"), Some("a/b")),
            (Some("timeline"), None, Some("timeline")),
            (Some("anti-patterns"), Some("email"), Some("anti-patterns/email")),
            (Some("anti-patterns"), Some("anti-patterns/email"), Some("anti-patterns/email")),
            (Some("timeline"), Some("timeline"), Some("timeline")),
        ] {
            let filed = filed_under(top, category).unwrap();
            assert_eq!(filed.as_ref().map(Category::as_str), expect);
        }
        assert!(filed_under(Some("timeline"), Some("/a")).is_err());
    }
}
