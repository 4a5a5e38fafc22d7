//! The star-shaped graph of crates and the fences around external crates, as two tables and two loops.

use super::Finding;
use crate::workspace::{Dependency, DependencyKind, Package, Tree};

/// Kind of a crate → the kinds that its normal dependencies may have.
const ALLOWED: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("text", &[]),
    ("extract", &["core", "text"]),
    ("layer", &["core", "text"]),
    ("reading-layer", &["core", "text", "extract"]),
    ("provider", &["core"]),
    ("store", &["core"]),
    ("testkit", &["core"]),
    ("engine", &["core", "text", "extract", "layer", "reading-layer", "provider", "store"]),
    ("server", &["core", "engine"]),
    ("cli", &["core", "engine", "server"]),
    ("module", &["engine", "server"]),
    ("tool", &[]),
    (
        "bench",
        &["core", "text", "extract", "layer", "reading-layer", "provider", "store", "testkit", "engine"],
    ),
];

/// Kinds that every crate may name as a development dependency.
const ALLOWED_IN_TESTS: &[&str] = &["testkit", "store"];

/// External crate → the only members that may name it as a normal dependency.
const FENCES: &[(&str, &[&str])] = &[
    ("age", &["mnemal-cli"]),
    ("aho-corasick", &["mnemal-extract"]),
    ("anstream", &["mnemal-cli"]),
    ("anyhow", &["mnemal-cli", "xtask", "mnemal-benches"]),
    ("axum", &["mnemal-server"]),
    ("bpe-openai", &["mnemal-providers"]),
    ("clap", &["mnemal-cli", "xtask", "mnemal-benches"]),
    ("clap_complete", &["mnemal-cli"]),
    ("clap_mangen", &["mnemal-cli"]),
    ("csv", &["mnemal-providers"]),
    ("etcetera", &["mnemal-cli"]),
    ("hnsw_rs", &["mnemal-recall"]),
    ("html5gum", &["mnemal-providers"]),
    ("http-body-util", &["mnemal-providers", "mnemal-server"]),
    ("hyper", &["mnemal-providers", "mnemal-server"]),
    ("hyper-util", &["mnemal-providers", "mnemal-server"]),
    ("indicatif", &["mnemal-cli"]),
    ("jiff", &["mnemal-extract", "mnemal-events", "mnemal-server", "mnemal-cli"]),
    ("libsqlite3-sys", &["mnemal-store", "mnemal-testkit"]),
    ("mail-parser", &["mnemal-providers"]),
    ("ort", &["mnemal-providers"]),
    ("pdf-extract", &["mnemal-providers"]),
    ("pulldown-cmark", &["mnemal-providers"]),
    ("pyo3", &["mnemal-python"]),
    ("regex", &["mnemal-extract"]),
    ("reqwest", &["mnemal-providers"]),
    ("rmcp", &["mnemal-server"]),
    ("rten", &["mnemal-providers", "mnemal-reader"]),
    ("rust-stemmers", &["mnemal-text"]),
    ("rustls-native-certs", &["mnemal-providers", "mnemal-store"]),
    ("schemars", &["mnemal-server"]),
    ("serde", SERIALISING),
    ("serde_json", SERIALISING),
    ("sqlx", &["mnemal-store"]),
    (
        "tokio",
        &[
            "mnemal",
            "mnemal-benches",
            "mnemal-cli",
            "mnemal-dream",
            "mnemal-providers",
            "mnemal-python",
            "mnemal-server",
            "mnemal-store",
            "mnemal-testkit",
        ],
    ),
    ("tokio-postgres", &["mnemal-store"]),
    ("tokio-rustls", &["mnemal-providers", "mnemal-store"]),
    ("toml", &["mnemal-cli", "mnemal-extract", "xtask"]),
    ("tower", &["mnemal-server"]),
    ("tower-http", &["mnemal-server"]),
    ("unicode-segmentation", &["mnemal-text"]),
    ("zip", &["mnemal-benches", "mnemal-providers", "xtask"]),
];

/// Members that may derive or call serialization: each has a boundary with an outside format.
pub(super) const SERIALISING: &[&str] = &[
    "mnemal",
    "benches",
    "integrations",
    "mnemal-benches",
    "mnemal-cli",
    "mnemal-events",
    "mnemal-providers",
    // The header of the file of a model.
    "mnemal-reader",
    "mnemal-server",
    "mnemal-store",
    "xtask",
];

