//! Configuration: defaults, then the user's file, then the allowed project settings, then environment variables.

use anyhow::{Context as _, Result};
use mnemal::events::{GUARDED, Program};
use mnemal::{Builder, Engine, Error, Settings};
use mnemal_server::{AuthSettings, CompatSettings, ServerSettings};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::alias;
use crate::args::Global;
use crate::command::hook::HookSettings;
use crate::project::Project;
use crate::storage::DatabaseAddress;
use crate::{nested, paths};

/// The section of the command `hook`.
const HOOKS: &str = "hooks";
/// The section of the command `serve`.
const SERVER: &str = "server";
const AUTH: &str = "auth";
const COMPAT: &str = "compat";
/// The section with the switch of memory.
const MEMORY: &str = "memory";

/// The section of storage, and its keys that name a database.
const STORAGE: &str = "storage";
const DATABASE: [&str; 2] = ["url", "pool"];
/// The section of deadlines, and its keys.
const RECALL: &str = "recall";
const DEADLINES: [&str; 2] = ["part_deadline_ms", "catch_up_ms"];
/// Deadline of commands that a person waits for, in milliseconds. Source: own choice, as long as one waits before asking again.
const PATIENCE_MS: i64 = 10_000;

/// The file of a trained reader that was added, in the folder of models.
pub(crate) const READER: &str = "reader.mnrd";
/// The setting `extract.reader` that turns the trained reader off.
const NO_READER: &str = "none";
/// Whether spans contain texts. Source: the OpenTelemetry conventions for generative AI.
pub(crate) const CAPTURE_CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// The section `[memory]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MemorySettings {
    /// Whether memory is enabled.
    enabled: bool,
}

impl Default for MemorySettings {
    /// Source: own default; `PicoBot` makes memory opt-in, but installing this program is the opt-in.
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// The keys of the section `[storage]` that name a database.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub(crate) struct DatabaseSettings {
    /// Address of the PostgreSQL database with the spaces; empty for files.
    url: String,
    /// Most connections of one process.
    pub(crate) pool: usize,
}

impl Default for DatabaseSettings {
    /// Source: own default, as [`PostgresOptions`](mnemal::admin::PostgresOptions).
    fn default() -> Self {
        Self { url: String::new(), pool: 16 }
    }
}

impl DatabaseSettings {
    /// Returns the address, if the settings name one.
    ///
    /// # Errors
    /// `Invalid` for another kind of address.
    pub(crate) fn address(&self) -> Result<Option<DatabaseAddress>> {
        if self.url.is_empty() {
            return Ok(None);
        }
        let wrong = || Error::invalid("storage.url must begin with postgres://");
        Ok(Some(DatabaseAddress::parse(&self.url).ok_or_else(wrong)?))
    }
}

/// Reads the settings of the database.
///
/// # Errors
/// As [`section`]; `Invalid` for a pool without connections.
pub(crate) fn database(global: &Global) -> Result<DatabaseSettings> {
    let settings: DatabaseSettings = section(global, STORAGE)?;
    if settings.pool == 0 {
        return Err(Error::invalid("storage.pool must be at least 1").into());
    }
    Ok(settings)
}

/// Whether memory is enabled. Otherwise writes are dropped, answers are empty, and no tools are offered.
///
/// # Errors
/// `Invalid` for an unknown key or a wrong type in that section.
pub(crate) fn is_on(global: &Global) -> Result<bool> {
    Ok(section::<MemorySettings>(global, MEMORY)?.enabled)
}

/// Reads the settings of this command.
///
/// `MNEMAL_SECTION__KEY` overrides a key of the file, `MNEMAL_READ_GLOBAL` the one without a section; values are parsed as TOML,
/// else taken as text.
///
/// # Errors
/// `Invalid` for an unknown key, a wrong type, or a value out of range.
pub(crate) fn read(global: &Global) -> Result<Settings> {
    read_table(table(global)?)
}

/// As [`read`], for a command that a person waits for: unless the settings contain deadlines, it has ten seconds.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_patient(global: &Global) -> Result<Settings> {
    let (mut table, shown) = table(global)?;
    let recall = table.entry(RECALL).or_insert_with(|| toml::Table::new().into());
    if let Some(recall) = recall.as_table_mut() {
        for key in DEADLINES {
            recall.entry(key).or_insert(toml::Value::Integer(PATIENCE_MS));
        }
    }
    read_table((table, shown))
}

