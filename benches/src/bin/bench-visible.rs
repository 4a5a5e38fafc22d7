//! Visibility benchmark: time from write to read, here and in a second process.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use anyhow::Result;
use clap::Parser;
use mnemal::settings::DurabilityMode;
use mnemal_benches::figure::{Figure, table};
use mnemal_benches::latency::{CorpusSpace, import};
use mnemal_benches::torture::worker::{SERVE, serve};
use mnemal_benches::visible::visible;

/// Measures how long it takes from writing an event until it can be read.
#[derive(Debug, Parser)]
#[command(name = "bench-visible", max_term_width = 100)]
struct Args {
    /// Sizes of the log, in events.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 100_000])]
    sizes: Vec<usize>,
    /// Writes that are measured for each quantile.
    #[arg(long, default_value_t = 400)]
    samples: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((SERVE, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return serve(rest);
    }
    let args = Args::parse();
    let figures = measure(&args)?;
    if args.json {
        println!("{:#}", figures.iter().map(Figure::json).collect::<serde_json::Value>());
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}

fn measure(args: &Args) -> Result<Vec<Figure>> {
    let program = std::env::current_exe()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let mut figures = Vec::new();
    for size in &args.sizes {
        let bed = CorpusSpace::make(folder.path(), *size, args.samples)?;
        let _imported = runtime.block_on(import(&bed))?;
        for durability in [DurabilityMode::Normal, DurabilityMode::Full] {
            figures.extend(runtime.block_on(visible(&bed, &program, durability))?);
        }
    }
    Ok(figures)
}
