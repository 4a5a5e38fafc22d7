#![doc = include_str!("../README.md")]

mod analyzer;
mod bm25;
mod calendar;
mod chunk;
mod condense;
mod content;
mod coverage;
mod fold;
mod grams;
mod hash;
mod irregular;
mod known_stems;
mod language;
mod ngrams;
mod script;
mod sentence;
mod similarity;
mod stop;
mod tokens;
mod words;

pub use analyzer::{Analyzer, Term};
pub use bm25::{B, K1, bm25, idf};
pub use calendar::date_terms;
pub use chunk::{CHUNK_CHARACTERS, chunks};
pub use condense::condense;
pub use content::content_words;
pub use coverage::{Vocabulary, is_word_list, specifics, uncovered};
pub use fold::fold;
pub use hash::term_hash;
pub use language::Language;
pub use ngrams::Ngrams;
pub use sentence::{Sentence, sentences};
pub use similarity::{jaccard, shingles, similarity};
pub use stop::is_stop_word;
pub use tokens::{estimate_parts, estimate_tokens, token_prefix};
