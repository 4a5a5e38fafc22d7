//! `mnemal serve` as a person starts it, and a program that asks it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command.current_dir(home).env_clear().env("HOME", home).env("MNEMAL_DATA_DIR", home.join("data"));
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
    // The command line opens the same space beside the server.
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

// proves: GB-56, GA-23 (the refusal to start)
#[test]
fn without_a_key_nothing_but_loopback_is_served() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(said(home.path(), &["serve", "--listen", "0.0.0.0:0"]).0, 4);
    assert_eq!(said(home.path(), &["serve", "--listen", "0.0.0.0:0", "--no-auth"]).0, 2);
}
