//! Graph benchmark: projection speed, query cost, and the effect on appends.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Parser;
use mnemal_benches::figure::{Figure, table};
use mnemal_benches::graph::{Reads, UnfoldedSpace, append_beside, fold, reads, renewal, write_people};

/// Measures the graph of conversations: folding them, asking, and appending beside.
#[derive(Debug, Parser)]
#[command(name = "bench-graph", max_term_width = 100)]
struct Args {
    /// Folders with a `corpus.jsonl`; each becomes a space whose graph is folded.
    #[arg(long)]
    data: Vec<PathBuf>,
    /// Turns of the made conversation about many people, which is folded and asked; 0 leaves it out.
    #[arg(long, default_value_t = 100_000)]
    people: usize,
    /// Questions of each kind.
    #[arg(long, default_value_t = 400)]
    samples: usize,
    /// Rounds of 40 appends without and beside the projector; 0 leaves them out.
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let mut figures = Vec::new();
    // One thread, so that CPU time is that of what is asked and nothing else.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut last = None;
    for data in &args.data {
        let name = data.file_name().context("a folder has a name")?.to_string_lossy();
        let told =
            runtime.block_on(UnfoldedSpace::import(&name, &data.join("corpus.jsonl"), folder.path()))?;
        figures.extend(runtime.block_on(fold(&told))?);
        last = Some(told);
    }
    if args.people > 0 {
        let corpus = made(folder.path(), args.people)?;
        let told = runtime.block_on(UnfoldedSpace::import("people", &corpus, folder.path()))?;
        let measured = runtime.block_on(fold(&told))?;
        let facts = measured.iter().find(|figure| figure.name.ends_with(": facts"));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
        let facts = facts.map_or(0, |figure| figure.value as usize);
        figures.extend(measured);
        figures.extend(runtime.block_on(renewal(&told))?);
        figures.extend(runtime.block_on(reads(&told, Reads { samples: args.samples, facts }))?);
        last = Some(told);
    }
    drop(runtime);
    if let Some(told) = last.filter(|_| args.rounds > 0) {
        let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        figures.extend(threads.block_on(append_beside(&told, args.rounds))?);
    }
    if args.json {
        println!("{:#}", figures.iter().map(Figure::json).collect::<serde_json::Value>());
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}

fn made(folder: &Path, turns: usize) -> Result<PathBuf> {
    let path = folder.join("people.jsonl");
    let mut out = BufWriter::new(File::create(&path)?);
    write_people(turns, &mut out)?;
    out.flush()?;
    Ok(path)
}
