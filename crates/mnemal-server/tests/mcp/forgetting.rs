//! `memory_forget`: two steps, and one step for an agent's own notes under the names of other memory servers' tools.

use mnemal::Memory;
use mnemal_server::mcp::Profile;
use serde_json::{Value, json};

use crate::client::{Client, memory};

async fn filled(client: &mut Client) -> Vec<String> {
    let mut ids = Vec::new();
    for (key, content) in [
        ("deploy_day", "Deploys happen on Tuesdays"),
        ("deploy_day", "Deploys happen on Mondays"),
        ("editor", "The user uses Helix"),
    ] {
        let stored = client.call("memory_store", json!({"key": key, "content": content})).await;
        ids.push(stored.structured["id"].as_str().unwrap().to_owned());
    }
    ids
}

async fn notes(memory: &Memory) -> usize {
    memory.preferences().notes(&mnemal_core::LearningFilter::all()).await.unwrap().len()
}

// proves: PB-42
#[tokio::test]
async fn the_first_call_previews_and_the_second_erases() {
    let memory = memory().await;
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    filled(&mut client).await;
    let preview = client.call("memory_forget", json!({"key": "deploy_day", "dry_run": false})).await;
    assert_eq!(preview.structured["status"], "preview");
    assert_eq!(preview.structured["events"], 2);
    let token = preview.structured["confirm_token"].as_str().unwrap();
    assert!(
        preview.text.contains(token) && preview.text.contains("Nothing is erased yet"),
        "{}",
        preview.text
    );
    assert_eq!(notes(&memory).await, 2);
    // Any server of the installation accepts the token: there is no state between the calls.
    let mut other = Client::shaken(&memory, "2024-11-05").await;
    let erased = other.call("memory_forget", json!({"key": "deploy_day", "confirm_token": token})).await;
    assert!(erased.structured["status"].as_str().unwrap().starts_with("erased"), "{}", erased.text);
    assert_eq!(erased.structured["verified"], true);
    assert_eq!(notes(&memory).await, 1);
    let found = client.call("memory_recall", json!({"query": "deploys"})).await;
    assert!(!found.text.contains("Tuesdays") && !found.text.contains("Mondays"), "{}", found.text);
}

#[tokio::test]
async fn a_token_is_good_for_its_own_call_only() {
    let memory = memory().await;
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let ids = filled(&mut client).await;
    let preview = client.call("memory_forget", json!({"key": "editor"})).await;
    let token = preview.structured["confirm_token"].clone();
    for other in [
        json!({"key": "deploy_day", "confirm_token": token}),
        json!({"id": ids[2], "confirm_token": token}),
        json!({"key": "editor", "confirm_token": "1-2"}),
        json!({"key": "editor", "confirm_token": format!("{}0", token.as_str().unwrap())}),
    ] {
        let refused = client.call("memory_forget", other).await;
        assert!(
            refused.is_error && refused.text.contains("confirm_token does not belong"),
            "{}",
            refused.text
        );
    }
    // The affected records have changed since the preview.
    assert!(!client.call("memory_store", json!({"key": "editor", "content": "Uses Emacs"})).await.is_error);
    let refused = client.call("memory_forget", json!({"key": "editor", "confirm_token": token})).await;
    assert!(refused.is_error, "{}", refused.text);
    assert_eq!(notes(&memory).await, 2);
    let looked =
        client.call("memory_forget", json!({"key": "editor", "dry_run": true, "confirm_token": "x"})).await;
    assert_eq!(looked.structured["status"], "preview");
}

// proves: PB-43
#[tokio::test]
async fn an_unknown_name_is_no_success_and_the_nearest_are_named() {
    let memory = memory().await;
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    filled(&mut client).await;
    let missed = client.call("memory_forget", json!({"key": "deploy_dya"})).await;
    assert!(missed.is_error);
    assert_eq!(
        missed.text,
        "No memory with key 'deploy_dya'. Nearest: 'deploy_day'. Use memory_recall to search."
    );
    for (arguments, part) in [
        (json!({"id": "mem_00000000000000000000000000"}), "No memory with id 'mem_"),
        (json!({"id": "evt_00000000000000000000000000"}), "No memory with id 'evt_"),
        (json!({"ids": ["mem_x"]}), "No memory with key 'mem_x'"),
        (json!({"ids": ["mem_x", "y"]}), "ids must be ids of memory_recall"),
        (json!({"entity": "Eve"}), "known by 'Eve'"),
        (json!({"key": "a", "id": "b"}), "exactly one"),
        (json!({"ids": vec!["evt_00000000000000000000000000"; 21]}), "At most 20 ids"),
    ] {
        let refused = client.call("memory_forget", arguments.clone()).await;
        assert!(refused.is_error && refused.text.contains(part), "{arguments}: {}", refused.text);
    }
}

