//! Word-processor documents: DOCX.

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
    let mut notes = NoteTexts::new();
    for (kind, file) in [("footnote", "word/footnotes.xml"), ("endnote", "word/endnotes.xml")] {
        add_notes(&archive.text(file)?.unwrap_or_default(), kind, &mut notes);
    }
    let mut reader = WordReader { levels, notes, page: 1, ..WordReader::default() };
    reader.outline.page(1);
    markup::read(&body, Language::Xml, &mut |piece| reader.see(piece));
    reader.end_paragraph();
    Ok(Content { fields, written_at: None, passages: reader.outline.finish() })
}

#[derive(Debug, Default)]
struct WordReader {
    outline: Outline,
    /// Level of each style that is a heading.
    levels: HashMap<String, u8>,
    paragraph: String,
    level: Option<u8>,
    is_text: bool,
    page: u32,
    /// The page begins with the next paragraph, not inside of this one.
    turns: u32,
    /// The tag that is left out, and how often it is open.
    silent: Option<(String, usize)>,
    /// Paragraphs around the one that is open: a box of text is inside of one.
    around: Vec<(String, Option<u8>)>,
    /// Boxes of the paragraph, which follow it.
    boxes: Vec<String>,
    /// Cells that are open; their paragraphs are parts of a line.
    cells: usize,
    notes: NoteTexts,
}

/// The texts of footnotes and endnotes, by their kind and number.
type NoteTexts = HashMap<(&'static str, String), String>;

/// Elements that are skipped with their content: fallbacks, moved and deleted text, and ruby readings.
const SILENT: [&str; 4] = ["mc:fallback", "w:movefrom", "w:del", "w:rt"];

impl WordReader {
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
            Markup::Open(name, attributes) => {
                let value = attributes.get("w:val").map(String::as_str).unwrap_or_default();
                match name.as_str() {
                    "w:t" | "m:t" => self.is_text = true,
                    "w:tab" | "w:ptab" => self.paragraph.push('\t'),
                    "w:nobreakhyphen" => self.paragraph.push('\u{2011}'),
                    "w:txbxcontent" => {
                        self.around.push((std::mem::take(&mut self.paragraph), self.level.take()));
                    }
                    "w:tc" => self.cells += 1,
                    "w:footnotereference" => self.note(("footnote", attributes.get("w:id"))),
                    "w:endnotereference" => self.note(("endnote", attributes.get("w:id"))),
                    "w:br" if attributes.get("w:type").is_some_and(|kind| kind == "page") => self.turns += 1,
                    "w:lastrenderedpagebreak" => self.turns += 1,
                    "w:br" | "w:cr" => self.paragraph.push('\n'),
                    "w:pstyle" => self.level = self.level.or_else(|| self.levels.get(value).copied()),
                    "w:outlinelvl" => self.level = value.parse().ok().and_then(level),
                    _ => {}
                }
            }
            Markup::Close(name) => match name.as_str() {
                "w:t" | "m:t" => self.is_text = false,
                "w:p" if !self.around.is_empty() => self.end_line(),
                "w:txbxcontent" => self.end_box(),
                "w:p" if self.cells > 0 => self.end_line(),
                "w:p" => self.end_paragraph(),
                "w:tc" => self.end_cell(),
                "w:tr" => self.outline.break_line(),
                "w:tbl" => self.outline.break_paragraph(),
                _ => {}
            },
            Markup::Text(text) if self.is_text => self.paragraph.push_str(&text),
            Markup::Text(_) => {}
        }
    }

    /// Adds the text of a note to the paragraph that references it.
    fn note(&mut self, (kind, id): (&'static str, Option<&String>)) {
        let text = id.and_then(|id| self.notes.get(&(kind, id.clone())));
        if let Some(text) = text {
            self.paragraph.push_str(" [");
            self.paragraph.push_str(text);
            self.paragraph.push(']');
        }
    }

    /// Ends a paragraph of a cell or a box, where the next one follows in the same text.
    fn end_line(&mut self) {
        if !self.paragraph.is_empty() && !self.paragraph.ends_with('\n') {
            self.paragraph.push('\n');
        }
        self.level = None;
    }

    /// Appends a text box after its paragraph.
    fn end_box(&mut self) {
        let Some((paragraph, level)) = self.around.pop() else { return };
        let text = std::mem::replace(&mut self.paragraph, paragraph);
        self.level = level;
        if !text.trim().is_empty() {
            self.boxes.push(text.trim_end().to_owned());
        }
    }

    /// Ends a cell: its paragraphs are one part of the line of its row.
    fn end_cell(&mut self) {
        self.cells = self.cells.saturating_sub(1);
        let text = std::mem::take(&mut self.paragraph);
        let words: Vec<&str> = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
        self.outline.flow(&words.join(" "));
        self.outline.flow(" | ");
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
        for text in std::mem::take(&mut self.boxes) {
            self.outline.text(&text);
            self.outline.break_paragraph();
        }
        if self.turns > 0 {
            self.page = self.page.saturating_add(std::mem::take(&mut self.turns));
            self.outline.page(self.page);
        }
    }
}

/// Reads the texts of notes; those of the lines between text and notes have none.
fn add_notes(text: &str, kind: &'static str, notes: &mut NoteTexts) {
    let (mut id, mut words, mut is_text) = (String::new(), String::new(), false);
    let tag = format!("w:{kind}");
    markup::read(text, Language::Xml, &mut |piece| match piece {
        Markup::Open(name, attributes) if name == tag => {
            id = attributes.get("w:id").cloned().unwrap_or_default();
            words.clear();
        }
        Markup::Open(name, _) if name == "w:t" => is_text = true,
        Markup::Close(name) if name == "w:t" => is_text = false,
        Markup::Close(name) if name == tag => {
            let words = words.trim();
            if !words.is_empty() {
                notes.insert((kind, std::mem::take(&mut id)), words.to_owned());
            }
        }
        Markup::Text(text) if is_text => words.push_str(&text),
        _ => {}
    });
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

/// Reads the metadata of a document or a book: the Dublin Core fields.
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
