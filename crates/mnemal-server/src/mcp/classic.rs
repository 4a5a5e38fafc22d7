//! The tools of the official MCP memory server: the same names, arguments and results over this memory, so that its clients can
//! switch by changing a command.
//!
//! Entities, observations and relations are agent notes in the category `graph`: recall and contexts find them, and all rules for
//! notes apply. Deleted records are archived, so that a person can restore them, because every one-step call must be undoable;
//! `mnemal forget` erases.

mod graph;
mod input;

use mnemal::Memory;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use crate::mcp::answer::{CorrectableError, Outcome, ToolAnswer};
use crate::mcp::arguments::{Arguments, MOST_TOKENS};
use crate::mcp::classic::graph::{ClassicGraph, Entity, Relation};
use crate::mcp::cursor;
use crate::mcp::tool::Tool;

/// Maximum number of records of one call. Source: own default; each is an event of its own.
const MOST: usize = 500;
/// Remark on a page that does not end the graph, before the cursor.
const PART: &str = "This is a part: the answer has no room for all. For the next part call this again with the argument cursor ";
/// Tokens of that remark. Source: own default, its sentence and a cursor.
const OF_A_PAGE: u32 = 60;

/// Runs one of the nine tools; changes are serialized by `writing`.
pub(super) async fn call(
    memory: &Memory,
    (tool, writing): (Tool, &Mutex<()>),
    given: Map<String, Value>,
) -> Result<Outcome, CorrectableError> {
    let arguments = Arguments::new(tool, given);
    arguments.all_known()?;
    input::check(tool, arguments.whole())?;
    if tool.is_read_only() {
        return read(memory, tool, arguments).await;
    }
    let _alone = writing.lock().await;
    match tool {
        Tool::CreateEntities => return create_entities(memory, &arguments).await,
        Tool::CreateRelations => create_relations(memory, &arguments).await,
        Tool::AddObservations => add_observations(memory, &arguments).await,
        Tool::DeleteEntities => delete_entities(memory, &arguments).await,
        Tool::DeleteObservations => delete_observations(memory, &arguments).await,
        _ => delete_relations(memory, &arguments).await,
    }
    .map(Outcome::Said)
}

/// Returns the error for an unknown tool.
pub(super) fn no_tool(name: &str) -> String {
    format!("Tool {} not found", graph::safe_name(name))
}

/// Returns the whole graph in the form of the official server's resource, up to a ceiling.
pub(super) async fn whole(memory: &Memory, ceiling: u32) -> Result<String, CorrectableError> {
    let graph = ClassicGraph::load(memory).await?.sanitize(memory);
    let (mut part, next) = page(memory, &graph, "", 0, ceiling)?;
    part.truncated = next.map(|_| true);
    Ok(pretty(&part))
}

async fn create_entities(memory: &Memory, arguments: &Arguments) -> Result<Outcome, CorrectableError> {
    let wanted = arguments.objects("entities", MOST)?;
    let wanted = wanted.iter().map(Entity::read).collect::<Result<Vec<_>, _>>()?;
    let before = ClassicGraph::load(memory).await?;
    let (mut made, mut skipped): (Vec<String>, Vec<String>) = Default::default();
    for entity in &wanted {
        if before.entity(&entity.name).is_some() || made.contains(&entity.name) {
            skipped.push(graph::safe_name(&entity.name));
            continue;
        }
        graph::store_entity(memory, entity).await?;
        for observation in &entity.observations {
            graph::store_observation(memory, &entity.name, observation).await?;
        }
        made.push(entity.name.clone());
    }
    // A quarantined note is not part of the graph, and the answer must not claim that it is.
    let after = ClassicGraph::load(memory).await?.only(&made).sanitize(memory);
    let made = after.entities;
    if skipped.is_empty() {
        return Ok(Outcome::Said(answer(&made, json!({"entities": made}))));
    }
    let note = of_skipped(&skipped);
    Ok(Outcome::Noted(answer(&made, json!({"entities": made, "skipped": skipped})), note))
}

