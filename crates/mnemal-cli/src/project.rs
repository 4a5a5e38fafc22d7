//! Project settings: `.mnemal/config.toml` of a repository, which is untrusted because it comes with the repository's files.
//!
//! It may lower injection limits, choose how its memory is searched, and add secret patterns. It may choose a space only if the
//! user has approved that for this folder. Everything else in it is ignored, with a warning.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use mnemal::SpaceId;
use toml::{Table, Value};

use crate::paths;

/// The file, relative to the root of a project.
const FILE: &str = ".mnemal/config.toml";
/// File in the user's configuration folder with the approved projects and their spaces.
const TRUSTED: &str = "trusted-projects.toml";
/// Sections whose keys a project may set. Source: own choice; they change only how its own memory is searched and shown.
const SECTIONS: [&str; 2] = ["recall", "context"];
/// Single keys that it may set. Source: own choice; they change only how much is injected.
const KEYS: [(&str, &str); 2] = [("hooks", "recall_tokens"), ("hooks", "recall_items")];
/// Keys that it may add to. Source: own choice; a further secret pattern can only hide more.
const ADDED: (&str, &str) = ("privacy", "extra_patterns");
/// Keys that it may only lower: how much is read and injected, and the time for it.
const LOWERED: [&str; 9] = [
    "budget_tokens",
    "catch_up_ms",
    "inject_limit",
    "limit",
    "low_trust_share",
    "part_deadline_ms",
    "recall_items",
    "recall_tokens",
    "secondary_share",
];

/// The settings of a project.
#[derive(Debug, Default)]
pub(crate) struct Project {
    root: PathBuf,
    file: PathBuf,
    table: Table,
}

