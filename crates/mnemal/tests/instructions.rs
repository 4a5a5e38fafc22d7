//! Custom model instructions that replace the built-in ones.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mnemal::dream::DreamMode;
use mnemal::model::{BackgroundPermit, Completion, Prompt, Usage};
use mnemal::ports::LanguageModel;
use mnemal::settings::{DreamSettings, LlmSettings};
use mnemal::types::{ModelId, OwnerId, TokenCount};
use mnemal::{Engine, ErrorKind, Result, Scope, Settings, SpaceId};

const NEAR: [&str; 2] = [
    "Anna keeps the spare key of the boat house in the blue tin",
    "Anna keeps the spare key of the boat house in the tin on Friday",
];
const BOTH: &str = "On Friday, as always, Anna keeps the spare key of the boat house in the blue tin.";

#[derive(Debug)]
struct Writer {
    model: ModelId,
    told: Mutex<Vec<Prompt>>,
}

#[async_trait]
impl LanguageModel for Writer {
    fn model(&self) -> &ModelId {
        &self.model
    }

    async fn complete(&self, permit: &mut BackgroundPermit, prompt: &Prompt) -> Result<Completion> {
        permit.pay(TokenCount(100))?;
        self.told.lock().unwrap().push(prompt.clone());
        Ok(Completion { text: BOTH.to_owned(), model: self.model.clone(), usage: Usage::default() })
    }
}

fn settings(folder: &str) -> Settings {
    Settings {
        llm: LlmSettings { instructions: folder.to_owned(), ..LlmSettings::default() },
        dream: DreamSettings { judging: false, ..DreamSettings::default() },
        ..Settings::default()
    }
}

/// Returns the prompt of a cycle over two near-duplicates, and the producer of the merge.
async fn merged(folder: &str) -> (String, String) {
    let writer = Arc::new(Writer { model: ModelId::new("small").unwrap(), told: Mutex::default() });
    let builder = Engine::builder().with_language_model(Arc::<Writer>::clone(&writer));
    let engine = builder.with_settings(settings(folder)).in_memory().unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("test").unwrap()));
    for text in NEAR {
        let _stored = memory.remember(text).await.unwrap();
    }
    let cycle = engine.dream(&OwnerId::new("test").unwrap(), DreamMode::Asked).await.unwrap();
    let producer = cycle.accepted().next().unwrap().proposal.operation.producer.id.clone();
    let told = writer.told.lock().unwrap().iter().map(|prompt| prompt.instructions.clone()).collect();
    (told, producer)
}

// proves: RB-66 (a file replaces the words of its producer, whose name has its hash; without a file the built-in ones hold)
#[tokio::test]
async fn a_file_of_the_folder_replaces_the_built_in_words_and_is_a_part_of_the_producer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let (built_in, producer) = merged(path).await;
    assert_eq!(producer, "model/merge by small", "there is no file yet");
    std::fs::write(folder.path().join("judge.md"), "Judge nothing.").unwrap();
    assert_eq!(
        merged(path).await,
        (built_in.clone(), producer),
        "a file of another producer changes nothing"
    );
    std::fs::write(folder.path().join("merge.md"), "Put both into one sentence.\n").unwrap();
    let (told, producer) = merged(path).await;
    assert!(told.starts_with("Put both into one sentence.") && told != built_in, "{told}");
    let hash = producer.strip_prefix("model/merge+").and_then(|rest| rest.strip_suffix(" by small")).unwrap();
    assert!(hash.len() == 8 && hash.chars().all(|sign| sign.is_ascii_hexdigit()), "{producer}");
    std::fs::write(folder.path().join("merge.md"), "Put both into two sentences.\n").unwrap();
    assert_ne!(merged(path).await.1, producer, "other words are another producer");
    std::fs::write(folder.path().join("merge.md"), " ").unwrap();
    let writer = Arc::new(Writer { model: ModelId::new("small").unwrap(), told: Mutex::default() });
    let refused = Engine::builder().with_language_model(writer).with_settings(settings(path)).in_memory();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
}
