//! A short run of `torture asking`.

use std::path::PathBuf;
use std::time::Duration;

use mnemal_benches::torture::{Order, questions};

#[test]
fn no_question_makes_recall_panic_or_explain_itself_wrongly() {
    let order =
        Order { runs: 3_000, first: 0, seed: 11, time: Duration::from_mins(3), program: PathBuf::new() };
    let report = questions::run(&order).unwrap();
    assert!(report.is_clean() && report.runs > 0, "{report:?}");
    assert!(report.details["hits"] > report.runs, "most questions find something: {report:?}");
}
