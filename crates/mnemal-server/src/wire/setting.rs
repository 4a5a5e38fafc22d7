//! Settings in effect, with their origins.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The value of a secret that is set; the secret itself is never shown.
const SET: &str = "set";

/// Settings.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Settings")]
pub struct SettingsForm {
    /// By name.
    pub items: Vec<SettingForm>,
}

/// A setting in effect.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Setting")]
pub struct SettingForm {
    /// Its section and key, `recall.limit`.
    pub name: String,
    /// Its value; of a secret `set`, or `null` where it is not set.
    pub value: Value,
    /// Where it comes from: `default`, `file`, `project`, `variable` or `flag`.
    pub origin: &'static str,
    /// The path of the file, the name of the variable, or the option; `null` for a default.
    pub from: Option<String>,
}

/// The origin of a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SettingOrigin {
    /// No one set it.
    #[default]
    Default,
    /// The configuration file with this path.
    File(String),
    /// The file of a project with this path.
    Project(String),
    /// The environment variable with this name.
    Variable(String),
    /// The option of the command with this name.
    Flag(String),
}

impl SettingForm {
    /// Builds the form of a setting.
    pub fn new(name: impl Into<String>, value: Value, origin: SettingOrigin) -> Self {
        let (origin, from) = match origin {
            SettingOrigin::Default => ("default", None),
            SettingOrigin::File(path) => ("file", Some(path)),
            SettingOrigin::Project(path) => ("project", Some(path)),
            SettingOrigin::Variable(name) => ("variable", Some(name)),
            SettingOrigin::Flag(name) => ("flag", Some(name)),
        };
        Self { name: name.into(), value, origin, from }
    }

    /// Builds the form of a secret, which says only whether it is set.
    pub fn secret(name: impl Into<String>, variable: Option<String>) -> Self {
        match variable {
            Some(variable) => Self::new(name, SET.into(), SettingOrigin::Variable(variable)),
            None => Self::new(name, Value::Null, SettingOrigin::Default),
        }
    }
}
