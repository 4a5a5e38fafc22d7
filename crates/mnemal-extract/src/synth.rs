//! Synthetic secrets built from their formats, so that tests plant them without a real token in any file.
//!
//! Nothing here was ever issued: the characters come from the seed.
//! A test plants [`phrase`]`.text`, runs what it tests, and asserts that [`phrase`]`.secret` is in no byte:
//!
//! ```
//! use mnemal_extract::{SecretRules, synth};
//!
//! let rules = SecretRules::built_in();
//! for rule in synth::rule_ids() {
//!     let planted = synth::phrase(rule, 7).expect("every built-in rule can be synthesised");
//!     let redaction = rules.redact(&planted.text, &|_| 0xa1b2);
//!     assert!(!redaction.text.contains(&planted.secret), "{rule}");
//! }
//! ```

use crate::secrets::table::{ROWS, Row, Shape};
use crate::secrets::token::Set;

/// A made-up secret and a sentence that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntheticSecret {
    /// The sentence, as a person or a program would write it.
    pub text: String,
    /// The part of the sentence that must not be stored anywhere.
    pub secret: String,
}

/// Returns the ids of all built-in rules, each once, in the order of the table.
pub fn rule_ids() -> impl Iterator<Item = &'static str> {
    crate::secrets::rule_ids()
}

/// Returns a secret that the rule recognizes; the same seed gives the same secret.
///
/// Some rules recognize a secret only behind its name ("my password is …") or inside a line; [`phrase`] gives
/// these a sentence. `None` if there is no such rule.
pub fn secret(rule: &str, seed: u64) -> Option<String> {
    phrase(rule, seed).map(|planted| planted.secret)
}

/// Returns a sentence with a secret of the rule in it; the same seed gives the same sentence.
///
/// `None` if there is no such rule.
pub fn phrase(rule: &str, seed: u64) -> Option<SyntheticSecret> {
    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.id == rule).collect();
    let mut dice = Dice(
        seed ^ rule
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)),
    );
    let row = rows.get(dice.below(rows.len()))?;
    // A seed whose characters happen to look like a word is passed over.
    (0..64).find_map(|_| {
        let made = match row.shape {
            Shape::Token { set, usual, .. } if rule != "jwt" => plain(token(row, set, usual, &mut dice)),
            _ => shaped(rule, &mut dice),
        };
        let from = if matches!(row.shape, Shape::Token { .. }) { lead(row, &made.secret) } else { 0 };
        (row.check)(made.secret.get(from..).unwrap_or_default()).then_some(made)
    })
}

fn lead(row: &Row, secret: &str) -> usize {
    row.keywords
        .iter()
        .filter(|keyword| secret.starts_with(**keyword))
        .map(|keyword| keyword.len())
        .max()
        .unwrap_or(0)
}

fn plain(secret: String) -> SyntheticSecret {
    SyntheticSecret { text: format!("Here it is: {secret} and keep it safe."), secret }
}

fn within(before: &str, secret: String, after: &str) -> SyntheticSecret {
    SyntheticSecret { text: [before, secret.as_str(), after].concat(), secret }
}

fn token(row: &Row, set: Set, usual: usize, dice: &mut Dice) -> String {
    let lead = row.keywords.get(dice.below(row.keywords.len())).copied().unwrap_or_default();
    [lead, &dice.letters(set, usual)].concat()
}

