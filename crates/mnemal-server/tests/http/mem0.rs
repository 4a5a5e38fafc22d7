//! A program that was written for mem0's open server.

use mnemal_server::auth::{Class, Right, Secret};
use mnemal_server::{AuthMode, ServerSettings};
use serde_json::{Value, json};

use crate::api::{Answer, Api};

/// Asks as such a program does: with its key in a header of its own.
async fn ask(api: &Api, key: &Secret, method: &str, path: &str, body: Value) -> Answer {
    let mut request = Api::request(method, path, key);
    request.headers_mut().unwrap().remove("authorization");
    let body = if body.is_null() { String::new() } else { body.to_string() };
    api.send(request.header("x-api-key", key.expose()), body).await
}

// proves: AD-74
#[tokio::test]
async fn memories_are_added_listed_found_changed_and_deleted_under_the_names_of_mem0() {
    let api = Api::new();
    let key = api.key(Class::App, &[Right::Read, Right::Write, Right::Erase], &["assistant"]);
    let ask = async |method: &str, path: &str, body: Value| ask(&api, &key, method, path, body).await;
    let turns = json!([
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": "I am vegetarian and allergic to nuts"},
        {"role": "assistant", "content": "I will remember that."},
    ]);
    let new = json!({"messages": turns, "user_id": "ana", "agent_id": "cook", "run_id": "r1", "infer": false,
        "metadata": {"source": "chat", "rank": 3}});
    let added = ask("POST", "/memories", new).await.of(200)["results"].clone();
    let texts: Vec<&Value> = added.as_array().unwrap().iter().map(|one| &one["memory"]).collect();
    assert_eq!(texts, [&json!("I am vegetarian and allergic to nuts"), &json!("I will remember that.")]);
    assert_eq!(added[0]["event"], "ADD");
    let id = added[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 36, "the form of a UUID: {id}");
    ask("POST", "/memories", json!({"messages": "Bo likes walnuts", "user_id": "bo"})).await.of(200);
    assert_eq!(ask("POST", "/memories", json!({"messages": []})).await.of(400)["code"], "invalid_request");

    let row = ask("GET", &format!("/memories/{id}"), Value::Null).await.of(200);
    assert_eq!(
        [&row["memory"], &row["user_id"], &row["agent_id"], &row["run_id"], &row["metadata"]["source"]],
        [texts[0], &json!("ana"), &json!("cook"), &json!("r1"), &json!("chat")]
    );
    assert_eq!((&row["metadata"]["rank"], &row["updated_at"]), (&json!("3"), &Value::Null));
    let count = async |query: &str| {
        let page = ask("GET", &format!("/memories?{query}"), Value::Null).await.of(200);
        page["results"].as_array().unwrap().len()
    };
    assert_eq!((count("user_id=ana").await, count("agent_id=cook&run_id=r1").await), (2, 2));
    assert_eq!((count("user_id=bo").await, count("user_id=bo&run_id=r1").await), (1, 0));
    assert_eq!(count("user_id=ana&limit=1").await, 1);
    ask("GET", "/memories", Value::Null).await.of(400);

    for question in [
        json!({"query": "who is allergic to nuts?", "user_id": "ana"}),
        json!({"query": "who is allergic to nuts?", "filters": {"user_id": "ana"}}),
    ] {
        let found = ask("POST", "/search", question).await.of(200);
        assert_eq!(found["results"][0]["id"], id, "{found}");
        assert!(found["results"][0]["score"].as_f64().unwrap() > 0.0);
        assert!(!found.to_string().contains("walnuts"), "of another person");
    }

    let done = ask("PUT", &format!("/memories/{id}"), json!({"text": "I eat fish now"})).await.of(200);
    assert_eq!(done["message"], "Memory updated successfully!");
    let row = ask("GET", &format!("/memories/{id}"), Value::Null).await.of(200);
    assert_eq!(
        (&row["id"], &row["memory"], &row["user_id"]),
        (&json!(id), &json!("I eat fish now"), &json!("ana"))
    );
    assert!(row["updated_at"].is_string() && row["metadata"]["source"] == "chat", "{row}");
    let history = ask("GET", &format!("/memories/{id}/history"), Value::Null).await.of(200);
    let told: Vec<[&Value; 3]> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|change| [&change["event"], &change["old_memory"], &change["new_memory"]])
        .collect();
    let [first, second] = [json!("I am vegetarian and allergic to nuts"), json!("I eat fish now")];
    assert_eq!(told, [[&json!("ADD"), &Value::Null, &first], [&json!("UPDATE"), &first, &second]]);

    ask("DELETE", &format!("/memories/{id}"), Value::Null).await.of(200);
    assert_eq!(ask("GET", &format!("/memories/{id}"), Value::Null).await.of(404)["code"], "not_found");
    let left = api.as_key(&api.local, "GET", "/v1/spaces/assistant/export", Value::Null).await.text;
    assert!(!left.contains("vegetarian") && !left.contains("fish"), "its past goes too");
    ask("DELETE", "/memories?user_id=bo", Value::Null).await.of(200);
    assert_eq!((count("user_id=bo").await, count("user_id=ana").await), (0, 1));
    ask("DELETE", "/memories", Value::Null).await.of(400);
    ask("POST", "/reset", Value::Null).await.of(200);
    assert_eq!(count("user_id=ana").await, 0);
}

