//! What the command line says of forgetting, of reasons, and of what changed.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

fn run(home: &TempDir, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command.args(args).current_dir(home.path()).env_clear().stdin(Stdio::null());
    command.env("HOME", home.path()).env("MNEMAL_DATA_DIR", home.path().join("data")).env("TZ", "UTC");
    let ran = command.output().unwrap();
    (ran.status.code().unwrap(), String::from_utf8(ran.stdout).unwrap())
}

fn read(home: &TempDir, args: &[&str]) -> Value {
    let (code, out) = run(home, args);
    assert_eq!(code, 0, "{args:?}: {out}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn a_dry_run_is_confirmed_by_its_token_and_the_receipt_is_checked() {
    let home = tempfile::tempdir().unwrap();
    let add = |speaker: &str, text: &str| {
        assert_eq!(run(&home, &["log", "add", "--speaker", speaker, text]).0, 0);
    };
    add("Ada", "The red lamp of the harbour is broken again.");
    add("Bo", "Bread is on the upper shelf of the pantry.");
    let dry = read(&home, &["forget", "--speaker", "Ada", "--dry-run", "--json"]);
    assert_eq!((&dry["status"], &dry["events"]), (&json!("preview"), &json!(1)));
    let token = dry["confirm_token"].as_str().unwrap();
    assert_eq!(run(&home, &["forget", "--speaker", "Bo", "--confirm", token]).0, 5, "it is for another set");
    let file = home.path().join("receipt.txt");
    let file = file.to_str().unwrap();
    let done = read(&home, &["forget", "--speaker", "Ada", "--confirm", token, "--receipt", file, "--json"]);
    assert_eq!((&done["status"], &done["verified"]), (&json!("erased"), &json!(true)));
    let checked = read(&home, &["verify-receipt", file, "--json"]);
    assert_eq!((&checked["signature"], &checked["signed_by"]), (&json!("good"), &json!("this installation")));
    let key = checked["public_key"].as_str().unwrap().to_owned();
    assert_eq!(run(&home, &["verify-receipt", file, "--public-key", &key]).0, 0);
    assert_eq!(run(&home, &["verify-receipt", file, "--public-key", &"0".repeat(64)]).0, 1);
    let text = std::fs::read_to_string(file).unwrap();
    std::fs::write(file, text.replace("events: 1", "events: 9")).unwrap();
    assert_ne!(run(&home, &["verify-receipt", file]).0, 0, "a byte was changed");
    assert_eq!(run(&home, &["forget", "--speaker", "Ada", "--dry-run"]).0, 3, "nothing is left");
    assert_eq!(run(&home, &["forget", "--query", "bread in the pantry", "--dry-run"]).0, 0);
}

#[test]
fn a_line_has_a_reason_and_belief_a_history() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(&home, &["remember", "The ferry leaves at seven.", "--key", "ferry"]).0, 0);
    let context = read(&home, &["context", "When does the ferry leave?", "--json"]);
    let line = &context["receipt"]["lines"][0];
    let (record, receipt) = (line["record"].as_str().unwrap(), context["id"].as_str().unwrap());
    let why = read(&home, &["why", record, "--recall", receipt, "--json"]);
    assert_eq!(why["text"], "The ferry leaves at seven.");
    assert_eq!(why["evidence"][0]["event_id"], line["sources"][0]["event_id"]);
    assert_eq!(why["line"]["section"], line["section"]);
    let not = read(&home, &["why-not", record, "--query", "When does the ferry leave?", "--json"]);
    assert_eq!(not["outcome"], "shown");
    let text = home.path().join("context.txt");
    std::fs::write(&text, context["text"].as_str().unwrap()).unwrap();
    let text = text.to_str().unwrap();
    let check = read(&home, &["verify-receipt", receipt, "--text", text, "--json"]);
    assert_eq!((&check["findings"], &check["resolved"]), (&json!([]), &check["lines"]));
    std::fs::write(text, context["text"].as_str().unwrap().replace("seven", "eight")).unwrap();
    assert_eq!(run(&home, &["verify-receipt", receipt, "--text", text]).0, 1);
    assert_eq!(run(&home, &["remember", "The ferry leaves at nine.", "--key", "ferry"]).0, 0);
    let changes = read(&home, &["diff", "2000-01-01", "--json"]);
    let notes: Vec<&Value> =
        changes["changes"].as_array().unwrap().iter().filter(|change| change["of"] == "learning").collect();
    assert_eq!(notes.len(), 1, "{changes}");
    assert_eq!(
        (&notes[0]["change"], &notes[0]["after"]),
        (&json!("believed"), &json!("The ferry leaves at nine."))
    );
    assert!(notes[0]["cause"].as_str().unwrap().starts_with("evt_"));
    assert_eq!(run(&home, &["diff", "2001-01-01", "2000-01-01"]).0, 2);
    assert_eq!(run(&home, &["why", "evt_nothing"]).0, 2);
}

#[test]
fn an_export_is_sealed_for_who_is_named_and_for_nobody_else() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(&home, &["log", "add", "The red lamp of the harbour is broken again."]).0, 0);
    // Source of the key: the README of age.
    let recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
    assert_eq!(run(&home, &["export", "sealed.age", "--encrypt-to", recipient]).0, 0);
    let sealed = std::fs::read(home.path().join("sealed.age")).unwrap();
    assert!(sealed.starts_with(b"age-encryption.org/v1\n-> X25519 "));
    assert!(!String::from_utf8_lossy(&sealed).contains("lamp"));
    for wrong in [&["other.age", "--encrypt-to", "age1nobody"][..], &["folder", "--format", "markdown"]] {
        let args = [&["export"], wrong, &["--encrypt-to", recipient]].concat();
        assert_eq!(run(&home, &args).0, 2, "{args:?}");
        assert!(!home.path().join(wrong[0]).exists());
    }
    assert_eq!(run(&home, &["forget", "--outdated", "--dry-run"]).0, 3, "nothing is a year old");
}
