//! Isolation: no command and no tool shows text of another space or another user, whatever ids and names are given.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Words that occur only in the other space.
const CANARIES: [&str; 4] = ["quarzblende", "zimtkrone", "nebelfink", "opaldistel"];

/// The call of each command: `{event}`, `{note}`, `{entity}`, `{session}` and `{key}` are ids and names of the other space,
/// `{new}` is an unused path, `{file}` a local file. `None`, with the reason: it shows no content of a space.
const COMMANDS: &[(&str, Option<&str>)] = &[
    ("init", Some("")),
    ("demo", None), // shows a sample in a space of its own that is thrown away
    ("remember", Some("ours --key {key}")),
    ("recall", Some("garden lamp harbour")),
    ("ask", Some("garden lamp harbour --session {session}")),
    ("context", Some("garden lamp harbour --session {session}")),
    ("forget", Some("{event} --dry-run")),
    ("verify-receipt", Some("/no/such/receipt")),
    ("why", Some("{event}")),
    ("why-not", Some("{event}")),
    ("feedback", Some("rcl_00000000000000000000000000 {note} useful")),
    ("diff", Some("2020-01-01")),
    ("report", Some("")),
    ("settings", None), // shows no content of a space
    ("log add", Some("hello")),
    ("log list", Some("--session {session} --quarantined")),
    ("log show", Some("{event}")),
    ("log release", Some("{event}")),
    ("extract", Some("{event}")),
    ("entity list", Some("")),
    ("entity show", Some("{entity}")),
    ("entity path", Some("{entity} Ulf")),
    ("entity suggestions", Some("")),
    ("entity merge", Some("{entity} Ulf --dry-run")),
    ("entity split", Some("{entity} Ulf --dry-run")),
    ("entity rename", Some("{entity} Ulla --dry-run")),
    ("entity forget", Some("{entity} --dry-run")),
    ("fact list", Some("")),
    ("fact add", Some("{entity} likes tea --dry-run")),
    ("fact invalidate", Some("{entity} likes tea --dry-run")),
    ("fact cardinality", Some("lives_in many --dry-run")),
    ("topic list", Some("")),
    ("topic show", Some("garden")),
    ("summary", Some("--tree")),
    ("session list", Some("")),
    ("session show", Some("{session}")),
    ("session compress", Some("{session}")),
    ("session rm", Some("{session} --dry-run")),
    ("graph export", Some("")),
    ("memory list", Some("")),
    ("memory show", Some("{note}")),
    ("memory history", Some("{key}")),
    ("memory archive", Some("{note}")),
    ("memory restore", Some("{key}")),
    ("memory reject", Some("{note}")),
    ("memory confirm", Some("{note}")),
    ("memory categories", Some("")),
    ("memory pin", Some("{note}")),
    ("memory unpin", Some("{note}")),
    ("memory status", Some("")),
    ("memory summary", Some("--tree")),
    ("memory search", Some("garden lamp harbour")),
    ("memory entities", Some("")),
    ("memory entity", Some("{entity}")),
    ("memory forget", Some("{entity} --dry-run")),
    ("memory export", Some("")),
    ("memory import", Some("{file} --dry-run")),
    ("learning list", Some("")),
    ("learning show", Some("{note}")),
    ("learning history", Some("{key}")),
    ("learning archive", Some("{note}")),
    ("learning restore", Some("{key}")),
    ("learning reject", Some("{note}")),
    ("learning confirm", Some("{note}")),
    ("learning categories", Some("")),
    ("learning pin", Some("{note}")),
    ("learning unpin", Some("{note}")),
    ("preference list", Some("")),
    ("preference show", Some("{note}")),
    ("preference history", Some("{key}")),
    ("preference archive", Some("{note}")),
    ("preference restore", Some("{key}")),
    ("preference reject", Some("{note}")),
    ("preference confirm", Some("{note}")),
    ("preference categories", Some("")),
    ("preference pin", Some("{note}")),
    ("preference unpin", Some("{note}")),
    ("dream log", Some("")),
    ("dream sample", Some("")),
    ("dream judge", Some("0 right words")),
    ("undo", Some("{event}")),
    ("working put", Some("lamp ours")),
    ("working get", Some("{key}")),
    ("working list", Some("")),
    ("working search", Some("garden")),
    ("working rm", Some("{key}")),
    ("model status", Some("")),
    ("model check", Some("")),
    ("model undo", Some("")),
    ("import", Some("{file} --dry-run")),
    ("ingest", Some("{file}")),
    ("inbox status", Some("")),
    ("inbox run", Some("")),
    ("export", Some("")),
    ("space list", Some("")),
    ("space create", Some("third")),
    ("space show", Some("ours")),
    ("space set", Some("third --description free")),
    ("space trust", None), // notes that a project may choose its space, and opens none
    ("space rm", None),    // names the space that it removes, and shows nothing of what was in it
    ("backup", Some("{new}")),
    ("restore", Some("/no/such/backup")),
    ("recover", None), // writes a file of the damaged space that is named
    ("reindex", Some("--embeddings")),
    ("rebuild", Some("")),
    ("audit verify", None), // reads the log of acts, which has ids and no words
    ("check", Some("--quality")),
    ("status", Some("")),
    ("memory-tool", None),      // reads stdin; it is called below
    ("mcp", None),              // its tools are called below
    ("serve", None),            // its routes have tests of their own
    ("worker", None),           // looks after whole spaces, and shows no words
    ("ui", None),               // opens the pages of the server, which ask its routes
    ("database migrate", None), // makes tables, and reads no rows
    ("key create", None),       // keys of the server hold no words of a space
    ("key list", None),
    ("key revoke", None),
    ("key local", None),
    ("doctor", Some("")),
    ("health", None),      // asks a server about itself
    ("hook", None),        // answers a client of the folder's own space; its tests are in hooks.rs
    ("models list", None), // files of this machine, which hold no words of a space
    ("models add", None),
    ("models remove", None),
    ("setup", None),       // changes the settings of a client
    ("completions", None), // says what commands there are
    ("man", None),
];

