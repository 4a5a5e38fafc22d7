//! Vector cache of a slow embedder, in a file, across runs.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use async_trait::async_trait;
use mnemal_core::{Embedder, ModelId};

/// Bytes that stand for a text: the hash of the model's name, of what is asked, and of the text.
type Key = [u8; 32];
/// A vector, or the knowledge that a text has none.
type Answer = Option<Vec<f32>>;

/// An embedder whose vectors are taken from a file where they are there, and appended to it where they are not.
///
/// The file is a list of records of one size: a key, then the values, little endian; a text without a vector has zeros.
#[derive(Debug)]
pub struct CachedEmbedder {
    embedder: Arc<dyn Embedder>,
    answers: Mutex<(HashMap<Key, Answer>, File)>,
}

impl CachedEmbedder {
    /// Reads the file, which is made if it is not there.
    ///
    /// # Errors
    /// A file that cannot be read, or that is no list of records of this size.
    pub fn open(file: &Path, embedder: Arc<dyn Embedder>) -> Result<Self> {
        let shown = file.display();
        let out = OpenOptions::new().create(true).append(true).open(file);
        let out = out.with_context(|| format!("cannot write {shown}"))?;
        let bytes = std::fs::read(file).with_context(|| format!("cannot read {shown}"))?;
        let (records, rest) = (bytes.chunks_exact(record(&*embedder)), bytes.len() % record(&*embedder));
        ensure!(rest == 0, "{shown} holds vectors of another size");
        let answers = records.filter_map(|record| {
            let (key, values) = record.split_first_chunk::<32>()?;
            let (values, _) = values.as_chunks::<4>();
            let values: Vec<f32> = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
            Some((*key, values.iter().any(|value| *value != 0.0).then_some(values)))
        });
        Ok(Self { answers: Mutex::new((answers.collect(), out)), embedder })
    }

    fn get(&self, key: &Key) -> Option<Answer> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).0.get(key).cloned()
    }

    fn put(&self, key: Key, answer: Answer) -> mnemal_core::Result<()> {
        let mut record = key.to_vec();
        let values = answer.clone().unwrap_or_else(|| vec![0.0; self.dimensions()]);
        record.extend(values.into_iter().flat_map(f32::to_le_bytes));
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let written = answers.1.write_all(&record);
        answers.0.insert(key, answer);
        written.map_err(|cause| mnemal_core::Error::internal("cannot keep a vector").because(cause))
    }

    fn key(&self, what: &str, text: &str) -> Key {
        let mut hash = blake3::Hasher::new();
        hash.update(self.model().as_str().as_bytes()).update(what.as_bytes()).update(text.as_bytes());
        *hash.finalize().as_bytes()
    }
}

/// Bytes of a record.
fn record(embedder: &dyn Embedder) -> usize {
    size_of::<Key>() + 4 * embedder.dimensions()
}

#[async_trait]
impl Embedder for CachedEmbedder {
    fn model(&self) -> &ModelId {
        self.embedder.model()
    }

    fn dimensions(&self) -> usize {
        self.embedder.dimensions()
    }

    fn floor(&self) -> f32 {
        self.embedder.floor()
    }

    async fn embed(&self, texts: &[&str]) -> mnemal_core::Result<Vec<Answer>> {
        let mut answers = Vec::with_capacity(texts.len());
        for text in texts {
            let key = self.key("\ttext\t", text);
            if self.get(&key).is_none() {
                let answer = self.embedder.embed(&[text]).await?.into_iter().next().flatten();
                self.put(key, answer)?;
            }
            answers.push(self.get(&key).flatten());
        }
        Ok(answers)
    }

    async fn embed_query(&self, query: &str) -> mnemal_core::Result<Answer> {
        let key = self.key("\tquestion\t", query);
        if self.get(&key).is_none() {
            let answer = self.embedder.embed_query(query).await?;
            self.put(key, answer)?;
        }
        Ok(self.get(&key).flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mnemal_testkit::HashEmbedder;

    #[test]
    fn what_was_embedded_is_read_again_and_another_size_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vectors");
        let model = |name: &str| ModelId::new(name).unwrap();
        let embedder = |name, dimensions| Arc::new(HashEmbedder::new(model(name), dimensions));
        let ask = |kept: &CachedEmbedder| {
            mnemal_testkit::block_on(async {
                Ok((kept.embed(&["tea", ""]).await?, kept.embed_query("tea").await?))
            })
        };
        let first = CachedEmbedder::open(&file, embedder("one", 4)).unwrap();
        let answers = ask(&first).unwrap();
        assert!(answers.0[0].is_some() && answers.0[1].is_none());
        let length = std::fs::metadata(&file).unwrap().len();
        assert_eq!(length, 3 * (32 + 16));
        let second = CachedEmbedder::open(&file, embedder("one", 4)).unwrap();
        assert_eq!(ask(&second).unwrap(), answers);
        assert_eq!(std::fs::metadata(&file).unwrap().len(), length, "nothing was embedded anew");
        assert!(ask(&CachedEmbedder::open(&file, embedder("other", 4)).unwrap()).is_ok());
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 2 * length, "another model has other vectors");
        assert!(CachedEmbedder::open(&file, embedder("one", 5)).is_err());
    }
}
