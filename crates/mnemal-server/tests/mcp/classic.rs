//! The tools of the official memory server: the same calls give the same results.

use std::num::NonZeroUsize;

use mnemal::events::Cursor;
use mnemal::{Decision, Event, EventFilter, EventKind, Message, Origin};
use mnemal_server::mcp::{Options, Profile};
use serde_json::{Value, json};

use crate::client::{Client, memory};

/// Calls a tool whose text must equal its structured content.
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
    // An existing record is not created again.
    let again = json!({"entities": [{"name": "Anna", "entityType": "robot", "observations": []}]});
    assert_eq!(
        ask(&mut client, "create_entities", again).await,
        json!({"entities": [], "skipped": ["Anna"]})
    );
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

    // A deleted record can be created again, and comes last.
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
    let all = memory
        .events()
        .scan(&EventFilter::all(), Cursor::START, NonZeroUsize::new(1_000).unwrap())
        .await
        .unwrap();
    let away = |event: &&Event| {
        event.body().is_some_and(|kept| matches!(kept.kind, EventKind::Decision(Decision::Archive(_))))
    };
    let away: Vec<Origin> = all.iter().filter(away).filter_map(Event::body).map(|kept| kept.origin).collect();
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
        let said = format!("{}\n{}", answer.text, answer.note.as_deref().unwrap_or_default());
        assert!(memory.admin().engine().count_tokens(&said).0 <= 1_000);
        read.extend(answer.structured["entities"].as_array().unwrap().clone());
        related.extend(answer.structured["relations"].as_array().unwrap().clone());
        pages += 1;
        let fields = answer.structured.as_object().unwrap().len();
        assert_eq!(fields, 2, "a strict reader of the schema takes a page too");
        let Some(note) = answer.note else { break };
        let (said, cursor) = note.split_once("cursor ").unwrap();
        assert!(said.starts_with("This is a part"), "{note}");
        asked["cursor"] = cursor.trim_end_matches('.').into();
    }
    assert!(pages > 2, "{pages}");
    assert_eq!((read, related), (entities, relations));
    let wrong = client.call("search_nodes", json!({"query": "thing", "cursor": asked["cursor"]})).await;
    assert!(wrong.is_error && wrong.text.contains("cursor was not given for this list"), "{}", wrong.text);
}

#[tokio::test]
async fn what_was_known_before_or_is_not_there_is_named() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    family(&mut client).await;
    let thing = |name: &str| json!({"name": name, "entityType": "thing", "observations": ["is new"]});
    let one = client.call("create_entities", json!({"entities": [thing("Oslo"), thing("Mug")]})).await;
    assert_eq!(one.structured, json!({"entities": [thing("Mug")], "skipped": ["Oslo"]}));
    assert_eq!(serde_json::from_str::<Value>(&one.text).unwrap(), json!([thing("Mug")]));
    let said = "Skipped 1 entity that already exists: Oslo. Its observations were not added; \
        use add_observations for existing entities.";
    assert_eq!(one.note.as_deref(), Some(said));
    let two = json!({"entities": [thing("Pen"), thing("Pen"), thing("Mug")]});
    let two = client.call("create_entities", two).await;
    assert_eq!(two.structured, json!({"entities": [thing("Pen")], "skipped": ["Pen", "Mug"]}));
    assert!(two.note.unwrap().starts_with("Skipped 2 entities that already exist: Pen, Mug. Their "));
    let works = json!({"from": "Anna", "to": "Fjordbank", "relationType": "works_at"});
    let owns = json!({"from": "Anna", "to": "Fjordbank", "relationType": "owns"});
    let deletion = |name: &str, texts: &[&str]| json!({"entityName": name, "observations": texts});
    for (tool, arguments, said) in [
        (
            "delete_observations",
            json!({"deletions": [deletion("Anna", &["likes tea", "unsaid"])]}),
            "Deleted 1 of 2 observations.",
        ),
        (
            "delete_observations",
            json!({"deletions": [deletion("Oslo", &["lies at a fjord"]), deletion("Bo", &["a", "b"])]}),
            "Deleted 1 of 3 observations. Entities not found: Bo",
        ),
        (
            "delete_relations",
            json!({"relations": [works, owns]}),
            "Deleted 1 of 2 relations. The rest matched nothing.",
        ),
        ("delete_entities", json!({"entityNames": ["Bo"]}), "Deleted 0 of 1 entities. Not found: Bo"),
        (
            "delete_entities",
            json!({"entityNames": ["Pen", "Bo", "Cy"]}),
            "Deleted 1 of 3 entities. Not found: Bo, Cy",
        ),
        ("delete_entities", json!({"entityNames": ["Mug"]}), "Entities deleted successfully"),
    ] {
        let answer = client.call(tool, arguments).await;
        assert_eq!((answer.text.as_str(), answer.is_error), (said, false), "{tool}");
        assert_eq!(answer.structured, json!({"success": true, "message": said}), "{tool}");
    }
}

