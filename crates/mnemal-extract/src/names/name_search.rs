//! Working state of the name search over one text.

use std::ops::Range;

use crate::names::token::Token;
use crate::names::word_flags::WordFlags;

/// A text on the way to its names.
#[derive(Debug)]
pub(crate) struct NameSearch<'t> {
    pub(crate) text: &'t str,
    pub(crate) tokens: Vec<Token<'t>>,
    /// The classes of each word, from lists and language.
    pub(crate) known: Vec<WordFlags>,
    /// Words with which listed names of several words begin.
    pub(crate) begins: Vec<bool>,
    /// Words that belong to something else: identifiers, known names, code.
    pub(crate) is_taken: Vec<bool>,
    /// Words of sentences with ordinary capitalization.
    pub(crate) has_case: Vec<Capitalization>,
}

/// How a sentence uses capitals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capitalization {
    /// Names are capitalized, and little else.
    Usual,
    /// There is no capital.
    None,
    /// Whether capitals are no evidence: all caps, or not English.
    Useless,
}

impl NameSearch<'_> {
    pub(crate) fn token(&self, at: usize) -> Option<&Token<'_>> {
        self.tokens.get(at)
    }

    /// Returns the word before a place.
    pub(crate) fn before(&self, at: usize) -> Option<&Token<'_>> {
        at.checked_sub(1).and_then(|before| self.token(before))
    }

    pub(crate) fn known(&self, at: usize) -> WordFlags {
        self.known.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn is_free(&self, at: usize) -> bool {
        self.is_taken.get(at).is_some_and(|taken| !taken)
    }

    pub(crate) fn case(&self, at: usize) -> Capitalization {
        self.has_case.get(at).copied().unwrap_or(Capitalization::Useless)
    }

    pub(crate) fn is_capital(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.shape.is_capital())
    }

    pub(crate) fn ends_with_head(&self, words: &Range<usize>) -> bool {
        let heads = WordFlags::ORGANIZATION_HEAD.with(WordFlags::EVENT_HEAD).with(WordFlags::LOCATION_HEAD);
        words.len() > 1 && words.end.checked_sub(1).is_some_and(|last| self.known(last).has(heads))
    }
}
