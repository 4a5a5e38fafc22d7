//! Errors: problem documents with a code, and enforced limits.

use mnemal_server::{AuthMode, ServerSettings};
use serde_json::{Value, json};

use crate::api::Api;

#[tokio::test]
async fn a_refusal_is_a_problem_document_that_says_what_to_do() {
    let api = Api::new();
    api.post("events", json!({"content": "x"})).await.of(201);
    for (method, path, body, status, code) in [
        ("GET", "nowhere", Value::Null, 404, "not_found"),
        ("DELETE", "recall", Value::Null, 405, "method_not_allowed"),
        ("POST", "recall", json!({}), 400, "invalid_request"),
        ("POST", "recall", json!({"query": "x", "limits": 3}), 400, "invalid_request"),
        ("POST", "recall", json!({"query": "x", "since": "yesterday"}), 400, "invalid_time"),
        ("POST", "recall", json!({"query": "x", "limit": 0}), 400, "invalid_request"),
        ("GET", "events?limit=201", Value::Null, 400, "invalid_request"),
        ("GET", "events?limit=x", Value::Null, 400, "invalid_request"),
        ("GET", "events?limits=3", Value::Null, 400, "invalid_request"),
        ("GET", "events?limit=1&limit=2", Value::Null, 400, "invalid_request"),
        ("GET", "events/%ff", Value::Null, 404, "not_found"),
        ("GET", "events/evt_1", Value::Null, 404, "not_found"),
        ("GET", "entities/Nobody", Value::Null, 404, "not_found"),
        ("POST", "memories", json!({"content": "x".repeat(40_000)}), 413, "too_large"),
        ("POST", "memories", json!({"content": " "}), 400, "invalid_request"),
        ("GET", "jobs/job_x", Value::Null, 404, "not_found"),
    ] {
        let answer = api.ask(method, path, body).await;
        assert_eq!(answer.headers["content-type"], "application/problem+json", "{path}");
        assert_eq!(answer.headers["cache-control"], "no-store");
        let id = answer.headers["x-request-id"].to_str().unwrap().to_owned();
        let problem = answer.of(status);
        assert_eq!((&problem["code"], &problem["request_id"]), (&json!(code), &json!(id)), "{path}");
        assert!(problem["type"].as_str().unwrap().ends_with(code));
    }
}

// proves: GA-15, GA-27
#[tokio::test]
async fn a_context_needs_no_question_and_what_is_missing_is_named() {
    let api = Api::new();
    api.post("events", json!({"content": "x"})).await.of(201);
    api.post("context", json!({})).await.of(200);
    for (path, field) in [("recall", "query"), ("ingest", "text"), ("memories", "content")] {
        let missing = api.post(path, json!({})).await.of(400);
        assert!(missing["detail"].as_str().unwrap().contains(&format!("`{field}`")), "{missing}");
    }
    let broken = Api::request("POST", "/v1/spaces/demo/ingest", &api.local);
    assert_eq!(api.send(broken, "{\"text\": ").await.of(400)["code"], "invalid_request");
}

#[tokio::test]
async fn what_is_no_json_or_too_much_is_not_read() {
    let api = Api::new();
    let path = "/v1/spaces/demo/events";
    let mut form = Api::request("POST", path, &api.local);
    form.headers_mut().unwrap().insert("content-type", "text/plain".parse().unwrap());
    assert_eq!(api.send(form, "{\"content\": \"x\"}").await.of(415)["code"], "unsupported_media_type");
    let large = format!("{{\"content\": \"{}\"}}", "x".repeat(1_100_000));
    assert_eq!(api.send(Api::request("POST", path, &api.local), large).await.of(413)["code"], "too_large");
    for (bytes, code) in [
        (b"{\"content\": \"\xff\"}".to_vec(), "invalid_utf8"),
        (b"{\"content\": \"\\ud800\"}".to_vec(), "invalid_request"),
        ([b"[".repeat(50), b"]".repeat(50)].concat(), "invalid_request"),
        (b"{\"content\"".to_vec(), "invalid_request"),
    ] {
        assert_eq!(api.send(Api::request("POST", path, &api.local), bytes).await.of(400)["code"], code);
    }
    let long = format!("/v1/spaces/demo/events?q={}", "x".repeat(9_000));
    assert_eq!(api.send(Api::request("GET", &long, &api.local), "").await.of(414)["code"], "uri_too_long");
    let key = Api::request("POST", path, &api.local).header("idempotency-key", "x".repeat(201));
    assert_eq!(api.send(key, "{\"content\": \"x\"}").await.of(400)["code"], "invalid_request");
}

#[tokio::test]
async fn a_key_has_a_rate_and_another_is_not_touched_by_it() {
    let settings = ServerSettings { rate_limit_rps: 1, rate_limit_burst: 3, ..ServerSettings::default() };
    let api = Api::with(settings, AuthMode::Auto);
    let other = api.key(mnemal_server::auth::KeyClass::App, &[mnemal_server::auth::Right::Read], &["demo"]);
    for _ in 0..3 {
        api.as_key(&api.local, "GET", "/v1/spaces", Value::Null).await.of(200);
    }
    let answer = api.as_key(&api.local, "GET", "/v1/spaces", Value::Null).await;
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(answer.of(429)["code"], "rate_limited");
    api.as_key(&other, "GET", "/v1/spaces", Value::Null).await.of(200);
}

#[tokio::test]
async fn a_space_goes_only_when_its_name_is_said_twice() {
    let api = Api::new();
    api.post("events", json!({"content": "x"})).await.of(201);
    let ask = async |path: &str| api.as_key(&api.local, "DELETE", path, Value::Null).await;
    assert_eq!(ask("/v1/spaces/demo").await.of(409)["code"], "confirmation_required");
    assert_eq!(ask("/v1/spaces/demo?confirm=other").await.of(409)["code"], "confirmation_required");
    assert_eq!(ask("/v1/spaces/demo?confirm=demo").await.of(200)["name"], "demo");
    api.get("stats").await.of(404);
    assert_eq!(std::fs::read_dir(api.home.path().join("spaces")).unwrap().count(), 0);
}

// proves: DF-11 (this surface)
#[tokio::test]
async fn a_text_without_end_is_refused_and_the_next_request_is_served() {
    let api = Api::new();
    let endless = "spam ".repeat(58_000);
    for (path, body) in [
        ("events", json!({"content": endless})),
        ("memories", json!({"content": endless})),
        ("messages", json!({"messages": [{"role": "user", "content": endless}]})),
    ] {
        let refused = api.post(path, body).await;
        assert!([400, 413].contains(&refused.status.as_u16()), "{path}: {refused:?}");
    }
    let dull = json!({"messages": [{"role": "user", "content": "ha ".repeat(58_000)}]});
    assert!(api.post("messages", dull).await.status.is_success());
    api.post("events", json!({"content": "My sister Anna lives in Lyon."})).await.of(201);
    let found = api.post("recall", json!({"query": "Where does Anna live?"})).await.of(200);
    assert!(found.to_string().contains("lives in Lyon"), "{found}");
}
