//! Rules that the compiler cannot state, checked on the text of the tree and on the metadata of its packages.

mod decisions;
mod erasure;
mod figures;
mod graph;
mod manifest;
mod naming;
mod numbers;
mod requirements;
mod sites;
mod sql;
mod workshop;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use crate::workspace::Tree;
use crate::{assets, benchmarks, glossary};

/// One violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// File, line or package.
    place: String,
    /// What is wrong and, where it is short, what to do.
    message: String,
}

impl Finding {
    /// Makes a finding about a whole file or package.
    fn at(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }

    /// Makes a finding about one line, counted from 1.
    fn on_line(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { place: format!("{path}:{line}"), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

type Rule = fn(&Tree) -> Vec<Finding>;

/// Every rule with the name that its findings carry.
const RULES: &[(&str, Rule)] = &[
    ("graph", graph::workspace_edges),
    ("fences", graph::external_fences),
    ("readme", manifest::readme_of_each_crate),
    ("lints", manifest::workspace_lints),
    ("sorted", manifest::sorted_dependencies),
    ("crate-list", manifest::crate_list),
    ("suites", manifest::suite_of_each_crate),
    ("packages", manifest::package_count),
    ("essay", naming::document_of_each_file),
    ("header", naming::header_of_each_file),
    ("names", naming::file_names),
    ("riddles", naming::riddles),
    ("namesakes", naming::namesakes),
    ("facade", naming::names_of_the_facade),
    ("memory-methods", naming::methods_of_memory),
    ("sql", sql::only_in_store),
    ("erasure", erasure::only_in_its_list),
    ("source", numbers::source_of_each_default),
    ("sites", sites::call_sites),
    ("authorship", sites::own_words),
    ("unsafe", sites::no_unsafe),
    ("serialize", sites::derived_serialisation),
    ("ignored", sites::no_ignored_tests),
    ("sleep", sites::no_sleeping_tests),
    ("tests", sites::tests_of_the_program),
    ("adr", decisions::adr_numbers_and_index),
    ("adr-length", decisions::adr_length),
    ("glossary", page_of_words),
    ("requirements", requirements::cited_ids),
    ("workshop", workshop::words),
    ("benchmarks", page_of_benchmarks),
    ("plots", plots_of_results),
];

/// The page of benchmarks says what the files of results say.
fn page_of_benchmarks(tree: &Tree) -> Vec<Finding> {
    benchmarks::fault(tree).map(|fault| Finding::at(benchmarks::PAGE, fault)).into_iter().collect()
}

/// The plots of the README show what the files of results say.
fn plots_of_results(tree: &Tree) -> Vec<Finding> {
    assets::faults(tree).into_iter().map(|(path, fault)| Finding::at(path, fault)).collect()
}

/// The glossary says what the documents of its types say.
fn page_of_words(tree: &Tree) -> Vec<Finding> {
    glossary::fault(tree).map(|fault| Finding::at(glossary::PAGE, fault)).into_iter().collect()
}

/// Runs every rule over the workspace, prints findings and figures, and fails if a rule was broken.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::load(root)?;
    println!("{}", figures::table(&tree));
    println!("{}", manifest::package_report(&tree));
    let findings = findings(&tree);
    for (rule, finding) in &findings {
        println!("{rule}: {finding}");
    }
    if findings.is_empty() {
        println!("tidy: {} rules hold", RULES.len());
        return Ok(());
    }
    bail!("tidy: {} findings", findings.len())
}

fn findings(tree: &Tree) -> Vec<(&'static str, Finding)> {
    RULES
        .iter()
        .flat_map(|(name, rule)| rule(tree).into_iter().map(move |finding| (*name, finding)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{SourceFile, root};

    /// Returns a tree with these files and no packages.
    pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
        let files = files.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect();
        Tree { files, ..Tree::default() }
    }

    /// Runs a rule over planted files and returns its findings as lines.
    pub(super) fn check(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
        rule(&tree(files)).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn the_workspace_is_tidy() {
        let found = findings(&Tree::load(&root()).unwrap());
        let lines: Vec<_> = found.iter().map(|(rule, finding)| format!("{rule}: {finding}")).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }

    #[test]
    fn a_finding_names_its_place_first() {
        assert_eq!(Finding::on_line("a.rs", 3, "wrong").to_string(), "a.rs:3: wrong");
    }
}
