//! Scores of a small run against those of an independent scorer for the same files.

use std::path::{Path, PathBuf};

use mnemal_benches::evidence::shown;
use mnemal_benches::neutral::{DataSet, Row, lines};
use mnemal_benches::score::score;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn run() -> (DataSet, Vec<Row>) {
    let data = DataSet::read(&folder(), "questions.jsonl").expect("the fixture is a data set");
    (data, lines(&folder().join("run.jsonl")).expect("the fixture is a run"))
}

#[test]
fn every_number_of_a_run_agrees_with_the_reference() {
    let (data, rows) = run();
    let expected = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let mut found = score(&data, &rows, "category").json();
    let own = found["levels"].as_object_mut().unwrap().remove("statement");
    assert!(own.is_some(), "the reference knows turns and conversations only");
    assert_eq!(found, expected);
}

#[test]
fn groups_are_made_by_the_field_that_is_asked_for() {
    let (data, rows) = run();
    let report = score(&data, &rows, "conv");
    let groups: Vec<&String> = report.levels[0].1.keys().collect();
    assert_eq!(groups, ["ALL", "ANSWERABLE", "north", "south"]);
}

#[test]
fn a_context_that_stands_on_the_evidence_holds_it() {
    let (data, _) = run();
    let perfect: Vec<Row> = data
        .questions
        .iter()
        .map(|question| Row { id: question.id.clone(), ranked: question.evidence.clone() })
        .collect();
    let held = shown(&data, &perfect, "category");
    assert!(held.values().all(|group| (group.share - 1.0).abs() < 1e-9 && (group.all - 1.0).abs() < 1e-9));
    let empty: Vec<Row> =
        data.questions.iter().map(|q| Row { id: q.id.clone(), ranked: Vec::new() }).collect();
    assert!(shown(&data, &empty, "category").values().all(|group| group.any == 0.0 && group.n > 0));
}

#[test]
fn a_broken_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("corpus.jsonl"), "\n{\"id\": \"a\"}\n").unwrap();
    let error = DataSet::read(folder.path(), "questions.jsonl").unwrap_err().to_string();
    assert!(error.contains("corpus.jsonl:2"), "{error}");
}
