//! The event log: append and read.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use hyper::Method;
use mnemal::events::Ack;
use mnemal::extract::{SpeakerLabel, speaker_label};
use mnemal::{Memory, Message};
use mnemal_core::{
    AgentId, ChannelId, Degraded, Event, EventFilter, EventId, Gaps, Role, Selector, SessionId, Speaker,
    ToolName, UserId, Within,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::auth::{KeyClass, Right};
use crate::http::call::{CHANNEL, Call};
use crate::http::cursor::PageForm;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::{forget, of};
use crate::wire::{
    AckForm, ErasureForm, EventForm, Fields, GapForm, ReleasedForm, SessionForm, durability, gaps, stored,
};

/// Default number of turns of a session. Source: `RockBot`, the last 20 turns.
const LAST: u32 = 20;
/// Maximum number of sessions in a list. Source: own default, what one call reads.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(10_000).expect("10,000 is not zero");

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "event_add",
            "/v1/spaces/{space}/events",
            "Stores an event, or up to 1,000 as `{\"events\": […]}`, all or none.",
            (of::<EventsForm>, of::<StoredEventsForm>, |call| Box::pin(add(call))),
        )
        .status(201),
        Route::get(
            "event_list",
            "/v1/spaces/{space}/events",
            "Events, oldest first, or with `order=desc` newest first.",
            (of::<PageForm<EventForm>>, |call| Box::pin(list(call))),
        )
        .query(of::<EventsQuery>),
        Route::get(
            "event_get",
            "/v1/spaces/{space}/events/{id}",
            "An event.",
            (of::<EventForm>, |call| Box::pin(get(call))),
        ),
        Route::get(
            "event_forget",
            "/v1/spaces/{space}/events/{id}",
            "Erases an event.",
            (of::<ErasureForm>, |call| Box::pin(erase(call))),
        )
        .method(Method::DELETE)
        .right(Right::Erase),
        Route::get(
            "event_release",
            "/v1/spaces/{space}/events/{id}/release",
            "Lets what a rule holds back be used, at its own level.",
            (of::<ReleasedForm>, |call| Box::pin(release(call))),
        )
        .method(Method::POST)
        .right(Right::Write),
        Route::post(
            "message_add",
            "/v1/spaces/{space}/messages",
            "Stores turns in the form of chat APIs.",
            (of::<MessagesForm>, of::<StoredMessagesForm>, |call| Box::pin(messages(call))),
        )
        .status(201),
        Route::get(
            "session_list",
            "/v1/spaces/{space}/sessions",
            "Conversations, newest first.",
            (of::<PageForm<SessionForm>>, |call| Box::pin(sessions(call))),
        )
        .query(of::<PageQuery>),
        Route::get(
            "session_get",
            "/v1/spaces/{space}/sessions/{session}",
            "A conversation.",
            (of::<SessionForm>, |call| Box::pin(session(call))),
        ),
        Route::get(
            "session_forget",
            "/v1/spaces/{space}/sessions/{session}",
            "Erases everything said in it.",
            (of::<ErasureForm>, |call| Box::pin(erase_session(call))),
        )
        .method(Method::DELETE)
        .right(Right::Erase),
        Route::get(
            "session_messages",
            "/v1/spaces/{space}/sessions/{session}/messages",
            "Its last turns, oldest first.",
            (of::<PageForm<EventForm>>, |call| Box::pin(turns(call))),
        )
        .query(of::<TurnsQuery>),
    ]
}

/// One event, or several.
#[derive(JsonSchema)]
#[schemars(untagged, rename = "Events")]
#[expect(
    dead_code,
    clippy::large_enum_variant,
    reason = "only a schema; a body is read as what its fields say"
)]
enum EventsForm {
    /// Several.
    Many(BatchForm),
    /// One.
    One(NewEventForm),
}

/// Several events.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EventBatch")]
struct BatchForm {
    /// Oldest first, at most 1,000.
    events: Vec<NewEventForm>,
}

