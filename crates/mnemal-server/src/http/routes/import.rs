//! Import: a history as a stream, or a zip of histories.

use std::io::BufRead;
#[cfg(feature = "ingest-docs")]
use std::io::Read as _;

use mnemal::events::{ImportPreview, ImportReport, LinePolicy, OwnHistory, expected_speakers};
use mnemal::{ImportFormat, ImportOptions, Memory};
use mnemal_core::{Degraded, Error, Gap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

use crate::http::blocking_stream::BodyReader;
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;
use crate::http::routes::of;
use crate::http::routes::transfer::JSONL;
#[cfg(feature = "ingest-docs")]
use crate::http::upload::Upload;
use crate::wire::{GapForm, gaps};

/// Maximum number of reasons in a response. Source: own choice, one screen.
const REASONS: usize = 20;
/// Maximum number of speakers in a response. Source: own choice, one screen.
const SPEAKERS: usize = 20;
/// How a zip begins: its first file, or its end where it has none.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "import",
            "/v1/spaces/{space}/import",
            "Reads conversations in, each once, also from a zip; human speakers are hearsay unless own_history says otherwise.",
            (of::<ImportedForm>, of::<ImportedForm>, |call| Box::pin(import(call))),
        ).whole()
        .with_body(JSONL)
        .query(of::<ImportQuery>),
    ]
}

/// How a history is read.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ImportQuery {
    /// `auto`, `jsonl`, `neutral`, `openai`, `claude-code`, or a name of another program's.
    format: Option<String>,
    /// Only say what would be stored, and for whom each speaker would be taken.
    dry_run: Option<bool>,
    /// It is the user's own history: the turns of its human speakers count as his words, those too that are known already. For the
    /// key of an application.
    own_history: Option<bool>,
}

/// What was read.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "Imported")]
struct ImportedForm {
    /// How it was read; `several` where the files of a zip are of several formats.
    format: &'static str,
    /// Files that were read: one, or those of a zip that hold a history.
    files: u64,
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
    /// Why, for the first of these: `line 3: …`, in a zip `NAME: line 3: …`.
    reasons: Vec<String>,
    /// Keys under which something holds here that was said later than what came in.
    older_keys: u64,
    /// Of a dry run: the speakers, the one with the most records first, and for whom each would be taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    speakers: Vec<SpeakerForm>,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

/// A speaker of a history.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImportSpeaker")]
struct SpeakerForm {
    /// The name, or the role of one without a name.
    name: String,
    /// Records.
    records: u64,
    /// The `user`, a person with this `name`, an `other` person, the `assistant`, a `tool`, or `nobody`.
    whose: &'static str,
}

/// An import on a thread of its own.
struct Reading {
    memory: Memory,
    format: ImportFormat,
    options: ImportOptions,
    /// Of a dry run.
    preview: Option<ImportPreview>,
    runtime: Handle,
    form: ImportedForm,
    gaps: Vec<Gap>,
}

impl Reading {
    /// Reads one history.
    fn read(&mut self, reader: impl BufRead + Send, name: Option<&str>) -> Result<(), Error> {
        let (format, options) = (self.format, self.options.clone());
        let events = self.memory.events();
        let report = match &mut self.preview {
            Some(preview) => {
                self.runtime.block_on(events.preview_import(reader, format, options, (preview, &mut |_| ())))
            }
            None => self.runtime.block_on(events.import(reader, format, options, &mut |_| ())),
        };
        self.add(&report?, name);
        Ok(())
    }

    /// Adds what one history gave.
    fn add(&mut self, report: &Degraded<ImportReport>, name: Option<&str>) {
        let form = &mut self.form;
        let format = report.format.map_or("auto", ImportFormat::as_str);
        form.format = if form.files == 0 || form.format == format { format } else { "several" };
        form.files += 1;
        form.lines += report.lines;
        form.stored += report.taken.stored;
        form.duplicates += report.taken.duplicates;
        form.raised += report.raised;
        form.forgotten += report.taken.forgotten;
        form.redactions += report.taken.redactions;
        form.skipped += report.skipped_total;
        form.broken += report.broken;
        form.older_keys += report.older_keys;
        let broken = report.skipped.iter().filter(|one| one.is_broken());
        let prefix = name.map(|name| format!("{name}: ")).unwrap_or_default();
        let reasons = broken.map(|one| format!("{prefix}{} {}: {}", report.unit, one.line, one.why));
        form.reasons.extend(reasons.take(REASONS.saturating_sub(form.reasons.len())));
        let new: Vec<Gap> = report.gaps.iter().filter(|gap| !self.gaps.contains(gap)).copied().collect();
        self.gaps.extend(new);
    }

