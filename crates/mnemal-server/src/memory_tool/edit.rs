//! Text operations of files: numbered view, replacement, insertion.

use super::{ToolResult, failure};

/// Number of context lines around a change. Source: own default.
const AROUND: usize = 4;

/// Returns the lines of a file with their numbers.
pub(super) fn numbered(path: &str, content: &str, range: Option<&[i64]>) -> ToolResult<String> {
    let lines: Vec<&str> = content.lines().collect();
    let (first, last) = match range {
        None => (1, lines.len()),
        Some(range) => within(range, lines.len())?,
    };
    Ok(format!("Here's the content of {path} with line numbers:\n{}", number_lines(&lines, first, last)))
}

/// Parses a range of lines, inclusive at both ends.
fn within(range: &[i64], lines: usize) -> ToolResult<(usize, usize)> {
    let [first, last] = range else {
        return failure("view_range needs two numbers: the first and the last line.");
    };
    let last =
        if *last == -1 { Some(lines) } else { usize::try_from(*last).ok().map(|last| last.min(lines)) };
    match (usize::try_from(*first), last) {
        (Ok(first), Some(last)) if (1..=last).contains(&first) => Ok((first, last)),
        _ => failure(format!("Invalid view_range {range:?}: the file has {lines} lines.")),
    }
}

fn number_lines(lines: &[&str], first: usize, last: usize) -> String {
    let numbers = first..=last;
    let lines = lines.iter().skip(first.saturating_sub(1));
    numbers.zip(lines).map(|(number, line)| format!("{number:>6}\t{line}")).collect::<Vec<_>>().join("\n")
}

/// Returns a text with one unique occurrence replaced, and the message for the model.
pub(super) fn replaced(content: &str, old: &str, new: &str, path: &str) -> ToolResult<(String, String)> {
    if old.is_empty() {
        return failure("No replacement was performed: old_str is empty.");
    }
    let places: Vec<usize> = content.match_indices(old).map(|(at, _)| at).collect();
    let [at] = places.as_slice() else {
        if places.is_empty() {
            return failure(format!(
                "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            ));
        }
        let lines: Vec<String> = places.iter().map(|at| line_of(content, *at).to_string()).collect();
        return failure(format!(
            "No replacement was performed. There are {} occurrences of old_str `{old}`, in lines {}. Please ensure it is unique.",
            places.len(),
            lines.join(", ")
        ));
    };
    let text = content.replacen(old, new, 1);
    let told = edited(&text, line_of(&text, *at), new.lines().count());
    Ok((text, told))
}

/// Returns a text with inserted lines, and the message for the model.
pub(super) fn inserted(content: &str, behind: u64, lines: &str) -> ToolResult<(String, String)> {
    let known: Vec<&str> = content.lines().collect();
    let Some(behind) = usize::try_from(behind).ok().filter(|line| *line <= known.len()) else {
        return failure(format!(
            "Invalid `insert_line` parameter: {behind}. It should be within the range of lines of the file: [0, {}]",
            known.len()
        ));
    };
    let (before, after) = known.split_at(behind);
    let new: Vec<&str> = lines.lines().collect();
    let text = [before, &new, after].concat().join("\n");
    let told = edited(&text, behind + 1, new.len());
    Ok((text, told))
}

/// Returns the line number of a byte offset, from 1.
fn line_of(content: &str, at: usize) -> usize {
    content.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn edited(text: &str, line: usize, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let (first, last) = (line.saturating_sub(AROUND).max(1), (line + count + AROUND).min(lines.len()));
    format!("The memory file has been edited.\n{}", number_lines(&lines, first, last))
}
