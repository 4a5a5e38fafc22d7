//! Memories: notes and learnings, by id, by key, by kind.
//!
//! One file, though a long one: its operations share their forms, filters and the lookup of a memory by its name.

use std::collections::HashMap;
use std::time::Duration;

use hyper::{Method, StatusCode};
use mnemal::Memory;
use mnemal::events::RememberCall;
use mnemal_core::{
    AsOf, Category, ChannelId, Decision, EventId, Importance, Learning, LearningFilter, LearningKind,
    LearningStatus, Level, Metadata, NoteKey, NoteTarget, Scored, Selector, SessionId, Tag, Timestamp,
    UserId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::auth::{KeyClass, Right, hex};
use crate::http::call::{CHANNEL, Call};
use crate::http::cursor::PageForm;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::condition::Condition;
use crate::http::routes::{events, forget, of};
use crate::limits::LONGEST_MEMORY;
use crate::mcp::token;
use crate::wire::{EXPIRED, ErasureForm, Fields, MemoryForm, StoredForm, event_fields, status, stored};

/// Deduplication window of a note without a key. Source: own choice, 10 minutes cover the retries of a client.
const WINDOW: Duration = Duration::from_mins(10);
/// Maximum number of tags. Source: the limit of an event.
const TAGS: usize = 64;
/// The channel of items of an application's own store.
const STORE: &str = "store";
/// Purpose of the tokens of a filtered deletion.
const PURPOSE: &str = "http_memories_delete";

pub(super) fn routes() -> Vec<Route> {
    let views = [
        ("learning_list", "/v1/spaces/{space}/learnings", "What was learnt, by what it weighs."),
        ("preference_list", "/v1/spaces/{space}/preferences", "How the user wants things."),
        ("insight_list", "/v1/spaces/{space}/insights", "What several memories say together."),
    ];
    let mut routes: Vec<Route> = views
        .into_iter()
        .map(|(operation, path, summary)| {
            Route::get(operation, path, summary, (of::<PageForm<MemoryForm>>, |call| Box::pin(list(call))))
                .query(of::<MemoriesQuery>)
        })
        .collect();
    routes.extend(records());
    routes
}

#[expect(clippy::too_many_lines, reason = "a table of routes")]
fn records() -> Vec<Route> {
    let erase = |route: Route| route.method(Method::DELETE).right(Right::Erase);
    vec![
        Route::post(
            "memory_add",
            "/v1/spaces/{space}/memories",
            "Stores a memory as a note of the agent's; under a key that is in use, what is not said stays as it is.",
            (of::<NewMemoryForm>, of::<StoredForm>, |call| Box::pin(add(call))),
        )
        .status(201),
        Route::get(
            "memory_list",
            "/v1/spaces/{space}/memories",
            "Memories, by category, then key.",
            (of::<PageForm<MemoryForm>>, |call| Box::pin(list(call))),
        )
        .query(of::<MemoriesQuery>),
        Route::post(
            "memories_delete",
            "/v1/spaces/{space}/memories/delete",
            "Erases the memories that pass a filter; previewed first.",
            (of::<DeleteForm>, of::<ErasureForm>, |call| Box::pin(delete(call))),
        )
        .right(Right::Erase),
        Route::get(
            "memory_get",
            "/v1/spaces/{space}/memories/{id}",
            "A memory, by its id or that of its event.",
            (of::<MemoryForm>, |call| Box::pin(get(call))),
        ),
        Route::post(
            "memory_edit",
            "/v1/spaces/{space}/memories/{id}",
            "Makes a new version of it; one without a key is stored anew, and the old one put away.",
            (of::<PatchForm>, of::<StoredForm>, |call| Box::pin(edit(call))),
        )
        .method(Method::PATCH),
        erase(Route::get(
            "memory_forget",
            "/v1/spaces/{space}/memories/{id}",
            "Erases it.",
            (of::<ErasureForm>, |call| Box::pin(erase_one(call))),
        )),
        Route::get(
            "memory_get_by_key",
            "/v1/spaces/{space}/memories/by-key/{key}",
            "A memory, by its key.",
            (of::<MemoryForm>, |call| Box::pin(get_by_key(call))),
        ),
        Route::post(
            "memory_put_by_key",
            "/v1/spaces/{space}/memories/by-key/{key}",
            "Stores it under the key; what was there becomes its past.",
            (of::<NewMemoryForm>, of::<StoredForm>, |call| Box::pin(put(call))),
        )
        .method(Method::PUT)
        .status(201),
        erase(Route::get(
            "memory_forget_by_key",
            "/v1/spaces/{space}/memories/by-key/{key}",
            "Erases every version of it.",
            (of::<ErasureForm>, |call| Box::pin(erase_key(call))),
        )),
        Route::get(
            "memory_history",
            "/v1/spaces/{space}/memories/{id}/history",
            "Its versions, newest first.",
            (of::<PageForm<MemoryForm>>, |call| Box::pin(history(call))),
        ),
        decision(
            "memory_archive",
            "/v1/spaces/{space}/memories/{id}/archive",
            "Puts it away; it can be restored.",
            |call| Box::pin(decide(call, Decision::Archive)),
        ),
        decision(
            "memory_restore",
            "/v1/spaces/{space}/memories/{id}/restore",
            "Takes it back out.",
            |call| Box::pin(decide(call, Decision::Restore)),
        ),
        decision(
            "memory_reject",
            "/v1/spaces/{space}/memories/{id}/reject",
            "Says that it is wrong.",
            |call| Box::pin(decide(call, Decision::Reject)),
        ),
        Route::post(
            "memory_confirm",
            "/v1/spaces/{space}/memories/{id}/confirm",
            "Makes it the user's own, whose exact words a person saw.",
            (of::<ConfirmForm>, of::<DecisionResultForm>, |call| Box::pin(confirm(call))),
        ),
        decision(
            "memory_pin",
            "/v1/spaces/{space}/memories/{id}/pin",
            "Lets it stand in every context, first of all; only a person does. Answers with the version that is pinned.",
            |call| Box::pin(pin(call, Pin::Set)),
        ),
        decision(
            "memory_unpin",
            "/v1/spaces/{space}/memories/{id}/unpin",
            "Takes the pin out; the memory stays.",
            |call| Box::pin(pin(call, Pin::Remove)),
        ),
        Route::get(
            "category_list",
            "/v1/spaces/{space}/categories",
            "Categories with how many memories hold in each.",
            (of::<CategoriesForm>, |call| Box::pin(categories(call))),
        ),
    ]
}

fn decision(
    operation: &'static str,
    path: &'static str,
    summary: &'static str,
    handle: crate::http::route::Handler,
) -> Route {
    Route::get(operation, path, summary, (of::<DecisionResultForm>, handle))
        .method(Method::POST)
        .right(Right::Write)
}

/// A memory that is to be stored.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewMemory")]
struct NewMemoryForm {
    /// The words, understandable on their own; at most 32 KiB.
    content: String,
    /// A stable name: storing again with it makes a new version.
    #[serde(default)]
    key: Option<String>,
    /// `knowledge`, `preference`, `timeline` or `anti_pattern`; a preference that the user did not say is kept as a note.
    #[serde(default)]
    kind: Option<String>,
    /// Slash path; `general` without it.
    #[serde(default)]
    category: Option<String>,
    /// Words to attach, at most 64.
    #[serde(default)]
    tags: Vec<String>,
    /// 0 to 1; 0.5 without it.
    #[serde(default)]
    importance: Option<f32>,
    /// How long it holds, in seconds; for good without it.
    #[serde(default)]
    ttl_secs: Option<u64>,
    /// The conversation; `default` without it.
    #[serde(default)]
    session: Option<String>,
    /// Whose it is.
    #[serde(default)]
    user: Option<String>,
    /// `agent` without it; `application` for an item of a store that a program keeps: it is no part of what an agent may note in
    /// an hour. Not with the key of an agent.
    #[serde(default)]
    writer: Option<String>,
    /// What else is to be kept, as JSON values.
    #[serde(default)]
    metadata: Fields,
}

/// What is to be different in a new version; what is left out stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MemoryPatch")]
struct PatchForm {
    /// The words.
    #[serde(default)]
    content: Option<String>,
    /// Slash path.
    #[serde(default)]
    category: Option<String>,
    /// All of its tags.
    #[serde(default)]
    tags: Option<Vec<String>>,
    /// 0 to 1.
    #[serde(default)]
    importance: Option<f32>,
    /// How long it holds from now on, in seconds.
    #[serde(default)]
    ttl_secs: Option<u64>,
    /// The version that is to be there; another one is a conflict, and nothing is stored.
    #[serde(default)]
    if_version: Option<u32>,
    /// As where a memory is stored: `agent` without it, or `application`.
    #[serde(default)]
    writer: Option<String>,
    /// All of what else is to be kept.
    #[serde(default)]
    metadata: Option<Fields>,
}

/// Which memories.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct MemoriesQuery {
    /// Most items, 1 to 200; 50 without it.
    limit: Option<u32>,
    /// Where the list goes on.
    cursor: Option<String>,
    /// Of one kind: `knowledge`, `preference`, `anti_pattern`, `tool` or `insight`.
    kind: Option<String>,
    /// In one category and below.
    category: Option<String>,
    /// With a tag.
    tag: Option<String>,
    /// Of one status; `active` without it, `all` for every one.
    status: Option<String>,
    /// Those that wait for a person's review, newest first; which do, `learning.review` says. With `status` for those of one alone.
    waiting: bool,
    /// Of one person.
    user: Option<String>,
    /// About one tool.
    tool: Option<String>,
    /// Said then or later.
    since: Option<String>,
    /// Said before.
    until: Option<String>,
    /// Whose words hold this text, whatever the case.
    q: Option<String>,
    /// Conditions on the metadata as a JSON object: `{"topic": "tea", "n": {"gt": 3}}`, with the operators `eq`, `ne`, `gt`, `gte`,
    /// `lt`, `lte`, `in`, `nin`, `contains` and `icontains`, and `"*"` for any value.
    metadata: Option<String>,
}

