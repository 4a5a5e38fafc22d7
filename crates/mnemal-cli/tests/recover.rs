//! Backup, restore and recover as real processes, with their exit codes.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command
            .args(args)
            .current_dir(self.0.path())
            .env_clear()
            .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
            .stdin(Stdio::null());
        command.env("HOME", self.0.path()).env("MNEMAL_DATA_DIR", self.0.path().join("data"));
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    fn database(&self) -> PathBuf {
        self.0.path().join("data/spaces/default.db")
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

#[test]
fn a_backup_is_described_and_comes_back_without_what_was_forgotten() {
    let home = Home::new();
    home.run(&["remember", "The harbour master is called Ilse", "--key", "master"]);
    home.run(&["remember", "The spare key hangs behind the barometer", "--key", "spare"]);
    let copy = home.path("copy.db");
    let (code, out, err) = home.run(&["--json", "backup", &copy]);
    assert_eq!(code, 0, "{err}");
    let manifest: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&manifest["space"], &manifest["events"]), (&Value::from("default"), &Value::from(2)));
    assert!(std::fs::read_to_string(format!("{copy}.manifest.json")).unwrap().contains("export_hash"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(home.run(&["backup", &copy]).0, 5, "a backup never overwrites");
    assert_eq!(home.run(&["--yes", "forget", "--key", "spare"]).0, 0);
    let (code, _, err) = home.run(&["restore", &copy]);
    assert!(code == 5 && err.contains("--yes"), "{code} {err}");
    let (code, out, err) = home.run(&["--yes", "restore", &copy]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("1 of them were forgotten since") && out.contains("before-restore"), "{out}");
    assert!(!out.contains("made of space"), "{out}");
    let (code, out, err) = home.run(&["-s", "other", "restore", &copy]);
    assert!(code == 0 && out.contains("the backup was made of space default"), "{out} {err}");
    assert!(home.run(&["recall", "harbour master"]).1.contains("Ilse"));
    assert!(!home.run(&["recall", "spare key barometer"]).1.contains("barometer"));
    assert_eq!(home.run(&["check"]).0, 0);
    assert_eq!(home.run(&["--yes", "restore", &home.path("none.db")]).0, 3);
}

#[test]
fn a_damaged_space_says_so_and_is_recovered() {
    let home = Home::new();
    for number in 0..20 {
        home.run(&["remember", &format!("Buoy number {number} is painted green")]);
    }
    let database = home.database();
    let mut bytes = std::fs::read(&database).unwrap();
    let places = bytes.windows(14).enumerate().filter(|(_, window)| window == b"Buoy number 11");
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    assert!(places.len() >= 2, "the words stand in the event and in the note");
    for place in places {
        bytes[place] = b'Q';
    }
    std::fs::write(&database, &bytes).unwrap();
    let (code, out, _) = home.run(&["doctor"]);
    assert!(code == 1 && out.contains("mnemal recover"), "{out}");
    assert_eq!(home.run(&["check"]).0, 1);
    let out_file = home.path("saved.db");
    assert_eq!(home.run(&["recover", "--out", &out_file]).0, 0);
    assert_eq!(std::fs::read(&database).unwrap(), bytes, "the damaged file was left alone");
    assert_eq!(home.run(&["recover", "--out", &out_file]).0, 5);
    let (code, out, err) = home.run(&["--json", "recover"]);
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["kept"], &report["missing"][0][0]), (&Value::from(19), &Value::from(12)));
    assert_eq!(std::fs::read(report["aside"].as_str().unwrap()).unwrap(), bytes);
    assert_eq!(home.run(&["check"]).0, 0);
    assert!(home.run(&["recall", "buoy number 12"]).1.contains("number 12 is"));
    assert_eq!(home.run(&["-s", "nowhere", "recover"]).0, 3);
}

#[test]
#[cfg(target_os = "linux")]
fn a_space_that_another_process_has_open_is_neither_restored_nor_recovered() {
    let home = Home::new();
    home.run(&["remember", "The lighthouse blinks twice"]);
    let copy = home.path("copy.db");
    home.run(&["backup", &copy]);
    // It has the space open and waits for its input.
    let mut other =
        home.command(&["log", "add", "-", "--session", "s"]).stdin(Stdio::piped()).spawn().unwrap();
    let inode = {
        use std::os::unix::fs::MetadataExt as _;
        format!(":{} ", home.database().metadata().unwrap().ino())
    };
    while !std::fs::read_to_string("/proc/locks").unwrap().contains(&inode) {
        assert!(other.try_wait().unwrap().is_none());
    }
    for args in [&["--yes", "restore", &copy][..], &["recover"]] {
        let (code, _, err) = home.run(args);
        assert!(code == 5 && err.contains("another process"), "{args:?}: {code} {err}");
    }
    other.stdin.take().unwrap().write_all(b"{\"role\":\"user\",\"content\":\"and once more\"}\n").unwrap();
    assert!(other.wait().unwrap().success());
    assert_eq!(home.run(&["--yes", "restore", &copy]).0, 0);
}
