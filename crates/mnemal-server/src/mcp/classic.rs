//! The tools of the official memory server of the protocol: the same names, arguments and results over this memory, so that
//! a client of it switches by changing a command.
//!
//! Entities, observations and relations are notes of the agent's below the category `graph`: recall and contexts find them,
//! and every rule for notes holds for them. What is deleted is put away, which a person can take back, because no call of one
//! step may be without undo; `mnemal forget` erases.

mod graph;

use mnemal::Memory;
use serde_json::{Map, Value, json};

use crate::mcp::answer::{Answer, Mistake};
use crate::mcp::arguments::{Arguments, MOST_TOKENS};
use crate::mcp::classic::graph::{Entity, Graph, Relation};
use crate::mcp::place;
use crate::mcp::tool::Tool;

/// Most records of one call. Source: own default; each is an event of its own.
const MOST: usize = 500;
/// What a page says of itself takes this many tokens. Source: own default, a cursor and two names.
const OF_A_PAGE: u32 = 60;

/// Answers one of the nine.
pub(super) async fn call(memory: &Memory, tool: Tool, given: Map<String, Value>) -> Result<Answer, Mistake> {
    let arguments = Arguments::new(tool, given);
    arguments.all_known()?;
    match tool {
        Tool::CreateEntities => create_entities(memory, &arguments).await,
        Tool::CreateRelations => create_relations(memory, &arguments).await,
        Tool::AddObservations => add_observations(memory, &arguments).await,
        Tool::DeleteEntities => delete_entities(memory, &arguments).await,
        Tool::DeleteObservations => delete_observations(memory, &arguments).await,
        Tool::DeleteRelations => delete_relations(memory, &arguments).await,
        _ => read(memory, tool, arguments).await,
    }
}

/// Returns the whole graph as the official server's resource has it, as far as a ceiling allows.
pub(super) async fn whole(memory: &Memory, ceiling: u32) -> Result<Value, Mistake> {
    let graph = Graph::load(memory).await?.shown(memory);
    page(memory, &graph, "", 0, ceiling)
}

async fn create_entities(memory: &Memory, arguments: &Arguments) -> Result<Answer, Mistake> {
    let wanted = arguments.objects("entities", MOST)?;
    let wanted = wanted.iter().map(Entity::read).collect::<Result<Vec<_>, _>>()?;
    let before = Graph::load(memory).await?;
    let mut made: Vec<String> = Vec::new();
    for entity in &wanted {
        if before.entity(&entity.name).is_none() && !made.contains(&entity.name) {
            graph::store_entity(memory, entity).await?;
            for observation in &entity.observations {
                graph::store_observation(memory, &entity.name, observation).await?;
            }
            made.push(entity.name.clone());
        }
    }
    // What a rule holds back does not stand in the graph, and the answer does not claim it.
    let after = Graph::load(memory).await?.only(&made).shown(memory);
    let made: Vec<Value> = after.entities.iter().map(Entity::form).collect();
    let text = Value::from(made.clone());
    Ok(answer(&text, json!({"entities": made})))
}

async fn create_relations(memory: &Memory, arguments: &Arguments) -> Result<Answer, Mistake> {
    let wanted = relations(arguments)?;
    let before = Graph::load(memory).await?;
    let mut made: Vec<Relation> = Vec::new();
    for relation in wanted {
        if !before.relations.contains(&relation) && !made.contains(&relation) {
            graph::store_relation(memory, &relation).await?;
            made.push(relation);
        }
    }
    let after = Graph::load(memory).await?;
    let made: Vec<Value> =
        made.iter().filter(|relation| after.relations.contains(relation)).map(Relation::form).collect();
    let text = Value::from(made.clone());
    Ok(answer(&text, json!({"relations": made})))
}

async fn add_observations(memory: &Memory, arguments: &Arguments) -> Result<Answer, Mistake> {
    let wanted = arguments.objects("observations", MOST)?;
    let before = Graph::load(memory).await?;
    let mut asked: Vec<(String, Vec<String>)> = Vec::new();
    for one in &wanted {
        let name = graph::text(one, "entityName")?;
        let Some(entity) = before.entity(&name) else {
            let near = before.near(&name);
            return Err(Mistake::new(format!("Entity with name {} not found.{near}", graph::shown(&name))));
        };
        let new = graph::texts(one, "contents")?;
        asked.push((name, new.into_iter().filter(|text| !entity.has(text)).collect()));
    }
    for (name, contents) in &asked {
        for content in contents {
            graph::store_observation(memory, name, content).await?;
        }
    }
    let after = Graph::load(memory).await?;
    let stands = |name: &str, text: &str| after.entity(name).is_some_and(|entity| entity.has(text));
    let results: Vec<Value> = asked
        .iter()
        .map(|(name, contents)| {
            let added: Vec<&String> = contents.iter().filter(|text| stands(name, text)).collect();
            json!({"entityName": name, "addedObservations": added})
        })
        .collect();
    let text = Value::from(results.clone());
    Ok(answer(&text, json!({"results": results})))
}

