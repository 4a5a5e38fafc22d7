//! The knowledge graph: entities, facts, and their connections.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use hyper::Method;
use mnemal::graph::MentionStats;
use mnemal::{Graph, Memory};
use mnemal_core::{
    AsOf, Degraded, EntityFilter, EntityId, EntityKind, Fact, FactFilter, FactId, Predicate, Selector,
    Timestamp, Within,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Right;
use crate::http::call::Call;
use crate::http::cursor::PageForm;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::{forget, of};
use crate::wire::{EntityForm, EntityProfileForm, ErasureForm, EventForm, FactForm, GapForm, PathForm, gaps};

/// Default and maximum number of facts in a drawing. Source: own default; more cannot be drawn legibly.
const DRAWN: (u32, u32) = (200, 1_000);
/// Default and maximum number of hops of relationships. Source: babyagi3, which traverses 2 and connects over 3.
const HOPS: (u8, u8) = (2, 3);

#[expect(clippy::too_many_lines, reason = "a table of routes")]
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "entity_list",
            "/v1/spaces/{space}/entities",
            "Whom and what it knows, most often named first.",
            (of::<PageForm<EntityForm>>, |call| Box::pin(list(call))),
        )
        .query(of::<EntitiesQuery>),
        Route::get(
            "entity_get",
            "/v1/spaces/{space}/entities/{id}",
            "What is known of one, by id or name.",
            (of::<EntityProfileForm>, |call| Box::pin(get(call))),
        )
        .query(of::<WhenQuery>),
        Route::get(
            "entity_forget",
            "/v1/spaces/{space}/entities/{id}",
            "Erases every event that names it.",
            (of::<ErasureForm>, |call| Box::pin(erase(call))),
        )
        .method(Method::DELETE)
        .right(Right::Erase),
        Route::get(
            "entity_facts",
            "/v1/spaces/{space}/entities/{id}/facts",
            "What is said of it.",
            (of::<PageForm<FactForm>>, |call| Box::pin(facts_of(call))),
        )
        .query(of::<WhenQuery>),
        Route::get(
            "entity_edges",
            "/v1/spaces/{space}/entities/{id}/edges",
            "Facts that lead to somebody or something else.",
            (of::<PageForm<FactForm>>, |call| Box::pin(facts_of(call))),
        )
        .query(of::<WhenQuery>),
        Route::get(
            "entity_timeline",
            "/v1/spaces/{space}/entities/{id}/timeline",
            "What held of it and what holds, oldest first.",
            (of::<PageForm<FactForm>>, |call| Box::pin(facts_of(call))),
        )
        .query(of::<WhenQuery>),
        Route::get(
            "entity_events",
            "/v1/spaces/{space}/entities/{id}/events",
            "The events that name it, oldest first.",
            (of::<PageForm<EventForm>>, |call| Box::pin(events_of(call))),
        )
        .query(of::<WhenQuery>),
        Route::get(
            "relationship_list",
            "/v1/spaces/{space}/relationships",
            "How somebody is connected: around him, or to another.",
            (of::<RelationshipsForm>, |call| Box::pin(relationships(call))),
        )
        .query(of::<RelationshipsQuery>),
        Route::get(
            "graph_get",
            "/v1/spaces/{space}/graph",
            "Nodes and edges for drawing.",
            (of::<GraphForm>, |call| Box::pin(graph(call))),
        )
        .query(of::<GraphQuery>),
        Route::get(
            "fact_list",
            "/v1/spaces/{space}/facts",
            "Facts that hold.",
            (of::<PageForm<FactForm>>, |call| Box::pin(facts(call))),
        )
        .query(of::<FactsQuery>),
        Route::get(
            "fact_get",
            "/v1/spaces/{space}/facts/{id}",
            "A fact.",
            (of::<FactForm>, |call| Box::pin(fact(call))),
        ),
        Route::get(
            "topic_list",
            "/v1/spaces/{space}/topics",
            "What is talked about, most often first.",
            (of::<PageForm<TopicForm>>, |call| Box::pin(topics(call))),
        )
        .query(of::<WhenQuery>),
    ]
}

/// Which entities.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct EntitiesQuery {
    /// Most items, 1 to 200; 50 without it.
    limit: Option<u32>,
    /// Where the list goes on.
    cursor: Option<String>,
    /// A part of the name, whatever the case.
    q: Option<String>,
    /// Of one kind: `person`, `organization`, `place` and so on.
    r#type: Option<String>,
    /// What held then.
    as_of: Option<String>,
    /// As it was believed then.
    believed_at: Option<String>,
}

