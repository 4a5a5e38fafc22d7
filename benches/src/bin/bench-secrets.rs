//! Secret benchmark: missed secrets, and false positives in ordinary conversation.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mnemal_benches::secret_planting::{Tally, false_positives, plant};

/// Plants made-up secrets of every kind in sentences, code, configuration, JSON and links, and counts those that pass.
#[derive(Debug, Parser)]
#[command(name = "bench-secrets", max_term_width = 100)]
struct Args {
    /// Folders with conversations in the neutral layout, in which nothing should be found.
    #[arg(long)]
    data: Vec<PathBuf>,
    /// How many secrets are planted.
    #[arg(long, default_value_t = 2_000)]
    planted: usize,
    /// What the secrets follow from.
    #[arg(long, default_value_t = 20_260_301)]
    seed: u64,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut tally: Tally = plant(args.planted, args.seed);
    for folder in &args.data {
        false_positives(folder, &mut tally)?;
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&tally)?);
    } else {
        println!("{tally:#?}");
    }
    Ok(())
}
