//! Tries to make a space lose something: `torture NAME --json`.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};
use mnemal_benches::torture::worker::{self, SERVE};
use mnemal_benches::torture::{
    Order, Report, asking, corrupt, dream, fuzz, history, inbox, io, kill, poison, powercut, processes,
};

/// Tries to make a space lose, double, damage or misread something.
#[derive(Debug, Parser)]
#[command(name = "torture", max_term_width = 100)]
struct Args {
    /// Which programme.
    name: Name,
    /// Kills, cuts, failures or files; each programme has its own default.
    #[arg(long)]
    runs: Option<u64>,
    /// The number of the first run, for a slice that goes on where another stopped.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// What every random choice follows from.
    #[arg(long, default_value_t = 20_260_301)]
    seed: u64,
    /// Stop after this many minutes.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    Asking,
    Corrupt,
    Dream,
    Fuzz,
    History,
    Inbox,
    Io,
    Kill,
    Powercut,
    Processes,
}

impl Name {
    /// The runs that the promises of the product are made on. Source: RELIABILITY 18.1, cut to ten minutes.
    fn runs(self) -> u64 {
        match self {
            Self::Kill => 1_000,
            Self::Corrupt | Self::Io | Self::Powercut => 2_000,
            Self::History => 30,
            // Source: issue of the inbox, 200 files and 50 kills.
            Self::Inbox => 50,
            Self::Fuzz => 500_000,
            Self::Dream => 900,
            Self::Processes => 10_000,
            Self::Asking => 1_000_000,
        }
    }

    fn run(self, order: &Order) -> Result<Report> {
        match self {
            Self::Asking => asking::run(order),
            Self::Corrupt => corrupt::run(order),
            Self::Dream => dream::run(order),
            Self::Fuzz => fuzz::run(order),
            Self::History => history::run(order),
            Self::Inbox => inbox::run(order),
            Self::Io => io::run(order),
            Self::Kill => kill::run(order),
            Self::Powercut => powercut::run(order),
            Self::Processes => processes::run(order),
        }
    }
}

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((SERVE, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return worker::serve(rest).map(|()| ExitCode::SUCCESS);
    }
    if let Some((corrupt::READ, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return corrupt::read(rest).map(|()| ExitCode::SUCCESS);
    }
    if let Some((inbox::TAKE, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return inbox::take(rest).map(|()| ExitCode::SUCCESS);
    }
    if let Some((poison::POISON, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return poison::main(rest).map(|held| if held { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let args = Args::parse();
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let (runs, time) = (args.runs.unwrap_or(args.name.runs()), Duration::from_secs(args.minutes * 60));
    let report = args.name.run(&Order { runs, first: args.first, seed: args.seed, time, program })?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        println!("{report:#?}");
    }
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
