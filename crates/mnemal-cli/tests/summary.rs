//! Summaries on the command line.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn run(home: &TempDir, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command
        .args(args)
        .current_dir(home.path())
        .env_clear()
        .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
        .stdin(Stdio::null());
    command.env("HOME", home.path()).env("MNEMAL_DATA_DIR", home.path().join("data")).env("TZ", "UTC");
    let ran = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ran.status.code().unwrap(), text(ran.stdout), text(ran.stderr))
}

fn ok(home: &TempDir, args: &[&str]) -> String {
    let (code, out, err) = run(home, args);
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

#[test]
fn a_summary_is_shown_and_leads_to_its_events() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(&home, &["summary"]).0, 3, "nothing was said yet");
    for text in ["Hello!", "The invoice of Carla is due on Friday.", "The safe of Boris opens with 4711."] {
        ok(&home, &["log", "add", text, "--session", "mail/1"]);
    }
    let shown: Value = serde_json::from_str(&ok(&home, &["summary", "session:mail/1", "--json"])).unwrap();
    assert_eq!(
        (shown["key"].as_str(), shown["method"].as_str()),
        (Some("session:mail/1"), Some("extractive"))
    );
    assert_eq!((shown["behind"].as_u64(), shown["stale"].as_bool()), (Some(0), Some(false)));
    let line = &shown["lines"][0];
    assert_eq!(line["text"], "The invoice of Carla is due on Friday.");
    let event = ok(&home, &["log", "show", line["event_id"].as_str().unwrap()]);
    assert!(event.contains("The invoice of Carla"), "{event}");
    let page = ok(&home, &["summary"]);
    assert!(page.contains("The safe of Boris opens with 4711.") && page.contains("evt_"), "{page}");
    let tree = ok(&home, &["summary", "--tree", "--refresh"]);
    for key in ["root", "  month:", "    session:mail/1"] {
        assert!(tree.lines().any(|line| line.starts_with(key)), "{key}: {tree}");
    }
    let carla = ok(&home, &["summary", "entity:Carla"]);
    assert!(carla.contains("The invoice of Carla") && !carla.contains("Boris"), "{carla}");
    assert!(tree.lines().any(|line| line.starts_with("  entity_type:person")), "{tree}");
    ok(&home, &["log", "add", "Actually, I prefer shorter responses.", "--session", "mail/1"]);
    let page = ok(&home, &["summary", "user_preferences"]);
    assert!(page.starts_with("Communication preferences\n- Actually, I prefer shorter responses."), "{page}");
    assert_eq!(run(&home, &["summary", "--as-of", "2001-01-01"]).0, 3, "nothing was said by then");
    assert_eq!(run(&home, &["summary", "entity:Zoltan"]).0, 3);
    assert_eq!(run(&home, &["summary", "planet:x"]).0, 2);
    assert_eq!(run(&home, &["summary", "channel:nowhere"]).0, 3);
    assert!(ok(&home, &["rebuild", "--layer", "summaries", "--check"]).contains("equal"));
}
