//! A transformer from the settings: from the file to the hit, and rejected configurations.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use mnemal::{Builder, Engine, ErrorKind, Settings};
use mnemal_testkit::{tiny_transformer, tiny_vocabulary};
use tempfile::TempDir;

fn settings(model: String, models: &str) -> Settings {
    let mut settings = Settings::default();
    settings.embedding.model = model;
    models.clone_into(&mut settings.embedding.models);
    settings
}

fn builder(model: String, models: &str) -> Builder {
    Engine::builder().with_settings(settings(model, models))
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.onnx"), tiny_transformer()).unwrap();
    std::fs::write(folder.path().join("vocab.txt"), tiny_vocabulary()).unwrap();
    folder
}

#[cfg(not(feature = "onnx"))]
#[test]
fn a_build_without_transformers_says_so() {
    let folder = folder();
    let error = builder(format!("minilm:{}", folder.path().display()), "").in_memory().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.what().contains("onnx"), "{error}");
}

#[cfg(feature = "onnx")]
mod with {
    use super::*;
    use mnemal::recall::RecallMode;
    use mnemal::{Memory, Scope, SpaceId};

    fn memory(builder: Builder) -> Memory {
        builder.in_memory().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()))
    }

    #[tokio::test]
    async fn what_is_logged_is_found_by_the_vectors_of_the_named_model() {
        let folder = folder();
        let mut settings = settings(format!("minilm:{}", folder.path().display()), "");
        settings.embedding.query_deadline_ms = 60_000;
        settings.recall.part_deadline_ms = 60_000;
        let memory = memory(Engine::builder().with_settings(settings));
        for text in ["green tea at noon", "the bus was late", "zzz qqq xxx"] {
            let _stored = memory.log(text).await.unwrap();
        }
        let found = memory.recall("the bus was late").mode(RecallMode::Vector).await.unwrap();
        assert!(found.gaps.is_empty(), "{:?}", found.gaps);
        assert!(found.model.as_ref().unwrap().as_str().starts_with("minilm-"));
        assert_eq!(found.hits[0].event.body().unwrap().content, "the bus was late");
    }

    #[test]
    fn a_model_that_cannot_be_opened_is_an_error_with_its_reason() {
        let (tiny, empty) = (folder(), tempfile::tempdir().unwrap());
        let (tiny, empty) = (tiny.path().display().to_string(), empty.path().display().to_string());
        let refused = |model: String, models: &str| builder(model, models).in_memory().unwrap_err();
        let rows = [
            (refused("minilm".to_owned(), &empty), ErrorKind::NotFound, "model.onnx"),
            (refused(format!("minilm:{empty}"), ""), ErrorKind::NotFound, "model.onnx"),
            (refused(tiny, ""), ErrorKind::Corrupt, "known by its hash"),
        ];
        for (error, kind, says) in rows {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.what().contains(says), "{error}");
        }
    }

    #[test]
    fn the_model_is_not_looked_for_where_vectors_are_switched_off() {
        let mut settings = settings("minilm".to_owned(), "");
        settings.embedding.provider = mnemal::settings::EmbeddingProvider::None;
        assert!(Engine::builder().with_settings(settings).in_memory().is_ok());
    }
}
