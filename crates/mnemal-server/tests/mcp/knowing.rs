//! `memory_entity` and `memory_relationships`: facts, their validity, and their source sentences.

use mnemal::{Memory, Message};
use mnemal_core::{Timestamp, Zone};
use serde_json::{Value, json};

use crate::client::{Client, memory};

/// A person with a sister, places of residence, and acquaintances.
async fn filled() -> Memory {
    let memory = memory().await;
    for (day, text) in [
        (18_383, "My sister Anna lives in Oslo."),
        (19_113, "My sister Anna moved to Bergen in March 2022."),
        (19_114, "My sister Anna works at Fjordbank."),
        (19_115, "My brother Ben works at Fjordbank."),
    ] {
        let at = Timestamp::from_micros(day * 86_400_000_000 + 36_000_000_000).unwrap();
        let turn = Message::user(text).occurred_at(at, Zone::utc());
        assert!(!memory.log(turn).await.unwrap().duplicate);
    }
    memory
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect()
}

// proves: NB-90, NB-06, NB-08 (this surface)
#[tokio::test]
async fn what_is_known_of_somebody_comes_with_times_and_sentences_in_a_marked_block() {
    let memory = filled().await;
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let anna = client.call("memory_entity", json!({"name": "anna"})).await;
    assert!(anna.text.starts_with("<mnemal-context nonce=\""), "{}", anna.text);
    assert!(anna.text.contains("Anna: person, sister of user, named in 3 events"), "{}", anna.text);
    let edges = texts(&anna.structured["edges"]);
    let home = edges.iter().find(|text| text.contains("lives in Bergen")).unwrap();
    assert!(
        home.contains("since 2022-03)") && home.contains("“My sister Anna moved to Bergen in March 2022")
    );
    let before = edges.iter().find(|text| text.contains("lives in Oslo")).unwrap();
    assert!(before.contains("until 2022-03)"), "{before}");
    let edge = &anna.structured["edges"][0];
    assert!(edge["confidence"].as_f64().unwrap() > 0.0 && edge["strength"].as_f64().unwrap() >= 0.5);
    assert_eq!(anna.structured["entity"]["event_count"], 3);
    assert_eq!(anna.structured["events"], json!([]));
    assert_eq!(anna.structured["truncated"], false);

    let then = client.call("memory_entity", json!({"name": "Anna", "as_of": "2021-01-01"})).await;
    let homes = texts(&then.structured["edges"]);
    assert!(homes.iter().any(|text| text.contains("Oslo")), "{homes:?}");
    assert!(!homes.iter().any(|text| text.contains("lives in Bergen")), "{homes:?}");
    let heard = client.call("memory_entity", json!({"name": "Anna", "include": "events"})).await;
    assert_eq!(heard.structured["edges"], json!([]));
    assert_eq!(texts(&heard.structured["events"])[0], "My sister Anna works at Fjordbank.");
    let nobody = client.call("memory_entity", json!({"name": "Annna"})).await;
    assert!(nobody.is_error && nobody.text.contains("Nearest: 'Anna'"), "{}", nobody.text);
}

// proves: BA-39 (a walk goes two facts far where nobody says how far)
#[tokio::test]
async fn a_walk_goes_two_facts_far() {
    let memory = memory().await;
    for text in ["My sister Anna works at Fjordbank.", "Ben works at Fjordbank.", "Ben lives in Oslo."] {
        assert!(!memory.log(Message::user(text)).await.unwrap().duplicate);
    }
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let mut around = async |hops: Option<u8>| {
        let mut call = json!({"from": "Anna"});
        if let Some(hops) = hops {
            call["max_hops"] = hops.into();
        }
        texts(&client.call("memory_relationships", call).await.structured["edges"]).join("\n")
    };
    let (two, unsaid, three) = (around(Some(2)).await, around(None).await, around(Some(3)).await);
    assert_eq!(unsaid, two);
    assert!(two.contains("Ben works at Fjordbank") && !two.contains("Oslo"), "{two}");
    assert!(three.contains("Oslo"), "{three}");
}

#[tokio::test]
async fn relations_lie_around_have_a_past_and_lead_to_others() {
    let memory = filled().await;
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let all = |list: &Value| texts(list).join("\n");
    let around = client.call("memory_relationships", json!({"from": "Anna"})).await;
    let edges = all(&around.structured["edges"]);
    assert!(edges.contains("Anna works at Fjordbank") && edges.contains("Ben works at Fjordbank"), "{edges}");
    let near = client.call("memory_relationships", json!({"from": "Anna", "max_hops": 1})).await;
    assert!(!all(&near.structured["edges"]).contains("Ben works at"));
    let homes = client.call("memory_relationships", json!({"from": "Anna", "relation": "lives_in"})).await;
    assert_eq!(homes.structured["edges"].as_array().unwrap().len(), 2, "{}", homes.text);
    let ways =
        client.call("memory_relationships", json!({"from": "Anna", "to": "Ben", "max_hops": "2"})).await;
    let paths = ways.structured["paths"].as_array().unwrap();
    assert!(
        !paths.is_empty() && paths.iter().all(|path| path.as_array().unwrap().len() <= 2),
        "{}",
        ways.text
    );
    let none =
        client.call("memory_relationships", json!({"from": "Bergen", "to": "Ben", "max_hops": 1})).await;
    assert_eq!(none.text, "Nothing connects them within max_hops facts.");
}

// proves: DF-87 (these tools)
#[tokio::test]
async fn the_largest_answer_is_cut_and_says_so() {
    let memory = memory().await;
    let turns = (0..120).map(|number| Message::user(format!("My sister Anna likes thing{number}x.")));
    assert_eq!(memory.events().log_all(turns).await.unwrap().len(), 120);
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let count = |text: &str| memory.admin().engine().count_tokens(text).0;
    for ceiling in [200, 1_000, 2_000] {
        let include = json!(["facts", "edges", "events"]);
        let anna = client
            .call("memory_entity", json!({"name": "Anna", "include": include, "max_tokens": ceiling}))
            .await;
        assert!(count(&anna.text) <= ceiling, "{ceiling}: {}", count(&anna.text));
        assert!(count(&anna.structured.to_string()) <= ceiling, "{ceiling}");
        assert_eq!(anna.structured["truncated"], true);
        assert!(anna.text.contains(" more; narrow include or raise max_tokens."), "{}", anna.text);
    }
}

#[tokio::test]
async fn somebody_is_forgotten_in_two_steps() {
    let memory = filled().await;
    assert!(memory.remember("Anna has the spare key").await.unwrap().created);
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    let preview = client.call("memory_forget", json!({"entity": "Anna"})).await;
    assert_eq!(
        (&preview.structured["status"], &preview.structured["events"]),
        (&json!("preview"), &json!(4))
    );
    let token = preview.structured["confirm_token"].clone();
    let erased = client.call("memory_forget", json!({"entity": "Anna", "confirm_token": token})).await;
    assert!(erased.structured["status"].as_str().unwrap().starts_with("erased"), "{}", erased.text);
    assert!(client.call("memory_entity", json!({"name": "Anna"})).await.is_error);
    assert!(!client.call("memory_entity", json!({"name": "Ben"})).await.is_error);
}
