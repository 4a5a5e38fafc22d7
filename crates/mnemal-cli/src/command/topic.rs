//! `mnemal topic`.

use anyhow::Result;
use mnemal::graph::Topic as Theme;
use mnemal::{Error, Memory, Zone};
use serde::Serialize;

use super::fact::moment;
use crate::args::{Global, Topic};
use crate::output::Output;

/// Lists topics, or shows one.
pub(super) async fn run(memory: &Memory, global: &Global, call: Topic, output: &Output) -> Result<u8> {
    let graph = memory.facts().graph().await?;
    match call {
        Topic::List { limit, when } => {
            let topics = graph.topics(moment(memory, &when)?).await?;
            let name = |id| topics.iter().find(|topic| topic.id == id).map(|topic| topic.name.clone());
            let forms: Vec<TopicForm> = topics
                .iter()
                .take(limit)
                .map(|topic| TopicForm::new(topic, topic.parent.and_then(name)))
                .collect();
            output.list(&forms, &TopicsForm { topics: &forms }, || {
                forms.iter().map(TopicForm::line).collect::<Vec<_>>().join("\n")
            })?;
        }
        Topic::Show { name, when } => {
            let topics = graph.topics(moment(memory, &when)?).await?;
            let wanted = name.to_lowercase();
            let is_meant =
                |topic: &&Theme| topic.id.to_string() == name || topic.name.to_lowercase() == wanted;
            let found = topics.iter().find(is_meant);
            let topic = found.ok_or_else(|| Error::not_found(format!("nothing is said about {name:?}")))?;
            let parent = topics.iter().find(|other| Some(other.id) == topic.parent);
            let form = TopicDetailForm {
                topic: TopicForm::new(topic, parent.map(|parent| parent.name.clone())),
                events: events(memory, topic).await?,
            };
            output.answer(&form, || form.text())?;
        }
    }
    Ok(super::gaps(&graph.gaps, global, output))
}

/// Returns the events of a topic, newest first.
async fn events(memory: &Memory, topic: &Theme) -> Result<Vec<EventForm>> {
    let mut forms = Vec::new();
    for (id, relevance) in topic.events.iter().rev() {
        let event = memory.events().get(*id).await?;
        let Some(kept) = event.body() else { continue };
        forms.push(EventForm {
            event_id: id.to_string(),
            at: kept.occurred_at.to_string(),
            day: kept.occurred_at.civil(&kept.zone).day_text(),
            relevance: *relevance,
            text: kept.content.clone(),
        });
    }
    Ok(forms)
}

#[derive(Serialize)]
struct TopicsForm<'f> {
    topics: &'f [TopicForm],
}

#[derive(Serialize)]
struct TopicForm {
    id: String,
    name: String,
    r#type: &'static str,
    event_count: usize,
    entity_count: usize,
    first_seen: String,
    last_seen: String,
    keywords: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip)]
    last_day: String,
}

impl TopicForm {
    fn new(topic: &Theme, parent: Option<String>) -> Self {
        Self {
            id: topic.id.to_string(),
            name: topic.name.clone(),
            r#type: "topic",
            event_count: topic.stats.events,
            entity_count: topic.entities,
            first_seen: topic.stats.first_at.to_string(),
            last_seen: topic.stats.last_at.to_string(),
            keywords: topic.keywords.clone(),
            parent,
            last_day: topic.stats.last_at.civil(&Zone::utc()).day_text(),
        }
    }

    fn line(&self) -> String {
        let parent = self.parent.as_ref().map(|name| format!(", part of {name}")).unwrap_or_default();
        let keywords =
            if self.keywords.is_empty() { String::new() } else { format!(": {}", self.keywords.join(", ")) };
        format!("{:>4}  {}{parent}, last on {} UTC{keywords}", self.event_count, self.name, self.last_day)
    }
}

#[derive(Serialize)]
struct TopicDetailForm {
    #[serde(flatten)]
    topic: TopicForm,
    events: Vec<EventForm>,
}

#[derive(Serialize)]
struct EventForm {
    event_id: String,
    at: String,
    relevance: f32,
    text: String,
    #[serde(skip)]
    day: String,
}

impl TopicDetailForm {
    fn text(&self) -> String {
        let line = |event: &EventForm| format!("  {}  {}  {}", event.day, event.text, event.event_id);
        let lines: Vec<String> = self.events.iter().map(line).collect();
        format!("{}\n{}", self.topic.line().trim_start(), lines.join("\n"))
    }
}
