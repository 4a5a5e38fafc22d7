//! Rule: names that may be used in a few places only.

use super::Finding;
use super::graph::SERIALISING;
use crate::source::names;
use crate::workspace::{SourceFile, Tree};

/// A name and the members whose code may use it.
const CALL_SITES: &[(&str, &[&str])] = &[
    ("BackgroundPermit::issue", &["mnemal", "mnemal-core", "mnemal-dream", "mnemal-testkit"]),
    ("Spaces::open", &["mnemal", "mnemal-server", "mnemal-cli"]),
];

/// Members that learn from turns.
const LEARNING: &[&str] = &["mnemal-extract", "mnemal-graph", "mnemal-learnings", "mnemal-summaries"];
/// Files of these members that read what a turn says, each with what it reads it for; all others read
/// [`OwnWords`](mnemal_extract::OwnWords).
const READERS: &[(&str, &str)] = &[
    ("crates/mnemal-extract/src/authorship.rs", "the gate itself"),
    ("crates/mnemal-extract/src/extractor.rs", "names, sizes, and the question that a turn answers"),
    ("crates/mnemal-extract/src/claim_gate.rs", "names, and whether a place is the speaker's own"),
    (
        "crates/mnemal-graph/src/model_claims.rs",
        "places that a model names, which `admit` holds against the gate",
    ),
    (
        "crates/mnemal-graph/src/model_extraction_pass.rs",
        "what a model is asked about, whose claims `admit` holds against the gate",
    ),
    ("crates/mnemal-graph/src/source.rs", "the sentence of a fact, to show it"),
    ("crates/mnemal-graph/src/source/line.rs", "the sentence of a fact, to show it"),
    ("crates/mnemal-learnings/src/fold.rs", "notes that somebody stored on purpose"),
    ("crates/mnemal-learnings/src/operate.rs", "notes that somebody stored on purpose"),
    ("crates/mnemal-learnings/src/read.rs", "the words of a place that was found in own words"),
    ("crates/mnemal-learnings/src/read/topic_key.rs", "the words of a place that was found in own words"),
    ("crates/mnemal-learnings/src/tool.rs", "results of tools"),
    ("crates/mnemal-summaries/src/tree.rs", "the words of a place that was found in own words"),
    ("crates/mnemal-summaries/src/model_summary.rs", "what a model wrote of a summary"),
];
/// How code reads what a turn says.
const READS: &[&str] = &["kept.content", "said.content", "earlier.content", "body()?.content"];
/// Files that may treat a whole text as a speaker's own words.
const WHOLE: &[&str] = &[
    "crates/mnemal-extract/src/authorship.rs",
    "crates/mnemal-learnings/src/read/pattern.rs",
    "crates/mnemal-server/src/http/routes/compat.rs",
];

/// Files that may hold `unsafe`: the border between the fault-injecting file system and SQLite, and that of its tests.
const UNSAFE_FILES: &[&str] =
    &["crates/mnemal-testkit/src/vfs/callbacks.rs", "crates/mnemal-testkit/src/vfs/connection.rs"];

/// Rights are issued, and spaces are opened, only where the architecture says so.
pub(super) fn call_sites(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, members) in CALL_SITES {
        for file in code(tree).filter(|file| !members.contains(&file.member())) {
            let message = format!("{name} may be named only in {}", members.join(", "));
            findings.extend(lines_that(file, &message, |line| names(line, name)));
        }
    }
    findings
}

/// What learns reads the words that are the speaker's own, and no other words of a turn.
pub(super) fn own_words(tree: &Tree) -> Vec<Finding> {
    let may_read = |file: &SourceFile| READERS.iter().any(|(path, _)| *path == file.path);
    let learning = |file: &&SourceFile| LEARNING.contains(&file.member()) && file.path.contains("/src/");
    let reads = |line: &str| READS.iter().any(|name| line.contains(name));
    let takes_whole = |line: &str| names(line, "OwnWords::whole");
    let mut findings = Vec::new();
    for file in code(tree) {
        if learning(&file) && !may_read(file) {
            let lines = file.rust.lines().filter(|(at, line)| !file.is_test_line(*at) && reads(line));
            findings.extend(lines.map(|(at, _)| Finding::on_line(&file.path, at, UNGATED)));
        }
        if !WHOLE.contains(&file.path.as_str()) {
            let lines = file.rust.lines().filter(|(at, line)| !file.is_test_line(*at) && takes_whole(line));
            findings.extend(lines.map(|(at, _)| Finding::on_line(&file.path, at, UNGATED)));
        }
    }
    findings
}

