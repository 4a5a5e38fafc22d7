//! A name for a secret, a separator, and a value that is no word: `DB_PASSWORD=…`, "my password is …".
//!
//! This rule has no token format to rely on, so it is strict about the value. A value that looks like a word or program code
//! stays in the text.

use std::ops::Range;

use super::check;
use super::view::BLANK;

/// Words that name a secret, in lower case; the longer name comes before its part.
pub(crate) const NAMES: [&str; 36] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "_pass",
    "passwort",
    "kennwort",
    "contraseña",
    "senha",
    "mot de passe",
    "密码",
    "密碼",
    "パスワード",
    "пароль",
    "api_key",
    "api-key",
    "apikey",
    "api key",
    "api.key",
    "access_key",
    "access-key",
    "accesskey",
    "access key",
    "private_key",
    "private-key",
    "privatekey",
    "secret",
    "token",
    "encryption_key",
    "encryption key",
    "signing_key",
    "auth_key",
    "authkey",
    "credential",
    "authorization",
];

/// The names, of those above, whose value people make up.
const CHOSEN_BY_PEOPLE: usize = 15;

/// Suffixes after the word inside a longer name: `SECRET_KEY`, `token-prod`.
const SUFFIXES: [&str; 22] = [
    "",
    "key",
    "accesskey",
    "access_key",
    "value",
    "prod",
    "production",
    "dev",
    "stage",
    "staging",
    "live",
    "test",
    "base",
    "local",
    "qa",
    "default",
    "old",
    "new",
    "primary",
    "secondary",
    "main",
    "base64",
];

/// Words between a name and its value.
const LINKS: [&str; 14] =
    ["is", "was", "to", "ist", "war", "es", "est", "are", "будет", "é", "è", "lautet", "heißt", "será"];

/// Words between such a word and the value.
const ADVERBS: [&str; 9] =
    ["now", "jetzt", "nun", "ab sofort", "maintenant", "désormais", "ahora", "agora", "теперь"];

/// What may be told of a secret before its value is.
const CHANGES: [&str; 9] = [
    "has changed",
    "has been changed",
    "was changed",
    "wurde geändert",
    "hat sich geändert",
    "a changé",
    "ha cambiado",
    "mudou",
    "foi alterada",
];

/// Words for a secret that was just named, with their verbs.
const AGAIN: [&str; 8] = ["it is", "it's", "it’s", "es ist", "es lautet", "c'est", "c’est", "ahora es"];

/// Words with a digit that are no secret.
const TECHNICAL: [&str; 30] = [
    "base64",
    "sha256",
    "sha512",
    "sha-256",
    "sha-512",
    "oauth2",
    "oauth2.0",
    "auth0",
    "argon2",
    "argon2id",
    "hs256",
    "rs256",
    "es256",
    "utf8",
    "utf-8",
    "ed25519",
    "x509",
    "pbkdf2",
    "aes256",
    "aes-256",
    "aes-256-gcm",
    "aes-256-cbc",
    "http2",
    "web3",
    "base32",
    "base58",
    "cl100k_base",
    "o200k_base",
    "int64",
    "string255",
];

/// How a stored hash of a password begins.
const HASHES: [&str; 7] = ["$2a$", "$2b$", "$2y$", "$argon2", "pbkdf2", "sha256:", "sha512:"];

/// Source: own choice; a longer value is a document and not a typed secret.
const LONGEST: usize = 512;

/// The connection between name and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// `=`, `:`, `=>`, `>` or an option of a command.
    Sign,
    /// "is" and its like.
    Word,
}

