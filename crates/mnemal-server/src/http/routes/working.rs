//! Working memory: scratch entries with a time to live.

use std::time::Duration;

use hyper::Method;
use mnemal::Memory;
use mnemal::working::{PutOptions, WorkingItem, WorkingMemory, WorkingQuery};
use mnemal_core::{Category, Degraded, Error, ExpiryError, KeyPrefix, Scored, Tag, WorkingKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error as _;

use crate::auth::Right;
use crate::http::call::Call;
use crate::http::cursor::PageForm;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;
use crate::wire::gaps;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "working_list",
            "/v1/spaces/{space}/working",
            "Entries below a prefix, without their values.",
            (of::<PageForm<ItemForm>>, |call| Box::pin(list(call))),
        )
        .query(of::<ListQuery>),
        Route::post(
            "working_search",
            "/v1/spaces/{space}/working/search",
            "Entries whose words fit, best first, without their values.",
            (of::<SearchForm>, of::<PageForm<ItemForm>>, |call| Box::pin(search(call))),
        )
        .right(Right::Read),
        Route::get(
            "working_get",
            "/v1/spaces/{space}/working/{*key}",
            "An entry.",
            (of::<EntryForm>, |call| Box::pin(get(call))),
        ),
        Route::post(
            "working_put",
            "/v1/spaces/{space}/working/{*key}",
            "Keeps a text for a while; the same key replaces it.",
            (of::<PutForm>, of::<PutResultForm>, |call| Box::pin(put(call))),
        )
        .method(Method::PUT),
        Route::get(
            "working_remove",
            "/v1/spaces/{space}/working/{*key}",
            "Removes the entry, and what is below it.",
            (of::<RemovedForm>, |call| Box::pin(remove(call))),
        )
        .method(Method::DELETE)
        .right(Right::Write),
    ]
}

/// Which entries.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ListQuery {
    /// Most items, 1 to 200; 50 without it.
    limit: Option<u32>,
    /// Where the list goes on.
    cursor: Option<String>,
    /// A path; everything without it.
    prefix: Option<String>,
}

/// What is looked for.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WorkingSearch")]
struct SearchForm {
    /// The words.
    query: String,
    /// A path; everything without it.
    prefix: Option<String>,
    /// Slash path.
    category: Option<String>,
    /// All of them.
    tags: Vec<String>,
}

/// A text that is kept for a while.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WorkingPut")]
struct PutForm {
    /// The text.
    value: String,
    /// How long, in seconds; the setting without it, 300.
    #[serde(default)]
    ttl_secs: Option<u64>,
    /// Slash path.
    #[serde(default)]
    category: Option<String>,
    /// Words to attach.
    #[serde(default)]
    tags: Vec<String>,
}

/// What was kept.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WorkingStored")]
struct PutResultForm {
    /// The whole path.
    key: String,
    /// When it ends.
    expires_at: String,
    /// Entries that had to go for it.
    evicted: Vec<String>,
}

/// An entry with its value.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Working")]
struct EntryForm {
    /// The whole path.
    key: String,
    /// The text.
    value: String,
    /// Slash path.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// Attached words.
    tags: Vec<String>,
    /// When it was kept.
    stored_at: String,
    /// When it ends.
    expires_at: String,
}

/// An entry without its value.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WorkingItem")]
struct ItemForm {
    /// The whole path.
    key: String,
    /// Slash path.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// Attached words.
    tags: Vec<String>,
    /// When it was kept.
    stored_at: String,
    /// When it ends.
    expires_at: String,
}

impl From<&WorkingItem> for ItemForm {
    fn from(item: &WorkingItem) -> Self {
        Self {
            key: item.key.to_string(),
            category: item.category.as_ref().map(ToString::to_string),
            tags: item.tags.iter().map(Tag::to_string).collect(),
            stored_at: item.stored_at.to_string(),
            expires_at: item.expires_at.to_string(),
        }
    }
}

