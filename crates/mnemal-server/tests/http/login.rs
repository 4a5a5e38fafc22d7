//! Logins of browsers: what a session opens, from where, and when it ends.

use std::sync::Arc;

use hyper::Request;
use hyper::http::request::Builder;
use mnemal::ports::SystemClock;
use mnemal_core::Timestamp;
use mnemal_server::auth::{KeyClass, Right, Secret};
use mnemal_server::http::{Access, Server};
use mnemal_server::{AuthMode, ServerSettings};
use serde_json::{Value, json};

use crate::api::{Answer, Api};

const HOST: &str = "127.0.0.1:14767";
const OWN: &str = "http://127.0.0.1:14767";

/// A request of a page of the server, without a key.
fn page(method: &str, path: &str) -> Builder {
    let request = Request::builder().method(method).uri(path).header("host", HOST);
    request.header("content-type", "application/json")
}

async fn log_in(api: &Api, shown: Value) -> Answer {
    api.send(page("POST", "/v1/login").header("origin", OWN), shown.to_string()).await
}

/// The cookie that an answer sets, as a browser sends it.
fn cookie(answer: &Answer) -> String {
    let set = answer.headers["set-cookie"].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

/// Logs in with a key, and returns the cookie.
async fn session(api: &Api, key: &Secret) -> String {
    let answer = log_in(api, json!({"key": key.expose()})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    cookie(&answer)
}

async fn read(api: &Api, cookie: &str) -> Answer {
    api.send(page("GET", "/v1/spaces").header("cookie", cookie), "").await
}

#[tokio::test]
async fn a_code_logs_one_browser_in_as_its_issuer_and_the_cookie_is_hidden_from_scripts() {
    let api = Api::new();
    let reader = api.key(KeyClass::Agent, &[Right::Read], &["demo"]);
    let made = api.as_key(&reader, "POST", "/v1/login/code", Value::Null).await.of(200);
    let code = json!({"code": made["code"]});
    let answer = log_in(&api, code.clone()).await;
    let set = answer.headers["set-cookie"].to_str().unwrap().to_owned();
    for part in ["mnemal_session_14767=mnk_", "HttpOnly", "SameSite=Strict", "Path=/v1", "Max-Age=43200"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains(made["code"].as_str().unwrap()) && !set.contains(reader.expose()), "{set}");
    let cookie = cookie(&answer);
    assert_eq!(answer.of(200)["class"], "agent");
    assert_eq!(log_in(&api, code).await.of(401)["code"], "unauthenticated", "the code was used");
    let told = api.send(page("GET", "/v1/login").header("cookie", &cookie), "").await.of(200);
    assert_eq!((&told["rights"], &told["spaces"]), (&json!(["read"]), &json!(["demo"])));
    let write = page("POST", "/v1/spaces/demo/events").header("origin", OWN).header("cookie", &cookie);
    assert_eq!(api.send(write, json!({"content": "x"}).to_string()).await.of(403)["code"], "right_missing");
    let again = page("POST", "/v1/login/code").header("origin", OWN).header("cookie", &cookie);
    api.send(again, "").await.of(401);
}

#[tokio::test]
async fn a_session_is_for_the_pages_of_the_server_alone() {
    let api = Api::new();
    let cookie = session(&api, &api.local).await;
    let write = async |origin: Option<&str>| {
        let mut request = page("POST", "/v1/spaces/demo/events").header("cookie", &cookie);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        api.send(request, json!({"content": "x"}).to_string()).await
    };
    write(Some(OWN)).await.of(201);
    for origin in [None, Some("http://127.0.0.1:3000"), Some("http://localhost:14767"), Some("null")] {
        assert_eq!(write(origin).await.of(403)["code"], "origin_forbidden", "{origin:?}");
    }
    for (site, expect) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)] {
        let request = page("GET", "/v1/spaces").header("cookie", &cookie).header("sec-fetch-site", site);
        api.send(request, "").await.of(expect);
    }
    // An allowed origin may ask with a key, and has no part in a session.
    let settings =
        ServerSettings { cors_origins: vec!["https://app.example".to_owned()], ..ServerSettings::default() };
    let api = Api::with(settings, AuthMode::Auto);
    let cookie = session(&api, &api.local).await;
    let request = page("GET", "/v1/spaces").header("cookie", &cookie).header("origin", "https://app.example");
    assert_eq!(api.send(request, "").await.of(403)["code"], "origin_forbidden");
}

#[tokio::test]
async fn behind_a_proxy_with_tls_the_pages_of_the_public_url_are_the_servers_own() {
    let settings =
        ServerSettings { public_url: Some("https://memory.example".to_owned()), ..ServerSettings::default() };
    let api = Api::with(settings, AuthMode::Auto);
    let made = api.as_key(&api.local, "POST", "/v1/login/code", Value::Null).await.of(200);
    assert_eq!(made["url"], "https://memory.example");
    let key = json!({"key": api.local.expose()}).to_string();
    // Some proxies pass the name on, and some do not.
    for host in ["memory.example", HOST] {
        let page = |method: &str, path: &str| {
            let request = Request::builder().method(method).uri(path).header("host", host);
            request.header("content-type", "application/json").header("origin", "https://memory.example")
        };
        let answer = api.send(page("POST", "/v1/login"), key.clone()).await;
        let set = answer.headers["set-cookie"].to_str().unwrap().to_owned();
        assert!(set.starts_with("mnemal_session_14767=") && set.ends_with("; Secure"), "{set}");
        let write = page("POST", "/v1/spaces/demo/events").header("cookie", cookie(&answer));
        api.send(write, json!({"content": "x"}).to_string()).await.of(201);
    }
    for (host, origin) in [
        ("memory.example", "https://other.example"),
        ("memory.example", "https://memory.example.other"),
        ("other.example", "https://memory.example"),
    ] {
        let request = Request::builder().method("POST").uri("/v1/login").header("host", host);
        let request = request.header("content-type", "application/json").header("origin", origin);
        api.send(request, key.clone()).await.of(403);
    }
    let set = log_in(&api, json!({"key": api.local.expose()})).await.headers["set-cookie"].clone();
    assert!(!set.to_str().unwrap().contains("Secure"), "without TLS a browser would not send it back");
}

