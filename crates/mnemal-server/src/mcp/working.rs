//! `working_put`, `working_get` and `working_find`: the working memory of a session.

use std::time::Duration;

use mnemal::Memory;
use mnemal::working::{PutOptions, WorkingItem, WorkingQuery};
use mnemal_core::{Category, KeyPrefix, Tag};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::{Arguments, MOST_TOKENS};
use crate::mcp::store::category_of;
use crate::mcp::tool::Tool;

/// Maximum time to live in minutes; the layer has its own limit. Source: own default, 100 years.
const LONGEST: f64 = 52_560_000.0;
/// Ceiling of an answer without quotations, in tokens. Source: own default, as for every answer.
const CEILING: u32 = 2_000;

/// Stores an entry in the session's namespace.
pub(super) async fn put(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::WorkingPut, given);
    let key = arguments.required("key", "give the entry a short name.")?;
    let value = arguments.required("value", "say what to keep for now.")?;
    let ttl = match arguments.number("ttl_minutes")? {
        Some(minutes) if minutes > 0.0 && minutes <= LONGEST => Some(Duration::from_secs_f64(minutes * 60.0)),
        Some(_) => return Err(CorrectableError::new("ttl_minutes must be more than 0; leave it out for 5.")),
        None => None,
    };
    let keep = PutOptions { ttl, category: category(&arguments)?, tags: tags(&arguments)? };
    let memory = of(memory, &arguments)?;
    let kept = memory.working()?.put(key.trim(), value, keep).await?;
    let evicted: Vec<String> = kept.evicted.iter().map(ToString::to_string).collect();
    let mut tail = Remarks::new(arguments.notes);
    if !evicted.is_empty() {
        tail.say(format!("No room was left: {} went, which would have expired first.", evicted.join(", ")));
    }
    let (key, expires_at) = (kept.key.to_string(), kept.expires_at.to_string());
    let said = format!("Kept as {key} until {expires_at}.");
    let structured = json!({"key": key, "expires_at": expires_at, "evicted": evicted});
    Ok(ToolAnswer { text: tail.behind(&said, memory.admin().engine(), CEILING), structured })
}

/// Returns an entry: a plain name is in the session's namespace, a path is used as given.
pub(super) async fn get(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::WorkingGet, given);
    let key = arguments.required("key", "name the entry; working_find lists them.")?;
    let memory = of(memory, &arguments)?;
    let working = memory.working()?;
    let entry = working.get(key.trim()).await?;
    let mut tail = Remarks::new(arguments.notes);
    let block = memory.admin().fence(&[entry.value], tail.room(memory.admin().engine(), MOST_TOKENS) / 2);
    if block.cut > 0 {
        tail.say("The value goes on; it is too long for one answer.");
    }
    let structured = json!({
        "key": working.key(key.trim())?.to_string(),
        "value": block.lines.concat(),
        "expires_at": entry.expires_at.to_string(),
        "truncated": block.cut > 0,
    });
    Ok(ToolAnswer { text: tail.behind(&block.text, memory.admin().engine(), MOST_TOKENS), structured })
}

/// Lists entries without their values; with a query, those that share a word with it or have a similar meaning, best first.
pub(super) async fn find(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::WorkingFind, given);
    let ceiling = arguments.ceiling("max_tokens")?;
    let text = arguments.text("query")?.unwrap_or_default();
    let memory = of(memory, &arguments)?;
    let working = memory.working()?;
    let prefix = arguments.name("prefix", KeyPrefix::new)?;
    let prefix = prefix.unwrap_or_else(|| working.own().clone());
    let query = WorkingQuery { prefix, text, category: category(&arguments)?, tags: tags(&arguments)? };
    let searched = working.search(&query).await?;
    let found: Vec<WorkingItem> = searched.value.into_iter().map(|scored| scored.item).collect();
    let mut tail = Remarks::new(arguments.notes);
    tail.gaps(&searched.gaps);
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    // Entries appear in the answer twice: for the model, and with more fields for programs.
    let block = memory.admin().fence(&lines, tail.room(memory.admin().engine(), ceiling) / 2);
    if block.cut > 0 {
        tail.say(format!("{} more; narrow the query or raise max_tokens.", block.cut));
    }
    let head = if found.is_empty() { "Nothing stands there." } else { block.text.as_str() };
    let entries: Vec<Value> = found.iter().take(block.lines.len()).map(entry).collect();
    let mut structured = json!({"entries": entries, "truncated": block.cut > 0});
    let fits = |text: &str| memory.admin().engine().count_tokens(text).0 <= ceiling;
    crate::mcp::fact_lines::truncate_lists(&mut structured, &["entries"], fits);
    Ok(ToolAnswer { text: tail.behind(head, memory.admin().engine(), ceiling), structured })
}

/// Returns the memory of the call's session.
fn of(memory: &Memory, arguments: &Arguments) -> Result<Memory, CorrectableError> {
    Ok(arguments.session()?.map_or_else(|| memory.clone(), |session| memory.for_session(session)))
}

fn category(arguments: &Arguments) -> Result<Option<Category>, CorrectableError> {
    arguments.text("category")?.map(|name| category_of(name.trim())).transpose()
}

fn tags(arguments: &Arguments) -> Result<Vec<Tag>, CorrectableError> {
    let tag = |tag: String| Tag::new(tag).map_err(|error| CorrectableError::about("tags", &error));
    arguments.list("tags")?.into_iter().map(tag).collect()
}

fn entry(item: &WorkingItem) -> Value {
    json!({
        "key": item.key.to_string(),
        "expires_at": item.expires_at.to_string(),
        "category": item.category.as_ref().map(Category::as_str),
        "tags": item.tags.iter().map(Tag::as_str).collect::<Vec<_>>(),
    })
}
