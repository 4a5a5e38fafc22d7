//! Peer benchmark: mnemal, SQLite FTS5, `LanceDB`, Chroma, `LangGraph` and Mem0 on the same texts, vectors and questions.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program prints its findings")]

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Parser;
use clap::builder::PossibleValuesParser;
use mnemal_benches::curve::Curve;
use mnemal_benches::neutral::DataSet;
use mnemal_benches::peers::{Bench, PEERS, Peer, PeerInput, Report, act, table};
use serde_json::Map;

/// Questions about made events. Source: that of `bench latency`; p99 is the third worst.
const SAMPLES: usize = 200;

/// Compares mnemal with other stores; installs them below `target/peers`.
#[derive(Debug, Parser)]
#[command(name = "bench-peers", max_term_width = 100)]
struct Args {
    /// The folder of a data set in the neutral layout; its name is in the report.
    #[arg(long, required_unless_present = "be")]
    data: Option<PathBuf>,
    /// The file of the questions, within the folder.
    #[arg(long, default_value = "questions.jsonl")]
    questions: String,
    /// Compare with these only.
    #[arg(long, value_name = "NAME", value_delimiter = ',',
        value_parser = PossibleValuesParser::new(PEERS.map(|peer| peer.name)))]
    peer: Vec<String>,
    /// Also measure made conversations of so many events; 0 for none.
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000])]
    sizes: Vec<usize>,
    /// Fill contexts of 500, 1,000, 2,000 and 4,000 tokens with what the other stores rank instead, turns as lines, and say how
    /// much of the evidence they hold; mnemal's are those of `bench recall --curve`.
    #[arg(long)]
    curve: bool,
    /// Questions about each of those.
    #[arg(long, default_value_t = SAMPLES)]
    samples: usize,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Be mnemal as a peer.
    #[arg(long, hide = true, num_args = 5, value_names = ["PHASE", "HANDED", "STORE", "LAYOUT", "OUT"])]
    be: Vec<String>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if !args.be.is_empty() {
        return runtime.block_on(act(&args.be));
    }
    if args.curve {
        return runtime.block_on(curve(&args));
    }
    let load = std::fs::read_to_string("/proc/loadavg").context("a comparison needs Linux's /proc")?;
    let mut report = Report {
        outcomes: Vec::new(),
        cores: std::thread::available_parallelism()?.get(),
        load: load.split(' ').next().and_then(|load| load.parse().ok()).context("a load of the machine")?,
    };
    runtime.block_on(compare(&args, &mut report))?;
    if args.json {
        println!("{:#}", report.json());
    } else {
        print!("{}", table(&report.outcomes));
    }
    Ok(())
}

async fn compare(args: &Args, report: &mut Report) -> Result<()> {
    let bench = Bench::default();
    let folder = args.data.as_ref().context("no data set")?;
    let data = DataSet::read(folder, &args.questions)?;
    let name = folder.canonicalize()?.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut sets = vec![(PeerInput::of_data(&name, &data, bench.folder(&name)).await?, Some(&data))];
    for size in args.sizes.iter().filter(|size| **size > 0) {
        let name = format!("made-{size}");
        let handed = PeerInput::made(&name, *size, args.samples, bench.folder(&name)).await?;
        sets.push((handed, None));
    }
    for (peer, place) in PEERS.iter().zip(0..).filter(|(peer, place)| *place == 0 || is_wanted(args, peer)) {
        let program = bench.program(peer);
        for (handed, data) in &sets {
            eprintln!("{} of {}: {}, {}", place + 1, PEERS.len(), peer.name, handed.name);
            report.outcomes.extend(bench.outcomes(peer, &program, handed, *data));
        }
    }
    Ok(())
}

/// Texts that a store ranks so that the largest context is full. Source: as many turns of two-person chats fit into 4,000 tokens,
/// and some.
const DEEP: usize = 200;
/// The same where those are left out that were said after the question. Source: no conversation of the sets has more turns.
const DEEPER: usize = 2_000;

async fn curve(args: &Args) -> Result<()> {
    let folder = args.data.as_ref().context("no data set")?;
    let data = DataSet::read(folder, &args.questions)?;
    let are_moments = data.questions.iter().any(|question| question.before.is_some());
    let bench = Bench::default().with_top(if are_moments { DEEPER } else { DEEP });
    let name = folder.canonicalize()?.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let handed = PeerInput::of_data(&name, &data, bench.folder(&name)).await?;
    let (mut others, mut failed) = (Vec::new(), Map::new());
    for peer in PEERS.iter().skip(1).filter(|peer| is_wanted(args, peer)) {
        match bench.ranked(peer, &handed, &data) {
            Ok(ranked) => others.push((peer.name, ranked)),
            Err(error) => drop(failed.insert(peer.name.to_owned(), format!("{error:#}").into())),
        }
    }
    let curve = Curve::of_others(&others);
    if args.json {
        let mut document = curve.json(&data, "category");
        if let (Some(fields), false) = (document.as_object_mut(), failed.is_empty()) {
            fields.insert("failed".to_owned(), failed.into());
        }
        println!("{document:#}");
    } else {
        print!("{}", curve.table(&data));
        failed.iter().for_each(|(name, why)| println!("{name} failed: {why}"));
    }
    Ok(())
}

fn is_wanted(args: &Args, peer: &Peer) -> bool {
    args.peer.is_empty() || args.peer.iter().any(|name| name == peer.name)
}
