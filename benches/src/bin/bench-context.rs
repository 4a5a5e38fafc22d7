//! How much of the evidence contexts hold, with the facts of the graph and without.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mnemal::{Engine, Layer};
use mnemal_benches::neutral::DataSet;
use mnemal_benches::paired::Difference;
use mnemal_benches::shown::{Shown, gains, json as groups, shown};
use mnemal_benches::spaces::{Answers, Layout, Spaces};
use serde_json::{Map, Value, json};

/// Assembles a context for every question twice, with a graph and without one, and says how much of its evidence each holds:
/// a turn counts when a line stands on it, whether that is the turn itself or a fact that was read in it.
#[derive(Debug, Parser)]
#[command(name = "bench-context", max_term_width = 100)]
struct Args {
    /// The folder of a data set in the neutral layout; several one after the other.
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
    /// The file of the questions, within each folder.
    #[arg(long, default_value = "questions.jsonl")]
    questions: String,
    /// Tokens of a context; several one after the other.
    #[arg(long, value_name = "TOKENS", default_values_t = [4_000, 1_000])]
    budget: Vec<u32>,
    /// The field of a question that makes groups.
    #[arg(long, default_value = "category")]
    by: String,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// What was measured of one data set at one budget.
struct Compared {
    data: String,
    budget: u32,
    with: BTreeMap<String, Shown>,
    without: BTreeMap<String, Shown>,
    gains: BTreeMap<String, Difference>,
    /// Mean tokens of each section of a context with a graph.
    tokens: BTreeMap<&'static str, f64>,
    degraded: usize,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&args))
}

async fn run(args: &Args) -> Result<()> {
    let mut documents = Vec::new();
    for folder in &args.data {
        let data = DataSet::read(folder, &args.questions)?;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let with = Spaces::import(&data, Layout::Apart, &Engine::builder()).await?;
        let facts = with.fold_graphs().await?;
        let without = Spaces::import(&data, Layout::Apart, &Engine::builder().without(Layer::Graph)).await?;
        let mut compared = Vec::new();
        for budget in &args.budget {
            let on = with.contexts(&data.questions, *budget).await?;
            let off = without.contexts(&data.questions, *budget).await?;
            compared.push(compare(&data, (&name, *budget), &on, &off, &args.by));
        }
        if args.json {
            let budgets: Vec<Value> = compared.iter().map(Compared::json).collect();
            documents.push(json!({"data": name, "facts": facts, "budgets": budgets}));
        } else {
            compared.iter().for_each(|one| print!("{}", one.table()));
        }
    }
    if args.json {
        println!("{:#}", Value::Array(documents));
    }
    Ok(())
}

fn compare(data: &DataSet, (name, budget): (&str, u32), on: &Answers, off: &Answers, by: &str) -> Compared {
    let contexts = on.rows.len().max(1) as f64;
    let mean = |total: &u64| (*total as f64 / contexts * 10.0).round() / 10.0;
    Compared {
        data: name.to_owned(),
        budget,
        with: shown(data, &on.rows, by),
        without: shown(data, &off.rows, by),
        gains: gains(data, &off.rows, &on.rows, by),
        tokens: on.tokens.iter().map(|(section, total)| (*section, mean(total))).collect(),
        degraded: on.degraded + off.degraded,
    }
}

impl Compared {
    fn json(&self) -> Value {
        let gain = |of: &Difference| json!({"mean": of.mean, "low": of.low, "high": of.high});
        let gains: Map<String, Value> =
            self.gains.iter().map(|(name, of)| (name.clone(), gain(of))).collect();
        json!({
            "budget": self.budget, "with": groups(&self.with), "without": groups(&self.without),
            "gain": gains, "tokens": self.tokens, "degraded": self.degraded,
        })
    }

    fn table(&self) -> String {
        let mut lines = vec![format!("\n{}, {} tokens, degraded {}", self.data, self.budget, self.degraded)];
        lines.push(format!(
            "  {:26}{:>6}{:>10}{:>10}{:>10}  interval",
            "group", "n", "without", "with", "gain"
        ));
        for (name, off) in &self.without {
            let on = self.with.get(name).cloned().unwrap_or_default();
            let Difference { mean, low, high } = self.gains.get(name).copied().unwrap_or_default();
            lines.push(format!(
                "  {name:26}{:6}{:10.4}{:10.4}{mean:+10.4}  {low:+.4} to {high:+.4}",
                off.n, off.share, on.share
            ));
        }
        let tokens: Vec<String> =
            self.tokens.iter().map(|(section, tokens)| format!("{section} {tokens}")).collect();
        lines.push(format!("  tokens by section: {}\n", tokens.join(", ")));
        lines.join("\n")
    }
}
