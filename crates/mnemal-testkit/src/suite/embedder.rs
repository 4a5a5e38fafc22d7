//! Cases of `Embedder`.

use mnemal_core::{Embedder, Result};

/// Texts of several scripts and shapes.
const TEXTS: [&str; 4] =
    ["the red apple fell", "a quiet evening by the sea", "deploys happen on Tuesdays", "x1 y2"];

/// What is declared holds.
pub async fn vectors_have_unit_length_and_the_declared_dimension(embedder: &impl Embedder) -> Result<()> {
    let vectors = embedder.embed(&TEXTS).await?;
    assert_eq!(vectors.len(), TEXTS.len());
    for vector in vectors.into_iter().flatten() {
        assert_eq!(vector.len(), embedder.dimensions());
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() <= 1e-3, "length {length}");
    }
    assert!((0.0..1.0).contains(&embedder.floor()));
    Ok(())
}

/// A text's vector depends on the text alone.
pub async fn a_batch_equals_its_singles(embedder: &impl Embedder) -> Result<()> {
    let batch = embedder.embed(&TEXTS).await?;
    for (text, together) in TEXTS.iter().zip(batch) {
        assert_eq!(embedder.embed(&[text]).await?.into_iter().next().flatten(), together);
    }
    Ok(())
}

/// No vector is not a zero vector.
pub async fn a_text_without_words_has_no_vector(embedder: &impl Embedder) -> Result<()> {
    assert_eq!(embedder.embed(&["", "  \n"]).await?, [None, None]);
    assert!(embedder.embed(&[]).await?.is_empty());
    Ok(())
}

/// A question can be compared with texts, is read the same each time, and may lack words as a text may.
pub async fn a_question_has_a_vector_of_the_same_kind(embedder: &impl Embedder) -> Result<()> {
    for question in TEXTS {
        let vector = embedder.embed_query(question).await?;
        assert_eq!(embedder.embed_query(question).await?, vector);
        let Some(vector) = vector else { continue };
        assert_eq!(vector.len(), embedder.dimensions());
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() <= 1e-3, "length {length}");
    }
    assert_eq!(embedder.embed_query(" ").await?, None);
    Ok(())
}

/// No text makes an embedder fail.
pub async fn hostile_text_gives_an_answer(embedder: &impl Embedder) -> Result<()> {
    let long = "word ".repeat(20_000);
    let texts = ["\0\u{1}\u{202e}", "😀😀", "日本語のテキスト", "\u{fffd}", &long];
    let vectors = embedder.embed(&texts).await?;
    assert_eq!(vectors.len(), texts.len());
    assert!(vectors.iter().flatten().flatten().all(|value| value.is_finite()));
    Ok(())
}
