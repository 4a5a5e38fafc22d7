//! Spaces: list, create, change, remove, count.

use hyper::{Method, StatusCode};
use mnemal::admin::{AlwaysOn, SpaceEntry};
use mnemal::{LearningFilter, Memory};
use mnemal_core::{ErrorKind, HealthReport, Layer, SpaceId, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Right;
use crate::http::call::{Call, no_space};
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::compat::KnowledgeBase;
use crate::http::routes::of;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "space_list",
            "/v1/spaces",
            "The spaces that the key may read, by name.",
            (of::<SpacesForm>, |call| Box::pin(async move { list(&call).await })),
        ),
        Route::post(
            "space_create",
            "/v1/spaces",
            "Makes a space; one that is there is set again.",
            (of::<NewSpaceForm>, of::<SpaceForm>, |call| Box::pin(create(call))),
        )
        .status(201),
        Route::get(
            "space_get",
            "/v1/spaces/{space}",
            "What a list shows of it.",
            (of::<SpaceForm>, |call| Box::pin(async move { get(&call).await })),
        ),
        Route::post(
            "space_set",
            "/v1/spaces/{space}",
            "Changes what is set of it.",
            (of::<SetSpaceForm>, of::<SpaceForm>, |call| Box::pin(async move { change(&call).await })),
        )
        .whole()
        .method(Method::PATCH),
        Route::get(
            "space_remove",
            "/v1/spaces/{space}",
            "Removes it for good, with all its files.",
            (of::<SpaceForm>, |call| Box::pin(remove(call))),
        )
        .method(Method::DELETE)
        .right(Right::Admin)
        .query(of::<RemoveQuery>),
        Route::get(
            "stats",
            "/v1/spaces/{space}/stats",
            "What it holds, and how its layers are.",
            (of::<StatsForm>, |call| Box::pin(stats(call))),
        )
        .query(of::<StatsQuery>),
    ]
}

/// Spaces.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Spaces")]
struct SpacesForm {
    /// By name.
    items: Vec<SpaceForm>,
}

/// A space.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Space")]
struct SpaceForm {
    /// Its name.
    name: String,
    /// Whether it is read beside every other one.
    always_on: bool,
    /// Minutes between two looks over its notes.
    consolidate_interval_mins: u32,
    /// Bytes of its files.
    bytes: u64,
}

impl From<SpaceEntry> for SpaceForm {
    fn from(entry: SpaceEntry) -> Self {
        let always_on = entry.always_on == AlwaysOn::Yes;
        let (name, bytes) = (entry.space.to_string(), entry.bytes);
        Self { name, always_on, consolidate_interval_mins: entry.consolidate_interval_mins, bytes }
    }
}

/// A space that is to be there.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewSpace")]
struct NewSpaceForm {
    /// `[a-z0-9][a-z0-9._-]{0,62}`.
    name: String,
    /// Whether it is read beside every other one; what it was without it, and not for a new one.
    #[serde(default)]
    always_on: Option<bool>,
    /// Minutes between two looks over its notes; the setting without it.
    #[serde(default)]
    consolidate_interval_mins: Option<u32>,
}

/// What can be set of a space.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SetSpace")]
struct SetSpaceForm {
    /// Whether it is read beside every other one.
    #[serde(default)]
    always_on: Option<bool>,
    /// Minutes between two looks over its notes.
    #[serde(default)]
    consolidate_interval_mins: Option<u32>,
}

/// What a removal says.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RemoveQuery {
    /// The name of the space once more.
    #[serde(default)]
    confirm: Option<String>,
}

/// What else is to be counted.
#[derive(Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct StatsQuery {
    /// Also the bytes of each layer, which reads the whole file.
    sizes: bool,
    /// Whether the rows of the layers are checked. With `false` the counts come sooner, and `layers` say only whether each
    /// answers, and how far it is behind.
    check: bool,
}

impl Default for StatsQuery {
    fn default() -> Self {
        Self { sizes: false, check: true }
    }
}

/// What a space holds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Stats")]
struct StatsForm {
    /// Its name.
    space: String,
    /// Events in the log.
    events: u64,
    /// Conversations.
    sessions: u64,
    /// Memories that hold, insights among them.
    memories: u64,
    /// Those of them in which insights were not looked for yet.
    unconsolidated: u64,
    /// Insights that hold: what several memories say together.
    consolidations: u64,
    /// Memories that wait for a person's review; which do, `learning.review` says.
    to_review: u64,
    /// Events that are held back.
    quarantined: u64,
    /// Events that were erased.
    erased: u64,
    /// Bytes of its files.
    bytes: u64,
    /// How each layer is.
    layers: Vec<LayerForm>,
    /// The bytes of each layer, the largest first, where they were asked for and the space has a file of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    sizes: Option<Vec<LayerSizeForm>>,
}

/// The size of a layer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LayerSize")]
struct LayerSizeForm {
    /// Which; `other` for what belongs to none. `lexical` is the index of recall, with its vectors.
    layer: &'static str,
    /// Bytes of its pages.
    bytes: u64,
}

