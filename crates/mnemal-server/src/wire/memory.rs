//! Notes and learnings, and the results of storing and forgetting.

use std::collections::BTreeMap;

use mnemal::Memory;
use mnemal::events::{Erasure, StoredNote};
use mnemal::learnings::{LearningOrigin, Objective, Sentiment, recommendation};
use mnemal_core::{Consent, EventId, Gap, Learning, LearningKind, LearningStatus, NoteKey, Tag, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::{GapForm, durability, gaps};

/// A memory: a note, or what was learnt.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Memory")]
pub struct MemoryForm {
    /// Its id.
    pub id: String,
    /// Its stable name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// `knowledge`, `preference`, `anti_pattern`, `tool`, `insight`; `timeline` for the entry of a conversation.
    pub kind: &'static str,
    /// Slash path.
    pub category: String,
    /// The words.
    pub content: String,
    /// Words that are attached.
    pub tags: Vec<String>,
    /// What it is about.
    pub topics: Vec<String>,
    /// Given when it was stored, 0 to 1.
    pub importance: f32,
    /// How far it may be believed.
    pub trust: &'static str,
    /// What it may become.
    pub level: &'static str,
    /// `active`, `expired`, `superseded`, `archived`, `candidate` or `rejected`.
    pub status: &'static str,
    /// Under its key, from 1.
    pub version: u32,
    /// `told` or `inferred`.
    pub basis: &'static str,
    /// Probability that it is true, 0 to 1.
    pub confidence: f32,
    /// What is left of it by now, 0 to 1.
    pub weight: f32,
    /// Whether the person must agree before it is acted on.
    pub requires_user_permission: bool,
    /// The conversation.
    pub session: String,
    /// Who said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The tool that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What taught it, of what was learnt: `user_feedback` or `tool_error_pattern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
    /// Whether it speaks for what it is about, of all but notes: `positive`, `neutral` or `negative`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<&'static str>,
    /// What to do because of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<String>,
    /// The kind of work that it is about, of all but notes: `research`, `code`, `email`, `communication`, `data`, `document`,
    /// `schedule` or `general`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective_type: Option<&'static str>,
    /// What an anti-pattern says, part by part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anti_pattern: Option<AntiPatternForm>,
    /// The rule that read it, of what was learnt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How often it was said, of what was learnt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports: Option<u32>,
    /// The events that it rests on.
    pub source_event_ids: Vec<String>,
    /// What its writer added, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<BTreeMap<String, serde_json::Value>>,
    /// When it was said.
    pub occurred_at: String,
    /// When it was stored.
    pub created_at: String,
    /// When what is believed of it changed last.
    pub updated_at: String,
    /// When it ends to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// What took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

/// What not to do.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AntiPattern")]
pub struct AntiPatternForm {
    /// What not to do.
    pub avoid: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do instead; without it the anti-pattern is a candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// What it is about.
    pub domain: String,
}

impl AntiPatternForm {
    /// Returns the parts of an anti-pattern; `None` for other memories.
    fn of(row: &Learning) -> Option<Self> {
        let pattern = row.pattern.clone()?;
        let domain = row.category.as_str().rsplit('/').next().unwrap_or_default().to_owned();
        Some(Self { avoid: pattern.avoid, reason: pattern.reason, instead: pattern.instead, domain })
    }
}

/// Category of timeline entries.
const TIMELINE: &str = "timeline";

/// Returns the row kind of a form's [`kind`](MemoryForm::kind): timeline entries are notes.
///
/// # Errors
/// `Invalid` for any other name, with the known ones.
pub fn kind_named(name: &str) -> mnemal::Result<LearningKind> {
    if name == TIMELINE {
        return Ok(LearningKind::Note);
    }
    LearningKind::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = LearningKind::ALL.iter().map(|kind| kind.as_str()).collect();
        mnemal::Error::invalid(format!("no kind {name:?}; there are {}, {TIMELINE}", known.join(", ")))
    })
}

/// The status of an expired memory.
pub const EXPIRED: &str = "expired";

/// Returns the status of a memory at a time.
pub(crate) fn status(row: &Learning, now: Timestamp) -> &'static str {
    let is_over = row.status == LearningStatus::Active && row.expires_at.is_some_and(|end| end <= now);
    if is_over { EXPIRED } else { row.status.as_str() }
}

