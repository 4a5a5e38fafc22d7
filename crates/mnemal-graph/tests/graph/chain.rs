//! Combined extractors.

use std::sync::Arc;

use mnemal_core::{Extraction, Extractor, Producer, Utterance};
use mnemal_graph::{Chain, Fallback};

use crate::log::{Life, Script};

/// Extracts from lines that contain a word, as [`Script`] does.
#[derive(Debug)]
struct WordExtractor(&'static str);

impl Extractor for WordExtractor {
    fn producer(&self) -> Producer {
        Producer { id: self.0.into(), version: 2 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let mut found = Script.extract(utterance);
        let text = utterance.event.body().map_or("", |kept| kept.content.as_str());
        found.facts.retain(|fact| fact.span.of(text).is_some_and(|line| line.contains(self.0)));
        found
    }
}

fn read_by(extractor: impl Extractor + 'static) -> Vec<String> {
    let mut life = Life::read_by(Arc::new(extractor));
    life.say("2020-05-01", "me likes tea\nme lives_in Oslo:location\nme uses vim");
    life.on("2021-01-01")
}

fn all(words: &[&'static str]) -> Vec<Arc<dyn Extractor>> {
    words.iter().map(|word| Arc::new(WordExtractor(word)) as Arc<dyn Extractor>).collect()
}

// proves: NB-32
#[test]
fn one_extractor_more_or_less_changes_nothing_of_the_others() {
    let (tea, oslo, vim) = ("user likes tea", "user lives_in Oslo", "user uses vim");
    assert_eq!(read_by(Chain::new(all(&["tea"]))), [tea]);
    assert_eq!(read_by(Chain::new(all(&["tea", "Oslo"]))), [tea, oslo]);
    assert_eq!(read_by(Chain::new(all(&["Oslo", "tea"]))), [tea, oslo]);
    assert_eq!(read_by(Chain::new(all(&["tea", "vim"]))), [tea, vim]);
    assert_eq!(read_by(Chain::new(all(&["me", "tea"]))), [tea, oslo, vim], "what two find is one claim");
    assert_eq!(read_by(Chain::new(Vec::new())), Vec::<String>::new());
}

#[test]
fn a_fallback_reads_with_the_first_that_finds_a_claim() {
    assert_eq!(read_by(Fallback::new(all(&["coffee", "Oslo", "tea"]))), ["user lives_in Oslo"]);
    assert_eq!(read_by(Fallback::new(all(&["coffee"]))), Vec::<String>::new());
}

#[test]
fn a_combination_is_named_by_its_parts_and_newer_with_each_of_them() {
    let chain = Chain::new(all(&["tea", "Oslo"])).producer();
    assert_eq!(chain, Producer { id: "chain(tea 2, Oslo 2)".into(), version: 5 });
    assert_eq!(
        Fallback::new(all(&["tea"])).producer(),
        Producer { id: "fallback(tea 2)".into(), version: 3 }
    );
}
