//! The compatibility routes of mem0's open server and its clients, enabled by `compat.mem0`: they translate names and use the
//! same memory. A memory is the verbatim text of a turn; the space is the only one of the key.

mod form;
mod page;
mod request;

use std::collections::{BTreeMap, HashMap};

use hyper::Method;
use mnemal::events::RememberCall;
use mnemal::learnings::key_of;
use mnemal::{Memory, Message};
use mnemal_core::{
    AgentId, AsOf, ChannelId, Event, EventFilter, EventId, Learning, LearningFilter, LearningStatus,
    Metadata, NoteKey, Role, Scored, Selector, SessionId, Speaker, Timestamp, UserId, Within,
};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use self::form::{
    ForgetQuery, ListQuery, Mem0AddForm, Mem0AddedForm, Mem0BatchForm, Mem0ChangeForm, Mem0DoneForm,
    Mem0EditForm, Mem0EntityForm, Mem0EventForm, Mem0FindForm, Mem0PageForm, Mem0PingForm, Mem0RowForm,
    Mem0RowsForm, Mem0SearchForm, OwnerQuery, PagesQuery, RenderedMemory,
};
use self::page::PageRequest;
use self::request::{
    MemoryOwner, TurnContent, condition, end, expected, filters, latest, limit, stored, timestamp,
    turn_contents,
};
use crate::auth::{Right, hex};
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::{Route, RouteSwitch};
use crate::http::routes::condition::{Condition, OWNERS};
use crate::http::routes::events::within;
use crate::http::routes::{memories, of};
use crate::wire;

/// Prefix of the keys of these memories; the rest is the id on the wire, which stays the same when the text changes.
const KEYS: &str = "mem0.";
/// Default number of memories in a response. Source: mem0, `get_all` and `search`.
const LIMIT: usize = 100;
/// Maximum number of memories in a response. Source: own default, that of other lists times five.
const MOST: usize = 1_000;
/// Candidates per wanted hit, because agents are filtered afterwards. Source: own default.
const LOOK_AT: usize = 4;
/// Minimum share of the best score for requests without a threshold: a limit of twenty should not return unrelated memories.
///
/// Source: `PrecisionMemBench`, development half: of 25 cases 0 pass without it (precision .06, recall 1), 14 with it (.54, .91).
const NEAR_BEST: f32 = 0.8;
/// Maximum number of memories in a batch. Source: mem0, `batch_update`.
const BATCH: usize = 1_000;
/// Prefix of reserved event fields, which are not metadata of the writer.
const OWN_FIELDS: &str = "mem0.";
const ROLE: &str = "mem0.role";
const APP: &str = "mem0.app";
const RUN: &str = "mem0.run";
/// The session of requests without a run.
const NO_RUN: &str = "default";
/// Microseconds of a second and of a day.
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

pub(super) fn routes() -> Vec<Route> {
    let routes = [of_memories(), of_a_memory(), of_clients()].concat();
    routes.into_iter().map(|route| route.switch(RouteSwitch::Mem0)).collect()
}

fn erasing(route: Route) -> Route {
    route.method(Method::DELETE).right(Right::Erase)
}