/// Which memories are to be erased.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DeleteMemories")]
struct DeleteForm {
    /// All of its conditions hold; an empty one means every memory.
    filter: DeleteFilter,
    /// Only say what would go; yes without it.
    #[serde(default)]
    dry_run: Option<bool>,
    /// From the preview.
    #[serde(default)]
    confirm_token: Option<String>,
}

/// Conditions.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "DeleteFilter")]
struct DeleteFilter {
    /// Of one kind.
    kind: Option<String>,
    /// In one category and below.
    category: Option<String>,
    /// With a tag.
    tag: Option<String>,
}

/// What a person saw.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Confirm")]
struct ConfirmForm {
    /// SHA-256 of the words, in hexadecimal digits.
    sha256: String,
}

/// What was decided.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Decided")]
struct DecisionResultForm {
    /// The memory.
    id: String,
    /// The decision in the log.
    event_id: String,
}

/// Categories.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Categories")]
struct CategoriesForm {
    /// By name.
    items: Vec<CategoryForm>,
}

/// A category.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Category")]
struct CategoryForm {
    /// Slash path.
    category: String,
    /// Memories that hold in it.
    count: u64,
}

async fn add(call: Call) -> Result<Reply, Problem> {
    let form: NewMemoryForm = call.body()?;
    store(&call, form, OmittedFields::Kept).await
}

