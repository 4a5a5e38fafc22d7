//! `mnemal mcp` as a client starts it: a separate process behind two pipes.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A server behind its pipes.
struct Server {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    last_id: u64,
}

fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command
        .current_dir(home)
        .env_clear()
        .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
        .env("MNEMAL_PRIVACY__AGENT_ITEMS_PER_HOUR", "0")
        .env("HOME", home)
        .env("MNEMAL_DATA_DIR", home.join("data"));
    command
}

impl Server {
    fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = command(home);
        command.arg("mcp").args(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (requests, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Self { child, requests, answers, last_id: 0 };
        let hello = server.request(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        );
        assert_eq!(hello["serverInfo"]["name"], "mnemal");
        server
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        writeln!(self.requests, "{request}").unwrap();
        self.last_id
    }

    /// Reads one line, which must be a message of the protocol.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Closes the input; returns the time until exit, the remaining stdout, and stderr.
    #[expect(clippy::disallowed_methods, reason = "the end of a process is measured on the wall")]
    fn end(mut self) -> (Duration, String, String) {
        drop(self.requests);
        let ended = Instant::now();
        let (mut rest, mut talk) = (String::new(), String::new());
        self.answers.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        let took = ended.elapsed();
        self.child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
        assert_eq!(status.code(), Some(0), "{talk}");
        (took, rest, talk)
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

// proves: NX-07.1 (a second process), DF-70
#[test]
fn what_one_process_stores_every_other_one_recalls_at_once() {
    let home = TempDir::new().unwrap();
    let mut one = Server::start(home.path(), &[]);
    let mut two = Server::start(home.path(), &[]);
    for number in 0..20 {
        let (writer, reader) = if number % 2 == 0 { (&mut one, &mut two) } else { (&mut two, &mut one) };
        let content = format!("The code name of project {number} is heron{number}");
        let stored =
            writer.call("memory_store", &json!({"content": content, "key": format!("name_{number}")}));
        assert_eq!(stored["structuredContent"]["created"], true, "{stored}");
        let found = reader.call("memory_recall", &json!({"query": format!("heron{number}"), "limit": 1}));
        assert!(text(&found).contains(&content), "{number}: {found}");
        let loaded = reader.call("memory_context", &json!({"query": format!("heron{number}")}));
        assert!(text(&loaded).contains(&content), "{number}: {loaded}");
    }
    let told = command(home.path()).args(["recall", "heron19", "--json"]).output().unwrap();
    assert!(String::from_utf8(told.stdout).unwrap().contains("heron19"));
    let typed = command(home.path()).args(["remember", "The fox is called Rusty"]).output().unwrap();
    assert!(typed.status.success());
    for server in [&mut one, &mut two] {
        assert!(text(&server.call("memory_recall", &json!({"query": "fox"}))).contains("Rusty"));
    }
    one.end();
    two.end();
}

#[test]
fn two_servers_write_to_one_file_and_nothing_is_lost_or_doubled() {
    let home = TempDir::new().unwrap();
    let mut servers: Vec<Server> = (0..2).map(|_| Server::start(home.path(), &[])).collect();
    for (owner, server) in servers.iter_mut().enumerate() {
        for number in 0..40 {
            let arguments =
                json!({"content": format!("fact {number} of {owner}"), "key": format!("k{owner}_{number}")});
            let _id = server.send("tools/call", &json!({"name": "memory_store", "arguments": arguments}));
            let shared = json!({"content": format!("shared fact {number}")});
            let _id = server.send("tools/call", &json!({"name": "memory_store", "arguments": shared}));
        }
    }
    for server in &mut servers {
        for _ in 0..80 {
            let answer = server.next();
            assert!(answer["result"]["isError"] == false, "{answer}");
        }
    }
    // Each call folds for a limited time; on a busy machine one is not enough.
    let look = |_| -> Value {
        let told = command(home.path()).args(["status", "--json"]).output().unwrap();
        serde_json::from_slice(&told.stdout).unwrap()
    };
    let is_folded = |status: &Value| {
        let layers = status["layers"].as_array().unwrap();
        layers.iter().any(|layer| layer["layer"] == "learnings" && layer["behind"] == 0)
    };
    let status = (0..100).map(look).find(is_folded).unwrap();
    assert_eq!(status["notes"], 2 * 40 + 40, "{status}");
    for server in servers {
        server.end();
    }
}

#[test]
fn the_process_speaks_only_the_protocol_and_ends_with_its_input() {
    let home = TempDir::new().unwrap();
    let mut server = Server::start(home.path(), &["--profile", "core"]);
    for line in ["garbage", "{}", "[]", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}"] {
        writeln!(server.requests, "{line}").unwrap();
    }
    let id = server.send("tools/list", &json!({}));
    // Invalid messages were answered or ignored before.
    let listed = loop {
        let message = server.next();
        if message["id"] == id {
            break message["result"]["tools"].clone();
        }
    };
    for tool in listed.as_array().unwrap() {
        let result = server.call(tool["name"].as_str().unwrap(), &json!({"query": "x", "content": "x"}));
        assert!(result["content"].is_array(), "{result}");
    }
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", server.child.id()));
    assert!(children.is_err() || children.is_ok_and(|children| children.is_empty()));
    let (took, rest, talk) = server.end();
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!((rest.as_str(), talk.as_str()), ("", ""));
    // All data is in one file again.
    let data = home.path().join("data/spaces");
    let names: Vec<String> = std::fs::read_dir(data)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!names.iter().any(|name| name.ends_with("-wal")), "{names:?}");
}

#[test]
fn a_space_is_chosen_as_for_every_command_and_reading_only_is_a_profile() {
    let home = TempDir::new().unwrap();
    let mut own = Server::start(home.path(), &["--space", "own"]);
    let stored = own.call("memory_store", &json!({"content": "Own things stay here"}));
    assert_eq!(stored["isError"], false, "{stored}");
    let mut other = Server::start(home.path(), &["--space", "other", "--profile", "readonly"]);
    let found = other.call("memory_recall", &json!({"query": "own things"}));
    assert!(text(&found).starts_with("Nothing found."), "{found}");
    assert_eq!(other.request("tools/list", &json!({}))["tools"].as_array().unwrap().len(), 16);
    own.end();
    other.end();
}

// proves: PB-46, PB-56, PB-54 (the setting)
#[test]
fn where_memory_is_switched_off_nothing_is_kept_and_no_tool_is_offered() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let off = |arguments: &[&str]| {
        let mut command = command(home);
        command.args(arguments).env("MNEMAL_MEMORY__ENABLED", "false").stdin(Stdio::null());
        command.output().unwrap()
    };
    assert!(off(&["-s", "demo", "log", "add", "The heron nests behind the mill"]).status.success());
    let found = off(&["-s", "demo", "recall", "heron", "--json"]);
    assert!(found.status.success());
    assert!(!String::from_utf8(found.stdout).unwrap().contains("mill"));
    assert!(!home.join("data/spaces/demo.db").exists(), "no file was made");
    assert_eq!(off(&["serve"]).status.code(), Some(2), "there is nothing to serve");
    std::fs::create_dir_all(home.join(".config/mnemal")).unwrap();
    std::fs::write(home.join(".config/mnemal/config.toml"), "[memory]\nenabled = false\n").unwrap();
    let mut server = Server::start(home, &[]);
    assert_eq!(server.request("tools/list", &json!({}))["tools"], json!([]));
    server.end();
    // The other numbers of that design.
    let settings = mnemal::Settings::default();
    let compress =
        (settings.compress.turn_threshold, settings.compress.idle_minutes, settings.compress.max_failures);
    assert_eq!(compress, (3, 10, 3));
    assert_eq!((settings.recall.inject_limit, settings.retention.timeline_days), (5, 90));
}

#[test]
fn who_comes_from_the_official_memory_server_is_told_what_becomes_of_its_file() {
    let home = TempDir::new().unwrap();
    let said = |profile: &str, file: &str| {
        let mut command = command(home.path());
        command.env("MEMORY_FILE_PATH", file).args(["mcp", "--profile", profile]).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let told = said("classic", "old/memory.jsonl");
    assert!(told.contains("MEMORY_FILE_PATH") && told.contains("import --format mcp-memory"), "{told}");
    for (profile, file) in [("classic", ""), ("core", "old/memory.jsonl")] {
        let told = said(profile, file);
        assert!(!told.contains("MEMORY_FILE_PATH"), "{profile} {file}: {told}");
    }
}
