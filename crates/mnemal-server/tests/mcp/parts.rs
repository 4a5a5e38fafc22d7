//! Resources, prompts and completions, with and without a handshake.

use mnemal::{Memory, Message};
use mnemal_core::NoteKey;
use mnemal_server::mcp::{Options, Profile};
use serde_json::{Value, json};

use crate::client::{Client, memory};

async fn filled() -> Memory {
    let memory = memory().await;
    for said in ["My sister Anna lives in Oslo.", "I prefer short answers."] {
        assert!(memory.log(Message::user(said)).await.is_ok());
    }
    assert!(
        memory.remember("Deploys happen on Tuesdays").key(NoteKey::new("deploy_day").unwrap()).await.is_ok()
    );
    memory
}

fn space(memory: &Memory) -> String {
    memory.admin().scope().space.to_string()
}

async fn read(client: &mut Client, uri: &str) -> Value {
    client.request("resources/read", json!({"uri": uri})).await
}

#[tokio::test]
async fn parts_of_the_memory_are_resources() {
    let memory = filled().await;
    let space = space(&memory);
    let mut old = Client::shaken(&memory, "2025-11-25").await;
    let mut new = Client::stateless(&memory, &json!({}));
    let listed = old.request("resources/list", json!({})).await["result"]["resources"].clone();
    let uris: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["summary", "preferences", "learnings"].map(|name| format!("memory://{space}/{name}")));
    let kept = new.request("resources/list", json!({})).await["result"].clone();
    assert_eq!((&kept["resources"], &kept["ttlMs"]), (&listed, &json!(60_000)));
    let templates = new.request("resources/templates/list", json!({})).await["result"].clone();
    assert_eq!(
        (templates["resourceTemplates"].as_array().unwrap().len(), &templates["ttlMs"]),
        (4, &json!(300_000))
    );
    for (part, expect) in [
        ("summary", "Oslo"),
        ("preferences", "short answers"),
        ("learnings", "short answers"),
        ("entity/Anna", "lives in Oslo"),
        ("entity/%41nna", "lives in Oslo"),
        ("memory/deploy_day", "Tuesdays"),
    ] {
        let uri = format!("memory://{space}/{part}");
        for client in [&mut old, &mut new] {
            let content = read(client, &uri).await["result"]["contents"][0].clone();
            let text = content["text"].as_str().unwrap_or_default();
            assert!(text.contains(expect) && text.starts_with("<mnemal-context"), "{part}: {content}");
            assert_eq!((&content["uri"], &content["mimeType"]), (&json!(uri), &json!("text/markdown")));
            assert!(memory.admin().engine().count_tokens(text).0 <= 4_000);
        }
    }
    for wrong in
        [format!("memory://{space}/entity/Nobody"), "memory://other/summary".to_owned(), "x".to_owned()]
    {
        assert_eq!(read(&mut old, &wrong).await["error"]["code"], -32_002, "{wrong}");
        assert_eq!(read(&mut new, &wrong).await["error"]["code"], -32_602, "{wrong}");
    }
}

#[tokio::test]
async fn an_empty_memory_has_resources_that_say_so() {
    let memory = memory().await;
    let mut client = Client::stateless(&memory, &json!({}));
    for (part, expect) in [
        ("summary", "Nothing was said yet."),
        ("preferences", "No preferences are known yet."),
        ("learnings", "No memories match."),
    ] {
        let uri = format!("memory://{}/{part}", space(&memory));
        assert_eq!(read(&mut client, &uri).await["result"]["contents"][0]["text"], expect);
    }
    let missing = read(&mut client, "memory://elsewhere/summary").await;
    assert_eq!(missing["error"]["data"]["uri"], "memory://elsewhere/summary");
}

