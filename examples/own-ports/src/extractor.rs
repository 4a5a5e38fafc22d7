//! Extractor chain: ticket numbers, and everything that the built-in rules read.

use std::sync::Arc;

use mnemal::extract::{EntityKind, Extraction, Mention, Utterance};
use mnemal::ports::{Chain, Extractor, RuleExtractor};
use mnemal::types::{Producer, Span};

#[derive(Debug)]
struct Tickets;

/// Where two extractors read the same words, the first one wins.
pub fn chain() -> Arc<dyn Extractor> {
    Arc::new(Chain::new(vec![Arc::new(Tickets), Arc::new(RuleExtractor::new())]))
}

impl Extractor for Tickets {
    fn producer(&self) -> Producer {
        Producer { id: "own/tickets".to_owned(), version: 1 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let text = utterance.event.body().map_or("", |kept| kept.content.as_str());
        let tickets = text.match_indices("PAY-").filter_map(|(start, _)| mention(text, start));
        Extraction { mentions: tickets.collect(), ..Extraction::default() }
    }
}

fn mention(text: &str, start: usize) -> Option<Mention> {
    let number = start + "PAY-".len();
    let end = number + text.get(number..)?.bytes().take_while(u8::is_ascii_digit).count();
    let name = text.get(start..end).filter(|_| end > number)?.to_owned();
    let span = Span { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? };
    Some(Mention { name, kind: EntityKind::Concept, kind_word: None, span, is_another: false })
}
