//! Secrets without a keyword: card numbers, account numbers, and two tokens known by their shape alone.

use std::ops::Range;

use super::check;
use super::token::Set;

/// The byte at which a rule without a keyword looks around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// The first digit of a run.
    Digit,
    /// A colon after a digit.
    Colon,
    /// A full stop with another one seven bytes later.
    Dot,
}

/// Calls `found` for each place in `text` where a rule without a keyword has to look.
pub(crate) fn triggers(text: &str, mut found: impl FnMut(Trigger, usize)) {
    let bytes = text.as_bytes();
    let mut last = 0_u8;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' if !last.is_ascii_digit() => found(Trigger::Digit, at),
            b':' if last.is_ascii_digit() => found(Trigger::Colon, at),
            b'.' if bytes.get(at + 7) == Some(&b'.') => found(Trigger::Dot, at),
            _ => {}
        }
        last = byte;
    }
}

fn byte(text: &str, at: usize) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or(0)
}

/// The byte before `at`; 0 at the start.
fn before(text: &str, at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |at| byte(text, at))
}

/// How card numbers are grouped.
const GROUPS: [&[usize]; 4] = [&[4, 4, 4, 4, 3], &[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4]];

/// Words before a bare number that say that it is a card.
const CARD_WORDS: [&str; 10] =
    ["card", "visa", "master", "amex", "credit", "debit", "maestro", "discover", "pan", "cc"];

/// Words before a bare number that say that it is something else.
const OTHER_WORDS: [&str; 12] = [
    "order",
    "invoice",
    "tracking",
    "shipment",
    "isbn",
    "imei",
    "ticket",
    "timestamp",
    "serial",
    "reference",
    "tweet",
    "account",
];

/// Finds a card number that begins at a digit.
pub(crate) fn pan(text: &str, at: usize) -> Option<Range<usize>> {
    let left = before(text, at);
    let is_fraction = matches!(left, b'.' | b',') && before(text, at - 1).is_ascii_digit();
    if left.is_ascii_alphanumeric() || left == b'_' || is_fraction {
        return None;
    }
    let (groups, separator) = groups(text, at);
    if let [(start, len)] = groups.as_slice() {
        let range = *start..start + len;
        return (is_bare_card(text, &range) && ends(text, range.end)).then_some(range);
    }
    GROUPS.iter().find_map(|shape| {
        let taken = groups.get(..shape.len())?;
        let fits = taken.iter().map(|(_, len)| *len).eq(shape.iter().copied()) && separator != 0;
        let end = taken.last().map(|(start, len)| start + len)?;
        (fits && is_card(text.get(at..end)?) && ends(text, end)).then_some(at..end)
    })
}

/// Returns up to five runs of digits with one and the same separator between them.
fn groups(text: &str, at: usize) -> (Vec<(usize, usize)>, u8) {
    let (mut groups, mut separator, mut start) = (Vec::new(), 0, at);
    while groups.len() < 5 {
        let rest = text.as_bytes().get(start..).unwrap_or_default();
        let len = rest.iter().take(20).take_while(|b| b.is_ascii_digit()).count();
        if len == 0 {
            break;
        }
        groups.push((start, len));
        let next = byte(text, start + len);
        if !matches!(next, b' ' | b'-') || (separator != 0 && next != separator) {
            break;
        }
        // A bare number may be followed by a space and another number.
        if len >= 13 || !byte(text, start + len + 1).is_ascii_digit() {
            break;
        }
        separator = next;
        start += len + 1;
    }
    (groups, separator)
}

fn ends(text: &str, end: usize) -> bool {
    let next = byte(text, end);
    let is_fraction = next == b'.' && byte(text, end + 1).is_ascii_digit();
    !(next.is_ascii_alphanumeric() || next == b'_' || is_fraction)
}

fn is_card(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).collect();
    check::luhn(&digits) && has_issuer(&digits) && check_digits_vary(&digits)
}

fn check_digits_vary(digits: &[u8]) -> bool {
    let first = digits.first();
    digits.iter().any(|d| Some(d) != first)
}

/// A number without groups must be as long as most cards are, or have a word for a card before it.
fn is_bare_card(text: &str, range: &Range<usize>) -> bool {
    let len = range.len();
    if !(13..=19).contains(&len) || !text.get(range.clone()).is_some_and(is_card) {
        return false;
    }
    let context = words_before(text, range.start, 40);
    let is_among = |words: &[&str]| {
        context
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|w| words.iter().any(|word| w.starts_with(word)))
    };
    match len {
        15 | 16 => is_among(&CARD_WORDS) || !is_among(&OTHER_WORDS),
        _ => is_among(&CARD_WORDS),
    }
}

