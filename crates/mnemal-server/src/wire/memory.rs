//! Notes and learnings, and what became of storing and forgetting.

use mnemal::{Erasure, Memory, Stored};
use mnemal_core::{EventId, Gap, Learning, Leave, NoteKey, Tag, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::{GapForm, durability, gaps};

/// A memory: a note, or what was learnt.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Memory")]
pub(crate) struct MemoryForm {
    /// Its id.
    id: String,
    /// Its stable name.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// `knowledge`, `preference`, `anti_pattern`, `tool`, `insight`; `timeline` for the entry of a conversation.
    kind: &'static str,
    /// Slash path.
    category: String,
    /// The words.
    pub(crate) content: String,
    /// Words that are attached.
    tags: Vec<String>,
    /// What it is about.
    topics: Vec<String>,
    /// Given when it was stored, 0 to 1.
    importance: f32,
    /// How far it may be believed.
    trust: &'static str,
    /// What it may become.
    level: &'static str,
    /// `active`, `superseded`, `archived`, `candidate` or `rejected`.
    status: &'static str,
    /// Under its key, from 1.
    version: u32,
    /// `told` or `inferred`.
    basis: &'static str,
    /// Probability that it is true, 0 to 1.
    confidence: f32,
    /// What is left of it by now, 0 to 1.
    weight: f32,
    /// Whether the person must agree before it is acted on.
    requires_user_permission: bool,
    /// The conversation.
    session: String,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The tool that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// The events that it rests on.
    source_event_ids: Vec<String>,
    /// When it was said.
    occurred_at: String,
    /// When it was stored.
    created_at: String,
    /// When it ends to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// What took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
}

/// The category of the entries of conversations.
const TIMELINE: &str = "timeline";

impl MemoryForm {
    pub(crate) fn new(memory: &Memory, row: &Learning, now: Timestamp) -> Self {
        let is_entry = row.category.as_str().split('/').next() == Some(TIMELINE);
        Self {
            id: row.id.to_string(),
            key: row.key.as_ref().map(ToString::to_string),
            kind: if is_entry { TIMELINE } else { row.kind.as_str() },
            category: row.category.to_string(),
            content: row.content.clone(),
            tags: row.tags.iter().map(Tag::to_string).collect(),
            topics: row.topics.clone(),
            importance: row.importance.get(),
            trust: row.trust.as_str(),
            level: row.level.as_str(),
            status: row.status.as_str(),
            version: row.version,
            basis: row.basis.as_str(),
            confidence: row.confidence.get(),
            weight: memory.engine().weight(row, now),
            requires_user_permission: row.leave == Leave::Asked,
            session: row.session.to_string(),
            user: row.user.as_ref().map(ToString::to_string),
            tool: row.tool.as_ref().map(ToString::to_string),
            source_event_ids: row.sources.iter().map(|source| source.event.to_string()).collect(),
            occurred_at: row.occurred_at.to_string(),
            created_at: row.created_at.to_string(),
            expires_at: row.expires_at.map(|at| at.to_string()),
            superseded_by: row.superseded_by.map(|id| id.to_string()),
        }
    }
}

/// What became of a memory that was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Stored")]
pub(crate) struct StoredForm {
    /// The memory; none when it could not be made in time, which is a gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Its stable name.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Under its key, from 1.
    version: u32,
    /// The event that stored it; its id never changes.
    event_id: String,
    /// Whether this call made it.
    created: bool,
    /// One that says nearly the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as: Option<String>,
    /// `active`, `superseded` by the user's own words, `quarantined`, or `pending`.
    status: &'static str,
    /// `disk` survives a power cut, `process` the end of the process.
    durability: &'static str,
    /// Secrets that were replaced.
    redactions: u32,
    /// `pending`: what is read in it comes later; it can be recalled already.
    enrich: &'static str,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

impl StoredForm {
    pub(crate) fn new(stored: &Stored, key: Option<&NoteKey>, status: &'static str, of: &[Gap]) -> Self {
        Self {
            id: stored.id.map(|id| id.to_string()),
            key: key.map(ToString::to_string),
            version: stored.version,
            event_id: stored.event.to_string(),
            created: stored.created,
            same_as: stored.alike.map(|alike| alike.id.to_string()),
            status,
            durability: durability(stored.durability),
            redactions: stored.redactions,
            enrich: "pending",
            gaps: gaps(of),
        }
    }
}

/// What a forget did, or would do.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Erasure")]
pub(crate) struct ErasureForm {
    /// `preview`, `erased` or `erased_pending_checkpoint`.
    status: &'static str,
    /// The decision in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    /// The events concerned.
    ids: Vec<String>,
    /// Bodies of events.
    events: u64,
    /// Memories that rested on them alone.
    learnings_invalidated: u64,
    /// Lines of receipts, and of what sessions were shown.
    receipts: u64,
    /// Answers of language models that had read them.
    completions: u64,
    /// Entries of working memory.
    working: u64,
    /// Copies of files.
    files: u64,
    /// `truncated`, or `pending` while a reader holds it.
    wal_checkpoint: &'static str,
    /// Whether the bytes of the space were searched and hold none of the texts.
    verified: bool,
    /// What cannot be reached.
    residual: Vec<String>,
    /// What the second call says, of a preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm_token: Option<String>,
    /// When it ends to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

impl ErasureForm {
    /// Returns the form of a preview with the token that confirms it.
    pub(crate) fn of_preview(preview: &Erasure, (token, ends): (String, Timestamp)) -> Self {
        let (confirm_token, expires_at) = (Some(token), Some(ends.to_string()));
        Self { confirm_token, expires_at, ..Self::from(preview) }
    }
}

impl From<&Erasure> for ErasureForm {
    fn from(erasure: &Erasure) -> Self {
        Self {
            status: erasure.status.as_str(),
            event_id: erasure.event.map(|id| id.to_string()),
            ids: erasure.ids.iter().map(EventId::to_string).collect(),
            events: erasure.events,
            learnings_invalidated: erasure.learnings,
            receipts: erasure.receipts,
            completions: erasure.completions,
            working: erasure.working,
            files: erasure.files,
            wal_checkpoint: if erasure.truncated { "truncated" } else { "pending" },
            verified: erasure.verified,
            residual: erasure.residual.clone(),
            confirm_token: None,
            expires_at: None,
        }
    }
}
