//! Folding: different spellings of a word become the same string.

use crate::script::Script;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Returns `text` for comparison: NFKC, case folded, typographic apostrophes as `'`, accents removed.
///
/// White space and punctuation stay, because a key, a name and a line are compared by different rules.
/// Invisible format characters (soft hyphen, joiners, byte order mark, direction marks) are dropped.
/// Accents are removed where readers treat them as decoration: Latin (`é` → `e`, `ø` → `o`, `ß` → `ss`), Greek, Hebrew
/// points, Arabic vowel marks, and `ё` → `е`; `й`, kana marks and the vowels of Indic and Thai are letters and stay.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    let mut folded = String::new();
    for chunk in text.split_inclusive(' ') {
        // Nothing composes over a space, so plain chunks need not wait for accented ones.
        folded.clear();
        lower_into(chunk, &mut folded);
        strip_accents(&mut folded);
        out.push_str(&folded);
    }
    out
}

/// The first half of [`fold`]: everything but the accents, which stemmers of most languages need.
pub(crate) fn lower(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    lower_into(text, &mut out);
    out
}

/// Appends the lower-case form of `text`, accents kept, NFKC.
pub(crate) fn lower_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        let start = out.len();
        out.push_str(text);
        if let Some(added) = out.get_mut(start..) {
            added.make_ascii_lowercase();
        }
        return;
    }
    if text.chars().all(is_settled) {
        for letter in text.chars().flat_map(char::to_lowercase) {
            match letter {
                'ß' => out.push_str("ss"),
                other => out.push(other),
            }
        }
        return;
    }
    let straight = text.chars().filter(|&letter| !is_invisible(letter)).map(straighten);
    let lowered = straight.nfkc().flat_map(char::to_lowercase).filter(|&letter| !is_invisible(letter));
    for letter in lowered.nfc() {
        match letter {
            'ß' => out.push_str("ss"),
            'ς' => out.push('σ'),
            other => out.push(straighten(other)),
        }
    }
}

/// Removes accents in place; the text is already in lower case.
pub(crate) fn strip_accents(text: &mut String) {
    if text.is_ascii() || text.chars().all(is_bare) {
        return;
    }
    let mut base = Script::Latin;
    let mut stripped = String::with_capacity(text.len());
    for letter in text.nfd() {
        if is_accent(letter, base) {
            continue;
        }
        if !is_combining_mark(letter) {
            base = Script::of(letter);
        }
        match plain_letter(letter) {
            Some(plain) => stripped.push_str(plain),
            None => stripped.push(letter),
        }
    }
    text.clear();
    text.extend(stripped.nfc());
}

/// Frequent letters that NFKC leaves alone, as long as no mark follows.
fn is_settled(letter: char) -> bool {
    matches!(letter, '\0'..='_' | 'a'..='\u{7f}' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ı' | 'Ń'..='ň' | 'Ŋ'..='ž')
        && !matches!(letter, 'İ')
        || matches!(letter, 'Ѐ'..='ѯ' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー' | '一'..='\u{9fff}' | '가'..='힣')
}

/// Letters in lower case that carry nothing to remove.
fn is_bare(letter: char) -> bool {
    letter.is_ascii()
        || matches!(letter, 'а'..='я' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー' | '一'..='\u{9fff}' | '가'..='힣')
}

fn is_accent(mark: char, base: Script) -> bool {
    match u32::from(mark) {
        0x0300 | 0x0301 | 0x0308 => matches!(base, Script::Latin | Script::Greek | Script::Cyrillic),
        0x0302..=0x036F => matches!(base, Script::Latin | Script::Greek),
        0x0591..=0x05BD | 0x05BF..=0x05C7 => base == Script::Hebrew,
        0x0640 | 0x064B..=0x065F | 0x0670 => true,
        _ => false,
    }
}

/// Letters that are variants of another letter but do not decompose.
fn plain_letter(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ł' => "l",
        'ŋ' => "n",
        'ŧ' => "t",
        'þ' => "th",
        _ => return None,
    })
}

fn straighten(letter: char) -> char {
    match letter {
        '\u{2018}' | '\u{2019}' | '\u{201B}' | '\u{02BC}' | '\u{02B9}' | '\u{00B4}' | '\u{FF07}' => '\'',
        other => other,
    }
}

fn is_invisible(letter: char) -> bool {
    matches!(u32::from(letter), 0xAD | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2069 | 0xFEFF | 0xFE00..=0xFE0F)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // proves: NX-05.1
    #[test]
    fn spellings_of_one_word_fold_to_one_string() {
        for (text, expect) in [
            ("Straße", "strasse"),
            ("STRASSE", "strasse"),
            ("Café", "cafe"),
            ("Cafe\u{301}", "cafe"),
            ("ﬁne", "fine"),
            ("ＡＢＣ１２", "abc12"),
            ("don’t", "don't"),
            ("rock´n‛roll", "rock'n'roll"),
            ("Søren Łódź Æsir", "soren lodz aesir"),
            ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
            ("Ёлка йод", "елка йод"),
            ("İstanbul", "istanbul"),
            ("שָׁלוֹם", "שלום"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("مُحَمَّد", "محمد"),
            ("ｶﾞｷﾞ", "ガギ"),
            ("हिन्दी ไทย", "हिन्दी ไทย"),
            ("co\u{AD}operate", "cooperate"),
            ("한글", "한글"),
            ("`größe`", "`grosse`"),
            ("`𐬀", "`𐬀"),
        ] {
            assert_eq!(fold(text), expect, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_short_cuts_change_nothing(text in "[ -~À-ʯЀ-ԯぁ-ヿ一-丏가-걀\u{300}\u{308}\u{306}\u{1161}\u{3099}]{0,12}") {
            let mut long_way = lower(&format!("{text}\u{FEFF}"));
            prop_assert_eq!(lower(&text), long_way.clone());
            strip_accents(&mut long_way);
            prop_assert_eq!(fold(&text).replace(' ', ""), long_way.replace(' ', ""));
        }

        #[test]
        fn folding_twice_changes_nothing(text in "\\PC*") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }
    }
}