async fn put(call: Call) -> Result<Reply, Problem> {
    let form: NewMemoryForm = call.body()?;
    if form.key.as_deref().is_some_and(|key| key != call.name(1)) {
        return Err(Problem::invalid("the key of the body is another than that of the path"));
    }
    let key = Some(call.name(1).to_owned());
    store(&call, NewMemoryForm { key, ..form }, OmittedFields::Usual).await
}

/// How omitted fields are treated when a key is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OmittedFields {
    /// They keep the values of the valid version.
    Kept,
    /// They get the defaults of a new memory.
    Usual,
}

async fn store(call: &Call, form: NewMemoryForm, unsaid: OmittedFields) -> Result<Reply, Problem> {
    let memory = call.memory_or_new().await?;
    let key = form.key.as_deref().map(NoteKey::new).transpose()?;
    let (kind, top) = kind_and_top(form.kind.as_deref())?;
    let category = category(top, form.category.as_deref())?;
    let mut request = memory.remember(words(form.content)?);
    if form.kind.is_some() || unsaid == OmittedFields::Usual || key.is_none() {
        request = request.kind(kind);
    }
    let mut request = filed(request, category, &form.tags, form.importance)?;
    if let Some(key) = &key {
        request = request.key(key.clone());
        if unsaid == OmittedFields::Kept {
            request = request.amend();
        }
    }
    if let Some(end) = end(call, form.ttl_secs)? {
        request = request.expires_at(end);
    }
    let (mut request, channel) = set_author(call, request, form.writer.as_deref())?;
    let session = form.session.map(SessionId::new).transpose()?;
    let user = form.user.map(UserId::new).transpose()?;
    let metadata = stored(form.metadata)?;
    let idempotency_key = call.idempotency_key.clone();
    let has_own_key = idempotency_key.is_some();
    request = request.message(|mut message| {
        message = message.channel(channel);
        if let Some(session) = session {
            message = message.session(session);
        }
        if let Some(user) = user {
            message = message.user_id(user);
        }
        if let Some(key) = idempotency_key {
            message = message.hidden_idempotency_key(key);
        }
        metadata.into_iter().fold(message, |message, (name, value)| message.metadata(name, value))
    });
    let stored = if has_own_key || key.is_some() { request.await? } else { request.once(WINDOW).await? };
    answer(call, &memory, key.as_ref(), &stored).await
}

