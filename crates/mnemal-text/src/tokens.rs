//! Token-count estimate from a text's surface alone.

mod piece;
mod word;

use piece::{CharacterKind, Piece, cost, pieces};
use std::ops::Range;
use unicode_segmentation::GraphemeCursor;

/// Costs are added up in hundredths of a token and rounded up at the end.
const TOKEN: u64 = 100;

/// Returns an estimate of the number of tokens of `text` in the vocabularies `cl100k` and `o200k`.
///
/// It errs on the high side: on the project's fixture of prose in eight languages, code, JSON, numbers and emoji no line has
/// more tokens in either vocabulary than its estimate, and English prose is overestimated by at most 25 % in the mean.
/// That is a calibration and no proof: rare words, random letters and other vocabularies can count more.
/// Joining texts adds at most one token, `estimate(a + b) ≤ estimate(a) + estimate(b) + 1`, so a sum over parts, plus one for
/// each seam, bounds the whole; at a line break the seam is free. A seam that makes a word of more than 64 letters is the
/// exception: such a word is counted in several, and the cut may fall into a common one.
pub fn estimate_tokens(text: &str) -> u32 {
    round_up(estimate_parts(text))
}

/// Returns the estimate before rounding, in hundredths of a token.
///
/// Lines are additive: for texts that end in a line break and begin with none, the total is the sum.
pub fn estimate_parts(text: &str) -> u64 {
    pieces(text).map(|piece| cost(text, &piece)).sum()
}

/// Returns the length in bytes of the longest prefix of `text`, ending between two characters as readers see them, whose
/// [`estimate_tokens`] is at most `budget`.
///
/// Only as much of the text is read as fits.
pub fn token_prefix(text: &str, budget: u32) -> usize {
    let budget = u64::from(budget) * TOKEN;
    let mut settled = 0;
    let mut open: Vec<(u64, Piece)> = Vec::new();
    for piece in pieces(text) {
        if settled > budget {
            break;
        }
        let own = cost(text, &piece);
        open.push((settled, piece));
        settled += own;
    }
    let fitting = open.iter().rev().find_map(|(before, piece)| longest_part(text, piece, budget - before));
    fitting.unwrap_or(0)
}

/// The last grapheme boundary behind the start of a piece up to which it costs at most `budget` when the text ends there.
fn longest_part(text: &str, piece: &Piece, budget: u64) -> Option<usize> {
    let Range { start, end } = piece.range;
    let body = text.get(piece.range.clone())?;
    let fits = |end: usize| {
        let part = Piece { range: start..end, kind: piece.kind };
        text.get(..end).is_some_and(|prefix| cost(prefix, &part) <= budget)
    };
    let is_border =
        |end: usize| GraphemeCursor::new(end, text.len(), true).is_boundary(text, 0).unwrap_or(false);
    let mut ends: Vec<usize> = body.char_indices().skip(1).map(|(at, _)| start + at).chain([end]).collect();
    if piece.kind != CharacterKind::Word {
        let fitting = ends.partition_point(|&end| fits(end)); // only a longer word can be cheaper than a part of it
        ends.truncate(fitting);
    }
    ends.into_iter().rev().find(|&end| is_border(end) && fits(end))
}

fn round_up(cost: u64) -> u32 {
    u32::try_from(cost.div_ceil(TOKEN)).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[a-zA-Z0-9 .,'\n_(){}=é-]{0,60}",
            "(the|information| |something|x|\n|Some|5|'|don't){0,20}",
            "[a-eа-я一-三ぁ-お가-나😀❤️\u{200d}👩\u{300} \r\n]{0,30}",
        ]
    }

    #[test]
    fn an_empty_text_has_no_tokens() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(token_prefix("", 5), 0);
        assert_eq!(token_prefix("word", 0), 0);
    }

    #[test]
    fn common_words_are_one_token_each() {
        assert_eq!(estimate_tokens("the weather was nice yesterday"), 5);
        assert_eq!(estimate_tokens("year 2024"), 4);
    }

    #[test]
    fn a_prefix_ends_between_characters_as_readers_see_them() {
        let family = "👨\u{200d}👩\u{200d}👧";
        let text = format!("a {family} b");
        for budget in 0..40 {
            let end = token_prefix(&text, budget);
            assert!(
                [0, 1, 2, 2 + family.len(), 3 + family.len(), text.len()].contains(&end),
                "{budget}: {end}"
            );
        }
        assert_eq!(token_prefix(&text, 40), text.len());
    }

    #[test]
    fn a_megabyte_without_a_border_is_no_problem() {
        for unit in ["a", " ", "5", "漢", "-", "\u{300}"] {
            let text = unit.repeat(1_000_000);
            let end = token_prefix(&text, 1_000);
            assert!(estimate_tokens(&text[..end]) <= 1_000);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn joining_texts_adds_at_most_one_token(a in any_text(), b in any_text()) {
            let joined = format!("{a}{b}");
            let mut words = joined.split(|letter: char| !letter.is_alphabetic());
            prop_assume!(words.all(|word| word.chars().count() <= word::LONGEST_WORD));
            prop_assert!(estimate_tokens(&joined) <= estimate_tokens(&a) + estimate_tokens(&b) + 1);
        }

        #[test]
        fn lines_bound_the_whole(lines in prop::collection::vec("[a-zA-Zé0-9 .,'我😀-]{0,30}", 0..8)) {
            let lines: Vec<String> = lines.into_iter().map(|line| line + "\n").collect();
            let whole = lines.concat();
            let sum: u32 = lines.iter().map(|line| estimate_tokens(line)).sum();
            prop_assert!(estimate_tokens(&whole) <= sum);
        }

        #[test]
        fn parts_of_lines_add_up(lines in prop::collection::vec("[a-zA-Zé0-9 .,'我😀|-][a-zA-Zé0-9 .,'\t\r\n我😀|-]{0,30}", 0..8)) {
            let lines: Vec<String> = lines.into_iter().map(|line| line + "\n").collect();
            let sum: u64 = lines.iter().map(|line| estimate_parts(line)).sum();
            prop_assert_eq!(estimate_parts(&lines.concat()), sum);
        }

        #[test]
        fn a_prefix_fits_and_no_longer_one_does(text in any_text(), budget in 0_u32..20) {
            use unicode_segmentation::UnicodeSegmentation;
            let end = token_prefix(&text, budget);
            let fitting = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()])
                .filter(|&end| estimate_tokens(&text[..end]) <= budget).max().unwrap_or(0);
            prop_assert_eq!(end, fitting);
        }
    }
}
