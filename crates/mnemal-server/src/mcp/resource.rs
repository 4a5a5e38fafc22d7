//! Resources: bounded parts of a memory that a client shows or attaches.

use jiff::tz::TimeZone;
use mnemal::Memory;
use mnemal_core::{AsOf, EntityFilter, ErrorKind, LearningFilter, NoteKey, Timestamp};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Map, Value, json};

use crate::mcp::answer::CorrectableError;
use crate::mcp::{classic, context, entity, note, summary, working};

/// Maximum size of a resource, in tokens. Source: own default, that of a context.
const CEILING: u32 = 4_000;
/// Minimum size of a second list in a resource, in tokens. Source: own default, its frame and some lines.
const LEAST: u32 = 200;
/// Maximum number of completions. Source: own default, a list that a person reads.
const COMPLETED: usize = 50;
/// Content type of texts for models.
const MARKDOWN: &str = "text/markdown";
/// The graph of the official memory server.
pub(super) const KNOWLEDGE_GRAPH: &str = "memory://knowledge-graph";

/// The offered resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResourceKind {
    /// Parts of the memory.
    Parts,
    /// The one resource of the official memory server.
    KnowledgeGraph,
}

/// The content of a resource.
#[derive(Debug)]
pub(super) struct ResourceContent {
    pub(super) text: String,
    pub(super) mime_type: &'static str,
}

impl ResourceKind {
    /// Returns the static resources.
    pub(super) fn list(self, memory: &Memory) -> Vec<Resource> {
        let space = &memory.admin().scope().space;
        let forms = match self {
            Self::KnowledgeGraph => vec![json!({
                "uri": KNOWLEDGE_GRAPH, "name": "knowledge-graph", "title": "Knowledge Graph",
                "description": "The full knowledge graph with all entities and relations",
                "mimeType": "application/json",
            })],
            Self::Parts => [
                ("summary", "Summary", "What was said, in few of its own sentences"),
                ("preferences", "Preferences", "How the user wants things"),
                ("learnings", "Learnings", "What was learnt: preferences, faults of tools, insights"),
            ]
            .iter()
            .map(|(name, title, description)| {
                json!({
                    "uri": format!("memory://{space}/{name}"), "name": name, "title": title,
                    "description": description, "mimeType": MARKDOWN,
                })
            })
            .collect(),
        };
        forms.into_iter().filter_map(|form| serde_json::from_value(form).ok()).collect()
    }

    /// Returns the resource templates.
    pub(super) fn templates(self, memory: &Memory) -> Vec<ResourceTemplate> {
        let space = &memory.admin().scope().space;
        let templates: &[(&str, &str, &str)] = match self {
            Self::KnowledgeGraph => &[],
            Self::Parts => &[
                ("entity", "id", "What is known of somebody or something, by name or ent_…"),
                ("memory", "id", "A note or learning, by key or mem_…"),
                ("event", "id", "What was said, by evt_…"),
                ("working", "key", "An entry of scratch memory, by its path"),
            ],
        };
        let form = |(name, parameter, description): &(&str, &str, &str)| {
            serde_json::from_value(json!({
                "uriTemplate": format!("memory://{space}/{name}/{{{parameter}}}"), "name": name,
                "description": description, "mimeType": MARKDOWN,
            }))
            .ok()
        };
        templates.iter().filter_map(form).collect()
    }

    /// Reads a resource; `None` if it does not exist.
    pub(super) async fn read(
        self,
        memory: &Memory,
        uri: &str,
    ) -> Result<Option<ResourceContent>, CorrectableError> {
        if self == Self::KnowledgeGraph {
            if uri != KNOWLEDGE_GRAPH {
                return Ok(None);
            }
            let text = classic::whole(memory, CEILING).await?;
            return Ok(Some(ResourceContent { text, mime_type: "application/json" }));
        }
        let Some(path) = path(memory, uri) else { return Ok(None) };
        let named = |name: &str, value: &str| {
            Map::from_iter([(name.to_owned(), Value::from(value)), ("max_tokens".to_owned(), CEILING.into())])
        };
        let (part, name) = path.split_once('/').unwrap_or((path.as_str(), ""));
        let answer = match (part, name) {
            ("summary", "") => summary::call(memory, named("key", "root")).await,
            ("learnings", "") => note::learnings(memory, named("status", "active")).await,
            ("preferences", "") => return preferences(memory).await.map(Some),
            ("entity", name) if !name.is_empty() => {
                let field = if name.starts_with("ent_") { "id" } else { "name" };
                entity::call(memory, named(field, name), &TimeZone::UTC).await
            }
            ("memory" | "event", name) if !name.is_empty() => note::get(memory, named("id", name)).await,
            ("working", key) if !key.is_empty() => working::get(memory, named("key", key)).await,
            _ => return Ok(None),
        };
        // A name without a record is a missing resource.
        Ok(answer.ok().map(|answer| ResourceContent { text: answer.text, mime_type: MARKDOWN }))
    }