/// Returns the end of a validity period.
fn end(call: &Call, seconds: Option<u64>) -> Result<Option<Timestamp>, Problem> {
    let Some(seconds) = seconds else { return Ok(None) };
    let micros = i64::try_from(seconds).ok().and_then(|seconds| seconds.checked_mul(1_000_000));
    let micros = micros.filter(|micros| *micros > 0);
    let micros = micros.ok_or_else(|| Problem::invalid("ttl_secs must be above 0"))?;
    Ok(Some(call.host.now().plus_micros(micros)))
}

/// Sets the author of a note, and the channel of its event.
pub(super) fn set_author(
    call: &Call,
    request: RememberCall,
    writer: Option<&str>,
) -> Result<(RememberCall, ChannelId), Problem> {
    match writer {
        None | Some("agent") => Ok((request, ChannelId::new(CHANNEL)?)),
        Some("application") => {
            call.vouches()?;
            Ok((request.by_application(), ChannelId::new(STORE)?))
        }
        Some(_) => Err(Problem::invalid("writer must be agent or application")),
    }
}

/// Responds with the result of storing a note.
async fn answer(
    call: &Call,
    memory: &Memory,
    key: Option<&NoteKey>,
    stored: &mnemal_core::Degraded<mnemal::events::StoredNote>,
) -> Result<Reply, Problem> {
    let metrics = &call.host.metrics;
    metrics.count("mnemal_events_total", &[], u64::from(stored.created));
    metrics.count("mnemal_redactions_total", &[], u64::from(stored.redactions));
    metrics.count("mnemal_near_duplicates_total", &[], u64::from(stored.alike.is_some()));
    let row = match stored.id {
        Some(id) => memory.preferences().learning(&id.to_string()).await.ok(),
        None => None,
    };
    let is_quarantined = stored.held_back.is_some();
    metrics.count("mnemal_quarantined_total", &[], u64::from(is_quarantined && stored.created));
    let status = match row {
        Some(row) => row.status.as_str(),
        None if is_quarantined => "quarantined",
        None => "pending",
    };
    let form = StoredForm::new(stored, key, status, &stored.gaps);
    let status = if stored.created && stored.version <= 1 { StatusCode::CREATED } else { StatusCode::OK };
    Reply::json(status, &form)
}