fn of_memories() -> Vec<Route> {
    const ALL: [&str; 3] = ["/memories/", "/v1/memories", "/v1/memories/"];
    vec![
        Route::post(
            "mem0_add",
            "/memories",
            "Stores what turns say.",
            (of::<Mem0AddForm>, of::<Mem0AddedForm>, |call| Box::pin(add(call))),
        )
        .also(&ALL)
        .also(&["/v3/memories/add", "/v3/memories/add/"]),
        Route::get(
            "mem0_list",
            "/memories",
            "What is remembered of a person, an agent or a run, newest first.",
            (of::<Mem0RowsForm>, |call| Box::pin(list(call))),
        )
        .query(of::<ListQuery>)
        .also(&ALL),
        erasing(Route::get(
            "mem0_forget_all",
            "/memories",
            "Erases what is remembered of a person, an agent or a run.",
            (of::<Mem0DoneForm>, |call| Box::pin(erase_all(call))),
        ))
        .query(of::<OwnerQuery>)
        .also(&ALL),
        Route::post(
            "mem0_search",
            "/search",
            "Finds memories, best first.",
            (of::<Mem0SearchForm>, of::<Mem0RowsForm>, |call| Box::pin(search(call))),
        )
        .right(Right::Read)
        .also(&["/search/", "/v1/memories/search", "/v1/memories/search/"])
        .also(&[
            "/v2/memories/search",
            "/v2/memories/search/",
            "/v3/memories/search",
            "/v3/memories/search/",
        ]),
        Route::post(
            "mem0_find",
            "/v3/memories",
            "What passes conditions, newest first, in pages.",
            (of::<Mem0FindForm>, of::<Mem0PageForm<Mem0RowForm>>, |call| Box::pin(find(call))),
        )
        .right(Right::Read)
        .query(of::<PagesQuery>)
        .also(&["/v3/memories/", "/v2/memories", "/v2/memories/"]),
        Route::get(
            "mem0_reset",
            "/reset",
            "Erases every memory of the space.",
            (of::<Mem0DoneForm>, |call| Box::pin(reset(call))),
        )
        .method(Method::POST)
        .right(Right::Erase),
    ]
}

fn of_a_memory() -> Vec<Route> {
    const ONE: [&str; 3] = ["/memories/{id}/", "/v1/memories/{id}", "/v1/memories/{id}/"];
    vec![
        Route::get(
            "mem0_get",
            "/memories/{id}",
            "A memory.",
            (of::<Mem0RowForm>, |call| Box::pin(get(call))),
        )
        .also(&ONE),
        Route::post(
            "mem0_edit",
            "/memories/{id}",
            "Gives it other words or metadata; what was there becomes its past.",
            (of::<Mem0EditForm>, of::<Mem0DoneForm>, |call| Box::pin(edit(call))),
        )
        .method(Method::PUT)
        .also(&ONE),
        erasing(Route::get(
            "mem0_forget",
            "/memories/{id}",
            "Erases it, with its past.",
            (of::<Mem0DoneForm>, |call| Box::pin(erase_one(call))),
        ))
        .query(of::<ForgetQuery>)
        .also(&ONE),
        Route::get(
            "mem0_history",
            "/memories/{id}/history",
            "What it said, oldest first.",
            (of::<Vec<Mem0ChangeForm>>, |call| Box::pin(history(call))),
        )
        .also(&[
            "/memories/{id}/history/",
            "/v1/memories/{id}/history",
            "/v1/memories/{id}/history/",
        ]),
    ]
}

fn of_clients() -> Vec<Route> {
    vec![
        Route::get(
            "mem0_ping",
            "/v1/ping",
            "Whether the key is known.",
            (of::<Mem0PingForm>, |call| Box::pin(async move { ping(call) })),
        )
        .also(&["/v1/ping/"]),
        Route::get(
            "mem0_entities",
            "/v1/entities",
            "Whose memories there are.",
            (of::<Mem0PageForm<Mem0EntityForm>>, |call| Box::pin(entities(call))),
        )
        .query(of::<PagesQuery>)
        .also(&["/v1/entities/"]),
        erasing(Route::get(
            "mem0_forget_entity",
            "/v2/entities/{type}/{name}",
            "Erases the memories of a person, an agent, an application or a run.",
            (of::<Mem0DoneForm>, |call| Box::pin(erase_entity(call))),
        ))
        .also(&[
            "/v2/entities/{type}/{name}/",
            "/v1/entities/{type}/{name}",
            "/v1/entities/{type}/{name}/",
        ]),
        Route::post(
            "mem0_edit_batch",
            "/v1/batch",
            "Gives several memories other words or metadata.",
            (of::<Mem0BatchForm>, of::<Mem0DoneForm>, |call| Box::pin(edit_batch(call))),
        )
        .method(Method::PUT)
        .also(&["/v1/batch/"]),
        erasing(Route::post(
            "mem0_forget_batch",
            "/v1/batch",
            "Erases several memories, with their past.",
            (of::<Mem0BatchForm>, of::<Mem0DoneForm>, |call| Box::pin(erase_batch(call))),
        ))
        .also(&["/v1/batch/"]),
    ]
}

