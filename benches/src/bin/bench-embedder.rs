//! Embedder benchmark: cost of the built-in embedder, and the gain of its vectors over lexical recall.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mnemal::ports::Embedder as _;
use mnemal::recall::RecallMode;
use mnemal_benches::chat::Chat;
use mnemal_benches::cpu::Watch;
use mnemal_benches::neutral::DataSet;
use mnemal_benches::paired::{Difference, difference};
use mnemal_benches::score::score;
use mnemal_benches::spaces::{Layout, QueryOptions, Spaces};
use mnemal_providers::StaticEmbedder;
use serde_json::json;

/// Texts that are embedded while the processor's time is taken.
const TEXTS: usize = 20_000;
/// Turns that are ranked for a question.
const LIMIT: usize = 50;
/// The metrics of the comparison.
const METRIC: &str = "recall@10";
const MODES: [(&str, RecallMode); 3] =
    [("lexical", RecallMode::Lexical), ("vector", RecallMode::Vector), ("hybrid", RecallMode::Auto)];

/// Measures the built-in embedder: time of a text, and recall with and without its vectors over a data set.
#[derive(Debug, Parser)]
#[command(name = "bench-embedder", max_term_width = 100)]
struct Args {
    /// The folder of a data set in the neutral layout; without it only the time is measured.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Put all conversations into one space instead of one space each.
    #[arg(long)]
    pooled: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

struct Arm {
    mode: &'static str,
    questions: usize,
    recall: f64,
    gain: f64,
    difference: Difference,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let micros = runtime.block_on(micros_a_text())?;
    let arms = match &args.data {
        Some(data) => {
            let layout = if args.pooled { Layout::Pooled } else { Layout::Apart };
            runtime.block_on(arms(&DataSet::read(data, "questions.jsonl")?, layout))?
        }
        None => Vec::new(),
    };
    if args.json {
        let arm = |arm: &Arm| {
            let Difference { mean, low, high } = arm.difference;
            json!({"mode": arm.mode, "n": arm.questions, METRIC: arm.recall, "ndcg@10": arm.gain,
                "difference": mean, "low": low, "high": high})
        };
        let arms: Vec<_> = arms.iter().map(arm).collect();
        println!("{:#}", json!({"micros_a_text": micros, "arms": arms}));
        return Ok(());
    }
    println!("{micros:.1} µs of processor time a text of 150 bytes");
    for Arm { mode, questions, recall, gain, difference: Difference { mean, low, high } } in arms {
        let range = format!("{mean:+.4} ({low:+.4} to {high:+.4})");
        println!("{mode:8} n {questions:5}  {METRIC} {recall:.4}  ndcg@10 {gain:.4}  beside lexical {range}");
    }
    Ok(())
}

async fn micros_a_text() -> Result<f64> {
    let texts: Vec<String> = Chat::new(1).take(TEXTS).map(|turn| turn.text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let embedder = StaticEmbedder::built_in();
    let watch = Watch::start()?;
    let vectors = embedder.embed(&texts).await?;
    let cost = watch.stop()?;
    Ok(cost.cpu.as_secs_f64() * 1e6 / vectors.len().max(1) as f64)
}

async fn arms(data: &DataSet, layout: Layout) -> Result<Vec<Arm>> {
    let spaces = Spaces::import(data, layout, &mnemal::Engine::builder()).await?;
    let mut runs = Vec::new();
    for (_, mode) in MODES {
        runs.push(spaces.recall(&data.questions, QueryOptions { limit: LIMIT, mode }).await?.rows);
    }
    let words = runs.first().map(Vec::as_slice).unwrap_or_default();
    let arm = |((mode, _), run): (&(&'static str, RecallMode), &Vec<_>)| {
        let report = score(data, run, "category");
        let mean = |metric| report.mean("turn", mnemal_benches::score::ALL, metric).unwrap_or_default();
        let difference = difference(data, words, run, METRIC);
        Arm { mode, questions: data.questions.len(), recall: mean(METRIC), gain: mean("ndcg@10"), difference }
    };
    Ok(MODES.iter().zip(&runs).map(arm).collect())
}
