//! Rule: SQL is written in one crate; elsewhere a string literal that reads as a statement is an error.

use super::Finding;
use crate::source::is_word;
use crate::workspace::{SourceFile, Tree};

/// The one crate that knows SQL.
pub(super) const STORE: &str = "mnemal-store";

/// Beginnings of statements; `*` stands for one word of any kind.
const STATEMENTS: &[&[&str]] = &[
    &["SELECT", "..", "FROM"],
    &["SELECT", "COUNT"],
    &["INSERT", "INTO"],
    &["INSERT", "OR", "*", "INTO"],
    &["REPLACE", "INTO"],
    &["UPDATE", "*", "SET"],
    &["DELETE", "FROM"],
    &["CREATE", "TABLE"],
    &["CREATE", "*", "TABLE"],
    &["CREATE", "INDEX"],
    &["CREATE", "UNIQUE", "INDEX"],
    &["CREATE", "VIEW"],
    &["CREATE", "TRIGGER"],
    &["DROP", "TABLE"],
    &["DROP", "INDEX"],
    &["ALTER", "TABLE"],
    &["PRAGMA", "*"],
    &["BEGIN", "IMMEDIATE"],
    &["BEGIN", "EXCLUSIVE"],
    &["BEGIN", "DEFERRED"],
    &["BEGIN", "TRANSACTION"],
];

/// Statements that are one word; they count only when they are the whole literal, in capitals.
const SINGLE_WORDS: &[&str] = &["BEGIN", "COMMIT", "ROLLBACK", "VACUUM"];

/// Signs that tell a statement from an English sentence that begins with the same words.
const SIGNS: &[char] = &['?', '*', '=', '(', ';', '$'];

/// Files outside the store that speak to SQLite: the tests of the file system below it.
const BELOW_THE_STORE: &[&str] =
    &["crates/mnemal-testkit/src/vfs/connection.rs", "crates/mnemal-testkit/src/vfs/tests.rs"];

/// String literals that read as SQL, and `.sql` files, are found outside the store.
pub(super) fn only_in_store(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let outside = |file: &&SourceFile| {
        ![STORE, "xtask"].contains(&file.member()) && !BELOW_THE_STORE.contains(&file.path.as_str())
    };
    for file in tree.files.iter().filter(outside) {
        if file.has_extension("sql") {
            findings.push(Finding::at(&file.path, format!("SQL belongs into {STORE}")));
        }
        for literal in file.rust.literals.iter().filter(|literal| is_statement(&literal.text)) {
            findings.push(Finding::on_line(&file.path, literal.line, format!("SQL belongs into {STORE}")));
        }
    }
    findings
}

/// Returns true if a literal begins as a statement. Words in capitals suffice; in other spellings the text
/// must also contain a sign that prose does not have.
pub(super) fn is_statement(text: &str) -> bool {
    let text = text.trim();
    if SINGLE_WORDS.contains(&text.trim_end_matches(';')) {
        return true;
    }
    let words = words(text);
    let upper: Vec<String> = words.iter().map(|word| word.to_uppercase()).collect();
    let shaped = STATEMENTS.iter().any(|shape| begins(&upper, shape));
    let shouted = words.first().is_some_and(|word| word.chars().all(char::is_uppercase));
    shaped && starts_with_word(text) && (shouted || text.contains(SIGNS))
}

/// Returns the words of a statement: runs of identifier characters.
pub(super) fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect()
}

fn starts_with_word(text: &str) -> bool {
    text.chars().next().is_some_and(is_word)
}

fn begins(words: &[String], shape: &[&str]) -> bool {
    if let [first, "..", last] = shape {
        return words.first().is_some_and(|word| word == first) && words.iter().any(|word| word == last);
    }
    words.len() >= shape.len() && shape.iter().zip(words).all(|(want, word)| *want == "*" || word == want)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::check;

    #[test]
    fn statements_are_found_outside_the_store_only() {
        let text = "const A: &str = \"SELECT seq FROM events WHERE id = ?1\";\n";
        let found = check(only_in_store, &[("crates/mnemal-recall/src/a.rs", text)]);
        assert_eq!(found, ["crates/mnemal-recall/src/a.rs:1: SQL belongs into mnemal-store"]);
        assert_eq!(check(only_in_store, &[(BELOW_THE_STORE[0], text)]), [""; 0]);
        assert_eq!(check(only_in_store, &[("crates/mnemal-store/src/a.rs", text)]), [""; 0]);
        assert_eq!(check(only_in_store, &[("crates/mnemal-recall/src/a.sql", "")]).len(), 1);
    }

    #[test]
    fn statements_are_recognised_in_every_spelling() {
        let statements = [
            "insert into notes (id) values (?)",
            "\n  UPDATE notes SET body = ?",
            "delete from notes where id = ?1",
            "CREATE TEMP TABLE t (a)",
            "create unique index i on t (a)",
            "pragma journal_mode = wal",
            "BEGIN IMMEDIATE",
            "BEGIN",
            "SELECT count(*) AS n",
        ];
        for statement in statements {
            assert!(is_statement(statement), "{statement}");
        }
    }

    #[test]
    fn sentences_that_begin_with_the_same_words_are_prose() {
        let sentences = [
            "Select the best hits from each arm",
            "Update the set of notes",
            "delete from memory what I said",
            "Create a table of contents",
            "begin",
            "-----BEGIN RSA PRIVATE KEY-----",
            "Drop table tennis on Mondays",
            "selected = (1) from",
        ];
        for sentence in sentences {
            assert!(!is_statement(sentence), "{sentence}");
        }
    }
}
