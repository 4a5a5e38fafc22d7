//! Importers for exports of other memory stores: claude-mem, Letta, Zep and Graphiti, COGX of Cognee, Hindsight. Programs wrote
//! them, so they count as no person's words, except for the conversations among them.
//!
//! Shapes: claude-mem 12, `scripts/export-memories.ts`; Letta's agent file (`.af`) of letta-ai/letta, revision d5103ee17ed5,
//! and the older one with `core_memory`; the graph of Zep and Graphiti as `cognee/modules/migration/sources/zep.py` reads it;
//! COGX 0.1,
//! `cognee/modules/migration/cogx.py` of topoteretes/cognee; Hindsight's transfer archive of schema version 1,
//! `hindsight_api/engine/transfer/schema.py` of vectorize-io/hindsight, and its lists of memories.

use mnemal_core::{EventKind, Metadata, Timestamp, Zone};
use serde_json::{Value, json};

use super::json::{self, Object};
use super::note;
use super::openai::OpenAi;
use super::parse_time::TimeParser;
use super::turn::{ParsedRecord, Turns};

type At = Option<(Timestamp, Zone)>;

/// A note of another program.
struct ImportedNote<'r> {
    category: Vec<&'r str>,
    tags: Vec<&'r str>,
    session: Option<String>,
    at: At,
    id: String,
}

impl ImportedNote<'_> {
    fn emit(self, content: &str, turns: &mut Turns) -> Result<(), String> {
        let content = content.trim();
        if content.is_empty() {
            turns.remark("no text");
            return Ok(());
        }
        turns.emit(&ParsedRecord {
            user: None,
            kind: note::remember(note::category(self.category), note::tags(self.tags), None),
            human: false,
            content: content.to_owned(),
            session: self.session.unwrap_or_else(|| turns.stem()),
            conv: None,
            speaker: None,
            at: self.at,
            source: vec![self.id.clone()],
            parent: None,
            metadata: Metadata::from([("source_id".to_owned(), self.id)]),
        })?;
        Ok(())
    }
}

fn first<'o>(record: &'o Object, fields: &[&str]) -> Option<&'o str> {
    fields.iter().find_map(|field| json::loose(record, field)).filter(|text| !text.trim().is_empty())
}

fn first_time(record: &Object, fields: &[&str], moments: &TimeParser, turns: &mut Turns) -> At {
    let given = fields.iter().find_map(|field| record.get(*field).filter(|value| !value.is_null()));
    turns.time(moments.read(given))
}

