//! A sample of the power-cut and I/O-failure programs.

use std::path::PathBuf;
use std::time::Duration;

use mnemal_benches::torture::{Order, io, powercut};

/// Source: the day the programs were written; any number does.
const SEED: u64 = 20_261_122;

fn order(runs: u64) -> Order {
    Order { runs, first: 0, seed: SEED, time: Duration::from_mins(5), program: PathBuf::new() }
}

// proves: D2
#[test]
fn a_power_cut_loses_nothing_that_was_flushed_and_a_suffix_at_most_of_the_rest() {
    let report = powercut::run(&order(100)).unwrap();
    assert!(report.is_clean(), "{report:#?}");
    assert_eq!(report.runs, 100);
    assert!(report.details["cuts while the space was open"] > 50, "{report:#?}");
    assert!(report.details["second cuts, while the space was opened"] > 5, "{report:#?}");
    assert!(report.details["acknowledged for the process, lost as a suffix"] > 0, "{report:#?}");
}

// proves: D3
#[test]
fn a_failing_operation_is_a_clean_error_and_loses_nothing() {
    let report = io::sample(&order(30), 30).unwrap();
    assert!(report.is_clean(), "{report:#?}");
    assert_eq!(report.runs, 30);
    assert!(report.details["failures that struck"] > 20, "{report:#?}");
    assert!(report.details["calls that failed by one failure"] > 5, "{report:#?}");
    assert!(report.details["calls that failed on a full disk"] > 10, "{report:#?}");
}
