//! Secrets: a secret of every kind, on every write path, is found nowhere in the bytes on disk.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::io::Cursor;
use std::path::Path;

use mnemal::events::OwnHistory;
use mnemal::types::ToolName;
use mnemal::{ImportFormat, ImportOptions, Memory, Message, NoteKey, Speaker};
use mnemal_extract::synth;

/// Every file of the folder, as bytes.
fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
}

fn holds(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

async fn plant(memory: &Memory, rule: &str, planted: &synth::SyntheticSecret) {
    let said = &planted.text;
    let tool = ToolName::new("shell").unwrap();
    let _ack = memory.log(Message::user(said)).await.unwrap();
    let _ack = memory.log(Message::assistant(format!("you said: {said}"))).await.unwrap();
    let _ack = memory.log(Message::tool_call(tool.clone(), said)).await.unwrap();
    let _ack = memory.log(Message::tool_result(tool, said)).await.unwrap();
    let _ack = memory.log(Message::document(said)).await.unwrap();
    let _ack =
        memory.log(Message::user(format!("caption of {rule}")).metadata("caption", said)).await.unwrap();
    let _note = memory.remember(said).key(NoteKey::new(format!("note-{rule}")).unwrap()).await.unwrap();
    // A name that contains a secret is rejected, because a name cannot be changed silently.
    let named = Speaker::new(said.clone());
    if let Ok(speaker) = named {
        let _refused_or_cleaned = memory.log(Message::user("hello").speaker(speaker)).await;
    }
    let neutral = serde_json::json!({"id": rule, "conv": "c", "session": "s", "ts": null, "speaker": "Ada", "text": said});
    let openai = serde_json::json!({"role": "user", "content": said});
    for (line, format) in [(neutral, ImportFormat::Neutral), (openai, ImportFormat::OpenAi)] {
        let options = ImportOptions {
            origin: OwnHistory::Yes,
            ..ImportOptions::new(rule, memory.admin().engine().now())
        };
        let _report = memory
            .events()
            .import(Cursor::new(format!("{line}\n")), format, options, &mut |_| ())
            .await
            .unwrap();
    }
}

// proves: X1, PR10
#[tokio::test]
async fn a_secret_of_every_kind_reaches_no_byte_of_the_space() {
    let home = tempfile::tempdir().unwrap();
    let memory = Memory::open(home.path().join("space.db")).await.unwrap();
    let rules: Vec<&str> = synth::rule_ids().collect();
    assert!(rules.len() >= 20);
    let planted: Vec<(&str, synth::SyntheticSecret)> =
        rules.iter().map(|rule| (*rule, synth::phrase(rule, 42).unwrap())).collect();
    for (rule, planted) in &planted {
        plant(&memory, rule, planted).await;
    }
    let context = memory.context("what are the keys and passwords").await.unwrap();
    let mut export = Vec::new();
    let _exported = memory.admin().export(&mut export).await.unwrap();
    let mut places = bytes(home.path());
    places.push(("the export".to_owned(), export));
    places.push(("a context".to_owned(), context.text.clone().into_bytes()));
    for (rule, planted) in &planted {
        for (place, bytes) in &places {
            assert!(!holds(bytes, &planted.secret), "{rule} in {place}");
        }
    }
    let stored = memory.admin().stats().await.unwrap();
    assert!(stored.head.count() >= 9 * rules.len() as u64, "the events themselves are kept");
}

#[tokio::test]
async fn what_is_private_is_never_stored() {
    let home = tempfile::tempdir().unwrap();
    let memory = Memory::open(home.path().join("space.db")).await.unwrap();
    let _ack = memory.log(Message::user("before <private>quokka-syllabus</private> after")).await.unwrap();
    assert!(bytes(home.path()).iter().all(|(_, bytes)| !holds(bytes, "quokka-syllabus")));
    assert!(bytes(home.path()).iter().any(|(_, bytes)| holds(bytes, "before [private] after")));
}
