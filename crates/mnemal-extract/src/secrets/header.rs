//! Secrets that a protocol or a file format puts in a known place: addresses, request headers, key files.

use std::ops::Range;

use super::check;
use super::token::Set;
use super::view::BLANK;

/// Source: own choice; a key file of 4,096 bits has 3.3 kB.
const LONGEST_ARMOR: usize = 16 * 1024;

/// Source: own choice; longer user information is no password.
const LONGEST_USERINFO: usize = 512;

fn byte(text: &str, at: usize) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or(0)
}

/// Counts the bytes from `from` on for which `keep` holds, at most `most`.
fn run(text: &str, from: usize, most: usize, keep: impl Fn(u8) -> bool) -> usize {
    text.as_bytes().get(from..).unwrap_or_default().iter().take(most).take_while(|b| keep(**b)).count()
}

/// Finds the password in `scheme://user:password@host`, or an opaque user name that stands alone.
pub(crate) fn url_credentials(text: &str, sign: &Range<usize>) -> Option<Range<usize>> {
    let start = sign.end;
    let ends = |b: u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'<' | b'>' | b'`' | 1);
    let len = run(text, start, LONGEST_USERINFO, |b| !ends(b));
    let rest = text.get(start..start + len)?;
    let user = rest.get(..rest.find(['/', '?', '#', '@']).unwrap_or(rest.len()))?;
    let user = user.split_once(':').map_or(user, |(user, _)| user);
    let after = rest.get(user.len()..)?;
    if after.starts_with('@') {
        let is_token = user.len() >= 20 && check::has_digit(user) && check::opaque(user);
        return is_token.then_some(start..start + user.len());
    }
    let password = after.strip_prefix(':')?;
    // A password may hold a slash or an `@`; a port may not be taken for one.
    let close = match password
        .find(['/', '?', '#'])
        .and_then(|end| password.get(..end))
        .and_then(|host| host.rfind('@'))
    {
        Some(close) => close,
        None => password.rfind('@')?,
    };
    let password = password.get(..close)?;
    let host = rest.get(user.len() + 1 + close + 1..)?;
    let is_port = password
        .split(['/', '?', '#'])
        .next()
        .is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()) && port.len() < password.len());
    let from = start + user.len() + 1;
    let has_host =
        host.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '[' | '$' | '{' | '<' | '.'));
    (has_host && !is_port && is_password(password)).then_some(from..from + close)
}

/// Documentation placeholders are no passwords.
fn is_password(password: &str) -> bool {
    const WORDS: [&str; 6] = ["pass", "passwd", "pwd", "secret", "pw", "token"];
    let is_stand_in = password.starts_with(['$', '{', '<', '%', '[']) || password.contains("${");
    let is_masked = password.bytes().all(|b| matches!(b, b'*' | b'x' | b'X' | b'.'));
    password.len() >= 3
        && !is_stand_in
        && !is_masked
        && !check::is_placeholder(password)
        && !check::is_example_password(password)
        && !WORDS.contains(&password.to_ascii_lowercase().as_str())
}

/// Finds the token after `Bearer`, or the encoded pair after `Basic`.
pub(crate) fn authorization(text: &str, scheme: &Range<usize>) -> Option<Range<usize>> {
    if scheme.start > 0 && byte(text, scheme.start - 1).is_ascii_alphanumeric() {
        return None;
    }
    let gap = run(text, scheme.end, 4, |b| matches!(b, b' ' | b'\t' | b':' | b'+'));
    let start = scheme.end + gap;
    let len = run(text, start, 8192, |b| Set::Base64.contains(b) || b == b'~');
    let secret = text.get(start..start + len)?.trim_end_matches(['.', ',', '-']);
    let is_basic = text.get(scheme.clone())?.eq_ignore_ascii_case("basic");
    let is_secret = if is_basic {
        secret.len() >= 8 && check::basic(secret)
    } else {
        secret.len() >= 16 && check::has_digit(secret) && check::opaque(secret)
    };
    (gap > 0 && is_secret).then_some(start..start + secret.len())
}

