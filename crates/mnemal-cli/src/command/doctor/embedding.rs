//! The checks of `mnemal doctor` on vectors and the embedding endpoint.

use mnemal::recall::EmbeddedBy;
use mnemal::settings::EmbeddingProvider;
use mnemal::{Engine, Memory};

use super::{FAIL, Finding, OK, WARN, finding};
use crate::args::Global;
use crate::config;

const CHECK: &str = "vectors";

/// Compares the vectors of the space with the model of the settings. No request is sent.
pub(super) async fn vectors(memory: &Memory, global: &Global) -> Finding {
    let Ok(settings) = config::read(global) else {
        return finding(CHECK, FAIL, "the settings cannot be read");
    };
    let embedding = &settings.embedding;
    if embedding.provider != EmbeddingProvider::OpenaiCompatible {
        return covered(memory.admin().engine(), EmbeddedBy::InProcess).await;
    }
    if memory.admin().engine().model(EmbeddedBy::Background).is_none() {
        return finding(CHECK, FAIL, "this build cannot ask an endpoint; it needs the feature `http`");
    }
    if !embedding.api_key_env.is_empty() && config::endpoint_key(&settings).is_none() {
        return finding(
            CHECK,
            WARN,
            format!("the variable {} with the endpoint's key is not set", embedding.api_key_env),
        );
    }
    covered(memory.admin().engine(), EmbeddedBy::Background).await
}

async fn covered(engine: &Engine, by: EmbeddedBy) -> Finding {
    let Some(model) = engine.model(by) else { return finding(CHECK, OK, "switched off; recall is by words") };
    match engine.generations().await {
        Ok(all) => match all.into_iter().find(|one| one.model == *model) {
            Some(one) if !one.serves => finding(
                CHECK,
                WARN,
                format!("{} events have none of {model}; run `mnemal reindex --embeddings`", one.behind),
            ),
            _ => finding(CHECK, OK, format!("those of {model} cover the space")),
        },
        Err(error) => finding(CHECK, FAIL, error.to_string()),
    }
}
