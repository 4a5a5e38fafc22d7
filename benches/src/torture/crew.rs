//! Worker processes of one space from their supervisor's view: started, called, heard and killed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::wire::{Answer, Call, Request};
use super::worker::SERVE;

/// Processes with numbers; a process that is started again under the number of a dead one is another life of it.
#[derive(Debug)]
pub struct WorkerPool {
    program: PathBuf,
    space: PathBuf,
    durability: &'static str,
    hands: BTreeMap<usize, WorkerProcess>,
    give: Sender<ProcessMessage>,
    take: Receiver<ProcessMessage>,
    lives: u64,
    numbers: u64,
    /// Lives whose end is no surprise.
    ended: BTreeSet<u64>,
}

/// What comes from a process.
#[derive(Debug)]
pub struct ProcessMessage {
    /// Its number.
    pub hand: usize,
    /// Its answer; `None` when it ended without being killed.
    pub answer: Option<Answer>,
    life: u64,
}

#[derive(Debug)]
struct WorkerProcess {
    child: Child,
    calls: Option<ChildStdin>,
    reader: Option<JoinHandle<()>>,
    life: u64,
}

impl WorkerPool {
    /// Makes a crew without processes for the space in a file.
    pub fn new(program: PathBuf, space: PathBuf, durability: &'static str) -> Self {
        let (give, take) = channel();
        let (hands, ended) = (BTreeMap::new(), BTreeSet::new());
        Self { program, space, durability, hands, give, take, lives: 0, numbers: 0, ended }
    }

    /// Starts a process.
    ///
    /// # Errors
    /// What keeps it from starting.
    pub fn start(&mut self, hand: usize) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.arg(SERVE).arg(&self.space).arg(self.durability);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = BufReader::new(child.stdout.take().context("a process has an output")?);
        self.lives += 1;
        let (life, give, calls) = (self.lives, self.give.clone(), child.stdin.take());
        #[expect(clippy::disallowed_methods, reason = "it is joined when its process ends")]
        let reader = std::thread::spawn(move || {
            for line in answers.lines().map_while(Result::ok) {
                // The last line of a killed process may be half a line: then its call was not acknowledged.
                let Ok(answer) = serde_json::from_str(&line) else { break };
                drop(give.send(ProcessMessage { hand, answer: Some(answer), life }));
            }
            drop(give.send(ProcessMessage { hand, answer: None, life }));
        });
        let earlier = self.hands.insert(hand, WorkerProcess { child, calls, reader: Some(reader), life });
        debug_assert!(earlier.is_none(), "a process is started once");
        Ok(())
    }

    /// Whether the process is there.
    pub fn is_there(&self, hand: usize) -> bool {
        self.hands.contains_key(&hand)
    }

    /// Returns the numbers of all processes.
    pub fn hands(&self) -> Vec<usize> {
        self.hands.keys().copied().collect()
    }

    /// Sends a call and returns its number; the answer may arrive later or never. `None` when the process is not there.
    pub fn send(&mut self, hand: usize, lane: usize, ask: Request) -> Option<u64> {
        self.send_cut(hand, lane, ask, None)
    }

    /// Sends a call that is dropped after this many polls.
    pub fn send_cut(&mut self, hand: usize, lane: usize, ask: Request, cut: Option<u32>) -> Option<u64> {
        let calls = self.hands.get_mut(&hand)?.calls.as_mut()?;
        self.numbers += 1;
        let number = self.numbers;
        let mut text = serde_json::to_vec(&Call { number, lane, cut, ask }).ok()?;
        text.push(b'\n');
        // A process that is gone does not read; its end is heard.
        drop(calls.write_all(&text));
        Some(number)
    }

    /// Waits for the next word of any process; `None` when all are silent for so long.
    pub fn hear(&mut self, within: Duration) -> Option<ProcessMessage> {
        loop {
            match self.take.recv_timeout(within) {
                Ok(heard) if heard.answer.is_none() && self.ended.remove(&heard.life) => {}
                Ok(heard) => return Some(heard),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Kills a process at once; its earlier output can be read when this returns.
    ///
    /// # Errors
    /// A process that cannot be waited for.
    pub fn kill(&mut self, hand: usize) -> Result<()> {
        let Some(mut gone) = self.hands.remove(&hand) else { return Ok(()) };
        self.ended.insert(gone.life);
        gone.child.kill()?;
        gone.end().map(drop)
    }

    /// Closes the input of a process, and waits for its end.
    ///
    /// # Errors
    /// A process that cannot be waited for.
    pub fn dismiss(&mut self, hand: usize) -> Result<Option<ExitStatus>> {
        let Some(mut gone) = self.hands.remove(&hand) else { return Ok(None) };
        self.ended.insert(gone.life);
        gone.end().map(Some)
    }

    /// Returns the CPU time that a living process has used so far, in steps of 10 ms.
    pub fn cpu(&self, hand: usize) -> Duration {
        let Some(hand) = self.hands.get(&hand) else { return Duration::ZERO };
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", hand.child.id())).unwrap_or_default();
        // User and system time are fields 14 and 15; the name before them, which ends with a bracket, may hold spaces.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }
}

impl WorkerProcess {
    fn end(&mut self) -> Result<ExitStatus> {
        drop(self.calls.take());
        let status = self.child.wait()?;
        if let Some(reader) = self.reader.take() {
            // It ends with the pipe; a panic in it would show as an end without answers.
            drop(reader.join());
        }
        Ok(status)
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        for hand in self.hands() {
            drop(self.kill(hand));
        }
    }
}
