//! Keys: made, listed, revoked.

use hyper::Method;
use mnemal_core::{Error, SpaceId, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::{Class, KeyEntry, KeyId, NewKey, Right, Rights};
use crate::http::area::of;
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "key_list",
            "/v1/keys",
            "All keys, oldest first.",
            (of::<KeysForm>, |call| Box::pin(async move { list(&call) })),
        )
        .right(Right::Admin),
        Route::post(
            "key_create",
            "/v1/keys",
            "Makes a key; it is shown this once.",
            (of::<NewKeyForm>, of::<IssuedForm>, |call| Box::pin(async move { create(&call) })),
        )
        .right(Right::Admin)
        .status(201),
        Route::get(
            "key_revoke",
            "/v1/keys/{id}",
            "Ends a key for good.",
            (of::<KeyForm>, |call| Box::pin(async move { revoke(&call) })),
        )
        .method(Method::DELETE)
        .right(Right::Admin),
    ]
}

/// What a new key may do.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewKey")]
struct NewKeyForm {
    /// For people, at most 64 bytes.
    name: String,
    /// `app` knows which words are the user's, `agent` does not.
    #[serde(default)]
    class: Option<String>,
    /// Of `read`, `write`, `erase`, `metrics`, `admin`.
    rights: Vec<String>,
    /// The spaces that it may know; all for a key with the right `admin` or `metrics` alone.
    #[serde(default)]
    spaces: Option<Vec<String>>,
    /// When it ends.
    #[serde(default)]
    expires_at: Option<String>,
}

/// Keys.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Keys")]
struct KeysForm {
    /// Oldest first.
    items: Vec<KeyForm>,
}

/// What is known of a key.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Key")]
struct KeyForm {
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
struct IssuedForm {
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
            created_at: entry.created_at.to_string(),
            expires_at: entry.expires_at.map(|at| at.to_string()),
            revoked_at: entry.revoked_at.map(|at| at.to_string()),
        }
    }
}

fn list(call: &Call) -> Result<Reply, Problem> {
    let keys = call.host.access.keyring.list()?;
    Reply::ok(&KeysForm { items: keys.iter().map(KeyForm::from).collect() })
}

fn create(call: &Call) -> Result<Reply, Problem> {
    let form: NewKeyForm = call.body()?;
    let class = form.class.as_deref().map_or(Some(Class::App), Class::from_name);
    let right = |name: &String| {
        Right::from_name(name).ok_or_else(|| Problem::invalid(format!("{name:?} is no right")))
    };
    let spaces =
        form.spaces.map(|names| names.into_iter().map(SpaceId::new).collect::<Result<Vec<_>, Error>>());
    let new = NewKey {
        class: class.ok_or_else(|| Problem::invalid("a class is app or agent"))?,
        rights: Rights::new(form.rights.iter().map(right).collect::<Result<Vec<_>, _>>()?),
        spaces: spaces.transpose()?.map_or(Within::All, Within::Only),
        expires_at: call.time("expires_at", form.expires_at.as_deref())?,
        name: form.name,
    };
    let issued = call.host.access.keyring.create(new, call.host.now())?;
    Reply::created(&IssuedForm { key: (&issued.entry).into(), secret: issued.secret.expose().to_owned() })
}

fn revoke(call: &Call) -> Result<Reply, Problem> {
    let entry = call.host.access.keyring.revoke(&KeyId::new(call.name(0))?, call.host.now())?;
    Reply::ok(&KeyForm::from(&entry))
}
