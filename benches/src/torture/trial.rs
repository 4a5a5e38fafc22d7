//! One space under trial: its processes, expected contents, and pending calls.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use mnemal::ports::{Clock as _, SystemClock};

use super::crew::{ProcessMessage, WorkerPool};
use super::ledger::Ledger;
use super::verdict::Fault;
use super::wire::{Answer, Reply, Request};
use super::{Order, Report};

/// After this time a silent process counts as hung. Source: own choice, four times the patience of a write.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
/// The lane of calls that look at the space.
pub(super) const LOOK: usize = 1_000;

/// The trial.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) crew: WorkerPool,
    pub(super) ledger: Ledger,
    pub(super) report: Report,
    /// CPU time of every opening of a space that was there already.
    pub(super) reopened: Vec<Duration>,
    /// Whether a process was told to close, so that its other calls may be refused.
    pub(super) closing: bool,
    /// Acknowledged calls of the list, and those with another answer, since the last read.
    pub(super) acked: Vec<(usize, usize)>,
    pub(super) refused: Vec<usize>,
    /// Time on the wall from asking for a write to its acknowledgement.
    pub(super) waits: Vec<Duration>,
    /// Receipts of contexts that were assembled.
    pub(super) receipts: Vec<String>,
    /// Acknowledgements that named a gap.
    pub(super) gaps: u64,
    clock: SystemClock,
    sent: HashMap<u64, PendingCall>,
    others: HashMap<u64, Answer>,
}

/// A call that is on its way.
#[derive(Debug)]
struct PendingCall {
    hand: usize,
    what: PendingWork,
}

#[derive(Debug)]
enum PendingWork {
    Write(usize, Duration),
    /// A call with a known key and another body.
    Conflict,
    There(Vec<String>),
    Gone(Vec<String>),
    /// Whether a caller waits for it.
    Look,
    /// It only has to be answered.
    Other,
}

impl Trial {
    /// Starts a trial of the space in a file, under the account so far.
    pub(super) fn new(order: &Order, space: PathBuf, durability: &'static str, report: Report) -> Self {
        Self {
            crew: WorkerPool::new(order.program.clone(), space, durability),
            ledger: Ledger::default(),
            report,
            reopened: Vec::new(),
            closing: false,
            acked: Vec::new(),
            refused: Vec::new(),
            waits: Vec::new(),
            receipts: Vec::new(),
            gaps: 0,
            clock: SystemClock::default(),
            sent: HashMap::new(),
            others: HashMap::new(),
        }
    }

    /// Returns the time since the trial began.
    pub(super) fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Sends a call of the list to a process.
    pub(super) fn write(&mut self, hand: usize, lane: usize, call: usize, cut: Option<u32>) {
        let (ask, now) = (self.ledger.ask(call), self.now());
        let number = self.crew.send_cut(hand, lane, ask, cut);
        self.await_answer(number, hand, PendingWork::Write(call, now));
    }

    /// Sends a call that must be refused, because its key is known with another body.
    pub(super) fn contradict(&mut self, hand: usize, ask: Request) {
        let number = self.crew.send(hand, LOOK, ask);
        self.await_answer(number, hand, PendingWork::Conflict);
    }

    /// Asks a process to find words that must be found.
    pub(super) fn expect(&mut self, hand: usize, lane: usize, words: Vec<String>) {
        let number = self.crew.send(hand, lane, Request::Find(words.clone()));
        self.await_answer(number, hand, PendingWork::There(words));
    }

    /// Asks a process to find words that must not be found.
    pub(super) fn expect_none(&mut self, hand: usize, lane: usize, words: Vec<String>) {
        let number = self.crew.send(hand, lane, Request::Find(words.clone()));
        self.await_answer(number, hand, PendingWork::Gone(words));
    }

    /// Asks for something that only has to be answered.
    pub(super) fn disturb(&mut self, hand: usize, lane: usize, ask: Request) {
        let number = self.crew.send(hand, lane, ask);
        self.await_answer(number, hand, PendingWork::Other);
    }

    fn await_answer(&mut self, number: Option<u64>, hand: usize, what: PendingWork) {
        self.sent.extend(number.map(|number| (number, PendingCall { hand, what })));
    }

    /// Asks and waits for the answer until a moment; `None` when there is none by then, or the process has ended.
    pub(super) fn look(&mut self, hand: usize, ask: Request, until: Duration) -> Option<Answer> {
        let number = self.crew.send(hand, LOOK, ask)?;
        self.sent.insert(number, PendingCall { hand, what: PendingWork::Look });
        while self.now() < until && self.crew.is_there(hand) {
            let heard = self.crew.hear(until.saturating_sub(self.now()))?;
            self.take(heard);
            if let Some(answer) = self.others.remove(&number) {
                return Some(answer);
            }
        }
        None
    }

    /// As [`look`](Self::look), with a process that must answer.
    pub(super) fn must_look(&mut self, hand: usize, ask: &Request) -> Option<Reply> {
        let until = self.now() + PATIENCE;
        match self.look(hand, ask.clone(), until) {
            Some(Answer { said: Reply::Failed { kind, what }, .. }) => {
                self.report.blame(Fault::WrongError, format_args!("{ask:?}: {kind}: {what}"));
                None
            }
            Some(answer) => Some(answer.said),
            None => {
                self.report.blame(Fault::Panic, format_args!("no answer to {ask:?}"));
                None
            }
        }
    }

