//! Histories of several clients and processes, checked against a plain list after each step.
//!
//! Each step is one of: a write that is sent up to five times, by several processes at once, a part of the calls dropped
//! half-way; the same key with another body; a forget; a process that is killed in the middle of a call; reading. After it
//! the log, recall in every process, and the notes must be what the list says.

use std::time::Duration;

use anyhow::Result;

use super::kill::look_at_everything;
use super::names::name;
use super::trial::{LOOK, Trial};
use super::wire::{Reply, Request};
use super::{Order, Report};
use crate::words::Dice;

/// Processes, each one a client with a conversation of its own.
const HANDS: usize = 3;
/// Steps of a history.
const STEPS: usize = 60;
/// Most times that a call is sent. Source: own choice.
const COPIES: usize = 5;
/// Most looks at a call that is dropped.
const LOOKS: usize = 10;
/// Names of notes.
const NAMES: usize = 4;
/// The first lane of calls that are never repeated; each has one of its own.
const LEFT: usize = 100;
/// Longest time that a call has before its process is killed.
const BEFORE_KILL: Duration = Duration::from_millis(6);

/// Runs the program.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let mut report = Report::of("history", order);
    let mut seconds = Duration::ZERO;
    while report.runs < order.runs && seconds < order.time {
        let number = order.first + report.runs;
        let folder = tempfile::tempdir()?;
        let durability = if number.is_multiple_of(2) { "full" } else { "normal" };
        let trial = Trial::new(order, folder.path().join("space.db"), durability, report);
        let dice = Dice::new(order.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let mut history = History { trial, dice };
        history.happen()?;
        seconds += history.trial.now();
        report = history.trial.report;
        report.runs += 1;
    }
    report.seconds = seconds.as_secs_f64();
    Ok(report)
}

struct History {
    trial: Trial,
    dice: Dice,
}

/// How a call is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SendMode {
    Acked,
    /// Its result is ignored.
    Left,
}

impl History {
    fn happen(&mut self) -> Result<()> {
        for hand in 0..HANDS {
            self.trial.crew.start(hand)?;
        }
        for _ in 0..STEPS {
            self.step()?;
            self.trial.report.count("steps", 1);
        }
        for hand in 0..HANDS {
            self.trial.close(hand)?;
        }
        self.trial.crew.start(HANDS)?;
        look_at_everything(&mut self.trial, HANDS);
        self.trial.close(HANDS)
    }

    fn step(&mut self) -> Result<()> {
        let gaps = self.trial.gaps;
        let lane = self.dice.below(HANDS);
        match self.dice.below(100) {
            0..=41 => {
                let call = self.append(lane);
                self.storm(lane, call, SendMode::Acked)?;
                self.is_read(call);
            }
            42..=46 => {
                let lane = LEFT + self.dice.below(usize::MAX >> 1);
                let call = self.append(lane);
                self.storm(lane, call, SendMode::Left)?;
            }
            47..=60 => {
                let name = name(self.dice.below(NAMES));
                let call = self.trial.ledger.note(lane, name);
                self.storm(lane, call, SendMode::Acked)?;
                self.is_read(call);
            }
            61..=70 => {
                if let Some(call) = self.trial.ledger.forget(3, &mut self.dice) {
                    self.storm(LOOK, call, SendMode::Acked)?;
                }
            }
            71..=76 => self.contradict()?,
            77..=88 => self.kill(lane)?,
            89..=91 => {
                let hand = self.dice.below(HANDS);
                self.trial.close(hand)?;
                self.trial.crew.start(hand)?;
            }
            92..=94 => {
                let ask = if self.dice.below(2) == 0 { Request::Seal } else { Request::Checkpoint };
                let hand = self.dice.below(HANDS);
                self.trial.disturb(hand, LOOK, ask);
            }
            _ => self.read(),
        }
        self.trial.settle()?;
        self.check();
        // A note that says it was not folded in time is compared after the next step.
        if gaps == self.trial.gaps {
            self.check_notes();
        }
        self.trial.settle()
    }

    fn append(&mut self, lane: usize) -> usize {
        let turns = if self.dice.below(3) == 0 { 2 + self.dice.below(5) } else { 1 };
        self.trial.ledger.append(lane, turns, &mut self.dice)
    }

