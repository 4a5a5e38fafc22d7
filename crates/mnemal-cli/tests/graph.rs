//! What the command line shows of entities and facts.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn run(home: &TempDir, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command.args(args).current_dir(home.path()).env_clear().stdin(Stdio::null());
    command.env("HOME", home.path()).env("MNEMAL_DATA_DIR", home.path().join("data")).env("TZ", "UTC");
    let ran = command.output().unwrap();
    (ran.status.code().unwrap(), String::from_utf8(ran.stdout).unwrap())
}

fn json(home: &TempDir, args: &[&str]) -> Value {
    let (code, out) = run(home, args);
    assert_eq!(code, 0, "{args:?}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn what_was_said_of_somebody_is_shown_with_its_sentence_and_its_time() {
    let home = tempfile::tempdir().unwrap();
    for (at, text) in [
        ("2020-05-01T10:00:00Z", "My sister Anna lives in Oslo."),
        ("2022-05-01T10:00:00Z", "My sister Anna moved to Bergen in March 2022."),
    ] {
        assert_eq!(run(&home, &["log", "add", "--at", at, text]).0, 0);
    }
    let shown = json(&home, &["entity", "show", "anna", "--json"]);
    let anna = &shown["entities"][0];
    assert_eq!((anna["name"].as_str(), anna["roles"][0].as_str()), (Some("Anna"), Some("sister")));
    let home_of = |document: &Value| {
        let facts = document["facts"].as_array().unwrap().iter();
        let found: Vec<String> = facts
            .filter(|fact| fact["predicate"] == "lives_in")
            .map(|fact| fact["object"].as_str().unwrap().to_owned())
            .collect();
        found
    };
    assert_eq!(home_of(anna), ["Bergen"]);
    let sentences = anna["sentences"].as_array().unwrap();
    assert!(sentences.iter().any(|one| one["text"].as_str().unwrap().contains("Bergen")), "{sentences:?}");
    let before = json(&home, &["fact", "list", "--about", "Anna", "--as-of", "2021-01-01", "--json"]);
    assert_eq!(home_of(&before), ["Oslo"]);
    let then = json(&home, &["fact", "list", "--believed-at", "2000-01-01", "--json"]);
    assert_eq!(then["facts"], Value::Array(Vec::new()));
    assert_eq!(run(&home, &["entity", "show", "Ann"]).0, 3, "a part of a name is nobody");
    let listed = json(&home, &["entity", "list", "--kind", "location", "--json"]);
    let names: Vec<&str> =
        listed["entities"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["Bergen", "Oslo"]);
    assert_eq!(
        json(&home, &["entity", "path", "Anna", "Bergen", "--json"])["paths"].as_array().unwrap().len(),
        1
    );
}
