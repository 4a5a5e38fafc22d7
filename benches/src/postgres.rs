//! Spaces in PostgreSQL beside spaces in files, by turns in one process.
//!
//! The database works in processes of its own, so that all times are on the wall, and every figure is a ratio of medians or of
//! rates of the same minutes.

use std::io::BufReader;
use std::time::Duration;

use anyhow::{Context as _, Result};
use mnemal::admin::PostgresDatabase;
use mnemal::types::InstallationKey;
use mnemal::{Engine, ImportFormat, Memory, Message, Settings, SpaceId, Spaces, Within};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::chat;
use crate::cpu::{Watch, quantile};
use crate::figure::{Figure, TargetBound};
use crate::latency::SEED;
use crate::spaces::own_history;

/// Most time for one part of an answer, in milliseconds: nothing is cut off on a busy machine.
const PATIENCE: u64 = 60_000;
/// Writers, and spaces that they write to. Source: the measurements of the design.
const WRITERS: usize = 8;
const SPACES: usize = 100;
/// Questions of each round.
const QUESTIONS: usize = 50;

/// The size of a run.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Turns that are imported, and asked about.
    pub turns: usize,
    /// Appends of each round.
    pub appends: usize,
    /// Rounds.
    pub rounds: usize,
}

/// Spaces of one kind of storage.
struct Side {
    spaces: Spaces,
    /// Its folder, until the end.
    _data: TempDir,
    times: Times,
}

/// What was measured of one side.
#[derive(Default)]
struct Times {
    append: Vec<Duration>,
    keyed: Vec<Duration>,
    recall: Vec<Duration>,
    first: Vec<Duration>,
    import: Vec<f64>,
    writers: Vec<f64>,
}

fn builder() -> mnemal::Builder {
    let mut settings = Settings::default();
    settings.recall.part_deadline_ms = PATIENCE;
    settings.recall.catch_up_ms = PATIENCE;
    settings.spaces.max_open = SPACES + 2;
    Engine::builder().with_settings(settings).with_key(InstallationKey::new([17; 32]))
}

/// Measures both, and returns the figures.
///
/// # Errors
/// `Unavailable` when the database does not answer.
pub async fn measure(address: &str, load: Load) -> Result<Vec<Figure>> {
    PostgresDatabase::migrate(address).await?;
    let database = PostgresDatabase::connect(address).await?;
    let (files, rows) = (TempDir::new()?, TempDir::new()?);
    let in_files = Spaces::new(files.path(), builder())?;
    let in_rows = Spaces::in_database(database.clone(), rows.path(), builder()).await?;
    let mut sides = [
        Side { spaces: in_files, _data: files, times: Times::default() },
        Side { spaces: in_rows, _data: rows, times: Times::default() },
    ];
    let mut corpus = Vec::new();
    chat::write_corpus(SEED, load.turns, &mut corpus)?;
    let mut trip = Vec::new();
    for round in 0..load.rounds {
        for side in &mut sides {
            side.round(&corpus, round, load).await?;
        }
        let name = SpaceId::new("nobody")?;
        for _ in 0..QUESTIONS {
            let watch = Watch::start()?;
            database.has(&name).await?;
            trip.push(watch.stop()?.wall);
        }
    }
    let [files, rows] = &sides;
    Ok(figures(&files.times, &rows.times, &trip, load))
}

