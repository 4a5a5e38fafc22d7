//! Reranking: a slow model scores the best hits against the question and reorders them.

use std::num::NonZeroUsize;

use mnemal_core::{Error, Reranker, Result};

use crate::request::Hit;

/// Most hits that are reranked. Source: own measurement; a model scores twenty in a third of a second.
pub const RERANKED: NonZeroUsize = NonZeroUsize::new(20).expect("twenty is not zero");

/// Reorders the first 20 hits by the reranker's scores, and stores the score in each.
///
/// Ranking scores, their parts and evidence are unchanged. Hits with equal scores keep their order. On failure nothing is
/// changed.
///
/// # Errors
/// Those of the reranker; `Internal` if it does not return a number for every text.
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
    hit.event.body().map_or("", |kept| kept.content.as_str())
}
