//! Endings benchmark: facts still shown as current after a later turn ended them, and false endings.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mnemal_benches::attribution::Half;
use mnemal_benches::endings::{Figures, read};
use mnemal_benches::spaces;
use serde_json::{Map, Value, json};

/// Says pairs of turns a month apart, each in a space of its own, and looks at facts, wishes and contexts a day later.
#[derive(Debug, Parser)]
#[command(name = "bench-endings", max_term_width = 100)]
struct Args {
    /// The folder of the pairs.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/data/endings"))]
    data: PathBuf,
    /// Only one half: dev or held.
    #[arg(long, value_parser = Half::parse)]
    half: Option<Half>,
    /// List the failures of the half dev; those of the other are never shown.
    #[arg(long)]
    list: bool,
    /// Let the trained reader in this file vote with the rules.
    #[arg(long)]
    reader: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&args))
}

async fn run(args: &Args) -> Result<()> {
    let pairs = read(&args.data)?;
    let builder = spaces::voting(args.reader.as_deref())?;
    let mut document = Map::new();
    for half in Half::ALL.into_iter().filter(|half| args.half.is_none_or(|only| only == *half)) {
        let figures = Figures::measure(&pairs, half, &builder).await?;
        let mut rows = figures.json();
        if let (true, Half::Dev, Some(rows)) = (args.list, half, rows.as_object_mut()) {
            rows.insert("wrong".to_owned(), json!(figures.wrong));
        }
        document.insert(half.as_str().to_owned(), rows);
    }
    if args.json {
        println!("{:#}", Value::Object(document));
        return Ok(());
    }
    for (half, figures) in &document {
        println!("{half}");
        for row in mnemal_benches::figure::rows(figures) {
            println!("  {row}");
        }
    }
    Ok(())
}
