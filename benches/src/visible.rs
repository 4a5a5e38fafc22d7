//! Write-to-read latency of an event: in the same process and in a second one.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use mnemal::recall::RecallMode;
use mnemal::settings::DurabilityMode;
use mnemal::{Engine, Memory, Message, Scope, Settings, SpaceId};

use crate::cpu::{Cost, Watch, quantile};
use crate::figure::{Figure, TargetBound};
use crate::latency::CorpusSpace;
use crate::spaces::is_logged;
use crate::torture::crew::WorkerPool;
use crate::torture::wire::{Reply, Request};

/// The only other process.
const OTHER: usize = 0;
/// Longest time for an answer of the other process.
const PATIENCE: Duration = Duration::from_mins(1);
/// Questions that warm everything up.
const WARM: usize = 5;

/// Targets: `normal` p50 and p99, `full` p50, and the addition for a second process. In milliseconds.
const ASKED: [f64; 4] = [0.5, 5.0, 5.0, 1.0];

/// Measures one durability on a space that is there.
///
/// # Errors
/// A call that fails, or an event that is not found at once.
pub async fn visible(bed: &CorpusSpace, program: &Path, durability: DurabilityMode) -> Result<Vec<Figure>> {
    let mut settings = Settings::default();
    settings.storage.durability = durability;
    let engine = Engine::builder().with_settings(settings).open(bed.space()).await?;
    let memory = engine.memory(Scope::whole(SpaceId::new("space")?));
    let name = if durability == DurabilityMode::Full { "full" } else { "normal" };
    let mut other = Other::start(program, bed, name)?;
    let (mut own, mut found, mut seconds) = (Costs::default(), Costs::default(), Vec::new());
    for number in 0..bed.samples + WARM {
        // Two words in letters only, of this run alone.
        let (one, two) = (word(name, number * 2), word(name, number * 2 + 1));
        let written = write(&memory, &one).await?;
        let watch = Watch::start()?;
        let answer = memory.recall(one.as_str()).mode(RecallMode::Lexical).limit(1).await?;
        let read = watch.stop()?;
        ensure!(answer.hits.iter().any(|hit| says(&hit.event, &one)), "{one} is not recalled at once");
        let second = write(&memory, &two).await?.wall;
        let (first, again) = (other.find(&two)?, other.find(&two)?);
        if number >= WARM {
            own.add(written);
            found.add(read);
            seconds.push(second + first.saturating_sub(again));
        }
    }
    other.end()?;
    engine.close().await?;
    Ok(figures(bed.size(), name, &own, &found, &seconds))
}

fn figures(size: usize, name: &str, own: &Costs, found: &Costs, seconds: &[Duration]) -> Vec<Figure> {
    let [normal, normal_tail, full, added] = ASKED;
    let of_mode = if name == "full" { full } else { normal };
    let time = |what: &str, times: &[Duration], share| {
        let rank = if share > 0.5 { "p99" } else { "p50" };
        Figure::time(format!("{what}, {name}, {rank}"), size, quantile(times, share))
    };
    vec![
        time("write to readable, wall", &own.wall, 0.5).asked_if(TargetBound::AtMost(of_mode), |_| true),
        time("write to readable, wall", &own.wall, 0.99)
            .asked_if(TargetBound::AtMost(normal_tail), |_| name == "normal"),
        time("write to readable, CPU", &own.cpu, 0.5),
        time("write to readable, CPU", &own.cpu, 0.99),
        time("the recall behind it, CPU", &found.cpu, 0.5),
        time("write to readable in a second process, wall", seconds, 0.5)
            .asked_if(TargetBound::AtMost(of_mode + added), |_| true),
        time("write to readable in a second process, wall", seconds, 0.99)
            .asked_if(TargetBound::AtMost(normal_tail + added), |_| name == "normal"),
    ]
}

#[derive(Default)]
struct Costs {
    cpu: Vec<Duration>,
    wall: Vec<Duration>,
}

impl Costs {
    fn add(&mut self, cost: Cost) {
        self.cpu.push(cost.cpu);
        self.wall.push(cost.wall);
    }
}

async fn write(memory: &Memory, word: &str) -> Result<Cost> {
    let message = Message::user(format!("They put {word} on the shelf behind the door."));
    let watch = Watch::start()?;
    let ack = memory.log(message).await?;
    let cost = watch.stop()?;
    is_logged(&ack)?;
    Ok(cost)
}

fn says(event: &mnemal::Event, word: &str) -> bool {
    event.body().is_some_and(|kept| kept.content.contains(word))
}

fn word(name: &str, number: usize) -> String {
    let letters =
        number.to_string().bytes().map(|digit| char::from(digit + (b'b' - b'0'))).collect::<String>();
    format!("zy{letters}{name}x")
}

/// The second process.
struct Other(WorkerPool);

impl Other {
    fn start(program: &Path, bed: &CorpusSpace, durability: &'static str) -> Result<Self> {
        let mut crew = WorkerPool::new(program.to_owned(), bed.space(), durability);
        crew.start(OTHER)?;
        let opened = crew.hear(PATIENCE).and_then(|heard| heard.answer);
        match opened.map(|answer| answer.said) {
            Some(Reply::Open { .. }) => Ok(Self(crew)),
            other => bail!("the second process cannot open the space: {other:?}"),
        }
    }

    /// Asks for a word, which must be found, and returns how long the answer took.
    fn find(&mut self, word: &str) -> Result<Duration> {
        let watch = Watch::start()?;
        let asked = self.0.send(OTHER, 0, Request::Find(vec![word.to_owned()]));
        ensure!(asked.is_some(), "the second process is gone");
        let answer = self.0.hear(PATIENCE).and_then(|heard| heard.answer).context("no answer")?;
        let wall = watch.stop()?.wall;
        let Reply::Found(found) = &answer.said else { bail!("the second process said {:?}", answer.said) };
        let there = found.iter().flatten().any(|hit| hit.text.contains(word));
        ensure!(there, "{word} is not recalled at once in a second process");
        Ok(wall)
    }

    fn end(mut self) -> Result<()> {
        let status = self.0.dismiss(OTHER)?.context("the second process is gone")?;
        ensure!(status.success(), "the second process ended with {status}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_its_figures_and_asks_what_is_promised() {
        let times = vec![Duration::from_millis(2); 3];
        let costs = Costs { cpu: times.clone(), wall: times.clone() };
        let met = |name| {
            let figures = figures(10, name, &costs, &costs, &times);
            figures.iter().map(Figure::is_met).collect::<Vec<_>>()
        };
        let (no, yes) = (Some(false), Some(true));
        assert_eq!(met("normal"), [no, yes, None, None, None, no, yes]);
        assert_eq!(met("full"), [yes, None, None, None, None, yes, None]);
    }
}