/// The calls of each tool.
const TOOLS: &[(&str, &[(&str, &str)])] = &[("full", FULL), ("chatgpt", CHATGPT), ("classic", CLASSIC)];

/// All of mnemal's own tools; `readonly` and `compat` offer some of these, under their own or other names.
const FULL: &[(&str, &str)] = &[
    ("memory_context", r#"{"query": "garden lamp harbour", "session": "{session}"}"#),
    ("memory_answer", r#"{"query": "Where is the garden lamp of the harbour?", "session": "{session}"}"#),
    ("memory_recall", r#"{"query": "garden lamp harbour"}"#),
    ("memory_store", r#"{"content": "ours", "key": "{key}"}"#),
    ("memory_forget", r#"{"key": "{key}"}"#),
    ("memory_entity", r#"{"id": "{entity}"}"#),
    ("memory_relationships", r#"{"from": "{entity}"}"#),
    ("working_put", r#"{"key": "lamp", "value": "ours"}"#),
    ("working_get", r#"{"key": "{key}"}"#),
    ("working_find", r#"{"prefix": "their"}"#),
    ("memory_get", r#"{"id": "{note}"}"#),
    ("memory_list", r#"{"since": "2020-01-01", "max_tokens": 8000}"#),
    ("memory_categories", "{}"),
    ("memory_update", r#"{"key": "{key}", "content": "ours"}"#),
    ("memory_history", r#"{"key": "{key}"}"#),
    ("memory_timeline", r#"{"id": "{event}"}"#),
    ("memory_summary", r#"{"key": "session:{session}"}"#),
    ("memory_learnings", "{}"),
    ("memory_explain", r#"{"recall_id": "rcl_00000000000000000000000000", "item_id": "{note}"}"#),
    (
        "memory_feedback",
        r#"{"recall_id": "rcl_00000000000000000000000000", "item_id": "{note}", "verdict": "useful"}"#,
    ),
    ("memory_ingest", r#"{"text": "ours too"}"#),
    ("memory_dream", "{}"),
    ("memory_status", "{}"),
];

/// The tools of ChatGPT.
const CHATGPT: &[(&str, &str)] =
    &[("search", r#"{"query": "garden lamp harbour"}"#), ("fetch", r#"{"id": "{event}"}"#)];

/// The tools of the official memory server.
const CLASSIC: &[(&str, &str)] = &[
    ("create_entities", r#"{"entities": [{"name": "Ulf", "entityType": "cat", "observations": ["ours"]}]}"#),
    ("create_relations", r#"{"relations": [{"from": "Ulf", "to": "{entity}", "relationType": "near"}]}"#),
    ("add_observations", r#"{"observations": [{"entityName": "{entity}", "contents": ["ours"]}]}"#),
    ("delete_observations", r#"{"deletions": [{"entityName": "{entity}", "observations": ["garden"]}]}"#),
    ("delete_relations", r#"{"relations": [{"from": "a", "to": "b", "relationType": "c"}]}"#),
    ("delete_entities", r#"{"entityNames": ["{entity}"]}"#),
    ("read_graph", "{}"),
    ("search_nodes", r#"{"query": "a"}"#),
    ("open_nodes", r#"{"names": ["{entity}"]}"#),
];

/// Resources and prompts: method and parameters.
const PARTS: &[(&str, &str)] = &[
    ("resources/list", "{}"),
    ("resources/templates/list", "{}"),
    ("resources/read", r#"{"uri": "memory://ours/summary"}"#),
    ("resources/read", r#"{"uri": "memory://ours/preferences"}"#),
    ("resources/read", r#"{"uri": "memory://ours/learnings"}"#),
    ("resources/read", r#"{"uri": "memory://ours/event/{event}"}"#),
    ("resources/read", r#"{"uri": "memory://ours/memory/{note}"}"#),
    ("resources/read", r#"{"uri": "memory://ours/entity/{entity}"}"#),
    ("resources/read", r#"{"uri": "memory://ours/working/{key}"}"#),
    ("resources/read", r#"{"uri": "memory://theirs/summary"}"#),
    ("resources/read", r#"{"uri": "memory://theirs/event/{event}"}"#),
    ("prompts/get", r#"{"name": "load_context", "arguments": {"topic": "garden lamp harbour"}}"#),
    ("prompts/get", r#"{"name": "continue_session", "arguments": {"session": "{session}"}}"#),
    ("prompts/get", r#"{"name": "review_memory", "arguments": {"days": "999"}}"#),
    (
        "completion/complete",
        r#"{"ref": {"type": "ref/resource", "uri": "memory://ours/memory/{id}"}, "argument": {"name": "id", "value": ""}}"#,
    ),
    (
        "completion/complete",
        r#"{"ref": {"type": "ref/resource", "uri": "memory://theirs/entity/{id}"}, "argument": {"name": "id", "value": ""}}"#,
    ),
];

struct Homes {
    home: TempDir,
    /// The values of a call's placeholders.
    names: Vec<(&'static str, String)>,
}

impl Homes {
    /// Creates two spaces; the names are those of the one that is not queried.
    fn new() -> Self {
        Self::of(&["-s", "theirs"], &["-s", "ours"])
    }

    /// Creates two memories, given by options; the names are those of the first.
    fn of(other: &[&str], own: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut homes = Self { home, names: Vec::new() };
        let theirs = |homes: &Self, args: &[&str]| -> Value {
            let (out, err) = homes.run(&[other, &["--json"], args].concat());
            assert!(out.starts_with(['{', '[']), "{args:?}: {out}{err}");
            serde_json::from_str(&out).unwrap()
        };
        let said = "The garden lamp of Ronja Quarzblende stands at the harbour beside the zimtkrone.";
        let event = theirs(&homes, &["log", "add", said, "--session", "their-talk"])["id"].clone();
        let note =
            theirs(&homes, &["remember", "The nebelfink opens the harbour garden", "--key", "their-key"]);
        theirs(&homes, &["remember", "I prefer an opaldistel lamp in the garden", "--kind", "preference"]);
        theirs(&homes, &["log", "add", "Ronja Quarzblende moved to Kiruna.", "--session", "their-talk"]);
        homes.run(&[other, &["working", "put", "their-key", "zimtkrone in the garden"]].concat());
        let entities = theirs(&homes, &["entity", "list"])["entities"].clone();
        let known = entities.as_array().unwrap().iter().find(|one| one["name"] == "Ronja Quarzblende");
        assert!(known.is_some(), "{entities}");
        let entity = known.unwrap()["id"].clone();
        homes.run(&[own, &["log", "add", "Ulf has a garden with a lamp near the harbour."]].concat());
        let file = homes.home.path().join("ours.jsonl");
        std::fs::write(&file, "{\"id\":\"1\",\"speaker\":\"Ulf\",\"text\":\"a lamp\"}\n").unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        homes.names = vec![
            ("{event}", text(&event)),
            ("{note}", text(&note["id"])),
            ("{entity}", text(&entity)),
            ("{session}", "their-talk".to_owned()),
            ("{key}", "their-key".to_owned()),
            ("{file}", file.display().to_string()),
            ("{new}", homes.home.path().join("copy.db").display().to_string()),
        ];
        homes
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command
            .args(args)
            .current_dir(self.home.path())
            .env_clear()
            .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
            .env("TZ", "UTC");
        command.env("HOME", self.home.path()).env("MNEMAL_DATA_DIR", self.home.path().join("data"));
        command
    }

    fn run(&self, args: &[&str]) -> (String, String) {
        let output = self.command(args).stdin(Stdio::null()).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn filled(&self, call: &str) -> String {
        self.names.iter().fold(call.to_owned(), |call, (place, name)| call.replace(place, name))
    }

    /// All commands, with subcommands.
    fn commands(&self, above: &[&str]) -> BTreeSet<String> {
        let (help, _) = self.run(&[above, &["--help"]].concat());
        // The program lists its commands in groups, before its options; a command lists its subcommands under one heading.
        let list = match help.split_once("\nCommands:\n") {
            Some((_, list)) => list.split("\n\n").next().unwrap_or_default(),
            None if above.is_empty() => help.split("\nOptions:\n").next().unwrap_or_default(),
            None => return BTreeSet::from([above.join(" ")]),
        };
        let lines = list.lines();
        let names = lines.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
        let names = names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help");
        names.flat_map(|name| self.commands(&[above, &[name]].concat())).collect()
    }
}

fn leak(said: &str) -> Option<&'static str> {
    let said = said.to_lowercase();
    CANARIES.into_iter().find(|canary| said.contains(canary))
}

#[test]
fn no_command_shows_words_of_another_user() {
    let (other, own) = (["-s", "shared", "--only-user", "ada"], ["-s", "shared", "--only-user", "bo"]);
    let homes = Homes::of(&other, &own);
    let question = ["recall", "garden lamp harbour"];
    assert!(leak(&homes.run(&[&other[..], &question].concat()).0).is_some(), "the user is shown them");
    for (name, call) in COMMANDS {
        let Some(call) = call else { continue };
        let call = homes.filled(call);
        let words: Vec<&str> = match *name {
            "recall" | "memory search" => vec![call.as_str()],
            _ => call.split_whitespace().collect(),
        };
        let path: Vec<&str> = name.split(' ').collect();
        let args = [&own[..], &["-y"], &path, &words].concat();
        let (out, err) = homes.run(&args);
        assert_eq!(leak(&format!("{out}{err}")), None, "{args:?}: {out}{err}");
    }
    for refused in [&["export"][..], &["dream"], &["doctor"], &["recall", "lamp", "--user", "ada"]] {
        let (out, err) = homes.run(&[&own[..], refused].concat());
        assert!(out.is_empty() && err.contains("bo"), "{refused:?}: {out}{err}");
    }
}

#[test]
fn no_command_shows_words_of_another_space() {
    let homes = Homes::new();
    let listed: BTreeSet<String> = COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(homes.commands(&[]), listed, "a new command needs a line here");
    let (own, _) = homes.run(&["-s", "theirs", "recall", "garden lamp harbour"]);
    assert!(leak(&own).is_some(), "the space itself shows them");
    for (name, call) in COMMANDS {
        let Some(call) = call else { continue };
        let call = homes.filled(call);
        let words: Vec<&str> = if name == &"recall" || *name == "memory search" {
            vec![call.as_str()]
        } else {
            call.split_whitespace().collect()
        };
        let path: Vec<&str> = name.split(' ').collect();
        for machine in [&["-s", "ours", "-y"][..], &["-s", "ours", "-y", "--json"]] {
            let args = [machine, &path, &words].concat();
            let (out, err) = homes.run(&args);
            assert!(!out.is_empty() || !err.is_empty() || machine.len() == 3, "{args:?} says nothing");
            assert_eq!(leak(&format!("{out}{err}")), None, "{args:?}: {out}{err}");
        }
    }
    for path in ["/memories", "/memories/their-key.md", "/memories/general/their-key.md"] {
        let call = json!({"command": "view", "path": path}).to_string();
        let mut command = homes.command(&["-s", "ours", "memory-tool"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(call.as_bytes()).unwrap();
        let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        assert!(!said.is_empty() && leak(&said).is_none(), "{path}: {said}");
    }
}

/// An MCP server of our space.
struct Tools {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    last: u32,
}

impl Tools {
    fn start(homes: &Homes, profile: &str) -> Self {
        let mut command = homes.command(&["-s", "ours", "mcp", "--profile", profile]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (requests, answers) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut tools = Self { child, requests, answers, last: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        });
        tools.ask("initialize", &hello);
        tools
    }

    fn ask(&mut self, method: &str, params: &Value) -> String {
        self.last += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        writeln!(self.requests.as_mut().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line
    }

    fn end(mut self) {
        drop(self.requests.take());
        self.child.wait().unwrap();
    }
}

#[test]
fn no_tool_shows_words_of_another_space() {
    let homes = Homes::new();
    for (profile, calls) in TOOLS {
        let mut tools = Tools::start(&homes, profile);
        let listed: Value = serde_json::from_str(&tools.ask("tools/list", &json!({}))).unwrap();
        let listed = listed["result"]["tools"].as_array().unwrap().iter();
        let listed: BTreeSet<&str> = listed.map(|tool| tool["name"].as_str().unwrap()).collect();
        let called = calls.iter().map(|(name, _)| *name).collect();
        assert_eq!(listed, called, "a new tool of {profile} needs a line here");
        for (name, arguments) in *calls {
            let arguments: Value = serde_json::from_str(&homes.filled(arguments)).unwrap();
            let answer = tools.ask("tools/call", &json!({"name": name, "arguments": arguments}));
            assert!(answer.contains("\"result\""), "{name}: {answer}");
            assert_eq!(leak(&answer), None, "{name}: {answer}");
        }
        tools.end();
    }
}

#[test]
fn no_resource_and_no_prompt_shows_words_of_another_space() {
    let homes = Homes::new();
    let mut tools = Tools::start(&homes, "full");
    for (method, asked) in PARTS {
        let asked: Value = serde_json::from_str(&homes.filled(asked)).unwrap();
        let answer = tools.ask(method, &asked);
        assert!(answer.contains("\"result\"") || answer.contains("\"error\""), "{method}: {answer}");
        assert_eq!(leak(&answer), None, "{method} {asked}: {answer}");
    }
    tools.end();
}
