//! Importers for memory stores (the official MCP memory server, Mem0, RockBot files) and LangChain chat histories.

use mnemal_core::{Metadata, Timestamp, UserId, Zone};
use serde_json::Value;

use super::json::{self, Object};
use super::note;
use super::openai::OpenAi;
use super::parse_time::TimeParser;
use super::turn::{ParsedRecord, Turns};

/// Data common to all memories of a record. A program wrote them, so they count as no person's words.
struct Memory<'r> {
    session: Option<String>,
    user: Option<UserId>,
    category: Vec<&'r str>,
    tags: Vec<&'r str>,
    importance: Option<f64>,
    at: Option<(Timestamp, Zone)>,
    metadata: Metadata,
}

impl Memory<'_> {
    fn emit(&self, content: String, source: Vec<String>, turns: &mut Turns) -> Result<(), String> {
        if content.trim().is_empty() {
            turns.remark("no text");
            return Ok(());
        }
        turns.emit(&ParsedRecord {
            user: self.user.clone(),
            kind: note::remember(
                note::category(self.category.iter().copied()),
                note::tags(self.tags.iter().copied()),
                self.importance,
            ),
            human: false,
            content,
            session: self.session.clone().unwrap_or_else(|| turns.stem()),
            conv: None,
            speaker: None,
            at: self.at.clone(),
            source,
            parent: None,
            metadata: self.metadata.clone(),
        })?;
        Ok(())
    }
}

/// Reads an entity with its observations, or a relation; each observation and each relation becomes a sentence.
pub(super) fn mcp(record: &Object, turns: &mut Turns) -> Result<(), String> {
    let plain = |category, tags| Memory {
        session: None,
        user: None,
        category,
        tags,
        importance: None,
        at: None,
        metadata: Metadata::new(),
    };
    // What a record holds tells its kind where that cannot be read.
    let kind = json::text(record, "type").or_else(|why| {
        let fields = [("observations", "entity"), ("relationType", "relation")];
        let kind = fields.into_iter().find(|(field, _)| record.contains_key(*field));
        let (_, kind) = kind.ok_or_else(|| why.clone())?;
        turns.fail(why);
        Ok::<_, String>(kind)
    });
    match kind? {
        "entity" => {
            let name = json::text(record, "name").unwrap_or_else(|why| {
                turns.fail(why);
                ""
            });
            let kind = json::loose(record, "entityType").unwrap_or_default();
            let memory = plain(vec![kind], vec![name]);
            let observed = record.get("observations").and_then(Value::as_array);
            let observed = observed.ok_or("field `observations` is not a list")?;
            if observed.is_empty() {
                turns.remark("an entity without observations");
            }
            for observation in observed {
                let Some(text) = json::part_text(observation) else {
                    turns.fail("an observation is not text".to_owned());
                    continue;
                };
                let content = if name.is_empty() { text.to_owned() } else { format!("{name}: {text}") };
                memory.emit(content, vec![name.to_owned()], turns)?;
            }
            Ok(())
        }
        "relation" => {
            let (from, to) = (json::text(record, "from")?, json::text(record, "to")?);
            let relation = json::text(record, "relationType")?;
            let memory = plain(vec!["relation"], vec![from, to]);
            memory.emit(sentence(from, relation, to), vec!["relation".to_owned()], turns)
        }
        _ => Err("field `type` is neither entity nor relation".to_owned()),
    }
}

fn sentence(from: &str, relation: &str, to: &str) -> String {
    format!("{from} {} {to}", relation.replace('_', " "))
}

