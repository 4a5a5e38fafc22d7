//! Format detection from a file's first lines and its name.

use mnemal_core::{Error, PRODUCT, Result};
use serde_json::Value;

use super::Format;
use super::element::Elements;
use super::json::Object;
use super::takeout;

/// Bytes inspected for format detection. Source: own choice.
pub const DETECT_BYTES: usize = 64 * 1024;
/// Lines inspected. Source: own choice; transcripts begin with entries that say little.
const LINES: usize = 50;

/// Detects the format of a file by its first bytes (up to [`DETECT_BYTES`]) and its name.
///
/// # Errors
/// `Invalid` when no format fits, or more than one; the message names the candidates.
pub fn detect(first: &[u8], file_name: &str) -> Result<Format> {
    let text = String::from_utf8_lossy(first);
    if has_end(file_name, "md") {
        return Ok(notes(file_name));
    }
    if let Some(format) = document(&text) {
        return Ok(format);
    }
    let objects: Vec<Object> = text
        .trim_start_matches('\u{FEFF}')
        .lines()
        .take(LINES)
        .filter_map(|line| match serde_json::from_str(line) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        })
        .collect();
    if objects.first().is_some_and(|header| header.get("format").and_then(Value::as_str) == Some(PRODUCT)) {
        return Ok(Format::Mnemal);
    }
    let fitting: Vec<Format> =
        Format::ALL.into_iter().filter(|format| objects.iter().any(|object| fits(*format, object))).collect();
    match fitting.as_slice() {
        [format] => Ok(*format),
        [] => Err(nothing_fits(file_name, &text)),
        several => Err(format_error(file_name, "more than one of", several)),
    }
}

fn fits(format: Format, object: &Object) -> bool {
    let has = |field| object.contains_key(field);
    let entry = has("uuid") || has("leafUuid") || has("parentUuid") || has("sessionId");
    match format {
        Format::Neutral => has("text") && has("speaker") && has("id") && !has("role"),
        Format::OpenAi => has("messages") || (has("role") && !entry),
        Format::ClaudeCode => has("type") && entry,
        Format::McpMemory => {
            has("type") && (has("entityType") || has("relationType")) && (has("name") || has("from"))
        }
        Format::Mem0 => has("memory") && has("id"),
        Format::Codex => has("type") && has("payload"),
        Format::GeminiCli => has("sessionId") && has("projectHash"),
        Format::Zep => has("source_node_uuid"),
        Format::Cogx => has("kind") && has("external_id"),
        Format::RockBot => (has("content") || has("Content")) && (has("createdAt") || has("CreatedAt")),
        _ => false,
    }
}

/// Whether the name of a file ends so, in either case.
pub(super) fn has_end(file_name: &str, end: &str) -> bool {
    file_name.rsplit_once('.').is_some_and(|(_, own)| own.eq_ignore_ascii_case(end))
}

/// Distinguishes an agent's memory and daily notes from other notes by the file name.
fn notes(file_name: &str) -> Format {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_day = name.len() == "2026-03-01.md".len() && name.bytes().filter(u8::is_ascii_digit).count() == 8;
    if is_day || matches!(name, "MEMORY.md" | "HISTORY.md") { Format::MemoryMd } else { Format::Obsidian }
}

/// Detects single-JSON-value documents by field names that no other format has.
fn document(text: &str) -> Option<Format> {
    let start = text.trim_start_matches('\u{FEFF}').trim_start();
    let has = |field: &str| start.contains(&format!("\"{field}\""));
    if takeout::is_page(start) {
        return Some(Format::GeminiTakeout);
    }
    if start.starts_with("{\"header\"") && has("format") && has(PRODUCT) {
        return Some(Format::Mnemal);
    }
    if start.starts_with('{')
        && let keys = keys(start)
        && let Some(format) = account(&keys, &has).or_else(|| store(&keys, &has))
    {
        return Some(format);
    }
    let is_wrapped = start.starts_with('{') && !is_line(start) && (has("results") || has("memories"));
    match start.as_bytes().first() {
        Some(b'[') if has("mapping") && (has("author") || has("current_node") || has("conversation_id")) => {
            Some(Format::ChatGpt)
        }
        Some(b'[') if has("chat_messages") || has("prompt_template") || has("conversations_memory") => {
            Some(Format::Claude)
        }
        Some(b'[') if has("header") && has("time") && has("title") && names_gemini(start) => {
            Some(Format::GeminiTakeout)
        }
        Some(b'[') if has("source_node_uuid") => Some(Format::Zep),
        Some(b'[') if has("text") && (has("proof_count") || has("fact_type")) => Some(Format::Hindsight),
        Some(b'[') if has("type") && has("data") && (has("human") || has("ai")) => Some(Format::LangChain),
        Some(b'[') if has("memory") => Some(Format::Mem0),
        Some(b'{') if is_wrapped && has("memory") => Some(Format::Mem0),
        Some(b'{') if !is_line(start) && has("content") && (has("createdAt") || has("CreatedAt")) => {
            Some(Format::RockBot)
        }
        _ => None,
    }
}