/// Returns the text before `at` in lower case, at most `len` bytes and not beyond the line.
fn words_before(text: &str, at: usize, len: usize) -> String {
    let bytes = text.as_bytes().get(at.saturating_sub(len)..at).unwrap_or_default();
    let line = bytes.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(line).to_ascii_lowercase()
}

/// Returns whether an issuer gives out numbers of this length with these first digits.
fn has_issuer(digits: &[u8]) -> bool {
    let lead = digits.iter().take(4).fold(0_u32, |sum, d| sum * 10 + u32::from(d - b'0'));
    match lead {
        4000..=4999 => matches!(digits.len(), 13 | 16 | 19),
        5100..=5599 | 2221..=2720 => digits.len() == 16,
        3400..=3499 | 3700..=3799 => digits.len() == 15,
        3000..=3059 | 3600..=3699 | 3800..=3999 => (14..=19).contains(&digits.len()),
        6011 | 6440..=6599 | 3528..=3589 | 6200..=6299 => (16..=19).contains(&digits.len()),
        5018 | 5020 | 5038 | 5893 | 6304 | 6759 | 6761..=6763 => true,
        _ => false,
    }
}

/// Countries with an IBAN and its length. Source: SWIFT IBAN registry.
const IBAN_LENGTHS: [(&[u8; 2], usize); 78] = [
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NL", 18),
    (b"NO", 15),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"XK", 20),
];

/// Finds an IBAN whose first check digit is at `at`.
pub(crate) fn iban(text: &str, at: usize) -> Option<Range<usize>> {
    let start = at.checked_sub(2)?;
    let country = [byte(text, start), byte(text, start + 1)];
    let (_, len) = IBAN_LENGTHS.iter().find(|(code, _)| **code == country)?;
    if before(text, start).is_ascii_alphanumeric() {
        return None;
    }
    let (mut digits, mut end) = (Vec::with_capacity(*len), start);
    while digits.len() < *len {
        let next = byte(text, end);
        let is_gap = matches!(next, b' ' | b'-') && digits.len() % 4 == 0 && !digits.is_empty();
        match next {
            b'0'..=b'9' | b'A'..=b'Z' => digits.push(next),
            _ if is_gap && !matches!(before(text, end), b' ' | b'-') => {}
            _ => return None,
        }
        end += 1;
    }
    (check::mod97(&digits) && !byte(text, end).is_ascii_alphanumeric()).then_some(start..end)
}

/// Counts the characters of a set directly before and directly after `at`, each up to 64.
fn around(text: &str, at: usize, set: Set, right: usize) -> (usize, usize) {
    let left = text.as_bytes().get(..at).unwrap_or_default();
    let rest = text.as_bytes().get(right..).unwrap_or_default();
    (
        left.iter().rev().take(64).take_while(|b| set.contains(**b)).count(),
        rest.iter().take(64).take_while(|b| set.contains(**b)).count(),
    )
}

/// Finds `digits:35 characters` around a colon.
pub(crate) fn telegram(text: &str, at: usize) -> Option<Range<usize>> {
    let digits = text.as_bytes().get(..at)?.iter().rev().take(12).take_while(|b| b.is_ascii_digit()).count();
    let (_, tail) = around(text, at, Set::Url, at + 1);
    let start = at - digits;
    let is_after_word = before(text, start).is_ascii_alphanumeric() && !text.get(..start)?.ends_with("bot");
    ((8..=10).contains(&digits) && tail == 35 && !is_after_word).then_some(start..at + 36)
}

/// Finds the three parts of a Discord token around its first full stop.
pub(crate) fn discord(text: &str, at: usize) -> Option<Range<usize>> {
    let (first, second) = around(text, at, Set::Url, at + 1);
    let (_, third) = around(text, at, Set::Url, at + 8);
    let start = at - first;
    let has_shape = (23..=28).contains(&first) && second == 6 && (27..=45).contains(&third);
    (has_shape && matches!(byte(text, start), b'M' | b'N' | b'O')).then_some(start..at + 8 + third)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_numbers_need_a_check_digit_an_issuer_and_room() {
        let number = ["4111", "1111", "1111", "1111"];
        let find = |text: &str| {
            let mut found = None;
            triggers(text, |trigger, at| {
                if trigger == Trigger::Digit {
                    found = found.take().or(pan(text, at));
                }
            });
            found
        };
        for separator in ["", " ", "-"] {
            assert!(find(&format!("my card {}, thanks", number.join(separator))).is_some(), "{separator:?}");
        }
        assert_eq!(find(&format!("0.{}", number.concat())), None);
        assert_eq!(find(&format!("order {}", number.concat())), None);
        assert_eq!(find(&format!("x{}", number.concat())), None);
        assert_eq!(find("4111 1111 1111 1112"), None);
        assert_eq!(find("1684327865123"), None);
    }
}
