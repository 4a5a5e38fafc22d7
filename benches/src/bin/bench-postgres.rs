//! Spaces in PostgreSQL beside spaces in files.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use anyhow::Result;
use clap::Parser;
use mnemal_benches::figure::{Figure, table};
use mnemal_benches::postgres::{Load, measure};

/// Appends, imports, loads and recalls in files and in a database, by turns.
#[derive(Debug, Parser)]
#[command(name = "bench-postgres", max_term_width = 100)]
struct Args {
    /// Address of the database.
    #[arg(long)]
    database: String,
    /// Turns that are imported, and asked about.
    #[arg(long, default_value_t = 10_000)]
    turns: usize,
    /// Appends of each round.
    #[arg(long, default_value_t = 200)]
    appends: usize,
    /// Rounds.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let load = Load { turns: args.turns, appends: args.appends, rounds: args.rounds };
    let figures = runtime.block_on(measure(&args.database, load))?;
    if args.json {
        println!("{:#}", figures.iter().map(Figure::json).collect::<serde_json::Value>());
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}
