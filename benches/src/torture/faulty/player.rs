//! Script player that notes what was acknowledged and what was answered instead.

use mnemal::events::{Ack, Durability as Promise, Selector};
use mnemal::{Error, ErrorKind, Result};
use mnemal_core::Upkeep as _;
use mnemal_store::Durability;
use mnemal_testkit::vfs::{Dice, FaultyDisk};

use super::Space;
use super::acknowledged::{Book, BookEntry, ForgetState};
use super::script::{CALLERS, Step};

/// Times that opening is tried after it failed. Source: own default; a fault strikes once, a full disk until it is freed.
const OPENINGS: usize = 3;

/// Which calls are made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryScope {
    /// All of them.
    All,
    /// Those that were not acknowledged.
    Unanswered,
}

/// A script on its way over a disk.
#[derive(Debug)]
pub(crate) struct Player<'d> {
    disk: &'d FaultyDisk,
    durability: Durability,
    dice: Dice,
    pub(crate) space: Option<Space>,
    pub(crate) book: Book,
    /// Every error that a caller saw.
    pub(crate) errors: Vec<(&'static str, Error)>,
    /// Acknowledgements that promised something else than the space was opened for.
    pub(crate) false_promises: u64,
    /// Answers to reads that had a gap.
    pub(crate) gaps: u64,
    /// Whether to go on after an error, or to end.
    persistent: bool,
}

impl<'d> Player<'d> {
    /// Ends with the first call that fails because there is no power.
    pub(crate) fn until_the_cut(disk: &'d FaultyDisk, durability: Durability, dice: Dice) -> Self {
        Self {
            disk,
            durability,
            dice,
            space: None,
            book: Book::default(),
            errors: Vec::new(),
            false_promises: 0,
            gaps: 0,
            persistent: false,
        }
    }

    /// Goes on after an error, as a careful caller does: it opens again, and calls again later.
    pub(crate) fn through_errors(disk: &'d FaultyDisk, durability: Durability, dice: Dice) -> Self {
        Self { persistent: true, ..Self::until_the_cut(disk, durability, dice) }
    }

    /// Plays the steps.
    pub(crate) async fn play(&mut self, script: &[Step]) {
        self.open().await;
        self.play_on(script).await;
    }

    /// Plays more steps; where the space is not open, it is opened first.
    pub(crate) async fn play_on(&mut self, script: &[Step]) {
        for step in script {
            if !self.persistent && (self.space.is_none() || !self.disk.is_on()) {
                return;
            }
            if self.space.is_none() {
                self.open().await;
            }
            self.step(step).await;
        }
    }

    /// Opens the space, again if it must; where that fails for good there is none.
    pub(crate) async fn open(&mut self) {
        for _ in 0..OPENINGS {
            match Space::open(self.disk, self.durability).await {
                Ok(space) => {
                    self.space = Some(space);
                    return;
                }
                Err(error) => self.errors.push(("open", error)),
            }
            if !self.disk.is_on() {
                return;
            }
        }
    }

