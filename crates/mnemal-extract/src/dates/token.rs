//! Tokens of the date forms: words, digits and signs.

use std::borrow::Cow;

/// One token: a run of letters, a run of digits, one ideograph or Korean syllable, or one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Ideograph,
    Digits,
    Sign,
}

/// Cuts a text into tokens; white space only separates.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    for (start, sign) in text.char_indices() {
        if sign.is_whitespace() {
            continue;
        }
        let end = start + sign.len_utf8();
        let kind = kind(sign);
        let joins = matches!(kind, TokenKind::Word | TokenKind::Digits);
        match found.last_mut() {
            Some(last) if joins && last.end == start && last.kind == kind => last.end = end,
            _ => found.push(Token { start, end, kind }),
        }
    }
    found
}

/// A word as packs write it: in lower case, with one kind of apostrophe, hyphen and quote.
pub(super) fn folded(word: &str) -> Cow<'_, str> {
    if is_small(word) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.chars().flat_map(char::to_lowercase).map(plain).collect())
}

/// Returns whether a word is as packs write it: lower case and digits, or one of their signs.
pub(super) fn is_small(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase() && byte != b'`')
}

fn plain(sign: char) -> char {
    match sign {
        '’' | '‘' | '`' | '´' | '′' => '\'',
        '–' | '—' | '‐' | '‑' | '−' | '～' | '〜' => '-',
        '（' => '(',
        '）' => ')',
        '“' | '”' | '″' => '"',
        '：' => ':',
        '，' | '、' => ',',
        '０'..='９' => char::from_u32(sign as u32 - '０' as u32 + '0' as u32).unwrap_or(sign),
        other => other,
    }
}

fn kind(sign: char) -> TokenKind {
    if sign.is_ascii_alphabetic() {
        TokenKind::Word
    } else if sign.is_ascii_digit() || ('０'..='９').contains(&sign) {
        TokenKind::Digits
    } else if sign.is_ascii() {
        TokenKind::Sign
    } else if is_ideograph(sign) {
        TokenKind::Ideograph
    } else if sign.is_alphabetic() || ('\u{300}'..='\u{36f}').contains(&sign) {
        TokenKind::Word
    } else {
        TokenKind::Sign
    }
}

fn is_ideograph(sign: char) -> bool {
    let is_sign = matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{3007}');
    is_sign || is_hangul(sign)
}

/// Returns whether a letter is a Hangul syllable; Korean words have blanks between them and endings attached.
pub(crate) fn is_hangul(sign: char) -> bool {
    matches!(sign, '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_letters_ideographs_and_signs_are_apart() {
        let text = "3pm, 5天前 o’clock";
        let words: Vec<&str> =
            tokens(text).iter().filter_map(|token| text.get(token.start..token.end)).collect();
        assert_eq!(words, ["3", "pm", ",", "5", "天", "前", "o", "’", "clock"]);
        assert_eq!(tokens("어제 3시").len(), 4);
        assert_eq!(folded("’"), "'");
    }
}
