//! The second look: a slow model reads the best hits with the question, and puts them into its own order.

use std::num::NonZeroUsize;

use mnemal_core::{Error, Reranker, Result};

use crate::request::Hit;

/// Most hits that are read a second time. Source: RECALL 8.1; a model reads twenty in a third of a second.
pub const RERANKED: NonZeroUsize = NonZeroUsize::new(20).expect("twenty is not zero");

/// Puts the first 20 hits into the order in which a reranker values them, and notes on each what it thought.
///
/// Scores, their summands and evidence stay what they are. Of equally valued hits the one that stood first still does. Where
/// the reranker fails nothing has changed.
///
/// # Errors
/// Whatever the reranker answers; `Internal` when it does not value every text with a number.
pub async fn rerank(hits: &mut [Hit], query: &str, reranker: &dyn Reranker) -> Result<()> {
    let (first, _) = hits.split_at_mut(hits.len().min(RERANKED.get()));
    let texts: Vec<&str> = first.iter().map(text).collect();
    let values = reranker.rerank(query, &texts).await?;
    if values.len() != first.len() || !values.iter().all(|value| value.is_finite()) {
        return Err(Error::internal(format!("{} does not value every text", reranker.model())));
    }
    for (hit, value) in first.iter_mut().zip(values) {
        hit.reranked = Some(value);
    }
    first.sort_by(|one, other| {
        other.reranked.unwrap_or_default().total_cmp(&one.reranked.unwrap_or_default())
    });
    Ok(())
}

fn text(hit: &Hit) -> &str {
    hit.event.kept().map_or("", |kept| kept.content.as_str())
}