    /// Closes the space.
    pub(crate) async fn close(&mut self) {
        if let Some(space) = self.space.take() {
            let closed = space.store.close().await;
            self.note("close", closed.map(drop));
        }
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Log(counts) => self.log(*counts).await,
            Step::Remember => self.remember().await,
            Step::Recall => self.recall().await,
            Step::Forget => self.forget().await,
            Step::Seal => {
                let Some(space) = &self.space else { return };
                let sealed = space.store.seal().await.map(drop);
                self.note("seal", sealed);
            }
            Step::Checkpoint => {
                let Some(space) = &self.space else { return };
                let scrubbed = space.store.scrub(&[]).await.map(drop);
                self.note("checkpoint", scrubbed);
            }
            Step::Reopen => {
                self.close().await;
                self.open().await;
            }
        }
    }

    fn note(&mut self, what: &'static str, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.errors.push((what, error));
        }
    }

    async fn log(&mut self, counts: [usize; CALLERS]) {
        let [one, two, three] = counts.map(|count| self.book.call(count, &mut self.dice));
        let Some(space) = &self.space else { return };
        let memory = &space.memory;
        let answers = {
            let call = |places: &[usize]| memory.events().log_all(self.book.messages(places));
            tokio::join!(call(&one), call(&two), call(&three))
        };
        for (places, answer) in [(one, answers.0), (two, answers.1), (three, answers.2)] {
            match answer {
                Ok(acked) => self.acknowledge(&places, &acked.value),
                Err(error) => self.errors.push(("log", error)),
            }
        }
    }

    fn acknowledge(&mut self, places: &[usize], acks: &[Ack]) {
        let promise = match self.durability {
            Durability::Disk => Promise::Disk,
            Durability::Process => Promise::Process,
        };
        self.false_promises += acks.iter().filter(|ack| ack.durability != promise).count() as u64;
        self.book.acknowledge(places, acks);
    }

    async fn remember(&mut self) {
        let Ok(place) = self.book.note(&mut self.dice) else { return };
        let (Some(space), Some(said)) = (&self.space, self.book.said.get(place)) else { return };
        match remember(space, said).await {
            Ok(acks) => self.acknowledge(&[place], &acks),
            Err(error) => self.errors.push(("remember", error)),
        }
    }

    async fn recall(&mut self) {
        let Some(space) = &self.space else { return };
        let word = self.book.said.last().map_or("nothing", |said| said.word.as_str()).to_owned();
        let recalled = space.memory.recall(word.clone()).await.map(|answer| answer.gaps.len());
        let context = space.memory.context(word).await.map(|answer| answer.gaps.len());
        for (what, answer) in [("recall", recalled), ("context", context)] {
            match answer {
                Ok(gaps) => self.gaps += u64::from(gaps > 0),
                Err(error) => self.errors.push((what, error)),
            }
        }
    }

    async fn forget(&mut self) {
        let Some((_, id)) = self.book.living(&mut self.dice) else { return };
        let Some(space) = &self.space else { return };
        match space.memory.forget(Selector::Events(vec![id])).await {
            Ok(done) => {
                let how = done.event.map_or(ForgetState::Perhaps, ForgetState::By);
                self.book.forget(&done.ids, how);
            }
            Err(error) => {
                self.book.forget(&[id], ForgetState::Perhaps);
                self.errors.push(("forget", error));
            }
        }
    }

    /// Repeats the calls with the same keys, except forgotten ones; returns the errors.
    pub(crate) async fn call_again(&mut self, which: RetryScope) -> Vec<(&'static str, Error)> {
        let mut errors = Vec::new();
        for places in self.book.by_call() {
            let said: Vec<&BookEntry> =
                places.iter().filter_map(|place| self.book.said.get(*place)).collect();
            if which == RetryScope::Unanswered && said.iter().all(|said| said.acked.is_some()) {
                continue;
            }
            let forgotten = said.iter().any(|said| said.forgotten != ForgetState::No);
            let (Some(space), Some(first), false) = (&self.space, said.first(), forgotten) else { continue };
            let answer = if first.note.is_some() {
                remember(space, first).await
            } else {
                space.memory.events().log_all(self.book.messages(&places)).await.map(|acked| acked.value)
            };
            match answer {
                Ok(acks) => self.acknowledge(&places, &acks),
                Err(error) => errors.push(("retry", error)),
            }
        }
        errors
    }
}

/// Keeps a note; the acknowledgement is read back, because a note answers without its position.
async fn remember(space: &Space, said: &BookEntry) -> Result<Vec<Ack>> {
    let key = said.key.clone();
    let call = space.memory.remember(&said.text).by_user().message(|message| message.idempotency_key(key));
    let call = match &said.note {
        Some(note) => call.key(note.clone()),
        None => call,
    };
    let stored = call.await?.value;
    let event = space.memory.events().get(stored.event).await;
    let Ok(event) = event else {
        // It is stored; where exactly is asked again by the judge.
        return Err(Error::new(ErrorKind::Unavailable, "the position of a note cannot be read"));
    };
    Ok(vec![Ack {
        id: stored.event,
        seq: event.seq,
        durability: stored.durability,
        duplicate: !stored.created,
        redactions: stored.redactions,
        quarantined: None,
    }])
}
