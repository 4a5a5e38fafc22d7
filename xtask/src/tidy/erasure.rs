//! Rule: statements that erase rows are in one file of the store, so that a reader can review all of them at once.

use super::Finding;
use super::sql::{STORE, is_statement, words};
use crate::workspace::Tree;

/// The one file that may hold erasing statements.
const ERASING_FILE: &str = "crates/mnemal-store/src/removal.rs";

/// Pairs of words that erase, anywhere in a statement (triggers and common table expressions included). An index holds no
/// rows of its own.
const ERASING: &[[&str; 2]] = &[
    ["DELETE", "FROM"],
    ["DROP", "TABLE"],
    ["DROP", "VIEW"],
    ["DROP", "TRIGGER"],
    ["DROP", "COLUMN"],
    ["TRUNCATE", "TABLE"],
];

/// Erasing statements of the store, outside its tests, are found anywhere but in their list.
pub(super) fn only_in_its_list(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let files = tree.files.iter().filter(|file| file.member() == STORE && file.path != ERASING_FILE);
    for file in files {
        let message = format!("a statement that erases belongs into {ERASING_FILE}");
        if file.has_extension("sql") && erases(&file.text) {
            findings.push(Finding::at(&file.path, message.clone()));
        }
        let literals = file.rust.literals.iter().filter(|literal| !file.is_test_line(literal.line));
        for literal in literals.filter(|literal| erases(&literal.text)) {
            findings.push(Finding::on_line(&file.path, literal.line, message.clone()));
        }
    }
    findings
}

/// Returns true if a text holds an erasing statement: in capitals anywhere, in other spellings only where
/// the whole text reads as a statement, so that an error message may say `cannot delete from`.
fn erases(text: &str) -> bool {
    pairs(text).any(|pair| ERASING.contains(&pair))
        || ((is_statement(text) || text.contains('\n'))
            && pairs(&text.to_uppercase()).any(|pair| ERASING.contains(&pair)))
}

fn pairs(text: &str) -> impl Iterator<Item = [&str; 2]> {
    let words = words(text);
    let next = words.clone().into_iter().skip(1);
    words.into_iter().zip(next).map(|(first, second)| [first, second])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::check;

    const PLANTED: &str = "const A: &str = \"DELETE FROM events WHERE seq = ?1\";\n";

    // proves: NB-15
    #[test]
    fn an_erasing_statement_outside_the_list_is_found() {
        let found = check(only_in_its_list, &[("crates/mnemal-store/src/sqlite.rs", PLANTED)]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/mnemal-store/src/sqlite.rs:1: a statement that erases"));
    }

    #[test]
    fn the_list_itself_and_tests_may_erase() {
        let test = format!("#[cfg(test)]\nmod tests {{\n{PLANTED}}}\n");
        let files = [(ERASING_FILE, PLANTED), ("crates/mnemal-store/src/a.rs", test.as_str())];
        assert_eq!(check(only_in_its_list, &files), [""; 0]);
    }

    #[test]
    fn an_error_message_is_not_a_statement() {
        assert!(!erases("cannot delete from space {space}"));
        assert!(erases("delete from events where seq = ?1"));
    }

    #[test]
    fn a_migration_that_drops_a_table_is_found() {
        let files = [("crates/mnemal-store/migrations/0002.sql", "create table a (b);\ndrop table c;\n")];
        assert_eq!(check(only_in_its_list, &files).len(), 1);
    }
}