    /// Sends a call one to five times, to any processes, some of the copies dropped half-way.
    fn storm(&mut self, lane: usize, call: usize, until: SendMode) -> Result<()> {
        for _ in 0..=self.dice.below(COPIES) {
            let hand = self.dice.below(HANDS);
            let looks = 1 + u32::try_from(self.dice.below(LOOKS)).unwrap_or_default();
            let cut = (self.dice.below(3) == 0 || until == SendMode::Left).then_some(looks);
            self.trial.report.count(if cut.is_some() { "calls dropped" } else { "calls" }, 1);
            self.trial.write(hand, lane, call, cut);
        }
        self.trial.settle()?;
        if until == SendMode::Acked && !self.trial.ledger.is_acked(call) {
            let hand = self.dice.below(HANDS);
            self.trial.write(hand, lane, call, None);
        }
        self.trial.settle()
    }

    /// What was acknowledged is found in every process at once.
    fn is_read(&mut self, call: usize) {
        for hand in 0..HANDS {
            let words = self.trial.ledger.words_of(call);
            self.trial.expect(hand, LOOK, words);
        }
    }

    /// Sends another body under a known key.
    fn contradict(&mut self) -> Result<()> {
        let known = self.trial.ledger.some_acked(&mut self.dice);
        if let Some(ask) = known.and_then(|call| self.trial.ledger.ask_other_body(call)) {
            let hand = self.dice.below(HANDS);
            self.trial.contradict(hand, ask);
        }
        self.trial.settle()
    }

    /// Kills a process in the middle of a call, starts another one, and mostly repeats the call.
    fn kill(&mut self, hand: usize) -> Result<()> {
        let call = match self.dice.below(4) {
            0 => Some(self.trial.ledger.note(hand, name(1))),
            1 => self.trial.ledger.forget(3, &mut self.dice),
            _ => Some(self.append(hand)),
        };
        let Some(call) = call else { return Ok(()) };
        self.trial.write(hand, hand, call, None);
        let until = self.trial.now() + BEFORE_KILL.mul_f64(self.dice.unit());
        self.trial.hear_until(until);
        self.trial.kill(hand)?;
        self.trial.report.count("kills", 1);
        self.trial.crew.start(hand)?;
        // A forget that was interrupted is finished by the process that opens next, before it answers.
        let _open = self.trial.must_look(hand, &Request::Find(Vec::new()));
        if self.dice.below(8) > 0 {
            let by = self.dice.below(HANDS);
            self.trial.write(by, hand, call, None);
            self.trial.settle()?;
            self.is_read(call);
        }
        Ok(())
    }

    /// Reads what people read, in any process.
    fn read(&mut self) {
        let hand = self.dice.below(HANDS);
        let ask = Request::Context("what lies on which shelf?".to_owned());
        if let Some(Reply::Context { text, receipt }) = self.trial.must_look(hand, &ask) {
            self.trial.ledger.compare_text(&text, "a context", &mut self.trial.report);
            self.trial.receipts.push(receipt);
        }
        if let Some(Reply::Text(text)) = self.trial.must_look(hand, &Request::Export) {
            self.trial.ledger.compare_export(&text, &mut self.trial.report);
        }
    }

    /// Compares the log and recall with the list, each in any process.
    fn check(&mut self) {
        let hand = self.dice.below(HANDS);
        if let Some(Reply::Log(rows)) = self.trial.must_look(hand, &Request::Dump) {
            self.trial.ledger.compare(&rows, &mut self.trial.report);
        }
        let (there, gone) = self.trial.ledger.words();
        let start = self.dice.below(there.len());
        let some = there.into_iter().skip(start).take(4).collect();
        let hand = self.dice.below(HANDS);
        self.trial.expect(hand, LOOK, some);
        for hand in 0..HANDS {
            let last = gone.iter().rev().take(4).cloned().collect();
            self.trial.expect_none(hand, LOOK, last);
        }
    }

    /// Compares the notes with the list, in any process.
    fn check_notes(&mut self) {
        let names = self.trial.ledger.names();
        let hand = self.dice.below(HANDS);
        if let Some(Reply::Notes { versions, rebuilt }) =
            self.trial.must_look(hand, &Request::Notes(names.clone()))
        {
            let Trial { ledger, report, .. } = &mut self.trial;
            ledger.compare_notes(&names, &versions, report);
            if !rebuilt {
                report.blame(super::verdict::Fault::SilentWrong, format_args!("the log makes other notes"));
            }
        }
    }
}