/// What was removed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WorkingRemoved")]
struct RemovedForm {
    /// How many entries.
    removed: u64,
}

/// Returns a view from which every path is readable; a plain name is in the session `default`.
fn working(memory: &Memory) -> Result<WorkingMemory, Problem> {
    Ok(memory.working()?)
}

fn prefix(path: Option<&str>) -> Result<KeyPrefix, Problem> {
    Ok(path.map_or_else(|| Ok(KeyPrefix::all()), KeyPrefix::new)?)
}

/// Returns the error for a missing or expired entry.
fn missing(error: Error) -> Problem {
    if error.source().is_some_and(|source| source.downcast_ref::<ExpiryError>().is_some()) {
        return Problem::new("expired", error.what());
    }
    error.into()
}

async fn search_in(memory: &Memory, query: WorkingQuery) -> Result<Degraded<Vec<ItemForm>>, Problem> {
    let found = working(memory)?.search(&query).await?;
    Ok(found.map(|found| found.iter().map(|Scored { item, .. }| ItemForm::from(item)).collect()))
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let query: ListQuery = call.query()?;
    let memory = call.memory().await?;
    let page = call.page(&memory, query.limit, query.cursor.as_deref())?;
    let everything = WorkingQuery {
        prefix: prefix(query.prefix.as_deref())?,
        text: String::new(),
        category: None,
        tags: Vec::new(),
    };
    let (items, next_cursor) = page.page_of(&memory, search_in(&memory, everything).await?.value);
    Reply::ok(&PageForm { items, next_cursor, gaps: Vec::new() })
}

async fn search(call: Call) -> Result<Reply, Problem> {
    let form: SearchForm = call.body()?;
    let query = WorkingQuery {
        prefix: prefix(form.prefix.as_deref())?,
        text: form.query,
        category: form.category.map(Category::new).transpose()?,
        tags: form.tags.into_iter().map(Tag::new).collect::<Result<_, _>>()?,
    };
    let found = search_in(&call.memory().await?, query).await?;
    let gaps = gaps(&found.gaps);
    Reply::ok(&PageForm { items: found.value, next_cursor: None, gaps })
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let view = working(&memory)?;
    let key = view.key(call.name(1))?;
    let entry = view.get(call.name(1)).await.map_err(missing)?;
    Reply::ok(&EntryForm {
        key: key.to_string(),
        value: entry.value,
        category: entry.category.map(|category| category.to_string()),
        tags: entry.tags.iter().map(Tag::to_string).collect(),
        stored_at: entry.stored_at.to_string(),
        expires_at: entry.expires_at.to_string(),
    })
}

/// Returns the view that owns a path: a client names its namespace explicitly, and may write to any in the space.
fn owner(memory: &Memory, path: &str) -> Result<WorkingMemory, Problem> {
    let key = if path.contains('/') { WorkingKey::new(path)? } else { working(memory)?.key(path)? };
    Ok(memory.admin().working_in(key.namespace())?)
}

async fn put(call: Call) -> Result<Reply, Problem> {
    let form: PutForm = call.body()?;
    let memory = call.memory_or_new().await?;
    let keep = PutOptions {
        ttl: form.ttl_secs.map(Duration::from_secs),
        category: form.category.map(Category::new).transpose()?,
        tags: form.tags.into_iter().map(Tag::new).collect::<Result<_, _>>()?,
    };
    let kept = owner(&memory, call.name(1))?.put(call.name(1), form.value, keep).await?;
    Reply::ok(&PutResultForm {
        key: kept.key.to_string(),
        expires_at: kept.expires_at.to_string(),
        evicted: kept.evicted.iter().map(WorkingKey::to_string).collect(),
    })
}

async fn remove(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let removed = owner(&memory, call.name(1))?.remove(call.name(1)).await?;
    Reply::ok(&RemovedForm { removed })
}