/// Returns the call in the only space of its key.
fn inside(mut call: Call) -> Result<Call, Problem> {
    let Some([space]) = call.principal.spaces.only().map(Vec::as_slice) else {
        return Err(Problem::new("space_required", "these routes name no space")
            .hint("Use a key that knows one space: `mnemal -s SPACE key create`."));
    };
    let space = space.to_string();
    call.path.insert(0, space);
    Ok(call)
}

/// Returns the id of a memory on the wire.
fn wire_id(row: &Learning) -> String {
    let key = row.key.as_ref().and_then(|key| key.as_str().strip_prefix(KEYS));
    key.map_or_else(|| row.id.to_string(), str::to_owned)
}

fn new_key() -> Result<(String, NoteKey), Problem> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Problem::new("unavailable", "there is no randomness"))?;
    // In the form of a UUID, which clients may expect.
    let id: String = hex(&bytes)
        .chars()
        .enumerate()
        .flat_map(|(place, digit)| [8, 12, 16, 20].contains(&place).then_some('-').into_iter().chain([digit]))
        .collect();
    let key = NoteKey::new(format!("{KEYS}{id}"))?;
    Ok((id, key))
}

/// Returns the memory of a path.
async fn named(memory: &Memory, id: &str) -> Result<Learning, Problem> {
    let name = if id.starts_with("mem_") { id.to_owned() } else { format!("{KEYS}{id}") };
    match memory.preferences().learning(&name).await {
        Err(error) if error.kind() == mnemal_core::ErrorKind::NotFound => {
            Err(Problem::not_found(format!("no memory {id:?}")))
        }
        found => Ok(found?),
    }
}

async fn add(call: Call) -> Result<Reply, Problem> {
    let form: Mem0AddForm = call.body()?;
    let call = inside(call)?;
    expected(form.output_format.as_deref(), form.version.as_deref(), None)?;
    let owner = MemoryOwner::of(&call, [form.user_id, form.agent_id, form.app_id, form.run_id]);
    let owner = owner.with_filters(form.filters.as_ref())?.named()?;
    let (user, agent, run) = (
        owner.user.as_deref().map(UserId::new).transpose()?,
        owner.agent.as_deref().map(AgentId::new).transpose()?,
        owner.run.as_deref().map(SessionId::new).transpose()?,
    );
    let (at, end) =
        (timestamp(&call, form.timestamp.as_ref())?, end(&call, form.expiration_date.as_deref())?);
    let mut kept = stored(form.metadata.unwrap_or_default())?;
    kept.extend(owner.app.map(|app| (APP.to_owned(), app)));
    kept.extend(owner.run.filter(|run| run == NO_RUN).map(|run| (RUN.to_owned(), run)));
    let said = turn_contents(form.messages)?;
    let memory = call.memory_or_new().await?;
    let mut results = Vec::new();
    for (place, TurnContent { role, text, speaker }) in said.into_iter().enumerate() {
        let (id, key) = new_key()?;
        let speaker = speaker.map(Speaker::new).transpose()?;
        let zone = at.map(|at| call.event_zone(None, at)).transpose()?;
        let (mut request, channel) = set_author(&call, memory.remember(text.clone()).key(key))?;
        if let Some(end) = end {
            request = request.expires_at(end);
        }
        let request = request.message(|mut message| {
            message = filed(message.channel(channel), kept.clone()).metadata(ROLE, role);
            if let Some(user) = user.clone() {
                message = message.user_id(user);
            }
            if let Some(agent) = agent.clone() {
                message = message.agent_id(agent);
            }
            if let Some(run) = run.clone() {
                message = message.session(run);
            }
            if let Some(speaker) = speaker {
                message = message.speaker(speaker);
            }
            if let (Some(at), Some(zone)) = (at, zone) {
                message = message.occurred_at(at, zone);
            }
            match &call.idempotency_key {
                Some(key) => message.hidden_idempotency_key(format!("{key}#{place}")),
                None => message,
            }
        });
        let stored = request.await?;
        call.host.metrics.count("mnemal_events_total", &[], u64::from(stored.created));
        // A quarantined text is stored, but is no memory: its id is that of the event, which can be released.
        match &stored.held_back {
            Some(rule) => {
                let (id, held_back) = (stored.event.to_string(), Some(rule.to_string()));
                results.push(Mem0EventForm { id, memory: text, event: "NONE", held_back });
            }
            None if stored.created => {
                results.push(Mem0EventForm { id, memory: text, event: "ADD", held_back: None });
            }
            None => {}
        }
    }
    let is_refused = !results.is_empty() && results.iter().all(|result| result.held_back.is_some());
    let status = if is_refused { "FAILED" } else { "SUCCEEDED" };
    Reply::ok(&Mem0AddedForm { status, results })
}

