//! `mnemal entity`: known entities, their profiles, and decisions about them.

mod show;
mod suggestions;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use mnemal::events::Selector;
use mnemal::extract::EntityKind;
use mnemal::graph::{Entity as Known, EntityFilter, MentionStats};
use mnemal::types::EntityId;
use mnemal::{AsOf, Decision, Error, ErrorKind, EventId, Graph, Memory, Timestamp, Within};
use serde::Serialize;

use super::decided;
use super::fact::{FactForm, lines, moment};
use crate::args::{Entity, Global};
use crate::confirm::RunMode;
use crate::output::Output;

/// Lists, shows, or decides about entities.
pub(super) async fn run(memory: &Memory, global: &Global, call: Entity, output: &Output) -> Result<u8> {
    match call {
        Entity::Merge { one, into, dry_run } => {
            return merge(memory, (&one, &into), RunMode::from(dry_run), output).await;
        }
        Entity::Split { one, from, dry_run } => {
            return split(memory, (&one, &from), RunMode::from(dry_run), output).await;
        }
        Entity::Rename { who, name, dry_run } => {
            return rename(memory, (&who, &name), RunMode::from(dry_run), output).await;
        }
        Entity::Forget { who, dry_run } => {
            let (names, events) = resolve_entity(memory, &who).await?;
            super::forget::say_what_goes(memory, &events, output).await?;
            let what = (Selector::Events(events), names);
            return super::forget::erase(memory, what, RunMode::from(dry_run), global, output).await;
        }
        _ => {}
    }
    let graph = memory.facts().graph().await?;
    match call {
        Entity::List { kind, limit, when } => {
            list(&graph, kind.as_deref(), limit, moment(memory, &when)?, output).await?;
        }
        Entity::Show { who, when } => {
            let profile = memory.facts().entity_profile(&who, moment(memory, &when)?).await?;
            show::print(&profile, output)?;
        }
        Entity::Path { from, to, when } => {
            path(memory, &graph, (&from, &to), moment(memory, &when)?, output).await?;
        }
        Entity::Suggestions { limit } => suggestions::list(memory, &graph, limit, output).await?,
        _ => {}
    }
    Ok(super::gaps(&graph.gaps, global, output))
}

/// Returns the bounds for facts of any world time, as known now.
pub(super) fn always() -> AsOf {
    AsOf::present(Timestamp::MAX)
}

async fn list(
    graph: &Graph,
    kind: Option<&str>,
    limit: Option<usize>,
    as_of: AsOf,
    output: &Output,
) -> Result<()> {
    let kind = match kind {
        Some(name) => Within::Only(kind_named(name)?),
        None => Within::All,
    };
    let seen: BTreeMap<EntityId, MentionStats> =
        graph.census(as_of).await?.into_iter().map(|one| (one.entity, one.stats)).collect();
    let mut known = graph.all(&EntityFilter { kind, ..EntityFilter::all() }, as_of).await?;
    let events = |entity: &Known| seen.get(&entity.id).map_or(0, |seen| seen.events);
    known.sort_by(|one, other| {
        events(other).cmp(&events(one)).then((&one.name, one.id).cmp(&(&other.name, other.id)))
    });
    known.truncate(limit.unwrap_or(usize::MAX));
    let forms: Vec<EntityForm> =
        known.iter().map(|entity| EntityForm::new(entity, seen.get(&entity.id))).collect();
    output.list(&forms, &EntitiesForm { entities: &forms }, || {
        forms.iter().map(EntityForm::line).collect::<Vec<_>>().join("\n")
    })
}

fn kind_named(name: &str) -> Result<EntityKind> {
    EntityKind::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = EntityKind::ALL.iter().map(|kind| kind.as_str()).collect();
        Error::invalid(format!("no kind {name:?}; there are {}", known.join(", "))).into()
    })
}

