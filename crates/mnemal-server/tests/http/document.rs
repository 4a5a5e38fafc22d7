//! The `OpenAPI` document and the metrics, compared with the running server.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::api::Api;

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                found.insert(reference.clone());
            }
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_document_names_what_it_refers_to_and_every_parameter_of_a_path() {
    let api = Api::new();
    let document = api.as_key(&api.local, "GET", "/openapi.json", Value::Null).await.of(200);
    assert_eq!(document["openapi"], "3.1.0");
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let mut operations = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(
                operations.insert(operation["operationId"].as_str().unwrap().to_owned()),
                "{method} {path}"
            );
            let parameters = operation["parameters"].as_array().unwrap();
            let in_path: Vec<String> = parameters
                .iter()
                .filter(|parameter| parameter["in"] == "path")
                .map(|parameter| format!("{{{}}}", parameter["name"].as_str().unwrap()))
                .collect();
            let named: Vec<&str> = path.split('/').filter(|segment| segment.starts_with('{')).collect();
            assert_eq!(in_path, named, "{method} {path}");
            assert!(operation["responses"]["default"].is_object());
            assert!(operation["summary"].as_str().unwrap().len() > 5);
        }
    }
}

/// Checks for constructs that other validators and client generators do not support.
fn is_plain(value: &Value, place: &str) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let place = format!("{place}/{name}");
                let is_schema = ["items", "schema"].contains(&name.as_str());
                assert!(!(is_schema && inner.is_boolean()), "{place}: a schema is an object");
                if name == "default" && inner.is_null() {
                    let types = fields.get("type").and_then(Value::as_array);
                    let is_any = !fields.contains_key("type") && !fields.contains_key("$ref");
                    let may_be_null = is_any || types.is_some_and(|types| types.contains(&json!("null")));
                    assert!(may_be_null, "{place}: null under a type without it");
                }
                is_plain(inner, &place);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| is_plain(item, place)),
        _ => {}
    }
}

#[tokio::test]
async fn the_document_is_plain_for_validators_and_generators() {
    let api = Api::new();
    let document = api.as_key(&api.local, "GET", "/openapi.json", Value::Null).await.of(200);
    is_plain(&document, "");
    let names = document["components"]["schemas"].as_object().unwrap().keys();
    for name in names {
        assert!(
            name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter)),
            "{name}"
        );
    }
}

#[tokio::test]
async fn the_document_lists_what_is_served_and_nothing_else() {
    use mnemal_server::{AuthMode, ServerSettings};
    let off =
        Api::with(ServerSettings { rate_limit_burst: 10_000, ..ServerSettings::default() }, AuthMode::Auto);
    let document = off.as_key(&off.local, "GET", "/openapi.json", Value::Null).await.of(200);
    let paths = document["paths"].as_object().unwrap();
    for turned_off in ["/search", "/memories", "/reset", "/v1/ping"] {
        assert!(!paths.contains_key(turned_off), "{turned_off}");
    }
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys() {
            let path = path.replace("{space}", "demo").replace(['{', '}'], "");
            let answer =
                off.as_key(&off.local, &method.to_uppercase(), &path, json!({"no_such_name": 1})).await;
            let text = &answer.text;
            assert!(
                !text.contains("no such route") && !text.contains("turned off"),
                "{method} {path}: {text}"
            );
        }
    }
    let on = Api::new();
    let document = on.as_key(&on.local, "GET", "/openapi.json", Value::Null).await.of(200);
    assert!(document["paths"].get("/search").is_some() && document["paths"].get("/v1/ping").is_some());
}

#[tokio::test]
async fn a_busy_server_counts_without_naming_anything_of_a_memory() {
    let api = Api::new();
    api.post("events", json!({"content": "the heron nests", "session": "hush"})).await.of(201);
    api.post("recall", json!({"query": "heron"})).await.of(200);
    api.post("context", json!({"query": "heron"})).await.of(200);
    api.get("events/evt_hush").await.of(404);
    let bare = hyper::Request::builder().uri("/metrics").header("host", "localhost");
    assert_eq!(api.send(bare, "").await.of(401)["code"], "unauthenticated");
    let text = api.as_key(&api.local, "GET", "/metrics", Value::Null).await.text;
    let line = |wanted: &str| {
        text.lines()
            .find(|line| line.starts_with(wanted))
            .unwrap_or_else(|| panic!("{wanted}\n{text}"))
            .to_owned()
    };
    assert!(line("mnemal_events_total").ends_with(" 1"));
    assert!(line("mnemal_recall_hits_count").ends_with(" 1"));
    assert!(line("mnemal_context_tokens_count").ends_with(" 1"));
    line(
        "mnemal_http_requests_total{route=\"/v1/spaces/{space}/events/{id}\",method=\"GET\",status=\"404\"} 1",
    );
    line("mnemal_layer_behind{layer=\"events\"} 0");
    for hidden in ["heron", "hush", "demo"] {
        assert!(!text.contains(hidden), "{hidden}");
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("mnemal_") && value.parse::<f64>().is_ok(), "{line}");
    }
}