#[tokio::test]
async fn a_relation_is_between_two_that_are_there_or_none_of_its_call_is_made() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    family(&mut client).await;
    let before = ask(&mut client, "read_graph", json!({})).await;
    let likes = json!({"from": "Anna", "to": "Oslo", "relationType": "likes"});
    for (from, to) in [("Zed", "Anna"), ("Anna", "Zed")] {
        let other = json!({"from": from, "to": to, "relationType": "likes"});
        let refused = client.raw("create_relations", json!({"relations": [likes, other]})).await;
        let said = json!([{"type": "text", "text": "Entity with name Zed not found"}]);
        assert_eq!((&refused["content"], &refused["isError"]), (&said, &json!(true)));
    }
    assert_eq!(ask(&mut client, "read_graph", json!({})).await, before);
}

#[tokio::test]
async fn what_is_wrong_with_arguments_is_said_with_its_place() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    let two = json!({"entities": [{"name": "A", "entityType": 1, "observations": ["x", null]}, "B"]});
    for (tool, arguments, said) in [
        ("create_entities", json!({}), "entities: Invalid input: expected array, received undefined"),
        (
            "create_entities",
            two,
            "entities.0.entityType: Invalid input: expected string, received number, \
             entities.0.observations.1: Invalid input: expected string, received null, \
             entities.1: Invalid input: expected object, received string",
        ),
        ("search_nodes", json!({"query": 42}), "query: Invalid input: expected string, received number"),
        (
            "search_nodes",
            json!({"query": "ä".repeat(2_049)}),
            "query: Too big: expected string to have <=2048 characters",
        ),
    ] {
        let refused = client.call(tool, arguments).await;
        let said = format!("Input validation error: Invalid arguments for tool {tool}: {said}");
        assert_eq!((refused.text, refused.is_error), (said, true));
    }
    let longest = client.call("search_nodes", json!({"query": "ä".repeat(2_048)})).await;
    assert!(!longest.is_error, "{}", longest.text);
    let many = client.call("open_nodes", json!({"names": vec![1; 10_000]})).await;
    assert!(many.is_error && many.text.len() < 2_000, "{}", many.text.len());
}

#[tokio::test]
async fn a_name_that_is_no_tool_and_a_method_that_is_not_there_are_refused() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    let unknown = client.request("tools/call", json!({"name": "no_tool", "arguments": {}})).await;
    assert_eq!(unknown["error"], json!({"code": -32_602, "message": "Tool no_tool not found"}));
    let prompts = client.request("prompts/list", json!({})).await;
    assert_eq!(prompts["error"], json!({"code": -32_601, "message": "Method not found"}));
}

#[tokio::test]
async fn the_nine_are_listed_with_nothing_that_the_official_server_does_not_have() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    let tools = client.request("tools/list", json!({})).await["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        }
        assert_eq!(tool["outputSchema"]["additionalProperties"], false, "{name}");
        assert!(tool["inputSchema"]["additionalProperties"].is_null(), "{name}");
        assert!(tool["inputSchema"]["properties"]["cursor"].is_null(), "{name}");
        let adds = ["create_entities", "create_relations", "add_observations"].contains(&name);
        assert_eq!(tool["annotations"]["idempotentHint"], !adds, "{name}");
    }
    assert_eq!(tools[6]["inputSchema"]["required"], Value::Null);
    assert_eq!(tools[7]["inputSchema"]["properties"]["query"]["maxLength"], 2_048);
    let items = |schema: &str| tools[0][schema]["properties"]["entities"]["items"].clone();
    assert_eq!(items("outputSchema")["additionalProperties"], false);
    assert!(items("inputSchema")["additionalProperties"].is_null());
}

