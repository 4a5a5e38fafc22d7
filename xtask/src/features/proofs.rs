//! Search for the `proves:` comments of tests.

use crate::workspace::Tree;

/// How such a comment begins, after its slashes.
const MARK: &str = "proves:";

/// One identifier that one test names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proof {
    /// The identifier as written.
    pub(super) id: String,
    /// File of the test.
    pub(super) path: String,
    /// Line of the comment, from 1.
    pub(super) line: usize,
    /// Owner of the test as the specification names it: `text` for `mnemal-text`, `facade` for `mnemal`.
    pub(super) owner: String,
    /// True if the comment is in test code, or in a suite that tests of other crates run.
    pub(super) in_test: bool,
}

/// Members whose library code is a test: suites and measurements.
const SUITES: &[&str] = &["mnemal-testkit", "benches"];

/// Returns every identifier named by a `// proves: GB-12, PB-31` comment, in the order of files and lines.
/// What follows a parenthesis, a semicolon or a colon is a remark.
pub(super) fn scan(tree: &Tree) -> Vec<Proof> {
    let mut proofs = Vec::new();
    for file in tree.rust_files() {
        for comment in &file.rust.comments {
            let Some(list) = comment.text.trim_start_matches('/').trim_start().strip_prefix(MARK) else {
                continue;
            };
            let list = list.split(['(', ';', ':']).next().unwrap_or_default();
            for id in list.split(',').filter_map(|part| part.split_whitespace().next()) {
                let id = id.trim_end_matches('.').to_owned();
                let in_test = file.is_test_line(comment.line) || SUITES.contains(&file.member());
                let (path, line, owner) = (file.path.clone(), comment.line, owner(file.member()));
                proofs.push(Proof { id, path, line, owner, in_test });
            }
        }
    }
    proofs
}

/// Returns the name by which the specification knows a member.
pub(super) fn owner(member: &str) -> String {
    match member {
        "mnemal" => "facade".to_owned(),
        other => other.strip_prefix("mnemal-").unwrap_or(other).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::SourceFile;

    #[test]
    fn comments_are_proofs_and_strings_are_not() {
        let text = "// proves: GB-12, NX-01.5, D5 (the first half, in memory).\n#[test]\nfn a() { let _ = \"// proves: GB-13\"; }\n";
        let tree =
            Tree { files: vec![SourceFile::new("crates/mnemal-text/tests/a.rs", text)], ..Tree::default() };
        assert!(scan(&tree).iter().all(|proof| proof.in_test && proof.owner == "text"));
        let found: Vec<_> = scan(&tree).into_iter().map(|proof| (proof.id, proof.line)).collect();
        let expected = [("GB-12".to_owned(), 1), ("NX-01.5".to_owned(), 1), ("D5".to_owned(), 1)];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_comment_in_a_library_is_not_in_a_test_unless_the_library_is_a_suite() {
        let file = |path: &str| SourceFile::new(path, "// proves: GB-12\nfn a() {}\n");
        let files = vec![file("crates/mnemal-core/src/a.rs"), file("crates/mnemal-testkit/src/a.rs")];
        let found: Vec<_> =
            scan(&Tree { files, ..Tree::default() }).iter().map(|proof| proof.in_test).collect();
        assert_eq!(found, [false, true]);
        assert_eq!([owner("mnemal"), owner("xtask")], ["facade", "xtask"]);
    }
}
