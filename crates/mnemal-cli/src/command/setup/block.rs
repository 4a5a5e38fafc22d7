//! A table at the end of a TOML file, and its exact inverse.
//!
//! The table follows one line break after what was there, so that the inverse restores the file byte for byte; a file that was
//! made begins with it. A table that the host wrote anew is found by its header, and the rest of the file stays.

use serde_json::{Map, Value};
use toml::Table;

use super::part::After;

/// Appends the table unless it is there; `None` when the text cannot be parsed, or another table has the name.
pub(super) fn added(text: Option<&str>, path: [&str; 2], entry: &Value) -> Option<String> {
    let Some(text) = text else { return Some(written(path, entry, "\n")) };
    if let Some(there) = found(&read(text)?, path) {
        return (there == *entry).then(|| text.to_owned());
    }
    let line_break = line_break(text);
    let more = format!("{text}{line_break}{}", written(path, entry, line_break));
    // A table in another form, `servers = { … }`, cannot be continued.
    (found(&read(&more)?, path)? == *entry).then_some(more)
}

/// Removes the table; `None` when the text cannot be parsed, or has the table in a form that is not ours, like `{ … }`.
pub(super) fn removed(text: &str, path: [&str; 2], entry: &Value) -> Option<After> {
    if found(&read(text)?, path).is_none_or(|there| there != *entry) {
        return Some(After::Text(text.to_owned()));
    }
    let line_break = line_break(text);
    let table = written(path, entry, line_break);
    let exact = match text.strip_prefix(&table) {
        Some(after) => Some(("", after)),
        None => text.split_once(&format!("{line_break}{table}")),
    };
    match exact {
        Some(("", after)) if text.starts_with(&table) && after.trim().is_empty() => Some(After::Nothing),
        Some((before, after)) => Some(After::Text(format!("{before}{after}"))),
        None => cut(text, path),
    }
}

/// Removes a table that the host wrote anew; `None` unless the rest of the file keeps its meaning.
fn cut(text: &str, path: [&str; 2]) -> Option<After> {
    let rest = without(read(text)?, path);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let headers = lines.iter().enumerate().filter(|(_, line)| is_header(line, path));
    headers.map(|(place, _)| place).find_map(|place| {
        let less = cut_at(&lines, place)?;
        let file = read(&less)?;
        let is_all = found(&file, path).is_none() && without(file, path) == rest;
        let is_bare = place == 0 && less.trim().is_empty();
        is_all.then_some(if is_bare { After::Nothing } else { After::Text(less) })
    })
}

/// Removes the lines from a header to the next one, and an empty line before them.
///
/// Empty lines and remarks before the next header, or at the end, stay.
fn cut_at(lines: &[&str], place: usize) -> Option<String> {
    let (before, table) = lines.split_at_checked(place)?;
    let next = table.iter().skip(1).position(|line| line.trim_start().starts_with('['));
    let table = table.get(..next.map_or(table.len(), |next| next + 1))?;
    let is_remark = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let end = place + table.iter().rposition(|line| !is_remark(line))? + 1;
    let before = match before.split_last() {
        Some((last, before)) if last.trim().is_empty() => before,
        _ => before,
    };
    Some(before.concat() + &lines.get(end..)?.concat())
}

/// Whether a line is the header of the table, in any spelling.
fn is_header(line: &str, path: [&str; 2]) -> bool {
    if !line.trim_start().starts_with('[') {
        return false;
    }
    let table = read(line).and_then(|file| found(&file, path));
    table.is_some_and(|table| table.as_object().is_some_and(Map::is_empty))
}

/// Returns a file without the entry at a path, and without the table around it if that is empty then.
fn without(mut file: Table, [table, key]: [&str; 2]) -> Table {
    let is_empty = file.get_mut(table).and_then(toml::Value::as_table_mut).is_some_and(|servers| {
        servers.remove(key);
        servers.is_empty()
    });
    if is_empty {
        file.remove(table);
    }
    file
}

fn read(text: &str) -> Option<Table> {
    toml::from_str(text.trim_start_matches('\u{FEFF}')).ok()
}

/// Returns the entry at a path, if there is one.
fn found(file: &Table, [table, key]: [&str; 2]) -> Option<Value> {
    let entry = file.get(table)?.get(key)?;
    // A value that JSON does not have is none of ours.
    Some(serde_json::to_value(entry).unwrap_or_default())
}

