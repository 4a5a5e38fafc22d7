//! Tells the format of a file by its first lines and its name.

use mnemal_core::{Error, PRODUCT, Result};
use serde_json::Value;

use super::Format;
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
        Format::Auto | Format::Mnemal => false,
    }
}

fn told(file_name: &str, how_many: &str, formats: &[Format]) -> Error {
    let names: Vec<&str> = formats.iter().map(|format| format.as_str()).collect();
    Error::invalid(format!("cannot tell the format of {file_name:?}: {how_many} {} fits", names.join(", ")))
}
