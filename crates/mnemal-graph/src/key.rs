//! The key of a name: what is left when spelling, titles and endings are taken off.

use mnemal_core::EntityKind;
use mnemal_text::fold;

use crate::kind;

/// Titles before a name. Source: own choice, the packs' languages.
const TITLES: [&str; 31] = [
    "mr",
    "mrs",
    "ms",
    "miss",
    "mx",
    "dr",
    "prof",
    "professor",
    "doctor",
    "sir",
    "lady",
    "lord",
    "madam",
    "herr",
    "frau",
    "senor",
    "senora",
    "senorita",
    "sr",
    "sra",
    "don",
    "dona",
    "monsieur",
    "madame",
    "mademoiselle",
    "mme",
    "mlle",
    "signor",
    "signora",
    "г-н",
    "г-жа",
];
/// Titles that stand behind a name. Source: own choice.
const TITLES_BEHIND: [&str; 10] =
    ["先生", "女士", "小姐", "さん", "様", "さま", "氏", "ちゃん", "くん", "씨"];
/// What a firm is by law. Source: own choice, the most frequent forms.
const FORMS: [&str; 24] = [
    "ltd",
    "limited",
    "inc",
    "incorporated",
    "llc",
    "plc",
    "corp",
    "corporation",
    "co",
    "company",
    "gmbh",
    "ag",
    "kg",
    "ug",
    "sa",
    "sas",
    "sarl",
    "srl",
    "sl",
    "bv",
    "nv",
    "oy",
    "ab",
    "pty",
];
/// Articles before a name. Source: own choice.
const ARTICLES: [&str; 3] = ["the", "a", "an"];

/// Returns the key of a name: folded, white space collapsed, without possessive ending, titles and legal form.
///
/// No class of characters is dropped, so that names of all scripts keep theirs; a name that is nothing but titles stays.
pub(crate) fn name_key(name: &str, kind: EntityKind) -> String {
    let folded = fold(name);
    let marks =
        |c: char| c.is_whitespace() || matches!(c, ',' | '.' | '"' | '(' | ')' | '«' | '»' | '“' | '”' | '„');
    let mut words: Vec<&str> = folded.split(marks).filter(|word| !word.is_empty()).collect();
    let last = words.pop().map(without_possessive);
    words.extend(last.filter(|word| !word.is_empty()));
    let whole = words.clone();
    let is_who = kind::class(kind) == "who" || kind == EntityKind::Concept;
    while words.len() > 1 && is_who && words.first().is_some_and(|first| TITLES.contains(first)) {
        words.remove(0);
    }
    while words.len() > 1 && !is_who && words.first().is_some_and(|first| ARTICLES.contains(first)) {
        words.remove(0);
    }
    while words.len() > 1
        && kind == EntityKind::Organization
        && words.last().is_some_and(|last| FORMS.contains(last))
    {
        words.pop();
    }
    let mut key = if words.is_empty() { whole.join(" ") } else { words.join(" ") };
    if is_who && let Some(rest) = TITLES_BEHIND.iter().find_map(|title| key.strip_suffix(title)) {
        let rest = rest.trim_end();
        if rest.chars().count() > 1 {
            key = rest.to_owned();
        }
    }
    key
}

fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix('\'')).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: DF-39
    #[test]
    fn names_of_ten_scripts_have_keys_and_spellings_share_them() {
        for (one, other) in [
            ("Ann  Lee", "ann lee's"),
            ("Dr. Müller", "MÜLLER"),
            ("Анна Ёлкина", "анна елкина"),
            ("Νίκος", "ΝΙΚΟΣ"),
            ("مُحَمَّد", "محمد"),
            ("דָּוִד", "דוד"),
            ("हिन्दी", "हिन्दी"),
            ("王芳女士", "王芳"),
            ("ｶﾞｷﾞさん", "ガギ"),
            ("김민준 씨", "김민준"),
            ("สมชาย", " สมชาย "),
            ("தமிழ்", "தமிழ்"),
        ] {
            let (one, other) = (name_key(one, EntityKind::Person), name_key(other, EntityKind::Person));
            assert!(!one.is_empty() && one == other, "{one:?} {other:?}");
        }
        assert_eq!(name_key("Larkfield Instruments Ltd.", EntityKind::Organization), "larkfield instruments");
        assert_ne!(name_key("Ann", EntityKind::Person), name_key("Joanne", EntityKind::Person));
    }
}
