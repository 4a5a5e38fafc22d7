//! The Model Context Protocol over HTTP, with and without a handshake.

use mnemal_server::auth::{KeyClass, Right, Secret};
use serde_json::{Value, json};

use crate::api::{Answer, Api};

async fn send(api: &Api, key: &Secret, path: &str, message: &Value) -> Answer {
    let request = Api::request("POST", path, key).header("accept", "application/json, text/event-stream");
    api.send(request, message.to_string()).await
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}

fn names(answer: Answer) -> Vec<String> {
    let answer = answer.of(200);
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_client_says_hello_lists_stores_and_recalls_without_a_session() {
    let api = Api::new();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }});
    let answer = send(&api, &api.local, "/mcp/demo", &hello).await;
    assert!(answer.headers.get("mcp-session-id").is_none());
    assert_eq!(answer.of(200)["result"]["serverInfo"]["name"], "mnemal");
    assert_eq!(names(send(&api, &api.local, "/mcp/demo", &list()).await).len(), 10);
    let stored = call("memory_store", &json!({"content": "Deploys happen on Tuesdays", "key": "deploy_day"}));
    let stored = send(&api, &api.local, "/mcp/demo", &stored).await.of(200);
    assert_eq!(stored["result"]["structuredContent"]["status"], "active");
    let found = send(&api, &api.local, "/mcp/demo", &call("memory_recall", &json!({"query": "deploys"})))
        .await
        .of(200);
    assert!(found["result"]["content"][0]["text"].as_str().unwrap().contains("Tuesdays"));
    // A record stored through one surface is visible on the other.
    assert_eq!(api.get("memories/by-key/deploy_day").await.of(200)["content"], "Deploys happen on Tuesdays");
    let metrics = api.as_key(&api.local, "GET", "/metrics", Value::Null).await.text;
    assert!(metrics.contains("mnemal_mcp_calls_total{tool=\"memory_recall\",outcome=\"ok\"} 1"), "{metrics}");
}

#[tokio::test]
async fn whoever_takes_json_or_anything_is_answered() {
    let api = Api::new();
    let ask = async |accept: Option<&str>| {
        let mut request = Api::request("POST", "/mcp/demo", &api.local);
        if let Some(accept) = accept {
            request = request.header("accept", accept);
        }
        api.send(request, list().to_string()).await
    };
    for accept in [None, Some("*/*"), Some("application/json"), Some("text/html, application/*;q=0.8")] {
        assert_eq!(names(ask(accept).await).len(), 10, "{accept:?}");
    }
    assert_eq!(ask(Some("text/html")).await.status.as_u16(), 406);
}

#[tokio::test]
async fn a_key_is_offered_what_it_may_do_in_the_spaces_that_it_knows() {
    let api = Api::new();
    api.post("memories", json!({"content": "the heron nests"})).await.of(201);
    let reader = api.key(KeyClass::Agent, &[Right::Read], &["demo"]);
    let writer = api.key(KeyClass::Agent, &[Right::Write], &["demo"]);
    let all = names(send(&api, &api.local, "/mcp/demo", &list()).await);
    let without = |hidden: &[&str]| -> Vec<String> {
        all.iter().filter(|name| !hidden.contains(&name.as_str())).cloned().collect()
    };
    let reading = names(send(&api, &reader, "/mcp/demo", &list()).await);
    assert_eq!(reading, without(&["memory_store", "memory_forget", "working_put"]));
    assert_eq!(names(send(&api, &writer, "/mcp/demo", &list()).await), without(&["memory_forget"]));
    let readonly = names(send(&api, &api.local, "/mcp/demo?profile=readonly", &list()).await);
    assert_eq!(readonly, names(send(&api, &reader, "/mcp/demo?profile=full", &list()).await));
    assert!(reading.iter().all(|name| readonly.contains(name)));
    assert_eq!(names(send(&api, &reader, "/mcp/demo?profile=classic", &list()).await).len(), 3);
    let refused = send(&api, &reader, "/mcp/demo", &call("memory_store", &json!({"content": "x"}))).await;
    assert!(refused.json()["error"].is_object(), "{refused:?}");
    assert_eq!(names(send(&api, &writer, "/mcp", &list()).await).len(), 9, "the only space of the key");
    assert_eq!(send(&api, &api.local, "/mcp", &list()).await.of(400)["code"], "space_required");
    let stranger = api.key(KeyClass::App, &[Right::Write], &["mine"]);
    let answer = send(&api, &stranger, "/mcp/demo", &call("memory_recall", &json!({"query": "heron"}))).await;
    assert!(!answer.text.contains("nests"));
    assert_eq!(answer.of(404)["code"], "not_found");
    assert_eq!(
        send(&api, &Secret::random().unwrap(), "/mcp/demo", &list()).await.of(401)["code"],
        "unauthenticated"
    );
}

