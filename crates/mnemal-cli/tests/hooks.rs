//! Hooks and setup as a client and a person run them: every event with its exact answer, and every failure mode.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The installation's key of all tests, so that ids and markers are reproducible.
const KEY: [u8; 32] = [7; 32];
/// A conversation of an earlier day.
const EARLIER: &str = include_str!("hooks/earlier.jsonl");

/// One user's machine with one project.
struct HookFixture(TempDir);

impl HookFixture {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(desk.project().join(".git")).unwrap();
        std::fs::create_dir_all(desk.data()).unwrap();
        std::fs::write(desk.data().join("installation.key"), KEY).unwrap();
        desk
    }

    /// A machine with a captured earlier conversation.
    fn used() -> Self {
        let desk = Self::new();
        let transcript = desk.write("earlier.jsonl", EARLIER);
        assert_eq!(desk.hook("Stop", &desk.input("earlier", &transcript)), "{}");
        desk
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn project(&self) -> PathBuf {
        self.path().join("shop")
    }

    fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command.args(args).current_dir(self.project()).env_clear();
        command.env("HOME", self.path()).env("MNEMAL_DATA_DIR", self.data()).env("TZ", "UTC");
        // A busy machine must not affect the answers; deadlines have their own test.
        command.env("MNEMAL_HOOKS__DEADLINE_MS", "120000").env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000");
        command
    }

    fn start(&self, args: &[&str], stdin: &[u8]) -> Child {
        let mut command = self.command(args);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that rejects its arguments does not read.
        let _closed = child.stdin.take().unwrap().write_all(stdin);
        child
    }

    fn input(&self, session: &str, transcript: &Path) -> Value {
        json!({"session_id": session, "transcript_path": transcript, "cwd": self.project()})
    }

    /// Answers an event; the program must always succeed and print exactly one JSON document.
    fn raw(&self, event: &str, stdin: &[u8]) -> String {
        answer(self.start(&["hook", "claude-code", event], stdin).wait_with_output().unwrap())
    }

    fn hook(&self, event: &str, input: &Value) -> String {
        self.raw(event, input.to_string().as_bytes())
    }

    fn prompt(&self, session: &str, prompt: &str) -> String {
        let mut input = self.input(session, &self.path().join("none.jsonl"));
        input["prompt"] = prompt.into();
        input["hook_event_name"] = "UserPromptSubmit".into();
        self.hook("UserPromptSubmit", &input)
    }

    fn start_session(&self, session: &str, source: &str) -> String {
        let mut input = self.input(session, &self.path().join("transcripts/new.jsonl"));
        input["source"] = source.into();
        self.hook("SessionStart", &input)
    }

    fn run(&self, args: &[&str]) -> String {
        let output = self.command(args).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The content of the space, without the line with the time of the export.
    fn export(&self) -> String {
        self.run(&["export"]).lines().skip(1).collect()
    }

    fn events(&self) -> Vec<Value> {
        let lines = self.run(&["--jsonl", "log", "list", "-n", "100000"]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.data().join("hooks.log")).unwrap_or_default()
    }

    fn database(&self) -> PathBuf {
        let mut spaces =
            std::fs::read_dir(self.data().join("spaces")).unwrap().flatten().map(|entry| entry.path());
        spaces.find(|path| path.extension().is_some_and(|kind| kind == "db")).unwrap()
    }
}

/// Number of processes of a group, where the system shows them.
fn members(group: u32) -> usize {
    let in_group = |stat: String| {
        let behind_name = stat.rsplit_once(") ")?.1.to_owned();
        Some(behind_name.split(' ').nth(2)? == group.to_string())
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = processes.filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok());
    stats.filter_map(in_group).filter(|is_member| *is_member).count()
}

