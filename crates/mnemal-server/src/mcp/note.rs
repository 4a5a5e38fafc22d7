//! `memory_get`, `memory_list`, `memory_update`, `memory_history` and `memory_learnings`: single notes and lists of notes.

use jiff::tz::TimeZone;
use mnemal::Memory;
use mnemal::learnings::{is_about_user, key_of, target_of};
use mnemal_core::{
    AsOf, ChannelId, Decision, ErrorKind, Event, EventId, Importance, Learning, LearningFilter, LearningKind,
    LearningStatus, Level, NoteKey, Tag, Within, Zone,
};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::bounded_list::{ListRow, render_rows};
use crate::mcp::cursor;
use crate::mcp::nearest::nearest;
use crate::mcp::store::{CHANNEL, category_of};
use crate::mcp::tool::Tool;

/// Default number of entries of a list. Source: own default, which fits the default ceiling.
const LIMIT: u32 = 20;
/// Maximum number of entries of a list. Source: own default; at the highest ceiling an entry has 80 tokens left.
const MOST: u32 = 100;
/// Ceiling of a short answer, in tokens. Source: own default, as for every answer.
const CEILING: u32 = 2_000;

/// Returns one note or event.
pub(super) async fn get(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Get, given);
    let ceiling = arguments.ceiling("max_tokens")?;
    let name = name(&arguments)?;
    let row = match name.parse::<EventId>() {
        Ok(id) => match memory.preferences().learning(&name).await {
            Ok(note) => of_note(&note),
            Err(error) if error.kind() == ErrorKind::NotFound => of_event(&memory.events().get(id).await?),
            Err(error) => return Err(error.into()),
        },
        Err(_) => of_note(&named(memory, &name).await?),
    };
    Ok(rows(memory, "memories", &[row], ceiling, Remarks::new(arguments.notes)))
}

/// Lists valid notes, newest first.
pub(super) async fn list(
    memory: &Memory,
    given: Map<String, Value>,
    zone: &TimeZone,
) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::List, given).within(zone);
    let now = memory.admin().engine().now();
    let (mut kind, mut category) = (arguments.text("kind")?, arguments.text("category")?);
    // Kinds without rows of their own are categories.
    if let Some("timeline") = kind.as_deref() {
        (kind, category) = (None, Some(category.unwrap_or_else(|| "timeline".to_owned())));
    }
    let filter = LearningFilter {
        kind: match kind.as_deref() {
            Some(name) => Within::Only(kind_of(name.trim())?),
            None => Within::All,
        },
        category: match category.as_deref() {
            Some(name) => Within::Only(category_of(name.trim())?),
            None => Within::All,
        },
        ..LearningFilter::all()
    };
    let tags: Vec<String> = arguments.list("tags")?;
    let (since, until) = (arguments.time("since", now)?, arguments.time("until", now)?);
    let mut found: Vec<Learning> = memory
        .preferences()
        .learnings(&filter, AsOf::present(now))
        .await?
        .into_iter()
        .map(|scored| scored.item)
        .filter(|note| {
            since.is_none_or(|since| note.occurred_at >= since)
                && until.is_none_or(|until| note.occurred_at < until)
                && tags.iter().all(|tag| note.tags.iter().any(|one| one.as_str() == tag))
        })
        .collect();
    found.sort_by_key(|note| (std::cmp::Reverse(note.occurred_at), note.id));
    let list = format!("{:?}", (Tool::List, &filter, &tags, since, until));
    paged(memory, arguments, &list, &found)
}

/// Lists learnings: preferences, problems with tools, insights over several notes.
pub(super) async fn learnings(
    memory: &Memory,
    given: Map<String, Value>,
) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::Learnings, given);
    let (tool, status) = (arguments.text("tool")?, arguments.text("status")?);
    let all = LearningFilter::all();
    let mut found: Vec<Learning> = match status.as_deref().map(str::trim) {
        None | Some("active") => {
            let holding =
                memory.preferences().learnings(&all, AsOf::present(memory.admin().engine().now())).await?;
            holding.into_iter().map(|scored| scored.item).collect()
        }
        Some(name) => {
            let status = LearningStatus::from_name(name).ok_or_else(|| {
                CorrectableError::new(format!(
                    "status must be among {}.",
                    LearningStatus::ALL.map(LearningStatus::as_str).join(", ")
                ))
            })?;
            let mut rows = memory.preferences().all_learnings(&all).await?;
            rows.retain(|row| row.status == status);
            rows
        }
    };
    found.retain(|row| {
        row.kind != LearningKind::Note
            && tool
                .as_ref()
                .is_none_or(|tool| row.tool.as_ref().is_some_and(|one| one.as_str() == tool.trim()))
    });
    let list = format!("{:?}", (Tool::Learnings, &tool, &status));
    paged(memory, arguments, &list, &found)
}

