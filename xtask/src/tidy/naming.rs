//! Rules: every Rust file has a header line and an allowed name, and a type has a name that says what it is.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::source::is_word;
use crate::workspace::{SourceFile, Tree};

/// Words that name no idea.
const EMPTY_WORDS: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc", "manager"];

/// Every Rust file begins with a document, or includes the README of its crate as one.
pub(super) fn document_of_each_file(tree: &Tree) -> Vec<Finding> {
    let documented = |text: &str| text.starts_with("//!") || text.starts_with("#![doc = include_str!");
    tree.rust_files()
        .filter(|file| !documented(file.text.trim_start()))
        .map(|file| Finding::at(&file.path, "does not begin with `//!`"))
        .collect()
}

/// First words of headers that do not name the thing.
const QUESTION_WORDS: &[&str] = &["What", "Whether", "How", "Who", "Whom", "Whose", "Which"];

/// The header of a file names the thing: its first word is none of [`QUESTION_WORDS`].
pub(super) fn header_of_each_file(tree: &Tree) -> Vec<Finding> {
    let first = |text: &str| {
        let header = text.trim_start().strip_prefix("//!")?.split_whitespace().next()?;
        QUESTION_WORDS.iter().copied().find(|word| header.trim_matches(['"', '`', ',']) == *word)
    };
    let found = |file: &SourceFile| {
        let word = first(&file.text)?;
        Some(Finding::on_line(&file.path, 1, format!("the header begins with `{word}`; name the thing")))
    };
    tree.rust_files().filter_map(found).collect()
}

/// The root of the facade and its prelude, and the most names in each, modules included. Source: own choice; a reader takes in
/// no more at once, and more of them in the prelude are a second root.
const FACADE: [(&str, usize); 2] = [("crates/mnemal/src/lib.rs", 60), ("crates/mnemal/src/prelude.rs", 40)];

/// The root of the facade and its prelude exist and have few names.
pub(super) fn names_of_the_facade(tree: &Tree) -> Vec<Finding> {
    let count = |text: &str| -> usize {
        let exports = text.split("pub use ").skip(1).filter_map(|export| export.split(';').next());
        // The last of several ends with a comma too.
        let names = exports.map(|export| export.replace(",\n}", "\n}").matches(',').count() + 1);
        names.sum::<usize>() + text.matches("\npub mod ").count()
    };
    let finding = |(path, most): (&str, usize)| {
        let Some(file) = tree.file(path) else { return Some(Finding::at(path, "does not exist")) };
        let count = count(&file.text);
        (count > most).then(|| Finding::at(path, format!("{count} names; at most {most}")))
    };
    FACADE.into_iter().filter_map(finding).collect()
}

/// Most methods of `Memory` itself, beside its constructors. Source: own choice; the others are in the handles of its areas.
const MEMORY: usize = 15;

/// `Memory` has few methods: what is not needed every day belongs to the handle of an area.
pub(super) fn methods_of_memory(tree: &Tree) -> Vec<Finding> {
    let of_facade = |file: &&SourceFile| file.path.starts_with("crates/mnemal/src/");
    let count = |file: &SourceFile| -> usize {
        let blocks = file.text.split("\nimpl Memory {\n").skip(1);
        let blocks = blocks.filter_map(|block| block.split("\n}").next());
        let methods = blocks.flat_map(|block| block.split("\n    pub ").skip(1));
        methods
            .filter(|method| method.split_once("self").is_some_and(|(head, _)| !head.contains(')')))
            .count()
    };
    let found: usize = tree.rust_files().filter(of_facade).map(count).sum();
    let finding = || Finding::at("crates/mnemal/src/memory.rs", format!("{found} methods; at most {MEMORY}"));
    (found > MEMORY).then(finding).into_iter().collect()
}

