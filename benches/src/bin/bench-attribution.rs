//! Attribution benchmark: other people's words that become the user's, and the user's own that are still learned.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Parser;
use mnemal_benches::attribution::{Figures, Half, Material, Outcome};
use mnemal_benches::learned::Item;
use mnemal_benches::spaces;
use serde_json::{Map, Value, json};

/// Says statements in wrappers and plainly, each in a space of its own, and looks at what is learned of the user.
#[derive(Debug, Parser)]
#[command(name = "bench-attribution", max_term_width = 100)]
struct Args {
    /// The folder of the material.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/data/attribution"))]
    data: PathBuf,
    /// Only one half: dev or held.
    #[arg(long, value_parser = Half::parse)]
    half: Option<Half>,
    /// List the failures of the half dev; those of the other are never shown.
    #[arg(long)]
    list: bool,
    /// Write the plain turns of which something is learned, as the baseline of later builds.
    #[arg(long)]
    baseline: Option<PathBuf>,
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
    let material = Material::read(&args.data)?;
    let builder = spaces::voting(args.reader.as_deref())?;
    let mut document = Map::new();
    let mut learned = Vec::new();
    for half in Half::ALL.into_iter().filter(|half| args.half.is_none_or(|only| only == *half)) {
        let figures = Figures::measure(&material, half, &builder).await?;
        let mut figures_json = figures.json();
        if args.list && half == Half::Dev {
            let lists = json!({"taken": outcomes(&figures.taken), "lost": outcomes(&figures.lost)});
            if let (Some(figures), Value::Object(lists)) = (figures_json.as_object_mut(), lists) {
                figures.extend(lists);
            }
        }
        if !args.json {
            println!("{}", half.as_str());
            for row in mnemal_benches::figure::rows(&figures_json) {
                println!("  {row}");
            }
        }
        document.insert(half.as_str().to_owned(), figures_json);
        learned.extend(figures.learned);
    }
    if let Some(file) = &args.baseline {
        learned.sort();
        let text = serde_json::to_string_pretty(&learned)?;
        std::fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    if args.json {
        println!("{:#}", Value::Object(document));
    }
    Ok(())
}

fn outcomes(all: &[Outcome]) -> Vec<Value> {
    let one = |outcome: &Outcome| {
        let items: Vec<String> = outcome.items.iter().map(Item::line).collect();
        json!({"name": outcome.name, "text": outcome.text, "learned": items})
    };
    all.iter().map(one).collect()
}
