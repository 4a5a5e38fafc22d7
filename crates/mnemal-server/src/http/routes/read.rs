//! Read routes: recall, contexts, answers, and receipts.

use std::collections::HashSet;
use std::num::NonZeroUsize;

use mnemal::Memory;
use mnemal::context::Format;
use mnemal::recall::RecallMode;
use mnemal_core::{
    AsOf, ChannelId, Event, EventFilter, ModelId, ReceiptId, Section, SessionId, Timestamp, ToolName, UserId,
    Within,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::Right;
use crate::http::call::Call;
use crate::http::cursor::PageForm;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::condition::Condition;
use crate::http::routes::of;
use crate::mcp::recall::{RecordSorts, default_limit, looked_at};
use crate::wire::{AnswerForm, ContextForm, Detail, RecallResultForm, ReceiptForm, ReceiptSummaryForm};

/// Maximum number of hits of a search. Source: own default, as for every list.
const MOST: u32 = 200;
/// Hits whose metadata is checked. Source: own default, the most that recall returns.
const LOOKED_AT: u32 = 1_000;
/// Default size of a search result, in tokens. Source: own default, half of a context.
const MAX_TOKENS: u32 = 2_000;
/// Newest quarantined events that a search scans. Source: own default, those that `stats` counts.
const HELD: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "recall",
            "/v1/spaces/{space}/recall",
            "Finds what was said or noted, best first.",
            (of::<RecallForm>, of::<RecallResultForm>, |call| Box::pin(recall(call))),
        )
        .right(Right::Read),
        Route::post(
            "context",
            "/v1/spaces/{space}/context",
            "Assembles what matters for a turn, within a token budget.",
            (of::<ContextBody>, of::<ContextForm>, |call| Box::pin(context(call))),
        )
        .right(Right::Read),
        Route::post(
            "answer",
            "/v1/spaces/{space}/answer",
            "Answers a question with sentences that were said and facts, or says that it is not known.",
            (of::<AnswerBody>, of::<AnswerForm>, |call| Box::pin(answer(call))),
        )
        .right(Right::Read),
        Route::get(
            "recall_get",
            "/v1/spaces/{space}/recalls/{id}",
            "The account of an earlier context.",
            (of::<ReceiptForm>, |call| Box::pin(receipt(call))),
        ),
        Route::get(
            "recall_list",
            "/v1/spaces/{space}/recalls",
            "What conversations were given: earlier contexts and answers, newest first.",
            (of::<PageForm<ReceiptSummaryForm>>, |call| Box::pin(receipts(call))),
        )
        .query(of::<ReceiptsQuery>),
    ]
}

/// What is looked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Recall")]
struct RecallForm {
    /// The question.
    query: String,
    /// Most hits, 1 to 200; without it `recall.limit` of the settings of the server, which is 10 by default.
    #[serde(default)]
    limit: Option<u32>,
    /// Most tokens of the texts; 2,000 without it.
    #[serde(default)]
    max_tokens: Option<u32>,
    /// Of `event`, `memory`, `knowledge`, `preference`, `timeline`, `anti_pattern`.
    #[serde(default)]
    kinds: Option<Vec<String>>,
    /// Only memories in it.
    #[serde(default)]
    category: Option<String>,
    /// Only memories with all of them.
    #[serde(default)]
    tags: Option<Vec<String>>,
    /// Conditions on the metadata: `{"topic": "tea", "n": {"gt": 3}}`, as in lists of memories.
    #[serde(default)]
    metadata: Option<serde_json::Map<String, serde_json::Value>>,
    /// Only this person's.
    #[serde(default)]
    user: Option<String>,
    /// Only this conversation's.
    #[serde(default)]
    session: Option<String>,
    /// Not before.
    #[serde(default)]
    since: Option<String>,
    /// Before.
    #[serde(default)]
    until: Option<String>,
    /// What held then.
    #[serde(default)]
    as_of: Option<String>,
    /// As it was believed then.
    #[serde(default)]
    believed_at: Option<String>,
    /// `auto`, `hybrid`, `lexical` or `vector`.
    #[serde(default)]
    mode: Option<String>,
    /// Only hits of at least this score.
    #[serde(default)]
    min_score: Option<f32>,
    /// The query's own vector.
    #[serde(default)]
    query_vector: Option<VectorForm>,
    /// Other spaces that are read beside this one.
    #[serde(default)]
    spaces: Option<Vec<String>>,
    /// Also what a rule holds back in this space, behind the others and marked by the rule: of the newest 1,000 such events
    /// those that have half of the words of the question.
    #[serde(default)]
    include_quarantined: bool,
    /// Also what each score is made of.
    #[serde(default)]
    explain: bool,
}

