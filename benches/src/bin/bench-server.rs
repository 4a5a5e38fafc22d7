//! Server benchmark: `mnemal serve` under load on loopback, start cost, and program size.
#![expect(clippy::print_stdout, reason = "a program prints its findings")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use mnemal_benches::chat;
use mnemal_benches::cpu::{children_cpu, quantile};
use mnemal_benches::serving::{Client, Installation, Serving, program};
use mnemal_benches::words::Dice;
use serde_json::{Value, json};

/// The seed of the corpus and of the order of questions.
const SEED: u64 = 20_260_301;
/// Questions that are asked by turns.
const QUESTIONS: usize = 2_000;
/// Starts that one figure is the mean of; CPU time of children is counted in steps of 10 ms.
const STARTS: u32 = 40;
/// Clients that send half a head and no more, and clients that ask for a stream and read nothing.
const DEAD: usize = 32;
/// The time between two looks at the memory.
const LOOK: Duration = Duration::from_secs(5);
/// Longest time until every layer has read what was imported.
const SETTLING: Duration = Duration::from_mins(20);
/// The space.
const SPACE: &str = "bench";

/// Measures `mnemal serve` on loopback, with the load on the same cores.
#[derive(Debug, Parser)]
#[command(name = "bench-server", max_term_width = 100)]
struct Args {
    /// Events of the space.
    #[arg(long, default_value_t = 100_000)]
    events: usize,
    /// Connections.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Logical sessions that ask over them.
    #[arg(long, default_value_t = 10_000)]
    sessions: usize,
    /// Seconds of each part.
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Go on at half of the maximum for so long, and look at the memory: 10m, 600s.
    #[arg(long, value_parser = duration)]
    soak: Option<Duration>,
    /// Only what a start costs, and the size.
    #[arg(long)]
    start: bool,
    /// The program; without it one is built for release.
    #[arg(long, value_name = "PATH")]
    cli: Option<PathBuf>,
    /// Keep the installation in this folder; one that is there is asked as it is.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).unwrap_or_default();
    let number: u64 = number.parse().map_err(|_| format!("{text:?} is no time such as 10m"))?;
    match unit {
        "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_secs(number * 60)),
        _ => Err(format!("{text:?} is no time such as 10m or 600s")),
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let temporary = tempfile::tempdir()?;
    let home = args.dir.clone().unwrap_or_else(|| temporary.path().to_owned());
    let installation = Installation { program: program(args.cli.as_deref())?, home };
    std::fs::create_dir_all(installation.data())?;
    let mut said = start(&installation)?;
    if !args.start {
        fill(&installation, args.events)?;
        let load = Load {
            args: &args,
            server: installation.serve()?,
            questions: chat::questions(SEED, args.events, QUESTIONS),
        };
        load.settle()?;
        let told = load.measure()?;
        if let (Some(said), Value::Object(told)) = (said.as_object_mut(), told) {
            said.extend(told);
        }
        ensure!(load.server.end()?, "the server did not end well");
    }
    if args.json {
        println!("{said:#}");
    } else {
        for (name, value) in said.as_object().into_iter().flatten() {
            println!("{name:40} {value}");
        }
    }
    Ok(())
}

/// Says what a process costs until its first answer, what an idle server keeps, and how large the program is.
fn start(installation: &Installation) -> Result<Value> {
    drop(installation.said(&["-s", "small", "log", "add", "The heron nests behind the mill"])?);
    let before = children_cpu()?;
    for _ in 0..STARTS {
        let mut command = installation.command(&["-s", "small", "mcp"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"},
        }});
        let mut stdin = child.stdin.take().context("a process has a stdin")?;
        writeln!(stdin, "{hello}")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("a process has a stdout")?).read_line(&mut line)?;
        ensure!(line.contains("\"mnemal\""), "the first answer was {line:?}");
        child.kill()?;
        child.wait()?;
    }
    let first_answer = children_cpu()?.saturating_sub(before) / STARTS;
    let server = installation.serve()?;
    let (status, _) = server.connect()?.ask("GET /version", "", "")?;
    ensure!(status == 200, "/version answered {status}");
    Ok(json!({
        "start_to_first_mcp_answer_cpu_ms": millis(first_answer),
        "idle_rss_mb": resident(&server)?,
        "binary_mb": std::fs::metadata(&installation.program)?.len() as f64 / 1e6,
    }))
}

/// Imports a corpus, unless the space is there.
fn fill(installation: &Installation, events: usize) -> Result<()> {
    if installation.data().join(format!("spaces/{SPACE}.db")).exists() {
        return Ok(());
    }
    let corpus = installation.home.join("corpus.jsonl");
    let mut out = BufWriter::new(File::create(&corpus)?);
    chat::write_corpus(SEED, events, &mut out)?;
    out.flush()?;
    let path = corpus.to_str().context("a path of text")?;
    drop(installation.said(&["-s", SPACE, "--quiet", "import", "--own-history", path])?);
    Ok(std::fs::remove_file(corpus)?)
}

