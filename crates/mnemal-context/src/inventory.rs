//! Inventory lines of working memory: names and times, never values.

use mnemal_core::{Inventory, TokenCount, TokenCounter};

use crate::ContextSettings;
use crate::clean::clean;
use crate::escape::json_string;
use crate::message::Message;

/// The inventories as lines, each with its line break; empty if there are none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RenderedLines {
    pub(crate) text: String,
    pub(crate) tokens: TokenCount,
    pub(crate) lines: u32,
}

/// Renders one line per inventory, in order, with as many entries as fit `room` and the number of the others.
///
/// An entry that contains the nonce of the markers is omitted.
pub(crate) fn inventory_lines(
    inventories: &[Inventory],
    nonce: &str,
    settings: &ContextSettings,
    counter: &dyn TokenCounter,
    room: TokenCount,
) -> RenderedLines {
    let mut rendered = RenderedLines::default();
    for inventory in inventories {
        let items: Vec<String> = inventory
            .items
            .iter()
            .map(|item| clean(item))
            .filter(|item| !item.trim().is_empty() && !item.to_ascii_lowercase().contains(nonce))
            .map(|item| json_string(&item))
            .collect();
        let heading = Message::Inventory(inventory.scope).words(settings.format.wording());
        let heading = heading.replace("{tool}", &settings.scratch_tool);
        let left = room.minus(rendered.tokens);
        if let Some((line, tokens)) = line(&heading, &items, settings, counter, left) {
            rendered.text.push_str(&line);
            rendered.tokens = rendered.tokens + tokens;
            rendered.lines += 1;
        }
    }
    rendered
}

/// Returns the longest line that fits, if at least one entry does: with all entries, else a length estimated from that,
/// else a binary search, because an entry always costs more than the number of omitted ones.
fn line(
    heading: &str,
    items: &[String],
    settings: &ContextSettings,
    counter: &dyn TokenCounter,
    room: TokenCount,
) -> Option<(String, TokenCount)> {
    let line = |count: usize| {
        let shown = items.get(..count).unwrap_or(items).join("; ");
        let more = match items.len() - count {
            0 => String::new(),
            more => format!("; {more} {}", Message::More.words(settings.format.wording())),
        };
        let line = format!("{heading}: {shown}{more}\n");
        let tokens = counter.count(&line);
        (line, tokens)
    };
    let (mut fits, mut over) = (0, items.len());
    if over == 0 {
        return None;
    }
    let whole = line(over);
    if whole.1 <= room {
        return Some(whole);
    }
    // Entries have similar lengths: the estimate is mostly right, and the next one confirms it.
    let guess = over * room.0 as usize / whole.1.0.max(1) as usize;
    let mut guesses = [guess, guess + 1].into_iter();
    let mut best = None;
    while fits + 1 < over {
        let middle = guesses.next().unwrap_or(usize::midpoint(fits, over)).clamp(fits + 1, over - 1);
        let found = line(middle);
        if found.1 <= room {
            (best, fits) = (Some(found), middle);
        } else {
            over = middle;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Estimate;

    impl TokenCounter for Estimate {
        fn name(&self) -> &'static str {
            "estimate"
        }

        fn count(&self, text: &str) -> TokenCount {
            TokenCount(mnemal_text::estimate_tokens(text))
        }

        fn prefix(&self, text: &str, budget: TokenCount) -> std::ops::Range<usize> {
            0..mnemal_text::token_prefix(text, budget.0)
        }
    }

    #[test]
    fn as_many_entries_stand_there_as_fit() {
        let settings = ContextSettings::default();
        let items: Vec<String> = (0..14).map(|number| format!("\"{}\"", "x y ".repeat(number % 5))).collect();
        let by_hand = |count: usize| {
            let more = items.len() - count;
            let more = if more > 0 { format!("; {more} more") } else { String::new() };
            format!("kept: {}{more}\n", items[..count].join("; "))
        };
        for room in (0..200).map(TokenCount) {
            let longest = (1..=items.len()).rev().map(by_hand).find(|text| Estimate.count(text) <= room);
            let shown = line("kept", &items, &settings, &Estimate, room);
            assert_eq!(shown.map(|(text, _)| text), longest, "{room:?}");
        }
        assert_eq!(line("kept", &[], &settings, &Estimate, TokenCount(99)), None);
    }
}
