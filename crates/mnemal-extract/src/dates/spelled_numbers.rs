//! Spelled-out numbers: single words, tens and ones, and characters around the one for ten.

use super::pack::{Meaning, Pack};
use super::token::folded;

/// The sign for ten. Source: Chinese and Japanese numerals.
const TEN: char = '十';

impl Pack {
    /// Returns the number that words in lower case mean.
    pub(super) fn number(&self, text: &str) -> Option<i64> {
        self.one_word(text).or_else(|| self.tens_and_ones(text)).or_else(|| self.around_ten(text))
    }

    fn one_word(&self, text: &str) -> Option<i64> {
        let entries = &self.word(&folded(text))?.entries;
        entries.iter().filter(|entry| entry.rest.is_empty()).find_map(|entry| match entry.meaning {
            Meaning::Number(number) => Some(number),
            _ => None,
        })
    }

    /// "Twenty-five", "treinta y dos".
    fn tens_and_ones(&self, text: &str) -> Option<i64> {
        let mut parts = text.split(['-', ' ']);
        let (first, last) = (parts.next()?, parts.next_back()?);
        let tens = self.one_word(first).filter(|tens| *tens >= 20 && tens % 10 == 0)?;
        let ones = self.one_word(last).filter(|ones| (1..10).contains(ones))?;
        parts.count().le(&1).then_some(tens + ones)
    }

    /// "二十一".
    fn around_ten(&self, text: &str) -> Option<i64> {
        let (tens, ones) = text.split_once(TEN)?;
        let digit = |sign: &str, without: i64| {
            let of = || self.one_word(sign).filter(|digit| (1..10).contains(digit));
            if sign.is_empty() { Some(without) } else { of() }
        };
        Some(digit(tens, 1)? * 10 + digit(ones, 0)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::number;

    #[test]
    fn words_are_numbers_in_every_language() {
        for (text, expected) in [
            ("11", Some(11)),
            ("elf", Some(11)),
            ("Eleven", Some(11)),
            ("onze", Some(11)),
            ("once", Some(11)),
            ("十一", Some(11)),
            ("二十", Some(20)),
            ("twenty-five", Some(25)),
            ("einunddreißig", Some(31)),
            ("treinta y dos", Some(32)),
            ("many", None),
            ("twenty trees", None),
            ("", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }
}
