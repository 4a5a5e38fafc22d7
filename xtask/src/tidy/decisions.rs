//! Decision records are numbered without gaps, short, and listed in their index.

use super::Finding;
use crate::workspace::Tree;

const FOLDER: &str = "docs/adr/";
const INDEX: &str = "docs/adr/README.md";

/// Records are named `NNNN-title.md`, numbered from 0001 without gaps or repeats, and listed in the index.
pub(super) fn adr_numbers_and_index(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(index) = tree.file(INDEX) else {
        return vec![Finding::at(INDEX, "does not exist")];
    };
    let mut names: Vec<&str> = tree.files.iter().filter_map(|file| file.path.strip_prefix(FOLDER)).collect();
    names.retain(|name| *name != "README.md");
    names.sort_unstable();
    for (at, name) in names.iter().enumerate() {
        let place = format!("{FOLDER}{name}");
        let number = name.split_once('-').map(|(number, _)| number).unwrap_or_default();
        if number != format!("{:04}", at + 1) {
            findings.push(Finding::at(&place, format!("the next number is {:04}", at + 1)));
        }
        if !index.text.contains(&format!("({name})")) {
            findings.push(Finding::at(INDEX, format!("does not link to {name}")));
        }
    }
    findings
}

/// Most words of one record, and of all of them. Source: own choice; a record is read in two minutes, all of them in an hour.
const LONGEST: usize = 350;
const LONGEST_TOGETHER: usize = 16_000;

/// No record has more than [`LONGEST`] words, and all together no more than [`LONGEST_TOGETHER`].
pub(super) fn adr_length(tree: &Tree) -> Vec<Finding> {
    let records: Vec<(&str, usize)> = tree
        .files
        .iter()
        .filter(|file| file.path.starts_with(FOLDER) && file.path != INDEX)
        .map(|file| (file.path.as_str(), file.text.split_whitespace().count()))
        .collect();
    let too_long = records.iter().filter(|(_, words)| *words > LONGEST);
    let mut findings: Vec<Finding> = too_long
        .map(|(path, words)| Finding::at(*path, format!("{words} words; at most {LONGEST}")))
        .collect();
    let together: usize = records.iter().map(|(_, words)| words).sum();
    if together > LONGEST_TOGETHER {
        findings.push(Finding::at(FOLDER, format!("{together} words together; at most {LONGEST_TOGETHER}")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::check;

    #[test]
    fn records_that_are_too_long_are_found() {
        let (long, short) = ("word ".repeat(351), "word ".repeat(350));
        let files = [("docs/adr/0001-one.md", long.as_str()), ("docs/adr/0002-two.md", &short)];
        assert_eq!(check(adr_length, &files), ["docs/adr/0001-one.md: 351 words; at most 350"]);
        let many: Vec<String> = (0..50).map(|at| format!("docs/adr/{at:04}-x.md")).collect();
        let files: Vec<(&str, &str)> = many.iter().map(|path| (path.as_str(), short.as_str())).collect();
        assert_eq!(check(adr_length, &files), ["docs/adr/: 17500 words together; at most 16000"]);
    }

    #[test]
    fn a_gap_in_the_numbers_and_a_missing_line_of_the_index_are_found() {
        let files = [
            ("docs/adr/README.md", "- [One](0001-one.md)\n"),
            ("docs/adr/0001-one.md", ""),
            ("docs/adr/0003-three.md", ""),
        ];
        let expected = [
            "docs/adr/0003-three.md: the next number is 0002",
            "docs/adr/README.md: does not link to 0003-three.md",
        ];
        assert_eq!(check(adr_numbers_and_index, &files), expected);
    }

    #[test]
    fn a_tree_without_index_is_found() {
        assert_eq!(check(adr_numbers_and_index, &[]), ["docs/adr/README.md: does not exist"]);
    }
}
