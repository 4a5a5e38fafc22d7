//! The compatibility routes of the GeneralBots always-on knowledge base: they translate names and call the same handlers. A
//! knowledge base is a space, which is shared by all bots: the header `X-Bot-Id` is rejected.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;

use hyper::Method;
use mnemal::Memory;
use mnemal::admin::AlwaysOn;
use mnemal_core::{
    AsOf, Cursor, Decision, Event, EventFilter, EventId, EventKind, Learning, LearningFilter, LearningId,
    LearningKind, OperationKind, Scored, Selector, SpaceId, Timestamp, Within, Zone,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Right;
use crate::http::call::{Call, no_space};
use crate::http::cursor::PageForm;
use crate::http::jobs::JobForm;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::{forget, of, work};
use crate::wire::ErasureForm;

/// Events per page of a scan. Source: own default.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("a page holds something");

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "kb_list",
            "/api/kb/always-on",
            "Spaces that are always on.",
            (of::<Vec<KbForm>>, |call| Box::pin(async move { list(&call).await })),
        )
        .whole(),
        Route::post(
            "kb_ingest",
            "/api/kb/always-on/ingest",
            "Reads a text into a space.",
            (of::<KbIngestForm>, of::<JobForm>, |call| Box::pin(ingest(call))),
        )
        .status(202),
        Route::post(
            "kb_consolidate",
            "/api/kb/always-on/consolidate",
            "Brings a space up to date.",
            (of::<KbNameForm>, of::<JobForm>, |call| Box::pin(consolidate(call))),
        )
        .whole()
        .status(202),
        Route::get(
            "kb_memories",
            "/api/kb/always-on/{kb}/memories",
            "What a space remembers, newest first.",
            (of::<PageForm<KbMemoryForm>>, |call| Box::pin(memories(call))),
        )
        .query(of::<KbQuery>),
        Route::get(
            "kb_insights",
            "/api/kb/always-on/{kb}/insights",
            "What several memories say together, newest first.",
            (of::<PageForm<KbInsightForm>>, |call| Box::pin(insights(call))),
        )
        .query(of::<KbQuery>),
        Route::get(
            "kb_memory_forget",
            "/api/kb/always-on/{kb}/memory/{id}",
            "Erases a memory.",
            (of::<ErasureForm>, |call| Box::pin(erase(call))),
        )
        .method(Method::DELETE)
        .right(Right::Erase),
        Route::get(
            "kb_clear",
            "/api/kb/always-on/{kb}/clear",
            "Erases every memory of a space, in one call.",
            (of::<ErasureForm>, |call| Box::pin(clear(call))),
        )
        .method(Method::POST)
        .right(Right::Erase),
    ]
}

/// A knowledge base.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Kb")]
struct KbForm {
    /// The space.
    kb_name: String,
    /// Whether it is read beside every other one.
    always_on: bool,
    /// Least minutes between two consolidations that nobody asked for.
    consolidate_interval_mins: u32,
    /// Since when it is always on.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
}

/// A text for a knowledge base.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "KbIngest")]
struct KbIngestForm {
    /// The space.
    kb_name: String,
    /// The text.
    text: String,
    /// Where it comes from.
    #[serde(default)]
    source: Option<String>,
}

/// A knowledge base by name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "KbName")]
struct KbNameForm {
    /// The space.
    kb_name: String,
}

/// A memory in the words of the design.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KbMemory")]
struct KbMemoryForm {
    /// Its id.
    id: String,
    /// The words; of a text that was read in, what it says in short.
    summary: String,
    /// Who and what its words name.
    entities: Vec<String>,
    /// What it is about.
    topics: Vec<String>,
    /// 0 to 1.
    importance: f32,
    /// `chat` for what was learnt from talk, `api` for what was stored as it is; for a text that was read in, the file or what
    /// was given as its source.
    source: String,
    /// What made the summary, where it is not the words themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    producer: Option<String>,
    /// Whether insights were looked for in it.
    is_consolidated: bool,
    /// When it was stored.
    created_at: String,
}

/// What several memories say together, in the words of the design.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KbInsight")]
struct KbInsightForm {
    /// Its id.
    id: String,
    /// What they have in common.
    insight: String,
    /// What they say, in up to two of their own sentences; empty where none is left.
    summary: String,
    /// The memories that it rests on.
    memory_ids: Vec<String>,
    /// When it was made.
    created_at: String,
}

/// How a list is cut.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "KbPage")]
struct KbQuery {
    /// Most items; 50 without it, at most 200.
    limit: Option<u32>,
    /// Where the list goes on.
    cursor: Option<String>,
}

