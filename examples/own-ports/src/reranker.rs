//! Reranker: of the best hits, those come first that say little beside the words of the question.

use mnemal::Result;
use mnemal::ports::{Reranker, async_trait};
use mnemal::types::ModelId;

#[derive(Debug)]
pub struct Terse(ModelId);

impl Terse {
    pub fn new() -> Result<Self> {
        Ok(Self(ModelId::new("own-terse-1")?))
    }
}

#[async_trait]
impl Reranker for Terse {
    fn model(&self) -> &ModelId {
        &self.0
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>> {
        let score = |text: &&str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let shared = words.iter().filter(|word| query.contains(**word)).count();
            shared as f32 / (1 + words.len()) as f32
        };
        Ok(texts.iter().map(score).collect())
    }
}
