//! Abstention benchmark: evidence scores of unanswerable questions, next to those of answerable ones.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mnemal_benches::abstain::fit::fit;
use mnemal_benches::abstain::{DataSetAnswers, Line, report, table};
use serde_json::{Value, json};

/// Asks data sets in the neutral layout and says which share of each kind of question falls below the floor of evidence.
#[derive(Debug, Parser)]
#[command(name = "bench-abstain", max_term_width = 100)]
struct Args {
    /// The folder of a data set; several are reported one by one and fitted together.
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
    /// The file of the questions, within each folder.
    #[arg(long, default_value = "questions.jsonl")]
    questions: String,
    /// Another floor than that of recall.
    #[arg(long)]
    floor: Option<f32>,
    /// Also choose the constants of the doubts, on all conversations and with each of them left out.
    #[arg(long)]
    fit: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut sets = Vec::new();
    for folder in &args.data {
        sets.push(runtime.block_on(DataSetAnswers::ask(folder, &args.questions))?);
    }
    let lines = report(&sets, args.floor);
    let fitted = args.fit.then(|| fit(&sets));
    if args.json {
        let lines: Vec<Value> = lines.iter().map(Line::json).collect();
        println!("{:#}", json!({"lines": lines, "fit": fitted}));
    } else {
        print!("{}", table(&lines));
        if let Some(fitted) = fitted {
            println!("\n{fitted:#}");
        }
    }
    Ok(())
}
