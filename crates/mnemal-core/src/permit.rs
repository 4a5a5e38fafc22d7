//! The permit to call a model outside the process, as a value.

use crate::{Error, ErrorKind, Result, TokenCount};

/// The remaining budget for models outside the process. Without a permit in scope no such model can be called, so functions
/// without one in their signature (recall, context, append) reach no network by type.
///
/// Only background work and the one explicit call of the facade receive one. A permit cannot be copied, and dropping the future
/// of a call refunds nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct BackgroundPermit {
    calls: u32,
    tokens: TokenCount,
}

impl BackgroundPermit {
    /// Issues a permit for this many calls and tokens; zero calls mean offline.
    pub fn issue(calls: u32, tokens: TokenCount) -> Self {
        Self { calls, tokens }
    }

    /// Pays for one call that sends about this many tokens. An implementation of a port with a permit pays before each outgoing
    /// request, retries included.
    ///
    /// # Errors
    /// `Unavailable` when calls or tokens do not suffice; then nothing is paid.
    pub fn pay(&mut self, tokens: TokenCount) -> Result<()> {
        let left = (self.calls.checked_sub(1), self.tokens.0.checked_sub(tokens.0));
        let (Some(calls), Some(left)) = left else {
            return Err(Error::new(ErrorKind::Unavailable, "the permit of this work is spent"));
        };
        (self.calls, self.tokens) = (calls, TokenCount(left));
        Ok(())
    }

    /// Splits off a part of at most this many calls and tokens; [`join`](Self::join) returns its unspent rest.
    #[must_use]
    pub fn part(&mut self, calls: u32, tokens: TokenCount) -> Self {
        let part = Self { calls: self.calls.min(calls), tokens: self.tokens.min(tokens) };
        self.calls -= part.calls;
        self.tokens = self.tokens.minus(part.tokens);
        part
    }

    /// Takes back the unspent rest of a part.
    #[expect(clippy::needless_pass_by_value, reason = "what was given back is gone")]
    pub fn join(&mut self, part: Self) {
        self.calls = self.calls.saturating_add(part.calls);
        self.tokens = self.tokens + part.tokens;
    }

    /// Returns the remaining calls and tokens.
    pub fn left(&self) -> (u32, TokenCount) {
        (self.calls, self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_ends_with_its_calls_or_its_tokens_and_a_refusal_costs_nothing() {
        let mut permit = BackgroundPermit::issue(2, TokenCount(10));
        assert!(permit.pay(TokenCount(6)).is_ok());
        assert_eq!(permit.pay(TokenCount(5)).unwrap_err().kind(), ErrorKind::Unavailable);
        assert!(permit.pay(TokenCount(4)).is_ok());
        assert!(permit.pay(TokenCount(0)).is_err(), "no call is left");
        assert!(BackgroundPermit::issue(0, TokenCount(1_000)).pay(TokenCount(1)).is_err(), "offline");
    }

    #[test]
    fn a_part_is_taken_out_and_what_is_left_of_it_comes_back() {
        let mut permit = BackgroundPermit::issue(5, TokenCount(10));
        let mut part = permit.part(2, TokenCount(100));
        assert_eq!((permit.left(), part.left()), ((3, TokenCount(0)), (2, TokenCount(10))));
        assert!(part.pay(TokenCount(4)).is_ok());
        permit.join(part);
        assert_eq!(permit.left(), (4, TokenCount(6)));
    }
}
