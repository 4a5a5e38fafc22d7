//! The additional tools of the full profile, and the two of ChatGPT.

use mnemal::{Memory, Message};
use mnemal_core::SessionId;
use mnemal_server::mcp::Profile;
use serde_json::{Value, json};

use crate::client::{Answer, Client, memory};

async fn full(memory: &Memory) -> Client {
    Client::of_profile(memory, Profile::Full).await
}

async fn ask(client: &mut Client, tool: &str, arguments: Value) -> Answer {
    let answer = client.call(tool, arguments.clone()).await;
    assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
    answer
}

#[tokio::test]
async fn a_note_is_read_listed_changed_put_away_and_taken_out() {
    let memory = memory().await;
    let mut client = full(&memory).await;
    for (key, content) in [("deploy_day", "Deploys happen on Tuesdays"), ("colour", "The logo is green")] {
        ask(&mut client, "memory_store", json!({"key": key, "content": content, "tags": [key]})).await;
    }
    let read = ask(&mut client, "memory_get", json!({"key": "deploy_day"})).await;
    let note = &read.structured["memories"][0];
    assert!(
        read.text.starts_with("<mnemal-context nonce=") && read.text.contains("Tuesdays"),
        "{}",
        read.text
    );
    assert_eq!(
        (&note["key"], &note["version"], &note["status"]),
        (&json!("deploy_day"), &json!(1), &json!("active"))
    );
    let by_id = ask(&mut client, "memory_get", json!({"id": note["id"]})).await;
    assert_eq!(by_id.structured, read.structured);

    let updated = ask(
        &mut client,
        "memory_update",
        json!({"key": "deploy_day", "content": "Deploys happen on Mondays"}),
    )
    .await;
    assert_eq!(
        (&updated.structured["version"], &updated.structured["status"]),
        (&json!(2), &json!("active"))
    );
    let history = ask(&mut client, "memory_history", json!({"key": "deploy_day"})).await;
    let texts: Vec<&str> = history.structured["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["text"].as_str().unwrap())
        .collect();
    assert!(texts[0].contains("Mondays") && texts[1].contains("Tuesdays") && texts.len() == 2, "{texts:?}");
    assert_eq!(history.structured["versions"][0]["tags"], json!(["deploy_day"]), "what is not named stays");

    let listed = ask(&mut client, "memory_list", json!({"tags": ["colour"]})).await;
    assert_eq!(listed.structured["memories"].as_array().unwrap().len(), 1);
    ask(&mut client, "memory_update", json!({"key": "colour", "status": "archived"})).await;
    let hidden = ask(&mut client, "memory_list", json!({"tags": ["colour"]})).await;
    assert_eq!(hidden.text, "No memories match.");
    ask(&mut client, "memory_update", json!({"key": "colour", "status": "active"})).await;
    assert_eq!(
        ask(&mut client, "memory_list", json!({})).await.structured["memories"].as_array().unwrap().len(),
        2
    );
    let near = client.call("memory_get", json!({"key": "deploy_dya"})).await;
    assert!(near.is_error && near.text.contains("Nearest: 'deploy_day'"), "{}", near.text);
    assert!(client.call("memory_update", json!({"key": "colour"})).await.is_error);
    let both = json!({"key": "colour", "status": "archived", "content": "x"});
    assert!(client.call("memory_update", both).await.is_error);
}

#[tokio::test]
async fn the_words_of_the_user_are_not_changed_by_a_tool() {
    let memory = memory().await;
    assert!(memory.log(Message::user("I prefer short answers.")).await.is_ok());
    let mut client = full(&memory).await;
    let learnt = ask(&mut client, "memory_learnings", json!({})).await;
    let first = learnt.structured["memories"][0].clone();
    assert_eq!((&first["kind"], &first["origin"]), (&json!("preference"), &json!("user")), "{}", learnt.text);
    for change in [json!({"status": "archived"}), json!({"content": "The user prefers long answers"})] {
        let mut arguments = change;
        arguments["id"] = first["id"].clone();
        let refused = client.call("memory_update", arguments).await;
        assert!(refused.is_error && refused.text.contains("the user's own words"), "{}", refused.text);
    }
    assert!(client.call("memory_learnings", json!({"status": "strange"})).await.is_error);
}

// proves: DF-87 (lists)
#[tokio::test]
async fn a_long_list_comes_page_by_page_under_every_ceiling() {
    let memory = memory().await;
    for number in 0..30 {
        assert!(memory.remember(format!("The shelf holds thing number {number}")).await.is_ok());
    }
    let mut client = full(&memory).await;
    for (limit, ceiling) in [(7, 2_000), (100, 400)] {
        let mut asked = json!({"limit": limit, "max_tokens": ceiling});
        let mut seen: Vec<String> = Vec::new();
        loop {
            let page = ask(&mut client, "memory_list", asked.clone()).await;
            assert!(memory.admin().engine().count_tokens(&page.text).0 <= ceiling, "{}", page.text);
            assert!(memory.admin().engine().count_tokens(&page.structured.to_string()).0 <= ceiling + 60);
            let ids = page.structured["memories"].as_array().unwrap();
            seen.extend(ids.iter().map(|one| one["id"].as_str().unwrap().to_owned()));
            let Some(cursor) = page.structured["next_cursor"].as_str() else { break };
            asked["cursor"] = cursor.into();
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 30, "{limit}");
    }
}

// proves: AD-68, BA-41 (separate tools)
#[tokio::test]
async fn what_was_said_around_an_event_or_a_time_is_shown_in_its_order() {
    let memory = memory().await;
    let said = memory.for_session(SessionId::new("one").unwrap());
    let mut ids = Vec::new();
    for number in 0..9 {
        ids.push(said.log(Message::user(format!("step {number}"))).await.unwrap().id);
    }
    assert!(memory.for_session(SessionId::new("two").unwrap()).log(Message::user("elsewhere")).await.is_ok());
    let mut client = full(&memory).await;
    let texts = |answer: &Answer| -> Vec<String> {
        let events = answer.structured["events"].as_array().unwrap();
        events
            .iter()
            .map(|event| event["text"].as_str().unwrap().rsplit("] ").next().unwrap().to_owned())
            .collect()
    };
    let asked = json!({"id": ids[4].to_string(), "before": 2, "after": 1});
    assert_eq!(
        texts(&ask(&mut client, "memory_timeline", asked).await),
        ["step 2", "step 3", "step 4", "step 5"]
    );
    let asked = json!({"time": "1h", "before": 0, "after": 50});
    assert_eq!(texts(&ask(&mut client, "memory_timeline", asked).await).len(), 10);
    assert!(client.call("memory_timeline", json!({})).await.is_error);
}

#[tokio::test]
async fn an_answer_is_explained_as_a_whole_and_item_by_item() {
    let memory = memory().await;
    let mut client = full(&memory).await;
    ask(&mut client, "memory_store", json!({"key": "deploy_day", "content": "Deploys happen on Tuesdays"}))
        .await;
    let found = ask(&mut client, "memory_recall", json!({"query": "deploys"})).await;
    let (recall, hit) = (&found.structured["recall_id"], &found.structured["hits"][0]["id"]);
    let whole = ask(&mut client, "memory_explain", json!({"recall_id": recall})).await;
    assert_eq!(&whole.structured["items"][0]["id"], hit, "{}", whole.text);
    let one = ask(&mut client, "memory_explain", json!({"recall_id": recall, "item_id": hit})).await;
    assert!(
        one.text.contains("Deploys happen on Tuesdays") && one.text.contains("It stood in"),
        "{}",
        one.text
    );
    assert!(client.call("memory_explain", json!({"recall_id": "rcl_zz"})).await.is_error);
}

// proves: AD-70, BA-12
#[tokio::test]
async fn an_agent_says_what_an_item_was_and_it_is_told_where_somebody_asks_why() {
    let memory = memory().await;
    let mut client = full(&memory).await;
    ask(&mut client, "memory_store", json!({"key": "deploy_day", "content": "Deploys happen on Tuesdays"}))
        .await;
    let found = ask(&mut client, "memory_recall", json!({"query": "deploys"})).await;
    let (recall, hit) = (&found.structured["recall_id"], &found.structured["hits"][0]["id"]);
    let judged = |verdict: &str| json!({"recall_id": recall, "item_id": hit, "verdict": verdict});
    let noted = ask(&mut client, "memory_feedback", judged("useful")).await;
    let head = memory.admin().stats().await.unwrap().head;
    let again = ask(&mut client, "memory_feedback", judged("useful")).await;
    assert_eq!(noted.structured["id"], again.structured["id"]);
    assert_eq!(memory.admin().stats().await.unwrap().head, head, "the same verdict is logged once");
    let why = ask(&mut client, "memory_explain", json!({"recall_id": recall, "item_id": hit})).await;
    assert!(why.text.contains("agent found it useful"), "{}", why.text);
    assert!(client.call("memory_feedback", judged("splendid")).await.is_error);
    let elsewhere = json!({"recall_id": recall, "item_id": noted.structured["id"], "verdict": "wrong"});
    assert!(client.call("memory_feedback", elsewhere).await.is_error, "it is no item of that answer");
}

#[tokio::test]
async fn a_text_is_read_in_once_summaries_status_and_dreams_tell_of_it() {
    let memory = memory().await;
    let mut client = full(&memory).await;
    let text = "The harbour crane was repaired in May. The crane lifts forty tonnes.";
    let read = ask(&mut client, "memory_ingest", json!({"text": text, "title": "harbour"})).await;
    assert_eq!(read.structured["stored"], 1, "{}", read.text);
    let again = ask(&mut client, "memory_ingest", json!({"text": text})).await;
    assert_eq!((&again.structured["stored"], &again.structured["duplicates"]), (&json!(0), &json!(1)));
    let found = ask(&mut client, "memory_recall", json!({"query": "harbour crane"})).await;
    assert!(found.text.contains("forty tonnes"), "{}", found.text);
    let status = ask(&mut client, "memory_status", json!({})).await;
    // The text, and its second name.
    assert_eq!((&status.structured["status"], &status.structured["events"]), (&json!("ok"), &json!(2)));
    assert!(memory.log(Message::user("The crane is to be painted red.")).await.is_ok());
    let summary = ask(&mut client, "memory_summary", json!({})).await;
    assert_eq!(summary.structured["key"], "root");
    assert!(summary.text.contains("crane"), "{}", summary.text);
    assert!(client.call("memory_summary", json!({"key": "planet:9"})).await.is_error);
    for _ in 0..2 {
        assert!(memory.remember("The crane driver is Ole").await.is_ok());
    }
    let head = memory.admin().stats().await.unwrap().head;
    let dry = ask(&mut client, "memory_dream", json!({})).await;
    assert_eq!(dry.structured["dry_run"], true, "{}", dry.text);
    assert_eq!(memory.admin().stats().await.unwrap().head, head, "a dry run writes nothing");
    let done = ask(&mut client, "memory_dream", json!({"dry_run": false})).await;
    assert_eq!(done.structured["operations"].as_array().unwrap().len(), 1, "{}", done.text);
}

#[tokio::test]
async fn what_is_searched_is_fetched_in_full_by_its_id() {
    let memory = memory().await;
    let said = memory.log(Message::user("The harbour crane lifts forty tonnes.")).await.unwrap();
    assert!(memory.remember("The crane driver is Ole").await.is_ok());
    let mut client = Client::of_profile(&memory, Profile::Chatgpt).await;
    let found = ask(&mut client, "search", json!({"query": "crane"})).await;
    assert_eq!(serde_json::from_str::<Value>(&found.text).unwrap(), found.structured);
    let results = found.structured["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{}", found.text);
    for result in results {
        let one = ask(&mut client, "fetch", json!({"id": result["id"]})).await.structured;
        assert!(one["text"].as_str().unwrap().contains("crane"), "{one}");
        assert!(!one["text"].as_str().unwrap().contains("<mnemal-context"), "{one}");
        assert_eq!((&one["url"], &one["id"]), (&result["url"], &result["id"]));
        let read = client.request("resources/read", json!({"uri": result["url"]})).await;
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("crane"), "{read}");
    }
    let event = ask(&mut client, "fetch", json!({"id": said.id.to_string()})).await.structured;
    assert_eq!(event["text"], "The harbour crane lifts forty tonnes.");
    assert_eq!(event["metadata"]["role"], "user");
    assert!(client.call("fetch", json!({"id": "mem_zz"})).await.is_error);
    let prompts = client.request("prompts/list", json!({})).await["result"]["prompts"].clone();
    assert_eq!(prompts, json!([]), "none that needs a tool which is not there");
}

#[tokio::test]
async fn a_tool_whose_answer_has_no_room_for_a_remark_refuses_names_that_it_does_not_know() {
    let memory = memory().await;
    for (profile, tool, arguments) in [
        (Profile::Chatgpt, "search", json!({"query": "crane", "users": "bo"})),
        (Profile::Classic, "search_nodes", json!({"query": "crane", "users": "bo"})),
        (Profile::Classic, "read_graph", json!({"users": "bo"})),
    ] {
        let mut client = Client::of_profile(&memory, profile).await;
        let refused = client.call(tool, arguments).await;
        assert!(refused.is_error && refused.text.contains("users"), "{tool}: {}", refused.text);
    }
}