/// An event that is to be stored.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewEvent")]
struct NewEventForm {
    /// `message`, `tool_call`, `tool_result`, `observation` or `document`.
    #[serde(default)]
    r#type: Option<String>,
    /// Of a message: `user` or `assistant`.
    #[serde(default)]
    role: Option<String>,
    /// The words.
    content: String,
    /// The tool of a call or result.
    #[serde(default)]
    tool_name: Option<String>,
    /// Whether a result is a success.
    #[serde(default)]
    ok: Option<bool>,
    /// The event that it answers.
    #[serde(default)]
    parent_id: Option<String>,
    /// The name of who speaks.
    #[serde(default)]
    speaker: Option<String>,
    /// When it happened; now without it.
    #[serde(default)]
    occurred_at: Option<String>,
    /// The same event with the same key is stored once.
    #[serde(default)]
    idempotency_key: Option<String>,
    /// What else is to be kept, as JSON values.
    #[serde(default)]
    metadata: Fields,
    /// The conversation; `default` without it.
    #[serde(default)]
    session: Option<String>,
    /// Where it takes place; `http` without it.
    #[serde(default)]
    channel: Option<String>,
    /// The person whose it is.
    #[serde(default)]
    user: Option<String>,
    /// The agent whose it is.
    #[serde(default)]
    agent: Option<String>,
}

/// What became of events.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoredEvents")]
struct StoredEventsForm {
    /// One for each, in their order.
    events: Vec<AckForm>,
    /// `pending`: what is read in them comes later; they can be recalled already.
    enrich: &'static str,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

/// Turns of a conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Messages")]
struct MessagesForm {
    /// Oldest first.
    messages: Vec<TurnForm>,
    /// The conversation; `default` without it.
    #[serde(default)]
    session: Option<String>,
    /// Where it takes place; `http` without it.
    #[serde(default)]
    channel: Option<String>,
    /// The person whose it is.
    #[serde(default)]
    user: Option<String>,
    /// The agent whose it is.
    #[serde(default)]
    agent: Option<String>,
}

/// A turn in the form of chat APIs.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Turn")]
struct TurnForm {
    /// `user`, `assistant`, `tool` or `system`; what the system says is not stored.
    role: String,
    /// Text, or parts of which those of type `text` are kept.
    #[serde(default)]
    content: Value,
    /// The name of who speaks, or of the tool.
    #[serde(default)]
    name: Option<String>,
    /// Calls of tools: `{id, function: {name, arguments}}`.
    #[serde(default)]
    tool_calls: Option<Vec<Map<String, Value>>>,
    /// The call that a result answers.
    #[serde(default)]
    tool_call_id: Option<String>,
    /// When it happened; now without it.
    #[serde(default)]
    occurred_at: Option<String>,
    /// What else is to be kept, as JSON values.
    #[serde(default)]
    metadata: Fields,
}

/// What became of turns.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoredMessages")]
struct StoredMessagesForm {
    /// The events that were stored, in their order.
    event_ids: Vec<String>,
    /// `disk` survives a power cut, `process` the end of the process.
    durability: &'static str,
    /// Whether all of them were there already.
    duplicate: bool,
    /// `pending`: what is read in them comes later; they can be recalled already.
    enrich: &'static str,
    /// Secrets that were replaced.
    redactions: u32,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

/// How a list is cut.
#[derive(Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(super) struct PageQuery {
    /// Most items, 1 to 200; 50 without it.
    pub(super) limit: Option<u32>,
    /// Where the list goes on.
    pub(super) cursor: Option<String>,
}

/// Which events.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct EventsQuery {
    /// Most items, 1 to 200; 50 without it.
    limit: Option<u32>,
    /// Where the list goes on; a cursor holds for the order that it was given in.
    cursor: Option<String>,
    /// `asc`, oldest first, or `desc`, newest first; `asc` without it.
    order: Option<String>,
    /// Of one role: `user`, `assistant`, `tool`, `document` or `decision`.
    role: Option<String>,
    /// Of one conversation.
    session: Option<String>,
    /// Of one place.
    channel: Option<String>,
    /// Of one speaker.
    speaker: Option<String>,
    /// Of one person.
    user: Option<String>,
    /// Not before.
    since: Option<String>,
    /// Before.
    until: Option<String>,
    /// Also those that were erased or are held back.
    all: Option<bool>,
    /// Only those that a rule holds back, or with `false` only those that none does, whatever `all` says of them.
    quarantined: Option<bool>,
}

/// Which turns.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct TurnsQuery {
    /// How many, 1 to 200; 20 without it.
    last: Option<u32>,
}

