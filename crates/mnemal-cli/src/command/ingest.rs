//! `mnemal ingest`.

pub(super) mod walk;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use mnemal::events::{Document, DocumentKind, DocumentReader, ImportOutcome};
use mnemal::settings::IngestSettings;
use mnemal::types::Degraded;
use mnemal::{Error, ErrorKind, Gaps, Memory};
use serde::Serialize;

use crate::args::{Global, Ingest};
use crate::output::Output;
use crate::{config, failure, wire};

/// The results for all files.
#[derive(Debug, Default)]
struct IngestResult {
    files: u64,
    ignored: u64,
    taken: ImportOutcome,
    copies: Vec<DuplicateFile>,
    refused: Vec<RefusedFile>,
    gaps: Gaps,
}

/// A file with the same bytes as a known one.
#[derive(Debug, Serialize)]
struct DuplicateFile {
    file: String,
    of: String,
}

#[derive(Debug, Serialize)]
struct RefusedFile {
    file: String,
    why: String,
}

/// Stores the text of files, deduplicated.
pub(super) async fn run(global: &Global, call: &Ingest, output: &Output) -> Result<u8> {
    let settings = config::read(global)?;
    let builder = config::builder(settings.clone())?;
    let memory = super::open_one(global, output).await?;
    if call.watch {
        let [folder] = call.paths.as_slice() else {
            return Err(Error::invalid("--watch takes one folder").into());
        };
        let inbox = builder.folder_inbox(folder)?;
        return super::inbox::watch(&memory, inbox.as_ref(), output).await;
    }
    let kind = call.kind.as_deref().map(kind_named).transpose()?;
    let reader = builder.document_reader();
    let mut done = IngestResult::default();
    for path in &call.paths {
        if path.as_os_str() == "-" {
            let document = from_stdin(&reader, call, kind).await;
            take(&memory, call.name(), document, &mut done).await?;
        } else if path.is_dir() {
            for found in walk::files(path)? {
                let Some(known) = enabled_kind(&found.name, &settings.ingest) else {
                    done.ignored += 1;
                    continue;
                };
                let document = match found.file {
                    Ok(file) => reader.read(file, &found.name, known).await,
                    Err(why) => Err(why),
                };
                let document = document.map(|document| at(document, &path.join(&found.name)));
                take(&memory, &found.name, document, &mut done).await?;
            }
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            let name = name_of(path);
            let kind = kind.or_else(|| DocumentKind::of_name(&name)).unwrap_or(DocumentKind::Text);
            let document = reader.read(file, &name, kind).await.map(|document| at(document, path));
            take(&memory, &name, document, &mut done).await?;
        }
    }
    let code = print_result(&done, global, output)?;
    super::checkpoint(global, &memory, Ok(code)).await
}

/// Returns the document name of a file: the path as given, unless it leaves the working directory.
fn name_of(path: &Path) -> String {
    let is_below = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let name = if is_below { path.as_os_str() } else { path.file_name().unwrap_or(path.as_os_str()) };
    name.to_string_lossy().into_owned()
}

/// Sets the location of a document, so that it replaces its earlier version.
fn at(document: Document, path: &Path) -> Document {
    let location = path.canonicalize().ok().map(|path| path.to_string_lossy().into_owned());
    Document { location, ..document }
}

fn kind_named(name: &str) -> Result<DocumentKind> {
    Ok(DocumentKind::of_ending(name).ok_or_else(|| Error::invalid(format!("no type of file {name:?}")))?)
}

/// Returns the kind of a file in a folder, if the settings enable it and, for media, a describing command is set.
fn enabled_kind(name: &str, settings: &IngestSettings) -> Option<DocumentKind> {
    let ending = name.rsplit_once('.')?.1.to_lowercase();
    let kind = DocumentKind::of_ending(&ending).filter(|_| settings.types.contains(&ending))?;
    let is_read = !matches!(kind, DocumentKind::Medium(_)) || !settings.describe.is_empty();
    is_read.then_some(kind)
}

