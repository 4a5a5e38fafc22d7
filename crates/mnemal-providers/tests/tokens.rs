//! Exact token counts.

#![cfg(feature = "tokens-exact")]

use mnemal_core::{TokenCount, TokenCounter};
use mnemal_providers::{BpeEncoding, BpeTokenCounter};
use proptest::prelude::*;

#[test]
fn counts_are_those_of_the_encodings() {
    let (cl100k, o200k) =
        (BpeTokenCounter::new(BpeEncoding::Cl100k), BpeTokenCounter::new(BpeEncoding::O200k));
    // Source: the encodings' reference implementation: `hello world` is 2 tokens in both, `tiktoken is great!` is 6.
    assert_eq!(cl100k.count("hello world"), TokenCount(2));
    assert_eq!(o200k.count("hello world"), TokenCount(2));
    assert_eq!(cl100k.count("tiktoken is great!"), TokenCount(6));
    assert_eq!(cl100k.count(""), TokenCount(0));
    assert_eq!((cl100k.name(), o200k.name()), ("cl100k_base", "o200k_base"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_prefix_fits_its_budget_and_ends_on_a_character(text in "\\PC{0,60}", budget in 0_u32..40) {
        let counter = BpeTokenCounter::new(BpeEncoding::O200k);
        let prefix = counter.prefix(&text, TokenCount(budget));
        prop_assert_eq!(prefix.start, 0);
        let kept = text.get(prefix.clone());
        prop_assert!(kept.is_some_and(|kept| counter.count(kept) <= TokenCount(budget)), "{:?}", kept);
        if counter.count(&text) <= TokenCount(budget) {
            prop_assert_eq!(prefix.end, text.len());
        }
    }
}

#[test]
fn a_prefix_of_plain_words_uses_the_whole_budget() {
    let counter = BpeTokenCounter::new(BpeEncoding::O200k);
    let text = "hello world ".repeat(50);
    for budget in [1, 7, 50] {
        let prefix = counter.prefix(&text, TokenCount(budget));
        assert_eq!(counter.count(text.get(prefix).unwrap()), TokenCount(budget));
    }
}
