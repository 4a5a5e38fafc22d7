//! Models that read beside the rules: added, used by every command, and removed.

#![cfg(feature = "reader")]
#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command over a home, and returns its exit code and what it said.
fn mnemal(home: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
    command.args(arguments).current_dir(home).env_clear().env("HOME", home);
    let output = command.env("MNEMAL_DATA_DIR", home.join("data")).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

/// A model of the right form that has learned nothing.
fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mnemal-reader/tests/data/tiny.mnrd")
}

#[test]
fn a_reader_that_was_added_is_used_until_it_is_removed() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| mnemal(home.path(), arguments);
    assert_eq!(run(&["models", "list"]), (0, "no model\n".to_owned()));
    let (code, said) = run(&["doctor"]);
    assert!(code == 0 && said.contains("the rules read alone"), "{said}");

    let tiny = tiny().display().to_string();
    let (code, added) = run(&["models", "add", &tiny]);
    assert!(code == 0 && added.starts_with("added reader "), "{added}");
    let name = added.split_whitespace().nth(2).unwrap();
    let (_, said) = run(&["models", "list"]);
    assert!(said.contains(name), "{said}");
    let (code, said) = run(&["doctor"]);
    assert!(code == 0 && said.contains(&format!("{name} reads beside the rules")), "{said}");
    let (code, said) = run(&["extract", "--text", "I live in Ghent with my sister Ines.", "--explain"]);
    assert!(code == 0 && said.contains("votes: ") && said.contains("reader "), "both votes are told: {said}");

    assert_eq!(run(&["models", "remove"]).0, 0);
    assert_eq!(run(&["models", "remove"]).0, 3, "there is none any more");
    let (_, said) = run(&["extract", "--text", "I live in Ghent with my sister Ines.", "--explain"]);
    assert!(!said.contains("reader"), "{said}");
}

#[test]
fn what_is_no_reader_is_refused_and_not_kept() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("other.mnrd");
    std::fs::write(&file, "no reader").unwrap();
    let file = file.display().to_string();
    let (code, said) = mnemal(home.path(), &["models", "add", &file]);
    assert!(code != 0 && code != 3 && said.contains("no reader"), "{code}: {said}");
    let (code, said) = mnemal(home.path(), &["models", "add", "missing.mnrd"]);
    assert!(code == 3 && said.contains("missing.mnrd"), "{code}: {said}");
    assert_eq!(mnemal(home.path(), &["models", "list"]).1, "no model\n");
}

#[test]
fn a_reader_that_was_damaged_is_named_and_can_be_removed() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| mnemal(home.path(), arguments);
    assert_eq!(run(&["models", "add", &tiny().display().to_string()]).0, 0);
    std::fs::write(home.path().join("data/models/reader.mnrd"), "damaged").unwrap();
    let (code, said) = run(&["doctor"]);
    assert!(code != 0 && said.contains("no reader"), "{said}");
    let (code, said) = run(&["models", "list"]);
    assert!(code == 0 && said.contains("cannot be read"), "{said}");
    assert_eq!(run(&["models", "remove"]).0, 0);
    assert_eq!(run(&["doctor"]).0, 0);
}

#[test]
fn a_reader_that_came_with_the_program_is_used_unless_the_settings_say_none() {
    let home = tempfile::tempdir().unwrap();
    let (program, share) = (home.path().join("bin/mnemal"), home.path().join("share/mnemal"));
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::create_dir_all(&share).unwrap();
    std::fs::copy(tiny(), share.join("reader.mnrd")).unwrap();
    let built = env!("CARGO_BIN_EXE_mnemal");
    if std::fs::hard_link(built, &program).is_err() {
        std::fs::copy(built, &program).unwrap();
    }
    let doctor = |set: &[(&str, &str)]| {
        let mut command = Command::new(&program);
        command.arg("doctor").current_dir(home.path()).env_clear().env("HOME", home.path());
        let output = command.envs(set.iter().copied()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(doctor(&[]).contains("reads beside the rules"), "{}", doctor(&[]));
    let off = doctor(&[("MNEMAL_EXTRACT__READER", "none")]);
    assert!(off.contains("the rules read alone"), "{off}");
}
