//! The calibrated estimate as a token counter.

use std::ops::Range;

use mnemal_core::{TokenCount, TokenCounter, TokenParts};

/// Counts with the estimate of `mnemal-text`, which errs on the high side.
#[derive(Clone, Copy, Debug, Default)]
pub struct EstimateCounter;

impl TokenCounter for EstimateCounter {
    fn name(&self) -> &'static str {
        "estimate"
    }

    fn count(&self, text: &str) -> TokenCount {
        TokenCount(mnemal_text::estimate_tokens(text))
    }

    fn parts(&self, lines: &str) -> Option<TokenParts> {
        let is_lines = lines.ends_with('\n') && !lines.starts_with(['\n', '\r']);
        is_lines.then(|| TokenParts(mnemal_text::estimate_parts(lines)))
    }

    fn prefix(&self, text: &str, budget: TokenCount) -> Range<usize> {
        0..mnemal_text::token_prefix(text, budget.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unused_async, reason = "a fixture of the suite is async")]
    async fn fresh() -> EstimateCounter {
        EstimateCounter
    }

    mnemal_testkit::token_counter_conformance!(fresh);
}