/// Sets the author of a memory: an application if the key vouches for a person's words, otherwise an agent.
fn set_author(call: &Call, note: RememberCall) -> Result<(RememberCall, ChannelId), Problem> {
    memories::set_author(call, note, call.vouches().is_ok().then_some("application"))
}

/// Adds fields to a message.
fn filed(message: Message, fields: Metadata) -> Message {
    fields.into_iter().fold(message, |message, (name, value)| message.metadata(name, value))
}

/// Returns the fields of the latest source events of rows: a repeated text may have other fields.
async fn latest_metadata(memory: &Memory, rows: &[Learning]) -> Result<HashMap<EventId, Metadata>, Problem> {
    let events: Vec<EventId> = rows.iter().filter_map(|row| Some(row.sources.last()?.event)).collect();
    let found = memory.events().get_many(&events).await?;
    let kept = |event: &Event| Some((event.id, event.body()?.metadata.clone()));
    Ok(found.iter().filter_map(kept).collect())
}

/// Returns memories with their forms.
async fn render(memory: &Memory, rows: Vec<Learning>) -> Result<Vec<RenderedMemory>, Problem> {
    let mut fields = latest_metadata(memory, &rows).await?;
    let mut told = Vec::new();
    for row in rows {
        let source = row.sources.last().map(|source| source.event);
        let kept = source.and_then(|event| fields.remove(&event)).unwrap_or_default();
        let form = form(memory, &row, &kept).await?;
        told.push(RenderedMemory { row, form });
    }
    Ok(told)
}

async fn form(memory: &Memory, row: &Learning, kept: &Metadata) -> Result<Mem0RowForm, Problem> {
    let first = match &row.key {
        Some(key) if row.version > 1 => memory.preferences().history(key).await?.into_iter().next_back(),
        _ => None,
    };
    let own = |name: &str| kept.get(name).cloned();
    let run = Some(row.session.to_string()).filter(|run| run != NO_RUN).or_else(|| own(RUN));
    let metadata = wire::event_fields(kept).into_iter().filter(|(name, _)| !name.starts_with(OWN_FIELDS));
    let last_day = |end: Timestamp| {
        let last = Timestamp::from_micros(end.as_micros().saturating_sub(1)).ok()?.to_string();
        last.split('T').next().map(str::to_owned)
    };
    Ok(Mem0RowForm {
        id: wire_id(row),
        memory: row.content.clone(),
        hash: hex(&Sha256::digest(row.content.as_bytes())),
        metadata: metadata.collect(),
        created_at: first.as_ref().map_or(row.created_at, |first| first.created_at).to_string(),
        updated_at: first.map(|_| row.created_at.to_string()),
        user_id: row.user.as_ref().map(ToString::to_string),
        agent_id: row.agent.as_ref().map(ToString::to_string),
        app_id: own(APP),
        run_id: run,
        role: own(ROLE),
        expiration_date: row.expires_at.and_then(last_day),
        score: None,
    })
}

/// Returns a filter that keeps all rows that can match a condition.
fn narrowed(condition: &Condition) -> Result<LearningFilter, Problem> {
    Ok(LearningFilter {
        user: within(condition.fixed("user_id"), |name| UserId::new(name))?,
        agent: within(condition.fixed("agent_id"), |name| AgentId::new(name))?,
        ..LearningFilter::all()
    })
}

