//! What programs read: the JSON forms of answers, written out by hand so that nothing inside can change them.

use std::collections::HashMap;

use mnemal::{
    Ack, Durability, Erasure, Event, EventId, EventKind, Gap, GapCause, Receipt, ScorePart, SessionSummary,
    Span, Stored,
};
use serde::Serialize;

/// A gap.
#[derive(Debug, Serialize)]
pub(crate) struct GapForm {
    layer: &'static str,
    cause: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_tokens: Option<u32>,
}

impl From<&Gap> for GapForm {
    fn from(gap: &Gap) -> Self {
        let mut form = Self {
            layer: gap.layer.as_str(),
            cause: gap.cause.as_str(),
            kind: None,
            behind: None,
            after_ms: None,
            dropped_tokens: None,
        };
        match gap.cause {
            GapCause::Failed(kind) => form.kind = Some(kind.as_str()),
            GapCause::TimedOut(after) => form.after_ms = Some(after.as_millis()),
            GapCause::Stale { behind } => form.behind = Some(behind),
            GapCause::Truncated { dropped } => form.dropped_tokens = Some(dropped.0),
            _ => {}
        }
        form
    }
}

/// Returns the forms of gaps.
pub(crate) fn gaps(gaps: &[Gap]) -> Vec<GapForm> {
    gaps.iter().map(GapForm::from).collect()
}

/// Returns what an acknowledgement promises.
pub(crate) fn durability(of: Durability) -> &'static str {
    match of {
        Durability::Disk => "disk",
        Durability::Process => "process",
        Durability::Dropped => "dropped",
    }
}

/// An event.
#[derive(Debug, Serialize)]
pub(crate) struct EventForm {
    pub(crate) id: String,
    pub(crate) seq: u64,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) speaker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<&'static str>,
    pub(crate) trust: &'static str,
    pub(crate) level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quarantined: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<mnemal::Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) occurred_at: Option<String>,
    pub(crate) recorded_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) erased_at: Option<String>,
}

impl From<&Event> for EventForm {
    fn from(event: &Event) -> Self {
        let kept = event.kept();
        let (tool_name, ok) = match kept.map(|kept| &kept.kind) {
            Some(EventKind::ToolCall { tool }) => (Some(tool.to_string()), None),
            Some(EventKind::ToolResult { tool, ok }) => (Some(tool.to_string()), Some(*ok)),
            _ => (None, None),
        };
        let erased_at = match event.body {
            mnemal::Body::Erased { at } => Some(at.to_string()),
            mnemal::Body::Kept(_) => None,
        };
        Self {
            id: event.id.to_string(),
            seq: event.seq.0,
            kind: kept.map_or("erased", |kept| kind(&kept.kind)),
            role: event.role.as_str(),
            tool_name,
            ok,
            content: kept.map(|kept| kept.content.clone()),
            speaker: kept.and_then(|kept| kept.speaker.as_ref()).map(ToString::to_string),
            session: kept.map(|kept| kept.session.to_string()),
            channel: kept.map(|kept| kept.channel.to_string()),
            user: kept.and_then(|kept| kept.user.as_ref()).map(ToString::to_string),
            parent_id: kept.and_then(|kept| kept.parent).map(|id| id.to_string()),
            origin: kept.map(|kept| kept.origin.as_str()),
            trust: event.trust.as_str(),
            level: event.level.as_str(),
            quarantined: event.quarantined.as_ref().map(ToString::to_string),
            metadata: kept.filter(|kept| !kept.metadata.is_empty()).map(|kept| kept.metadata.clone()),
            occurred_at: kept.map(|kept| kept.occurred_at.to_string()),
            recorded_at: event.recorded_at.to_string(),
            erased_at,
        }
    }
}

fn kind(of: &EventKind) -> &'static str {
    match of {
        EventKind::UserMessage | EventKind::AssistantMessage => "message",
        EventKind::ToolCall { .. } => "tool_call",
        EventKind::ToolResult { .. } => "tool_result",
        EventKind::Observation => "observation",
        EventKind::Document => "document",
        EventKind::Decision(_) => "decision",
        EventKind::Operation(_) => "operation",
        _ => "other",
    }
}

/// A conversation.
#[derive(Debug, Serialize)]
pub(crate) struct SessionForm {
    pub(crate) id: String,
    pub(crate) channel: String,
    pub(crate) event_count: u64,
    pub(crate) first_at: String,
    pub(crate) last_at: String,
}

impl From<&SessionSummary> for SessionForm {
    fn from(one: &SessionSummary) -> Self {
        Self {
            id: one.session.to_string(),
            channel: one.channel.to_string(),
            event_count: one.events,
            first_at: one.first_at.to_string(),
            last_at: one.last_at.to_string(),
        }
    }
}