fn words(content: String) -> Result<String, Problem> {
    if content.len() > LONGEST_MEMORY {
        return Err(Problem::new("too_large", format!("a memory has at most {LONGEST_MEMORY} bytes")));
    }
    if content.trim().is_empty() {
        return Err(Problem::invalid("content is empty"));
    }
    Ok(content)
}

fn filed(
    mut request: RememberCall,
    category: Option<Category>,
    tags: &[String],
    importance: Option<f32>,
) -> Result<RememberCall, Problem> {
    if tags.len() > TAGS {
        return Err(Problem::invalid(format!("a memory has at most {TAGS} tags")));
    }
    if let Some(category) = category {
        request = request.category(category);
    }
    for tag in tags {
        request = request.tag(Tag::new(tag.as_str())?);
    }
    Ok(match importance {
        Some(importance) => request.importance(Importance::new(importance)?),
        None => request,
    })
}

/// Parses a kind; kinds without rows of their own are categories.
fn kind_and_top(name: Option<&str>) -> Result<(LearningKind, Option<&'static str>), Problem> {
    match name {
        None | Some("knowledge") => Ok((LearningKind::Note, None)),
        Some("preference") => Ok((LearningKind::Preference, None)),
        Some("timeline") => Ok((LearningKind::Note, Some("timeline"))),
        Some("anti_pattern") => Ok((LearningKind::Note, Some("anti-patterns"))),
        Some(_) => Err(Problem::invalid("kind must be knowledge, preference, timeline or anti_pattern")),
    }
}

fn category(top: Option<&str>, name: Option<&str>) -> Result<Option<Category>, Problem> {
    let category = crate::mcp::store::filed_under(top, name);
    category.map_err(|mistake| Problem::invalid(mistake.0))
}

