//! Notes in Markdown.

use mnemal::ImportFormat;
use serde_json::Value;

use super::sample::{Layout, Sample, TextWriter};

/// An agent's memory.
pub(super) fn memory_md(pen: &mut TextWriter<'_>) -> Sample {
    let mut lines = vec!["# Memory".to_owned(), String::new()];
    for _ in 0..pen.some(1, 3) {
        lines.push(format!("## Part {}", pen.number()));
        for _ in 0..pen.some(1, 4) {
            let mark = pen.dice.one_of(&["- ", "- [ ] ", "- [x] ", "1. ", "* "]).to_owned();
            lines.push(mark + &pen.item());
        }
        lines.push(String::new());
        lines.push(pen.item());
        lines.push(String::new());
    }
    Sample::new("MEMORY.md", ImportFormat::MemoryMd, Layout::Text, Value::from(lines)).without_names()
}

/// A note of a vault.
pub(super) fn obsidian(pen: &mut TextWriter<'_>) -> Sample {
    let mut lines: Vec<String> =
        ["---", "tags: [garden, boats]", "created: 2026-05-01", "---", "# Notes", ""]
            .map(str::to_owned)
            .to_vec();
    for _ in 0..pen.some(2, 6) {
        match pen.some(0, 4) {
            0 => lines.push(format!("## Part {}", pen.number())),
            1 => lines.push(format!("- [ ] {} ^block-{}", pen.item(), pen.number())),
            2 => lines.push(format!("- {} [[Ada|her]]", pen.item())),
            3 => lines.push(format!("> [!note] {}", pen.item())),
            _ => lines.push(pen.item()),
        }
        lines.push(String::new());
    }
    Sample::new("Garden.md", ImportFormat::Obsidian, Layout::Text, Value::from(lines)).without_names()
}

/// Lines of front matter of a note of basic-memory, which stay as they are: a list of tags takes in any item.
const FRONT: usize = 7;

/// A note of basic-memory.
pub(super) fn basic_memory(pen: &mut TextWriter<'_>) -> Sample {
    let mut lines: Vec<String> = [
        "---",
        "title: Boats",
        "type: note",
        "permalink: boats",
        "tags:",
        "- wood",
        "---",
        "",
        "# Boats",
        "",
        "## Observations",
    ]
    .map(str::to_owned)
    .to_vec();
    for _ in 0..pen.some(2, 5) {
        lines.push(format!("- [decision] {} #wood (as of spring)", pen.item()));
    }
    lines.extend(["", "## Relations"].map(str::to_owned));
    lines.push(format!("- relates_to [[{}]]", pen.item()));
    let sample = Sample::new("Boats.md", ImportFormat::Obsidian, Layout::Text, Value::from(lines));
    Sample { head: FRONT, ..sample.without_names() }
}
