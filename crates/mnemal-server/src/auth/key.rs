//! The format of an API key: `mnk_`, eight characters of a public id, and 52 characters of a secret.

use std::fmt;

use mnemal_core::{Error, ErrorKind, Result};
use sha2::{Digest as _, Sha256};

use crate::hex::hex;

/// Prefix of every key, by which the secret rules recognize it.
const PREFIX: &str = "mnk_";
/// Length of an id, in characters: 40 random bits. Source: own choice, enough to tell the keys of an installation apart.
const ID: usize = 8;
/// Length of the secret part, in characters: 32 random bytes. Source: own choice, 256 bits cannot be guessed.
const TAIL: usize = 52;
/// The alphabet of base 32. Source: RFC 4648, in lower case.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The public id of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(String);

impl KeyId {
    /// Parses an id, with or without the prefix `key_`.
    ///
    /// # Errors
    /// `Invalid` for anything other than eight characters of base 32.
    pub fn new(text: &str) -> Result<Self> {
        let text = text.strip_prefix("key_").unwrap_or(text);
        if text.len() == ID && text.bytes().all(|byte| ALPHABET.contains(&byte)) {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::invalid("an id of a key is key_ and eight characters"))
    }

    /// Returns the eight characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "key_{}", self.0)
    }
}

/// A complete key, as a client sends it. It is never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    id: KeyId,
    text: String,
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Secret({}, …)", self.id)
    }
}

impl Secret {
    /// Generates a new key.
    ///
    /// # Errors
    /// `Unavailable` when the operating system has no randomness.
    pub fn random() -> Result<Self> {
        let (mut name, mut tail) = ([0_u8; 5], [0_u8; 32]);
        for bytes in [name.as_mut_slice(), tail.as_mut_slice()] {
            getrandom::fill(bytes).map_err(|_| {
                Error::new(ErrorKind::Unavailable, "the operating system gives no random bytes")
            })?;
        }
        let id = KeyId::new(&base32(&name))?;
        let text = format!("{PREFIX}{}_{}", id.0, base32(&tail));
        Ok(Self { id, text })
    }

    /// Parses a key as clients send it.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, tail) = text.trim().strip_prefix(PREFIX)?.split_once('_')?;
        let is_whole = tail.len() == TAIL && tail.bytes().all(|byte| ALPHABET.contains(&byte));
        let id = KeyId::new(id).ok().filter(|known| is_whole && known.0 == id)?;
        Some(Self { id, text: text.trim().to_owned() })
    }

    /// Returns its public id.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// Returns the complete key, to show it once or to send it.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Returns its SHA-256, in hexadecimal digits; only this is stored.
    pub fn digest(&self) -> String {
        hex(&Sha256::digest(self.text.as_bytes()))
    }

    /// Whether this key has the digest; compared in constant time.
    pub fn is_of(&self, digest: &str) -> bool {
        let own = self.digest();
        let differ = own.bytes().zip(digest.bytes()).fold(0, |differ, (one, two)| differ | (one ^ two));
        own.len() == digest.len() && differ == 0
    }
}

/// Encodes bytes in base 32, in lower case and without padding.
pub(crate) fn base32(bytes: &[u8]) -> String {
    let (mut text, mut bits, mut count) = (String::new(), 0_u32, 0_u32);
    let mut take = |value: u32| {
        let letter = usize::try_from(value & 31).ok().and_then(|place| ALPHABET.get(place));
        text.extend(letter.map(|letter| char::from(*letter)));
    };
    for byte in bytes {
        bits = (bits << 8) | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            take(bits >> count);
            bits &= (1 << count) - 1;
        }
    }
    if count > 0 {
        take(bits << (5 - count));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_is_that_of_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foobar", "mzxw6ytboi")]
        {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn a_key_has_the_form_and_is_found_by_its_digest_only() {
        let (one, two) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_eq!(one.expose().len(), "mnk_".len() + 8 + 1 + 52);
        assert_eq!(Secret::parse(one.expose()), Some(one.clone()));
        assert!(one.is_of(&one.digest()));
        assert!(!one.is_of(&two.digest()) && !one.is_of("") && !one.is_of(one.digest().get(1..).unwrap()));
        assert!(!format!("{one:?}").contains(one.expose().get(13..).unwrap()));
    }

    #[test]
    fn what_is_no_key_is_not_read() {
        let good = Secret::random().unwrap();
        let text = good.expose();
        for wrong in [
            "",
            "mnk_",
            "mnk_abcdefgh_",
            "Bearer x",
            text.get(1..).unwrap(),
            text.get(..text.len() - 1).unwrap(),
            &format!("{text}a"),
            &text.to_uppercase(),
        ] {
            assert_eq!(Secret::parse(wrong), None, "{wrong}");
        }
        assert!(KeyId::new("key_abcdefgh").is_ok() && KeyId::new("key_ABCDEFGH").is_err());
    }
}
