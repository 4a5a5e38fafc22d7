//! A sample of `torture fuzz`, small enough for every test run.

use std::path::PathBuf;
use std::time::Duration;

use mnemal_benches::torture::{Order, fuzz};

// proves: NX-05.T3 (no panic on any Unicode, spans inside the text, twice gives equal bytes)
#[test]
fn no_spoiled_text_makes_a_port_panic_or_answer_in_two_ways() {
    let order =
        Order { runs: 1_500, first: 0, seed: 11, time: Duration::from_mins(3), program: PathBuf::new() };
    let report = fuzz::run(&order).unwrap();
    assert!(report.is_clean() && report.runs > 0, "{report:?}");
}
