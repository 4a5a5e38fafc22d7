//! Spaces on the command line, as real processes: named, derived, read together, listed, marked, removed.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A separate home for each test, with a project folder that is a git repository.
struct Home(TempDir);

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for project in ["web", "api"] {
            std::fs::create_dir_all(home.path().join(project).join(".git")).unwrap();
        }
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn spaces(&self) -> PathBuf {
        self.path().join("data/spaces")
    }

    fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command
            .args(args)
            .current_dir(self.path().join(folder))
            .env_clear()
            .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000");
        command.env("HOME", self.path()).env("MNEMAL_DATA_DIR", self.path().join("data")).env("TZ", "UTC");
        command.stdin(Stdio::null());
        command
    }

    /// Runs the program in a folder.
    fn run(&self, folder: &str, args: &[&str]) -> Ran {
        ran(&mut self.command(folder, args))
    }

    /// Runs it outside of any project; it must succeed.
    fn ok(&self, args: &[&str]) -> Ran {
        let ran = self.run("", args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        ran
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args).out).unwrap()
    }
}

fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

// proves: GB-15
#[test]
fn a_project_has_its_own_space_and_the_global_one_is_read_beside_it() {
    let home = Home::new();
    for (folder, text) in
        [("web", "The heron server runs staging"), ("api", "The kestrel server runs staging")]
    {
        assert_eq!(home.run(folder, &["remember", text]).code, 0);
    }
    home.ok(&["-s", "global", "remember", "prefers short answers", "--kind", "preference", "--key", "tone"]);
    let web = home.run("web", &["context", "which server runs staging?"]);
    assert!(web.out.contains("heron") && !web.out.contains("kestrel"), "{}", web.out);
    assert!(web.out.contains(" (global) \"prefers short answers\""), "{}", web.out);
    let found = home.run("api", &["recall", "who prefers short answers?"]);
    assert!(found.out.contains(", global] prefers short answers"), "{}", found.out);
    let explained = home.run("api", &["recall", "short answers", "--json"]);
    let answer: Value = serde_json::from_str(&explained.out).unwrap();
    assert_eq!(answer["hits"][0]["space"], "global");
    assert!(home.run("api", &["recall", "which server", "--json"]).out.contains("kestrel"));
    let off = ran(home.command("web", &["context", ""]).env("MNEMAL_READ_GLOBAL", "false"));
    assert!(!off.out.contains("short answers"), "{}", off.out);
    let file = home.spaces().join("global.db");
    let alone = home.run("web", &["--db", file.to_str().unwrap(), "recall", "which server runs staging?"]);
    assert!(!alone.out.contains("heron"), "{}", alone.out);
}

#[test]
fn a_read_makes_no_other_space_than_the_one_that_is_meant() {
    let home = Home::new();
    home.ok(&["-s", "web", "recall", "anything"]);
    home.ok(&["-s", "web", "context", "anything"]);
    let names: Vec<_> =
        std::fs::read_dir(home.spaces()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name.to_str().unwrap().starts_with("web.db")), "{names:?}");
}

// proves: GB-20
#[test]
fn several_spaces_can_be_read_and_one_can_be_written() {
    let home = Home::new();
    for (space, text) in [
        ("one", "The first canary is ochre"),
        ("two", "The second canary is teal"),
        ("three", "The third canary is puce"),
    ] {
        home.ok(&["-s", space, "remember", text]);
    }
    let found = home.ok(&["-s", "one, two", "recall", "which colour has the canary?"]).out;
    assert!(
        found.contains("] The first canary is ochre") && found.contains(", two] The second canary is teal")
    );
    assert!(!found.contains("puce"), "{found}");
    for args in [
        ["remember", "x"].as_slice(),
        &["log", "add", "x"],
        &["export"],
        &["forget", "--key", "x", "--yes"],
        &["status"],
    ] {
        let refused = home.run("", &[["-s", "one,two"].as_slice(), args].concat());
        assert_eq!(refused.code, 2, "{args:?}: {}{}", refused.out, refused.err);
    }
    assert_eq!(home.run("", &["-s", "one,missing", "recall", "x"]).code, 3);
    assert_eq!(home.run("", &["-s", "one,..", "recall", "x"]).code, 2);
    assert!(!home.spaces().join("missing.db").exists());
}

