//! Combinations of extractors: `Chain` runs all of them, `Fallback` the first that finds a claim.

use std::sync::Arc;

use mnemal_core::{ExtractedFact, Extraction, Extractor, Mention, Producer, Span, Utterance};

/// Runs every extractor and keeps all findings; where two read the same words, the first one wins.
#[derive(Clone, Debug)]
pub struct Chain(Vec<Arc<dyn Extractor>>);

impl Chain {
    /// Combines these extractors, in this order.
    pub fn new(extractors: Vec<Arc<dyn Extractor>>) -> Self {
        Self(extractors)
    }
}

impl Extractor for Chain {
    fn producer(&self) -> Producer {
        producer_of("chain", &self.0)
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let mut whole = Extraction::default();
        for extractor in &self.0 {
            let found = extractor.extract(utterance);
            let is_new =
                |mention: &Mention| !whole.mentions.iter().any(|known| overlap(known.span, mention.span));
            let mentions: Vec<Mention> = found.mentions.into_iter().filter(is_new).collect();
            let is_new = |fact: &ExtractedFact| !whole.facts.iter().any(|known| says_the_same(known, fact));
            let facts: Vec<ExtractedFact> = found.facts.into_iter().filter(is_new).collect();
            whole.mentions.extend(mentions);
            whole.facts.extend(facts);
            whole.remarks.extend(found.remarks);
        }
        whole.mentions.sort_by_key(|mention| mention.span);
        whole.facts.sort_by_key(|fact| fact.span.start);
        whole
    }
}

/// Uses the first extractor that finds a claim; if none does, returns the result of the first one.
#[derive(Clone, Debug)]
pub struct Fallback(Vec<Arc<dyn Extractor>>);

impl Fallback {
    /// Combines these extractors, in this order.
    pub fn new(extractors: Vec<Arc<dyn Extractor>>) -> Self {
        Self(extractors)
    }
}

impl Extractor for Fallback {
    fn producer(&self) -> Producer {
        producer_of("fallback", &self.0)
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let mut first = None;
        for extractor in &self.0 {
            let found = extractor.extract(utterance);
            if !found.facts.is_empty() {
                return found;
            }
            first.get_or_insert(found);
        }
        first.unwrap_or_default()
    }
}

/// Names a combination by its parts; its version is the sum of their versions, so it rises with each of them.
fn producer_of(how: &str, parts: &[Arc<dyn Extractor>]) -> Producer {
    let producers: Vec<Producer> = parts.iter().map(|part| part.producer()).collect();
    let names: Vec<String> = producers.iter().map(|part| format!("{} {}", part.id, part.version)).collect();
    Producer {
        id: format!("{how}({})", names.join(", ")),
        version: producers.iter().fold(1, |sum, part| sum.saturating_add(part.version)),
    }
}

fn overlap(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

fn says_the_same(one: &ExtractedFact, other: &ExtractedFact) -> bool {
    overlap(one.span, other.span) && one.predicate == other.predicate && one.object.key == other.object.key
}
