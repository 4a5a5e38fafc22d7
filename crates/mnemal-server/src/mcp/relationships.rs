//! `memory_relationships`: the neighborhood of an entity, the history of a relation, and paths to another entity.

use std::num::NonZeroUsize;

use jiff::tz::TimeZone;
use mnemal::graph::FactView;
use mnemal::{Graph, Memory};
use mnemal_core::{AsOf, EntityId, ErrorKind, Fact, Predicate, RecordRef};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::fact_lines;
use crate::mcp::tool::Tool;

/// Default number of hops. Source: babyagi3, which traverses two.
const HOPS: u32 = 2;
/// Maximum number of hops. Source: babyagi3, its longest path.
const MOST_HOPS: u32 = 3;
/// Maximum number of traversed facts. Source: own default; at the highest ceiling a fact has 40 tokens left.
const FACTS: NonZeroUsize = NonZeroUsize::new(200).expect("200 is not zero");

/// Answers with the connections.
pub(super) async fn call(
    memory: &Memory,
    given: Map<String, Value>,
    zone: &TimeZone,
) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Relationships, given).within(zone);
    let from = arguments.required("from", "say whom or what.")?;
    let to = arguments.text("to")?;
    let relation = arguments.name("relation", |name| Predicate::new(name))?;
    let hops = arguments.count("max_hops", MOST_HOPS)?.unwrap_or(HOPS);
    let ceiling = arguments.ceiling("max_tokens")?;
    let engine = memory.admin().engine();
    let as_of = arguments.as_of(engine.now())?;
    let mut tail = Remarks::new(arguments.notes);

    let graph = memory.facts().graph().await?;
    let start = whom(memory, &graph, from.trim(), as_of).await?;
    let ways = match &to {
        Some(to) => {
            let end = whom(memory, &graph, to.trim(), as_of).await?;
            let mut paths = graph.paths(start, end, as_of).await?;
            paths.retain(|path| path.facts.len() <= hops as usize);
            paths.into_iter().map(|path| path.facts).collect()
        }
        None => vec![around(&graph, start, (relation.as_ref(), hops), as_of).await?],
    };
    let mut told: Vec<Vec<FactView>> = Vec::new();
    for mut facts in ways {
        facts.retain(|fact| relation.as_ref().is_none_or(|wanted| fact.predicate == *wanted) || to.is_some());
        told.push(memory.facts().describe_facts(&graph, facts, as_of).await?);
    }
    let offered = told.iter().flatten().filter_map(FactView::fragment).collect();
    let rendered = memory.admin().render_fragments(&from, offered, tail.room(engine, ceiling)).await?;

    let texts = fact_lines::texts(&rendered, 0);
    let edge = |told: &FactView| Some(fact_lines::fact(told, texts.get(&RecordRef::Fact(told.fact.id))?));
    let mut seen = std::collections::HashSet::new();
    let edges: Vec<Value> =
        told.iter().flatten().filter(|told| seen.insert(told.fact.id)).filter_map(edge).collect();
    let path = |way: &Vec<FactView>| {
        Value::from(way.iter().map(|told| told.fact.id.to_string()).collect::<Vec<_>>())
    };
    let mut structured = json!({
        "recall_id": rendered.id.to_string(),
        "edges": edges,
        "paths": if to.is_some() { told.iter().map(path).collect::<Vec<_>>() } else { Vec::new() },
        "truncated": rendered.left_out > 0,
    });
    let fits = |text: &str| engine.count_tokens(text).0 <= ceiling;
    let more = rendered.left_out.max(fact_lines::truncate_lists(&mut structured, &["paths", "edges"], fits));
    if more > 0 {
        tail.say(format!("{more} more; name a relation or raise max_tokens."));
    }
    tail.gaps(&[graph.gaps, rendered.gaps].concat());
    let head = match (rendered.value.text.as_str(), &to) {
        ("", Some(_)) => "Nothing connects them within max_hops facts.",
        ("", None) => "No relations are known.",
        (text, _) => text,
    };
    Ok(ToolAnswer { text: tail.behind(head, engine, ceiling), structured })
}

async fn whom(memory: &Memory, graph: &Graph, who: &str, as_of: AsOf) -> Result<EntityId, CorrectableError> {
    match graph.asked_about(who, as_of).await {
        Ok(entity) => Ok(entity.id),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(fact_lines::unknown(memory, who).await),
        Err(error) => Err(error.into()),
    }
}

/// Returns the neighborhood, nearest first: facts between two entities; for one relation also ended ones.
async fn around(
    graph: &Graph,
    start: EntityId,
    (relation, hops): (Option<&Predicate>, u32),
    as_of: AsOf,
) -> Result<Vec<Fact>, CorrectableError> {
    let hops = u8::try_from(hops).unwrap_or(u8::MAX);
    let mut facts = if relation.is_some() {
        let mut facts = graph.about(&[start], as_of).await?;
        facts.extend(graph.past(&[start], as_of).await?);
        facts
    } else {
        graph.neighborhood(&[start], hops, FACTS, as_of).await?.facts
    };
    facts.retain(|fact| fact.object.entity().is_some());
    Ok(facts)
}