// proves: AD-54 (as metrics)
#[tokio::test]
async fn the_numbers_of_the_last_cycle_are_metrics() {
    let api = Api::new();
    let metrics = async || api.as_key(&api.local, "GET", "/metrics", Value::Null).await.text;
    assert!(!metrics().await.contains("\nmnemal_dream_last_cycle{"), "there was no cycle");
    api.post("memories", json!({"content": "The lift is loud."})).await.of(201);
    let memory = api.spaces.open(&mnemal_core::SpaceId::new("demo").unwrap()).await.unwrap();
    let _copy = memory.remember("The lift is loud.").await.unwrap();
    let job = api.post("dream", json!({})).await.of(202);
    let path = format!("jobs/{}", job["id"].as_str().unwrap());
    while api.get(&path).await.of(200)["state"] == "running" {
        tokio::task::yield_now().await;
    }
    for _ in 0..2 {
        let text = metrics().await;
        let numbers = ["live", "reviewed", "created_since", "merged", "repaired", "rejected"];
        let more = ["archived", "protected", "model_calls", "tokens"];
        let told = |number: &str| {
            let name = format!("mnemal_dream_last_cycle{{number=\"{number}\"}} ");
            text.lines().find_map(|line| line.strip_prefix(&name)?.parse::<u64>().ok())
        };
        let told: Vec<Option<u64>> = numbers.into_iter().chain(more).map(told).collect();
        assert_eq!(told, [2, 2, 2, 1, 0, 0, 1, 0, 0, 0].map(Some), "{text}");
        assert!(text.contains("\nmnemal_dream_last_cycle_duration_seconds "), "{text}");
    }
}

/// A model that answers a check once, and then rejects.
#[derive(Debug)]
struct Once(mnemal::types::ModelId, std::sync::atomic::AtomicBool);

#[async_trait::async_trait]
impl mnemal::ports::LanguageModel for Once {
    fn model(&self) -> &mnemal::types::ModelId {
        &self.0
    }

    async fn complete(
        &self,
        permit: &mut mnemal::model::BackgroundPermit,
        _prompt: &mnemal::model::Prompt,
    ) -> mnemal::Result<mnemal::model::Completion> {
        permit.pay(mnemal::types::TokenCount(60))?;
        if self.1.swap(true, std::sync::atomic::Ordering::SeqCst) {
            return Err(mnemal::Error::invalid("no such key"));
        }
        let usage = mnemal::model::Usage {
            sent: mnemal::types::TokenCount(40),
            received: mnemal::types::TokenCount(2),
        };
        Ok(mnemal::model::Completion { text: "ready".to_owned(), model: self.0.clone(), usage })
    }
}

// proves: BA-13 (calls and tokens by purpose and outcome, over all spaces; no words)
#[tokio::test]
async fn what_was_asked_of_models_is_counted_by_purpose_and_outcome() {
    let model = Once(mnemal::types::ModelId::new("hush").unwrap(), false.into());
    let api = Api::over(mnemal::Engine::builder().with_language_model(std::sync::Arc::new(model)));
    let metrics = async || api.as_key(&api.local, "GET", "/metrics", Value::Null).await.text;
    assert!(!metrics().await.contains("\nmnemal_llm_requests_total{"), "nothing was asked");
    for space in ["demo", "other"] {
        let space = mnemal_core::SpaceId::new(space).unwrap();
        let memory = api.spaces.open_or_create(&space).await.unwrap();
        assert_eq!(memory.admin().engine().check_model().await.is_ok(), space.as_str() == "demo");
    }
    let text = metrics().await;
    for line in [
        "mnemal_llm_requests_total{purpose=\"check\",outcome=\"answered\"} 1",
        "mnemal_llm_requests_total{purpose=\"check\",outcome=\"refused\"} 1",
        "mnemal_llm_tokens_total{direction=\"received\"} 2",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
    assert!(!text.contains("hush") && !text.contains("ready"));
    let of_models = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("mnemal_llm_")).map(str::to_owned).collect()
    };
    assert_eq!(of_models(&metrics().await), of_models(&text), "looking counts nothing");
}

#[tokio::test]
async fn health_tells_strangers_the_status_alone() {
    let api = Api::new();
    let bare = |path: &str| hyper::Request::builder().uri(path.to_owned()).header("host", "localhost");
    assert_eq!(api.send(bare("/health/live"), "").await.of(200), json!({"status": "ok"}));
    assert_eq!(api.send(bare("/health/ready"), "").await.of(200), json!({"status": "ok"}));
    let known = api.as_key(&api.local, "GET", "/health/ready", Value::Null).await.of(200);
    assert_eq!(known["spaces_open"], 0);
    assert_eq!(api.send(bare("/version"), "").await.of(200)["name"], "mnemal");
}

// The clients in `integrations` are generated from this file.
#[tokio::test]
async fn the_document_that_clients_are_made_of_is_the_one_that_is_served() {
    let api = Api::new();
    let document = api.as_key(&api.local, "GET", "/openapi.json", Value::Null).await.of(200);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../integrations/openapi.json");
    let found = format!("{}\n", serde_json::to_string_pretty(&document).unwrap());
    // proves: DF-92 (no call of the API sets an endpoint)
    for setting in ["base_url", "api_key_env", "\"llm\"", "\"provider\""] {
        assert!(!found.contains(setting), "{setting}");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let expect = std::fs::read_to_string(path).unwrap();
    assert!(found == expect, "when this is meant, set UPDATE_GOLDEN=1 and run integrations/generate.py");
}

#[tokio::test]
async fn an_erasure_has_every_field_that_the_document_demands() {
    let api = Api::new();
    let document = api.as_key(&api.local, "GET", "/openapi.json", Value::Null).await.of(200);
    api.post("memories", json!({"content": "The drum is in the hall", "key": "drum"})).await.of(201);
    let gone = api.ask("DELETE", "memories/by-key/drum", Value::Null).await.of(200);
    for name in document["components"]["schemas"]["Erasure"]["required"].as_array().unwrap() {
        assert!(gone.get(name.as_str().unwrap()).is_some(), "{name}: {gone}");
    }
}