/// Describes the entities that existed before.
fn of_skipped(names: &[String]) -> String {
    let (what, whose) = if names.len() == 1 {
        ("entity that already exists", "Its")
    } else {
        ("entities that already exist", "Their")
    };
    format!(
        "Skipped {} {what}: {}. {whose} observations were not added; use add_observations for existing entities.",
        names.len(),
        names.join(", ")
    )
}

async fn create_relations(memory: &Memory, arguments: &Arguments) -> Result<ToolAnswer, CorrectableError> {
    let wanted = relations(arguments)?;
    let before = ClassicGraph::load(memory).await?;
    for name in wanted.iter().flat_map(Relation::ends) {
        before.must_have(name)?;
    }
    let mut made: Vec<Relation> = Vec::new();
    for relation in wanted {
        if !before.relations.contains(&relation) && !made.contains(&relation) {
            graph::store_relation(memory, &relation).await?;
            made.push(relation);
        }
    }
    let after = ClassicGraph::load(memory).await?;
    made.retain(|relation| after.relations.contains(relation));
    Ok(answer(&made, json!({"relations": made})))
}

/// The observations added to one entity.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedObservations {
    entity_name: String,
    added_observations: Vec<String>,
}

async fn add_observations(memory: &Memory, arguments: &Arguments) -> Result<ToolAnswer, CorrectableError> {
    let wanted = arguments.objects("observations", MOST)?;
    let before = ClassicGraph::load(memory).await?;
    let mut asked: Vec<(String, Vec<String>)> = Vec::new();
    for one in &wanted {
        let name = graph::text(one, "entityName")?;
        let entity = before.must_have(&name)?;
        let new = graph::texts(one, "contents")?;
        asked.push((name, new.into_iter().filter(|text| !entity.has(text)).collect()));
    }
    for (name, contents) in &asked {
        for content in contents {
            graph::store_observation(memory, name, content).await?;
        }
    }
    let after = ClassicGraph::load(memory).await?;
    let stands = |name: &str, text: &str| after.entity(name).is_some_and(|entity| entity.has(text));
    let results: Vec<AddedObservations> = asked
        .into_iter()
        .map(|(entity_name, mut added_observations)| {
            added_observations.retain(|text| stands(&entity_name, text));
            AddedObservations { entity_name, added_observations }
        })
        .collect();
    Ok(answer(&results, json!({"results": results})))
}

async fn delete_entities(memory: &Memory, arguments: &Arguments) -> Result<ToolAnswer, CorrectableError> {
    let names = arguments.strings("entityNames")?;
    let graph = ClassicGraph::load(memory).await?;
    for name in &names {
        graph.put_entity_away(memory, name).await?;
    }
    let missing: Vec<String> =
        names.iter().filter(|name| graph.entity(name).is_none()).map(|name| graph::safe_name(name)).collect();
    if missing.is_empty() {
        return Ok(text_answer("Entities deleted successfully"));
    }
    let (deleted, missing) = (names.len() - missing.len(), missing.join(", "));
    Ok(text_answer(&format!("Deleted {deleted} of {} entities. Not found: {missing}", names.len())))
}

async fn delete_observations(memory: &Memory, arguments: &Arguments) -> Result<ToolAnswer, CorrectableError> {
    let wanted = arguments.objects("deletions", MOST)?;
    let graph = ClassicGraph::load(memory).await?;
    let (mut asked, mut deleted, mut missing) = (0, 0, Vec::new());
    for one in &wanted {
        let name = graph::text(one, "entityName")?;
        let texts = graph::texts(one, "observations")?;
        asked += texts.len();
        match graph.entity(&name) {
            Some(entity) => deleted += texts.iter().filter(|text| entity.has(text)).count(),
            None => missing.push(graph::safe_name(&name)),
        }
        for text in texts {
            graph.put_observation_away(memory, &name, &text).await?;
        }
    }
    if deleted == asked {
        return Ok(text_answer("Observations deleted successfully"));
    }
    let whose = if missing.is_empty() {
        String::new()
    } else {
        format!(" Entities not found: {}", missing.join(", "))
    };
    Ok(text_answer(&format!("Deleted {deleted} of {asked} observations.{whose}")))
}

