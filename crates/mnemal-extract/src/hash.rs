//! A quick hash for tables whose words come from lists and packs.

use std::hash::{BuildHasherDefault, Hasher};

/// Hashes short words in a few cycles; the keys come from lists and packs of this crate, so they cannot be chosen to collide.
/// Source: the multiplier and the rotation of `FxHash` (rustc-hash 1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordHasher(u64);

/// Builds the hash of a table.
pub(crate) type WordHashBuilder = BuildHasherDefault<WordHasher>;

impl WordHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            self.mix(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}
