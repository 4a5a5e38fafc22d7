//! Detection of repeated word runs: the parts of a text that were seen before.

use crate::fold::{lower_into, strip_accents};
use crate::hash::{chain, term_hash};
use crate::words::{for_each_chunk, push_words, separates_parts};
use std::collections::HashSet;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The weight of a word; a character of a script without spaces weighs half of it, because a word there has about two.
const WORD: usize = 2;

/// The runs of `n` consecutive words of some texts, for finding repetitions in another text.
///
/// Words are compared folded and not stemmed, so case, accents, white space and punctuation make no difference, and any other
/// word does. In scripts without spaces two characters count as a word. Runs are stored as 64-bit hashes, one per word;
/// accidental matches are negligible for honest texts.
#[derive(Debug, Clone)]
pub struct Ngrams {
    n: usize,
    seen: HashSet<u64>,
}

impl Default for Ngrams {
    fn default() -> Self {
        Self::new(Self::ECHO)
    }
}

impl Ngrams {
    /// Number of consecutive words that count as a repetition.
    ///
    /// Source: own choice; common phrases are shorter, and a repeated sentence is longer.
    pub const ECHO: usize = 8;

    /// Returns an empty set of runs of `n` words; 0 is read as 1.
    pub fn new(n: usize) -> Self {
        Self { n: n.max(1), seen: HashSet::new() }
    }

    /// Adds the runs of one text; a text of fewer than `n` words adds nothing.
    pub fn add(&mut self, text: &str) {
        self.seen.extend(windows(&units(text), self.n).map(|(_, hash)| hash));
    }

    /// Returns whether nothing can match.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Returns the byte ranges of `text` that lie in a run of `n` words of an added text.
    ///
    /// Ranges are on character boundaries, in order, and neither overlap nor touch; each begins and ends with a word.
    pub fn spans(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_empty() {
            return Vec::new();
        }
        let units = units(text);
        let mut spans: Vec<Range<usize>> = Vec::new();
        let mut covered = 0;
        for (window, hash) in windows(&units, self.n) {
            if !self.seen.contains(&hash) {
                continue;
            }
            let (Some(first), Some(last)) = (units.get(window.start), units.get(window.end - 1)) else {
                continue;
            };
            match spans.last_mut() {
                Some(span) if window.start <= covered => span.end = span.end.max(last.range.end),
                _ => spans.push(first.range.start..last.range.end),
            }
            covered = window.end;
        }
        spans
    }
}

/// A word, or one character of a script without spaces.
#[derive(Debug)]
struct Unit {
    hash: u64,
    weight: usize,
    range: Range<usize>,
}

fn units(text: &str) -> Vec<Unit> {
    let mut units = Vec::with_capacity(text.len() / 6);
    let mut words = Vec::new();
    let mut folded = String::new();
    let mut push = |range: Range<usize>, weight: usize| {
        folded.clear();
        lower_into(text.get(range.clone()).unwrap_or_default(), &mut folded);
        strip_accents(&mut folded);
        units.push(Unit { hash: term_hash(&folded), weight, range });
    };
    for_each_chunk(text, |offset, chunk| {
        words.clear();
        push_words(offset, chunk, &mut words);
        for word in &words {
            let raw = text.get(word.range.clone()).unwrap_or_default();
            let mut start = word.range.start;
            if word.paired {
                for grapheme in raw.graphemes(true) {
                    push(start..start + grapheme.len(), WORD / 2);
                    start += grapheme.len();
                }
                continue;
            }
            for part in raw.split_inclusive(separates_parts) {
                let bare = part.trim_end_matches(separates_parts);
                if !bare.is_empty() {
                    push(start..start + bare.len(), WORD);
                }
                start += part.len();
            }
        }
    });
    units
}

/// Every shortest run of units that weighs at least `n` words, with its hash.
fn windows(units: &[Unit], n: usize) -> impl Iterator<Item = (Range<usize>, u64)> + '_ {
    (0..units.len()).filter_map(move |start| {
        let (mut weight, mut hash) = (0, 0);
        for (end, unit) in units.iter().enumerate().skip(start) {
            weight += unit.weight;
            hash = chain(hash, unit.hash);
            if weight >= n * WORD {
                return Some((start..end + 1, hash));
            }
        }
        None
    })
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(seen: &str, text: &str, expect: &[&str]) {
        let mut ngrams = Ngrams::default();
        ngrams.add(seen);
        let found: Vec<&str> = ngrams.spans(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, expect, "{text}");
    }

    const SHOWN: &str = "Anna prefers the window seat on long flights to Lisbon.";

    #[test]
    fn eight_words_in_a_row_are_a_repetition_and_seven_are_not() {
        check(
            SHOWN,
            "So anna prefers THE window-seat, on long flights — got it!",
            &["anna prefers THE window-seat, on long flights"],
        );
        check(SHOWN, "prefers the window seat on long flights", &[]);
        check(SHOWN, "Anna prefers the window seat on short flights to Lisbon", &[]);
    }

    #[test]
    fn overlapping_runs_are_one_span_and_separate_ones_stay_apart() {
        check(
            SHOWN,
            &format!("{SHOWN} Well. {SHOWN}"),
            &["Anna prefers the window seat on long flights to Lisbon"; 2],
        );
    }

    #[test]
    fn scripts_without_spaces_need_sixteen_characters() {
        let shown = "安娜喜欢在去里斯本的长途航班上坐靠窗的座位";
        check(shown, "我记得安娜喜欢在去里斯本的长途航班上坐。", &["安娜喜欢在去里斯本的长途航班上坐"]);
        check(shown, "我记得安娜喜欢在去里斯本。", &[]);
    }

    #[test]
    fn an_empty_set_finds_nothing() {
        assert!(Ngrams::new(0).spans("a b c").is_empty());
        check("too short", "too short", &[]);
    }

    proptest! {
        #[test]
        fn spans_are_ordered_and_a_long_text_is_found_in_itself(text in prop_oneof!["\\PC{0,80}", "([ab一二] ?){0,60}"], n in 1_usize..6) {
            let mut ngrams = Ngrams::new(n);
            ngrams.add(&text);
            let spans = ngrams.spans(&text);
            prop_assert_eq!(spans.is_empty(), ngrams.is_empty());
            let mut last = None;
            for span in spans {
                prop_assert!(text.get(span.clone()).is_some_and(|part| !part.is_empty()));
                prop_assert!(last.is_none_or(|end| end <= span.start));
                last = Some(span.end);
            }
        }
    }
}
