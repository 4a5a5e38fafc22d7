//! Mutated texts through every port that reads text: none may panic, spans lie inside the text, and what is read twice
//! is read alike.
//!
//! One execution is one call of one port. A run is one text, which follows from the seed and the number of the run.

mod port;
pub(super) mod seed;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use anyhow::Result;

use self::port::{Bench, PORTS, Show};
use self::seed::text;
use super::{Order, Report};
use crate::cpu::Watch;
use crate::words::Dice;

/// Every so many runs a text is read twice.
const TWICE: u64 = 16;
/// Runs between two looks at the clock.
const SLICE: u64 = 64;

/// Runs the program; `runs` of the order counts texts, each of which goes through all ports.
///
/// # Errors
/// When this machine has no clock; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let mut report = Report::of("fuzz", order);
    let bench = Bench::new()?;
    let mut cpu = Duration::ZERO;
    let mut wall = Duration::ZERO;
    while report.runs < order.runs && wall < order.time {
        let watch = Watch::start()?;
        for _ in 0..SLICE.min(order.runs - report.runs) {
            let number = order.first + report.runs;
            let seed = order.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            one_text(&bench, number, &text(&mut Dice::new(seed)), &mut report);
            report.runs += 1;
        }
        let cost = watch.stop()?;
        cpu += cost.cpu;
        wall += cost.wall;
    }
    report.seconds = wall.as_secs_f64();
    let executions = report.details.get("executions").copied().unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is far below 2^64")]
    let rate = (executions as f64 / cpu.as_secs_f64().max(1e-9)) as u64;
    report.count("executions per CPU second", rate);
    report.count("ports", PORTS.len() as u64);
    Ok(report)
}

/// Sends one text through all ports.
#[expect(clippy::print_stderr, reason = "who mends a failure needs the port and the number of the run")]
fn one_text(bench: &Bench, number: u64, text: &str, report: &mut Report) {
    let is_twice = number.is_multiple_of(TWICE);
    let show = if is_twice { Show::Answer } else { Show::Nothing };
    for (name, port) in PORTS {
        let call = || catch_unwind(AssertUnwindSafe(|| port(bench, text, show)));
        report.count("executions", 1);
        let Ok(answer) = call() else {
            eprintln!("{name} panicked in run {number}: {text:?}");
            report.panics += 1;
            continue;
        };
        if !answer.is_sound {
            eprintln!("{name} gave a span outside of the text in run {number}: {text:?}");
            report.silent_wrong += 1;
        }
        if is_twice {
            report.count("executions", 1);
            report.count("read twice", 1);
            if call().ok().is_none_or(|again| again.shown != answer.shown) {
                eprintln!("{name} read the text of run {number} in two ways: {text:?}");
                report.silent_wrong += 1;
            }
        }
    }
}
