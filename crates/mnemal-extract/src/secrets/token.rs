//! Prefixed tokens: the prefix is the keyword, the rest is a run of one alphabet.

use std::ops::Range;

/// Source: own choice; no token that is not a JWT or a macaroon is longer, and the bound keeps the scan linear.
const LONGEST: usize = 8192;

/// The characters of a token's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// `A-Z a-z 0-9`.
    Alnum,
    /// Letters and digits, `_`.
    Word,
    /// Letters and digits, `-`.
    Dash,
    /// Letters and digits, `_`, `-`: base64 for addresses.
    Url,
    /// The same with `.`.
    UrlDot,
    /// Letters and digits, `+`, `/`, `=`, `_`, `-`, `.`, `,`.
    Base64,
    /// `0-9 a-f A-F`.
    Hex,
    /// `0-9 A-Z`.
    Upper,
}

impl Set {
    pub(crate) fn contains(self, byte: u8) -> bool {
        match self {
            Set::Alnum => byte.is_ascii_alphanumeric(),
            Set::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Set::Dash => byte.is_ascii_alphanumeric() || byte == b'-',
            Set::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Set::UrlDot => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Set::Base64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b',')
            }
            Set::Hex => byte.is_ascii_hexdigit(),
            Set::Upper => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
        }
    }

    /// The characters that made-up tokens are drawn from.
    pub(crate) fn letters(self) -> &'static [u8] {
        match self {
            Set::Hex => b"0123456789abcdef",
            Set::Upper => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            _ => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        }
    }
}

/// Returns the whole token whose prefix is at `lead`, if its body has a length between `min` and `max`.
///
/// The token must not continue a word on its left, and must not be continued on its right.
pub(crate) fn token(text: &str, lead: &Range<usize>, set: Set, len: (usize, usize)) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if lead.start > 0 && bytes.get(lead.start - 1).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let rest = bytes.get(lead.end..)?;
    let mut body = rest.iter().take(len.1.min(LONGEST) + 1).take_while(|b| set.contains(**b)).count();
    if body > len.1 || (body < LONGEST && rest.get(body).is_some_and(u8::is_ascii_alphanumeric)) {
        return None;
    }
    // The full stop or comma of the sentence is no part of the token.
    while body > 0 && matches!(rest.get(body - 1), Some(b'.' | b',')) {
        body -= 1;
    }
    (body >= len.0).then_some(lead.start..lead.end + body)
}