fn id(record: &Object, turns: &Turns) -> String {
    let named = ["uuid", "id", "external_id", "source_id"];
    let named = named.into_iter().find_map(|field| json::loose_name(record, field));
    named.unwrap_or_else(|| format!("{}:{}", turns.stem(), turns.line))
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Reads a claude-mem record: an observation, a summary, a prompt, or session data.
pub(super) fn claude_mem(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    let at = first_time(record, &["created_at_epoch", "created_at"], moments, turns);
    let session = ["content_session_id", "memory_session_id", "sdk_session_id", "claude_session_id"];
    let session = session.into_iter().find_map(|field| json::loose_name(record, field));
    let id = id(record, turns);
    if let Some(prompt) = json::loose(record, "prompt_text") {
        turns.emit(&ParsedRecord {
            user: None,
            kind: EventKind::UserMessage,
            human: true,
            content: prompt.to_owned(),
            session: session.clone().unwrap_or_else(|| turns.stem()),
            conv: None,
            speaker: None,
            at,
            source: vec!["prompt".to_owned(), session.unwrap_or_default(), id],
            parent: None,
            metadata: Metadata::new(),
        })?;
        return Ok(());
    }
    let project = json::loose(record, "project").unwrap_or_default();
    let parts = [
        "title",
        "subtitle",
        "narrative",
        "text",
        "request",
        "investigated",
        "learned",
        "completed",
        "next_steps",
        "notes",
    ];
    for field in parts {
        if let Err(why) = json::maybe_text(record, field) {
            turns.fail(why);
        }
    }
    let said: Vec<&str> = parts.iter().filter_map(|field| first(record, &[field])).collect();
    if said.is_empty() || !record.contains_key("memory_session_id") {
        turns.remark("an entry of the program");
        return Ok(());
    }
    // Lists are written as text.
    let list = |field: &str| -> Vec<String> {
        let text = json::loose(record, field).and_then(|text| serde_json::from_str(text).ok());
        let value = text.or_else(|| record.get(field).cloned());
        texts(value.as_ref()).into_iter().map(str::to_owned).collect()
    };
    let (facts, concepts) = (list("facts"), list("concepts"));
    let kind = json::loose(record, "type").unwrap_or("summary");
    let mut content = said.join("\n");
    for fact in facts {
        content.push_str("\n- ");
        content.push_str(&fact);
    }
    let category = vec!["claude-mem", project, kind];
    let tags = concepts.iter().map(String::as_str).collect();
    ImportedNote { category, tags, session, at, id: format!("{kind} {id}") }.emit(&content, turns)
}

/// Reads a part of a Letta agent file: an agent with its messages, or a block of its memory.
pub(super) fn letta(
    record: &Object,
    moments: &TimeParser,
    openai: &mut OpenAi,
    turns: &mut Turns,
) -> Result<(), String> {
    if let Some(label) = json::loose(record, "label") {
        let at = first_time(record, &["updated_at", "created_at"], moments, turns);
        let value = json::text(record, "value")?;
        let noted = ImportedNote {
            category: vec!["letta", label],
            tags: vec![label],
            session: None,
            at,
            id: format!("block {label}"),
        };
        return noted.emit(value, turns);
    }
    for block in record.get("core_memory").and_then(Value::as_array).into_iter().flatten() {
        let read = block.as_object().ok_or_else(|| "it is not an object".to_owned());
        if let Err(why) = read.and_then(|block| letta(block, moments, openai, turns)) {
            turns.fail(format!("a block: {why}"));
        }
    }
    let Some(messages) = record.get("messages").and_then(Value::as_array) else {
        turns.remark("an entry of the program");
        return Ok(());
    };
    let name = json::loose_name(record, "name").or_else(|| json::loose_name(record, "id"));
    let session = name.unwrap_or_else(|| turns.stem());
    let messages: Vec<Value> = messages.iter().map(letta_message).collect();
    let conversation = json!({"session_id": session, "messages": messages});
    match conversation.as_object() {
        Some(conversation) => openai.read(conversation, moments, turns),
        None => Ok(()),
    }
}

/// Returns a Letta message as a chat message: the user's and the agent's words are inside JSON.
fn letta_message(message: &Value) -> Value {
    let Some(object) = message.as_object() else { return message.clone() };
    let mut object = object.clone();
    let content = object.get("content").or_else(|| object.get("text")).cloned();
    let (text, _) = json::content(content.as_ref()).unwrap_or_default();
    let packed: Option<Object> = serde_json::from_str(&text).ok();
    let kind = packed.as_ref().and_then(|packed| json::loose(packed, "type")).unwrap_or_default().to_owned();
    match (json::loose(&object, "role").unwrap_or_default(), kind.as_str()) {
        ("user", "user_message") => {
            let said = packed.as_ref().and_then(|packed| json::loose(packed, "message")).unwrap_or_default();
            object.insert("content".to_owned(), Value::String(said.to_owned()));
        }
        ("user", "heartbeat" | "login" | "system_alert") => {
            object.insert("role".to_owned(), Value::String("system".to_owned()));
        }
        ("assistant", _) => {
            let calls = object.get("tool_calls").and_then(Value::as_array).cloned().unwrap_or_default();
            let (sent, calls): (Vec<Value>, Vec<Value>) =
                calls.into_iter().partition(|call| sent(call).is_some());
            // What is beside a call to send is a thought.
            let words: Vec<String> = sent.iter().filter_map(self::sent).collect();
            if !words.is_empty() {
                object.insert("content".to_owned(), Value::String(words.join("\n")));
            }
            object.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        ("tool", _) if json::loose(&object, "name") == Some("send_message") => {
            object.insert("role".to_owned(), Value::String("system".to_owned()));
        }
        _ => {
            object.insert("content".to_owned(), Value::String(text));
        }
    }
    Value::Object(object)
}

/// Returns the text that an agent sends to its user by a call.
fn sent(call: &Value) -> Option<String> {
    let function = call.get("function")?;
    if function.get("name")?.as_str()? != "send_message" {
        return None;
    }
    let arguments: Object = serde_json::from_str(function.get("arguments")?.as_str()?).ok()?;
    json::loose(&arguments, "message").map(str::to_owned)
}

/// Reads a part of a Zep or Graphiti graph: an episode, an entity, or a fact between two.
pub(super) fn zep(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    let session = first(record, &["group_id", "session_id"]).map(str::to_owned);
    let own = id(record, turns);
    if record.contains_key("source_node_uuid") || record.contains_key("fact") {
        let at = first_time(record, &["valid_at", "created_at"], moments, turns);
        let fact = first(record, &["fact"]).ok_or("field `fact` is missing")?;
        let over = first(record, &["invalid_at", "expired_at"]);
        let content = over.map_or_else(|| fact.to_owned(), |over| format!("{fact} (until {})", day(over)));
        let relation = first(record, &["name", "relation"]).unwrap_or("relation");
        return ImportedNote { category: vec!["zep", "fact"], tags: vec![relation], session, at, id: own }
            .emit(&content, turns);
    }
    if let Some(content) = first(record, &["content", "episode_body"]) {
        let at = first_time(record, &["valid_at", "reference_time", "created_at"], moments, turns);
        return episode(content, (session, at, own), turns);
    }
    let name = first(record, &["name"]).ok_or("neither an episode, nor an entity, nor a fact")?;
    let Some(summary) = first(record, &["summary", "description"]) else {
        turns.remark("an entity without a text");
        return Ok(());
    };
    let at = first_time(record, &["created_at"], moments, turns);
    let labels = texts(record.get("labels"));
    let label = labels.into_iter().find(|label| *label != "Entity").unwrap_or("entity");
    let content = format!("{name}: {summary}");
    ImportedNote { category: vec!["zep", label], tags: vec![name], session, at, id: own }
        .emit(&content, turns)
}

/// Stores an episode of unknown speaker as a text.
fn episode(
    content: &str,
    (session, at, id): (Option<String>, At, String),
    turns: &mut Turns,
) -> Result<(), String> {
    turns.emit(&ParsedRecord {
        user: None,
        kind: EventKind::Document,
        human: false,
        content: content.to_owned(),
        session: session.unwrap_or_else(|| turns.stem()),
        conv: None,
        speaker: None,
        at,
        source: vec![id.clone()],
        parent: None,
        metadata: Metadata::from([("source_id".to_owned(), id)]),
    })?;
    Ok(())
}

fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// Reads a COGX record.
pub(super) fn cogx(
    record: &Object,
    moments: &TimeParser,
    openai: &mut OpenAi,
    turns: &mut Turns,
) -> Result<(), String> {
    let scope = record.get("scope").and_then(Value::as_object);
    let session = scope.and_then(|scope| first(scope, &["session_id", "run_id"])).map(str::to_owned);
    let own = id(record, turns);
    let kind = json::text(record, "kind").or_else(|why| {
        let kind = kind_by_fields(record).ok_or_else(|| why.clone())?;
        turns.fail(why);
        Ok::<_, String>(kind)
    })?;
    let at = first_time(
        record,
        if kind == "fact" { &["valid_at", "created_at"] } else { &["created_at", "updated_at"] },
        moments,
        turns,
    );
    let noted =
        |category, tags, id| ImportedNote { category, tags, session: session.clone(), at: at.clone(), id };
    match kind {
        "memory" => {
            let categories = texts(record.get("categories"));
            noted(categories.first().copied().into_iter().collect(), categories, own)
                .emit(json::text(record, "content")?, turns)
        }
        "memory_block" => {
            let label = json::text(record, "label")?;
            noted(vec!["letta", label], vec![label], own).emit(json::text(record, "value")?, turns)
        }
        "entity" => {
            let name = json::text(record, "name")?;
            let Some(description) = first(record, &["description"]) else {
                turns.remark("an entity without a text");
                return Ok(());
            };
            let kind = first(record, &["entity_type"]).unwrap_or("entity");
            noted(vec![kind], vec![name], own).emit(&format!("{name}: {description}"), turns)
        }
        "fact" => {
            let predicate = json::text(record, "predicate")?;
            let Some(text) =
                first(record, &["fact_text"]).map(str::to_owned).or_else(|| sentence(record, predicate))
            else {
                turns.remark("a relation without a text");
                return Ok(());
            };
            let over = first(record, &["invalid_at"]);
            let content = over.map_or_else(|| text.clone(), |over| format!("{text} (until {})", day(over)));
            noted(vec!["relation"], vec![predicate], own).emit(&content, turns)
        }
        "document" => episode(json::text(record, "content")?, (session, at, own), turns),
        "episode" => cogx_episode(record, (session.unwrap_or(own), moments, openai), turns),
        "raw_node" => {
            turns.remark("an entry of the program");
            Ok(())
        }
        _ => Err("field `kind` is no kind of record".to_owned()),
    }
}

/// Returns the kind of a COGX record without one, by the field that no other kind has.
fn kind_by_fields(record: &Object) -> Option<&'static str> {
    let fields = [
        ("turns", "episode"),
        ("predicate", "fact"),
        ("value", "memory_block"),
        ("description", "entity"),
        ("content", "memory"),
    ];
    fields.into_iter().find(|(field, _)| record.contains_key(*field)).map(|(_, kind)| kind)
}

/// Returns a relation as a sentence if its ends have names and not only ids.
fn sentence(record: &Object, predicate: &str) -> Option<String> {
    let is_name = |text: &&str| !text.bytes().any(|byte| byte.is_ascii_digit());
    let subject = first(record, &["subject_ref"]).filter(is_name)?;
    let object = first(record, &["object_ref"]).filter(is_name)?;
    Some(format!("{subject} {} {object}", predicate.replace('_', " ")))
}

fn cogx_episode(
    record: &Object,
    (session, moments, openai): (String, &TimeParser, &mut OpenAi),
    turns: &mut Turns,
) -> Result<(), String> {
    let listed = record.get("turns").and_then(Value::as_array).ok_or("field `turns` is not a list")?;
    let own = id(record, turns);
    let mut messages = Vec::new();
    for (place, turn) in listed.iter().enumerate() {
        let role = turn.get("role").and_then(Value::as_str).unwrap_or_default();
        let content = turn.get("content").cloned().unwrap_or_default();
        let at = turn.get("occurred_at").cloned().unwrap_or_default();
        // What another program took in as one text says nothing of who said it.
        if role == "episode" {
            let time = turns.time(moments.read(Some(&at)));
            episode(
                content.as_str().unwrap_or_default(),
                (Some(session.clone()), time, format!("{own} {place}")),
                turns,
            )?;
        } else {
            messages.push(
                json!({"id": format!("{own} {place}"), "role": role, "content": content, "created_at": at}),
            );
        }
    }
    match json!({"session_id": session, "messages": messages}).as_object() {
        Some(conversation) => openai.read(conversation, moments, turns),
        None => Ok(()),
    }
}

/// Reads a Hindsight document with its facts, an observation, or a memory of a list.
pub(super) fn hindsight(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    let Some(facts) = record.get("facts").and_then(Value::as_array) else {
        return hindsight_fact(record, None, moments, turns);
    };
    let own = id(record, turns);
    let at = first_time(record, &["created_at"], moments, turns);
    if let Some(text) = first(record, &["original_text"]) {
        episode(text, (Some(own.clone()), at, own.clone()), turns)?;
    }
    for (place, fact) in facts.iter().enumerate() {
        let read = fact.as_object().ok_or_else(|| "it is not an object".to_owned());
        if let Err(why) = read.and_then(|fact| hindsight_fact(fact, Some((&own, place)), moments, turns)) {
            turns.fail(format!("fact {}: {why}", place + 1));
        }
    }
    Ok(())
}

fn hindsight_fact(
    fact: &Object,
    of: Option<(&str, usize)>,
    moments: &TimeParser,
    turns: &mut Turns,
) -> Result<(), String> {
    let Some(text) = json::loose(fact, "text") else {
        if of.is_none() && !fact.contains_key("fact_type") {
            turns.remark("an entry of the program");
            return Ok(());
        }
        return Err("field `text` is missing".to_owned());
    };
    let times = ["occurred_start", "mentioned_at", "event_date", "date"];
    let at = first_time(fact, &times, moments, turns);
    let kind = first(fact, &["fact_type", "type"]).unwrap_or("observation");
    let tags = texts(fact.get("tags")).into_iter().chain(texts(fact.get("entities"))).collect();
    let id = of.map_or_else(|| id(fact, turns), |(document, place)| format!("{document} {place}"));
    let session = of.map(|(document, _)| document.to_owned());
    ImportedNote { category: vec!["hindsight", kind], tags, session, at, id }.emit(text, turns)
}
