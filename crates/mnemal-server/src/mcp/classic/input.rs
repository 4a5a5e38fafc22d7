//! Argument validation in the style of the official memory server: by the tool's schema, with the place of each error.

use serde_json::{Map, Value};

use crate::mcp::answer::CorrectableError;
use crate::mcp::catalogue;
use crate::mcp::tool::Tool;

/// Maximum number of reported errors. Source: own default; a model corrects what it reads, and then the rest.
const TOLD: usize = 8;

/// Rejects arguments that violate the tool's schema.
pub(super) fn check(tool: Tool, given: &Map<String, Value>) -> Result<(), CorrectableError> {
    let mut wrong = Vec::new();
    check_fields(&catalogue::classic_input(tool), given, "", &mut wrong);
    if wrong.is_empty() {
        return Ok(());
    }
    let wrong = wrong.join(", ");
    Err(CorrectableError(format!(
        "Input validation error: Invalid arguments for tool {}: {wrong}",
        tool.name()
    )))
}

/// Checks the required fields of an object, in the order of the schema.
fn check_fields(schema: &Value, given: &Map<String, Value>, place: &str, wrong: &mut Vec<String>) {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        let field = schema.get("properties").and_then(|fields| fields.get(name)).unwrap_or(&Value::Null);
        check_value(field, given.get(name), &below(place, name), wrong);
    }
}

fn check_value(schema: &Value, given: Option<&Value>, place: &str, wrong: &mut Vec<String>) {
    if wrong.len() >= TOLD {
        return;
    }
    match (schema.get("type").and_then(Value::as_str), given) {
        (Some("array"), Some(Value::Array(items))) => {
            let of = schema.get("items").unwrap_or(&Value::Null);
            for (number, item) in items.iter().enumerate() {
                check_value(of, Some(item), &below(place, &number.to_string()), wrong);
            }
        }
        (Some("object"), Some(Value::Object(fields))) => check_fields(schema, fields, place, wrong),
        (Some("string"), Some(Value::String(text))) => {
            let longest = schema.get("maxLength").and_then(Value::as_u64);
            // Characters are counted as in JavaScript.
            if let Some(longest) = longest.filter(|longest| text.encode_utf16().count() as u64 > *longest) {
                wrong.push(format!("{place}: Too big: expected string to have <={longest} characters"));
            }
        }
        (Some(expected), given) => {
            let received = kind(given);
            wrong.push(format!("{place}: Invalid input: expected {expected}, received {received}"));
        }
        (None, _) => {}
    }
}

fn below(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

/// Returns the JavaScript type name of a value.
fn kind(given: Option<&Value>) -> &'static str {
    match given {
        None => "undefined",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
    }
}