#[tokio::test]
async fn ids_of_hits_are_taken_and_an_older_version_is_announced() {
    let memory = memory().await;
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let ids = filled(&mut client).await;
    let preview = client.call("memory_forget", json!({"ids": [ids[1], ids[2]]})).await;
    assert_eq!(preview.structured["events"], 2, "{}", preview.text);
    assert!(preview.text.contains("An older version of 'deploy_day' holds then"), "{}", preview.text);
    let token = preview.structured["confirm_token"].clone();
    let erased = client.call("memory_forget", json!({"ids": [ids[1], ids[2]], "confirm_token": token})).await;
    assert!(!erased.is_error, "{}", erased.text);
    let found = client.call("memory_recall", json!({"query": "deploys"})).await;
    assert!(found.text.contains("Tuesdays") && !found.text.contains("Mondays"), "{}", found.text);
}

// A pitfall of the library: a question to an older client would be an error.
#[tokio::test]
async fn a_person_is_asked_only_where_the_client_said_that_it_can() {
    let memory = memory().await;
    let mut plain = Client::stateless(&memory, &json!({}));
    filled(&mut plain).await;
    let preview = plain.raw("memory_forget", json!({"key": "editor"})).await;
    assert_eq!(preview["resultType"], "complete");
    let mut asking = Client::stateless(&memory, &json!({"elicitation": {"form": {}}}));
    let looked = asking.raw("memory_forget", json!({"key": "editor", "dry_run": true})).await;
    assert_eq!(looked["resultType"], "complete");
    let asked = asking.raw("memory_forget", json!({"key": "editor"})).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let form = &asked["inputRequests"]["confirm"];
    assert_eq!(form["method"], "elicitation/create");
    let message = form["params"]["message"].as_str().unwrap();
    assert!(message.contains("every version of 'editor'"), "{message}");
    let state = &asked["requestState"];
    let answer = |state: &Value, response: Value| {
        json!({
            "name": "memory_forget", "arguments": {"key": "editor"}, "requestState": state,
            "inputResponses": {"confirm": response},
        })
    };
    for no in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept", "content": {"erase": false}}),
        json!({"action": "accept"}),
    ] {
        let said = asking.request("tools/call", answer(state, no)).await["result"].clone();
        assert_eq!(said["structuredContent"]["status"], "preview", "{said}");
    }
    let yes = json!({"action": "accept", "content": {"erase": true}});
    let forged = asking.request("tools/call", answer(&json!("1-00"), yes.clone())).await["result"].clone();
    assert_eq!(forged["isError"], true, "{forged}");
    assert_eq!(notes(&memory).await, 2);
    let erased = asking.request("tools/call", answer(state, yes)).await["result"].clone();
    assert!(erased["structuredContent"]["status"].as_str().unwrap().starts_with("erased"), "{erased}");
    assert_eq!(notes(&memory).await, 1);
}

// proves: PB-42 (in the profile of the design's names)
#[tokio::test]
async fn where_other_memories_are_spoken_an_agent_deletes_its_own_note_in_one_step() {
    let memory = memory().await;
    let mut client = Client::of_profile(&memory, Profile::Compat).await;
    let ids = filled(&mut client).await;
    let looked = client.call("memory_forget", json!({"key": "editor", "dry_run": true})).await;
    assert_eq!((looked.structured["status"].as_str(), notes(&memory).await), (Some("preview"), 2));
    let gone = client.call("memory_forget", json!({"key": "editor"})).await;
    assert!(!gone.is_error && gone.text.starts_with("Memory deleted: editor"), "{}", gone.text);
    let gone = client.call("delete_memory", json!({"id": ids[1]})).await;
    assert!(gone.text.starts_with(&format!("Memory deleted: {}", ids[1])), "{}", gone.text);
    assert_eq!(notes(&memory).await, 1);
    let missed = client.call("memory_forget", json!({"key": "editor"})).await;
    assert!(missed.is_error && missed.text.contains("No memory with key 'editor'"), "{}", missed.text);
    // An entity, and several records at once, need a preview first.
    for many in [json!({"ids": [ids[0]]}), json!({"key": "deploy_day", "confirm_token": "1-2"})] {
        let held = client.call("memory_forget", many.clone()).await;
        assert!(!held.text.contains("deleted") && notes(&memory).await == 1, "{many}: {}", held.text);
    }
}

#[tokio::test]
async fn the_words_of_the_user_take_two_steps_under_every_name() {
    let memory = memory().await;
    let key = mnemal_core::NoteKey::new("door").unwrap();
    assert!(memory.remember("The door code is 4711").by_user().key(key).await.unwrap().created);
    let turn = memory.log(mnemal::Message::user("I was born in Oulu")).await.unwrap().id.to_string();
    let mut client = Client::of_profile(&memory, Profile::Compat).await;
    for (tool, one) in [("memory_forget", json!({"key": "door"})), ("delete_memory", json!({"id": turn}))] {
        let asked = client.call(tool, one.clone()).await;
        assert_eq!(asked.structured["status"], "preview", "{}", asked.text);
        let token = asked.structured["confirm_token"].clone();
        let mut sure = one;
        sure["confirm_token"] = token;
        let gone = client.call(tool, sure).await;
        assert!(gone.structured["status"].as_str().unwrap().starts_with("erased"), "{}", gone.text);
    }
}
