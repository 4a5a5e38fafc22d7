//! Torture programs on the command line: `torture NAME --json`.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};
use mnemal_benches::torture::worker::{self, SERVE};
use mnemal_benches::torture::{
    Order, corrupt, dream, erase, formats, fuzz, histories, history, inbox, io, kill, lies, poison, postgres,
    powercut, prefix, processes, questions, rebuild, receipts, servers, undo,
};
use serde::Serialize;

/// Tries to make a space lose, double, damage or misread something.
#[derive(Debug, Parser)]
#[command(name = "torture", max_term_width = 100)]
struct Args {
    /// Which program.
    name: Name,
    /// Kills, cuts, failures or files; each program has its own default.
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
    /// Address of the database, for the programs with several servers.
    #[arg(long)]
    database: Option<String>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    Asking,
    Corrupt,
    Dream,
    Erase,
    Formats,
    Fuzz,
    History,
    Inbox,
    Io,
    Kill,
    Lies,
    PostgresKill,
    Powercut,
    Prefix,
    Processes,
    Rebuild,
    ServerProcesses,
    Receipts,
    Taking,
    TwoServers,
    Undo,
}

impl Name {
    /// Runs behind the promises of the product. Source: own choice, limited to ten minutes.
    fn runs(self) -> u64 {
        match self {
            Self::Corrupt | Self::Io | Self::Powercut => 2_000,
            Self::History => 30,
            // Source: the target of the product, 200 files and 50 kills.
            Self::Inbox => 50,
            // Source: own choice, ten minutes of a build for development.
            Self::Prefix => 100,
            Self::Fuzz => 500_000,
            // Source: the target of the product, 500 files of each importer.
            Self::Formats => 500,
            Self::Dream => 900,
            // Source: own choice, some minutes of a build for development.
            Self::Lies => 300,
            // Source: the target of the product, 200 canaries, and files of 200 MB; of the kills own choice, some minutes.
            Self::Erase | Self::PostgresKill | Self::Taking => 200,
            // Source of the last two: the target of the product, 1,000 contexts and 1,000 decisions.
            Self::Kill | Self::Receipts | Self::Undo => 1_000,
            // Source: the target of the product, 10,000 operations.
            Self::Processes | Self::Rebuild | Self::ServerProcesses | Self::TwoServers => 10_000,
            Self::Asking => 1_000_000,
        }
    }

    /// Runs the program, prints its report, and returns whether it is clean.
    fn run(self, order: &Order, database: Option<&str>, form: Form) -> Result<bool> {
        let named = || database.context("name a database: --database postgres://USER@HOST/NAME");
        let report = match self {
            Self::Erase => {
                let report = erase::run(order)?;
                form.print(&report)?;
                return Ok(report.is_clean());
            }
            Self::Formats => {
                let outcome = formats::run(order)?;
                form.print(&outcome)?;
                return Ok(outcome.is_clean());
            }
            Self::Receipts => {
                let report = receipts::run(order)?;
                form.print(&report)?;
                return Ok(report.is_clean());
            }
            Self::Taking => {
                let report = histories::run(order)?;
                form.print(&report)?;
                return Ok(report.is_clean());
            }
            Self::Asking => questions::run(order),
            Self::Corrupt => corrupt::run(order),
            Self::Dream => dream::run(order),
            Self::Fuzz => fuzz::run(order),
            Self::History => history::run(order),
            Self::Inbox => inbox::run(order),
            Self::Io => io::run(order),
            Self::Kill => kill::run(order),
            Self::Lies => lies::run(order),
            Self::PostgresKill => postgres::postgres_kill(order, named()?),
            Self::Powercut => powercut::run(order),
            Self::Prefix => prefix::run(order),
            Self::Processes => processes::run(order),
            Self::Rebuild => rebuild::run(order),
            Self::ServerProcesses => servers::run(order),
            Self::TwoServers => postgres::two_servers(order, named()?),
            Self::Undo => undo::run(order),
        }?;
        form.print(&report)?;
        Ok(report.is_clean())
    }
}

/// How a report is printed.
#[derive(Clone, Copy, Debug)]
enum Form {
    Json,
    Human,
}

impl Form {
    fn print(self, report: &(impl Serialize + std::fmt::Debug)) -> Result<()> {
        match self {
            Self::Json => println!("{}", serde_json::to_string_pretty(report)?),
            Self::Human => println!("{report:#?}"),
        }
        Ok(())
    }
}

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((SERVE, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return worker::serve(rest).map(|()| ExitCode::SUCCESS);
    }
    if let [word, kind] = words.as_slice()
        && word == mnemal::events::GUARDED
    {
        return Ok(ExitCode::from(u8::from(mnemal::events::serve_guarded(kind).is_err())));
    }
    if let Some((corrupt::READ, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return corrupt::read(rest).map(|()| ExitCode::SUCCESS);
    }
    if let Some((inbox::TAKE, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return inbox::take(rest).map(|()| ExitCode::SUCCESS);
    }
    if let Some((histories::READ_IN, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return histories::read_in(rest).map(|()| ExitCode::SUCCESS);
    }
    if let Some((poison::POISON, rest)) = words.split_first().map(|(word, rest)| (word.as_str(), rest)) {
        return poison::main(rest).map(|held| if held { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let args = Args::parse();
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let (runs, time) = (args.runs.unwrap_or(args.name.runs()), Duration::from_secs(args.minutes * 60));
    let order = Order { runs, first: args.first, seed: args.seed, time, program };
    let is_clean =
        args.name.run(&order, args.database.as_deref(), if args.json { Form::Json } else { Form::Human })?;
    Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