/// The owner of a request's turns.
struct TurnOwner {
    session: Option<SessionId>,
    channel: ChannelId,
    user: Option<UserId>,
    agent: Option<AgentId>,
    class: KeyClass,
}

impl TurnOwner {
    fn read(call: &Call, [session, channel, user, agent]: [Option<&str>; 4]) -> Result<Self, Problem> {
        Ok(Self {
            session: session.map(SessionId::new).transpose()?,
            channel: ChannelId::new(channel.unwrap_or(CHANNEL))?,
            user: user.map(UserId::new).transpose()?,
            agent: agent.map(AgentId::new).transpose()?,
            class: call.principal.class,
        })
    }

    /// Returns a user turn in its session; one that an agent passes on is hearsay.
    fn said_by_user(&self, message: Message) -> Message {
        match self.class {
            KeyClass::App => self.in_session(message),
            KeyClass::Agent => self.in_session(message.hearsay()),
        }
    }

    /// Returns a message in its session.
    fn in_session(&self, mut message: Message) -> Message {
        message = message.channel(self.channel.clone());
        if let Some(session) = &self.session {
            message = message.session(session.clone());
        }
        if let Some(user) = &self.user {
            message = message.user_id(user.clone());
        }
        match &self.agent {
            Some(agent) => message.agent_id(agent.clone()),
            None => message,
        }
    }
}

async fn add(call: Call) -> Result<Reply, Problem> {
    let document: Value = call.body()?;
    let (forms, is_batch): (Vec<NewEventForm>, bool) = if document.get("events").is_some() {
        (call.body::<BatchForm>()?.events, true)
    } else {
        (vec![call.body()?], false)
    };
    let mut messages = Vec::new();
    for (place, form) in forms.into_iter().enumerate() {
        let inside =
            |problem: Problem| if is_batch { problem.inside(&format!("events[{place}]")) } else { problem };
        let own_key = form.idempotency_key.clone();
        let mut message = message(&call, form).map_err(inside)?;
        let of_request = call.idempotency_key.as_ref().map(|key| format!("{key}#{place}"));
        if let Some(key) = own_key.or(of_request) {
            message = message.hidden_idempotency_key(key);
        }
        messages.push(message);
    }
    if messages.is_empty() {
        return Err(Problem::invalid("there is no event in the body"));
    }
    let stored = call.memory_or_new().await?.events().log_all(messages).await?;
    count(&call, &stored);
    let is_known = stored.iter().all(|ack| ack.duplicate);
    let form = StoredEventsForm {
        events: stored.iter().map(AckForm::from).collect(),
        enrich: "pending",
        gaps: gaps(&stored.gaps),
    };
    if is_known { Reply::ok(&form) } else { Reply::created(&form) }
}

fn message(call: &Call, form: NewEventForm) -> Result<Message, Problem> {
    let whose = TurnOwner::read(
        call,
        [form.session.as_deref(), form.channel.as_deref(), form.user.as_deref(), form.agent.as_deref()],
    )?;
    let role = form.role.as_deref();
    let is_users = matches!(role, None | Some("user"));
    let tool = || -> Result<ToolName, Problem> {
        let name = form.tool_name.as_deref();
        Ok(ToolName::new(name.ok_or_else(|| Problem::invalid("tool_name is missing"))?)?)
    };
    let mut message = match form.r#type.as_deref().unwrap_or("message") {
        "message" if is_users => Message::user(form.content),
        "message" if role == Some("assistant") => Message::assistant(form.content),
        "message" => return Err(Problem::invalid("role must be user or assistant")),
        "tool_call" => Message::tool_call(tool()?, form.content),
        "tool_result" if form.ok == Some(false) => Message::tool_failure(tool()?, form.content),
        "tool_result" => Message::tool_result(tool()?, form.content),
        "observation" => Message::observation(form.content),
        "document" => Message::document(form.content),
        _ => {
            return Err(Problem::invalid(
                "type must be message, tool_call, tool_result, observation or document",
            ));
        }
    };
    if let Some(parent) = &form.parent_id {
        message = message.parent(parent.parse()?);
    }
    if let Some(speaker) = form.speaker {
        message = message.speaker(Speaker::new(speaker)?);
    }
    message = match call.time("occurred_at", form.occurred_at.as_deref())? {
        Some(at) => message.occurred_at(at, call.event_zone(form.occurred_at.as_deref(), at)?),
        None => message.zone(call.event_zone(None, call.host.now())?),
    };
    for (name, value) in stored(form.metadata)? {
        message = message.metadata(name, value);
    }
    let is_message = form.r#type.as_deref().is_none_or(|kind| kind == "message");
    Ok(if is_message && is_users { whose.said_by_user(message) } else { whose.in_session(message) })
}