#[tokio::test]
async fn days_are_those_of_the_zone_that_a_request_names() {
    let api = Api::new();
    let turn = json!({"role": "user", "content": "The heron nests behind the mill", "occurred_at": "2026-11-21T02:00:00Z"});
    api.post("messages", json!({"session": "s1", "messages": [turn]})).await.of(201);
    let asked =
        call("memory_recall", &json!({"query": "heron", "since": "2026-11-21", "until": "2026-11-22"}));
    let found = async |zone: Option<&str>| {
        let mut request = Api::request("POST", "/mcp/demo", &api.local)
            .header("accept", "application/json, text/event-stream");
        if let Some(zone) = zone {
            request = request.header("time-zone", zone);
        }
        api.send(request, asked.to_string()).await
    };
    for (zone, is_of_the_day) in
        [(None, true), (Some("Europe/Berlin"), true), (Some("America/Lima"), false), (Some("-08:00"), false)]
    {
        let answer = found(zone).await.of(200);
        let hits = answer["result"]["structuredContent"]["hits"].as_array().unwrap();
        assert_eq!(!hits.is_empty(), is_of_the_day, "{zone:?}: {answer}");
    }
    let refused = found(Some("Lima time")).await.of(400);
    assert!(refused["detail"].as_str().unwrap().contains("Time-Zone"), "{refused}");
}

// proves: RB-25, RB-27, RB-28, RB-29, NB-75
#[tokio::test]
async fn tools_of_other_memories_answer_to_their_own_names() {
    let api = Api::new();
    let path = "/mcp/demo?profile=compat";
    let ask = async |tool: &str, arguments: Value| {
        let answer = send(&api, &api.local, path, &call(tool, &arguments)).await.of(200);
        assert_ne!(answer["result"]["isError"], json!(true), "{tool}: {answer}");
        answer["result"]["structuredContent"].clone()
    };
    assert_eq!(names(send(&api, &api.local, path, &list()).await).len(), 14);
    let saved = ask(
        "save_memory",
        json!({"content": "Bins go out on Mondays", "category": "home/chores", "tags": ["bins"]}),
    )
    .await;
    assert_eq!(saved["status"], "active");
    ask("memory_store", json!({"key": "deploy_day", "content": "Deploys happen on Tuesdays"})).await;
    let found = ask("search_memory", json!({"query": "bins", "tags": ["bins"]})).await;
    assert!(found["hits"][0]["text"].as_str().unwrap().contains("Mondays"));
    let categories = ask("list_memory_categories", json!({})).await;
    let counts = [("general", 1), ("home", 1), ("home/chores", 1)];
    let counts = counts.map(|(category, count)| json!({"category": category, "count": count}));
    assert_eq!(categories["categories"], json!(counts), "a category holds what is below it");
    ask("save_to_working_memory", json!({"key": "plan", "data": "first the bins"})).await;
    assert_eq!(ask("get_from_working_memory", json!({"key": "plan"})).await["value"], "first the bins");
    assert_eq!(ask("list_working_memory", json!({})).await["entries"].as_array().unwrap().len(), 1);
    assert_eq!(
        ask("search_working_memory", json!({"query": "bins"})).await["entries"].as_array().unwrap().len(),
        1
    );
    api.post("messages", json!({"messages": [{"role": "user", "content": "my sister Anna lives in Lyon"}]}))
        .await
        .of(201);
    let known = ask("get_entity", json!({"name": "Anna"})).await;
    assert!(known["entity"]["id"].as_str().unwrap().starts_with("ent_"), "{known}");
    assert!(ask("get_relationships", json!({"from": "Anna", "to": "Lyon"})).await["paths"].is_array());
    assert!(ask("recall", json!({"topic": "bins"})).await["tokens"].as_u64().unwrap() > 0);
    ask("delete_memory", json!({"id": saved["id"]})).await;
    let left = ask("search_memory", json!({"query": "bins"})).await;
    assert!(!left.to_string().contains("Mondays"), "{left}");
}

