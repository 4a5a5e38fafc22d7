//! Tag tokenizer for HTML and XML: a flat stream, so that deep nesting costs nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

/// One piece of markup; names are in lower case.
#[derive(Debug)]
pub(super) enum Markup {
    /// A start tag; a self-closing one is followed by its [`Markup::Close`].
    Open(String, BTreeMap<String, String>),
    /// An end tag.
    Close(String),
    /// Text, with references resolved.
    Text(String),
}

/// The markup language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Scripts, styles and titles have rules of their own.
    Html,
    /// Every tag is alike.
    Xml,
}

/// How many bytes are inspected to distinguish HTML from XHTML. Source: own choice, a declaration and the first tag.
const BEGINNING: usize = 1_024;

/// Returns the markup language of a page: XHTML, in which self-closing tags count, declares itself at the start.
pub(super) fn language_of(page: &str) -> Language {
    let start = page.get(..page.floor_char_boundary(BEGINNING)).unwrap_or_default();
    let start = start.trim_start_matches('\u{FEFF}').trim_start();
    let says_so = start.contains("//DTD XHTML ") || start.contains("http://www.w3.org/1999/xhtml");
    if start.starts_with("<?xml") || says_so { Language::Xml } else { Language::Html }
}

/// Calls `see` for every piece, in order.
pub(super) fn read(text: &str, language: Language, see: &mut dyn FnMut(Markup)) {
    let plain = if language == Language::Xml { without_sections(text) } else { Cow::Borrowed(text) };
    let text = plain.as_ref();
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(language == Language::Html);
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = markup_text(&tag.name);
                let attributes =
                    tag.attributes.iter().map(|(key, value)| (markup_text(key), markup_text(value)));
                see(Markup::Open(name.clone(), attributes.collect()));
                if tag.self_closing {
                    see(Markup::Close(name));
                }
            }
            Token::EndTag(tag) => see(Markup::Close(markup_text(&tag.name))),
            Token::String(text) => see(Markup::Text(markup_text(&text))),
            _ => {}
        }
    }
}

/// Writes the text of CDATA sections as text.
fn without_sections(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "<![CDATA[";
    if !text.contains(OPEN) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPEN) {
        let (section, behind) = behind.split_once("]]>").unwrap_or((behind, ""));
        plain.push_str(before);
        plain.push_str(&section.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
        rest = behind;
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

fn markup_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
