//! Embedder: how often each letter occurs. It runs in the process, and opens no socket.

use mnemal::Result;
use mnemal::ports::{Embedder, async_trait};
use mnemal::types::ModelId;

#[derive(Debug)]
pub struct Letters(ModelId);

impl Letters {
    pub fn new() -> Result<Self> {
        Ok(Self(ModelId::new("own-letters-1")?))
    }
}

#[async_trait]
impl Embedder for Letters {
    fn model(&self) -> &ModelId {
        &self.0
    }

    fn dimensions(&self) -> usize {
        26
    }

    fn floor(&self) -> f32 {
        0.95
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>> {
        let vector = |text: &&str| {
            let text = text.to_ascii_lowercase();
            let count = |letter: u8| text.bytes().filter(|byte| *byte == letter).count() as f32;
            let counts: Vec<f32> = (b'a'..=b'z').map(count).collect();
            let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
            (length > 0.0).then(|| counts.iter().map(|count| count / length).collect())
        };
        Ok(texts.iter().map(vector).collect())
    }
}
