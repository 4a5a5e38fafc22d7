//! Settings in effect, each with its value and its origin.

use anyhow::{Context as _, Result};
use mnemal::Settings;
use mnemal_server::ServerSettings;
use mnemal_server::wire::{SettingForm, SettingOrigin, SettingsForm};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::Global;
use crate::paths::{self, SpacePaths};
use crate::storage::Storage;
use crate::{alias, config, nested};

/// The setting with the address of the database.
const DATABASE: &str = "storage.url";
/// The setting that a variable of another specification turns on.
const CAPTURE: &str = "telemetry.capture_content";
/// The variable that names a database.
const DB: &str = "MNEMAL_DB";

/// Names of settings that one place sets.
struct Layer {
    names: Vec<String>,
    origin: SettingOrigin,
}

impl Layer {
    /// Creates the layer of a table, whose names of other memory systems are resolved.
    fn new(mut table: toml::Table, origin: SettingOrigin) -> Self {
        alias::resolve(&mut table);
        let _without_effect = nested::lift(&mut table);
        let mut names = Vec::new();
        names_in("", &table, &mut names);
        Self { names, origin }
    }

    /// Whether it sets a setting, or a part of it.
    fn sets(&self, name: &str) -> bool {
        let below = |part: &str, whole: &str| {
            part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.names.iter().any(|own| below(own, name) || below(name, own))
    }
}

fn names_in(above: &str, table: &toml::Table, names: &mut Vec<String>) {
    for (key, value) in table {
        let name = joined(above, key);
        match value {
            toml::Value::Table(below) => names_in(&name, below, names),
            _ => names.push(name),
        }
    }
}

fn joined(above: &str, key: &str) -> String {
    if above.is_empty() { key.to_owned() } else { format!("{above}.{key}") }
}

/// Returns the settings in effect by name, in a command whose options replace some of them: the name, the option, the value.
///
/// # Errors
/// As [`config::read`].
pub(crate) fn list(global: &Global, options: &[(&str, &str, Value)]) -> Result<SettingsForm> {
    let settings = config::read(global)?;
    let layers = layers(global)?;
    let origin = |name: &str| {
        layers.iter().find(|layer| layer.sets(name)).map(|layer| layer.origin.clone()).unwrap_or_default()
    };
    let mut items: Vec<SettingForm> = values(global, &settings)?
        .into_iter()
        .map(|(name, value)| SettingForm::new(name.as_str(), value, origin(&name)))
        .collect();
    items.retain(|item| item.name != DATABASE);
    items.push(database(global, origin(DATABASE))?);
    for (name, key) in
        [("embedding.api_key", endpoint_variable(&settings)), ("llm.api_key", model_variable(&settings))]
    {
        items.push(SettingForm::secret(name, key));
    }
    for item in &mut items {
        if let Some((name, option, value)) = options.iter().find(|(name, _, _)| *name == item.name) {
            *item = SettingForm::new(*name, value.clone(), SettingOrigin::Flag((*option).to_owned()));
        }
        if let Some(text) = item.value.as_str().and_then(without_login) {
            item.value = text.into();
        }
    }
    items.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(SettingsForm { items })
}

/// Returns all values by name.
fn values(global: &Global, settings: &Settings) -> Result<Vec<(String, Value)>> {
    let mut all = Map::new();
    let mut found = Vec::new();
    flatten("", plain(settings)?, &mut found);
    let server: ServerSettings = config::section(global, "server")?;
    for (name, value) in [
        ("server", plain(&server)?),
        ("auth", plain(&config::section::<mnemal_server::AuthSettings>(global, "auth")?)?),
        ("compat", plain(&config::section::<mnemal_server::CompatSettings>(global, "compat")?)?),
        ("hooks", plain(&config::section::<crate::command::hook::HookSettings>(global, "hooks")?)?),
        ("memory", serde_json::json!({"enabled": config::is_on(global)?})),
        ("storage", serde_json::json!({"pool": config::database(global)?.pool, "url": ""})),
    ] {
        all.insert(name.to_owned(), value);
    }
    flatten("", Value::Object(all), &mut found);
    Ok(found)
}

/// Returns a value as JSON, with numbers as they are written.
fn plain(of: &impl Serialize) -> Result<Value> {
    let text = serde_json::to_string(of).context("the settings cannot be written")?;
    serde_json::from_str(&text).context("the settings cannot be read")
}

fn flatten(above: &str, value: Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() || above.is_empty() => {
            for (key, value) in fields {
                flatten(&joined(above, &key), value, found);
            }
        }
        value => found.push((above.to_owned(), value)),
    }
}

