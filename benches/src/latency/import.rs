//! End-to-end import: file lines, rules, analysis, vectors, SQLite.

use std::fs::File;
use std::io::BufReader;

use anyhow::{Result, ensure};
use mnemal::{ImportFormat, Within};

use super::CorpusSpace;
use crate::cpu::Watch;
use crate::figure::{Figure, TargetBound};
use crate::spaces::own_history;

/// Events a second of CPU time.
const ASKED_IMPORT: f64 = 12_000.0;
/// From this size on the cost of opening no longer counts.
const ASKED_FROM: usize = 10_000;

/// Imports the corpus into the space, and says how many events a second of CPU time takes in, and what they need
/// on disk.
///
/// # Errors
/// An import that is not whole.
pub async fn import(bed: &CorpusSpace) -> Result<Vec<Figure>> {
    let memory = bed.open().await?;
    let file = BufReader::new(File::open(bed.corpus())?);
    let options = own_history(Within::All);
    let watch = Watch::start()?;
    let report = memory.events().import(file, ImportFormat::Neutral, options, &mut |_| {}).await?;
    let cost = watch.stop()?;
    ensure!(report.taken.stored == bed.size() as u64, "imported {} of {}", report.taken.stored, bed.size());
    let rate = bed.size() as f64 / cost.cpu.as_secs_f64();
    let on_wall = bed.size() as f64 / cost.wall.as_secs_f64();
    let raw = std::fs::metadata(bed.corpus())?.len() as f64;
    let log = std::fs::metadata(bed.space().with_extension("db-wal")).map_or(0, |file| file.len());
    let on_disk = (std::fs::metadata(bed.space())?.len() + log) as f64;
    Ok(vec![
        Figure::new("import, events a CPU-second", bed.size(), rate, "events/s")
            .asked_if(TargetBound::AtLeast(ASKED_IMPORT), |size| size >= ASKED_FROM),
        Figure::new("import, events a second on the wall", bed.size(), on_wall, "events/s"),
        Figure::new("space on disk with its log, beside the corpus", bed.size(), on_disk / raw, "×"),
    ])
}
