//! Worker benchmark: latency of appends and queries under background work at full speed.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use anyhow::Result;
use clap::Parser;
use mnemal_benches::figure::{Figure, table};
use mnemal_benches::workers::workers_beside;

/// Appends and asks while nothing else is done, and while every worker runs as fast as it can, in turns.
#[derive(Debug, Parser)]
#[command(name = "bench-workers", max_term_width = 100)]
struct Args {
    /// Turns in the space.
    #[arg(long, default_value_t = 10_000)]
    turns: usize,
    /// Rounds of 20 appends and questions in each state.
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let figures =
        runtime.block_on(workers_beside(&folder.path().join("workers.db"), args.turns, args.rounds))?;
    if args.json {
        println!("{:#}", figures.iter().map(Figure::json).collect::<serde_json::Value>());
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}
