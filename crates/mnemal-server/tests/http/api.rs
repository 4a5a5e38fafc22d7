//! A test server over a temporary folder, and its client.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http_body_util::{BodyExt as _, Full};
use hyper::{HeaderMap, Request, StatusCode};
use mnemal::ports::SystemClock;
use mnemal::{Builder, Engine, Spaces};
use mnemal_core::{Clock as _, SpaceId, Timestamp, UserId, Within};
use mnemal_server::auth::{KeyClass, Keyring, NewKey, Right, Rights, Secret};
use mnemal_server::http::{Access, Server};
use mnemal_server::{AuthMode, CompatSettings, ServerSettings};
use mnemal_testkit::ManualClock;
use serde_json::Value;

pub(crate) struct Api {
    pub(crate) server: Server,
    pub(crate) local: Secret,
    pub(crate) keyring: Keyring,
    pub(crate) home: tempfile::TempDir,
    pub(crate) spaces: Spaces,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// Returns the document of a response, which must have this status.
    #[track_caller]
    pub(crate) fn of(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self.json()
    }
}

/// Settings without an effective rate limit.
fn unhurried() -> ServerSettings {
    let compat = CompatSettings { mem0: true };
    ServerSettings { rate_limit_rps: 10_000, rate_limit_burst: 10_000, compat, ..ServerSettings::default() }
}

fn new_key(class: KeyClass, rights: &[Right], spaces: &[&str]) -> NewKey {
    let spaces = spaces.iter().map(|name| SpaceId::new(*name).unwrap()).collect();
    NewKey {
        name: "test".to_owned(),
        class,
        rights: Rights::new(rights.iter().copied()),
        spaces: Within::Only(spaces),
        user: None,
        expires_at: None,
    }
}

impl Api {
    pub(crate) fn new() -> Self {
        Self::with(unhurried(), AuthMode::Auto)
    }

    /// Serves spaces made from this builder.
    pub(crate) fn over(template: Builder) -> Self {
        Self::of(unhurried(), AuthMode::Auto, template)
    }

    pub(crate) fn with(settings: ServerSettings, mode: AuthMode) -> Self {
        // The clock stands still and no deadline applies: on any machine, a query waits until all turns are read.
        let mut parts = mnemal::Settings::default();
        parts.recall.part_deadline_ms = 60_000;
        let template = Engine::builder().with_settings(parts).with_clock(Arc::new(ManualClock::default()));
        Self::of(settings, mode, template)
    }

    fn of(settings: ServerSettings, mode: AuthMode, template: Builder) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (keyring, local) = (Keyring::new(home.path()), Secret::random().unwrap());
        let spaces = Spaces::new(home.path(), template).unwrap();
        let access = Access { mode, keyring: keyring.clone(), local: Some(local.clone()) };
        let server = Server::new(spaces.clone(), access, settings, Arc::new(SystemClock::default()));
        Self { server: server.unwrap(), local, keyring, home, spaces }
    }

    pub(crate) fn key(&self, class: KeyClass, rights: &[Right], spaces: &[&str]) -> Secret {
        self.key_until(class, rights, spaces, None)
    }

    /// Creates a key with an expiry.
    pub(crate) fn key_until(
        &self,
        class: KeyClass,
        rights: &[Right],
        spaces: &[&str],
        expires_at: Option<Timestamp>,
    ) -> Secret {
        self.made(NewKey { expires_at, ..new_key(class, rights, spaces) })
    }

    /// Creates a key of one user.
    pub(crate) fn key_of(&self, user: &str, rights: &[Right], spaces: &[&str]) -> Secret {
        let user = Some(UserId::new(user).unwrap());
        self.made(NewKey { user, ..new_key(KeyClass::App, rights, spaces) })
    }

    fn made(&self, new: NewKey) -> Secret {
        // A file is read and written at once.
        let issued = self.keyring.create(new, SystemClock::default().now()).now_or_never();
        issued.unwrap().unwrap().secret
    }

    pub(crate) async fn send(
        &self,
        request: hyper::http::request::Builder,
        body: impl Into<Bytes>,
    ) -> Answer {
        let answer = self.server.answer(request.body(Full::new(body.into())).unwrap()).await;
        let (parts, body) = answer.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    pub(crate) fn request(method: &str, path: &str, key: &Secret) -> hyper::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1:14767")
            .header("authorization", format!("Bearer {}", key.expose()))
            .header("content-type", "application/json")
    }

    pub(crate) async fn as_key(&self, key: &Secret, method: &str, path: &str, body: Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(Self::request(method, path, key), body).await
    }

    /// Sends a request with the local key, below the space `demo`.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> Answer {
        self.as_key(&self.local, method, &format!("/v1/spaces/demo/{path}"), body).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.ask("POST", path, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, Value::Null).await
    }
}
