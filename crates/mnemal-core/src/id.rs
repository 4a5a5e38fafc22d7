//! 128-bit identifiers, one newtype per kind, and the hash for derived ids.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Producer, Result};

/// Crockford's base-32 alphabet, lower case: no i, l, o, u.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 26 digits of five bits hold 128 bits.
const DIGITS: usize = 26;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u128);

        impl $name {
            /// Prefix before the underscore of the text form.
            pub const PREFIX: &'static str = $prefix;
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(Self::PREFIX)?;
                out.write_str("_")?;
                out.write_str(std::str::from_utf8(&encode(self.0)).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, out)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                text.strip_prefix(Self::PREFIX)
                    .and_then(|rest| rest.strip_prefix('_'))
                    .and_then(decode)
                    .map(Self)
                    .ok_or_else(|| Error::invalid(format!("not an id of the form {}_…", Self::PREFIX)))
            }
        }
    };
}

id!(
    /// Identifies an event; time-ordered, made by [`IdSource`](crate::IdSource), never changed.
    EventId,
    "evt"
);
id!(
    /// Identifies a note or another learning; derived from its source events.
    LearningId,
    "mem"
);
id!(
    /// Identifies an entity; derived from its class and the key of its name, so that forgetting a mention does not rename it.
    EntityId,
    "ent"
);
id!(
    /// Identifies one version of a fact; derived from the event that caused it.
    FactId,
    "fct"
);
id!(
    /// Identifies a receipt; time-ordered.
    ReceiptId,
    "rcl"
);

/// Makes the id of a derived record: the first 16 bytes of BLAKE3 over kind of record, producer, source events in order, and
/// the ordinal within the producer's output for them.
///
/// Nothing else may enter the hash: no clock, no random number, no row id, no log position.
pub fn derived_id(kind: &str, producer: &Producer, sources: &[EventId], ordinal: u32) -> u128 {
    let mut hash = blake3::Hasher::new();
    for part in [kind, &producer.id] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.update(&producer.version.to_le_bytes());
    for source in sources {
        hash.update(&source.0.to_be_bytes());
    }
    hash.update(&ordinal.to_le_bytes());
    let mut first = [0; 16];
    hash.finalize_xof().fill(&mut first);
    u128::from_be_bytes(first)
}

/// Makes the id of a record that is identified by its content, independent of its sources: the first 16 bytes of BLAKE3 over
/// kind of record and parts, each with its length.
pub fn named_id(kind: &str, parts: &[&str]) -> u128 {
    let mut hash = blake3::Hasher::new();
    for part in [kind].iter().chain(parts) {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut first = [0; 16];
    hash.finalize_xof().fill(&mut first);
    u128::from_be_bytes(first)
}

/// Digits of each of the two lower parts; together they fit a 64-bit number, which a machine shifts at once.
const PART: usize = 12;

fn encode(bits: u128) -> [u8; DIGITS] {
    let mut text = [0; DIGITS];
    let (upper, lower) = text.split_at_mut(DIGITS - PART);
    let (top, middle) = upper.split_at_mut(DIGITS - 2 * PART);
    for (place, digits) in [lower, middle, top].into_iter().enumerate() {
        let mut part =
            u64::try_from(bits >> (5 * PART * place) & ((1 << (5 * PART)) - 1)).unwrap_or_default();
        for digit in digits.iter_mut().rev() {
            let [five, ..] = (part & 31).to_le_bytes();
            *digit = ALPHABET.get(usize::from(five)).copied().unwrap_or(b'0');
            part >>= 5;
        }
    }
    text
}

fn decode(text: &str) -> Option<u128> {
    let digits = <[u8; DIGITS]>::try_from(text.as_bytes()).ok()?;
    let (top, rest) = digits.split_at(DIGITS - 2 * PART);
    // The first digit holds three bits.
    if top.first().is_none_or(|first| *first > b'7') {
        return None;
    }
    let (middle, lower) = rest.split_at(PART);
    [top, middle, lower].into_iter().try_fold(0_u128, |bits, part| {
        let part = part.iter().try_fold(0, |bits: u64, digit| Some(bits << 5 | u64::from(value(*digit)?)))?;
        Some(bits << (5 * PART) | u128::from(part))
    })
}

/// Returns the index of a character in [`ALPHABET`].
fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'h' => digit - b'a' + 10,
        b'j' | b'k' => digit - b'j' + 18,
        b'm' | b'n' => digit - b'm' + 20,
        b'p'..=b't' => digit - b'p' + 22,
        b'v'..=b'z' => digit - b'v' + 27,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_stands_for_its_place() {
        for (place, digit) in (0_u8..).zip(ALPHABET) {
            assert_eq!(value(*digit), Some(place));
            let bits = u128::from(place) << 5 | u128::from(place) << 60 | u128::from(place % 8) << 125;
            let text = EventId(bits).to_string();
            let digit = char::from(*digit);
            assert_eq!((text.chars().nth(28), text.chars().nth(17)), (Some(digit), Some(digit)), "{text}");
            assert_eq!(text.parse::<EventId>().unwrap(), EventId(bits));
        }
        let digits = (0..=u8::MAX).filter(|digit| value(*digit).is_some()).count();
        assert_eq!(digits, ALPHABET.len());
    }

    // proves: GB-09
    #[test]
    fn text_form_reads_back_and_refuses_what_is_not_one() {
        for bits in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef_0011_2233_4455_6677] {
            let id = EventId(bits);
            assert_eq!(id.to_string().parse::<EventId>().unwrap(), id);
            assert_eq!(id.to_string().len(), "evt_".len() + 26);
        }
        for wrong in ["", "evt_", "mem_00000000000000000000000000", "evt_8zzzzzzzzzzzzzzzzzzzzzzzzz", "evt_é"]
        {
            assert!(wrong.parse::<EventId>().is_err(), "{wrong}");
        }
    }

    // proves: NX-02.1
    #[test]
    fn derived_ids_depend_on_kind_producer_sources_and_ordinal_only() {
        let producer = Producer { id: "notes".into(), version: 1 };
        let newer = Producer { version: 2, ..producer.clone() };
        let base = derived_id("learning", &producer, &[EventId(1), EventId(2)], 0);
        assert_eq!(base, derived_id("learning", &producer, &[EventId(1), EventId(2)], 0));
        for other in [
            derived_id("fact", &producer, &[EventId(1), EventId(2)], 0),
            derived_id("learning", &newer, &[EventId(1), EventId(2)], 0),
            derived_id("learning", &producer, &[EventId(2), EventId(1)], 0),
            derived_id("learning", &producer, &[EventId(1), EventId(2)], 1),
        ] {
            assert_ne!(base, other);
        }
    }
}