/// No file or folder of code has a name without meaning, and no file is called `mod.rs`.
pub(super) fn file_names(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        if file.path.ends_with("/mod.rs") {
            findings
                .push(Finding::at(&file.path, "use `name.rs` beside the folder `name` instead of `mod.rs`"));
        }
        let words = file.path.trim_end_matches(".rs").split(['/', '_', '-']);
        for word in words.filter(|word| EMPTY_WORDS.contains(word)) {
            findings.push(Finding::at(&file.path, format!("`{word}` says nothing; name the idea")));
        }
    }
    findings
}

/// Participles and questions that are no noun: as the name of a type they do not say what it holds.
const RIDDLES: &[&str] = &[
    "Answered", "Asked", "Done", "Ended", "Found", "Given", "Gone", "Heard", "Held", "Judged", "Kept",
    "Known", "Left", "Looked", "Made", "Meant", "Measured", "Observed", "Place", "Refused", "Said", "Seen",
    "Shown", "Spoken", "Standing", "Stated", "Stretch", "Taken", "Tended", "Told", "Tried", "Wanted", "What",
    "Which", "Who", "Whose", "Written",
];

/// No type of the crates or of xtask has one of the names in [`RIDDLES`].
pub(super) fn riddles(tree: &Tree) -> Vec<Finding> {
    let sources = sources(tree).chain(tree.rust_files().filter(|file| file.member() == "xtask"));
    let found = |file: &SourceFile| -> Vec<Finding> {
        let types = types(file).filter(|(_, name)| RIDDLES.contains(name));
        let message = |name: &str| format!("`{name}` is no noun; name what the type holds");
        types.map(|(at, name)| Finding::on_line(&file.path, at, message(name))).collect()
    };
    sources.flat_map(found).collect()
}

/// The most files that may define a type of the same name. Source: own choice; a search for the name then stays readable.
const MOST_NAMESAKES: usize = 3;

/// No more than [`MOST_NAMESAKES`] files of the crates define a type of the same name. No word is excepted: where a fourth file
/// needs a `Kind` or a `Line`, one more word says of what.
pub(super) fn namesakes(tree: &Tree) -> Vec<Finding> {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in sources(tree) {
        for (_, name) in types(file) {
            files.entry(name).or_default().insert(&file.path);
        }
    }
    let common = files.into_iter().filter(|(_, files)| files.len() > MOST_NAMESAKES);
    let message = |name: &str, n_files: usize| {
        format!(
            "`{name}` is a type in {n_files} files; at most {MOST_NAMESAKES}: say in one more word of what"
        )
    };
    common
        .flat_map(|(name, files)| {
            let message = message(name, files.len());
            files.into_iter().map(move |path| Finding::at(path, message.clone()))
        })
        .collect()
}

/// The source files of the crates; tests, examples and benches are not among them.
fn sources(tree: &Tree) -> impl Iterator<Item = &SourceFile> {
    let is_source = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    tree.rust_files().filter(move |file| is_source(&file.path) && !file.is_test_file())
}

/// The types that a file defines outside its tests, each with its line; associated types are not among them.
fn types(file: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    file.rust
        .lines()
        .filter(|(at, _)| !file.is_test_line(*at))
        .filter_map(|(at, line)| Some((at, defined(line)?)))
}

