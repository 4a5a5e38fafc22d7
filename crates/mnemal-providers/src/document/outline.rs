//! Passages under construction: text under its headings and on its page.

use mnemal_core::Passage;

/// Collects text, and begins a new passage at every heading and every page.
#[derive(Debug, Default)]
pub(super) struct Outline {
    done: Vec<Passage>,
    open: Passage,
    levels: Vec<u8>,
}

impl Outline {
    /// Begins a section; `level` is 1 for the outermost. Its words are part of its text, too.
    pub(super) fn heading(&mut self, level: u8, words: &str) {
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        self.close();
        while self.levels.last().is_some_and(|above| *above >= level) {
            self.levels.pop();
            self.open.headings.pop();
        }
        self.levels.push(level);
        self.open.headings.push(words.to_owned());
        self.text(words);
        self.break_paragraph();
    }

    /// Adds text as it is.
    pub(super) fn text(&mut self, text: &str) {
        self.open.text.push_str(text);
    }

    /// Adds text of a line in which white space is one space: none at its start, never two.
    pub(super) fn flow(&mut self, text: &str) {
        let begins = self.open.text.is_empty() || self.open.text.ends_with(['\n', ' ']);
        self.open.text.push_str(if begins { text.trim_start() } else { text });
    }

    /// Ends a line, unless one has just ended.
    pub(super) fn break_line(&mut self) {
        let end = self.open.text.trim_end_matches(' ').len();
        self.open.text.truncate(end);
        if !self.open.text.is_empty() && !self.open.text.ends_with('\n') {
            self.open.text.push('\n');
        }
    }

    /// Ends a paragraph, unless one has just ended.
    pub(super) fn break_paragraph(&mut self) {
        self.break_line();
        if !self.open.text.is_empty() && !self.open.text.ends_with("\n\n") {
            self.open.text.push('\n');
        }
    }

    /// Begins a page, numbered from 1.
    pub(super) fn page(&mut self, number: u32) {
        self.close();
        self.open.page = Some(number);
    }

    /// Returns the passages that hold text.
    pub(super) fn finish(mut self) -> Vec<Passage> {
        self.close();
        self.done
    }

    fn close(&mut self) {
        let text = std::mem::take(&mut self.open.text);
        if !text.trim().is_empty() {
            self.done.push(Passage { text, ..self.open.clone() });
        }
    }
}