/// Finds the pairs after `Cookie:` or `Set-Cookie:` if one of their values is opaque.
pub(crate) fn cookie(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let gap = run(text, name.end, 6, |b| matches!(b, b'"' | b'\'' | b' ' | b':' | b'\t'));
    let between = text.get(name.end..name.end + gap)?;
    let start = name.end + gap;
    let named = run(text, start, 64, |b| Set::UrlDot.contains(b));
    if !between.contains(':') || named == 0 || byte(text, start + named) != b'=' {
        return None;
    }
    let quote = between.bytes().last().filter(|b| matches!(b, b'"' | b'\''));
    let len = run(text, start, 4096, |b| {
        !matches!(b, b'\n' | b'\r' | b'"' | b'\'' | b'<' | b'`' | 1)
            && b.is_ascii()
            && (quote.is_some() || b != b'|')
    });
    let pairs = text.get(start..start + len)?.trim_end();
    let has_value = pairs.split(';').filter_map(|pair| pair.split_once('=')).any(|(_, value)| {
        let value = value.split_whitespace().next().unwrap_or_default();
        value.len() >= 10 && (check::has_digit(value) || value.len() >= 24) && check::opaque(value)
    });
    has_value.then_some(start..start + cookie_end(pairs))
}

/// Pairs end where the prose behind them begins.
fn cookie_end(pairs: &str) -> usize {
    let mut end = 0;
    for pair in pairs.split_inclusive(';') {
        let word = pair.trim_start();
        let lead = pair.len() - word.len();
        match word.split_once(' ') {
            Some((value, _)) => return end + lead + value.len(),
            None => end += pair.len(),
        }
    }
    end
}

/// Finds a private key in its armour of dashes.
pub(crate) fn pem(text: &str, begin: &Range<usize>) -> Option<Range<usize>> {
    armor(text, begin, |label| label.ends_with("PRIVATE KEY") && !label.starts_with("OPENSSH"))
}

/// Finds a private key of OpenSSH.
pub(crate) fn openssh(text: &str, begin: &Range<usize>) -> Option<Range<usize>> {
    armor(text, begin, |label| label == "OPENSSH PRIVATE KEY")
}

/// Finds a private key of `OpenPGP`.
pub(crate) fn pgp(text: &str, begin: &Range<usize>) -> Option<Range<usize>> {
    armor(text, begin, |label| label == "PGP PRIVATE KEY BLOCK")
}

/// A block without its last line reaches as far as its alphabet does.
fn armor(text: &str, begin: &Range<usize>, is_wanted: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    let label_end = begin.end + run(text, begin.end, 40, |b| b != b'-');
    let label = text.get(begin.end..label_end)?.trim();
    let head = label_end + run(text, label_end, 5, |b| b == b'-');
    if !is_wanted(label) || head != label_end + 5 {
        return None;
    }
    let rest = text.get(head..)?;
    let rest = rest.get(..rest.floor_char_boundary(LONGEST_ARMOR))?;
    let last = ["-----END ", label, "-----"].concat();
    if let Some(at) = rest.find(&last) {
        return Some(begin.start..head + at + last.len());
    }
    let body = rest.find(|c: char| !is_armor(c)).unwrap_or(rest.len());
    let body = rest.get(..body)?.trim_end().len();
    (body >= 24 && check::has_digit(rest.get(..body)?)).then_some(begin.start..head + body)
}

fn is_armor(c: char) -> bool {
    c != BLANK
        && (c.is_ascii_alphanumeric()
            || c.is_ascii_whitespace()
            || matches!(c, '+' | '/' | '=' | ':' | ',' | '-' | '"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str) -> Option<&str> {
        let at = text.find("://")?;
        url_credentials(text, &(at..at + 3)).map(|range| text.get(range).unwrap())
    }

    #[test]
    fn only_the_password_of_an_address_is_found() {
        let secret = ["s3c", "r3tPw"].concat();
        let at = |shape: &str| shape.replace("{}", &secret);
        assert_eq!(password(&at("postgres://bob:{}@db.local:5432/x")), Some(secret.as_str()));
        assert_eq!(password(&at("see ftp://bob:a/{}@host/ for it")), Some(at("a/{}").as_str()));
        assert_eq!(password(&at("redis://:{}@cache:6379")), Some(secret.as_str()));
        assert_eq!(password("https://example.com:443/@user"), None);
        assert_eq!(password("https://example.com/a:b@c"), None);
        assert_eq!(password("postgres://user:password@localhost/db"), None);
        assert_eq!(password("postgres://user:${DB_PW}@localhost/db"), None);
        assert_eq!(password("https://git@github.com/a/b"), None);
    }
}
