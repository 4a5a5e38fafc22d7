//! Connection start and end, and protocol errors: the server stays up, answers what it can, and exits when it should.

use std::sync::Arc;
use std::time::Duration;

use mnemal::{Engine, Memory};
use mnemal_core::{EventStore, Scope, Slot, SpaceId};
use mnemal_server::mcp::Options;
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{Fault, Faulty};
use serde_json::json;
use tokio::time::Instant;

use crate::client::{Client, HANDSHAKES, memory};

/// A memory whose log never answers, so that storing never completes.
fn hanging() -> Memory {
    let stores = Stores::from(MemoryStore::new());
    let Slot::Filled(events) = stores.events.clone() else { unreachable!() };
    let broken: Arc<dyn EventStore> = Arc::new(Faulty::new(events, Fault::Hanging));
    let engine = Engine::builder().with_stores(Stores { events: broken.into(), ..stores }).build().unwrap();
    engine.memory(Scope::whole(SpaceId::new("hanging").unwrap()))
}

// A pitfall of the library: anything but a request before the handshake ends the connection.
#[tokio::test]
async fn what_comes_too_early_or_is_no_message_is_passed_over() {
    let memory = memory().await;
    let mut client = Client::silent(&memory, Options::default());
    for line in [
        "",
        "garbage",
        "{\"jsonrpc\":\"2.0\"",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        "\u{feff}",
    ] {
        client.line(line).await;
    }
    assert_eq!(client.shake("2025-11-25").await["serverInfo"]["name"], "mnemal");
    client.line("[1,").await;
    client.line(r#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#).await;
    assert!(!client.call("memory_recall", json!({"query": "x"})).await.is_error);
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_malformed_call_is_an_error_of_the_protocol_and_the_server_stays() {
    let memory = memory().await;
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let unknown = client.request("tools/call", json!({"name": "memory_stroe", "arguments": {}})).await;
    assert_eq!(unknown["error"]["code"], -32_602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("memory_store"), "{unknown}");
    for params in [json!({"name": "memory_recall", "arguments": "x"}), json!({}), json!([1])] {
        let request = json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params});
        client.line(&request.to_string()).await;
        let refused = client.next().await.unwrap();
        assert!(refused["error"].is_object(), "{refused}");
    }
    assert_eq!(client.request("no/such/method", json!({})).await["error"]["code"], -32_601);
    assert!(!client.call("memory_context", json!({})).await.is_error);
}

#[tokio::test]
async fn a_stateless_client_needs_no_handshake_and_no_order() {
    let memory = memory().await;
    let mut client = Client::stateless(&memory, &json!({}));
    let stored = client.raw("memory_store", json!({"content": "We deploy on Tuesdays"})).await;
    assert_eq!(stored["resultType"], "complete");
    let found = client.call("memory_recall", json!({"query": "deploy"})).await;
    assert!(found.text.contains("We deploy on Tuesdays"));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_stops_and_is_not_answered() {
    let mut client = Client::shaken(&hanging(), "2025-11-25").await;
    let call = json!({"name": "memory_store", "arguments": {"content": "x"}});
    let id = client.send("tools/call", call).await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.line(&cancelled.to_string()).await;
    assert!(client.request("tools/list", json!({})).await["result"].is_object());
    // No wait is needed when the input ends: the work is done.
    let ended = Instant::now();
    client.end().await.unwrap();
    assert!(ended.elapsed() < Duration::from_millis(100), "{:?}", ended.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_call_may_take_long_behind_the_end_of_the_input_and_is_answered() {
    for version in HANDSHAKES {
        let mut client = Client::shaken(&hanging(), version).await;
        let call = json!({"name": "memory_store", "arguments": {"content": "x"}});
        let id = client.send("tools/call", call).await;
        let ended = Instant::now();
        client.close().await;
        let answer = client.next().await.unwrap();
        assert_eq!((&answer["id"], &answer["error"]["message"]), (&json!(id), &json!("the input has ended")));
        let took = ended.elapsed();
        assert!(took >= Duration::from_secs(30) && took < Duration::from_secs(31), "{took:?}");
        client.end().await.unwrap();
        assert!(ended.elapsed() < Duration::from_secs(32), "{:?}", ended.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_ends_within_a_second_of_its_input_when_nothing_runs() {
    for client in
        [Client::silent(&hanging(), Options::default()), Client::shaken(&hanging(), "2025-11-25").await]
    {
        let ended = Instant::now();
        client.end().await.unwrap();
        assert!(ended.elapsed() < Duration::from_secs(1), "{:?}", ended.elapsed());
    }
}

#[tokio::test]
async fn calls_run_side_by_side_and_each_is_answered_once() {
    let memory = memory().await;
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let mut waiting = Vec::new();
    for number in 0..50 {
        let arguments = json!({"content": format!("fact number {number}"), "key": format!("fact_{number}")});
        waiting
            .push(client.send("tools/call", json!({"name": "memory_store", "arguments": arguments})).await);
    }
    let mut answered = Vec::new();
    for _ in 0..50 {
        let answer = client.next().await.unwrap();
        assert!(answer["result"]["isError"] != true, "{answer}");
        answered.push(answer["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, waiting);
    assert_eq!(memory.admin().stats().await.unwrap().notes, 50);
}
