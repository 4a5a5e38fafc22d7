//! Size report of functions, files and traits for each member, to notice drift early.

use std::collections::BTreeMap;

use crate::source::{is_word, item_end};
use crate::workspace::{SourceFile, Tree};

/// Sizes of one member, in lines, test code left out unless a name says otherwise.
#[derive(Debug, Default)]
struct Figures {
    files: usize,
    lines: usize,
    test_lines: usize,
    functions: Vec<usize>,
    largest_file: usize,
    widest_trait: usize,
}

/// Returns the table of sizes, one row for each member.
pub(super) fn table(tree: &Tree) -> String {
    let mut members: BTreeMap<&str, Figures> = BTreeMap::new();
    for file in tree.rust_files() {
        members.entry(file.member()).or_default().add(file);
    }
    let mut rows = vec![format!(
        "{:<18} {:>5} {:>6} {:>6} {:>5} {:>4} {:>4} {:>4} {:>8} {:>6}",
        "member", "files", "lines", "tests", "fns", "p50", "p90", "max", "max file", "trait"
    )];
    for (member, mut figures) in members {
        figures.functions.sort_unstable();
        rows.push(format!(
            "{member:<18} {:>5} {:>6} {:>6} {:>5} {:>4} {:>4} {:>4} {:>8} {:>6}",
            figures.files,
            figures.lines,
            figures.test_lines,
            figures.functions.len(),
            percentile(&figures.functions, 50),
            percentile(&figures.functions, 90),
            percentile(&figures.functions, 100),
            figures.largest_file,
            figures.widest_trait
        ));
    }
    rows.join("\n")
}

impl Figures {
    fn add(&mut self, file: &SourceFile) {
        let code = &file.rust.code;
        let tests = (1..=code.len()).filter(|line| file.is_test_line(*line)).count();
        let lines = code.len() - tests;
        self.files += 1;
        self.lines += lines;
        self.test_lines += tests;
        self.largest_file = self.largest_file.max(lines);
        for (at, line) in code.iter().enumerate().filter(|(at, _)| !file.is_test_line(at + 1)) {
            let end = item_end(code, at);
            let body = code.get(at..=end).unwrap_or_default();
            if declares(line, "fn") && body.iter().any(|line| line.contains('{')) {
                self.functions.push(body.len());
            } else if declares(line, "trait") {
                let methods = body.iter().filter(|line| declares(line, "fn")).count();
                self.widest_trait = self.widest_trait.max(methods);
            }
        }
    }
}

/// Returns true if the line declares an item with this keyword: `pub async fn name`.
fn declares(line: &str, keyword: &str) -> bool {
    let mut words = line.split_whitespace();
    let modifiers = |word: &&str| {
        word.starts_with("pub") || ["const", "async", "unsafe", "extern", "#[async_trait]"].contains(word)
    };
    let first = words.by_ref().find(|word| !modifiers(word));
    first == Some(keyword) && words.next().is_some_and(|name| name.starts_with(is_word))
}

/// Returns the value below or at which `percent` of the sorted sizes lie; 0 for none.
fn percentile(sorted: &[usize], percent: usize) -> usize {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::tree;

    #[test]
    fn functions_traits_and_tests_are_measured_apart() {
        let text = "pub fn a(\n  x: [u8; 2],\n) {\n}\ntrait T {\n  fn b();\n  fn c();\n}\n#[cfg(test)]\nmod tests {\n}\n";
        let mut figures = Figures::default();
        figures.add(&SourceFile::new("crates/a/src/a.rs", text));
        assert_eq!((figures.lines, figures.test_lines, figures.widest_trait), (8, 3, 2));
        assert_eq!(figures.functions, [4]);
    }

    #[test]
    fn percentiles_are_values_of_the_list() {
        let sizes: Vec<usize> = (1..=10).collect();
        assert_eq!([50, 90, 100].map(|percent| percentile(&sizes, percent)), [5, 9, 10]);
        assert_eq!(percentile(&[], 50), 0);
    }

    #[test]
    fn each_member_has_one_row() {
        let tree = tree(&[("crates/a/src/a.rs", "fn a() {}\n"), ("crates/b/src/b.rs", "fn b() {}\n")]);
        assert_eq!(table(&tree).lines().count(), 3);
    }
}
