//! Decisions of the user about facts and entities, and their undo.

use mnemal::graph::FactView;
use mnemal::{AsOf, Graph, Memory};
use mnemal_core::{
    Decision, Entity, ErrorKind, EventId, Fact, FactChoice, FactDecision, FactFilter, Predicate, Timestamp,
    Value, WorldTime,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "fact_add",
            "/v1/spaces/{space}/facts",
            "Says that something is so, as the user's decision; what it contradicts is over.",
            (of::<NewFactForm>, of::<DecisionForm>, |call| Box::pin(add(call))),
        )
        .status(201),
        Route::post(
            "fact_end",
            "/v1/spaces/{space}/facts/{id}/end",
            "Says that a fact is over, or that it never was so.",
            (of::<EndForm>, of::<DecisionForm>, |call| Box::pin(end(call))),
        ),
        Route::post(
            "entity_rename",
            "/v1/spaces/{space}/entities/{id}/rename",
            "Shows one by another name from now on.",
            (of::<RenameForm>, of::<DecisionForm>, |call| Box::pin(rename(call))),
        ),
        Route::post(
            "entity_merge",
            "/v1/spaces/{space}/entities/{id}/merge",
            "Says that two are one.",
            (of::<MergeForm>, of::<DecisionForm>, |call| Box::pin(merge(call))),
        ),
        Route::post(
            "entity_split",
            "/v1/spaces/{space}/entities/{id}/split",
            "Says that two that were taken for one are two, and stay two.",
            (of::<SplitForm>, of::<DecisionForm>, |call| Box::pin(split(call))),
        ),
        Route::post(
            "decision_undo",
            "/v1/spaces/{space}/decisions/{id}/undo",
            "Takes a decision back: about a fact, a name, a merge, a note, or of the dream.",
            (of::<UndoForm>, of::<DecisionForm>, |call| Box::pin(undo(call))),
        ),
    ]
}

/// What is so.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewFact")]
struct NewFactForm {
    /// Of whom: a name or an id; `user` for whoever speaks without a name.
    subject: String,
    /// What: `lives_in`, `works_at`, `likes` and so on.
    predicate: String,
    /// The value: the name or id of somebody or something that is known, or words.
    object: String,
    /// The topic, for predicates that hold one value for each: the kind of a favourite, the role of a relative.
    #[serde(default)]
    topic: Option<String>,
    /// Since when.
    #[serde(default)]
    since: Option<String>,
    /// Until when: the first moment at which it no longer holds.
    #[serde(default)]
    until: Option<String>,
}

/// How a fact ends.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EndFact")]
struct EndForm {
    /// The first moment at which it no longer holds; now without it.
    #[serde(default)]
    at: Option<String>,
    /// It never was so, and stays wrong whoever says it again; not together with `at`.
    #[serde(default)]
    wrong: bool,
}

/// A new name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RenameEntity")]
struct RenameForm {
    /// How it is shown.
    name: String,
}

/// Whom it is taken for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MergeEntity")]
struct MergeForm {
    /// The one that stands for both: a name or an id.
    into: String,
}

/// Who is taken out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SplitEntity")]
struct SplitForm {
    /// The one that is taken out of it: a name or an id.
    part: String,
}

/// Nothing more is asked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Undo")]
struct UndoForm {}

/// A decision.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Decision")]
struct DecisionForm {
    /// The decision in the log, by which it is taken back.
    event_id: String,
    /// What was decided, as a sentence.
    text: String,
}

fn always() -> AsOf {
    AsOf::present(Timestamp::MAX)
}

/// Logs a decision of the user, and returns its description.
async fn decided(memory: &Memory, decision: Decision, text: String) -> Result<DecisionForm, Problem> {
    let event = memory.facts().decide(decision).await?.value.id;
    Ok(DecisionForm { event_id: event.to_string(), text })
}

fn world(call: &Call, name: &str, text: Option<&str>) -> Result<Option<WorldTime>, Problem> {
    let at = call.time(name, text)?;
    Ok(at.map(|at| WorldTime::from_seconds(at.as_micros().div_euclid(1_000_000))))
}

async fn add(call: Call) -> Result<Reply, Problem> {
    call.vouches()?;
    let form: NewFactForm = call.body()?;
    let choice = FactChoice::Add {
        valid_at: world(&call, "since", form.since.as_deref())?,
        invalid_at: world(&call, "until", form.until.as_deref())?,
    };
    let predicate = Predicate::new(form.predicate)?;
    let memory = call.memory_or_new().await?;
    let subject = memory.facts().decision_subject(&form.subject).await?;
    let (object, shown) = object(&memory.facts().graph().await?.value, &form.object).await?;
    if let Some(introduction) = subject.introduction {
        let _known = memory.facts().decide(introduction).await?;
    }
    let text = format!("{} – {}: {shown}", subject.name, predicate.as_str().replace('_', " "));
    let topic = form.topic.map(|topic| topic.to_lowercase());
    let fact = FactDecision { subject: subject.id, predicate, topic, object, choice, sources: Vec::new() };
    Reply::created(&decided(&memory, Decision::Fact(fact), text).await?)
}

