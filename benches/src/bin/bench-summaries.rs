//! Summary benchmark: session summaries against references, lead, `TextRank` and chance.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mnemal_benches::summaries::{BUDGET, Session, figures, fit, speed};
use mnemal_core::TokenCount;
use mnemal_summaries::Limits;
use serde_json::{Value, json};

/// Measures the condenser: ROUGE of summaries of sessions, with paired intervals against simple ways to choose sentences.
#[derive(Debug, Parser)]
#[command(name = "bench-summaries", max_term_width = 100)]
struct Args {
    /// A folder with `corpus.jsonl` and `summaries.jsonl`, one reference per session.
    #[arg(long)]
    data: PathBuf,
    /// Tokens of a summary.
    #[arg(long, default_value_t = BUDGET.0)]
    tokens: u32,
    /// Most sentences of a summary.
    #[arg(long, default_value_t = usize::MAX)]
    sentences: usize,
    /// Print the weights that the folder teaches, and what they reach on conversations that they were not fitted to.
    #[arg(long)]
    fit: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let limits = Limits { sentences: args.sentences, tokens: TokenCount(args.tokens) };
    let sessions = Session::read_all(&args.data)?;
    if args.fit {
        let weights = fit::fitted(&sessions);
        let document = json!({
            "base": weights.base,
            "of": weights.of.to_vec(),
            "cross_validated": fit::cross_validated(&sessions, limits),
        });
        println!("{document:#}");
        return Ok(());
    }
    let mut figures = figures(&sessions, limits);
    figures.insert("leaves_per_cpu_second".to_owned(), speed::leaves_per_second(&sessions)?.round().into());
    if args.json {
        println!("{:#}", Value::Object(figures));
    } else {
        for (name, figure) in figures {
            println!("{name:16} {figure}");
        }
    }
    Ok(())
}
