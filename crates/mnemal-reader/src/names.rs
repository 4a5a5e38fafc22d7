//! Name and word-list features of a text's words.

use mnemal_extract::{NameList, name_lists};

use crate::words::{Word, fold, words};

/// Words of the longest looked-up name. The same number as in training.
const LONGEST: usize = 5;

/// The lists as one table: a hash of the folded words, and one bit per list.
#[derive(Debug)]
pub(crate) struct Names(Vec<(u64, u8)>);

impl Names {
    /// Reads the built-in lists.
    pub(crate) fn built_in() -> Self {
        let mut rows: Vec<(u64, u8)> = Vec::with_capacity(120_000);
        for (list, lines) in name_lists() {
            for line in lines.lines().filter(|line| !line.starts_with('#')) {
                let line = fold(line.trim());
                let parts: Vec<&str> =
                    words(&line).iter().filter_map(|word| line.get(word.span.clone())).collect();
                if (1..=LONGEST).contains(&parts.len()) {
                    rows.push((hash(&parts), bit(list)));
                }
            }
        }
        rows.sort_unstable();
        let mut table: Vec<(u64, u8)> = Vec::with_capacity(rows.len());
        for (key, bits) in rows {
            match table.last_mut() {
                Some(last) if last.0 == key => last.1 |= bits,
                _ => table.push((key, bits)),
            }
        }
        Self(table)
    }

    /// Returns the bits of each word: those of every name of one to five words that includes it.
    pub(crate) fn bits(&self, text: &str, words: &[Word]) -> Vec<u8> {
        let folded: Vec<String> =
            words.iter().map(|word| fold(text.get(word.span.clone()).unwrap_or_default())).collect();
        let folded: Vec<&str> = folded.iter().map(String::as_str).collect();
        let mut bits = vec![0; folded.len()];
        for at in 0..folded.len() {
            for end in at + 1..=folded.len().min(at + LONGEST) {
                let found = folded.get(at..end).map_or(0, |parts| self.of(parts));
                bits.iter_mut().take(end).skip(at).for_each(|bits| *bits |= found);
            }
        }
        bits
    }

    fn of(&self, parts: &[&str]) -> u8 {
        let key = hash(parts);
        self.0
            .binary_search_by_key(&key, |row| row.0)
            .ok()
            .and_then(|at| self.0.get(at))
            .map_or(0, |row| row.1)
    }
}

/// Returns the bit of a list. The same as in training.
fn bit(list: NameList) -> u8 {
    match list {
        NameList::FirstNames => 1,
        NameList::Surnames => 1 << 1,
        NameList::People => 1 << 2,
        NameList::Places => 1 << 3,
        NameList::Organizations => 1 << 4,
        NameList::Products => 1 << 5,
        NameList::Events | NameList::Works => 1 << 6,
        NameList::OrdinaryWords => 1 << 7,
    }
}

/// FNV-1a of words with a space between them. Source: Fowler, Noll and Vo.
fn hash(parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.iter().flat_map(|part| part.bytes().chain([b' '])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_several_words_mark_each_of_them() {
        let names = Names::built_in();
        let text = "the New York office";
        let bits = names.bits(text, &words(text));
        let place = bit(NameList::Places);
        assert!(bits[1] & place > 0 && bits[2] & place > 0 && bits[0] & place == 0);
        assert!(bits[3] & bit(NameList::OrdinaryWords) > 0);
    }
}