/// Lists the agents' notes about the user, newest first; `None` if there are none.
pub(super) async fn about_user(
    memory: &Memory,
    ceiling: u32,
) -> Result<Option<ToolAnswer>, CorrectableError> {
    let filter = LearningFilter { kind: Within::Only(LearningKind::Note), ..LearningFilter::all() };
    let holding =
        memory.preferences().learnings(&filter, AsOf::present(memory.admin().engine().now())).await?;
    let mut noted: Vec<Learning> = holding.into_iter().map(|scored| scored.item).collect();
    noted.retain(|note| note.level == Level::Agent && is_about_user(note));
    noted.sort_by_key(|note| (std::cmp::Reverse(note.occurred_at), note.id));
    let found: Vec<ListRow> = noted.iter().map(of_note).collect();
    Ok((!found.is_empty()).then(|| rows(memory, "memories", &found, ceiling, Remarks::new(Vec::new()))))
}

/// Lists all versions of a note, newest first.
pub(super) async fn history(
    memory: &Memory,
    given: Map<String, Value>,
) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::History, given);
    let ceiling = arguments.ceiling("max_tokens")?;
    let note = named(memory, &name(&arguments)?).await?;
    let versions = match &note.key {
        Some(key) => memory.preferences().history(key).await?,
        None => vec![note],
    };
    let found: Vec<ListRow> = versions.iter().map(of_note).collect();
    Ok(rows(memory, "versions", &found, ceiling, Remarks::new(arguments.notes)))
}

/// Makes a new version of a note, archives it, or restores it.
pub(super) async fn update(
    memory: &Memory,
    given: Map<String, Value>,
) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::Update, given);
    let note = named(memory, &name(&arguments)?).await?;
    if note.level == Level::User {
        return Err(CorrectableError::new(
            "These are the user's own words. Ask the user to say it anew; what is newer holds.",
        ));
    }
    let changes = ["content", "category", "tags", "importance"].iter().any(|name| arguments.has(name));
    let status = arguments.text("status")?;
    let done = match (status.as_deref().map(str::trim), changes) {
        (Some(_), true) => {
            return Err(CorrectableError::new("Change the words or the status, in two calls."));
        }
        (Some(status), false) => decide(memory, &note, status).await?,
        (None, true) => renew(memory, &note, &key_of(&note)?, &arguments).await?,
        (None, false) => {
            return Err(CorrectableError::new(
                "Say what changes: content, category, tags, importance or status.",
            ));
        }
    };
    let tail = Remarks::new(arguments.notes);
    let name = note.key.as_ref().map_or_else(|| note.id.to_string(), ToString::to_string);
    let after = memory.preferences().learning(&name).await.ok();
    let structured = json!({
        "id": after.as_ref().map_or(note.id, |after| after.id).to_string(),
        "key": note.key.as_ref().map(NoteKey::as_str),
        "version": after.as_ref().map_or(note.version, |after| after.version),
        "status": after.as_ref().map_or("pending", |after| after.status.as_str()),
    });
    Ok(ToolAnswer { text: tail.behind(&done, memory.admin().engine(), CEILING), structured })
}

async fn decide(memory: &Memory, note: &Learning, status: &str) -> Result<String, CorrectableError> {
    let (decision, done) = match (status, note.status) {
        ("archived", LearningStatus::Active) => (Decision::Archive(target_of(note)), "put away"),
        ("active", LearningStatus::Archived) => (Decision::Restore(target_of(note)), "taken out again"),
        ("archived" | "active", standing) => {
            return Err(CorrectableError::new(format!(
                "It is {}; only what is active can be archived, and what is archived made active.",
                standing.as_str()
            )));
        }
        _ => return Err(CorrectableError::new("status must be archived or active.")),
    };
    let _acked = memory.facts().decide_by_agent(decision).await?;
    Ok(format!("{} was {done}.", note.id))
}

async fn renew(
    memory: &Memory,
    note: &Learning,
    key: &NoteKey,
    arguments: &Arguments,
) -> Result<String, CorrectableError> {
    let content = arguments.text("content")?.unwrap_or_else(|| note.content.clone());
    let category = match arguments.text("category")? {
        Some(name) => category_of(name.trim())?,
        None => note.category.clone(),
    };
    let channel = ChannelId::new(CHANNEL)?;
    let mut request = memory.remember(content).key(key.clone()).kind(note.kind).category(category);
    request = request.importance(match arguments.number("importance")? {
        #[expect(clippy::cast_possible_truncation, reason = "an importance is a small number")]
        Some(importance) => Importance::new(importance as f32)
            .map_err(|error| CorrectableError::about("importance", &error))?,
        None => note.importance,
    });
    let tags = if arguments.has("tags") {
        let tag = |tag: String| Tag::new(tag).map_err(|error| CorrectableError::about("tags", &error));
        arguments.list("tags")?.into_iter().map(tag).collect::<Result<Vec<_>, _>>()?
    } else {
        note.tags.clone()
    };
    for tag in tags {
        request = request.tag(tag);
    }
    if let Some(end) = note.expires_at {
        request = request.expires_at(end);
    }
    let stored = request.message(|message| message.channel(channel)).await?;
    Ok(format!("Stored version {} of '{key}'.", stored.version))
}

