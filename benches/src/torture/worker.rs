//! A worker process on a space: it reads calls, runs those of each lane in order, and writes each answer once the call has
//! returned.

use std::collections::HashMap;
use std::future::Future;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::Poll;

use anyhow::Result;
use mnemal::settings::DurabilityMode;
use mnemal::{Engine, Gap, Memory, Scope, Settings, SpaceId};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::calls;
use super::wire::{Answer, Call, Reply, Request};
use crate::cpu::Watch;

/// The word that makes `torture` such a process.
pub const SERVE: &str = "serve";

/// Time for one part of an answer, in milliseconds: the machine is busy on purpose, and a late part is another matter.
const PART_DEADLINE_MS: u64 = 10_000;

/// Serves a space until its supervisor stops to ask; arguments are the file and the durability.
///
/// # Errors
/// A pipe that breaks; a space that cannot be opened is an answer.
pub fn serve(arguments: &[String]) -> Result<()> {
    let [space, durability] = arguments else { anyhow::bail!("{SERVE} needs SPACE and DURABILITY") };
    let durability = if durability == "full" { DurabilityMode::Full } else { DurabilityMode::Normal };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(work(Path::new(space), durability))
}

/// The shared state of all lanes.
#[derive(Clone, Debug)]
pub(super) struct WorkerState {
    pub(super) memory: Memory,
    pub(super) space: PathBuf,
}

async fn work(space: &Path, durability: DurabilityMode) -> Result<()> {
    let watch = Watch::start()?;
    let desk = match open(space, durability).await {
        Ok(desk) => desk,
        Err(error) => return say(0, &[], calls::failed(&error)),
    };
    let cpu = watch.stop()?.cpu;
    say(0, &[], Reply::Open { cpu_micros: u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX) })?;
    let mut calls = listen();
    let mut lanes: HashMap<usize, mpsc::UnboundedSender<Call>> = HashMap::new();
    let mut running = JoinSet::new();
    loop {
        tokio::select! {
            call = calls.recv() => {
                let Some(call) = call else { break };
                let lane = lanes.entry(call.lane).or_insert_with(|| {
                    let (give, take) = mpsc::unbounded_channel();
                    running.spawn(lane(desk.clone(), take));
                    give
                });
                anyhow::ensure!(lane.send(call).is_ok(), "a lane has ended");
            }
            Some(ended) = running.join_next() => ended??,
        }
    }
    drop(lanes);
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

async fn open(space: &Path, durability: DurabilityMode) -> mnemal::Result<WorkerState> {
    let mut settings = Settings::default();
    settings.storage.durability = durability;
    settings.recall.part_deadline_ms = PART_DEADLINE_MS;
    // Notes come by the thousand, and each of them must be used.
    settings.privacy.agent_items_per_hour = 0;
    let engine = Engine::builder().with_settings(settings).open(space).await?;
    let memory = engine.memory(Scope::whole(SpaceId::new("space")?));
    Ok(WorkerState { memory, space: space.to_owned() })
}

/// Reads calls until the supervisor closes the pipe.
fn listen() -> mpsc::UnboundedReceiver<Call> {
    let (give, take) = mpsc::unbounded_channel();
    #[expect(clippy::disallowed_methods, reason = "it waits for the pipe and ends with it")]
    let _reader = std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let Ok(call) = serde_json::from_str(&line) else { return };
            if give.send(call).is_err() {
                return;
            }
        }
    });
    take
}

async fn lane(desk: WorkerState, mut calls: mpsc::UnboundedReceiver<Call>) -> Result<()> {
    while let Some(call) = calls.recv().await {
        let ends = matches!(call.ask, Request::Close);
        let (gaps, said) = match cut(calls::act(&desk, call.ask), call.cut).await {
            Some(Ok(done)) => (done.gaps, done.value),
            Some(Err(error)) => (Vec::new(), calls::failed(&error)),
            None => (Vec::new(), Reply::Cut),
        };
        say(call.number, &gaps, said)?;
        if ends {
            return Ok(());
        }
    }
    Ok(())
}

/// Runs a call to its end, or drops it after so many looks.
async fn cut<T>(call: impl Future<Output = T>, looks: Option<u32>) -> Option<T> {
    let Some(mut left) = looks else { return Some(call.await) };
    let mut call = pin!(call);
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match call.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Writes one line at once, so that it is there whole or not at all.
fn say(number: u64, gaps: &[Gap], said: Reply) -> Result<()> {
    let gaps = gaps.iter().map(ToString::to_string).collect();
    let mut line = serde_json::to_vec(&Answer { number, gaps, said })?;
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    out.write_all(&line)?;
    Ok(out.flush()?)
}