/// A vector, and the model that made it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "QueryVector")]
struct VectorForm {
    /// The model.
    model: String,
    /// Its values.
    vector: Vec<f32>,
}

/// What a context is for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ContextRequest")]
struct ContextBody {
    /// What the turn is about.
    #[serde(default)]
    query: Option<String>,
    /// The conversation that will be shown it; its own turns are left out.
    #[serde(default)]
    session: Option<String>,
    /// The place, of which more is told.
    #[serde(default)]
    channel: Option<String>,
    /// The tool that is about to be used: what is known of how it fares comes first.
    #[serde(default)]
    tool: Option<String>,
    /// Only this person's.
    #[serde(default)]
    user: Option<String>,
    /// The hard limit, in tokens; 4,000 without it.
    #[serde(default)]
    budget_tokens: Option<u32>,
    /// The sections that are wanted; all but `insights` without it. With `insights`, knowledge has the notes nearest to the question
    /// alone, and Markdown has the headings `## Memory Context` and `## Insights`.
    #[serde(default)]
    sections: Option<Vec<String>>,
    /// `markdown`, `xml` or `json`.
    #[serde(default)]
    format: Option<String>,
    /// Other spaces that are read beside this one.
    #[serde(default)]
    spaces: Option<Vec<String>>,
    /// Leave out what the conversation was shown before; yes without it.
    #[serde(default)]
    skip_injected: Option<bool>,
    /// What held then.
    #[serde(default)]
    as_of: Option<String>,
    /// As it was believed then.
    #[serde(default)]
    believed_at: Option<String>,
    /// Also what was left out.
    #[serde(default)]
    explain: bool,
}

/// Which earlier contexts.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ReceiptsQuery {
    /// Most items, 1 to 200; 50 without it. A page has more where several are of one moment, and fewer where it looked through
    /// 2,000.
    limit: Option<u32>,
    /// Where the list goes on.
    cursor: Option<String>,
    /// Of one conversation.
    session: Option<String>,
}

/// What is asked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Question")]
struct AnswerBody {
    /// The question.
    query: String,
    /// The conversation that asks; its own turns answer nothing.
    #[serde(default)]
    session: Option<String>,
    /// Only this person's.
    #[serde(default)]
    user: Option<String>,
    /// Other spaces that are read beside this one.
    #[serde(default)]
    spaces: Option<Vec<String>>,
    /// What held then.
    #[serde(default)]
    as_of: Option<String>,
    /// As it was believed then.
    #[serde(default)]
    believed_at: Option<String>,
}

