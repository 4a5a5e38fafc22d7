//! Failure of the n-th I/O operation: a clean error, and no acknowledged data is lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use mnemal::ErrorKind;
use mnemal_store::Durability;
use mnemal_testkit::vfs::{Dice, DiskFault, FaultyDisk, Operation, SurvivingWrites};

use super::faulty::judge::{Loss, judge};
use super::faulty::player::{Player, RetryScope};
use super::faulty::script::{self, CALLERS, Step};
use super::verdict::Fault;
use super::{Order, Report};

/// Steps of the script, which make about two hundred calls. Source: own choice.
const STEPS: usize = 80;
/// Most events of one call. Source: own default.
const LARGEST_CALL: usize = 4;
/// Runs over which the whole script is spread. Source: the promise of 2,000 failures.
const WHOLE: u64 = 2_000;
/// Runs of which one also has the disk full from there on. Source: own default; nearly all of its calls fail in the same way.
const FULL_EVERY: u64 = 4;
/// Calls that one failure may make fail: one group, whose members are tried one by one, and what is beside it.
///
/// Source: own default; more means that something stayed broken.
const FAILED_CALLS: u64 = 2 * CALLERS as u64;
/// How long a run may take. Source: own default, a hundred times what one takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs the program: a script of about 200 calls over and over, each time with another of its operations failing once, and
/// at times with a disk that is full from there on until space is freed.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    sample(order, WHOLE)
}

