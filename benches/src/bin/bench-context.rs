//! Context benchmark: evidence in contexts, with and without the facts of the graph.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;
use mnemal::types::Layer;
use mnemal::{Builder, Engine, Error, ImportFormat, Memory, Scope, Settings, SpaceId, Within};
use mnemal_benches::cpu::{Watch, quantile};
use mnemal_benches::embedder::EmbedderArgs;
use mnemal_benches::evidence::{EvidenceShares, gains, json as groups, shown};
use mnemal_benches::figure::{Figure, TargetBound, table};
use mnemal_benches::neutral::DataSet;
use mnemal_benches::paired::Difference;
use mnemal_benches::plain::{filled, ranked};
use mnemal_benches::preferences::{PreferenceSet, document};
use mnemal_benches::replay::{replay, turns};
use mnemal_benches::spaces::{Answers, Layout, Spaces, own_history};
use serde_json::{Map, Value, json};

/// Assembles a context for every question twice, with a graph and without one, and says how much of its evidence each holds:
/// a turn counts when a line is on it, whether that is the turn itself or a fact that was read in it.
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
    /// Measure the CPU time of contexts instead: all data sets in one file, with a graph and without in turn.
    #[arg(long)]
    cost: bool,
    /// Folders of turns in which the data set's statements of preferences are scattered; then contexts are asked for the right
    /// one instead, for users with fifty and for one with all, at the first budget.
    #[arg(long)]
    noise: Vec<PathBuf>,
    /// Say so many turns of each data set again, one after the other, and tell how much of each context a prompt cache keeps.
    #[arg(long, value_name = "TURNS")]
    replay: Option<usize>,
    /// Make the summaries of everything first, so that all sections stand in contexts.
    #[arg(long)]
    summaries: bool,
    #[command(flatten)]
    embedder: EmbedderArgs,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Questions of each data set that are timed.
const ASKED: usize = 60;
/// Repetitions per measurement.
const ROUNDS: usize = 3;
/// What facts may cost. Source: the task of this bench, 1.3 times the CPU time.
const MOST_COST: f64 = 1.3;
/// Most time for one part, in milliseconds: nothing is cut off on a busy machine.
const PATIENCE_MS: u64 = 3_600_000;

/// What was measured of one data set at one budget.
struct BudgetComparison {
    data: String,
    budget: u32,
    with: BTreeMap<String, EvidenceShares>,
    without: BTreeMap<String, EvidenceShares>,
    /// What the turns hold that stemmed BM25 would put into contexts of the same size.
    bm25: BTreeMap<String, EvidenceShares>,
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
    if args.cost {
        return cost(args).await;
    }
    if let (Some(most), Some(budget)) = (args.replay, args.budget.first()) {
        for folder in &args.data {
            let seen = replay(&turns(folder, most)?, &Engine::builder(), *budget).await?;
            println!("{:#}", seen.json());
        }
        return Ok(());
    }
    if let (false, Some(data), Some(budget)) = (args.noise.is_empty(), args.data.first(), args.budget.first())
    {
        return preferences(&PreferenceSet::read(data, &args.noise)?, &args.embedder.builder()?, *budget)
            .await;
    }
    let mut documents = Vec::new();
    for folder in &args.data {
        let data = DataSet::read(folder, &args.questions)?;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let builder = args.embedder.builder()?;
        let with = Spaces::import(&data, Layout::Apart, &builder).await?;
        let facts = with.fold_graphs().await?;
        let without = Spaces::import(&data, Layout::Apart, &builder.without(Layer::Graph)).await?;
        if args.summaries {
            with.make_summaries().await?;
            without.make_summaries().await?;
        }
        let ranked = ranked(&data.questions, &without).await?;
        let mut compared = Vec::new();
        for budget in &args.budget {
            let on = with.contexts(&data.questions, *budget).await?;
            let off = without.contexts(&data.questions, *budget).await?;
            let bm25 = shown(&data, &filled(&ranked, *budget, |line| line.cut).rows, &args.by);
            compared.push(BudgetComparison { bm25, ..compare(&data, (&name, *budget), &on, &off, &args.by) });
        }
        if args.json {
            let budgets: Vec<Value> = compared.iter().map(BudgetComparison::json).collect();
            documents.push(json!({"data": name, "facts": facts, "budgets": budgets}));
        } else {
            for one in &compared {
                print!("{}", one.table());
            }
        }
    }
    if args.json {
        println!("{:#}", json!({"contexts": documents}));
    }
    Ok(())
}

/// Asks for preferences by questions that do not name them.
async fn preferences(stated: &PreferenceSet, builder: &Builder, budget: u32) -> Result<()> {
    let one = stated.one_user(builder, budget).await?;
    let few = stated.users_of_few(builder, budget).await?;
    println!("{:#}", document(&few, &one, budget));
    Ok(())
}

