//! Tells the format of a file by its first lines and its name.

use mnemal_core::{Error, PRODUCT, Result};
use serde_json::Value;

use super::Format;
use super::element::Elements;
use super::json::Object;

/// Bytes that are looked at to tell the format. Source: SURFACES 9.1, the first 64 KiB.
pub const DETECT_BYTES: usize = 64 * 1024;
/// Lines that are looked at. Source: own choice; transcripts begin with entries that say little.
const LINES: usize = 50;

/// Returns what a file holds, by its first bytes (up to [`DETECT_BYTES`]) and its name.
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
        [] => Err(told(file_name, "none of", &Format::ALL)),
        several => Err(told(file_name, "more than one of", several)),
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
        Format::RockBot => (has("content") || has("Content")) && (has("createdAt") || has("CreatedAt")),
        _ => false,
    }
}

/// Whether the name of a file ends so, in either case.
pub(super) fn has_end(file_name: &str, end: &str) -> bool {
    file_name.rsplit_once('.').is_some_and(|(_, own)| own.eq_ignore_ascii_case(end))
}

/// Tells an agent's memory and daily notes from other notes by the name of the file.
fn notes(file_name: &str) -> Format {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_day = name.len() == "2026-03-01.md".len() && name.bytes().filter(u8::is_ascii_digit).count() == 8;
    if is_day || matches!(name, "MEMORY.md" | "HISTORY.md") { Format::MemoryMd } else { Format::Obsidian }
}

/// Tells documents that are one JSON value by names of fields that no other format has.
fn document(text: &str) -> Option<Format> {
    let start = text.trim_start_matches('\u{FEFF}').trim_start();
    let has = |field: &str| start.contains(&format!("\"{field}\""));
    if start.starts_with("{\"header\"") && has("format") && has(PRODUCT) {
        return Some(Format::Mnemal);
    }
    let is_wrapped = start.starts_with('{') && !is_line(start) && (has("results") || has("memories"));
    match start.as_bytes().first() {
        Some(b'[') if has("mapping") && has("author") => Some(Format::ChatGpt),
        Some(b'[') if has("chat_messages") || has("prompt_template") || has("conversations_memory") => {
            Some(Format::Claude)
        }
        Some(b'[') if has("type") && has("data") && (has("human") || has("ai")) => Some(Format::LangChain),
        Some(b'[') if has("memory") => Some(Format::Mem0),
        Some(b'{') if is_wrapped && has("memory") => Some(Format::Mem0),
        Some(b'{') if !is_line(start) && has("content") && (has("createdAt") || has("CreatedAt")) => {
            Some(Format::RockBot)
        }
        _ => None,
    }
}

/// Whether the first line is a whole JSON value.
fn is_line(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok()
}

/// Returns how the records of a file are found: `None` for one a line.
pub(super) fn elements(format: Format, first: &[u8]) -> Option<Elements> {
    let text = String::from_utf8_lossy(first);
    let start = text.trim_start_matches('\u{FEFF}').trim_start();
    match format {
        Format::RockBot => Some(Elements::whole()),
        Format::ChatGpt | Format::Claude | Format::LangChain | Format::Mem0 => {
            let is_document = start.starts_with('[') || !is_line(start);
            is_document.then(Elements::default)
        }
        Format::Mnemal => start.starts_with("{\"header\"").then(Elements::default),
        _ => None,
    }
}

fn told(file_name: &str, how_many: &str, formats: &[Format]) -> Error {
    let names: Vec<&str> = formats.iter().map(|format| format.as_str()).collect();
    Error::invalid(format!("cannot tell the format of {file_name:?}: {how_many} {} fits", names.join(", ")))
}