/// Returns the sizes of the layers; none where a space has no file of its own.
async fn sizes(memory: &Memory) -> Result<Option<Vec<LayerSizeForm>>, Problem> {
    let form = |(layer, bytes): (Option<Layer>, u64)| LayerSizeForm {
        layer: layer.map_or("other", Layer::as_str),
        bytes,
    };
    match memory.admin().engine().layer_bytes().await {
        Ok(all) => Ok(Some(all.into_iter().map(form).collect())),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// How a layer is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Layer")]
struct LayerForm {
    /// Which.
    layer: &'static str,
    /// `ok`, `degraded` or `down`.
    status: &'static str,
    /// Why, when it is not ok.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    /// Events behind the log.
    behind: u64,
}

fn layers(report: &HealthReport) -> Vec<LayerForm> {
    let form = |part: &mnemal_core::Health| LayerForm {
        layer: part.layer.as_str(),
        status: match part.status {
            Status::Ok => "ok",
            Status::Degraded => "degraded",
            Status::Down => "down",
        },
        cause: part.cause.map(mnemal_core::GapCause::as_str),
        behind: part.behind,
    };
    report.parts.iter().map(form).collect()
}

async fn list(call: &Call) -> Result<Reply, Problem> {
    let spaces =
        call.host.spaces.list().await?.into_iter().filter(|entry| call.principal.knows(&entry.space));
    Reply::ok(&SpacesForm { items: spaces.map(SpaceForm::from).collect() })
}

async fn entry(call: &Call, space: &SpaceId) -> Result<SpaceForm, Problem> {
    match call.host.spaces.entry(space).await {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(no_space(space.as_str())),
        found => Ok(found?.into()),
    }
}

async fn create(call: Call) -> Result<Reply, Problem> {
    let form: NewSpaceForm = call.body()?;
    let space = SpaceId::new(form.name)?;
    if !call.principal.knows(&space) {
        return Err(Problem::new("right_missing", "the key is not bound to this space"));
    }
    let is_known = call.host.spaces.contains(&space).await?;
    drop(call.host.open_or_create(&space).await?);
    set(&call, &space, form.always_on, form.consolidate_interval_mins).await?;
    let status = if is_known { StatusCode::OK } else { StatusCode::CREATED };
    Reply::json(status, &entry(&call, &space).await?)
}

/// Sets the given fields; omitted fields stay unchanged.
async fn set(call: &Call, space: &SpaceId, is_on: Option<bool>, mins: Option<u32>) -> Result<(), Problem> {
    if let Some(is_on) = is_on {
        call.host.spaces.set_always_on(space, if is_on { AlwaysOn::Yes } else { AlwaysOn::No }).await?;
        call.host.always_on_has_changed();
    }
    if let Some(mins) = mins {
        call.host.spaces.set_consolidate_interval(space, mins).await?;
    }
    Ok(())
}

async fn get(call: &Call) -> Result<Reply, Problem> {
    Reply::ok(&entry(call, &call.space()?).await?)
}

async fn change(call: &Call) -> Result<Reply, Problem> {
    let (form, space): (SetSpaceForm, SpaceId) = (call.body()?, call.space()?);
    set(call, &space, form.always_on, form.consolidate_interval_mins).await?;
    Reply::ok(&entry(call, &space).await?)
}

async fn remove(call: Call) -> Result<Reply, Problem> {
    let (query, space): (RemoveQuery, SpaceId) = (call.query()?, call.space()?);
    let gone = entry(&call, &space).await?;
    if query.confirm.as_deref() != Some(space.as_str()) {
        return Err(Problem::new("confirmation_required", "there is no undo")
            .hint("Say the name of the space again: `?confirm=NAME`."));
    }
    call.host.spaces.remove(&space).await?;
    call.host.always_on_has_changed();
    Reply::ok(&gone)
}

/// Counts the memories that wait for a review; none without notes.
async fn to_review(memory: &Memory) -> Result<u64, Problem> {
    match memory.preferences().to_review(&LearningFilter::all()).await {
        Ok(waiting) => Ok(waiting.len() as u64),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(0),
        Err(error) => Err(error.into()),
    }
}

async fn stats(call: Call) -> Result<Reply, Problem> {
    let query: StatsQuery = call.query()?;
    let memory = call.memory().await?;
    let admin = memory.admin();
    let stats = admin.stats().await?;
    let health = if query.check { admin.examine().await? } else { admin.health().await? };
    let held = KnowledgeBase::of(&memory, call.host.now()).await?;
    Reply::ok(&StatsForm {
        space: call.name(0).to_owned(),
        events: stats.head.count(),
        sessions: stats.sessions,
        memories: stats.notes,
        unconsolidated: held.unconsolidated(&memory).await?,
        consolidations: held.insights.len() as u64,
        to_review: to_review(&memory).await?,
        quarantined: stats.quarantined,
        erased: stats.erased,
        bytes: entry(&call, &call.space()?).await?.bytes,
        layers: layers(&health),
        sizes: if query.sizes { sizes(&memory).await? } else { None },
    })
}
