//! Answers of language models.

use mnemal_core::{Completion, ModelId, Result, TokenCount, Usage};
use serde::{Deserialize, Serialize};

use super::named;

#[derive(Deserialize, Serialize)]
struct CompletionRow {
    text: String,
    model: String,
    sent: u32,
    received: u32,
}

/// Writes an answer.
pub(crate) fn write(completion: &Completion) -> Result<String> {
    super::write_sealed(&CompletionRow {
        text: completion.text.clone(),
        model: completion.model.as_str().to_owned(),
        sent: completion.usage.sent.0,
        received: completion.usage.received.0,
    })
}

/// Reads an answer.
pub(crate) fn read(stored: &str) -> Result<Completion> {
    let row: CompletionRow = super::read_sealed(stored)?;
    Ok(Completion {
        text: row.text,
        model: named(ModelId::new(row.model))?,
        usage: Usage { sent: TokenCount(row.sent), received: TokenCount(row.received) },
    })
}
