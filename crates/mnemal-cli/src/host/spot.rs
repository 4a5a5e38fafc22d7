//! Paths of settings files, by operating system.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::paths::variable;

/// A settings file of a host: its folder, and its path below, with `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot(pub(crate) Root, pub(crate) &'static str);

/// A folder in which hosts keep settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// The home directory, or what a variable of the host, if it has one, names in place of it.
    Home(Option<&'static str>),
    /// A folder of the home directory, or what a variable of the host names in place of it.
    Folder(&'static str, &'static str),
    /// `$XDG_CONFIG_HOME`, else `~/.config`, on every system.
    Config,
    /// `%APPDATA%` on Windows, else as [`Config`](Self::Config).
    Roaming,
    /// The folder for settings of applications: `%APPDATA%` on Windows, `~/Library/Application Support` on macOS, else as
    /// [`Config`](Self::Config).
    Application,
    /// The working directory.
    Project,
}

impl Spot {
    /// Returns the path.
    ///
    /// # Errors
    /// When there is no home directory, or no working directory.
    pub(crate) fn path(self) -> Result<PathBuf> {
        Ok(self.0.folder()?.join(self.1))
    }
}

impl Root {
    fn folder(self) -> Result<PathBuf> {
        let set = |name: &str| variable(name).map(PathBuf::from);
        match self {
            Self::Home(name) => name.and_then(set).map_or_else(home, Ok),
            Self::Folder(name, folder) => match set(name) {
                Some(named) => Ok(named),
                None => Ok(home()?.join(folder)),
            },
            Self::Roaming | Self::Application if cfg!(windows) => {
                set("APPDATA").context("APPDATA is not set")
            }
            Self::Application if cfg!(target_os = "macos") => Ok(home()?.join("Library/Application Support")),
            Self::Config | Self::Roaming | Self::Application => match set("XDG_CONFIG_HOME") {
                Some(named) => Ok(named),
                None => Ok(home()?.join(".config")),
            },
            Self::Project => std::env::current_dir().context("there is no working directory"),
        }
    }
}

fn home() -> Result<PathBuf> {
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    home.map(PathBuf::from).context("there is no home directory")
}