async fn delete_relations(memory: &Memory, arguments: &Arguments) -> Result<ToolAnswer, CorrectableError> {
    let wanted = relations(arguments)?;
    let graph = ClassicGraph::load(memory).await?;
    for relation in &wanted {
        graph.put_relation_away(memory, relation).await?;
    }
    let deleted = wanted.iter().filter(|relation| graph.relations.contains(relation)).count();
    if deleted == wanted.len() {
        return Ok(text_answer("Relations deleted successfully"));
    }
    Ok(text_answer(&format!("Deleted {deleted} of {} relations. The rest matched nothing.", wanted.len())))
}

fn relations(arguments: &Arguments) -> Result<Vec<Relation>, CorrectableError> {
    arguments.objects("relations", MOST)?.iter().map(Relation::read).collect()
}

/// Reads the whole graph, matching nodes, or named nodes.
async fn read(memory: &Memory, tool: Tool, mut arguments: Arguments) -> Result<Outcome, CorrectableError> {
    // Clients of the official server set no ceiling and expect the whole graph.
    let ceiling = if arguments.has("max_tokens") { arguments.ceiling("max_tokens")? } else { MOST_TOKENS };
    let graph = ClassicGraph::load(memory).await?;
    let (graph, list) = match tool {
        Tool::SearchNodes => {
            // An empty query matches everything.
            let query = match arguments.text("query")? {
                None if !arguments.has("query") => arguments.required("query", "say what to look for.")?,
                given => given.unwrap_or_default(),
            };
            (graph.matching(&query), format!("search {query}"))
        }
        Tool::OpenNodes => {
            let names = arguments.strings("names")?;
            let list = format!("open {names:?}");
            (graph.opened(&names), list)
        }
        _ => (graph, String::new()),
    };
    let from = cursor::read(memory, &list, arguments.text("cursor")?.as_deref())?;
    let graph = graph.sanitize(memory);
    let (part, next) = page(memory, &graph, &list, from, ceiling)?;
    let answer = answer(&part, json!(part));
    Ok(match next {
        Some(cursor) => Outcome::Noted(answer, format!("{PART}{cursor}.")),
        None => Outcome::Said(answer),
    })
}

/// A part of a graph.
#[derive(Debug, Serialize)]
struct Subgraph<'g> {
    entities: &'g [Entity],
    relations: &'g [Relation],
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

impl ClassicGraph {
    /// Returns a range of its records, entities before relations.
    fn part(&self, from: usize, to: usize) -> Subgraph<'_> {
        let n_entities = self.entities.len();
        let (first, last) = (from.saturating_sub(n_entities), to.saturating_sub(n_entities));
        Subgraph {
            entities: self.entities.get(from.min(n_entities)..to.min(n_entities)).unwrap_or_default(),
            relations: self.relations.get(first..last).unwrap_or_default(),
            truncated: None,
        }
    }
}

/// Returns the largest page from a position that fits, and the next position; `None` at the end.
fn page<'g>(
    memory: &Memory,
    graph: &'g ClassicGraph,
    list: &str,
    from: usize,
    ceiling: u32,
) -> Result<(Subgraph<'g>, Option<String>), CorrectableError> {
    let engine = memory.admin().engine();
    let end = graph.entities.len() + graph.relations.len();
    let fits = |to: usize| engine.count_tokens(&pretty(&graph.part(from, to))).0 + OF_A_PAGE <= ceiling;
    if fits(end) || from >= end {
        return Ok((graph.part(from.min(end), end), None));
    }
    // Binary search for the largest page that fits; the size grows with the page.
    let (mut low, mut high) = (from, end);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    if low == from {
        return Err(CorrectableError::new(
            "One entity alone is larger than max_tokens. Raise it, or open other nodes.",
        ));
    }
    Ok((graph.part(from, low), Some(cursor::cursor(memory, list, low))))
}

/// Formats it as the official server does, with the same order of fields.
fn pretty(said: &impl Serialize) -> String {
    serde_json::to_string_pretty(said).unwrap_or_default()
}

fn answer(said: &impl Serialize, structured: Value) -> ToolAnswer {
    ToolAnswer { text: pretty(said), structured }
}

fn text_answer(words: &str) -> ToolAnswer {
    ToolAnswer { text: words.to_owned(), structured: json!({"success": true, "message": words}) }
}
