//! Validators of secret matches: length, alphabet, checksum.

/// Accepts every match.
pub(crate) fn any(_: &str) -> bool {
    true
}

/// Requires five different characters, unlike `xxxxxxxxxxxx`.
pub(crate) fn varied(body: &str) -> bool {
    let mut seen = [false; 256];
    body.bytes()
        .filter(|b| seen.get_mut(usize::from(*b)).is_some_and(|s| !std::mem::replace(s, true)))
        .count()
        >= 5
}

/// Requires a digit or capitals inside words, unlike `your-api-key-here`.
pub(crate) fn opaque(body: &str) -> bool {
    varied(body) && (has_digit(body) || case_changes(body) >= 2) && !is_placeholder(body)
}

/// Requires at least two changes between digits and letters.
pub(crate) fn scrambled(body: &str) -> bool {
    varied(body) && digit_changes(body) >= 2
}

/// Counts the places where a digit meets a letter.
pub(crate) fn digit_changes(text: &str) -> usize {
    changes(text, |b| b.is_ascii_digit(), |b| b.is_ascii_alphabetic())
}

/// Requires a JSON header with an algorithm, and three parts.
pub(crate) fn jwt(body: &str) -> bool {
    let mut parts = body.split('.');
    let (Some(header), Some(payload), Some(_)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    // The keyword `eyJ`, base64 of `{"`, is not part of the body.
    let Some(header) = base64(&["eyJ", header].concat()) else { return false };
    let names_algorithm = header.windows(5).any(|w| w == b"\"alg\"" || w == b"\"typ\"" || w == b"\"enc\"");
    !payload.is_empty() && names_algorithm
}

/// Requires base64 of printable text with a colon, as for `user:password`.
pub(crate) fn basic(body: &str) -> bool {
    base64(body).is_some_and(|plain| {
        plain.contains(&b':') && plain.len() >= 4 && plain.iter().all(|b| (0x20..0x7F).contains(b))
    })
}

/// Requires a valid area, group and serial number.
pub(crate) fn ssn(body: &str) -> bool {
    let digits: Vec<u8> = body.bytes().filter(u8::is_ascii_digit).collect();
    let Some((area, rest)) = digits.split_at_checked(3) else { return false };
    let Some((group, serial)) = rest.split_at_checked(2) else { return false };
    serial.len() == 4
        && !(area == b"000"
            || area == b"666"
            || area.first() == Some(&b'9')
            || group == b"00"
            || serial == b"0000")
}

/// Whether a text is a typical documentation placeholder for a secret.
pub(crate) fn is_placeholder(text: &str) -> bool {
    const WORDS: [&str; 22] = [
        "your",
        "example",
        "changeme",
        "change_me",
        "change-me",
        "placeholder",
        "dummy",
        "sample",
        "xxxx",
        "replace",
        "insert",
        "redacted",
        "todo",
        "...",
        "environ",
        "getenv",
        "process.env",
        "****",
        "fake",
        "mock",
        "12345678-1234",
        "my_secret",
    ];
    let lower = text.to_ascii_lowercase();
    // A random text holds a short word now and then.
    WORDS.iter().any(|word| lower.contains(word)) && digit_changes(text) < 6
}

/// `password123`, `securePassword1`: passwords of program examples.
pub(crate) fn is_example_password(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let word = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_name = word.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-'));
    lower.len() - word.len() <= 3 && is_name && word.trim_end_matches('_').ends_with("password")
}

pub(crate) fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

/// Counts the places where a small letter meets a capital, in either order, after the first character.
pub(crate) fn case_changes(text: &str) -> usize {
    changes(text.get(1..).unwrap_or_default(), |b| b.is_ascii_uppercase(), |b| b.is_ascii_lowercase())
}

fn changes(text: &str, one: impl Fn(u8) -> bool, other: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()
        .windows(2)
        .filter(|w| matches!(w, [a, b] if (one(*a) && other(*b)) || (other(*a) && one(*b))))
        .count()
}

/// Decodes base64 of both alphabets, with or without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut out = Vec::with_capacity(text.len());
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0x3FFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from(bits >> held & 0xFF).unwrap_or(0));
        }
    }
    (text.len() % 4 != 1).then_some(out)
}

/// Returns whether a string of digits passes the Luhn check.
pub(crate) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(digit - b'0');
            if place % 2 == 0 { value } else { value * 2 - if value > 4 { 9 } else { 0 } }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Returns whether an IBAN without spaces has the remainder 1 modulo 97.
pub(crate) fn mod97(iban: &[u8]) -> bool {
    let Some((head, rest)) = iban.split_at_checked(4) else { return false };
    let remainder = rest.iter().chain(head).try_fold(0_u32, |sum, byte| match byte {
        b'0'..=b'9' => Some((sum * 10 + u32::from(byte - b'0')) % 97),
        b'A'..=b'Z' => Some((sum * 100 + u32::from(byte - b'A') + 10) % 97),
        _ => None,
    });
    remainder == Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validators_tell_secrets_from_what_documents_write_instead() {
        assert!(!varied("xxxxxxxxxxxxxxxx"));
        assert!(!opaque("your-api-key-goes-here"));
        assert!(!opaque("YOUR_KEY_GOES_IN_THIS_PLACE"));
        assert!(opaque("qZrTbLmWpKdVnHsGxFcJ"));
        assert!(luhn(b"79927398713") && !luhn(b"79927398714"));
        let account = ["GB82", "WEST", "1234", "5698", "7654"].concat();
        let ends_in = |last: &str| mod97([&account, last].concat().as_bytes());
        assert!(ends_in("32") && !ends_in("33"));
        assert!(ssn("219-09-9999") && !ssn("000-12-3456") && !ssn("900-12-3456"));
        assert!(basic("dXNlcjpwYXNz") && !basic("authentication"));
    }
}
