//! Life benchmark: how well contexts serve the questions of a simulated life, and correctness at its end.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mnemal_benches::attribution::Half;
use mnemal_benches::life::{LifeSpace, Lists, Report, read};
use mnemal_benches::spaces;

/// Lives one life or several, asks what each asks at its end, and compares what is held with what is right.
#[derive(Debug, Parser)]
#[command(name = "bench-life", max_term_width = 100)]
struct Args {
    /// The folder of a life; several are counted together.
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
    /// Only the questions of one half, where they are halved: dev or held.
    #[arg(long, value_parser = Half::parse)]
    half: Option<Half>,
    /// Let the trained reader in this file vote with the rules.
    #[arg(long)]
    reader: Option<PathBuf>,
    /// List what went wrong; only with `--half dev`.
    #[arg(long)]
    list: bool,
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
    let mut report = Report::default();
    let builder = spaces::voting(args.reader.as_deref())?;
    for folder in &args.data {
        let lived = LifeSpace::live(read(folder)?, builder.clone()).await?;
        report.add(lived.ask(args.half).await?);
    }
    let is_open = args.list && args.half == Some(Half::Dev);
    let lists = if is_open { Lists::Shown } else { Lists::Hidden };
    let document = report.json(lists);
    if args.json {
        println!("{document:#}");
    } else {
        for row in mnemal_benches::figure::rows(&document) {
            println!("{row}");
        }
    }
    Ok(())
}