fn answer(output: Output) -> String {
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(value.is_object(), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}

fn block(answer: &str) -> String {
    let value: Value = serde_json::from_str(answer).unwrap();
    value["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// An answer without its variable parts: the receipt's id, and the day on which its notes were imported.
fn steady(answer: &str) -> String {
    // The story is of March 2026; any other day is the day of the import.
    let mut parts = answer.split("\\n- ");
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(' ').unwrap();
        let is_story = rest.starts_with("2026-03-");
        let day = if is_story { "2026-03-" } else { "today" };
        let rest = rest.get(if is_story { "2026-03-" } else { "2026-11-22" }.len()..).unwrap();
        steady.extend(["\\n- ", number, " ", day, rest]);
    }
    let answer = steady;
    let Some((before, rest)) = answer.split_once("receipt rcl_") else { return answer };
    format!("{before}receipt rcl_{}", rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()))
}

fn entry(kind: &str, uuid: &str, parent: Option<&str>, content: &Value) -> String {
    let entry = json!({
        "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "now", "timestamp": "2026-03-09T10:00:00Z",
        "message": {"role": kind, "content": content},
    });
    format!("{entry}\n")
}

// proves: AD-71
#[test]
fn recorded_events_give_their_golden_answers() {
    let desk = HookFixture::used();
    desk.run(&[
        "import",
        "--own-history",
        desk.write("notes.jsonl", include_str!("hooks/notes.jsonl")).to_str().unwrap(),
    ]);
    for (name, stdin) in [
        ("session-start", include_str!("hooks/session-start.stdin.json")),
        ("user-prompt-submit", include_str!("hooks/user-prompt-submit.stdin.json")),
        ("nothing-relevant", include_str!("hooks/nothing-relevant.stdin.json")),
        ("short-prompt", include_str!("hooks/short-prompt.stdin.json")),
        ("stop", include_str!("hooks/stop.stdin.json")),
        ("subagent-stop", include_str!("hooks/stop.stdin.json")),
        ("pre-compact", include_str!("hooks/pre-compact.stdin.json")),
        ("session-end", include_str!("hooks/session-end.stdin.json")),
    ] {
        let stdin = stdin.replace("{HOME}", desk.path().to_str().unwrap());
        let event = match name {
            "nothing-relevant" | "short-prompt" => "user-prompt-submit",
            event => event,
        };
        let answered = steady(&desk.raw(event, stdin.as_bytes()));
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/hooks/{name}.stdout.json"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, format!("{answered}\n")).unwrap();
        }
        assert_eq!(answered, std::fs::read_to_string(&golden).unwrap().trim_end(), "{name}");
    }
    assert_eq!(desk.log(), "");
}

// proves: AD-71
#[test]
fn whatever_is_wrong_the_answer_is_an_empty_document_and_a_line_in_the_log() {
    let desk = HookFixture::used();
    let good = desk.input("now", &desk.path().join("earlier.jsonl"));
    let unread = desk.input("now", &desk.path().join("absent.jsonl"));
    let faults: [(&str, Vec<u8>, &str); 8] = [
        ("Stop", b"".to_vec(), "no JSON object"),
        ("UserPromptSubmit", b"{\"session_id\": ".to_vec(), "no JSON object"),
        ("UserPromptSubmit", b"\xFF\xFE".to_vec(), "no JSON object"),
        ("SessionStart", b"[]".to_vec(), "no JSON object"),
        ("PreToolUse", good.to_string().into_bytes(), "no event"),
        ("Stop", unread.to_string().into_bytes(), "cannot read"),
        ("Stop", b"{}".to_vec(), "names no transcript"),
        ("Stop", desk.input("now", desk.path()).to_string().into_bytes(), "cannot read"),
    ];
    for (place, (event, stdin, why)) in faults.iter().enumerate() {
        assert_eq!(desk.raw(event, stdin), "{}", "{event} {why}");
        let log = desk.log();
        assert_eq!(log.lines().count(), place + 1, "{log}");
        assert!(log.lines().last().unwrap().contains(why), "{why}: {log}");
    }
    for args in [
        &["hook"][..],
        &["hook", "claude-code"],
        &["hook", "claude-code", "Stop", "--wrong"],
        &["hook", "other-client", "Stop"],
        &["--config", "absent.toml", "hook", "claude-code", "UserPromptSubmit"],
    ] {
        let output = desk.start(args, good.to_string().as_bytes()).wait_with_output().unwrap();
        assert_eq!(answer(output), "{}", "{args:?}");
    }
    assert_eq!(desk.log().lines().count(), faults.len() + 5, "{}", desk.log());
}

