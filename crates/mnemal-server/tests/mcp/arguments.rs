//! Robustness of each tool against arguments as models send them: missing, unknown, of the wrong type, in quotes, huge, in every
//! script.

use serde_json::{Value, json};

use crate::client::{Answer, Client, memory};

const TOOLS: [&str; 10] = [
    "memory_context",
    "memory_answer",
    "memory_recall",
    "memory_store",
    "memory_forget",
    "memory_entity",
    "memory_relationships",
    "working_put",
    "working_get",
    "working_find",
];

/// Valid arguments of a tool.
fn good(tool: &str) -> Value {
    match tool {
        "memory_context" => json!({"query": "deploys", "session": "s", "budget_tokens": 500}),
        "memory_answer" => json!({"query": "When do deploys happen?", "session": "s"}),
        "memory_recall" => json!({"query": "deploys", "limit": 3, "max_tokens": 500}),
        "memory_store" => {
            json!({"content": "Deploys happen on Tuesdays", "key": "deploy_day", "importance": 0.5})
        }
        "memory_entity" => json!({"name": "Anna", "include": ["facts", "edges"], "max_tokens": 900}),
        "memory_relationships" => json!({"from": "Anna", "max_hops": 2, "max_tokens": 900}),
        "working_put" => json!({"key": "plan", "value": "tests first", "ttl_minutes": 10}),
        "working_get" => json!({"key": "plan"}),
        "working_find" => json!({"prefix": "session", "max_tokens": 500}),
        _ => json!({"key": "deploy_day"}),
    }
}

async fn connected() -> Client {
    let memory = memory().await;
    assert!(!memory.log("My sister Anna lives in Oslo.").await.unwrap().duplicate);
    let mut client = Client::shaken(&memory, "2025-11-25").await;
    for tool in ["memory_store", "working_put"] {
        assert!(!client.call(tool, good(tool)).await.is_error);
    }
    client
}

fn advises(answer: &Answer) -> bool {
    answer.is_error && answer.text.ends_with('.') && answer.text.len() < 400
}

// proves: PB-45
#[tokio::test]
async fn a_missing_argument_is_advice() {
    let mut client = connected().await;
    for (tool, expect) in [
        ("memory_answer", "query is missing: say what is asked."),
        ("memory_recall", "query is missing: say what to look for, in a few words."),
        ("memory_store", "content is missing: say what to remember, in one or two sentences."),
        ("working_put", "key is missing: give the entry a short name."),
        ("working_get", "key is missing: name the entry; working_find lists them."),
        (
            "memory_forget",
            "Give exactly one of id, key, ids and entity. Use memory_recall to find what should be forgotten.",
        ),
    ] {
        for empty in [json!({}), json!({"query": null, "content": "  ", "ids": null})] {
            let answer = client.call(tool, empty).await;
            assert!(answer.is_error);
            assert_eq!(answer.text, expect, "{tool}");
        }
    }
    assert!(!client.call("memory_context", json!({})).await.is_error);
}

