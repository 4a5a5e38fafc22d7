//! Whether a text still carries every specific of what it was made of.

use crate::{Language, fold, is_stop_word, sentences};

/// Fewest digits of a number that is a specific. Source: FEATURES AD-44.
const DIGITS: usize = 2;
/// Fewest letters of a name. Source: FEATURES AD-44.
const LETTERS: usize = 3;
/// Fewest capitals of an acronym. Source: FEATURES AD-44.
const CAPITALS: usize = 2;
/// Longest quotation that is one specific, in characters. Source: own choice; a longer one is covered by its words.
const QUOTED: usize = 80;

/// What opens and closes a quotation.
const QUOTES: [(char, char); 4] = [('"', '"'), ('“', '”'), ('«', '»'), ('`', '`')];

/// Returns what must not be lost of a text: numbers of two digits and more, acronyms, names, quotations, addresses, paths and
/// identifiers, and every word of a script without capitals. In the order of the text, folded, without doubles.
///
/// A capitalised word at the beginning of a sentence is a name unless it is a stop word, so a common word can be taken for one;
/// then a text that leaves it out is refused, and nothing is lost.
pub fn specifics(text: &str) -> Vec<String> {
    let mut found = quoted(text);
    for sentence in sentences(text) {
        for word in sentence.of(text).split_whitespace() {
            let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
            found.extend(parts(word).filter(|part| is_specific(part)).map(fold));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|one| !one.is_empty() && seen.insert(one.clone()));
    found
}

/// Returns the specifics of the sources that a text does not carry; empty when it may stand for all of them.
///
/// A word that another of the sources writes in small letters is ordinary language and not missed.
pub fn uncovered(text: &str, sources: &[&str]) -> Vec<String> {
    let text = fold(text);
    let mut missing = Vec::new();
    for (place, source) in sources.iter().enumerate() {
        if carries(&text, &fold(source)) {
            continue;
        }
        let others =
            || sources.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, other)| *other);
        for one in specifics(source) {
            if !carries(&text, &one)
                && !others().any(|other| is_ordinary(other, &one))
                && !missing.contains(&one)
            {
                missing.push(one);
            }
        }
    }
    missing
}

/// Whether a folded text has a folded specific, at whole words where it is one.
fn carries(text: &str, specific: &str) -> bool {
    let joins =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() && letter.is_ascii());
    text.match_indices(specific).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + specific.len()..).and_then(|text| text.chars().next());
        !joins(before) && !joins(after)
    })
}

/// Whether a text writes a word in small letters.
fn is_ordinary(text: &str, specific: &str) -> bool {
    specific.chars().all(char::is_alphabetic)
        && text
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|word| word.chars().next().is_some_and(char::is_lowercase) && fold(word) == specific)
}

/// Returns the word, and its parts where it joins several by a hyphen.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let is_joined = word.contains('-') && !word.chars().any(|letter| letter.is_ascii_digit());
    let whole = (!is_joined).then_some(word);
    whole.into_iter().chain(word.split('-').filter(move |_| is_joined))
}

fn is_specific(word: &str) -> bool {
    let count = |is: fn(char) -> bool| word.chars().filter(|letter| is(*letter)).count();
    if count(char::is_numeric) >= DIGITS || count(char::is_uppercase) >= CAPITALS {
        return true;
    }
    let inner = ['@', '/', '_', '\\', ':', '.', '#'];
    if word.contains(inner) {
        return true;
    }
    let Some(first) = word.chars().next() else { return false };
    if first.is_alphabetic() && !first.is_lowercase() && !first.is_uppercase() {
        return true;
    }
    let is_common = is_stop_word(Language::English, &fold(word));
    first.is_uppercase() && count(char::is_alphabetic) >= LETTERS && !is_common
}

fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in QUOTES {
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once(open) {
            let Some((inside, after)) = behind.split_once(close) else { break };
            if (1..=QUOTED).contains(&inside.trim().chars().count()) {
                found.push(fold(inside.trim()));
            }
            rest = after;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: DF-27
    #[test]
    fn what_a_merge_must_not_lose_is_named() {
        let rows: [(&str, &[&str], &[&str]); 17] = [
            ("The till listens on 4711.", &["The till listens on port 4711."], &[]),
            ("The till listens.", &["The till listens on port 4711."], &["4711"]),
            ("Her flight is on the 12th of June.", &["Her flight is on the 12th of May."], &["may"]),
            ("the lead repairs it", &["Anna Berg repairs it"], &["anna", "berg"]),
            ("The SDK needs an update", &["The SDK and the API need an update"], &["api"]),
            ("Joanna called", &["we saw Anna"], &["anna"]),
            (
                "Write to ada@example.org",
                &["Write to ada@example.org, never to ops@example.org"],
                &["ops@example.org"],
            ),
            ("keep src/lib.rs", &["keep src/lib.rs and src/main.rs"], &["src/main.rs"]),
            ("he says it", &["he says \"never again\""], &["never again"]),
            ("The clerk said: \"`\"𐬀 and left", &["\"`\"𐬀"], &[]),
            ("Sold as ℠AA1 again", &["℠AA1"], &[]),
            ("Version 2.14 is out", &["version 2.15 is out"], &["2.15"]),
            ("张伟 works here", &["张伟 works here", "李娜 works here"], &["李娜"]),
            ("アンナは東京に住む", &["アンナは東京に住む"], &[]),
            ("заказ 4711 готов", &["заказ 4711 для Анны готов"], &["анны"]),
            ("رقم 4711", &["رقم 4711 ليلى"], &["ليلى"]),
            ("संख्या 4711", &["संख्या 4711 अनिता"], &["अनिता"]),
        ];
        for (text, sources, missing) in rows {
            assert_eq!(uncovered(text, sources), missing, "{text} / {sources:?}");
        }
    }

    #[test]
    fn a_word_that_another_source_writes_small_is_no_name() {
        assert_eq!(uncovered("meetings take long", &["Standups take long"]), ["standups"]);
        assert!(
            uncovered("meetings take long", &["Standups take long", "the standups take long"]).is_empty()
        );
    }

    proptest::proptest! {
        #[test]
        fn a_text_covers_itself(text in "\\PC{0,60}") {
            proptest::prop_assert_eq!(uncovered(&text, &[&text]), Vec::<String>::new());
        }
    }
}