/// Returns the valid memories that match a condition, newest first.
async fn passing(
    call: &Call,
    memory: &Memory,
    condition: &Condition,
) -> Result<Vec<RenderedMemory>, Problem> {
    let rows = memory.preferences().learnings(&narrowed(condition)?, AsOf::present(call.host.now())).await?;
    let rows: Vec<Learning> = rows.into_iter().map(|Scored { item, .. }| item).collect();
    let mut told = render(memory, rows).await?;
    told.retain(|one| condition.passes(&one.form.named()));
    told.sort_by_key(|one| (std::cmp::Reverse(one.row.created_at), one.row.id));
    Ok(told)
}

/// Returns a row with the requested fields.
fn select_fields(form: &Mem0RowForm, fields: Option<&[String]>) -> Result<Value, Problem> {
    let wrong = |_| Problem::new("internal", "the answer cannot be written");
    let row = serde_json::to_value(form).map_err(wrong)?;
    let (Some(fields), Value::Object(row)) = (fields, &row) else { return Ok(row) };
    let mut some = Map::new();
    for name in fields {
        let value = row
            .get(name)
            .ok_or_else(|| Problem::invalid(format!("fields: no field {name:?} in a memory")))?;
        some.insert(name.clone(), value.clone());
    }
    Ok(Value::Object(some))
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let query: ListQuery = call.query()?;
    let call = inside(call)?;
    let limit = limit(query.limit, query.top_k)?;
    let owner = MemoryOwner::of(&call, [query.user_id, query.agent_id, query.app_id, query.run_id]);
    let condition = condition(&owner, filters(query.filters.as_deref())?.as_ref())?;
    let memory = call.memory_or_new().await?;
    let found = passing(&call, &memory, &condition).await?;
    let results =
        found.iter().take(limit).map(|one| select_fields(&one.form, None)).collect::<Result<_, _>>()?;
    Reply::ok(&Mem0RowsForm { results })
}