    /// Reads messages until a moment.
    pub(super) fn hear_until(&mut self, until: Duration) {
        while self.now() < until {
            let Some(heard) = self.crew.hear(until.saturating_sub(self.now())) else { return };
            self.take(heard);
        }
    }

    /// Hears one word, or none by a moment.
    pub(super) fn hear_one(&mut self, until: Duration) {
        if let Some(heard) = self.crew.hear(until.saturating_sub(self.now())) {
            self.take(heard);
        }
    }

    /// Waits until every call is answered; a process that does not is killed and counts as hung.
    ///
    /// # Errors
    /// A process that cannot be waited for.
    pub(super) fn settle(&mut self) -> Result<()> {
        while let Some(hand) = self.sent.values().map(|sent| sent.hand).next() {
            if let Some(heard) = self.crew.hear(PATIENCE) {
                self.take(heard);
            } else {
                self.report.blame(Fault::Panic, format_args!("process {hand} hangs"));
                self.kill(hand)?;
            }
        }
        Ok(())
    }

    /// Kills a process, reads its last messages and drops its pending calls.
    ///
    /// # Errors
    /// A process that cannot be waited for.
    pub(super) fn kill(&mut self, hand: usize) -> Result<()> {
        self.crew.kill(hand)?;
        while let Some(heard) = self.crew.hear(Duration::ZERO) {
            self.take(heard);
        }
        self.sent.retain(|_, sent| sent.hand != hand);
        Ok(())
    }

    /// Closes the space in a process and waits for its end.
    ///
    /// # Errors
    /// A process that cannot be waited for.
    pub(super) fn close(&mut self, hand: usize) -> Result<()> {
        let _done = self.must_look(hand, &Request::Close);
        if let Some(status) = self.crew.dismiss(hand)?
            && !status.success()
        {
            self.report.blame(Fault::Panic, format_args!("process {hand} ended with {status}"));
        }
        self.sent.retain(|_, sent| sent.hand != hand);
        Ok(())
    }

    /// Takes what a process said.
    fn take(&mut self, heard: ProcessMessage) {
        let Some(answer) = heard.answer else {
            self.report.blame(Fault::Panic, format_args!("process {} ended by itself", heard.hand));
            drop(self.crew.dismiss(heard.hand));
            self.sent.retain(|_, sent| sent.hand != heard.hand);
            return;
        };
        if answer.number == 0 {
            return self.opened(&answer);
        }
        let Some(PendingCall { what, .. }) = self.sent.remove(&answer.number) else { return };
        self.locked(&answer);
        match what {
            PendingWork::Look => drop(self.others.insert(answer.number, answer)),
            _ if self.closing && is_closed(&answer) => {}
            PendingWork::Write(call, asked) => {
                self.waits.push(self.now().saturating_sub(asked));
                self.gaps += u64::from(!answer.gaps.is_empty());
                if self.ledger.answered(call, &answer.said, &mut self.report) {
                    self.acked.push((heard.hand, call));
                } else {
                    self.refused.push(call);
                }
            }
            PendingWork::Conflict => self.conflict(&answer),
            PendingWork::There(words) => self.ledger.compare_found(&words, &answer, &mut self.report),
            PendingWork::Gone(words) => self.ledger.compare_not_found(&words, &answer, &mut self.report),
            PendingWork::Other => self.other(&answer),
        }
    }

    fn opened(&mut self, answer: &Answer) {
        match &answer.said {
            Reply::Open { cpu_micros } => {
                self.reopened.push(Duration::from_micros(*cpu_micros));
                self.report.count("openings", 1);
            }
            said => {
                self.locked(answer);
                self.report.blame(Fault::WrongError, format_args!("cannot open: {said:?}"));
            }
        }
    }

    /// No caller may ever see that the file is locked.
    fn locked(&mut self, answer: &Answer) {
        if let Reply::Failed { what, .. } = &answer.said
            && what.contains("lock")
        {
            self.report.blame(Fault::WrongError, format_args!("a caller saw: {what}"));
        }
    }

    /// Only a conflict is the truth.
    fn conflict(&mut self, answer: &Answer) {
        match &answer.said {
            Reply::Failed { kind, .. } if kind == "conflict" => self.report.count("conflicts", 1),
            said => self.report.blame(Fault::WrongError, format_args!("another body was answered {said:?}")),
        }
    }

    /// An export may say that something was erased meanwhile; everything else must work.
    fn other(&mut self, answer: &Answer) {
        if let Reply::Context { receipt, .. } = &answer.said {
            self.receipts.push(receipt.clone());
        }
        if let Reply::Failed { kind, what } = &answer.said
            && kind != "conflict"
        {
            self.report.blame(Fault::WrongError, format_args!("{kind}: {what}"));
        }
    }
}

fn is_closed(answer: &Answer) -> bool {
    matches!(&answer.said, Reply::Failed { kind, .. } if kind == "unavailable")
}
