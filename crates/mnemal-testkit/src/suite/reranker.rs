//! Cases of `Reranker`.

use mnemal_core::{Reranker, Result};

/// What is asked.
const QUESTION: &str = "where does the red apple come from";
/// One that answers, one that shares a word, one that does not.
const TEXTS: [&str; 3] =
    ["the red apple comes from the garden", "a red evening", "deploys happen on Tuesdays"];

/// Values follow the texts, not their places, and the better answer has the higher one.
pub async fn every_text_has_a_finite_value_in_its_place(reranker: &impl Reranker) -> Result<()> {
    let values = reranker.rerank(QUESTION, &TEXTS).await?;
    assert!(values.iter().all(|value| value.is_finite()));
    let mut backwards = TEXTS;
    backwards.reverse();
    let mut reversed = reranker.rerank(QUESTION, &backwards).await?;
    reversed.reverse();
    assert_eq!(values, reversed);
    assert_eq!(values.len(), TEXTS.len());
    assert!(values.first() > values.last(), "{values:?}");
    Ok(())
}

/// No text makes a reranker fail.
pub async fn any_text_and_no_text_have_an_answer(reranker: &impl Reranker) -> Result<()> {
    assert!(reranker.rerank(QUESTION, &[]).await?.is_empty());
    let long = "word ".repeat(20_000);
    let texts = ["", "\0\u{1}\u{202e}", "日本語のテキスト", long.as_str()];
    for question in [QUESTION, "", long.as_str()] {
        let values = reranker.rerank(question, &texts).await?;
        assert_eq!(values.len(), texts.len());
        assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
    }
    Ok(())
}