/// Rules whose secret is more than a prefix and a run.
fn shaped(rule: &str, dice: &mut Dice) -> SyntheticSecret {
    use Set::{Alnum, Base64, Hex, Url};
    match rule {
        "aws_secret_key" => within("aws_secret_access_key = ", dice.letters(Base64, 40), "\n"),
        "azure_storage_key" => within(
            "DefaultEndpointsProtocol=https;AccountName=demo;AccountKey=",
            dice.letters(Base64, 86) + "==",
            ";EndpointSuffix=core.windows.net",
        ),
        "azure_sas" => within(
            "https://demo.blob.core.windows.net/c/f.txt?sv=2022-11-02&sr=b&sig=",
            dice.letters(Alnum, 43) + "=",
            " is the link",
        ),
        "azure_client_secret" => plain([&dice.letters(Alnum, 3), "8Q~", &dice.letters(Url, 34)].concat()),
        "cloudflare_origin" => {
            plain(["v1.0-", &dice.letters(Hex, 24), "-", &dice.letters(Hex, 146)].concat())
        }
        "slack_webhook" => within(
            "post to https://hooks.slack.com/services/",
            [&dice.letters(Set::Upper, 9), "/", &dice.letters(Set::Upper, 11), "/", &dice.letters(Alnum, 24)]
                .concat(),
            " please",
        ),
        "discord_bot" => plain(
            ["M", &dice.letters(Url, 25), ".", &dice.letters(Url, 6), ".", &dice.letters(Url, 38)].concat(),
        ),
        "discord_webhook" => within(
            &format!("post to https://discord.com/api/webhooks/{}/", dice.digits(18)),
            dice.letters(Url, 68),
            " please",
        ),
        "telegram_bot" => plain([&dice.digits(10), ":AA", &dice.letters(Url, 33)].concat()),
        "sendgrid" => plain(["SG.", &dice.letters(Url, 22), ".", &dice.letters(Url, 43)].concat()),
        "mailchimp" => plain([&dice.letters(Hex, 32), "-us", &dice.digits(1)].concat()),
        "databricks" => plain(["dapi", &dice.letters(Hex, 32)].concat()),
        "dropbox" => plain(["sl.u.", &dice.letters(Url, 130)].concat()),
        "terraform" => plain([&dice.letters(Alnum, 14), ".atlasv1.", &dice.letters(Alnum, 67)].concat()),
        "pem_private_key" => plain(armor("RSA PRIVATE KEY", dice)),
        "openssh_private_key" => plain(armor("OPENSSH PRIVATE KEY", dice)),
        "pgp_private_key" => plain(armor("PGP PRIVATE KEY BLOCK", dice)),
        "jwt" => {
            let parts = [
                base64url(b"{\"alg\":\"HS256\",\"typ\":\"JWT\"}"),
                base64url(b"{\"sub\":\"1234567890\"}"),
                dice.letters(Url, 43),
            ];
            plain(parts.join("."))
        }
        "url_credentials" => {
            within("connect to postgres://app:", dice.password(), "@db.internal:5432/main now")
        }
        "auth_header" => {
            within("curl -H 'Authorization: Bearer ", dice.letters(Alnum, 40), "' https://api.internal/v1")
        }
        "cookie_header" => within("Cookie: ", format!("sid={}; theme=dark", dice.letters(Alnum, 32)), "\n"),
        "assignment" => within("By the way, my password is ", dice.password(), ", do not lose it."),
        "pan" => within("My card number is ", dice.card(), ", it expires in May."),
        "iban" => within("Send it to ", dice.iban(), " by Friday."),
        "ssn_us" => {
            let number = format!("2{}-{}-{}", dice.digits(2), 11 + dice.below(80), 1000 + dice.below(9000));
            within("My SSN is ", number, ".")
        }
        _ => plain(String::new()),
    }
}

fn armor(label: &str, dice: &mut Dice) -> String {
    let lines: Vec<String> = (0..12).map(|_| dice.letters(Set::Alnum, 64)).collect();
    ["-----BEGIN ", label, "-----\n", &lines.join("\n"), "\n-----END ", label, "-----"].concat()
}

fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for place in 0..=three.len() {
            let letter = LETTERS.get((bits >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'A');
            out.push(char::from(letter));
        }
    }
    out
}

/// A generator of numbers that are as random as a test needs (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    fn letters(&mut self, set: Set, len: usize) -> String {
        let letters = set.letters();
        (0..len)
            .map(|_| char::from(letters.get(self.below(letters.len())).copied().unwrap_or(b'a')))
            .collect()
    }

    /// Digits, the first of which is not 0.
    fn digits(&mut self, len: usize) -> String {
        (0..len)
            .map(|at| char::from(b'1' + u8::try_from(self.below(if at == 0 { 9 } else { 8 })).unwrap_or(0)))
            .collect()
    }

    /// A password as password managers make them.
    fn password(&mut self) -> String {
        let (head, digit, tail) = (self.letters(Set::Alnum, 8), self.digits(2), self.letters(Set::Alnum, 6));
        ["x", &head, &digit, &tail].concat()
    }

    /// A card number in four groups with its check digit.
    fn card(&mut self) -> String {
        let head = ["4", &self.digits(14)].concat();
        let full = (b'0'..=b'9')
            .map(|last| [head.as_bytes(), &[last]].concat())
            .find(|digits| crate::secrets::luhn(digits));
        let full = full.unwrap_or_default();
        let groups: Vec<_> = full.chunks(4).map(String::from_utf8_lossy).collect();
        groups.join(" ")
    }

    /// A German account number with its check digits.
    fn iban(&mut self) -> String {
        let body = self.digits(18);
        (2..=98)
            .map(|check| format!("DE{check:02}{body}"))
            .find(|iban| crate::secrets::mod97(iban.as_bytes()))
            .unwrap_or_default()
    }
}
