//! Several processes on one file, one of them killed every second.
//!
//! Four processes write in two lanes each, four read. What one wrote is asked of another as soon as its acknowledgement is
//! heard. All writers also keep versions of one note. A killed process is replaced by one that goes on where it was. Two of
//! the processes empty the write-ahead log again and again meanwhile.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::kill::look_at_everything;
use super::names::name;
use super::trial::{LOOK, Trial};
use super::verdict::Fault;
use super::wire::Request;
use super::{Order, Report};
use crate::cpu::quantile;
use crate::words::Dice;

/// Processes that write; their numbers come first.
const WRITERS: usize = 4;
/// All processes.
const HANDS: usize = 8;
/// Lanes of a writer.
const LANES: usize = 2;
/// The time between two kills in a run of this many events; in a smaller run it is shorter.
const KILL_EVERY: Duration = Duration::from_secs(1);
const EVENTS: u64 = 10_000;
/// Events a second, so that a run of 10,000 lasts long enough for forty kills. Source: own choice, above the target load of
/// 200.
const RATE: f64 = 250.0;
/// Longest time without a look at what is due.
const TICK: Duration = Duration::from_millis(10);
/// The shortest time between two kills: a process must have a chance to open the space.
const SHORTEST: Duration = Duration::from_millis(300);
/// The time between two emptyings of the write-ahead log.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(250);
/// Processes that do it: a writer and a reader.
const CHECKPOINTERS: [usize; 2] = [0, WRITERS];
/// Most bytes of the write-ahead log. Source: the target of the product, `journal_size_limit`.
const LARGEST_WAL: u64 = 64 << 20;

/// Runs the program; its runs are events.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let folder = tempfile::tempdir()?;
    let space = folder.path().join("space.db");
    let report = Report::of("processes", order);
    let trial =
        Trial::new(order, space, if order.seed.is_multiple_of(2) { "full" } else { "normal" }, report);
    let dice = Dice::new(order.seed ^ order.first);
    let busy = vec![None; WRITERS * LANES];
    let mut company = Company { trial, dice, busy, planned: 0, cpu: Duration::ZERO, largest_wal: 0 };
    company.work(order, &folder.path().join("space.db-wal"))?;
    company.end()?;
    Ok(company.account())
}

struct Company {
    trial: Trial,
    dice: Dice,
    /// The call that each lane waits for.
    busy: Vec<Option<usize>>,
    planned: u64,
    /// CPU time of writers.
    cpu: Duration,
    largest_wal: u64,
}

impl Company {
    fn work(&mut self, order: &Order, wal: &Path) -> Result<()> {
        for hand in 0..HANDS {
            self.trial.crew.start(hand)?;
        }
        let share = order.runs.min(EVENTS) as f64 / EVENTS as f64;
        let every = KILL_EVERY.mul_f64(share).max(SHORTEST);
        let (mut kill_at, mut checkpoint_at) = (every, CHECKPOINT_EVERY);
        while (self.planned < order.runs || self.is_busy()) && self.trial.now() < order.time {
            if self.trial.now() >= kill_at {
                kill_at = self.trial.now() + every;
                self.kill()?;
            }
            if self.trial.now() >= checkpoint_at {
                checkpoint_at = self.trial.now() + CHECKPOINT_EVERY;
                self.checkpoint(wal);
            }
            self.feed(order.runs);
            self.trial.hear_one(kill_at.min(checkpoint_at).min(self.trial.now() + TICK));
            self.pass_on();
        }
        Ok(())
    }

    fn is_busy(&self) -> bool {
        self.busy.iter().any(Option::is_some)
    }

    /// Gives every idle lane its next call, as far as the rate allows.
    fn feed(&mut self, events: u64) {
        let due = self.trial.now().as_secs_f64() * RATE;
        for lane in 0..WRITERS * LANES {
            let idle = self.busy.get(lane).is_some_and(Option::is_none);
            if idle && self.planned < events && (self.planned as f64) < due {
                let call = self.plan(lane);
                self.write(lane, call);
            }
        }
    }