#[tokio::test]
async fn unknown_arguments_are_ignored_and_noted() {
    let mut client = connected().await;
    for tool in TOOLS {
        let mut arguments = good(tool);
        arguments["project"] = json!("mnemal");
        arguments["origin"] = json!("user_direct");
        let answer = client.call(tool, arguments).await;
        assert!(!answer.is_error, "{answer:?}");
        assert!(answer.text.ends_with("Ignored unknown arguments: origin, project."), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_wrong_type_is_advice_that_names_the_argument() {
    let mut client = connected().await;
    for (tool, name, value) in [
        ("memory_context", "query", json!(["a"])),
        ("memory_context", "session", json!({})),
        ("memory_context", "budget_tokens", json!("many")),
        ("memory_answer", "query", json!([1])),
        ("memory_answer", "session", json!({})),
        ("memory_answer", "as_of", json!("yesterday")),
        ("memory_recall", "query", json!({"a": 1})),
        ("memory_recall", "limit", json!([])),
        ("memory_recall", "limit", json!(0)),
        ("memory_recall", "limit", json!(-3)),
        ("memory_recall", "max_tokens", json!(true)),
        ("memory_recall", "kinds", json!(["fact"])),
        ("memory_recall", "kinds", json!([{}])),
        ("memory_recall", "tags", json!({})),
        ("memory_recall", "category", json!("/a//b")),
        ("memory_recall", "since", json!("yesterday")),
        ("memory_recall", "explain", json!("maybe")),
        ("memory_store", "content", json!([1])),
        ("memory_store", "key", json!([1])),
        ("memory_store", "key", json!("a\u{0}b")),
        ("memory_store", "kind", json!("opinion")),
        ("memory_store", "importance", json!("very")),
        ("memory_store", "importance", json!(1.5)),
        ("memory_store", "importance", json!(-0.1)),
        ("memory_store", "tags", json!(["x".repeat(200)])),
        ("memory_store", "ttl_minutes", json!(0)),
        ("memory_store", "ttl_minutes", json!(1e300)),
        ("memory_forget", "ids", json!([["a"]])),
        ("memory_forget", "dry_run", json!("perhaps")),
    ] {
        let mut arguments = good(tool);
        if name == "ids" {
            arguments = json!({});
        }
        arguments[name] = value.clone();
        let answer = client.call(tool, arguments).await;
        assert!(advises(&answer), "{tool} {name} {value}: {answer:?}");
        assert!(answer.text.contains(name), "{tool} {name} {value}: {answer:?}");
    }
}

#[tokio::test]
async fn numbers_and_switches_in_quotes_count() {
    let mut client = connected().await;
    let stored = json!({"content": "x y z", "importance": "0.9", "ttl_minutes": "30"});
    for (tool, arguments) in [
        ("memory_context", json!({"query": "deploys", "budget_tokens": "500"})),
        ("memory_recall", json!({"q": "deploys", "top_k": "3", "budget_tokens": "500", "explain": "true"})),
        ("memory_store", stored),
        ("memory_forget", json!({"name": "deploy_day", "dry_run": "true"})),
    ] {
        let answer = client.call(tool, arguments).await;
        assert!(!answer.is_error && !answer.text.contains("Ignored"), "{tool}: {answer:?}");
    }
}

#[tokio::test]
async fn a_megabyte_is_answered_and_does_no_harm() {
    let mut client = connected().await;
    let long = "lorem ipsum dolor ".repeat(58_255);
    for tool in TOOLS {
        for (name, value) in good(tool).as_object().unwrap() {
            if !value.is_string() {
                continue;
            }
            let mut arguments = good(tool);
            arguments[name] = json!(long);
            let answer = client.call(tool, arguments).await;
            assert!(answer.text.len() < 4_000, "{tool} {name}: {} bytes", answer.text.len());
            let reading = ["memory_context", "memory_answer", "memory_recall"].contains(&tool);
            assert_eq!(answer.is_error, !(reading && name == "query"), "{tool} {name}: {}", answer.text);
        }
        let mut arguments = good(tool);
        arguments["nonsense"] = json!(long);
        assert!(!client.call(tool, arguments).await.is_error, "{tool}");
    }
    let found = client.call("memory_recall", json!({"query": "deploys"})).await;
    assert!(found.text.contains("Deploys happen on Tuesdays"));
}

#[tokio::test]
async fn every_plane_and_every_control_character_goes_in_and_comes_back_as_one_safe_line() {
    let mut client = connected().await;
    let mut texts: Vec<String> = (0..=16_u32)
        .map(|plane| {
            let letters = (0..24).filter_map(|step| char::from_u32((plane << 16) + 0x41 + step * 0x0a3b));
            format!("plane{plane} {}", letters.collect::<String>())
        })
        .collect();
    texts.push(
        (1..32).filter_map(char::from_u32).chain("controls \u{7f}\u{85}\u{202e}\u{e0041}".chars()).collect(),
    );
    for (number, text) in texts.iter().enumerate() {
        let key = format!("plane_{number}");
        let stored = client.call("memory_store", json!({"content": text, "key": key})).await;
        assert!(!stored.is_error, "{number}: {stored:?}");
        for tool in ["memory_context", "memory_recall"] {
            let found = client.call(tool, json!({"query": text})).await;
            assert!(!found.is_error, "{number}: {found:?}");
            let lines: Vec<&str> =
                found.text.lines().filter(|line| mnemal::context::line_number(line).is_some()).collect();
            assert!(!lines.is_empty(), "{number}: {found:?}");
            assert_eq!(
                found.text.matches("<mnemal-context").count(),
                found.text.matches("</mnemal-context").count()
            );
            let unseen = |letter: char| letter.is_control() && letter != '\n';
            assert!(!found.text.chars().any(unseen), "{number}: {found:?}");
        }
        let preview = client.call("memory_forget", json!({"key": key})).await;
        assert!(!preview.is_error, "{number}: {preview:?}");
    }
}
