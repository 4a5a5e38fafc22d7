//! Transformer loaded from a file: vectors and refusals.

#![cfg(feature = "onnx")]
#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]
#![expect(clippy::unused_async, reason = "a fixture of a suite is async")]

use std::path::Path;

use futures_util::FutureExt as _;
use futures_util::future::join;
use mnemal_core::{Embedder, ErrorKind, Result};
use mnemal_providers::{Recipe, TransformerEmbedder};
use mnemal_testkit::{block_on, tiny_row, tiny_transformer, tiny_vocabulary};
use proptest::prelude::*;
use tempfile::TempDir;

/// A folder with the tiny model, and with its vocabulary.
fn folder() -> TempDir {
    folder_of(&tiny_transformer())
}

fn folder_of(model: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.onnx"), model).unwrap();
    std::fs::write(folder.path().join("vocab.txt"), tiny_vocabulary()).unwrap();
    folder
}

fn open(folder: &Path, family: &str) -> Result<TransformerEmbedder> {
    TransformerEmbedder::open(folder, Some(Recipe::of(family).unwrap()))
}

fn embed(embedder: &TransformerEmbedder, text: &str) -> Option<Vec<f32>> {
    block_on(embedder.embed(&[text])).unwrap().remove(0)
}

async fn tiny() -> TransformerEmbedder {
    open(folder().path(), "minilm").unwrap()
}

mnemal_testkit::embedder_conformance!(tiny);

/// The mean of rows, plus `first` if it is given, of length 1.
fn expected(first: Option<usize>, pieces: &[usize]) -> Vec<f32> {
    let mut sum = first.map_or([0.0; 8], tiny_row);
    for piece in pieces {
        for (total, value) in sum.iter_mut().zip(tiny_row(*piece)) {
            *total += value / pieces.len() as f32;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.map(|value| value / length).to_vec()
}

fn assert_near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
    }
}

/// `[CLS]`, `a`, `##b`, `[SEP]`: lines 2, 4, 4 + 36 + 1 and 3 of the vocabulary.
const AB: [usize; 4] = [2, 4, 41, 3];

// proves: NB-19
#[test]
fn a_vector_is_the_mean_of_all_positions_or_the_first_one() {
    let folder = folder();
    let mean = open(folder.path(), "minilm").unwrap();
    assert_near(&embed(&mean, "Ab").unwrap(), &expected(None, &AB));
    let first = open(folder.path(), "bge-small").unwrap();
    assert_near(&embed(&first, "Ab").unwrap(), &expected(Some(2), &AB));
    assert_eq!((mean.dimensions(), first.dimensions()), (8, 8));
}

#[test]
fn a_question_begins_with_the_prefix_of_its_family() {
    let folder = folder();
    let plain = open(folder.path(), "minilm").unwrap();
    assert_eq!(block_on(plain.embed_query("tea")).unwrap(), embed(&plain, "tea"));
    let prefixed = open(folder.path(), "bge-small").unwrap();
    let question = block_on(prefixed.embed_query("tea")).unwrap();
    let written_out = "Represent this sentence for searching relevant passages: tea";
    assert_eq!(question, embed(&prefixed, written_out));
    assert_ne!(question, embed(&prefixed, "tea"));
    assert_eq!(block_on(prefixed.embed_query("  ")).unwrap(), None, "a prefix alone is no question");
}

#[test]
fn what_follows_256_pieces_is_not_read() {
    let embedder = open(folder().path(), "minilm").unwrap();
    let words = |n: usize, last: &str| "a ".repeat(n) + last;
    assert_ne!(embed(&embedder, &words(253, "b")), embed(&embedder, &words(253, "c")));
    assert_eq!(embed(&embedder, &words(254, "b")), embed(&embedder, &words(254, "c c c")));
}

#[test]
fn a_text_that_is_mostly_unknown_has_no_vector() {
    let embedder = open(folder().path(), "minilm").unwrap();
    assert!(embed(&embedder, "чай tea").is_some(), "one unknown word of four pieces");
    assert_eq!(embed(&embedder, "чай и tea чай чай чай"), None);
}

