//! Long-running work: ingestion, consolidation and their jobs.

use std::time::Duration;

use mnemal::Memory;
use mnemal::dream::{DreamCycle, DreamMode};
use mnemal::summaries::CompressionReason;
use mnemal_core::{Document, Error, ErrorKind, Gap, GapCause, OwnerId, Passage, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::http::call::Call;
use crate::http::jobs::JobForm;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;
use crate::wire::{GapForm, gaps};

/// Time that a job folds notes and facts before it checks its progress. Source: own default.
const STRETCH: Duration = Duration::from_secs(1);

pub(super) fn routes() -> Vec<Route> {
    let job = |operation, path, summary, handle| Route::post(operation, path, summary, handle).status(202);
    vec![
        job(
            "ingest",
            "/v1/spaces/{space}/ingest",
            "Reads a text in, as a document; the same text is read once.",
            (of::<IngestForm>, of::<JobForm>, |call| Box::pin(ingest(call))),
        ),
        job(
            "extract",
            "/v1/spaces/{space}/extract",
            "Reads notes and facts in what is new in the log.",
            (of::<EmptyForm>, of::<JobForm>, |call| Box::pin(extract(call))),
        )
        .whole(),
        job(
            "consolidate",
            "/v1/spaces/{space}/consolidate",
            "Brings facts, summaries and notes up to date.",
            (of::<EmptyForm>, of::<JobForm>, |call| Box::pin(consolidate(call))),
        )
        .whole(),
        job(
            "dream",
            "/v1/spaces/{space}/dream",
            "Looks over the notes; with `dry_run` only says what it would do.",
            (of::<DreamForm>, of::<JobForm>, |call| Box::pin(dream(call))),
        )
        .whole(),
        Route::post(
            "session_compress",
            "/v1/spaces/{space}/sessions/{session}/compress",
            "Makes its old turns one entry of its timeline; nothing is lost.",
            (of::<CompressForm>, of::<CompressedForm>, |call| Box::pin(compress(call))),
        )
        .asking(),
        Route::get(
            "job_list",
            "/v1/spaces/{space}/jobs",
            "Jobs of this server's life, newest first.",
            (of::<JobsForm>, |call| {
                Box::pin(async move { Reply::ok(&JobsForm { items: call.host.jobs.list(&call.space()?) }) })
            }),
        )
        .whole(),
        Route::get(
            "job_get",
            "/v1/spaces/{space}/jobs/{id}",
            "A job.",
            (of::<JobForm>, |call| {
                Box::pin(async move { Reply::ok(&call.host.jobs.get(&call.space()?, call.name(1))?) })
            }),
        )
        .whole(),
    ]
}

/// Nothing needs to be said.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Nothing")]
struct EmptyForm {}

/// A text that is read in.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Ingest")]
pub(super) struct IngestForm {
    /// The text.
    pub(super) text: String,
    /// Where it comes from.
    #[serde(default)]
    pub(super) source: Option<String>,
    /// What it is called.
    #[serde(default)]
    pub(super) title: Option<String>,
}

/// How the notes are looked over.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Dream")]
struct DreamForm {
    /// Only say what would be done.
    dry_run: bool,
}

/// What stays of a conversation as it is.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Compress")]
struct CompressForm {
    /// Tokens of the model's window, of which what is left takes at most half.
    budget_tokens: Option<u32>,
    /// Turns that stay; 6 without it.
    keep_last: Option<usize>,
    /// Only when it is time for it.
    if_due: bool,
}

/// A conversation that was compressed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Compressed")]
struct CompressedForm {
    /// What stands for its old turns.
    summary: String,
    /// The memory that keeps it; none when there was nothing to compress.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_id: Option<String>,
    /// Its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The last turn that it stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    consolidated_through: Option<String>,
    /// `extractive`, `model` or `raw`.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    /// Why it was time.
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<&'static str>,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

/// Jobs.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Jobs")]
struct JobsForm {
    /// Newest first.
    items: Vec<JobForm>,
}

async fn ingest(call: Call) -> Result<Reply, Problem> {
    let form: IngestForm = call.body()?;
    Box::pin(begin_ingest(&call, form)).await
}

impl IngestForm {
    /// Rejects a blank text.
    pub(super) fn checked(self) -> Result<Self, Problem> {
        if self.text.trim().is_empty() { Err(Problem::invalid("text is empty")) } else { Ok(self) }
    }
}

/// Ingests a text; when it responds, recall finds the text.
pub(super) async fn begin_ingest(call: &Call, form: IngestForm) -> Result<Reply, Problem> {
    let form = form.checked()?;
    let memory = call.memory_or_new().await?;
    let hash: [u8; 32] = Sha256::digest(form.text.as_bytes()).into();
    let name = form.title.or_else(|| form.source.clone()).unwrap_or_else(|| "text".to_owned());
    // A text without a source is no file, and replaces nothing.
    let location = form.source.clone();
    let mut document = Document {
        name,
        kind: "text".to_owned(),
        hash,
        written_at: None,
        fields: mnemal_core::Metadata::new(),
        passages: vec![Passage { text: form.text, ..Passage::default() }],
        location,
        undescribed: None,
    };
    if let Some(source) = form.source {
        document.fields.insert("source".to_owned(), source);
    }
    let work = async move {
        let taken = memory.events().ingest(&document).await?.value;
        if let Some(refused) = taken.refused.first() {
            return Err(Error::invalid(refused.why.clone()));
        }
        Ok(
            json!({"stored": taken.stored, "duplicates": taken.duplicates, "replaced": taken.outdated.len(), "forgotten": taken.forgotten, "redactions": taken.redactions}),
        )
    };
    Reply::accepted(&Box::pin(call.host.jobs.run_to_end(call, "ingest", work)).await?)
}

/// Folds until nothing is left, or there is no progress.
async fn read_all(memory: &Memory) -> Result<u64, Error> {
    let behind = |gaps: &[Gap]| {
        let behind = |gap: &Gap| match gap.cause {
            GapCause::Stale { behind } => behind,
            _ => 0,
        };
        gaps.iter().map(behind).sum::<u64>()
    };
    let mut before = u64::MAX;
    loop {
        let mut left = behind(&memory.admin().engine().fold_within(STRETCH).await);
        match memory.facts().graph().await {
            Ok(graph) => left += behind(&graph.gaps),
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
        if left == 0 || left >= before {
            return Ok(left);
        }
        before = left;
    }
}

async fn extract(call: Call) -> Result<Reply, Problem> {
    let EmptyForm {} = call.body()?;
    let memory = call.memory().await?;
    let work = async move { Ok(json!({"behind": read_all(&memory).await?})) };
    Reply::accepted(&call.host.jobs.begin(&call, "extract", work)?)
}

async fn consolidate(call: Call) -> Result<Reply, Problem> {
    let EmptyForm {} = call.body()?;
    begin_consolidation(&call).await
}

/// Starts a consolidation, with all layers caught up first.
pub(super) async fn begin_consolidation(call: &Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let owner = owner(call)?;
    let work = async move {
        let behind = read_all(&memory).await?;
        let _stale = memory.admin().engine().refresh_summaries().await?;
        let dream = cycle_result(&memory.admin().engine().consolidate(&owner).await?, DreamMode::Asked);
        Ok(json!({"behind": behind, "dream": dream}))
    };
    Reply::accepted(&call.host.jobs.begin(call, "consolidate", work)?)
}

async fn dream(call: Call) -> Result<Reply, Problem> {
    let form: DreamForm = call.body()?;
    let memory = call.memory().await?;
    let (run, owner) = (if form.dry_run { DreamMode::Dry } else { DreamMode::Asked }, owner(&call)?);
    let work = async move { Ok(cycle_result(&memory.admin().engine().dream(&owner, run).await?, run)) };
    Reply::accepted(&call.host.jobs.begin(&call, "dream", work)?)
}

fn owner(call: &Call) -> Result<OwnerId, Problem> {
    Ok(OwnerId::new(format!("http-job-{}-{:x}", std::process::id(), call.host.now().as_micros()))?)
}

/// Returns the result of a cycle for its job.
fn cycle_result(cycle: &DreamCycle, run: DreamMode) -> Value {
    let operations: Vec<Value> = cycle
        .accepted()
        .map(|judged| {
            let operation = &judged.proposal.operation;
            let notes: Vec<String> = operation.kind.names().iter().map(ToString::to_string).collect();
            let entities: Vec<String> = operation.kind.entities().iter().map(ToString::to_string).collect();
            json!({
                "event_id": judged.event.map(|event| event.to_string()),
                "operation": operation.kind.as_str(),
                "by": operation.producer.id,
                "because": operation.because,
                "notes": notes,
                "entities": entities,
                "text": judged.proposal.text,
            })
        })
        .collect();
    json!({
        "dry_run": run == DreamMode::Dry,
        "live": cycle.live,
        "waiting": cycle.waiting,
        "skipped": cycle.skipped,
        "failed": cycle.failed,
        "operations": operations,
    })
}

async fn compress(call: Call) -> Result<Reply, Problem> {
    let form: CompressForm = call.body()?;
    let mut ask = call.memory().await?.events().compress(SessionId::new(call.name(1))?);
    if let Some(turns) = form.keep_last {
        ask = ask.keep_last(turns);
    }
    if let Some(tokens) = form.budget_tokens {
        ask = ask.window(tokens);
    }
    let done = if form.if_due { ask.if_due().await? } else { ask.await? };
    let entry = done.entry.as_ref();
    Reply::ok(&CompressedForm {
        summary: done.summary.clone(),
        memory_id: entry.map(|entry| entry.note.to_string()),
        key: entry.map(|entry| entry.key.to_string()),
        consolidated_through: entry.map(|entry| entry.through.to_string()),
        method: entry.map(|entry| entry.method.as_str()),
        due: done.due.map(CompressionReason::as_str),
        gaps: gaps(&done.gaps),
    })
}