async fn find(call: Call) -> Result<Reply, Problem> {
    let (query, form): (PagesQuery, Mem0FindForm) = (call.query()?, call.body()?);
    let call = inside(call)?;
    expected(form.output_format.as_deref(), None, form.show_expired)?;
    latest(form.latest_only)?;
    let pages = PageRequest::read(&query)?;
    let owner = MemoryOwner::of(&call, [form.user_id, form.agent_id, form.app_id, form.run_id]);
    let mut condition = condition(&owner, form.filters.as_ref())?;
    for (name, day, operator) in
        [("start_date", &form.start_date, "gte"), ("end_date", &form.end_date, "lte")]
    {
        let Some(day) = day else { continue };
        call.time(name, Some(day))?;
        let bound = serde_json::json!({"created_at": {operator: day}});
        condition = condition.and(Condition::read(&bound, name)?);
    }
    let memory = call.memory_or_new().await?;
    let found = passing(&call, &memory, &condition).await?;
    let rows: Vec<&Mem0RowForm> = found.iter().map(|one| &one.form).collect();
    let page = pages.page_of(call.uri.path(), rows);
    let results = page
        .results
        .iter()
        .map(|row| select_fields(row, form.fields.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    Reply::ok(&Mem0PageForm { count: page.count, next: page.next, previous: page.previous, results })
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    let found = named(&memory, call.name(1)).await?;
    if found.status != LearningStatus::Active || found.expires_at.is_some_and(|end| end <= call.host.now()) {
        return Err(Problem::not_found(format!("no memory {:?} holds", call.name(1))));
    }
    let found = render(&memory, vec![found]).await?;
    Reply::ok(&found.first().map(|one| &one.form))
}

async fn search(call: Call) -> Result<Reply, Problem> {
    let form: Mem0SearchForm = call.body()?;
    let call = inside(call)?;
    if form.query.trim().is_empty() {
        return Err(Problem::invalid("query: it is empty"));
    }
    expected(form.output_format.as_deref(), form.version.as_deref(), form.show_expired)?;
    latest(form.latest_only)?;
    if form.threshold.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
        return Err(Problem::invalid("threshold: a number from 0 to 1 is meant"));
    }
    let limit = limit(form.limit, form.top_k)?;
    let owner = MemoryOwner::of(&call, [form.user_id, form.agent_id, form.app_id, form.run_id]);
    let mut condition = condition(&owner, form.filters.as_ref())?;
    if let Some(metadata) = &form.metadata {
        condition = condition.and(Condition::of_metadata(metadata, "metadata")?);
    }
    let memory = call.memory_or_new().await?;
    let run = condition.fixed("run_id").filter(|run| *run != NO_RUN);
    let filter = EventFilter {
        roles: Within::Only(vec![Role::Decision]),
        user: within(condition.fixed("user_id"), |name| UserId::new(name))?,
        session: within(run, |name| SessionId::new(name))?,
        ..EventFilter::live()
    };
    let look_at = if condition.asks_more_than_owners() { MOST } else { (limit * LOOK_AT).min(MOST) };
    let permit = call.host.query_permits.take().await?;
    let found = memory.recall(&form.query).filter(filter).limit(look_at).await?;
    drop(permit);
    let mut rows = passing(&call, &memory, &condition).await?;
    let mut places = HashMap::new();
    for (place, one) in rows.iter().enumerate() {
        places.extend(one.row.sources.iter().map(|source| (source.event, place)));
    }
    let mut results = Vec::new();
    let mut least = form.threshold;
    for hit in &found.hits {
        let Some(one) = places.get(&hit.event.id).and_then(|place| rows.get_mut(*place)) else { continue };
        let least = *least.get_or_insert(NEAR_BEST * hit.score.get());
        if hit.score.get() >= least && one.form.score.is_none() && results.len() < limit {
            one.form.score = Some(hit.score.get());
            results.push(select_fields(&one.form, form.fields.as_deref())?);
        }
    }
    Reply::ok(&Mem0RowsForm { results })
}

async fn edit(call: Call) -> Result<Reply, Problem> {
    let form: Mem0EditForm = call.body()?;
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    let id = call.name(1).to_owned();
    change(&call, &memory, &id, form).await?;
    Reply::ok(&Mem0DoneForm { message: "Memory updated successfully!".to_owned() })
}

/// Stores a new version of a memory under its key.
async fn change(call: &Call, memory: &Memory, id: &str, form: Mem0EditForm) -> Result<(), Problem> {
    if form.text.is_none()
        && form.metadata.is_none()
        && form.expiration_date.is_none()
        && form.timestamp.is_none()
    {
        return Err(Problem::invalid(
            "at least one of text, metadata, timestamp and expiration_date must be said",
        ));
    }
    if form.text.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Problem::invalid("text is empty"));
    }
    let before = named(memory, id).await?;
    let mut fields = latest_metadata(memory, std::slice::from_ref(&before))
        .await?
        .into_values()
        .next()
        .unwrap_or_default();
    if let Some(metadata) = form.metadata {
        let mut all = wire::event_fields(&fields);
        all.extend(metadata);
        let own: BTreeMap<String, String> =
            fields.into_iter().filter(|(name, _)| name.starts_with(OWN_FIELDS)).collect();
        all.retain(|name, _| !own.contains_key(name));
        fields = stored(all)?;
        fields.extend(own);
    }
    let ends = match &form.expiration_date {
        Some(Value::Null) => None,
        Some(Value::String(day)) => end(call, Some(day))?,
        Some(_) => {
            return Err(Problem::invalid("expiration_date: a day such as 2027-01-31, or null, is meant"));
        }
        None => before.expires_at,
    };
    let at = timestamp(call, form.timestamp.as_ref())?;
    let zone = at.map(|at| call.event_zone(None, at)).transpose()?;
    let text = form.text.unwrap_or_else(|| before.content.clone());
    let (mut request, channel) =
        set_author(call, memory.remember(text).key(key_of(&before)?).kind(before.kind))?;
    request = request.category(before.category.clone()).importance(before.importance);
    request = before.tags.iter().cloned().fold(request, RememberCall::tag);
    if let Some(ends) = ends {
        request = request.expires_at(ends);
    }
    let request = request.message(|mut message| {
        message = message.channel(channel).session(before.session.clone());
        if let Some(user) = before.user.clone() {
            message = message.user_id(user);
        }
        if let Some(agent) = before.agent.clone() {
            message = message.agent_id(agent);
        }
        if let Some(speaker) = before.speaker.clone() {
            message = message.speaker(speaker);
        }
        if let (Some(at), Some(zone)) = (at, zone) {
            message = message.occurred_at(at, zone);
        }
        filed(message, fields)
    });
    let stored = request.await?;
    call.host.metrics.count("mnemal_events_total", &[], u64::from(stored.created));
    took_effect(memory, &stored).await
}