#[tokio::test]
async fn what_is_held_back_is_said_and_is_no_memory() {
    let api = Api::new();
    let key = api.key(Class::App, &[Right::Read, Right::Write], &["assistant"]);
    let ask = async |method: &str, path: &str, body: Value| ask(&api, &key, method, path, body).await;
    let most = 60; // of level agent in a conversation and an hour
    let turns: Vec<Value> = (0..=most)
        .map(|place| json!({"role": "user", "content": format!("Parcel {place} was sent to Oslo")}))
        .collect();
    let new = json!({"messages": turns, "user_id": "ana", "run_id": "r1"});
    let added = ask("POST", "/memories", new).await.of(200)["results"].clone();
    let told: Vec<&Value> = added.as_array().unwrap().iter().collect();
    assert_eq!(told.len(), most + 1);
    assert!(told[..most].iter().all(|one| one["event"] == "ADD" && one["held_back"].is_null()), "{added}");
    assert_eq!((&told[most]["event"], &told[most]["held_back"]), (&json!("NONE"), &json!("burst")));
    assert!(told[most]["id"].as_str().unwrap().starts_with("evt_"), "{added}");

    let path = format!("/memories/{}", told[0]["id"].as_str().unwrap());
    let done = ask("PUT", &path, json!({"text": "It went to Bergen"})).await.of(200);
    assert!(done["message"].as_str().unwrap().contains("held back"), "{done}");
    let row = ask("GET", &path, Value::Null).await.of(200);
    assert_eq!(row["memory"], "Parcel 0 was sent to Oslo");
    let page = ask("GET", "/memories?user_id=ana&limit=1000", Value::Null).await.of(200);
    assert_eq!(page["results"].as_array().unwrap().len(), most);
}

#[tokio::test]
async fn the_routes_of_mem0_are_there_where_they_are_switched_on_and_for_a_key_of_one_space() {
    let api = Api::new();
    let rights = [Right::Read, Right::Write, Right::Erase];
    let key = api.key(Class::App, &rights, &["one", "two"]);
    let refused = ask(&api, &key, "GET", "/memories?user_id=ana", Value::Null).await.of(400);
    assert_eq!(refused["code"], "space_required");
    assert_eq!(ask(&api, &api.local, "POST", "/reset", Value::Null).await.of(400)["code"], "space_required");
    let reader = api.key(Class::App, &[Right::Read], &["one"]);
    for (method, path) in [("POST", "/reset"), ("DELETE", "/memories?user_id=ana"), ("POST", "/memories")] {
        assert_eq!(ask(&api, &reader, method, path, Value::Null).await.of(403)["code"], "right_missing");
    }

    let off = Api::with(ServerSettings::default(), AuthMode::Auto);
    let key = off.key(Class::App, &rights, &["one"]);
    assert_eq!(
        off.as_key(&key, "GET", "/memories?user_id=ana", Value::Null).await.of(404)["code"],
        "not_found"
    );
    assert_eq!(off.as_key(&key, "POST", "/reset", Value::Null).await.of(404)["code"], "not_found");
    ask(&off, &key, "GET", "/v1/spaces", Value::Null).await.of(401);
}
