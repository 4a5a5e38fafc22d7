//! A sample of every program that kills processes or shares one file; the whole is `cargo xtask torture`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use mnemal_benches::torture::{Order, Report, history, kill, processes};

/// The sample must not take longer, whatever the machine does meanwhile; what is not reached is not judged.
const TIME: Duration = Duration::from_secs(25);

fn order(runs: u64, seed: u64) -> Order {
    Order { runs, first: 0, seed, time: TIME, program: PathBuf::from(env!("CARGO_BIN_EXE_torture")) }
}

fn count(report: &Report, what: &str) -> u64 {
    report.details.get(what).copied().unwrap_or_default()
}

// proves: D1, E3, NX-03.3, NX-03.4
#[test]
fn what_was_acknowledged_survives_every_kill_once_and_in_order() -> Result<()> {
    let report = kill::run(&order(60, 1))?;
    assert!(report.is_clean(), "{report:#?}");
    assert!(report.runs >= 10 && count(&report, "acknowledged") > 50, "{report:#?}");
    assert!(count(&report, "calls repeated after a kill") > 0, "{report:#?}");
    assert!(count(&report, "full looks") > 0, "{report:#?}");
    Ok(())
}

// proves: D4, D6, NX-07.1, DF-74
#[test]
fn eight_processes_share_a_file_while_one_after_the_other_is_killed() -> Result<()> {
    let report = processes::run(&order(800, 2))?;
    assert!(report.is_clean(), "{report:#?}");
    assert!(count(&report, "writers killed") + count(&report, "readers killed") > 0, "{report:#?}");
    assert!(count(&report, "recalls") > count(&report, "acknowledged"), "{report:#?}");
    assert!(count(&report, "checkpoints") > 0 && count(&report, "notes under one name") > 1, "{report:#?}");
    Ok(())
}

// proves: H1, I1, D8, NX-07.T1, NX-07.1, NX-07.3, AD-30, DF-70
#[test]
fn histories_of_several_clients_are_what_a_plain_list_says() -> Result<()> {
    let report = history::run(&order(10, 20_260_301))?;
    assert!(report.is_clean(), "{report:#?}");
    assert!(count(&report, "kills") > 0 && count(&report, "calls dropped") > 0, "{report:#?}");
    assert!(count(&report, "answered as duplicates") > 0 && count(&report, "forgets") > 0, "{report:#?}");
    Ok(())
}

#[test]
fn a_second_process_recalls_at_once_what_the_first_one_wrote() -> Result<()> {
    let report = processes::run(&order(60, 4))?;
    assert!(report.is_clean() && count(&report, "recalls") >= 60, "{report:#?}");
    Ok(())
}
