//! Eight processes of the program itself over one space: a server with a client, four MCP clients on stdin and stdout, and
//! three that run hooks, each of which is killed at random and restarted.
//!
//! While the server is up, the hooks call it; when it was just killed, they open the file. Everything acknowledged must be
//! there at the end, and a process may fail only by being killed.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use mnemal::events::Cursor;
use mnemal::{EventFilter, Memory};
use serde_json::{Value, json};

use super::verdict::Fault;
use super::{Order, Report};
use crate::serving::{Client, Installation, end, program};
use crate::words::Dice;

/// Processes that speak the Model Context Protocol.
const AGENTS: usize = 4;
/// Processes that run hooks, one after the other.
const CLIENTS: usize = 3;
/// Of a hundred writes those of all agents, of all hooks, and of the client of the server.
const SHARES: [u64; 3] = [50, 30, 20];
/// Turns that one hook captures.
const TURNS: u64 = 10;
/// Writes a second of all together, so that 10,000 of them last for a hundred kills. Source: own choice.
const RATE: f64 = 100.0;
/// The time between two kills.
const KILL_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked whether a process is there that can be killed.
const LOOK: Duration = Duration::from_millis(2);
/// The space.
const SPACE: &str = "company";
/// Events that are read at once.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Runs the program; its runs are writes. The program is `MNEMAL` of the environment, else it is built for release.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let folder = tempfile::tempdir()?;
    #[expect(clippy::disallowed_methods, reason = "a program of tests, which no user runs")]
    let given = std::env::var("MNEMAL").ok().map(PathBuf::from);
    let installation = Installation { program: program(given.as_deref())?, home: folder.path().to_owned() };
    fs::create_dir_all(installation.data())?;
    drop(installation.said(&["-s", SPACE, "init"])?);
    let began = now();
    let desk = Arc::new(SharedState {
        installation,
        report: Mutex::new(Report::of("server-processes", order)),
        acked: Mutex::default(),
        seats: (0..=AGENTS + CLIENTS).map(|_| ProcessSlot::default()).collect(),
        ends_at: now() + order.time,
        is_over: AtomicBool::new(false),
    });
    let shares = SHARES.map(|share| order.runs * share / 100);
    std::thread::scope(|scope| {
        let mut works = Vec::new();
        works.push(scope.spawn(|| desk.serve(shares[2])));
        for seat in 1..=AGENTS {
            let desk = &desk;
            works.push(scope.spawn(move || desk.agent(seat, shares[0] / AGENTS as u64)));
        }
        for seat in AGENTS + 1..=AGENTS + CLIENTS {
            let desk = &desk;
            works.push(scope.spawn(move || desk.hooks(seat, shares[1] / CLIENTS as u64)));
        }
        let killing = scope.spawn(|| desk.kill(order.seed ^ order.first));
        for work in works {
            match work.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => desk.blame(Fault::Panic, format_args!("{error:#}")),
                Err(_) => desk.blame(Fault::Panic, format_args!("a part of this programme panicked")),
            }
        }
        desk.is_over.store(true, Ordering::Relaxed);
        drop(killing.join());
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(desk.judge())?;
    desk.report().seconds = began.elapsed().as_secs_f64();
    let desk = Arc::into_inner(desk).context("everybody has left")?;
    Ok(desk.report.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// What all parts share.
struct SharedState {
    installation: Installation,
    report: Mutex<Report>,
    /// What was acknowledged, by its words: how often.
    acked: Mutex<BTreeMap<String, u64>>,
    seats: Vec<ProcessSlot>,
    ends_at: Instant,
    is_over: AtomicBool,
}

/// The slot of a process, which may be killed.
#[derive(Default)]
struct ProcessSlot {
    child: Mutex<Option<Child>>,
    /// Kills of those who sat there.
    kills: AtomicU64,
}

impl ProcessSlot {
    fn sit(&self, child: Child) {
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
    }

    /// Waits for the end of the process in a slot, and returns whether it was killed since `kills`.
    fn leave(&self, kills: u64) -> Result<(bool, bool)> {
        // The one that kills looks at the seat only while it is taken.
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        let status = child.context("a seat was left twice")?.wait()?;
        Ok((status.success(), self.kills.load(Ordering::Relaxed) > kills))
    }

    fn kill(&self) -> bool {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(child) = child.as_mut() else { return false };
        if !matches!(child.try_wait(), Ok(None)) {
            return false;
        }
        self.kills.fetch_add(1, Ordering::Relaxed);
        child.kill().is_ok()
    }

    fn kills(&self) -> u64 {
        self.kills.load(Ordering::Relaxed)
    }
}

impl SharedState {
    /// Kills one of the eight each second.
    fn kill(&self, seed: u64) {
        let mut dice = Dice::new(seed);
        let mut at = now() + KILL_EVERY;
        while !self.is_over.load(Ordering::Relaxed) {
            if now() < at {
                rest(LOOK);
                continue;
            }
            let seat = dice.below(self.seats.len());
            // A process of a hook lives a moment; the next one is waited for.
            let until = now() + KILL_EVERY;
            let mut killed = false;
            while !killed && now() < until && !self.is_over.load(Ordering::Relaxed) {
                killed = self.seats.get(seat).is_some_and(ProcessSlot::kill);
                if !killed {
                    rest(LOOK);
                }
            }
            at += KILL_EVERY;
            if killed {
                self.count(match seat {
                    0 => "servers killed",
                    seat if seat <= AGENTS => "agents' processes killed",
                    _ => "hooks killed",
                });
            }
        }
    }

    /// A server and its client, which writes events with keys of idempotency.
    fn serve(&self, writes: u64) -> Result<()> {
        let seat = self.seats.first().context("a server has a seat")?;
        let mut pace = EventRate::new(writes, share(SHARES[2]));
        let mut written = 0;
        while written < writes && now() < self.ends_at {
            let before = seat.kills();
            let server = self.installation.serve()?;
            let (address, key) = (server.address.clone(), server.key().to_owned());
            let (child, _talk) = server.apart().context("a server has a process")?;
            seat.sit(child);
            let mut client = None;
            while written < writes && now() < self.ends_at {
                pace.wait();
                let words = format!("The server was told of {written} herons");
                let asked = match &mut client {
                    Some(client) => Self::tell(client, &words, written),
                    None => Client::new(&address, &key).and_then(|mut new| {
                        let said = Self::tell(&mut new, &words, written);
                        client = Some(new);
                        said
                    }),
                };
                match asked {
                    Ok(200 | 201) => {
                        self.ack(words);
                        written += 1;
                    }
                    Ok(status) => {
                        self.blame(Fault::WrongError, format_args!("the server answered {status}"));
                        written += 1;
                    }
                    // The count of kills goes up before the blow.
                    Err(_) if seat.kills() > before => break,
                    Err(error) => {
                        self.blame(Fault::WrongError, format_args!("the server broke off: {error:#}"));
                        client = None;
                    }
                }
            }
            if written < writes && now() < self.ends_at {
                let (_, was_killed) = seat.leave(before)?;
                if !was_killed {
                    self.blame(Fault::Panic, format_args!("the server ended by itself"));
                }
            }
        }
        // The last one stays until the end of all others: hooks go on asking it.
        Ok(())
    }

    fn tell(client: &mut Client, words: &str, number: u64) -> Result<u16> {
        let body = json!({"content": words}).to_string();
        let headers = format!("idempotency-key: herons-{number}\r\n");
        Ok(client.ask(&format!("POST /v1/spaces/{SPACE}/events"), &headers, &body)?.0)
    }

    /// A client of the Model Context Protocol, which stores notes.
    fn agent(&self, number: usize, writes: u64) -> Result<()> {
        let seat = self.seats.get(number).context("an agent has a seat")?;
        let mut pace = EventRate::new(writes, share(SHARES[0]) / AGENTS as f64);
        let mut written = 0;
        while written < writes && now() < self.ends_at {
            let before = seat.kills();
            let (child, mut pipe) = Pipe::start(&self.installation)?;
            seat.sit(child);
            let talk = (|| -> Result<()> {
                pipe.hello()?;
                while written < writes && now() < self.ends_at {
                    pace.wait();
                    let words = format!("Agent {number} noted that {written} swans were seen");
                    let arguments = json!({"content": words});
                    let answer =
                        pipe.call("tools/call", &json!({"name": "memory_store", "arguments": arguments}))?;
                    if answer.pointer("/result/isError").and_then(Value::as_bool) == Some(false)
                        || answer.pointer("/result/structuredContent/id").is_some()
                    {
                        self.ack(words);
                    } else {
                        self.blame(Fault::WrongError, format_args!("an agent was told {answer}"));
                    }
                    written += 1;
                }
                Ok(())
            })();
            drop(pipe);
            let (is_well, was_killed) = seat.leave(before)?;
            if !was_killed && (talk.is_err() || !is_well) {
                self.blame(Fault::Panic, format_args!("the process of agent {number} failed: {talk:?}"));
            }
        }
        Ok(())
    }

    /// A client whose conversation grows, with a hook after every few turns.
    fn hooks(&self, number: usize, turns: u64) -> Result<()> {
        let seat = self.seats.get(number).context("a hook has a seat")?;
        let mut pace = EventRate::new(turns / TURNS, share(SHARES[1]) / (CLIENTS as u64 * TURNS) as f64);
        let transcript = self.installation.home.join(format!("talk-{number}.jsonl"));
        let mut told: Vec<String> = Vec::new();
        let mut waiting = Vec::new();
        let mut written = 0;
        while (written < turns || !waiting.is_empty()) && now() < self.ends_at {
            pace.wait();
            if written < turns {
                let mut file = OpenOptions::new().append(true).create(true).open(&transcript)?;
                for _ in 0..TURNS.min(turns - written) {
                    let words = format!("In talk {number} somebody saw {written} cranes");
                    writeln!(file, "{}", turn(number, written, &words))?;
                    told.push(words.clone());
                    waiting.push(words);
                    written += 1;
                }
            }
            let input = json!({
                "session_id": format!("talk-{number}"), "transcript_path": transcript,
                "cwd": self.installation.home, "hook_event_name": "Stop",
            });
            let mut command = self.installation.command(&["-s", SPACE, "hook", "claude-code", "Stop"]);
            let before = seat.kills();
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let mut stdin = child.stdin.take().context("a process has a stdin")?;
            let out = child.stdout.take().context("a process has a stdout")?;
            seat.sit(child);
            // Whoever was killed does not read.
            let _unread = stdin.write_all(input.to_string().as_bytes());
            drop(stdin);
            let mut said = String::new();
            let _read = BufReader::new(out).read_line(&mut said);
            let (is_well, was_killed) = seat.leave(before)?;
            if is_well && said.trim_end() == "{}" && self.faults()? == 0 {
                // It read to the end of the conversation.
                waiting.drain(..).for_each(|words| self.ack(words));
                self.count("hooks that ended");
            } else if !was_killed {
                self.blame(Fault::Panic, format_args!("a hook of talk {number} failed: {said}"));
                waiting.clear();
            }
        }
        Ok(())
    }

    /// Returns how many faults hooks have noted.
    fn faults(&self) -> Result<usize> {
        match fs::read_to_string(self.installation.data().join("hooks.log")) {
            Ok(text) => Ok(text.lines().count()),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(cause) => Err(cause.into()),
        }
    }

    /// Ends the last server and compares the log with what was acknowledged.
    async fn judge(&self) -> Result<()> {
        if let Some(seat) = self.seats.first()
            && let Some(mut child) = seat.child.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            let was_killed = !matches!(child.try_wait(), Ok(None));
            if !end(&mut child)? && !was_killed {
                self.blame(Fault::Panic, format_args!("the last server did not end well"));
            }
        }
        if let Ok(text) = fs::read_to_string(self.installation.data().join("hooks.log")) {
            for line in text.lines() {
                self.blame(Fault::WrongError, format_args!("a hook noted: {line}"));
            }
        }
        if let Err(error) = self.installation.said(&["-s", SPACE, "check"]) {
            self.blame(Fault::Corrupt, format_args!("{error:#}"));
        }
        let memory = Memory::open(self.installation.data().join(format!("spaces/{SPACE}.db"))).await?;
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        let mut after = Cursor::START;
        loop {
            let events = memory.events().scan(&EventFilter::all(), after, PAGE).await?;
            for event in &events {
                after = Cursor(Some(event.seq));
                if let Some(kept) = event.body() {
                    *found.entry(kept.content.clone()).or_default() += 1;
                }
            }
            if events.len() < PAGE.get() {
                break;
            }
        }
        let acked = std::mem::take(&mut *self.acked());
        for words in acked.keys() {
            match found.get(words).copied().unwrap_or_default() {
                0 => self.blame(Fault::Lost, format_args!("{words:?} was acknowledged")),
                1 => {}
                // A note that was stored before its process was killed is stored again, as an agent would.
                _ if words.starts_with("Agent") => self.count("notes stored again after a kill"),
                times => self.blame(Fault::Doubled, format_args!("{words:?} is there {times} times")),
            }
        }
        let mut report = self.report();
        report.runs = acked.len() as u64;
        Ok(())
    }

    fn ack(&self, words: String) {
        *self.acked().entry(words).or_default() += 1;
    }

    fn acked(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.acked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, what: &'static str) {
        self.report().count(what, 1);
    }

    fn blame(&self, fault: Fault, what: fmt::Arguments<'_>) {
        self.report().blame(fault, what);
    }
}

/// Returns how many writes a second this share of them is.
fn share(of_a_hundred: u64) -> f64 {
    RATE * of_a_hundred as f64 / 100.0
}

/// A line of a conversation as the client writes it.
fn turn(talk: usize, number: u64, words: &str) -> Value {
    let (minute, second) = (number / 60 % 60, number % 60);
    json!({
        "type": "user", "uuid": format!("{talk}-{number}"), "sessionId": format!("talk-{talk}"), "cwd": "/",
        "timestamp": format!("2026-11-01T{:02}:{minute:02}:{second:02}Z", number / 3_600 % 24),
        "message": {"role": "user", "content": words},
    })
}

/// A process that speaks the Model Context Protocol on its stdin and stdout.
struct Pipe {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Pipe {
    fn start(installation: &Installation) -> Result<(Child, Self)> {
        let mut command = installation.command(&["-s", SPACE, "mcp"]);
        let log = File::create(installation.home.join("mcp.log"))?;
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn()?;
        let stdin = child.stdin.take().context("a process has a stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("a process has a stdout")?);
        Ok((child, Self { stdin, stdout, asked: 0 }))
    }

    fn hello(&mut self) -> Result<()> {
        let client = json!({"name": "torture", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        drop(self.call("initialize", &hello)?);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        Ok(writeln!(self.stdin, "{ready}")?)
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.asked += 1;
        let call = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": parameters});
        writeln!(self.stdin, "{call}")?;
        self.stdin.flush()?;
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line)? == 0 {
                bail!("the process closed its stdout");
            }
            let answer: Value = serde_json::from_str(&line)?;
            if answer.get("id").and_then(Value::as_u64) == Some(self.asked) {
                return Ok(answer);
            }
        }
    }
}

/// Lets so many things happen in a second, evenly.
struct EventRate {
    next: Instant,
    every: Duration,
}

impl EventRate {
    fn new(things: u64, a_second: f64) -> Self {
        let every = if things == 0 { Duration::ZERO } else { Duration::from_secs_f64(1.0 / a_second) };
        Self { next: now(), every }
    }

    fn wait(&mut self) {
        rest(self.next.saturating_duration_since(now()));
        self.next += self.every;
    }
}

#[expect(clippy::disallowed_methods, reason = "real processes live in real time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "real processes live in real time")]
fn rest(time: Duration) {
    std::thread::sleep(time);
}
