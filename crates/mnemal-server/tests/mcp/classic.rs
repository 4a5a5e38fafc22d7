//! The tools of the official memory server: the same calls have the same results.

use std::num::NonZeroUsize;

use mnemal::{Cursor, Decision, Event, EventFilter, EventKind, Message, Origin};
use mnemal_server::mcp::Profile;
use serde_json::{Value, json};

use crate::client::{Client, memory};

/// Calls a tool, whose text must be what programs read.
async fn ask(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let answer = client.call(tool, arguments).await;
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    answer.structured
}

async fn family(client: &mut Client) {
    let entities = json!([
        {"name": "Anna", "entityType": "person", "observations": ["likes tea", "has a < b on her mug"]},
        {"name": "Fjordbank", "entityType": "company", "observations": []},
        {"name": "Oslo", "entityType": "city", "observations": ["lies at a fjord"]},
    ]);
    let made = ask(client, "create_entities", json!({"entities": entities})).await;
    assert_eq!(made, json!({"entities": entities}));
    let relations = json!([
        {"from": "Anna", "to": "Fjordbank", "relationType": "works_at"},
        {"from": "Fjordbank", "to": "Oslo", "relationType": "is_in"},
    ]);
    let made = ask(client, "create_relations", json!({"relations": relations})).await;
    assert_eq!(made, json!({"relations": relations}));
}

#[tokio::test]
async fn what_is_created_is_read_searched_opened_and_deleted() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    assert_eq!(ask(&mut client, "read_graph", json!({})).await, json!({"entities": [], "relations": []}));
    family(&mut client).await;
    // What is known is not made again.
    let again = json!({"entities": [{"name": "Anna", "entityType": "robot", "observations": []}]});
    assert_eq!(ask(&mut client, "create_entities", again).await, json!({"entities": []}));
    let added = json!({"observations": [{"entityName": "Anna", "contents": ["likes tea", "plays chess"]}]});
    assert_eq!(
        ask(&mut client, "add_observations", added).await,
        json!({"results": [{"entityName": "Anna", "addedObservations": ["plays chess"]}]})
    );
    let graph = ask(&mut client, "read_graph", json!({})).await;
    assert_eq!(
        graph["entities"][0]["observations"],
        json!(["likes tea", "has a < b on her mug", "plays chess"])
    );
    assert_eq!(
        (graph["entities"].as_array().unwrap().len(), graph["relations"].as_array().unwrap().len()),
        (3, 2)
    );
    assert!(graph["truncated"].is_null());

    let found = ask(&mut client, "search_nodes", json!({"query": "FJORD"})).await;
    let names = |graph: &Value| -> Vec<String> {
        let entities = graph["entities"].as_array().unwrap();
        entities.iter().map(|entity| entity["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&found), ["Fjordbank", "Oslo"]);
    let whole = ask(&mut client, "read_graph", json!({})).await;
    assert_eq!(ask(&mut client, "search_nodes", json!({"query": ""})).await, whole, "nothing is asked for");
    let opened = ask(&mut client, "open_nodes", json!({"names": ["Anna", "Nobody"]})).await;
    assert_eq!(names(&opened), ["Anna"]);
    assert_eq!(opened["relations"].as_array().unwrap().len(), 1);

    let deleted = json!({"deletions": [{"entityName": "Anna", "observations": ["likes tea", "unsaid"]}]});
    assert_eq!(ask(&mut client, "delete_observations", deleted).await["success"], true);
    let relation = json!({"from": "Fjordbank", "to": "Oslo", "relationType": "is_in"});
    ask(&mut client, "delete_relations", json!({"relations": [relation]})).await;
    ask(&mut client, "delete_entities", json!({"entityNames": ["Fjordbank", "Nobody"]})).await;
    let graph = ask(&mut client, "read_graph", json!({})).await;
    assert_eq!(names(&graph), ["Anna", "Oslo"]);
    assert_eq!(graph["entities"][0]["observations"], json!(["has a < b on her mug", "plays chess"]));
    assert_eq!(graph["relations"], json!([]));

    // What was deleted can be said again, and stands at the end.
    let back =
        json!({"entities": [{"name": "Fjordbank", "entityType": "company", "observations": ["is old"]}]});
    assert_eq!(ask(&mut client, "create_entities", back.clone()).await, back);
    assert_eq!(names(&ask(&mut client, "read_graph", json!({})).await), ["Anna", "Oslo", "Fjordbank"]);
}

#[tokio::test]
async fn the_graph_is_memory_like_any_other() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    family(&mut client).await;
    assert!(memory.log(Message::user("What does Anna drink?")).await.is_ok());
    let mut core = Client::shaken(&memory, "2025-11-25").await;
    let recalled = core.call("memory_recall", json!({"query": "tea"})).await;
    assert!(recalled.text.contains("Anna: likes tea"), "{}", recalled.text);
    ask(&mut client, "delete_entities", json!({"entityNames": ["Anna"]})).await;
    let all =
        memory.scan(&EventFilter::all(), Cursor::START, NonZeroUsize::new(1_000).unwrap()).await.unwrap();
    let away = |event: &&Event| {
        event.kept().is_some_and(|kept| matches!(kept.kind, EventKind::Decision(Decision::Archive(_))))
    };
    let away: Vec<Origin> = all.iter().filter(away).filter_map(Event::kept).map(|kept| kept.origin).collect();
    assert!(away.len() >= 2 && away.iter().all(|origin| *origin == Origin::Assistant), "{away:?}");
    let recalled = core.call("memory_recall", json!({"query": "tea", "kinds": ["memory"]})).await;
    assert!(!recalled.text.contains("likes tea"), "{}", recalled.text);
}

#[tokio::test]
async fn nothing_is_added_to_somebody_unknown_and_the_nearest_name_is_told() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    family(&mut client).await;
    let added = json!({"observations": [
        {"entityName": "Oslo", "contents": ["is rainy"]},
        {"entityName": "Ana", "contents": ["x"]},
    ]});
    let refused = client.call("add_observations", added).await;
    assert!(refused.is_error);
    assert_eq!(refused.text, "Entity with name Ana not found. Nearest: Anna.");
    let oslo = ask(&mut client, "open_nodes", json!({"names": ["Oslo"]})).await;
    assert_eq!(oslo["entities"][0]["observations"], json!(["lies at a fjord"]), "all or nothing");
    for (tool, arguments) in [
        ("create_entities", json!({})),
        ("create_entities", json!({"entities": "Anna"})),
        ("create_entities", json!({"entities": [{"name": "", "entityType": "x", "observations": []}]})),
        ("create_relations", json!({"relations": [{"from": "Anna"}]})),
        ("open_nodes", json!({"names": [1]})),
        ("search_nodes", json!({})),
    ] {
        assert!(client.call(tool, arguments.clone()).await.is_error, "{tool} {arguments}");
    }
}

