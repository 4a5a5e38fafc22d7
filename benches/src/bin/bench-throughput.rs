//! Throughput benchmark: turns per second of CPU time through import, extraction and summaries.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mnemal_benches::figure::{Figure, table};
use mnemal_benches::throughput::{make, run, throughput};

/// Takes a corpus in from its lines to its summaries, alone or in turns with another build.
#[derive(Debug, Parser)]
#[command(name = "bench-throughput", max_term_width = 100)]
struct Args {
    /// A folder with `corpus.jsonl`.
    #[arg(long)]
    data: PathBuf,
    /// Rounds, of which the middle counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The program of another build, which is run in turns with this one.
    #[arg(long)]
    against: Option<PathBuf>,
    /// Write a made corpus of this many turns into the folder, and questions about it, and measure nothing.
    #[arg(long, value_name = "TURNS", conflicts_with = "once")]
    make: Option<usize>,
    /// Run once in this process, and print what it took.
    #[arg(long)]
    once: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(turns) = args.make {
        return make(&args.data, turns);
    }
    if args.once {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        println!("{}", serde_json::to_string(&runtime.block_on(run(&args.data))?)?);
        return Ok(());
    }
    let figures = throughput(&args.data, args.rounds, args.against.as_deref())?;
    if args.json {
        println!("{:#}", figures.iter().map(Figure::json).collect::<serde_json::Value>());
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}