#[tokio::test]
async fn notes_of_agents_about_the_user_are_among_his_preferences_as_theirs() {
    let memory = memory().await;
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    for note in [
        json!({"content": "User prefers aisle seats"}),
        json!({"content": "Der Nutzer trinkt Tee statt Kaffee"}),
        json!({"content": "Metric units everywhere", "kind": "preference"}),
        json!({"content": "Deploys happen on Tuesdays"}),
    ] {
        assert!(!client.call("memory_store", note).await.is_error);
    }
    let uri = format!("memory://{}/preferences", space(&memory));
    let told = read(&mut client, &uri).await["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(told.starts_with("<mnemal-context"), "{told}");
    for note in ["User prefers aisle seats", "Der Nutzer trinkt Tee statt Kaffee", "Metric units everywhere"]
    {
        assert!(told.lines().any(|line| line.contains(note) && line.contains("agent")), "{note}: {told}");
    }
    assert!(!told.contains("Tuesdays"), "{told}");
    assert!(memory.log(Message::user("I prefer short answers.")).await.is_ok());
    let told = read(&mut client, &uri).await["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    let (own, noted) = (told.find("short answers").unwrap(), told.find("aisle seats").unwrap());
    assert!(own < noted, "what the user said stands first: {told}");
}

#[tokio::test]
async fn prompts_bring_what_the_memory_knows() {
    let memory = filled().await;
    let mut client = Client::stateless(&memory, &json!({}));
    let listed = client.request("prompts/list", json!({})).await["result"].clone();
    let names: Vec<&str> =
        listed["prompts"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["load_context", "continue_session", "review_memory", "save_session"]);
    assert_eq!(listed["ttlMs"], 300_000);
    for (name, arguments, expect) in [
        ("load_context", json!({"topic": "deploys"}), "Tuesdays"),
        ("continue_session", json!({}), "short answers"),
        ("review_memory", json!({"days": "3"}), "Tuesdays"),
        ("save_session", json!({}), "memory_store"),
    ] {
        let got = client.request("prompts/get", json!({"name": name, "arguments": arguments})).await;
        let message = &got["result"]["messages"][0];
        assert_eq!(message["role"], "user", "{got}");
        assert!(message["content"]["text"].as_str().unwrap().contains(expect), "{got}");
    }
    for wrong in [
        json!({"name": "load_context", "arguments": {}}),
        json!({"name": "review_memory", "arguments": {"days": "many"}}),
        json!({"name": "unheard_of"}),
    ] {
        assert_eq!(client.request("prompts/get", wrong.clone()).await["error"]["code"], -32_602, "{wrong}");
    }
}

#[tokio::test]
async fn names_and_keys_are_completed() {
    let memory = filled().await;
    let space = space(&memory);
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let mut complete = async |reference: Value, name: &str, begun: &str| {
        let asked = json!({"ref": reference, "argument": {"name": name, "value": begun}});
        client.request("completion/complete", asked).await["result"]["completion"]["values"].clone()
    };
    let template =
        |part: &str| json!({"type": "ref/resource", "uri": format!("memory://{space}/{part}/{{id}}")});
    assert_eq!(complete(template("entity"), "id", "an").await, json!(["Anna"]));
    assert_eq!(complete(template("memory"), "id", "dep").await, json!(["deploy_day"]));
    assert_eq!(complete(template("unheard"), "id", "").await, json!([]));
    let prompt = json!({"type": "ref/prompt", "name": "load_context"});
    assert_eq!(complete(prompt, "topic", "Os").await, json!(["Oslo"]));
}

#[tokio::test]
async fn the_classic_profile_has_the_one_resource_of_the_official_server_and_no_prompts() {
    let memory = memory().await;
    let mut client = Client::silent(&memory, Options::default().with_profile(Profile::Classic));
    let hello = client.shake("2025-11-25").await;
    assert!(hello["capabilities"]["prompts"].is_null());
    let entity = json!({"name": "Anna", "entityType": "person", "observations": ["likes tea"]});
    client.call("create_entities", json!({"entities": [entity]})).await;
    let listed = client.request("resources/list", json!({})).await["result"]["resources"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let content =
        read(&mut client, listed[0]["uri"].as_str().unwrap()).await["result"]["contents"][0].clone();
    assert_eq!(content["mimeType"], "application/json");
    let graph: Value = serde_json::from_str(content["text"].as_str().unwrap()).unwrap();
    assert_eq!(graph, json!({"entities": [entity], "relations": []}));
    let reader = Options::default().with_profile(Profile::Readonly);
    let mut reader = Client::silent(&memory, reader);
    reader.shake("2025-11-25").await;
    let prompts = reader.request("prompts/list", json!({})).await["result"]["prompts"].clone();
    assert_eq!(prompts.as_array().unwrap().len(), 3, "nothing that stores");
}
