//! Consolidation on the command line.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn run(home: &TempDir, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command
        .args(args)
        .current_dir(home.path())
        .env_clear()
        .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
        .stdin(Stdio::null());
    command.env("HOME", home.path()).env("MNEMAL_DATA_DIR", home.path().join("data")).env("TZ", "UTC");
    let ran = command.output().unwrap();
    (ran.status.code().unwrap(), String::from_utf8(ran.stdout).unwrap())
}

fn json(home: &TempDir, args: &[&str]) -> Value {
    let (code, out) = run(home, &[args, &["--json"]].concat());
    assert_eq!(code, 0, "{args:?}");
    serde_json::from_str(&out).unwrap()
}

// proves: NX-04.2 (the difference is shown first), NX-04.3
#[test]
fn a_cycle_is_shown_run_and_taken_back() {
    let home = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        run(&home, &["remember", "The lift is loud."]);
    }
    let (code, page) = run(&home, &["dream", "--dry-run"]);
    assert_eq!(code, 0);
    assert!(page.contains("- The lift is loud.") && page.contains("1 operations would be done"), "{page}");
    assert_eq!(json(&home, &["dream", "log"])["cycles"], Value::Array(Vec::new()), "nothing was written");
    let dry = json(&home, &["dream", "--dry-run"]);
    let done = json(&home, &["dream"]);
    assert_eq!(dry["operations"][0]["notes"], done["operations"][0]["notes"]);
    assert_eq!(
        (done["archived"].as_u64(), done["operations"][0]["operation"].as_str()),
        (Some(1), Some("retire"))
    );
    let listed = |args: &[&str]| run(&home, args).1.matches("The lift is loud.").count();
    assert_eq!(listed(&["memory", "list"]), 1);
    let event = done["operations"][0]["event_id"].as_str().unwrap().to_owned();
    assert_eq!(run(&home, &["undo", &event]).0, 0);
    assert_eq!(listed(&["memory", "list"]), 2);
    let again = json(&home, &["dream"]);
    assert_eq!(again["refused"][0]["refused"], "taken_back");
    assert_eq!(json(&home, &["dream", "log"])["cycles"].as_array().unwrap().len(), 2);
}

// proves: AD-63
#[test]
fn a_look_at_any_derivation_leaves_the_space_byte_for_byte_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    for (file, text) in
        [("own.jsonl", "My sister Anna Berg lives in Oslo."), ("chat.jsonl", "The boat is in Horten")]
    {
        let line = serde_json::json!({"id": file, "conv": "c", "ts": "2025-06-03T10:00:00", "speaker": "Ana", "text": text});
        std::fs::write(home.path().join(file), format!("{line}\n")).unwrap();
    }
    for settled in [
        &["import", "--own-history", "own.jsonl"][..],
        &["remember", "The lift is loud."],
        &["remember", "The lift is loud."],
        // Lagging layers catch up when any command reads them.
        &["entity", "list"],
        &["summary", "root"],
    ] {
        assert_eq!(run(&home, settled).0, 0, "{settled:?}");
    }
    let files = || -> BTreeMap<PathBuf, Vec<u8>> {
        let all = std::fs::read_dir(home.path().join("data/spaces")).unwrap();
        let paths = all.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    };
    let before = files();
    assert!(before.keys().any(|path| path.extension().is_some_and(|end| end == "db")), "{:?}", before.keys());
    for (look, shows) in [
        (&["dream", "--dry-run"][..], "1 operations would be done"),
        (&["rebuild", "--check"], "graph       equal"),
        (&["rebuild", "--layer", "graph", "--dry-run"], "graph       equal"),
        (&["import", "--dry-run", "chat.jsonl"], "would have imported 1 events"),
        (&["forget", "--query", "lift", "--dry-run"], "would erase: 2 event(s), 2 note(s)"),
        (&["memory", "forget", "Anna Berg", "--dry-run"], "would erase: 1 event(s)"),
        (&["reindex", "--embeddings", "--dry-run"], "0 events have no vector"),
        (&["fact", "add", "Anna Berg", "likes", "tea", "--dry-run"], "would be: Anna Berg"),
    ] {
        let (code, said) = run(&home, look);
        assert_eq!(code, 0, "{look:?}: {said}");
        assert!(said.contains(shows), "{look:?}: {said}");
        let after = files();
        let changed: Vec<&PathBuf> =
            after.keys().filter(|path| after.get(*path) != before.get(*path)).collect();
        assert!(changed.is_empty() && after.len() == before.len(), "{look:?} changed {changed:?}");
    }
}

// proves: BA-20 (a person sees what waits, and decides)
#[test]
fn a_pair_that_looks_alike_waits_for_a_person() {
    let home = tempfile::tempdir().unwrap();
    for text in ["My friend Jonathon Smithe lives in Oslo.", "My friend Jonathan Smith lives in Oslo."] {
        assert_eq!(run(&home, &["log", "add", text]).0, 0);
    }
    let (_, dry) = run(&home, &["dream", "--dry-run"]);
    assert!(dry.contains("would suggest: alike by "), "{dry}");
    let (_, page) = run(&home, &["dream"]);
    assert!(page.contains("  ? Jonathon Smithe") && page.contains("`mnemal entity merge ent_"), "{page}");
    let waits = json(&home, &["entity", "suggestions"]);
    let event = waits["suggestions"][0]["proposal"].as_str().unwrap().to_owned();
    assert!(run(&home, &["entity", "suggestions"]).1.contains(&format!("proposed as {event}")));
    assert_eq!(json(&home, &["entity", "list", "--kind", "person"])["entities"].as_array().unwrap().len(), 3);
    assert_eq!(run(&home, &["undo", &event]).0, 0);
    assert_eq!(json(&home, &["entity", "suggestions"])["suggestions"], Value::Array(Vec::new()));
    assert_eq!(json(&home, &["dream"])["operations"], Value::Array(Vec::new()));
}

// proves: AD-53 (on the command line)
#[test]
fn a_decision_is_listed_judged_and_not_asked_about_again() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(&home, &["dream", "sample"]), (0, "there is nothing to judge\n".to_owned()));
    for text in ["Ada mends the green boat.", "Ada mends the red boat."] {
        assert_eq!(run(&home, &["remember", text]).0, 0);
    }
    let listed = json(&home, &["dream", "sample"]);
    let one = &listed["decisions"][0];
    assert_eq!((one["family"].as_str(), one["notes"].as_array().unwrap().len()), (Some("near"), 2));
    let id = one["id"].as_str().unwrap().to_owned();
    assert!(run(&home, &["dream", "sample"]).1.contains("  = Ada mends the green boat. (1)"));
    assert_eq!(run(&home, &["dream", "judge", &id, "right", "the blue boat"]).0, 2);
    assert_eq!(run(&home, &["dream", "judge", &id, "perhaps", "the red boat"]).0, 2);
    assert_eq!(json(&home, &["dream", "judge", &id, "right", "the red boat"])["opinion"], "right");
    assert_eq!(json(&home, &["dream", "sample"])["decisions"], Value::Array(Vec::new()));
    assert_eq!(json(&home, &["dream", "log"])["opinions"][0]["note"], "near: right");
    assert!(run(&home, &["dream", "log"]).1.contains("near: right"));
}
