//! Spelling normalization: letters, and separators between them.

use mnemal_text::fold;

use crate::pack::{packs, simplified};

/// Devanagari nasals without a vowel before another consonant, which can also be written as a dot above.
const NASALS: [char; 5] = ['ङ', 'ञ', 'ण', 'न', 'म'];
/// The sign that removes the vowel from a Devanagari letter.
const VIRAMA: char = '\u{94D}';

/// Returns a folded text with one spelling per letter: Arabic without hamza on its seat, Indic nasals as a dot, simplified
/// Han characters. Letters of one script never become letters of another.
pub(crate) fn letters(text: &str) -> String {
    let folded = fold(text);
    if folded.is_ascii() {
        return folded;
    }
    let mut out = String::with_capacity(folded.len());
    let mut rest = folded.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            'أ' | 'إ' | 'آ' | 'ٱ' => out.push('ا'),
            'ة' => out.push('ه'),
            'ى' | 'ی' => out.push('ي'),
            'ک' => out.push('ك'),
            '\u{901}' => out.push('\u{902}'),
            '\u{93C}' | '\u{200C}' | '\u{200D}' | '\u{640}' => {}
            nasal if NASALS.contains(&nasal) && rest.peek() == Some(&VIRAMA) => {
                rest.next();
                match rest.peek() {
                    // A doubled nasal is not written as a dot.
                    Some(next) if !NASALS.contains(next) && *next != 'य' => out.push('\u{902}'),
                    _ => out.extend([nasal, VIRAMA]),
                }
            }
            other => out.push(simplified(other)),
        }
    }
    out
}

/// Returns a word with ü written as u, whether it was `ü` or `ue`. Known given names are unchanged, so "Manuel" stays
/// "Manuel".
pub(crate) fn without_umlaut(word: &str) -> String {
    let is_spelled_out = |pair: &[u8]| matches!(pair, [b'a' | b'o' | b'u', b'e']);
    if !word.as_bytes().windows(2).any(is_spelled_out) || packs().is_given(word) {
        return word.to_owned();
    }
    word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
}

/// Returns a name without separators between its letters: spaces, hyphens, apostrophes, quotes. A name of separators only
/// is unchanged.
pub(crate) fn squeeze(name: &str) -> String {
    let out: String = name.chars().filter(|sign| sign.is_alphanumeric() || is_mark(*sign)).collect();
    if out.is_empty() { name.to_owned() } else { out }
}

/// Vowel signs and similar marks, which belong to the preceding letter.
fn is_mark(sign: char) -> bool {
    matches!(u32::from(sign), 0x0300..=0x036F | 0x0591..=0x05C7 | 0x064B..=0x065F | 0x0900..=0x0DFF | 0x0E31..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF)
}

/// Whether a word is written in Han characters or kana, or in Hangul: without spaces, the family name first.
pub(crate) fn is_family_first(word: &str) -> bool {
    let is_east_asian =
        |sign: char| matches!(sign, '一'..='\u{9FFF}' | '㐀'..='䶿' | '々' | 'ぁ'..='ヿ' | '가'..='힣');
    !word.is_empty() && word.chars().all(is_east_asian)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_one_and_other_letters_are_others() {
        for (one, other) in [
            ("أحمد", "احمد"),
            ("القاهرة", "القاهره"),
            ("منى", "مني"),
            ("मुंबई", "मुम्बई"),
            ("हिन्दी", "हिंदी"),
            ("張偉", "张伟"),
            ("ANNA", "anna"),
        ] {
            assert_eq!(letters(one), letters(other));
        }
        for (one, other) in [("अन्ना", "अंना"), ("Apple", "Аpple"), ("王", "玉")] {
            assert_ne!(letters(one), letters(other));
        }
        assert_eq!((without_umlaut("juergen"), without_umlaut("manuel")), ("jurgen".into(), "manuel".into()));
        assert_eq!((squeeze("jean-luc o'x"), squeeze("--")), ("jeanlucox".into(), "--".into()));
    }
}