/// As of when.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct WhenQuery {
    /// Most items, 1 to 200; 50 without it.
    limit: Option<u32>,
    /// Where the list goes on.
    cursor: Option<String>,
    /// What held then.
    as_of: Option<String>,
    /// As it was believed then.
    believed_at: Option<String>,
}

/// Which facts.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct FactsQuery {
    /// Most items, 1 to 200; 50 without it.
    limit: Option<u32>,
    /// Where the list goes on.
    cursor: Option<String>,
    /// About one, by id or name.
    subject: Option<String>,
    /// Of one kind.
    predicate: Option<String>,
    /// Only those that hold; yes without it.
    current: Option<bool>,
    /// What held then.
    as_of: Option<String>,
    /// As it was believed then.
    believed_at: Option<String>,
}

/// Which relationships.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RelationshipsQuery {
    /// From whom, by id or name.
    from: String,
    /// To whom; without it all around.
    #[serde(default)]
    to: Option<String>,
    /// Facts of one kind only.
    #[serde(default)]
    relation: Option<String>,
    /// 1 to 3; 2 without it.
    #[serde(default)]
    max_hops: Option<u8>,
    /// Most edges, or ways to the other, 1 to 1,000; 200 without it.
    #[serde(default)]
    limit: Option<u32>,
    /// What held then.
    #[serde(default)]
    as_of: Option<String>,
    /// As it was believed then.
    #[serde(default)]
    believed_at: Option<String>,
}

/// How somebody is connected.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Relationships")]
struct RelationshipsForm {
    /// What lies around, strongest first.
    edges: Vec<FactForm>,
    /// The ways to the other.
    paths: Vec<PathForm>,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

/// What is drawn.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GraphQuery {
    /// In the middle, by id or name.
    center: String,
    /// Hops around it, 1 to 3; 1 without it.
    #[serde(default)]
    depth: Option<u8>,
    /// Most edges, 1 to 1,000; 200 without it.
    #[serde(default)]
    limit: Option<u32>,
    /// What held then.
    #[serde(default)]
    as_of: Option<String>,
    /// As it was believed then.
    #[serde(default)]
    believed_at: Option<String>,
}

/// Nodes and edges.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Graph")]
struct GraphForm {
    /// Nearest first.
    nodes: Vec<EntityForm>,
    /// Facts between them.
    edges: Vec<FactForm>,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

/// A theme.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Topic")]
struct TopicForm {
    /// Its id.
    id: String,
    /// How it is shown.
    name: String,
    /// Events that touch it.
    event_count: usize,
    /// When it first came up.
    first_seen: String,
    /// When it last came up.
    last_seen: String,
    /// What came up with it most often.
    keywords: Vec<String>,
    /// A wider theme.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<String>,
}

/// The graph of a call, with its query times.
struct GraphRequest {
    memory: Memory,
    graph: Degraded<Graph>,
    as_of: AsOf,
}

impl GraphRequest {
    async fn read(call: &Call, world: Option<&str>, belief: Option<&str>) -> Result<Self, Problem> {
        let memory = call.memory().await?;
        let now = AsOf::present(call.host.now());
        let as_of = super::read::as_of(call, world, belief)?.unwrap_or(now);
        Ok(Self { graph: memory.facts().graph().await?, memory, as_of })
    }

    async fn fact_forms(&self, facts: Vec<Fact>) -> Result<Vec<FactForm>, Problem> {
        let told = self.memory.facts().describe_facts(&self.graph, facts, self.as_of).await?;
        Ok(told.iter().map(FactForm::from).collect())
    }

    fn page<T>(
        &self,
        call: &Call,
        (limit, cursor): (Option<u32>, Option<&str>),
        items: Vec<T>,
    ) -> Result<PageForm<T>, Problem> {
        let page = call.page(&self.memory, limit, cursor)?;
        let (items, next_cursor) = page.page_of(&self.memory, items);
        Ok(PageForm { items, next_cursor, gaps: gaps(&self.graph.gaps) })
    }