fn written(path: [&str; 2], entry: &Value, line_break: &str) -> String {
    let fields = entry.as_object().into_iter().flatten();
    // Strings and lists of strings are written in TOML as in JSON.
    let fields = fields.map(|(key, value)| format!("{key} = {value}{line_break}"));
    format!("[{}]{line_break}{}", path.join("."), fields.collect::<String>())
}

fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PATH: [&str; 2] = ["mcp_servers", "mnemal"];

    fn ours() -> Value {
        json!({"command": "mnemal", "args": ["mcp"]})
    }

    #[test]
    fn what_a_change_added_goes_byte_for_byte_whatever_the_file_looks_like() {
        for text in [
            "",
            "\n",
            "model = \"o9\"",
            "model = \"o9\" # mine\n",
            "# only a remark\n\n",
            "[mcp_servers.other]\r\ncommand = \"x\"\r\n",
            "[mcp_servers]\n[mcp_servers.other]\ncommand = \"x\"\n\n\n",
            "[mcp_servers.mnemal_other]\ncommand = \"x\"\n",
        ] {
            let more = added(Some(text), PATH, &ours()).unwrap();
            assert!(more.starts_with(text) && more != text, "{more}");
            assert_eq!(found(&read(&more).unwrap(), PATH), Some(ours()), "{more}");
            assert_eq!(added(Some(&more), PATH, &ours()).as_ref(), Some(&more), "twice is once");
            assert_eq!(removed(&more, PATH, &ours()), Some(After::Text(text.to_owned())), "through {more}");
            let later = format!("{more}\n[projects.\"/shop\"]\ntrust_level = \"trusted\"\n");
            let rest = format!("{text}\n[projects.\"/shop\"]\ntrust_level = \"trusted\"\n");
            assert_eq!(removed(&later, PATH, &ours()), Some(After::Text(rest)), "through {later}");
        }
        let made = added(None, PATH, &ours()).unwrap();
        assert_eq!(removed(&made, PATH, &ours()), Some(After::Nothing), "{made}");
    }

    #[test]
    fn a_table_that_the_host_wrote_anew_goes_and_all_else_stays() {
        for (text, stays) in [
            (
                "model = \"o9\"\n\n[mcp_servers.mnemal]\nargs = [\"mcp\"]\ncommand = \"mnemal\"\n",
                "model = \"o9\"\n",
            ),
            (
                "a = 1\n\n[mcp_servers.mnemal] # memory\ncommand = \"mnemal\"\nargs = [\n  \"mcp\",\n]\n\n# theirs\n[mcp_servers.other]\ncommand = \"x\"\n",
                "a = 1\n\n# theirs\n[mcp_servers.other]\ncommand = \"x\"\n",
            ),
            (
                "a = 1\r\n\n[mcp_servers.mnemal]\ncommand = \"mnemal\"\nargs = [\"mcp\"]\n# last\n",
                "a = 1\r\n# last\n",
            ),
            (
                "[ mcp_servers . \"mnemal\" ]\nargs = ['mcp']\ncommand = 'mnemal'\n[b]\nc = 1\n",
                "[b]\nc = 1\n",
            ),
            (
                "a = '''\n[mcp_servers.mnemal]\n'''\n[mcp_servers]\n[mcp_servers.mnemal]\nargs = [\"mcp\"]\ncommand = \"mnemal\"",
                "a = '''\n[mcp_servers.mnemal]\n'''\n[mcp_servers]\n",
            ),
        ] {
            assert_eq!(removed(text, PATH, &ours()), Some(After::Text(stays.to_owned())), "{text}");
        }
        let alone = "[mcp_servers.mnemal]\nargs = [\"mcp\"]\ncommand = \"mnemal\"\n\n";
        assert_eq!(removed(alone, PATH, &ours()), Some(After::Nothing));
        let other_form = "[mcp_servers]\nmnemal = { command = \"mnemal\", args = [\"mcp\"] }\n";
        assert_eq!(removed(other_form, PATH, &ours()), None);
    }

    #[test]
    fn what_stands_in_the_way_is_left_alone() {
        for text in [
            "model =",
            "mcp_servers = 1\n",
            "mcp_servers = { other = { command = \"x\" } }\n",
            "[mcp_servers.mnemal]\ncommand = \"elsewhere\"\n",
        ] {
            assert_eq!(added(Some(text), PATH, &ours()), None, "{text}");
        }
        let other = "[mcp_servers.mnemal]\ncommand = \"elsewhere\"\n";
        assert_eq!(removed(other, PATH, &ours()), Some(After::Text(other.to_owned())));
        assert_eq!(removed("model =", PATH, &ours()), None);
    }
}