impl Side {
    async fn round(&mut self, corpus: &[u8], round: usize, load: Load) -> Result<()> {
        let name = SpaceId::new(format!("bench-{round}"))?;
        let memory = self.spaces.open_or_create(&name).await?;
        let watch = Watch::start()?;
        let options = own_history(Within::All);
        let report = memory
            .events()
            .import(BufReader::new(corpus), ImportFormat::Neutral, options, &mut |_| {})
            .await?;
        self.times.import.push(report.taken.stored as f64 / watch.stop()?.wall.as_secs_f64());
        drop(memory);
        self.spaces.close().await?;
        let watch = Watch::start()?;
        let memory = self.spaces.open(&name).await?;
        memory.admin().engine().load().await?;
        self.times.first.push(watch.stop()?.wall);
        let questions = chat::questions(SEED, load.turns, QUESTIONS);
        for question in &questions {
            let watch = Watch::start()?;
            let _found = memory.recall(question.as_str()).await?;
            self.times.recall.push(watch.stop()?.wall);
        }
        for number in 0..load.appends {
            let turn = Message::user(format!("In round {round} the counter stands at {number}."));
            let watch = Watch::start()?;
            let _ack = memory.log(turn.clone()).await?;
            self.times.append.push(watch.stop()?.wall);
            let watch = Watch::start()?;
            let _ack = memory.log(turn.idempotency_key(format!("{round}-{number}"))).await?;
            self.times.keyed.push(watch.stop()?.wall);
        }
        self.times.writers.push(self.many(round, load).await?);
        Ok(())
    }

    /// Returns the appends a second of several writers over many spaces.
    async fn many(&self, round: usize, load: Load) -> Result<f64> {
        let mut memories = Vec::new();
        for number in 0..SPACES {
            memories.push(self.spaces.open_or_create(&SpaceId::new(format!("many-{number}"))?).await?);
        }
        let mut writers = JoinSet::new();
        let watch = Watch::start()?;
        for writer in 0..WRITERS {
            writers.spawn(write(memories.clone(), (writer, round), load.appends));
        }
        while let Some(written) = writers.join_next().await {
            written??;
        }
        Ok((WRITERS * load.appends) as f64 / watch.stop()?.wall.as_secs_f64())
    }
}

async fn write(memories: Vec<Memory>, (writer, round): (usize, usize), appends: usize) -> Result<()> {
    for number in 0..appends {
        let memory =
            memories.get((writer * appends + number * 7) % memories.len()).context("there are spaces")?;
        let _ack = memory.log(Message::user(format!("Writer {writer} says {number} in {round}."))).await?;
    }
    Ok(())
}

/// A named series of both sides, with what the ratio of the second to the first must be.
type Series<'t> = (&'static str, &'t [Duration], &'t [Duration], TargetBound);

fn figures(files: &Times, rows: &Times, trip: &[Duration], load: Load) -> Vec<Figure> {
    let middle = |times: &[Duration]| quantile(times, 0.5).as_secs_f64() * 1_000.0;
    let series: [Series<'_>; 4] = [
        ("append, p50", &files.append, &rows.append, TargetBound::AtMost(1.3)),
        ("append with a key, p50", &files.keyed, &rows.keyed, TargetBound::Nothing),
        ("open and load, p50", &files.first, &rows.first, TargetBound::AtMost(1.5)),
        ("recall, p50", &files.recall, &rows.recall, TargetBound::Nothing),
    ];
    let mut figures = Vec::new();
    let mut both = |name: &str, (one, other): (f64, f64), unit, asked| {
        figures.push(Figure::new(format!("{name}, file"), load.turns, one, unit));
        figures.push(Figure::new(format!("{name}, PostgreSQL"), load.turns, other, unit));
        let ratio = Figure::new(format!("{name}, ratio"), load.turns, other / one, "×");
        figures.push(ratio.asked_if(asked, |_| true));
    };
    for (name, one, other, asked) in series {
        both(name, (middle(one), middle(other)), "ms", asked);
    }
    let rate = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    both("import", (rate(&files.import), rate(&rows.import)), "events/s", TargetBound::AtLeast(0.4));
    let writers = (rate(&files.writers), rate(&rows.writers));
    both("8 writers over 100 spaces", writers, "events/s", TargetBound::AtLeast(1.0));
    let (trip, more) = (middle(trip), middle(&rows.recall) - middle(&files.recall));
    figures.push(Figure::new("one trip, p50", load.turns, trip, "ms"));
    let trips = Figure::new("recall, trips more than in a file", load.turns, more / trip, "trips");
    figures.push(trips.asked_if(TargetBound::AtMost(2.0), |_| true));
    figures
}