    fn plan(&mut self, lane: usize) -> usize {
        let turns = match self.dice.below(20) {
            0 => {
                self.planned += 1;
                self.trial.report.count("notes under one name", 1);
                return self.trial.ledger.note(lane, name(0));
            }
            1..=3 => 2 + self.dice.below(14),
            _ => 1,
        };
        self.planned += turns as u64;
        self.trial.ledger.append(lane, turns, &mut self.dice)
    }

    fn write(&mut self, lane: usize, call: usize) {
        if let Some(busy) = self.busy.get_mut(lane) {
            *busy = Some(call);
        }
        self.trial.write(lane / LANES, lane, call, None);
    }

    /// Asks a reader for what was just acknowledged, and repeats what was not.
    fn pass_on(&mut self) {
        for (_, call) in std::mem::take(&mut self.trial.acked) {
            if let Some(busy) = self.busy.iter_mut().find(|busy| **busy == Some(call)) {
                *busy = None;
            }
            let reader = WRITERS + self.dice.below(HANDS - WRITERS);
            let words = self.trial.ledger.words_of(call);
            self.trial.expect(reader, 0, words);
        }
        for call in std::mem::take(&mut self.trial.refused) {
            if let Some(lane) = self.trial.ledger.lane_of(call) {
                self.write(lane, call);
            }
        }
    }

    /// Kills a process and puts another one in its place, which repeats what was not acknowledged.
    fn kill(&mut self) -> Result<()> {
        let hand = self.dice.below(HANDS);
        self.count_cpu(hand);
        self.trial.kill(hand)?;
        self.trial.report.count(if hand < WRITERS { "writers killed" } else { "readers killed" }, 1);
        self.trial.crew.start(hand)?;
        self.pass_on();
        if hand < WRITERS {
            for lane in hand * LANES..(hand + 1) * LANES {
                if let Some(call) = self.busy.get(lane).copied().flatten() {
                    self.write(lane, call);
                }
            }
        }
        Ok(())
    }

    fn checkpoint(&mut self, wal: &Path) {
        self.largest_wal = self.largest_wal.max(std::fs::metadata(wal).map_or(0, |file| file.len()));
        for hand in CHECKPOINTERS {
            self.trial.disturb(hand, LOOK, Request::Checkpoint);
            self.trial.report.count("checkpoints", 1);
        }
    }

    fn count_cpu(&mut self, hand: usize) {
        if hand < WRITERS {
            self.cpu += self.trial.crew.cpu(hand);
        }
    }

    /// Reads all pending answers, closes all processes, and checks everything in a fresh one.
    fn end(&mut self) -> Result<()> {
        self.trial.settle()?;
        for hand in self.trial.crew.hands() {
            self.count_cpu(hand);
            self.trial.close(hand)?;
        }
        self.trial.crew.start(HANDS)?;
        look_at_everything(&mut self.trial, HANDS);
        self.trial.close(HANDS)
    }

    fn account(self) -> Report {
        let seconds = self.trial.now().as_secs_f64();
        let Trial { mut report, ledger, waits, reopened, gaps, .. } = self.trial;
        report.seconds = seconds;
        let acked = ledger.counts().0;
        report.runs = acked;
        if acked < self.planned {
            report.blame(Fault::Lost, format_args!("{acked} of {} were acknowledged", self.planned));
        }
        if self.largest_wal > LARGEST_WAL {
            report.blame(Fault::WrongError, format_args!("{} bytes of write-ahead log", self.largest_wal));
        }
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        report.count("largest write-ahead log, KiB", self.largest_wal >> 10);
        report.count("writers, CPU µs an event", micros(self.cpu) / report.runs.max(1));
        report.count("acknowledged after, wall µs, p50", micros(quantile(&waits, 0.5)));
        report.count("acknowledged after, wall µs, p99", micros(quantile(&waits, 0.99)));
        report.count("opening, CPU µs, p99", micros(quantile(&reopened, 0.99)));
        report.count("acknowledgements with a gap", gaps);
        report
    }
}