/// Rejects a request for one bot: an always-on space is read with every other space, so it cannot be private to a bot.
fn of_all(call: &Call) -> Result<(), Problem> {
    if call.names_bot {
        return Err(Problem::invalid(
            "X-Bot-Id is not known here: a knowledge base that is always on is read beside every space. Give each bot a data \
             folder or a server of its own, or spaces and keys that it does not share",
        ));
    }
    Ok(())
}

/// Returns the same call in a space that the caller may access.
fn inside(mut call: Call, name: &str) -> Result<Call, Problem> {
    of_all(&call)?;
    let space = SpaceId::new(name)?;
    let space = Some(space).filter(|space| call.principal.knows(space)).ok_or_else(|| no_space(name))?;
    let rest: Vec<String> = call.path.drain(..).skip(1).collect();
    call.path = std::iter::once(space.to_string()).chain(rest).collect();
    Ok(call)
}

fn by_path(call: Call) -> Result<Call, Problem> {
    let name = call.name(0).to_owned();
    inside(call, &name)
}

async fn list(call: &Call) -> Result<Reply, Problem> {
    let spaces = call.host.spaces.list().await?.into_iter();
    let on = spaces.filter(|entry| entry.always_on == AlwaysOn::Yes && call.principal.knows(&entry.space));
    of_all(call)?;
    let forms = on.map(|entry| KbForm {
        kb_name: entry.space.to_string(),
        always_on: true,
        consolidate_interval_mins: entry.consolidate_interval_mins,
        created_at: entry.always_on_since.map(|since| since.to_string()),
    });
    Reply::ok(&forms.collect::<Vec<KbForm>>())
}

async fn ingest(call: Call) -> Result<Reply, Problem> {
    let KbIngestForm { kb_name, text, source } = call.body()?;
    let call = inside(call, &kb_name)?;
    let form = work::IngestForm { text, source, title: None }.checked()?;
    // A space into which texts are ingested becomes always-on; a call for one user must not decide that for the others.
    if call.user.is_none() {
        call.memory_or_new().await?;
        call.host.spaces.set_always_on(&call.space()?, AlwaysOn::Yes).await?;
    }
    Box::pin(work::begin_ingest(&call, form)).await
}

async fn consolidate(call: Call) -> Result<Reply, Problem> {
    let KbNameForm { kb_name } = call.body()?;
    work::begin_consolidation(&inside(call, &kb_name)?).await
}

/// The content of a knowledge base, newest first, with insights separate.
pub(super) struct KnowledgeBase {
    pub(super) memories: Vec<Learning>,
    pub(super) insights: Vec<Learning>,
}

impl KnowledgeBase {
    pub(super) async fn of(memory: &Memory, now: Timestamp) -> Result<Self, Problem> {
        let rows = memory.preferences().learnings(&LearningFilter::all(), AsOf::present(now)).await?;
        let mut rows: Vec<Learning> = rows.into_iter().map(|Scored { item, .. }| item).collect();
        rows.sort_by_key(|row| (Reverse(row.created_at), row.id));
        let (insights, memories) = rows.into_iter().partition(|row| row.kind == LearningKind::Insight);
        Ok(Self { memories, insights })
    }

    /// Returns the number of memories that were not reviewed for insights yet.
    pub(super) async fn unconsolidated(&self, memory: &Memory) -> Result<u64, Problem> {
        let consolidated = memory.admin().engine().consolidated(&self.memories).await?;
        Ok((self.memories.len() - consolidated.len()) as u64)
    }
}

fn events(row: &Learning) -> impl Iterator<Item = EventId> {
    row.sources.iter().map(|source| source.event)
}

/// Summarizes memories in up to two of their own sentences.
fn in_short(rows: &[&Learning], now: Timestamp) -> String {
    let said: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
    let said = said.join("\n");
    let gist = mnemal::extract::summarize_text(&mnemal::extract::OwnWords::whole(&said), now, &Zone::utc());
    let sentences: Vec<&str> = gist.summary.iter().filter_map(|span| span.of(&said)).map(str::trim).collect();
    sentences.join(" ")
}

async fn memories(call: Call) -> Result<Reply, Problem> {
    let query: KbQuery = call.query()?;
    let call = by_path(call)?;
    let (memory, now) = (call.memory().await?, call.host.now());
    let page = call.page(&memory, query.limit, query.cursor.as_deref())?;
    let held = KnowledgeBase::of(&memory, now).await?;
    let (rows, next_cursor) = page.page_of(&memory, held.memories);
    let consolidated = memory.admin().engine().consolidated(&rows).await?;
    let texts = SourceTexts::of(&memory, &rows).await?;
    let items = rows.iter().map(|row| {
        let mut form = KbMemoryForm::of(row, &consolidated);
        texts.complete(row, &mut form);
        form
    });
    Reply::ok(&PageForm { items: items.collect(), next_cursor, gaps: Vec::new() })
}

