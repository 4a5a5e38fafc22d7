//! Language-model adapters: prompts, answer validation and budgets.

mod appraise;
mod budget;
mod claims;
mod digest;
mod instructions;
mod json_object;
mod judge;
mod node;
mod screen;
mod summary;
mod tally;

use mnemal_core::TokenCount;

pub use self::appraise::ModelAppraiser;
pub use self::budget::{CappedModel, ModelCaps, ModelUsage};
pub use self::claims::ModelClaims;
pub use self::digest::ModelDigests;
pub use self::instructions::Instructions;
pub use self::judge::ModelJudge;
pub use self::node::ModelWriter;
pub use self::summary::ModelSummarizer;
pub use self::tally::{RequestCounts, RequestTally};

/// Bytes of text per token. Source: an estimate for English, 30,000 characters are about 7,500 tokens (RB-15).
const BYTES_A_TOKEN: usize = 4;

/// Estimates the tokens of this many bytes of text.
pub(crate) fn tokens_of(bytes: usize) -> TokenCount {
    TokenCount(u32::try_from(bytes.div_ceil(BYTES_A_TOKEN)).unwrap_or(u32::MAX))
}

/// Lists texts one below the other, numbered from 1; their further lines are indented.
fn numbered<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let line = |(number, text): (usize, &str)| format!("\n{number}: {}", text.replace('\n', "\n   "));
    (1..).zip(texts).map(line).collect::<Vec<_>>().concat()
}
