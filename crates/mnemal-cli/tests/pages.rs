//! Completions and the manual: complete, and made without a space or a server.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::path::Path;
use std::process::Command;

/// Runs a command over a home with a server that nobody answers as, and returns what it prints.
fn mnemal(home: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command.args(arguments).current_dir(home).env_clear().env("HOME", home);
    let output = command.env("MNEMAL_SERVER", "http://127.0.0.1:1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn completions_of_every_shell_know_commands_and_options() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = mnemal(home.path(), &["completions", shell]);
        for word in ["remember", "verify-receipt", "prove-erased", "claude-code"] {
            // Completions of these two have no values of arguments.
            let is_value = word == "claude-code" && ["elvish", "powershell"].contains(&shell);
            assert!(script.contains(word) || is_value, "{shell} does not know {word}");
        }
    }
    assert!(home.path().read_dir().unwrap().next().is_none(), "nothing was written");
}

#[test]
fn the_manual_has_a_page_for_every_command_and_is_the_same_anew() {
    let home = tempfile::tempdir().unwrap();
    let told = mnemal(home.path(), &["man", "pages", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let read = || {
        let files = home.path().join("pages").read_dir().unwrap().map(|file| file.unwrap());
        let mut pages: Vec<(String, String)> = files
            .map(|file| {
                (file.file_name().into_string().unwrap(), std::fs::read_to_string(file.path()).unwrap())
            })
            .collect();
        pages.sort();
        pages
    };
    let pages = read();
    assert_eq!(told["pages"], pages.len());
    for name in ["mnemal.1", "mnemal-recall.1", "mnemal-space-create.1", "mnemal-man.1"] {
        let page = pages.iter().find(|(found, _)| found == name);
        assert!(page.is_some_and(|(_, page)| page.contains(".SH SYNOPSIS")), "{name}");
    }
    assert!(pages.iter().all(|(name, _)| !name.contains("-help")), "help has no pages");
    mnemal(home.path(), &["man", "pages"]);
    assert_eq!(read(), pages);
}
