//! Remote commands, as from another machine: with a separate home, which must stay empty.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

type CommandOutput = (i32, String, String);

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command
        .current_dir(home)
        .env_clear()
        .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
        .env("MNEMAL_SERVER__GREETING_MS", "60000")
        .env("HOME", home)
        .env("MNEMAL_DATA_DIR", home.join("data"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(mut command: Command) -> CommandOutput {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().trim().to_owned();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A server with a home, and another home for its client.
struct Far {
    server: Child,
    address: String,
    there: TempDir,
    here: TempDir,
}

impl Far {
    fn start() -> Self {
        let (there, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut server = command(there.path(), &["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Self { server, address, there, here }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Creates a key for spaces, with some rights.
    fn key(&self, spaces: &str, more: &[&str]) -> String {
        let call = [&["-s", spaces, "key", "create", "--name", "far", "--json"], more].concat();
        let (code, out, err) = self.there(&call);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str::<Value>(&out).unwrap()["secret"].as_str().unwrap().to_owned()
    }

    /// The output of a command on the server's machine.
    fn there(&self, arguments: &[&str]) -> CommandOutput {
        said(command(self.there.path(), arguments))
    }

    fn caller(&self, key: &str, arguments: &[&str]) -> Command {
        let mut command = command(self.here.path(), arguments);
        command.env("MNEMAL_SERVER", self.url()).env("MNEMAL_API_KEY", key);
        command
    }

    /// The output of a command on the client's machine.
    fn here(&self, key: &str, arguments: &[&str]) -> CommandOutput {
        said(self.caller(key, arguments))
    }

    /// The server's response to a request that no real command would send.
    fn posted(&self, key: &str, command: &Value) -> (u16, Value) {
        let body = command.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let key = if key.is_empty() { String::new() } else { format!("authorization: Bearer {key}\r\n") };
        write!(
            stream,
            "POST /commands HTTP/1.1\r\nhost: {}\r\n{key}connection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.get(9..12).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }

    /// Waits until the graph has read what was said, so that two commands, one after the other, know the same.
    fn wait_until_read(&self, space: &str) {
        loop {
            // Listing entities lets the graph catch up.
            assert_eq!(self.there(&["-s", space, "entity", "list"]).0, 0);
            let (_, status, err) = self.there(&["-s", space, "status", "--json"]);
            let status: Value = serde_json::from_str(&status).expect(&err);
            let layers = status["layers"].as_array().unwrap();
            if layers.iter().any(|one| one["layer"] == json!("graph") && one["behind"] == json!(0)) {
                return;
            }
        }
    }
    /// Checks that the client's home is still empty.
    fn is_clean(&self) -> bool {
        std::fs::read_dir(self.here.path()).unwrap().next().is_none()
    }

    fn has_space(&self, name: &str) -> bool {
        self.there.path().join(format!("data/spaces/{name}.db")).exists()
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        // No process outlives a failed test.
        let _ended = self.server.kill();
        let _ended = self.server.wait();
    }
}

/// The output without variable lines: the time and the receipt of a context, or the receipt of an answer.
fn lasting((code, out, err): &CommandOutput) -> (i32, Vec<&str>, &str) {
    let passes = |line: &str| line.starts_with("now ") || line.starts_with("receipt rcl_");
    (*code, out.lines().filter(|line| !passes(line)).collect(), err)
}

const ALL: [&str; 6] = ["--rights", "read", "--rights", "write", "--rights", "erase"];

#[test]
fn remote_commands_print_what_local_ones_print() {
    let far = Far::start();
    let key = far.key("demo", &ALL);
    let stored =
        far.here(&key, &["-s", "demo", "remember", "Deploys are on Tuesday", "--key", "deploy", "--json"]);
    assert_eq!(stored.0, 0, "{stored:?}");
    assert_eq!(serde_json::from_str::<Value>(&stored.1).unwrap()["created"], json!(true));
    assert_eq!(far.here(&key, &["-s", "demo", "log", "add", "I moved to Lyon"]).0, 0);
    let mut piped = far.caller(&key, &["-s", "demo", "remember", "-", "--key", "piped"]);
    let mut piped = piped.stdin(Stdio::piped()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all("The mill stands by the brook\n".as_bytes()).unwrap();
    assert!(piped.wait_with_output().unwrap().status.success());
    let mut piped = far.caller(&key, &["-s", "demo", "log", "add", "-", "--session", "s2"]);
    let mut piped = piped.stdin(Stdio::piped()).spawn().unwrap();
    piped
        .stdin
        .take()
        .unwrap()
        .write_all(br#"{"role": "user", "content": "The heron nests there"}"#)
        .unwrap();
    assert!(piped.wait_with_output().unwrap().status.success());
    far.wait_until_read("demo");

    let lines: [&[&str]; 13] = [
        &["-s", "demo", "recall", "Lyon", "--json"],
        &["-s", "demo", "recall", "Tuesday"],
        &["-s", "demo", "recall", "heron", "--jsonl"],
        &["-s", "demo", "ask", "where do I live?"],
        &["-s", "demo", "context", "where do I live?"],
        &["-s", "demo", "memory", "list", "--json"],
        &["-s", "demo", "memory", "show", "piped"],
        &["-s", "demo", "log", "list", "--jsonl"],
        &["-s", "demo", "session", "list"],
        &["-s", "demo", "summary"],
        // Errors too, and commands that would ask for confirmation.
        &["-s", "demo", "log", "show", "evt_1", "--json"],
        &["-s", "demo", "memory", "show", "nothing"],
        &["-s", "demo", "forget", "--key", "deploy"],
    ];
    let codes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 2];
    for (line, code) in lines.iter().zip(codes) {
        let (remote, beside) = (far.here(&key, line), far.there(line));
        assert_eq!(lasting(&remote), lasting(&beside), "{line:?}");
        assert_eq!(remote.0, code, "{remote:?}");
        assert!(!remote.1.is_empty() || code != 0, "{line:?}");
    }
    // The option replaces the variable, and the space's name may come from the environment.
    let mut other = command(far.here.path(), &["recall", "Lyon", "--server", &format!("{}/", far.url())]);
    other.env("MNEMAL_API_KEY", &key).env("MNEMAL_SPACE", "demo");
    assert!(said(other).1.contains("I moved to Lyon"));

    assert_eq!(far.here(&key, &["-s", "demo", "forget", "--key", "deploy", "--yes"]).0, 0);
    assert_eq!(far.there(&["-s", "demo", "memory", "show", "deploy"]).0, 3);
    // A write creates its space; paths of the server are not revealed.
    let fresh = far.key("fresh", &ALL);
    assert_eq!(far.here(&fresh, &["-s", "fresh", "remember", "The first"]).0, 0);
    assert!(far.has_space("fresh"));
    let (code, out, err) = far.here(&fresh, &["-s", "fresh", "status", "-v", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["database"], json!("fresh.db"));
    assert!(far.is_clean());
}

#[test]
fn a_key_sees_only_its_spaces_remotely() {
    let far = Far::start();
    let told = |space: &str, text: &str| assert_eq!(far.there(&["-s", space, "log", "add", text]).0, 0);
    told("ours", "The garden lamp is green");
    told("theirs", "The garden lamp is quarzblende");
    assert_eq!(far.there(&["space", "create", "handbook", "--always-on"]).0, 0);
    told("handbook", "The garden lamp is zimtkrone");
    told("global", "The garden lamp is nebelfink");
    let secrets = ["quarzblende", "zimtkrone", "nebelfink"];
    let (reader, writer) = (far.key("ours", &["--rights", "read"]), far.key("ours", &["--rights", "write"]));
    let agent = far.key("ours", &["--rights", "write", "--for", "agent"]);

    // The same holds for secondary spaces.
    for key in [&reader, &writer, &agent] {
        for command in ["recall", "ask", "context"] {
            let (code, out, err) = far.here(key, &["-s", "ours", command, "garden lamp"]);
            assert!(code == 0 && out.contains("green"), "{err}");
            assert!(!secrets.iter().any(|secret| out.contains(secret)), "{out}");
        }
    }
    let local = far.there(&["key", "local"]).1;
    let owner = far.here(&local, &["-s", "ours", "recall", "garden lamp"]).1;
    assert!(owner.contains("zimtkrone") && owner.contains("nebelfink"), "{owner}");
    let both = far.key("ours,theirs", &["--rights", "read"]);
    assert!(far.here(&both, &["-s", "ours,theirs", "recall", "garden lamp"]).1.contains("quarzblende"));

    // A space that a key may not access looks like a missing one, for reads and writes, alone and as a secondary space.
    for (key, space) in [(&writer, "theirs"), (&writer, "nowhere"), (&both, "nowhere")] {
        for line in [["recall", "garden"], ["remember", "x"], ["forget", "evt_1"]] {
            let (code, out, err) = far.here(key, &[&["-s", space], line.as_slice()].concat());
            let expect = format!("error: the server refuses: no space {space:?}");
            assert_eq!((code, out.as_str(), err), (3, "", expect), "{line:?}");
        }
    }
    assert_eq!(far.here(&writer, &["-s", "ours,theirs", "recall", "garden"]).0, 3);
    assert_eq!(far.here(&local, &["-s", "nowhere", "recall", "garden"]).0, 3);
    assert!(!far.has_space("nowhere"), "reading makes no space");
    assert!(far.is_clean());
}

#[test]
fn a_key_does_remotely_what_it_may() {
    let far = Far::start();
    assert_eq!(far.there(&["-s", "ours", "log", "add", "The garden lamp is green"]).0, 0);
    let (reader, writer) = (far.key("ours", &["--rights", "read"]), far.key("ours", &["--rights", "write"]));
    let agent = far.key("ours", &["--rights", "write", "--for", "agent"]);
    let refused = |key: &str, line: &[&str], detail: &str| {
        let (code, out, err) = far.here(key, &[&["-s", "ours"], line].concat());
        assert_eq!(
            (code, out.as_str(), err),
            (4, "", format!("error: the server refuses: {detail}")),
            "{line:?}"
        );
    };
    refused(&reader, &["remember", "x"], "this needs the right write");
    refused(&reader, &["undo", "evt_1"], "this needs the right write");
    refused(&writer, &["forget", "evt_1", "--dry-run"], "this needs the right erase");
    refused(&agent, &["remember", "x"], "the key is an agent's");
    let nobody = "this key is not known, has expired, or was revoked; MNEMAL_API_KEY must hold one";
    refused(&format!("mnk_aaaaaaaa_{}", "a".repeat(52)), &["recall", "x"], nobody);
    let (code, out, err) = far.here(&reader, &["-s", "ours", "remember", "x", "--json"]);
    assert_eq!((code, out.as_str()), (4, ""));
    assert_eq!(serde_json::from_str::<Value>(&err).unwrap()["code"], json!("right_missing"));
    // Without a key in the environment the local key is used, and here there is none.
    let mut keyless = far.caller("", &["-s", "ours", "recall", "x"]);
    keyless.env_remove("MNEMAL_API_KEY");
    assert_eq!(said(keyless).0, 4);
    let mut beside = command(far.there.path(), &["-s", "ours", "recall", "garden"]);
    beside.env("MNEMAL_SERVER", far.url());
    assert!(said(beside).1.contains("green"), "the local key of the same machine");
    assert!(far.is_clean());
}

#[test]
fn a_remote_command_that_no_program_would_send_reads_no_file_and_no_other_space() {
    let far = Far::start();
    assert_eq!(far.there(&["-s", "ours", "log", "add", "The garden lamp is green"]).0, 0);
    assert_eq!(far.there(&["-s", "theirs", "log", "add", "The garden lamp is quarzblende"]).0, 0);
    let (writer, local) = (far.key("ours", &["--rights", "write"]), far.there(&["key", "local"]).1);
    let command = |space: &str, arguments: &[&str]| json!({"space": space, "arguments": arguments});
    let file = far.there.path().join("data/spaces/theirs.db");
    let file = file.to_str().unwrap();
    assert_eq!(far.posted("", &command("ours", &["recall", "x"])).0, 401);
    assert_eq!(far.posted(&writer, &json!({"space": "ours"})).0, 409);
    assert_eq!(far.posted(&writer, &command("ours", &["--db", file, "recall", "garden"])).0, 400);
    assert_eq!(far.posted(&writer, &command("ours", &["--config", file, "recall", "garden"])).0, 400);
    for line in [["log", "list", "-n10001"].as_slice(), &["session", "show", "cli", "--last=10001"]] {
        assert_eq!(far.posted(&writer, &command("ours", line)).0, 400);
    }
    for line in [
        ["export", file].as_slice(),
        &["import", file],
        &["backup", file],
        &["forget", "evt_1", "--receipt", file],
        &["hook", "claude-code", "Stop"],
        &["verify-receipt", file],
        &["key", "list"],
        &["space", "list"],
    ] {
        assert_eq!(far.posted(&local, &command("ours", line)).0, 409, "{line:?}");
    }
    assert_eq!(far.posted(&writer, &command("auto", &["recall", "garden"])).0, 404);
    assert_eq!(far.posted(&writer, &command("", &["recall", "garden"])).0, 404);
    // A space named `auto` is an ordinary one.
    let auto = far.key("auto", &["--rights", "write"]);
    assert_eq!(far.posted(&auto, &command("auto", &["remember", "x"])).0, 200);
    assert!(far.has_space("auto") && !far.has_space("default"));
    // The name in the command line is ignored; the server's own stdin is never read.
    let (status, told) = far.posted(&writer, &command("ours", &["-s", "theirs", "recall", "garden"]));
    assert!(status == 200 && !told.to_string().contains("quarzblende"), "{told}");
    let (status, told) = far.posted(&writer, &command("ours", &["remember", "-"]));
    assert_eq!((status, &told["code"]), (200, &json!(2)), "{told}");
    assert!(far.is_clean());
}

#[test]
fn what_a_server_cannot_do_or_does_not_answer_is_told_and_no_file_is_opened() {
    let far = Far::start();
    let key = far.key("demo", &ALL);
    for (line, why) in [
        (["export", "-"].as_slice(), "/openapi.json"),
        (&["import", "-"], "/openapi.json"),
        (&["memory", "export"], "/openapi.json"),
        (&["mcp"], "/mcp/SPACE"),
        (&["serve"], "on the machine of the server"),
        (&["worker", "--once"], "on the machine of the server"),
        (&["init"], "on the machine of the server"),
        (&["doctor"], "on the machine of the server"),
        (&["space", "list"], "on the machine of the server"),
        (&["key", "local"], "on the machine of the server"),
        (&["forget", "evt_1", "--receipt", "file"], "--receipt"),
        (&["--db", "file.db", "recall", "x"], "--db"),
        (&["--config", "file", "recall", "x"], "--config"),
    ] {
        let (code, out, err) = far.here(&key, line);
        assert!((code, out.as_str()) == (2, "") && err.contains(why), "{line:?}: {err}");
    }
    let refused = |url: &str, key: &str| {
        let mut command = far.caller(key, &["-s", "demo", "recall", "x"]);
        command.env("MNEMAL_SERVER", url);
        said(command)
    };
    let (code, _, err) = refused("https://memory.example", &key);
    assert!(code == 2 && err.contains("http://HOST:PORT"), "{err}");
    let (code, _, err) = refused(&far.url(), "nonsense");
    assert!(code == 2 && err.contains("MNEMAL_API_KEY") && !err.contains("nonsense"), "{err}");

    // A port without a listener, and one with another program.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let (code, out, err) = refused(&format!("http://{address}"), &key);
    assert_eq!((code, out.as_str()), (7, ""));
    assert!(err.starts_with(&format!("error: cannot reach the server http://{address}: ")), "{err}");
    for answer in ["SSH-2.0-other\r\n", "", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"] {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap();
        let answering = move || {
            let (mut stream, _) = other.accept().unwrap();
            let mut asked = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while asked.read_line(&mut line).unwrap() > 2 {
                if let Some(said) = line.strip_prefix("content-length: ") {
                    length = said.trim().parse().unwrap();
                }
                line.clear();
            }
            asked.read_exact(&mut vec![0; length]).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        };
        let (code, out, err) = std::thread::scope(|threads| {
            threads.spawn(answering);
            refused(&format!("http://{address}"), &key)
        });
        assert_eq!((code, out.as_str()), (7, ""), "{answer:?}: {err}");
    }
    assert!(far.is_clean());

    // A hook never blocks its client.
    let mut hook = far.caller(&key, &["hook", "claude-code", "Stop"]);
    let mut hook = hook.stdin(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(br#"{"session_id": "s", "cwd": "/"}"#).unwrap();
    let hook = hook.wait_with_output().unwrap();
    assert_eq!((hook.status.code(), hook.stdout.as_slice()), (Some(0), b"{}\n".as_slice()));
    assert!(!far.here.path().join("data/spaces").exists());
    // With memory disabled, nothing is sent.
    let mut off = far.caller(&key, &["-s", "demo", "remember", "The cellar is dry"]);
    off.env("MNEMAL_MEMORY__ENABLED", "false");
    assert_eq!(said(off).0, 0);
    assert!(!far.has_space("demo"));
}

#[test]
fn whether_a_server_is_there_can_be_asked_and_waited_for() {
    let far = Far::start();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    assert_eq!(said(command(far.here.path(), &["health", "--server", &format!("http://{address}")])).0, 7);
    let (code, out, err) = said(command(far.here.path(), &["health", "--server", &far.url()]));
    assert_eq!((code, out), (0, format!("ready {}", far.url())), "{err}");
    let mut waiting = command(far.here.path(), &["health", "--wait", "5m", "--json"]);
    let waiting = waiting.env("MNEMAL_SERVER__LISTEN", address.to_string()).spawn().unwrap();
    let mut late = command(far.there.path(), &["serve", "--listen", &address.to_string()]);
    let mut late = late.env("MNEMAL_SERVER__UNIX_SOCKET", "false").spawn().unwrap();
    let waited = waiting.wait_with_output().unwrap();
    let (_ended, _reaped) = (late.kill(), late.wait());
    assert!(waited.status.success(), "{waited:?}");
    assert!(serde_json::from_slice::<Value>(&waited.stdout).unwrap().is_object());
    assert!(far.is_clean());
}