    /// Reads the files of a zip that hold a history.
    #[cfg(feature = "ingest-docs")]
    fn unpack(&mut self, body: &mut BodyReader) -> Result<(), Problem> {
        let upload = Upload::receive(body)?;
        let names = upload.files.names().iter();
        let names: Vec<String> =
            names.filter(|name| mnemal::events::may_hold_history(name, self.format)).cloned().collect();
        for name in names {
            self.options.source.clone_from(&name);
            let mut reader = upload.open(&name)?;
            // An account export also has files without any history.
            let is_other = self.format == ImportFormat::Auto
                && reader.fill_buf().is_ok_and(|first| mnemal::events::import_format(first, &name).is_err());
            if is_other {
                continue;
            }
            match self.read(reader.by_ref(), Some(&name)) {
                Ok(()) => {}
                Err(error) => match reader.why_failed() {
                    Some(why) => return Err(Problem::invalid(format!("{name}: {why}"))),
                    None if error.kind() == mnemal_core::ErrorKind::Invalid => {
                        self.form.broken += 1;
                        if self.form.reasons.len() < REASONS {
                            self.form.reasons.push(format!("{name}: {error}"));
                        }
                    }
                    None => return Err(error.into()),
                },
            }
        }
        if self.form.files == 0 {
            let nothing = "no file of the zip is a history that can be read";
            let reasons = self.form.reasons.first().map(|why| format!("; {why}")).unwrap_or_default();
            return Err(Problem::invalid(format!("{nothing}{reasons}")));
        }
        Ok(())
    }

    #[cfg(not(feature = "ingest-docs"))]
    fn unpack(&mut self, _: &mut BodyReader) -> Result<(), Problem> {
        let format = self.format.as_str();
        Err(Problem::invalid(format!("this build reads no zip; unpack it, and import its files as {format}")))
    }
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
    let is_dry = query.dry_run == Some(true);
    let memory = if is_dry { compared(&call).await? } else { call.memory_or_new().await? };
    let parts = call.parts.take().ok_or_else(|| Problem::invalid("there is no body"))?;
    let turn = call.host.turns.open()?;
    let zone = call.event_zone(None, call.host.now())?;
    // A malformed record does not affect the others.
    let lenient = LinePolicy::Yes;
    let options = ImportOptions { origin, lenient, zone, ..ImportOptions::new("http", call.host.now()) };
    let mut reading = Reading {
        memory,
        format,
        options,
        preview: is_dry.then(ImportPreview::default),
        runtime: Handle::current(),
        form: ImportedForm::default(),
        gaps: Vec::new(),
    };
    let owner = call.host.spaces.entry(&call.space()?).await.map(|entry| entry.owner).unwrap_or_default();
    let work = tokio::task::spawn_blocking(move || {
        let mut body = BodyReader::new(parts, turn);
        // What cannot be read is told by the import.
        let is_packed = body.fill_buf().is_ok_and(is_zip);
        if is_packed {
            reading.unpack(&mut body)?;
        } else {
            reading.read(body, None)?;
        }
        Ok(reading)
    });
    let read: Result<Reading, Problem> =
        work.await.map_err(|_| Problem::new("internal", "the import failed inside"))?;
    let Reading { mut form, preview, gaps: lacking, .. } = read?;
    let speakers = preview.map(|preview| expected_speakers(&preview, &owner)).unwrap_or_default();
    let speaker = |one: mnemal::events::ExpectedSpeaker| SpeakerForm {
        name: one.name,
        records: one.records,
        whose: one.whose,
    };
    form.speakers = speakers.into_iter().take(SPEAKERS).map(speaker).collect();
    form.gaps = gaps(&lacking);
    Reply::ok(&form)
}

/// Returns the memory that a dry run compares with: that of the space, or an empty one where there is no such space.
async fn compared(call: &Call) -> Result<Memory, Problem> {
    match call.memory().await {
        Err(problem) if problem.code() == "not_found" => Ok(Memory::in_memory().await?),
        opened => opened,
    }
}

/// Whether a body begins as a zip does. A client may send a few bytes first.
fn is_zip(first: &[u8]) -> bool {
    !first.is_empty()
        && ZIP.iter().any(|begin| first.starts_with(begin) || first.len() > 1 && begin.starts_with(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zip_is_known_by_its_first_bytes() {
        for zip in [b"PK\x03\x04rest".as_slice(), b"PK\x05\x06", b"PK\x03", b"PK"] {
            assert!(is_zip(zip), "{zip:?}");
        }
        for other in [b"".as_slice(), b"P", b"{\"id\":1}", b"PKM notes", b"[]"] {
            assert!(!is_zip(other), "{other:?}");
        }
    }
}