#[test]
fn texts_that_are_asked_for_at_once_are_answered_in_their_order() {
    let embedder = open(folder().path(), "minilm").unwrap();
    let texts = ["one", "two", "", "three"];
    let both = join(embedder.embed(&texts), embedder.embed_query("two"));
    let (vectors, question) = block_on(async { Ok(both.await) }).unwrap();
    let singly: Vec<_> = texts.iter().map(|text| embed(&embedder, text)).collect();
    assert_eq!(vectors.unwrap(), singly);
    assert_eq!(question.unwrap(), singly[1]);
}

#[test]
fn a_question_is_answered_at_once_the_second_time() {
    let embedder = open(folder().path(), "minilm").unwrap();
    let first = block_on(embedder.embed_query("a question")).unwrap();
    let again = embedder.embed_query("a question").now_or_never();
    assert_eq!(again.unwrap().unwrap(), first);
}

// proves: AD-37
#[test]
fn the_models_name_tells_its_files_apart() {
    let name = |folder: &TempDir, family| open(folder.path(), family).unwrap().model().as_str().to_owned();
    let one = folder();
    let mean = name(&one, "minilm");
    assert!(mean.starts_with("minilm-") && mean.len() == "minilm-".len() + 12, "{mean}");
    assert_eq!(mean, name(&folder(), "minilm"), "the same files elsewhere");
    assert_ne!(mean, name(&one, "bge-small"));
    std::fs::write(one.path().join("vocab.txt"), tiny_vocabulary() + "tea\n").unwrap();
    assert_ne!(mean, name(&one, "minilm"), "another vocabulary");
}

#[test]
fn what_cannot_be_a_model_is_refused_by_its_kind() {
    let kind = |folder: &TempDir| open(folder.path(), "minilm").unwrap_err().kind();
    assert_eq!(kind(&tempfile::tempdir().unwrap()), ErrorKind::NotFound);
    assert_eq!(kind(&folder_of(b"")), ErrorKind::Corrupt);
    assert_eq!(kind(&folder_of(b"not a model at all")), ErrorKind::Corrupt);
    let without_vocabulary = folder();
    std::fs::remove_file(without_vocabulary.path().join("vocab.txt")).unwrap();
    assert_eq!(kind(&without_vocabulary), ErrorKind::Unsupported, "the built-in pieces are too many for it");
    let poor = folder();
    std::fs::write(poor.path().join("vocab.txt"), "a\nb\n").unwrap();
    assert_eq!(kind(&poor), ErrorKind::Unsupported);
    std::fs::write(poor.path().join("vocab.txt"), b"\xff").unwrap();
    assert_eq!(kind(&poor), ErrorKind::Corrupt);
}

#[test]
fn a_file_that_is_not_known_needs_a_family() {
    let error = TransformerEmbedder::open(folder().path(), None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.what().contains("minilm, bge-small"), "{error}");
}

/// An error or an answer, and nothing else.
fn reads(model: &[u8]) {
    let folder = folder_of(model);
    if let Ok(embedder) = open(folder.path(), "minilm") {
        let _answer = block_on(embedder.embed(&["a few words", "tea"]));
    }
}

/// Bytes of the output's type, the last thing in the file, which the runtime can do without.
const TYPE_OF_OUTPUT: usize = 64;

#[test]
fn a_cut_file_is_refused_unless_nothing_that_counts_is_missing() {
    let whole = tiny_transformer();
    let expected = embed(&open(folder().path(), "minilm").unwrap(), "tea");
    for length in (0..whole.len()).step_by(11) {
        let folder = folder_of(&whole[..length]);
        if let Ok(embedder) = open(folder.path(), "minilm") {
            assert!(length + TYPE_OF_OUTPUT > whole.len(), "the first {length} of {} bytes", whole.len());
            assert_eq!(embed(&embedder, "tea"), expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_damaged_file_is_an_error_or_another_model(flips in proptest::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4)) {
        let mut model = tiny_transformer();
        for (at, bits) in flips {
            let at = at.index(model.len());
            model[at] ^= bits;
        }
        reads(&model);
    }
}
