//! Hexadecimal encoding of bytes in stored JSON.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Appends two small digits for each byte.
pub(crate) fn push_digits(to: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |four: u8| DIGITS.get(usize::from(four)).copied().unwrap_or(b'0');
    to.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
}

/// A hash of `BYTES` bytes, stored as twice as many digits; legacy rows hold a list of numbers, which is read too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hash<const BYTES: usize>(pub(crate) [u8; BYTES]);

impl<const BYTES: usize> Serialize for Hash<BYTES> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut digits = Vec::with_capacity(2 * BYTES);
        push_digits(&mut digits, &self.0);
        serializer.serialize_str(str::from_utf8(&digits).map_err(serde::ser::Error::custom)?)
    }
}

impl<'de, const BYTES: usize> Deserialize<'de> for Hash<BYTES> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HexVisitor)
    }
}

struct HexVisitor<const BYTES: usize>;

impl<'de, const BYTES: usize> Visitor<'de> for HexVisitor<BYTES> {
    type Value = Hash<BYTES>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{BYTES} bytes as digits or numbers")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let wrong = || E::invalid_length(text.len(), &self);
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != BYTES || !rest.is_empty() {
            return Err(wrong());
        }
        let mut bytes = [0; BYTES];
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            let four = |digit: u8| char::from(digit).to_digit(16).and_then(|four| u8::try_from(four).ok());
            *byte =
                pair.iter().try_fold(0, |byte, digit| Some(byte << 4 | four(*digit)?)).ok_or_else(wrong)?;
        }
        Ok(Hash(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Self::Value, A::Error> {
        let mut bytes = [0; BYTES];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = numbers.next_element()?.ok_or_else(|| de::Error::invalid_length(at, &self))?;
        }
        match numbers.next_element::<u8>()? {
            None => Ok(Hash(bytes)),
            Some(_) => Err(de::Error::invalid_length(BYTES + 1, &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_digits_and_is_read_from_numbers_of_before() {
        let hash = Hash([0, 15, 160, 255]);
        assert_eq!(serde_json::to_string(&hash).unwrap(), "\"000fa0ff\"");
        for stored in ["\"000fa0ff\"", "\"000FA0ff\"", "[0, 15, 160, 255]"] {
            assert_eq!(serde_json::from_str::<Hash<4>>(stored).unwrap(), hash, "{stored}");
        }
    }

    #[test]
    fn what_is_no_hash_of_its_length_is_refused() {
        for stored in [
            "\"000fa0f\"",
            "\"000fa0ffff\"",
            "\"000fa0fg\"",
            "\"+00fa0ff\"",
            "[0, 15, 160]",
            "[0, 15, 160, 255, 0]",
            "[0, 15, 160, 256]",
            "7",
        ] {
            assert!(serde_json::from_str::<Hash<4>>(stored).is_err(), "{stored}");
        }
    }
}
