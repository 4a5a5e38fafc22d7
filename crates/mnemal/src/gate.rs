//! Whether a text says enough to recall by, and what a session counts as shown.

use mnemal_core::{Result, SessionId};
use mnemal_text::{Language, is_stop_word};

use crate::memory::Memory;

/// Shortest text that is worth a search, in characters. Source: SURFACES 7.3.
const SHORTEST: usize = 5;

/// Words that move a conversation on and ask for nothing. Source: own choice.
const MOVING_ON: [&str; 24] = [
    "ok", "okay", "yes", "yep", "no", "go", "on", "ahead", "continue", "proceed", "thanks", "thank",
    "please", "sure", "great", "good", "fine", "next", "ja", "nein", "danke", "bitte", "weiter", "merci",
];
/// The languages that have stop words.
const LISTED: [Language; 8] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Portuguese,
    Language::Italian,
    Language::Dutch,
    Language::Russian,
];

/// Whether a text has at least 5 characters, and a word that is neither a stop word nor one like "continue".
///
/// For hosts that recall on every prompt: "yes", "go on" and "and then?" ask for nothing.
pub fn asks_something(text: &str) -> bool {
    let text = text.trim();
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let says_nothing = |language: &Language| {
        words.iter().all(|word| is_stop_word(*language, word) || MOVING_ON.contains(&word.as_str()))
    };
    text.chars().count() >= SHORTEST && !LISTED.iter().any(says_nothing)
}

impl Memory {
    /// Forgets that a session was shown anything, after its host cleared or compacted the window.
    ///
    /// # Errors
    /// `Unsupported` without receipts, `Unavailable` when the store does not answer.
    pub async fn clear_shown(&self, session: &SessionId) -> Result<()> {
        let receipts = self.engine.guarded().receipts.part();
        receipts.map_err(|_| crate::engine::missing("receipts"))?.clear_seen(session).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_and_stop_words_ask_for_nothing() {
        for nothing in
            ["", "   ", "yes", "ok?!", "and then the other", "what was that?", "und dann noch", "ok go on"]
        {
            assert!(!asks_something(nothing), "{nothing}");
        }
        for something in ["which port?", "deploy day", "Hafen?", "なぜ失敗した"] {
            assert!(asks_something(something), "{something}");
        }
    }
}
