//! Name key: a name without variations of spelling, titles and endings.

use mnemal_core::EntityKind;

use crate::kind;
use crate::pack::{Gender, packs};
use crate::spelling::{is_family_first, letters, without_umlaut};

/// Returns the key of a name: letters normalized, white space collapsed, without possessive ending, title, article and
/// legal form; "Smith, John" is `john smith`.
///
/// No class of characters is dropped, so names in every script keep their letters; a name that consists only of titles is
/// kept.
pub(crate) fn name_key(name: &str, kind: EntityKind) -> String {
    let mut words = words(name, kind);
    let is_who = is_who(kind);
    if is_who {
        let titles = leading_titles(name, &words);
        words.drain(..titles);
    } else if words.len() > 1 && words.first().is_some_and(|first| packs().articles.contains(first)) {
        words.remove(0);
    }
    if kind == EntityKind::Organization {
        while words.len() > 1 && words.last().is_some_and(|last| packs().firm_forms.contains(last)) {
            words.pop();
        }
    }
    let key = words.join(" ");
    match kind {
        _ if is_who => without_title_behind(&key).to_owned(),
        EntityKind::Location => without_behind(&key, &packs().place_behind).to_owned(),
        _ => key,
    }
}

/// Returns the gender that the title in a name indicates.
pub(crate) fn title_gender(name: &str, kind: EntityKind) -> Option<Gender> {
    let words = words(name, kind);
    let titles = if is_who(kind) { leading_titles(name, &words) } else { 0 };
    words.iter().take(titles).find_map(|title| packs().gender_of_title(title))
}

/// Whether a name can have a title; `Concept` counts too, because it stands for an unknown kind.
fn is_who(kind: EntityKind) -> bool {
    kind::class(kind) == "who" || kind == EntityKind::Concept
}

/// Returns the words of a name in spoken order, without possessive ending.
fn words(name: &str, kind: EntityKind) -> Vec<String> {
    let spelled = letters(name);
    let swapped = match spelled.split_once(',') {
        Some((family, given)) if is_who(kind) && !given.contains(',') => format!("{given} {family}"),
        _ => spelled,
    };
    let is_between = |sign: char| {
        sign.is_whitespace()
            || matches!(
                sign,
                ',' | '.' | '"' | '(' | ')' | '«' | '»' | '“' | '”' | '„' | '《' | '》' | '「' | '」'
            )
    };
    let mut words: Vec<&str> = swapped.split(is_between).filter(|word| !word.is_empty()).collect();
    let last = words.pop().map(without_possessive);
    words.extend(last.filter(|word| !word.is_empty()));
    words.into_iter().map(without_umlaut).collect()
}

/// Returns how many leading words are titles; at least one word is left.
fn leading_titles(name: &str, words: &[String]) -> usize {
    // "κ. Παππάς" has a title, "Κ. Παππάς" an initial.
    let is_abbreviated = name.trim_start().chars().next().is_some_and(|first| !first.is_uppercase());
    let is_title =
        |word: &&String| packs().is_title(word) && (word.chars().nth(1).is_some() || is_abbreviated);
    words.iter().take(words.len().saturating_sub(1)).take_while(is_title).count()
}

fn without_possessive(word: &str) -> &str {
    match word.rsplit_once('\'') {
        Some((name, "" | "s")) => name,
        Some((name, ending))
            if name.chars().nth(2).is_some() && packs().after_apostrophe.contains(ending) =>
        {
            name
        }
        _ => word,
    }
}

/// Returns a name without a trailing title; a family name of one character may remain, but no other single character.
fn without_title_behind(key: &str) -> &str {
    let found = packs().titles_behind.iter().find_map(|title| {
        let rest = key.strip_suffix(title.as_str())?;
        let is_own_word = rest.ends_with(' ') || is_family_first(title);
        let rest = rest.trim_end();
        let is_name = rest.chars().nth(1).is_some() || packs().surnames.contains(rest);
        (is_own_word && is_name).then_some(rest)
    });
    found.unwrap_or(key)
}

/// Returns a name without an ending of this list; at least two characters are left.
pub(crate) fn without_behind<'k>(key: &'k str, endings: &[String]) -> &'k str {
    let found = endings.iter().find_map(|ending| key.strip_suffix(ending.as_str()));
    found.map(str::trim_end).filter(|rest| rest.chars().nth(1).is_some()).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: DF-39
    #[test]
    fn names_of_ten_scripts_have_keys_and_spellings_share_them() {
        for (one, other) in [
            ("Ann  Lee", "ann lee's"),
            ("Dr. Müller", "MUELLER"),
            ("Morvellec, Jean-Luc", "jean-luc morvellec"),
            ("Анна Ёлкина", "госпожа анна елкина"),
            ("Νίκος", "ο ΝΙΚΟΣ".trim_start_matches("ο ")),
            ("κ. Παππάς", "Παππάς"),
            ("مُحَمَّد", "السيد محمد"),
            ("דָּוִד", "דוד"),
            ("अनिल शर्मा", "श्री अनिल शर्मा जी"),
            ("王芳女士", "王芳"),
            ("陳總", "陈总"),
            ("ｶﾞｷﾞさん", "ガギ"),
            ("김민준 씨", "김민준"),
            ("สมชาย", " สมชาย "),
            ("தமிழ்", "தமிழ்"),
        ] {
            let (one, other) = (name_key(one, EntityKind::Person), name_key(other, EntityKind::Person));
            assert!(!one.is_empty() && one == other, "{one:?} {other:?}");
        }
        for (text, kind, key) in [
            ("Larkfield Instruments Ltd.", EntityKind::Organization, "larkfield instruments"),
            ("北京市", EntityKind::Location, "北京"),
            ("İstanbul'dan", EntityKind::Location, "istanbul"),
            ("O'Halleny", EntityKind::Person, "o'halleny"),
            ("Κ. Παππάς", EntityKind::Person, "κ παππασ"),
            ("Mr.", EntityKind::Person, "mr"),
            ("王老师", EntityKind::Person, "王"),
        ] {
            assert_eq!(name_key(text, kind), key);
        }
        assert_ne!(name_key("Ann", EntityKind::Person), name_key("Joanne", EntityKind::Person));
        assert_eq!(title_gender("Frau Dr. Weiß", EntityKind::Person), Some(Gender::Female));
        assert_eq!(title_gender("Dr. Weiß", EntityKind::Person), None);
    }
}