/// Assembles each question's context on one file with a graph and without, in turn, and compares the CPU time.
async fn cost(args: &Args) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("cost.db");
    let open = async |builder: Builder| {
        let mut settings = Settings::default();
        settings.recall.part_deadline_ms = PATIENCE_MS;
        let engine = builder.with_settings(settings).open(&path).await?;
        Ok::<Memory, Error>(engine.memory(Scope::whole(SpaceId::new("cost")?)))
    };
    let with = open(Engine::builder()).await?;
    let mut questions = Vec::new();
    for folder in &args.data {
        let data = DataSet::read(folder, &args.questions)?;
        let file = BufReader::new(File::open(&data.corpus)?);
        let report =
            with.events().import(file, ImportFormat::Neutral, own_history(Within::All), &mut |_| {}).await?;
        ensure!(report.skipped_total == 0, "the corpus was not imported in full: {report:?}");
        questions.extend(data.questions.into_iter().map(|one| one.question).take(ASKED));
    }
    while with.facts().graph().await?.gaps.iter().any(|gap| gap.layer == Layer::Graph) {}
    let without = open(Engine::builder().without(Layer::Graph)).await?;
    let events = usize::try_from(with.admin().engine().stats().await?.head.0.map_or(0, |seq| seq.0))?;
    let (mut on, mut off) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        for question in &questions {
            for (memory, times) in [(&with, &mut on), (&without, &mut off)] {
                let watch = Watch::start()?;
                let context = memory.context(question).await?;
                let spent = watch.stop()?.cpu;
                // The first round fills what is kept in memory.
                if round > 0 && !context.text.is_empty() {
                    times.push(spent);
                }
            }
        }
    }
    let figures = figures(events, &on, &off);
    if args.json {
        println!("{:#}", Value::Array(figures.iter().map(Figure::json).collect()));
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}

fn figures(events: usize, on: &[Duration], off: &[Duration]) -> Vec<Figure> {
    let sum = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64();
    let mut figures = Vec::new();
    for (name, times) in [("with a graph", on), ("without", off)] {
        for (of, share) in [("p50", 0.5), ("p99", 0.99)] {
            figures.push(Figure::time(format!("context, CPU, {name}, {of}"), events, quantile(times, share)));
        }
    }
    let ratio =
        Figure::new("with a graph ÷ without, CPU of all", events, sum(on) / sum(off).max(f64::EPSILON), "×");
    figures.push(ratio.asked_if(TargetBound::AtMost(MOST_COST), |_| true));
    figures
}

fn compare(
    data: &DataSet,
    (name, budget): (&str, u32),
    on: &Answers,
    off: &Answers,
    by: &str,
) -> BudgetComparison {
    let contexts = on.rows.len().max(1) as f64;
    let mean = |total: &u64| (*total as f64 / contexts * 10.0).round() / 10.0;
    BudgetComparison {
        data: name.to_owned(),
        budget,
        with: shown(data, &on.rows, by),
        without: shown(data, &off.rows, by),
        bm25: BTreeMap::new(),
        gains: gains(data, &off.rows, &on.rows, by),
        tokens: on.tokens.iter().map(|(section, total)| (*section, mean(total))).collect(),
        degraded: on.degraded + off.degraded,
    }
}

impl BudgetComparison {
    fn json(&self) -> Value {
        let gain = |of: &Difference| json!({"mean": of.mean, "low": of.low, "high": of.high});
        let gains: Map<String, Value> =
            self.gains.iter().map(|(name, of)| (name.clone(), gain(of))).collect();
        json!({
            "budget": self.budget, "with": groups(&self.with), "without": groups(&self.without),
            "bm25": groups(&self.bm25), "gain": gains, "tokens": self.tokens, "degraded": self.degraded,
        })
    }

    fn table(&self) -> String {
        let mut lines = vec![format!("\n{}, {} tokens, degraded {}", self.data, self.budget, self.degraded)];
        lines.push(format!(
            "  {:26}{:>6}{:>10}{:>10}{:>10}{:>10}  interval",
            "group", "n", "bm25", "without", "with", "gain"
        ));
        for (name, off) in &self.without {
            let on = self.with.get(name).cloned().unwrap_or_default();
            let bm25 = self.bm25.get(name).map_or(0.0, |bm25| bm25.share);
            let Difference { mean, low, high } = self.gains.get(name).copied().unwrap_or_default();
            lines.push(format!(
                "  {name:26}{:6}{bm25:10.4}{:10.4}{:10.4}{mean:+10.4}  {low:+.4} to {high:+.4}",
                off.n, off.share, on.share
            ));
        }
        let tokens: Vec<String> =
            self.tokens.iter().map(|(section, tokens)| format!("{section} {tokens}")).collect();
        lines.push(format!("  tokens by section: {}\n", tokens.join(", ")));
        lines.join("\n")
    }
}
