//! Extraction benchmark: the extractor's output against observations or labels.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Parser;
use mnemal_benches::cpu::Watch;
use mnemal_benches::extraction::agreement::agreement;
use mnemal_benches::extraction::fit::table;
use mnemal_benches::extraction::gold::Gold;
use mnemal_benches::extraction::observed::AnnotatedTurns;
use mnemal_benches::extraction::{TurnText, read, traps};
use mnemal_core::Extractor;
use mnemal_extract::RuleExtractor;
use mnemal_reader::{TrainedReader, VotingExtractor};
use serde_json::{Value, json};

/// Passes over the turns for the throughput, of which the median counts. Source: own choice.
const PASSES: usize = 5;

/// Measures the extractor: claims and names against labels, or claims against observations.
#[derive(Debug, Parser)]
#[command(name = "bench-extract", max_term_width = 100)]
#[expect(clippy::struct_excessive_bools, reason = "one for each option")]
struct Args {
    /// A folder with `corpus.jsonl` and `facts.jsonl`, or with `HALF.turns.jsonl` and `HALF.labels.jsonl`.
    #[arg(long, default_value = "crates/mnemal-extract/gold/g1")]
    data: PathBuf,
    /// Which half of a gold folder.
    #[arg(long, default_value = "dev")]
    half: String,
    /// Print what failed; refused for a held-out half.
    #[arg(long)]
    failures: bool,
    /// Show each rule.
    #[arg(long, value_parser = ["rule"])]
    by: Option<String>,
    /// Switch rules off.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Let the trained reader in this file vote with the rules.
    #[arg(long)]
    reader: Option<PathBuf>,
    /// Print every claim of the rules and of the model with the votes on it, one JSON object a line.
    #[arg(long, requires = "reader")]
    votes: bool,
    /// Print the table of what was measured of the rules, from the sets of a gold folder: `g1` (its development half) and
    /// `practice`, on which they were written, and `unseen`.
    #[arg(long)]
    fit: Option<PathBuf>,
    /// Show how far the two readers of `--data` agree.
    #[arg(long)]
    agreement: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    ensure!(
        !(args.failures || args.votes) || args.half.ends_with("dev"),
        "the failures of a half that is held back are not shown"
    );
    if let Some(gold) = &args.fit {
        return fit(gold);
    }
    if args.agreement {
        println!("{:#}", agreement(&args.data)?);
        return Ok(());
    }
    let rules = RuleExtractor::new().without(args.without.clone());
    if let (true, Some(file)) = (args.votes, &args.reader) {
        let extractor = VotingExtractor::new(rules, TrainedReader::open(file)?);
        for claim in Gold::read(&args.data, &args.half)?.votes(&extractor)? {
            println!("{claim}");
        }
        return Ok(());
    }
    let extractor: Box<dyn Extractor> = match &args.reader {
        Some(file) => Box::new(VotingExtractor::new(rules, TrainedReader::open(file)?)),
        None => Box::new(rules),
    };
    let extractor = extractor.as_ref();
    let (mut figures, turns) = if args.data.join("facts.jsonl").exists() {
        let observed = AnnotatedTurns::read(&args.data)?;
        let (figures, _) = observed.measure(extractor)?;
        (figures, observed.turns)
    } else {
        let gold = Gold::read(&args.data, &args.half)?;
        let (mut figures, mut failures) = gold.measure(extractor)?;
        if args.data.ends_with("g1") {
            failures.extend(traps::add_to(&mut figures, &args.data, &args.half, extractor)?);
        }
        if args.failures {
            for line in &failures {
                println!("{line}");
            }
        }
        (figures, gold.turns)
    };
    let Value::Object(all) = &mut figures else { return Ok(()) };
    all.insert("turns_per_cpu_second".to_owned(), json!(throughput(extractor, &turns)?.round()));
    let rules = all.remove("by_rule");
    if args.by.is_some() {
        all.insert("by_rule".to_owned(), rules.unwrap_or_default());
    }
    if args.json {
        println!("{figures:#}");
    } else {
        for (name, figure) in all {
            println!("{name:26} {figure}");
        }
    }
    Ok(())
}

/// Prints the table `measured` of a pack.
fn fit(gold: &Path) -> Result<()> {
    let extractor = RuleExtractor::new().unweighed();
    let judged = |set: &str, half: &str| Gold::read(&gold.join(set), half)?.judged(&extractor);
    let mut read = judged("g1", "dev")?;
    read.extend(judged("practice", "dev")?);
    print!("{}", table(&read, &judged("unseen", "held")?));
    Ok(())
}

/// Returns the median of several passes over the turns.
fn throughput(extractor: &dyn Extractor, turns: &[TurnText]) -> Result<f64> {
    let mut rates = Vec::new();
    for _ in 0..PASSES {
        let watch = Watch::start()?;
        let found = read(extractor, turns)?;
        let cost = watch.stop()?;
        rates.push(found.len() as f64 / cost.cpu.as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    Ok(rates.get(PASSES / 2).copied().unwrap_or_default())
}