#[tokio::test]
async fn calls_in_flight_at_once_make_one_of_each_name() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    for number in 0..10 {
        let entity =
            json!({"name": "Anna", "entityType": "person", "observations": [format!("saw {number}")]});
        let arguments = json!({"entities": [entity]});
        client.send("tools/call", json!({"name": "create_entities", "arguments": arguments})).await;
    }
    let mut made = Vec::new();
    for _ in 0..10 {
        let answer = client.next().await.unwrap()["result"]["structuredContent"].clone();
        made.extend(answer["entities"].as_array().unwrap().clone());
    }
    assert_eq!(made.len(), 1);
    let graph = ask(&mut client, "read_graph", json!({})).await;
    assert_eq!(graph["entities"], json!(made));
}

#[tokio::test]
async fn who_subscribes_to_the_graph_is_told_of_each_change_until_he_takes_it_back() {
    let memory = memory().await;
    let mut client = Client::silent(&memory, Options::default().with_profile(Profile::Classic));
    let hello = client.shake("2025-11-25").await;
    assert_eq!(hello["capabilities"]["resources"]["subscribe"], true);
    let uri = json!({"uri": "memory://knowledge-graph"});
    let make = |name: &str| {
        let entity = json!({"name": name, "entityType": "person", "observations": []});
        json!({"name": "create_entities", "arguments": {"entities": [entity]}})
    };
    assert!(client.request("tools/call", make("Anna")).await["result"].is_object(), "nobody asked yet");
    let other = client.request("resources/subscribe", json!({"uri": "memory://other"})).await;
    assert_eq!(other["result"], json!({}));
    assert!(client.request("tools/call", make("Dee")).await["result"].is_object(), "of this nothing is told");
    assert_eq!(client.request("resources/subscribe", uri.clone()).await["result"], json!({}));
    client.send("tools/call", make("Ben")).await;
    let (first, second) = (client.next().await.unwrap(), client.next().await.unwrap());
    let (told, answer) = if first["id"].is_null() { (first, second) } else { (second, first) };
    assert_eq!((&told["method"], &told["params"]), (&json!("notifications/resources/updated"), &uri));
    assert!(answer["result"].is_object());
    ask(&mut client, "read_graph", json!({})).await;
    assert_eq!(client.request("resources/unsubscribe", uri).await["result"], json!({}));
    assert!(client.request("tools/call", make("Cy")).await["result"].is_object());
    let mut core = Client::silent(&memory, Options::default());
    assert!(core.shake("2025-11-25").await["capabilities"]["resources"]["subscribe"].is_null());
}

#[tokio::test]
async fn an_answer_that_went_well_has_no_word_of_errors() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    let result = client.raw("read_graph", json!({})).await;
    assert_eq!(result.get("isError"), None);
}

#[tokio::test]
async fn the_text_of_an_answer_has_its_fields_in_the_order_of_the_official_server() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Classic).await;
    let entity = json!({"name": "Anna", "entityType": "person", "observations": ["likes tea"]});
    let knows = json!({"from": "Anna", "to": "Anna", "relationType": "knows"});
    let added = json!({"entityName": "Anna", "contents": []});
    let entity_said = "{\"name\":\"Anna\",\"entityType\":\"person\",\"observations\":[\"likestea\"]}";
    let relation_said = "{\"from\":\"Anna\",\"to\":\"Anna\",\"relationType\":\"knows\"}";
    let graph = format!("{{\"entities\":[{entity_said}],\"relations\":[{relation_said}]}}");
    for (tool, arguments, said) in [
        ("create_entities", json!({"entities": [entity]}), format!("[{entity_said}]")),
        ("create_relations", json!({"relations": [knows]}), format!("[{relation_said}]")),
        (
            "add_observations",
            json!({"observations": [added]}),
            "[{\"entityName\":\"Anna\",\"addedObservations\":[]}]".to_owned(),
        ),
        ("read_graph", json!({}), graph.clone()),
        ("search_nodes", json!({"query": "tea"}), graph.clone()),
        ("open_nodes", json!({"names": ["Anna"]}), graph.clone()),
    ] {
        let answer = client.call(tool, arguments).await;
        assert_eq!(answer.text.split_whitespace().collect::<String>(), said, "{tool}");
    }
    let uri = json!({"uri": "memory://knowledge-graph"});
    let resource = client.request("resources/read", uri).await;
    let text = resource["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(text.split_whitespace().collect::<String>(), graph);
}
