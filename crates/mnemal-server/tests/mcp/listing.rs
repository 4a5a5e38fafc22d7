//! Golden tests of the server information and listings: a change of these files is a change of the interface.

use std::path::Path;

use mnemal_server::mcp::{Options, Profile};
use serde_json::{Value, json};

use crate::client::{Client, HANDSHAKES, STATELESS, memory};

/// Compares with a golden file; with `UPDATE_GOLDEN` set it is rewritten.
fn golden(name: &str, value: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/golden").join(name);
    let found = format!("{}\n", serde_json::to_string_pretty(value).unwrap())
        .replace(&format!("\"{}\"", env!("CARGO_PKG_VERSION")), "\"VERSION\"");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expect = std::fs::read_to_string(&path).unwrap();
    assert_eq!(found, expect, "{name}: when this is meant, run the tests with UPDATE_GOLDEN=1");
}

#[tokio::test]
async fn a_stateless_client_discovers_the_server() {
    let memory = memory().await;
    let mut client = Client::stateless(&memory, &json!({}));
    let found = client.request("server/discover", json!({})).await;
    golden("discover.json", &found["result"]);
}

#[tokio::test]
async fn tools_are_listed_in_a_fixed_order_with_all_four_hints_and_an_output_schema() {
    let memory = memory().await;
    let mut client = Client::stateless(&memory, &json!({}));
    let listed = client.request("tools/list", json!({})).await["result"].clone();
    assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(300_000), &json!("private")));
    for tool in listed["tools"].as_array().unwrap() {
        let hints = &tool["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{hint} of {tool}");
        }
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
    golden("tools.json", &listed["tools"]);
    let again = client.request("tools/list", json!({})).await["result"].clone();
    assert_eq!(listed, again);
}

// Pitfalls of the library: its own name instead of ours, and hints and result types of newer protocol versions in older ones.
#[tokio::test]
async fn a_handshake_tells_the_same_and_nothing_of_the_other_era() {
    for version in HANDSHAKES {
        let memory = memory().await;
        let mut client = Client::silent(&memory, Options::default());
        let hello = client.shake(version).await;
        assert_eq!(hello["protocolVersion"], version);
        assert_eq!(hello["serverInfo"]["name"], "mnemal");
        assert_eq!(hello["serverInfo"]["title"], "mnemal memory");
        assert!(hello["serverInfo"]["websiteUrl"].as_str().unwrap().starts_with("https:"));
        assert!(hello["instructions"].as_str().unwrap().len() <= 600);
        let offered = json!({"completions": {}, "prompts": {}, "resources": {}, "tools": {}});
        assert_eq!(hello["capabilities"], offered);
        let listed = client.request("tools/list", json!({})).await["result"].clone();
        for key in ["ttlMs", "cacheScope", "resultType"] {
            assert!(listed[key].is_null() && hello[key].is_null(), "{key} in {version}");
        }
        assert_eq!(listed["tools"].as_array().unwrap().len(), 10);
        let result = client.raw("memory_context", json!({})).await;
        assert!(result["resultType"].is_null());
    }
}

#[tokio::test]
async fn an_unknown_version_is_negotiated_or_refused_with_a_list() {
    let memory = memory().await;
    let mut old = Client::silent(&memory, Options::default());
    assert_eq!(old.shake("2019-01-01").await["protocolVersion"], "2025-11-25");
    let mut new = Client::silent(&memory, Options::default());
    new.speak("2031-01-01", &json!({}));
    let refused = new.request("tools/list", json!({})).await;
    assert_eq!(refused["error"]["code"], -32_022);
    let supported = refused["error"]["data"]["supported"].as_array().unwrap();
    assert!(supported.contains(&json!(STATELESS)), "{refused}");
}

// proves: PB-44
#[tokio::test]
async fn every_profile_lists_its_tools_with_all_four_hints_and_an_output_schema() {
    for profile in Profile::ALL {
        let memory = memory().await;
        let mut client = Client::of_profile(&memory, profile).await;
        let listed = client.request("tools/list", json!({})).await["result"]["tools"].clone();
        for tool in listed.as_array().unwrap() {
            let hints = &tool["annotations"];
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(hints[hint].is_boolean(), "{hint} of {tool}");
            }
            assert_eq!(tool["outputSchema"]["type"], "object");
            assert_eq!(tool["inputSchema"]["type"], "object");
        }
        if profile != Profile::Core {
            golden(&format!("tools-{}.json", profile.as_str()), &listed);
        }
    }
}

#[tokio::test]
async fn a_profile_that_only_reads_neither_lists_nor_calls_what_changes_something() {
    let memory = memory().await;
    let mut client = Client::silent(&memory, Options::default().with_profile(Profile::Readonly));
    let hello = client.shake("2025-11-25").await;
    assert!(!hello["instructions"].as_str().unwrap().contains("memory_store"));
    let listed = client.request("tools/list", json!({})).await["result"]["tools"].clone();
    assert!(listed.as_array().unwrap().iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let refused =
        client.request("tools/call", json!({"name": "memory_store", "arguments": {"content": "x"}})).await;
    assert_eq!(refused["error"]["code"], -32_602);
    assert_eq!(memory.admin().stats().await.unwrap().head.count(), 0);
}