async fn from_stdin(
    reader: &DocumentReader,
    call: &Ingest,
    kind: Option<DocumentKind>,
) -> mnemal::Result<Document> {
    let mut bytes = Vec::new();
    let most = reader.most_bytes;
    let read = std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes);
    read.map_err(|why| Error::new(ErrorKind::Unavailable, "cannot read stdin").because(why))?;
    if bytes.len() as u64 > most {
        return Err(Error::invalid(format!("larger than {most} bytes, `ingest.max_file_mb`")));
    }
    let document = reader.read_bytes(&bytes, call.name(), kind.unwrap_or(DocumentKind::Text)).await?;
    // A document without a name replaces no earlier one.
    let location = call.name.as_ref().map(|name| format!("stdin:{name}"));
    Ok(Document { location, ..document })
}

/// Stores a document, or records the reason why it cannot be stored.
async fn take(
    memory: &Memory,
    name: &str,
    document: mnemal::Result<Document>,
    done: &mut IngestResult,
) -> Result<()> {
    let taken: mnemal::Result<Degraded<ImportOutcome>> = match document {
        Ok(document) => memory.events().ingest(&document).await,
        Err(why) => Err(why),
    };
    match taken {
        Ok(taken) => {
            done.files += 1;
            let taken = done.gaps.merge(taken);
            done.copies.extend(taken.same_as.clone().map(|of| DuplicateFile { file: name.to_owned(), of }));
            done.taken.add(taken);
        }
        Err(why) if matches!(why.kind(), ErrorKind::Invalid | ErrorKind::Unsupported) => {
            done.refused.push(RefusedFile { file: name.to_owned(), why: why.what().to_owned() });
        }
        Err(why) => return Err(why.into()),
    }
    Ok(())
}

#[derive(Serialize)]
struct FileReport<'d> {
    files: u64,
    ignored: u64,
    stored: u64,
    duplicates: u64,
    /// Chunks of earlier versions of these files that were superseded.
    replaced: usize,
    forgotten: u64,
    redactions: u64,
    quarantined: u64,
    copies: &'d [DuplicateFile],
    refused: &'d [RefusedFile],
    gaps: Vec<wire::GapForm>,
}

fn print_result(done: &IngestResult, global: &Global, output: &Output) -> Result<u8> {
    let found = done.gaps.clone().attach(()).gaps;
    let report = FileReport {
        files: done.files,
        ignored: done.ignored,
        stored: done.taken.stored,
        duplicates: done.taken.duplicates,
        replaced: done.taken.outdated.len(),
        forgotten: done.taken.forgotten,
        redactions: done.taken.redactions,
        quarantined: done.taken.quarantined,
        copies: &done.copies,
        refused: &done.refused,
        gaps: wire::gaps(&found),
    };
    output.answer(&report, || text(&report))?;
    let code = super::gaps(&found, global, output);
    Ok(if done.refused.is_empty() { code } else { failure::USAGE })
}

fn text(report: &FileReport<'_>) -> String {
    let mut lines = vec![format!(
        "read {} files: {} chunks stored, {} known already",
        report.files, report.stored, report.duplicates
    )];
    for (count, what) in [
        (report.replaced as u64, "chunks of older readings were replaced"),
        (report.redactions, "secrets were replaced"),
        (report.quarantined, "chunks are held back by a rule"),
        (report.forgotten, "chunks were forgotten here and stay away"),
        (report.ignored, "files are of kinds that are not read"),
    ] {
        if count > 0 {
            lines.push(format!("  {count} {what}"));
        }
    }
    lines.extend(report.copies.iter().map(|one| {
        format!(
            "  {}: the same text as {}, under which it stands; either name finds it in `forget --file`",
            one.file, one.of
        )
    }));
    lines.extend(report.refused.iter().map(|one| format!("  not read: {}: {}", one.file, one.why)));
    lines.join("\n")
}
