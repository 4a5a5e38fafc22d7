//! Sentence openers of other languages that are capitalized but not names: "Está lloviendo", "Demain".

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::hash::WordHashBuilder;
use crate::language::language;
use crate::names::token::Token;

/// Tells words that begin sentences from names.
#[derive(Debug, Default)]
pub(crate) struct Openers {
    /// Whether the text is English, found out when it is asked for.
    is_english: OnceLock<bool>,
}

impl Openers {
    /// Returns whether a word with a capital is there because a sentence begins with it. A word of plain letters may be a
    /// name in an English text: "Sera called".
    pub(crate) fn has(&self, text: &str, token: &Token<'_>) -> bool {
        token.is_initial
            && token.shape.is_capital()
            && words().contains(&*token.lower)
            && (!token.lower.is_ascii() || !self.is_english.get_or_init(|| language(text) == "en"))
    }
}

/// The words, as they are written, in lower case.
fn words() -> &'static HashSet<&'static str, WordHashBuilder> {
    static WORDS: OnceLock<HashSet<&'static str, WordHashBuilder>> = OnceLock::new();
    WORDS.get_or_init(|| include_str!("../../packs/names/openers.txt").lines().collect())
}
