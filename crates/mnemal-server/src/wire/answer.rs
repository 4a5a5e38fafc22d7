//! Extractive answers, the same on every surface.

use mnemal::Answer;
use mnemal::recall::Quote;
use mnemal_core::{Gap, Source, Span};
use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::{GapForm, gaps};

/// The text of an unknown answer.
pub const NOT_KNOWN: &str = "not known";

/// An answer in quotes; nothing in it is made up.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Answer")]
pub struct AnswerForm {
    /// Whether anything that is known answers it; without it there are no quotes.
    known: bool,
    /// Sentences that were said, and facts, the best first.
    quotes: Vec<QuoteForm>,
    /// The account of what was looked at, by its id.
    recall_id: String,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

/// A line of an answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Quote")]
pub struct QuoteForm {
    /// Its number in the receipt.
    number: usize,
    /// The day, `2026-05-04`.
    day: String,
    /// Who said it, and what must be known of it; empty for the user's own words without a name.
    label: String,
    /// The words.
    text: String,
    /// The record.
    id: String,
    /// Where its words stand.
    sources: Vec<QuoteSourceForm>,
    /// How much speaks for it, 0 to 1.
    evidence: f32,
}

/// Where the words of a quote stand.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "QuoteSource")]
pub struct QuoteSourceForm {
    /// The event.
    event: String,
    /// The first byte of its text.
    start: u32,
    /// The byte behind the last.
    end: u32,
}

impl AnswerForm {
    /// Returns the form of an answer with its gaps.
    pub fn new(answer: &Answer, of: &[Gap]) -> Self {
        Self {
            known: !answer.quotes.is_empty(),
            quotes: answer.quotes.iter().map(QuoteForm::from).collect(),
            recall_id: answer.receipt.id.to_string(),
            gaps: gaps(of),
        }
    }
}

impl From<&Quote> for QuoteForm {
    fn from(quote: &Quote) -> Self {
        Self {
            number: quote.number,
            day: quote.day.clone(),
            label: quote.label.clone(),
            text: quote.text.clone(),
            id: quote.record.to_string(),
            sources: quote.sources.iter().map(QuoteSourceForm::from).collect(),
            evidence: quote.evidence,
        }
    }
}

impl From<&Source> for QuoteSourceForm {
    fn from(source: &Source) -> Self {
        let Span { start, end } = source.span;
        Self { event: source.event.to_string(), start, end }
    }
}

/// Returns day and speaker of a quote, `2026-05-04 Ann`.
pub fn quoted_by(quote: &Quote) -> String {
    let label = if quote.label.is_empty() { String::new() } else { format!(" {}", quote.label) };
    format!("{}{label}", quote.day)
}
