//! JSON forms of answers, written by hand so that internal changes cannot alter them. Forms that the server also returns are
//! defined there.

use std::collections::HashMap;

use mnemal::context::ScorePart;
use mnemal::events::StoredNote;
use mnemal::types::Span;
use mnemal::{EventId, Gap, Receipt};
pub(crate) use mnemal_server::wire::{
    AckForm, AnswerForm, EXPIRED, ErasureForm, EventForm, FactExplanationForm, GapForm, MemoryForm,
    NOT_KNOWN, ReleasedForm, ReportForm, SessionForm, durability, gaps, kind_named, quoted_by,
};
use serde::Serialize;

/// A stored note.
#[derive(Debug, Serialize)]
pub(crate) struct StoredForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) event_id: String,
    pub(crate) version: u32,
    pub(crate) created: bool,
    pub(crate) durability: &'static str,
    pub(crate) redactions: u32,
    pub(crate) gaps: Vec<GapForm>,
}

impl StoredForm {
    /// Builds the form of an answer with its gaps.
    pub(crate) fn new(stored: &StoredNote, of: &[Gap]) -> Self {
        Self {
            id: stored.id.map(|id| id.to_string()),
            event_id: stored.event.to_string(),
            version: stored.version,
            created: stored.created,
            durability: durability(stored.durability),
            redactions: stored.redactions,
            gaps: gaps(of),
        }
    }
}

/// One summand of a score.
#[derive(Debug, Serialize)]
pub(crate) struct PartForm {
    pub(crate) signal: &'static str,
    pub(crate) raw: f32,
    pub(crate) normalized: f32,
    pub(crate) weight: f32,
    pub(crate) value: f32,
}

impl From<&ScorePart> for PartForm {
    fn from(part: &ScorePart) -> Self {
        Self {
            signal: part.name,
            raw: part.raw,
            normalized: part.normalized,
            weight: part.weight,
            value: part.value,
        }
    }
}

/// The location of a line's text.
#[derive(Debug, Serialize)]
pub(crate) struct SourceForm {
    pub(crate) event_id: String,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The file, the headings and the page, for text of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
}

impl From<&mnemal::types::Source> for SourceForm {
    fn from(source: &mnemal::types::Source) -> Self {
        let Span { start, end } = source.span;
        Self { event_id: source.event.to_string(), start, end, place: None }
    }
}

/// A line of a receipt.
#[derive(Debug, Serialize)]
pub(crate) struct LineForm {
    pub(crate) block: &'static str,
    pub(crate) section: &'static str,
    pub(crate) record: String,
    pub(crate) sources: Vec<SourceForm>,
    pub(crate) trust: &'static str,
    pub(crate) level: &'static str,
    pub(crate) because: &'static str,
    pub(crate) tokens: u32,
    pub(crate) score: f32,
    pub(crate) parts: Vec<PartForm>,
}

/// An omission.
#[derive(Debug, Serialize)]
pub(crate) struct OmittedForm {
    pub(crate) record: String,
    pub(crate) section: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) score: f32,
}

/// The receipt of a context.
#[derive(Debug, Serialize)]
pub(crate) struct ReceiptForm {
    pub(crate) id: String,
    pub(crate) session: String,
    pub(crate) at: String,
    pub(crate) version: String,
    pub(crate) settings_hash: String,
    pub(crate) head: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    pub(crate) tokenizer: String,
    pub(crate) budget: u32,
    pub(crate) tokens: u32,
    pub(crate) blocks: Vec<BlockForm>,
    pub(crate) lines: Vec<LineForm>,
    pub(crate) omitted: Vec<OmittedForm>,
    pub(crate) omitted_counts: Vec<(&'static str, u32)>,
}

/// A fenced block of a receipt.
#[derive(Debug, Serialize)]
pub(crate) struct BlockForm {
    pub(crate) kind: &'static str,
    pub(crate) tokens: u32,
    pub(crate) hash: String,
}

impl From<&mnemal::context::ReceiptLine> for LineForm {
    fn from(line: &mnemal::context::ReceiptLine) -> Self {
        Self {
            block: line.block.as_str(),
            section: line.section.as_str(),
            record: line.record.to_string(),
            sources: line.sources.iter().map(SourceForm::from).collect(),
            trust: line.trust.as_str(),
            level: line.level.as_str(),
            because: line.because.as_str(),
            tokens: line.tokens.0,
            score: line.score,
            parts: line.parts.iter().map(PartForm::from).collect(),
        }
    }
}

impl From<&mnemal::context::Omitted> for OmittedForm {
    fn from(one: &mnemal::context::Omitted) -> Self {
        Self {
            record: one.record.to_string(),
            section: one.section.as_str(),
            reason: one.reason.as_str(),
            score: one.score,
        }
    }
}

impl ReceiptForm {
    /// Builds the form of a receipt; `places` holds the locations of file texts.
    pub(crate) fn with_places(receipt: &Receipt, places: &HashMap<EventId, String>) -> Self {
        let form = |source: &mnemal::types::Source| SourceForm {
            place: places.get(&source.event).cloned(),
            ..SourceForm::from(source)
        };
        let blocks = receipt.blocks.iter().map(|block| BlockForm {
            kind: block.kind.as_str(),
            tokens: block.tokens.0,
            hash: hex(&block.hash),
        });
        let lines = receipt.lines.iter().map(|line| LineForm {
            sources: line.sources.iter().map(form).collect(),
            ..LineForm::from(line)
        });
        let omitted = receipt.omitted.iter().map(OmittedForm::from);
        Self {
            id: receipt.id.to_string(),
            session: receipt.session.to_string(),
            at: receipt.at.to_string(),
            version: receipt.version.clone(),
            settings_hash: hex(&receipt.settings_hash),
            head: receipt.head.count(),
            model: receipt.model.as_ref().map(ToString::to_string),
            tokenizer: receipt.tokenizer.clone(),
            budget: receipt.budget.0,
            tokens: receipt.tokens.0,
            blocks: blocks.collect(),
            lines: lines.collect(),
            omitted: omitted.collect(),
            omitted_counts: receipt
                .omitted_counts
                .iter()
                .map(|(reason, count)| (reason.as_str(), *count))
                .collect(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}
