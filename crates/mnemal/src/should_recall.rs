//! Recall gate: whether a text is specific enough for a search, and the reset of a session's shown records.

use mnemal_core::{Result, SessionId};

use crate::areas::AdminHandle;

/// Shortest text that is worth a search, in characters. Source: own choice; it leaves out "yes", "ok" and "go".
const SHORTEST: usize = 5;

/// Whether a text has at least 5 characters, and a word that is neither a stop word nor a filler such as "continue".
///
/// For hosts that recall on every prompt: "yes", "go on" and "and then?" ask for nothing.
pub fn asks_something(text: &str) -> bool {
    text.trim().chars().count() >= SHORTEST && mnemal_text::content_words(text) > 0
}

impl AdminHandle<'_> {
    /// Clears the list of records shown to a session, after its host cleared or compacted the window.
    ///
    /// # Errors
    /// `Unsupported` without receipts, `Unavailable` when the store does not answer.
    pub async fn clear_shown(self, session: &SessionId) -> Result<()> {
        let receipts = self.memory.engine.guarded().receipts.part();
        receipts.map_err(|_| crate::engine::missing("receipts"))?.clear_seen(session).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_and_stop_words_ask_for_nothing() {
        for nothing in
            ["", "   ", "yes", "ok?!", "and what was that?", "thanks!", "und dann noch", "ok go on"]
        {
            assert!(!asks_something(nothing), "{nothing}");
        }
        for something in ["which port?", "deploy day", "Hafen?", "なぜ失敗した"] {
            assert!(asks_something(something), "{something}");
        }
    }
}
