//! The installation key, for hashes that must not be guessable from outside.

use std::fmt;

use crate::TombstoneHash;

/// 32 random bytes in a 0600 file outside every space, so that a stolen database does not allow guessing short texts.
#[derive(Clone, PartialEq, Eq)]
pub struct InstallationKey([u8; 32]);

impl InstallationKey {
    /// Wraps random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, to write the key's file.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the keyed hash of `parts` for one purpose; hashes of two purposes never coincide.
    pub fn hash(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_keyed(&self.0);
        for part in std::iter::once(&purpose.as_bytes()).chain(parts) {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        *hash.finalize().as_bytes()
    }

    /// Returns the nonce of a session's markers: 96 bits as 24 hexadecimal digits, constant within a session.
    pub fn nonce(&self, session: &str) -> String {
        use fmt::Write as _;
        let hash = self.hash("marker", &[session.as_bytes()]);
        hash.iter().take(12).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Returns a 16-bit fingerprint that identifies a repeated secret without storing it.
    pub fn fingerprint(&self, secret: &[u8]) -> u16 {
        let hash = self.hash("secret", &[secret]);
        let [first, second, ..] = hash;
        u16::from_be_bytes([first, second])
    }

    /// Returns the tombstone hash of a folded text.
    pub fn tombstone(&self, folded: &str) -> TombstoneHash {
        let mut short = [0; 16];
        for (to, from) in short.iter_mut().zip(self.hash("tombstone", &[folded.as_bytes()])) {
            *to = from;
        }
        TombstoneHash(short)
    }
}

/// Never prints the key.
impl fmt::Debug for InstallationKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("InstallationKey(32 bytes)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: NX-06.5
    #[test]
    fn a_nonce_depends_on_key_and_session_only() {
        let (one, two) = (InstallationKey::new([1; 32]), InstallationKey::new([2; 32]));
        assert_eq!(one.nonce("s"), one.nonce("s"));
        assert_eq!(one.nonce("s").len(), 24);
        assert_ne!(one.nonce("s"), one.nonce("t"));
        assert_ne!(one.nonce("s"), two.nonce("s"));
    }

    // proves: DF-90 (hashed parts)
    #[test]
    fn parts_do_not_run_into_each_other_and_nothing_prints_the_key() {
        let key = InstallationKey::new([7; 32]);
        assert_ne!(key.hash("p", &[b"ab", b"c"]), key.hash("p", &[b"a", b"bc"]));
        assert_eq!(format!("{key:?}"), "InstallationKey(32 bytes)");
    }
}
