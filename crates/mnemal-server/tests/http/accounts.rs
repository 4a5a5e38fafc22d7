//! Why something is known or not shown, how belief changed, and whether accounts hold, over HTTP.

use serde_json::{Value, json};

use crate::api::Api;

// proves: NX-01.7
#[tokio::test]
async fn a_record_leads_to_its_words_and_to_what_a_context_made_of_it() {
    let api = Api::new();
    let said = json!({"content": "The heron of the pond nests in the old willow.", "session": "pond"});
    let stored = api.post("events", json!({"events": [said]})).await.of(201);
    let listed = api.get("events?limit=1").await.of(200);
    let event = listed["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{stored} {listed}")).to_owned();
    let asked = json!({"query": "Where does the heron nest?", "session": "reader"});
    let context = api.post("context", asked).await.of(200);
    let recall = context["recall_id"].as_str().unwrap();
    let why = api.get(&format!("why/{event}?recall={recall}")).await.of(200);
    assert_eq!((why["id"].as_str(), why["evidence"][0]["event"].as_str()), (Some(&*event), Some(&*event)));
    assert_eq!(why["evidence"][0]["text"], why["text"]);
    assert_eq!(why["line"]["id"], Value::from(event.as_str()), "{why}");
    let shown = api.get(&format!("why-not/{event}?query=Where%20does%20the%20heron%20nest%3F")).await.of(200);
    assert_eq!(shown["outcome"], "shown", "{shown}");
    api.get("why/evt_nothing").await.of(404);
    api.get("why-not/none?query=x").await.of(404);
    let check = api.post(&format!("recalls/{recall}/verify"), json!({"text": context["text"]})).await.of(200);
    assert_eq!((&check["holds"], &check["findings"]), (&json!(true), &json!([])), "{check}");
    let changed = context["text"].as_str().unwrap().replace("willow", "poplar");
    let check = api.post(&format!("recalls/{recall}/verify"), json!({"text": changed})).await.of(200);
    assert_eq!(check["holds"], false, "{check}");
    api.post("recalls/rcl_0/verify", json!({})).await.of(404);
}

// proves: NX-02.6
#[tokio::test]
async fn belief_is_compared_between_two_moments() {
    let api = Api::new();
    api.post("memories", json!({"content": "The ferry leaves at seven.", "key": "ferry"})).await.of(201);
    let changes = api.get("diff?from=2020-01-01").await.of(200);
    let one = &changes["changes"][0];
    assert_eq!((&one["kind"], &one["change"]), (&json!("memory"), &json!("believed")), "{changes}");
    assert_eq!(one["evidence"][0]["text"], "The ferry leaves at seven.");
    api.get("diff?from=whenever").await.of(400);
    api.get("diff?from=2020-01-02&to=2020-01-01").await.of(400);
}

#[tokio::test]
async fn a_receipt_that_was_changed_has_no_signature() {
    let api = Api::new();
    let wrong = json!({"receipt": "mnemal erasure receipt\nsignature: 00"});
    let answer = api.as_key(&api.local, "POST", "/v1/receipts/verify", wrong).await;
    assert!(answer.status == 400 || answer.status == 422 || answer.status == 500, "{}", answer.status);
}
