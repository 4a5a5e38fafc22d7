//! Import, append, recall, context, memory and start by size of the log: medians and tails, in CPU time.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Parser;
use mnemal_benches::figure::{Figure, table};
use mnemal_benches::latency::{
    CorpusSpace, build, fresh, fresh_here, hooks, in_process, life_reads, one_shot, reads, sizes, start,
    store_alone, whole_life,
};
use mnemal_benches::serving::program;

/// Calls that are measured for each quantile. Source: own choice; p99 is the third worst.
const SAMPLES: usize = 200;

/// Measures what calls cost by size of the log, on SQLite with the default settings.
#[derive(Debug, Parser)]
#[command(name = "bench-latency", max_term_width = 100)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
struct Args {
    /// Sizes of the log, in events.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000])]
    sizes: Vec<usize>,
    /// Calls that are measured for each quantile.
    #[arg(long, default_value_t = SAMPLES)]
    samples: usize,
    /// Keep the spaces in this new folder, on the disk that shall be measured.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Ask the spaces again that an earlier run has left in the folder; nothing is imported, and no command timed.
    #[arg(long, requires = "dir")]
    again: bool,
    /// Measure contexts alone, in spaces in which every layer holds something: people, facts, summaries, wishes, notes, tools
    /// and working memory.
    #[arg(long)]
    life: bool,
    /// The program whose commands are timed; without it one is built.
    #[arg(long, value_name = "PATH")]
    cli: Option<PathBuf>,
    /// Time no commands.
    #[arg(long)]
    no_cli: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Be the fresh process that opens this space and asks.
    #[arg(long, hide = true, num_args = 1.., value_names = ["SPACE", "QUESTION"])]
    fresh: Option<Vec<String>>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let Some((space, questions)) = args.fresh.as_deref().and_then(<[String]>::split_first) {
        let said = runtime.block_on(fresh_here(space.as_ref(), questions))?;
        println!("{}", serde_json::to_string(&said)?);
        return Ok(());
    }
    let figures = measure(&args, &runtime)?;
    if args.json {
        println!("{:#}", figures.iter().map(Figure::json).collect::<serde_json::Value>());
    } else {
        print!("{}", table(&figures));
    }
    Ok(())
}

fn measure(args: &Args, runtime: &tokio::runtime::Runtime) -> Result<Vec<Figure>> {
    let temporary = tempfile::tempdir()?;
    let folder = args.dir.as_deref().unwrap_or(temporary.path());
    if args.life {
        return lives(args, folder, runtime);
    }
    if args.again {
        return again(args, folder, runtime);
    }
    let program = if args.no_cli { None } else { Some(program(args.cli.as_deref())?) };
    let mut figures = start()?;
    for (size, is_first) in args.sizes.iter().zip(std::iter::once(true).chain(std::iter::repeat(false))) {
        let bed = CorpusSpace::make(folder, *size, args.samples)?;
        ensure!(!bed.space().exists(), "{} holds a space already", folder.display());
        if is_first {
            figures.push(runtime.block_on(store_alone(&bed))?);
            figures.extend(runtime.block_on(build(&bed))?);
        }
        figures.extend(runtime.block_on(in_process(&bed))?);
        figures.extend(fresh(&bed)?);
        figures.extend(runtime.block_on(sizes(&bed))?);
        if let Some(program) = &program {
            figures.extend(one_shot(&bed, program)?);
            figures.extend(hooks(&bed, program)?);
        }
    }
    Ok(figures)
}

/// Makes spaces in which every layer holds something, or takes those of an earlier run, and asks them.
fn lives(args: &Args, folder: &Path, runtime: &tokio::runtime::Runtime) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for size in &args.sizes {
        figures.extend(if args.again {
            runtime.block_on(life_reads(&CorpusSpace::life_left(folder, *size, args.samples)?))?
        } else {
            let bed = CorpusSpace::life(folder, *size, args.samples)?;
            ensure!(!bed.space().exists(), "{} holds a space already", folder.display());
            runtime.block_on(whole_life(&bed))?
        });
    }
    Ok(figures)
}

/// Asks the spaces of an earlier run.
fn again(args: &Args, folder: &Path, runtime: &tokio::runtime::Runtime) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for size in &args.sizes {
        let bed = CorpusSpace::left(folder, *size, args.samples)?;
        figures.extend(runtime.block_on(reads(&bed))?);
        figures.extend(fresh(&bed)?);
        figures.extend(runtime.block_on(sizes(&bed))?);
    }
    Ok(figures)
}
