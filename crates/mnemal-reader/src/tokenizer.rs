//! Word pieces, by the model's vocabulary.

use std::collections::HashMap;

use mnemal_core::Result;
use unicode_normalization::UnicodeNormalization as _;

use crate::model::corrupt;

/// Most pieces read of one word. The same number as in training.
const MOST_PIECES: usize = 12;
/// Penalty of an unknown sign below the worst piece. The same number as in training.
const UNKNOWN_WORSE: f32 = 10.0;
/// Index of the unknown piece. Source: the vocabulary of XLM-RoBERTa.
const UNKNOWN: i32 = 3;

/// Segments words into the pieces with the highest sum of scores.
#[derive(Debug)]
pub(crate) struct PieceTokenizer {
    ids: HashMap<Box<str>, (i32, f32)>,
    longest: usize,
    least: f32,
}

impl PieceTokenizer {
    /// Reads the vocabulary: a piece, a tab and its score per line.
    ///
    /// # Errors
    /// `Corrupt` where a line is no such pair.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let (mut ids, mut longest, mut least) = (HashMap::new(), 1, f32::INFINITY);
        for (at, line) in text.lines().enumerate() {
            let pair =
                line.rsplit_once('\t').and_then(|(piece, score)| Some((piece, score.parse::<f32>().ok()?)));
            let (piece, score) = pair.ok_or_else(|| corrupt("a piece of the reader has no score"))?;
            let id = i32::try_from(at).map_err(|_| corrupt("the reader has too many pieces"))?;
            longest = longest.max(piece.chars().count());
            least = least.min(score);
            ids.insert(piece.into(), (id, score));
        }
        Ok(Self { ids, longest, least: least - UNKNOWN_WORSE })
    }

    /// Returns the pieces of a word; one after a space begins with `▁`.
    #[expect(clippy::fn_params_excessive_bools, reason = "whether a space stands before the word")]
    pub(crate) fn of(&self, word: &str, is_first: bool) -> Vec<i32> {
        let marked: String = is_first.then_some('▁').into_iter().chain(word.nfkc()).collect();
        let ends: Vec<usize> = marked.char_indices().map(|(at, _)| at).chain([marked.len()]).collect();
        // For each place: the best sum up to it, where its last piece begins, and that piece.
        let mut best: Vec<(f32, usize, i32)> = vec![(0.0, 0, UNKNOWN)];
        for (end, to) in ends.iter().enumerate().skip(1) {
            let first = end.saturating_sub(self.longest);
            let starts = ends.iter().zip(&best).enumerate().take(end).skip(first);
            let cuts = starts.filter_map(|(start, (from, (sum, ..)))| {
                let piece = marked.get(*from..*to).unwrap_or_default();
                let (id, score) = match self.ids.get(piece) {
                    Some(known) => *known,
                    None if end - start == 1 => (UNKNOWN, self.least),
                    None => return None,
                };
                Some((sum + score, start, id))
            });
            // The first of equals, as in training.
            let found = cuts.reduce(|best, cut| if cut.0 > best.0 { cut } else { best });
            best.push(found.unwrap_or((f32::NEG_INFINITY, end - 1, UNKNOWN)));
        }
        let mut pieces = Vec::new();
        let mut at = best.len() - 1;
        while let Some((_, start, id)) = best.get(at).filter(|_| at > 0) {
            pieces.push(*id);
            at = *start;
        }
        pieces.reverse();
        pieces.truncate(MOST_PIECES);
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_cut_wins_and_unknown_signs_stand_alone() {
        let pieces = PieceTokenizer::read(
            "<s>\t0\n</s>\t0\n<pad>\t0\n<unk>\t0\n▁li\t-3\nve\t-2\n▁live\t-4\ns\t-1\n▁\t-1\nli\t-3",
        )
        .unwrap();
        assert_eq!(pieces.of("lives", true), [6, 7]);
        assert_eq!(pieces.of("live", false), [9, 5]);
        assert_eq!(pieces.of("s☃", true), [8, 7, UNKNOWN]);
        assert!(PieceTokenizer::read("no score").is_err());
    }
}
