//! Shared helpers of the JSON formats: one object per line, and texts in several shapes.

use serde_json::{Map, Value};

/// Deepest nesting. Source: own choice.
const DEEPEST: usize = 32;

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// Reads a line as an object; the reason never quotes the line.
pub(super) fn object(text: &str) -> Result<Object, String> {
    if depth(text) > DEEPEST {
        return Err(format!("nested deeper than {DEEPEST}"));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("not a JSON object".to_owned()),
        Err(error) if error.is_eof() => Err(format!("{NOT_JSON}: it ends too early")),
        Err(error) => Err(format!("{NOT_JSON} at column {}", error.column())),
    }
}

/// Start of the error message for a text that is no JSON.
pub(super) const NOT_JSON: &str = "not JSON";
/// Most objects that are searched in a damaged record. Source: own choice; a long conversation has so many messages.
const LOOKED_AT: usize = 10_000;

/// Returns the complete objects inside a damaged record that begin with the same field.
pub(super) fn swallowed(text: &str) -> Vec<&str> {
    let inner = text.trim_start().strip_prefix('{').map(str::trim_start);
    let first = inner.and_then(|inner| inner.get(..=inner.get(1..)?.find('"')? + 1));
    let Some(first) = first.filter(|first| first.starts_with('"')) else { return Vec::new() };
    let (mut found, mut done) = (Vec::new(), 1);
    for (place, _) in text.match_indices(first).take(LOOKED_AT) {
        let brace = text.get(..place).map(str::trim_end).filter(|before| before.ends_with('{'));
        let Some(start) = brace.map(|before| before.len() - 1).filter(|start| *start >= done) else {
            continue;
        };
        let rest = text.get(start..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
        if matches!(values.next(), Some(Ok(_))) {
            let end = start + values.byte_offset();
            found.extend(text.get(start..end));
            done = end;
        }
    }
    found
}

/// Returns a truncated record up to its last complete value, with its brackets closed; `None` if it has no complete value.
pub(super) fn close(text: &str) -> Option<String> {
    let (mut open, mut whole) = (Vec::new(), (0, 0));
    let (mut quoted, mut escaped) = (false, false);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => {
                open.pop();
                whole = (place + 1, open.len());
            }
            b',' => whole = (place, open.len()),
            _ => {}
        }
    }
    // What was opened behind the last whole value is left out with it.
    let (end, depth) = whole;
    let ends = open.get(..depth).filter(|open| !open.is_empty())?.iter().rev();
    Some(text.get(..end)?.chars().chain(ends.copied()).collect())
}

fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Returns a field that must be text.
pub(super) fn text<'o>(object: &'o Object, field: &str) -> Result<&'o str, String> {
    match object.get(field) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("field `{field}` is not text")),
        None => Err(format!("field `{field}` is missing")),
    }
}

/// Returns a field that may be missing or null, and otherwise must be text.
pub(super) fn maybe_text<'o>(object: &'o Object, field: &str) -> Result<Option<&'o str>, String> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => text(object, field).map(Some),
    }
}

/// Returns a field of any type if it is text.
pub(super) fn loose<'o>(object: &'o Object, field: &str) -> Option<&'o str> {
    object.get(field).and_then(Value::as_str)
}

/// Returns a field of any type as a name if it is text or a number.
pub(super) fn loose_name(object: &Object, field: &str) -> Option<String> {
    name(object, field).ok().flatten()
}

/// Returns a name field: text, or a number.
pub(super) fn name(object: &Object, field: &str) -> Result<Option<String>, String> {
    match object.get(field) {
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        _ => Ok(maybe_text(object, field)?.map(str::to_owned)),
    }
}

/// Whether a field is there and true.
pub(super) fn is_set(object: &Object, field: &str) -> bool {
    object.get(field) == Some(&Value::Bool(true))
}

/// Joins the texts of a content: a string, or a list of parts `{type: text, text}`. The second value says whether there
/// was a part that is not text.
pub(super) fn content(value: Option<&Value>) -> Result<(String, bool), String> {
    let parts = match value {
        None | Some(Value::Null) => return Ok((String::new(), false)),
        Some(Value::String(text)) => return Ok((text.clone(), false)),
        Some(Value::Array(parts)) => parts,
        Some(_) => return Err("content is neither text nor a list".to_owned()),
    };
    let texts: Vec<&str> = parts.iter().filter_map(part_text).collect();
    Ok((texts.join("\n"), texts.len() < parts.len()))
}

/// Returns the text of a part.
pub(super) fn part_text(part: &Value) -> Option<&str> {
    match part {
        Value::String(text) => Some(text),
        Value::Object(part) => match part.get("type").and_then(Value::as_str) {
            None | Some("text" | "input_text" | "output_text") => part.get("text").and_then(Value::as_str),
            Some(_) => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_of_text_only() {
        assert_eq!(depth(r#"{"a": "[[[[\"{{", "b": [1]}"#), 2);
        assert!(object(&format!("{{\"a\": {}{}}}", "[".repeat(40), "]".repeat(40))).is_err());
    }

    #[test]
    fn whole_records_behind_a_cut_one_are_found_again() {
        let text = r#"{"id": 1, "list": [{"name": "x"}, "cut{"id": 2, "list": []}, {"id": 3}]"#;
        assert_eq!(swallowed(text), [r#"{"id": 2, "list": []}"#, r#"{"id": 3}"#]);
        assert!(swallowed("[1").is_empty() && swallowed("{").is_empty());
    }

    #[test]
    fn a_record_that_ends_too_early_keeps_its_whole_values() {
        for (cut, whole) in [
            (r#"{"a": [1, {"b": "x, y"}, {"c": "z"#, r#"{"a": [1, {"b": "x, y"}]}"#),
            (r#"{"a": 1, "b"#, r#"{"a": 1}"#),
            (r#"{"a": {"b": "}\", [1"}"#, r#"{"a": {"b": "}\", [1"}}"#),
        ] {
            assert_eq!(close(cut).as_deref(), Some(whole), "{cut}");
        }
        assert_eq!((close(r#"{"a"#), close("")), (None, None));
    }

    #[test]
    fn a_reason_never_quotes_the_line() {
        let why = object(r#"{"password": hunter}"#).unwrap_err();
        assert!(why.starts_with("not JSON at column"), "{why}");
        assert!(!why.contains("hunter"));
    }
}