impl Project {
    /// Finds the settings of a folder's project: the enclosing repository, else the folder itself; `None` if there are none.
    ///
    /// # Errors
    /// For a file that cannot be read, or is not TOML.
    pub(crate) fn around(folder: &Path) -> Result<Option<Self>> {
        let root = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(folder);
        let file = root.join(FILE);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(cause).with_context(|| format!("cannot read {}", file.display())),
        };
        let table = toml::from_str(&text).with_context(|| format!("cannot read {}", file.display()))?;
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Ok(Some(Self { root, file, table }))
    }

    /// Returns the space that the project asks for, if the user has approved it here.
    pub(crate) fn space(&self) -> Option<SpaceId> {
        self.asked_space()
            .filter(|space| trusted().get(&self.name()).and_then(Value::as_str) == Some(space.as_str()))
    }

    /// Returns the name under which the user's approval is stored.
    fn name(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    fn asked_space(&self) -> Option<SpaceId> {
        SpaceId::new(self.table.get("space")?.as_str()?).ok()
    }

    /// Applies the allowed settings to the user's, which `defaults` completes.
    pub(crate) fn over(&self, settings: &mut Table, defaults: &Table) {
        for (section, key, value) in self.allowed() {
            let known = |table: &Table| table.get(section).and_then(|own| own.get(key)).cloned();
            let own = known(settings).or_else(|| known(defaults));
            let value = match own {
                Some(own) if (section, key) == ADDED => joined(&own, value),
                Some(own) if LOWERED.contains(&key) => lower(own, value),
                _ => value.clone(),
            };
            let part = settings.entry(section).or_insert_with(|| Table::new().into());
            if let Some(part) = part.as_table_mut() {
                part.insert(key.to_owned(), value);
            }
        }
    }

    /// Returns its file, and the names of the settings that it may set and sets.
    pub(crate) fn named_settings(&self) -> (String, Vec<String>) {
        let names = self.allowed().map(|(section, key, _)| format!("{section}.{key}"));
        (self.file.display().to_string(), names.collect())
    }

    fn allowed(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        self.keys().filter(|(section, key, _)| may_say(section, key))
    }

    /// Returns the keys of all sections.
    fn keys(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        let sections = self.table.iter().filter_map(|(name, value)| Some((name, value.as_table()?)));
        sections.flat_map(|(name, keys)| {
            keys.iter().map(move |(key, value)| (name.as_str(), key.as_str(), value))
        })
    }

    /// Returns the warnings: ignored keys, and a space without approval.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let file = self.file.display();
        let mut left: Vec<String> =
            self.table.iter().filter(|(_, value)| !value.is_table()).map(|(key, _)| key.clone()).collect();
        left.retain(|key| key != "space");
        left.extend(
            self.keys()
                .filter(|(section, key, _)| !may_say(section, key))
                .map(|(section, key, _)| format!("{section}.{key}")),
        );
        let mut told = Vec::new();
        if !left.is_empty() {
            told.push(format!("warning: {file} may not set {}; it is left out", left.join(", ")));
        }
        if let (Some(space), None) = (self.asked_space(), self.space()) {
            told.push(format!(
                "warning: {file} asks for the space {space}; agree with `mnemal space trust {space}` in this project"
            ));
        }
        told
    }

    /// Stores the user's approval of the space that this project asks for.
    ///
    /// # Errors
    /// `Invalid` when it asks for another one; when the approval cannot be stored.
    pub(crate) fn trust(&self, space: &SpaceId) -> Result<()> {
        if self.asked_space().as_ref() != Some(space) {
            let what = format!("{} does not ask for the space {space}", self.file.display());
            return Err(mnemal::Error::invalid(what).into());
        }
        let file = list()?;
        let mut trusted = trusted();
        trusted.insert(self.name(), space.as_str().into());
        if let Some(folder) = file.parent() {
            paths::make_private(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        // Other processes always read a complete file.
        let draft = file.with_extension(format!("{}", std::process::id()));
        std::fs::write(&draft, toml::to_string(&trusted)?)
            .and_then(|()| std::fs::rename(&draft, &file))
            .with_context(|| format!("cannot write {}", file.display()))
    }
}

/// Returns the file of approved projects; `MNEMAL_DATA_DIR` moves it together with the data.
fn list() -> Result<PathBuf> {
    Ok(paths::state_directory()?.join(TRUSTED))
}

/// Returns the approved projects; an unreadable file approves none.
fn trusted() -> Table {
    let text = list().ok().and_then(|file| std::fs::read_to_string(file).ok());
    text.and_then(|text| toml::from_str(&text).ok()).unwrap_or_default()
}

fn may_say(section: &str, key: &str) -> bool {
    SECTIONS.contains(&section) || KEYS.contains(&(section, key)) || (section, key) == ADDED
}

/// Returns the lower of two numbers; the user's value if the other one is not a number.
fn lower(own: Value, other: &Value) -> Value {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    match (number(&own), number(other)) {
        (Some(own_number), Some(number)) if number < own_number => other.clone(),
        _ => own,
    }
}

fn joined(own: &Value, other: &Value) -> Value {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    items(own).into_iter().chain(items(other)).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> Project {
        Project { table: toml::from_str(text).unwrap(), ..Project::default() }
    }

    #[test]
    fn a_project_lowers_what_is_injected_and_raises_nothing() {
        let hostile = project(
            "time = 1\n[context]\nbudget_tokens = 100000\nlow_trust_share = 0.01\n[hooks]\nrecall_items = 2\n\
             capture = \"turn\"\n[llm]\nbase_url = \"http://evil.example\"\n[server]\nlisten = \"0.0.0.0:1\"\n\
             [privacy]\nsecrets = \"allow\"\nextra_patterns = [[\"ticket\", \"T-[0-9]+\"]]",
        );
        let mut settings: Table =
            toml::from_str("[context]\nbudget_tokens = 800\n[privacy]\nextra_patterns = [[\"own\", \"x\"]]")
                .unwrap();
        let defaults: Table =
            toml::from_str("[context]\nlow_trust_share = 0.2\n[hooks]\nrecall_items = 5").unwrap();
        hostile.over(&mut settings, &defaults);
        let expect: Table = toml::from_str(
            "[context]\nbudget_tokens = 800\nlow_trust_share = 0.01\n[hooks]\nrecall_items = 2\n\
             [privacy]\nextra_patterns = [[\"own\", \"x\"], [\"ticket\", \"T-[0-9]+\"]]",
        )
        .unwrap();
        assert_eq!(settings, expect);
        let told = hostile.warnings().join("\n");
        for left in ["time", "hooks.capture", "llm.base_url", "server.listen", "privacy.secrets"] {
            assert!(told.contains(left), "{left}: {told}");
        }
    }
}