/// Returns the name of the type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let code = match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => code,
    };
    let mut words = code.split_whitespace().skip_while(|word| *word == "unsafe");
    let keyword = words.next()?;
    let is_alias = keyword == "type" && !line.starts_with(' ');
    if !is_alias && !["struct", "enum", "trait", "union"].contains(&keyword) {
        return None;
    }
    words.next()?.split(|c: char| !is_word(c)).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::check;

    #[test]
    fn a_file_without_a_document_is_found() {
        let files = [("crates/a/src/b.rs", "fn f() {}\n"), ("crates/a/src/c.rs", "//! C.\n")];
        assert_eq!(check(document_of_each_file, &files), ["crates/a/src/b.rs: does not begin with `//!`"]);
    }

    #[test]
    fn a_header_that_names_nothing_is_found() {
        let files = [
            ("crates/a/src/b.rs", "//! What is kept.\n"),
            ("crates/a/src/c.rs", "//! Whatever: a catalog.\n"),
            ("crates/a/src/d.rs", "//! Facts that a note replaces.\n"),
        ];
        let expected = ["crates/a/src/b.rs:1: the header begins with `What`; name the thing"];
        assert_eq!(check(header_of_each_file, &files), expected);
    }

    #[test]
    fn a_facade_of_too_many_names_is_found() {
        let names = |count: usize| {
            let names: Vec<String> = (0..count).map(|at| format!("    N{at},\n")).collect();
            format!("//! P.\n\npub mod one;\npub use crate::{{\n{}}};\n", names.concat())
        };
        let [root, prelude] = FACADE.map(|(path, _)| path);
        let found = check(names_of_the_facade, &[(root, &names(59)), (prelude, &names(39))]);
        assert!(found.is_empty(), "{found:?}");
        let found = check(names_of_the_facade, &[(root, &names(60)), (prelude, &names(40))]);
        let expect = [format!("{root}: 61 names; at most 60"), format!("{prelude}: 41 names; at most 40")];
        assert_eq!(found, expect);
        assert_eq!(check(names_of_the_facade, &[(root, "")]), [format!("{prelude}: does not exist")]);
    }

    #[test]
    fn a_memory_of_too_many_methods_is_found() {
        let file = |methods: usize| {
            let block = "impl Memory {\n    pub fn open(path: &Path) -> Self {\n    }\n\n    pub async fn a(\n        &self,\n    ) {\n    }\n";
            let more = "\n    pub fn b(&self) {\n    }\n".repeat(methods);
            format!("//! P.\n\n{block}{more}}}\n\nimpl Engine {{\n    pub fn c(&self) {{\n    }}\n}}\n")
        };
        let path = "crates/mnemal/src/memory.rs";
        assert!(check(methods_of_memory, &[(path, &file(14))]).is_empty());
        assert_eq!(
            check(methods_of_memory, &[(path, &file(15))]),
            [format!("{path}: 16 methods; at most 15")]
        );
    }

    #[test]
    fn names_without_meaning_are_found() {
        let files = [
            ("crates/a/src/text_utils.rs", ""),
            ("crates/a/tests/common/mod.rs", ""),
            ("crates/a/src/commons.rs", ""),
        ];
        let found = check(file_names, &files);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().all(|line| !line.contains("commons.rs")));
    }

    #[test]
    fn a_type_named_by_a_participle_is_found() {
        let source = "/// Known.\npub(crate) struct Known<'a>(&'a str);\nenum Fate {\n    Told,\n}\n";
        let tests = "#[cfg(test)]\nmod tests {\n    struct Told;\n}\n";
        let files = [
            ("crates/a/src/b.rs", source),
            ("crates/a/src/c.rs", tests),
            ("crates/a/tests/d.rs", source),
            ("xtask/src/e.rs", "type Told = u8;\n"),
        ];
        let expected = [
            "crates/a/src/b.rs:2: `Known` is no noun; name what the type holds",
            "xtask/src/e.rs:1: `Told` is no noun; name what the type holds",
        ];
        assert_eq!(check(riddles, &files), expected);
    }

    #[test]
    fn a_fourth_type_of_the_same_name_is_found() {
        let paths: Vec<String> = (0..4).map(|at| format!("crates/a/src/n{at}.rs")).collect();
        let text = "pub(in crate::a) struct Row;\nimpl Iterator for Row {\n    type Item = u8;\n}\n";
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), text)).collect();
        assert_eq!(check(namesakes, &files[..3]), [""; 0]);
        let found = check(namesakes, &files);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/n0.rs: `Row` is a type in 4 files"), "{found:?}");
    }
}