/// Checks that the stored version is valid.
async fn took_effect(memory: &Memory, stored: &mnemal::events::StoredNote) -> Result<(), Problem> {
    if let Some(rule) = &stored.held_back {
        return Err(Problem::new(
            "conflict",
            format!(
                "the memory stays as it was: the rule {rule} holds the new words back as {}",
                stored.event
            ),
        )
        .hint("A person looks at it and releases it: `mnemal review`."));
    }
    let holds = match stored.id {
        Some(row) => memory.preferences().learning(&row.to_string()).await?.status == LearningStatus::Active,
        None => true,
    };
    if holds {
        return Ok(());
    }
    Err(Problem::new(
        "conflict",
        "the memory stays as it was: it is the user's own word, which an agent's does not replace",
    ))
}

async fn history(call: Call) -> Result<Reply, Problem> {
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    let row = named(&memory, call.name(1)).await?;
    let mut versions = match &row.key {
        Some(key) => memory.preferences().history(key).await?,
        None => vec![row.clone()],
    };
    versions.reverse();
    let before = std::iter::once(None).chain(versions.iter().map(|version| Some(version.content.clone())));
    let changes = versions.iter().zip(before).map(|(version, old_memory)| Mem0ChangeForm {
        id: version.id.to_string(),
        memory_id: wire_id(&row),
        event: if old_memory.is_none() { "ADD" } else { "UPDATE" },
        old_memory,
        new_memory: version.content.clone(),
        created_at: version.created_at.to_string(),
    });
    Reply::ok(&changes.collect::<Vec<_>>())
}

/// Erases rows with all versions of their keys.
async fn forget(memory: &Memory, rows: &[Learning]) -> Result<(), Problem> {
    let mut events: Vec<EventId> = Vec::new();
    for row in rows {
        let versions = match &row.key {
            Some(key) => memory.preferences().history(key).await?,
            None => vec![row.clone()],
        };
        events.extend(versions.iter().flat_map(|version| version.sources.iter().map(|source| source.event)));
    }
    events.sort_unstable();
    events.dedup();
    if !events.is_empty() {
        memory.forget(Selector::Events(events)).await?;
    }
    Ok(())
}

async fn erase_one(call: Call) -> Result<Reply, Problem> {
    let ForgetQuery { delete_linked: _ } = call.query()?;
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    let row = named(&memory, call.name(1)).await?;
    forget(&memory, &[row]).await?;
    Reply::ok(&Mem0DoneForm { message: "Memory deleted successfully!".to_owned() })
}

/// Erases all matching memories, including superseded ones.
async fn erase(memory: &Memory, condition: &Condition) -> Result<(), Problem> {
    let rows = memory.preferences().all_learnings(&narrowed(condition)?).await?;
    let rows: Vec<Learning> = render(memory, rows)
        .await?
        .into_iter()
        .filter(|one| condition.passes(&one.form.named()))
        .map(|one| one.row)
        .collect();
    forget(memory, &rows).await
}

async fn erase_all(call: Call) -> Result<Reply, Problem> {
    let query: OwnerQuery = call.query()?;
    let call = inside(call)?;
    let owner = MemoryOwner::of(&call, [query.user_id, query.agent_id, query.app_id, query.run_id]);
    let owner = owner.with_filters(filters(query.filters.as_deref())?.as_ref())?.named()?;
    erase(&call.memory_or_new().await?, &owner.condition()).await?;
    Reply::ok(&Mem0DoneForm { message: "All relevant memories deleted".to_owned() })
}

async fn reset(call: Call) -> Result<Reply, Problem> {
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    forget(&memory, &memory.preferences().all_learnings(&LearningFilter::all()).await?).await?;
    Reply::ok(&Mem0DoneForm { message: "All memories reset".to_owned() })
}

