//! A short run of `torture dream`.

use std::time::Duration;

use mnemal_benches::torture::{Order, dream};

// proves: NX-04.T5, DF-14, DF-21
#[test]
fn cycles_with_a_lying_model_lose_nothing_and_are_taken_back() {
    let order = Order { runs: 40, first: 0, seed: 7, time: Duration::from_mins(5), program: "none".into() };
    let report = dream::run(&order).unwrap();
    assert!(report.is_clean(), "{report:?}");
    let count = |what| report.details.get(what).copied().unwrap_or_default();
    assert!(count("merges") > 20 && count("rejected") > 100, "{report:?}");
    assert_eq!((count("not_undone"), count("second_cycle_changes")), (0, 0));
}
