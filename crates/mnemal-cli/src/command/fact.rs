//! `mnemal fact list`, and how a fact is written.

use std::collections::BTreeMap;

use anyhow::Result;
use mnemal::{
    Act, AsOf, Entity, EntityId, EventId, Fact as Known, FactFilter, Graph, Memory, Predicate, Timestamp,
    Value, Within, WorldTime, Zone,
};
use serde::Serialize;

use crate::args::{Fact, Global, When};
use crate::output::Output;
use crate::time;

/// Lists facts.
pub(super) async fn run(memory: &Memory, global: &Global, call: Fact, output: &Output) -> Result<u8> {
    let Fact::List { about, predicate, when } = call;
    let (graph, as_of) = (memory.graph().await?, moment(memory, &when)?);
    let predicate = predicate.map(Predicate::new).transpose()?;
    let mut facts = if let Some(who) = about {
        let found = super::entity::find(&graph, &who, as_of).await?;
        let ids: Vec<EntityId> = found.iter().map(|entity| entity.id).collect();
        graph.about(&ids, as_of).await?
    } else {
        let predicate = predicate.clone().map_or(Within::All, Within::Only);
        graph.facts(&FactFilter { predicate, ..FactFilter::all() }, as_of).await?
    };
    facts.retain(|fact| predicate.as_ref().is_none_or(|wanted| fact.predicate == *wanted));
    let names = Names::of(&graph, &facts, as_of).await?;
    let forms: Vec<FactForm> = facts.iter().map(|fact| names.form(fact)).collect();
    output.list(&forms, &FactsForm { facts: &forms }, || lines(&forms))?;
    Ok(super::gaps(&graph.gaps, global, output))
}

/// Returns the times that are asked about.
pub(super) fn moment(memory: &Memory, when: &When) -> Result<AsOf> {
    let read = |text: &Option<String>| text.as_deref().map(time::read).transpose();
    let world = read(&when.as_of)?.unwrap_or_else(|| memory.engine().now());
    Ok(AsOf { world, belief: read(&when.believed_at)?.unwrap_or(Timestamp::MAX) })
}

/// Returns a line for each fact.
pub(super) fn lines(forms: &[FactForm]) -> String {
    forms.iter().map(FactForm::line).collect::<Vec<_>>().join("\n")
}

#[derive(Serialize)]
struct FactsForm<'f> {
    facts: &'f [FactForm],
}

/// A fact as it is written for programs.
#[derive(Debug, Serialize)]
pub(super) struct FactForm {
    id: String,
    subject: String,
    predicate: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    object: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_id: Option<String>,
    act: &'static str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    known_since: String,
    confidence: f32,
    strength: f32,
    level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<&'static str>,
    sources: Vec<String>,
}

impl FactForm {
    fn line(&self) -> String {
        let topic = self.topic.as_ref().map(|topic| format!(" ({topic})")).unwrap_or_default();
        let act = match self.act {
            "plan" => "plans ",
            "negative" => "not ",
            _ => "",
        };
        let since = self.since.as_ref().map(|day| format!(" since {day}")).unwrap_or_default();
        let until = self.until.as_ref().map(|day| format!(" until {day}")).unwrap_or_default();
        let sources = self.sources.len();
        format!(
            "{} {act}{}{topic}: {}{since}{until}  [{}, {:.2}, {sources} source(s)]",
            self.subject, self.predicate, self.object, self.status, self.confidence
        )
    }
}

/// The names of the entities of some facts.
pub(super) struct Names(BTreeMap<EntityId, String>);

impl Names {
    pub(super) async fn of(graph: &Graph, facts: &[Known], as_of: AsOf) -> Result<Self> {
        let ids = facts.iter().flat_map(|fact| [Some(fact.subject), fact.object.entity()]).flatten();
        let entities: Vec<Entity> = graph.entities(ids, as_of).await?;
        Ok(Self(entities.into_iter().map(|entity| (entity.id, entity.name)).collect()))
    }

    pub(super) fn name(&self, id: EntityId) -> String {
        self.0.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    pub(super) fn form(&self, fact: &Known) -> FactForm {
        let day = |at: WorldTime| at.civil(&Zone::utc()).day_text();
        let mut sources: Vec<EventId> = fact.supports.iter().map(|support| support.source.event).collect();
        sources.dedup();
        FactForm {
            id: fact.id.to_string(),
            subject: self.name(fact.subject),
            predicate: fact.predicate.to_string(),
            topic: fact.topic.clone(),
            object: match &fact.object {
                Value::Entity(id) => self.name(*id),
                Value::Literal { text, .. } => text.clone(),
            },
            object_id: fact.object.entity().map(|id| id.to_string()),
            act: if fact.act == Act::End { Act::Assert.as_str() } else { fact.act.as_str() },
            status: fact.status.as_str(),
            since: fact.valid_at.map(day),
            until: fact.invalid_at.map(day),
            known_since: fact.created_at.to_string(),
            confidence: fact.confidence().get(),
            strength: fact.strength(),
            level: fact.level.as_str(),
            superseded: fact.superseded.as_ref().map(|by| by.reason.as_str()),
            sources: sources.iter().map(EventId::to_string).collect(),
        }
    }
}
