//! End-to-end tests of the program: every command from an empty home, with its exit code and both streams.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A separate home for each test.
struct Home(TempDir);

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000");
        command.env("HOME", self.path()).env("MNEMAL_DATA_DIR", self.path().join("data")).env("TZ", "UTC");
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    fn pipe(&self, args: &[&str], input: &[u8]) -> Ran {
        use std::io::Write as _;
        let mut command = self.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that rejects its input early closes the pipe.
        let _closed = child.stdin.take().unwrap().write_all(input);
        ran(child.wait_with_output().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    }
}

fn ran(output: Output) -> Ran {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn neutral(id: &str, speaker: &str, text: &str) -> String {
    let line = serde_json::json!({
        "id": id, "conv": "c", "session": "c/S1", "ts": "2026-03-05T10:00:00", "speaker": speaker, "text": text
    });
    format!("{line}\n")
}

#[test]
fn a_note_is_stored_found_put_into_a_context_and_forgotten() {
    let home = Home::new();
    let stored = home.run(&["remember", "Deploys happen on Tuesdays", "--key", "deploy_day"]);
    assert_eq!(stored.code, 0, "{}", stored.err);
    assert!(
        stored.out.starts_with("stored deploy_day (mem_") && stored.out.ends_with(", version 1)\n"),
        "{}",
        stored.out
    );
    let found = home.run(&["recall", "when do we deploy"]);
    assert!(
        found.out.contains("Deploys happen on Tuesdays") && found.out.contains("(deploy_day)"),
        "{}",
        found.out
    );
    let context = home.run(&["context", "when do we deploy", "--budget", "500", "--explain"]);
    assert!(
        context.out.contains("\"Deploys happen on Tuesdays\"") && context.out.contains("receipt rcl_"),
        "{}",
        context.out
    );
    let asked = home.run(&["forget", "--key", "deploy_day"]);
    assert_eq!(asked.code, 2, "without a terminal nobody can answer");
    let preview = home.run(&["forget", "--key", "deploy_day", "--dry-run"]);
    let (would, token) = preview.out.split_once('\n').unwrap();
    assert_eq!((preview.code, would), (0, "would erase: 1 event(s), 1 note(s)"));
    assert!(token.starts_with("exactly that until ") && token.contains(": --confirm "), "{token}");
    let forgotten = home.run(&["forget", "--key", "deploy_day", "--yes"]);
    assert!(
        forgotten.out.starts_with("erased (evt_") && forgotten.out.contains("; verified; residual: "),
        "{}",
        forgotten.out
    );
    let gone = home.run(&["recall", "when do we deploy"]);
    assert_eq!((gone.code, gone.out.as_str()), (0, ""));
    let proof = home.run(&["doctor", "--prove-erased", "Deploys happen on Tuesdays"]);
    assert!(proof.code == 0 && proof.out.contains("ok    erased"), "{}{}", proof.out, proof.err);
    assert_eq!(home.run(&["forget", "--key", "deploy_day", "--yes"]).code, 3);
}

#[test]
fn a_second_version_supersedes_the_first_everywhere() {
    let home = Home::new();
    home.run(&["remember", "The office is in Erfurt", "--key", "office"]);
    let second = home.run(&["remember", "The office is in Jena", "--key", "office"]);
    assert!(second.out.contains("version 2"), "{}", second.out);
    let found = home.run(&["recall", "where is the office"]);
    assert!(found.out.contains("Jena") && !found.out.contains("Erfurt"), "{}", found.out);
    let context = home.run(&["context", "where is the office"]);
    assert!(context.out.contains("Jena") && !context.out.contains("Erfurt"), "{}", context.out);
}

// proves: RB-22, NB-12, BA-11 (this surface)
#[test]
fn an_anti_pattern_is_shown_part_by_part() {
    let home = Home::new();
    let text = "Never push to main because CI breaks; open a pull request instead.";
    let lines = format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    assert_eq!(home.pipe(&["log", "add", "-", "--session", "s1"], lines.as_bytes()).code, 0);
    let listed = home.json(&["--json", "learning", "list", "--kind", "anti_pattern"]);
    let row = &listed["memories"][0];
    let parts = serde_json::json!({
        "avoid": "push to main", "reason": "CI breaks", "instead": "open a pull request", "domain": "push",
    });
    assert_eq!(row["anti_pattern"], parts, "{row}");
    assert_eq!(
        (&row["source"], &row["sentiment"]),
        (&Value::from("user_feedback"), &Value::from("negative"))
    );
    assert_eq!(
        (&row["recommendation"], &row["objective_type"]),
        (&Value::from("open a pull request"), &Value::from("code"))
    );
    assert_eq!(row["updated_at"], row["created_at"]);
    let shown = home.run(&["learning", "show", row["id"].as_str().unwrap()]).out;
    for line in [
        "Don't push to main for CI breaks — instead open a pull request",
        "  avoid: push to main",
        "  reason: CI breaks",
        "  do: open a pull request",
        "  about: code, negative",
    ] {
        assert!(shown.lines().any(|one| one == line), "{line}: {shown}");
    }
}

// proves: NB-77, NB-80
#[test]
fn what_was_learnt_is_listed_shown_decided_about_and_taken_back() {
    let home = Home::new();
    let text = "From now on, always reply in French.";
    let lines = format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n");
    assert_eq!(home.pipe(&["log", "add", "-", "--session", "s1"], lines.as_bytes()).code, 0);
    let listed = home.json(&["--json", "learnings", "list"]);
    let row = &listed["memories"][0];
    assert_eq!((&row["content"], &row["status"]), (&Value::from(text), &Value::from("active")));
    let (id, key) = (row["id"].as_str().unwrap(), row["key"].as_str().unwrap());
    assert!(home.run(&["preference", "show", id]).out.contains("en.directive"));
    assert!(home.run(&["context", "hello"]).out.contains(text));

    let rejected = home.json(&["--json", "learning", "reject", key]);
    assert!(home.run(&["learning", "list"]).out.is_empty());
    assert!(home.run(&["learning", "list", "--all"]).out.contains("rejected"));
    assert!(!home.run(&["context", "hello", "--budget", "200"]).out.contains("Preferences"));
    assert_eq!(home.run(&["undo", rejected["event_id"].as_str().unwrap()]).code, 0);
    assert!(home.run(&["learning", "list", "--topic", "french"]).out.contains(text));

    for (verb, listed) in [("archive", false), ("restore", true)] {
        assert_eq!(home.run(&["memory", verb, key]).code, 0, "{verb}");
        assert_eq!(home.run(&["memory", "list"]).out.contains(text), listed, "{verb}");
    }
    for (verb, same) in [
        (vec!["memory", "search", "French"], vec!["recall", "French"]),
        (vec!["memory", "entities"], vec!["entity", "list"]),
        (vec!["memory", "status"], vec!["status"]),
        (vec!["memory", "summary", "--refresh"], vec!["summary", "--refresh"]),
    ] {
        let said = home.run(&verb).out;
        assert_eq!(said, home.run(&same).out, "{verb:?}");
        assert!(verb[1] == "entities" || !said.is_empty(), "{verb:?}");
    }
    assert_eq!(
        home.run(&["learning", "show", "no such"]).code,
        home.run(&["entity", "show", "no such"]).code
    );
}

// proves: CF-17, DF-07
#[test]
fn every_version_of_a_note_is_kept_and_an_archived_one_comes_back() {
    let home = Home::new();
    for day in ["Tuesday", "Friday"] {
        home.run(&["remember", day, "--key", "deploy_day", "--category", "ops/deploy"]);
    }
    let history = home.json(&["--json", "memory", "history", "deploy_day"]);
    let told = |row: &Value| (row["content"].clone(), row["status"].clone());
    let versions: Vec<_> = history["memories"].as_array().unwrap().iter().map(told).collect();
    assert_eq!(versions, [("Friday".into(), "active".into()), ("Tuesday".into(), "superseded".into())]);
    assert_eq!(history["memories"][1]["superseded_by"], history["memories"][0]["id"]);
    assert_eq!(home.run(&["memory", "archive", "deploy_day"]).code, 0);
    assert!(home.run(&["memory", "list"]).out.is_empty());
    assert_eq!(home.run(&["memory", "restore", "deploy_day"]).code, 0);
    let counts = home.json(&["--json", "memory", "categories"]);
    let ops = serde_json::json!([{"category": "ops", "count": 1}, {"category": "ops/deploy", "count": 1}]);
    assert_eq!(counts["categories"], ops);
}

#[test]
fn json_is_one_document_and_errors_are_problem_documents() {
    let home = Home::new();
    let stored = home.json(&["--json", "remember", "We use pnpm", "--kind", "preference"]);
    assert_eq!(stored["durability"], "disk");
    let found = home.json(&["--json", "recall", "pnpm", "--explain"]);
    let hit = &found["hits"][0];
    let parts = hit["explain"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| part["value"].as_f64().unwrap()).sum();
    assert!((sum - hit["score"].as_f64().unwrap()).abs() < 1e-5, "{hit}");
    let context = home.json(&["--json", "context", "which package manager"]);
    assert!(context["tokens"].as_u64() <= context["budget"].as_u64());
    assert_eq!(context["receipt"]["lines"][0]["sources"][0]["event_id"], stored["event_id"]);
    let unknown = home.run(&["--json", "log", "show", "evt_00000000000000000000000000"]);
    let problem: Value = serde_json::from_str(&unknown.err).unwrap();
    assert_eq!((unknown.code, problem["title"].as_str()), (3, Some("not_found")));
    assert_eq!(problem["code"], "not_found");
    assert_eq!(problem["type"], "https://mnemal.dev/errors/not_found");
    assert!(problem["hint"].as_str().unwrap().contains("recall"), "{problem}");
}

// proves: AD-76 (exit codes as a shell sees them; the unit tests of `failure` have the table, those of the server its half)
#[test]
fn a_shell_tells_by_the_code_what_went_wrong() {
    let home = Home::new();
    assert_eq!(home.run(&["remember", "We use pnpm"]).code, 0);
    for (args, code) in [
        (&["remember"][..], 2),
        (&["log", "show", "not an id"], 2),
        (&["forget", "--key", "nothing", "--yes"], 3),
        // A layer that is not configured does not count as degraded.
        (&["--strict", "recall", "pnpm"], 0),
        (&["--strict", "context", "pnpm"], 0),
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
    }
    let near = home.run(&["memory", "show", "no_such_key"]);
    assert_eq!(near.code, 3, "{}", near.err);
}

#[cfg(unix)]
#[test]
fn a_program_that_is_interrupted_says_so_to_its_shell() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::unix::process::ExitStatusExt as _;
    let home = Home::new();
    let mut command = home.command(&["mcp"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    writeln!(child.stdin.as_mut().unwrap(), "{hello}").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let status = child.wait().unwrap();
    // A shell reports termination by a signal as 128 plus its number.
    assert_eq!(status.code().or_else(|| Some(128 + status.signal()?)), Some(130));
}

#[test]
fn an_import_is_done_once_and_an_export_comes_back_the_same() {
    let home = Home::new();
    let lines: String = (0..30)
        .map(|n| {
            neutral(
                &format!("c/{n}"),
                if n % 2 == 0 { "Ana" } else { "assistant" },
                &format!("turn {n} about bread"),
            )
        })
        .collect();
    let file = home.file("chat.jsonl", &lines);
    let file = file.to_str().unwrap();
    let rehearsed = home.run(&["import", "--own-history", "--dry-run", file]);
    assert!(rehearsed.out.starts_with("would have imported 30 events"), "{}{}", rehearsed.out, rehearsed.err);
    let first = home.run(&["import", "--own-history", file]);
    assert!(
        first.out.starts_with("imported 30 events from 30 lines (neutral); 0 were known"),
        "{}",
        first.out
    );
    let second = home.run(&["import", "--own-history", file]);
    assert!(
        second.out.starts_with("imported 0 events from 30 lines (neutral); 30 were known"),
        "{}",
        second.out
    );
    let one = home.path().join("one.jsonl");
    let two = home.path().join("two.jsonl");
    assert_eq!(home.run(&["export", one.to_str().unwrap()]).code, 0);
    assert_eq!(home.run(&["export", one.to_str().unwrap()]).code, 5, "an export never overwrites");
    let restored = home.run(&["-s", "copy", "import", one.to_str().unwrap()]);
    assert_eq!(
        (restored.code, restored.err.contains("other people's words")),
        (0, false),
        "{}",
        restored.err
    );
    let others = home.run(&["-s", "others", "import", file]);
    assert!(others.err.contains("other people's words"), "{}", others.err);
    assert_eq!(home.run(&["-s", "copy", "export", two.to_str().unwrap()]).code, 0);
    let body = |path: &Path| std::fs::read_to_string(path).unwrap().split_once('\n').unwrap().1.to_owned();
    assert_eq!(body(&one), body(&two));
    let listed = home.json(&["--json", "log", "list", "-n", "5", "--role", "assistant"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 5);
    assert_eq!(listed["items"][4]["content"], "turn 29 about bread");
}

#[test]
fn an_event_and_a_text_say_what_they_claim_and_what_was_dropped() {
    let home = Home::new();
    let said = "I moved to Lyon. I might buy a boat.";
    let added = home.json(&["--json", "log", "add", said]);
    let of_event = home.json(&["--json", "extract", added["id"].as_str().unwrap()]);
    let fact = &of_event["facts"][0];
    assert_eq!((fact["predicate"].as_str(), fact["object"].as_str()), (Some("lives_in"), Some("Lyon")));
    assert_eq!(of_event["facts"].as_array().unwrap().len(), 1, "what might be is no claim: {of_event}");
    assert!(of_event["remarks"].is_null());
    let elsewhere = home.json(&["--json", "extract", "--text", said, "--explain"]);
    assert_eq!(elsewhere["facts"][0]["rule"], fact["rule"]);
    assert!(elsewhere["remarks"].is_array() && of_event["gist"].is_null());
    // proves: GB-30 (summary, topics and importance by rule, of an event and of a text)
    let decided = "We decided to moor the blue boat in Lyon on 2026-12-01. It rains.";
    let event = home.json(&["--json", "log", "add", decided]);
    let gist = &home.json(&["--json", "extract", event["id"].as_str().unwrap(), "--explain"])["gist"];
    assert_eq!(gist["signs"], serde_json::json!(["date", "decision"]), "{gist}");
    assert!(
        gist["summary"].as_array().unwrap().len() <= 2 && gist["topics"].to_string().contains("blue boat")
    );
    assert!((gist["importance"].as_f64().unwrap() - 0.7).abs() < 1e-6, "{gist}");
    let page = home.run(&["extract", "--text", decided, "--explain"]).out;
    assert!(
        page.contains("in short: We decided") && page.contains("importance 0.7: date, decision"),
        "{page}"
    );
    let mail =
        "From now on answer in French.\n\nFrom: Hedwig\nTo: me\n\nI moved to Steyr. Always use tables.";
    let found = home.json(&["--json", "extract", "--text", mail, "--explain"]);
    let segments = found["segments"].as_array().unwrap();
    let authors: Vec<&str> = segments.iter().map(|one| one["author"].as_str().unwrap()).collect();
    assert_eq!(authors, ["speaker", "other"], "{found}");
    assert!(
        segments[1]["name"] == "Hedwig" && segments[1]["reason"].as_str().unwrap().contains("mail"),
        "{found}"
    );
    assert_eq!(found["preferences"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["preferences"][0]["text"], "From now on answer in French.");
    assert_eq!(found["facts"], serde_json::json!([]));
    let page = home.run(&["extract", "--text", "From now on answer in French."]).out;
    assert!(page.contains("wishes directive: From now on answer in French."), "{page}");
    let neither = home.run(&["extract"]);
    assert!(neither.code == 2 && neither.err.contains("EVENT"), "{}", neither.err);
}

#[test]
fn a_broken_line_is_named_and_skipped_only_when_told() {
    let home = Home::new();
    let lines = [neutral("c/1", "Ana", "good"), "{\"id\": \n".to_owned(), neutral("c/3", "Ana", "also good")]
        .concat();
    let file = home.file("broken.jsonl", &lines);
    let file = file.to_str().unwrap();
    let strict = home.run(&["import", "--format", "neutral", file]);
    assert!(strict.code == 2 && strict.err.contains("line 2"), "{}{}", strict.code, strict.err);
    let lenient = home.run(&["import", "--format", "neutral", "--lenient", file]);
    assert!(lenient.code == 0 && lenient.out.contains("line 2"), "{}{}", lenient.out, lenient.err);
    let status = home.json(&["--json", "status"]);
    assert_eq!(status["events"], 2);
}

// proves: DF-11 (the command line, imports, files and what reads the log)
#[test]
fn a_text_without_end_stops_nothing_by_whatever_way_it_comes() {
    let home = Home::new();
    // One longer than the event limit, and one of a single repeated word below it: a note is rejected, a message is split.
    let (endless, dull) = ("spam ".repeat(58_000), "ha ".repeat(58_000));
    let refused = home.pipe(&["remember", "-"], endless.as_bytes());
    assert!(refused.code == 2 && refused.err.contains("bytes"), "{}", refused.err);
    assert_eq!(home.pipe(&["remember", "-"], dull.as_bytes()).code, 0);
    for text in [&endless, &dull] {
        let message = serde_json::json!({"role": "user", "content": text}).to_string();
        let added = home.pipe(&["log", "add", "-"], message.as_bytes());
        assert_eq!(added.code, 0, "{}", added.err);
    }
    let turns = [("c/1", endless.as_str()), ("c/2", dull.as_str()), ("c/3", "My sister Anna lives in Lyon.")];
    let lines: String = turns.map(|(id, text)| neutral(id, "Ana", text)).concat();
    let chat = home.file("chat.jsonl", &lines);
    let imported = home.run(&["import", "--own-history", "--format", "neutral", chat.to_str().unwrap()]);
    assert_eq!(imported.code, 0, "{}{}", imported.out, imported.err);
    home.file("book.txt", &format!("{endless}\n\n{endless}"));
    assert_eq!(home.run(&["ingest", "book.txt"]).code, 0);
    assert_eq!(home.run(&["dream"]).code, 0);
    // Each call refreshes a bounded number of summaries.
    let look = |_| {
        assert_eq!(home.run(&["summary", "--tree"]).code, 0);
        home.json(&["--json", "status"])
    };
    let is_read =
        |status: &Value| status["layers"].as_array().unwrap().iter().all(|layer| layer["behind"] == 0);
    let status = (0..100).map(look).find(is_read).unwrap();
    assert_eq!(status["graph"]["dead"], 0, "{status}");
    let found = home.json(&["--json", "recall", "Where does Anna live?"]);
    assert_eq!(found["hits"][0]["content"], "My sister Anna lives in Lyon.");
}

// proves: NX-05.5, NB-76
#[test]
fn status_names_what_is_read_in_each_language_that_was_spoken_and_counts_what_was_made_of_it() {
    let home = Home::new();
    let said = [
        "I moved to Lyon last week and I work at the town library now.",
        "My sister lives in Leeds with her two dogs.",
        "Ich wohne seit letztem Jahr in Bonn und arbeite bei der Post.",
        "Я живу в Москве и работаю в библиотеке.",
    ];
    let lines: String =
        said.iter().enumerate().map(|(at, text)| neutral(&format!("c/{at}"), "Ana", text)).collect();
    let file = home.file("spoken.jsonl", &lines);
    assert_eq!(home.run(&["import", "--format", "neutral", file.to_str().unwrap()]).code, 0);
    assert_eq!(home.run(&["dream"]).code, 0);
    let status = home.json(&["--json", "status"]);
    let behind = |status: &Value| {
        let layers = status["layers"].as_array().unwrap();
        layers.iter().find(|layer| layer["layer"] == "graph").unwrap()["behind"].as_u64()
    };
    assert_eq!(behind(&status), Some(0), "the import was read: {status}");
    assert_eq!(home.run(&["log", "add", "My brother lives in Oslo with his family."]).code, 0);
    for _ in 0..2 {
        let status = home.json(&["--json", "status"]);
        assert_eq!(behind(&status), Some(1), "it says how things are and changes nothing: {status}");
    }
    assert_eq!(home.run(&["entity", "list"]).code, 0);
    let status = home.json(&["--json", "status"]);
    assert_eq!((&status["events"], behind(&status)), (&serde_json::json!(5), Some(0)), "{status}");
    assert!(status["entities"].as_u64() > Some(0), "{status}");
    for count in ["facts", "summaries", "learnings"] {
        assert!(status[count].is_u64(), "{count}: {status}");
    }
    assert!(status["last_cycle"].is_string(), "{status}");
    let layers = status["layers"].as_array().unwrap();
    assert!(layers.iter().all(|layer| layer["behind"].is_u64() && layer["status"].is_string()), "{layers:?}");
    assert_eq!(
        status["languages"],
        serde_json::json!([
            {"code": "en", "reads": "all facts", "turns": 3},
            {"code": "de", "reads": "frequent facts", "turns": 1},
            {"code": "ru", "reads": "names only", "turns": 1},
        ])
    );
    let shown = home.run(&["status"]).out;
    assert!(shown.contains("ru (names only, 1 of the last 5 turns)"), "{shown}");
}

#[test]
fn bad_input_is_refused_with_its_reason() {
    let home = Home::new();
    let long = "x".repeat(300 * 1_024);
    let cases: [(&[&str], i32, &str); 9] = [
        (&["recall"], 2, "required"),
        (&["-s", "../evil", "status"], 2, "a space"),
        (&["recall", "x", "--since", "yesterday"], 2, "not a time"),
        (&["recall", "x", "--mode", "magic"], 2, "no mode"),
        (&["remember", "x", "--importance", "7"], 2, "importance"),
        (&["remember", "x", "--ttl", "-3h"], 2, ""),
        (&["log", "add", "x", "--at", "99999-01-01"], 2, "not a time"),
        (&["log", "show", "nonsense"], 2, "evt_"),
        (&["import", "/no/such/file"], 1, "cannot open"),
    ];
    for (args, code, why) in cases {
        let ran = home.run(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    let huge = home.pipe(&["remember", "-"], long.as_bytes());
    assert!(huge.code == 2 && huge.err.contains("KiB") || huge.err.contains("bytes"), "{}", huge.err);
    let latin = home.pipe(&["remember", "-"], b"caf\xe9");
    assert!(latin.code == 2 && latin.err.contains("byte 3"), "{}", latin.err);
    let nul = home.pipe(&["remember", "-", "--key", "nul"], b"a\0b");
    assert_eq!(nul.code, 0, "{}", nul.err);
    assert!(home.run(&["recall", "a b"]).out.contains("a\u{fffd}b"));
}

#[test]
fn questions_in_query_syntax_and_empty_ones_are_answered() {
    let home = Home::new();
    home.run(&["remember", "C++ builds run at 20.04 GB/s for user:alice"]);
    for query in [
        "",
        "   ",
        "AND OR NOT",
        "\"unclosed",
        "NEAR(a b)",
        "col:*",
        "C++",
        "GB/s",
        "20.04",
        "user:alice",
        "what's up?",
        "';--",
        "%_\\",
    ] {
        let ran = home.run(&["recall", "--", query]);
        assert_eq!(ran.code, 0, "{query:?}: {}", ran.err);
        assert_eq!(home.run(&["context", "--", query]).code, 0, "{query:?}");
    }
    for query in ["C++", "GB/s", "20.04"] {
        assert!(home.run(&["recall", query]).out.contains("C++"), "{query}");
    }
}

#[test]
fn messages_come_in_through_stdin() {
    let home = Home::new();
    let lines = "{\"role\":\"user\",\"content\":\"I moved to Lyon\"}\n{\"role\":\"assistant\",\"content\":\"Noted\"}\n";
    let added = home.pipe(&["log", "add", "-", "--session", "s1"], lines.as_bytes());
    assert_eq!(added.code, 0, "{}", added.err);
    let sessions = home.json(&["--json", "log", "list", "--sessions"]);
    assert_eq!(
        (&sessions["items"][0]["id"], &sessions["items"][0]["event_count"]),
        (&Value::from("s1"), &Value::from(2))
    );
    let found = home.json(&["--json", "recall", "where did I move"]);
    assert_eq!(found["hits"][0]["origin"], "user_confirmed");
}

#[test]
fn settings_come_from_a_file_and_are_overridden_by_variables() {
    let home = Home::new();
    let config = home.file("config.toml", "[recall]\nlimit = 1\n");
    let config = config.to_str().unwrap();
    for n in 0..3 {
        home.run(&["remember", &format!("fact number {n} about rivers")]);
    }
    let hits = |home: &Home, args: &[&str]| home.json(args)["hits"].as_array().unwrap().len();
    assert_eq!(hits(&home, &["--json", "--config", config, "recall", "rivers"]), 1);
    let mut command = home.command(&["--json", "--config", config, "recall", "rivers"]);
    let output = ran(command.env("MNEMAL_RECALL__LIMIT", "2").output().unwrap());
    let found: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(found["hits"].as_array().unwrap().len(), 2);
    home.file("config.toml", "[recall]\nlimits = 1\n");
    let wrong = home.run(&["--config", config, "status"]);
    assert!(wrong.code == 2 && wrong.err.contains("limits"), "{}", wrong.err);
    home.file("config.toml", "[memory.extraction]\nspacy_model = \"en_core_web_sm\"\n");
    let told = home.run(&["--config", config, "doctor"]).out;
    assert!(told.contains("extraction.spacy_model has no effect here"), "{told}");
}

#[test]
fn init_status_and_doctor_say_where_things_are() {
    let home = Home::new();
    let init = home.run(&["init"]);
    assert!(init.code == 0 && init.out.contains("default (new)"), "{}{}", init.out, init.err);
    let status = home.run(&["status"]);
    assert!(status.out.contains("default.db") && status.out.contains("events      0"), "{}", status.out);
    let doctor = home.run(&["doctor"]);
    assert!(doctor.code == 0 && !doctor.out.contains("FAIL"), "{}", doctor.out);
    let database = home.path().join("data/spaces/default.db");
    std::fs::write(&database, b"this is not a database, and never was one").unwrap();
    // The write-ahead log would repair the file.
    for side in ["-wal", "-shm"] {
        let _absent = std::fs::remove_file(format!("{}{side}", database.display()));
    }
    let broken = home.run(&["doctor"]);
    assert!(broken.code == 1 && broken.out.contains("FAIL"), "{}", broken.out);
    assert_eq!(home.run(&["recall", "x"]).code, 2, "a file that is no space is refused");
}

#[test]
fn the_demo_answers_its_questions() {
    let home = Home::new();
    let demo = home.run(&["demo"]);
    assert_eq!(demo.code, 0, "{}", demo.err);
    let first_hits: Vec<&str> = demo
        .out
        .lines()
        .filter(|line| line.starts_with("✓ 1") || line.starts_with("✓ 2") || line.starts_with("✓ 3"))
        .collect();
    assert!(first_hits.len() >= 4, "each question finds its evidence among three:\n{}", demo.out);
    for words in [
        "239 turns",
        "hazelnuts",
        "<mnemal-context nonce=",
        "tokens",
        "receipt rcl_",
        "[secret:aws_access_key_id#",
    ] {
        assert!(demo.out.contains(words), "{words}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let home = Home::new();
    home.run(&["remember", "something"]);
    let mut command = home.command(&["log", "list"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran = ran(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

// proves: NB-89 (the program)
#[cfg(target_os = "linux")]
#[test]
fn every_command_of_these_works_where_no_network_is_to_be_had() {
    mnemal_testkit::deny_network().unwrap();
    let refused = std::net::TcpStream::connect("127.0.0.1:9").unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
    a_note_is_stored_found_put_into_a_context_and_forgotten();
    what_was_learnt_is_listed_shown_decided_about_and_taken_back();
    an_import_is_done_once_and_an_export_comes_back_the_same();
    status_names_what_is_read_in_each_language_that_was_spoken_and_counts_what_was_made_of_it();
    init_status_and_doctor_say_where_things_are();
    the_demo_answers_its_questions();
}