async fn delete_entities(memory: &Memory, arguments: &Arguments) -> Result<Answer, Mistake> {
    let names = arguments.strings("entityNames")?;
    let graph = Graph::load(memory).await?;
    for name in &names {
        graph.put_entity_away(memory, name).await?;
    }
    Ok(done("Entities deleted successfully"))
}

async fn delete_observations(memory: &Memory, arguments: &Arguments) -> Result<Answer, Mistake> {
    let wanted = arguments.objects("deletions", MOST)?;
    let graph = Graph::load(memory).await?;
    for one in &wanted {
        let name = graph::text(one, "entityName")?;
        for text in graph::texts(one, "observations")? {
            graph.put_observation_away(memory, &name, &text).await?;
        }
    }
    Ok(done("Observations deleted successfully"))
}

async fn delete_relations(memory: &Memory, arguments: &Arguments) -> Result<Answer, Mistake> {
    let wanted = relations(arguments)?;
    let graph = Graph::load(memory).await?;
    for relation in &wanted {
        graph.put_relation_away(memory, relation).await?;
    }
    Ok(done("Relations deleted successfully"))
}

fn relations(arguments: &Arguments) -> Result<Vec<Relation>, Mistake> {
    arguments.objects("relations", MOST)?.iter().map(Relation::read).collect()
}

/// Reads all of it, what matches words, or what is named.
async fn read(memory: &Memory, tool: Tool, mut arguments: Arguments) -> Result<Answer, Mistake> {
    // Clients of the official server name no ceiling and expect everything.
    let ceiling = if arguments.has("max_tokens") { arguments.ceiling("max_tokens")? } else { MOST_TOKENS };
    let graph = Graph::load(memory).await?;
    let (graph, list) = match tool {
        Tool::SearchNodes => {
            // Everything holds an empty text.
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
    let from = place::read(memory, &list, arguments.text("cursor")?.as_deref())?;
    let found = page(memory, &graph.shown(memory), &list, from, ceiling)?;
    Ok(answer(&found, found.clone()))
}

/// Returns as much of a graph from a place on as fits; entities first. Only where something is missing it says so, and where
/// it goes on.
fn page(memory: &Memory, graph: &Graph, list: &str, from: usize, ceiling: u32) -> Result<Value, Mistake> {
    let engine = memory.engine();
    let n_entities = graph.entities.len();
    let all: Vec<Value> =
        graph.entities.iter().map(Entity::form).chain(graph.relations.iter().map(Relation::form)).collect();
    let form = |to: usize| {
        let part = |range: std::ops::Range<usize>| -> Vec<Value> {
            all.get(range).map(<[Value]>::to_vec).unwrap_or_default()
        };
        let (first, middle) = (from.min(n_entities), to.clamp(from.min(n_entities), n_entities));
        json!({
            "entities": part(first..middle),
            "relations": part(from.max(n_entities).min(to.max(n_entities))..to.max(n_entities)),
        })
    };
    let fits = |to: usize| {
        let form = form(to);
        pretty(&form).is_some_and(|text| engine.count_tokens(&text).0 + OF_A_PAGE <= ceiling)
    };
    let end = all.len();
    if fits(end) || from >= end {
        return Ok(form(end));
    }
    // The most that fits, by halves; the longest page is found because more never takes less room.
    let (mut low, mut high) = (from, end);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    if low == from {
        return Err(Mistake::new(
            "One entity alone is larger than max_tokens. Raise it, or open other nodes.",
        ));
    }
    let mut found = form(low);
    if let Some(fields) = found.as_object_mut() {
        fields.insert("truncated".to_owned(), true.into());
        fields.insert("next_cursor".to_owned(), place::cursor(memory, list, low).into());
    }
    Ok(found)
}

fn pretty(value: &Value) -> Option<String> {
    serde_json::to_string_pretty(value).ok()
}

fn answer(text: &Value, structured: Value) -> Answer {
    Answer { text: pretty(text).unwrap_or_default(), structured }
}

fn done(words: &str) -> Answer {
    Answer { text: words.to_owned(), structured: json!({"success": true, "message": words}) }
}
