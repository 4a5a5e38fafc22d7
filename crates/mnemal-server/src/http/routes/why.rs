//! Explanations: provenance, omissions, belief diffs, and receipt verification.

use mnemal::context::{ContextOutcome, ReceiptCheck, Why, WhyNot};
use mnemal::events::ErasureReceipt;
use mnemal::graph::{BeliefChange, SourceSentence};
use mnemal::learnings::Feedback;
use mnemal_core::{Judgment, Omitted, ReceiptId, RecordRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::Right;
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;
use crate::wire::{FactExplanationForm, GapForm, LineForm, OmittedForm, gaps};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "why",
            "/v1/spaces/{space}/why/{id}",
            "The words on which a record rests, and what an earlier context made of it.",
            (of::<WhyForm>, |call| Box::pin(why(call))),
        )
        .query(of::<WhyQuery>),
        Route::get(
            "why_not",
            "/v1/spaces/{space}/why-not/{id}",
            "Why a context for a question does not have a record.",
            (of::<WhyNotForm>, |call| Box::pin(why_not(call))),
        )
        .query(of::<WhyNotQuery>),
        Route::get(
            "diff",
            "/v1/spaces/{space}/diff",
            "What came to be believed between two moments, was dropped or changed.",
            (of::<ChangesForm>, |call| Box::pin(diff(call))),
        )
        .query(of::<DiffQuery>),
        Route::post(
            "recall_verify",
            "/v1/spaces/{space}/recalls/{id}/verify",
            "Checks the account of an earlier context against the log, and against its text.",
            (of::<VerifyBody>, of::<CheckForm>, |call| Box::pin(verify(call))),
        )
        .right(Right::Read),
        Route::post(
            "recall_feedback",
            "/v1/spaces/{space}/recalls/{id}/feedback",
            "Says what an item of an earlier context was found to be.",
            (of::<FeedbackBody>, of::<FeedbackForm>, |call| Box::pin(feedback(call))),
        ),
        Route::post(
            "receipt_verify",
            "/v1/receipts/verify",
            "Checks the signature of the receipt of a forget.",
            (of::<ErasureBody>, of::<SignatureForm>, |call| Box::pin(async move { signature(&call) })),
        )
        .right(Right::Read),
    ]
}

/// Which earlier context.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct WhyQuery {
    /// The account of a context; without it only the words are told.
    recall: Option<String>,
}

/// For which question.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WhyNotQuery {
    /// The question.
    query: String,
}

/// Between which moments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DiffQuery {
    /// The earlier one.
    from: String,
    /// The later one; now without it.
    #[serde(default)]
    to: Option<String>,
}

/// What was shown.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Verify")]
struct VerifyBody {
    /// The text of the context, to compare its blocks; without it only the log is.
    text: Option<String>,
}

/// A verdict.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GiveFeedback")]
struct FeedbackBody {
    /// The item: `evt_…`, `mem_…` or `fct_…`.
    item_id: String,
    /// `useful`, `irrelevant` or `wrong`.
    verdict: String,
}

/// What an item of a context was found to be.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Feedback")]
struct FeedbackForm {
    /// The event that says so.
    event_id: String,
    /// The account of the context.
    recall_id: String,
    /// The item.
    item_id: String,
    /// `useful`, `irrelevant` or `wrong`.
    verdict: &'static str,
    /// Whose verdict it is: `user` or `agent`.
    level: &'static str,
    /// When it was given.
    at: String,
}

impl From<&Feedback> for FeedbackForm {
    fn from(of: &Feedback) -> Self {
        Self {
            event_id: of.event.to_string(),
            recall_id: of.recall.to_string(),
            item_id: of.record.to_string(),
            verdict: of.verdict.as_str(),
            level: of.level.as_str(),
            at: of.at.to_string(),
        }
    }
}

/// The receipt of a forget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ErasureReceipt")]
struct ErasureBody {
    /// All of it, as it was handed out.
    receipt: String,
}

/// Words in the log.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Words")]
struct SourceTextForm {
    /// The event.
    event: String,
    /// The first byte in its text.
    start: u32,
    /// One past the last.
    end: u32,
    /// When it happened.
    at: String,
    /// Who said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    /// The words.
    text: String,
}

impl From<&SourceSentence> for SourceTextForm {
    fn from(of: &SourceSentence) -> Self {
        let span = of.source.span;
        Self {
            event: of.source.event.to_string(),
            start: span.start,
            end: span.end,
            at: of.at.to_string(),
            speaker: of.speaker.as_ref().map(ToString::to_string),
            text: of.text.clone(),
        }
    }
}

