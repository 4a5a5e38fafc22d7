//! Rule: no path of a developer's machine and no host of a registry in the tree.

use super::Finding;
use crate::source::names;
use crate::workspace::Tree;

/// Parts of texts that are found anywhere. Each is written in two halves, so that this file holds none.
const TRACES: &[(&str, &str)] = &[
    ("/wor", "k/"),
    ("/tm", "p/"),
    ("/roo", "t/"),
    ("shared/", "design"),
    ("shared/", "data"),
    ("index.crates", ".io"),
    ("static.crates", ".io"),
    ("registry.npmjs", ".org"),
    ("pypi", ".org"),
    ("files.python", "hosted.org"),
    ("deb.debian", ".org"),
];

/// Words that are found only where they are alone, and not in lists of words.
const WORDS: &[(&str, &str)] = &[("fa", "rm")];

/// Extensions of files that list words of a language, or sentences of people.
const WORD_LISTS: &[&str] = &["csv", "jsonl", "tsv", "txt"];
/// Where the words and sentences of languages are.
const LANGUAGES: &str = "crates/mnemal-extract/packs/";

/// Lines that reveal where or by whom the project was made are found.
pub(super) fn words(tree: &Tree) -> Vec<Finding> {
    let traces: Vec<String> = TRACES.iter().map(|(a, b)| format!("{a}{b}")).collect();
    let words: Vec<String> = WORDS.iter().map(|(a, b)| format!("{a}{b}")).collect();
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path != "Cargo.lock") {
        let is_list = file.path.starts_with(LANGUAGES)
            || WORD_LISTS.iter().any(|extension| file.has_extension(extension));
        for (at, line) in file.text.lines().enumerate() {
            let lower = line.to_lowercase();
            let trace = traces.iter().find(|trace| line.contains(trace.as_str()));
            let found = trace.or_else(|| words.iter().find(|word| !is_list && names(&lower, word)));
            if let Some(found) = found {
                findings.push(Finding::on_line(
                    &file.path,
                    at + 1,
                    format!("`{found}` does not belong here"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::check;

    #[test]
    fn a_folder_of_a_machine_is_found() {
        let text = format!("fine\nsee {}{}notes\n", "/tm", "p/");
        let found = check(words, &[("docs/a.md", &text)]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("docs/a.md:2: "));
    }

    #[test]
    fn a_word_inside_another_word_is_no_trace() {
        let (alone, inside) = (format!("a {}{} here", "Fa", "rm"), format!("a {}{}er here", "Fa", "rm"));
        assert_eq!(check(words, &[("a.md", &alone), ("b.md", &inside), ("words.txt", &alone)]).len(), 1);
    }
}