async fn messages(call: Call) -> Result<Reply, Problem> {
    let form: MessagesForm = call.body()?;
    if form.messages.is_empty() {
        return Err(Problem::invalid("messages: it is empty; one turn at least is meant"));
    }
    let whose = TurnOwner::read(
        &call,
        [form.session.as_deref(), form.channel.as_deref(), form.user.as_deref(), form.agent.as_deref()],
    )?;
    let mut turns =
        TurnBatch { calls: HashMap::new(), waiting: Vec::new(), acks: Vec::new(), gaps: Gaps::default() };
    // All of them are parsed before any is stored.
    let mut said = Vec::new();
    for (place, turn) in form.messages.iter().enumerate() {
        let read = parse_turn(&call, &whose, turn)
            .map_err(|problem| problem.inside(&format!("messages[{place}]")))?;
        said.extend(read);
    }
    let memory = call.memory_or_new().await?;
    for (place, one) in said.into_iter().enumerate() {
        let key = call.idempotency_key.as_ref().map(|key| format!("{key}#{place}"));
        turns.take(&memory, one, key).await?;
    }
    turns.store(&memory).await?;
    if turns.acks.is_empty() {
        return Err(Problem::invalid(
            "messages: no turn has words or calls of tools; what the system says is not stored",
        ));
    }
    let stored = turns.gaps.attach(turns.acks);
    count(&call, &stored);
    let form = StoredMessagesForm {
        event_ids: stored.iter().map(|ack| ack.id.to_string()).collect(),
        durability: stored.first().map_or("disk", |ack| durability(ack.durability)),
        duplicate: stored.iter().all(|ack| ack.duplicate),
        enrich: "pending",
        redactions: stored.iter().map(|ack| ack.redactions).sum(),
        gaps: gaps(&stored.gaps),
    };
    if form.duplicate { Reply::ok(&form) } else { Reply::created(&form) }
}

/// A turn to store: its text, and the tool call that it is or answers.
struct NewTurn {
    message: Message,
    call: Option<String>,
    answers: Option<String>,
}

/// Parses a turn: its text, then its tool calls.
fn parse_turn(call: &Call, whose: &TurnOwner, turn: &TurnForm) -> Result<Vec<NewTurn>, Problem> {
    let text = text_of(&turn.content)?;
    let at = call.time("occurred_at", turn.occurred_at.as_deref())?;
    let zone = call.event_zone(turn.occurred_at.as_deref(), at.unwrap_or_else(|| call.host.now()))?;
    let metadata = stored(turn.metadata.clone())?;
    let dated = |message: Message| {
        let message = match at {
            Some(at) => message.occurred_at(at, zone.clone()),
            None => message.zone(zone.clone()),
        };
        metadata
            .iter()
            .fold(message, |message, (name, value)| message.metadata(name.as_str(), value.as_str()))
    };
    let named = |message: Message| -> Result<Message, Problem> {
        Ok(match &turn.name {
            Some(name) => message.speaker(Speaker::new(name.as_str())?),
            None => message,
        })
    };
    let plain = |message: Message| NewTurn { message, call: None, answers: None };
    let mut said = Vec::new();
    match speaker_label(&turn.role) {
        Some(SpeakerLabel::System) => return Ok(said),
        Some(SpeakerLabel::User | SpeakerLabel::Assistant) if text.is_empty() => {}
        Some(SpeakerLabel::User) => said.push(plain(whose.said_by_user(named(dated(Message::user(text)))?))),
        Some(SpeakerLabel::Assistant) => {
            said.push(plain(whose.in_session(named(dated(Message::assistant(text)))?)));
        }
        Some(SpeakerLabel::Tool) => {
            let tool = ToolName::new(turn.name.as_deref().unwrap_or("tool"))?;
            let mut message = whose.in_session(dated(Message::tool_result(tool, text)));
            if let Some(id) = &turn.tool_call_id {
                message = message.metadata("tool_call_id", id.as_str());
            }
            said.push(NewTurn { message, call: None, answers: turn.tool_call_id.clone() });
        }
        None => {
            let role = &turn.role;
            return Err(Problem::invalid(format!(
                "no role {role:?}; there are user, assistant, tool and system"
            )));
        }
    }
    for one in turn.tool_calls.iter().flatten() {
        let function = one.get("function").and_then(Value::as_object).unwrap_or(one);
        let name = function.get("name").and_then(Value::as_str);
        let tool = ToolName::new(name.ok_or_else(|| Problem::invalid("a tool call has no name"))?)?;
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let id = one.get("id").and_then(Value::as_str).map(str::to_owned);
        let mut message = whose.in_session(dated(Message::tool_call(tool, arguments)));
        if let Some(id) = &id {
            message = message.metadata("tool_call_id", id.as_str());
        }
        said.push(NewTurn { message, call: id, answers: None });
    }
    Ok(said)
}

