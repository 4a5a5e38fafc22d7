//! `memory_entity`: the profile of an entity.

use std::num::NonZeroUsize;

use jiff::tz::TimeZone;
use mnemal::Memory;
use mnemal::graph::{EntityProfile, FactView, SourceSentence};
use mnemal_core::{ErrorKind, RecordRef};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::fact_lines;
use crate::mcp::tool::Tool;

/// Number of quoted events on request. Source: own default, what fits under the ceiling in addition to the facts.
const EVENTS: NonZeroUsize = NonZeroUsize::new(20).expect("20 is not zero");

/// Answers with the profile.
pub(super) async fn call(
    memory: &Memory,
    given: Map<String, Value>,
    zone: &TimeZone,
) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Entity, given).within(zone);
    let who = match arguments.text("id")? {
        Some(id) => id,
        None => arguments.required("name", "say whom or what.")?,
    };
    let who = who.trim();
    let wanted = RequestedParts::read(&arguments.list("include")?)?;
    let ceiling = arguments.ceiling("max_tokens")?;
    let engine = memory.admin().engine();
    let as_of = arguments.as_of(engine.now())?;
    let mut tail = Remarks::new(arguments.notes);

    let found = match memory.facts().entity_profile(who, as_of).await {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(fact_lines::unknown(memory, who).await);
        }
        Err(error) => return Err(error.into()),
    };
    let (profile, gaps) = (found.value, found.gaps);
    let quoted = if wanted.events {
        let graph = memory.facts().graph().await?;
        memory.facts().mentions_of(&graph, profile.entity.id, EVENTS, as_of).await?
    } else {
        Vec::new()
    };
    let told: Vec<&FactView> =
        profile.facts.iter().chain(&profile.past).filter(|told| wanted.includes(told)).collect();
    // The identity line refers to the event that mentioned the entity first, which may have a line of its own.
    let mut offered: Vec<_> = profile.fragment().into_iter().collect();
    let n_first = offered.len();
    offered.extend(told.iter().filter_map(|told| told.fragment()));
    offered.extend(quoted.iter().map(SourceSentence::fragment));
    let rendered = memory.admin().render_fragments(who, offered, tail.room(engine, ceiling)).await?;

    let texts = fact_lines::texts(&rendered, n_first);
    let of = |wanted: fn(&FactView) -> bool| -> Vec<Value> {
        let shown = told.iter().filter(|told| wanted(told));
        shown
            .filter_map(|told| Some(fact_lines::fact(told, texts.get(&RecordRef::Fact(told.fact.id))?)))
            .collect()
    };
    let event = |sentence: &SourceSentence| {
        let text = texts.get(&RecordRef::Event(sentence.source.event))?;
        Some(json!({"id": sentence.source.event.to_string(), "date": sentence.day(), "text": text}))
    };
    let mut structured = json!({
        "recall_id": rendered.id.to_string(),
        "entity": header(&profile),
        "facts": of(|told| told.fact.object.entity().is_none()),
        "edges": of(|told| told.fact.object.entity().is_some()),
        "events": quoted.iter().filter_map(event).collect::<Vec<_>>(),
        "truncated": rendered.left_out > 0,
    });
    let lists = ["facts", "edges", "events"];
    let dropped =
        fact_lines::truncate_lists(&mut structured, &lists, |text| engine.count_tokens(text).0 <= ceiling);
    let more = rendered.left_out.max(dropped);
    if more > 0 {
        tail.say(format!("{more} more; narrow include or raise max_tokens."));
    }
    tail.gaps(&[gaps, rendered.gaps.clone()].concat());
    let head = if rendered.text.is_empty() {
        "Nothing is known but the name."
    } else {
        rendered.value.text.as_str()
    };
    Ok(ToolAnswer { text: tail.behind(head, engine, ceiling), structured })
}

/// The requested parts of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RequestedParts {
    facts: bool,
    edges: bool,
    events: bool,
}

impl RequestedParts {
    /// Parses the parts to include; facts and edges by default.
    fn read(include: &[String]) -> Result<Self, CorrectableError> {
        let mut wanted = Self { facts: include.is_empty(), edges: include.is_empty(), events: false };
        for part in include {
            match part.as_str() {
                "facts" => wanted.facts = true,
                "edges" => wanted.edges = true,
                "events" => wanted.events = true,
                _ => return Err(CorrectableError::new("include must be among facts, edges and events.")),
            }
        }
        Ok(wanted)
    }

    fn includes(self, told: &FactView) -> bool {
        if told.fact.object.entity().is_some() { self.edges } else { self.facts }
    }
}

/// Returns the identity for programs; the name is in the block.
fn header(profile: &EntityProfile) -> Value {
    let seen = profile.stats;
    json!({
        "id": profile.entity.id.to_string(),
        "type": profile.entity.kind.as_str(),
        "event_count": seen.map_or(0, |seen| seen.events),
        "first_seen": seen.map(|seen| seen.first_at.to_string()),
        "last_seen": seen.map(|seen| seen.last_at.to_string()),
    })
}
