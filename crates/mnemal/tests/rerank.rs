//! Reranking: another order, unchanged scores, and a gap without a reranker.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]
#![expect(clippy::unused_async, reason = "a fixture of a suite is async")]

use std::sync::Arc;

use async_trait::async_trait;
use mnemal::ports::Reranker;
use mnemal::types::{GapCause, Layer, ModelId};
use mnemal::{Builder, Engine, ErrorKind, Gap, Hit, Memory, Result, Scope, SpaceId};
use mnemal_testkit::{Fault, Faulty, WordReranker};

const QUESTION: &str = "which train goes to the coast";

fn model() -> ModelId {
    ModelId::new("words").unwrap()
}

async fn words() -> WordReranker {
    WordReranker(model())
}

mnemal_testkit::reranker_conformance!(words);

/// A reranker that reverses the order.
#[derive(Debug)]
struct Backwards(ModelId);

#[async_trait]
impl Reranker for Backwards {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn rerank(&self, _query: &str, texts: &[&str]) -> Result<Vec<f32>> {
        Ok((0..texts.len()).map(|place| place as f32).collect())
    }
}

/// A reranker with invalid values.
#[derive(Debug)]
struct Wrong(ModelId, Vec<f32>);

#[async_trait]
impl Reranker for Wrong {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn rerank(&self, _query: &str, _texts: &[&str]) -> Result<Vec<f32>> {
        Ok(self.1.clone())
    }
}

/// A space with thirty turns that all contain words of the question.
async fn memory(builder: Builder) -> Memory {
    let memory = builder.in_memory().unwrap().memory(Scope::whole(SpaceId::new("test").unwrap()));
    for n in 0..30 {
        let _ack =
            memory.log(format!("the train number {n} goes {}", "far ".repeat(n)).as_str()).await.unwrap();
    }
    memory
}

fn ids(hits: &[Hit]) -> Vec<mnemal::EventId> {
    hits.iter().map(|hit| hit.event.id).collect()
}

#[tokio::test]
async fn the_best_twenty_are_put_into_the_rerankers_order_and_keep_their_scores() {
    let memory = memory(Engine::builder().with_reranker(Arc::new(Backwards(model())))).await;
    let plain = memory.recall(QUESTION).limit(20).await.unwrap();
    let looked = memory.recall(QUESTION).limit(5).reranked().await.unwrap();
    assert!(plain.gaps.is_empty() && looked.gaps.is_empty());
    assert!(plain.hits.iter().all(|hit| hit.reranked.is_none()));
    let mut expected = ids(&plain.hits);
    expected.reverse();
    assert_eq!(ids(&looked.hits), expected[..5]);
    for hit in &looked.hits {
        let before = plain.hits.iter().find(|plain| plain.event.id == hit.event.id).unwrap();
        assert_eq!((hit.score, hit.evidence, &hit.parts), (before.score, before.evidence, &before.parts));
        let sum: f32 = hit.parts.iter().map(|part| part.value).sum();
        assert!((sum - hit.score.get()).abs() < 1e-6, "the explanation adds up to the score");
    }
    let values: Vec<_> = looked.hits.iter().map(|hit| hit.reranked.unwrap()).collect();
    assert_eq!(values, [19.0, 18.0, 17.0, 16.0, 15.0]);
}

#[tokio::test]
async fn what_is_behind_the_twentieth_hit_stays_there() {
    let memory = memory(Engine::builder().with_reranker(Arc::new(Backwards(model())))).await;
    let plain = memory.recall(QUESTION).limit(25).await.unwrap();
    let looked = memory.recall(QUESTION).limit(25).reranked().await.unwrap();
    assert_eq!(ids(&looked.hits)[20..], ids(&plain.hits)[20..]);
    assert!(looked.hits[20..].iter().all(|hit| hit.reranked.is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_reranker_that_is_missing_or_misbehaves_is_a_gap_and_changes_nothing() {
    let whole: Arc<dyn Reranker> = Arc::new(Backwards(model()));
    let faulty = |fault| Some(Arc::new(Faulty::new(Arc::clone(&whole), fault)) as Arc<dyn Reranker>);
    let wrong = |values: &[f32]| Some(Arc::new(Wrong(model(), values.to_vec())) as Arc<dyn Reranker>);
    let internal = GapCause::Failed(ErrorKind::Internal);
    let rows = [
        (None, GapCause::NotConfigured),
        (faulty(Fault::Failing(ErrorKind::Unavailable)), GapCause::Failed(ErrorKind::Unavailable)),
        (faulty(Fault::Panicking), internal),
        (faulty(Fault::Hanging), GapCause::TimedOut(std::time::Duration::from_millis(500))),
        (wrong(&[1.0]), internal),
        (wrong(&[f32::NAN; 20]), internal),
    ];
    for (reranker, cause) in rows {
        let builder = Engine::builder();
        let builder = match reranker {
            Some(reranker) => builder.with_reranker(reranker),
            None => builder,
        };
        let memory = memory(builder).await;
        let plain = memory.recall(QUESTION).limit(7).await.unwrap();
        let looked = memory.recall(QUESTION).limit(7).reranked().await.unwrap();
        assert_eq!(looked.gaps, [Gap { layer: Layer::Rerank, cause }]);
        assert_eq!(looked.hits, plain.hits, "{cause:?}");
    }
}
