//! The API without a socket, as modules of other languages ask it.

use mnemal_core::ErrorKind;
use mnemal_server::{ApiReply, Embedded, Location, Question};
use serde_json::{Value, json};
use tokio::sync::oneshot;

async fn ask(embedded: &Embedded, method: &str, target: &str, body: Value) -> (u16, Value) {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let ApiReply { status, body } =
        embedded.answer(Question { method, target, headers, body }).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn requests_are_answered_without_a_key_and_the_files_are_closed_at_the_end() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("agent.db");
    let embedded = Embedded::open(&Location::of(Some(&file)), None, "").await.unwrap();
    assert_eq!(embedded.space().as_str(), "agent");
    let (end, until) = oneshot::channel::<()>();
    let attended = async {
        let until = async {
            let _asked = until.await;
        };
        embedded.attend(until).await
    };
    let asking = async {
        let note = json!({"content": "the heron nests behind the mill", "key": "heron"});
        let (status, stored) = ask(&embedded, "POST", "/v1/spaces/agent/memories", note).await;
        assert_eq!((status, &stored["key"]), (201, &json!("heron")));
        let query = json!({"query": "where does the heron nest?"});
        let (_, found) = ask(&embedded, "POST", "/v1/spaces/agent/recall", query).await;
        assert_eq!(found["hits"][0]["key"], "heron");
        let (status, problem) = ask(&embedded, "GET", "/v1/spaces/other/memories", Value::Null).await;
        assert_eq!((status, &problem["code"]), (404, &json!("not_found")));
        end.send(()).unwrap();
    };
    let (ended, ()) = tokio::join!(attended, asking);
    ended.unwrap();
    assert!(!home.path().join("agent.db-wal").exists());
}

#[tokio::test]
async fn a_search_that_names_no_limit_has_that_of_the_settings() {
    for (settings, expected) in
        [(r#"{"recall": {"limit": 3}}"#, 3), (r#"{"recall": {"limit": 900}}"#, 14), ("", 10)]
    {
        let embedded = Embedded::open(&Location::Memory, None, settings).await.unwrap();
        for number in 0..14 {
            let note = json!({"content": format!("heron number {number} nests behind the mill")});
            assert_eq!(ask(&embedded, "POST", "/v1/spaces/memory/memories", note).await.0, 201);
        }
        let query = json!({"query": "where does the heron nest?"});
        let (status, found) = ask(&embedded, "POST", "/v1/spaces/memory/recall", query).await;
        assert_eq!((status, found["hits"].as_array().unwrap().len()), (200, expected), "{settings}");
        let query = json!({"query": "where does the heron nest?", "limit": 5});
        let (_, found) = ask(&embedded, "POST", "/v1/spaces/memory/recall", query).await;
        assert_eq!(found["hits"].as_array().unwrap().len(), 5, "{settings}");
    }
}

#[tokio::test]
async fn an_embedded_memory_has_no_keys_and_makes_none() {
    let home = tempfile::tempdir().unwrap();
    let embedded = Embedded::open(&Location::Folder(home.path().to_owned()), None, "").await.unwrap();
    assert_eq!(embedded.space().as_str(), "default");
    let new = json!({"name": "x", "rights": ["read"], "spaces": ["default"]});
    for (method, target, body) in [
        ("GET", "/v1/keys", Value::Null),
        ("POST", "/v1/keys", new),
        ("DELETE", "/v1/keys/key_x", Value::Null),
    ] {
        let (status, problem) = ask(&embedded, method, target, body).await;
        assert_eq!(status, 404, "{method} {target}");
        assert!(problem["hint"].as_str().unwrap().contains("embedded"), "{problem}");
    }
    let other = json!({"name": "other"});
    assert_eq!(ask(&embedded, "POST", "/v1/spaces", other).await.0, 201, "a folder has many spaces");
    let files = std::fs::read_dir(home.path()).unwrap().map(|file| file.unwrap().file_name());
    assert!(files.into_iter().all(|name| name == "spaces" || name == "installation.key"));
}

#[tokio::test]
async fn what_is_no_request_or_cannot_be_opened_is_an_error() {
    let embedded = Embedded::open(&Location::Memory, None, "").await.unwrap();
    assert_eq!(embedded.space().as_str(), "memory");
    for (method, target, header) in [("A B", "/", "a"), ("GET", "a b", "a"), ("GET", "/", "a\nb")] {
        let headers = vec![("idempotency-key".to_owned(), header.to_owned())];
        let error =
            embedded.answer(Question { method, target, headers, body: Vec::new() }).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{method} {target} {header}");
    }
    let home = tempfile::tempdir().unwrap();
    let text = home.path().join("text.db");
    std::fs::write(&text, "this is no database").unwrap();
    for (place, space, settings) in [
        (Location::File(text.clone()), None, ""),
        (Location::Memory, Some("no space"), ""),
        (Location::Memory, None, r#"{"recall": {"limit": 0}}"#),
        (Location::Memory, None, r#"{"recal": {}}"#),
    ] {
        let error = Embedded::open(&place, space, settings).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{place:?} {space:?} {settings}");
    }
    // No folder can be made there.
    let none = Location::File(text.join("agent.db"));
    assert_eq!(Embedded::open(&none, None, "").await.unwrap_err().kind(), ErrorKind::Unavailable);
}
