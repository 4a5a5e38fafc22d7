//! Cold starts: the first answer, resident memory, and one command from start to end.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use mnemal::Gap;
use mnemal::types::GapCause;
use serde::{Deserialize, Serialize};

use super::{CorpusSpace, open};
use crate::cpu::{Watch, children_cpu, quantile, resident_bytes};
use crate::figure::{Figure, TargetBound};

/// Questions that a fresh process answers before its memory is measured.
const QUESTIONS: usize = 20;
/// Commands of one round; CPU time of children is counted in steps of 10 ms.
const COMMANDS: usize = 20;
/// Rounds; the median counts.
const ROUNDS: usize = 5;
/// Rounds of each hook.
const HOOK_ROUNDS: usize = 4;
/// Sizes, and resident memory of a process at them, in MB.
const ASKED_MEMORY: [(usize, f64); 2] = [(100_000, 150.0), (1_000_000, 400.0)];
/// The size at which the time of one command is asked for.
const COMMAND_AT: usize = 10_000;
/// CPU time of one command, in milliseconds.
const ASKED_COMMAND: f64 = 30.0;

/// A fresh process's own measurements.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct ProcessMetrics {
    /// Milliseconds of CPU time from opening to the first answer.
    pub first_cpu: f64,
    /// Events that the first answer did not know yet.
    pub first_lacks: u64,
    /// Milliseconds of CPU time from opening until the index is whole.
    pub whole_cpu: f64,
    /// The same on the wall.
    pub first_wall: f64,
    /// Resident bytes after some questions.
    pub resident: u64,
}

/// Opens a space in this process, asks, and says what that took; to be called in a process that did nothing else.
///
/// # Errors
/// A space that cannot be opened, or a recall that fails.
pub async fn fresh_here(space: &Path, questions: &[String]) -> Result<ProcessMetrics> {
    let (watch, to_whole) = (Watch::start()?, Watch::start()?);
    let memory = open(space).await?;
    let mut questions = questions.iter();
    let found = memory.recall(questions.next().context("no question")?).await?;
    let first = watch.stop()?;
    ensure!(!found.hits.is_empty(), "a fresh process found nothing");
    memory.admin().engine().load().await?;
    let whole = to_whole.stop()?;
    for question in questions {
        drop(memory.recall(question).await?);
    }
    let millis = |time: std::time::Duration| time.as_secs_f64() * 1_000.0;
    Ok(ProcessMetrics {
        first_cpu: millis(first.cpu),
        first_wall: millis(first.wall),
        first_lacks: found.gaps.iter().filter_map(behind).sum(),
        whole_cpu: millis(whole.cpu),
        resident: resident_bytes()?,
    })
}

fn behind(gap: &Gap) -> Option<u64> {
    if let GapCause::Stale { behind } = gap.cause { Some(behind) } else { None }
}

/// Starts this program again with `--fresh SPACE QUESTION…` and reads its measurements.
///
/// # Errors
/// A process that fails.
pub fn fresh(bed: &CorpusSpace) -> Result<Vec<Figure>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--fresh").arg(bed.space()).args(bed.questions().iter().take(QUESTIONS));
    let output = command.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the fresh process failed: {}", output.status);
    let said: ProcessMetrics = serde_json::from_slice(&output.stdout)?;
    let resident = said.resident as f64 / 1e6;
    let most = ASKED_MEMORY.iter().find(|(at, _)| *at == bed.size());
    Ok(vec![
        Figure::new("open to the first answer, CPU", bed.size(), said.first_cpu, "ms"),
        Figure::new("open to the first answer, wall", bed.size(), said.first_wall, "ms"),
        Figure::new("events that the first answer lacks", bed.size(), said.first_lacks as f64, "events"),
        Figure::new("open until the index is whole, CPU", bed.size(), said.whole_cpu, "ms"),
        Figure::new("resident memory of a process that recalls", bed.size(), resident, "MB")
            .asked_if(most.map_or(TargetBound::Nothing, |(_, most)| TargetBound::AtMost(*most)), |_| true),
    ])
}

/// Runs the program `mnemal recall` again and again on the space, each time as a new process.
///
/// # Errors
/// A command that fails.
pub fn one_shot(bed: &CorpusSpace, program: &Path) -> Result<Vec<Figure>> {
    let questions = bed.questions();
    let (mut cpu, mut wall) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let before = children_cpu()?;
        for question in questions.iter().cycle().take(COMMANDS) {
            let watch = Watch::start()?;
            run(bed, program, question)?;
            wall.push(watch.stop()?.wall);
        }
        let count = u32::try_from(COMMANDS).unwrap_or(u32::MAX);
        cpu.push(children_cpu()?.saturating_sub(before) / count);
    }
    Ok(vec![
        Figure::time("one command `mnemal recall`, CPU median", bed.size(), quantile(&cpu, 0.5))
            .asked_if(TargetBound::AtMost(ASKED_COMMAND), |size| size == COMMAND_AT),
        Figure::time("one command `mnemal recall`, wall p50", bed.size(), quantile(&wall, 0.5)),
    ])
}

/// Runs the two hooks that a client waits for again and again on the space, each time as a new process.
///
/// # Errors
/// A hook that fails, or that injects nothing in any of its runs.
pub fn hooks(bed: &CorpusSpace, program: &Path) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for event in ["SessionStart", "UserPromptSubmit"] {
        let (mut cpu, mut wall, mut injected) = (Vec::new(), Vec::new(), 0);
        for round in 0..HOOK_ROUNDS {
            let before = children_cpu()?;
            for (turn, question) in bed.questions().iter().cycle().take(COMMANDS).enumerate() {
                let input = serde_json::json!({
                    "session_id": format!("{event}-{round}-{turn}"), "cwd": bed.folder(), "source": "startup",
                    "hook_event_name": event, "prompt": question,
                });
                let watch = Watch::start()?;
                injected += usize::from(hook(bed, program, event, &input.to_string())? != "{}\n");
                wall.push(watch.stop()?.wall);
            }
            let count = u32::try_from(COMMANDS).unwrap_or(u32::MAX);
            cpu.push(children_cpu()?.saturating_sub(before) / count);
        }
        ensure!(injected > 0, "no {event} of {} injected anything", wall.len());
        figures.push(
            Figure::time(format!("one hook {event}, CPU"), bed.size(), quantile(&cpu, 0.5))
                .asked_if(TargetBound::AtMost(ASKED_COMMAND), |size| size == COMMAND_AT),
        );
        figures.push(Figure::time(format!("one hook {event}, wall p50"), bed.size(), quantile(&wall, 0.5)));
    }
    Ok(figures)
}

fn hook(bed: &CorpusSpace, program: &Path, event: &str, input: &str) -> Result<String> {
    let mut command = Command::new(program);
    command.arg("--db").arg(bed.space()).args(["hook", "claude-code", event]);
    command.env("HOME", bed.folder()).env("MNEMAL_DATA_DIR", bed.folder()).env_remove("XDG_CONFIG_HOME");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().context("a child with a pipe")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "a hook failed: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

fn run(bed: &CorpusSpace, program: &Path, question: &str) -> Result<()> {
    let mut command = Command::new(program);
    command.arg("--db").arg(bed.space()).args(["--quiet", "recall", question]);
    // The user's own configuration must not count.
    command.env("HOME", bed.folder()).env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
    let output = command.output().with_context(|| format!("cannot start {}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    bail!("`mnemal recall` failed: {} {}", output.status, String::from_utf8_lossy(&output.stderr))
}
