//! The program with a language model on loopback: it is called only when it is configured and only on request.

#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::process::{Command, Output, Stdio};

use mnemal_testkit::{Loopback, ReceivedRequest, ServerReply};
use serde_json::{Value, json};
use tempfile::TempDir;

const KEY: &str = "sk-nobody-may-read-this";
const SAID: &str = "These days the place where I sleep is Lyon.";

fn claims(_: usize, heard: &ReceivedRequest) -> ServerReply {
    if heard.body.contains("whether you can answer") {
        return ServerReply::words("ready");
    }
    let claim = json!({
        "message": 1, "quote": "the place where I sleep is Lyon", "subject": "user", "relation": "lives_in", "value": "Lyon",
    });
    ServerReply::words(&format!("Sure: {}", json!({"claims": [claim]})))
}

struct Home {
    folder: TempDir,
    base_url: String,
    provider: &'static str,
}

impl Home {
    fn new(server: &Loopback, provider: &'static str) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), base_url: server.url(), provider }
    }

    /// Runs the program while the server runs in this runtime.
    async fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("MNEMAL_RECALL__PART_DEADLINE_MS", "60000")
            .stdin(Stdio::null());
        command.env("HOME", self.folder.path()).env("MNEMAL_DATA_DIR", self.folder.path().join("data"));
        command.env("MNEMAL_LLM__PROVIDER", self.provider);
        command.env("MNEMAL_LLM__BASE_URL", &self.base_url).env("MNEMAL_LLM__MODEL", "small");
        command.env("MNEMAL_LLM__API_KEY_ENV", "SOME_KEY").env("SOME_KEY", KEY).env("OPENAI_API_KEY", KEY);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        for stream in [&output.stdout, &output.stderr] {
            assert!(!String::from_utf8_lossy(stream).contains(KEY));
        }
        output
    }

    async fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat()).await;
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    async fn say(&self) -> String {
        let said = self.json(&["log", "add", "--role", "user", SAID]).await;
        said.pointer("/id").or_else(|| said.pointer("/event_id")).and_then(Value::as_str).unwrap().to_owned()
    }
}

fn number(form: &Value, name: &str) -> u64 {
    form.get(name).and_then(Value::as_u64).unwrap()
}

#[tokio::test]
async fn a_model_that_is_configured_answers_and_is_counted() {
    let server = Loopback::start(claims).await.unwrap();
    let home = Home::new(&server, "openai-compatible");
    let id = home.say().await;
    assert_eq!(
        home.json(&["recall", "Where do I sleep?"]).await.get("hits").map(Value::is_array),
        Some(true)
    );
    home.json(&["context", "Where do I sleep?"]).await;
    home.json(&["doctor"]).await;
    assert_eq!(server.received(), [], "reading, writing and looking ask nobody");
    assert_eq!(home.json(&["model", "check"]).await.get("answer"), Some(&json!("ready")));
    for _ in 0..2 {
        let found = home.json(&["extract", &id, "--model"]).await;
        let fact = found.pointer("/facts/0").unwrap();
        assert_eq!((fact.get("object"), fact.get("rule")), (Some(&json!("Lyon")), Some(&json!("model"))));
        assert_eq!(fact.get("status"), Some(&json!("candidate")));
    }
    let heard = server.received();
    assert_eq!(heard.len(), 2, "the same question is paid once");
    assert!(heard.iter().all(|one| one.head.contains(&format!("authorization: Bearer {KEY}\r\n"))));
    let status = home.json(&["model", "status"]).await;
    assert_eq!((number(&status, "requests_of_the_hour"), number(&status, "tokens_of_the_day")), (2, 70));
    let doctor = String::from_utf8(home.run(&["doctor"]).await.stdout).unwrap();
    assert!(doctor.contains("answered its last question"), "{doctor}");
}

// proves: DF-72 (keys in the environment, provider not named: no connection)
#[tokio::test]
async fn a_model_that_is_not_named_is_never_asked() {
    let server = Loopback::start(claims).await.unwrap();
    let home = Home::new(&server, "none");
    let id = home.say().await;
    assert!(!home.run(&["extract", &id, "--model"]).await.status.success());
    assert!(!home.run(&["model", "check"]).await.status.success());
    assert_eq!(home.json(&["model", "status"]).await.get("model"), Some(&Value::Null));
    assert_eq!(server.received(), []);
}

#[tokio::test]
async fn a_key_that_is_refused_is_said_by_the_doctor() {
    let server = Loopback::start(|_, _| ServerReply::status(401, "", KEY)).await.unwrap();
    let home = Home::new(&server, "openai-compatible");
    assert!(!home.run(&["model", "check"]).await.status.success());
    let doctor = home.run(&["doctor"]).await;
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert!(!doctor.status.success() && said.contains("refused the key"), "{said}");
    assert_eq!(server.received().len(), 1);
}

/// Answers about the test's conversation with these words, and nothing else.
fn condenses(words: &'static str) -> impl Fn(usize, &ReceivedRequest) -> ServerReply + Send + Sync {
    move |_, heard| {
        ServerReply::words(if heard.body.contains("place where I sleep") { words } else { "ready" })
    }
}

#[tokio::test]
async fn a_preset_names_the_endpoint_and_a_model_writes_the_entry_of_a_conversation() {
    let server = Loopback::start(condenses("The place where user sleeps is Lyon.")).await.unwrap();
    for provider in ["openai", "anthropic", "ollama", "llama-cpp", "llama.cpp", "lm-studio", "vllm"] {
        let home = Home::new(&server, provider);
        home.json(&["log", "add", "--session", "s1", SAID]).await;
        let done = home.json(&["session", "compress", "s1", "--keep-last", "0"]).await;
        assert_eq!(done.get("method"), Some(&json!("model")), "{provider}: {done}");
        let summary = done.get("summary").and_then(Value::as_str).unwrap();
        assert!(summary.ends_with("The place where user sleeps is Lyon."), "{summary}");
    }
}

// proves: PB-51
#[tokio::test]
async fn what_a_model_fails_at_three_times_is_kept_as_it_was_said_by_whatever_process_asks() {
    let server = Loopback::start(condenses("Peter sleeps in Ghent.")).await.unwrap();
    let home = Home::new(&server, "openai-compatible");
    home.json(&["log", "add", "--session", "s1", SAID]).await;
    let compress = ["session", "compress", "s1", "--keep-last", "0"];
    for _ in 0..2 {
        let done = home.json(&compress).await;
        assert_eq!((done.get("method"), done.pointer("/turns/0/text")), (None, Some(&json!(SAID))));
    }
    let done = home.json(&compress).await;
    assert_eq!(done.get("method"), Some(&json!("raw")));
    let kept = home.json(&["memory", "list", "--kind", "timeline"]).await.to_string();
    assert!(kept.contains("[RAW]") && kept.contains(SAID) && !kept.contains("Ghent"), "{kept}");
}
