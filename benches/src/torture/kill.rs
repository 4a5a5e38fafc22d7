//! Processes killed while they write.
//!
//! A process works on a space in several lanes at once. At a random moment, also while it opens or creates the space, it is
//! killed. The next one compares the space with what was acknowledged, repeats every unacknowledged call and some others, and
//! continues until it is killed too. Every tenth time a separate process checks everything: checksums, notes folded again,
//! export, bytes of forgotten texts.

use std::time::Duration;

use anyhow::Result;

use super::names::name;
use super::trial::{LOOK, PATIENCE, Trial};
use super::verdict::Fault;
use super::wire::{Reply, Request};
use super::{Order, Report};
use crate::cpu::quantile;
use crate::words::Dice;

/// Kills of one space. Source: own choice; the log then has some thousand events.
const KILLS: usize = 25;
/// A full look at every so many kills.
const FULL: u64 = 10;
/// Lanes that write.
const LANES: usize = 4;
/// Calls that a lane has before it, at most.
const AHEAD: usize = 12;
/// Longest time of work before a kill.
const WORK: Duration = Duration::from_millis(150);
/// Longest time between the start of a process and a kill that shall meet it while it opens.
const OPENING: Duration = Duration::from_millis(25);
/// Longest time between being told to close and a kill.
const CLOSING: Duration = Duration::from_millis(8);
/// The only process.
const HAND: usize = 0;
/// Names of notes.
const NAMES: usize = 6;

/// Runs the program.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let mut report = Report::of("kill", order);
    let mut reopened = Vec::new();
    let mut seconds = Duration::ZERO;
    for space in 0_u64.. {
        if report.runs >= order.runs || seconds >= order.time {
            break;
        }
        let folder = tempfile::tempdir()?;
        let durability = if space.is_multiple_of(2) { "full" } else { "normal" };
        let trial = Trial::new(order, folder.path().join("space.db"), durability, report);
        let mut dice = Dice::new(order.seed ^ (order.first + trial.report.runs).wrapping_mul(0x9e37_79b9));
        let kills = (KILLS / 2 + dice.below(KILLS)) as u64;
        let kills = kills.min(order.runs - trial.report.runs);
        let mut space = Space { trial, dice, kills: 0, looked: 0 };
        space.suffer(kills, order.time.saturating_sub(seconds))?;
        space.trial.report.count("spaces", 1);
        seconds += space.trial.now();
        reopened.append(&mut space.trial.reopened);
        report = space.trial.report;
    }
    report.seconds = seconds.as_secs_f64();
    let micros = |share| u64::try_from(quantile(&reopened, share).as_micros()).unwrap_or(u64::MAX);
    report.count("opening, CPU µs, p50", micros(0.5));
    report.count("opening, CPU µs, p99", micros(0.99));
    Ok(report)
}

/// A space and its fate.
struct Space {
    trial: Trial,
    dice: Dice,
    kills: u64,
    /// Events up to which every word was looked for.
    looked: usize,
}

/// When a process is killed.
#[derive(Clone, Copy)]
enum Moment {
    Opening(Duration),
    Working(Duration),
    Closing(Duration, Duration),
}

impl Space {
    fn suffer(&mut self, kills: u64, time: Duration) -> Result<()> {
        while self.kills < kills && self.trial.now() < time {
            let moment = self.moment();
            self.live(moment)?;
            self.kills += 1;
            self.trial.report.runs += 1;
            if self.kills.is_multiple_of(FULL) {
                self.look_at_everything()?;
            }
        }
        self.look_at_everything()?;
        let (_, gone) = self.trial.ledger.counts();
        self.trial.report.count("events forgotten", gone);
        Ok(())
    }

    fn moment(&mut self) -> Moment {
        let mut within = |most: Duration| most.mul_f64(self.dice.unit());
        let (opening, work, closing) = (within(OPENING), within(WORK), within(CLOSING));
        match self.dice.below(8) {
            0 | 1 => Moment::Opening(opening),
            2 => Moment::Closing(work, closing),
            _ => Moment::Working(work),
        }
    }

    /// One process from its start to its end.
    fn live(&mut self, moment: Moment) -> Result<()> {
        self.trial.crew.start(HAND)?;
        if let Moment::Opening(after) = moment {
            self.trial.report.count("kills while opening", 1);
            let until = self.trial.now() + after;
            let _found = self.compare(until);
            self.trial.hear_until(until);
            return self.trial.kill(HAND);
        }
        let hanging = self.trial.now() + PATIENCE;
        if self.compare(hanging).is_none() {
            self.trial.report.blame(Fault::Panic, format_args!("a new process does not answer"));
            return self.trial.kill(HAND);
        }
        self.set_to_work();
        let (Moment::Working(after) | Moment::Closing(after, _) | Moment::Opening(after)) = moment;
        let until = self.trial.now() + after;
        self.trial.hear_until(until);
        if let Moment::Closing(_, after) = moment {
            self.trial.report.count("kills while closing", 1);
            self.trial.closing = true;
            self.trial.disturb(HAND, LOOK, Request::Close);
            let until = self.trial.now() + after;
            self.trial.hear_until(until);
        } else {
            self.trial.report.count("kills while working", 1);
        }
        self.trial.kill(HAND)?;
        self.trial.closing = false;
        Ok(())
    }

