//! `mnemal export`.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;

use age::x25519::Recipient;
use anyhow::{Context as _, Result};
use mnemal::events::{ExportForm, ExportOutcome};
use mnemal::{Error, ErrorKind, Memory};

use crate::args::{Export, ExportFormat};
use crate::encryption;
use crate::output::Output;

/// Exports to a new file, or to stdout; Markdown into a new folder.
pub(super) async fn run(memory: &Memory, call: Export, output: &Output) -> Result<u8> {
    let recipients = encryption::recipients(&call.encrypt_to)?;
    let form = match call.format.unwrap_or(ExportFormat::Jsonl) {
        ExportFormat::Jsonl => ExportForm::Lines,
        ExportFormat::Json => ExportForm::Document,
        ExportFormat::Markdown if !call.encrypt_to.is_empty() => {
            return Err(
                Error::invalid("a folder of Markdown cannot be encrypted; an export of lines can").into()
            );
        }
        ExportFormat::Markdown => {
            let path = call.path.filter(|path| path.as_os_str() != "-");
            let path =
                path.ok_or_else(|| Error::invalid("an export as Markdown needs the path of a new folder"))?;
            return markdown(memory, &path, output).await;
        }
    };
    let Some(path) = call.path.filter(|path| path.as_os_str() != "-") else {
        let mut out = BufWriter::new(std::io::stdout());
        let exported = write_export(memory, form, &recipients, &mut out).await?;
        out.flush()?;
        output.say(&format!("exported {} events", exported.events));
        return Ok(0);
    };
    let file = File::create_new(&path);
    let file = file.map_err(|cause| {
        let taken = cause.kind() == std::io::ErrorKind::AlreadyExists;
        let kind = if taken { ErrorKind::Conflict } else { ErrorKind::Unavailable };
        Error::new(kind, format!("cannot make {}", path.display())).because(cause)
    })?;
    let mut out = BufWriter::new(file);
    let exported = write_export(memory, form, &recipients, &mut out).await?;
    out.into_inner().context("cannot write the export")?.sync_all()?;
    output.say(&format!(
        "exported {} events and {} tombstones to {}",
        exported.events,
        exported.tombstones,
        path.display()
    ));
    Ok(0)
}

/// Writes the export, encrypted if recipients are given.
async fn write_export(
    memory: &Memory,
    form: ExportForm,
    recipients: &[Recipient],
    out: &mut (dyn Write + Send),
) -> Result<ExportOutcome> {
    if recipients.is_empty() {
        return Ok(memory.admin().export_as(form, out).await?);
    }
    let mut sealed = encryption::writer(out, recipients)?;
    let exported = memory.admin().export_as(form, &mut sealed).await?;
    sealed.finish().context("cannot write the export")?.flush()?;
    Ok(exported)
}

/// Writes a folder of Markdown; an existing folder is not touched.
async fn markdown(memory: &Memory, folder: &Path, output: &Output) -> Result<u8> {
    std::fs::create_dir(folder).map_err(|cause| {
        let taken = cause.kind() == std::io::ErrorKind::AlreadyExists;
        let kind = if taken { ErrorKind::Conflict } else { ErrorKind::Unavailable };
        Error::new(kind, format!("cannot make {}", folder.display())).because(cause)
    })?;
    let mut begun = HashSet::new();
    let mut put = |path: &str, text: &str| {
        let file = folder.join(path);
        // A file is created once, and an existing one is never overwritten.
        let mut options = OpenOptions::new();
        if begun.insert(path.to_owned()) {
            options.write(true).create_new(true);
        } else {
            options.append(true);
        }
        append(&file, text, &options).map_err(|cause| {
            Error::new(ErrorKind::Unavailable, format!("cannot write {path}")).because(cause)
        })
    };
    let exported = memory.admin().export_markdown(&mut put).await?;
    output.say(&format!(
        "exported {} notes, {} entities and {} events of {} days to {}",
        exported.notes,
        exported.entities,
        exported.events,
        exported.days,
        folder.display()
    ));
    Ok(0)
}

fn append(file: &Path, text: &str, options: &OpenOptions) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    options.open(file)?.write_all(text.as_bytes())
}