/// Reads a memory of Mem0, or a relation of its graph.
pub(super) fn mem0(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    let mut metadata = Metadata::new();
    for field in ["user_id", "agent_id"] {
        metadata.extend(json::loose_name(record, field).map(|name| (field.to_owned(), name)));
    }
    let own = record.get("metadata").and_then(Value::as_object);
    for (field, value) in own.into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        metadata.insert(field.clone(), text);
    }
    let tags: Vec<&str> = texts(record.get("categories"));
    let category = own.and_then(|own| own.get("category")).and_then(Value::as_str);
    let mut memory = Memory {
        session: json::loose_name(record, "run_id"),
        user: user(record, turns),
        category: category.or(tags.first().copied()).into_iter().collect(),
        tags,
        importance: None,
        at: turns.time(moments.read(record.get("created_at"))),
        metadata,
    };
    if let (Some(from), Some(relation)) =
        (json::maybe_text(record, "source")?, json::maybe_text(record, "relationship")?)
    {
        let to = match json::maybe_text(record, "target")? {
            Some(to) => to,
            None => json::text(record, "destination")?,
        };
        return memory.emit(sentence(from, relation, to), vec!["relation".to_owned()], turns);
    }
    let id = json::name(record, "id")?.ok_or("field `id` is missing")?;
    memory.metadata.insert("source_id".to_owned(), id.clone());
    let content = match (json::maybe_text(record, "memory")?, json::maybe_text(record, "data")?) {
        (Some(text), _) | (None, Some(text)) => text,
        (None, None) => json::text(record, "text")?,
    };
    memory.emit(content.to_owned(), vec![id], turns)
}

/// Returns whose a memory of Mem0 is; one whose user has a name that cannot be one here is everybody's, which is told.
fn user(record: &Object, turns: &mut Turns) -> Option<UserId> {
    match UserId::new(json::loose_name(record, "user_id")?) {
        Ok(user) => Some(user),
        Err(why) => {
            turns.fail(format!("field `user_id`: {why}"));
            None
        }
    }
}

/// Reads a RockBot memory, whose field names have either case.
pub(super) fn rockbot(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    let low = |name: &str| name.chars().next().into_iter().flat_map(char::to_lowercase).collect::<String>();
    let record: Object = record
        .iter()
        .map(|(name, value)| (low(name) + name.get(1..).unwrap_or_default(), value.clone()))
        .collect();
    let id = json::name(&record, "id")?.ok_or("field `id` is missing")?;
    let importance = record.get("importance").and_then(Value::as_f64);
    let own = record.get("metadata").and_then(Value::as_object);
    let mut metadata: Metadata = own
        .into_iter()
        .flatten()
        .map(|(field, value)| {
            (field.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
        .collect();
    metadata.insert("source_id".to_owned(), id.clone());
    let memory = Memory {
        session: Some("rockbot".to_owned()),
        user: None,
        category: json::loose(&record, "category").into_iter().collect(),
        tags: texts(record.get("tags")),
        importance,
        at: turns.time(moments.read(record.get("createdAt"))),
        metadata,
    };
    memory.emit(json::text(&record, "content")?.to_owned(), vec![id], turns)
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Reads a LangChain message, `{type, data: {content, …}}`, as a chat-completion message.
pub(super) fn langchain(
    record: &Object,
    openai: &mut OpenAi,
    moments: &TimeParser,
    turns: &mut Turns,
) -> Result<(), String> {
    let mut message = match record.get("data").or_else(|| record.get("kwargs")) {
        Some(Value::Object(data)) => data.clone(),
        _ => record.clone(),
    };
    let role = match json::text(record, "type")? {
        "human" | "HumanMessageChunk" => "user",
        "ai" | "AIMessageChunk" => "assistant",
        "system" => "system",
        "tool" | "function" => "tool",
        "chat" => json::maybe_text(&message, "role")?.unwrap_or("user"),
        _ => return Err("field `type` is none of human, ai, system, tool".to_owned()),
    };
    message.insert("role".to_owned(), Value::String(role.to_owned()));
    if let Some(Value::Array(calls)) = message.get_mut("tool_calls") {
        for call in calls.iter_mut().filter(|call| call.get("function").is_none()) {
            let arguments = call.get("args").map(ToString::to_string).unwrap_or_default();
            let (name, id) = (call.get("name").cloned(), call.get("id").cloned());
            *call = serde_json::json!({"id": id, "function": {"name": name, "arguments": arguments}});
        }
    }
    openai.read(&message, moments, turns)
}