struct Load<'a> {
    args: &'a Args,
    server: Serving,
    questions: Vec<String>,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Recall,
    Context,
    /// Nine times of ten a search, else a context.
    Mixed,
}

/// What was said instead of an answer, and how often.
type Errors = BTreeMap<String, u64>;

/// What came of a part.
#[derive(Default)]
struct Part {
    /// Answers a second.
    rate: f64,
    /// From when a request was due to its answer.
    waits: Vec<Duration>,
    errors: Errors,
    /// CPU time of the server for each answer.
    cpu: Duration,
}

impl Load<'_> {
    /// Waits until every layer has read everything.
    fn settle(&self) -> Result<()> {
        let until = now() + SETTLING;
        let mut client = self.server.connect()?;
        loop {
            let _asked = client.ask(&format!("GET /v1/spaces/{SPACE}/stats"), "", "")?;
            let (_, text) = client.ask("GET /metrics", "", "")?;
            let text = String::from_utf8(text)?;
            let mut behind = text.lines().filter(|line| line.starts_with("mnemal_layer_behind{"));
            if behind.all(|line| line.ends_with(" 0")) && text.contains("mnemal_layer_behind{") {
                break;
            }
            ensure!(now() < until, "the layers are still behind after {} s", SETTLING.as_secs());
            rest(Duration::from_secs(1));
        }
        // What the first questions load is no part of the figures.
        let warm = self.run(Kind::Mixed, Duration::from_secs(3), None)?;
        ensure!(warm.errors.is_empty(), "errors while it warms up: {:?}", warm.errors);
        Ok(())
    }

    fn measure(&self) -> Result<Value> {
        let time = Duration::from_secs(self.args.seconds);
        let rss_start = resident(&self.server)?;
        let recalls = self.run(Kind::Recall, time, None)?;
        let contexts = self.run(Kind::Context, time, None)?;
        let recall_half = self.run(Kind::Recall, time, Some(recalls.rate / 2.0))?;
        let context_half = self.run(Kind::Context, time, Some(contexts.rate / 2.0))?;
        let beside = {
            let _dead = self.dead()?;
            self.run(Kind::Recall, time, Some(recalls.rate / 2.0))?
        };
        // A mix costs as much as its parts.
        let mixed = 1.0 / (0.9 / recalls.rate + 0.1 / contexts.rate);
        let (soak, samples) = match self.args.soak {
            Some(soak) => self.soak(soak, mixed / 2.0)?,
            None => (Part::default(), Vec::new()),
        };
        let mut errors = Errors::new();
        for part in [&recalls, &contexts, &recall_half, &context_half, &beside, &soak] {
            for (what, count) in &part.errors {
                *errors.entry(what.clone()).or_default() += count;
            }
        }
        let quantiles = |part: &Part| {
            let at = |share| millis(quantile(&part.waits, share));
            json!({"a_second": part.rate, "p50_ms": at(0.5), "p90_ms": at(0.9), "p99_ms": at(0.99)})
        };
        Ok(json!({
            "events": self.args.events,
            "connections": self.args.connections,
            "sessions": self.args.sessions,
            "requests_per_second": recalls.rate,
            "context_per_second": contexts.rate,
            "p50_ms": millis(quantile(&recall_half.waits, 0.5)),
            "p99_ms": millis(quantile(&recall_half.waits, 0.99)),
            "errors": errors.values().sum::<u64>(),
            "errors_by_what_was_said": errors,
            "rss_mb_start": rss_start,
            "rss_mb_end": resident(&self.server)?,
            "server_cpu_ms_a_recall": millis(recalls.cpu),
            "server_cpu_ms_a_context": millis(contexts.cpu),
            "recall_at_half": quantiles(&recall_half),
            "context_at_half": quantiles(&context_half),
            "recall_at_half_beside_dead_clients": quantiles(&beside),
            "dead_clients": 2 * DEAD,
            "soak_seconds": self.args.soak.map(|soak| soak.as_secs()),
            "soak_at_half": self.args.soak.map(|_| quantiles(&soak)),
            "soak_rss_every_seconds": LOOK.as_secs(),
            "soak_rss_mb": samples,
        }))
    }

    /// Goes on for a time at a rate, and looks at the memory at the start and every five seconds.
    fn soak(&self, time: Duration, rate: f64) -> Result<(Part, Vec<f64>)> {
        let end = now() + time;
        std::thread::scope(|scope| {
            let looking = scope.spawn(move || {
                let (mut samples, mut at) = (Vec::new(), now());
                while at <= end {
                    rest(at.saturating_duration_since(now()));
                    samples.push(resident(&self.server)?);
                    at += LOOK;
                }
                anyhow::Ok(samples)
            });
            let part = self.run(Kind::Mixed, time, Some(rate))?;
            let samples = looking.join().map_err(|_| anyhow::anyhow!("nobody looked at the memory"))??;
            Ok((part, samples))
        })
    }

    /// Asks over all connections: as fast as answers come, or so many a second in all.
    fn run(&self, kind: Kind, time: Duration, rate: Option<f64>) -> Result<Part> {
        let (answers, errors) = (AtomicU64::new(0), Mutex::new(Errors::new()));
        let waits = Mutex::new(Vec::new());
        let before = cpu(&self.server)?;
        let began = now();
        let end = began + time;
        let every = rate.map(|rate| Duration::from_secs_f64(self.args.connections as f64 / rate));
        std::thread::scope(|scope| {
            for number in 0..self.args.connections {
                let (answers, errors, waits) = (&answers, &errors, &waits);
                scope.spawn(move || {
                    let mut dice = Dice::new(SEED ^ number as u64);
                    let mut own = Vec::new();
                    let mut client = self.server.connect().ok();
                    // Connections do not ask in step.
                    let mut due = began + every.unwrap_or_default().mul_f64(dice.unit());
                    loop {
                        let from = if let Some(every) = every {
                            rest(due.saturating_duration_since(now()));
                            let from = due;
                            due += every;
                            from
                        } else {
                            now()
                        };
                        if from >= end {
                            break;
                        }
                        let asked = match client.as_mut() {
                            Some(client) => self.ask(client, kind, &mut dice),
                            None => Err("no connection".to_owned()),
                        };
                        if let Err(said) = asked {
                            if let Ok(mut errors) = errors.lock() {
                                *errors.entry(said).or_default() += 1;
                            }
                            client = self.server.connect().ok();
                        } else {
                            answers.fetch_add(1, Ordering::Relaxed);
                            own.push(now() - from);
                        }
                    }
                    if let Ok(mut waits) = waits.lock() {
                        waits.append(&mut own);
                    }
                });
            }
        });
        let took = (now() - began).as_secs_f64();
        let answers = answers.into_inner();
        let spent = cpu(&self.server)?.saturating_sub(before);
        Ok(Part {
            rate: answers as f64 / took,
            waits: waits.into_inner().unwrap_or_default(),
            errors: errors.into_inner().unwrap_or_default(),
            cpu: spent.div_f64(answers.max(1) as f64),
        })
    }

    /// Asks one thing; what was said instead of an answer is the error.
    fn ask(&self, client: &mut Client, kind: Kind, dice: &mut Dice) -> Result<(), String> {
        let query =
            self.questions.get(dice.below(self.questions.len())).map(String::as_str).unwrap_or_default();
        let is_recall = kind == Kind::Recall || (kind == Kind::Mixed && dice.below(10) > 0);
        let asked = if is_recall {
            let body = json!({"query": query}).to_string();
            client.ask(&format!("POST /v1/spaces/{SPACE}/recall"), "", &body)
        } else {
            let session = format!("session-{}", dice.below(self.args.sessions));
            let body = json!({"query": query, "session": session}).to_string();
            client.ask(&format!("POST /v1/spaces/{SPACE}/context"), "", &body)
        };
        match asked {
            Ok((200, _)) => Ok(()),
            Ok((status, body)) => {
                let said: Value = serde_json::from_slice(&body).unwrap_or_default();
                Err(format!("{status} {}", said.get("detail").and_then(Value::as_str).unwrap_or_default()))
            }
            Err(error) => Err(format!("{error:#}")),
        }
    }

    /// Opens connections that send half a head, and connections that ask for a stream and never read it.
    fn dead(&self) -> Result<Vec<TcpStream>> {
        let address = self.server.address.as_str();
        let mut streams = Vec::new();
        for _ in 0..DEAD {
            let mut half = TcpStream::connect(address)?;
            half.write_all(b"POST /v1/spaces/bench/recall HTTP/1.1\r\nhost: loc")?;
            let mut deaf = TcpStream::connect(address)?;
            let key = self.server.key();
            write!(
                deaf,
                "GET /v1/spaces/{SPACE}/export HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\r\n"
            )?;
            streams.extend([half, deaf]);
        }
        Ok(streams)
    }
}

/// Returns the resident memory of the server, in MB.
fn resident(server: &Serving) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.number()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? * 1_024.0 / 1e6)
}

/// Returns the CPU time of the server, in steps of 10 ms.
fn cpu(server: &Serving) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.number()))?;
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 10))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

#[expect(clippy::disallowed_methods, reason = "the time of this machine is what is measured")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a load has a rate")]
fn rest(time: Duration) {
    std::thread::sleep(time);
}
