//! Rule: default settings and ranking constants state their source.
//!
//! The rule holds for every numeric constant in a file named after settings, weights, limits or floors, and
//! for every numeric constant named `DEFAULT_…` or `…_WEIGHT` elsewhere; test code is free.

use super::Finding;
use crate::workspace::{SourceFile, Tree};

/// Files (or folders of files) in which every numeric constant needs a source.
const FILES: &[&str] = &["settings", "weights", "limits", "floors"];
const NUMERIC_TYPES: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
    "Duration",
];

/// Numeric constants that the rule covers carry a document with a sentence that begins with `Source:`.
pub(super) fn source_of_each_default(tree: &Tree) -> Vec<Finding> {
    let files = tree.rust_files().filter(|file| file.path.starts_with("crates/"));
    files.flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let whole_file = named_after_numbers(&file.path);
    let mut findings = Vec::new();
    for (line, code) in file.rust.lines() {
        let Some((name, kind, value)) = constant(code) else { continue };
        let covered = whole_file || name.starts_with("DEFAULT_") || name.ends_with("_WEIGHT");
        if covered && is_number(kind, value) && !file.is_test_line(line) && !has_source(file, line) {
            findings.push(Finding::on_line(&file.path, line, format!("{name} has no sentence `Source:`")));
        }
    }
    findings
}

fn named_after_numbers(path: &str) -> bool {
    path.trim_end_matches(".rs").split('/').any(|part| FILES.contains(&part))
}

/// Reads `const NAME: Type = value`; the value may go on in the next lines.
fn constant(code: &str) -> Option<(&str, &str, &str)> {
    let code = code.trim_start();
    let code = code.strip_prefix("pub").map_or(code, |rest| match rest.split_once(')') {
        Some((scope, rest)) if scope.trim_start().starts_with('(') => rest,
        _ => rest,
    });
    let declared = code.trim_start().strip_prefix("const ")?;
    let (name, rest) = declared.split_once(':')?;
    let (kind, value) = rest.split_once('=')?;
    let is_name = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    is_name.then_some((name, kind.trim(), value.trim()))
}

/// A number is a value of a numeric type, an array of them, or a newtype made from one literal: `Score::new(0.5)`.
fn is_number(kind: &str, value: &str) -> bool {
    let element = kind.trim_start_matches(['&', '[']).split([';', ']', ',']).next().unwrap_or_default();
    let last = element.rsplit("::").next().unwrap_or(element).trim();
    let newtype = !kind.starts_with(['&', '[', '(']) && value.contains(|c: char| c.is_ascii_digit());
    NUMERIC_TYPES.contains(&last) || newtype
}

/// Looks at the document lines right above the constant, past its attributes.
fn has_source(file: &SourceFile, line: usize) -> bool {
    let above: Vec<&str> = file.text.lines().take(line.saturating_sub(1)).collect();
    let documents = above.iter().rev().map(|text| text.trim_start());
    documents
        .take_while(|text| text.starts_with("///") || text.starts_with("#["))
        .any(|text| text.contains("Source: "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::check;

    #[test]
    fn a_setting_without_a_source_is_found() {
        let text =
            "/// Half-life in days.\npub const HALF_LIFE: f32 = 14.0;\nconst STEPS: [u32; 2] = [1, 2];\n";
        let found = check(source_of_each_default, &[("crates/a/src/settings.rs", text)]);
        let expected = [
            "crates/a/src/settings.rs:2: HALF_LIFE has no sentence `Source:`",
            "crates/a/src/settings.rs:3: STEPS has no sentence `Source:`",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_default_is_covered_in_every_file_and_other_numbers_are_free() {
        let text = "pub(crate) const DEFAULT_LIMIT: usize = 10;\nconst WIDTH: usize = 8;\nconst A_WEIGHT: Score = Score::new(1.0);\n";
        let found = check(source_of_each_default, &[("crates/a/src/fuse.rs", text)]);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_source_above_attributes_is_enough_and_text_needs_none() {
        let text = "/// Hits.\n/// Source: own measurement.\n#[doc(hidden)]\nconst HITS: usize = 10;\nconst NAME: &str = \"a1\";\n";
        assert_eq!(check(source_of_each_default, &[("crates/a/src/limits.rs", text)]), [""; 0]);
    }
}
