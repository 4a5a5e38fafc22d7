//! One engine with a part of your own in each port; each part has a file.

mod context_source;
mod embedder;
mod extractor;
mod lexical_index;
mod pass;
mod projector;
mod reranker;
mod summarizer;
mod vector_index;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mnemal::context::{InclusionReason, Section};
use mnemal::dream::DreamMode;
use mnemal::events::Cursor;
use mnemal::graph::EntityFilter;
use mnemal::model::{BackgroundPermit, Completion, Prompt, Usage};
use mnemal::ports::{LanguageModel, MemoryStore, async_trait};
use mnemal::types::{ModelId, TokenCount};
use mnemal::{AsOf, Engine, Message, Result, Scope, SessionId, SpaceId};

/// A language model that always says the same; the summarizer asks it.
#[derive(Debug)]
struct Parrot(ModelId);

#[async_trait]
impl LanguageModel for Parrot {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn complete(&self, permit: &mut BackgroundPermit, _prompt: &Prompt) -> Result<Completion> {
        permit.pay(TokenCount(20))?;
        let text = "The deploy waits for the review.".to_owned();
        Ok(Completion { text, model: self.0.clone(), usage: Usage::default() })
    }
}

const TURNS: [&str; 4] = [
    "the deploy waits for the review of PAY-1234, as Ana said in the meeting this morning",
    "todo: call Ana",
    "the deploy is late",
    "the coffee is gone",
];

/// Uses every part once, and returns a line for each.
async fn tour() -> Result<Vec<String>> {
    let store = MemoryStore::new();
    let log = Arc::new(store.clone());
    let deploys = Arc::new(projector::Deploys { log: log.clone(), seen: Mutex::new((Cursor::START, 0)) });
    let (vectors, words) = (vector_index::Buckets::default(), lexical_index::RareWords::default());
    let engine = Engine::builder()
        .with_stores(store)
        .with_embedder(Arc::new(embedder::Letters::new()?))
        .with_vector_index(Arc::new(vectors.clone()))
        .with_lexical_index(Arc::new(words.clone()))
        .with_reranker(Arc::new(reranker::Terse::new()?))
        .with_extractor(extractor::chain())
        .with_context_source(Arc::new(context_source::Todos(log.clone())))
        .with_pass(Arc::new(pass::Drafts(log)))
        .with_projector(deploys.clone())
        .with_summarizer(Arc::new(summarizer::OneLine))
        .with_language_model(Arc::new(Parrot(ModelId::new("own-parrot-1")?)))
        .build()?;
    let memory = engine.memory(Scope::whole(SpaceId::new("ports")?));
    let talk = SessionId::new("talk")?;
    for turn in TURNS {
        let _event = memory.for_session(talk.clone()).log(Message::user(turn)).await?;
    }
    let _note = memory.remember("draft: ask about the coffee machine").await?;
    let _gaps = engine.read_within(Duration::from_secs(5)).await;
    engine.build_vector_index().await?;

    let context = memory.context("").sections(vec![Section::Knowledge]).await?;
    let pinned = context.receipt.lines.iter().filter(|line| line.because == InclusionReason::Pinned).count();
    let found = memory.recall("deploy late review").reranked().await?;
    let first = found.hits.first().and_then(|hit| hit.event.body()).map_or("", |kept| kept.content.as_str());
    let cycle = engine.dreamer(Vec::new())?.cycle(DreamMode::Asked).await?;
    let archived = cycle.accepted().filter(|judged| judged.pass == "drafts").count();
    let compressed = memory.events().compress(talk).keep_last(1).await?;
    let entities = memory.facts().graph().await?.all(&EntityFilter::all(), AsOf::present(engine.now())).await?;
    let is_ticket = entities.iter().any(|entity| entity.name == "PAY-1234");
    let counted = deploys.seen.lock().map_or(0, |seen| seen.1);
    Ok(vec![
        format!("context source: {pinned} line is pinned"),
        format!("reranker: {first:?} comes first"),
        format!("vectors of {}", found.model.as_ref().map_or("no model", ModelId::as_str)),
        format!("vector index: it was searched: {}", vectors.2.load(Ordering::Relaxed) > 0),
        format!("lexical index: it was searched: {}", words.0.load(Ordering::Relaxed) > 0),
        format!("pass: {archived} note is archived"),
        format!("summarizer: {}", compressed.summary.replace('\n', " ")),
        format!("extractor: the graph knows the ticket: {is_ticket}"),
        format!("projector: {counted} events mention a deploy"),
    ])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    for line in tour().await? {
        println!("{line}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn every_part_is_used() {
        let lines = super::tour().await.unwrap().join("\n");
        for expected in [
            "context source: 1 line is pinned",
            "reranker: \"the deploy is late\" comes first",
            "vectors of own-letters-1",
            "vector index: it was searched: true",
            "lexical index: it was searched: true",
            "pass: 1 note is archived",
            "The deploy waits for the review.",
            "extractor: the graph knows the ticket: true",
            "projector: 3 events mention a deploy",
        ] {
            assert!(lines.contains(expected), "{expected} in:\n{lines}");
        }
    }
}