/// On what a record rests.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Why")]
struct WhyForm {
    /// The record.
    id: String,
    /// What it says.
    text: String,
    /// What made it; an event has nothing that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    producer: Option<String>,
    /// The words.
    evidence: Vec<SourceTextForm>,
    /// Of a fact: what it was weighed against.
    #[serde(skip_serializing_if = "Option::is_none")]
    weighing: Option<FactExplanationForm>,
    /// The line that it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<LineForm>,
    /// Why it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<OmittedForm>,
    /// Omissions that are only counted, where it is neither: it may be one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<u32>,
    /// What it was found to be in earlier contexts, in the order of the log.
    feedback: Vec<FeedbackForm>,
}

impl From<&Why> for WhyForm {
    fn from(why: &Why) -> Self {
        let (line, omitted, counted) = match &why.shown {
            Some(ContextOutcome::Line(line)) => (Some(LineForm::from(line.as_ref())), None, None),
            Some(ContextOutcome::Omitted(omitted)) => (None, Some(OmittedForm::from(omitted)), None),
            Some(ContextOutcome::Unlisted { counted }) => (None, None, Some(*counted)),
            None => (None, None, None),
        };
        Self {
            id: why.record.to_string(),
            text: why.text.clone(),
            producer: why.producer.as_ref().map(|by| format!("{} {}", by.id, by.version)),
            evidence: why.evidence.iter().map(SourceTextForm::from).collect(),
            weighing: why.explanation.as_ref().map(FactExplanationForm::from),
            line,
            omitted,
            counted,
            feedback: why.feedback.iter().map(FeedbackForm::from).collect(),
        }
    }
}

/// Why a context does not have a record.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WhyNot")]
struct WhyNotForm {
    /// The record.
    id: String,
    /// `shown`, `omitted`, `behind` or `barred`.
    outcome: &'static str,
    /// Of `omitted` the reason, of `barred` what it never passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The section that has it, or considered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<&'static str>,
    /// Its place in the ranking, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    /// Its score.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
    /// What the answer lacks.
    gaps: Vec<GapForm>,
}

impl WhyNotForm {
    fn new(record: RecordRef, why: WhyNot, gaps: Vec<GapForm>) -> Self {
        let blank = Self {
            id: record.to_string(),
            outcome: "",
            reason: None,
            section: None,
            rank: None,
            score: None,
            gaps,
        };
        match why {
            WhyNot::Shown(line) => Self {
                outcome: "shown",
                section: Some(line.section.as_str()),
                score: Some(line.score),
                ..blank
            },
            WhyNot::Omitted { omitted: Omitted { section, reason, score, .. }, ranked } => Self {
                outcome: "omitted",
                reason: Some(reason.as_str().to_owned()),
                section: Some(section.as_str()),
                rank: ranked.map(|(rank, _)| rank),
                score: Some(score),
                ..blank
            },
            WhyNot::Behind { rank, score } => {
                Self { outcome: "behind", rank: Some(rank), score: Some(score), ..blank }
            }
            WhyNot::Barred(gate) => Self { outcome: "barred", reason: Some(gate.to_string()), ..blank },
        }
    }
}

/// How belief changed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Changes")]
struct ChangesForm {
    /// The earlier moment.
    from: String,
    /// The later one.
    to: String,
    /// Oldest first.
    changes: Vec<ChangeForm>,
}

/// One change of belief.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Change")]
struct ChangeForm {
    /// `fact` or `memory`.
    kind: &'static str,
    /// `believed`, `dropped` or `changed`.
    change: &'static str,
    /// When.
    at: String,
    /// The record that is believed now, or was.
    id: String,
    /// What was believed.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// What is.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// The event that brought it about.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// The words on which it rests.
    evidence: Vec<SourceTextForm>,
}

impl ChangeForm {
    fn new(kind: &'static str, change: &BeliefChange) -> Self {
        Self {
            kind,
            change: change.kind.as_str(),
            at: change.at.to_string(),
            id: change.record.clone(),
            before: change.before.clone(),
            after: change.after.clone(),
            cause: change.cause.map(|cause| cause.to_string()),
            evidence: change.evidence.iter().map(SourceTextForm::from).collect(),
        }
    }
}

