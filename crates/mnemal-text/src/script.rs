//! The script of a character, as far as the analysis needs it.

/// The scripts that the analysis tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// Latin with its extensions; also what an ASCII digit is taken for.
    Latin,
    /// Greek and Coptic.
    Greek,
    /// Cyrillic.
    Cyrillic,
    /// Hebrew.
    Hebrew,
    /// Arabic.
    Arabic,
    /// Tamil.
    Tamil,
    /// Han ideographs, written without spaces.
    Han,
    /// Hiragana, Katakana and Bopomofo, written without spaces.
    Kana,
    /// Hangul, cut into bigrams because its words carry endings.
    Hangul,
    /// Thai, Lao, Khmer and Myanmar, written without spaces.
    Abugida,
    /// Anything else.
    Other,
}

impl Script {
    /// Returns the script of a character; combining marks belong to the script of their block.
    pub(crate) fn of(character: char) -> Self {
        match u32::from(character) {
            0..=0x02FF | 0x1E00..=0x1EFF | 0x2C60..=0x2C7F | 0xA720..=0xA7FF | 0xFF10..=0xFF5A => Self::Latin,
            0x0370..=0x03FF | 0x1F00..=0x1FFF => Self::Greek,
            0x0400..=0x052F | 0x1C80..=0x1C8F | 0x2DE0..=0x2DFF | 0xA640..=0xA69F => Self::Cyrillic,
            0x0590..=0x05FF | 0xFB1D..=0xFB4F => Self::Hebrew,
            0x0600..=0x06FF | 0x0750..=0x077F | 0x0870..=0x08FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFC => {
                Self::Arabic
            }
            0x0B80..=0x0BFF => Self::Tamil,
            0x0E00..=0x0EFF
            | 0x1000..=0x109F
            | 0x1780..=0x17FF
            | 0x19E0..=0x19FF
            | 0xA9E0..=0xA9FF
            | 0xAA60..=0xAA7F => Self::Abugida,
            0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xFFA0..=0xFFDC => {
                Self::Hangul
            }
            0x3041..=0x309F
            | 0x30A1..=0x30FA
            | 0x30FC..=0x312F
            | 0x31A0..=0x31BF
            | 0x31F0..=0x31FF
            | 0xFF66..=0xFF9F => Self::Kana,
            0x2E80..=0x2FD5
            | 0x3005..=0x3007
            | 0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0x20000..=0x3FFFD => Self::Han,
            _ => Self::Other,
        }
    }

    /// Returns whether texts in this script are indexed by pairs of characters instead of words.
    pub(crate) fn is_paired(self) -> bool {
        matches!(self, Self::Han | Self::Kana | Self::Hangul | Self::Abugida)
    }
}

/// Whether a character is a picture that people write as a word. Source: Unicode blocks from U+1F000, Miscellaneous Symbols,
/// Dingbats.
pub(crate) fn is_emoji(character: char) -> bool {
    matches!(u32::from(character), 0x1F000..=0x1FAFF | 0x2600..=0x27BF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_know_their_script() {
        for (letters, expect) in [
            ("aZ9éßøạ", Script::Latin),
            ("αΏ", Script::Greek),
            ("яЁ", Script::Cyrillic),
            ("שׁ", Script::Hebrew),
            ("عَ", Script::Arabic),
            ("தி", Script::Tamil),
            ("漢々〇𠮷", Script::Han),
            ("ひらカナー", Script::Kana),
            ("한글ㄱ", Script::Hangul),
            ("ไทยລາວខ្មែរမြန်မာ", Script::Abugida),
            ("हि。ლ😀", Script::Other),
        ] {
            for letter in letters.chars() {
                assert_eq!(Script::of(letter), expect, "{letter}");
            }
        }
    }
}
