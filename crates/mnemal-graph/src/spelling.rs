//! Spellings of one name that are never two: of letters, and of what stands between them.

use mnemal_text::fold;

use crate::pack::{packs, simplified};

/// Nasals of Devanagari that stand without a vowel before another consonant: written as a dot above as well.
const NASALS: [char; 5] = ['ङ', 'ञ', 'ण', 'न', 'म'];
/// The sign that takes its vowel from a letter of Devanagari.
const VIRAMA: char = '\u{94D}';

/// Returns a text folded, each letter as one of its spellings: Arabic without hamza on its seat, Indic nasals as a dot, simple
/// Han signs. Letters of one script never become letters of another.
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
                    // A doubled nasal is no dot.
                    Some(next) if !NASALS.contains(next) && *next != 'य' => out.push('\u{902}'),
                    _ => out.extend([nasal, VIRAMA]),
                }
            }
            other => out.push(simplified(other)),
        }
    }
    out
}

/// Returns a word in which ü is written as u, whether it was `ü` or `ue`. Given names that are known are left alone, so that
/// "Manuel" stays what it is.
pub(crate) fn without_umlaut(word: &str) -> String {
    let is_spelled_out = |pair: &[u8]| matches!(pair, [b'a' | b'o' | b'u', b'e']);
    if !word.as_bytes().windows(2).any(is_spelled_out) || packs().is_given(word) {
        return word.to_owned();
    }
    word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
}

/// Returns a name without what stands between its letters: spaces, hyphens, apostrophes, quotes. A name that has nothing else
/// stays.
pub(crate) fn squeezed(name: &str) -> String {
    let out: String = name.chars().filter(|sign| sign.is_alphanumeric() || is_mark(*sign)).collect();
    if out.is_empty() { name.to_owned() } else { out }
}

/// Vowel signs and the like, which belong to the letter before.
fn is_mark(sign: char) -> bool {
    matches!(u32::from(sign), 0x0300..=0x036F | 0x0591..=0x05C7 | 0x064B..=0x065F | 0x0900..=0x0DFF | 0x0E31..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF)
}

/// Whether a word is written in Han signs or kana, or in Hangul: without spaces, the family before the given name.
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
        assert_eq!((squeezed("jean-luc o'x"), squeezed("--")), ("jeanlucox".into(), "--".into()));
    }
}
