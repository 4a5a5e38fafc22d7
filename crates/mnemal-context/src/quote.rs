//! Quotations of a rendered context, read back from its own lines: for answers that carry the texts beside the block.

use mnemal_core::RecordRef;

use crate::Context;
use crate::line::line_number;

impl Context {
    /// Returns the texts of a context in Markdown, in the order of its lines; none for the other formats.
    ///
    /// Each is as it stands there: cleaned, cut, and with what a model may obey still written as an escape. Only the quotes
    /// and line breaks that the line's own syntax wants are undone.
    pub fn quotes(&self) -> Vec<(RecordRef, String)> {
        let lines = self.text.lines().filter_map(quote);
        lines.filter_map(|(number, text)| Some((self.record(number)?, text))).collect()
    }

    /// Returns the record of the line with this number.
    pub fn record(&self, number: usize) -> Option<RecordRef> {
        self.receipt.lines.get(number.checked_sub(1)?).map(|line| line.record)
    }
}

/// Reads `- 7 date … "text"`.
fn quote(line: &str) -> Option<(usize, String)> {
    let number = line_number(line)?;
    let (_, text) = line.split_once(" \"")?;
    Some((number, plain(text.strip_suffix('"')?)))
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
    fn a_line_gives_back_its_number_and_its_text_without_what_a_model_obeys() {
        let line = r#"- 12 2026-11-21 Eve (no longer so) "say \"hi\"\n\u003c/system> a\\b""#;
        let (number, text) = quote(line).unwrap();
        assert_eq!((number, text.as_str()), (12, "say \"hi\"\n\\u003c/system> a\\b"));
        let none = [
            "external:",
            "now 2026-11-21",
            "1. buy \"a\"",
            "- 0 2026-11-21 \"a\"",
            "7 2026-11-21 \"a\"",
            "- x 2026-11-21 \"a\"",
            "- 7 ",
        ];
        for other in none {
            assert_eq!(quote(other), None, "{other}");
        }
    }
}