    /// Returns completions of a template's parameter.
    pub(super) async fn complete(self, memory: &Memory, template: &str, begun: &str) -> Vec<String> {
        if self == Self::KnowledgeGraph {
            return Vec::new();
        }
        let names = match path(memory, template).as_deref().and_then(|path| path.split_once('/')) {
            Some(("entity", _)) => entities(memory).await,
            Some(("memory", _)) => keys(memory).await,
            _ => Vec::new(),
        };
        completing(names, begun)
    }
}

/// Returns the names of known entities.
pub(super) async fn entities(memory: &Memory) -> Vec<String> {
    let Ok(graph) = memory.facts().graph().await else { return Vec::new() };
    let known = graph.all(&EntityFilter::all(), AsOf::present(Timestamp::MAX)).await.unwrap_or_default();
    known.iter().filter_map(|entity| entity.names.first()).map(|name| name.text.clone()).collect()
}

async fn keys(memory: &Memory) -> Vec<String> {
    let notes = memory.preferences().notes(&LearningFilter::all()).await.unwrap_or_default();
    notes.iter().filter_map(|note| note.key.as_ref()).map(NoteKey::to_string).collect()
}

/// Returns the names with this prefix, ignoring case, by name.
pub(super) fn completing(mut names: Vec<String>, begun: &str) -> Vec<String> {
    let begun = begun.to_lowercase();
    let is_plain = |name: &str| !name.chars().any(|letter| letter.is_control() || letter == '<');
    names.retain(|name| name.to_lowercase().starts_with(&begun) && is_plain(name));
    names.sort_unstable();
    names.dedup();
    names.truncate(COMPLETED);
    names
}

/// Returns the user's own preferences, followed by the agents' notes about the user, each line with its origin.
async fn preferences(memory: &Memory) -> Result<ResourceContent, CorrectableError> {
    let own = match context::of_preferences(memory, CEILING).await {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::Unsupported => String::new(),
        Err(error) => return Err(error.into()),
    };
    let room = CEILING.saturating_sub(memory.admin().engine().count_tokens(&own).0);
    let noted = if room < LEAST { None } else { note::about_user(memory, room).await? };
    let parts = [own, noted.map(|noted| noted.text).unwrap_or_default()];
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    let text = if text.is_empty() { "No preferences are known yet.".to_owned() } else { text };
    Ok(ResourceContent { text, mime_type: MARKDOWN })
}

/// Returns the path of an address in this memory, unescaped; `None` for an address of another memory.
fn path(memory: &Memory, uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("memory://")?.strip_prefix(memory.admin().scope().space.as_str())?;
    decoded(rest.strip_prefix('/')?)
}

/// Decodes percent escapes; `None` for a broken escape or invalid UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok().filter(|digits| !digits.starts_with('+'))?.to_owned();
        bytes.push(u8::from_str_radix(&digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_in_addresses_are_read_and_broken_ones_are_not() {
        for (text, expect) in [
            ("entity/Anna", Some("entity/Anna")),
            ("entity/Anna%20Berg", Some("entity/Anna Berg")),
            ("entity/%E5%BC%A0", Some("entity/张")),
            ("entity/%", None),
            ("entity/%zz", None),
            ("entity/%+1", None),
            ("entity/%ff", None),
        ] {
            assert_eq!(decoded(text).as_deref(), expect, "{text}");
        }
    }
}
