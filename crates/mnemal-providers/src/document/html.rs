//! HTML pages: text under its headings, without scripts, styles and hidden elements.

use mnemal_core::Metadata;

use super::Content;
use super::markup::{self, Language, Markup};
use super::outline::Outline;

/// Elements that are skipped with their content.
const SILENT: [&str; 8] = ["script", "style", "noscript", "template", "svg", "math", "iframe", "object"];
/// Elements on separate lines.
const LINES: [&str; 11] =
    ["br", "tr", "li", "dt", "dd", "option", "figcaption", "caption", "hr", "summary", "legend"];
/// Elements in separate paragraphs.
const PARAGRAPHS: [&str; 22] = [
    "p",
    "div",
    "section",
    "article",
    "aside",
    "header",
    "footer",
    "main",
    "nav",
    "ul",
    "ol",
    "dl",
    "table",
    "pre",
    "blockquote",
    "figure",
    "form",
    "details",
    "fieldset",
    "address",
    "dialog",
    "hgroup",
];

/// Reads a page.
pub(super) fn read(text: &str) -> Content {
    let mut page = Page::default();
    page.add(text);
    page.finish()
}

/// Returns the text of a page, with its headings as lines of it.
pub(super) fn text(page: &str) -> String {
    let passages = read(page).passages;
    passages.iter().map(|passage| passage.text.as_str()).collect()
}

/// A page, or several in a row, under construction.
#[derive(Debug, Default)]
pub(super) struct Page {
    outline: Outline,
    fields: Metadata,
    /// The skipped tag, and how often it is open.
    silent: Option<(String, usize)>,
    /// Words of the open title or heading.
    words: Option<(TextState, String)>,
    preformatted: usize,
    /// For each open table whether one of its cells is open: the end tag may be missing.
    cells: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextState {
    Title,
    Heading(u8),
}

impl Page {
    /// Adds a page.
    pub(super) fn add(&mut self, text: &str) {
        self.add_as(text, markup::language_of(text));
    }

    /// Adds a page whose language is known.
    pub(super) fn add_as(&mut self, text: &str, language: Language) {
        markup::read(text, language, &mut |piece| self.see(piece));
        self.cells.clear();
        self.silent = None;
        self.words = None;
        self.preformatted = 0;
        self.outline.break_paragraph();
    }

    /// Returns the content of the pages.
    pub(super) fn finish(self) -> Content {
        Content { fields: self.fields, written_at: None, passages: self.outline.finish() }
    }

    fn see(&mut self, piece: Markup) {
        if let Some((tag, open)) = &mut self.silent {
            match &piece {
                Markup::Open(name, _) if name == tag => *open += 1,
                Markup::Close(name) if name == tag => *open -= 1,
                _ => {}
            }
            if *open == 0 {
                self.silent = None;
            }
            return;
        }
        match piece {
            Markup::Open(name, _) if SILENT.contains(&name.as_str()) => self.silent = Some((name, 1)),
            Markup::Open(name, attributes) => self.open(&name, attributes.get("alt").map(String::as_str)),
            Markup::Close(name) => self.close(&name),
            Markup::Text(text) => self.text(&text),
        }
    }

    fn open(&mut self, name: &str, alt: Option<&str>) {
        match heading(name) {
            _ if name == "title" => self.words = Some((TextState::Title, String::new())),
            Some(level) => self.words = Some((TextState::Heading(level), String::new())),
            None if name == "img" => self.text(alt.unwrap_or_default()),
            None => {
                self.begin_cell(name);
                self.separate(name);
            }
        }
        if name == "pre" {
            self.preformatted += 1;
        }
    }

    fn close(&mut self, name: &str) {
        if name == "pre" {
            self.preformatted = self.preformatted.saturating_sub(1);
        }
        if name == "title" || heading(name).is_some() {
            match self.words.take() {
                Some((TextState::Title, words)) => {
                    let words = words.trim();
                    if !words.is_empty() {
                        self.fields.entry("title".to_owned()).or_insert_with(|| words.to_owned());
                    }
                }
                Some((TextState::Heading(level), words)) => self.outline.heading(level, &words),
                None => {}
            }
            return;
        }
        if matches!(name, "td" | "th" | "tr" | "tbody" | "thead" | "tfoot" | "table") {
            self.end_cell();
        }
        if name == "table" {
            self.cells.pop();
        }
        self.separate(name);
    }

