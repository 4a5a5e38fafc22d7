//! Responses of recall and context, and receipts.

use mnemal::context::LineUse;
use mnemal::recall::MatchReason;
use mnemal::{Context, Hit, RecallResult};
use mnemal_core::{
    Decision, Event, EventId, EventKind, Gap, Omitted, Receipt, ReceiptLine, RecordRef, ScorePart, Source,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::{Fields, GapForm, event_fields, gaps};

/// One summand of a score.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ScorePart")]
pub(crate) struct PartForm {
    /// Which.
    signal: &'static str,
    /// As it was measured.
    raw: f32,
    /// Between 0 and 1.
    normalized: f32,
    /// What it weighs.
    weight: f32,
    /// What it adds.
    value: f32,
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

/// Level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Basic fields.
    Plain,
    /// With the parts of scores, and the omissions.
    Explained,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
pub(crate) struct HitForm {
    /// The event.
    id: String,
    /// `event` or `memory`.
    kind: &'static str,
    /// The words.
    pub(crate) text: String,
    /// 0 to 1.
    score: f32,
    /// Where it stands, when not in the space that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<String>,
    /// The stable name of a memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The category of a memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// The tags of a memory.
    tags: Vec<String>,
    /// What its writer added.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Fields>,
    /// Who speaks.
    role: &'static str,
    /// The name of who speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    /// The conversation.
    session: String,
    /// Who put the words in.
    origin: &'static str,
    /// How far it may be believed.
    trust: &'static str,
    /// What it may become.
    level: &'static str,
    /// When it was said.
    occurred_at: String,
    /// The events that it rests on.
    source_event_ids: Vec<String>,
    /// Which arm found it.
    found_by: &'static str,
    /// The rule that holds it back, where that was asked for too.
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantined: Option<String>,
    /// What the score is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<ExplainForm>,
}

/// What a score is made of.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Explain")]
pub(crate) struct ExplainForm {
    /// The summands that are not 0, largest first.
    arms: Vec<PartForm>,
    /// Their sum, as it ranks.
    r#final: f32,
}

impl HitForm {
    /// Returns the form of a hit; `None` for one that was erased meanwhile.
    pub(crate) fn new(hit: &Hit, detail: Detail) -> Option<Self> {
        let form = Self::of(&hit.event, hit.score.get(), hit.found_by.as_str())?;
        let space = hit.space.as_ref().map(ToString::to_string);
        Some(Self { space, explain: (detail == Detail::Explained).then(|| explained(hit)), ..form })
    }

    /// Returns the form of an event; `None` for an erased one.
    fn of(event: &Event, score: f32, found_by: &'static str) -> Option<Self> {
        let Event { id, trust, level, role, .. } = event;
        let kept = event.body()?;
        let note = match &kept.kind {
            EventKind::Decision(Decision::Remember(note)) => Some(note),
            _ => None,
        };
        Some(Self {
            id: id.to_string(),
            kind: if note.is_some() { "memory" } else { "event" },
            text: kept.content.clone(),
            score,
            space: None,
            key: note.and_then(|note| note.key.as_ref()).map(ToString::to_string),
            category: note.map(|note| note.category.to_string()),
            tags: note.map(|note| note.tags.iter().map(ToString::to_string).collect()).unwrap_or_default(),
            metadata: Some(event_fields(&kept.metadata)).filter(|fields| !fields.is_empty()),
            role: role.as_str(),
            speaker: kept.speaker.as_ref().map(ToString::to_string),
            session: kept.session.to_string(),
            origin: kept.origin.as_str(),
            trust: trust.as_str(),
            level: level.as_str(),
            occurred_at: kept.occurred_at.to_string(),
            source_event_ids: vec![id.to_string()],
            found_by,
            quarantined: event.quarantined.as_ref().map(ToString::to_string),
            explain: None,
        })
    }
}

fn explained(hit: &Hit) -> ExplainForm {
    let mut parts: Vec<&ScorePart> = hit.parts.iter().filter(|part| part.value != 0.0).collect();
    parts.sort_by(|one, two| two.value.abs().total_cmp(&one.value.abs()));
    ExplainForm { arms: parts.into_iter().map(PartForm::from).collect(), r#final: hit.score.get() }
}

/// What recall answers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RecallResult")]
pub(crate) struct RecallResultForm {
    /// Best first.
    pub(crate) hits: Vec<HitForm>,
    /// The arms that answered.
    used_mode: &'static str,
    /// Tokens of the texts.
    tokens: u32,
    /// Whether hits were cut off to stay within the tokens.
    truncated: bool,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

impl RecallResultForm {
    /// Returns the form; hits beyond a number of tokens are dropped.
    pub(crate) fn new(
        found: &RecallResult,
        of: &[Gap],
        detail: Detail,
        within: (u32, impl Fn(&str) -> u32),
    ) -> Self {
        let (most, count) = within;
        let (mut hits, mut tokens, mut truncated) = (Vec::new(), 0_u32, false);
        for form in found.hits.iter().filter_map(|hit| HitForm::new(hit, detail)) {
            let more = tokens.saturating_add(count(&form.text));
            if more > most {
                truncated = true;
                break;
            }
            tokens = more;
            hits.push(form);
        }
        Self { hits, used_mode: found.used.as_str(), tokens, truncated, gaps: gaps(of) }
    }

    /// Adds a quarantined event, if its text still fits within a number of tokens; its score is not comparable with those before
    /// it.
    pub(crate) fn add_held(&mut self, event: &Event, score: f32, within: (u32, impl Fn(&str) -> u32)) {
        let (most, count) = within;
        let Some(form) = HitForm::of(event, score, MatchReason::Words.as_str()) else { return };
        let more = self.tokens.saturating_add(count(&form.text));
        if self.truncated || more > most {
            self.truncated = true;
            return;
        }
        self.tokens = more;
        self.hits.push(form);
    }
}

/// A context.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Context")]
pub(crate) struct ContextForm {
    /// The account of it, by its id.
    recall_id: String,
    /// The blocks, one after the other.
    text: String,
    /// At most the budget.
    tokens: u32,
    /// The limit.
    budget: u32,
    /// Something is asked, and nothing that is known answers it.
    no_match: bool,
    /// The parts by how long they stay the same.
    blocks: Vec<BlockForm>,
    /// The parts by what they say.
    sections: Vec<SectionForm>,
    /// What was left out, when it was asked.
    omitted: Vec<OmittedForm>,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

/// A block of a context.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Block")]
pub(crate) struct BlockForm {
    /// `stable`, `session` or `volatile`.
    name: &'static str,
    /// Its tokens.
    tokens: u32,
    /// The same text has the same hash.
    hash: String,
}

/// A section of a context.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Section")]
pub(crate) struct SectionForm {
    /// Which.
    name: &'static str,
    /// What it could claim.
    budget: u32,
    /// What it used.
    used: u32,
    /// Its lines.
    items: Vec<LineForm>,
}

/// A line of a context.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Line")]
pub(crate) struct LineForm {
    /// The record.
    id: String,
    /// `event`, `memory` or `fact`.
    kind: &'static str,
    /// Its tokens.
    tokens: u32,
    /// What ranked it; 0 for a line that was not ranked.
    score: f32,
    /// Why it is in.
    because: &'static str,
    /// How far it may be believed.
    trust: &'static str,
    /// What it may become.
    level: &'static str,
    /// The events that it rests on.
    source_event_ids: Vec<String>,
}

/// What was left out.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Omitted")]
pub(crate) struct OmittedForm {
    /// The record.
    id: String,
    /// `event`, `memory` or `fact`.
    kind: &'static str,
    /// The section that considered it.
    section: &'static str,
    /// Why not.
    reason: &'static str,
}

/// Maximum number of listed omissions. Source: own default, a readable list.
const OMITTED: usize = 100;

impl ContextForm {
    pub(crate) fn new(context: &Context, of: &[Gap], detail: Detail) -> Self {
        let receipt = &context.receipt;
        let sections = context.sections.iter().map(|one| SectionForm {
            name: one.section.as_str(),
            budget: one.share.0,
            used: one.tokens.0,
            items: receipt
                .lines
                .iter()
                .filter(|line| line.section == one.section)
                .map(LineForm::from)
                .collect(),
        });
        let omitted = receipt
            .omitted
            .iter()
            .filter(|_| detail == Detail::Explained)
            .take(OMITTED)
            .map(OmittedForm::from);
        Self {
            recall_id: receipt.id.to_string(),
            text: context.text.clone(),
            tokens: context.tokens.0,
            budget: context.budget.0,
            no_match: context.no_match,
            blocks: blocks(receipt),
            sections: sections.collect(),
            omitted: omitted.collect(),
            gaps: gaps(of),
        }
    }
}

fn blocks(receipt: &Receipt) -> Vec<BlockForm> {
    let block = |block: &mnemal_core::BlockReceipt| BlockForm {
        name: block.kind.as_str(),
        tokens: block.tokens.0,
        hash: crate::auth::hex(&block.hash),
    };
    receipt.blocks.iter().map(block).collect()
}

impl From<&ReceiptLine> for LineForm {
    fn from(line: &ReceiptLine) -> Self {
        Self {
            id: line.record.to_string(),
            kind: kind(line.record),
            tokens: line.tokens.0,
            score: line.score,
            because: line.because.as_str(),
            trust: line.trust.as_str(),
            level: line.level.as_str(),
            source_event_ids: events(&line.sources),
        }
    }
}

impl From<&Omitted> for OmittedForm {
    fn from(one: &Omitted) -> Self {
        Self {
            id: one.record.to_string(),
            kind: kind(one.record),
            section: one.section.as_str(),
            reason: one.reason.as_str(),
        }
    }
}

fn events(sources: &[Source]) -> Vec<String> {
    let mut events: Vec<EventId> = sources.iter().map(|source| source.event).collect();
    events.dedup();
    events.iter().map(ToString::to_string).collect()
}

fn kind(of: RecordRef) -> &'static str {
    match of {
        RecordRef::Event(_) => "event",
        RecordRef::Learning(_) => "memory",
        RecordRef::Fact(_) => "fact",
        _ => "other",
    }
}

/// What an earlier context was, in short.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReceiptSummary")]
pub(crate) struct ReceiptSummaryForm {
    /// The id of its account.
    id: String,
    /// The conversation that was shown it.
    session: String,
    /// When.
    at: String,
    /// The limit.
    budget: u32,
    /// What it used.
    tokens: u32,
    /// How many lines it had.
    lines: usize,
    /// How many records were left out.
    omitted: u64,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

impl From<&Receipt> for ReceiptSummaryForm {
    fn from(receipt: &Receipt) -> Self {
        Self {
            id: receipt.id.to_string(),
            session: receipt.session.to_string(),
            at: receipt.at.to_string(),
            budget: receipt.budget.0,
            tokens: receipt.tokens.0,
            lines: receipt.lines.len(),
            omitted: receipt.omitted_counts.iter().map(|(_, count)| u64::from(*count)).sum(),
            gaps: gaps(&receipt.gaps),
        }
    }
}

/// The account of an earlier context.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Receipt")]
pub(crate) struct ReceiptForm {
    /// Its id.
    id: String,
    /// The conversation that was shown it.
    session: String,
    /// When.
    at: String,
    /// The version that made it.
    version: String,
    /// The place in the log up to which it knew.
    head: u64,
    /// What counted its tokens.
    tokenizer: String,
    /// The limit.
    budget: u32,
    /// What it used.
    tokens: u32,
    /// The parts by how long they stay the same.
    blocks: Vec<BlockForm>,
    /// Every line.
    lines: Vec<LineForm>,
    /// What was left out.
    omitted: Vec<OmittedForm>,
    /// What the next answer of the assistant has of it; absent if none followed within ten minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<LineUseForm>,
}

/// What an answer has of a context: an estimate by words.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LineUse")]
struct LineUseForm {
    /// The assistant's message.
    answer: String,
    /// The numbers of the lines of whose content words it has at least half, those of the question left out.
    lines: Vec<usize>,
}

impl ReceiptForm {
    /// Adds which of its lines stand in the answer that followed.
    pub(crate) fn with_use(mut self, used: Option<LineUse>) -> Self {
        self.used = used.map(|used| LineUseForm { answer: used.answer.to_string(), lines: used.lines });
        self
    }
}

impl From<&Receipt> for ReceiptForm {
    fn from(receipt: &Receipt) -> Self {
        Self {
            id: receipt.id.to_string(),
            session: receipt.session.to_string(),
            at: receipt.at.to_string(),
            version: receipt.version.clone(),
            head: receipt.head.count(),
            tokenizer: receipt.tokenizer.clone(),
            budget: receipt.budget.0,
            tokens: receipt.tokens.0,
            blocks: blocks(receipt),
            lines: receipt.lines.iter().map(LineForm::from).collect(),
            omitted: receipt.omitted.iter().take(OMITTED).map(OmittedForm::from).collect(),
            used: None,
        }
    }
}
