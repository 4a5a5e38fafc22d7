//! Power cuts with torn writes, over a file system that forgets what was not flushed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use mnemal::ErrorKind;
use mnemal_store::Durability;
use mnemal_testkit::vfs::{Dice, FaultyDisk, SurvivingWrites};

use super::faulty::judge::{Loss, judge};
use super::faulty::player::{Player, RetryScope};
use super::faulty::script::{self, Step};
use super::verdict::Fault;
use super::{Order, Report};

/// Steps of a run. Source: own default; about a hundred events, and room for several checkpoints.
const STEPS: usize = 18;
/// Most events of one call. Source: own default; a few pages, so that a commit takes several writes.
const LARGEST_CALL: usize = 16;
/// How long a run may take. Source: own default, a hundred times what one takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Operations after which the power may go again while the space is opened after a cut. Source: own default; opening takes
/// about a hundred.
const SECOND_CUT: usize = 120;

/// Runs the program: on each run a fresh disk, a script of calls, a cut in the middle of a random operation, and what is
/// left is compared with what was acknowledged; then all calls are made again with the same keys.
///
/// Even runs are opened so that every commit is flushed, where nothing acknowledged may be missing; odd ones so that commits
/// are left to the operating system, where a suffix may.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let mut report = Report::of("powercut", order);
    let lengths = [length(order.seed, Durability::Disk)?, length(order.seed, Durability::Process)?];
    for number in order.first..order.first + order.runs {
        if start.elapsed() >= order.time {
            break;
        }
        let (durability, length) = match (number % 2, lengths) {
            (0, [length, _]) => (Durability::Disk, length),
            (_, [_, length]) => (Durability::Process, length),
        };
        let dice = Dice::new(order.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let ran = catch_unwind(AssertUnwindSafe(|| one(durability, length, dice, &mut report)));
        match ran {
            Ok(ran) => ran?,
            Err(_) => report.blame(Fault::Panic, format_args!("a panic")),
        }
        report.runs += 1;
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_time().build().context("no runtime")
}

/// Returns how many operations a script takes that nothing disturbs.
fn length(seed: u64, durability: Durability) -> Result<u64> {
    let disk = FaultyDisk::new(seed);
    let mut dice = Dice::new(seed);
    let steps = script::draw(STEPS, LARGEST_CALL, &mut dice);
    runtime()?.block_on(async {
        let mut player = Player::until_the_cut(&disk, durability, dice);
        player.play(&steps).await;
        player.close().await;
    });
    Ok(disk.operations())
}

fn one(durability: Durability, length: u64, mut dice: Dice, report: &mut Report) -> Result<()> {
    let disk = FaultyDisk::new(dice.throw());
    // A tenth more than a script takes, so that some cuts come when everything is closed.
    disk.cut_at(1 + dice.throw() % (length + length / 10));
    let steps = script::draw(STEPS, LARGEST_CALL, &mut dice);
    runtime()?.block_on(async {
        let run = scenario(&disk, durability, &steps, dice, report);
        if tokio::time::timeout(PATIENCE, run).await.is_err() {
            report.blame(Fault::Panic, format_args!("it hung"));
        }
    });
    Ok(())
}

async fn scenario(
    disk: &FaultyDisk,
    durability: Durability,
    steps: &[Step],
    mut dice: Dice,
    report: &mut Report,
) {
    let mut player = Player::until_the_cut(disk, durability, dice.clone());
    player.play(steps).await;
    if disk.is_on() {
        player.close().await;
    }
    let cut_while_open = player.space.is_some();
    report.count("cuts while the space was open", u64::from(cut_while_open));
    report.count("cuts before the first acknowledgement", u64::from(player.book.living(&mut dice).is_none()));
    disk.power_cut();
    player.space = None;
    disk.reboot(SurvivingWrites::Drawn);
    if dice.happens(2) {
        cut_again(disk, &mut player, &mut dice, report).await;
    }
    for (what, error) in player.errors.drain(..) {
        report.count("calls that failed", 1);
        if error.kind() != ErrorKind::Unavailable {
            report.blame(Fault::WrongError, format_args!("{what}: {:?}: {error}", error.kind()));
        }
    }
    after_the_cut(&mut player, durability, &mut dice, report).await;
}

/// Cuts the power again while the space is opened.
async fn cut_again(disk: &FaultyDisk, player: &mut Player<'_>, dice: &mut Dice, report: &mut Report) {
    disk.cut_at(disk.operations() + 1 + dice.below(SECOND_CUT) as u64);
    player.open().await;
    report.count("second cuts, while the space was opened", u64::from(!disk.is_on()));
    disk.power_cut();
    player.space = None;
    disk.reboot(SurvivingWrites::Drawn);
}

/// Opens, judges, makes all calls again, and judges again.
async fn after_the_cut(
    player: &mut Player<'_>,
    durability: Durability,
    dice: &mut Dice,
    report: &mut Report,
) {
    let loss = match durability {
        Durability::Disk => Loss::Nothing,
        Durability::Process => Loss::Suffix,
    };
    player.open().await;
    for (what, error) in player.errors.drain(..) {
        report.blame(Fault::Corrupt, format_args!("{what} after the cut: {error:?}"));
    }
    let Some(space) = &player.space else { return };
    if let Err(error) = judge(space, &mut player.book, loss, dice, report).await {
        report.blame(Fault::Corrupt, format_args!("after the cut: {error:?}"));
    }
    for (what, error) in player.call_again(RetryScope::All).await {
        report.blame(Fault::WrongError, format_args!("{what}: {error:?}"));
    }
    let Some(space) = &player.space else { return };
    if let Err(error) = judge(space, &mut player.book, Loss::Nothing, dice, report).await {
        report.blame(Fault::Corrupt, format_args!("after the retries: {error:?}"));
    }
    let missing = player.book.said.iter().filter(|said| said.acked.is_none()).count();
    if missing > 0 {
        report.blame(Fault::Lost, format_args!("{missing} retries without an acknowledgement"));
    }
    if player.false_promises > 0 {
        report.blame(Fault::SilentWrong, format_args!("{} false promises", player.false_promises));
    }
    report.count("events", player.book.said.len() as u64);
    player.close().await;
}
