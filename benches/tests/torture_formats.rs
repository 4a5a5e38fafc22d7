//! A sample of `torture formats`, small enough for every test run.

use std::path::PathBuf;
use std::time::Duration;

use mnemal_benches::torture::{Order, formats};

// proves: NX-05.T3 (no panic on any Unicode)
#[test]
fn no_damaged_file_costs_a_good_record_and_every_report_is_true() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_torture"));
    let order = Order { runs: 20, first: 0, seed: 7, time: Duration::from_mins(2), program };
    let outcome = formats::run(&order).unwrap();
    assert!(outcome.is_clean(), "{outcome:?}");
    assert!(
        outcome.importers.len() > 26 && outcome.importers.values().all(|one| one.files > 0),
        "{outcome:?}"
    );
}
