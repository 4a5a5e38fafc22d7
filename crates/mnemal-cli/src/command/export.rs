//! `mnemal export`.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use anyhow::{Context as _, Result};
use mnemal::{Error, ErrorKind, Memory};

use crate::args::Export;
use crate::output::Output;

/// Writes to a new file, or to stdout.
pub(super) async fn run(memory: &Memory, call: Export, output: &Output) -> Result<u8> {
    let Some(path) = call.path.filter(|path| path.as_os_str() != "-") else {
        let mut out = BufWriter::new(std::io::stdout());
        let exported = memory.export(&mut out).await?;
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
    let exported = memory.export(&mut out).await?;
    out.into_inner().context("cannot write the export")?.sync_all()?;
    output.say(&format!(
        "exported {} events and {} tombstones to {}",
        exported.events,
        exported.tombstones,
        path.display()
    ));
    Ok(0)
}
