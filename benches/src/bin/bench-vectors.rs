//! Vector benchmark: indexes against the full scan; recall, CPU time, memory, build time.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mnemal_benches::figure::{Figure, table};
use mnemal_benches::vectors::{Sample, vectors};

/// Compares the indexes of vectors over sentences of conversations; with the feature `hnsw` the graph, too.
#[derive(Debug, Parser)]
#[command(name = "bench-vectors", max_term_width = 100)]
struct Args {
    /// Folders of data sets in the neutral layout; without any, sentences and questions are made.
    #[arg(long)]
    data: Vec<PathBuf>,
    /// Numbers of vectors; made sentences fill up.
    #[arg(long, value_delimiter = ',', default_values_t = [100_000, 1_000_000])]
    sizes: Vec<usize>,
    /// Questions that are asked.
    #[arg(long, default_value_t = 300)]
    samples: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut figures = Vec::new();
    for size in &args.sizes {
        figures.extend(vectors(&Sample::read(&args.data, *size, args.samples)?)?);
    }
    if args.json {
        println!("{:#}", figures.iter().map(Figure::json).collect::<serde_json::Value>());
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}
