//! `mnemal entity list|show|path`.

use std::fmt::Write as _;

use anyhow::Result;
use mnemal::{
    AsOf, Entity as Known, EntityFilter, EntityId, EntityKind, Error, EventId, Fact, Graph, Memory, Within,
};
use serde::Serialize;

use super::fact::{FactForm, Names, lines, moment};
use crate::args::{Entity, Global};
use crate::output::Output;

/// Most sentences shown of one entity. Source: own choice, a screen.
const MOST_SENTENCES: usize = 20;

/// Lists or shows.
pub(super) async fn run(memory: &Memory, global: &Global, call: Entity, output: &Output) -> Result<u8> {
    let graph = memory.graph().await?;
    match call {
        Entity::List { kind, when } => {
            let kind = match kind {
                Some(name) => Within::Only(
                    EntityKind::from_name(&name)
                        .ok_or_else(|| Error::invalid(format!("no kind {name:?}")))?,
                ),
                None => Within::All,
            };
            let filter = EntityFilter { kind, ..EntityFilter::all() };
            let forms: Vec<EntityForm> =
                graph.all(&filter, moment(memory, &when)?).await?.iter().map(EntityForm::from).collect();
            output.list(&forms, &EntitiesForm { entities: &forms }, || {
                forms.iter().map(EntityForm::line).collect::<Vec<_>>().join("\n")
            })?;
        }
        Entity::Show { who, when } => show(memory, &graph, &who, moment(memory, &when)?, output).await?,
        Entity::Path { from, to, when } => path(&graph, (&from, &to), moment(memory, &when)?, output).await?,
    }
    Ok(super::gaps(&graph.gaps, global, output))
}

/// Returns whom a name or an id means; several for a name of several.
pub(super) async fn find(graph: &Graph, who: &str, as_of: AsOf) -> Result<Vec<Known>> {
    let found = match who.parse::<EntityId>() {
        Ok(id) => graph.entities([id], as_of).await?,
        Err(_) => graph.named(who, as_of).await?,
    };
    if found.is_empty() {
        return Err(Error::not_found(format!("nobody and nothing is known by {who:?}")).into());
    }
    Ok(found)
}

async fn show(memory: &Memory, graph: &Graph, who: &str, as_of: AsOf, output: &Output) -> Result<()> {
    let mut shown = Vec::new();
    for entity in find(graph, who, as_of).await? {
        let facts = graph.about(&[entity.id], as_of).await?;
        let names = Names::of(graph, &facts, as_of).await?;
        let mentions = graph.mentions(entity.id, as_of).await?;
        shown.push(ShownForm {
            entity: EntityForm::from(&entity),
            mentions: mentions.len(),
            first_at: mentions.iter().map(|row| row.occurred_at).min().map(|at| at.to_string()),
            last_at: mentions.iter().map(|row| row.occurred_at).max().map(|at| at.to_string()),
            facts: facts.iter().map(|fact| names.form(fact)).collect(),
            sentences: sentences(memory, &facts).await?,
        });
    }
    output.list(&shown, &EntitiesForm { entities: &shown }, || {
        shown.iter().map(ShownForm::text).collect::<Vec<_>>().join("\n\n")
    })
}

/// Returns the clauses that facts were read in, each once, in the order of the facts.
async fn sentences(memory: &Memory, facts: &[Fact]) -> Result<Vec<SentenceForm>> {
    let mut sources: Vec<_> = facts.iter().flat_map(|fact| &fact.supports).map(|one| one.source).collect();
    let mut seen = std::collections::BTreeSet::new();
    sources.retain(|source| seen.insert(*source));
    let mut found = Vec::new();
    for source in sources.into_iter().take(MOST_SENTENCES) {
        let event = memory.get(source.event).await?;
        let text = event.kept().and_then(|kept| source.span.of(&kept.content)).unwrap_or_default();
        let at = event.kept().map(|kept| kept.occurred_at.civil(&kept.zone).day_text()).unwrap_or_default();
        found.push(SentenceForm { event: event.id.to_string(), at, text: text.to_owned() });
    }
    Ok(found)
}

async fn path(graph: &Graph, (from, to): (&str, &str), as_of: AsOf, output: &Output) -> Result<()> {
    let (starts, ends) = (find(graph, from, as_of).await?, find(graph, to, as_of).await?);
    let mut forms = Vec::new();
    for start in &starts {
        for end in &ends {
            for path in graph.paths(start.id, end.id, as_of).await? {
                let names = Names::of(graph, &path.facts, as_of).await?;
                let facts = path.facts.iter().map(|fact| names.form(fact)).collect();
                let entities = path.entities.iter().map(|id| names.name(*id)).collect();
                forms.push(PathForm { entities, facts });
            }
        }
    }
    output.list(&forms, &PathsForm { paths: &forms }, || {
        forms.iter().map(|path| lines(&path.facts)).collect::<Vec<_>>().join("\n\n")
    })
}

#[derive(Serialize)]
struct EntitiesForm<'f, T> {
    entities: &'f [T],
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

#[derive(Serialize)]
struct EntityForm {
    id: String,
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    roles: Vec<String>,
    known_since: String,
    sources: Vec<String>,
}

impl From<&Known> for EntityForm {
    fn from(entity: &Known) -> Self {
        Self {
            id: entity.id.to_string(),
            name: entity.name.clone(),
            kind: entity.kind.as_str(),
            names: entity.names.iter().map(|name| name.text.clone()).collect(),
            roles: entity.roles.iter().map(|(_, role)| role.clone()).collect(),
            known_since: entity.created_at.to_string(),
            sources: entity.sources.iter().map(EventId::to_string).collect(),
        }
    }
}

impl EntityForm {
    fn line(&self) -> String {
        let also: Vec<&str> = self
            .names
            .iter()
            .filter(|name| **name != self.name)
            .chain(&self.roles)
            .map(String::as_str)
            .collect();
        let also = if also.is_empty() { String::new() } else { format!("  ({})", also.join(", ")) };
        format!("{}  {}  {}{also}", self.id, self.kind, self.name)
    }
}

#[derive(Serialize)]
struct ShownForm {
    #[serde(flatten)]
    entity: EntityForm,
    mentions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_at: Option<String>,
    facts: Vec<FactForm>,
    sentences: Vec<SentenceForm>,
}

impl ShownForm {
    fn text(&self) -> String {
        let mut text = self.entity.line();
        if let (Some(first), Some(last)) = (&self.first_at, &self.last_at) {
            // Writing into a string cannot fail.
            let _written = write!(text, "\nnamed in {} event(s), {first} to {last}", self.mentions);
        }
        let sentences = self.sentences.iter().map(|one| format!("{} {}: {}", one.at, one.event, one.text));
        let sentences = sentences.collect::<Vec<_>>().join("\n");
        for part in [lines(&self.facts), sentences] {
            if !part.is_empty() {
                text.push_str("\n\n");
                text.push_str(&part);
            }
        }
        text
    }
}

#[derive(Serialize)]
struct SentenceForm {
    event: String,
    at: String,
    text: String,
}
