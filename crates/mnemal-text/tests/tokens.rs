//! The token estimate against the tokenizers it approximates.

use bpe_openai::{cl100k_base, o200k_base};
use mnemal_text::estimate_tokens;
use std::collections::BTreeMap;

const FIXTURE: &str = include_str!("fixtures/tokens.tsv");

/// Kind and text of every line.
fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    FIXTURE.lines().filter_map(|line| line.split_once('\t'))
}

/// What the more talkative of the two vocabularies counts.
fn real(text: &str) -> u32 {
    let count = cl100k_base().count(text).max(o200k_base().count(text));
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[test]
fn no_line_has_more_tokens_than_its_estimate() {
    let mut low = Vec::new();
    for (kind, text) in lines() {
        let (estimate, real) = (estimate_tokens(text), real(text));
        if estimate < real {
            low.push(format!("{kind}: {estimate} < {real}: {text}"));
        }
    }
    assert!(low.is_empty(), "{}", low.join("\n"));
}

#[test]
fn no_document_has_more_tokens_than_the_sum_of_its_lines() {
    let mut documents: BTreeMap<&str, (String, u32)> = BTreeMap::new();
    for (kind, text) in lines() {
        let (document, sum) = documents.entry(kind).or_default();
        let line = format!("{text}\n");
        document.push_str(&line);
        *sum += estimate_tokens(&line);
    }
    for (kind, (document, sum)) in documents {
        assert!(estimate_tokens(&document) <= sum, "{kind}");
        assert!(real(&document) <= estimate_tokens(&document), "{kind}");
    }
}

#[test]
fn the_mean_overshoot_is_bounded_by_kind() {
    let mut sums: BTreeMap<&str, (f64, f64, f64)> = BTreeMap::new();
    for (kind, text) in lines() {
        let (overshoot, o200k, count) = sums.entry(kind).or_default();
        *overshoot += f64::from(estimate_tokens(text)) / f64::from(real(text)) - 1.0;
        *o200k += f64::from(estimate_tokens(text)) / o200k_base().count(text) as f64 - 1.0;
        *count += 1.0;
    }
    for (kind, bound) in [
        ("en", 0.25),
        ("de", 0.35),
        ("fr", 0.35),
        ("es", 0.35),
        ("pt", 0.35),
        ("ru", 0.35),
        ("zh", 0.35),
        ("ja", 0.35),
        ("code", 0.55),
        ("json", 0.45),
        ("number", 0.20),
        ("emoji", 0.80),
        ("other", 0.80),
    ] {
        let (overshoot, o200k, count) = sums[kind];
        println!(
            "{kind:6} {:+.3} over the larger count, {:+.3} over o200k, {count} lines",
            overshoot / count,
            o200k / count
        );
        assert!(overshoot / count <= bound, "{kind}: {}", overshoot / count);
    }
}
