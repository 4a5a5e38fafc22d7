//! Word lists of the grounding check: words that add a claim, and words that add nothing.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::{Analyzer, Language};

/// The word lists of all languages.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Negations.
    pub(super) deny: HashSet<&'static str>,
    /// Spelled-out numbers.
    pub(super) number: HashSet<&'static str>,
    /// Days and months in lower case.
    pub(super) day: HashSet<&'static str>,
    /// Words for the speaker, or as empty as a stop word.
    pub(super) neutral: HashSet<&'static str>,
    /// Words that begin another clause.
    pub(super) join: HashSet<&'static str>,
    /// The opposites of a word, under it and its stem.
    pub(super) opposite: HashMap<String, Vec<&'static str>>,
    /// Days in scripts without blanks.
    pub(super) unspaced_day: Vec<&'static str>,
    /// Negations in scripts without blanks.
    pub(super) unspaced_deny: Vec<&'static str>,
    /// Clause openers in scripts without blanks.
    pub(super) unspaced_join: Vec<&'static str>,
    /// Opposites in scripts without blanks.
    pub(super) unspaced_opposite: Vec<(&'static str, &'static str)>,
}

/// Returns the words.
pub(super) fn words() -> &'static Words {
    static WORDS: LazyLock<Words> = LazyLock::new(|| read(include_str!("words.txt")));
    &WORDS
}

fn read(text: &'static str) -> Words {
    let mut words = Words::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((kind, listed)) = line.split_once(':') else { continue };
        let listed = listed.split_ascii_whitespace();
        let pairs = |listed: std::str::SplitAsciiWhitespace<'static>| {
            listed
                .filter_map(|pair| pair.split_once('/'))
                .flat_map(|(one, other)| [(one, other), (other, one)])
        };
        match kind {
            "deny" => words.deny.extend(listed),
            "number" => words.number.extend(listed),
            "day" => words.day.extend(listed),
            "neutral" => words.neutral.extend(listed),
            "join" => words.join.extend(listed),
            "opposite" => {
                for (one, other) in pairs(listed) {
                    for key in keys(one) {
                        words.opposite.entry(key).or_default().push(other);
                    }
                }
            }
            "cjk-day" => words.unspaced_day.extend(listed),
            "cjk-deny" => words.unspaced_deny.extend(listed),
            "cjk-join" => words.unspaced_join.extend(listed),
            "cjk-opposite" => words.unspaced_opposite.extend(pairs(listed)),
            _ => {}
        }
    }
    words
}

fn keys(word: &str) -> HashSet<String> {
    let mut keys = HashSet::from([word.to_owned()]);
    Analyzer::new(Language::English).for_each_term(word, &mut |term, _| {
        keys.insert(term.to_owned());
    });
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_of_a_known_kind_and_folded() {
        let kinds = ["deny", "number", "day", "neutral", "join", "opposite"];
        for line in include_str!("words.txt").lines().filter(|line| !line.starts_with('#')) {
            let (kind, listed) = line.split_once(':').unwrap();
            assert!(kinds.contains(&kind.trim_start_matches("cjk-")), "{kind}");
            for word in listed.split_ascii_whitespace() {
                assert_eq!(crate::fold(word), word, "{kind}");
            }
        }
        let words = words();
        assert!(
            words.deny.contains("jamais") && words.day.contains("mardi") && words.number.contains("doce")
        );
        assert_eq!(words.opposite.get("reject").map(|all| all.contains(&"approve")), Some(true));
        assert!(words.unspaced_opposite.contains(&("拒绝", "批准")));
    }
}
