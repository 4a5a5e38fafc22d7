//! Grammatical cases of names: "Москве" for "Москва", "Berlins" for "Berlin", "부산에서" for "부산".

use crate::pack::{Paradigm, packs};
use crate::spelling::is_family_first;

/// Fewest letters of a stem that no ending may shorten. Source: own choice; two characters of Han or Hangul are a name.
const STEM: usize = 3;

/// Confidence that two words are one name in two cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CaseConfidence {
    /// Counts only with other evidence.
    Hardly,
    Rather,
}

/// Returns the other case forms of a word, each with the confidence of its endings.
pub(crate) fn forms(word: &str) -> Vec<(String, CaseConfidence)> {
    let least = if is_family_first(word) { 2 } else { STEM };
    let is_long = |stem: &str| stem.chars().nth(least - 1).is_some();
    let mut found = Vec::new();
    for paradigm in &packs().paradigms {
        let sure = if paradigm.is_weak { CaseConfidence::Hardly } else { CaseConfidence::Rather };
        let same_script = |ending: &String| ending.chars().next().is_none_or(|sign| is_script_of(sign, word));
        if !paradigm.endings.iter().any(|ending| !ending.is_empty() && same_script(ending)) {
            continue;
        }
        for ending in &paradigm.endings {
            let Some(stem) = word.strip_suffix(ending.as_str()).filter(|stem| is_long(stem)) else {
                continue;
            };
            let others = paradigm.endings.iter().filter(|other| *other != ending);
            found.extend(others.map(|other| (format!("{stem}{other}"), sure)));
        }
    }
    for beginning in &packs().beginnings {
        found.extend(
            word.strip_prefix(beginning.as_str())
                .filter(|rest| is_long(rest))
                .map(|rest| (rest.to_owned(), CaseConfidence::Rather)),
        );
    }
    found
}

/// Returns whether two multi-word names are one name in two cases, and with what confidence.
pub(crate) fn agree(one: &str, other: &str) -> Option<CaseConfidence> {
    let (mut words, mut others) = (one.split(' '), other.split(' '));
    let mut sure = CaseConfidence::Rather;
    loop {
        match (words.next(), others.next()) {
            (Some(one), Some(other)) if one == other => {}
            (Some(one), Some(other)) => sure = sure.min(of_one_stem(one, other)?),
            (None, None) => return Some(sure),
            _ => return None,
        }
    }
}

/// Returns whether two words share a stem and have compatible endings. Gives the same result as looking one word up
/// among the [`forms`] of the other, without building them.
fn of_one_stem(one: &str, other: &str) -> Option<CaseConfidence> {
    // After the common prefix only endings may follow, and one of them must have letters.
    let common = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let rest = one.len().max(other.len()) - common;
    let least = if is_family_first(one) { 2 } else { STEM };
    let go_together = |paradigm: &&Paradigm| {
        if paradigm.longest < rest {
            return false;
        }
        let stems = paradigm.endings.iter().filter_map(|ending| one.strip_suffix(ending.as_str()));
        stems.filter(|stem| stem.chars().nth(least - 1).is_some()).any(|stem| {
            let rest = other.strip_prefix(stem);
            rest.is_some_and(|rest| paradigm.endings.iter().any(|ending| ending == rest))
        })
    };
    let found = packs().ending_as(one).chain(packs().ending_as(other)).filter(go_together);
    found.map(|paradigm| if paradigm.is_weak { CaseConfidence::Hardly } else { CaseConfidence::Rather }).max()
}

/// Whether a character belongs to the script in which a word ends.
fn is_script_of(sign: char, word: &str) -> bool {
    let block = |sign: char| match sign {
        '가'..='힣' => 0xAC,
        sign if u32::from(sign) < 0x250 => 0,
        sign => u32::from(sign) >> 8,
    };
    word.chars().next_back().is_some_and(|last| block(last) == block(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_their_cases_agree_and_other_names_do_not() {
        for (one, other) in [
            ("москва", "москве"),
            ("анна", "анны"),
            ("николай гаврилов", "николая гаврилова"),
            ("екатерина орлова", "екатерине орловой"),
            ("георгий", "георгия"),
            ("γιωργοσ", "γιωργου"),
            ("ηρακλειο", "ηρακλειου"),
            ("부산", "부산에서"),
            ("فاطمه", "لفاطمه"),
            ("berlin", "berlins"),
        ] {
            let listed =
                |one: &str, other: &str| forms(one).contains(&(other.to_owned(), CaseConfidence::Rather));
            let found = agree(one, other) == Some(CaseConfidence::Rather)
                && agree(other, one) == Some(CaseConfidence::Rather);
            assert!(found || listed(other, one), "{one} {other}");
            assert!(one.contains(' ') || listed(other, one), "{one} {other}");
        }
        for (one, other) in [("анна", "жанна"), ("лев", "левон"), ("anna", "anton"), ("москва", "berlin")]
        {
            assert!(agree(one, other).is_none(), "{one} {other}");
        }
        assert_eq!(agree("lukasz", "lukasza"), Some(CaseConfidence::Hardly));
    }
}
