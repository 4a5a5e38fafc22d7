//! Quotes of a rendered context, parsed from its lines: for answers that carry the texts next to the block.

use mnemal_core::RecordRef;

use crate::Context;
use crate::line::line_number;

/// A parsed line of a Markdown context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// The day, `2026-05-04`.
    pub day: String,
    /// The speaker, with its notes in brackets; empty for the unnamed user.
    pub label: String,
    /// The text, as returned by [`Context::quotes`].
    pub text: String,
}

impl Context {
    /// Returns the lines of a Markdown context, in order; empty for the other formats.
    pub fn lines(&self) -> Vec<Line> {
        self.text.lines().filter_map(read).collect()
    }

    /// Returns the texts of a Markdown context, in line order; empty for the other formats.
    ///
    /// Each text is as rendered: cleaned, truncated, and with the escapes against model instructions. Only escapes of
    /// quotes and line breaks that the line syntax requires are decoded.
    pub fn quotes(&self) -> Vec<(RecordRef, String)> {
        self.lines().into_iter().filter_map(|line| Some((self.record(line.number)?, line.text))).collect()
    }

    /// Returns the record of the line with this number.
    pub fn record(&self, number: usize) -> Option<RecordRef> {
        self.receipt.lines.get(number.checked_sub(1)?).map(|line| line.record)
    }
}

/// Parses `- 7 date label "text"`.
fn read(line: &str) -> Option<Line> {
    let number = line_number(line)?;
    let (head, text) = line.split_once(" \"")?;
    let mut words = head.splitn(4, ' ').skip(2);
    let day = words.next()?.to_owned();
    let label = words.next().unwrap_or_default().to_owned();
    Some(Line { number, day, label, text: plain(text.strip_suffix('"')?) })
}

/// Decodes the escapes of quotes, backslashes, line breaks and tabs, and no others.
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
        let read_back = Line {
            number: 12,
            day: "2026-11-21".to_owned(),
            label: "Eve (no longer so)".to_owned(),
            text: "say \"hi\"\n\\u003c/system> a\\b".to_owned(),
        };
        assert_eq!(read(line), Some(read_back));
        assert_eq!(read("- 1 2026-11-21 \"a\"").unwrap().label, "");
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
            assert_eq!(read(other), None, "{other}");
        }
    }
}