fn filter(kind: Option<&str>, category: Option<&str>, user: Option<&str>) -> Result<LearningFilter, Problem> {
    let named = |name: &str| {
        LearningKind::from_name(name).ok_or_else(|| mnemal_core::Error::invalid(format!("no kind {name:?}")))
    };
    Ok(LearningFilter {
        kind: events::within(kind, named)?,
        category: events::within(category, |path| Category::new(path))?,
        user: events::within(user, |name| UserId::new(name))?,
        ..LearningFilter::all()
    })
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let query: MemoriesQuery = call.query()?;
    let memory = call.memory().await?;
    let page = call.page(&memory, query.limit, query.cursor.as_deref())?;
    let filter = filter(query.kind.as_deref(), query.category.as_deref(), query.user.as_deref())?;
    let now = call.host.now();
    let wanted_status = match query.status.as_deref() {
        None | Some("all") => None,
        Some(EXPIRED) => Some(EXPIRED),
        Some(name) => {
            let known = LearningStatus::from_name(name).map(LearningStatus::as_str);
            Some(known.ok_or_else(|| Problem::invalid(format!("no status {name:?}")))?)
        }
    };
    let mut rows: Vec<Learning> = if query.waiting {
        memory.preferences().to_review(&filter).await?
    } else if query.status.is_none() {
        let holding = memory.preferences().learnings(&filter, AsOf::present(now)).await?;
        holding.into_iter().map(|Scored { item, .. }| item).collect()
    } else {
        memory.preferences().all_learnings(&filter).await?
    };
    let (since, until) =
        (call.time("since", query.since.as_deref())?, call.time("until", query.until.as_deref())?);
    let wanted = query.q.map(|words| words.to_lowercase());
    rows.retain(|row| {
        let of_view = match call.operation {
            "learning_list" => row.kind != LearningKind::Note,
            "preference_list" => matches!(row.kind, LearningKind::Preference | LearningKind::AntiPattern),
            "insight_list" => row.kind == LearningKind::Insight,
            _ => true,
        };
        of_view
            && wanted_status.is_none_or(|wanted| status(row, now) == wanted)
            && query.tag.as_ref().is_none_or(|tag| row.tags.iter().any(|one| one.as_str() == tag))
            && query
                .tool
                .as_ref()
                .is_none_or(|tool| row.tool.as_ref().is_some_and(|one| one.as_str() == tool))
            && since.is_none_or(|since| row.occurred_at >= since)
            && until.is_none_or(|until| row.occurred_at < until)
            && wanted.as_ref().is_none_or(|words| row.content.to_lowercase().contains(words))
    });
    if let Some(text) = &query.metadata {
        let conditions: serde_json::Value = serde_json::from_str(text)
            .map_err(|wrong| Problem::invalid(format!("metadata: a JSON object is meant: {wrong}")))?;
        let condition = Condition::of_metadata(&conditions, "metadata")?;
        let kept = latest_metadata(&memory, &rows).await?;
        rows.retain(|row| {
            source_of(row).and_then(|event| kept.get(&event)).is_some_and(|kept| condition.matches(kept))
        });
    }
    let (rows, next_cursor) = page.page_of(&memory, rows);
    Reply::ok(&PageForm { items: forms(&memory, &rows, now).await?, next_cursor, gaps: Vec::new() })
}

fn source_of(row: &Learning) -> Option<EventId> {
    row.sources.last().map(|source| source.event)
}

/// Returns the metadata of the latest source events of rows: a repeated text may have other metadata.
async fn latest_metadata(memory: &Memory, rows: &[Learning]) -> Result<HashMap<EventId, Metadata>, Problem> {
    let events: Vec<EventId> = rows.iter().filter_map(source_of).collect();
    let found = memory.events().get_many(&events).await?;
    Ok(found.into_iter().filter_map(|event| Some((event.id, event.body()?.metadata.clone()))).collect())
}

/// Returns the forms of memories with their metadata.
async fn forms(memory: &Memory, rows: &[Learning], now: Timestamp) -> Result<Vec<MemoryForm>, Problem> {
    let kept = latest_metadata(memory, rows).await?;
    let form = |row: &Learning| {
        let metadata = source_of(row).and_then(|event| kept.get(&event)).map(event_fields);
        MemoryForm {
            metadata: metadata.filter(|fields| !fields.is_empty()),
            ..MemoryForm::new(memory, row, now)
        }
    };
    Ok(rows.iter().map(form).collect())
}

/// Responds with one memory.
async fn respond_with(memory: &Memory, row: Learning, now: Timestamp) -> Result<Reply, Problem> {
    let forms = forms(memory, &[row], now).await?;
    Reply::ok(&forms.first())
}

/// Returns the memory of a path: by its id, or that of the event that stored it.
async fn named(memory: &Memory, name: &str) -> Result<Learning, Problem> {
    if name.starts_with("mem_") || name.starts_with("evt_") {
        return Ok(memory.preferences().learning(name).await?);
    }
    Err(Problem::not_found(format!("no memory {name:?}")))
}

