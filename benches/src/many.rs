//! Many small spaces in one process: the cost of a query when any space may be next.

use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use mnemal::settings::DurabilityMode;
use mnemal::{Engine, ImportFormat, Settings, SpaceId, Spaces, Within};
use serde::{Deserialize, Serialize};

use crate::chat;
use crate::cpu::{self, Watch, quantile};
use crate::figure::{Figure, TargetBound};
use crate::spaces::own_history;
use crate::words::Dice;

/// The seed of the conversations and of the order in which they are asked.
const SEED: u64 = 20_261_122;
/// Questions that are known of a space. Source: own choice; one of them is asked at a visit.
const QUESTIONS: usize = 8;
/// Most time for one part, in milliseconds; CPU time is measured, so nothing may be cut off on a busy machine.
const PART_DEADLINE_MS: u64 = 60_000;
/// Hits of a recall.
const HITS: usize = 10;
/// Questions after which open files are counted.
const LOOK_EVERY: usize = 100;
/// CPU time of a recall, p99, in milliseconds.
const ASKED_RECALL: f64 = 30.0;
/// Resident memory, in mebibytes.
const ASKED_MEMORY: f64 = 200.0;

/// Spaces on disk, each with a conversation of its own.
#[derive(Clone, Debug)]
pub struct Crowd {
    /// The data directory.
    pub data: PathBuf,
    /// Number of spaces.
    pub spaces: usize,
    /// Events of each.
    pub events: usize,
}

/// What asking them came to, as the process says that asked.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct QueryCost {
    /// CPU time of each question, in nanoseconds, opening and closing included.
    pub cpu: Vec<u64>,
    /// Time of each on the wall, in nanoseconds.
    pub wall: Vec<u64>,
    /// Questions whose space was open already.
    pub open_already: usize,
    /// Most spaces that may be open.
    pub max_open: usize,
    /// Most files that were open.
    pub files: usize,
    /// Most threads that ran.
    pub threads: usize,
    /// Resident memory at the end, in bytes.
    pub resident: u64,
    /// The most that was ever resident, in bytes.
    pub peak: u64,
}

impl Crowd {
    /// Makes the spaces, one import each; returns the CPU time that it took.
    ///
    /// # Errors
    /// Those of the engine and of the disk.
    pub async fn make(&self) -> Result<Duration> {
        let spaces = self.open(None)?;
        let watch = Watch::start()?;
        for number in 0..self.spaces {
            let memory = spaces.open_or_create(&name(number)?).await?;
            let mut corpus = Vec::new();
            chat::write_corpus(seed(number), self.events, &mut corpus)?;
            let reader = BufReader::new(Cursor::new(corpus));
            let options = own_history(Within::All);
            let report = memory.events().import(reader, ImportFormat::Neutral, options, &mut |_| {}).await?;
            ensure!(
                report.taken.stored == self.events as u64,
                "space {number} was not stored in full: {report:?}"
            );
        }
        spaces.close().await?;
        Ok(watch.stop()?.cpu)
    }

    /// Asks this many questions, each to a space by chance, opened for it through [`Spaces`].
    ///
    /// # Errors
    /// A recall that fails, finds nothing or has a gap; a measurement of failures would be none.
    pub async fn ask(&self, questions: usize, max_open: Option<usize>) -> Result<QueryCost> {
        let spaces = self.open(max_open)?;
        let mut said =
            QueryCost { max_open: Self::settings(max_open).spaces.max_open, ..QueryCost::default() };
        let mut dice = Dice::new(SEED);
        for number in 0..questions {
            let place = dice.below(self.spaces);
            let known = chat::questions(seed(place), self.events, QUESTIONS);
            let question = known.get(dice.below(known.len())).cloned().unwrap_or_default();
            let space = name(place)?;
            let n_open = spaces.n_open();
            let watch = Watch::start()?;
            let memory = spaces.open(&space).await?;
            let found = memory.recall(question).limit(HITS).await?;
            drop(memory);
            let cost = watch.stop()?;
            ensure!(!found.hits.is_empty() && found.gaps.is_empty(), "space {space}: {:?}", found.gaps);
            said.cpu.push(nanos(cost.cpu));
            said.wall.push(nanos(cost.wall));
            said.open_already += usize::from(n_open == spaces.n_open() && n_open < said.max_open);
            if number % LOOK_EVERY == LOOK_EVERY - 1 {
                said.files = said.files.max(cpu::entries("/proc/self/fd")?);
                said.threads = said.threads.max(cpu::entries("/proc/self/task")?);
            }
        }
        said.resident = cpu::resident_bytes()?;
        said.peak = cpu::peak_bytes()?;
        Ok(said)
    }

    /// Returns the targets next to the measurements.
    pub fn figures(&self, said: &QueryCost, made: Option<Duration>) -> Vec<Figure> {
        let size = self.spaces * self.events;
        let times =
            |nanos: &[u64]| nanos.iter().map(|nanos| Duration::from_nanos(*nanos)).collect::<Vec<_>>();
        let (cpu, wall) = (times(&said.cpu), times(&said.wall));
        let whole = |_: usize| self.spaces >= 5_000;
        let figure = |name: &str, value: f64, unit| Figure::new(name, size, value, unit);
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let mut figures = vec![
            Figure::time("recall in a space by chance, CPU p50", size, quantile(&cpu, 0.5)),
            Figure::time("recall in a space by chance, CPU p99", size, quantile(&cpu, 0.99))
                .asked_if(TargetBound::AtMost(ASKED_RECALL), whole),
            Figure::time("recall in a space by chance, wall p50", size, quantile(&wall, 0.5)),
            figure("resident memory at the end", mebibytes(said.resident), "MiB")
                .asked_if(TargetBound::AtMost(ASKED_MEMORY), whole),
            figure("resident memory, peak", mebibytes(said.peak), "MiB")
                .asked_if(TargetBound::AtMost(ASKED_MEMORY), whole),
            figure("spaces", self.spaces as f64, "spaces"),
            figure("spaces that may be open", said.max_open as f64, "spaces"),
            figure("recalls", said.cpu.len() as f64, "recalls"),
            figure("open files, most", said.files as f64, "files"),
            figure("threads, most", said.threads as f64, "threads"),
            figure("bytes on disk a space", self.bytes() as f64 / self.spaces.max(1) as f64, "bytes"),
        ];
        if let Some(made) = made {
            let rate = size as f64 / made.as_secs_f64().max(f64::EPSILON);
            figures.push(figure("making the spaces, events a CPU-second", rate, "events/s"));
        }
        figures
    }

    fn settings(max_open: Option<usize>) -> Settings {
        let mut settings = Settings::default();
        settings.storage.durability = DurabilityMode::Normal;
        settings.recall.part_deadline_ms = PART_DEADLINE_MS;
        settings.spaces.max_open = max_open.unwrap_or(settings.spaces.max_open);
        settings
    }

    fn open(&self, max_open: Option<usize>) -> Result<Spaces> {
        Ok(Spaces::new(&self.data, Engine::builder().with_settings(Self::settings(max_open)))?)
    }

    fn bytes(&self) -> u64 {
        let files = std::fs::read_dir(Path::new(&self.data).join("spaces")).into_iter().flatten();
        files.filter_map(|file| file.ok()?.metadata().ok()).map(|file| file.len()).sum()
    }
}

fn name(number: usize) -> Result<SpaceId> {
    Ok(SpaceId::new(format!("space-{number}"))?)
}

fn seed(number: usize) -> u64 {
    SEED.wrapping_add(number as u64)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