#[test]
fn an_always_on_space_is_read_until_it_is_switched_off() {
    let home = Home::new();
    home.ok(&["space", "create", "handbook", "--always-on"]);
    home.ok(&["-s", "handbook", "remember", "Invoices are paid on Fridays"]);
    let ask = ["-s", "web", "recall", "when are invoices paid?"];
    assert!(home.ok(&ask).out.contains(", handbook] Invoices are paid on Fridays"));
    assert_eq!(home.run("", &["space", "set", "handbook"]).code, 2);
    assert_eq!(home.run("", &["space", "set", "handbook", "--always-on", "--no-always-on"]).code, 2);
    let set = home.json(&["space", "set", "handbook", "--no-always-on", "--json"]);
    assert_eq!((&set["space"], &set["always_on"]), (&Value::from("handbook"), &Value::from(false)));
    assert_eq!(home.ok(&ask).out, "");
    home.ok(&["space", "set", "handbook", "--always-on"]);
    assert!(home.ok(&ask).out.contains("Fridays"));
}

#[test]
fn to_use_a_space_always_on_twice_is_as_once_and_it_keeps_its_interval() {
    let home = Home::new();
    let made = home.json(&["space", "create", "handbook", "--always-on", "--json"]);
    assert_eq!((&made["always_on"], &made["consolidate_interval_mins"]), (&true.into(), &30.into()));
    home.ok(&["-s", "handbook", "remember", "Invoices are paid on Fridays"]);
    let set = home.json(&["space", "set", "handbook", "--consolidate-interval", "45", "--json"]);
    assert_eq!((&set["always_on"], &set["consolidate_interval_mins"]), (&true.into(), &45.into()));
    home.ok(&["space", "set", "handbook", "--no-always-on"]);
    for _ in 0..2 {
        let again = home.json(&["space", "create", "handbook", "--always-on", "--json"]);
        assert_eq!((&again["always_on"], &again["consolidate_interval_mins"]), (&true.into(), &45.into()));
        assert_eq!((&again["notes"], &again["always_on_since"]), (&1.into(), &made["always_on_since"]));
    }
    assert_eq!(home.run("", &["space", "set", "handbook", "--consolidate-interval", "0"]).code, 2);
    assert!(home.ok(&["space", "show", "handbook"]).out.contains("every 45 minutes"));
}

#[test]
fn spaces_are_made_listed_shown_and_removed() {
    let home = Home::new();
    assert_eq!(home.ok(&["space", "list"]).out, "");
    home.ok(&["space", "create", "web"]);
    home.ok(&["space", "create", "api", "--always-on"]);
    assert_eq!(home.run("", &["space", "create", "web"]).code, 5);
    for bad in ["con", "../up", "Web", "a b", ""] {
        assert_eq!(home.run("", &["space", "create", bad]).code, 2, "{bad}");
    }
    home.ok(&["-s", "web", "remember", "one", "--key", "k"]);
    let listed = home.json(&["space", "list", "--json"]);
    let names: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|one| one["space"].as_str().unwrap()).collect();
    assert_eq!((names, &listed["items"][0]["always_on"]), (vec!["api", "web"], &Value::from(true)));
    let lines = home.ok(&["space", "list", "--jsonl"]).out;
    assert!(lines.lines().count() == 2 && lines.starts_with("{\"space\":\"api\""), "{lines}");
    let people = home.ok(&["space", "list"]).out;
    assert!(people.lines().count() == 2 && people.contains("always on"), "{people}");
    let shown = home.json(&["space", "show", "web", "--json"]);
    assert_eq!((&shown["events"], &shown["notes"]), (&Value::from(1), &Value::from(1)));
    assert!(shown["bytes"].as_u64().unwrap() > 0 && shown["last_at"].is_string(), "{shown}");
    assert!(home.ok(&["space", "show", "web"]).out.contains("1 in 1 conversations"));
    assert_eq!(home.run("", &["space", "show", "none"]).code, 3);
    let asked = home.run("", &["space", "rm", "web"]);
    assert_eq!(asked.code, 2, "without a terminal nobody can answer");
    assert!(asked.err.contains("would remove space web: 1 event(s), 1 note(s)"), "{}", asked.err);
    assert!(home.spaces().join("web.db").exists());
    assert_eq!(home.ok(&["space", "rm", "web", "--yes"]).out, "removed web\n");
    assert_eq!(home.run("", &["space", "rm", "web", "--yes"]).code, 3);
    home.ok(&["space", "rm", "api", "--yes", "--json"]);
    assert_eq!(std::fs::read_dir(home.spaces()).unwrap().count(), 0);
    let file = home.path().join("x.db");
    assert_eq!(home.run("", &["--db", file.to_str().unwrap(), "space", "list"]).code, 2);
}