// proves: DF-87 (the graph)
#[tokio::test]
async fn a_large_graph_comes_page_by_page() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    let entities: Vec<Value> = (0..60)
        .map(|number| {
            json!({"name": format!("thing {number}"), "entityType": "thing", "observations": ["stands on the shelf"]})
        })
        .collect();
    ask(&mut client, "create_entities", json!({"entities": entities})).await;
    let relations: Vec<Value> = (1..20)
        .map(|number| json!({"from": "thing 0", "to": format!("thing {number}"), "relationType": "holds"}))
        .collect();
    ask(&mut client, "create_relations", json!({"relations": relations})).await;
    let (mut read, mut related, mut pages) = (Vec::new(), Vec::new(), 0);
    let mut asked = json!({"max_tokens": 1_000});
    loop {
        let answer = client.call("read_graph", asked.clone()).await;
        assert!(memory.engine().count_tokens(&answer.text).0 <= 1_000);
        read.extend(answer.structured["entities"].as_array().unwrap().clone());
        related.extend(answer.structured["relations"].as_array().unwrap().clone());
        pages += 1;
        let Some(cursor) = answer.structured["next_cursor"].as_str() else { break };
        assert_eq!(answer.structured["truncated"], true);
        asked["cursor"] = cursor.into();
    }
    assert!(pages > 2, "{pages}");
    assert_eq!((read, related), (entities, relations));
    let wrong = client.call("search_nodes", json!({"query": "thing", "cursor": asked["cursor"]})).await;
    assert!(wrong.is_error && wrong.text.contains("cursor was not given for this list"), "{}", wrong.text);
}