#[tokio::test]
async fn servers_at_two_ports_of_a_machine_have_two_cookies() {
    let api = Api::new();
    let request = Request::builder().method("POST").uri("/v1/login").header("host", "127.0.0.1:4000");
    let request =
        request.header("content-type", "application/json").header("origin", "http://127.0.0.1:4000");
    let answer = api.send(request, json!({"key": api.local.expose()}).to_string()).await;
    assert!(cookie(&answer).starts_with("mnemal_session_4000="), "{}", cookie(&answer));
    let port = |port: u16| {
        let request = Request::builder().uri("/v1/spaces").header("host", format!("127.0.0.1:{port}"));
        request.header("cookie", cookie(&answer))
    };
    api.send(port(4000), "").await.of(200);
    api.send(port(4001), "").await.of(401);
}

#[tokio::test]
async fn a_session_ends_with_its_logout_its_key_and_its_server() {
    let api = Api::new();
    let cookie = session(&api, &api.local).await;
    read(&api, &cookie).await.of(200);
    let out = page("DELETE", "/v1/login").header("origin", OWN).header("cookie", &cookie);
    let out = api.send(out, "").await;
    assert!(out.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(out.of(200), json!({"ended": true}));
    assert_eq!(read(&api, &cookie).await.of(401)["code"], "unauthenticated");
    let key = api.key(KeyClass::App, &[Right::Read], &["demo"]);
    let cookie = session(&api, &key).await;
    read(&api, &cookie).await.of(200);
    api.keyring.revoke(key.id(), Timestamp::EPOCH).await.unwrap();
    read(&api, &cookie).await.of(401);
    let cookie = session(&api, &api.local).await;
    let access =
        Access { mode: AuthMode::Auto, keyring: api.keyring.clone(), local: Some(api.local.clone()) };
    let clock = Arc::new(SystemClock::default());
    let next = Server::new(api.spaces.clone(), access, ServerSettings::default(), clock).unwrap();
    let request = page("GET", "/v1/spaces").header("cookie", &cookie);
    let answer = next.answer(request.body(http_body_util::Full::new(bytes::Bytes::new())).unwrap()).await;
    assert_eq!(answer.status(), 401, "the next run of the server does not know it");
}

#[tokio::test]
async fn what_logs_nobody_in_is_refused_and_sets_no_cookie() {
    let api = Api::new();
    let unknown = Secret::random().unwrap();
    for (shown, expect) in [
        (json!({"key": unknown.expose()}), 401),
        (json!({"code": unknown.expose()}), 401),
        (json!({"code": api.local.expose()}), 401),
        (json!({"key": "mnk_"}), 401),
        (json!({"key": api.local.expose(), "code": "x"}), 400),
        (json!({}), 400),
        (json!({"password": "x"}), 400),
    ] {
        let answer = log_in(&api, shown.clone()).await;
        assert!(!answer.headers.contains_key("set-cookie"), "{shown}");
        assert_eq!(answer.status.as_u16(), expect, "{shown}: {}", answer.text);
    }
    let shown = json!({"key": api.local.expose()}).to_string();
    let elsewhere = page("POST", "/v1/login").header("origin", "http://127.0.0.1:3000");
    api.send(elsewhere, shown.clone()).await.of(403);
    let mut form = page("POST", "/v1/login").header("origin", OWN);
    form.headers_mut().unwrap().insert("content-type", "text/plain".parse().unwrap());
    api.send(form, shown).await.of(415);
    let code = api.server.login_code().unwrap();
    assert_eq!(log_in(&api, json!({"code": code})).await.of(200)["id"], "local");
}

// proves: AD-77 (inside the binary, offline; the views have tests of their own in `ui/tests`)
#[cfg(feature = "ui")]
#[tokio::test]
async fn the_files_of_the_ui_need_no_key_run_only_their_own_scripts_and_are_sent_once() {
    let api = Api::new();
    let mut versions = Vec::new();
    for (path, content_type) in
        [("/ui/", "text/html"), ("/ui/app.js", "text/javascript"), ("/ui/app.css", "text/css")]
    {
        let answer = api.send(page("GET", path), "").await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.headers["content-type"].to_str().unwrap().starts_with(content_type), "{path}");
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        for outside in ["http://", "https://"] {
            let named = answer.text.matches(outside).count();
            let of_svg = answer.text.matches("http://www.w3.org/").count();
            assert_eq!(named, if outside == "http://" { of_svg } else { 0 }, "{path} names another host");
        }
        let version = answer.headers["etag"].to_str().unwrap().to_owned();
        let again = api.send(page("GET", path).header("if-none-match", &version), "").await;
        assert_eq!((again.status.as_u16(), again.text.as_str()), (304, ""), "{path}");
        versions.push(version);
    }
    versions.dedup();
    assert_eq!(versions.len(), 3);
    for path in ["/ui/no.js", "/ui/..%2fCargo.toml", "/ui/%2e%2e", "/ui/app.js/x"] {
        api.send(page("GET", path), "").await.of(404);
    }
    let start = api.send(page("GET", "/"), "").await;
    assert_eq!((start.status.as_u16(), &start.headers["location"]), (307, &"/ui/".parse().unwrap()));
    assert!(start.text.contains("mnemal"));
}