/// Resolves an id or a name to all names of the entity and its events; also for a name that only a speaker or a user has.
async fn resolve_entity(memory: &Memory, who: &str) -> Result<(Vec<String>, Vec<EventId>)> {
    let graph = memory.facts().graph().await?;
    match graph.exactly(who, always()).await {
        Ok(known) => {
            let mut events: BTreeSet<EventId> = memory.facts().naming(known.id).await?.into_iter().collect();
            let mut names: Vec<String> = known.names.iter().map(|name| name.text.clone()).collect();
            if who.parse::<EntityId>().is_err() {
                events.extend(memory.events().selected_by_person(who).await?);
                names.push(who.trim().to_owned());
            }
            Ok((names, events.into_iter().collect()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            match memory.events().selected_by_person(who).await {
                Ok(events) => Ok((vec![who.trim().to_owned()], events)),
                Err(nobody) if nobody.kind() == ErrorKind::NotFound => Err(error.into()),
                Err(other) => Err(other.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

async fn path(
    memory: &Memory,
    graph: &Graph,
    (from, to): (&str, &str),
    as_of: AsOf,
    output: &Output,
) -> Result<()> {
    let (start, end) = (graph.whom(from, as_of).await?, graph.whom(to, as_of).await?);
    let mut forms = Vec::new();
    for path in graph.paths(start.id, end.id, as_of).await? {
        let names: BTreeMap<EntityId, String> = graph
            .entities(path.entities.iter().copied(), as_of)
            .await?
            .into_iter()
            .map(|entity| (entity.id, entity.name))
            .collect();
        let told = memory.facts().describe_facts(graph, path.facts, as_of).await?;
        let facts = told.iter().map(FactForm::from).collect();
        let entities = path.entities.iter().filter_map(|id| names.get(id).cloned()).collect();
        forms.push(PathForm { entities, facts });
    }
    output.list(&forms, &PathsForm { paths: &forms }, || {
        if forms.is_empty() {
            return format!("nothing connects {} and {} over at most three facts", start.name, end.name);
        }
        let path = |path: &PathForm| format!("{}\n{}", path.entities.join(" → "), lines(&path.facts));
        forms.iter().map(path).collect::<Vec<_>>().join("\n\n")
    })
}

async fn merge(memory: &Memory, (one, into): (&str, &str), going: RunMode, output: &Output) -> Result<u8> {
    let graph = memory.facts().graph().await?;
    let (one, into) = (graph.whom(one, always()).await?, graph.whom(into, always()).await?);
    if one.id == into.id {
        return Err(Error::invalid(format!("both are {} already", into.name)).into());
    }
    let (what, names) = ("merge", [one.name.clone(), into.name.clone()]);
    let text = format!("{} is taken for {}", one.name, into.name);
    let decision = Decision::Merge { one: one.id, into: into.id };
    decided(memory, decision, going, output, (what, &names, &text)).await
}

async fn split(memory: &Memory, (one, from): (&str, &str), going: RunMode, output: &Output) -> Result<u8> {
    let graph = memory.facts().graph().await?;
    let whole = graph.whom(from, always()).await?;
    let parts = graph.parts(whole.id, always()).await?;
    let is_meant = |part: &&Known| {
        part.id.to_string() == one
            || std::iter::once(&part.name)
                .chain(part.names.iter().map(|name| &name.text))
                .any(|name| name.to_lowercase() == one.to_lowercase())
    };
    let found: Vec<&Known> = parts.iter().filter(is_meant).collect();
    let [part] = found.as_slice() else {
        let list: Vec<String> = parts.iter().map(|part| format!("{} {}", part.id, part.name)).collect();
        let list = if list.is_empty() { "nobody".to_owned() } else { list.join("; ") };
        let said = format!("{one:?} is not one of those taken for {}: {list}", whole.name);
        return Err(Error::invalid(said).into());
    };
    let into = part.merged_into_at(Timestamp::MAX).unwrap_or(whole.id);
    let names = [part.name.clone(), whole.name.clone()];
    let text = format!("{} and {} are two", part.name, whole.name);
    let decision = Decision::Split { one: part.id, from: into };
    decided(memory, decision, going, output, ("split", &names, &text)).await
}

async fn rename(memory: &Memory, (who, name): (&str, &str), going: RunMode, output: &Output) -> Result<u8> {
    let known = memory.facts().graph().await?.whom(who, always()).await?;
    let decision = mnemal::graph::renaming(known.id, name)?;
    let names = [known.name.clone(), name.trim().to_owned()];
    let text = format!("{} is shown as {}", known.name, name.trim());
    decided(memory, decision, going, output, ("rename", &names, &text)).await
}

#[derive(Serialize)]
struct EntitiesForm<'f> {
    entities: &'f [EntityForm],
}

#[derive(Serialize)]
struct PathsForm<'f> {
    paths: &'f [PathForm],
}

#[derive(Serialize)]
struct PathForm {
    entities: Vec<String>,
    facts: Vec<FactForm>,
}

/// The JSON form of an entity.
#[derive(Serialize)]
struct EntityForm {
    id: String,
    name: String,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    type_word: Option<String>,
    aliases: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    roles: Vec<String>,
    event_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_seen: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_seen: Option<String>,
    created_at: String,
}

impl EntityForm {
    fn new(entity: &Known, seen: Option<&MentionStats>) -> Self {
        let aliases = entity.names.iter().filter(|name| name.text != entity.name);
        Self {
            id: entity.id.to_string(),
            name: entity.name.clone(),
            r#type: entity.kind.as_str(),
            type_word: entity.kind_word.clone(),
            aliases: aliases.map(|name| name.text.clone()).collect(),
            roles: entity.roles.iter().map(|(_, role)| role.clone()).collect(),
            event_count: seen.map_or(0, |seen| seen.events),
            first_seen: seen.map(|seen| seen.first_at.to_string()),
            last_seen: seen.map(|seen| seen.last_at.to_string()),
            created_at: entity.created_at.to_string(),
        }
    }

    fn line(&self) -> String {
        let also: Vec<&str> = self.aliases.iter().chain(&self.roles).map(String::as_str).collect();
        let also = if also.is_empty() { String::new() } else { format!(" ({})", also.join(", ")) };
        format!("{}  {:>4}  {}{also}, {}", self.id, self.event_count, self.name, self.r#type)
    }
}
