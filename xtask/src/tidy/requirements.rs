//! Requirement ids: each that a test or a document cites stands in the public list, once.

use std::collections::BTreeMap;

use super::Finding;
use crate::workspace::{SourceFile, Tree};

const LIST: &str = "docs/requirements.md";
/// Where ids mean something else: the data of languages and of benches.
const DATA: &[&str] = &["crates/mnemal-extract/packs/", "benches/data/", "docs/results/"];

/// Every id that is cited in a comment of Rust or in a document has one line in the list.
pub(super) fn cited_ids(tree: &Tree) -> Vec<Finding> {
    let Some(list) = tree.file(LIST) else { return vec![Finding::at(LIST, "does not exist")] };
    let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
    for line in list.text.lines() {
        if let Some((id, _)) = line.strip_prefix("- **").and_then(|line| line.split_once("**")) {
            *listed.entry(id).or_default() += 1;
        }
    }
    let areas: std::collections::BTreeSet<&str> =
        listed.keys().filter_map(|id| id.split_once('-')).map(|(area, _)| area).collect();
    let twice = listed.iter().filter(|(_, times)| **times > 1);
    let mut findings: Vec<Finding> =
        twice.map(|(id, _)| Finding::at(LIST, format!("lists {id} more than once"))).collect();
    let is_read = |file: &&SourceFile| {
        let is_text = file.is_rust() || file.has_extension("md");
        is_text && file.path != LIST && !DATA.iter().any(|folder| file.path.starts_with(folder))
    };
    for file in tree.files.iter().filter(is_read) {
        for (at, line) in file.text.lines().enumerate() {
            let text = if file.is_rust() { comment(line) } else { line };
            for id in ids(text).filter(|id| !listed.contains_key(id)) {
                // Others of the same form are none: UTF-8, SHA-256.
                if id.split_once('-').is_some_and(|(area, _)| areas.contains(area)) {
                    findings.push(Finding::on_line(&file.path, at + 1, format!("{id} is not in {LIST}")));
                }
            }
        }
    }
    findings
}

/// Returns the comment of a line of Rust that is nothing else.
fn comment(line: &str) -> &str {
    line.trim_start().strip_prefix("//").unwrap_or_default()
}

/// Returns what has the form of an id: two or three capitals, a hyphen, a number, and perhaps a part of it.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    text.split(move |c: char| !is_of_id(c)).map(|word| word.trim_end_matches(['.', '-'])).filter(|word| {
        let Some((area, number)) = word.split_once('-') else { return false };
        let is_area = (2..=3).contains(&area.len()) && area.chars().all(|c| c.is_ascii_uppercase());
        let parts = number.split('.');
        let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        is_area && number.split('.').count() <= 2 && parts.into_iter().all(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::check;

    #[test]
    fn an_id_that_nobody_can_look_up_is_found() {
        let files = [
            (LIST, "- **NB-52** — A list.\n- **NX-07.4** — Words.\n- **NX-07.4** — Again.\n"),
            ("crates/a/src/b.rs", "//! B.\n// proves: NB-52, NX-07.4, NB-53\nlet id = \"NB-54\";\n"),
            ("docs/a.md", "As NX-07.5 says, in UTF-8 with SHA-256.\n"),
        ];
        let expected = [
            "docs/requirements.md: lists NX-07.4 more than once",
            "crates/a/src/b.rs:2: NB-53 is not in docs/requirements.md",
            "docs/a.md:1: NX-07.5 is not in docs/requirements.md",
        ];
        assert_eq!(check(cited_ids, &files), expected);
    }
}