/// Runs the program with the failures of the whole script spread over fewer runs.
///
/// # Errors
/// As [`run`].
pub fn sample(order: &Order, whole: u64) -> Result<Report> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let mut report = Report::of("io", order);
    let steps = script::draw(STEPS, LARGEST_CALL, &mut Dice::new(order.seed));
    let trace = trace(order.seed, &steps)?;
    let length = trace.len() as u64;
    report.count("operations of the script", length);
    for number in order.first..order.first + order.runs {
        let n = if length > whole { number * length / whole } else { number };
        let struck = usize::try_from(n).ok().and_then(|place| trace.get(place));
        let (Some(struck), true) = (struck, start.elapsed() < order.time) else { break };
        let trial = Trial { number, n: n + 1, fault: Some(fault(*struck, number)), seed: order.seed };
        trial.run(&steps, &mut report)?;
        if number.is_multiple_of(FULL_EVERY) {
            Trial { fault: None, ..trial }.run(&steps, &mut report)?;
        }
        report.runs += 1;
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// Returns what an operation suffers, in turn.
fn fault(struck: Operation, number: u64) -> DiskFault {
    let kinds: &[DiskFault] = match struck {
        Operation::Write => {
            &[DiskFault::IoError, DiskFault::DiskFull, DiskFault::ShortWrite, DiskFault::TornWrite]
        }
        Operation::Sync => &[DiskFault::SyncFails, DiskFault::IoError],
        Operation::Read => &[DiskFault::IoError, DiskFault::ShortRead],
        Operation::Map => &[DiskFault::IoError, DiskFault::DiskFull],
        _ => &[DiskFault::IoError],
    };
    let place = usize::try_from(number).unwrap_or_default() % kinds.len();
    kinds.get(place).copied().unwrap_or(DiskFault::IoError)
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_time().build().context("no runtime")
}

/// Returns the operations of the script when nothing fails.
fn trace(seed: u64, steps: &[Step]) -> Result<Vec<Operation>> {
    let disk = FaultyDisk::new(seed);
    let player = runtime()?.block_on(async {
        let mut player = Player::through_errors(&disk, Durability::Disk, Dice::new(seed));
        player.play(steps).await;
        player.close().await;
        player
    });
    anyhow::ensure!(player.errors.is_empty(), "the script fails by itself: {:?}", player.errors);
    Ok(disk.trace())
}

/// One run.
#[derive(Clone, Copy, Debug)]
struct Trial {
    number: u64,
    /// The operation that fails.
    n: u64,
    /// How it fails; without a fault the disk is full from there on.
    fault: Option<DiskFault>,
    seed: u64,
}

impl Trial {
    fn run(self, steps: &[Step], report: &mut Report) -> Result<()> {
        let runtime = runtime()?;
        let ran = catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(async {
                tokio::time::timeout(PATIENCE, self.scenario(steps, report)).await.is_ok()
            })
        }));
        match ran {
            Ok(true) => {}
            Ok(false) => report.blame(Fault::Panic, format_args!("{self:?}: it hung")),
            Err(_) => report.blame(Fault::Panic, format_args!("{self:?}: a panic")),
        }
        Ok(())
    }

    async fn scenario(self, steps: &[Step], report: &mut Report) {
        let disk = FaultyDisk::new(self.seed);
        let durability = if self.number.is_multiple_of(2) { Durability::Disk } else { Durability::Process };
        let mut player = Player::through_errors(&disk, durability, Dice::new(self.seed));
        match self.fault {
            Some(fault) => disk.fail_at(self.n, fault),
            None => disk.full_from(self.n),
        }
        player.play(steps).await;
        if self.fault.is_some() && disk.struck() == 0 {
            // It is one of the operations of closing.
            player.close().await;
        }
        disk.free_space();
        disk.forgive();
        self.errors(&mut player, report);
        self.still_usable(&mut player, report).await;
        if self.fault.is_some() {
            let kind =
                if disk.struck() == 1 { "failures that struck" } else { "failures that found nothing" };
            report.count(kind, 1);
        }
        // What was acknowledged for the disk must also survive a power cut after the failure.
        if self.number.is_multiple_of(4) {
            disk.power_cut();
            player.space = None;
            disk.reboot(SurvivingWrites::Drawn);
            report.count("power cuts behind a failure", 1);
        } else {
            player.close().await;
        }
        self.what_is_left(&mut player, report).await;
    }

    /// Every error is one after which a caller tries again, and one failure does not break more than it must.
    fn errors(self, player: &mut Player<'_>, report: &mut Report) {
        let failed = player.errors.len() as u64;
        for (what, error) in player.errors.drain(..) {
            if error.kind() != ErrorKind::Unavailable {
                report.blame(Fault::WrongError, format_args!("{self:?}: {what}: {error:?}"));
            }
        }
        if self.fault.is_none() {
            return report.count("calls that failed on a full disk", failed);
        }
        report.count("calls that failed by one failure", failed);
        report.count("failures that no caller saw", u64::from(failed == 0));
        if failed > FAILED_CALLS {
            report.blame(Fault::WrongError, format_args!("{self:?}: {failed} calls failed"));
        }
    }

    /// The handle that saw the failure writes again.
    async fn still_usable(self, player: &mut Player<'_>, report: &mut Report) {
        player.play_on(&[Step::Log([1; CALLERS]), Step::Remember, Step::Checkpoint]).await;
        for (what, error) in player.errors.drain(..) {
            report.blame(Fault::WrongError, format_args!("{self:?}: it stays broken: {what}: {error:?}"));
        }
    }

    async fn what_is_left(self, player: &mut Player<'_>, report: &mut Report) {
        player.open().await;
        for (what, error) in player.errors.drain(..) {
            report.blame(Fault::WrongError, format_args!("{self:?}: {what} afterwards: {error:?}"));
        }
        let Some(space) = &player.space else { return };
        let mut dice = Dice::new(self.n);
        if let Err(error) = judge(space, &mut player.book, Loss::Nothing, &mut dice, report).await {
            report.blame(Fault::Corrupt, format_args!("{self:?}: {error:?}"));
        }
        if player.book.said.iter().all(|said| said.acked.is_some()) {
            return player.close().await;
        }
        for (what, error) in player.call_again(RetryScope::Unanswered).await {
            report.blame(Fault::WrongError, format_args!("{self:?}: {what}: {error:?}"));
        }
        let Some(space) = &player.space else { return };
        if let Err(error) = judge(space, &mut player.book, Loss::Nothing, &mut dice, report).await {
            report.blame(Fault::Corrupt, format_args!("{self:?}: after the retries: {error:?}"));
        }
        player.close().await;
    }
}
