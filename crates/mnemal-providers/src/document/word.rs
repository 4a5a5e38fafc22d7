//! Documents of word processors: DOCX.

use std::collections::HashMap;

use mnemal_core::Metadata;

use super::Content;
use super::archive::Archive;
use super::markup::{self, Language, Markup};
use super::outline::Outline;

/// Reads a document.
///
/// # Errors
/// The reason.
pub(super) fn read(bytes: &[u8]) -> Result<Content, String> {
    let mut archive = Archive::open(bytes)?;
    let body = archive.text("word/document.xml")?.ok_or("not a DOCX file: it has no document")?;
    let levels = levels(&archive.text("word/styles.xml")?.unwrap_or_default());
    let fields = fields(&archive.text("docProps/core.xml")?.unwrap_or_default());
    let mut reader = Reader { levels, page: 1, ..Reader::default() };
    reader.outline.page(1);
    markup::read(&body, Language::Xml, &mut |piece| reader.see(piece));
    reader.end_paragraph();
    Ok(Content { fields, written_at: None, passages: reader.outline.finish() })
}

#[derive(Debug, Default)]
struct Reader {
    outline: Outline,
    /// Level of each style that is a heading.
    levels: HashMap<String, u8>,
    paragraph: String,
    level: Option<u8>,
    is_text: bool,
    page: u32,
    /// The page begins with the next paragraph, not inside of this one.
    turns: u32,
}

impl Reader {
    fn see(&mut self, piece: Markup) {
        match piece {
            Markup::Open(name, attributes) => {
                let value = attributes.get("w:val").map(String::as_str).unwrap_or_default();
                match name.as_str() {
                    "w:t" => self.is_text = true,
                    "w:tab" => self.paragraph.push('\t'),
                    "w:br" if attributes.get("w:type").is_some_and(|kind| kind == "page") => self.turns += 1,
                    "w:lastrenderedpagebreak" => self.turns += 1,
                    "w:br" | "w:cr" => self.paragraph.push('\n'),
                    "w:pstyle" => self.level = self.level.or_else(|| self.levels.get(value).copied()),
                    "w:outlinelvl" => self.level = value.parse().ok().and_then(level),
                    _ => {}
                }
            }
            Markup::Close(name) => match name.as_str() {
                "w:t" => self.is_text = false,
                "w:p" => self.end_paragraph(),
                "w:tc" => self.outline.flow("| "),
                "w:tr" => self.outline.break_line(),
                "w:tbl" => self.outline.break_paragraph(),
                _ => {}
            },
            Markup::Text(text) if self.is_text => self.paragraph.push_str(&text),
            Markup::Text(_) => {}
        }
    }

    /// A page break inside a paragraph counts from the next one on: the paragraph begins before it.
    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.paragraph);
        match self.level.take() {
            Some(level) => self.outline.heading(level, &text),
            None if text.trim().is_empty() => {}
            None => {
                self.outline.text(&text);
                self.outline.break_paragraph();
            }
        }
        if self.turns > 0 {
            self.page = self.page.saturating_add(std::mem::take(&mut self.turns));
            self.outline.page(self.page);
        }
    }
}

/// Returns the level of an outline level, which counts from 0; 9 is body text.
fn level(outline: u8) -> Option<u8> {
    (outline < 9).then_some(outline + 1)
}

/// Reads which styles are headings: by the outline level, or by the name, which is English in every language.
fn levels(styles: &str) -> HashMap<String, u8> {
    let mut levels = HashMap::new();
    let mut style = String::new();
    markup::read(styles, Language::Xml, &mut |piece| {
        let Markup::Open(name, attributes) = piece else { return };
        let value = attributes.get("w:val").map(String::as_str).unwrap_or_default();
        let found = match name.as_str() {
            "w:style" => {
                style = attributes.get("w:styleid").cloned().unwrap_or_default();
                None
            }
            "w:name" => {
                let value = value.to_lowercase();
                let number = value.strip_prefix("heading ").and_then(|number| number.parse().ok());
                number.or_else(|| (value == "title").then_some(1))
            }
            "w:outlinelvl" => value.parse().ok().and_then(level),
            _ => None,
        };
        if let Some(level) = found {
            levels.insert(style.clone(), level);
        }
    });
    levels
}

/// Reads what a document or a book says of itself: the fields of the Dublin Core.
pub(super) fn fields(text: &str) -> Metadata {
    let mut fields = Metadata::new();
    let mut open = None;
    markup::read(text, Language::Xml, &mut |piece| match piece {
        Markup::Open(name, _) => {
            open = match name.as_str() {
                "dc:title" => Some("title"),
                "dc:creator" => Some("author"),
                "dc:language" => Some("lang"),
                _ => None,
            };
        }
        Markup::Close(_) => open = None,
        Markup::Text(text) => {
            let text = text.trim();
            if let Some(name) = open.filter(|_| !text.is_empty()) {
                fields.entry(name.to_owned()).or_insert_with(|| text.to_owned());
            }
        }
    });
    fields
}
