//! Parts of which packages are made: the program, its pages, licenses, and what stands in the tree.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use toml::Table;

use super::notices;
use super::pack::{EARLIEST, Entry};
use super::target::{System, Target};
use crate::command::Line;

/// The name of the program and of its packages.
pub(super) const NAME: &str = "mnemal";
/// The server of the Model Context Protocol, by the name of its publisher. Source: the rules of the protocol's registry.
pub(super) const SERVER: &str = "io.github.mnemal/mnemal";
/// Where the source is.
pub(super) const REPOSITORY: &str = "https://github.com/mnemal/mnemal";
/// The license of the program.
pub(super) const LICENSE: &str = "MIT OR Apache-2.0";
/// One line about the program; registries take at most a hundred characters.
pub(super) const SUMMARY: &str =
    "Memory engine for AI agents: offline, without a model, and every line names its source";
/// Texts of licenses in the root of the tree.
const LICENSES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"];
/// The file of the notices of third parties.
pub(super) const THIRD_PARTIES: &str = "THIRD-PARTY.txt";
/// Shells with completions.
const SHELLS: [&str; 4] = ["bash", "zsh", "fish", "powershell"];

/// What was built for packages.
#[derive(Debug)]
pub(super) struct Built {
    /// The program.
    pub(super) program: PathBuf,
    /// The native module for Python, if it was built.
    pub(super) module: Option<PathBuf>,
}

/// What packages of one platform are made from.
#[derive(Debug)]
pub(super) struct Parts {
    /// The root of the tree.
    pub(super) root: PathBuf,
    /// The version of the program.
    pub(super) version: String,
    /// The time of all files, in seconds since 1970.
    pub(super) stamp: u64,
    /// The platform.
    pub(super) target: Target,
    /// The program.
    pub(super) program: Vec<u8>,
    /// The native module for Python; `None` if it was not built.
    pub(super) module: Option<Vec<u8>>,
    /// Licenses of third parties.
    pub(super) notices: String,
    /// Pages of the manual, by the names of their files.
    pub(super) man: Vec<(String, Vec<u8>)>,
    /// Completions by shell.
    pub(super) completions: Vec<(&'static str, Vec<u8>)>,
}

impl Parts {
    /// Reads the program, asks it for its pages, and collects the licenses of third parties.
    pub(super) fn gather(root: &Path, built: &Built, scratch: &Path) -> Result<Self> {
        let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let program = &built.program;
        let bytes = read(program)?;
        let target = Target::of(&bytes)?;
        let module = built.module.as_deref().map(read).transpose()?;
        if let Some(module) = &module {
            target.must_hold(&Target::of(module)?)?;
        }
        let man = scratch.join("man");
        if man.exists() {
            fs::remove_dir_all(&man)?;
        }
        fs::create_dir_all(&man)?;
        let run = |arguments: &[&str]| Line::new(&program.display().to_string(), arguments).read(root);
        run(&["man", &man.display().to_string()]).context("the program does not write its manual")?;
        let completions = SHELLS.map(|shell| Ok((shell, run(&["completions", shell])?.into_bytes())));
        Ok(Self {
            root: root.to_path_buf(),
            version: version(root)?,
            stamp: stamp(),
            notices: notices::text(root, target.triple())?,
            target,
            program: bytes,
            module,
            man: files(&man)?,
            completions: completions.into_iter().collect::<Result<_>>()?,
        })
    }

    /// Reads a file of the tree.
    pub(super) fn source(&self, path: &str) -> Result<Vec<u8>> {
        fs::read(self.root.join(path)).with_context(|| format!("cannot read {path}"))
    }

    /// Reads a text of the tree.
    pub(super) fn text(&self, path: &str) -> Result<String> {
        Ok(String::from_utf8(self.source(path)?)?)
    }

    /// Returns the project's own licenses and notice as files of a folder, which is empty or ends with `/`; for packages without
    /// the program.
    pub(super) fn own_licenses(&self, folder: &str) -> Result<Vec<Entry>> {
        LICENSES.iter().map(|name| Ok(Entry::file(format!("{folder}{name}"), self.source(name)?))).collect()
    }

    /// Returns the own licenses and those of third parties as files of a folder, which is empty or ends with `/`.
    pub(super) fn licenses(&self, folder: &str) -> Result<Vec<Entry>> {
        let mut licenses = self.own_licenses(folder)?;
        licenses.push(Entry::file(format!("{folder}{THIRD_PARTIES}"), self.notices.as_bytes()));
        Ok(licenses)
    }

    /// Returns the program as a file of a folder, which ends with `/`.
    pub(super) fn program(&self, folder: &str) -> Entry {
        Entry::program(format!("{folder}{}", self.target.file()), self.program.as_slice())
    }

    /// Returns the name of the archive of this platform, without what says how it is packed.
    pub(super) fn archive(&self) -> String {
        format!("{NAME}-{}-{}", self.version, self.target.triple())
    }

    /// Whether the program is for Linux.
    pub(super) fn is_for_linux(&self) -> bool {
        self.target.system == System::Linux
    }
}

/// Returns the version of the workspace.
pub(super) fn version(root: &Path) -> Result<String> {
    let manifest: Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let version =
        manifest.get("workspace").and_then(|workspace| workspace.get("package")?.get("version")?.as_str());
    Ok(version.context("the workspace has no version")?.to_owned())
}

/// Returns the time of all files: `SOURCE_DATE_EPOCH`, else 1980. Source: the specification of reproducible builds.
fn stamp() -> u64 {
    let named = std::env::var_os("SOURCE_DATE_EPOCH").and_then(|value| value.to_str()?.parse().ok());
    named.unwrap_or(EARLIEST).max(EARLIEST)
}

/// Reads the files of a folder, in the order of their names.
pub(super) fn files(folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample;

    #[test]
    fn the_version_is_that_of_this_program() {
        assert_eq!(version(&crate::workspace::root()).unwrap(), env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn registries_take_the_summary() {
        assert!(SUMMARY.chars().count() <= 100);
    }

    #[test]
    fn licenses_are_those_of_the_tree_and_of_third_parties() {
        let licenses = sample::parts().licenses("doc/").unwrap();
        assert_eq!(licenses.len(), 4);
        assert!(sample::text(&licenses, "doc/LICENSE-MIT").starts_with("MIT License"));
        assert!(sample::text(&licenses, "doc/THIRD-PARTY.txt").contains("serde"));
        assert_eq!(sample::parts().own_licenses("doc/").unwrap().as_slice(), &licenses[..3]);
    }
}
