//! Edit distance of names: typos of one letter.

use crate::pack::packs;

/// Fewest letters of a name in which a typo can be distinguished from another name. Source: AD-21, short names differ by one letter
/// too often.
const LETTERS: usize = 6;
/// Least entropy of a name, in bits per letter. Source: AD-21, repetitive names differ by one letter too often.
const ENTROPY: f64 = 1.5;

/// Whether a name is long and varied enough that a close variant is a typo.
pub(crate) fn is_telling(name: &str) -> bool {
    let letters: Vec<char> = name.chars().collect();
    letters.len() >= LETTERS && entropy(letters) >= ENTROPY
}

/// Shannon entropy, in bits per letter.
fn entropy(mut letters: Vec<char>) -> f64 {
    letters.sort_unstable();
    let count = |run: &[char]| f64::from(u32::try_from(run.len()).unwrap_or(u32::MAX));
    let all = count(&letters);
    let runs = letters.chunk_by(|one, other| one == other).map(|run| count(run) / all);
    -runs.map(|share| share * share.log2()).sum::<f64>()
}

/// Whether two names differ by one letter that is changed, omitted, inserted, or swapped with its neighbor.
///
/// A digit is never a typo.
pub(crate) fn is_one_off(one: &str, other: &str) -> bool {
    if one.len().abs_diff(other.len()) > LONGEST_LETTER || differ_much(one, other) {
        return false;
    }
    let (one, other) = differing(one, other);
    if one.len().max(other.len()) > LONGEST_SLIP {
        return false;
    }
    let letters = |part: &str| (part.chars().next(), part.chars().nth(1), part.chars().nth(2));
    if one.chars().chain(other.chars()).any(char::is_numeric) {
        return false;
    }
    match (letters(one), letters(other)) {
        ((None, ..), (Some(_), None, _)) | ((Some(_), None, _), (None, ..) | (Some(_), None, _)) => true,
        ((Some(one), Some(two), None), (Some(first), Some(second), None)) => (one, two) == (second, first),
        _ => false,
    }
}

/// Most bytes of a letter, by which a typo can lengthen a name. Source: UTF-8.
const LONGEST_LETTER: usize = 4;
/// Most letters that a typo affects: two that are swapped.
const SLIP_LETTERS: usize = 2;
/// Bytes of two letters.
const LONGEST_SLIP: usize = SLIP_LETTERS * LONGEST_LETTER;

/// Quick check: whether the bytes between common prefix and suffix are too many for a single typo.
fn differ_much(one: &str, other: &str) -> bool {
    let same = |pair: &(u8, u8)| pair.0 == pair.1;
    let shorter = one.len().min(other.len());
    let begin = one.bytes().zip(other.bytes()).take_while(same).count();
    let end = one.bytes().rev().zip(other.bytes().rev()).take_while(same).count();
    let most = if one.is_ascii() && other.is_ascii() { SLIP_LETTERS } else { LONGEST_SLIP };
    one.len().max(other.len()) - (begin + end).min(shorter) > most
}

/// Returns two names without their common prefix and suffix.
fn differing<'n>(one: &'n str, other: &'n str) -> (&'n str, &'n str) {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let bytes = |pair: (char, char)| pair.0.len_utf8();
    let begin: usize = one.chars().zip(other.chars()).take_while(same).map(bytes).sum();
    let (one, other) = (one.get(begin..).unwrap_or_default(), other.get(begin..).unwrap_or_default());
    let end: usize = one.chars().rev().zip(other.chars().rev()).take_while(same).map(bytes).sum();
    (one.get(..one.len() - end).unwrap_or_default(), other.get(..other.len() - end).unwrap_or_default())
}

/// Whether the differing words of two names are both given names, so that neither stands for the other.
pub(crate) fn are_names(one: &str, other: &str) -> bool {
    different(one, other).any(|(one, other)| packs().is_given(one) && packs().is_given(other))
}

/// Whether the differing words of two names are long enough for a typo; "René" and "Renée" are two names.
pub(crate) fn are_long(one: &str, other: &str) -> bool {
    let letters = |word: &str| word.chars().count();
    different(one, other).all(|(one, other)| letters(one).max(letters(other)) >= LETTERS)
}

fn different<'n>(one: &'n str, other: &'n str) -> impl Iterator<Item = (&'n str, &'n str)> {
    one.split(' ').zip(other.split(' ')).filter(|(one, other)| one != other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_is_a_slip_and_two_are_not() {
        for (one, other) in
            [("larkfield", "larkfeild"), ("sevilla", "sevila"), ("dennis", "denise"), ("аа", "аб")]
        {
            assert_eq!(is_one_off(one, other), one != "dennis", "{one}");
            assert_eq!(is_one_off(other, one), one != "dennis", "{one}");
        }
        for (one, other) in
            [("anna", "anna"), ("austria", "australia"), ("ann1", "ann2"), ("ab", "ba1"), ("", "ab")]
        {
            assert!(!is_one_off(one, other), "{one}");
        }
        assert!(are_long("dennis x", "denis x") && !are_long("rene duboisset", "renee duboisset"));
        assert!(is_telling("sevilla") && !is_telling("anna") && !is_telling("aaaaaa"));
        assert!(
            are_names("christian mayhew", "christina mayhew") && !are_names("robert hale", "robert hael")
        );
    }
}
