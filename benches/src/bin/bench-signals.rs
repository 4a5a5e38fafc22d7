//! Signal benchmark: contribution of each recall signal, and weights learned from data sets.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Parser;
use mnemal_benches::metric::Values;
use mnemal_benches::neutral::DataSet;
use mnemal_benches::paired::Difference;
use mnemal_benches::signals::ablate::{Line, ablate};
use mnemal_benches::signals::answerable;
use mnemal_benches::signals::fit::{fit, left_out};
use mnemal_benches::signals::sample::{Sample, shipped};
use serde_json::json;

/// Switches each signal off in turn, or learns the weights of all of them; turn level, a space for each conversation.
#[derive(Debug, Parser)]
#[command(name = "bench-signals", max_term_width = 100)]
struct Args {
    /// The folder of a data set in the neutral layout; several are learned from together.
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
    /// The file of the questions, within each folder.
    #[arg(long, default_value = "questions.jsonl")]
    questions: String,
    /// Learn the weights, and measure them with each conversation left out in turn.
    #[arg(long)]
    fit: bool,
    /// Keep a weight as it is while the others are learned.
    #[arg(long, value_name = "SIGNAL=WEIGHT", requires = "fit")]
    hold: Vec<String>,
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
    let read = |folder: &PathBuf| Ok(answerable(DataSet::read(folder, &args.questions)?));
    let sets: Vec<DataSet> = args.data.iter().map(read).collect::<Result<_>>()?;
    if args.fit {
        return learn(args, &sets).await;
    }
    let mut documents = Vec::new();
    for (data, folder) in sets.iter().zip(&args.data) {
        let lines = ablate(data).await?;
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if args.json {
            let lines: Vec<_> = lines.iter().map(Line::json).collect();
            documents.push(json!({"data": name, "n": data.questions.len(), "rankings": lines}));
            continue;
        }
        println!("{name}, n {}", data.questions.len());
        for line in lines {
            print!("  {:18}", line.name);
            for (metric, mean, Difference { mean: by, low, high }) in line.metrics {
                print!("  {metric} {mean:.4} {by:+.4} ({low:+.4} to {high:+.4})");
            }
            println!();
        }
    }
    if args.json {
        println!("{:#}", json!(documents));
    }
    Ok(())
}

async fn learn(args: &Args, sets: &[DataSet]) -> Result<()> {
    let shipped = shipped();
    let held = held(&args.hold, &shipped)?;
    let start: Vec<f64> = shipped.iter().map(|(_, weight)| *weight).collect();
    let mut samples = Vec::new();
    for data in sets {
        samples.push(Sample::of(data).await?);
    }
    let all: Vec<Vec<&Sample>> = samples.iter().map(|samples| samples.iter().collect()).collect();
    let weights = fit(&all, &held, &start);
    let unseen = left_out(&samples, &held, &weights);
    let mean = |weights: &[f64], samples: &[Sample]| {
        Values::mean(&samples.iter().map(|sample| sample.measured(weights)).collect::<Vec<_>>())
    };
    let figures = |values: &Values| (values.get("recall@10"), values.get("ndcg@10"));
    let rows: Vec<_> = args.data.iter().zip(&samples).zip(&unseen).collect();
    if args.json {
        let table: serde_json::Map<_, _> = shipped
            .iter()
            .zip(&weights)
            .map(|((name, _), weight)| ((*name).to_owned(), json!(weight)))
            .collect();
        let set = |((folder, samples), unseen): &((&PathBuf, &Vec<Sample>), &Values)| {
            json!({"data": folder.file_name().map(|name| name.to_string_lossy()), "n": samples.len(),
                "left_out": figures(unseen), "learnt": figures(&mean(&weights, samples)),
                "shipped": figures(&mean(&start, samples))})
        };
        println!("{:#}", json!({"weights": table, "sets": rows.iter().map(set).collect::<Vec<_>>()}));
        return Ok(());
    }
    for ((name, shipped), weight) in shipped.iter().zip(&weights) {
        println!("{name:10} {weight:7.3}  shipped {shipped:.2}");
    }
    for ((folder, samples), unseen) in rows {
        println!("{}, n {}: recall@10, ndcg@10", folder.display(), samples.len());
        for (label, values) in [
            ("shipped", mean(&start, samples)),
            ("learnt", mean(&weights, samples)),
            ("left out", unseen.clone()),
        ] {
            let (recall, gain) = figures(&values);
            println!("  {label:9} {:.4} {:.4}", recall.unwrap_or_default(), gain.unwrap_or_default());
        }
    }
    Ok(())
}

/// The weights that are kept, in the order of the table.
fn held(hold: &[String], shipped: &[(&'static str, f64)]) -> Result<Vec<Option<f64>>> {
    let mut kept = vec![None; shipped.len()];
    for text in hold {
        let (name, weight) = text.split_once('=').with_context(|| format!("no SIGNAL=WEIGHT: {text}"))?;
        let place = shipped.iter().position(|(known, _)| *known == name);
        let own = place.and_then(|place| kept.get_mut(place)).with_context(|| format!("no signal {name}"))?;
        *own = Some(weight.parse().with_context(|| format!("no number: {weight}"))?);
    }
    Ok(kept)
}