/// Returns the text of a turn; other parts become a placeholder word.
pub(super) fn text_of(content: &Value) -> Result<String, Problem> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => {
            let part = |part: &Value| match (part.get("type").and_then(Value::as_str), part.get("text")) {
                (Some("text" | "input_text" | "output_text"), Some(Value::String(text))) => text.clone(),
                (kind, _) => format!("[{}]", kind.unwrap_or("part")),
            };
            Ok(parts.iter().map(part).collect::<Vec<_>>().join("\n"))
        }
        _ => Err(Problem::invalid("content must be a text or a list of parts")),
    }
}

/// Turns to append; a tool result is stored after its call, whose id it refers to.
struct TurnBatch {
    calls: HashMap<String, EventId>,
    waiting: Vec<(Message, Option<String>)>,
    acks: Vec<Ack>,
    gaps: Gaps,
}

impl TurnBatch {
    async fn take(&mut self, memory: &Memory, one: NewTurn, key: Option<String>) -> Result<(), Problem> {
        let mut message = one.message;
        if let Some(call) = &one.answers {
            if self.waiting.iter().any(|(_, waiting)| waiting.as_ref() == Some(call)) {
                self.store(memory).await?;
            }
            if let Some(parent) = self.calls.get(call) {
                message = message.parent(*parent);
            }
        }
        if let Some(key) = key {
            message = message.hidden_idempotency_key(key);
        }
        self.waiting.push((message, one.call));
        Ok(())
    }

    async fn store(&mut self, memory: &Memory) -> Result<(), Problem> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let (messages, calls): (Vec<Message>, Vec<Option<String>>) = self.waiting.drain(..).unzip();
        let acks = self.gaps.merge(memory.events().log_all(messages).await?);
        for (ack, call) in acks.iter().zip(calls) {
            self.calls.extend(call.map(|call| (call, ack.id)));
        }
        self.acks.extend(acks);
        Ok(())
    }
}

fn count(call: &Call, stored: &Degraded<Vec<Ack>>) {
    let metrics = &call.host.metrics;
    let fresh = stored.iter().filter(|ack| !ack.duplicate);
    metrics.count("mnemal_events_total", &[], fresh.clone().count() as u64);
    metrics.count("mnemal_redactions_total", &[], fresh.clone().map(|ack| u64::from(ack.redactions)).sum());
    metrics.count(
        "mnemal_quarantined_total",
        &[],
        fresh.filter(|ack| ack.quarantined.is_some()).count() as u64,
    );
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let query: EventsQuery = call.query()?;
    let memory = call.memory().await?;
    let page = call.page(&memory, query.limit, query.cursor.as_deref())?;
    let role =
        |name: &str| Role::from_name(name).ok_or_else(|| Problem::invalid(format!("no role {name:?}")));
    let base = if query.all == Some(true) { EventFilter::all() } else { EventFilter::live() };
    let filter = EventFilter {
        session: within(query.session.as_deref(), |name| SessionId::new(name))?,
        channel: within(query.channel.as_deref(), |name| ChannelId::new(name))?,
        speaker: within(query.speaker.as_deref(), |name| Speaker::new(name))?,
        user: within(query.user.as_deref(), |name| UserId::new(name))?,
        roles: query
            .role
            .as_deref()
            .map(role)
            .transpose()?
            .map_or(Within::All, |role| Within::Only(vec![role])),
        since: call.time("since", query.since.as_deref())?,
        until: call.time("until", query.until.as_deref())?,
        quarantined: query.quarantined.map_or(base.quarantined.clone(), Within::Only),
        ..base
    };
    let found = match query.order.as_deref() {
        None | Some("asc") => memory.events().scan(&filter, page.after(), page.limit()).await?,
        Some("desc") => {
            let filter = EventFilter { before: page.before(), ..filter };
            memory.events().latest(&filter, page.limit()).await?
        }
        Some(other) => return Err(Problem::invalid(format!("no order {other:?}; there are asc and desc"))),
    };
    let is_full = found.len() >= page.limit().get();
    let next_cursor = found.last().filter(|_| is_full).map(|last| page.at(&memory, last.seq.0));
    Reply::ok(&PageForm { items: forms(&memory, &found).await?, next_cursor, gaps: Vec::new() })
}

