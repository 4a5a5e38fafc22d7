//! Several servers over one database of PostgreSQL: is what one of them acknowledges in the next answer of the other, and is
//! anything lost or doubled when processes of the database are killed?

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use mnemal::admin::PostgresDatabase;
use mnemal::events::Cursor;
use mnemal::types::InstallationKey;
use mnemal::{Engine, EventFilter, Memory, Message, Settings, SpaceId, Spaces};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::verdict::Fault;
use super::{Order, Report};
use crate::cpu::Watch;
use crate::words::Dice;

/// Most time for one part of an answer, in milliseconds: nothing is cut off on a busy machine.
const PATIENCE: u64 = 60_000;
/// Writers, and the spaces that they share. Source: as many as the measurements of the design had.
const WRITERS: usize = 8;
const SPACES: usize = 4;
/// Work between two kills.
const BETWEEN: Duration = Duration::from_millis(700);
/// Looks for a process in vain, one after the other, after which there is none. Source: a database is back within a minute.
const MISSES: usize = 90;
/// A writer's pause after an error.
const AGAIN: Duration = Duration::from_millis(20);
/// Events read at once.
const PAGE: usize = 1_000;

/// A server: its spaces, and its data directory.
struct Server {
    spaces: Spaces,
    _data: TempDir,
}

async fn server(address: &str) -> Result<Server> {
    PostgresDatabase::migrate(address).await?;
    let database = PostgresDatabase::connect(address).await?;
    let mut settings = Settings::default();
    settings.recall.part_deadline_ms = PATIENCE;
    settings.recall.catch_up_ms = PATIENCE;
    let key = InstallationKey::new([17; 32]);
    let data = TempDir::new()?;
    let builder = Engine::builder().with_settings(settings).with_key(key);
    Ok(Server { spaces: Spaces::in_database(database, data.path(), builder).await?, _data: data })
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Appends on one server and asks the other one, and the other way round.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn two_servers(order: &Order, address: &str) -> Result<Report> {
    runtime()?.block_on(async {
        let mut report = Report::of("two-servers", order);
        let (one, two) = (server(address).await?, server(address).await?);
        let space = SpaceId::new(format!("two-servers-{}", order.seed))?;
        let memories = [one.spaces.open_or_create(&space).await?, two.spaces.open_or_create(&space).await?];
        let watch = Watch::start()?;
        let mut dice = Dice::new(order.seed);
        let mut acknowledged = 0;
        let before = memories[0].admin().stats().await?.head.count();
        for run in order.first..order.first + order.runs {
            let from = dice.below(2);
            let (Some(writer), Some(reader)) = (memories.get(from), memories.get(1 - from)) else { continue };
            acknowledged += u64::from(one_turn(writer, reader, run, &mut report).await);
            report.runs += 1;
        }
        let after = memories[1].admin().stats().await?.head.count();
        report.count("acknowledged", acknowledged);
        report.lost += (before + acknowledged).saturating_sub(after);
        report.seconds = watch.stop()?.wall.as_secs_f64();
        Ok(report)
    })
}

/// Appends to one and asks the other; returns whether the append was acknowledged.
async fn one_turn(writer: &Memory, reader: &Memory, run: u64, report: &mut Report) -> bool {
    let text = format!("The parcel kx{run}q is in locker {run}.");
    let acknowledged = match writer.log(Message::user(text)).await {
        Ok(acknowledged) => acknowledged.value.id,
        Err(error) => {
            report.blame(Fault::WrongError, format_args!("append: {error}"));
            return false;
        }
    };
    let question = format!("Where is the parcel kx{run}q?");
    match reader.recall(question.as_str()).limit(1).await {
        Ok(found) if found.hits.first().is_some_and(|hit| hit.event.id == acknowledged) => {}
        Ok(_) => report.blame(Fault::SilentWrong, format_args!("the other server does not find it")),
        Err(error) => report.blame(Fault::WrongError, format_args!("recall: {error}")),
    }
    true
}

/// Kills processes of the database while writers of two servers append with keys, and repeat what failed.
///
/// # Errors
/// When the program itself cannot run, or the processes of the database are not those of this machine; findings are in the
/// report.
pub fn postgres_kill(order: &Order, address: &str) -> Result<Report> {
    runtime()?.block_on(async {
        let mut report = Report::of("postgres-kill", order);
        let servers = [server(address).await?, server(address).await?];
        let names: Vec<SpaceId> = (0..SPACES)
            .map(|number| SpaceId::new(format!("kill-{}-{}-{number}", order.seed, order.first)))
            .collect::<Result<_, _>>()?;
        let ended = Arc::new(AtomicBool::new(false));
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let (Some(server), Some(name)) = (servers.get(number % 2), names.get(number % SPACES)) else {
                continue;
            };
            let memory = server.spaces.open_or_create(name).await?;
            writers.spawn(write(memory, (name.clone(), number), Arc::clone(&ended)));
        }
        let mut dice = Dice::new(order.seed ^ order.first);
        let watch = Watch::start()?;
        let mut misses = 0;
        while report.runs < order.runs {
            pause(BETWEEN).await;
            let found = backends()?;
            let Some(process) = found.get(dice.below(found.len().max(1))) else {
                // The database is on its way back, or on another machine.
                misses += 1;
                ensure!(misses < MISSES, "no process of the database is on this machine");
                continue;
            };
            misses = 0;
            // It may have ended by itself.
            let _killed = kill_process(*process, Signal::KILL);
            report.runs += 1;
        }
        ended.store(true, Ordering::Release);
        let mut acknowledged: BTreeMap<SpaceId, Vec<String>> = BTreeMap::new();
        while let Some(written) = writers.join_next().await {
            let (name, keys, repeated) = written?;
            report.count("acknowledged", keys.len() as u64);
            report.count("repeated", repeated);
            acknowledged.entry(name).or_default().extend(keys);
        }
        for (name, keys) in acknowledged {
            compare(&server(address).await?.spaces.open(&name).await?, &keys, &mut report).await?;
        }
        report.seconds = watch.stop()?.wall.as_secs_f64();
        Ok(report)
    })
}

