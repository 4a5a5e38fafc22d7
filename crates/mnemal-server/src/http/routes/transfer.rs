//! Import and export, both streamed.

use std::io::{BufRead as _, Write as _};

use mnemal::events::{ImportReport, LinePolicy, OwnHistory};
use mnemal::{ImportFormat, ImportOptions, Memory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

use crate::http::blocking_stream::{BodyReader, outgoing};
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;
use crate::wire::{GapForm, gaps};

/// Content type of an export.
const JSONL: &str = "application/x-ndjson";
/// Maximum number of reasons in a response. Source: own choice, one screen.
const REASONS: usize = 20;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "import",
            "/v1/spaces/{space}/import",
            "Reads conversations in, each once; human speakers are hearsay unless own_history says otherwise.",
            (of::<ImportedForm>, of::<ImportedForm>, |call| Box::pin(import(call))),
        ).whole()
        .with_body(JSONL)
        .query(of::<ImportQuery>),
        Route::get(
            "export",
            "/v1/spaces/{space}/export",
            "Everything, without loss, as JSON lines.",
            (of::<ImportedForm>, |call| Box::pin(export(call))),
        ).whole()
        .gives(JSONL),
    ]
}

/// How a history is read.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ImportQuery {
    /// `auto`, `jsonl`, `neutral`, `openai`, `claude-code`, or a name of another program's.
    format: Option<String>,
    /// Only say what would be stored.
    dry_run: Option<bool>,
    /// It is the user's own history: the turns of its human speakers count as his words, those too that are known already. For the
    /// key of an application.
    own_history: Option<bool>,
}

/// What was read.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Imported")]
struct ImportedForm {
    /// How it was read.
    format: &'static str,
    /// Lines that were read.
    lines: u64,
    /// Events that were stored.
    stored: u64,
    /// Events that were there already.
    duplicates: u64,
    /// Known turns that count as the user's own words from now on.
    raised: u64,
    /// Events that were forgotten before, and stay so.
    forgotten: u64,
    /// Secrets that were replaced.
    redactions: u64,
    /// Lines, and parts of them, that gave no event.
    skipped: u64,
    /// Those of them that could not be understood; everything else is stored.
    broken: u64,
    /// Why, for the first of these: `line 3: …`.
    reasons: Vec<String>,
    /// Keys under which something holds here that was said later than what came in.
    older_keys: u64,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

async fn import(mut call: Call) -> Result<Reply, Problem> {
    let query: ImportQuery = call.query()?;
    let name = query.format.as_deref().unwrap_or("auto");
    let format =
        ImportFormat::from_name(name).ok_or_else(|| Problem::invalid(format!("no format {name:?}")))?;
    let origin = match query.own_history {
        Some(true) => {
            call.vouches()?;
            OwnHistory::Yes
        }
        _ => OwnHistory::No,
    };
    let memory =
        if query.dry_run == Some(true) { Memory::in_memory().await? } else { call.memory_or_new().await? };
    let parts = call.parts.take().ok_or_else(|| Problem::invalid("there is no body"))?;
    let turn = call.host.turns.open()?;
    let zone = call.event_zone(None, call.host.now())?;
    // A malformed record does not affect the others.
    let lenient = LinePolicy::Yes;
    let options = ImportOptions { origin, lenient, zone, ..ImportOptions::new("http", call.host.now()) };
    let runtime = Handle::current();
    let reading = tokio::task::spawn_blocking(move || {
        let mut incoming = BodyReader::new(parts, turn);
        // Format detection needs the first bytes.
        let _first = incoming.fill_buf();
        runtime.block_on(memory.events().import(incoming, format, options, &mut |_| ()))
    });
    let report = reading.await.map_err(|_| Problem::new("internal", "the import failed inside"))??;
    Reply::ok(&ImportedForm {
        format: report.format.map_or("auto", ImportFormat::as_str),
        lines: report.lines,
        stored: report.taken.stored,
        duplicates: report.taken.duplicates,
        raised: report.raised,
        forgotten: report.taken.forgotten,
        redactions: report.taken.redactions,
        skipped: report.skipped_total,
        broken: report.broken,
        reasons: reasons(&report),
        older_keys: report.older_keys,
        gaps: gaps(&report.gaps),
    })
}

/// Formats the first malformed parts with their places and reasons.
fn reasons(report: &ImportReport) -> Vec<String> {
    let broken = report.skipped.iter().filter(|one| one.is_broken()).take(REASONS);
    broken.map(|one| format!("{} {}: {}", report.unit, one.line, one.why)).collect()
}

async fn export(call: Call) -> Result<Reply, Problem> {
    let memory = call.memory().await?;
    let (mut out, body) = outgoing(call.host.turns.open()?);
    let runtime = Handle::current();
    let writing = tokio::task::spawn_blocking(move || {
        if out.begin().is_err() {
            return;
        }
        let done = runtime.block_on(memory.admin().export(&mut out));
        // A failed export ends without its last line, so readers detect that it is incomplete; a client that disconnected needs
        // no rest.
        if done.is_ok() {
            let _rest = out.flush();
        }
    });
    drop(writing);
    Ok(Reply::parts(JSONL, body))
}
