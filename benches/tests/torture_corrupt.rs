//! A sample of `torture corrupt`, small enough for every test run.

use std::path::PathBuf;
use std::time::Duration;

use mnemal_benches::torture::{Order, corrupt};

/// Runs of the sample, whatever time they take. Source: own choice; each kind of damage comes about once.
const RUNS: u64 = 16;

// D7
#[test]
fn damaged_files_are_read_rightly_or_say_so_and_are_recovered() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_torture"));
    let order = Order { runs: RUNS, first: 0, seed: 7, time: Duration::MAX, program };
    let report = corrupt::run(&order).unwrap();
    assert!(report.is_clean(), "{report:?}");
    let count = |name| report.details.get(name).copied().unwrap_or_default();
    assert!(report.runs == RUNS && count("told") > 0, "{report:?}");
    assert!(count("recovered") * 100 >= count("undamaged") * 99, "{report:?}");
}
