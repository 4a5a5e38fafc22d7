//! Unknown fields: every route rejects them by name.

use serde_json::{Map, Value, json};

use crate::api::Api;

/// A name that does not occur anywhere.
const NAME: &str = "no_such_name";

/// An operation of the document with a callable path.
struct RequestCase {
    method: String,
    path: String,
    body: Option<Value>,
}

fn operations(document: &Value) -> Vec<RequestCase> {
    let mut found = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let segment = |segment: &str| match segment {
                "{space}" | "{kb}" => "demo".to_owned(),
                named if named.starts_with('{') => "x".to_owned(),
                plain => plain.to_owned(),
            };
            let body = operation.pointer("/requestBody/content/application~1json/schema").cloned();
            let path = path.split('/').map(segment).collect::<Vec<_>>().join("/");
            found.push(RequestCase { method: method.to_uppercase(), path, body });
        }
    }
    assert!(found.len() > 90, "{}", found.len());
    found
}

/// Resolves references, and drops nullability.
fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return resolved(document, document.pointer(reference.strip_prefix('#').unwrap()).unwrap());
    }
    let choices = schema.get("anyOf").and_then(Value::as_array);
    match choices.and_then(|choices| choices.iter().find(|one| one["type"] != "null")) {
        Some(choice) => resolved(document, choice),
        None => schema,
    }
}

/// Returns bodies with the unknown name in each of their objects, one at a time.
fn bodies(document: &Value, schema: &Value, deep: usize) -> Vec<Value> {
    let schema = resolved(document, schema);
    let mut found = vec![json!({NAME: 1})];
    let fields = schema.get("properties").and_then(Value::as_object).filter(|_| deep < 4);
    for (field, inner) in fields.into_iter().flatten() {
        let inner = resolved(document, inner);
        let is_list = inner.get("items").is_some();
        let inner = if is_list { resolved(document, &inner["items"]) } else { inner };
        if inner.get("properties").is_none() {
            continue;
        }
        for body in bodies(document, inner, deep + 1) {
            let body = if is_list { json!([body]) } else { body };
            found.push(Value::Object(Map::from_iter([(field.clone(), body)])));
        }
    }
    found
}

#[tokio::test]
async fn a_name_that_a_query_does_not_know_is_refused_on_every_route() {
    let api = Api::new();
    api.post("events", json!({"content": "The lift is loud"})).await.of(201);
    let document = api.as_key(&api.local, "GET", "/openapi.json", Value::Null).await.of(200);
    for RequestCase { method, path, body } in operations(&document) {
        let body = body.map_or(Value::Null, |_| json!({}));
        let refused = api.as_key(&api.local, &method, &format!("{path}?{NAME}=1"), body).await.of(400);
        assert!(refused["detail"].as_str().unwrap().contains(NAME), "{method} {path}: {refused}");
    }
    assert_eq!(api.get("stats").await.of(200)["events"], 1, "nothing was done");
}

#[tokio::test]
async fn a_name_that_a_body_does_not_know_is_refused_on_every_route_and_at_every_depth() {
    let api = Api::new();
    api.post("events", json!({"content": "The lift is loud"})).await.of(201);
    let document = api.as_key(&api.local, "GET", "/openapi.json", Value::Null).await.of(200);
    let mut deep = 0;
    for RequestCase { method, path, body } in operations(&document) {
        let is_stream = document["paths"].to_string().is_empty() || path.ends_with("/import");
        if is_stream {
            continue;
        }
        let all = body.map_or_else(|| vec![json!({NAME: 1})], |schema| bodies(&document, &schema, 0));
        deep += all.len() - 1;
        for body in all {
            let refused = api.as_key(&api.local, &method, &path, body.clone()).await.of(400);
            assert!(refused["detail"].as_str().unwrap().contains(NAME), "{method} {path} {body}: {refused}");
        }
    }
    assert!(deep > 5, "{deep}");
    assert_eq!(api.get("stats").await.of(200)["events"], 1, "nothing was done");
}

#[tokio::test]
async fn a_condition_that_a_route_does_not_know_erases_and_tells_nothing() {
    let api = Api::new();
    api.post("memories", json!({"content": "Ana likes rye", "key": "rye", "user": "ana"})).await.of(201);
    for (method, path) in [
        ("DELETE", "memories/by-key/rye?owner=bo"),
        ("GET", "summaries/root?owner=bo"),
        ("GET", "export?user=bo"),
    ] {
        let refused = api.ask(method, path, Value::Null).await;
        assert!(!refused.text.contains("rye"), "{method} {path}");
        assert!(refused.of(400)["detail"].as_str().unwrap().contains('`'));
    }
    // A known parameter narrows: the memory belongs to another user.
    api.ask("DELETE", "memories/by-key/rye?user=bo", Value::Null).await.of(404);
    api.get("summaries/root?user=bo").await.of(404);
    assert_eq!(api.get("memories/by-key/rye").await.of(200)["content"], "Ana likes rye");
}