/// Converts an optional name to a filter.
pub(super) fn within<T>(
    name: Option<&str>,
    read: impl Fn(&str) -> mnemal_core::Result<T>,
) -> Result<Within<T>, Problem> {
    Ok(name.map(read).transpose()?.map_or(Within::All, Within::Only))
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let event = memory.events().get(event_id(&call, 1)?).await?;
    let forms = forms(&memory, std::slice::from_ref(&event)).await?;
    Reply::ok(&forms.first())
}

/// Returns the forms of events, with their extraction status and what took them back.
async fn forms(memory: &Memory, events: &[Event]) -> Result<Vec<EventForm>, Problem> {
    let mark = memory.admin().read_mark().await?;
    let undone = memory.events().undone(events).await?;
    let form = |event: &Event| EventForm::read(event, &mark).undone_by(undone.get(&event.id));
    Ok(events.iter().map(form).collect())
}

fn event_id(call: &Call, place: usize) -> Result<EventId, Problem> {
    let name = call.name(place);
    name.parse().map_err(|_| Problem::not_found(format!("no event {name:?}")))
}

async fn erase(call: Call) -> Result<Reply, Problem> {
    let selector = Selector::Events(vec![event_id(&call, 1)?]);
    forget::erase(&call, selector).await
}

async fn release(call: Call) -> Result<Reply, Problem> {
    call.vouches()?;
    let memory = call.memory().await?;
    Reply::ok(&ReleasedForm::from(&memory.events().release(event_id(&call, 1)?).await?.value))
}

async fn erase_session(call: Call) -> Result<Reply, Problem> {
    forget::erase(&call, Selector::Session(SessionId::new(call.name(1))?)).await
}

async fn sessions(call: Call) -> Result<Reply, Problem> {
    let query: PageQuery = call.query()?;
    let memory = call.memory().await?;
    let page = call.page(&memory, query.limit, query.cursor.as_deref())?;
    let found = memory.events().sessions(SESSIONS).await?;
    let (items, next_cursor) = page.page_of(&memory, found.iter().map(SessionForm::from));
    Reply::ok(&PageForm { items, next_cursor, gaps: Vec::new() })
}

async fn session(call: Call) -> Result<Reply, Problem> {
    let id = SessionId::new(call.name(1))?;
    let found = call.memory().await?.events().sessions(SESSIONS).await?;
    let found = found.iter().find(|one| one.session == id);
    Reply::ok(&SessionForm::from(found.ok_or_else(|| Problem::not_found(format!("no session {id}")))?))
}

async fn turns(call: Call) -> Result<Reply, Problem> {
    let query: TurnsQuery = call.query()?;
    let memory = call.memory().await?;
    let page = call.page(&memory, Some(query.last.unwrap_or(LAST)), None)?;
    let filter = EventFilter {
        session: Within::Only(SessionId::new(call.name(1))?),
        roles: Within::Only(vec![Role::User, Role::Assistant]),
        ..EventFilter::live()
    };
    let mut found = memory.events().latest(&filter, page.limit()).await?;
    found.reverse();
    let items = forms(&memory, &found).await?;
    Reply::ok(&PageForm { items, next_cursor: None, gaps: Vec::new() })
}