// proves: AD-71 (a locked file)
#[cfg(unix)]
#[test]
fn a_locked_file_is_answered_at_the_deadline_and_loses_nothing() {
    use rustix::fs::{FlockOperation, fcntl_lock};

    let desk = HookFixture::used();
    let transcript =
        desk.write("now.jsonl", &entry("user", "u1", None, &json!("The cache listens on port 6379.")));
    let events = desk.events().len();
    let hook = |event: &str, input: &Value| {
        let mut command = desk.command(&["hook", "claude-code", event]);
        command.env("MNEMAL_HOOKS__DEADLINE_MS", "300");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        answer(child.wait_with_output().unwrap())
    };
    let mut asked = desk.input("now", &transcript);
    asked["prompt"] = "Which port does the orders database listen on?".into();
    let file = std::fs::File::options().read(true).write(true).open(desk.database()).unwrap();
    // The kind of lock that SQLite takes, on the whole file.
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    assert_eq!(hook("UserPromptSubmit", &asked), "{}");
    assert_eq!(hook("Stop", &asked), "{}");
    assert_eq!(desk.log().lines().count(), 2, "{}", desk.log());
    drop(file);
    assert_eq!(desk.hook("Stop", &asked), "{}");
    assert_eq!(desk.events().len(), events + 1);
}

#[test]
fn a_newer_database_never_stops_the_client() {
    let desk = HookFixture::used();
    let mut bytes = std::fs::read(desk.database()).unwrap();
    // The version of the schema stands at byte 60 of the header.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(desk.database(), &bytes).unwrap();
    assert_eq!(desk.prompt("now", "which port does the orders database listen on?"), "{}");
    assert_eq!(desk.hook("Stop", &desk.input("earlier", &desk.path().join("earlier.jsonl"))), "{}");
    assert!(desk.log().contains("newer"), "{}", desk.log());
    assert_eq!(std::fs::read(desk.database()).unwrap(), bytes);
}

#[test]
fn a_damaged_database_never_stops_the_client() {
    for damage in [&b"no database at all, but long enough to be looked at as one ......................................."[..], b""] {
        let desk = HookFixture::used();
        std::fs::write(desk.database(), damage).unwrap();
        for leftover in ["-wal", "-shm"] {
            let mut name = desk.database().into_os_string();
            name.push(leftover);
            drop(std::fs::remove_file(name));
        }
        assert_eq!(desk.prompt("now", "which port does the orders database listen on?"), "{}");
        assert_eq!(desk.hook("Stop", &desk.input("earlier", &desk.path().join("earlier.jsonl"))), "{}");
    }
}

#[test]
fn reading_makes_no_space_and_the_first_start_offers_the_import() {
    let desk = HookFixture::new();
    assert_eq!(desk.prompt("now", "which port does the orders database listen on?"), "{}");
    assert_eq!(desk.start_session("now", "startup"), "{}", "no transcripts, no offer");
    std::fs::create_dir_all(desk.path().join("transcripts")).unwrap();
    desk.write("transcripts/new.jsonl", "");
    assert_eq!(desk.start_session("now", "startup"), "{}", "its own transcript is no earlier one");
    desk.write("transcripts/old.jsonl", EARLIER);
    let offer: Value = serde_json::from_str(&desk.start_session("now", "startup")).unwrap();
    let message = offer["systemMessage"].as_str().unwrap();
    assert!(
        message.contains("1 earlier conversation can") && message.contains("mnemal import --own-history"),
        "{message}"
    );
    assert_eq!(desk.start_session("now", "resume"), "{}");
    assert!(!desk.data().join("spaces").exists());
    assert_eq!(desk.log(), "");
}

#[test]
fn what_a_session_was_shown_is_not_shown_again_until_its_window_loses_it() {
    let desk = HookFixture::used();
    let ask = || desk.prompt("now", "Which port does the orders database listen on?");
    let first = ask();
    assert!(block(&first).contains("5544"), "{first}");
    assert_eq!(ask(), "{}");
    assert!(!block(&first).contains("thanks"), "{first}");
    assert_eq!(desk.start_session("now", "resume"), "{}");
    assert_eq!(ask(), "{}");
    // After a compaction the start shows the end of the last conversation again, without small talk.
    let again = block(&desk.start_session("now", "compact"));
    assert!(again.contains("5544") && !again.contains("welcome"), "{again}");
    assert_eq!(ask(), "{}");
    // Its own turns are in the window already.
    assert_eq!(desk.prompt("earlier", "Which port does the orders database listen on?"), "{}");
    for nothing in ["ok", "    ", "and then?", "what was that"] {
        assert_eq!(desk.prompt("other", nothing), "{}", "{nothing}");
    }
}

