//! JSON and CSV: every record as lines `name: value`, so that a value and its name stay together.

use mnemal_core::{Metadata, Passage};
use serde_json::Value;

use super::Content;

/// Deepest nesting of JSON. Source: own choice, as for imports.
const DEEPEST: usize = 32;

/// Reads JSON: each element of an outer list is a paragraph, each field of an outer object a passage under its name; fields are
/// sorted by name.
///
/// # Errors
/// The reason, with the line.
pub(super) fn json(text: &str) -> Result<Content, String> {
    let value: Value = serde_json::from_str(text).map_err(|why| format!("not JSON: {why}"))?;
    let mut passages = Vec::new();
    match &value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let text = value_text(value)?;
                if text.trim().is_empty() {
                    continue;
                }
                let text = if text.contains('\n') { text } else { format!("{name}: {text}") };
                passages.push(Passage { text, headings: vec![name.clone()], ..Passage::default() });
            }
        }
        other => passages.push(Passage { text: value_text(other)?, ..Passage::default() }),
    }
    Ok(Content { fields: Metadata::new(), written_at: None, passages })
}

/// Returns a value as text: the elements of a list of records as paragraphs.
fn value_text(value: &Value) -> Result<String, String> {
    match value {
        Value::Array(list) if list.iter().any(|one| one.is_object() || one.is_array()) => {
            let records = list.iter().map(|one| {
                let mut lines = Vec::new();
                flatten(one, "", 2, &mut lines)?;
                Ok(lines.join("\n"))
            });
            Ok(records.collect::<Result<Vec<_>, String>>()?.join("\n\n"))
        }
        other => {
            let mut lines = Vec::new();
            flatten(other, "", 1, &mut lines)?;
            Ok(lines.join("\n"))
        }
    }
}

fn flatten(value: &Value, path: &str, depth: usize, lines: &mut Vec<String>) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("JSON is nested deeper than {DEEPEST} levels"));
    }
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                flatten(value, &below(name), depth + 1, lines)?;
            }
        }
        Value::Array(list) if list.iter().any(|one| one.is_object() || one.is_array()) => {
            for (place, value) in (1_usize..).zip(list) {
                flatten(value, &below(&place.to_string()), depth + 1, lines)?;
            }
        }
        Value::Array(list) => line(path, &list.iter().map(scalar).collect::<Vec<_>>().join(", "), lines),
        one => line(path, &scalar(one), lines),
    }
    Ok(())
}

fn line(path: &str, value: &str, lines: &mut Vec<String>) {
    if path.is_empty() {
        lines.push(value.to_owned());
    } else {
        lines.push(format!("{path}: {value}"));
    }
}

fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads CSV with a row of names; each further row is a paragraph.
///
/// # Errors
/// The reason, with the line.
pub(super) fn csv(text: &str) -> Result<Content, String> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter(text)).flexible(true).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|why| format!("not CSV: {why}"))?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|why| format!("not CSV: {why}"))?;
        let cells = (0_usize..).zip(&record).filter(|(_, cell)| !cell.trim().is_empty());
        let cells: Vec<String> = cells
            .map(|(column, cell)| match names.get(column).map(str::trim).filter(|name| !name.is_empty()) {
                Some(name) => format!("{name}: {}", cell.trim()),
                None => cell.trim().to_owned(),
            })
            .collect();
        if !cells.is_empty() {
            rows.push(cells.join("\n"));
        }
    }
    let text = if rows.is_empty() { names.iter().collect::<Vec<_>>().join(", ") } else { rows.join("\n\n") };
    let passages = vec![Passage { text, ..Passage::default() }];
    Ok(Content { fields: Metadata::new(), written_at: None, passages })
}

/// Returns the most frequent delimiter of the first line; a comma if there is none.
fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let times = |byte: u8| first.bytes().filter(|other| *other == byte).count();
    let mut best = b',';
    for other in [b';', b'\t', b'|'] {
        if times(other) > times(best) {
            best = other;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &Content, expect: &[(&str, &str)]) {
        let found: Vec<(String, &str)> = content
            .passages
            .iter()
            .map(|passage| (passage.headings.join(" > "), passage.text.as_str()))
            .collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_value_stands_beside_its_name() {
        check(
            &json(r#"{"owner":"Ana","team":[{"name":"Ben","skills":["rust","sql"]},{"name":"Cem","boss":{"name":"Ana"}}],"none":null}"#)
                .unwrap(),
            &[
                ("owner", "owner: Ana"),
                ("team", "name: Ben\nskills: rust, sql\n\nboss.name: Ana\nname: Cem"),
            ],
        );
        check(&json("[1, 2]").unwrap(), &[("", "1, 2")]);
        check(
            &csv("city;population\nBern; 134000\n;\nThun;\n").unwrap(),
            &[("", "city: Bern\npopulation: 134000\n\ncity: Thun")],
        );
        check(&csv("a,b\n1,2,3\n").unwrap(), &[("", "a: 1\nb: 2\n3")]);
    }

    #[test]
    fn broken_and_deep_json_is_refused_with_the_reason() {
        assert!(json("{\"a\": ").unwrap_err().starts_with("not JSON"));
        let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert!(json(&deep(100)).unwrap_err().contains("deeper"));
        assert!(json(&deep(100_000)).unwrap_err().contains("recursion limit"));
        assert!(json(&deep(30)).is_ok());
    }
}
