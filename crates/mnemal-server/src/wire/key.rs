//! API keys: their public properties, and the one-time form with the secret.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::auth::{IssuedKey, KeyEntry};

/// Keys.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Keys")]
pub struct KeysForm {
    /// Oldest first.
    pub items: Vec<KeyForm>,
}

/// What is known of a key.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Key")]
pub struct KeyForm {
    /// Its public name.
    id: String,
    /// For people.
    name: String,
    /// `app` or `agent`.
    class: &'static str,
    /// What it may do.
    rights: Vec<&'static str>,
    /// Where; `null` for all spaces.
    spaces: Option<Vec<String>>,
    /// The one user whose memory it opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// When it was made.
    created_at: String,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<String>,
}

/// A key that was just made.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "IssuedKey")]
pub struct IssuedForm {
    #[serde(flatten)]
    key: KeyForm,
    /// The key itself, which nobody can read again.
    secret: String,
}

impl From<&KeyEntry> for KeyForm {
    fn from(entry: &KeyEntry) -> Self {
        Self {
            id: entry.id.to_string(),
            name: entry.name.clone(),
            class: entry.class.as_str(),
            rights: entry.rights.names(),
            spaces: entry.spaces.only().map(|spaces| spaces.iter().map(ToString::to_string).collect()),
            user: entry.user.as_ref().map(ToString::to_string),
            created_at: entry.created_at.to_string(),
            expires_at: entry.expires_at.map(|at| at.to_string()),
            revoked_at: entry.revoked_at.map(|at| at.to_string()),
        }
    }
}

impl From<&[KeyEntry]> for KeysForm {
    fn from(entries: &[KeyEntry]) -> Self {
        Self { items: entries.iter().map(KeyForm::from).collect() }
    }
}

impl fmt::Debug for IssuedForm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("IssuedForm").field("key", &self.key).finish_non_exhaustive()
    }
}

impl From<&IssuedKey> for IssuedForm {
    fn from(issued: &IssuedKey) -> Self {
        Self { key: KeyForm::from(&issued.entry), secret: issued.secret.expose().to_owned() }
    }
}