impl MemoryForm {
    /// Returns the form of a memory as of a time.
    pub fn new(memory: &Memory, row: &Learning, now: Timestamp) -> Self {
        let is_learnt = row.kind != LearningKind::Note;
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
            status: status(row, now),
            version: row.version,
            basis: row.basis.as_str(),
            confidence: row.confidence.get(),
            weight: memory.admin().engine().weight(row, now),
            requires_user_permission: row.consent == Consent::Required,
            session: row.session.to_string(),
            speaker: row.speaker.as_ref().map(ToString::to_string),
            user: row.user.as_ref().map(ToString::to_string),
            tool: row.tool.as_ref().map(ToString::to_string),
            source: LearningOrigin::of(row).map(LearningOrigin::as_str),
            sentiment: is_learnt.then(|| Sentiment::of(row).as_str()),
            recommendation: recommendation(row).map(str::to_owned),
            objective_type: is_learnt.then(|| Objective::of(row).as_str()),
            anti_pattern: AntiPatternForm::of(row),
            rule: row.signal.as_ref().map(|signal| signal.rule.to_string()),
            supports: row.signal.as_ref().map(|signal| signal.supports),
            source_event_ids: row.sources.iter().map(|source| source.event.to_string()).collect(),
            metadata: None,
            occurred_at: row.occurred_at.to_string(),
            created_at: row.created_at.to_string(),
            updated_at: row.updated_at().to_string(),
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
    /// Whether it holds now; none while that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    took_effect: Option<bool>,
    /// Why it does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
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
    pub(crate) fn new(stored: &StoredNote, key: Option<&NoteKey>, status: &'static str, of: &[Gap]) -> Self {
        let took_effect = (status != "pending").then_some(status == "active");
        let reason = match (&stored.held_back, status) {
            (Some(rule), _) => Some(format!(
                "the rule {rule} holds it back until a person releases it; what was there stays"
            )),
            (None, "superseded") => Some(
                "what holds under the key is the user's own word, which an agent's does not replace"
                    .to_owned(),
            ),
            _ => None,
        };
        Self {
            id: stored.id.map(|id| id.to_string()),
            key: key.map(ToString::to_string),
            version: stored.version,
            event_id: stored.event.to_string(),
            created: stored.created,
            same_as: stored.alike.map(|alike| alike.id.to_string()),
            status,
            took_effect,
            reason,
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
pub struct ErasureForm {
    /// `preview`, `erased` or `erased_pending_checkpoint`.
    pub status: &'static str,
    /// The decision in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// The events concerned.
    pub ids: Vec<String>,
    /// Bodies of events.
    pub events: u64,
    /// Memories that rested on them alone.
    pub learnings_invalidated: u64,
    /// Lines of receipts, and of what sessions were shown.
    pub receipts: u64,
    /// Answers of language models that had read them.
    pub completions: u64,
    /// Entries of working memory.
    pub working: u64,
    /// Copies of files.
    pub files: u64,
    /// `truncated`, or `pending` while a reader holds it.
    pub wal_checkpoint: &'static str,
    /// Whether the bytes of the space were searched and hold none of the texts.
    pub verified: bool,
    /// `verified`; `gone` where no row holds them and the files of the database are out of reach; `found`, or `unsearched`.
    pub grade: &'static str,
    /// What cannot be reached.
    pub residual: Vec<String>,
    /// What says nearly the same and is not selected.
    pub similar: Vec<SimilarForm>,
    /// What the second call says, of a preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm_token: Option<String>,
    /// When it ends to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The signed account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

/// A record that says nearly what is to be forgotten.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Similar")]
pub struct SimilarForm {
    /// The event.
    event_id: String,
    /// How much of it, 0 to 1.
    likeness: f32,
}

impl ErasureForm {
    /// Returns the form of a preview with its confirmation token.
    pub fn of_preview(preview: &Erasure, (token, ends): (String, Timestamp)) -> Self {
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
            verified: erasure.verified(),
            grade: erasure.grade.as_str(),
            residual: erasure.residual.clone(),
            similar: erasure
                .similar
                .iter()
                .map(|one| SimilarForm { event_id: one.event.to_string(), likeness: one.likeness })
                .collect(),
            confirm_token: None,
            expires_at: None,
            receipt: erasure.receipt.as_ref().map(|receipt| receipt.as_str().to_owned()),
        }
    }
}