/// Finds the value that is assigned to the name at `name`.
pub(crate) fn value(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let word = text.get(name.clone())?;
    let is_chosen = NAMES.iter().take(CHOSEN_BY_PEOPLE).any(|n| n.eq_ignore_ascii_case(word));
    let rest = text.get(name.end..)?;
    let suffix = rest.len() - rest.trim_start_matches(is_name).len();
    let tail = rest.get(..suffix)?.trim_matches(['_', '-', '.']).to_ascii_lowercase();
    let is_number = !tail.is_empty() && tail.len() <= 2 && tail.bytes().all(|b| b.is_ascii_digit());
    if !is_number && !SUFFIXES.contains(&tail.as_str()) {
        return None;
    }
    let mut at = name.end + suffix;
    loop {
        let (link, from) = link(text, at, name)?;
        let (range, is_quoted) = operand(text, from, link)?;
        let value = text.get(range.clone())?;
        if is_secret(value, AssignmentForm { link, is_quoted, is_chosen }) {
            return Some(range);
        }
        // `password: str = "…"` has a type between the two.
        at = range.end;
        if !text.get(at..)?.trim_start_matches(' ').starts_with('=') || link == Link::Word {
            return None;
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Returns whether the name that contains `at` begins with `--`.
fn is_option(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let name = before.len() - before.trim_end_matches(is_name).len();
    before.get(before.len() - name..).is_some_and(|start| start.starts_with("--"))
}

/// Skips at most `most` characters for which `skip` holds.
fn skip(text: &str, from: usize, most: usize, skip: impl Fn(char) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.chars().take(most).take_while(|c| skip(*c)).map(char::len_utf8).sum::<usize>()
}

/// Reads the separator after a name that ends at `from`; returns where the value may begin.
fn link(text: &str, from: usize, name: &Range<usize>) -> Option<(Link, usize)> {
    let closed = skip(text, from, 4, |c| matches!(c, '"' | '\'' | '`' | ']' | ')' | '*'));
    let spaced = skip(text, closed, 4, |c| matches!(c, ' ' | '\t'));
    let rest = text.get(spaced..)?;
    for sign in [":=", "=>", "==", "->", "=", ":", ">", "：", "＝", "是", "为", "為", "は"] {
        if rest.starts_with(sign) {
            return Some((Link::Sign, spaced + sign.len()));
        }
    }
    if let Some(end) = named_again(text, closed) {
        return Some((Link::Word, behind_adverb(text, end)));
    }
    if spaced == closed {
        return None;
    }
    let word = rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    if LINKS.iter().any(|link| link.eq_ignore_ascii_case(word)) {
        let end = spaced + word.len();
        return Some((Link::Word, behind_adverb(text, skip(text, end, 1, |c| c == ':'))));
    }
    let is_quote = rest.starts_with(['"', '\'', '`']);
    (is_quote || is_option(text, name.start)).then_some((Link::Sign, spaced))
}

/// Returns the end of one of some phrases at a place, if no letter follows.
fn phrase_end(text: &str, at: usize, phrases: &[&str]) -> Option<usize> {
    let rest = text.get(at..)?;
    let ends = phrases.iter().filter_map(|phrase| {
        let front = rest.get(..phrase.len())?;
        let is_apart = !rest.get(phrase.len()..)?.starts_with(char::is_alphanumeric);
        (is_apart && front.to_lowercase() == *phrase).then_some(at + phrase.len())
    });
    ends.max()
}

/// Returns where a value may begin behind an adverb: "is now …".
fn behind_adverb(text: &str, at: usize) -> usize {
    let spaced = skip(text, at, 2, |c| c == ' ');
    phrase_end(text, spaced, &ADVERBS).unwrap_or(at)
}

/// Returns where the value may begin of a secret that is told of before: "the password has changed, it is …".
fn named_again(text: &str, from: usize) -> Option<usize> {
    let spaced = skip(text, from, 2, |c| c == ' ');
    let changed = phrase_end(text, spaced, &CHANGES).unwrap_or(from);
    let signed = skip(text, changed, 1, |c| matches!(c, ',' | ';' | '.'));
    if signed == changed {
        return None;
    }
    phrase_end(text, skip(text, signed, 2, |c| c == ' '), &AGAIN)
}

/// Reads the value: the quoted text, or the run up to a space or a terminating sign.
fn operand(text: &str, from: usize, link: Link) -> Option<(Range<usize>, bool)> {
    let start = skip(text, from, 6, |c| matches!(c, ' ' | '\t' | '*'));
    let prefixed = skip(text, start, 1, |c| matches!(c, 'b' | 'r' | 'f' | 'u'));
    let open = text.get(prefixed..).and_then(|rest| rest.chars().next());
    let open = open.filter(|c| matches!(c, '"' | '\'' | '`' | '“' | '‘'));
    if let Some(quote) = open {
        let first = prefixed + quote.len_utf8();
        let close = match quote {
            '“' => '”',
            '‘' => '’',
            other => other,
        };
        let inside = bounded(text, first);
        let len = inside
            .find([close, '\n', BLANK])
            .filter(|len| inside.get(*len..).is_some_and(|r| r.starts_with(close)))?;
        return Some((first..first + len, true));
    }
    let inside = bounded(text, start);
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, ',' | ';' | '"' | '\'' | '<' | '>' | '`' | BLANK | '”' | '。' | '，')
    };
    let mut len = inside.find(ends).unwrap_or(inside.len());
    if link == Link::Sign {
        len = parameter_end(inside, len);
    }
    let run = inside.get(..len)?;
    Some((start..start + run.trim_end_matches(['.', ':', ')', ']', '}', '*', '?', '|']).len(), false))
}

/// Cuts `a&b=c` before the next parameter of an address.
fn parameter_end(value: &str, len: usize) -> usize {
    let run = value.get(..len).unwrap_or_default();
    run.match_indices('&')
        .find(|(at, _)| {
            run.get(at + 1..).is_some_and(|next| next.trim_start_matches(is_name).starts_with('='))
        })
        .map_or(len, |(at, _)| at)
}

fn bounded(text: &str, from: usize) -> &str {
    let rest = text.get(from..).unwrap_or_default();
    rest.get(..rest.floor_char_boundary(LONGEST + 1)).unwrap_or_default()
}

#[derive(Clone, Copy)]
struct AssignmentForm {
    link: Link,
    is_quoted: bool,
    is_chosen: bool,
}

fn is_secret(value: &str, form: AssignmentForm) -> bool {
    let lower = value.to_ascii_lowercase();
    let bare = lower.trim_end_matches(['!', '.']);
    let shortest = if form.is_chosen { 6 } else { 8 };
    if bare.len() < shortest
        || value.len() > LONGEST
        || value.contains(char::is_whitespace)
        || value.contains(BLANK)
    {
        return false;
    }
    let is_example = form.is_quoted && form.link == Link::Sign && check::is_example_password(value);
    if is_example
        || HASHES.iter().any(|lead| bare.starts_with(lead))
        || check::is_placeholder(value)
        || TECHNICAL.contains(&bare)
        || is_address(value)
        || is_quantity(bare)
    {
        return false;
    }
    if value.starts_with(['$', '{', '<', '%', '[', '/', '(', '&', '@', '#'])
        || value.starts_with("./")
        || value.starts_with("~/")
    {
        return form.is_chosen
            && form.is_quoted
            && value.starts_with(['$', '#', '@', '&', '%'])
            && has_both(value)
            && !value.contains(['{', '(']);
    }
    let is_code = !form.is_quoted
        && form.link == Link::Sign
        && value.contains(['(', ')', '[', ']', '{', '}', '|', '\\']);
    if is_code || (is_identifier(value) && !(form.is_chosen && is_one_word(value))) {
        return false;
    }
    if form.is_chosen { is_chosen_password(value, form) } else { is_machine_made(value, form.link) }
}

fn has_both(value: &str) -> bool {
    check::has_digit(value) && value.chars().any(char::is_alphabetic)
}

/// A password that a person made up has letters and digits, signs inside, or digits only.
fn is_chosen_password(value: &str, form: AssignmentForm) -> bool {
    if has_both(value) {
        return true;
    }
    if value.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    let inner = value.trim_matches(|c: char| !c.is_alphanumeric());
    let has_sign = inner.contains(['@', '$', '!', '#', '%', '^', '&', '*']);
    (has_sign && inner.len() >= 6 && form.link == Link::Sign) || (form.is_quoted && is_random_letters(value))
}

/// A key that a machine made is long and mixes letters and digits.
fn is_machine_made(value: &str, link: Link) -> bool {
    let changes = check::digit_changes(value);
    let is_mixed =
        changes >= if link == Link::Word { 3 } else { 2 } || (value.len() >= 16 && has_both(value));
    (is_mixed && check::varied(value)) || is_random_letters(value)
}

/// Random letters change case at every other place, the names of programs once in a word.
fn is_random_letters(value: &str) -> bool {
    value.len() >= 16 && check::case_changes(value) * 100 > value.len() * 42
}

/// Mail addresses and links are not secrets.
fn is_address(value: &str) -> bool {
    let is_mail = value.split_once('@').is_some_and(|(name, host)| {
        let top = host.rsplit_once('.').map_or("", |(_, top)| top);
        !name.is_empty() && (2..=6).contains(&top.len()) && top.bytes().all(|b| b.is_ascii_lowercase())
    });
    is_mail || value.contains("://")
}

/// `128-bit`, `24hours`, `2024-05-01`, `12.5`.
fn is_quantity(lower: &str) -> bool {
    const UNITS: [&str; 22] = [
        "bit",
        "bits",
        "byte",
        "bytes",
        "char",
        "chars",
        "character",
        "characters",
        "day",
        "days",
        "hour",
        "hours",
        "minute",
        "minutes",
        "second",
        "seconds",
        "digit",
        "digits",
        "month",
        "months",
        "years",
        "times",
    ];
    let unit = lower.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('-');
    let first = unit.split('-').next().unwrap_or_default();
    let has_number = lower.starts_with(|c: char| c.is_ascii_digit());
    let is_dated =
        lower.len() == 10 && lower.bytes().all(|b| b.is_ascii_digit() || b == b'-') && lower.contains('-');
    let is_decimal = lower.contains('.') && lower.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    (has_number && UNITS.contains(&first)) || is_dated || is_decimal
}

/// Words with at most three digits behind, joined by `_`, `-`, `.` or `::`, as in `user_token_v2`.
fn is_identifier(value: &str) -> bool {
    value.split(['_', '-', '.', ':', '/']).all(|part| {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let has_shape = word.bytes().all(|b| b.is_ascii_alphabetic()) && part.len() - word.len() <= 3;
        has_shape && !is_random_letters(word) && (part.is_empty() || !word.is_empty() || part.len() <= 3)
    })
}

fn is_one_word(value: &str) -> bool {
    check::has_digit(value) && !value.contains(['_', '-', '.', ':', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let lower = text.to_ascii_lowercase();
        NAMES.iter().find_map(|name| {
            let at = lower.find(name)?;
            value(text, &(at..at + name.len())).map(|range| text.get(range).unwrap())
        })
    }

    #[test]
    fn values_that_are_no_words_are_found_behind_their_names() {
        let value = ["hun", "ter", "2x7"].concat();
        let key = ["q8Zr2Tb", "Lm4Wp9Kd", "V1nHs"].concat();
        for text in [
            "password: {}",
            "my wifi password is {}.",
            "DB_PASSWORD={}",
            "\"password\": \"{}\"",
            "--password {} --user x",
            "spring.datasource.password={}",
            "<password>{}</password>",
            "**Password:** `{}`",
            "密码是{}",
            "mein Passwort ist {}",
            "password: str = \"{}\"",
            "os.environ[\"DB_PASSWORD\"] = '{}'",
            "I changed my password to {} today",
            "Mein Passwort lautet {}",
            "Das Passwort ist jetzt {}.",
            "We changed the wifi password, it's now {}.",
            "The wifi password has changed, it is {}",
            "La contraseña ha cambiado. Ahora es {}",
        ] {
            assert_eq!(found(&text.replace("{}", &value)), Some(value.as_str()), "{text}");
        }
        for text in
            ["API_KEY={}", "the api key is {}", "https://x.io/?token={}&page=2", "client_secret: '{}'"]
        {
            assert_eq!(found(&text.replace("{}", &key)), Some(key.as_str()), "{text}");
        }
    }

    #[test]
    fn words_code_and_settings_are_left_alone() {
        for text in [
            "my password is terrible",
            "I forgot my password, it's now 2026-05-04.",
            "the password has changed, it is annoying",
            "the token is base64 encoded",
            "password: required",
            "token = tokens[0]",
            "api_key = os.environ['OPENAI_API_KEY2']",
            "secret: process.env.JWT_SECRET2",
            "max_tokens = 4096",
            "password_hash = sha256sum1",
            "the password is 12-characters long",
            "token_expiry: 3600000ms12",
            "password = request.form2['password']",
            "API_KEY = 'your_api_key_123'",
            "token: access_token_v2",
            "password reset link sent 2024-05-01",
            "the secret is 128-bit",
            "password to bob2@example.org",
            "password=$DB_PASSWORD1",
            "token = get_token(user1)",
            "the secret to happiness2day",
            "password: ${PW1}",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
