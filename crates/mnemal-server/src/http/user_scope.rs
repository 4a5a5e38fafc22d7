//! User isolation of requests: the user of a request, and the restrictions of a key for one user.

use hyper::Uri;
use mnemal_core::UserId;
use serde_json::Value;

use crate::auth::Principal;
use crate::http::problem::Problem;
use crate::http::route::{Route, USER};

/// Fields of a query or a document that name a user.
const NAMES: [&str; 2] = [USER, "user_id"];
/// Fields with arbitrary content, which are not checked.
const FREE: [&str; 2] = ["metadata", "content"];

/// Returns the user of a request, and its address with only the route's own parameters.
///
/// # Errors
/// `user_forbidden` for a key of one user that names another one, or requests the whole space.
pub(super) fn split_user(
    route: &Route,
    principal: &Principal,
    uri: &Uri,
) -> Result<(Option<UserId>, Uri), Problem> {
    if let Some(user) = principal.user.as_ref().filter(|_| route.is_whole) {
        return Err(Problem::new(
            "user_forbidden",
            format!("the key is of user {user}, and this is of the whole space"),
        ));
    }
    let pairs: Vec<(String, String)> =
        form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    for (name, value) in &pairs {
        if NAMES.contains(&name.as_str()) {
            own(principal, name, value)?;
        }
        if name == "filters"
            && let Ok(filters) = serde_json::from_str(value)
        {
            within(principal, &filters, name)?;
        }
    }
    if !route.takes_user() {
        return Ok((principal.user.clone(), uri.clone()));
    }
    let mut named: Vec<&String> =
        pairs.iter().filter(|(name, _)| name == USER).map(|(_, value)| value).collect();
    named.dedup();
    let user = match named.as_slice() {
        [] => principal.user.clone(),
        [one] => Some(
            UserId::new(one.as_str()).map_err(|wrong| Problem::invalid(format!("user: {}", wrong.what())))?,
        ),
        _ => return Err(Problem::invalid("user: one name is meant")),
    };
    Ok((user, without_user(uri, &pairs)))
}

/// Checks that a document names no user other than that of the key.
///
/// # Errors
/// `user_forbidden`, with the place.
pub(super) fn of_body(principal: &Principal, body: &[u8]) -> Result<(), Problem> {
    if principal.user.is_none() {
        return Ok(());
    }
    // An invalid document is reported by its parser.
    match serde_json::from_slice(body) {
        Ok(document) => within(principal, &document, "body"),
        Err(_) => Ok(()),
    }
}

fn within(principal: &Principal, value: &Value, place: &str) -> Result<(), Problem> {
    match value {
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            let place = format!("{place}.{name}");
            match name.as_str() {
                free if FREE.contains(&free) => Ok(()),
                name if NAMES.contains(&name) => named(principal, value, &place),
                _ => within(principal, value, &place),
            }
        }),
        Value::Array(items) => items.iter().try_for_each(|item| within(principal, item, place)),
        _ => Ok(()),
    }
}

/// Checks the value of a user field: a name, several, or conditions on it.
fn named(principal: &Principal, value: &Value, place: &str) -> Result<(), Problem> {
    match value {
        Value::String(name) if name != "*" => own(principal, place, name),
        Value::Array(items) => items.iter().try_for_each(|item| named(principal, item, place)),
        Value::Object(fields) => fields.values().try_for_each(|value| named(principal, value, place)),
        _ => Ok(()),
    }
}

fn own(principal: &Principal, place: &str, name: &str) -> Result<(), Problem> {
    match &principal.user {
        Some(user) if user.as_str() != name => Err(Problem::new(
            "user_forbidden",
            format!("{place}: the key is of user {user}, and not of {name:?}"),
        )),
        _ => Ok(()),
    }
}

/// Returns an address without the user parameter.
fn without_user(uri: &Uri, pairs: &[(String, String)]) -> Uri {
    let rest = pairs.iter().filter(|(name, _)| name != USER);
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(rest).finish();
    format!("{}?{query}", uri.path()).parse().unwrap_or_else(|_| uri.clone())
}
