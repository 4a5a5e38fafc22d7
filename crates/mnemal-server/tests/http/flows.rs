//! A client's first session: typical flows.

use mnemal_core::{Decision, FactChoice, FactDecision, Predicate, SpaceId};
use mnemal_server::auth::{KeyClass, Right};
use serde_json::{Value, json};

use crate::api::Api;

#[tokio::test]
async fn what_is_said_is_found_and_stands_in_a_context() {
    let api = Api::new();
    let said = api.post(
        "messages",
        json!({"session": "s1", "messages": [{"role": "user", "content": "I moved to Lyon"}]}),
    );
    let said = said.await.of(201);
    assert_eq!(said["event_ids"].as_array().unwrap().len(), 1);
    assert_eq!((&said["durability"], &said["duplicate"]), (&json!("disk"), &json!(false)));
    let found = api.post("recall", json!({"query": "Lyon", "explain": true})).await.of(200);
    assert_eq!(found["hits"][0]["text"], "I moved to Lyon");
    assert_eq!(found["hits"][0]["origin"], "user_direct");
    assert!(!found["hits"][0]["explain"]["arms"].as_array().unwrap().is_empty());
    let context =
        api.post("context", json!({"query": "where do I live? Lyon", "budget_tokens": 500})).await.of(200);
    assert!(context["text"].as_str().unwrap().contains("Lyon"), "{context}");
    assert!(context["tokens"].as_u64().unwrap() <= 500);
    let account = api.get(&format!("recalls/{}", context["recall_id"].as_str().unwrap())).await.of(200);
    assert_eq!(account["tokens"], context["tokens"]);
}