/// Each edge between members is one that the kinds allow.
pub(super) fn workspace_edges(tree: &Tree) -> Vec<Finding> {
    let kinds = tree.kinds();
    let mut findings = Vec::new();
    for package in &tree.packages {
        let Some(kind) = package.kind.as_deref() else {
            findings.push(Finding::at(&package.name, "has no package.metadata.mnemal.kind"));
            continue;
        };
        let Some(allowed) = row(ALLOWED, kind) else {
            findings.push(Finding::at(&package.name, format!("has the unknown kind `{kind}`")));
            continue;
        };
        for dependency in &package.dependencies {
            let Some(target) = kinds.get(dependency.name.as_str()) else { continue };
            if dependency.name != package.name && !may_depend(allowed, dependency, target) {
                let name = &package.name;
                let message = format!("{name} ({kind}) must not depend on {} ({target})", dependency.name);
                findings.push(Finding::at(manifest(package), message));
            }
        }
    }
    findings
}

fn may_depend(allowed: &[&str], dependency: &Dependency, target: &str) -> bool {
    let in_tests = dependency.kind == DependencyKind::Dev && ALLOWED_IN_TESTS.contains(&target);
    allowed.contains(&target) || in_tests
}

/// External crates with a fence are named only by the members inside it; tests are free.
pub(super) fn external_fences(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        let normal = package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal);
        for dependency in normal {
            let Some(inside) = row(FENCES, &dependency.name) else { continue };
            if !inside.contains(&package.name.as_str()) {
                let members = inside.join(", ");
                let message =
                    format!("{} must not depend on {} (only {members})", package.name, dependency.name);
                findings.push(Finding::at(manifest(package), message));
            }
        }
    }
    findings
}

fn manifest(package: &Package) -> String {
    format!("{}/Cargo.toml", package.folder)
}

fn row<'a>(table: &'a [(&str, &'a [&'a str])], key: &str) -> Option<&'a [&'a str]> {
    table.iter().find(|(name, _)| *name == key).map(|(_, values)| *values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, kind: &str, dependencies: &[(&str, DependencyKind)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: *kind })
            .collect();
        Package {
            name: name.to_owned(),
            kind: Some(kind.to_owned()),
            folder: format!("crates/{name}"),
            dependencies,
            is_library: true,
        }
    }

    fn check(rule: super::super::Rule, packages: Vec<Package>) -> Vec<String> {
        rule(&Tree { packages, ..Tree::default() }).into_iter().map(|finding| finding.message).collect()
    }

    fn siblings(kind: DependencyKind) -> Vec<Package> {
        vec![
            package("mnemal-events", "reading-layer", &[]),
            package("mnemal-graph", "reading-layer", &[("mnemal-events", kind)]),
        ]
    }

    #[test]
    fn a_layer_that_names_a_sibling_is_found() {
        let expected = ["mnemal-graph (reading-layer) must not depend on mnemal-events (reading-layer)"];
        assert_eq!(check(workspace_edges, siblings(DependencyKind::Normal)), expected);
        assert_eq!(check(workspace_edges, siblings(DependencyKind::Dev)), expected);
    }

    #[test]
    fn tests_may_name_testkit_and_store_but_the_library_may_not() {
        let packages = |kind| {
            vec![
                package("mnemal-store", "store", &[]),
                package("mnemal-recall", "reading-layer", &[("mnemal-store", kind)]),
            ]
        };
        assert_eq!(check(workspace_edges, packages(DependencyKind::Dev)), [""; 0]);
        let expected = ["mnemal-recall (reading-layer) must not depend on mnemal-store (store)"];
        assert_eq!(check(workspace_edges, packages(DependencyKind::Normal)), expected);
    }

    #[test]
    fn a_crate_without_a_known_kind_is_found() {
        let mut stray = package("stray", "layer", &[]);
        stray.kind = None;
        let found = check(workspace_edges, vec![stray, package("odd", "gadget", &[])]);
        assert_eq!(found, ["has no package.metadata.mnemal.kind", "has the unknown kind `gadget`"]);
    }

    #[test]
    fn a_fenced_crate_outside_its_fence_is_found() {
        let outside = package("mnemal-recall", "reading-layer", &[("sqlx", DependencyKind::Normal)]);
        let inside = package("mnemal-store", "store", &[("sqlx", DependencyKind::Normal)]);
        let tests = package("mnemal-core", "core", &[("tokio", DependencyKind::Dev)]);
        let expected = ["mnemal-recall must not depend on sqlx (only mnemal-store)"];
        assert_eq!(check(external_fences, vec![outside, inside, tests]), expected);
    }
}