// proves: PB-41
#[tokio::test]
async fn the_lines_of_picobots_recall_name_key_category_and_importance() {
    let api = Api::new();
    let ask = async |profile: &str, tool: &str, arguments: Value| {
        let path = format!("/mcp/demo?profile={profile}");
        let answer = send(&api, &api.local, &path, &call(tool, &arguments)).await.of(200);
        assert_ne!(answer["result"]["isError"], json!(true), "{tool}: {answer}");
        answer["result"].clone()
    };
    let note = json!({"key": "deploy_day", "content": "Deploys happen on Tuesdays", "category": "ops",
        "importance": 0.84});
    ask("compat", "memory_store", note).await;
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    let asked = json!({"query": "deploys", "category": "ops", "since": "2000-01-01", "limit": 3});
    let found = ask("compat", "memory_recall", asked.clone()).await;
    let filed = " deploy_day [ops] [importance: 0.8]: \"Deploys happen on Tuesdays\"";
    assert!(text(&found).lines().any(|line| line.starts_with("- 1 20") && line.ends_with(filed)), "{found}");
    assert_eq!(found["structuredContent"]["hits"][0]["text"], "Deploys happen on Tuesdays");
    // The receipt matches the shown lines.
    let verify = format!("recalls/{}/verify", found["structuredContent"]["recall_id"].as_str().unwrap());
    let block: String = text(&found);
    let checked = api.post(&verify, json!({"text": format!("{block}\n")})).await.of(200);
    assert_eq!(checked["findings"], json!([]), "{checked}");
    let plain = ask("core", "memory_recall", asked).await;
    assert!(
        text(&plain)
            .lines()
            .any(|line| line.ends_with(" \"Deploys happen on Tuesdays\"") && !line.contains("importance")),
        "other profiles stay as they are"
    );
    let nothing = ask("compat", "memory_recall", json!({"query": "deploys", "until": "2001-01-01"})).await;
    assert_eq!(text(&nothing), "No matching memories found.");
    assert!(text(&found).starts_with("Found 1 memory:\n"), "{found}");
    // Hits without evidence are not shown, where other profiles show the nearest.
    let far = json!({"query": "giraffes in a balloon"});
    assert_eq!(text(&ask("compat", "memory_recall", far.clone()).await), "No matching memories found.");
    assert_eq!(text(&ask("compat", "search_memory", far).await), "No matching memories found.");
    // A part of a word matches when whole words do not.
    let part = ask("compat", "memory_recall", json!({"query": "uesday"})).await;
    assert!(text(&part).contains("Deploys happen on Tuesdays"), "{part}");
    // An uncategorized note is `knowledge` for clients with two kinds.
    ask("compat", "memory_store", json!({"key": "editor", "content": "The user uses Helix"})).await;
    let found = ask("compat", "memory_recall", json!({"query": "Helix", "category": "knowledge"})).await;
    assert!(text(&found).contains(" editor [knowledge] [importance: 0.5]: \""), "{found}");
}