    async fn seen(&self) -> Result<BTreeMap<EntityId, MentionStats>, Problem> {
        let census = self.graph.census(self.as_of).await?;
        Ok(census.into_iter().map(|one| (one.entity, one.stats)).collect())
    }
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let query: EntitiesQuery = call.query()?;
    let asked = GraphRequest::read(&call, query.as_of.as_deref(), query.believed_at.as_deref()).await?;
    let named = |name: &str| {
        EntityKind::from_name(name).ok_or_else(|| mnemal_core::Error::invalid(format!("no type {name:?}")))
    };
    let kind = super::events::within(query.r#type.as_deref(), named)?;
    let seen = asked.seen().await?;
    let mut known = asked.graph.all(&EntityFilter { kind, ..EntityFilter::all() }, asked.as_of).await?;
    if let Some(words) = query.q.map(|words| words.to_lowercase()) {
        let has = |name: &str| name.to_lowercase().contains(&words);
        known.retain(|entity| has(&entity.name) || entity.names.iter().any(|name| has(&name.text)));
    }
    let events = |id: EntityId| seen.get(&id).map_or(0, |seen| seen.events);
    known.sort_by(|one, other| {
        events(other.id).cmp(&events(one.id)).then((&one.name, one.id).cmp(&(&other.name, other.id)))
    });
    let forms = known.iter().map(|entity| EntityForm::new(entity, seen.get(&entity.id))).collect();
    Reply::ok(&asked.page(&call, (query.limit, query.cursor.as_deref()), forms)?)
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let query: WhenQuery = call.query()?;
    let memory = call.memory().await?;
    let as_of = super::read::as_of(&call, query.as_of.as_deref(), query.believed_at.as_deref())?;
    let as_of = as_of.unwrap_or_else(|| AsOf::present(call.host.now()));
    let profile = memory.facts().entity_profile(call.name(1), as_of).await?;
    Reply::ok(&EntityProfileForm::from(&profile.value))
}

async fn erase(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let entity = memory.facts().graph().await?.exactly(call.name(1), AsOf::present(Timestamp::MAX)).await?;
    let selector = Selector::Events(memory.facts().naming(entity.id).await?);
    forget::erase(&call, selector).await
}

async fn facts_of(call: Call) -> Result<Reply, Problem> {
    let query: WhenQuery = call.query()?;
    let asked = GraphRequest::read(&call, query.as_of.as_deref(), query.believed_at.as_deref()).await?;
    let id = asked.graph.asked_about(call.name(1), asked.as_of).await?.id;
    let mut facts = asked.graph.about(&[id], asked.as_of).await?;
    match call.operation {
        "entity_edges" => facts.retain(|fact| fact.object.entity().is_some()),
        "entity_timeline" => {
            facts.extend(asked.graph.past(&[id], asked.as_of).await?);
            let since = |fact: &Fact| {
                let created = fact.created_at.as_micros().div_euclid(1_000_000);
                fact.valid_at.unwrap_or(mnemal_core::WorldTime::from_seconds(created))
            };
            facts.sort_by(|one, other| since(one).cmp(&since(other)).then(one.id.cmp(&other.id)));
        }
        _ => {}
    }
    let forms = asked.fact_forms(facts).await?;
    Reply::ok(&asked.page(&call, (query.limit, query.cursor.as_deref()), forms)?)
}

async fn events_of(call: Call) -> Result<Reply, Problem> {
    let query: WhenQuery = call.query()?;
    let asked = GraphRequest::read(&call, query.as_of.as_deref(), query.believed_at.as_deref()).await?;
    let id = asked.graph.asked_about(call.name(1), asked.as_of).await?.id;
    let mut mentions = asked.graph.mentions(id, asked.as_of).await?;
    mentions.sort_by_key(|mention| (mention.occurred_at, mention.source.event));
    mentions.dedup_by_key(|mention| mention.source.event);
    let ids = mentions.into_iter().map(|mention| mention.source.event).collect();
    let PageForm { items: ids, next_cursor, gaps } =
        asked.page(&call, (query.limit, query.cursor.as_deref()), ids)?;
    let mut items = Vec::new();
    for id in ids {
        items.push(EventForm::from(&asked.memory.events().get(id).await?));
    }
    Reply::ok(&PageForm { items, next_cursor, gaps })
}

async fn relationships(call: Call) -> Result<Reply, Problem> {
    let query: RelationshipsQuery = call.query()?;
    let asked = GraphRequest::read(&call, query.as_of.as_deref(), query.believed_at.as_deref()).await?;
    let hops = query.max_hops.unwrap_or(HOPS.0);
    if !(1..=HOPS.1).contains(&hops) {
        return Err(Problem::invalid(format!("max_hops must be 1..={}", HOPS.1)));
    }
    let limit = limit(query.limit)?;
    let relation = query.relation.map(Predicate::new).transpose()?;
    let of_kind = |fact: &Fact| relation.as_ref().is_none_or(|wanted| fact.predicate == *wanted);
    let from = asked.graph.whom(&query.from, asked.as_of).await?.id;
    let (mut edges, mut paths) = (Vec::new(), Vec::new());
    if let Some(to) = &query.to {
        let to = asked.graph.whom(to, asked.as_of).await?.id;
        for path in asked.graph.paths(from, to, asked.as_of).await? {
            if paths.len() >= limit.get() {
                break;
            }
            if path.facts.len() > usize::from(hops) || !path.facts.iter().all(of_kind) {
                continue;
            }
            let names = names(&asked, &path.entities).await?;
            let entities = path.entities.iter().filter_map(|id| names.get(id).cloned()).collect();
            paths.push(PathForm { entities, facts: asked.fact_forms(path.facts).await? });
        }
    } else {
        let mut around = asked.graph.neighborhood(&[from], hops, limit, asked.as_of).await?.facts;
        around.retain(of_kind);
        edges = asked.fact_forms(around).await?;
    }
    Reply::ok(&RelationshipsForm { edges, paths, gaps: gaps(&asked.graph.gaps) })
}

async fn names(asked: &GraphRequest, ids: &[EntityId]) -> Result<BTreeMap<EntityId, String>, Problem> {
    let entities = asked.graph.entities(ids.iter().copied(), asked.as_of).await?;
    Ok(entities.into_iter().map(|entity| (entity.id, entity.name)).collect())
}

fn limit(asked: Option<u32>) -> Result<NonZeroUsize, Problem> {
    let limit = asked.unwrap_or(DRAWN.0);
    let limit = usize::try_from(limit).ok().filter(|_| limit <= DRAWN.1).and_then(NonZeroUsize::new);
    limit.ok_or_else(|| Problem::invalid(format!("limit must be 1..={}", DRAWN.1)))
}

async fn graph(call: Call) -> Result<Reply, Problem> {
    let query: GraphQuery = call.query()?;
    let asked = GraphRequest::read(&call, query.as_of.as_deref(), query.believed_at.as_deref()).await?;
    let depth = query.depth.unwrap_or(1);
    if !(1..=HOPS.1).contains(&depth) {
        return Err(Problem::invalid(format!("depth must be 1..={}", HOPS.1)));
    }
    let center = asked.graph.whom(&query.center, asked.as_of).await?.id;
    let around = asked.graph.neighborhood(&[center], depth, limit(query.limit)?, asked.as_of).await?;
    let ids: Vec<EntityId> = around.reached.iter().map(|one| one.entity).collect();
    let entities = asked.graph.entities(ids, asked.as_of).await?;
    let nodes = entities.iter().map(|entity| EntityForm::new(entity, None)).collect();
    Reply::ok(&GraphForm {
        nodes,
        edges: asked.fact_forms(around.facts).await?,
        gaps: gaps(&asked.graph.gaps),
    })
}

async fn facts(call: Call) -> Result<Reply, Problem> {
    let query: FactsQuery = call.query()?;
    let asked = GraphRequest::read(&call, query.as_of.as_deref(), query.believed_at.as_deref()).await?;
    let predicates = query.predicate.map(Predicate::new).transpose()?;
    let predicates = predicates.map_or(Within::All, |one| Within::Only(vec![one]));
    let subjects = match &query.subject {
        Some(who) => Within::Only(vec![asked.graph.whom(who, asked.as_of).await?.id]),
        None => Within::All,
    };
    let filter = FactFilter { subjects, predicates, ..FactFilter::all() };
    let found = if query.current == Some(false) {
        asked.graph.history(&filter).await?
    } else {
        asked.graph.facts(&filter, asked.as_of).await?
    };
    let forms = asked.fact_forms(found).await?;
    Reply::ok(&asked.page(&call, (query.limit, query.cursor.as_deref()), forms)?)
}

async fn fact(call: Call) -> Result<Reply, Problem> {
    let name = call.name(1).to_owned();
    let missing = || Problem::not_found(format!("no fact {name:?}"));
    let id: FactId = name.parse().map_err(|_| missing())?;
    let asked = GraphRequest::read(&call, None, None).await?;
    let found =
        asked.graph.history(&FactFilter::all()).await?.into_iter().filter(|fact| fact.id == id).collect();
    Reply::ok(asked.fact_forms(found).await?.first().ok_or_else(missing)?)
}

async fn topics(call: Call) -> Result<Reply, Problem> {
    let query: WhenQuery = call.query()?;
    let asked = GraphRequest::read(&call, query.as_of.as_deref(), query.believed_at.as_deref()).await?;
    let topics = asked.graph.topics(asked.as_of).await?;
    let form = |topic: &mnemal::graph::Topic| TopicForm {
        id: topic.id.to_string(),
        name: topic.name.clone(),
        event_count: topic.stats.events,
        first_seen: topic.stats.first_at.to_string(),
        last_seen: topic.stats.last_at.to_string(),
        keywords: topic.keywords.clone(),
        parent_id: topic.parent.map(|id| id.to_string()),
    };
    let forms = topics.iter().map(form).collect();
    Reply::ok(&asked.page(&call, (query.limit, query.cursor.as_deref()), forms)?)
}
