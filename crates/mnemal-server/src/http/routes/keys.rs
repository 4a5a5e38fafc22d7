//! API keys: create, list, revoke.

use hyper::Method;
use mnemal_core::{Error, SpaceId, UserId, Within};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::{KeyClass, KeyId, NewKey, Right, Rights};
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::{Route, RouteSwitch};
use crate::http::routes::of;
use crate::wire::{IssuedForm, KeyForm, KeysForm};

pub(super) fn routes() -> Vec<Route> {
    let routes = [
        Route::get(
            "key_list",
            "/v1/keys",
            "All keys, oldest first.",
            (of::<KeysForm>, |call| Box::pin(async move { list(&call).await })),
        )
        .right(Right::Admin),
        Route::post(
            "key_create",
            "/v1/keys",
            "Makes a key; it is shown this once.",
            (of::<NewKeyForm>, of::<IssuedForm>, |call| Box::pin(async move { create(&call).await })),
        )
        .right(Right::Admin)
        .status(201),
        Route::get(
            "key_revoke",
            "/v1/keys/{id}",
            "Ends a key for good.",
            (of::<KeyForm>, |call| Box::pin(async move { revoke(&call).await })),
        )
        .method(Method::DELETE)
        .right(Right::Admin),
    ];
    routes.into_iter().map(|route| route.switch(RouteSwitch::Keys)).collect()
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
    /// The one user whose memory it opens; that of everybody without it.
    #[serde(default)]
    user: Option<String>,
    /// When it ends.
    #[serde(default)]
    expires_at: Option<String>,
}

async fn list(call: &Call) -> Result<Reply, Problem> {
    let keys = call.host.access.keyring.list().await?;
    Reply::ok(&KeysForm::from(keys.as_slice()))
}

async fn create(call: &Call) -> Result<Reply, Problem> {
    let form: NewKeyForm = call.body()?;
    let class = form.class.as_deref().map_or(Some(KeyClass::App), KeyClass::from_name);
    let right = |name: &String| {
        Right::from_name(name).ok_or_else(|| Problem::invalid(format!("{name:?} is no right")))
    };
    let spaces =
        form.spaces.map(|names| names.into_iter().map(SpaceId::new).collect::<Result<Vec<_>, Error>>());
    let new = NewKey {
        class: class.ok_or_else(|| Problem::invalid("a class is app or agent"))?,
        rights: Rights::new(form.rights.iter().map(right).collect::<Result<Vec<_>, _>>()?),
        spaces: spaces.transpose()?.map_or(Within::All, Within::Only),
        user: form.user.map(UserId::new).transpose()?,
        expires_at: call.time_ahead("expires_at", form.expires_at.as_deref())?,
        name: form.name,
    };
    let issued = call.host.access.keyring.create(new, call.host.now()).await?;
    Reply::created(&IssuedForm::from(&issued))
}

async fn revoke(call: &Call) -> Result<Reply, Problem> {
    let entry = call.host.access.keyring.revoke(&KeyId::new(call.name(0))?, call.host.now()).await?;
    Reply::ok(&KeyForm::from(&entry))
}
