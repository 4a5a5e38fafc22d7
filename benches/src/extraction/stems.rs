//! Content stems, the head of an object, and the equality of two objects.

use mnemal_text::{Analyzer, Language, is_stop_word};

/// Words before which the head of an object stands.
const PREPOSITIONS: [&str; 24] = [
    "of", "in", "on", "at", "for", "from", "with", "to", "into", "about", "by", "near", "over", "under",
    "after", "before", "through", "during", "around", "between", "against", "across", "like", "as",
];

/// Returns the distinct stems of the words of content, in order.
pub fn stems(text: &str) -> Vec<String> {
    let mut stems: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '\u{2019}') {
        let word = word.trim_matches(['\'', '\u{2019}']);
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word);
        if word.is_empty() || is_stop_word(Language::English, word) {
            continue;
        }
        Analyzer::new(Language::English).for_each_term(word, &mut |term, _| {
            if !stems.iter().any(|known| known == term) {
                stems.push(term.to_owned());
            }
        });
    }
    stems
}

/// Returns the stem of the head: the last word of content before the first preposition that has one before it.
pub fn head(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let ends = (1..words.len()).filter(|at| words.get(*at).is_some_and(|word| PREPOSITIONS.contains(word)));
    let heads = ends.chain([words.len()]).find_map(|end| stems(&words.get(..end)?.join(" ")).pop());
    heads.or_else(|| stems(text).pop())
}

/// Returns whether the head and at least half of the stems of an object stand among the stems of an observation.
pub fn is_in(object: &str, observation: &[String]) -> bool {
    let own = stems(object);
    let found = own.iter().filter(|stem| observation.contains(stem)).count();
    found * 2 >= own.len() && head(object).is_some_and(|head| observation.contains(&head))
}

/// Returns whether two objects are the same: equal words, or equal heads and half of the stems in common.
pub fn is_same(one: &str, other: &str) -> bool {
    let folded = |text: &str| mnemal_text::fold(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if folded(one) == folded(other) {
        return true;
    }
    let (a, b) = (stems(one), stems(other));
    if a.is_empty() || b.is_empty() {
        return false;
    }
    let common = a.iter().filter(|stem| b.contains(stem)).count();
    let all = a.len() + b.len() - common;
    a == b || common * 2 >= all && head(one) == head(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_stands_before_the_first_preposition() {
        assert_eq!(head("small house near the harbour"), stems("house").pop());
        assert_eq!(head("repainted the kitchen"), stems("kitchen").pop());
        assert_eq!(head("into jazz"), stems("jazz").pop());
        assert_eq!(head("the"), None);
    }

    #[test]
    fn objects_are_the_same_by_head_and_half_of_their_stems() {
        assert!(is_same("passed my driving test", "passed driving test"));
        assert!(is_same("Half Marathon", "half marathon"));
        assert!(!is_same("red bike", "red car"));
        assert!(is_in("pottery workshop", &stems("She attended a pottery workshop")));
        assert!(!is_in("pottery workshop", &stems("She made pottery")));
    }
}