#[test]
fn a_space_that_another_process_has_open_is_not_removed() {
    let home = Home::new();
    home.ok(&["-s", "web", "remember", "one"]);
    let mut command = home.command("", &["-s", "web", "log", "add", "-"]);
    let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = holder.stdin.take().unwrap();
    let message = r#"{"role":"user","content":"the holder has arrived"}"#;
    // More than a batch, so that some events are stored while the rest is pending.
    for _ in 0..3_000 {
        std::io::Write::write_all(&mut input, format!("{message}\n").as_bytes()).unwrap();
    }
    let arrived =
        || home.run("", &["-s", "web", "log", "list", "--json"]).out.contains("the holder has arrived");
    while !arrived() {
        std::thread::yield_now();
    }
    let refused = home.run("", &["space", "rm", "web", "--yes"]);
    assert_eq!(refused.code, 5, "{}{}", refused.out, refused.err);
    drop(input);
    assert!(holder.wait().unwrap().success());
    home.ok(&["space", "rm", "web", "--yes"]);
    assert!(!home.spaces().join("web.db").exists());
}

#[test]
fn a_damaged_global_space_is_a_gap_and_no_failure() {
    let home = Home::new();
    home.ok(&["-s", "web", "remember", "The bridge is green"]);
    std::fs::write(home.spaces().join("global.db"), vec![0xa5_u8; 9_000]).unwrap();
    let found = home.ok(&["-s", "web", "recall", "the bridge"]);
    assert!(found.out.contains("green") && found.err.contains("gap: events"), "{}", found.err);
    assert_eq!(home.run("", &["-s", "web", "--strict", "recall", "the bridge"]).code, 6);
    home.ok(&["-s", "web", "remember", "Another one"]);
}

// proves: AD-78
#[test]
fn a_project_chooses_its_space_only_where_the_user_agreed_and_never_more_than_that() {
    let home = Home::new();
    let own = |folder: &str| home.path().join(folder).join(".mnemal");
    for folder in ["web", "api"] {
        std::fs::create_dir(own(folder)).unwrap();
        let text = "space = \"team\"\n[server]\nlisten = \"0.0.0.0:1\"\n";
        std::fs::write(own(folder).join("config.toml"), text).unwrap();
    }
    let spaces = || -> Vec<String> {
        let entries = home.json(&["space", "list", "--json"]);
        let names = entries["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["space"].as_str().unwrap().to_owned());
        names.collect()
    };
    let added = home.run("web", &["log", "add", "The heron nests behind the mill"]);
    assert_eq!(added.code, 0, "{}", added.err);
    assert!(added.err.contains("mnemal space trust team"), "{}", added.err);
    assert!(added.err.contains("server.listen"), "what it may not set is told: {}", added.err);
    assert!(spaces().iter().all(|name| name != "team"), "nobody agreed: {:?}", spaces());
    assert_eq!(home.run("web", &["space", "trust", "other"]).code, 2, "it asks for another one");
    assert_eq!(home.run("web", &["space", "trust", "team"]).code, 0);
    assert_eq!(home.run("web", &["log", "add", "The stork nests on the roof"]).code, 0);
    assert!(home.ok(&["-s", "team", "log", "list", "--jsonl"]).out.contains("stork"));
    // A copy of the file elsewhere has no effect, and a flag always wins.
    assert_eq!(home.run("api", &["log", "add", "The swan nests in the reed"]).code, 0);
    assert_eq!(home.run("web", &["-s", "mine", "log", "add", "The crane nests far away"]).code, 0);
    let team = home.ok(&["-s", "team", "log", "list", "--jsonl"]).out;
    assert!(!team.contains("swan") && !team.contains("crane"), "{team}");
    assert_eq!(home.run("web/.git", &["-s", "mine", "recall", "crane"]).code, 0, "also from below its root");
}
