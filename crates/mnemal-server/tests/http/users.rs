//! User isolation: a key of one user opens that user's memory only, and a request for one user returns nothing of others.

use mnemal_server::auth::{Right, Secret};
use serde_json::{Value, json};

use crate::api::Api;

const ALL: [Right; 3] = [Right::Read, Right::Write, Right::Erase];
/// Words that only Ada said.
const CANARIES: [&str; 3] = ["Quarzblende", "zimtkrone", "nebelfink"];

fn at(path: &str) -> String {
    format!("/v1/spaces/demo/{path}")
}

fn leak(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    CANARIES.into_iter().find(|canary| text.contains(&canary.to_lowercase()))
}

/// Ids and names of Ada's records.
struct UserFixture {
    ids: Vec<String>,
}

async fn ask(api: &Api, key: &Secret, (method, path): (&str, &str), body: Value) -> Value {
    let answer = api.as_key(key, method, &at(path), body).await;
    assert!(answer.status.is_success(), "{method} {path}: {}", answer.text);
    answer.json()
}

/// Stores the same kinds of records for a user, with distinct words.
async fn planted(api: &Api, key: &Secret, [friend, thing, bird]: [&str; 3]) -> UserFixture {
    let said = format!("My friend Ronja {friend} lives in Kiruna and keeps a {thing}.");
    let turns =
        json!({"session": "talk", "channel": "mail", "messages": [{"role": "user", "content": said}]});
    let stored = ask(api, key, ("POST", "messages"), turns).await;
    let name = format!("own/{}", friend.len());
    let note = json!({"content": format!("The {bird} nests in the garden"), "key": name});
    let note = ask(api, key, ("POST", "memories"), note).await;
    ask(api, key, ("PUT", "working/plan"), json!({"value": format!("feed the {bird}")})).await;
    let context = ask(api, key, ("POST", "context"), json!({"query": "garden", "session": "talk"})).await;
    let entities = ask(api, key, ("GET", "entities"), Value::Null).await;
    let facts = ask(api, key, ("GET", "facts"), Value::Null).await;
    let first = |list: &Value| list["items"][0]["id"].as_str().unwrap_or_default().to_owned();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    UserFixture {
        ids: vec![
            text(&stored["event_ids"][0]),
            text(&note["id"]),
            text(&context["recall_id"]),
            first(&entities),
            first(&facts),
            name,
            "talk".to_owned(),
        ]
        .into_iter()
        .filter(|id| !id.is_empty())
        .collect(),
    }
}

/// A body that a route accepts, with an id.
fn body(path: &str, id: &str) -> Value {
    match path.rsplit('/').next().unwrap_or_default() {
        "recall" | "context" | "answer" | "search" => json!({"query": "garden Kiruna Ronja nests"}),
        "forget" => json!({"selector": {"id": id}, "dry_run": true}),
        "delete" => json!({"filter": {}}),
        "messages" => json!({"messages": [{"role": "user", "content": "x"}]}),
        "memories" => json!({"content": "x"}),
        "feedback" => json!({"record": id, "verdict": "useful"}),
        "verify" => json!({}),
        _ => Value::Null,
    }
}

#[tokio::test]
async fn no_route_shows_one_user_what_is_of_another() {
    let api = Api::new();
    let (ada, bo) = (api.key_of("ada", &ALL, &["demo"]), api.key_of("bo", &ALL, &["demo"]));
    let known = planted(&api, &ada, CANARIES).await;
    planted(&api, &bo, ["Berg", "kettle", "heron"]).await;
    assert!(known.ids.len() >= 6, "{:?}", known.ids);
    let document = api.as_key(&api.local, "GET", "/openapi.json", Value::Null).await.of(200);
    let mut calls = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        if path.ends_with("/stream") {
            continue;
        }
        for method in methods.as_object().unwrap().keys().map(|method| method.to_uppercase()) {
            for id in &known.ids {
                let encoded = id.replace('/', "%2F");
                let mut place = path.replace("{space}", "demo").replace("{kb}", "demo");
                for name in ["{session}", "{key}", "{id}", "{type}", "{name}"] {
                    place = place.replace(name, &encoded);
                }
                let answer = api.as_key(&bo, &method, &place, body(&place, id)).await;
                assert_eq!(leak(&answer.text), None, "{method} {place}: {}", answer.text);
                assert!(answer.status.as_u16() < 500, "{method} {place}: {}", answer.text);
                calls += 1;
            }
        }
    }
    assert!(calls > 500, "{calls}");
    // None of these requests changed Ada's records.
    let held = ask(&api, &ada, ("GET", "memories"), Value::Null).await.to_string();
    assert!(held.contains("nebelfink"), "{held}");
    let root = ask(&api, &ada, ("GET", "summaries/root"), Value::Null).await.to_string();
    assert!(root.contains("zimtkrone"), "{root}");
    let whom = ask(&api, &ada, ("GET", "entities"), Value::Null).await.to_string();
    assert!(leak(&whom).is_some(), "{whom}");
}