fn read_table((mut table, shown): (toml::Table, String)) -> Result<Settings> {
    let mut part = |name: &str| table.remove(name).unwrap_or_else(|| toml::Table::new().into());
    let _checked: HookSettings = part(HOOKS).try_into().map_err(|cause| invalid(&shown, &cause))?;
    let _checked: ServerSettings = part(SERVER).try_into().map_err(|cause| invalid(&shown, &cause))?;
    let _checked: MemorySettings = part(MEMORY).try_into().map_err(|cause| invalid(&shown, &cause))?;
    let _checked: AuthSettings = part(AUTH).try_into().map_err(|cause| invalid(&shown, &cause))?;
    let _checked: CompatSettings = part(COMPAT).try_into().map_err(|cause| invalid(&shown, &cause))?;
    if let Some(storage) = table.get_mut(STORAGE).and_then(toml::Value::as_table_mut) {
        for key in DATABASE {
            storage.remove(key);
        }
    }
    let mut settings: Settings = table.try_into().map_err(|cause| invalid(&shown, &cause))?;
    // Without a home directory a model must be given with its own folder.
    if let (true, Ok(models)) = (settings.embedding.models.is_empty(), paths::models()) {
        settings.embedding.models = models.display().to_string();
    }
    settings.extract.reader = reader_file(&settings.extract.reader);
    settings.telemetry.capture_content |=
        paths::variable(CAPTURE_CONTENT).is_some_and(|value| value == "true");
    settings.check()?;
    Ok(settings)
}

/// Returns the file of the trained reader: that of the settings, else the one that was added, else the one that came with this
/// program; empty if there is none, if the settings say `none`, or if this program cannot run one.
fn reader_file(set: &str) -> String {
    match set {
        NO_READER => String::new(),
        "" if cfg!(feature = "reader") => {
            let added = paths::models().ok().map(|models| models.join(READER)).filter(|file| file.is_file());
            let found = added.or_else(|| paths::packaged_model(READER));
            found.map_or_else(String::new, |file| file.display().to_string())
        }
        set => set.to_owned(),
    }
}

/// Returns the settings of the project in whose folder a command runs, if there are any.
///
/// # Errors
/// For a file that cannot be read.
pub(crate) fn project(global: &Global) -> Result<Option<Project>> {
    match global.folder.clone().or_else(|| std::env::current_dir().ok()) {
        Some(folder) if !global.for_all => Project::around(&folder),
        _ => Ok(None),
    }
}

/// Creates a builder with these settings, and with the API keys of their endpoints; the environment variables with keys are read
/// only here.
///
/// # Errors
/// `Invalid` for a malformed key.
pub(crate) fn builder(settings: Settings) -> Result<Builder> {
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let reader = Program { path: program, arguments: vec![GUARDED.to_owned()] };
    #[cfg(feature = "http")]
    let keys = (endpoint_key(&settings), model_key(&settings));
    let builder = Engine::builder().with_settings(settings).with_guarded_reader(reader);
    #[cfg(feature = "http")]
    let builder = with_keys(builder, keys)?;
    Ok(builder)
}

#[cfg(feature = "http")]
fn with_keys(mut builder: Builder, (vectors, words): (Option<String>, Option<String>)) -> Result<Builder> {
    if let Some(key) = vectors {
        builder = builder.with_endpoint_key(mnemal::model::ApiKey::new(&key)?);
    }
    if let Some(key) = words {
        builder = builder.with_model_key(mnemal::model::ApiKey::new(&key)?);
    }
    Ok(builder)
}

/// Returns the API key of the embedding endpoint, if the settings name a variable and it is set.
pub(crate) fn endpoint_key(settings: &Settings) -> Option<String> {
    let embedding = &settings.embedding;
    let is_asked = embedding.provider == mnemal::settings::EmbeddingProvider::OpenaiCompatible;
    if is_asked && !embedding.api_key_env.is_empty() { paths::variable(&embedding.api_key_env) } else { None }
}

/// Returns the API key of the language model, if the settings name a variable and it is set.
pub(crate) fn model_key(settings: &Settings) -> Option<String> {
    let llm = &settings.llm;
    let name = llm.key_variable();
    if llm.is_asked() && !name.is_empty() { paths::variable(name) } else { None }
}

/// Reads the section of a single command.
///
/// # Errors
/// `Invalid` for an unknown key or a wrong type in that section.
pub(crate) fn section<T: DeserializeOwned>(global: &Global, name: &str) -> Result<T> {
    let (mut table, shown) = table(global)?;
    let section = table.remove(name).unwrap_or_else(|| toml::Table::new().into());
    Ok(section.try_into().map_err(|cause| invalid(&shown, &cause))?)
}

/// Returns the keys of other memory systems that have no effect here.
///
/// # Errors
/// `Invalid` when the file cannot be read or is not TOML.
pub(crate) fn without_effect(global: &Global) -> Result<Vec<String>> {
    Ok(layered(global)?.2)
}

/// Returns the file's settings with the environment variables applied, and the file's name for messages.
fn table(global: &Global) -> Result<(toml::Table, String)> {
    let (table, shown, _) = layered(global)?;
    Ok((table, shown))
}

