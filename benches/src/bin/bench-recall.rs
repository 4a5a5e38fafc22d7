//! Recall benchmark: recall and nDCG over labeled conversations.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};
use mnemal::Builder;
use mnemal::recall::RecallMode;
use mnemal::types::Layer;
use mnemal_benches::curve::Curve;
use mnemal_benches::embedder::EmbedderArgs;
use mnemal_benches::evidence;
use mnemal_benches::neutral::{DataSet, Row};
use mnemal_benches::paired::{Difference, by_group};
use mnemal_benches::score::score;
use mnemal_benches::spaces::{Answers, Layout, QueryOptions, Spaces};

/// Turns that are ranked for a question. Source: the deepest published depth.
const LIMIT: usize = 50;

/// Measures recall over a data set in the neutral layout: `corpus.jsonl` and `questions.jsonl` in one folder.
#[derive(Debug, Parser)]
#[command(name = "bench-recall", max_term_width = 100)]
struct Args {
    /// The folder of the data set.
    #[arg(long)]
    data: PathBuf,
    /// Put all conversations into one space instead of one space each.
    #[arg(long)]
    pooled: bool,
    /// Write what was ranked, one question per line.
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
    /// The file of the questions, within the folder.
    #[arg(long, default_value = "questions.jsonl")]
    questions: String,
    /// Most turns that are ranked for a question.
    #[arg(long, default_value_t = LIMIT)]
    limit: usize,
    /// The arms that search.
    #[arg(long, value_enum, default_value_t = Arms::Hybrid)]
    mode: Arms,
    /// The field of a question that makes groups.
    #[arg(long, default_value = "category")]
    by: String,
    /// Assemble contexts of this many tokens too, and say how much of the evidence they hold.
    #[arg(long, value_name = "TOKENS")]
    context: Option<u32>,
    /// Assemble contexts of 500, 1,000, 2,000 and 4,000 tokens instead, and say how much of the evidence they hold beside the
    /// turns that stemmed BM25 would put into as many tokens.
    #[arg(long, conflicts_with_all = ["context", "run"])]
    curve: bool,
    #[command(flatten)]
    embedder: EmbedderArgs,
    /// Whether the graph has a part in the ranking; `both` also says what it changes, group by group.
    #[arg(long, value_enum, default_value_t = Graph::On)]
    graph: Graph,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Graph {
    On,
    Off,
    Both,
}

/// What two runs are compared by.
const COMPARED: [&str; 2] = ["recall@10", "ndcg@10"];

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Arms {
    Hybrid,
    Lexical,
    Vector,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&args))
}

async fn run(args: &Args) -> Result<()> {
    let data = DataSet::read(&args.data, &args.questions)?;
    let layout = if args.pooled { Layout::Pooled } else { Layout::Apart };
    let builder = args.embedder.builder()?;
    let graphless = builder.clone().without(Layer::Graph);
    let first = if args.graph == Graph::Off { &graphless } else { &builder };
    if args.curve {
        let curve = Curve::measure(&data, layout, first).await?;
        if args.json {
            println!("{:#}", curve.json(&data, &args.by));
        } else {
            print!("{}", curve.table(&data));
        }
        return Ok(());
    }
    let mode = match args.mode {
        Arms::Hybrid => RecallMode::Auto,
        Arms::Lexical => RecallMode::Lexical,
        Arms::Vector => RecallMode::Vector,
    };
    let asking = QueryOptions { limit: args.limit, mode };
    let (answers, contexts) = ask(&data, (layout, first), asking, args.context).await?;
    let gains = match args.graph {
        Graph::On | Graph::Off => Vec::new(),
        Graph::Both => {
            let (plain, _) = ask(&data, (layout, &graphless), asking, None).await?;
            by_group(&data, (&plain.rows, &answers.rows), &args.by, &COMPARED)
        }
    };
    if let Some(file) = &args.run {
        write(file, &answers.rows)?;
    }
    let report = score(&data, &answers.rows, &args.by);
    let contexts = args.context.map(|_| contexts);
    let held = contexts.as_ref().map(|contexts| evidence::shown(&data, &contexts.rows, &args.by));
    let degraded = answers.degraded + contexts.map_or(0, |contexts| contexts.degraded);
    if args.json {
        let mut document = report.json();
        let held = held.as_ref().map(|held| ("context".to_owned(), evidence::json(held)));
        if let Some(fields) = document.as_object_mut() {
            fields.extend([("degraded".to_owned(), degraded.into())].into_iter().chain(held));
            if !gains.is_empty() {
                fields.insert("graph".to_owned(), gains.iter().map(gain_json).collect());
            }
        }
        println!("{document:#}");
    } else {
        print!("{}", report.table());
        print!("{}", held.as_ref().map(evidence::table).unwrap_or_default());
        for (group, n, differences) in &gains {
            print!("graph  {group:26} n {n:4}");
            for (metric, Difference { mean, low, high }) in COMPARED.iter().zip(differences) {
                print!("  {metric} {mean:+.4} ({low:+.4} to {high:+.4})");
            }
            println!();
        }
        println!("\nanswers that lacked something: {degraded}");
    }
    Ok(())
}

/// Asks every question of what was said before its moment, and assembles contexts if there is a budget for them.
async fn ask(
    data: &DataSet,
    (layout, builder): (Layout, &Builder),
    asking: QueryOptions,
    context: Option<u32>,
) -> Result<(Answers, Answers)> {
    let mut spaces = Spaces::begin(data, layout, builder)?;
    let (mut answers, mut contexts) = (Answers::default(), Answers::default());
    for questions in data.moments() {
        spaces.advance(questions).await?;
        answers.extend(spaces.recall(questions, asking).await?);
        if let Some(budget) = context {
            contexts.extend(spaces.contexts(questions, budget).await?);
        }
    }
    Ok((answers, contexts))
}

fn gain_json((group, n, differences): &(String, usize, Vec<Difference>)) -> serde_json::Value {
    let metric = |(name, Difference { mean, low, high }): (&&str, &Difference)| {
        ((*name).to_owned(), serde_json::json!({"difference": mean, "low": low, "high": high}))
    };
    let metrics: serde_json::Map<_, _> = COMPARED.iter().zip(differences).map(metric).collect();
    serde_json::json!({"group": group, "n": n, "metrics": metrics})
}

fn write(file: &Path, rows: &[Row]) -> Result<()> {
    let out = std::fs::File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
    let mut out = std::io::BufWriter::new(out);
    for row in rows {
        serde_json::to_writer(&mut out, row)?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