/// Returns the name of the note in the call.
fn name(arguments: &Arguments) -> Result<String, CorrectableError> {
    let name = match arguments.text("id")? {
        Some(id) => Some(id),
        None => arguments.text("key")?,
    };
    let name = name.map(|name| name.trim().to_owned());
    name.ok_or_else(|| {
        CorrectableError::new("Give the id (mem_… or evt_…) or the key. Use memory_recall to search.")
    })
}

/// Returns the note of an id or a key.
pub(super) async fn named(memory: &Memory, name: &str) -> Result<Learning, CorrectableError> {
    match memory.preferences().learning(name).await {
        Ok(note) => Ok(note),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let notes = memory.preferences().notes(&LearningFilter::all()).await.unwrap_or_default();
            let keys = notes.iter().filter_map(|note| note.key.as_ref()).map(NoteKey::as_str);
            let near: Vec<String> = nearest(name, keys).iter().map(|key| format!("'{key}'")).collect();
            let near =
                if near.is_empty() { String::new() } else { format!(" Nearest: {}.", near.join(", ")) };
            let shown: String =
                name.chars().filter(|letter| !letter.is_control() && *letter != '<').take(64).collect();
            Err(CorrectableError::new(format!(
                "No memory with id or key '{shown}'.{near} Use memory_recall to search."
            )))
        }
        Err(error) => Err(error.into()),
    }
}

fn kind_of(name: &str) -> Result<LearningKind, CorrectableError> {
    LearningKind::from_name(name).ok_or_else(|| {
        let kinds = LearningKind::ALL.map(LearningKind::as_str).join(", ");
        CorrectableError::new(format!("kind must be among {kinds} and timeline."))
    })
}

fn paged(
    memory: &Memory,
    mut arguments: Arguments,
    list: &str,
    found: &[Learning],
) -> Result<ToolAnswer, CorrectableError> {
    let limit = arguments.count("limit", MOST)?.unwrap_or(LIMIT) as usize;
    let ceiling = arguments.ceiling("max_tokens")?;
    let from = cursor::read(memory, list, arguments.text("cursor")?.as_deref())?;
    let mut tail = Remarks::new(arguments.notes);
    let page: Vec<ListRow> = found.iter().skip(from).take(limit).map(of_note).collect();
    let mut answer = render_rows(memory, "memories", &page, ceiling, &tail);
    let next = from + answer.shown.max(1);
    if next < found.len() {
        let cursor = cursor::cursor(memory, list, next);
        tail.say(format!("{} more; go on with cursor \"{cursor}\".", found.len() - next));
        answer = answer.with("next_cursor", cursor).with("truncated", true);
    }
    let head = if page.is_empty() { "No memories match." } else { answer.text.as_str() };
    Ok(ToolAnswer {
        text: tail.behind(head, memory.admin().engine(), ceiling),
        structured: answer.structured,
    })
}

fn rows(memory: &Memory, list: &str, found: &[ListRow], ceiling: u32, mut tail: Remarks) -> ToolAnswer {
    let answer = render_rows(memory, list, found, ceiling, &tail);
    if answer.structured.get("truncated") == Some(&Value::Bool(true)) {
        tail.say("There is more; raise max_tokens.");
    }
    ToolAnswer {
        text: tail.behind(&answer.text, memory.admin().engine(), ceiling),
        structured: answer.structured,
    }
}

/// Returns a note as an entry of a list.
pub(super) fn of_note(note: &Learning) -> ListRow {
    let date = note.occurred_at.civil(&Zone::utc()).day_text();
    let key = note.key.as_ref().map_or_else(|| note.id.to_string(), NoteKey::to_string);
    let mut fields = json!({
        "id": note.id.to_string(),
        "version": note.version,
        "kind": note.kind.as_str(),
        "category": note.category.as_str(),
        "tags": note.tags.iter().map(Tag::as_str).collect::<Vec<_>>(),
        "status": note.status.as_str(),
        "importance": f64::from((note.importance.get() * 100.0).round()) / 100.0,
        "date": date,
        "origin": note.level.as_str(),
    });
    if let (Some(key), Some(fields)) = (&note.key, fields.as_object_mut()) {
        fields.insert("key".to_owned(), key.as_str().into());
    }
    let standing = if note.status == LearningStatus::Active {
        String::new()
    } else {
        format!(" · {}", note.status.as_str())
    };
    let line = format!("[{date} · {}{standing}] {key}: {}", note.level.as_str(), note.content);
    ListRow { line, fields }
}

/// Returns an event as an entry of a list.
pub(super) fn of_event(event: &Event) -> ListRow {
    let (date, origin, session, content) = match event.body() {
        Some(kept) => (
            kept.occurred_at.civil(&kept.zone).day_text(),
            kept.origin.as_str(),
            Some(kept.session.as_str()),
            kept.content.as_str(),
        ),
        None => (event.recorded_at.civil(&Zone::utc()).day_text(), "engine", None, "(erased)"),
    };
    let line = format!("[{date} · {}] {content}", event.role.as_str());
    let fields = json!({
        "id": event.id.to_string(),
        "role": event.role.as_str(),
        "date": date,
        "origin": origin,
        "session": session,
    });
    ListRow { line, fields }
}
