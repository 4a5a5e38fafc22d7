//! Ingest throughput in turns per second of CPU time: import, extraction into notes and graph, summaries.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use mnemal::settings::DurabilityMode;
use mnemal::{Builder, ImportFormat, Scope, Settings, SpaceId, Within};
use serde::{Deserialize, Serialize};

use crate::chat;
use crate::cpu::Watch;
use crate::figure::{Figure, TargetBound};
use crate::latency::SEED;
use crate::spaces::{fold, own_history};

/// Most time for one part, in milliseconds: nothing is cut off on a busy machine.
const PATIENCE: u64 = 3_600_000;
/// Questions about a made corpus. Source: own choice, as many as a round of commands asks.
const QUESTIONS: usize = 20;
/// Turns per second next to those of another build.
const ASKED_SHARE: f64 = 0.9;

/// CPU seconds of one run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Turns that were taken in.
    pub turns: usize,
    /// Import.
    pub import: f64,
    /// Notes and graph.
    pub fold: f64,
    /// Summaries.
    pub summaries: f64,
}

impl Run {
    /// Returns the turns per second.
    pub fn rate(&self) -> f64 {
        self.turns as f64 / (self.import + self.fold + self.summaries)
    }
}

/// Imports the corpus of a folder into a new space, and processes it to the end.
///
/// # Errors
/// A corpus that is not read in full.
pub async fn run(data: &Path) -> Result<Run> {
    let folder = tempfile::tempdir()?;
    let mut settings = Settings::default();
    settings.storage.durability = DurabilityMode::Normal;
    settings.recall.part_deadline_ms = PATIENCE;
    let engine = Builder::default().with_settings(settings).open(&folder.path().join("space.db")).await?;
    let memory = engine.memory(Scope::whole(SpaceId::new("bench")?));
    let file = BufReader::new(File::open(data.join("corpus.jsonl"))?);
    let watch = Watch::start()?;
    let options = own_history(Within::All);
    let report = memory.events().import(file, ImportFormat::Neutral, options, &mut |_| {}).await?;
    let import = watch.stop()?.cpu.as_secs_f64();
    ensure!(report.skipped_total == 0, "{} was not imported in full", data.display());
    let watch = Watch::start()?;
    fold(&memory).await?;
    let fold = watch.stop()?.cpu.as_secs_f64();
    let watch = Watch::start()?;
    while !memory.admin().engine().refresh_summaries().await?.is_empty() {}
    let summaries = watch.stop()?.cpu.as_secs_f64();
    let turns = usize::try_from(report.taken.stored)?;
    engine.close().await?;
    Ok(Run { turns, import, fold, summaries })
}

/// Writes a made corpus into a folder, and questions about it, a line each.
///
/// # Errors
/// A folder that cannot be written.
pub fn make(data: &Path, turns: usize) -> Result<()> {
    std::fs::create_dir_all(data)?;
    let mut corpus = BufWriter::new(File::create(data.join("corpus.jsonl"))?);
    chat::write_corpus(SEED, turns, &mut corpus)?;
    corpus.flush()?;
    std::fs::write(data.join("questions.txt"), chat::questions(SEED, turns, QUESTIONS).join("\n"))?;
    Ok(())
}

/// Measures this program and another build in turns, and returns the throughput of each; the median of all rounds counts.
///
/// # Errors
/// A run that fails.
pub fn throughput(data: &Path, rounds: usize, against: Option<&Path>) -> Result<Vec<Figure>> {
    let own = std::env::current_exe()?;
    let (mut now, mut before) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        now.push(run_of(&own, data)?);
        if let Some(other) = against {
            before.push(run_of(other, data)?);
        }
    }
    let mut figures = figures("", &now);
    if let (Some(rate), Some(other)) = (middle(&now, Run::rate), middle(&before, Run::rate)) {
        figures.extend(self::figures("before: ", &before));
        let turns = now.first().map_or(0, |run| run.turns);
        let share = Figure::new("turns a CPU-second, beside before", turns, rate / other, "share");
        figures.push(share.asked_if(TargetBound::AtLeast(ASKED_SHARE), |_| true));
    }
    Ok(figures)
}

/// Runs a build once, in a process of its own.
fn run_of(program: &Path, data: &Path) -> Result<Run> {
    let name = program.display();
    let output = Command::new(program).arg("--once").arg("--data").arg(data).output();
    let output = output.with_context(|| format!("cannot start {name}"))?;
    ensure!(output.status.success(), "{name} failed: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).with_context(|| format!("{name} printed no run"))
}

/// What is measured of a run.
type Part = fn(&Run) -> f64;

fn figures(of: &str, runs: &[Run]) -> Vec<Figure> {
    let turns = runs.first().map_or(0, |run| run.turns);
    let parts: [(&str, Part, &'static str); 4] = [
        ("turns a CPU-second", Run::rate, "turns/s"),
        ("import", |run| run.import, "s"),
        ("notes and graph", |run| run.fold, "s"),
        ("summaries", |run| run.summaries, "s"),
    ];
    let figure =
        |(name, part, unit)| Some(Figure::new(format!("{of}{name}"), turns, middle(runs, part)?, unit));
    parts.into_iter().filter_map(figure).collect()
}

/// Returns the middle of what is measured of runs, the lower one of two.
fn middle(runs: &[Run], part: impl Fn(&Run) -> f64) -> Option<f64> {
    let mut values: Vec<f64> = runs.iter().map(part).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_corpus_has_its_turns_and_questions() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), 50).unwrap();
        let lines = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap().lines().count();
        assert_eq!((lines("corpus.jsonl"), lines("questions.txt")), (50, QUESTIONS));
    }

    #[test]
    fn the_middle_of_rounds_counts_and_a_share_is_asked_for() {
        let run = |fold| Run { turns: 100, import: 0.25, fold, summaries: 0.25 };
        let runs = [run(0.5), run(9.5), run(1.5)];
        assert!((middle(&runs, Run::rate).unwrap() - 50.0).abs() < 1e-9);
        assert_eq!(middle(&[], Run::rate), None);
        assert_eq!(figures("before: ", &runs).len(), 4);
        assert_eq!(figures("", &[]), []);
    }
}
