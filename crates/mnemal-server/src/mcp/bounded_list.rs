//! Lists: a line for models and fields for programs per entry, as many as fit under one ceiling.

use mnemal::Memory;
use serde_json::{Value, json};

use crate::mcp::answer::Remarks;
use crate::mcp::fact_lines;

/// An entry.
#[derive(Clone, Debug)]
pub(super) struct ListRow {
    /// For the model.
    pub(super) line: String,
    /// For programs, in addition to the line; an object.
    pub(super) fields: Value,
}

/// The entries that fit.
#[derive(Debug)]
pub(super) struct BoundedList {
    /// The fenced block; empty without entries.
    pub(super) text: String,
    /// An object with the entries under the list's name, and whether it is truncated.
    pub(super) structured: Value,
    /// Number of its entries.
    pub(super) shown: usize,
}

/// Renders as many rows as fit, in order; each has its line's text as `text`.
pub(super) fn render_rows(
    memory: &Memory,
    name: &str,
    rows: &[ListRow],
    ceiling: u32,
    tail: &Remarks,
) -> BoundedList {
    let engine = memory.admin().engine();
    let lines: Vec<String> = rows.iter().map(|row| row.line.clone()).collect();
    let block = memory.admin().fence(&lines, tail.room(engine, ceiling));
    let entry = |(row, text): (&ListRow, &String)| {
        let mut fields = row.fields.clone();
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("text".to_owned(), text.as_str().into());
        }
        fields
    };
    let entries: Vec<Value> = rows.iter().zip(&block.lines).map(entry).collect();
    let mut structured = json!({name: entries, "truncated": block.cut > 0});
    fact_lines::truncate_lists(&mut structured, &[name], |text| engine.count_tokens(text).0 <= ceiling);
    let shown = structured.get(name).and_then(Value::as_array).map_or(0, Vec::len);
    BoundedList { text: block.text, structured, shown }
}

impl BoundedList {
    /// Adds a field for programs.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Some(fields) = self.structured.as_object_mut() {
            fields.insert(name.to_owned(), value.into());
        }
        self
    }
}