async fn recall(call: Call) -> Result<Reply, Problem> {
    let form: RecallForm = call.body()?;
    let detail = if form.explain { Detail::Explained } else { Detail::Plain };
    if form.query.trim().is_empty() && form.query_vector.is_none() {
        return Err(Problem::invalid("query: it is empty; say what is looked for"));
    }
    let condition =
        form.metadata.map(|metadata| Condition::of_metadata(&metadata.into(), "metadata")).transpose()?;
    let memory = call.memory_beside(form.spaces.as_deref()).await?;
    let wanted = RecordSorts::new(
        form.kinds.unwrap_or_default(),
        form.category.as_deref(),
        form.tags.unwrap_or_default(),
    );
    let wanted = wanted.map_err(|mistake| Problem::invalid(mistake.0))?;
    let limit = form.limit.unwrap_or_else(|| default_limit(&memory, MOST));
    if !(1..=MOST).contains(&limit) {
        return Err(Problem::invalid(format!("limit must be 1..={MOST}")));
    }
    let mut filter = wanted.filter();
    filter.session = super::events::within(form.session.as_deref(), |name| SessionId::new(name))?;
    filter.user = super::events::within(form.user.as_deref(), |name| UserId::new(name))?;
    filter.since = call.time("since", form.since.as_deref())?;
    filter.until = call.time("until", form.until.as_deref())?;
    if form.as_of.is_some() {
        // Later events were not known then.
        let known = call.time("as_of", form.as_of.as_deref())?.map(|at| at.plus_micros(1));
        filter.until = filter.until.into_iter().chain(known).min();
    }
    let held_by = form.include_quarantined.then(|| filter.clone());
    // Metadata is filtered afterwards.
    let asked = if condition.is_some() { LOOKED_AT } else { looked_at(&wanted, limit) };
    let mut request = memory.recall(&form.query).filter(filter).limit(asked as usize);
    if let Some(mode) = form.mode.as_deref() {
        request = request.mode(mode_named(mode)?);
    }
    if let Some(score) = form.min_score {
        request = request.min_score(score);
    }
    if let Some(vector) = form.query_vector {
        request = request.query_vector(ModelId::new(vector.model)?, vector.vector);
    }
    if let Some(as_of) = as_of(&call, form.as_of.as_deref(), form.believed_at.as_deref())? {
        request = request.as_of(as_of);
    }
    request = request.zone(call.event_zone(None, call.host.now())?);
    let began = call.host.clock.monotonic();
    let permit = call.host.query_permits.take().await?;
    let mut found = request.await?;
    drop(permit);
    let metrics = &call.host.metrics;
    let took = call.host.clock.monotonic().saturating_sub(began);
    metrics.observe("mnemal_recall_duration_seconds", &[("mode", found.used.as_str())], took.as_secs_f64());
    let passes = |event: &Event| {
        let kept = event.body();
        condition.as_ref().is_none_or(|condition| kept.is_some_and(|kept| condition.matches(&kept.metadata)))
    };
    found.value.hits.retain(|hit| wanted.includes(hit) && passes(&hit.event));
    found.value.hits.truncate(limit as usize);
    metrics.observe("mnemal_recall_hits", &[], found.hits.len() as f64);
    if found.hits.is_empty() {
        metrics.count("mnemal_recall_empty_total", &[], 1);
    }
    let count = &|text: &str| memory.admin().engine().count_tokens(text).0;
    let most = form.max_tokens.unwrap_or(MAX_TOKENS);
    let mut answer = RecallResultForm::new(&found, &found.gaps, detail, (most, count));
    if let Some(filter) = held_by {
        for (event, share) in held_back(&memory, &form.query, &wanted, filter).await? {
            if answer.hits.len() >= limit as usize {
                break;
            }
            if !passes(&event) {
                continue;
            }
            answer.add_held(&event, share, (most, count));
        }
    }
    Reply::ok(&answer)
}

/// Returns the quarantined events that match a question, with the share of its words that each contains, largest share first,
/// then newest first. They are in no index, so they are scanned word by word.
async fn held_back(
    memory: &Memory,
    query: &str,
    wanted: &RecordSorts,
    filter: EventFilter,
) -> Result<Vec<(Event, f32)>, Problem> {
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let asked = words(query);
    let filter = EventFilter { quarantined: Within::Only(true), ..filter };
    let mut found: Vec<(Event, f32)> = Vec::new();
    for event in memory.events().latest(&filter, HELD).await? {
        let Some(kept) = event.body().filter(|_| wanted.takes_event(&event)) else { continue };
        let shared = words(&kept.content).intersection(&asked).count();
        if shared > 0 && shared * 2 >= asked.len() {
            #[expect(clippy::cast_precision_loss, reason = "counts of words of a question")]
            let share = shared as f32 / asked.len() as f32;
            found.push((event, share));
        }
    }
    found.sort_by(|(one, share), (other, than)| than.total_cmp(share).then(other.seq.cmp(&one.seq)));
    Ok(found)
}

fn mode_named(name: &str) -> Result<RecallMode, Problem> {
    match name {
        "auto" | "hybrid" => Ok(RecallMode::Auto),
        "lexical" | "bm25" => Ok(RecallMode::Lexical),
        "vector" => Ok(RecallMode::Vector),
        _ => Err(Problem::invalid("mode must be auto, hybrid, lexical or vector")),
    }
}

/// Parses the two query times; `None` for now.
pub(super) fn as_of(call: &Call, world: Option<&str>, belief: Option<&str>) -> Result<Option<AsOf>, Problem> {
    if world.is_none() && belief.is_none() {
        return Ok(None);
    }
    Ok(Some(AsOf {
        world: call.time("as_of", world)?.unwrap_or_else(|| call.host.now()),
        belief: call.time("believed_at", belief)?.unwrap_or(Timestamp::MAX),
    }))
}