/// What a check of an account found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Check")]
struct CheckForm {
    /// Whether everything holds.
    holds: bool,
    /// Lines of the account.
    lines: usize,
    /// Those whose words are all in the log.
    resolved: usize,
    /// Those whose record still has the text that was shown.
    same: usize,
    /// Those of which only the sources can be checked.
    not_compared: usize,
    /// Blocks of the text that are those of the account.
    blocks: usize,
    /// What does not hold, a sentence each.
    findings: Vec<String>,
}

impl From<ReceiptCheck> for CheckForm {
    fn from(check: ReceiptCheck) -> Self {
        Self {
            holds: check.findings.is_empty(),
            lines: check.lines,
            resolved: check.resolved,
            same: check.same,
            not_compared: check.not_compared,
            blocks: check.blocks,
            findings: check.findings,
        }
    }
}

/// A signature that holds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Signature")]
struct SignatureForm {
    /// Who signed, as the receipt says.
    public_key: String,
    /// What the receipt says, in its order: name and value.
    fields: Vec<(String, String)>,
}

async fn why(call: Call) -> Result<Reply, Problem> {
    let query: WhyQuery = call.query()?;
    let memory = call.memory().await?;
    let receipt = query.recall.as_deref().map(account).transpose()?;
    let record = memory.admin().record_named(call.name(1), receipt).await.map_err(|error| {
        if error.kind() == mnemal_core::ErrorKind::Invalid && receipt.is_none() {
            Problem::not_found(format!("no record {:?}", call.name(1)))
        } else {
            Problem::from(error)
        }
    })?;
    Reply::ok(&WhyForm::from(&memory.admin().why(record, receipt).await?))
}

async fn why_not(call: Call) -> Result<Reply, Problem> {
    let WhyNotQuery { query } = call.query()?;
    let (memory, record) = (call.memory().await?, record(&call)?);
    let answer = memory.admin().why_not(record, &query).await?;
    Reply::ok(&WhyNotForm::new(record, answer.value, gaps(&answer.gaps)))
}

async fn diff(call: Call) -> Result<Reply, Problem> {
    let query: DiffQuery = call.query()?;
    let memory = call.memory().await?;
    let from = call.time("from", Some(&query.from))?.unwrap_or(mnemal_core::Timestamp::EPOCH);
    let to = call.time("to", query.to.as_deref())?.unwrap_or_else(|| memory.admin().engine().now());
    let changes = memory.facts().diff(from, to).await?;
    let mut all: Vec<(&'static str, &BeliefChange)> =
        changes.facts.iter().map(|change| ("fact", change)).collect();
    all.extend(changes.learnings.iter().map(|change| ("memory", change)));
    all.sort_by_key(|(_, change)| change.at);
    let changes = all.into_iter().map(|(kind, change)| ChangeForm::new(kind, change)).collect();
    Reply::ok(&ChangesForm { from: from.to_string(), to: to.to_string(), changes })
}

async fn verify(call: Call) -> Result<Reply, Problem> {
    let VerifyBody { text } = call.body()?;
    let id = account(call.name(1))?;
    let check = call.memory().await?.admin().check_receipt(id, text.as_deref()).await?;
    Reply::ok(&CheckForm::from(check))
}

async fn feedback(call: Call) -> Result<Reply, Problem> {
    let FeedbackBody { item_id, verdict } = call.body()?;
    let recall = account(call.name(1))?;
    let record = item_id
        .parse()
        .map_err(|_| Problem::invalid("item_id must be an id of that context: evt_…, mem_… or fct_…"))?;
    let verdict = Judgment::from_name(&verdict)
        .ok_or_else(|| Problem::invalid("verdict must be useful, irrelevant or wrong"))?;
    let given = call.memory().await?.preferences().feedback(recall, record, verdict).await?;
    Reply::ok(&FeedbackForm::from(&given.value))
}

fn signature(call: &Call) -> Result<Reply, Problem> {
    let ErasureBody { receipt } = call.body()?;
    // An invalid receipt is an error of the caller, not of the server.
    let verified = ErasureReceipt::from_text(receipt).verify();
    let verified = verified.map_err(|error| Problem::invalid(error.what()))?;
    Reply::ok(&SignatureForm { public_key: verified.public_key, fields: verified.fields })
}

fn account(name: &str) -> Result<ReceiptId, Problem> {
    name.parse().map_err(|_| Problem::not_found(format!("no recall {name:?}")))
}

fn record(call: &Call) -> Result<RecordRef, Problem> {
    let name = call.name(1);
    name.parse().map_err(|_| Problem::not_found(format!("no record {name:?}")))
}
