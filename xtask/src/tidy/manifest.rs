//! Required contents of every member's folder and manifest, and the package limit of a build.

use toml::{Table, Value};

use super::Finding;
use crate::workspace::{SourceFile, Tree};

/// Most packages of the default build on Linux, tests included. Source: own choice; each package costs build time and trust, and 7
/// of them are those of the module for Python alone, 7 those of PostgreSQL.
const MAX_PACKAGES: usize = 414;

/// Each crate has a README, and a manifest with description, licence and edition.
pub(super) fn readme_of_each_crate(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in tree.packages.iter().filter(|package| package.folder.starts_with("crates/")) {
        if tree
            .file(&format!("{}/README.md", package.folder))
            .is_none_or(|readme| readme.text.trim().is_empty())
        {
            findings.push(Finding::at(&package.folder, "has no README.md"));
        }
        let manifest = tree.file(&format!("{}/Cargo.toml", package.folder)).and_then(table);
        let described =
            manifest.as_ref().and_then(|manifest| manifest.get("package")).and_then(Value::as_table);
        for key in ["description", "license", "edition", "rust-version", "repository", "readme"] {
            if described.is_none_or(|package| !package.contains_key(key)) {
                findings.push(Finding::at(format!("{}/Cargo.toml", package.folder), format!("has no {key}")));
            }
        }
    }
    findings
}

/// Each manifest with a package takes the lints of the workspace.
pub(super) fn workspace_lints(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in members(tree) {
        let lints = table(file).and_then(|manifest| manifest.get("lints")?.get("workspace")?.as_bool());
        if lints != Some(true) {
            findings.push(Finding::at(&file.path, "has no `[lints] workspace = true`"));
        }
    }
    findings
}

/// The entries of each dependency section are in alphabetical order between blank lines.
pub(super) fn sorted_dependencies(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files.iter().filter(|file| file.path.ends_with("Cargo.toml"));
    manifests.flat_map(unsorted).collect()
}

fn unsorted(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut inside, mut last) = (false, String::new());
    for (at, line) in file.text.lines().enumerate() {
        let line = line.trim_end();
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        }
        if line.is_empty() || line.starts_with('[') {
            last.clear();
            continue;
        }
        let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
        if !inside || key.is_empty() || line.starts_with(['#', ' ', ']', '}']) {
            continue;
        }
        if key < last.as_str() {
            findings.push(Finding::on_line(&file.path, at + 1, format!("`{key}` comes after `{last}`")));
        }
        key.clone_into(&mut last);
    }
    findings
}

/// `crates/README.md` lists each crate.
pub(super) fn crate_list(tree: &Tree) -> Vec<Finding> {
    let list = tree.file("crates/README.md").map_or("", |file| file.text.as_str());
    let crates = tree.packages.iter().filter(|package| package.folder.starts_with("crates/"));
    crates
        .filter(|package| !list.contains(&format!("[`{}`]", package.name)))
        .map(|package| Finding::at("crates/README.md", format!("does not list {}", package.name)))
        .collect()
}

/// Each crate has tests of its own.
pub(super) fn suite_of_each_crate(tree: &Tree) -> Vec<Finding> {
    let crates = tree.packages.iter().filter(|package| package.folder.starts_with("crates/"));
    crates
        .filter(|package| {
            let folder = format!("{}/", package.folder);
            !tree.rust_files().any(|file| file.path.starts_with(&folder) && has_test(file))
        })
        .map(|package| Finding::at(&package.folder, "has no tests of its own"))
        .collect()
}

fn has_test(file: &SourceFile) -> bool {
    file.rust.lines().any(|(_, line)| line.contains("#[test]") || line.contains("#[tokio::test"))
}

/// The default build stays within its budget. Further packages of the lock file, for other systems and for features that are
/// off, are reported and not limited.
pub(super) fn package_count(tree: &Tree) -> Vec<Finding> {
    let count = tree.n_built;
    if count <= MAX_PACKAGES {
        return Vec::new();
    }
    vec![Finding::at("Cargo.lock", format!("the build takes {count} packages, the limit is {MAX_PACKAGES}"))]
}

