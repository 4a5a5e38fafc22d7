//! A table at the end of a TOML file, and its exact inverse.
//!
//! The table follows one line break after what was there, so that the inverse restores the file byte for byte; a file that was
//! made begins with it.

use serde_json::Value;
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

/// Removes the table; `None` when the text cannot be parsed, or the table was written anew.
pub(super) fn removed(text: &str, path: [&str; 2], entry: &Value) -> Option<After> {
    if found(&read(text)?, path).is_none_or(|there| there != *entry) {
        return Some(After::Text(text.to_owned()));
    }
    let line_break = line_break(text);
    let table = written(path, entry, line_break);
    if text == table {
        return Some(After::Nothing);
    }
    let (before, after) = match text.strip_prefix(&table) {
        Some(after) => ("", after),
        None => text.split_once(&format!("{line_break}{table}"))?,
    };
    Some(After::Text(format!("{before}{after}")))
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
