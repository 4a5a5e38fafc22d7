//! The program with an embedding endpoint on loopback: vectors are made on request, and never by a read.

#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::process::{Command, Output, Stdio};

use mnemal_testkit::{Loopback, ReceivedRequest, ServerReply};
use serde_json::Value;
use tempfile::TempDir;

const KEY: &str = "sk-nobody-may-read-this";

/// Vectors of four values derived from the letters of a text.
fn embeds(_: usize, heard: &ReceivedRequest) -> ServerReply {
    let question: Value = serde_json::from_str(&heard.body).unwrap();
    let texts = question.get("input").and_then(Value::as_array).unwrap();
    let count = |text: &str, letter: char| text.chars().filter(|one| *one == letter).count() as f32;
    let vector = |text: &Value| {
        let text = text.as_str().unwrap();
        vec![count(text, 'a') + 1.0, count(text, 'e'), count(text, 'o'), count(text, 't')]
    };
    ServerReply::vectors(&texts.iter().map(vector).collect::<Vec<_>>())
}

struct Home {
    folder: TempDir,
    base_url: String,
}

impl Home {
    fn new(server: &Loopback) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), base_url: server.url() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
            .stdin(Stdio::null());
        command.env("HOME", self.folder.path()).env("MNEMAL_DATA_DIR", self.folder.path().join("data"));
        command.env("MNEMAL_EMBEDDING__PROVIDER", "openai-compatible");
        command.env("MNEMAL_EMBEDDING__BASE_URL", &self.base_url).env("MNEMAL_EMBEDDING__MODEL", "small");
        command.env("MNEMAL_EMBEDDING__API_KEY_ENV", "SOME_KEY").env("SOME_KEY", KEY);
        command
    }

    /// Runs the program while the server runs in this runtime.
    async fn run(&self, args: &[&str]) -> Output {
        let mut command = self.command(args);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        for stream in [&output.stdout, &output.stderr] {
            assert!(!String::from_utf8_lossy(stream).contains(KEY));
        }
        output
    }

    async fn text(&self, args: &[&str]) -> String {
        let output = self.run(args).await;
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    async fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(args).await).unwrap()
    }

    async fn remember(&self, n: usize) {
        let line = |n| format!("{{\"role\":\"user\",\"content\":\"note {n} about tea\"}}");
        let text = (0..n).map(line).collect::<Vec<_>>().join("\n");
        let file = self.folder.path().join("messages.jsonl");
        std::fs::write(&file, text).unwrap();
        self.text(&["import", "--format", "openai", file.to_str().unwrap()]).await;
    }
}

// proves: AD-37 (`mnemal reindex --embeddings` is idempotent, and says what it would cost)
#[tokio::test]
async fn vectors_of_an_endpoint_are_made_when_asked_for_and_used_when_asked_for() {
    let server = Loopback::start(embeds).await.unwrap();
    let home = Home::new(&server);
    home.remember(50).await;
    let plain = home.json(&["recall", "tea", "--json"]).await;
    assert!(!plain["hits"].as_array().unwrap().is_empty());
    let doctor = home.text(&["doctor"]).await;
    assert!(
        doctor.contains("50 events have none of endpoint:small; run `mnemal reindex --embeddings`"),
        "{doctor}"
    );
    let dry = home.json(&["reindex", "--embeddings", "--dry-run", "--price", "2", "--json"]).await;
    assert_eq!(
        (&dry["waiting"], &dry["stored"], &dry["cost"]["requests"]),
        (&50.into(), &0.into(), &2.into())
    );
    assert!(dry["cost"]["price"].as_f64().unwrap() > 0.0);
    let behind = home.json(&["recall", "tea", "--ask-endpoint", "--json"]).await;
    assert_eq!(behind["gaps"][0]["cause"], "stale", "{behind}");
    assert_eq!(behind["hits"], plain["hits"]);
    assert_eq!(server.received().len(), 0, "nothing was sent so far");

    let made = home.json(&["reindex", "--embeddings", "--json"]).await;
    assert_eq!(
        (&made["model"], &made["stored"], &made["without"]),
        (&"endpoint:small".into(), &50.into(), &0.into())
    );
    assert_eq!(home.json(&["reindex", "--embeddings", "--json"]).await["waiting"], 0);
    let other = home.json(&["reindex", "--embeddings", "--model", "large", "--json"]).await;
    assert_eq!((&other["model"], &other["stored"]), (&"endpoint:large".into(), &50.into()));
    let table = home.json(&["reindex", "--embeddings", "--model", "mnemal-static-1", "--json"]).await;
    assert_eq!((&table["model"], &table["waiting"]), (&"mnemal-static-1".into(), &0.into()));
    assert_eq!(server.received().len(), 4, "two requests a model");
    assert!(server.received().iter().all(|heard| heard.head.contains(&format!("Bearer {KEY}"))));
    let status = home.text(&["status"]).await;
    for line in
        ["endpoint:large: 50 of 50 events, serves", "endpoint:small: 50 of 50", "mnemal-static-1: 50 of 50"]
    {
        assert!(status.contains(line), "{status}");
    }

    let through = home.json(&["recall", "tea", "--ask-endpoint", "--json"]).await;
    assert_eq!(through["gaps"].as_array().unwrap().iter().filter(|gap| gap["layer"] == "vector").count(), 0);
    assert_eq!(server.received().len(), 5, "the question");
    drop(server);
    let alone = home.json(&["recall", "tea", "--ask-endpoint", "--json"]).await;
    assert_eq!(alone["hits"], plain["hits"]);
    assert_eq!(
        (&alone["gaps"][0]["layer"], &alone["gaps"][0]["cause"]),
        (&"vector".into(), &"failed".into())
    );
}

#[tokio::test]
async fn a_run_that_fails_half_way_keeps_what_it_has() {
    let told = |n: usize, heard: &ReceivedRequest| {
        if n == 1 { ServerReply::status(403, "", "no") } else { embeds(n, heard) }
    };
    let server = Loopback::start(told).await.unwrap();
    let home = Home::new(&server);
    home.remember(50).await;
    let failed = home.run(&["reindex", "--embeddings"]).await;
    assert_eq!(failed.status.code(), Some(2));
    let said = String::from_utf8(failed.stderr).unwrap();
    assert!(said.contains("stopped with 32 of 50 vectors of endpoint:small; they are kept"), "{said}");
    assert!(said.contains("answers with status 403"), "{said}");
    assert_eq!(home.json(&["reindex", "--embeddings", "--json"]).await["stored"], 18);
}
