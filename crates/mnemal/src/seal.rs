//! What surfaces need of the engine's own parts: its seal and its measure.

use mnemal_core::TokenCount;

use crate::engine::Engine;

impl Engine {
    /// Returns the hash of `parts` keyed by the installation, for one purpose: a seal that only this installation can make.
    pub fn seal(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        self.parts().key.hash(&format!("seal {purpose}"), parts)
    }

    /// Counts the tokens of a text, as the budgets of contexts do.
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
        let seal = |memory: &Memory, purpose: &str| memory.engine().seal(purpose, &[b"x"]);
        assert_eq!(seal(&one, "a"), seal(&one, "a"));
        assert_ne!(seal(&one, "a"), seal(&one, "b"));
        assert_ne!(seal(&one, "a"), seal(&two, "a"));
        assert!(one.engine().count_tokens("three words here").0 >= 3);
    }
}
