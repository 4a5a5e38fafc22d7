//! The tokenizer against the reference tokenizer of BERT.

use mnemal_providers::StaticEmbedder;
use proptest::prelude::*;

#[test]
fn pieces_are_those_of_the_reference_tokenizer() {
    let embedder = StaticEmbedder::built_in();
    let lines = include_str!("fixtures/wordpiece.jsonl").lines();
    let mut checked = 0;
    for line in lines {
        let (text, expected): (String, Vec<Option<u32>>) = serde_json::from_str(line).unwrap();
        assert_eq!(embedder.pieces(&text), expected, "{text:?}");
        checked += 1;
    }
    assert!(checked > 300, "only {checked} strings in the fixture");
}

#[test]
fn a_word_above_a_hundred_characters_is_unknown() {
    let embedder = StaticEmbedder::built_in();
    assert_eq!(embedder.pieces(&"é".repeat(101)), [None]);
    assert!(embedder.pieces(&"é".repeat(100)).iter().all(Option::is_some));
}

proptest! {
    #[test]
    fn any_text_has_pieces_inside_the_vocabulary(text in any::<String>()) {
        let embedder = StaticEmbedder::built_in();
        for piece in embedder.pieces(&text).into_iter().flatten() {
            prop_assert!(piece < 30_522);
        }
    }
}