/// What is said of code that passes by the gate of authorship.
const UNGATED: &str = "a turn is read through `OwnWords::of_event`";

/// No other file holds `unsafe`.
pub(super) fn no_unsafe(tree: &Tree) -> Vec<Finding> {
    let files = code(tree).filter(|file| !UNSAFE_FILES.contains(&file.path.as_str()));
    files
        .flat_map(|file| lines_that(file, "`unsafe` is not used here", |line| names(line, "unsafe")))
        .collect()
}

/// Only members with a boundary to an outside format derive serialization.
pub(super) fn derived_serialisation(tree: &Tree) -> Vec<Finding> {
    let derives = |line: &str| names(line, "Serialize") || names(line, "Deserialize");
    let files = code(tree).filter(|file| !SERIALISING.contains(&file.member()));
    files.flat_map(|file| lines_that(file, "records are not serialised here; see ADR 18", derives)).collect()
}

/// No test is switched off, and none expects a panic.
pub(super) fn no_ignored_tests(tree: &Tree) -> Vec<Finding> {
    let switched = |line: &str| line.contains("#[ignore") || line.contains("#[should_panic");
    code(tree).flat_map(|file| lines_that(file, "a test runs and returns", switched)).collect()
}

/// Where a crate has one program of integration tests, each file of tests is a part of it, or it never runs.
pub(super) fn tests_of_the_program(tree: &Tree) -> Vec<Finding> {
    let mains = tree.files.iter().filter_map(|file| Some((file.path.strip_suffix("/main.rs")?, &file.text)));
    let of_folder = |(folder, text): (&str, &String)| {
        let folder = format!("{folder}/");
        let manifest = format!("{}Cargo.toml", folder.trim_end_matches("tests/"));
        let programs =
            tree.files.iter().find(|file| file.path == manifest).map_or("", |file| file.text.as_str());
        let is_lost = |file: &&SourceFile| {
            let name = file.path.strip_prefix(&folder).and_then(|name| name.strip_suffix(".rs"));
            name.is_some_and(|name| {
                name != "main"
                    && !name.contains('/')
                    && !text.contains(&format!("mod {name};"))
                    && !programs.contains(&format!("tests/{name}.rs"))
            })
        };
        let lost = tree.files.iter().filter(is_lost);
        lost.map(|file| Finding::at(&file.path, "no part of `tests/main.rs`")).collect::<Vec<_>>()
    };
    mains.filter(|(folder, _)| folder.ends_with("/tests")).flat_map(of_folder).collect()
}

/// No test waits for the clock on the wall; a test under tokio's paused time may move that time on.
pub(super) fn no_sleeping_tests(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in code(tree) {
        let paused = file.text.contains("start_paused = true");
        let sleeps = |line: &str| names(line, "thread::sleep") || (!paused && names(line, "time::sleep"));
        let lines = file.rust.lines().filter(|(at, line)| file.is_test_line(*at) && sleeps(line));
        findings.extend(lines.map(|(at, _)| Finding::on_line(&file.path, at, "a test does not sleep")));
    }
    findings
}

fn code(tree: &Tree) -> impl Iterator<Item = &SourceFile> {
    tree.rust_files()
}

