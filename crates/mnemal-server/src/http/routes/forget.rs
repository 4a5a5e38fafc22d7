//! Forgetting: with preview and confirmation token, or directly for one record or key.

use mnemal::Memory;
use mnemal::events::Erasure;
use mnemal_core::{
    EventFilter, EventId, LearningFilter, LearningId, NoteKey, RecordRef, Selector, SessionId, Timestamp,
    UserId, Within,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::{Principal, Right};
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;
use crate::mcp::token;
use crate::wire::ErasureForm;

/// Events per page of a scan by person or time. Source: own default; a page of the log.
const PAGE: std::num::NonZeroUsize = std::num::NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Purpose of the tokens.
const PURPOSE: &str = "http_forget";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "forget",
            "/v1/spaces/{space}/forget",
            "Erases in every layer; what is no single record or key is previewed first.",
            (of::<ForgetForm>, of::<ErasureForm>, |call| Box::pin(forget(call))),
        )
        .right(Right::Erase),
    ]
}

/// What is to be forgotten.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Forget")]
struct ForgetForm {
    /// Exactly one of its fields.
    selector: SelectorForm,
    /// Only say what would go.
    #[serde(default)]
    dry_run: bool,
    /// From the preview of the same selector.
    #[serde(default)]
    confirm_token: Option<String>,
}

/// Which records.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Selector")]
struct SelectorForm {
    /// An event or memory.
    id: Option<String>,
    /// Events and memories.
    ids: Option<Vec<String>>,
    /// Every version of the memory of this key.
    key: Option<String>,
    /// Everything said in this conversation.
    session: Option<String>,
    /// Everything of this person.
    user: Option<String>,
    /// Every event that names somebody or something, by name or id.
    entity: Option<String>,
    /// What happened from then on; together with `until`, or alone.
    since: Option<String>,
    /// What happened before.
    until: Option<String>,
}

async fn forget(call: Call) -> Result<Reply, Problem> {
    let form: ForgetForm = call.body()?;
    let memory = call.memory().await?;
    let is_single = form.selector.id.is_some() || form.selector.key.is_some();
    let selector = selector(&call, &memory, form.selector).await?;
    let preview = memory.forget(selector.clone()).dry_run().await?;
    let digest = digest(&call.principal, &preview);
    let engine = memory.admin().engine();
    if form.dry_run {
        return Reply::ok(&ErasureForm::of_preview(&preview, token::issue(engine, PURPOSE, &digest)));
    }
    match form.confirm_token {
        None if !is_single => {
            return Err(Problem::new("confirmation_required", "this selector may mean many records"));
        }
        Some(token) if !token::is_good(engine, PURPOSE, &digest, &token) => {
            return Err(Problem::new(
                "selection_changed",
                "the token belongs to another call, has expired, or what it would erase has changed",
            ));
        }
        _ => {}
    }
    respond(&call, &memory.forget(selector).await?)
}

/// Erases the record of a path.
pub(super) async fn erase(call: &Call, selector: Selector) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    respond(call, &memory.forget(selector).await?)
}

fn respond(call: &Call, erasure: &Erasure) -> Result<Reply, Problem> {
    call.host.metrics.count("mnemal_forget_total", &[("outcome", erasure.status.as_str())], 1);
    Reply::ok(&ErasureForm::from(erasure))
}

/// Binds a token to the caller and to the exact set of events.
pub(super) fn digest(principal: &Principal, preview: &Erasure) -> String {
    let ids: Vec<String> = preview.ids.iter().map(EventId::to_string).collect();
    format!("{}\n{}", principal.id, ids.join("\n"))
}

async fn selector(call: &Call, memory: &Memory, form: SelectorForm) -> Result<Selector, Problem> {
    let is_time = form.since.is_some() || form.until.is_some();
    let given = [
        form.id.is_some(),
        form.ids.is_some(),
        form.key.is_some(),
        form.session.is_some(),
        form.user.is_some(),
        form.entity.is_some(),
        is_time,
    ];
    if given.iter().filter(|given| **given).count() != 1 {
        return Err(Problem::invalid(
            "a selector has exactly one of id, ids, key, session, user, entity, since/until",
        ));
    }
    if let Some(key) = form.key {
        return Ok(Selector::Key(NoteKey::new(key)?));
    }
    if let Some(session) = form.session {
        return Ok(Selector::Session(SessionId::new(session)?));
    }
    if let Some(who) = form.entity {
        let always = mnemal_core::AsOf::present(Timestamp::MAX);
        let entity = memory.facts().graph().await?.exactly(&who, always).await?;
        return Ok(Selector::Events(memory.facts().naming(entity.id).await?));
    }
    if let Some(user) = form.user {
        return Ok(Selector::User(UserId::new(user)?));
    }
    if is_time {
        let filter = EventFilter {
            since: call.time("since", form.since.as_deref())?,
            until: call.time("until", form.until.as_deref())?,
            erased: Within::Only(false),
            ..EventFilter::all()
        };
        return Ok(Selector::Events(all(memory, &filter).await?));
    }
    let names: Vec<String> = form.id.into_iter().chain(form.ids.unwrap_or_default()).collect();
    records(memory, &names).await
}

/// Returns all events that pass a filter.
async fn all(memory: &Memory, filter: &EventFilter) -> Result<Vec<EventId>, Problem> {
    let (mut ids, mut after) = (Vec::new(), mnemal_core::Cursor::START);
    loop {
        let page = memory.events().scan(filter, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = mnemal_core::Cursor(Some(last.seq));
        ids.extend(page.iter().map(|event| event.id));
    }
    if ids.is_empty() {
        return Err(Problem::not_found("nothing matches what should be forgotten"));
    }
    Ok(ids)
}

/// Returns the events of records: for a memory its sources.
pub(super) async fn records(memory: &Memory, names: &[String]) -> Result<Selector, Problem> {
    let mut events: Vec<EventId> = Vec::new();
    let mut notes: Vec<LearningId> = Vec::new();
    for name in names {
        match name.parse() {
            Ok(RecordRef::Event(id)) => events.push(id),
            Ok(RecordRef::Learning(id)) => notes.push(id),
            _ => return Err(Problem::not_found(format!("no event or memory {name:?}"))),
        }
    }
    if !notes.is_empty() {
        let rows = memory.preferences().all_learnings(&LearningFilter::all()).await?;
        for id in notes {
            let row = rows.iter().find(|row| row.id == id);
            let row = row.ok_or_else(|| Problem::not_found(format!("no memory {id}")))?;
            events.extend(row.sources.iter().map(|source| source.event));
        }
    }
    Ok(Selector::Events(events))
}
