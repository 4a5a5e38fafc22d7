//! Conversations on the command line.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn ok(home: &TempDir, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command
        .args(args)
        .current_dir(home.path())
        .env_clear()
        .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
        .stdin(Stdio::null());
    command.env("HOME", home.path()).env("MNEMAL_DATA_DIR", home.path().join("data")).env("TZ", "UTC");
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn a_conversation_is_listed_shown_compressed_and_erased() {
    let home = tempfile::tempdir().unwrap();
    for (role, text, at) in [
        ("user", "The invoice of Carla is due on Friday.", "2026-03-01T09:00:00Z"),
        ("assistant", "I will remind you.", "2026-03-01T09:01:00Z"),
        ("user", "Which day was it?", "2026-03-01T09:02:00Z"),
    ] {
        ok(&home, &["log", "add", text, "--role", role, "--at", at, "--session", "mail/1"]);
    }
    assert!(ok(&home, &["session", "list"]).contains("mail/1  3 events"));
    assert_eq!(ok(&home, &["session", "show", "mail/1", "--last", "2"]).lines().count(), 2);
    let shown = ok(&home, &["session", "compress", "mail/1", "--keep-last", "1"]);
    assert_eq!(
        shown.trim_end(),
        "[Context Summary]\n\
         [2026-03-01 09:01] user: The invoice of Carla is due on Friday.\n\n\
         user: Which day was it?"
    );
    let again = ok(&home, &["session", "compress", "mail/1", "--keep-last", "0", "--json"]);
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(
        (again["method"].as_str(), again["turns"].as_array().map(Vec::len)),
        (Some("extractive"), Some(0))
    );
    assert!(again["memory_id"].as_str().unwrap().starts_with("mem_"), "{again}");
    let notes = ok(&home, &["memory", "list"]);
    assert_eq!(notes.matches("ctx_mail/1_").count(), 2, "{notes}");
    assert!(ok(&home, &["session", "rm", "mail/1", "--yes"]).contains("verified"));
    assert!(!ok(&home, &["memory", "list"]).contains("Carla"));
}

// proves: PB-55
#[test]
fn where_memory_is_switched_off_a_conversation_that_is_handed_in_is_compressed_and_nothing_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let turns = home.path().join("turns.jsonl");
    let said = |role: &str, text: &str| serde_json::json!({"role": role, "content": text}).to_string();
    let lines = [
        said("user", "Die Rechnung von Carla ist am Freitag fällig."),
        said("assistant", "Notiert."),
        String::new(),
        said("user", "Which day was it?"),
    ];
    std::fs::write(&turns, lines.join("\n")).unwrap();
    let ran = |is_on: &str, turns: &std::path::Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command.args(["session", "compress", "s1", "--keep-last", "1", "--history"]).arg(turns);
        command.current_dir(home.path()).env_clear().stdin(Stdio::null());
        command.env("HOME", home.path()).env("MNEMAL_DATA_DIR", home.path().join("data"));
        command.env("MNEMAL_MEMORY__ENABLED", is_on);
        let output = command.output().unwrap();
        (output.status.success(), [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()))
    };
    let (is_done, [shown, _]) = ran("false", &turns);
    assert!(is_done && shown.starts_with("[Context Summary]\n["), "{shown}");
    assert!(shown.contains("Rechnung von Carla") && shown.ends_with("user: Which day was it?\n"), "{shown}");
    assert!(!home.path().join("data/spaces").exists(), "nothing is kept");
    let (is_done, [_, why]) = ran("true", &turns);
    assert!(!is_done && why.contains("--history is for where memory is switched off"), "{why}");
    std::fs::write(&turns, said("system", "x")).unwrap();
    let (is_done, [_, why]) = ran("false", &turns);
    assert!(!is_done && why.contains("line 1 of") && why.contains("a role is user or assistant"), "{why}");
}