async fn keyed(memory: &Memory, key: &str) -> Result<Learning, Problem> {
    let versions = match NoteKey::new(key) {
        Ok(key) => memory.preferences().history(&key).await,
        Err(wrong) => return Err(Problem::not_found(wrong.what())),
    };
    match versions {
        // A version that did not take effect may be newer than the valid one.
        Ok(versions) => {
            let holds = versions.iter().find(|row| row.status == LearningStatus::Active).or(versions.first());
            holds.cloned().ok_or_else(|| Problem::not_found(format!("no memory with key {key:?}")))
        }
        Err(error) if error.kind() == mnemal_core::ErrorKind::NotFound => {
            let known = memory.preferences().notes(&LearningFilter::all()).await.unwrap_or_default();
            let keys = known.iter().filter_map(|row| row.key.as_ref()).map(NoteKey::as_str);
            let near = crate::mcp::nearest::nearest(key, keys).join(", ");
            let near = if near.is_empty() { String::new() } else { format!("; nearest: {near}") };
            Err(Problem::not_found(format!("no memory with key {key:?}{near}")))
        }
        Err(error) => Err(error.into()),
    }
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let row = named(&memory, call.name(1)).await?;
    respond_with(&memory, row, call.host.now()).await
}

async fn get_by_key(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let row = keyed(&memory, call.name(1)).await?;
    if let Some(end) = row.expires_at.filter(|end| *end <= call.host.now()) {
        return Err(Problem::not_found(format!(
            "the memory with key {:?} has expired: it ended at {end}",
            call.name(1)
        )));
    }
    respond_with(&memory, row, call.host.now()).await
}

async fn history(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let row = named(&memory, call.name(1)).await?;
    let versions = match &row.key {
        Some(key) => memory.preferences().history(key).await?,
        None => vec![row],
    };
    let items = forms(&memory, &versions, call.host.now()).await?;
    Reply::ok(&PageForm { items, next_cursor: None, gaps: Vec::new() })
}

async fn edit(call: Call) -> Result<Reply, Problem> {
    let form: PatchForm = call.body()?;
    let memory = call.memory().await?;
    let meant = named(&memory, call.name(1)).await?;
    let key = meant.key.clone();
    // The id may be that of an older version: omitted fields keep their current values.
    let row = match &key {
        Some(key) => keyed(&memory, key.as_str()).await?,
        None if meant.level == Level::User => {
            return Err(Problem::invalid(
                "these are the user's own words; reject them, and store what is right",
            ));
        }
        None => meant,
    };
    if form.if_version.is_some_and(|version| version != row.version) {
        return Err(Problem::new(
            "conflict",
            format!("its version is {} by now; read it again", row.version),
        ));
    }
    let content = words(form.content.unwrap_or_else(|| row.content.clone()))?;
    let category = form.category.map_or_else(|| Ok(row.category.clone()), Category::new)?;
    let tags = form.tags.unwrap_or_else(|| row.tags.iter().map(Tag::to_string).collect());
    let importance = form.importance.unwrap_or_else(|| row.importance.get());
    let mut fields =
        latest_metadata(&memory, std::slice::from_ref(&row)).await?.into_values().next().unwrap_or_default();
    if let Some(metadata) = form.metadata {
        fields = stored(metadata)?;
    }
    let mut request = memory.remember(content).kind(row.kind);
    if let Some(key) = &key {
        request = request.key(key.clone());
    }
    let (mut request, channel) = set_author(&call, request, form.writer.as_deref())?;
    request = filed(request, Some(category), &tags, Some(importance))?.message(|mut message| {
        message = message.channel(channel).session(row.session.clone());
        if let Some(user) = row.user.clone() {
            message = message.user_id(user);
        }
        fields.into_iter().fold(message, |message, (name, value)| message.metadata(name, value))
    });
    if let Some(end) = end(&call, form.ttl_secs)?.or(row.expires_at) {
        request = request.expires_at(end);
    }
    let stored = request.await?;
    if key.is_none() && stored.held_back.is_none() {
        let away = Decision::Archive(mnemal::learnings::target_of(&row));
        let _decided = match call.principal.class {
            KeyClass::App => memory.facts().decide(away).await?,
            KeyClass::Agent => memory.facts().decide_by_agent(away).await?,
        };
    }
    answer(&call, &memory, key.as_ref(), &stored).await
}