/// Returns the places that set something, the strongest first.
fn layers(global: &Global) -> Result<Vec<Layer>> {
    let mut layers: Vec<Layer> = config::variables()
        .into_iter()
        .map(|variable| {
            let origin = SettingOrigin::Variable(variable.name.clone());
            Layer::new(variable.table(), origin)
        })
        .collect();
    if paths::variable(config::CAPTURE_CONTENT).is_some_and(|value| value == "true") {
        let origin = SettingOrigin::Variable(config::CAPTURE_CONTENT.to_owned());
        layers.insert(0, Layer { names: vec![CAPTURE.to_owned()], origin });
    }
    if let Some(project) = config::project(global)? {
        let (file, names) = project.named_settings();
        layers.push(Layer { names, origin: SettingOrigin::Project(file) });
    }
    let (table, file) = config::file(global)?;
    layers.push(Layer::new(table, SettingOrigin::File(file)));
    Ok(layers)
}

/// Returns the address of the database in use, without a password; empty for files.
fn database(global: &Global, set: SettingOrigin) -> Result<SettingForm> {
    let address = match SpacePaths::find_several(global)?.storage {
        Storage::Database(address) => address.to_string(),
        Storage::File(_) => String::new(),
    };
    let origin = match (&global.db, paths::variable(DB)) {
        _ if address.is_empty() => set,
        (Some(_), _) => SettingOrigin::Flag("--db".to_owned()),
        (None, Some(_)) => SettingOrigin::Variable(DB.to_owned()),
        (None, None) => set,
    };
    Ok(SettingForm::new(DATABASE, address.into(), origin))
}

/// Returns the name of the variable with the key of the embedding endpoint, if it is set.
fn endpoint_variable(settings: &Settings) -> Option<String> {
    config::endpoint_key(settings).map(|_key| settings.embedding.api_key_env.clone())
}

/// Returns the name of the variable with the key of the language model, if it is set.
fn model_variable(settings: &Settings) -> Option<String> {
    config::model_key(settings).map(|_key| settings.llm.key_variable().to_owned())
}

/// Returns a URL without its login and its query, which may hold secrets; `None` for another text.
fn without_login(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let (place, _query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = place
        .split_once('/')
        .map_or((place, String::new()), |(authority, path)| (authority, format!("/{path}")));
    let host = authority.rsplit_once('@').map_or(authority, |(_login, host)| host);
    Some(format!("{scheme}://{host}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        for (url, shown) in [
            ("https://ada:s3c@ret@api.example/v1?key=s3c", Some("https://api.example/v1")),
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080")),
            ("none", None),
        ] {
            assert_eq!(without_login(url).as_deref(), shown, "{url}");
        }
    }

    #[test]
    fn a_layer_sets_its_names_and_what_is_below_or_above_them() {
        let table = toml::from_str("[memory]\nrecall_limit = 3\n[llm]\nmodel = \"m\"\n[empty]").unwrap();
        let layer = Layer::new(table, SettingOrigin::Default);
        for (name, expect) in [
            ("recall.inject_limit", true),
            ("recall.limit", false),
            ("llm.model", true),
            ("llm.model_size", false),
            ("llm", true),
            ("memory.enabled", false),
        ] {
            assert_eq!(layer.sets(name), expect, "{name}");
        }
    }
}
