//! Paths of a space: its name, where it is stored, and the installation's key.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use etcetera::BaseStrategy as _;
use mnemal::{Error, SpaceId};

use crate::args::Global;
use crate::project::Project;
use crate::storage::{DatabaseAddress, Storage};
use crate::{command, config};

/// Paths and name of a command's space.
#[derive(Debug)]
pub(crate) struct SpacePaths {
    /// Its name.
    pub(crate) space: SpaceId,
    /// The named secondary spaces.
    pub(crate) others: Vec<SpaceId>,
    /// The data directory; `None` for a file given with `--db`.
    pub(crate) data: Option<PathBuf>,
    /// Where it is stored.
    pub(crate) storage: Storage,
    /// The file of the installation's key.
    pub(crate) key: PathBuf,
}

impl SpacePaths {
    /// Finds the paths of a command on one space: `--db`, or the space's file in the data directory, or the database that the
    /// settings name.
    ///
    /// # Errors
    /// `Invalid` for several spaces, or an invalid name; when there is no home directory.
    pub(crate) fn find(global: &Global) -> Result<Self> {
        let place = Self::find_several(global)?;
        if place.others.is_empty() {
            return Ok(place);
        }
        let n_named = place.others.len() + 1;
        Err(Error::invalid(format!("{n_named} spaces are named; only recall and context read several"))
            .into())
    }

    /// Finds the paths of a reading command, with its named secondary spaces.
    ///
    /// # Errors
    /// As [`find`](Self::find), for one space or several.
    pub(crate) fn find_several(global: &Global) -> Result<Self> {
        let db = global.db.clone().or_else(|| variable("MNEMAL_DB").map(PathBuf::from));
        let address = match db.as_deref().map(|db| db.to_str().and_then(DatabaseAddress::parse)) {
            Some(address) => address,
            None => config::database(global)?.address()?,
        };
        if let (Some(file), None) = (db, &address) {
            let stem = file.file_stem().and_then(|stem| stem.to_str()).context("--db needs a file name")?;
            let key = file.with_file_name("installation.key");
            let space = SpaceId::new(stem.to_lowercase())?;
            let storage = Storage::File(file);
            return Ok(Self { space, others: Vec::new(), data: None, storage, key });
        }
        let data = data_directory()?;
        let mut spaces = names(global)?;
        let space = spaces.remove(0);
        let storage = match address {
            Some(address) => Storage::Database(address),
            None => Storage::File(data.join("spaces").join(format!("{space}.db"))),
        };
        let key = data.join("installation.key");
        Ok(Self { space, others: spaces, data: Some(data), storage, key })
    }

    /// Whether the space exists.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub(crate) async fn exists(&self, global: &Global) -> Result<bool> {
        match &self.storage {
            Storage::File(file) => Ok(file.exists()),
            Storage::Database(_) => Ok(command::spaces(global).await?.contains(&self.space).await?),
        }
    }
}

/// Returns the named spaces of a command, at least one: the first is the primary one.
///
/// # Errors
/// `Invalid` for an invalid name.
pub(crate) fn names(global: &Global) -> Result<Vec<SpaceId>> {
    let named = global.space.clone().or_else(|| variable("MNEMAL_SPACE")).unwrap_or_else(|| AUTO.to_owned());
    named.split(',').map(|name| space(name.trim(), global)).collect()
}

/// The value for a name derived from the working directory.
const AUTO: &str = "auto";

fn space(name: &str, global: &Global) -> Result<SpaceId> {
    // A server gets spaces by name; its own working directory is irrelevant.
    if name != AUTO || global.open_spaces.is_some() {
        return Ok(SpaceId::new(name)?);
    }
    let folder = match &global.folder {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().context("there is no working directory")?,
    };
    // An unreadable file is reported where settings are read.
    if let Some(space) = Project::around(&folder).ok().flatten().and_then(|project| project.space()) {
        return Ok(space);
    }
    Ok(SpaceId::new(derived(&folder))?)
}