/// The source events of some memories.
struct SourceTexts(HashMap<EventId, Event>);

impl KbMemoryForm {
    fn of(row: &Learning, consolidated: &HashSet<LearningId>) -> Self {
        let topics = row.topics.iter().cloned().chain(row.tags.iter().map(ToString::to_string));
        Self {
            id: row.id.to_string(),
            summary: row.content.clone(),
            entities: mnemal::extract::named_in(&row.content),
            topics: topics.collect(),
            importance: row.importance.get(),
            source: if row.signal.is_some() { "chat" } else { "api" }.to_owned(),
            producer: None,
            is_consolidated: consolidated.contains(&row.id),
            created_at: row.created_at.to_string(),
        }
    }
}

impl SourceTexts {
    async fn of(memory: &Memory, rows: &[Learning]) -> Result<Self, Problem> {
        let maker =
            |row: &Learning| row.sources.iter().take(2).map(|source| source.event).collect::<Vec<_>>();
        let ids: HashSet<EventId> = rows.iter().flat_map(maker).collect();
        let ids: Vec<EventId> = ids.into_iter().collect();
        let events = if ids.is_empty() { Vec::new() } else { memory.events().get_many(&ids).await? };
        Ok(Self(events.into_iter().map(|event| (event.id, event)).collect()))
    }

    /// Adds the fields of a digest: names, topics, source, and author.
    fn complete(&self, row: &Learning, form: &mut KbMemoryForm) {
        let mut sources = row.sources.iter().filter_map(|source| self.0.get(&source.event));
        let made = sources.next().and_then(Event::body).map(|made| &made.kind);
        let Some(EventKind::Operation(operation)) = made else { return };
        let OperationKind::Digest { entities, classification, .. } = &operation.kind else { return };
        let part = sources.next().and_then(Event::body);
        let field = |name| part.and_then(|part| part.metadata.get(name)).cloned();
        form.entities.clone_from(entities);
        form.topics = classification.tags.iter().map(ToString::to_string).collect();
        form.source = field("source").or_else(|| field("file")).unwrap_or_else(|| form.source.clone());
        form.producer = Some(operation.producer.id.clone());
    }
}

async fn insights(call: Call) -> Result<Reply, Problem> {
    let query: KbQuery = call.query()?;
    let call = by_path(call)?;
    let memory = call.memory().await?;
    let page = call.page(&memory, query.limit, query.cursor.as_deref())?;
    let now = call.host.now();
    let held = KnowledgeBase::of(&memory, now).await?;
    let (rows, next_cursor) = page.page_of(&memory, held.insights);
    let items = rows.iter().map(|row| {
        let joined: HashSet<EventId> = events(row).collect();
        let rests_on = |one: &&Learning| events(one).any(|event| joined.contains(&event));
        let rests: Vec<&Learning> = held.memories.iter().filter(rests_on).collect();
        KbInsightForm {
            id: row.id.to_string(),
            insight: row.content.clone(),
            summary: in_short(&rests, now),
            memory_ids: rests.iter().map(|one| one.id.to_string()).collect(),
            created_at: row.created_at.to_string(),
        }
    });
    Reply::ok(&PageForm { items: items.collect(), next_cursor, gaps: Vec::new() })
}

async fn erase(call: Call) -> Result<Reply, Problem> {
    let call = by_path(call)?;
    let selector = forget::records(&call.memory().await?, &[call.name(1).to_owned()]).await?;
    forget::erase(&call, selector).await
}

async fn clear(call: Call) -> Result<Reply, Problem> {
    let call = by_path(call)?;
    let memory = call.memory().await?;
    let mut ids = Vec::new();
    let mut after = Cursor::START;
    // Quarantined events are erased too.
    let all = EventFilter { erased: Within::Only(false), ..EventFilter::all() };
    loop {
        let page = memory.events().scan(&all, after, PAGE).await?;
        ids.extend(page.iter().filter(|event| says_something(event)).map(|event| event.id));
        match page.last() {
            Some(last) if page.len() == PAGE.get() => after = Cursor(Some(last.seq)),
            _ => break,
        }
    }
    forget::erase(&call, Selector::Events(ids)).await
}

/// Whether an event is primary content; records derived from it are erased with it.
fn says_something(event: &Event) -> bool {
    event.body().is_some_and(|kept| match &kept.kind {
        EventKind::Decision(decision) => matches!(decision, Decision::Remember(_)),
        EventKind::Operation(_) => false,
        _ => !kept.content.is_empty(),
    })
}
