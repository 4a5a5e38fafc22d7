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

// proves: BA-12
#[tokio::test]
async fn a_verdict_on_a_line_of_a_context_is_a_decision_and_is_told_by_why() {
    let api = Api::new();
    let said = json!({"content": "The heron of the pond nests in the old willow.", "session": "pond"});
    api.post("events", json!({"events": [said]})).await.of(201);
    let event = api.get("events?limit=1").await.of(200)["items"][0]["id"].as_str().unwrap().to_owned();
    let asked = json!({"query": "Where does the heron nest?", "session": "reader"});
    let context = api.post("context", asked).await.of(200);
    let feedback = format!("recalls/{}/feedback", context["recall_id"].as_str().unwrap());
    let mut verdicts = Vec::new();
    for verdict in ["useful", "wrong"] {
        let given = api.post(&feedback, json!({"item_id": event, "verdict": verdict})).await.of(200);
        assert_eq!((&given["verdict"], &given["level"]), (&json!(verdict), &json!("user")), "{given}");
        verdicts.push(given["event_id"].as_str().unwrap().to_owned());
    }
    let why = api.get(&format!("why/{event}")).await.of(200);
    assert_eq!(why["feedback"].as_array().unwrap().len(), 1, "the later one holds: {why}");
    assert_eq!(why["feedback"][0]["verdict"], "wrong");
    for id in &verdicts {
        let logged = api.get(&format!("events/{id}")).await.of(200);
        assert_eq!(logged["role"], "decision", "{logged}");
    }
    api.post(&feedback, json!({"item_id": event, "verdict": "splendid"})).await.of(400);
    api.post(&feedback, json!({"item_id": verdicts[0], "verdict": "useful"})).await.of(404);
    api.post("recalls/rcl_0/feedback", json!({"item_id": event, "verdict": "useful"})).await.of(404);
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