fn lines_that(file: &SourceFile, message: &str, holds: impl Fn(&str) -> bool) -> Vec<Finding> {
    let lines = file.rust.lines().filter(|(_, line)| holds(line));
    lines.map(|(at, _)| Finding::on_line(&file.path, at, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::check;

    #[test]
    fn a_file_of_tests_that_no_program_has_is_found() {
        let files = [
            ("crates/a/Cargo.toml", "[[test]]\nname = \"own\"\npath = \"tests/own.rs\"\n"),
            ("crates/a/tests/main.rs", "mod one;\n"),
            ("crates/a/tests/one.rs", ""),
            ("crates/a/tests/own.rs", ""),
            ("crates/a/tests/two.rs", ""),
            ("crates/a/tests/data/three.rs", ""),
            ("crates/b/tests/four.rs", ""),
        ];
        let found = check(tests_of_the_program, &files);
        assert_eq!(found, ["crates/a/tests/two.rs: no part of `tests/main.rs`"]);
    }

    #[test]
    fn a_permit_issued_by_a_layer_is_found() {
        let text = "fn f() { BackgroundPermit::issue(budget) }\n";
        let files = [("crates/mnemal-recall/src/a.rs", text), ("crates/mnemal-testkit/src/a.rs", text)];
        let found = check(call_sites, &files);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/mnemal-recall/src/a.rs:1: BackgroundPermit::issue"));
    }

    #[test]
    fn a_space_opened_by_the_store_is_found() {
        let text = "fn f() { Spaces::open(principal, space) }\n";
        assert_eq!(check(call_sites, &[("crates/mnemal-store/src/a.rs", text)]).len(), 1);
        assert_eq!(check(call_sites, &[("crates/mnemal/src/a.rs", text)]), [""; 0]);
    }

    #[test]
    fn a_reader_of_turns_that_passes_by_the_gate_is_found() {
        let reads = "fn f(kept: &NewEvent) { learn(&kept.content) }\n";
        let tests = format!("#[cfg(test)]\nmod tests {{\n    {reads}}}\n");
        let files = [
            ("crates/mnemal-learnings/src/a.rs", reads),
            ("crates/mnemal-recall/src/a.rs", reads),
            (READERS[0].0, reads),
            ("crates/mnemal-graph/src/b.rs", tests.as_str()),
        ];
        assert_eq!(check(own_words, &files), [format!("crates/mnemal-learnings/src/a.rs:1: {UNGATED}")]);
        let whole = "fn f(text: &str) { feedback(&OwnWords::whole(text)) }\n";
        let files = [("crates/mnemal/src/a.rs", whole), (WHOLE[1], whole)];
        assert_eq!(check(own_words, &files), [format!("crates/mnemal/src/a.rs:1: {UNGATED}")]);
    }

    #[test]
    fn unsafe_code_is_found_and_unsafe_in_words_is_not() {
        let files = [("crates/a/src/a.rs", "// unsafe\nfn f() { unsafe { g() } }\n#![deny(unsafe_code)]\n")];
        assert_eq!(check(no_unsafe, &files), ["crates/a/src/a.rs:2: `unsafe` is not used here"]);
        let border = [(UNSAFE_FILES[0], "unsafe fn f() {}\n")];
        assert_eq!(check(no_unsafe, &border), [""; 0]);
    }

    #[test]
    fn a_record_that_derives_serialize_is_found() {
        let text = "#[derive(Debug, serde::Serialize)]\nstruct A;\n";
        let files = [("crates/mnemal-core/src/a.rs", text), ("crates/mnemal-events/src/a.rs", text)];
        assert_eq!(check(derived_serialisation, &files).len(), 1);
    }

    #[test]
    fn an_ignored_test_is_found() {
        let text = "#[test]\n#[ignore = \"later\"]\nfn f() {}\n";
        assert_eq!(check(no_ignored_tests, &[("crates/a/src/a.rs", text)]).len(), 1);
    }

    #[test]
    fn a_sleeping_test_is_found_unless_time_is_paused() {
        let sleep = "async fn f() { tokio::time::sleep(d).await }\n";
        let paused = format!("#[tokio::test(start_paused = true)]\n{sleep}");
        let files = [("crates/a/tests/a.rs", sleep), ("crates/a/tests/b.rs", paused.as_str())];
        assert_eq!(check(no_sleeping_tests, &files), ["crates/a/tests/a.rs:1: a test does not sleep"]);
        assert_eq!(check(no_sleeping_tests, &[("crates/a/src/a.rs", sleep)]), [""; 0]);
    }
}
