//! Vectors of the built-in table, and texts that have none.

use futures_util::FutureExt;
use mnemal_core::Embedder;
use mnemal_providers::{STATIC_FLOOR, STATIC_MODEL, StaticEmbedder};
use proptest::prelude::*;

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn vector(text: &str) -> Vec<f32> {
    StaticEmbedder::built_in().embed_one(text).expect("a text with a vector")
}

#[test]
fn vectors_are_those_of_the_definition() {
    for line in include_str!("fixtures/vectors.jsonl").lines() {
        let (text, expected): (String, Vec<f32>) = serde_json::from_str(line).unwrap();
        let found = vector(&text);
        assert_eq!(found.len(), expected.len());
        let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-3, "{text:?} is {apart} apart");
    }
}

// proves: NB-19
#[test]
fn the_offline_default_declares_its_model_dimensions_and_floor() {
    let embedder = StaticEmbedder::built_in();
    assert_eq!(embedder.model().as_str(), STATIC_MODEL);
    assert_eq!(embedder.dimensions(), 128);
    assert!((embedder.floor() - STATIC_FLOOR).abs() < f32::EPSILON);
    assert_eq!(vector("peanuts").len(), embedder.dimensions());
}

// proves: BA-44
// proves: DF-71
#[test]
fn a_text_that_the_table_cannot_judge_has_no_vector() {
    let embedder = StaticEmbedder::built_in();
    for text in [
        "",
        " \n\t",
        "to be or not to be",
        "\u{200b}",
        "🦀🦀🦀",
        "我喜欢喝咖啡",
        "Привет, как дела?",
        "日本語のテキスト",
        "שלום עולם",
        &"x".repeat(5_000),
    ] {
        assert!(embedder.embed_one(text).is_none(), "{text:?}");
    }
    for text in ["I drink black coffee 咖啡", "naïve café", "Zürich", "the crab 🦀 walks"] {
        assert!(embedder.embed_one(text).is_some(), "{text:?}");
    }
}

#[test]
fn a_batch_is_its_texts_one_by_one() {
    let embedder = StaticEmbedder::built_in();
    let texts = ["peanuts", "", "I moved to Lisbon.", "我喜欢"];
    let batch = embedder.embed(&texts).now_or_never().expect("the embedder waits for nothing").unwrap();
    let singles: Vec<_> = texts.iter().map(|text| embedder.embed_one(text)).collect();
    assert_eq!(batch, singles);
}

proptest! {
    #[test]
    fn every_vector_has_length_one(text in "(\\PC|[a-z]{1,8}| ){0,80}") {
        if let Some(vector) = StaticEmbedder::built_in().embed_one(&text) {
            prop_assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn case_and_accents_do_not_change_the_vector(text in "[a-z ]{1,60}") {
        let embedder = StaticEmbedder::built_in();
        let accented = text.replace('e', "é");
        prop_assert_eq!(embedder.embed_one(&text), embedder.embed_one(&text.to_uppercase()));
        prop_assert_eq!(embedder.embed_one(&text), embedder.embed_one(&accented));
    }
}