    /// Ends the previous cell, whose end tag may be missing, when a tag begins a cell, a row or a part of a table.
    fn begin_cell(&mut self, name: &str) {
        match name {
            "table" => self.cells.push(false),
            "td" | "th" => {
                self.end_cell();
                match self.cells.last_mut() {
                    Some(open) => *open = true,
                    None => self.cells.push(true),
                }
            }
            "tr" | "tbody" | "thead" | "tfoot" => self.end_cell(),
            _ => {}
        }
    }

    fn end_cell(&mut self) {
        if self.cells.last_mut().is_some_and(std::mem::take) {
            self.text(" | ");
        }
    }

    fn separate(&mut self, name: &str) {
        if PARAGRAPHS.contains(&name) {
            self.outline.break_paragraph();
        } else if LINES.contains(&name) {
            self.outline.break_line();
        }
    }

    /// Adds text; white space counts as one space unless it is preformatted.
    fn text(&mut self, text: &str) {
        if self.preformatted > 0 && self.words.is_none() {
            self.outline.text(text);
            return;
        }
        let mut plain = String::with_capacity(text.len());
        let mut space = false;
        for letter in text.chars() {
            if letter.is_whitespace() {
                space = true;
                continue;
            }
            if space {
                plain.push(' ');
            }
            space = false;
            plain.push(letter);
        }
        if space {
            plain.push(' ');
        }
        match &mut self.words {
            Some((_, words)) => words.push_str(&plain),
            None => self.outline.flow(&plain),
        }
    }
}

fn heading(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_text_under_its_headings() {
        let content = read(
            "<!doctype html><html><head><title>The  plan</title><style>p{}</style></head><body><h1>One</h1>\
             <p>Hello <b>big</b>\n world &amp; all.</p><script>var a = '<p>no</p>';</script><h2>Two</h2>\
             <ul><li>a</li><li>b</li></ul><table><tr><td>x</td><td>y</td></tr></table><h1>Three</h1>end",
        );
        assert_eq!(content.fields["title"], "The plan");
        let found: Vec<(String, &str)> =
            content.passages.iter().map(|one| (one.headings.join(" > "), one.text.as_str())).collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert_eq!(
            found,
            [
                ("One", "One\n\nHello big world & all.\n\n"),
                ("One > Two", "Two\n\na\nb\n\nx | y |\n\n"),
                ("Three", "Three\n\nend\n\n"),
            ]
        );
    }

    fn text_of(page: &str) -> String {
        read(page).passages.iter().map(|one| one.text.as_str()).collect()
    }

    #[test]
    fn end_tags_that_may_be_missing_part_cells_and_summaries_stand_alone() {
        let rows = "<table><tr><td>Ada<td>Lyon<tr><td>Bo<td>Nice</table><p>behind";
        assert_eq!(text_of(rows), "Ada | Lyon |\nBo | Nice |\n\nbehind\n\n");
        let nested = "<table><tr><td>a<table><tr><td>b</table><td>c</table>";
        assert_eq!(text_of(nested).split_whitespace().collect::<Vec<_>>(), ["a", "b", "|", "|", "c", "|"]);
        assert_eq!(text_of("<details><summary>Sum</summary>Hidden</details>"), "Sum\nHidden\n\n");
        assert_eq!(text_of("<ul><li>one<li>two</ul><dl><dt>a<dd>b</dl>"), "one\ntwo\n\na\nb\n\n");
    }

    #[test]
    fn in_xhtml_a_tag_that_ends_at_once_is_closed_and_cdata_is_text() {
        let page = "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/><script src=\"x\"/>\
            <style/></head><body><iframe src=\"y\"/><svg><title/></svg><h1>One</h1><p>Nine &lt; ten.</p><![CDATA[a < b]]></body></html>";
        assert_eq!(text_of(page), "One\n\nNine < ten.\n\na < b\n\n");
        let fields =
            read("<html xmlns='http://www.w3.org/1999/xhtml'><title>Two</title><p>x</p></html>").fields;
        assert_eq!(fields["title"], "Two");
    }

    #[test]
    fn what_is_nested_a_million_times_and_what_never_ends_is_read() {
        let deep = format!("{}word{}", "<div>".repeat(1_000_000), "</div>".repeat(10));
        assert_eq!(read(&deep).passages[0].text.trim(), "word");
        assert!(read("<script>never ends <p>word").passages.is_empty());
        assert_eq!(read("<h1>never ends").passages, []);
        assert_eq!(read("<p>a < b & c &#x0; &#99999999; </p").passages.len(), 1);
    }
}