/// As [`table`], with the keys that have no effect here.
fn layered(global: &Global) -> Result<(toml::Table, String, Vec<String>)> {
    let (mut table, shown) = file(global)?;
    if let Some(project) = project(global)? {
        let mut defaults =
            toml::Table::try_from(Settings::default()).context("the defaults cannot be written")?;
        defaults.insert(HOOKS.to_owned(), HookSettings::default().injected().into());
        project.over(&mut table, &defaults);
    }
    for variable in variables() {
        variable.apply(&mut table);
    }
    alias::resolve(&mut table);
    let dropped = nested::lift(&mut table);
    Ok((table, shown, dropped))
}

/// Returns the settings of the configuration file alone, and its path; none for a default file that does not exist.
///
/// # Errors
/// `Invalid` when it cannot be read or is not TOML.
pub(crate) fn file(global: &Global) -> Result<(toml::Table, String)> {
    let path = paths::configuration(global)?;
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && global.config.is_none() => {
            String::new()
        }
        Err(error) => return Err(error).context(format!("cannot read {}", path.display())),
    };
    let shown = path.display().to_string();
    let table = toml::from_str(&text).map_err(|cause| invalid(&shown, &cause))?;
    Ok((table, shown))
}

/// The variable that sets a key without a section.
const READ_GLOBAL: &str = "MNEMAL_READ_GLOBAL";

/// An environment variable that sets a key.
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: String,
    /// The section; `None` for a key without one.
    section: Option<String>,
    key: String,
    value: String,
}

impl Variable {
    /// Returns the settings of this variable alone.
    pub(crate) fn table(&self) -> toml::Table {
        let mut table = toml::Table::new();
        self.apply(&mut table);
        table
    }

    fn apply(&self, table: &mut toml::Table) {
        match &self.section {
            Some(section) => set(table, section, &self.key, &self.value),
            None => drop(table.insert(self.key.clone(), read_value(&self.value))),
        }
    }
}

/// Returns the environment variables that set a key; one that is no text sets none.
pub(crate) fn variables() -> Vec<Variable> {
    let whole = paths::variable(READ_GLOBAL).map(|value| Variable {
        name: READ_GLOBAL.to_owned(),
        section: None,
        key: "read_global".to_owned(),
        value,
    });
    let named = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        let (section, key) = name.strip_prefix("MNEMAL_")?.split_once("__")?;
        let (section, key) = (Some(section.to_lowercase()), key.to_lowercase());
        Some(Variable { name, section, key, value })
    });
    whole.into_iter().chain(named).collect()
}

fn set(table: &mut toml::Table, section: &str, key: &str, value: &str) {
    let value = read_value(value);
    let section = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if let Some(section) = section.as_table_mut() {
        section.insert(key.to_owned(), value);
    }
}

/// Parses a value as TOML, else takes it as text.
fn read_value(text: &str) -> toml::Value {
    let parsed = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    parsed.and_then(|mut one| one.remove("value")).unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

/// Formats an error with its place: the line of the file if it is not TOML, else the key.
fn invalid(path: &str, cause: &toml::de::Error) -> Error {
    let shown = cause.to_string();
    let what = match shown.lines().next().filter(|_| cause.span().is_some()) {
        Some(place) => format!("{place}: {}", cause.message()),
        None => shown.lines().collect::<Vec<_>>().join(" "),
    };
    Error::invalid(format!("the settings in {path} and the environment: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_overrides_the_file_and_keeps_its_neighbours() {
        let mut table: toml::Table = toml::from_str("[recall]\nlimit = 3\nlanguage = \"de\"").unwrap();
        set(&mut table, "recall", "limit", "7");
        set(&mut table, "privacy", "secrets", "block");
        let settings: Settings = table.try_into().unwrap();
        assert_eq!((settings.recall.limit, settings.recall.language.as_str()), (7, "de"));
        assert_eq!(settings.privacy.secrets, mnemal::settings::SecretMode::Block);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_key_or_its_line() {
        let table: toml::Table = toml::from_str("[recall]\nlimit = \"many\"").unwrap();
        let error = invalid("c.toml", &table.try_into::<Settings>().unwrap_err()).to_string();
        assert!(error.contains("c.toml") && error.contains("recall.limit"), "{error}");
        let cause = toml::from_str::<toml::Table>("[recall]\nlimit = = 3").unwrap_err();
        let error = invalid("c.toml", &cause).to_string();
        assert!(error.contains("line 2") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let table: toml::Table = toml::from_str("[recall]\nlimits = 3").unwrap();
        let error = table.try_into::<Settings>().unwrap_err();
        assert!(error.message().contains("limit"), "{error}");
    }
}
