//! Tags and text, of HTML and of XML alike: a flat stream, so that nesting costs nothing however deep it is.

use std::collections::BTreeMap;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

/// One piece of markup; names are in small letters.
#[derive(Debug)]
pub(super) enum Markup {
    /// A tag begins; a tag that ends at once is followed by its [`Markup::Close`].
    Open(String, BTreeMap<String, String>),
    /// A tag ends.
    Close(String),
    /// Text, with references resolved.
    Text(String),
}

/// What a text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Scripts, styles and titles have rules of their own.
    Html,
    /// Every tag is alike.
    Xml,
}

/// Calls `see` for every piece, in order.
pub(super) fn read(text: &str, language: Language, see: &mut dyn FnMut(Markup)) {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(language == Language::Html);
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = said(&tag.name);
                let attributes = tag.attributes.iter().map(|(key, value)| (said(key), said(value)));
                see(Markup::Open(name.clone(), attributes.collect()));
                if tag.self_closing {
                    see(Markup::Close(name));
                }
            }
            Token::EndTag(tag) => see(Markup::Close(said(&tag.name))),
            Token::String(text) => see(Markup::Text(said(&text))),
            _ => {}
        }
    }
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
