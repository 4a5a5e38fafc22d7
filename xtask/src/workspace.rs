//! The workspace as text: its packages from `cargo metadata`, and the files of the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::source::Source;

/// Folders that are never read: build output and history.
const SKIPPED_FOLDERS: &[&str] = &["target", ".git", ".venv", "node_modules", "__pycache__"];
/// Files above this size hold data; rules do not read them.
const MAX_TEXT_BYTES: u64 = 2_000_000;

/// Which section of a manifest names a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    /// `[dependencies]` and `[build-dependencies]`.
    Normal,
    /// `[dev-dependencies]`.
    Dev,
}

/// One dependency of a package.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    /// Package name of the dependency.
    pub(crate) name: String,
    /// The section that names it.
    pub(crate) kind: DependencyKind,
}

/// One member of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// Package name.
    pub(crate) name: String,
    /// `package.metadata.mnemal.kind`, if the manifest has one.
    pub(crate) kind: Option<String>,
    /// Folder of the package relative to the root, with `/`.
    pub(crate) folder: String,
    /// Its dependencies.
    pub(crate) dependencies: Vec<Dependency>,
    /// True if it has a library target.
    pub(crate) is_library: bool,
}

/// One text file of the tree.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Path relative to the root, with `/`.
    pub(crate) path: String,
    /// The whole text.
    pub(crate) text: String,
    /// The text as Rust, for `.rs` files; empty otherwise.
    pub(crate) rust: Source,
}

impl SourceFile {
    /// Makes a file of the tree; Rust files are split into code, strings and comments.
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let rust = if has_extension(&path, "rs") { Source::read(&text) } else { Source::default() };
        Self { path, text, rust }
    }

    /// Returns true for `.rs` files.
    pub(crate) fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }

    /// Returns true if the file name ends with this extension, given without its dot.
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        has_extension(&self.path, extension)
    }

    /// Returns true if the whole file is test code by its path.
    pub(crate) fn is_test_file(&self) -> bool {
        let stem = self.stem();
        stem == "tests" || stem.ends_with("_tests") || self.path.split('/').any(|part| part == "tests")
    }

    /// Returns true if the line (from 1) is test code.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.is_test_file() || self.rust.is_test_line(line)
    }

    /// Returns the file name without its extension.
    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }

    /// Returns the folder under `crates/` in which the file lies, or its first folder.
    pub(crate) fn member(&self) -> &str {
        let mut parts = self.path.split('/');
        match (parts.next(), parts.next()) {
            (Some("crates"), Some(member)) => member,
            (Some(first), _) => first,
            _ => "",
        }
    }
}

fn has_extension(path: &str, wanted: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == wanted)
}

/// The input of the rules.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Members of the workspace, in name order.
    pub(crate) packages: Vec<Package>,
    /// Text files, in path order.
    pub(crate) files: Vec<SourceFile>,
    /// Packages of the default build of all members on Linux: normal, build and development dependencies.
    pub(crate) n_built: usize,
}

impl Tree {
    /// Reads the workspace at `root`.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let mut paths = Vec::new();
        walk(root, &mut paths)?;
        paths.sort();
        let mut files = Vec::new();
        for path in paths {
            if let Ok(text) = fs::read_to_string(&path) {
                files.push(SourceFile::new(relative(root, &path), text));
            }
        }
        Ok(Self { packages: packages(root)?, files, n_built: built_packages(root)? })
    }

    /// Returns the file at `path`.
    pub(crate) fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns the Rust files.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// Returns the packages by name.
    pub(crate) fn kinds(&self) -> BTreeMap<&str, &str> {
        self.packages.iter().filter_map(|p| Some((p.name.as_str(), p.kind.as_deref()?))).collect()
    }
}

/// Returns the root of the workspace that this program was built from.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Returns the members of the workspace at `root`, in name order.
pub(crate) fn packages(root: &Path) -> Result<Vec<Package>> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("cannot start cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cannot read cargo metadata")?;
    let listed = metadata.get("packages").and_then(Value::as_array).context("metadata without packages")?;
    let mut packages: Vec<_> = listed.iter().filter_map(|value| package(root, value)).collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

/// Returns how many packages the default build of all members takes on Linux, with those of tests.
pub(crate) fn built_packages(root: &Path) -> Result<usize> {
    let output = Command::new("cargo")
        .args(["tree", "--workspace", "--edges", "normal,build,dev", "--target", "x86_64-unknown-linux-gnu"])
        .args(["--prefix", "none", "--format", "{p}"])
        .current_dir(root)
        .output()
        .context("cannot start cargo tree")?;
    if !output.status.success() {
        bail!("cargo tree failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // A line is name and version, and behind them where a member lies, or that it preceded.
    let name = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let names: BTreeSet<String> = text.lines().filter(|line| !line.is_empty()).map(name).collect();
    Ok(names.len())
}

fn package(root: &Path, value: &Value) -> Option<Package> {
    let manifest = Path::new(value.get("manifest_path")?.as_str()?);
    let kind = value.pointer("/metadata/mnemal/kind").and_then(Value::as_str).map(str::to_owned);
    let dependencies = value.get("dependencies")?.as_array()?.iter().filter_map(dependency).collect();
    let has_library_kind = |target: &Value| {
        let kinds = target.get("kind").and_then(Value::as_array);
        kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib"))
    };
    Some(Package {
        name: value.get("name")?.as_str()?.to_owned(),
        kind,
        folder: relative(root, manifest.parent()?),
        dependencies,
        is_library: value.get("targets")?.as_array()?.iter().any(has_library_kind),
    })
}

fn dependency(value: &Value) -> Option<Dependency> {
    let kind = match value.get("kind").and_then(Value::as_str) {
        Some("dev") => DependencyKind::Dev,
        _ => DependencyKind::Normal,
    };
    Some(Dependency { name: value.get("name")?.as_str()?.to_owned(), kind })
}

fn relative(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name();
        if kind.is_dir() {
            if !SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped) {
                walk(&path, paths)?;
            }
        } else if kind.is_file() && entry.metadata().is_ok_and(|m| m.len() <= MAX_TEXT_BYTES) {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_lists_itself_with_kind_and_dependencies() {
        let packages = packages(&root()).unwrap();
        let own = packages.iter().find(|p| p.name == "xtask").unwrap();
        assert_eq!(
            (own.kind.as_deref(), own.folder.as_str(), own.is_library),
            (Some("tool"), "xtask", false)
        );
        let few = ["anyhow", "flate2", "serde_json", "sha2", "toml", "zip"];
        assert!(own.dependencies.iter().all(|d| few.contains(&d.name.as_str())));
    }

    #[test]
    fn a_file_knows_its_member_and_whether_it_is_a_test() {
        let file = SourceFile::new("crates/mnemal-core/tests/ids.rs", "fn a() {}\n");
        assert_eq!((file.member(), file.stem(), file.is_test_line(1)), ("mnemal-core", "ids", true));
        assert!(!SourceFile::new("crates/mnemal-core/src/id.rs", "fn a() {}\n").is_test_line(1));
    }
}