    /// Compares the log with the list, and the newest words with recall.
    fn compare(&mut self, until: Duration) -> Option<()> {
        let answer = self.trial.look(HAND, Request::Dump, until)?;
        let Reply::Log(rows) = &answer.said else {
            self.trial.report.blame(Fault::WrongError, format_args!("the log: {:?}", answer.said));
            return None;
        };
        let Trial { ledger, report, .. } = &mut self.trial;
        ledger.compare(rows, report);
        let (there, gone) = ledger.words();
        let new: Vec<String> = there.get(self.looked..).unwrap_or_default().to_vec();
        self.looked = there.len();
        let answer = self.trial.look(HAND, Request::Find(new.clone()), until)?;
        self.trial.ledger.compare_found(&new, &answer, &mut self.trial.report);
        let some: Vec<String> = gone.into_iter().rev().take(LANES).collect();
        let answer = self.trial.look(HAND, Request::Find(some.clone()), until)?;
        self.trial.ledger.compare_not_found(&some, &answer, &mut self.trial.report);
        Some(())
    }

    /// Sends everything that was not acknowledged, some of what was, and new calls.
    fn set_to_work(&mut self) {
        let mut ahead = [0_usize; LANES];
        for call in self.trial.ledger.open_calls() {
            let lane = self.trial.ledger.lane_of(call).unwrap_or(LANES);
            if let Some(ahead) = ahead.get_mut(lane) {
                *ahead += 1;
            }
            self.trial.write(HAND, lane, call, None);
            self.trial.report.count("calls repeated after a kill", 1);
        }
        for _ in 0..3 {
            if let Some(call) = self.trial.ledger.some_acked(&mut self.dice) {
                self.trial.write(HAND, LANES + 1, call, None);
            }
        }
        for (lane, ahead) in ahead.into_iter().enumerate() {
            for _ in ahead..AHEAD {
                self.plan(lane);
            }
        }
        self.disturb();
    }

    /// Plans one call of a lane and sends it.
    fn plan(&mut self, lane: usize) {
        let ledger = &mut self.trial.ledger;
        let call = match self.dice.below(20) {
            0..=10 => ledger.append(lane, 1, &mut self.dice),
            11..=14 => {
                let turns = 2 + self.dice.below(12);
                ledger.append(lane, turns, &mut self.dice)
            }
            15 | 16 => {
                let name = name(self.dice.below(NAMES));
                ledger.note(lane, name)
            }
            17 => match ledger.forget(3, &mut self.dice) {
                Some(call) => return self.trial.write(HAND, LANES, call, None),
                None => ledger.append(lane, 1, &mut self.dice),
            },
            _ => {
                let (words, _) = ledger.words();
                let words = words.into_iter().rev().take(4).collect();
                return self.trial.expect(HAND, lane, words);
            }
        };
        self.trial.write(HAND, lane, call, None);
    }

    /// Asks for what goes on beside writing.
    fn disturb(&mut self) {
        let asks = [
            Request::Seal,
            Request::Checkpoint,
            Request::Export,
            Request::Context("what lies on which shelf?".to_owned()),
            Request::Check,
        ];
        let start = self.dice.below(asks.len());
        for ask in asks.into_iter().cycle().skip(start).take(2) {
            self.trial.disturb(HAND, LANES + 2, ask);
        }
    }

    /// Looks at everything in a fresh process.
    fn look_at_everything(&mut self) -> Result<()> {
        self.trial.crew.start(HAND)?;
        look_at_everything(&mut self.trial, HAND);
        self.trial.close(HAND)
    }
}

/// Compares everything that a process can say of its space with the list; there must be no concurrent writer.
pub(super) fn look_at_everything(trial: &mut Trial, hand: usize) {
    trial.report.count("full looks", 1);
    if let Some(Reply::Log(rows)) = trial.must_look(hand, &Request::Dump) {
        trial.ledger.compare(&rows, &mut trial.report);
    }
    if let Some(Reply::Findings(findings)) = trial.must_look(hand, &Request::Check) {
        for finding in findings {
            trial.report.blame(Fault::Corrupt, format_args!("{finding}"));
        }
    }
    let names = trial.ledger.names();
    if let Some(Reply::Notes { versions, rebuilt }) = trial.must_look(hand, &Request::Notes(names.clone())) {
        trial.ledger.compare_notes(&names, &versions, &mut trial.report);
        if !rebuilt {
            trial.report.blame(Fault::SilentWrong, format_args!("the log makes other notes"));
        }
    }
    let (there, gone) = trial.ledger.words();
    trial.expect(hand, LOOK, there);
    trial.expect_none(hand, LOOK, gone);
    if let Some(Reply::Text(text)) = trial.must_look(hand, &Request::Export) {
        trial.ledger.compare_export(&text, &mut trial.report);
    }
    let context = Request::Context("what lies on which shelf?".to_owned());
    if let Some(Reply::Context { text, .. }) = trial.must_look(hand, &context) {
        trial.ledger.compare_text(&text, "a context", &mut trial.report);
    }
    let receipts = trial.receipts.clone();
    if let Some(Reply::Rests(ids)) = trial.must_look(hand, &Request::Receipts(receipts)) {
        trial.report.count("events that receipts rest on", ids.len() as u64);
        trial.ledger.compare_rests(&ids, &mut trial.report);
    }
    let texts: Vec<String> = trial.ledger.forgotten_texts().into_iter().rev().take(5).collect();
    if let Some(Reply::Findings(places)) = trial.must_look(hand, &Request::Search(texts)) {
        for place in places {
            trial.report.blame(Fault::SilentWrong, format_args!("bytes of what is forgotten: {place}"));
        }
    }
}
