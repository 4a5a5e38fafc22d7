//! A sample of `torture inbox`, small enough for every test run.

use std::path::PathBuf;
use std::time::Duration;

use mnemal_benches::torture::{Order, inbox};

// proves: GB-25 (the content is the key, moving the file comes last: no kill makes a file count twice or not at all)
#[test]
fn every_file_is_taken_once_or_failed_with_a_reason_however_often_its_reader_is_killed() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_torture"));
    let order = Order { runs: 8, first: 0, seed: 5, time: Duration::from_mins(2), program };
    let report = inbox::run(&order).unwrap();
    assert!(report.is_clean() && report.runs > 0, "{report:?}");
    assert!(report.details["files processed"] > report.runs, "{report:?}");
}
