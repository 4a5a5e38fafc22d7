//! `mnemal backup`.

use std::path::Path;

use anyhow::Result;
use mnemal::Memory;
use mnemal::admin::Manifest;

use crate::args::Backup;
use crate::output::Output;

/// Copies the space into a new file, verifies the copy, and prints its manifest.
pub(super) async fn run(memory: &Memory, call: &Backup, output: &Output) -> Result<u8> {
    let manifest = memory.admin().backup(&call.path).await?;
    output.answer(&manifest, || text(&call.path, &manifest))?;
    Ok(0)
}

fn text(path: &Path, manifest: &Manifest) -> String {
    format!(
        "copied {} events and {} tombstones of space {} to {}; the copy was read back\n\
         a later forget does not reach the copy; delete it when its time is over",
        manifest.events,
        manifest.tombstones,
        manifest.space,
        path.display(),
    )
}