/// Detects an export of another memory or program that is one object, by its field names.
fn store(keys: &[String], has: &dyn Fn(&str) -> bool) -> Option<Format> {
    let holds = |field: &str| keys.iter().any(|key| key == field);
    let is_graph = ["episodes", "episodic_nodes", "entities", "nodes", "facts", "edges", "entity_edges"];
    if holds("sessionId") && holds("projectHash") {
        return Some(Format::GeminiCli);
    }
    if holds("observations") && (holds("totalObservations") || holds("summaries")) {
        return Some(Format::ClaudeMem);
    }
    if holds("agents") && holds("blocks") || holds("core_memory") && holds("messages") {
        return Some(Format::Letta);
    }
    let is_bank = holds("chunks") || holds("original_text") || holds("retain_params");
    if holds("facts") && is_bank || holds("items") && has("fact_type") {
        return Some(Format::Hindsight);
    }
    if is_graph.iter().any(|field| holds(field)) && (has("source_node_uuid") || has("episode_body")) {
        return Some(Format::Zep);
    }
    ((holds("results") || holds("memories")) && has("memory")).then_some(Format::Mem0)
}

/// Detects a part of an account export that is one object: a conversation, a project, memories, or a list of conversations
/// under a name.
fn account(keys: &[String], has: &dyn Fn(&str) -> bool) -> Option<Format> {
    let holds = |field: &str| keys.iter().any(|key| key == field);
    let is_list = holds("conversations");
    if holds("mapping") || is_list && has("mapping") && (has("author") || has("current_node")) {
        return Some(Format::ChatGpt);
    }
    let is_project = holds("prompt_template") || holds("docs") && holds("uuid");
    let is_memory = holds("conversations_memory") || holds("project_memories");
    (holds("chat_messages") || is_project || is_memory || is_list && has("chat_messages"))
        .then_some(Format::Claude)
}

/// Returns the field names of the object at the start of a text, as far as the text goes.
fn keys(text: &str) -> Vec<String> {
    let (mut keys, mut depth, mut name) = (Vec::new(), 0_usize, None::<String>);
    let mut letters = text.chars();
    let mut last = None;
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                let mut word = String::new();
                while let Some(inner) = letters.next().filter(|inner| *inner != '"') {
                    word.push(if inner == '\\' { letters.next().unwrap_or(inner) } else { inner });
                }
                name = (depth == 1).then_some(word);
            }
            ':' if depth == 1 && last == Some('"') => keys.extend(name.take()),
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !letter.is_whitespace() {
            last = Some(letter);
        }
        if depth == 0 {
            break;
        }
    }
    keys
}

fn names_gemini(text: &str) -> bool {
    text.contains("Gemini") || text.contains("Bard")
}

/// Whether the first line is a whole JSON value.
fn is_line(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
}

/// Returns the record splitter of a file: `None` for one record per line.
pub(super) fn elements(format: Format, first: &[u8]) -> Option<Elements> {
    let text = String::from_utf8_lossy(first);
    let start = text.trim_start_matches('\u{FEFF}').trim_start();
    match format {
        Format::RockBot => Some(Elements::whole()),
        Format::ChatGpt | Format::Claude if start.starts_with('{') => {
            let is_document = !is_line(start) || start.trim_end().lines().count() == 1;
            let keys = keys(start);
            let is_list = keys.iter().any(|key| key == "conversations");
            let is_record = !is_list && account(&keys, &|_| false).is_some();
            let elements = if is_record { Elements::whole() } else { Elements::default() };
            (is_document || is_list).then_some(elements)
        }
        Format::GeminiCli => (!is_line(start)).then(Elements::whole),
        Format::Letta if keys(start).iter().any(|key| key == "core_memory") => Some(Elements::whole()),
        Format::Hindsight if keys(start).iter().any(|key| key == "facts") => Some(Elements::whole()),
        Format::GeminiTakeout => (!start.starts_with('<')).then(Elements::default),
        Format::ClaudeMem | Format::Letta | Format::Hindsight => Some(Elements::default()),
        Format::Zep => (!keys(start).iter().any(|key| key == "source_node_uuid")).then(Elements::default),
        Format::Mem0 if keys(start).iter().any(|key| key == "results" || key == "memories") => {
            Some(Elements::default())
        }
        Format::ChatGpt | Format::Claude | Format::LangChain | Format::Mem0 => {
            // A list without a record, before records, is a line and no document.
            let mut lines = start.lines().map(|line| line.contains('{'));
            let is_line_of_many = lines.next() == Some(false) && lines.any(|has_record| has_record);
            let is_document = !is_line(start) || start.starts_with('[') && !is_line_of_many;
            is_document.then(Elements::default)
        }
        Format::Mnemal => start.starts_with("{\"header\"").then(Elements::default),
        _ => None,
    }
}

