//! Language-independent measure of a text's information content.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::Language;
use crate::stop::{LISTED, is_stop_word};

/// Words that only continue a conversation. Source: own choice.
const MOVING_ON: [&str; 24] = [
    "ok", "okay", "yes", "yep", "no", "go", "on", "ahead", "continue", "proceed", "thanks", "thank",
    "please", "sure", "great", "good", "fine", "next", "ja", "nein", "danke", "bitte", "weiter", "merci",
];

/// Returns the number of content words, which are neither stop words nor words like "continue", in the language with the fewest
/// of them; 0 for a text that only continues a conversation.
pub fn content_words(text: &str) -> usize {
    let words: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
    let says = |language: Language, word: &str| !is_stop_word(language, word) && !MOVING_ON.contains(&word);
    let count = |language| words.iter().filter(|word| says(language, word)).count();
    LISTED.into_iter().map(count).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_only_move_on_do_not_count() {
        for (text, count) in [
            ("", 0),
            ("ok?!", 0),
            ("ok go on", 0),
            ("and what was that?", 0),
            ("und dann noch", 0),
            ("You are welcome.", 1),
            ("Deploys happen on Tuesdays", 3),
        ] {
            assert_eq!(content_words(text), count, "{text}");
        }
        assert!(content_words("なぜ失敗した") > 0);
    }
}
