//! Words of a message that repeat the previous message.

use std::borrow::Cow;
use std::collections::HashSet;

use mnemal_text::{Language, is_stop_word};

use super::token::{NUMBER, Token};
use crate::word::{Word, words};

/// The words with content of the assistant's message.
#[derive(Debug, Default)]
pub(crate) struct Echo<'t> {
    said: HashSet<Cow<'t, str>>,
    has_number: bool,
    has_name: bool,
}

impl<'t> Echo<'t> {
    /// Reads the message of the assistant.
    pub(crate) fn of(assistant: Option<&'t str>, language: Language) -> Self {
        let text = assistant.unwrap_or_default();
        let words = words(text);
        let has_number = words.iter().any(|word| word.lower.starts_with(|c: char| c.is_numeric()));
        let has_name = words.windows(2).any(|pair| {
            let [before, word] = pair else { return false };
            let between = text.get(before.span.end..word.span.start).unwrap_or_default();
            let first = text.get(word.span.clone()).and_then(|word| word.chars().next());
            first.is_some_and(char::is_uppercase)
                && between.chars().all(char::is_whitespace)
                && word.lower.chars().nth(1).is_some()
        });
        let said = words.into_iter().filter(|word| !is_stop_word(language, &word.lower));
        let stem = |word: Word<'t>| match word.lower {
            Cow::Borrowed(word) => Cow::Borrowed(stem(word)),
            Cow::Owned(word) => Cow::Owned(stem(&word).to_owned()),
        };
        Self { said: said.map(stem).collect(), has_number, has_name }
    }

    /// Marks the words of a message that the assistant's message has too.
    pub(crate) fn mark(&self, user: &str, tokens: &mut [Token]) {
        for token in tokens.iter_mut() {
            let word = small(user.get(token.span.clone()).unwrap_or_default());
            token.is_said = self.said.contains(stem(&word));
            let is_kin = token.id == NUMBER && self.has_number || token.is_capital && self.has_name;
            token.is_rival =
                is_kin && !token.is_said && word.chars().nth(usize::from(token.is_capital)).is_some();
        }
    }
}

/// Returns a word in lower case.
pub(crate) fn small(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.to_lowercase())
}

/// Takes possessive and plural endings off, so that "tabs" takes up "tab"; equal words stay equal in every language.
fn stem(word: &str) -> &str {
    let mut word = word;
    for ending in ["'s", "’s"] {
        while let Some(rest) = word.strip_suffix(ending) {
            word = rest;
        }
    }
    if word.len() > 3 { word.strip_suffix('s').unwrap_or(word) } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::lexicon::Lexicon;

    #[test]
    fn words_with_content_are_taken_up_and_others_are_not() {
        let echo = Echo::of(Some("I used the tabs for Anna"), Language::English);
        let text = "I said the tab, not Anna's";
        let mut tokens = Lexicon::default().tokens(text, 0..text.len());
        echo.mark(text, &mut tokens);
        let said: Vec<_> = tokens
            .iter()
            .filter(|token| token.is_said)
            .map(|token| text.get(token.span.clone()).unwrap())
            .collect();
        assert_eq!(said, ["tab", "Anna's"]);
    }
}
