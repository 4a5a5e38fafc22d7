//! Feedback benchmark: precision, recall, irritation level, and false learnings.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Parser;
use mnemal_benches::feedback::fit::Samples;
use mnemal_benches::feedback::{JudgedHalf, false_learnings, noted};
use serde_json::Value;

/// Measures the feedback detector against labels, and on chats without an assistant.
#[derive(Debug, Parser)]
#[command(name = "bench-feedback", max_term_width = 100)]
struct Args {
    /// A folder with `HALF.turns.jsonl` and `HALF.labels.jsonl`.
    #[arg(long, default_value = "crates/mnemal-extract/gold/g4")]
    set: PathBuf,
    /// Which half of it.
    #[arg(long, default_value = "dev")]
    half: String,
    /// A folder with the `corpus.jsonl` of chats between people; adds `false_per_2000`.
    #[arg(long)]
    data: Option<PathBuf>,
    /// A folder with a `corpus.jsonl` in which users state preferences; adds `noted`, the share of turns with a note.
    #[arg(long)]
    notes: Option<PathBuf>,
    /// Print what failed; refused for a held-out half.
    #[arg(long)]
    failures: bool,
    /// Show each rule.
    #[arg(long, value_parser = ["rule"])]
    by: Option<String>,
    /// Print the weights of the English pack, fitted to the development halves of the sets of a gold folder
    /// (`crates/mnemal-extract/gold`) and to the examples of the rules.
    #[arg(long)]
    fit: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    ensure!(!args.failures || args.half == "dev", "the failures of a half that is held back are not shown");
    if let Some(gold) = &args.fit {
        print!("{}", Samples::read(gold)?.table());
        return Ok(());
    }
    let judged = JudgedHalf::read(&args.set, &args.half)?;
    if args.failures {
        judged.failures().iter().for_each(|line| println!("{line}"));
    }
    let Value::Object(mut figures) = judged.figures() else { return Ok(()) };
    figures.insert("half".to_owned(), args.half.into());
    if args.by.is_some() {
        figures.insert("by_rule".to_owned(), judged.by_rule());
    }
    if let Some(Value::Object(learned)) = args.data.as_deref().map(false_learnings).transpose()? {
        figures.extend(learned);
    }
    if let Some(folder) = &args.notes {
        figures.insert("noted".to_owned(), noted(folder)?);
    }
    if args.json {
        println!("{:#}", Value::Object(figures));
    } else {
        for (name, figure) in figures {
            println!("{name:16} {figure}");
        }
    }
    Ok(())
}