/// Appends until it is told to end, and returns the keys that were acknowledged, and how often it had to repeat a call.
async fn write(
    memory: Memory,
    (space, writer): (SpaceId, usize),
    ended: Arc<AtomicBool>,
) -> (SpaceId, Vec<String>, u64) {
    let (mut keys, mut repeated) = (Vec::new(), 0);
    for number in 0_u64.. {
        let key = format!("w{writer}-{number}");
        let turn = || Message::user(format!("writer {writer} says {number}")).idempotency_key(key.clone());
        while memory.log(turn()).await.is_err() {
            repeated += 1;
            pause(AGAIN).await;
        }
        keys.push(key);
        if ended.load(Ordering::Acquire) {
            break;
        }
    }
    (space, keys, repeated)
}

/// Compares the log with what was acknowledged.
async fn compare(memory: &Memory, keys: &[String], report: &mut Report) -> Result<()> {
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    let mut after = Cursor::START;
    let page = std::num::NonZeroUsize::new(PAGE).context("a page has events")?;
    loop {
        let events = memory.events().scan(&EventFilter::all(), after, page).await?;
        let Some(last) = events.last() else { break };
        after = Cursor(Some(last.seq));
        for body in events.iter().filter_map(mnemal::Event::body) {
            *found.entry(body.content.clone()).or_default() += 1;
        }
    }
    for key in keys {
        let (writer, number) = key.trim_start_matches('w').split_once('-').unwrap_or_default();
        match found.remove(&format!("writer {writer} says {number}")) {
            Some(1) => {}
            Some(_) => report.blame(Fault::Doubled, format_args!("{key}")),
            None => report.blame(Fault::Lost, format_args!("{key}")),
        }
    }
    for (text, _) in found {
        report.blame(Fault::SilentWrong, format_args!("nobody was told that {text:?} is stored"));
    }
    let checked = memory.admin().engine().check().await?;
    for finding in checked.findings {
        report.blame(Fault::Corrupt, format_args!("{finding}"));
    }
    Ok(())
}

/// Returns the processes of the database that serve a connection.
fn backends() -> Result<Vec<Pid>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        // A process that has ended meanwhile has no command line.
        let line = fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
        if line.starts_with("postgres: ") && line.contains("127.0.0.1(") {
            found.extend(Pid::from_raw(number));
        }
    }
    Ok(found)
}

async fn pause(time: Duration) {
    #[expect(clippy::disallowed_methods, reason = "the database needs time to work, or to come back")]
    tokio::time::sleep(time).await;
}