fn ping(call: Call) -> Result<Reply, Problem> {
    let call = inside(call)?;
    let project_id = call.name(0).to_owned();
    Reply::ok(&Mem0PingForm { status: "ok", project_id, org_id: mnemal::PRODUCT, user_email: None })
}

async fn entities(call: Call) -> Result<Reply, Problem> {
    let pages = PageRequest::read(&call.query()?)?;
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    let mut known: BTreeMap<(&'static str, String), Mem0EntityForm> = BTreeMap::new();
    for RenderedMemory { form, .. } in passing(&call, &memory, &Condition::always()).await? {
        let changed = form.updated_at.unwrap_or_else(|| form.created_at.clone());
        let owners =
            [("user", form.user_id), ("agent", form.agent_id), ("app", form.app_id), ("run", form.run_id)];
        for (r#type, name) in owners.into_iter().filter_map(|(r#type, name)| Some((r#type, name?))) {
            let entry = known.entry((r#type, name.clone())).or_insert_with(|| Mem0EntityForm {
                id: name.clone(),
                name,
                r#type,
                total_memories: 0,
                created_at: form.created_at.clone(),
                updated_at: changed.clone(),
            });
            entry.total_memories += 1;
            if form.created_at < entry.created_at {
                entry.created_at.clone_from(&form.created_at);
            }
            if changed > entry.updated_at {
                entry.updated_at.clone_from(&changed);
            }
        }
    }
    Reply::ok(&pages.page_of(call.uri.path(), known.into_values().collect()))
}

async fn erase_entity(call: Call) -> Result<Reply, Problem> {
    let call = inside(call)?;
    let (kind, name) = (call.name(1), call.name(2).to_owned());
    let owned = OWNERS.into_iter().find(|owner| owner.strip_suffix("_id") == Some(kind));
    let owned = owned
        .ok_or_else(|| Problem::not_found(format!("no type {kind:?}; there are user, agent, app and run")))?;
    erase(&call.memory_or_new().await?, &Condition::is(owned, name)).await?;
    Reply::ok(&Mem0DoneForm { message: "Entity deleted successfully!".to_owned() })
}

/// Returns the memories of a batch, all of which must exist.
async fn batch(memory: &Memory, form: &Mem0BatchForm) -> Result<Vec<Learning>, Problem> {
    if form.memories.is_empty() || form.memories.len() > BATCH {
        return Err(Problem::invalid(format!("memories: 1..={BATCH} are meant")));
    }
    let mut rows = Vec::new();
    for (place, one) in form.memories.iter().enumerate() {
        let inside = |problem: Problem| problem.inside(&format!("memories[{place}]"));
        rows.push(named(memory, &one.memory_id).await.map_err(inside)?);
    }
    Ok(rows)
}

async fn edit_batch(call: Call) -> Result<Reply, Problem> {
    let form: Mem0BatchForm = call.body()?;
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    let count = batch(&memory, &form).await?.len();
    for (place, one) in form.memories.into_iter().enumerate() {
        let inside =
            |problem: Problem| problem.inside(&format!("memories[{place}], those before are changed"));
        let form =
            Mem0EditForm { text: one.text, metadata: one.metadata, timestamp: None, expiration_date: None };
        change(&call, &memory, &one.memory_id, form).await.map_err(inside)?;
    }
    Reply::ok(&Mem0DoneForm { message: format!("Successfully updated {count} memories") })
}

async fn erase_batch(call: Call) -> Result<Reply, Problem> {
    let form: Mem0BatchForm = call.body()?;
    let call = inside(call)?;
    if let Some(place) = form.memories.iter().position(|one| one.text.is_some() || one.metadata.is_some()) {
        return Err(Problem::invalid(format!("memories[{place}]: memory_id alone is meant here")));
    }
    let memory = call.memory_or_new().await?;
    let rows = batch(&memory, &form).await?;
    forget(&memory, &rows).await?;
    Reply::ok(&Mem0DoneForm { message: format!("Successfully deleted {} memories", rows.len()) })
}
