//! Semantic classes of nouns: occupations, illnesses, animals and others, as a dictionary lists them.
//!
//! Nouns in the singular, a line each, from `WordNet`; the lists cover words that are too rare for hand-written rules.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::hash::WordHashBuilder;

/// A list and the words in it, which are read at the first use.
#[derive(Debug)]
pub(crate) struct KindList {
    name: &'static str,
    text: &'static str,
    words: OnceLock<HashSet<&'static str, WordHashBuilder>>,
}

static LISTS: [KindList; 17] = [
    KindList::new("animal", include_str!("../../packs/en/kinds/animal.txt")),
    KindList::new("bodypart", include_str!("../../packs/en/kinds/bodypart.txt")),
    KindList::new("building", include_str!("../../packs/en/kinds/building.txt")),
    KindList::new("dwelling", include_str!("../../packs/en/kinds/dwelling.txt")),
    KindList::new("event", include_str!("../../packs/en/kinds/event.txt")),
    KindList::new("field", include_str!("../../packs/en/kinds/field.txt")),
    KindList::new("food", include_str!("../../packs/en/kinds/food.txt")),
    KindList::new("garment", include_str!("../../packs/en/kinds/garment.txt")),
    KindList::new("illness", include_str!("../../packs/en/kinds/illness.txt")),
    KindList::new("instrument", include_str!("../../packs/en/kinds/instrument.txt")),
    KindList::new("language", include_str!("../../packs/en/kinds/language.txt")),
    KindList::new("medicine", include_str!("../../packs/en/kinds/medicine.txt")),
    KindList::new("occupation", include_str!("../../packs/en/kinds/occupation.txt")),
    KindList::new("organization", include_str!("../../packs/en/kinds/organization.txt")),
    KindList::new("sport", include_str!("../../packs/en/kinds/sport.txt")),
    KindList::new("thing", include_str!("../../packs/en/kinds/thing.txt")),
    KindList::new("vehicle", include_str!("../../packs/en/kinds/vehicle.txt")),
];

impl KindList {
    const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text, words: OnceLock::new() }
    }

    /// Returns the list of a name.
    pub(crate) fn of(name: &str) -> Option<&'static KindList> {
        LISTS.iter().find(|list| list.name == name)
    }

    /// Returns the words of the list.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'static str> {
        self.text.lines()
    }

    /// Returns whether a word, or the word without its plural ending, is of the kind.
    pub(crate) fn has(&self, word: &str) -> bool {
        let words = self.words.get_or_init(|| self.text.lines().collect());
        let mut is_listed = false;
        singulars(word, |word| is_listed = is_listed || words.contains(word));
        is_listed
    }
}

/// Returns whether a list has both words.
pub(crate) fn are_of_one_kind(one: &str, other: &str) -> bool {
    LISTS.iter().any(|list| list.has(one) && list.has(other))
}

/// Passes on a word, and what it is without each plural ending that it may have.
pub(crate) fn singulars(word: &str, mut pass: impl FnMut(&str)) {
    pass(word);
    let Some(single) = word.strip_suffix('s') else { return };
    pass(single);
    let Some(single) = single.strip_suffix('e') else { return };
    pass(single);
    if let Some(stem) = single.strip_suffix('i') {
        pass(&format!("{stem}y"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_knows_singular_and_plural() {
        let has = |kind: &str, word: &str| KindList::of(kind).unwrap().has(word);
        assert!(has("occupation", "radiographer") && has("animal", "cows") && has("language", "dagbani"));
        assert!(has("illness", "injuries") && has("instrument", "cello"));
        assert!(!has("occupation", "cello") && !has("animal", "kitchen") && !has("thing", "sadness"));
        assert!(KindList::of("colour").is_none());
    }
}