/// An acknowledged event.
#[derive(Debug, Serialize)]
pub(crate) struct AckForm {
    pub(crate) id: String,
    pub(crate) seq: u64,
    pub(crate) durability: &'static str,
    pub(crate) duplicate: bool,
    pub(crate) redactions: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quarantined: Option<String>,
}

impl From<&Ack> for AckForm {
    fn from(ack: &Ack) -> Self {
        Self {
            id: ack.id.to_string(),
            seq: ack.seq.0,
            durability: durability(ack.durability),
            duplicate: ack.duplicate,
            redactions: ack.redactions,
            quarantined: ack.quarantined.as_ref().map(ToString::to_string),
        }
    }
}

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
    /// Returns the form of an answer with its gaps.
    pub(crate) fn new(stored: &Stored, of: &[Gap]) -> Self {
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

/// What a forget did.
#[derive(Debug, Serialize)]
pub(crate) struct ErasureForm {
    pub(crate) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event_id: Option<String>,
    pub(crate) ids: Vec<String>,
    pub(crate) events: u64,
    pub(crate) learnings: u64,
    pub(crate) receipts: u64,
    pub(crate) completions: u64,
    pub(crate) working: u64,
    pub(crate) files: u64,
    pub(crate) wal_checkpoint: &'static str,
    pub(crate) verified: bool,
    pub(crate) residual: Vec<String>,
    /// What says nearly the same and is not selected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) similar: Vec<SimilarForm>,
    /// By which exactly this can be confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) confirm: Option<String>,
    /// The signed account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<String>,
}

/// A record that says nearly what is to be forgotten.
#[derive(Debug, Serialize)]
pub(crate) struct SimilarForm {
    pub(crate) event_id: String,
    pub(crate) likeness: f32,
}

impl From<&Erasure> for ErasureForm {
    fn from(erasure: &Erasure) -> Self {
        Self {
            status: erasure.status.as_str(),
            event_id: erasure.event.map(|id| id.to_string()),
            ids: erasure.ids.iter().map(ToString::to_string).collect(),
            events: erasure.events,
            learnings: erasure.learnings,
            receipts: erasure.receipts,
            wal_checkpoint: if erasure.truncated { "truncated" } else { "pending" },
            verified: erasure.verified,
            residual: erasure.residual.clone(),
            completions: erasure.completions,
            working: erasure.working,
            files: erasure.files,
            similar: erasure
                .similar
                .iter()
                .map(|one| SimilarForm { event_id: one.event.to_string(), likeness: one.likeness })
                .collect(),
            confirm: None,
            receipt: erasure.receipt.as_ref().map(|receipt| receipt.as_str().to_owned()),
        }
    }
}

/// One summand of a score.
#[derive(Debug, Serialize)]
pub(crate) struct PartForm {
    pub(crate) signal: &'static str,
    pub(crate) raw: f32,
    pub(crate) normalised: f32,
    pub(crate) weight: f32,
    pub(crate) value: f32,
}

impl From<&ScorePart> for PartForm {
    fn from(part: &ScorePart) -> Self {
        Self {
            signal: part.name,
            raw: part.raw,
            normalised: part.normalised,
            weight: part.weight,
            value: part.value,
        }
    }
}

/// Where a line's text stands.
#[derive(Debug, Serialize)]
pub(crate) struct SourceForm {
    pub(crate) event_id: String,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The file, the headings and the page, where it is text of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
}

impl From<&mnemal::Source> for SourceForm {
    fn from(source: &mnemal::Source) -> Self {
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

/// What was left out.
#[derive(Debug, Serialize)]
pub(crate) struct OmittedForm {
    pub(crate) record: String,
    pub(crate) section: &'static str,
    pub(crate) reason: &'static str,
    pub(crate) score: f32,
}

/// The account of a context.
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

impl From<&mnemal::ReceiptLine> for LineForm {
    fn from(line: &mnemal::ReceiptLine) -> Self {
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

impl From<&mnemal::Omitted> for OmittedForm {
    fn from(one: &mnemal::Omitted) -> Self {
        Self {
            record: one.record.to_string(),
            section: one.section.as_str(),
            reason: one.reason.as_str(),
            score: one.score,
        }
    }
}

impl ReceiptForm {
    /// Returns the form of a receipt; `places` says where texts of files stand.
    pub(crate) fn with_places(receipt: &Receipt, places: &HashMap<EventId, String>) -> Self {
        let form = |source: &mnemal::Source| SourceForm {
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
