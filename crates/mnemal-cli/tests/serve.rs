//! `mnemal serve` as a person starts it, with other programs as its clients.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command
        .current_dir(home)
        .env_clear()
        .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
        .env("HOME", home)
        .env("MNEMAL_DATA_DIR", home.join("data"));
    // A busy machine must not decide which process answers.
    command.env("MNEMAL_SERVER__GREETING_MS", "60000").env("MNEMAL_HOOKS__DEADLINE_MS", "120000");
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(home: &Path, arguments: &[&str]) -> (i32, String) {
    let output = command(home, arguments).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

fn ask(address: &str, key: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.get(9..12).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

#[test]
fn a_server_is_asked_with_the_local_key_and_ends_cleanly_when_it_is_told_to() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let mut server = command(home, &["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let (code, key) = said(home, &["key", "local"]);
    assert_eq!(code, 0);
    let at = |path: &str| format!("/v1/spaces/demo/{path}");
    let turns = json!({"messages": [{"role": "user", "content": "I moved to Lyon"}]});
    assert_eq!(ask(&address, &key, "POST", &at("messages"), &turns).0, 201);
    // The command line opens the same space concurrently with the server.
    let (code, found) = said(home, &["-s", "demo", "recall", "Lyon", "--json"]);
    assert!(code == 0 && found.contains("I moved to Lyon"), "{found}");
    let (code, made) =
        said(home, &["-s", "demo", "key", "create", "--name", "ci", "--rights", "read", "--json"]);
    assert_eq!(code, 0);
    let made: Value = serde_json::from_str(&made).unwrap();
    let (reader, id) = (made["secret"].as_str().unwrap(), made["id"].as_str().unwrap());
    assert_eq!(ask(&address, reader, "GET", &at("stats"), &Value::Null).0, 200);
    assert_eq!(ask(&address, reader, "POST", &at("messages"), &turns).0, 403);
    assert_eq!(ask(&address, reader, "GET", "/v1/spaces/other/stats", &Value::Null).0, 404);
    assert_eq!(said(home, &["key", "revoke", id]).0, 0);
    assert_eq!(ask(&address, reader, "GET", &at("stats"), &Value::Null).0, 401, "from the next request on");
    assert!(said(home, &["key", "list"]).1.contains("revoked"));
    let process = rustix::process::Pid::from_raw(i32::try_from(server.id()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
}

#[test]
fn a_worker_reads_what_was_said_in_every_space_and_ends_when_it_is_told_to() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for space in ["one", "two"] {
        assert_eq!(said(home, &["-s", space, "log", "add", "My sister Ada lives in Paris."]).0, 0);
    }
    let behind = |space: &str| {
        let (_, told) = said(home, &["-s", space, "status", "--json"]);
        let status: Value = serde_json::from_str(&told).unwrap();
        let graph = status["layers"].as_array().unwrap().iter().find(|one| one["layer"] == "graph").unwrap();
        graph["behind"].as_u64().unwrap()
    };
    assert_eq!((behind("one"), behind("two")), (1, 1));
    let rounds = |line: &[&str]| -> Value {
        let (code, told) = said(home, line);
        assert_eq!(code, 0, "{told}");
        serde_json::from_str(&told).unwrap()
    };
    let of = |space: &str| json!({"space": space, "unread": 0, "dreamed": 0});
    assert_eq!(rounds(&["-s", "two", "worker", "--once", "--json"])["spaces"], json!([of("two")]));
    assert_eq!((behind("one"), behind("two")), (1, 0));
    assert_eq!(rounds(&["worker", "--once", "--json"])["spaces"], json!([of("one"), of("two")]));
    assert_eq!((behind("one"), behind("two")), (0, 0));
    assert_eq!(said(home, &["-s", "three", "worker", "--once"]).0, 1, "there is no such space");
    let mut worker = command(home, &["worker", "--every", "3600"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(worker.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("looking after the spaces"), "{line}");
    let process = rustix::process::Pid::from_raw(i32::try_from(worker.id()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert!(worker.wait().unwrap().success());
}

#[test]
fn the_web_ui_is_that_of_the_server_at_the_socket_and_its_code_is_in_no_argument() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let server = Running::start(home);
    let programs = home.join("programs");
    std::fs::create_dir(&programs).unwrap();
    for name in ["xdg-open", "open"] {
        let program = programs.join(name);
        let text = "#!/bin/sh\necho \"$@\" > \"$HOME/arguments\"\n/bin/cp -p \"$1\" \"$HOME/page.html\"\n";
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let printed = said(home, &["ui", "--print"]);
    assert!(
        printed.0 == 0 && printed.1.starts_with(&format!("http://{}/ui/#code=", server.address)),
        "{printed:?}"
    );
    let output = command(home, &["ui"]).env("PATH", &programs).output().unwrap();
    let link = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let code = link.split_once("#code=").unwrap().1;
    let arguments = std::fs::read_to_string(home.join("arguments")).unwrap();
    assert!(!arguments.contains(code), "{arguments}");
    let page = home.join("page.html");
    assert_eq!(std::fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(page).unwrap().contains(&link));
    assert!(!Path::new(arguments.trim()).exists(), "the page is removed after its use");
    server.kill();
}

/// A running server, with its address.
struct Running {
    process: Child,
    address: String,
    key: String,
}

impl Running {
    fn start(home: &Path) -> Self {
        let mut process = command(home, &["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        let key = said(home, &["key", "local"]).1;
        Self { process, address, key }
    }

    /// Number of remote commands that it ran.
    fn remote_commands(&self) -> usize {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let Self { address, key, .. } = self;
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let counts = answer.lines().filter(|line| {
            line.starts_with("mnemal_http_requests_total{route=\"/commands\"") && line.contains("\"200\"")
        });
        counts.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum()
    }

    fn kill(self) {
        drop(self);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // No process outlives a failed test.
        let _ended = self.process.kill();
        let _ended = self.process.wait();
    }
}

/// The exit code and stderr of a server that is to listen at a taken address.
fn refused(home: &Path, address: &str) -> (i32, String) {
    let output = command(home, &["serve", "--listen", address]).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_taken_port_is_told_with_its_holder() {
    let home = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, told) = refused(home.path(), &address);
    assert_eq!(code, 7, "{told}");
    assert!(told.contains(&format!("cannot listen on {address}: the port is taken")), "{told}");
    #[cfg(target_os = "linux")]
    {
        let name = std::fs::read_to_string("/proc/self/comm").unwrap();
        let holder = format!("taken by process {} ({});", std::process::id(), name.trim_end());
        assert!(told.contains(&holder), "{told}");
    }
    assert!(!told.contains("mnemal server"), "{told}");
}

#[test]
fn a_port_that_another_server_of_ours_holds_is_told_with_its_version() {
    let home = tempfile::tempdir().unwrap();
    let server = Running::start(home.path());
    let (code, told) = refused(home.path(), &server.address);
    assert_eq!(code, 7, "{told}");
    let expect = format!("by a mnemal server, version {}", env!("CARGO_PKG_VERSION"));
    assert!(told.contains(&expect), "{told}");
    #[cfg(target_os = "linux")]
    assert!(told.contains(&format!("(process {} (mnemal))", server.process.id())), "{told}");
}

#[test]
fn commands_and_hooks_go_to_the_server_that_holds_the_space_and_answer_the_same_without_it() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    std::fs::create_dir(home.join("data")).unwrap();
    let server = Running::start(home);
    let at_first = server.remote_commands();
    let stored =
        said(home, &["-s", "demo", "remember", "Deploys are on Tuesday", "--key", "deploy", "--json"]);
    assert_eq!(stored.0, 0, "{stored:?}");
    assert_eq!(said(home, &["-s", "demo", "log", "add", "I moved to Lyon"]).0, 0);
    assert_eq!(said(home, &["-s", "demo", "working", "put", "plan", "first the tests"]).0, 0);
    let asked: [&[&str]; 5] = [
        &["-s", "demo", "recall", "Lyon", "--json"],
        &["-s", "demo", "recall", "Tuesday"],
        &["-s", "demo", "working", "get", "plan"],
        &["-s", "demo", "log", "list", "--jsonl"],
        &["-s", "demo", "memory", "list", "--json"],
    ];
    let through = asked.map(|line| said(home, line));
    assert!(through.iter().all(|(code, text)| *code == 0 && !text.is_empty()), "{through:?}");
    // An error has the same exit code, and a confirmation prompt is not shown.
    assert_eq!(said(home, &["-s", "demo", "log", "show", "evt_1"]).0, 2);
    assert_eq!(said(home, &["-s", "demo", "forget", "--key", "nothing"]).0, 3);
    assert_eq!(said(home, &["-s", "demo", "forget", "--key", "deploy"]).0, 2, "say --yes");
    assert_eq!(server.remote_commands() - at_first, 3 + asked.len() + 3);

    // A hook too, for the space of its folder.
    let transcript = home.join("talk.jsonl");
    std::fs::write(
        &transcript,
        r#"{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-11-01T10:00:00Z","cwd":"/","message":{"role":"user","content":"The heron nests behind the mill"}}
"#,
    )
    .unwrap();
    let before = server.remote_commands();
    let input = json!({"session_id": "s1", "transcript_path": transcript, "cwd": home});
    let mut hook =
        command(home, &["-s", "demo", "hook", "claude-code", "Stop"]).stdin(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let hook = hook.wait_with_output().unwrap();
    assert_eq!((hook.status.code(), hook.stdout.as_slice()), (Some(0), b"{}\n".as_slice()));
    assert_eq!(server.remote_commands() - before, 1);
    assert!(said(home, &["-s", "demo", "recall", "heron"]).1.contains("behind the mill"));

    // A command that writes a file writes it locally.
    let before = server.remote_commands();
    assert_eq!(said(home, &["-s", "demo", "memory", "export", "all.json"]).0, 0);
    assert!(home.join("all.json").exists());
    assert_eq!(server.remote_commands(), before);

    // Commands with other settings, or with an explicit file, are not forwarded.
    let before = server.remote_commands();
    let mut other = command(home, &["-s", "demo", "recall", "Lyon"]);
    assert!(other.env("MNEMAL_RECALL__LIMIT", "1").output().unwrap().status.success());
    let file = home.join("data/spaces/demo.db");
    assert_eq!(said(home, &["--db", file.to_str().unwrap(), "recall", "Lyon"]).0, 0);
    assert_eq!(server.remote_commands(), before);

    // A crashed server leaves its socket; then the file is opened, and the answers are the same.
    server.kill();
    assert!(home.join("data/server.sock").exists());
    for ((line, (code, text)), (now_code, now_text)) in
        asked.iter().zip(&through).zip(asked.map(|line| said(home, line)))
    {
        let same = |text: &str| {
            // Time passes, which changes recency; the hook has added an event.
            text.lines()
                .next()
                .unwrap()
                .chars()
                .filter(|letter| !letter.is_ascii_digit())
                .take(60)
                .collect::<String>()
        };
        assert_eq!((now_code, same(&now_text)), (*code, same(text)), "{line:?}");
    }
    // The next server replaces the leftovers.
    let next = Running::start(home);
    let before = next.remote_commands();
    assert_eq!(said(home, &["-s", "demo", "recall", "Lyon"]).0, 0);
    assert_eq!(next.remote_commands(), before + 1);
    next.kill();
}

#[test]
fn a_context_that_is_ready_is_given_even_if_the_server_cannot_store_the_prompt() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    std::fs::create_dir(home.join("data")).unwrap();
    std::fs::create_dir_all(home.join(".config/mnemal")).unwrap();
    std::fs::write(home.join(".config/mnemal/config.toml"), "[server]\nmax_body_kb = 4096\n").unwrap();
    let server = Running::start(home);
    let before = server.remote_commands();
    let hook = |conversation: &str, turn: &str, prompt: &str| -> Value {
        let input = json!({"conversation_id": conversation, "generation_id": turn, "workspace_roots": [home],
            "prompt": prompt});
        let mut hook = command(home, &["-s", "demo", "hook", "cursor", "beforeSubmitPrompt"]);
        let mut hook = hook.stdin(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        serde_json::from_slice(&hook.wait_with_output().unwrap().stdout).unwrap()
    };
    assert_eq!(hook("c1", "g1", "The orders database listens on port 5544."), json!({"continue": true}));
    // The name of the turn makes the message longer than a line that is read.
    let told = hook("c2", &"g".repeat(1_100_000), "Which port does the orders database listen on?");
    assert_eq!(server.remote_commands() - before, 2);
    assert!(told["additional_context"].as_str().unwrap_or_default().contains("5544"), "{told}");
    let log = std::fs::read_to_string(home.join("data/hooks.log")).unwrap_or_default();
    assert!(log.lines().count() == 1 && log.contains("could not be read"), "{log}");
    server.kill();
}

/// `mnemal mcp` as a client starts it.
struct Agent {
    process: Child,
    answers: BufReader<std::process::ChildStdout>,
    asked: u64,
}

impl Agent {
    fn start(home: &Path) -> Self {
        let mut process = command(home, &["-s", "demo", "mcp"]).stdin(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        let mut agent = Self { process, answers, asked: 0 };
        let client = json!({"name": "t", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        assert_eq!(agent.ask("initialize", &hello)["serverInfo"]["name"], "mnemal");
        agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}));
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))["structuredContent"].clone()
    }

    /// Whether the process itself has the space open.
    fn has_file(&self) -> bool {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).unwrap();
        open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
            .any(|path| path.to_string_lossy().ends_with("demo.db"))
    }

    fn end(mut self) -> bool {
        drop(self.process.stdin.take());
        self.process.wait().unwrap().success()
    }
}

// proves: NX-10.3 (the last of those that open a space)
#[cfg(target_os = "linux")]
#[test]
fn the_protocol_on_standard_streams_goes_through_the_server_and_outlives_it() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    std::fs::create_dir(home.join("data")).unwrap();
    assert_eq!(said(home, &["-s", "demo", "init"]).0, 0);
    let server = Running::start(home);
    let (mut one, mut other) = (Agent::start(home), Agent::start(home));
    let stored = one.call("memory_store", &json!({"content": "Deploys are on Tuesday", "key": "deploy"}));
    assert_eq!(stored["created"], true);
    assert!(
        other.call("memory_recall", &json!({"query": "deploys"}))["hits"].to_string().contains("Tuesday")
    );
    assert!(!one.has_file() && !other.has_file(), "the server has it open");
    assert!(other.end(), "the process ends with its input");

    server.kill();
    let again = one.call("memory_store", &json!({"content": "Deploys are on Thursday", "key": "deploy"}));
    assert_eq!(again["version"], 2, "{again}");
    assert!(one.has_file(), "it goes on by itself");
    assert!(one.call("memory_recall", &json!({"query": "deploys"}))["hits"].to_string().contains("Thursday"));
    assert!(one.end());
}

// A server that stops does not discard requests that it has received.
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_is_told_to_end_ends_although_pipes_are_open() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    std::fs::create_dir(home.join("data")).unwrap();
    let mut server = Running::start(home);
    let mut agent = Agent::start(home);
    agent.call("memory_store", &json!({"content": "The heron nests behind the mill"}));
    let process = rustix::process::Pid::from_raw(i32::try_from(server.process.id()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert!(server.process.wait().unwrap().success());
    assert!(agent.call("memory_recall", &json!({"query": "heron"}))["hits"].to_string().contains("mill"));
    assert!(agent.end());
}

/// Sends a signal to a process and waits for its exit, at most ten seconds.
fn ended_within_ten_seconds(mut process: Child, signal: rustix::process::Signal) -> std::process::ExitStatus {
    let pid = rustix::process::Pid::from_raw(i32::try_from(process.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    #[expect(clippy::disallowed_methods, reason = "the test joins it, or ends with it")]
    let waiting = std::thread::spawn(move || tell.send(process.wait().unwrap()).unwrap());
    let status = told.recv_timeout(std::time::Duration::from_secs(10));
    if status.is_err() {
        // No process outlives a failed test.
        let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    waiting.join().unwrap();
    status.expect("a server ends within ten seconds of its signal")
}

// proves: GA-26
#[test]
fn a_server_ends_within_ten_seconds_while_work_runs_and_leaves_a_whole_file() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let mut process = command(home, &["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        let key = said(home, &["key", "local"]).1;
        let at = |path: &str| format!("/v1/spaces/demo/{path}");
        let new = json!({"name": "demo", "always_on": true});
        assert_eq!(ask(&address, &key, "POST", "/v1/spaces", &new).0, 201);
        let events: Vec<Value> = (0..1_000)
            .map(|number| json!({"content": format!("my friend Anna{number} lives in Lyon and likes tea")}))
            .collect();
        for _ in 0..3 {
            assert_eq!(ask(&address, &key, "POST", &at("events"), &json!({"events": events})).0, 201);
        }
        for work in ["extract", "consolidate", "dream"] {
            assert_eq!(ask(&address, &key, "POST", &at(work), &json!({})).0, 202);
        }
        // Another client is in the middle of a request.
        let mut half = TcpStream::connect(&address).unwrap();
        write!(half, "POST {} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n", at("events"))
            .unwrap();
        assert!(ended_within_ten_seconds(process, signal).success(), "{signal:?}");
        assert_eq!(said(home, &["-s", "demo", "check"]).0, 0, "the file is whole");
        let stats: Value = serde_json::from_str(&said(home, &["-s", "demo", "status", "--json"]).1).unwrap();
        assert_eq!(stats["events"], 3_000, "nothing acknowledged is lost: {stats}");
        // Interrupted work continues from its cursor, and completes.
        assert_eq!(said(home, &["-s", "demo", "dream"]).0, 0);
    }
}

// proves: GA-22
#[test]
fn a_clear_leaves_the_files_of_the_inbox_and_a_forget_by_file_takes_only_our_copy() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let inbox = home.join("inbox");
    let folder = inbox.join("notes");
    std::fs::create_dir_all(folder.join("deep/below")).unwrap();
    let kept = [("deep/below/plan.xyz", "the user's own plan"), ("picture.raw", "not read at all")];
    for (name, text) in kept {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let mine = home.join("supplier.md");
    std::fs::write(&mine, "The supplier of the till is in Genoa.").unwrap();
    let settings = format!("[ingest]\ninbox = {:?}\n", inbox.to_str().unwrap());
    std::fs::create_dir_all(home.join(".config/mnemal")).unwrap();
    std::fs::write(home.join(".config/mnemal/config.toml"), settings).unwrap();
    assert_eq!(said(home, &["-s", "notes", "ingest", mine.to_str().unwrap()]).0, 0);
    let mut process = command(home, &["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let key = said(home, &["key", "local"]).1;
    let memory = json!({"content": "Bins go out on Mondays"});
    assert_eq!(ask(&address, &key, "POST", "/v1/spaces/notes/memories", &memory).0, 201);
    let (status, cleared) = ask(&address, &key, "POST", "/api/kb/always-on/notes/clear", &Value::Null);
    assert_eq!((status, &cleared["events"]), (200, &json!(2)), "what was read in, too: {cleared}");
    assert!(ended_within_ten_seconds(process, rustix::process::Signal::TERM).success());
    for (name, text) in kept {
        assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), text, "{name}");
    }
    let found = |words: &str| said(home, &["-s", "notes", "recall", words]).1;
    assert!(!found("supplier of the till").contains("Genoa"));
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "The supplier of the till is in Genoa.");
    let other = home.join("tenant.md");
    std::fs::write(&other, "The tenant of the loft is in Turin.").unwrap();
    assert_eq!(said(home, &["-s", "notes", "ingest", other.to_str().unwrap()]).0, 0);
    assert!(found("tenant of the loft").contains("Turin"));
    let forgotten = said(home, &["-s", "notes", "forget", "--file", "tenant.md", "--yes"]);
    assert_eq!(forgotten.0, 0, "{forgotten:?}");
    assert!(!found("tenant of the loft").contains("Turin"));
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "The tenant of the loft is in Turin.");
}

// proves: GB-56, GA-23 (the refusal to start)
#[test]
fn without_a_key_nothing_but_loopback_is_served() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(said(home.path(), &["serve", "--listen", "0.0.0.0:0"]).0, 4);
    assert_eq!(said(home.path(), &["serve", "--listen", "0.0.0.0:0", "--no-auth"]).0, 2);
}

#[test]
fn each_setting_tells_where_it_comes_from_and_no_secret_is_shown() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let file = home.join("own.toml");
    let text = "[memory]\nrecall_limit = 3\n[recall]\nlimit = 7\n[context]\nbudget_tokens = 800\n\
                [llm]\nprovider = \"openai\"\nmodel = \"m\"\napi_key_env = \"OWN_KEY\"\n\
                base_url = \"https://ada:s3cret-word@api.example/v1?token=s3cret-word\"\n";
    std::fs::write(&file, text).unwrap();
    let with = |arguments: &[&str]| {
        let mut command = command(home, arguments);
        command
            .env("MNEMAL_CONFIG", &file)
            .env("MNEMAL_CONTEXT__BUDGET_TOKENS", "900")
            .env("OWN_KEY", "s3cret-word");
        command
    };
    let output = with(&["settings", "--json"]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !told.contains("s3cret-word"), "{told}");
    let list: Value = serde_json::from_str(&told).unwrap();
    let path = file.display().to_string();
    let one = |list: &Value, name: &str| -> Value {
        let items = list["items"].as_array().unwrap();
        let found: Vec<&Value> = items.iter().filter(|one| one["name"] == name).collect();
        assert_eq!(found.len(), 1, "{name}: {list}");
        json!([found[0]["value"], found[0]["origin"], found[0]["from"]])
    };
    for (name, expect) in [
        ("recall.limit", json!([7, "file", path])),
        ("recall.inject_limit", json!([3, "file", path])),
        ("context.budget_tokens", json!([900, "variable", "MNEMAL_CONTEXT__BUDGET_TOKENS"])),
        ("recall.part_deadline_ms", json!([60000, "variable", "MNEMAL_RECALL__PART_DEADLINE_MS"])),
        ("llm.api_key", json!(["set", "variable", "OWN_KEY"])),
        ("llm.base_url", json!(["https://api.example/v1", "file", path])),
        ("embedding.api_key", json!([null, "default", null])),
        ("server.max_in_flight", json!([64, "default", null])),
        ("hooks.recall", json!([true, "default", null])),
        ("memory.enabled", json!([true, "default", null])),
        ("storage.url", json!(["", "default", null])),
        ("read_global", json!([true, "default", null])),
    ] {
        assert_eq!(one(&list, name), expect, "{name}");
    }
    let mut server = with(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let (_, key) = said(home, &["key", "local"]);
    let (status, list) = ask(&address, &key, "GET", "/v1/settings", &Value::Null);
    assert!(status == 200 && !list.to_string().contains("s3cret-word"), "{list}");
    assert_eq!(one(&list, "server.listen"), json!([address, "flag", "--listen"]));
    assert_eq!(one(&list, "recall.limit"), json!([7, "file", path]));
    server.kill().unwrap();
    let _ended = server.wait().unwrap();
}
