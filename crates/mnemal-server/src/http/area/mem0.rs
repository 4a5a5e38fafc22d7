//! The routes of mem0's open server under their own names, where `compat.mem0` is on: they translate names and call the same
//! memory. A memory is what a turn says, as it was said; the space is the only one that the key knows.

use std::collections::{BTreeMap, HashMap};

use hyper::Method;
use mnemal::{Memory, key_of};
use mnemal_core::{
    AgentId, AsOf, ChannelId, EventFilter, EventId, Learning, LearningFilter, NoteKey, Role, Scored,
    Selector, SessionId, UserId, Within,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::auth::{Right, hex};
use crate::http::area::events::{text_of, within};
use crate::http::area::of;
use crate::http::call::{CHANNEL, Call};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;

/// What the keys of its memories begin with; the rest is the id on the wire, which stays when the words change.
const KEYS: &str = "mem0.";
/// Memories of an answer that names no limit. Source: mem0, `get_all` and `search`.
const LIMIT: usize = 100;
/// Most memories of an answer. Source: own default, that of other lists times five.
const MOST: usize = 1_000;
/// Hits that are looked at for each that is wanted, because agents are told apart afterwards. Source: own default.
const LOOK_AT: usize = 4;

pub(super) fn routes() -> Vec<Route> {
    let erase = |route: Route| route.method(Method::DELETE).right(Right::Erase);
    vec![
        Route::post(
            "mem0_add",
            "/memories",
            "Stores what turns say.",
            (of::<Mem0AddForm>, of::<Mem0AddedForm>, |call| Box::pin(add(call))),
        ),
        Route::get(
            "mem0_list",
            "/memories",
            "What is remembered of a person, an agent or a run, newest first.",
            (of::<Mem0RowsForm>, |call| Box::pin(list(call))),
        )
        .query(of::<Whose>),
        erase(Route::get(
            "mem0_forget_all",
            "/memories",
            "Erases what is remembered of a person, an agent or a run.",
            (of::<Mem0DoneForm>, |call| Box::pin(erase_all(call))),
        ))
        .query(of::<Whose>),
        Route::get(
            "mem0_get",
            "/memories/{id}",
            "A memory.",
            (of::<Mem0RowForm>, |call| Box::pin(get(call))),
        ),
        Route::post(
            "mem0_edit",
            "/memories/{id}",
            "Gives it other words; what was there becomes its past.",
            (of::<Mem0EditForm>, of::<Mem0DoneForm>, |call| Box::pin(edit(call))),
        )
        .method(Method::PUT),
        erase(Route::get(
            "mem0_forget",
            "/memories/{id}",
            "Erases it, with its past.",
            (of::<Mem0DoneForm>, |call| Box::pin(erase_one(call))),
        )),
        Route::get(
            "mem0_history",
            "/memories/{id}/history",
            "What it said, oldest first.",
            (of::<Vec<Mem0ChangeForm>>, |call| Box::pin(history(call))),
        ),
        Route::post(
            "mem0_search",
            "/search",
            "Finds memories, best first.",
            (of::<Mem0SearchForm>, of::<Mem0RowsForm>, |call| Box::pin(search(call))),
        )
        .right(Right::Read),
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

/// Whose memories.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Mem0Whose")]
struct Whose {
    /// A person's.
    user_id: Option<String>,
    /// An agent's.
    agent_id: Option<String>,
    /// A conversation's.
    run_id: Option<String>,
    /// Most memories, 1 to 1,000; 100 without it.
    #[serde(alias = "top_k")]
    limit: Option<u32>,
}

/// Turns that are to be remembered.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0Add")]
struct Mem0AddForm {
    /// One text, or turns, oldest first; what the system says is not stored.
    messages: Value,
    /// The person whose they are.
    #[serde(default)]
    user_id: Option<String>,
    /// The agent whose they are.
    #[serde(default)]
    agent_id: Option<String>,
    /// The conversation.
    #[serde(default)]
    run_id: Option<String>,
    /// What else is to be kept.
    #[serde(default)]
    metadata: Option<BTreeMap<String, Value>>,
}

/// What became of turns.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Added")]
struct Mem0AddedForm {
    /// One for each that was stored.
    results: Vec<Mem0EventForm>,
}

/// A memory that was stored.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Event")]
struct Mem0EventForm {
    /// Its id.
    id: String,
    /// The words.
    memory: String,
    /// `ADD`; `NONE` of what is held back, which is no memory.
    event: &'static str,
    /// The rule that holds it back until a person releases it; `burst` where too much came within an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_back: Option<String>,
}

/// Memories.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Rows")]
struct Mem0RowsForm {
    /// In the order of the answer.
    results: Vec<Mem0RowForm>,
}

/// A memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Row")]
struct Mem0RowForm {
    /// Its id.
    id: String,
    /// The words.
    memory: String,
    /// SHA-256 of the words, in hexadecimal digits.
    hash: String,
    /// What its writer added.
    metadata: mnemal_core::Metadata,
    /// When it was said first.
    created_at: String,
    /// When its words changed last; none for the first ones.
    updated_at: Option<String>,
    /// The person whose it is.
    user_id: Option<String>,
    /// The agent whose it is.
    agent_id: Option<String>,
    /// The conversation.
    run_id: Option<String>,
    /// 0 to 1, of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

/// Other words.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0Edit")]
struct Mem0EditForm {
    /// The words.
    #[serde(alias = "data", alias = "memory")]
    text: String,
}

/// What was done.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Done")]
struct Mem0DoneForm {
    /// In words.
    message: &'static str,
}

/// A change of a memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mem0Change")]
struct Mem0ChangeForm {
    /// The version.
    id: String,
    /// The memory.
    memory_id: String,
    /// What it said before; none for the first.
    old_memory: Option<String>,
    /// What it said then.
    new_memory: String,
    /// `ADD` or `UPDATE`.
    event: &'static str,
    /// When.
    created_at: String,
}

/// What is looked for.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Mem0Search")]
struct Mem0SearchForm {
    /// The question.
    query: String,
    /// A person's, an agent's, a conversation's; also in `filters`.
    #[serde(flatten)]
    whose: Whose,
    /// `user_id`, `agent_id` and `run_id` once more.
    #[serde(default)]
    filters: Option<Whose>,
}

impl Whose {
    fn is_said(&self) -> bool {
        self.user_id.is_some() || self.agent_id.is_some() || self.run_id.is_some()
    }

    fn some(self) -> Result<Self, Problem> {
        if self.is_said() {
            return Ok(self);
        }
        Err(Problem::invalid("at least one of user_id, agent_id and run_id must be said"))
    }

    fn limit(&self) -> Result<usize, Problem> {
        let limit = self.limit.map_or(Ok(LIMIT), usize::try_from).unwrap_or_default();
        if (1..=MOST).contains(&limit) {
            return Ok(limit);
        }
        Err(Problem::invalid(format!("limit must be 1..={MOST}")))
    }

    fn filter(&self) -> Result<LearningFilter, Problem> {
        Ok(LearningFilter {
            user: within(self.user_id.as_deref(), |name| UserId::new(name))?,
            agent: within(self.agent_id.as_deref(), |name| AgentId::new(name))?,
            ..LearningFilter::all()
        })
    }

    /// Whether a row is of the conversation that is meant.
    fn is_of_run(&self, row: &Learning) -> bool {
        self.run_id.as_deref().is_none_or(|run| row.session.as_str() == run)
    }

    /// Returns what holds of them, newest first.
    async fn rows(&self, memory: &Memory, call: &Call) -> Result<Vec<Learning>, Problem> {
        let rows = memory.learnings(&self.filter()?, AsOf::present(call.host.now())).await?;
        let mut rows: Vec<Learning> = rows.into_iter().map(|Scored { item, .. }| item).collect();
        rows.retain(|row| self.is_of_run(row));
        rows.sort_by_key(|row| (std::cmp::Reverse(row.created_at), row.id));
        Ok(rows)
    }
}

/// Makes sure that the routes are switched on, and returns the call in the only space that its key knows.
fn inside(mut call: Call) -> Result<Call, Problem> {
    if !call.host.settings.compat.mem0 {
        return Err(Problem::not_found("no such route; see /openapi.json"));
    }
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
    // The form of a UUID, which its clients may expect.
    let id: String = hex(&bytes)
        .chars()
        .enumerate()
        .flat_map(|(place, digit)| [8, 12, 16, 20].contains(&place).then_some('-').into_iter().chain([digit]))
        .collect();
    let key = NoteKey::new(format!("{KEYS}{id}"))?;
    Ok((id, key))
}

/// Returns the memory that a path names.
async fn named(memory: &Memory, id: &str) -> Result<Learning, Problem> {
    let name = if id.starts_with("mem_") { id.to_owned() } else { format!("{KEYS}{id}") };
    match memory.learning(&name).await {
        Err(error) if error.kind() == mnemal_core::ErrorKind::NotFound => {
            Err(Problem::not_found(format!("no memory {id:?}")))
        }
        found => Ok(found?),
    }
}

/// Returns what turns say, without those of the system and those without words.
fn said(messages: &Value) -> Result<Vec<(String, String)>, Problem> {
    let turns = match messages {
        Value::String(text) => return Ok(vec![("user".to_owned(), text.clone())]),
        Value::Array(turns) => turns,
        _ => return Err(Problem::invalid("messages must be a text or a list of turns")),
    };
    let mut said = Vec::new();
    for (place, turn) in turns.iter().enumerate() {
        let role = turn.get("role").and_then(Value::as_str).unwrap_or("user");
        let content = turn.get("content").unwrap_or(&Value::Null);
        let text = text_of(content).map_err(|problem| problem.inside(&format!("messages[{place}]")))?;
        if role != "system" && !text.trim().is_empty() {
            said.push((role.to_owned(), text));
        }
    }
    Ok(said)
}

async fn add(call: Call) -> Result<Reply, Problem> {
    let form: Mem0AddForm = call.body()?;
    let call = inside(call)?;
    let whose =
        Whose { user_id: form.user_id, agent_id: form.agent_id, run_id: form.run_id, limit: None }.some()?;
    let (user, agent, run) = (
        whose.user_id.as_deref().map(UserId::new).transpose()?,
        whose.agent_id.as_deref().map(AgentId::new).transpose()?,
        whose.run_id.as_deref().map(SessionId::new).transpose()?,
    );
    let said = said(&form.messages)?;
    let memory = call.memory_or_new().await?;
    let mut results = Vec::new();
    for (place, (role, text)) in said.into_iter().enumerate() {
        let ((id, key), channel) = (new_key()?, ChannelId::new(CHANNEL)?);
        let stored = memory.remember(text.clone()).key(key).message(|mut message| {
            message = message.channel(channel).metadata("role", role);
            for (name, value) in form.metadata.iter().flatten() {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                message = message.metadata(name.as_str(), value);
            }
            if let Some(user) = user.clone() {
                message = message.user_id(user);
            }
            if let Some(agent) = agent.clone() {
                message = message.agent_id(agent);
            }
            if let Some(run) = run.clone() {
                message = message.session(run);
            }
            match &call.idempotency_key {
                Some(key) => message.idempotency_key(format!("{key}#{place}")),
                None => message,
            }
        });
        let stored = stored.await?;
        call.host.metrics.count("mnemal_events_total", &[], u64::from(stored.created));
        // What a rule holds back is stored, and is no memory: its id is that of the event, which can be released.
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
    Reply::ok(&Mem0AddedForm { results })
}

async fn row(memory: &Memory, row: &Learning, score: Option<f32>) -> Result<Mem0RowForm, Problem> {
    let first = match &row.key {
        Some(key) if row.version > 1 => memory.history(key).await?.into_iter().next_back(),
        _ => None,
    };
    let source = row.sources.first().map(|source| source.event);
    let metadata = match source {
        Some(event) => memory.get(event).await?.kept().map(|kept| kept.metadata.clone()).unwrap_or_default(),
        None => mnemal_core::Metadata::new(),
    };
    Ok(Mem0RowForm {
        id: wire_id(row),
        memory: row.content.clone(),
        hash: hex(&Sha256::digest(row.content.as_bytes())),
        metadata,
        created_at: first.as_ref().map_or(row.created_at, |first| first.created_at).to_string(),
        updated_at: first.map(|_| row.created_at.to_string()),
        user_id: row.user.as_ref().map(ToString::to_string),
        agent_id: row.agent.as_ref().map(ToString::to_string),
        run_id: Some(row.session.to_string()),
        score,
    })
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let whose: Whose = call.query()?;
    let call = inside(call)?;
    let (whose, memory) = (whose.some()?, call.memory_or_new().await?);
    let limit = whose.limit()?;
    let mut results = Vec::new();
    for found in whose.rows(&memory, &call).await?.iter().take(limit) {
        results.push(row(&memory, found, None).await?);
    }
    Reply::ok(&Mem0RowsForm { results })
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    let found = named(&memory, call.name(1)).await?;
    Reply::ok(&row(&memory, &found, None).await?)
}

async fn search(call: Call) -> Result<Reply, Problem> {
    let form: Mem0SearchForm = call.body()?;
    let call = inside(call)?;
    let (asked, filters) = (form.whose, form.filters.unwrap_or_default());
    let whose = Whose {
        user_id: asked.user_id.or(filters.user_id),
        agent_id: asked.agent_id.or(filters.agent_id),
        run_id: asked.run_id.or(filters.run_id),
        limit: asked.limit.or(filters.limit),
    };
    let (limit, memory) = (whose.limit()?, call.memory_or_new().await?);
    let filter = EventFilter {
        roles: Within::Only(vec![Role::Decision]),
        user: within(whose.user_id.as_deref(), |name| UserId::new(name))?,
        session: within(whose.run_id.as_deref(), |name| SessionId::new(name))?,
        ..EventFilter::live()
    };
    let desk = call.host.desks.take().await?;
    let found = memory.recall(&form.query).filter(filter).limit((limit * LOOK_AT).min(MOST)).await?;
    drop(desk);
    let rows = whose.rows(&memory, &call).await?;
    let by_event: HashMap<EventId, &Learning> =
        rows.iter().flat_map(|row| row.sources.iter().map(move |source| (source.event, row))).collect();
    let mut results: Vec<Mem0RowForm> = Vec::new();
    for hit in &found.hits {
        let Some(known) = by_event.get(&hit.event.id) else { continue };
        let is_new = results.iter().all(|one| one.id != wire_id(known));
        if is_new && results.len() < limit {
            results.push(row(&memory, known, Some(hit.score.get())).await?);
        }
    }
    Reply::ok(&Mem0RowsForm { results })
}

async fn edit(call: Call) -> Result<Reply, Problem> {
    let form: Mem0EditForm = call.body()?;
    let call = inside(call)?;
    if form.text.trim().is_empty() {
        return Err(Problem::invalid("text is empty"));
    }
    let memory = call.memory_or_new().await?;
    let before = named(&memory, call.name(1)).await?;
    let source = before.sources.first().map(|source| source.event);
    let kept = match source {
        Some(event) => memory.get(event).await?.kept().map(|kept| kept.metadata.clone()),
        None => None,
    };
    let channel = ChannelId::new(CHANNEL)?;
    let mut request = memory.remember(form.text).key(key_of(&before)?).kind(before.kind);
    request = request.category(before.category.clone()).importance(before.importance);
    let request = request.message(|mut message| {
        message = message.channel(channel).session(before.session.clone());
        if let Some(user) = before.user.clone() {
            message = message.user_id(user);
        }
        if let Some(agent) = before.agent.clone() {
            message = message.agent_id(agent);
        }
        let kept = kept.unwrap_or_default().into_iter();
        kept.fold(message, |message, (name, value)| message.metadata(name, value))
    });
    let stored = request.await?;
    call.host.metrics.count("mnemal_events_total", &[], u64::from(stored.created));
    let message = if stored.held_back.is_none() {
        "Memory updated successfully!"
    } else {
        "Memory stays as it was: the new words are held back until a person releases them."
    };
    Reply::ok(&Mem0DoneForm { message })
}

async fn history(call: Call) -> Result<Reply, Problem> {
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    let row = named(&memory, call.name(1)).await?;
    let mut versions = match &row.key {
        Some(key) => memory.history(key).await?,
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

/// Erases rows with the whole past of their keys.
async fn forget(memory: &Memory, rows: &[Learning]) -> Result<(), Problem> {
    let mut events: Vec<EventId> = Vec::new();
    for row in rows {
        let versions = match &row.key {
            Some(key) => memory.history(key).await?,
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
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    let row = named(&memory, call.name(1)).await?;
    forget(&memory, &[row]).await?;
    Reply::ok(&Mem0DoneForm { message: "Memory deleted successfully!" })
}

async fn erase_all(call: Call) -> Result<Reply, Problem> {
    let whose: Whose = call.query()?;
    let call = inside(call)?;
    let (whose, memory) = (whose.some()?, call.memory_or_new().await?);
    let mut rows = memory.all_learnings(&whose.filter()?).await?;
    rows.retain(|row| whose.is_of_run(row));
    forget(&memory, &rows).await?;
    Reply::ok(&Mem0DoneForm { message: "All relevant memories deleted" })
}

async fn reset(call: Call) -> Result<Reply, Problem> {
    let call = inside(call)?;
    let memory = call.memory_or_new().await?;
    forget(&memory, &memory.all_learnings(&LearningFilter::all()).await?).await?;
    Reply::ok(&Mem0DoneForm { message: "All memories reset" })
}
