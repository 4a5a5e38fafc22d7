//! Decisions about facts and entities over HTTP, and their undo.

use mnemal_server::auth::{KeyClass, Right};
use serde_json::{Value, json};

use crate::api::Api;

async fn told(api: &Api, path: &str) -> String {
    api.get(path).await.of(200).to_string()
}

#[tokio::test]
async fn a_fact_is_added_ended_and_both_are_taken_back() {
    let api = Api::new();
    api.post("messages", json!({"messages": [{"role": "user", "content": "I live in Oslo."}]})).await.of(201);
    let fact = json!({"subject": "user", "predicate": "likes", "object": "plum cake", "since": "2024-05-01"});
    let added = api.post("facts", fact).await.of(201);
    assert!(added["text"].as_str().unwrap().contains("likes: plum cake"), "{added}");
    let known = api.get("facts?predicate=likes").await.of(200);
    let id = known["items"][0]["id"].as_str().unwrap().to_owned();
    assert!(known["items"][0].to_string().contains("2024-05-01"), "{known}");
    let ended = api.post(&format!("facts/{id}/end"), json!({})).await.of(200);
    assert!(!told(&api, "facts?predicate=likes").await.contains("plum cake"));
    let undo = async |decision: &Value| {
        let event = decision["event_id"].as_str().unwrap();
        api.post(&format!("decisions/{event}/undo"), json!({})).await.of(200)
    };
    let taken = undo(&ended).await;
    assert!(told(&api, "facts?predicate=likes").await.contains("plum cake"));
    let logged = async |decision: &Value| {
        let id = decision["event_id"].as_str().unwrap();
        let alone = api.get(&format!("events/{id}")).await.of(200);
        let listed = api.get("events?role=decision&order=desc&limit=200").await.of(200);
        let of = listed["items"].as_array().unwrap().iter().find(|one| one["id"] == id).cloned().unwrap();
        assert_eq!(of["undone_by"], alone["undone_by"], "a list and an event say the same: {of}");
        alone
    };
    assert_eq!(logged(&ended).await["undone_by"], taken["event_id"], "it says what took it back");
    assert_eq!((logged(&added).await.get("undone_by"), logged(&taken).await.get("undone_by")), (None, None));
    undo(&added).await;
    assert!(!told(&api, "facts?predicate=likes").await.contains("plum cake"));
    let lives = api.get("facts?predicate=lives_in").await.of(200)["items"][0]["id"].clone();
    let path = format!("facts/{}/end", lives.as_str().unwrap());
    let both = api.post(&path, json!({"wrong": true, "at": "2025-01-01"})).await.of(400);
    assert!(both["detail"].as_str().unwrap().contains("at"), "{both}");
    api.post(&path, json!({"wrong": true})).await.of(200);
    assert!(!told(&api, "facts").await.contains("Oslo"));
    api.post(&path, json!({})).await.of(404);
}

#[tokio::test]
async fn entities_are_renamed_merged_parted_and_that_is_taken_back() {
    let api = Api::new();
    for text in ["My friend Ronja Berg lives in Kiruna.", "Rolf Hagen works at Nordwerft."] {
        let turn = json!({"messages": [{"role": "user", "content": text}]});
        api.post("messages", turn).await.of(201);
    }
    let renamed = api.post("entities/Ronja%20Berg/rename", json!({"name": "Ronni"})).await.of(200);
    assert!(told(&api, "entities").await.contains("Ronni"));
    let event = renamed["event_id"].as_str().unwrap();
    api.post(&format!("decisions/{event}/undo"), json!({})).await.of(200);
    assert!(!told(&api, "entities").await.contains("Ronni"));
    let merge = json!({"into": "Rolf Hagen"});
    api.post("entities/Ronja%20Berg/merge", merge.clone()).await.of(200);
    assert_eq!(api.post("entities/Ronja%20Berg/merge", merge).await.of(400)["code"], "invalid_request");
    assert!(told(&api, "entities/Rolf%20Hagen").await.contains("Kiruna"));
    let nobody = api.post("entities/Rolf%20Hagen/split", json!({"part": "Ulf"})).await.of(400);
    assert!(nobody["detail"].as_str().unwrap().contains("Ronja Berg"), "{nobody}");
    api.post("entities/Rolf%20Hagen/split", json!({"part": "Ronja Berg"})).await.of(200);
    assert!(!told(&api, "entities/Rolf%20Hagen").await.contains("Kiruna"));
}

#[tokio::test]
async fn an_agent_decides_nothing_in_the_name_of_the_user() {
    let api = Api::new();
    api.post("messages", json!({"messages": [{"role": "user", "content": "I live in Oslo."}]})).await.of(201);
    let agent = api.key(KeyClass::Agent, &[Right::Read, Right::Write], &["demo"]);
    let fact = json!({"subject": "user", "predicate": "likes", "object": "plum cake"});
    for (path, body) in [
        ("facts", fact),
        ("facts/fct_1/end", json!({})),
        ("entities/user/rename", json!({"name": "Bo"})),
        ("entities/user/merge", json!({"into": "Oslo"})),
        ("decisions/evt_1/undo", json!({})),
    ] {
        let path = format!("/v1/spaces/demo/{path}");
        assert_eq!(api.as_key(&agent, "POST", &path, body).await.of(403)["code"], "app_key_needed", "{path}");
    }
}

#[tokio::test]
async fn a_memory_that_is_posted_again_under_its_key_keeps_what_is_not_said() {
    let api = Api::new();
    let first = json!({
        "content": "Deploys happen on Tuesdays", "key": "deploys", "category": "ops", "tags": ["ci"],
        "importance": 0.9, "kind": "timeline",
    });
    api.post("memories", first).await.of(201);
    let again = api.post("memories", json!({"content": "Deploys happen on Fridays", "key": "deploys"})).await;
    assert_eq!(again.of(200)["version"], 2);
    let row = api.get("memories/by-key/deploys").await.of(200);
    assert_eq!(row["content"], "Deploys happen on Fridays");
    assert_eq!((&row["tags"], &row["category"]), (&json!(["ci"]), &json!("timeline/ops")), "{row}");
    let put = json!({"content": "Deploys happen on Mondays"});
    api.ask("PUT", "memories/by-key/deploys", put).await.of(200);
    let row = api.get("memories/by-key/deploys").await.of(200);
    assert_eq!(
        (&row["tags"], &row["category"]),
        (&json!([]), &json!("general")),
        "what is put is all of it: {row}"
    );
}