#[tokio::test]
async fn events_are_stored_listed_in_pages_and_erased() {
    let api = Api::new();
    let events: Vec<Value> =
        (0..5).map(|number| json!({"content": format!("turn number {number}")})).collect();
    let stored = api.post("events", json!({"events": events})).await.of(201);
    let first = api.get("events?limit=3").await.of(200);
    let texts = |page: &Value| -> Vec<String> {
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["content"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(texts(&first), ["turn number 0", "turn number 1", "turn number 2"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = api.get(&format!("events?limit=3&cursor={cursor}")).await.of(200);
    assert_eq!((texts(&rest).len(), &rest["next_cursor"]), (2, &Value::Null));
    for wrong in [
        format!("sessions?cursor={cursor}"),
        format!("events?session=x&cursor={cursor}"),
        "events?cursor=1-0".to_owned(),
    ] {
        assert_eq!(api.get(&wrong).await.of(400)["code"], "invalid_cursor", "{wrong}");
    }
    let newest = api.get("events?order=desc&limit=2").await.of(200);
    assert_eq!(texts(&newest), ["turn number 4", "turn number 3"]);
    let back = newest["next_cursor"].as_str().unwrap();
    let _late = api.post("events", json!({"content": "a late turn"})).await.of(201);
    let older = api.get(&format!("events?order=desc&limit=2&cursor={back}")).await.of(200);
    assert_eq!(texts(&older), ["turn number 2", "turn number 1"], "what comes in moves no page");
    let back = older["next_cursor"].as_str().unwrap();
    let oldest = api.get(&format!("events?order=desc&limit=2&cursor={back}")).await.of(200);
    assert_eq!((texts(&oldest), &oldest["next_cursor"]), (vec!["turn number 0".to_owned()], &Value::Null));
    for wrong in [format!("events?limit=2&cursor={back}"), format!("events?order=desc&cursor={cursor}")] {
        assert_eq!(api.get(&wrong).await.of(400)["code"], "invalid_cursor", "{wrong}");
    }
    assert_eq!(api.get("events?order=up").await.of(400)["code"], "invalid_request");
    let id = stored["events"][0]["id"].as_str().unwrap();
    assert_eq!(api.ask("DELETE", &format!("events/{id}"), Value::Null).await.of(200)["events"], 1);
    let gone = api.get(&format!("events/{id}")).await.of(200);
    assert_eq!((&gone["type"], gone.get("content")), (&json!("erased"), None));
    let batch = api
        .post("events", json!({"events": [{"content": "a"}, {"content": "b", "type": "nonsense"}]}))
        .await
        .of(400);
    assert!(batch["detail"].as_str().unwrap().starts_with("events[1]"), "{batch}");
    assert_eq!(
        api.get("stats").await.of(200)["events"],
        7,
        "six turns and the decision to forget; none of a bad batch"
    );
}

#[tokio::test]
async fn a_memory_has_versions_and_can_be_put_away_confirmed_and_forgotten() {
    use sha2::Digest as _;
    let api = Api::new();
    let memory =
        json!({"content": "Deploys happen on Tuesdays", "key": "deploy_day", "category": "project/release"});
    let stored = api.post("memories", memory).await.of(201);
    assert_eq!(
        (&stored["version"], &stored["created"], &stored["status"]),
        (&json!(1), &json!(true), &json!("active"))
    );
    let second = api
        .ask("PUT", "memories/by-key/deploy_day", json!({"content": "Deploys happen on Thursdays"}))
        .await
        .of(200);
    assert_eq!(second["version"], 2);
    let row = api.get("memories/by-key/deploy_day").await.of(200);
    assert_eq!(row["content"], "Deploys happen on Thursdays");
    let id = row["id"].as_str().unwrap();
    let history = api.get(&format!("memories/{id}/history")).await.of(200);
    assert_eq!(history["items"].as_array().unwrap().len(), 2);
    let listed = api.get("memories?q=thursdays").await.of(200);
    assert_eq!(listed["items"][0]["id"], row["id"]);
    assert_eq!(api.get("categories").await.of(200)["items"][0]["count"], 1);
    let wrong = api.post(&format!("memories/{id}/confirm"), json!({"sha256": "00"})).await.of(409);
    assert_eq!(wrong["code"], "conflict");
    let seen = sha2::Sha256::digest(b"Deploys happen on Thursdays");
    let seen = seen.iter().map(|byte| format!("{byte:02x}"));
    api.post(&format!("memories/{id}/confirm"), json!({"sha256": seen.collect::<String>()})).await.of(200);
    assert_eq!(api.get("memories/by-key/deploy_day").await.of(200)["level"], "user");
    api.post("memories/deploy_day/archive", Value::Null).await.of(404);
    let id = api.get("memories/by-key/deploy_day").await.of(200)["id"].as_str().unwrap().to_owned();
    api.post(&format!("memories/{id}/archive"), Value::Null).await.of(200);
    assert_eq!(api.get("memories").await.of(200)["items"], json!([]));
    api.post(&format!("memories/{id}/restore"), Value::Null).await.of(200);
    let near = api.get("memories/by-key/deploy_dya").await.of(404);
    assert!(near["detail"].as_str().unwrap().contains("nearest: deploy_day"), "{near}");
    let gone = api.ask("DELETE", "memories/by-key/deploy_day", Value::Null).await.of(200);
    assert!(gone["events"].as_u64().unwrap() >= 3, "{gone}");
    api.get("memories/by-key/deploy_day").await.of(404);
    assert_eq!(api.post("recall", json!({"query": "deploys"})).await.of(200)["hits"], json!([]));
}

#[tokio::test]
async fn forgetting_many_takes_a_token_that_is_good_for_what_it_previewed() {
    let api = Api::new();
    for text in ["one of this", "two of this"] {
        api.post("messages", json!({"session": "gone", "messages": [{"role": "user", "content": text}]}))
            .await
            .of(201);
    }
    let selector = json!({"session": "gone"});
    let bare = api.post("forget", json!({"selector": selector})).await.of(409);
    assert_eq!(bare["code"], "confirmation_required");
    let preview = api.post("forget", json!({"selector": selector, "dry_run": true})).await.of(200);
    assert_eq!((&preview["status"], &preview["events"]), (&json!("preview"), &json!(2)));
    let token = &preview["confirm_token"];
    api.post("messages", json!({"session": "gone", "messages": [{"role": "user", "content": "three"}]}))
        .await
        .of(201);
    let changed = api.post("forget", json!({"selector": selector, "confirm_token": token})).await.of(409);
    assert_eq!(changed["code"], "selection_changed");
    let preview = api.post("forget", json!({"selector": selector, "dry_run": true})).await.of(200);
    let done = api
        .post("forget", json!({"selector": selector, "confirm_token": preview["confirm_token"]}))
        .await
        .of(200);
    assert_eq!(done["events"], 3);
    assert_eq!(api.post("forget", json!({"selector": {}})).await.of(400)["code"], "invalid_request");
}

#[tokio::test]
async fn scratch_texts_are_kept_found_by_prefix_and_removed() {
    let api = Api::new();
    api.ask("PUT", "working/patrol/disk/full", json!({"value": "at 91 %", "ttl_secs": 60})).await.of(200);
    assert_eq!(api.get("working/patrol/disk/full").await.of(200)["value"], "at 91 %");
    let listed = api.get("working?prefix=patrol").await.of(200);
    assert_eq!(listed["items"][0]["key"], "patrol/disk/full");
    assert_eq!(listed["items"][0].get("value"), None);
    assert_eq!(api.get("working?prefix=pat").await.of(200)["items"], json!([]), "a prefix ends at a slash");
    assert_eq!(api.ask("DELETE", "working/patrol/disk/full", Value::Null).await.of(200)["removed"], 1);
    api.get("working/patrol/disk/full").await.of(404);
}

#[tokio::test]
async fn calls_of_tools_are_threaded_and_a_request_that_is_sent_again_is_done_once() {
    let api = Api::new();
    let turns = json!({"session": "s", "messages": [
        {"role": "system", "content": "not stored"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "function": {"name": "search", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "name": "search", "content": "three results"},
    ]});
    let request =
        || Api::request("POST", "/v1/spaces/demo/messages", &api.local).header("idempotency-key", "k1");
    let first = api.send(request(), turns.to_string()).await.of(201);
    let ids: Vec<&str> =
        first["event_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(api.get(&format!("events/{}", ids[1])).await.of(200)["parent_id"], ids[0]);
    let again = api.send(request(), turns.to_string()).await.of(200);
    assert_eq!((&again["event_ids"], &again["duplicate"]), (&first["event_ids"], &json!(true)));
    let other = api
        .send(request(), json!({"messages": [{"role": "user", "content": "x"}]}).to_string())
        .await
        .of(409);
    assert_eq!(other["code"], "idempotency_mismatch");
    assert_eq!(api.get("stats").await.of(200)["events"], 2);
}

#[tokio::test]
async fn counts_without_a_check_of_the_layers_are_the_same() {
    let api = Api::new();
    let said = json!({"messages": [{"role": "user", "content": "I live in Porto."}]});
    let _ack = api.post("messages", said).await;
    let (whole, soon) = (api.get("stats").await.of(200), api.get("stats?check=false").await.of(200));
    assert_eq!(
        (&soon["events"], &soon["sessions"], &soon["layers"][0]["behind"]),
        (&json!(1), &json!(1), &json!(0))
    );
    assert_eq!(whole["memories"], soon["memories"]);
    api.get("stats?check=perhaps").await.of(400);
}

// proves: CF-14 (replay)
#[tokio::test]
async fn the_last_twenty_turns_of_a_conversation_come_where_no_number_is_said() {
    let api = Api::new();
    let turn = |number: u32| json!({"role": "user", "content": format!("turn number {number}")});
    let turns: Vec<Value> = (0..25).map(turn).collect();
    api.ask("POST", "messages", json!({"session": "s", "messages": turns})).await.of(201);
    let last = api.get("sessions/s/messages").await.of(200);
    let items = last["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["content"]), (20, &json!("turn number 5")));
}

// proves: DF-69
#[tokio::test]
async fn a_call_that_is_sent_five_times_and_cut_off_in_between_has_one_effect() {
    use futures_util::FutureExt as _;
    let api = Api::new();
    let calls = 20_usize;
    for number in 0..calls {
        let (key, body) = (format!("k{number}"), json!({"content": format!("turn number {number}")}));
        let request =
            || Api::request("POST", "/v1/spaces/demo/events", &api.local).header("idempotency-key", &key);
        // Every third copy is cancelled by its client before the response.
        for copy in 0..number % 5 {
            if copy % 3 == 0 {
                // A request that was answered before may be answered at once.
                drop(api.send(request(), body.to_string()).now_or_never());
            } else {
                // While the first is in progress, a second gets a conflict.
                let answer = api.send(request(), body.to_string()).await;
                assert!([200, 201, 409].contains(&answer.status.as_u16()), "{answer:?}");
            }
        }
        loop {
            let answer = api.send(request(), body.to_string()).await;
            match answer.status.as_u16() {
                409 => tokio::task::yield_now().await,
                status => break assert!([200, 201].contains(&status), "{answer:?}"),
            }
        }
    }
    assert_eq!(api.get("stats").await.of(200)["events"], calls);
}

#[tokio::test]
async fn everything_goes_out_and_comes_in_again() {
    let api = Api::new();
    api.post("messages", json!({"messages": [{"role": "user", "content": "my sister Anna lives in Lyon"}]}))
        .await
        .of(201);
    let out = api.get("export").await;
    assert!(out.text.lines().count() >= 2, "{}", out.text);
    let request = Api::request("POST", "/v1/spaces/copy/import?format=jsonl", &api.local);
    let report = api.send(request, out.text.clone()).await.of(200);
    assert_eq!((&report["stored"], &report["skipped"]), (&json!(1), &json!(0)));
    let request = Api::request("POST", "/v1/spaces/copy/import", &api.local);
    assert_eq!(api.send(request, out.text).await.of(200)["duplicates"], 1);
    let known = api.as_key(&api.local, "GET", "/v1/spaces/copy/entities/Anna", Value::Null).await.of(200);
    assert_eq!(known["name"], "Anna");
}

// proves: NB-05, RB-72 (over HTTP)
#[tokio::test]
async fn the_graph_is_read_by_name_and_jobs_say_what_came_of_them() {
    let api = Api::new();
    let said = ["my sister Anna lives in Lyon", "Anna works at Hexagon Labs"];
    let turns: Vec<Value> = said.iter().map(|text| json!({"role": "user", "content": text})).collect();
    api.post("messages", json!({"messages": turns})).await.of(201);
    let job = api.post("extract", json!({})).await.of(202);
    let path = format!("jobs/{}", job["id"].as_str().unwrap());
    let done = loop {
        let job = api.get(&path).await.of(200);
        if job["state"] != "running" {
            break job;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!((&done["state"], &done["result"]["behind"]), (&json!("done"), &json!(0)));
    assert_eq!(api.get("jobs").await.of(200)["items"][0]["id"], job["id"]);
    let facts = api.get("facts?subject=Anna").await.of(200);
    let lines: Vec<&str> =
        facts["items"].as_array().unwrap().iter().map(|fact| fact["line"].as_str().unwrap()).collect();
    assert!(lines.iter().any(|line| line.contains("Lyon")), "{lines:?}");
    let first = facts["items"][0]["id"].as_str().unwrap();
    assert_eq!(api.get(&format!("facts/{first}")).await.of(200)["id"], first);
    let paths = api.get("relationships?from=Anna&to=Lyon").await.of(200);
    assert_eq!(paths["paths"][0]["entities"], json!(["Anna", "Lyon"]));
    let drawn = api.get("graph?center=Anna").await.of(200);
    assert!(drawn["nodes"].as_array().unwrap().len() >= 3, "{drawn}");
    let anna = api.get("entities/Anna").await.of(200);
    assert_eq!((&anna["metadata"], &anna["description"]), (&json!({}), &Value::Null), "{anna}");
    assert!(anna["created_at"].is_string() && anna["source_event_ids"][0].is_string(), "{anna}");
    let memory = api.spaces.open(&SpaceId::new("demo").unwrap()).await.unwrap();
    for (predicate, text) in [("description", "Plays the bassoon."), ("crm_id", "A-17")] {
        let object =
            mnemal_core::Value::Literal { text: text.to_owned(), key: mnemal::graph::value_key(text) };
        let choice = FactChoice::Add { valid_at: None, invalid_at: None };
        let (subject, predicate) =
            (anna["id"].as_str().unwrap().parse().unwrap(), Predicate::new(predicate).unwrap());
        let fact = FactDecision { subject, predicate, topic: None, object, choice, sources: Vec::new() };
        let _done = memory.facts().decide(Decision::Fact(fact)).await.unwrap();
    }
    let anna = api.get("entities/Anna").await.of(200);
    assert_eq!(
        (&anna["metadata"], &anna["description"]),
        (&json!({"crm_id": "A-17"}), &json!("Plays the bassoon."))
    );
    let events = api.get("entities/Anna/events").await.of(200);
    assert_eq!(events["items"].as_array().unwrap().len(), 2);
    let summary = api.get("summaries/root").await.of(200);
    assert!(summary["event_count"].as_u64().is_some());
    assert_eq!(api.get("summaries/nonsense:x").await.of(404)["code"], "not_found");
    let read =
        api.post("ingest", json!({"text": "The invoice of May is paid.", "title": "invoice"})).await.of(202);
    assert_eq!(read["kind"], "ingest");
}

// proves: GB-49, GB-54, GB-55, GA-21
// proves: GB-21, GB-51
#[tokio::test]
async fn a_knowledge_base_is_a_space() {
    let api = Api::new();
    let wrong = api.as_key(&api.local, "POST", "/v1/spaces", json!({"name": "Not A Name!"})).await.of(400);
    assert!(wrong["detail"].as_str().unwrap().contains("a-z"), "the rule is said: {wrong}");
    let kb = async |method: &str, path: &str, body: Value| {
        api.as_key(&api.local, method, &format!("/api/kb/always-on{path}"), body).await
    };
    let space = json!({"name": "notes", "always_on": true});
    api.as_key(&api.local, "POST", "/v1/spaces", space.clone()).await.of(201);
    api.as_key(&api.local, "POST", "/v1/spaces", space).await.of(200);
    let on = kb("GET", "", Value::Null).await.of(200);
    assert_eq!((&on[0]["kb_name"], &on[0]["consolidate_interval_mins"]), (&json!("notes"), &json!(30)));
    assert!(on[0]["created_at"].is_string() && on.as_array().unwrap().len() == 1, "{on}");
    kb("POST", "/ingest", json!({"kb_name": "notes", "text": "The meeting is on Friday.", "source": "mail"}))
        .await
        .of(202);
    let listed = kb("GET", "/notes/memories", Value::Null).await.of(200)["items"].clone();
    assert_eq!(
        (&listed[0]["summary"], &listed[0]["source"], &listed[0]["producer"]),
        (&json!("The meeting is on Friday."), &json!("mail"), &json!("dream/digests")),
        "a text that was read in is a memory: {listed}"
    );
    assert!(listed[0]["topics"].is_array() && listed[0]["importance"].as_f64() > Some(0.5), "{listed}");
    kb("POST", "/consolidate", json!({"kb_name": "notes"})).await.of(202);
    let stored = api.as_key(
        &api.local,
        "POST",
        "/v1/spaces/notes/memories",
        json!({"content": "Bins go out on Mondays"}),
    );
    let id = stored.await.of(201)["id"].as_str().unwrap().to_owned();
    let listed = kb("GET", "/notes/memories", Value::Null).await.of(200)["items"].clone();
    assert_eq!((&listed[0]["summary"], &listed[0]["id"]), (&json!("Bins go out on Mondays"), &json!(id)));
    assert_eq!(kb("GET", "/notes/insights", Value::Null).await.of(200)["items"], json!([]));
    assert_eq!(kb("DELETE", &format!("/notes/memory/{id}"), Value::Null).await.of(200)["events"], 1);
    assert_eq!(kb("DELETE", &format!("/notes/memory/{id}"), Value::Null).await.of(404)["code"], "not_found");
    api.as_key(&api.local, "POST", "/v1/spaces/notes/memories", json!({"content": "Water the plants"}))
        .await
        .of(201);
    assert_eq!(
        kb("POST", "/notes/clear", Value::Null).await.of(200)["events"],
        3,
        "the text that was read too, and what it says in short"
    );
    assert_eq!(kb("GET", "/notes/memories", Value::Null).await.of(200)["items"], json!([]));
    let found = api.as_key(&api.local, "POST", "/v1/spaces/notes/recall", json!({"query": "meeting"})).await;
    assert_eq!(found.of(200)["hits"], json!([]));
    let said = kb("POST", "/ingest", json!({"kb_name": "Bad Name!", "text": "x"})).await.of(400);
    assert!(said["detail"].as_str().unwrap().contains("a-z"), "the rule is said: {said}");
    kb("POST", "/ingest", json!({"kb_name": "minutes", "text": "The rent is due on Friday."})).await.of(202);
    let on = kb("GET", "", Value::Null).await.of(200);
    let names: Vec<&Value> = on.as_array().unwrap().iter().map(|kb| &kb["kb_name"]).collect();
    assert_eq!(names, ["minutes", "notes"], "what is read into is always on");
    let bound = api.key(KeyClass::App, &[Right::Read], &["other"]);
    api.as_key(&bound, "GET", "/api/kb/always-on/notes/memories", Value::Null).await.of(404);
}

#[tokio::test]
async fn a_key_of_one_user_switches_no_space_for_the_others() {
    let api = Api::new();
    api.as_key(&api.local, "POST", "/v1/spaces", json!({"name": "notes"})).await.of(201);
    let ana = api.key_of("ana", &[Right::Read, Right::Write], &["notes"]);
    let text = json!({"kb_name": "notes", "text": "The fern stands in room 7."});
    api.as_key(&ana, "POST", "/api/kb/always-on/ingest", text).await.of(202);
    api.as_key(&ana, "PATCH", "/v1/spaces/notes", json!({"always_on": true})).await.of(403);
    assert_eq!(api.as_key(&api.local, "GET", "/api/kb/always-on", Value::Null).await.of(200), json!([]));
}

#[tokio::test]
async fn a_bot_is_told_that_no_knowledge_base_is_its_own() {
    let api = Api::new();
    let kb = "/api/kb/always-on";
    let body = json!({"kb_name": "notes", "text": "The fern stands in room 7."}).to_string();
    for (method, path, body) in [
        ("GET", kb.to_owned(), String::new()),
        ("POST", format!("{kb}/ingest"), body),
        ("GET", format!("{kb}/notes/memories"), String::new()),
    ] {
        let request = Api::request(method, &path, &api.local).header("x-bot-id", "bot7");
        let refused = api.send(request, body).await.of(400);
        assert!(refused["detail"].as_str().unwrap().starts_with("X-Bot-Id"), "{refused}");
    }
    assert_eq!(api.as_key(&api.local, "GET", "/v1/spaces", Value::Null).await.of(200)["items"], json!([]));
}

// proves: GB-05, GB-06, GB-08, GB-16, GB-51, GB-52, GB-53, GA-19, GA-20
#[tokio::test]
async fn a_knowledge_base_tells_memories_and_insights_by_the_names_of_the_design() {
    let clock = std::sync::Arc::new(mnemal_testkit::ManualClock::default());
    let shared = std::sync::Arc::clone(&clock) as std::sync::Arc<dyn mnemal_core::Clock>;
    let api = Api::over(mnemal::Engine::builder().with_clock(shared));
    let ask = async |method: &str, path: &str, body: Value| api.as_key(&api.local, method, path, body).await;
    let space = json!({"name": "notes", "always_on": true});
    ask("POST", "/v1/spaces", space).await.of(201);
    let mut ids = Vec::new();
    for text in [
        "Ada Berg repairs the till in Genoa.",
        "The supplier in Genoa sends letters to Ada Berg.",
        "The lift is loud.",
    ] {
        clock.advance(std::time::Duration::from_mins(1));
        let stored =
            ask("POST", "/v1/spaces/notes/memories", json!({"content": text, "importance": 0.75})).await;
        ids.push(stored.of(201)["id"].as_str().unwrap().to_owned());
    }
    let [first, second, third] = ids.as_slice() else { panic!("three were stored") };
    let kb = "/api/kb/always-on/notes";
    let listed = ask("GET", &format!("{kb}/memories?limit=2"), Value::Null).await.of(200);
    assert_eq!(
        (&listed["items"][0]["id"], &listed["items"][1]["id"]),
        (&json!(third), &json!(second)),
        "newest first"
    );
    let cursor = listed["next_cursor"].as_str().unwrap().to_owned();
    let rest = ask("GET", &format!("{kb}/memories?limit=2&cursor={cursor}"), Value::Null).await.of(200);
    let row = rest["items"][0].as_object().unwrap();
    let mut names: Vec<&str> = row.keys().map(String::as_str).collect();
    names.sort_unstable();
    let of_the_design =
        ["created_at", "entities", "id", "importance", "is_consolidated", "source", "summary", "topics"];
    assert_eq!(names, of_the_design);
    assert_eq!((&row["id"], &row["summary"]), (&json!(first), &json!("Ada Berg repairs the till in Genoa.")));
    assert_eq!(
        (&row["importance"], &row["source"], &row["is_consolidated"]),
        (&json!(0.75), &json!("api"), &json!(false))
    );
    assert!(row["entities"].as_array().unwrap().contains(&json!("Ada Berg")), "{row:?}");
    assert_eq!((&rest["next_cursor"], &rest["gaps"]), (&Value::Null, &json!([])));
    ask("GET", &format!("{kb}/memories?limit=201"), Value::Null).await.of(400);

    let counts = async || {
        let stats = ask("GET", "/v1/spaces/notes/stats", Value::Null).await.of(200);
        [&stats["memories"], &stats["unconsolidated"], &stats["consolidations"]]
            .map(|count| count.as_u64().unwrap())
    };
    assert_eq!(counts().await, [3, 3, 0]);
    let job = ask("POST", "/api/kb/always-on/consolidate", json!({"kb_name": "notes"})).await.of(202);
    let path = format!("/v1/spaces/notes/jobs/{}", job["id"].as_str().unwrap());
    let done = loop {
        let job = ask("GET", &path, Value::Null).await.of(200);
        if job["state"] != "running" {
            break job;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(counts().await, [4, 0, 1], "all three were looked at, and an insight is one itself");
    let insights = ask("GET", &format!("{kb}/insights?limit=10"), Value::Null).await.of(200);
    let row = insights["items"][0].as_object().unwrap();
    assert_eq!(row["insight"], "2 notes of 2026-03-01 are about Ada Berg and Genoa.");
    let summary = row["summary"].as_str().unwrap();
    assert!(summary.contains("repairs the till") && summary.contains("sends letters"), "{summary}");
    assert_eq!(row["memory_ids"], json!([second, first]));
    assert!(row["id"].is_string() && row["created_at"].is_string() && row.len() == 5, "{row:?}");
    let listed = ask("GET", &format!("{kb}/memories"), Value::Null).await.of(200);
    let joined: Vec<&Value> =
        listed["items"].as_array().unwrap().iter().map(|row| &row["is_consolidated"]).collect();
    assert_eq!(joined, [&json!(true), &json!(true), &json!(true)]);
    clock.advance(std::time::Duration::from_mins(1));
    ask("POST", "/v1/spaces/notes/memories", json!({"content": "The stairs creak."})).await.of(201);
    assert_eq!(counts().await, [5, 1, 1], "what came since was not looked at");
    let listed = ask("GET", &format!("{kb}/memories?limit=2"), Value::Null).await.of(200);
    assert_eq!(
        (&listed["items"][0]["is_consolidated"], &listed["items"][1]["is_consolidated"]),
        (&json!(false), &json!(true))
    );
}
