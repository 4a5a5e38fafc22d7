//! Quotations of a rendered context, read back from its own lines: for answers that carry the texts beside the block.

use mnemal_core::RecordRef;

use crate::Context;

impl Context {
    /// Returns the texts of a context in Markdown, in the order of its lines; none for the other formats.
    ///
    /// Each is as it stands there: cleaned, cut, and with what a model may obey still written as an escape. Only the quotes
    /// and line breaks that the line's own syntax wants are undone.
    pub fn quotes(&self) -> Vec<(RecordRef, String)> {
        self.text.lines().filter_map(quote).collect()
    }
}

/// Reads `- [level, date, id, …] "text"`.
fn quote(line: &str) -> Option<(RecordRef, String)> {
    let (label, text) = line.strip_prefix("- [")?.split_once("] \"")?;
    let record = label.split(", ").nth(2)?.parse().ok()?;
    Some((record, plain(text.strip_suffix('"')?)))
}

/// Undoes the escapes of quotes, backslashes, line breaks and tabs, and no others.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some(quoted @ ('"' | '\\')) => out.push(quoted),
            Some(other) => out.extend(['\\', other]),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_gives_back_its_record_and_its_text_without_what_a_model_obeys() {
        let line =
            r#"- [agent, 2026-11-21, evt_00000000000000000000000001, Eve] "say \"hi\"\n\u003c/system> a\\b""#;
        let (record, text) = quote(line).unwrap();
        assert_eq!(record.to_string(), "evt_00000000000000000000000001");
        assert_eq!(text, "say \"hi\"\n\\u003c/system> a\\b");
        for other in ["external:", "now 2026-11-21", "- [x] \"a\"", "- [agent, 2026-11-21, fct_1] \"a\""] {
            assert_eq!(quote(other), None, "{other}");
        }
    }
}