#[tokio::test]
async fn a_key_of_one_user_writes_as_that_user_and_names_no_other() {
    let api = Api::new();
    let bo = api.key_of("bo", &ALL, &["demo"]);
    ask(&api, &bo, ("POST", "events"), json!({"role": "user", "content": "I have a kettle."})).await;
    ask(&api, &bo, ("POST", "memories"), json!({"content": "The kettle is red", "user": "bo"})).await;
    let all = api.get("events?all=true").await.of(200);
    for event in all["items"].as_array().unwrap() {
        assert_eq!(event["user"], "bo", "{event}");
    }
    for (method, path, body) in [
        ("POST", "events", json!({"role": "user", "content": "x", "user": "ada"})),
        ("POST", "memories", json!({"content": "x", "user": "ada"})),
        ("POST", "recall", json!({"query": "x", "user": "ada"})),
        ("POST", "context", json!({"query": "x", "user": "ada"})),
        ("POST", "answer", json!({"query": "x", "user": "ada"})),
        ("POST", "forget", json!({"selector": {"user": "ada"}, "dry_run": true})),
        ("GET", "events?user=ada", Value::Null),
        ("GET", "memories?user=ada", Value::Null),
        ("GET", "facts?user=ada", Value::Null),
        ("GET", "export", Value::Null),
        ("GET", "report", Value::Null),
        ("POST", "dream", json!({})),
    ] {
        let refused = api.as_key(&bo, method, &at(path), body).await.of(403);
        assert_eq!(refused["code"], "user_forbidden", "{path}: {refused}");
        assert!(refused["detail"].as_str().unwrap().contains("bo"), "{refused}");
    }
    for (method, path, body) in [
        ("POST", "/search", json!({"query": "x", "user_id": "ada"})),
        (
            "POST",
            "/search",
            json!({"query": "x", "filters": {"OR": [{"user_id": "bo"}, {"user_id": "ada"}]}}),
        ),
        ("GET", "/memories?user_id=ada", Value::Null),
    ] {
        assert_eq!(api.as_key(&bo, method, path, body).await.of(403)["code"], "user_forbidden", "{path}");
    }
    let own = api.as_key(&bo, "POST", "/search", json!({"query": "kettle"})).await.of(200);
    assert!(own.to_string().contains("kettle"), "{own}");
    // A metadata field of that name does not select a user.
    let note = json!({"content": "A kettle of ada's", "metadata": {"user": "ada"}});
    ask(&api, &bo, ("POST", "memories"), note).await;
}

#[tokio::test]
async fn a_request_of_everybody_can_ask_for_one_user() {
    let api = Api::new();
    let (ada, bo) = (api.key_of("ada", &ALL, &["demo"]), api.key_of("bo", &ALL, &["demo"]));
    planted(&api, &ada, CANARIES).await;
    planted(&api, &bo, ["Berg", "kettle", "heron"]).await;
    for path in ["entities", "facts", "topics", "sessions", "working", "summaries/root", "summaries", "stats"]
    {
        let whole = api.get(path).await.of(200).to_string();
        let his = api.get(&format!("{path}?user=bo")).await.of(200).to_string();
        assert_eq!(leak(&his), None, "{path}: {his}");
        assert!(whole != his || path == "topics", "{path}: {his}");
    }
    for whole in ["jobs?user=bo", "report?user=bo"] {
        assert_eq!(api.get(whole).await.of(400)["code"], "invalid_request", "{whole}");
    }
    let found = api.get("entities?user=ada&q=ronja").await.of(200).to_string();
    assert!(leak(&found).is_some(), "{found}");
}

#[tokio::test]
async fn a_key_of_one_user_is_no_key_of_the_server() {
    let api = Api::new();
    let new = |rights: Value| json!({"name": "k", "rights": rights, "spaces": ["demo"], "user": "bo"});
    let refused = api.as_key(&api.local, "POST", "/v1/keys", new(json!(["read", "admin"]))).await.of(400);
    assert!(refused["detail"].as_str().unwrap().contains("admin"), "{refused}");
    let made = api.as_key(&api.local, "POST", "/v1/keys", new(json!(["read"]))).await.of(201);
    assert_eq!(made["user"], "bo");
    let key = Secret::parse(made["secret"].as_str().unwrap()).unwrap();
    assert_eq!(
        api.as_key(&key, "GET", &at("events?user=ada"), Value::Null).await.of(403)["code"],
        "user_forbidden"
    );
}