async fn context(call: Call) -> Result<Reply, Problem> {
    let form: ContextBody = call.body()?;
    let detail = if form.explain { Detail::Explained } else { Detail::Plain };
    let mut memory = call.memory_beside(form.spaces.as_deref()).await?;
    if let Some(user) = form.user {
        memory = memory.for_user(UserId::new(user)?);
    }
    let mut request = memory.context(form.query.unwrap_or_default());
    if let Some(session) = form.session {
        request = request.session(SessionId::new(session)?);
        if form.skip_injected != Some(false) {
            request = request.skip_injected();
        }
    }
    if let Some(channel) = form.channel {
        request = request.channel(ChannelId::new(channel)?);
    }
    if let Some(tool) = form.tool {
        request = request.tool(ToolName::new(tool)?);
    }
    if let Some(budget) = form.budget_tokens {
        request = request.budget(budget);
    }
    if let Some(names) = form.sections {
        let section = |name: &String| {
            Section::from_name(name).ok_or_else(|| Problem::invalid(format!("there is no section {name:?}")))
        };
        request = request.sections(names.iter().map(section).collect::<Result<Vec<_>, _>>()?);
    }
    if let Some(name) = form.format.as_deref() {
        let format = Format::from_name(name);
        request =
            request.format(format.ok_or_else(|| Problem::invalid("format must be markdown, xml or json"))?);
    }
    if let Some(as_of) = as_of(&call, form.as_of.as_deref(), form.believed_at.as_deref())? {
        request = request.as_of(as_of);
    }
    let began = call.host.clock.monotonic();
    let permit = call.host.query_permits.take().await?;
    let context = request.await?;
    drop(permit);
    let took = call.host.clock.monotonic().saturating_sub(began);
    call.host.metrics.observe("mnemal_context_duration_seconds", &[], took.as_secs_f64());
    call.host.metrics.observe("mnemal_context_tokens", &[], f64::from(context.tokens.0));
    Reply::ok(&ContextForm::new(&context, &context.gaps, detail))
}

async fn answer(call: Call) -> Result<Reply, Problem> {
    let form: AnswerBody = call.body()?;
    if form.query.trim().is_empty() {
        return Err(Problem::invalid("query: it is empty; say what is asked"));
    }
    let mut memory = call.memory_beside(form.spaces.as_deref()).await?;
    if let Some(user) = form.user {
        memory = memory.for_user(UserId::new(user)?);
    }
    let mut request = memory.ask(form.query);
    if let Some(session) = form.session {
        request = request.session(SessionId::new(session)?);
    }
    if let Some(as_of) = as_of(&call, form.as_of.as_deref(), form.believed_at.as_deref())? {
        request = request.as_of(as_of);
    }
    let began = call.host.clock.monotonic();
    let permit = call.host.query_permits.take().await?;
    let answer = request.await?;
    drop(permit);
    let took = call.host.clock.monotonic().saturating_sub(began);
    let metrics = &call.host.metrics;
    metrics.observe("mnemal_answer_duration_seconds", &[], took.as_secs_f64());
    if answer.quotes.is_empty() {
        metrics.count("mnemal_answer_unknown_total", &[], 1);
    }
    Reply::ok(&AnswerForm::new(&answer, &answer.gaps))
}

async fn receipt(call: Call) -> Result<Reply, Problem> {
    let name = call.name(1);
    let id: ReceiptId = name.parse().map_err(|_| Problem::not_found(format!("no recall {name:?}")))?;
    let memory = call.memory().await?;
    let receipt = memory.admin().receipt(id).await?;
    let used = memory.admin().line_use(&receipt).await?;
    Reply::ok(&ReceiptForm::from(&receipt).with_use(used))
}

async fn receipts(call: Call) -> Result<Reply, Problem> {
    let query: ReceiptsQuery = call.query()?;
    let memory = call.memory().await?;
    let page = call.page(&memory, query.limit, query.cursor.as_deref())?;
    let session = super::events::within(query.session.as_deref(), |name| SessionId::new(name))?;
    let found = memory.admin().receipts(&session, page.moment(), page.limit()).await?;
    let next_cursor = found.before.map(|before| page.at_moment(&memory, before));
    let items = found.receipts.iter().map(ReceiptSummaryForm::from).collect();
    Reply::ok(&PageForm { items, next_cursor, gaps: Vec::new() })
}