async fn decide(call: Call, make: impl FnOnce(NoteTarget) -> Decision) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let row = named(&memory, call.name(1)).await?;
    let decision = make(mnemal::learnings::target_of(&row));
    if row.level == Level::User || matches!(decision, Decision::Reject(_)) {
        call.vouches()?;
    }
    let ack = match call.principal.class {
        KeyClass::App => memory.facts().decide(decision).await?,
        KeyClass::Agent => memory.facts().decide_by_agent(decision).await?,
    };
    Reply::ok(&DecisionResultForm { id: row.id.to_string(), event_id: ack.id.to_string() })
}

async fn confirm(call: Call) -> Result<Reply, Problem> {
    call.vouches()?;
    let form: ConfirmForm = call.body()?;
    let memory = call.memory().await?;
    let row = named(&memory, call.name(1)).await?;
    if hex(&Sha256::digest(row.content.as_bytes())) != form.sha256.to_lowercase() {
        return Err(Problem::new("conflict", "these are not the words that it has; read it again"));
    }
    let ack = memory.preferences().confirm(&row, &row.content).await?;
    Reply::ok(&DecisionResultForm { id: row.id.to_string(), event_id: ack.id.to_string() })
}

/// What becomes of a pin.
enum Pin {
    Set,
    Remove,
}

async fn pin(call: Call, pin: Pin) -> Result<Reply, Problem> {
    call.vouches()?;
    let memory = call.memory().await?;
    let name = named(&memory, call.name(1)).await?.id.to_string();
    let ack = match pin {
        Pin::Set => memory.preferences().pin(&name).await?,
        Pin::Remove => memory.preferences().unpin(&name).await?,
    };
    let row = memory.preferences().learning(&ack.id.to_string()).await?;
    Reply::ok(&DecisionResultForm { id: row.id.to_string(), event_id: ack.id.to_string() })
}

async fn erase_one(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let selector = forget::records(&memory, &[call.name(1).to_owned()]).await?;
    forget::erase(&call, selector).await
}

async fn erase_key(call: Call) -> Result<Reply, Problem> {
    let key = NoteKey::new(call.name(1)).map_err(|wrong| Problem::not_found(wrong.what()))?;
    forget::erase(&call, Selector::Key(key)).await
}

async fn delete(call: Call) -> Result<Reply, Problem> {
    let form: DeleteForm = call.body()?;
    let memory = call.memory().await?;
    let DeleteFilter { kind, category, tag } = form.filter;
    let mut rows =
        memory.preferences().all_learnings(&filter(kind.as_deref(), category.as_deref(), None)?).await?;
    rows.retain(|row| tag.as_ref().is_none_or(|tag| row.tags.iter().any(|one| one.as_str() == tag)));
    let sources = rows.iter().flat_map(|row| row.sources.iter().map(|source| source.event));
    let mut ids: Vec<_> = sources.collect();
    ids.sort_unstable();
    ids.dedup();
    let selector = Selector::Events(ids);
    let preview = memory.forget(selector.clone()).dry_run().await?;
    let digest = forget::digest(&call.principal, &preview);
    if form.dry_run != Some(false) {
        return Reply::ok(&ErasureForm::of_preview(
            &preview,
            token::issue(memory.admin().engine(), PURPOSE, &digest),
        ));
    }
    let token = form
        .confirm_token
        .ok_or_else(|| Problem::new("confirmation_required", "a filter may mean many memories"))?;
    if !token::is_good(memory.admin().engine(), PURPOSE, &digest, &token) {
        return Err(Problem::new(
            "selection_changed",
            "the token belongs to another call, or what it would erase has changed",
        ));
    }
    forget::erase(&call, selector).await
}

async fn categories(call: Call) -> Result<Reply, Problem> {
    let counts = call.memory().await?.preferences().categories().await?;
    let form =
        |(category, count): &(Category, u64)| CategoryForm { category: category.to_string(), count: *count };
    Reply::ok(&CategoriesForm { items: counts.iter().map(form).collect() })
}
