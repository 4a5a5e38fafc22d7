//! `working_put`, `working_get` and `working_find`: an agent's scratch memory.

use std::sync::Arc;
use std::time::Duration;

use mnemal::{Engine, Memory};
use mnemal_core::{Clock, InstallationKey, Scope, SpaceId};
use mnemal_testkit::ManualClock;
use serde_json::json;

use crate::client::Client;

fn timed() -> (Memory, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let shared = Arc::clone(&clock) as Arc<dyn Clock>;
    let engine = Engine::builder().with_clock(shared).with_key(InstallationKey::new([7; 32])).in_memory();
    (engine.unwrap().memory(Scope::whole(SpaceId::new("test").unwrap())), clock)
}

// proves: RB-47, RB-48, RB-50
#[tokio::test]
async fn what_is_put_is_read_by_its_name_or_path_until_it_expires() {
    let (memory, clock) = timed();
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let put =
        json!({"key": "plan", "data": "tests ```first", "ttl_minutes": "10", "tags": "a,b", "session": "s1"});
    let kept = client.call("working_put", put).await;
    assert_eq!(kept.structured["key"], "session/s1/plan");
    let ends = clock.now().plus_micros(600_000_000).to_string();
    assert_eq!(kept.structured["expires_at"], ends);
    let own = client.call("working_get", json!({"key": "plan", "session": "s1"})).await;
    assert!(own.text.starts_with("<mnemal-context nonce=\""), "{}", own.text);
    assert_eq!(own.structured["value"], "tests \\u0060``first");
    let other = client.call("working_get", json!({"key": "session/s1/plan", "session": "s2"})).await;
    assert_eq!(other.structured, own.structured);
    let none = client.call("working_get", json!({"key": "plan", "session": "s2"})).await;
    assert!(none.is_error && !none.text.contains("expired"), "{}", none.text);
    let foreign =
        client.call("working_put", json!({"key": "session/s1/x", "value": "y", "session": "s2"})).await;
    assert!(foreign.is_error && foreign.text.contains("the only place to write"), "{}", foreign.text);
    clock.advance(Duration::from_mins(11));
    let gone = client.call("working_get", json!({"key": "plan", "session": "s1"})).await;
    assert!(gone.is_error && gone.text.contains("expired"), "{}", gone.text);
}

// proves: RB-49, RB-42 (this surface)
#[tokio::test]
async fn entries_are_listed_and_found_without_their_values() {
    let (memory, _clock) = timed();
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    for (key, value, session) in [
        ("plan", "an unmistakable value", "s1"),
        ("notes", "nothing of it", "s1"),
        ("review-index", "outline", "subagent/review"),
    ] {
        let put = json!({"key": key, "value": value, "session": session, "category": "drafts"});
        assert!(!client.call("working_put", put).await.is_error);
    }
    let listed = client.call("working_find", json!({"session": "s1"})).await;
    assert_eq!(listed.structured["entries"].as_array().unwrap().len(), 2, "{}", listed.structured);
    assert!(!listed.text.contains("unmistakable"), "{}", listed.text);
    assert!(listed.text.contains("session/s1/plan, expires in 5m0s, drafts"), "{}", listed.text);
    let found = client.call("working_find", json!({"query": "unmistakable", "session": "s1"})).await;
    assert_eq!(found.structured["entries"][0]["key"], "session/s1/plan");
    assert_eq!(found.structured["entries"].as_array().unwrap().len(), 1);
    let others = client.call("working_find", json!({"namespace": "subagent"})).await;
    assert_eq!(others.structured["entries"][0]["key"], "subagent/review/review-index");
    let nothing = client.call("working_find", json!({"prefix": "patrol"})).await;
    assert_eq!((nothing.text.as_str(), nothing.is_error), ("Nothing stands there.", false));
}

// proves: DF-87 (these tools)
#[tokio::test]
async fn a_huge_value_and_a_long_list_stay_under_their_ceilings() {
    let (memory, _clock) = timed();
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let count = |text: &str| memory.admin().engine().count_tokens(text).0;
    let huge = "all of the report ".repeat(10_000);
    assert!(!client.call("working_put", json!({"key": "report", "value": huge})).await.is_error);
    for number in 0..40 {
        let put = json!({"key": format!("a-rather-long-name-of-an-entry-{number}"), "value": "x"});
        assert!(!client.call("working_put", put).await.is_error);
    }
    let read = client.call("working_get", json!({"key": "report"})).await;
    assert!(count(&read.text) <= 8_000 && count(&read.structured.to_string()) <= 8_000);
    assert_eq!(read.structured["truncated"], true);
    let listed = client.call("working_find", json!({"max_tokens": 300})).await;
    assert!(count(&listed.text) <= 300 && count(&listed.structured.to_string()) <= 300, "{}", listed.text);
    assert!(listed.text.contains(" more; narrow the query"), "{}", listed.text);
}