/// Resolves an object: a known entity of that name, or a literal text.
async fn object(graph: &Graph, object: &str) -> Result<(Value, String), Problem> {
    match graph.exactly(object, always()).await {
        Ok(entity) => Ok((Value::Entity(entity.id), entity.name)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = object.trim().to_owned();
            if text.is_empty() {
                return Err(Problem::invalid("object: it is empty"));
            }
            Ok((Value::Literal { text: text.clone(), key: mnemal::graph::value_key(&text) }, text))
        }
        Err(error) => Err(error.into()),
    }
}

async fn end(call: Call) -> Result<Reply, Problem> {
    call.vouches()?;
    let form: EndForm = call.body()?;
    if form.wrong && form.at.is_some() {
        return Err(Problem::invalid("at: what never was so has no end"));
    }
    let at = world(&call, "at", form.at.as_deref())?;
    let now = WorldTime::from_seconds(call.host.now().as_micros().div_euclid(1_000_000));
    let choice = if form.wrong { FactChoice::Reject } else { FactChoice::End { at: at.unwrap_or(now) } };
    let memory = call.memory().await?;
    let told = path_fact(&call, &memory).await?;
    let how = if form.wrong { "never was so" } else { "is over" };
    let text = format!("{how}: {}", told.line());
    let Fact { subject, predicate, topic, object, .. } = told.fact;
    let fact = FactDecision { subject, predicate, topic, object, choice, sources: Vec::new() };
    Reply::ok(&decided(&memory, Decision::Fact(fact), text).await?)
}

/// Returns the valid fact of the path.
async fn path_fact(call: &Call, memory: &Memory) -> Result<FactView, Problem> {
    let none = || Problem::not_found(format!("no fact {:?} that holds", call.name(1)));
    let graph = memory.facts().graph().await?;
    let as_of = AsOf::present(call.host.now());
    let mut facts = graph.facts(&FactFilter::all(), as_of).await?;
    facts.retain(|fact| fact.id.to_string() == call.name(1));
    memory.facts().describe_facts(&graph, facts, as_of).await?.pop().ok_or_else(none)
}

async fn rename(call: Call) -> Result<Reply, Problem> {
    call.vouches()?;
    let form: RenameForm = call.body()?;
    let memory = call.memory().await?;
    let known = memory.facts().graph().await?.whom(call.name(1), always()).await?;
    let decision = mnemal::graph::renaming(known.id, &form.name)?;
    let text = format!("{} is shown as {}", known.name, form.name.trim());
    Reply::ok(&decided(&memory, decision, text).await?)
}

async fn merge(call: Call) -> Result<Reply, Problem> {
    call.vouches()?;
    let form: MergeForm = call.body()?;
    let memory = call.memory().await?;
    let graph = memory.facts().graph().await?;
    let one = graph.whom(call.name(1), always()).await?;
    let into = graph.whom(&form.into, always()).await?;
    if one.id == into.id {
        return Err(Problem::invalid(format!("into: both are {} already", into.name)));
    }
    let text = format!("{} is taken for {}", one.name, into.name);
    Reply::ok(&decided(&memory, Decision::Merge { one: one.id, into: into.id }, text).await?)
}

async fn split(call: Call) -> Result<Reply, Problem> {
    call.vouches()?;
    let form: SplitForm = call.body()?;
    let memory = call.memory().await?;
    let graph = memory.facts().graph().await?;
    let whole = graph.whom(call.name(1), always()).await?;
    let parts = graph.parts(whole.id, always()).await?;
    let wanted = form.part.to_lowercase();
    let is_called = |part: &Entity| {
        part.name.to_lowercase() == wanted || part.names.iter().any(|name| name.text.to_lowercase() == wanted)
    };
    let found: Vec<&Entity> =
        parts.iter().filter(|part| part.id.to_string() == form.part || is_called(part)).collect();
    let [part] = found.as_slice() else {
        let list: Vec<String> = parts.iter().map(|part| format!("{} {}", part.id, part.name)).collect();
        let list = if list.is_empty() { "nobody".to_owned() } else { list.join("; ") };
        return Err(Problem::invalid(format!(
            "part: one of those taken for {} is meant: {list}",
            whole.name
        )));
    };
    let from = part.merged_into_at(Timestamp::MAX).unwrap_or(whole.id);
    let text = format!("{} and {} are two", part.name, whole.name);
    Reply::ok(&decided(&memory, Decision::Split { one: part.id, from }, text).await?)
}

async fn undo(call: Call) -> Result<Reply, Problem> {
    call.vouches()?;
    let UndoForm {} = call.body()?;
    let name = call.name(1).to_owned();
    let event: EventId = name.parse().map_err(|_| Problem::not_found(format!("no decision {name:?}")))?;
    let memory = call.memory().await?;
    let decision = memory.facts().undoing(event).await?;
    Reply::ok(&decided(&memory, decision, format!("taken back: {name}")).await?)
}
