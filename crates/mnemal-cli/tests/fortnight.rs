//! Two weeks of one user with two projects, through the hooks: the injected blocks are those that a careful person would inject.
//! The story and its expected blocks are in `fortnight/script.txt`, which explains its format.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const STORY: &str = include_str!("fortnight/script.txt");

/// One user's machine during the story.
struct Machine {
    home: TempDir,
    day: String,
    project: String,
    session: String,
    /// Number of entries of each transcript, to name and link new ones.
    entries: HashMap<String, usize>,
    /// The line of the story, and the lines injected by its hook.
    injected: (usize, String, Vec<String>),
    expected: Vec<String>,
    /// Whether the story states the expected injection of the last hook.
    judged: bool,
    differences: String,
}

impl Machine {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            day: String::new(),
            project: String::new(),
            session: String::new(),
            entries: HashMap::new(),
            injected: (0, String::new(), Vec::new()),
            expected: Vec::new(),
            judged: false,
            differences: String::new(),
        }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join(&self.project)
    }

    fn transcript(&self) -> PathBuf {
        self.home.path().join(format!("{}.jsonl", self.session))
    }

    fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command.current_dir(self.folder()).env_clear().env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000");
        command.env("HOME", self.home.path()).env("MNEMAL_DATA_DIR", self.home.path().join("data"));
        command.env("MNEMAL_HOOKS__DEADLINE_MS", "60000");
        command
    }

    fn enter(&mut self, project: &str, session: &str) {
        project.clone_into(&mut self.project);
        self.session = format!("{project}-{session}");
        std::fs::create_dir_all(self.folder().join(".git")).unwrap();
    }

    /// Runs a hook and records its injection.
    fn hook(&mut self, event: &str, more: &Value) -> Vec<String> {
        let mut input = json!({
            "session_id": self.session, "transcript_path": self.transcript(), "cwd": self.folder(),
            "hook_event_name": event,
        });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut command = self.program();
        command.args(["hook", "claude-code", event]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{event}: {:?}", output.status);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let block = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        block.lines().filter_map(bare).collect()
    }

    /// Adds an entry to the transcript in the client's format.
    fn say(&mut self, time: &str, kind: &str, content: &Value) {
        let session = self.session.clone();
        let place = self.entries.entry(session.clone()).or_default();
        let uuid = |place: usize| format!("{session}-{place}");
        let entry = json!({
            "type": kind, "uuid": uuid(*place), "parentUuid": place.checked_sub(1).map(uuid),
            "sessionId": session, "cwd": self.home.path().join(&self.project), "isSidechain": false,
            "timestamp": format!("{}T{time}:00.000Z", self.day),
            "message": {"role": kind, "content": content},
        });
        *place += 1;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(self.transcript()).unwrap();
        writeln!(file, "{entry}").unwrap();
    }

    fn tool(&mut self, rest: &str) {
        let (time, call) = rest.split_once(' ').unwrap();
        let parts: Vec<&str> = call.split(" | ").collect();
        let asked = format!("call-{}", self.entries.get(&self.session).copied().unwrap_or_default());
        let call =
            json!([{"type": "tool_use", "id": asked, "name": parts[0], "input": {"argument": parts[1]}}]);
        self.say(time, "assistant", &call);
        let result = json!([{"type": "tool_result", "tool_use_id": asked, "content": parts[2]}]);
        self.say(time, "user", &result);
    }

    fn run(&self, line: &str) {
        let status = self.program().args(words(line)).arg("--yes").stdout(Stdio::null()).status().unwrap();
        assert!(status.success(), "{line}");
    }

    /// Compares the last injection with the expected one.
    fn settle(&mut self) {
        let (line, step, injected) = &self.injected;
        if self.judged && *injected != self.expected {
            writeln!(self.differences, "line {line}: {step}").unwrap();
            for one in injected {
                writeln!(self.differences, "  injected {one}").unwrap();
            }
            for one in &self.expected {
                writeln!(self.differences, "  expected {one}").unwrap();
            }
        }
        self.judged = false;
        self.expected.clear();
        self.injected.2.clear();
    }

    fn step(&mut self, number: usize, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            ">" => {
                self.judged = true;
                return self.expected.push(rest.to_owned());
            }
            "nothing" => return self.judged = true,
            _ => self.settle(),
        }
        let mut injected = Vec::new();
        match word {
            "day" => rest.clone_into(&mut self.day),
            "in" => {
                let (project, session) = rest.split_once(' ').unwrap();
                self.enter(project, session);
            }
            "start" => injected = self.hook("SessionStart", &json!({"source": rest})),
            "prompt" => {
                let (time, text) = rest.split_once(' ').unwrap();
                injected = self.hook("UserPromptSubmit", &json!({"prompt": text}));
                self.say(time, "user", &json!(text));
            }
            "answer" => {
                let (time, text) = rest.split_once(' ').unwrap();
                self.say(time, "assistant", &json!([{"type": "text", "text": text}]));
            }
            "tool" => self.tool(rest),
            "stop" => assert!(self.hook("Stop", &json!({"stop_hook_active": false})).is_empty()),
            "compact" => assert!(self.hook("PreCompact", &json!({"trigger": "auto"})).is_empty()),
            "crash" => {}
            "run" => self.run(rest),
            other => panic!("line {number}: no step {other:?}"),
        }
        self.injected = (number, line.to_owned(), injected);
    }
}

/// A line of a block without its id; days after the story become `today`. Lines of the fence are ignored.
fn bare(line: &str) -> Option<String> {
    if line == "external:" {
        return Some(line.to_owned());
    }
    let number = mnemal::context::line_number(line)?;
    let (day, text) = line.strip_prefix(&format!("- {number} "))?.split_once(' ')?;
    let day = if day.starts_with("2026-03") { day } else { "today" };
    Some(format!("- {number} {day} {text}"))
}

/// Splits a command at spaces, except within quotes.
fn words(line: &str) -> Vec<String> {
    line.split('"')
        .enumerate()
        .flat_map(|(place, part)| match place % 2 {
            1 => vec![part.to_owned()],
            _ => part.split_whitespace().map(str::to_owned).collect(),
        })
        .collect()
}

#[test]
fn two_weeks_of_use_inject_what_a_careful_person_would() {
    let mut machine = Machine::new();
    let steps = STORY.lines().enumerate().map(|(place, line)| (place + 1, line.trim()));
    for (number, line) in steps.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        machine.step(number, line);
    }
    machine.settle();
    assert!(machine.differences.is_empty(), "\n{}", machine.differences);
}