#[test]
fn a_prompt_recalls_at_most_the_lines_of_the_setting() {
    let desk = HookFixture::new();
    let lines: String = (0..30)
        .map(|n| {
            entry(
                "user",
                &format!("u{n}"),
                None,
                &json!(format!("The orders database number {n} listens on port 55{n}.")),
            )
        })
        .collect();
    let transcript = desk.write("many.jsonl", &lines);
    assert_eq!(desk.hook("Stop", &desk.input("now", &transcript)), "{}");
    let shown = block(&desk.prompt("other", "Which port does the orders database listen on?"));
    assert_eq!(
        shown.lines().filter(|line| mnemal::context::line_number(line).is_some()).count(),
        6,
        "{shown}"
    );
}

#[test]
fn a_transcript_that_grows_is_captured_once_with_its_links() {
    let whole = HookFixture::used();
    let grown = HookFixture::new();
    let bytes = EARLIER.as_bytes();
    let path = grown.path().join("earlier.jsonl");
    // Truncated anywhere, also within a line and within a character.
    for end in (0..bytes.len()).step_by(173).chain([bytes.len()]) {
        std::fs::write(&path, &bytes[..end]).unwrap();
        assert_eq!(grown.hook("Stop", &grown.input("earlier", &path)), "{}");
    }
    let plain = |desk: &HookFixture| -> Vec<Value> {
        let keep = |mut event: Value| {
            event.as_object_mut().unwrap().remove("recorded_at");
            event
        };
        desk.events().into_iter().map(keep).collect()
    };
    assert_eq!(plain(&grown), plain(&whole));
    assert_eq!(grown.log(), "");
    // Without its position file, and after the transcript was replaced by a shorter one, nothing is stored twice.
    std::fs::remove_dir_all(grown.data().join("hooks")).unwrap();
    assert_eq!(grown.hook("SessionEnd", &grown.input("earlier", &path)), "{}");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(grown.hook("Stop", &grown.input("earlier", &path)), "{}");
    assert_eq!(plain(&grown), plain(&whole));
    // A log that lost its newest events gets them back.
    for entry in std::fs::read_dir(grown.data().join("spaces")).unwrap().flatten() {
        std::fs::remove_file(entry.path()).unwrap();
    }
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(grown.hook("Stop", &grown.input("earlier", &path)), "{}");
    assert_eq!(plain(&grown), plain(&whole));
    // An import of the same file recognizes its events.
    let report = grown.run(&["--json", "import", "--own-history", path.to_str().unwrap()]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(
        (report["stored"].as_u64(), report["duplicates"].as_u64()),
        (Some(0), Some(whole.events().len() as u64))
    );
}

#[test]
fn whose_words_were_captured_is_kept_and_what_is_nobodys_memory_is_not() {
    let desk = HookFixture::new();
    let private = json!(
        "my pin is <private>4711</private>, and <system-reminder>be brief</system-reminder>we use pnpm"
    );
    let call = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": "Cargo.toml"}]);
    let text = [
        entry("user", "u1", None, &private),
        "{\"broken\": \n".to_owned(),
        entry("assistant", "a1", Some("u1"), &json!([{"type": "text", "text": "pnpm it is"}])),
        entry("assistant", "a2", Some("a1"), &call),
        entry("user", "u2", Some("a2"), &result),
    ];
    let transcript = desk.write("t.jsonl", &text.concat());
    assert_eq!(desk.hook("Stop", &desk.input("now", &transcript)), "{}");
    let events = desk.events();
    let origins: Vec<&str> = events.iter().map(|event| event["origin"].as_str().unwrap()).collect();
    assert_eq!(origins, ["user_direct", "assistant", "assistant", "tool_external"], "{events:?}");
    let export = desk.export();
    for absent in ["4711", "be brief", "broken"] {
        assert!(!export.contains(absent), "{absent}");
    }
    assert!(desk.log().contains("1 lines of"), "{}", desk.log());
}

// proves: J2
#[test]
fn what_was_injected_and_comes_back_adds_nothing() {
    let desk = HookFixture::used();
    desk.run(&["remember", "Deploys happen on Tuesdays", "--key", "deploy_day"]);
    let transcript = desk.path().join("now.jsonl");
    let ask = |source: &str| {
        let mut input = desk.input("now", &transcript);
        input["source"] = source.into();
        let start = desk.hook("SessionStart", &input);
        (
            start,
            desk.prompt("now", "On which port does the orders database listen, and when do deploys happen?"),
        )
    };
    let (start, first) = ask("startup");
    assert!(block(&start).contains("5544") && block(&first).contains("Tuesdays"), "{start} {first}");
    let (notes, events) = (desk.run(&["--json", "status"]), desk.events().len());
    let n_notes = |status: &str| serde_json::from_str::<Value>(status).unwrap()["notes"].clone();
    let known = desk.export();
    let mut text = String::new();
    for round in 0..100 {
        // The client writes the block into the transcript in all of its ways.
        let (user, meta) = (format!("u{round}"), format!("m{round}"));
        let reminder = format!("<system-reminder>\n{}</system-reminder>", block(&first));
        text.push_str(&entry(
            "user",
            &user,
            None,
            &json!(block(if round % 2 == 0 { &first } else { &start })),
        ));
        text.push_str(&entry("user", &meta, Some(&user), &json!([{"type": "text", "text": reminder}])));
        std::fs::write(&transcript, &text).unwrap();
        assert_eq!(desk.hook("Stop", &desk.input("now", &transcript)), "{}");
        let (start_again, again) = if round % 10 == 9 { ask("compact") } else { ask("resume") };
        if round % 10 == 9 {
            assert_eq!(steady(&again), steady(&first), "round {round}");
            assert_eq!(steady(&start_again), steady(&start), "round {round}");
        } else {
            assert_eq!((start_again.as_str(), again.as_str()), ("{}", "{}"), "round {round}");
        }
    }
    assert_eq!(desk.events().len(), events);
    assert_eq!(n_notes(&desk.run(&["--json", "status"])), n_notes(&notes));
    assert_eq!(desk.export(), known, "no byte of what the log holds has changed");
}

#[test]
fn a_compaction_leaves_one_summary_in_the_conversations_own_words() {
    let desk = HookFixture::used();
    let input = desk.input("earlier", &desk.path().join("earlier.jsonl"));
    for _ in 0..3 {
        assert_eq!(desk.hook("PreCompact", &input), "{}");
    }
    let notes: Vec<Value> = desk.events().into_iter().filter(|event| event["role"] == "decision").collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let text = notes[0]["content"].as_str().or(notes[0]["text"].as_str()).unwrap();
    assert!(text.starts_with("[2026-03-02 09:41]") && text.contains("5544"), "{text}");
}

// proves: DF-80
#[test]
fn many_hooks_at_once_lose_nothing_and_leave_no_process() {
    let desk = HookFixture::new();
    let transcripts: Vec<PathBuf> = (0..4)
        .map(|file| {
            let entries: String = (0..20)
                .map(|n| {
                    entry(
                        "user",
                        &format!("{file}-{n}"),
                        None,
                        &json!(format!("file {file} says number {n} of the list")),
                    )
                })
                .collect();
            desk.write(&format!("t{file}.jsonl"), &entries)
        })
        .collect();
    for _ in 0..8 {
        let mut children = Vec::new();
        for transcript in &transcripts {
            let mut input = desk.input("now", transcript);
            input["prompt"] = "which number does the list say?".into();
            for event in ["Stop", "SubagentStop", "UserPromptSubmit"] {
                children.push(desk.start(&["hook", "claude-code", event], input.to_string().as_bytes()));
            }
        }
        for child in children {
            let group = child.id();
            answer(child.wait_with_output().unwrap());
            assert_eq!(members(group), 0, "nothing outlives the hook that started it");
        }
    }
    // The log contains the turns, and the timeline entries of the long conversation.
    let mut said = desk.events();
    said.retain(|event| event["role"] == "user");
    assert_eq!(said.len(), 80, "{}", desk.log());
    assert_eq!(desk.log(), "");
}

/// A store that never answers: the database is a pipe without a writer.
#[cfg(unix)]
#[test]
fn a_store_that_hangs_ends_with_the_deadline() {
    let desk = HookFixture::used();
    let database = desk.database();
    std::fs::remove_file(&database).unwrap();
    assert!(Command::new("mkfifo").arg(&database).status().unwrap().success());
    let mut command = desk.command(&["hook", "claude-code", "UserPromptSubmit"]);
    command.env("MNEMAL_HOOKS__DEADLINE_MS", "50").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = desk.input("now", &desk.path().join("none.jsonl"));
    input["prompt"] = "which port does the orders database listen on?".into();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    assert_eq!(answer(child.wait_with_output().unwrap()), "{}");
    assert_eq!(desk.log().lines().count(), 1, "{}", desk.log());
}

/// A client that never closes stdin.
#[test]
fn an_input_that_never_ends_ends_with_the_deadline() {
    let desk = HookFixture::used();
    let mut command = desk.command(&["hook", "claude-code", "SessionStart"]);
    command.env("MNEMAL_HOOKS__DEADLINE_MS", "50").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut open = child.stdin.take().unwrap();
    open.write_all(b"{\"session_id\": \"now\"").unwrap();
    assert_eq!(answer(child.wait_with_output().unwrap()), "{}");
    drop(open);
    assert!(desk.log().contains("no answer within 50 ms"), "{}", desk.log());
}

#[test]
fn hooks_can_be_turned_off_and_narrowed_and_a_wrong_setting_is_no_fault_of_the_client() {
    let desk = HookFixture::new();
    let transcript = desk.write("earlier.jsonl", EARLIER);
    let stop = |config: &str| {
        let config = desk.write("config.toml", config);
        let args = ["--config", config.to_str().unwrap(), "hook", "claude-code", "Stop"];
        answer(
            desk.start(&args, desk.input("earlier", &transcript).to_string().as_bytes())
                .wait_with_output()
                .unwrap(),
        )
    };
    assert_eq!(stop("[hooks]\ncapture = \"off\""), "{}");
    assert!(!desk.data().join("spaces").exists());
    assert_eq!(stop("[hooks]\nrecal_tokens = 3"), "{}");
    assert!(desk.log().contains("recal_tokens"), "{}", desk.log());
    assert_eq!(stop("[hooks]\ncapture_roles = [\"user\"]"), "{}");
    assert!(desk.events().iter().all(|event| event["role"] == "user"));
    let config = desk.write("config.toml", "[hooks]\nrecall = false");
    let input = json!({"session_id": "now", "cwd": desk.project(), "prompt": "which port does the orders database listen on?"});
    let args = ["--config", config.to_str().unwrap(), "hook", "claude-code", "UserPromptSubmit"];
    assert_eq!(answer(desk.start(&args, input.to_string().as_bytes()).wait_with_output().unwrap()), "{}");
}

#[test]
fn what_was_captured_and_then_rewound_holds_no_more() {
    let desk = HookFixture::new();
    let entry = |uuid: &str, parent: Option<&str>, second: u32, text: &str| {
        let kind = if uuid.starts_with('a') { "assistant" } else { "user" };
        json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "e1",
            "timestamp": format!("2026-11-03T10:00:{second:02}Z"), "message": {"role": kind, "content": text},
        })
    };
    let lines = [
        entry("u1", None, 0, "Fangen wir an."),
        entry("a1", Some("u1"), 2, "Gut."),
        entry(
            "u2",
            Some("a1"),
            10,
            "Antworte ab jetzt immer in Großbuchstaben. Ich bin gegen Walnüsse allergisch.",
        ),
        entry("a2", Some("u2"), 12, "OK."),
        entry("u3", Some("a1"), 30, "Zeig mir die offenen Rechnungen."),
        entry("a3", Some("u3"), 33, "OK."),
    ];
    let text = |lines: &[Value]| lines.iter().map(|line| line.to_string() + "\n").collect::<String>();
    let known = || desk.run(&["fact", "list"]) + &desk.run(&["preference", "list"]);
    let transcript = desk.write("e1.jsonl", &text(&lines[..4]));
    desk.hook("Stop", &desk.input("e1", &transcript));
    assert!(known().contains("Großbuchstaben"), "{}", known());
    desk.write("e1.jsonl", &text(&lines));
    desk.hook("Stop", &desk.input("e1", &transcript));
    assert_eq!(known(), "");
    let log = desk.run(&["log", "list"]);
    assert!(!log.contains("Walnüsse") && log.contains("Rechnungen"), "{log}");
    assert_eq!(log.matches("assistant: OK.").count(), 1, "the same may be said again: {log}");
    desk.run(&["rebuild", "--layer", "learnings"]);
    assert_eq!(known(), "");
}
