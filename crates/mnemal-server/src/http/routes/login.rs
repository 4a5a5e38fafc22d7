//! Logins of browsers: one-time codes, sessions, and who is logged in.

use hyper::{Method, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::{CODE_LIFE, Credential, Principal, Right, Secret};
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::reply::Reply;
use crate::http::route::{Authorization, RequestBody, Route};
use crate::http::routes::of;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "login_get",
            "/v1/login",
            "Who asks, and what it may do.",
            (of::<CallerForm>, |call| Box::pin(async move { Reply::ok(&CallerForm::from(&call.principal)) })),
        ),
        Route::post(
            "login",
            "/v1/login",
            "Begins the session of a browser, with a one-time code or a key; the answer sets a cookie.",
            (of::<LoginForm>, of::<CallerForm>, |call| Box::pin(async move { log_in(&call).await })),
        )
        .needs(Authorization::Nothing),
        Route::get(
            "logout",
            "/v1/login",
            "Ends the session of a browser.",
            (of::<LogoutForm>, |call| Box::pin(async move { log_out(&call) })),
        )
        .method(Method::DELETE)
        .needs(Authorization::Nothing),
        Route {
            method: Method::POST,
            takes: RequestBody::Nothing,
            ..Route::get(
                "login_code",
                "/v1/login/code",
                "Makes a code that logs a browser in as the holder of this key, once and within a minute.",
                (of::<CodeForm>, |call| Box::pin(async move { issue_code(&call) })),
            )
        }
        .right(Right::Read),
    ]
}

/// What a browser shows; one of both.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Login")]
struct LoginForm {
    /// A one-time code.
    #[serde(default)]
    code: Option<String>,
    /// A key.
    #[serde(default)]
    key: Option<String>,
}

/// Who asks.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Caller")]
struct CallerForm {
    /// The public name of the key; `local` for the key of this machine, `open` where no key is asked for.
    id: String,
    /// `app` or `agent`.
    class: &'static str,
    /// What it may do.
    rights: Vec<&'static str>,
    /// Where; `null` for all spaces.
    spaces: Option<Vec<String>>,
    /// The one user whose memory it opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
}

/// A one-time code.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LoginCode")]
struct CodeForm {
    /// The code, for `/ui/#code=…` or `POST /v1/login`.
    code: String,
    /// Until when it can be used.
    expires_at: String,
    /// The server's URL for browsers: `server.public_url` of its settings, else its address on its machine.
    url: String,
}

/// The end of a session.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Logout")]
struct LogoutForm {
    /// Whether the browser had a session.
    ended: bool,
}

impl From<&Principal> for CallerForm {
    fn from(principal: &Principal) -> Self {
        Self {
            id: principal.id.clone(),
            class: principal.class.as_str(),
            rights: principal.rights.names(),
            spaces: principal.spaces.only().map(|spaces| spaces.iter().map(ToString::to_string).collect()),
            user: principal.user.as_ref().map(ToString::to_string),
        }
    }
}

async fn log_in(call: &Call) -> Result<Reply, Problem> {
    let form: LoginForm = call.body()?;
    let (browsers, now) = (&call.host.browsers, call.host.clock.monotonic());
    let credential = match (form.code, form.key) {
        (Some(code), None) => browsers.take_code(&code, now).ok_or_else(|| {
            let refused = Problem::new("unauthenticated", "this code is not known, was used, or is too old");
            refused.hint("Run `mnemal ui` for a new one, or enter a key.")
        })?,
        (None, Some(key)) => {
            let key = Secret::parse(&key);
            Credential::Key(key.ok_or_else(|| Problem::new("unauthenticated", "this is no key"))?)
        }
        _ => return Err(Problem::invalid("body: either a code or a key is meant")),
    };
    let principal = call.host.principal_of(&credential).await?;
    let token = browsers.begin(credential, now)?;
    let mut reply = Reply::ok(&CallerForm::from(&principal))?;
    reply.headers.insert(header::SET_COOKIE, call.cookie.set(&token)?);
    Ok(reply)
}

fn log_out(call: &Call) -> Result<Reply, Problem> {
    if let Some(token) = &call.session {
        call.host.browsers.end(token);
    }
    let mut reply = Reply::ok(&LogoutForm { ended: call.session.is_some() })?;
    reply.headers.insert(header::SET_COOKIE, call.cookie.unset()?);
    Ok(reply)
}

fn issue_code(call: &Call) -> Result<Reply, Problem> {
    let credential = call.credential.clone();
    let credential =
        credential.ok_or_else(|| Problem::new("unauthenticated", "there is no key in the request"))?;
    let code = call.host.browsers.issue_code(credential, call.host.clock.monotonic())?;
    let until = call.host.now().plus_micros(i64::try_from(CODE_LIFE.as_micros()).unwrap_or(i64::MAX));
    Reply::ok(&CodeForm {
        code: code.expose().to_owned(),
        expires_at: until.to_string(),
        url: call.host.settings.url(),
    })
}
