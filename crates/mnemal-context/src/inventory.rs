//! What stands in working memory, as lines of the state: names and times, never values.

use mnemal_core::{Inventory, TokenCount, TokenCounter};

use crate::ContextSettings;
use crate::clean::clean;
use crate::escape::json_string;
use crate::message::Message;

/// The inventories as lines, each with its line break; empty when nothing stands there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) tokens: TokenCount,
    pub(crate) lines: u32,
}

/// Writes one line for each inventory, in order, with as many entries as fit into `room` and the number of the others.
///
/// An entry that holds the nonce of the markers is left out.
pub(crate) fn told(
    inventories: &[Inventory],
    nonce: &str,
    settings: &ContextSettings,
    counter: &dyn TokenCounter,
    room: TokenCount,
) -> Told {
    let mut told = Told::default();
    for inventory in inventories {
        let items: Vec<String> = inventory
            .items
            .iter()
            .map(|item| clean(item))
            .filter(|item| !item.trim().is_empty() && !item.to_ascii_lowercase().contains(nonce))
            .map(|item| json_string(&item))
            .collect();
        let heading = Message::Inventory(inventory.shelf).words(settings.format.wording());
        let heading = heading.replace("{tool}", &settings.scratch_tool);
        let left = room.minus(told.tokens);
        if let Some((line, tokens)) = line(&heading, &items, settings, counter, left) {
            told.text.push_str(&line);
            told.tokens = told.tokens + tokens;
            told.lines += 1;
        }
    }
    told
}

/// Returns the longest line that fits, if one entry does.
fn line(
    heading: &str,
    items: &[String],
    settings: &ContextSettings,
    counter: &dyn TokenCounter,
    room: TokenCount,
) -> Option<(String, TokenCount)> {
    (1..=items.len()).rev().find_map(|count| {
        let shown = items.get(..count)?.join("; ");
        let more = match items.len() - count {
            0 => String::new(),
            more => format!("; {more} {}", Message::More.words(settings.format.wording())),
        };
        let line = format!("{heading}: {shown}{more}\n");
        let tokens = counter.count(&line);
        (tokens <= room).then_some((line, tokens))
    })
}
