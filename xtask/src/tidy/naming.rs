//! Rule: every Rust file has a header line and an allowed name.

use super::Finding;
use crate::workspace::Tree;

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
    let found = |file: &crate::workspace::SourceFile| {
        let word = first(&file.text)?;
        Some(Finding::on_line(&file.path, 1, format!("the header begins with `{word}`; name the thing")))
    };
    tree.rust_files().filter_map(found).collect()
}

/// The prelude of the facade, and the most names in it. Source: own choice; more of them are a second root.
const PRELUDE: (&str, usize) = ("crates/mnemal/src/prelude.rs", 40);

/// The prelude of the facade exists and has few names.
pub(super) fn names_of_the_prelude(tree: &Tree) -> Vec<Finding> {
    let (path, most) = PRELUDE;
    let Some(file) = tree.file(path) else { return vec![Finding::at(path, "does not exist")] };
    let exports = file.text.split("pub use ").skip(1).filter_map(|export| export.split(';').next());
    // The last of several ends with a comma too.
    let count: usize = exports.map(|export| export.replace(",\n}", "\n}").matches(',').count() + 1).sum();
    if count <= most { Vec::new() } else { vec![Finding::at(path, format!("{count} names; at most {most}"))] }
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
    fn a_prelude_of_too_many_names_is_found() {
        let names = |count: usize| {
            let names: Vec<String> = (0..count).map(|at| format!("    N{at},\n")).collect();
            format!("//! P.\npub use crate::One;\npub use crate::{{\n{}}};\n", names.concat())
        };
        assert!(check(names_of_the_prelude, &[(PRELUDE.0, &names(39))]).is_empty());
        let found = check(names_of_the_prelude, &[(PRELUDE.0, &names(40))]);
        assert_eq!(found, ["crates/mnemal/src/prelude.rs: 41 names; at most 40"]);
        assert_eq!(check(names_of_the_prelude, &[]), ["crates/mnemal/src/prelude.rs: does not exist"]);
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
}
