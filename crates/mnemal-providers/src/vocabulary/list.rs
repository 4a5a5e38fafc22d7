//! A vocabulary from the text file of a model.

use std::collections::HashMap;

use mnemal_core::{Error, ErrorKind, Result};

use super::{PieceId, SpellingHash, Vocabulary};

/// A vocabulary of one piece per line, numbered from 0 in the order of the lines (`vocab.txt`).
#[derive(Clone, Debug)]
pub(crate) struct PieceList {
    spellings: Vec<Box<[u8]>>,
    /// Pieces that open a word, by what is in the text.
    opening: HashMap<Box<[u8]>, PieceId>,
    /// Pieces that continue one, by what is in the text: without `##`.
    continuing: HashMap<Box<[u8]>, PieceId>,
    longest: usize,
}

impl PieceList {
    /// Reads the lines of a file; of two equal lines the first counts.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are not text, or more lines than a number of a piece has room for.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes)
            .map_err(|cause| Error::new(ErrorKind::Corrupt, "the vocabulary is not text").because(cause))?;
        let mut list =
            Self { spellings: Vec::new(), opening: HashMap::new(), continuing: HashMap::new(), longest: 0 };
        for line in text.lines() {
            let number = PieceId::try_from(list.spellings.len())
                .map_err(|_| Error::new(ErrorKind::Corrupt, "the vocabulary has too many lines"))?;
            let (pieces, word) = match line.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => (&mut list.continuing, rest),
                _ => (&mut list.opening, line),
            };
            pieces.entry(word.as_bytes().into()).or_insert(number);
            list.longest = list.longest.max(word.len());
            list.spellings.push(line.as_bytes().into());
        }
        Ok(list)
    }
}

impl Vocabulary for PieceList {
    fn longest(&self) -> usize {
        self.longest
    }

    fn spelling(&self, piece: PieceId) -> Option<&[u8]> {
        self.spellings.get(piece as usize).map(AsRef::as_ref)
    }

    fn find(&self, state: SpellingHash, word: &[u8]) -> Option<PieceId> {
        let pieces = if state.is_continuing() { &self.continuing } else { &self.opening };
        pieces.get(word).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wordpiece::{PieceToken, for_each_piece};

    #[test]
    fn lines_are_pieces_by_number() {
        let list = PieceList::read(b"[UNK]\nsun\n##light\nsun\n##\n").unwrap();
        let mut pieces = Vec::new();
        for_each_piece(&list, "Sunlight sun light #", &mut |token| pieces.push(token));
        assert_eq!(
            pieces,
            [
                PieceToken::Known(1),
                PieceToken::Known(2),
                PieceToken::Known(1),
                PieceToken::Unknown,
                PieceToken::Unknown
            ]
        );
        assert_eq!(list.spelling(2), Some(b"##light".as_slice()));
        assert_eq!(list.spelling(9), None);
    }

    #[test]
    fn bytes_that_are_no_text_are_damage() {
        assert_eq!(PieceList::read(b"sun\n\xff\n").unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
