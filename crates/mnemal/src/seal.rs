//! Services for the surfaces: confirmation tokens, seals, and token counts.

use std::fmt::Write as _;

use mnemal_core::{Timestamp, TokenCount};

use crate::engine::Engine;

/// Validity of a confirmation token, in microseconds. Source: own choice, 10 minutes to read a preview.
const HOLDS: i64 = 600_000_000;
/// Bytes of a seal in a token. Source: own default, 128 bits.
const SEALED: usize = 16;

impl Engine {
    /// Returns a token that confirms exactly this preview, and its expiry in ten minutes. It is stateless: any process of the
    /// installation can verify it.
    pub fn issue_token(&self, what: &[&[u8]]) -> (String, Timestamp) {
        let ends = self.now().plus_micros(HOLDS);
        (format!("{:x}-{}", ends.as_micros(), self.sealed_token(what, ends)), ends)
    }

    /// Whether a token was issued for exactly this by this installation, and has not expired.
    pub fn holds_token(&self, what: &[&[u8]], token: &str) -> bool {
        let Some((ends, given)) = token.trim().split_once('-') else { return false };
        let Some(ends) =
            i64::from_str_radix(ends, 16).ok().and_then(|micros| Timestamp::from_micros(micros).ok())
        else {
            return false;
        };
        let (now, sealed) = (self.now(), self.sealed_token(what, ends));
        // The comparison takes constant time, against timing attacks.
        let differ = given.bytes().zip(sealed.bytes()).fold(0, |differ, (one, two)| differ | (one ^ two));
        given.len() == sealed.len() && differ == 0 && now < ends && ends <= now.plus_micros(HOLDS)
    }

    fn sealed_token(&self, what: &[&[u8]], ends: Timestamp) -> String {
        let ends = ends.as_micros().to_le_bytes();
        let parts: Vec<&[u8]> = what.iter().copied().chain([ends.as_slice()]).collect();
        self.seal("confirm", &parts).iter().take(SEALED).fold(String::new(), |mut text, byte| {
            // Writing into a string cannot fail.
            let _written = write!(text, "{byte:02x}");
            text
        })
    }

    /// Returns the hash of `parts`, keyed by the installation, for one purpose: only this installation can compute it.
    pub fn seal(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        self.parts().key.hash(&format!("seal {purpose}"), parts)
    }

    /// Counts the tokens of a text with the counter of context budgets.
    pub fn count_tokens(&self, text: &str) -> TokenCount {
        self.parts().context.counter.count(text)
    }
}

#[cfg(test)]
mod tests {
    use crate::Memory;

    #[tokio::test]
    async fn a_seal_depends_on_the_installation_and_its_purpose() {
        let (one, two) = (Memory::in_memory().await.unwrap(), Memory::in_memory().await.unwrap());
        let seal = |memory: &Memory, purpose: &str| memory.admin().engine().seal(purpose, &[b"x"]);
        assert_eq!(seal(&one, "a"), seal(&one, "a"));
        assert_ne!(seal(&one, "a"), seal(&one, "b"));
        assert_ne!(seal(&one, "a"), seal(&two, "a"));
        assert!(one.admin().engine().count_tokens("three words here").0 >= 3);
    }
}
