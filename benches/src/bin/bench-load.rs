//! Load benchmark: failed calls of a server with default limits under many clients, with local commands in parallel.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use mnemal_benches::cpu::quantile;
use mnemal_benches::serving::{Installation, Serving, program};
use mnemal_benches::words::Dice;
use serde_json::json;

/// The seed of the requests.
const SEED: u64 = 20_261_128;
/// The space.
const SPACE: &str = "load";
/// Different failures that are printed.
const SHOWN: usize = 20;

/// Counts calls that fail under load.
#[derive(Debug, Parser)]
#[command(name = "bench-load", max_term_width = 100)]
struct Args {
    /// Clients of the server at once.
    #[arg(long, default_value_t = 16)]
    clients: u64,
    /// Calls of all of them together.
    #[arg(long, default_value_t = 10_000)]
    calls: u64,
    /// Commands, one after the other, beside clients that go on asking.
    #[arg(long, default_value_t = 1_000)]
    commands: u64,
    /// Clients beside the commands.
    #[arg(long, default_value_t = 8)]
    beside: u64,
    /// The program; without it one is built for release.
    #[arg(long, value_name = "PATH")]
    cli: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let folder = tempfile::tempdir()?;
    let installation =
        Installation { program: program(args.cli.as_deref())?, home: folder.path().to_owned() };
    std::fs::create_dir_all(installation.data())?;
    drop(installation.said(&["-s", SPACE, "log", "add", "The heron nests behind the mill."])?);
    let server = installation.serve_as_installed()?;
    let calls = Tally::default();
    let is_over = AtomicBool::new(false);
    ask(&server, (args.clients, args.calls), &calls, &is_over)?;
    let commands = Tally::default();
    let beside = Tally::default();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&server, (args.beside, u64::MAX), &beside, &is_over));
        let commanded = command(&installation, args.commands, &commands);
        is_over.store(true, Ordering::Relaxed);
        let asked = asking.join().map_err(|_| anyhow::anyhow!("a client panicked"))?;
        commanded.and(asked)
    })?;
    ensure!(server.end()?, "the server did not end well");
    let failed: u64 = [&calls, &commands, &beside].into_iter().map(Tally::failed).sum();
    let said = json!({
        "clients": args.clients,
        "calls": calls.said(),
        "commands": commands.said(),
        "clients_beside": args.beside,
        "calls_beside": beside.said(),
        "failed": failed,
    });
    if args.json {
        println!("{said:#}");
    } else {
        println!("{said}");
    }
    Ok(())
}

/// What came of calls.
#[derive(Debug, Default)]
struct Tally {
    done: AtomicU64,
    /// Failures, by what was said.
    failures: Mutex<BTreeMap<String, u64>>,
    /// How long each call took.
    times: Mutex<Vec<Duration>>,
}

impl Tally {
    fn note(&self, began: Instant, failure: Option<String>) {
        self.done.fetch_add(1, Ordering::Relaxed);
        if let Ok(mut times) = self.times.lock() {
            times.push(began.elapsed());
        }
        if let (Some(failure), Ok(mut failures)) = (failure, self.failures.lock()) {
            *failures.entry(failure).or_default() += 1;
        }
    }

    fn failed(&self) -> u64 {
        self.failures.lock().map_or(1, |failures| failures.values().sum())
    }

    fn said(&self) -> serde_json::Value {
        let times = self.times.lock().map(|times| times.clone()).unwrap_or_default();
        let millis = |share| quantile(&times, share).as_secs_f64() * 1_000.0;
        let failures: BTreeMap<String, u64> = self
            .failures
            .lock()
            .map(|failures| failures.iter().take(SHOWN).map(|(what, n)| (what.clone(), *n)).collect())
            .unwrap_or_default();
        json!({
            "n": self.done.load(Ordering::Relaxed),
            "failed": self.failed(),
            "failures": failures,
            "p50_ms": millis(0.5),
            "p99_ms": millis(0.99),
            "max_ms": millis(1.0),
        })
    }
}

/// Asks with several clients at once, until so many calls are done or it is over.
fn ask(server: &Serving, (clients, most): (u64, u64), tally: &Tally, is_over: &AtomicBool) -> Result<()> {
    let left = AtomicU64::new(most);
    let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..clients {
            threads.push(scope.spawn(move || -> Result<()> {
                let mut dice = Dice::new(SEED ^ number);
                let mut client = server.connect()?;
                while !is_over.load(Ordering::Relaxed) && take() {
                    let (line, body) = call(&mut dice, number);
                    let began = now();
                    let failure = match client.ask(&line, "", &body) {
                        Ok((status, _)) if status < 400 => None,
                        Ok((status, answer)) => {
                            let said = String::from_utf8_lossy(&answer);
                            Some(format!("{line}: {status} {}", said.chars().take(200).collect::<String>()))
                        }
                        Err(error) => {
                            client = server.connect()?;
                            Some(format!("{line}: {error:#}"))
                        }
                    };
                    tally.note(began, failure);
                }
                Ok(())
            }));
        }
        for thread in threads {
            thread.join().map_err(|_| anyhow::anyhow!("a client panicked"))??;
        }
        Ok(())
    })
}

/// Returns one call: of ten two write, the others ask.
fn call(dice: &mut Dice, client: u64) -> (String, String) {
    let of = |path: &str| format!("/v1/spaces/{SPACE}/{path}");
    let number = dice.below(1_000);
    let words = json!({"query": format!("heron {number}")}).to_string();
    match dice.below(10) {
        0 => {
            let text = format!("Heron {number} of client {client} nests behind the mill.");
            let body =
                json!({"session": format!("s{client}"), "messages": [{"role": "user", "content": text}]});
            (format!("POST {}", of("messages")), body.to_string())
        }
        1 => {
            let body =
                json!({"content": format!("Mill {number} has a heron."), "key": format!("mill-{client}")});
            (format!("POST {}", of("memories")), body.to_string())
        }
        2 | 3 => (format!("POST {}", of("context")), words),
        4 => (format!("GET {}", of("stats")), String::new()),
        5 => (format!("GET {}", of("facts")), String::new()),
        6 => (format!("GET {}", of("memories")), String::new()),
        _ => (format!("POST {}", of("recall")), words),
    }
}

/// Runs commands of the program, one after the other, like a user's shell and scripts.
fn command(installation: &Installation, most: u64, tally: &Tally) -> Result<()> {
    for number in 0..most {
        let text = format!("Command {number} saw a heron.");
        let arguments: &[&str] = match number % 5 {
            0 => &["-s", SPACE, "log", "add", &text],
            1 => &["-s", SPACE, "recall", "heron"],
            2 => &["-s", SPACE, "fact", "list"],
            3 => &["-s", SPACE, "remember", &text],
            _ => &["-s", SPACE, "context", "heron"],
        };
        let began = now();
        let output = installation.command(arguments).output().context("cannot start the program")?;
        let failure = (!output.status.success()).then(|| {
            let told = String::from_utf8_lossy(&output.stderr);
            format!("{}: {} {}", arguments.join(" "), output.status, told.trim())
        });
        tally.note(began, failure);
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the time of this machine is what is measured")]
fn now() -> Instant {
    Instant::now()
}
