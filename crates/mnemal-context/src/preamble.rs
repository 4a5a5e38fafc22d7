//! Preamble: the host's description of agent and user, as the first lines of the stable block.

use mnemal_core::{TokenCount, TokenCounter};

use crate::clean::clean;
use crate::escape::json_string;
use crate::inventory::RenderedLines;

/// Renders each text as one string per line, up to `room` tokens; the first one that does not fit is truncated.
///
/// The nonce of the markers is removed from the texts.
pub(crate) fn preamble(
    texts: &[String],
    nonce: &str,
    counter: &dyn TokenCounter,
    room: TokenCount,
) -> RenderedLines {
    let mut rendered = RenderedLines::default();
    for text in texts {
        let cleaned = clean(text).replace(nonce, "");
        let left = room.minus(rendered.tokens);
        let Some((line, tokens)) = line(cleaned.trim(), counter, left) else { break };
        rendered.text.push_str(&line);
        rendered.tokens = rendered.tokens + tokens;
        rendered.lines += 1;
    }
    rendered
}

/// Returns the longest prefix of a text that fits, as a line; `None` if nothing fits.
fn line(text: &str, counter: &dyn TokenCounter, room: TokenCount) -> Option<(String, TokenCount)> {
    let written = |text: &str| {
        let line = format!("{}\n", json_string(text));
        let tokens = counter.count(&line);
        (line, tokens)
    };
    let whole = written(text);
    if text.is_empty() || whole.1 <= room {
        return (!text.is_empty()).then_some(whole);
    }
    // Markup and escapes cost tokens too: each attempt removes a quarter of the remaining aim.
    let mut aim = room.0;
    while aim > 0 {
        let head = text.get(counter.prefix(text, TokenCount(aim))).unwrap_or_default().trim_end();
        let cut = written(&format!("{head}…"));
        if !head.is_empty() && cut.1 <= room {
            return Some(cut);
        }
        aim -= aim.div_ceil(4);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Letters;

    impl TokenCounter for Letters {
        fn name(&self) -> &'static str {
            "letters"
        }

        fn count(&self, text: &str) -> TokenCount {
            TokenCount(u32::try_from(text.chars().count()).unwrap())
        }

        fn prefix(&self, text: &str, budget: TokenCount) -> std::ops::Range<usize> {
            0..text.char_indices().nth(budget.0 as usize).map_or(text.len(), |(end, _)| end)
        }
    }

    #[test]
    fn texts_are_strings_that_hold_their_room_and_never_the_nonce() {
        let texts = ["agent: Nova\nsays \"hi\" 00ff".to_owned(), "user: Ada".to_owned()];
        let whole = preamble(&texts, "00ff", &Letters, TokenCount(200));
        assert_eq!((whole.text.lines().count(), whole.lines), (2, 2), "{}", whole.text);
        assert!(!whole.text.contains("00ff") && whole.text.contains("Ada"));
        for room in 0..60 {
            let cut = preamble(&texts, "00ff", &Letters, TokenCount(room));
            assert!(cut.tokens.0 <= room && cut.tokens == Letters.count(&cut.text), "{room}: {cut:?}");
        }
        assert!(preamble(&texts, "00ff", &Letters, TokenCount(12)).text.ends_with("…\"\n"));
    }
}
