//! Working memory on the command line.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn run(home: &TempDir, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command
        .arg("working")
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

// proves: RB-30, RB-31, RB-38
#[test]
fn a_text_is_put_read_listed_found_and_removed() {
    let home = tempfile::tempdir().unwrap();
    ok(&home, &["put", "plan", "tests first", "--ttl", "12h", "--category", "work", "--tag", "todo"]);
    ok(&home, &["put", "full", "the disk is at 92 %", "--namespace", "patrol/disk"]);
    assert_eq!(ok(&home, &["get", "plan"]), "tests first\n");
    assert_eq!(ok(&home, &["get", "patrol/disk/full"]), "the disk is at 92 %\n");
    let own = ok(&home, &["list"]);
    assert!(own.starts_with("session/default/plan, expires in 11h59m, work #todo"), "{own}");
    assert!(!own.contains("tests first") && !own.contains("patrol"), "{own}");
    let all: Value = serde_json::from_str(&ok(&home, &["list", "--all", "--json"])).unwrap();
    let keys: Vec<&str> =
        all["items"].as_array().unwrap().iter().filter_map(|one| one["key"].as_str()).collect();
    assert_eq!(keys, ["patrol/disk/full", "session/default/plan"]);
    assert!(ok(&home, &["search", "disks"]).starts_with("patrol/disk/full"));
    assert_eq!(ok(&home, &["rm", "plan"]), "removed 1\n");
    assert_eq!(run(&home, &["get", "plan"]).0, 3);
}

// proves: RB-31, RB-50
#[test]
fn a_foreign_namespace_and_a_key_that_expired_are_told() {
    let home = tempfile::tempdir().unwrap();
    let (code, _, err) = run(&home, &["put", "patrol/disk/full", "x"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("session/default"), "{err}");
    for wrong in [&["put", "a/../b", "x"][..], &["put", "a", "x", "--ttl", "8d"], &["list", "../x"]] {
        assert_eq!(run(&home, wrong).0, 2, "{wrong:?}");
    }
    assert_eq!(run(&home, &["get", "nothing"]).0, 3);
}
