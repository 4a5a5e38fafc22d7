//! Many-spaces benchmark: random queries from one process; CPU time, memory, open files.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use mnemal_benches::figure::{Figure, table};
use mnemal_benches::many::{Crowd, QueryCost};

/// Spaces. Source: own choice, a developer's projects many times over, and a small team's.
const SPACES: usize = 5_000;
/// Events of a space. Source: own choice, a week of one project.
const EVENTS: usize = 200;
/// Questions. Source: own choice; p99 is the thirtieth worst.
const RECALLS: usize = 3_000;

/// Makes many small spaces on disk and asks them by chance, in a fresh process.
#[derive(Debug, Parser)]
#[command(name = "bench-spaces", max_term_width = 100)]
struct Args {
    /// Spaces.
    #[arg(long, default_value_t = SPACES)]
    spaces: usize,
    /// Events of each.
    #[arg(long, default_value_t = EVENTS)]
    events: usize,
    /// Questions.
    #[arg(long, default_value_t = RECALLS)]
    recalls: usize,
    /// Most spaces that are open at once, instead of the setting's default; several are measured one after the other.
    #[arg(long, value_delimiter = ',')]
    max_open: Vec<usize>,
    /// Keep the spaces in this folder, on the disk that shall be measured; spaces that are there are asked as they are.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Be the fresh process that asks.
    #[arg(long, hide = true)]
    ask: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let temporary = tempfile::tempdir()?;
    let data = args.dir.clone().unwrap_or_else(|| temporary.path().to_owned());
    let crowd = Crowd { data, spaces: args.spaces, events: args.events };
    if args.ask {
        let said = runtime.block_on(crowd.ask(args.recalls, args.max_open.first().copied()))?;
        println!("{}", serde_json::to_string(&said)?);
        return Ok(());
    }
    let is_there = crowd.data.join("spaces").exists();
    let mut made = if is_there { None } else { Some(runtime.block_on(crowd.make())?) };
    let mut figures = Vec::new();
    let wanted = args.max_open.iter().copied().map(Some);
    let wanted: Vec<Option<usize>> = if args.max_open.is_empty() { vec![None] } else { wanted.collect() };
    for max_open in wanted {
        figures.extend(crowd.figures(&fresh(&crowd, &args, max_open)?, made.take()));
    }
    if args.json {
        println!("{:#}", figures.iter().map(Figure::json).collect::<serde_json::Value>());
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}

/// Asks in a process of its own, whose memory holds nothing of the making.
fn fresh(crowd: &Crowd, args: &Args, max_open: Option<usize>) -> Result<QueryCost> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--ask").arg("--dir").arg(&crowd.data);
    for (name, value) in [("--spaces", args.spaces), ("--events", args.events), ("--recalls", args.recalls)] {
        command.arg(name).arg(value.to_string());
    }
    if let Some(max_open) = max_open {
        command.arg("--max-open").arg(max_open.to_string());
    }
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the process that asks failed");
    serde_json::from_slice(&output.stdout).context("the process that asks said something else")
}
