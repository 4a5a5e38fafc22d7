//! The lines and paragraphs of a text.

use std::ops::Range;

/// Signs of a separator line.
const RULES: [char; 7] = ['-', '*', '_', '=', '—', '–', '~'];
/// Signs of such a line. Source: Markdown.
const LEAST_RULE: usize = 3;

/// One line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    /// First byte in the text.
    pub(super) start: usize,
    /// Behind its last byte, with its break.
    pub(super) end: usize,
    /// First byte that is not white space.
    pub(super) at: usize,
    /// The line without white space around it.
    pub(super) body: &'t str,
}

impl Line<'_> {
    /// Returns whether it is a separator line.
    pub(super) fn is_rule(&self) -> bool {
        self.body.chars().count() >= LEAST_RULE && self.body.chars().all(|sign| RULES.contains(&sign))
    }

    /// Returns whether it is an item of a list.
    pub(super) fn is_item(&self) -> bool {
        let is_numbered = || {
            self.body.split_once(['.', ')', '、']).is_some_and(|(number, _)| {
                (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        self.body.starts_with(['-', '*', '•', '–', '·']) && !self.is_rule() || is_numbered()
    }

    /// Returns whether it is empty.
    pub(super) fn is_blank(&self) -> bool {
        self.body.is_empty()
    }
}

/// Returns the lines of a text.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let mut found = Vec::new();
    for raw in text.split_inclusive('\n') {
        let body = raw.trim();
        let at = start + raw.len() - raw.trim_start().len();
        found.push(Line { start, end: start + raw.len(), at, body });
        start += raw.len();
    }
    found
}

/// Returns the paragraphs as ranges of lines, separated by blank lines and separator lines.
pub(super) fn paragraphs(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut open: Option<usize> = None;
    for (place, line) in lines.iter().enumerate() {
        if line.is_blank() || line.is_rule() {
            found.extend(open.take().map(|first| first..place));
        } else if open.is_none() {
            open = Some(place);
        }
    }
    found.extend(open.map(|first| first..lines.len()));
    found
}
