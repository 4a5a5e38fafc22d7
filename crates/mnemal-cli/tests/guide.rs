//! The guide: its commands run page by page in an empty home, its program is the example, and its list of pages is complete.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "the parts that tests share may panic and print as the tests do"
)]

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use mnemal_server::DEFAULT_PORT;

/// The page whose commands need a database; they run in `servers.rs`.
const POSTGRES: &str = "postgres.md";
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn folder() -> PathBuf {
    Path::new(ROOT).join("docs/guide/src")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// The pages in the order of the table of contents.
fn pages() -> Vec<String> {
    let summary = read("SUMMARY.md");
    summary.lines().filter_map(|line| Some(line.split_once("](")?.1.strip_suffix(')')?.to_owned())).collect()
}

/// The concatenated code blocks of a language in a page.
fn blocks(page: &str, language: &str) -> String {
    let (mut text, mut is_in) = (String::new(), false);
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(name) => is_in = !is_in && name == language,
            None if is_in => {
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    text
}

/// Runs the commands of a page as a new user would.
fn run(page: &str) {
    let script = blocks(&read(page), "sh");
    assert!(!script.is_empty(), "{page} has no commands");
    if script.contains("curl") && Command::new("curl").arg("--version").output().is_err() {
        println!("curl is not installed: the commands of {page} were NOT run");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let program = Path::new(env!("CARGO_BIN_EXE_mnemal")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([program].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let script = format!(
        "set -euo pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n{}",
        // Each page gets an unused port instead of the documented one.
        script.replace(&DEFAULT_PORT.to_string(), &port)
    );
    let mut command = Command::new("bash");
    command.arg("-c").arg(&script).current_dir(home.path()).env_clear();
    command
        .env("HOME", home.path())
        .env("PATH", path)
        .env("MNEMAL_SERVER__LISTEN", format!("127.0.0.1:{port}"));
    let output = command.output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{page}\n{}\n{}", said(&output.stdout), said(&output.stderr));
}

#[test]
fn the_commands_of_every_page_run_in_an_empty_home() {
    for page in pages().iter().filter(|page| *page != POSTGRES) {
        run(page);
    }
}

#[test]
fn the_program_of_the_guide_is_the_example() {
    let program = std::fs::read_to_string(Path::new(ROOT).join("examples/quickstart/src/main.rs")).unwrap();
    assert!(program.starts_with(blocks(&read("rust.md"), "rust").trim_end()));
}

#[test]
fn every_page_is_listed_for_people_and_for_models() {
    let listed: BTreeSet<String> = pages().into_iter().chain(["SUMMARY.md".to_owned()]).collect();
    let files = std::fs::read_dir(folder()).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let written: BTreeSet<String> =
        files.filter(|name| !["llms.txt", "img"].contains(&name.as_str())).collect();
    assert_eq!(listed, written);
    let for_models = read("llms.txt");
    for page in pages() {
        assert!(for_models.contains(&format!("]({page})")), "llms.txt does not know {page}");
    }
}

#[test]
fn every_client_and_page_has_the_port_of_the_server() {
    let port = DEFAULT_PORT.to_string();
    for (file, before) in [
        ("integrations/python/mnemal/client.py", "http://127.0.0.1:"),
        ("integrations/typescript/src/client.ts", "http://127.0.0.1:"),
        ("packaging/deb/config.toml", "127.0.0.1:"),
        ("packaging/docker/Dockerfile", "EXPOSE "),
        ("packaging/docker/compose.yml", "127.0.0.1:"),
        ("packaging/docker/compose.ollama.yml", "127.0.0.1:"),
    ] {
        let text = std::fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
        assert!(text.contains(&format!("{before}{port}")), "{file} names another port");
    }
    for page in pages() {
        let text = read(&page);
        let others = text.split("127.0.0.1:").skip(1).filter(|rest| !rest.starts_with(&port));
        assert_eq!(others.count(), 0, "{page} names another port");
    }
}