/// Returns the data directory: `MNEMAL_DATA_DIR`, else that of the user.
fn data_directory() -> Result<PathBuf> {
    if let Some(folder) = variable("MNEMAL_DATA_DIR") {
        return Ok(PathBuf::from(folder));
    }
    let base = etcetera::choose_base_strategy().context("there is no home directory; set MNEMAL_DATA_DIR")?;
    Ok(base.data_dir().join("mnemal"))
}

/// Returns the folder of transformer models.
pub(crate) fn models() -> Result<PathBuf> {
    Ok(data_directory()?.join("models"))
}

/// Returns a model file that came as a package beside this program: in `share/mnemal` next to the folder of programs, where pip
/// puts it. On Windows pip may put programs one folder deeper.
pub(crate) fn packaged_model(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let depth = if cfg!(windows) { 2 } else { 1 };
    let roots = program.parent()?.ancestors().skip(1).take(depth);
    roots.map(|root| root.join("share/mnemal").join(name)).find(|file| file.is_file())
}

/// Returns the folder of locks, logs and hook state, which `MNEMAL_DATA_DIR` moves together with the data.
pub(crate) fn state_directory() -> Result<PathBuf> {
    if let Some(folder) = variable("MNEMAL_DATA_DIR") {
        return Ok(PathBuf::from(folder));
    }
    let base = etcetera::choose_base_strategy().context("there is no home directory; set MNEMAL_DATA_DIR")?;
    Ok(base.state_dir().unwrap_or_else(|| base.data_dir()).join("mnemal"))
}

/// Returns the file of the local API key, shared by a user's own programs.
pub(crate) fn local_key_file() -> Result<PathBuf> {
    Ok(state_directory()?.join("local.key"))
}

/// Creates a folder that only its owner can read.
pub(crate) fn make_private(folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns the user's configuration file.
pub(crate) fn configuration(global: &Global) -> Result<PathBuf> {
    let named = global.config.clone().or_else(|| variable("MNEMAL_CONFIG").map(PathBuf::from));
    if let Some(file) = named {
        return Ok(file);
    }
    let base = etcetera::choose_base_strategy().context("there is no home directory; set MNEMAL_CONFIG")?;
    Ok(base.config_dir().join("mnemal").join("config.toml"))
}

/// Returns an environment variable that is set and not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the command line is where the environment is read")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Derives the space of a folder: its git repository, shared by all worktrees, else `default`.
fn derived(folder: &Path) -> String {
    let Some(root) = folder.ancestors().find_map(common_directory) else { return "default".to_owned() };
    let canonical = root.canonicalize().unwrap_or(root);
    let project = canonical.file_name().filter(|name| *name == ".git").and_then(|_| canonical.parent());
    let name = project.unwrap_or(&canonical).file_name().and_then(|name| name.to_str()).unwrap_or("space");
    let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let name: String = name.trim_end_matches(".git").chars().map(safe).take(48).collect();
    let name = name.trim_matches('-');
    let name = if name.is_empty() { "space" } else { name };
    format!("{name}-{}", mnemal::types::path_fingerprint(&canonical.to_string_lossy()))
}

/// Returns the common git directory of a checkout; a worktree's `.git` is a file with its path.
fn common_directory(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let pointer = std::fs::read_to_string(&git).ok()?;
    let own = folder.join(pointer.strip_prefix("gitdir:")?.trim());
    let common = std::fs::read_to_string(own.join("commondir")).ok()?;
    Some(own.join(common.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_and_its_worktree_share_a_space_and_a_plain_folder_has_the_default() {
        let home = tempfile::tempdir().unwrap();
        let (main, tree) = (home.path().join("My App"), home.path().join("tree"));
        std::fs::create_dir_all(main.join(".git/worktrees/tree")).unwrap();
        std::fs::create_dir_all(main.join("src/deep")).unwrap();
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::write(main.join(".git/worktrees/tree/commondir"), "../..\n").unwrap();
        let own = main.join(".git/worktrees/tree");
        std::fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        let name = derived(&main);
        assert!(name.starts_with("my-app-"), "{name}");
        assert_eq!(derived(&main.join("src/deep")), name);
        assert_eq!(derived(&tree), name);
        assert!(SpaceId::new(name).is_ok());
        assert_eq!(derived(Path::new("/")), "default");
    }
}