fn format_error(file_name: &str, how_many: &str, formats: &[Format]) -> Error {
    let names: Vec<&str> = formats.iter().map(|format| format.as_str()).collect();
    Error::invalid(format!("{CANNOT_TELL} {file_name:?}: {how_many} {} fits", names.join(", ")))
}

/// Start of the error message when no format fits a file.
pub(super) const CANNOT_TELL: &str = "cannot tell the format of";

/// Characteristic fields of a format's records.
const FIELDS: [(Format, &[&str]); 8] = [
    (Format::Neutral, &["id", "conv", "session", "ts", "speaker", "text"]),
    (Format::OpenAi, &["role", "content"]),
    (Format::ClaudeCode, &["type", "sessionId", "uuid", "message"]),
    (Format::ChatGpt, &["mapping", "current_node"]),
    (Format::Claude, &["uuid", "chat_messages"]),
    (Format::McpMemory, &["type", "name", "entityType", "observations"]),
    (Format::Mem0, &["id", "memory"]),
    (Format::RockBot, &["id", "content", "createdAt"]),
];
/// Fields of [`FIELDS`] that a record may lack.
const OPTIONAL: [&str; 2] = ["session", "ts"];

/// Makes the error that states what the closest format lacks.
fn nothing_fits(file_name: &str, text: &str) -> Error {
    let start = text.trim_start_matches('\u{FEFF}').trim_start();
    let share_of = |has: &[String], fields: &[&str]| {
        fields.iter().filter(|field| has.iter().any(|own| own == *field)).count() * 12 / fields.len()
    };
    let best_of =
        |has: &[String]| FIELDS.iter().map(|(_, fields)| share_of(has, fields)).max().unwrap_or_default();
    let objects =
        text.trim_start_matches('\u{FEFF}').lines().take(LINES).enumerate().filter_map(|(at, line)| {
            let object: Object = serde_json::from_str(line).ok()?;
            Some((at + 1, object.keys().cloned().collect::<Vec<String>>()))
        });
    // The first of those that are nearest to something known.
    let nearest_line = objects.fold(None::<(usize, Vec<String>)>, |best, next| match best {
        Some(best) if best_of(&best.1) >= best_of(&next.1) => Some(best),
        _ => Some(next),
    });
    let inner = start.trim_start_matches(['[', ' ', '\n', '\r', '\t']);
    let (line, has) = nearest_line
        .unwrap_or_else(|| (1, if start.starts_with(['{', '[']) { keys(inner) } else { Vec::new() }));
    let lacks = |fields: &[&str]| -> Vec<String> {
        let missing =
            fields.iter().filter(|field| !OPTIONAL.contains(field) && !has.iter().any(|own| own == *field));
        missing.map(|field| (*field).to_owned()).collect()
    };
    let share = |fields: &[&str]| share_of(&has, fields);
    let nearest =
        FIELDS.iter().rev().max_by_key(|(_, fields)| share(fields)).filter(|(_, fields)| share(fields) > 0);
    let why = match nearest.map(|(format, fields)| (format, lacks(fields))) {
        Some((format, missing)) if missing.len() == 1 => {
            format!(
                "the nearest is {}: field {} is missing in line {line}",
                format.as_str(),
                missing.concat()
            )
        }
        Some((format, missing)) if !missing.is_empty() => {
            format!(
                "the nearest is {}: fields {} are missing in line {line}",
                format.as_str(),
                missing.join(", ")
            )
        }
        _ if start.is_empty() => "it is empty".to_owned(),
        _ if has.is_empty() && !start.starts_with(['{', '[']) => {
            "line 1 is no JSON; to keep a text as a document, use `mnemal ingest`".to_owned()
        }
        _ => "no field of a known format is in line 1".to_owned(),
    };
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
    Error::invalid(format!("{CANNOT_TELL} {file_name:?}: {why}; there are {}", names.join(", ")))
}