/// Returns one line about the packages of the build, and those of the lock file.
pub(super) fn package_report(tree: &Tree) -> String {
    let (built, locked) = (tree.n_built, locked_packages(tree));
    format!("packages: {built} in the default build on Linux (limit {MAX_PACKAGES}), {locked} in Cargo.lock")
}

fn locked_packages(tree: &Tree) -> usize {
    let lock = tree.file("Cargo.lock").map_or("", |file| file.text.as_str());
    lock.lines().filter(|line| *line == "[[package]]").count()
}

/// Returns the manifests of the members.
fn members(tree: &Tree) -> impl Iterator<Item = &SourceFile> {
    let manifests = tree.packages.iter().map(|package| format!("{}/Cargo.toml", package.folder));
    manifests.filter_map(|path| tree.file(&path))
}

fn table(file: &SourceFile) -> Option<Table> {
    file.text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::{check, tree};
    use crate::workspace::Package;

    fn with_crate(files: &[(&str, &str)]) -> Tree {
        let package = Package {
            name: "mnemal-core".to_owned(),
            kind: None,
            folder: "crates/mnemal-core".to_owned(),
            dependencies: Vec::new(),
            is_library: true,
        };
        Tree { packages: vec![package], ..tree(files) }
    }

    #[test]
    fn a_crate_without_readme_or_description_is_found() {
        let found = readme_of_each_crate(&with_crate(&[("crates/mnemal-core/Cargo.toml", "[package]\n")]));
        let lines: Vec<_> = found.iter().map(Finding::to_string).collect();
        assert!(lines.contains(&"crates/mnemal-core: has no README.md".to_owned()));
        assert!(lines.contains(&"crates/mnemal-core/Cargo.toml: has no description".to_owned()));
    }

    #[test]
    fn a_crate_outside_the_lints_is_found() {
        let path = "crates/mnemal-core/Cargo.toml";
        assert_eq!(workspace_lints(&with_crate(&[(path, "[package]\n")])).len(), 1);
        assert_eq!(workspace_lints(&with_crate(&[(path, "[lints]\nworkspace = true\n")])).len(), 0);
    }

    #[test]
    fn dependencies_out_of_order_are_found_within_one_block() {
        let text = "[dependencies]\nb = \"1\"\na.workspace = true\n\n# other\na = \"1\"\n[features]\nz = []\nc = []\n";
        assert_eq!(
            check(sorted_dependencies, &[("x/Cargo.toml", text)]),
            ["x/Cargo.toml:3: `a` comes after `b`"]
        );
    }

    #[test]
    fn a_crate_that_the_list_forgets_is_found() {
        assert_eq!(crate_list(&with_crate(&[("crates/README.md", "nothing")])).len(), 1);
        assert_eq!(crate_list(&with_crate(&[("crates/README.md", "| [`mnemal-core`](x) |")])).len(), 0);
    }

    #[test]
    fn a_crate_whose_tests_are_those_of_others_is_found() {
        let (own, other) = ("crates/mnemal-core/src/a.rs", "crates/mnemal-core-more/tests/a.rs");
        let found = |files: &[(&str, &str)]| suite_of_each_crate(&with_crate(files)).len();
        assert_eq!(found(&[(own, "// #[test]\nfn f() {}\n"), (other, "#[test]\nfn f() {}\n")]), 1);
        assert_eq!(found(&[(own, "#[test]\nfn f() {}\n")]), 0);
        assert_eq!(found(&[("crates/mnemal-core/tests/a.rs", "#[tokio::test(start_paused = true)]\n")]), 0);
    }

    #[test]
    fn a_build_above_the_budget_is_found_and_a_long_lock_file_is_told() {
        let with = |n_built: usize| {
            let lock = "[[package]]\n".repeat(MAX_PACKAGES + 10);
            Tree { n_built, ..tree(&[("Cargo.lock", &lock)]) }
        };
        assert_eq!(package_count(&with(MAX_PACKAGES)).len(), 0);
        assert_eq!(package_count(&with(MAX_PACKAGES + 1)).len(), 1);
        assert!(package_report(&with(7)).contains(&format!("{} in Cargo.lock", MAX_PACKAGES + 10)));
    }
}
