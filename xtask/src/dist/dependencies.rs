//! Crates whose code is in the program, from cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::FEATURES;
use crate::command::Line;

/// The package of the program.
const PACKAGE: &str = "mnemal-cli";
/// The package of the module for Python.
pub(super) const MODULE: &str = "mnemal-python";

/// A crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Crate {
    /// Its name.
    pub(super) name: String,
    /// Its version.
    pub(super) version: String,
    /// Its license as an expression of SPDX.
    pub(super) license: Option<String>,
    /// Where its source is published.
    pub(super) repository: Option<String>,
    /// Where its source is on this machine.
    pub(super) folder: PathBuf,
    /// Whether it is a member of this workspace.
    pub(super) is_own: bool,
    /// Crates that it uses at run time, by [`key`](Self::key).
    pub(super) uses: Vec<String>,
}

impl Crate {
    /// Returns the name and the version in one word.
    pub(super) fn key(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// Returns the crates whose code the program has on a platform, in the order of their names; the program's own is among them.
pub(super) fn of_program(root: &Path, triple: &str) -> Result<Vec<Crate>> {
    of_packages(root, triple, &[PACKAGE])
}

/// As [`of_program`], together with the crates of the module for Python.
pub(super) fn of_all(root: &Path, triple: &str) -> Result<Vec<Crate>> {
    of_packages(root, triple, &[PACKAGE, MODULE])
}

fn of_packages(root: &Path, triple: &str, packages: &[&str]) -> Result<Vec<Crate>> {
    // Those of the module are among those of the program.
    let features: Vec<String> = FEATURES.split(',').map(|feature| format!("{PACKAGE}/{feature}")).collect();
    let features = features.join(",");
    let tree = ["tree", "--features", &features, "--edges", "normal,no-proc-macro"];
    let tree = Line::new("cargo", &tree)
        .args(packages.iter().flat_map(|package| ["--package".to_owned(), (*package).to_owned()]))
        .args(["--target", triple, "--prefix", "none", "--format", "{p}"].map(str::to_owned))
        .read(root)?;
    let metadata = ["metadata", "--format-version", "1", "--filter-platform", triple, "--features"];
    let metadata = Line::new("cargo", &metadata).arg(features).read(root)?;
    let metadata: Value = serde_json::from_str(&metadata).context("cannot read cargo metadata")?;
    read(&tree, &metadata)
}

/// Joins the tree of the program with what the metadata say of each crate.
fn read(tree: &str, metadata: &Value) -> Result<Vec<Crate>> {
    let built: BTreeSet<String> = tree.lines().filter_map(key_of_line).collect();
    let packages = metadata.get("packages").and_then(Value::as_array).context("metadata without packages")?;
    let ids: BTreeMap<&str, String> = packages
        .iter()
        .filter_map(|package| {
            let text = |key| package.get(key).and_then(Value::as_str);
            Some((text("id")?, format!("{}@{}", text("name")?, text("version")?)))
        })
        .filter(|(_, key)| built.contains(key))
        .collect();
    let nodes = metadata.pointer("/resolve/nodes").and_then(Value::as_array);
    let uses: BTreeMap<&str, Vec<String>> = nodes
        .into_iter()
        .flatten()
        .filter_map(|node| Some((node.get("id")?.as_str()?, used(node, &ids))))
        .collect();
    let mut crates: Vec<Crate> =
        packages.iter().filter_map(|package| described(package, &ids, &uses)).collect();
    crates.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(crates)
}

/// Reads `name v1.2.3`, behind which cargo may say more.
fn key_of_line(line: &str) -> Option<String> {
    let mut words = line.split(' ');
    Some(format!("{}@{}", words.next()?, words.next()?.strip_prefix('v')?))
}

fn used(node: &Value, ids: &BTreeMap<&str, String>) -> Vec<String> {
    let is_normal = |dependency: &&Value| {
        let kinds = dependency.get("dep_kinds").and_then(Value::as_array);
        kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind.get("kind").is_none_or(Value::is_null)))
    };
    let dependencies = node.get("deps").and_then(Value::as_array).into_iter().flatten().filter(is_normal);
    let keys = dependencies.filter_map(|dependency| ids.get(dependency.get("pkg")?.as_str()?).cloned());
    keys.collect::<BTreeSet<_>>().into_iter().collect()
}

fn described(
    package: &Value,
    ids: &BTreeMap<&str, String>,
    uses: &BTreeMap<&str, Vec<String>>,
) -> Option<Crate> {
    let text = |key| package.get(key).and_then(Value::as_str);
    let id = text("id")?;
    let _built = ids.get(id)?;
    Some(Crate {
        name: text("name")?.to_owned(),
        version: text("version")?.to_owned(),
        // Cargo once took a slash for "or".
        license: text("license").map(|license| license.replace(" / ", " OR ").replace('/', " OR ")),
        repository: text("repository").map(str::to_owned),
        folder: Path::new(text("manifest_path")?).parent()?.to_path_buf(),
        is_own: text("source").is_none(),
        uses: uses.get(id).cloned().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workspace::root;

    #[test]
    fn crates_of_the_features_that_are_shipped_are_among_those_of_the_program() {
        let crates = of_program(&root(), "x86_64-unknown-linux-gnu").unwrap();
        for name in ["mnemal-reader", "hnsw_rs"] {
            assert!(crates.iter().any(|one| one.name == name), "{name}");
        }
        let uses = &crates.iter().find(|one| one.name == "mnemal").unwrap().uses;
        assert!(uses.iter().any(|key| key.starts_with("mnemal-reader@")), "{uses:?}");
    }

    #[test]
    fn the_crates_of_the_module_are_not_those_of_the_program() {
        let has = |crates: &[Crate]| crates.iter().any(|one| one.name == "pyo3");
        let triple = "x86_64-unknown-linux-gnu";
        assert!(has(&of_all(&root(), triple).unwrap()) && !has(&of_program(&root(), triple).unwrap()));
    }

    #[test]
    fn only_crates_of_the_tree_are_taken_with_what_they_use_at_run_time() {
        let package = |name: &str, license: &str, source: Value| {
            json!({"name": name, "version": "1.0.0", "id": name, "license": license, "source": source,
                "repository": format!("https://example.org/{name}"),
                "manifest_path": format!("crates/{name}/Cargo.toml")})
        };
        let metadata = json!({
            "packages": [
                package("own", "MIT", Value::Null), package("used", "MIT/Apache-2.0", json!("registry")),
                package("tool", "MIT", json!("registry")),
            ],
            "resolve": {"nodes": [{"id": "own", "deps": [
                {"pkg": "used", "dep_kinds": [{"kind": null}]}, {"pkg": "tool", "dep_kinds": [{"kind": "build"}]},
            ]}]},
        });
        let crates = read("own v1.0.0 (path)\nused v1.0.0\nused v1.0.0 (*)\n", &metadata).unwrap();
        let [own, used] = crates.as_slice() else { panic!("{crates:?}") };
        assert!(own.is_own && !used.is_own);
        assert_eq!(own.uses, ["used@1.0.0"]);
        assert_eq!(used.license.as_deref(), Some("MIT OR Apache-2.0"));
        assert_eq!(used.repository.as_deref(), Some("https://example.org/used"));
        assert_eq!(used.folder, Path::new("crates/used"));
    }
}
