//! Repeated ingestion of files: changed, grown, copied, forgotten.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command.args(args).current_dir(self.0.path()).env_clear().stdin(Stdio::null());
        command.env("HOME", self.0.path()).env("MNEMAL_DATA_DIR", self.0.path().join("data"));
        command.output().unwrap()
    }

    fn text(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        String::from_utf8(ran.stdout).unwrap() + &String::from_utf8(ran.stderr).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.run(args).stdout).unwrap()
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn a_changed_file_replaces_its_older_reading_in_everything_that_is_told() {
    let home = Home::new();
    let guide =
        |code: &str| format!("# Guide\n\n## Gate\n\nThe gate code is {code}.\n\n## Tea\n\nTea is at four.\n");
    home.file("guide.md", &guide("4455"));
    home.run(&["ingest", "guide.md"]);
    home.file("guide.md", &guide("7788"));
    let report = home.json(&["ingest", "./guide.md", "--json"]);
    assert_eq!((&report["stored"], &report["replaced"]), (&1.into(), &1.into()), "{report}");
    let found = home.text(&["recall", "gate code"]);
    assert!(found.contains("7788") && !found.contains("4455"), "{found}");
    assert_eq!(home.text(&["recall", "tea"]).matches("Tea is at four").count(), 1);
    assert!(!home.text(&["context", "gate code"]).contains("4455"));
    home.file("guide.md", &guide("4455"));
    home.run(&["ingest", "guide.md"]);
    let found = home.text(&["recall", "gate code"]);
    assert!(found.contains("4455") && !found.contains("7788"), "what was replaced may come back: {found}");
}

#[test]
fn a_file_that_grew_stands_once() {
    let home = Home::new();
    let rows = |count: u32| -> String {
        let row = |n| format!("Row {n} holds part p{n} and some more words, so that it is long\n");
        (0..count).map(row).collect::<Vec<_>>().concat()
    };
    home.file("log.md", &rows(200));
    home.run(&["ingest", "log.md"]);
    home.file("log.md", &rows(201));
    home.run(&["ingest", "log.md"]);
    let listed = home.json(&["log", "list", "-n", "1000", "--json"]);
    let texts: String = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["content"].as_str().unwrap_or_default())
        .collect();
    assert_eq!((texts.matches("part p5 ").count(), texts.matches("part p200 ").count()), (1, 1));
}

#[test]
fn equal_files_are_forgotten_by_either_name_and_stay_away() {
    for name in ["heron.md", "copy.md"] {
        let home = Home::new();
        home.file("heron.md", "# Heron\n\nLed by Mira Solberg.\n");
        home.file("copy.md", "# Heron\n\nLed by Mira Solberg.\n");
        let read = home.text(&["ingest", "heron.md", "copy.md"]);
        assert!(read.contains("copy.md: the same text as heron.md"), "{read}");
        assert!(home.text(&["forget", "--file", name, "--dry-run"]).contains("would erase"));
        home.run(&["forget", "--file", name, "--yes"]);
        assert!(!home.text(&["recall", "who leads the heron"]).contains("Solberg"));
        for again in ["heron.md", "copy.md"] {
            let read = home.text(&["ingest", again]);
            assert!(read.contains("forgotten here and stay away") && !read.contains("1 known"), "{read}");
        }
        assert!(!home.text(&["recall", "who leads the heron"]).contains("Solberg"));
    }
}

#[test]
fn an_export_that_is_older_overrides_nothing_under_a_key() {
    let home = Home::new();
    home.run(&["-s", "old", "remember", "Code 1111", "--key", "door"]);
    home.run(&["-s", "old", "export", "old.jsonl"]);
    home.run(&["-s", "new", "remember", "Code 9999", "--key", "door"]);
    let report = home.json(&["-s", "new", "import", "old.jsonl", "--json"]);
    assert_eq!(report["older_keys"], 1, "{report}");
    let held = home.text(&["-s", "new", "memory", "list"]);
    assert!(held.contains("9999") && !held.contains("1111"), "{held}");
    // In the other order, the newer one is imported.
    home.run(&["-s", "new", "export", "new.jsonl"]);
    home.run(&["-s", "old", "import", "new.jsonl"]);
    assert!(home.text(&["-s", "old", "memory", "list"]).contains("9999"));
}

#[test]
fn an_older_export_with_several_versions_of_a_key_overrides_nothing() {
    let home = Home::new();
    for code in ["Code 1111", "Code 2222", "Code 3333"] {
        home.run(&["-s", "old", "remember", code, "--key", "door"]);
    }
    home.run(&["-s", "old", "export", "old.jsonl"]);
    home.run(&["-s", "new", "remember", "Code 9999", "--key", "door"]);
    let report = home.json(&["-s", "new", "import", "old.jsonl", "--json"]);
    assert_eq!(report["older_keys"], 1, "{report}");
    let held = home.text(&["-s", "new", "memory", "list"]);
    assert!(held.contains("9999") && !held.contains("3333"), "{held}");
}

#[test]
fn an_export_that_is_older_does_not_bring_back_what_was_put_away_under_a_key() {
    let home = Home::new();
    home.run(&["-s", "old", "remember", "Code 1111", "--key", "door"]);
    home.run(&["-s", "old", "export", "old.jsonl"]);
    home.run(&["-s", "new", "remember", "Code 9999", "--key", "door"]);
    home.run(&["-s", "new", "memory", "archive", "door"]);
    home.run(&["-s", "new", "import", "old.jsonl"]);
    let held = home.text(&["-s", "new", "memory", "list"]);
    assert!(!held.contains("9999") && !held.contains("1111"), "{held}");
    // Restoring returns the archived note, and later writes take effect.
    home.run(&["-s", "new", "memory", "restore", "door"]);
    let held = home.text(&["-s", "new", "memory", "list"]);
    assert!(held.contains("9999") && !held.contains("1111"), "{held}");
    home.run(&["-s", "new", "memory", "archive", "door"]);
    home.run(&["-s", "new", "remember", "Code 2222", "--key", "door"]);
    assert!(home.text(&["-s", "new", "memory", "list"]).contains("2222"));
}
