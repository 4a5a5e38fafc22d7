//! Cache of the latest query vectors.

use std::collections::HashMap;

/// Cached vectors. Source: own choice (BA-43); with 384 values each they take 15 MB when full.
const KEPT: usize = 10_000;

/// A vector, or the knowledge that the text has none.
pub(crate) type CachedVector = Option<Vec<f32>>;

/// The vectors of the last 10,000 distinct queries, by a hash of the text; least recently used ones are evicted first.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    answers: HashMap<[u8; 32], (u64, CachedVector)>,
    asked: u64,
}

impl Cache {
    /// Returns the cached answer to a query.
    pub(crate) fn get(&mut self, question: &str) -> Option<CachedVector> {
        self.asked += 1;
        let (asked, answer) = self.answers.get_mut(&key(question))?;
        *asked = self.asked;
        Some(answer.clone())
    }

    /// Stores an answer. An eviction scans all entries, which costs little compared with computing a vector.
    pub(crate) fn put(&mut self, question: &str, answer: CachedVector) {
        self.asked += 1;
        self.answers.insert(key(question), (self.asked, answer));
        if self.answers.len() > KEPT {
            let oldest = self.answers.iter().min_by_key(|(_, (asked, _))| *asked).map(|(key, _)| *key);
            oldest.and_then(|key| self.answers.remove(&key));
        }
    }
}

fn key(question: &str) -> [u8; 32] {
    *blake3::hash(question.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: BA-43
    #[test]
    fn the_question_that_was_not_asked_for_longest_goes_first() {
        let mut cache = Cache::default();
        cache.put("first", None);
        for number in 0..KEPT - 1 {
            cache.put(&format!("question {number}"), Some(vec![1.0]));
        }
        assert_eq!(cache.get("first"), Some(None), "all that fit are kept");
        cache.put("one more", None);
        assert_eq!(cache.answers.len(), KEPT);
        assert_eq!(cache.get("question 0"), None, "it is the oldest, because the first was asked again");
        assert_eq!((cache.get("first"), cache.get("question 1")), (Some(None), Some(Some(vec![1.0]))));
    }
}
