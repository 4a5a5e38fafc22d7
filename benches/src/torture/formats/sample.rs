//! Synthetic files of other programs, in their real shapes.

use std::collections::BTreeSet;

use mnemal::ImportFormat;
use serde_json::Value;

use crate::words::{Dice, Words};

/// Prefix before the number of a text that must be kept.
const KEPT: &str = "Item ";
/// Prefix before the number of a text that is no memory, and that must be reported.
const NAMED: &str = "Host ";
/// Prefix before the number of a text that the user withdrew.
const GONE: &str = "Gone ";
/// Suffix after the number of a text.
const END: char = 'z';

/// The layout of records in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One per line.
    Lines,
    /// In one JSON value.
    Document,
    /// In one JSON value over many lines.
    Pretty,
    /// Lines of text.
    Text,
}

/// A file.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Its name.
    pub(super) name: &'static str,
    pub(super) format: ImportFormat,
    pub(super) layout: Layout,
    /// Its records: of lines a list.
    pub(super) root: Value,
    /// Names of fields that hold lists of records.
    pub(super) lists: &'static [&'static str],
    /// Whether a record that is there twice is one, because it has a name.
    pub(super) has_names: bool,
    /// Names of fields that hold lists of records without names.
    pub(super) nameless: &'static [&'static str],
    /// Whether the order of records tells what their person took back.
    pub(super) has_order: bool,
    /// Records at the beginning that are not damaged, because without them the file is none.
    pub(super) head: usize,
    /// The text after the last record.
    pub(super) tail: &'static str,
}

impl Sample {
    /// Returns a file whose records have names.
    pub(super) fn new(name: &'static str, format: ImportFormat, layout: Layout, root: Value) -> Self {
        Self {
            name,
            format,
            layout,
            root,
            lists: &[],
            has_names: true,
            nameless: &[],
            has_order: false,
            head: 0,
            tail: "",
        }
    }

    /// Returns the same with records in fields.
    pub(super) fn with_lists(self, lists: &'static [&'static str]) -> Self {
        Self { lists, ..self }
    }

    /// Returns the same whose records have no names.
    pub(super) fn without_names(self) -> Self {
        Self { has_names: false, ..self }
    }

    /// Returns the same whose records in these fields have none.
    pub(super) fn with_nameless(self, nameless: &'static [&'static str]) -> Self {
        Self { nameless, ..self }
    }

    /// Returns the same layout, in which the order of records shows withdrawn texts.
    pub(super) fn in_order(self) -> Self {
        Self { has_order: true, ..self }
    }

    /// Returns the bytes of the file.
    pub(super) fn text(&self) -> String {
        let lines = |line: &dyn Fn(&Value) -> String| {
            let mut text = String::new();
            for record in self.root.as_array().into_iter().flatten() {
                text.push_str(&line(record));
                text.push('\n');
            }
            text
        };
        let records = match self.layout {
            Layout::Lines => lines(&Value::to_string),
            Layout::Document => self.root.to_string(),
            Layout::Pretty => serde_json::to_string_pretty(&self.root).unwrap_or_default(),
            Layout::Text => lines(&|line| line.as_str().unwrap_or_default().to_owned()),
        };
        records + self.tail
    }
}

/// Numbers of the texts of a kind.
pub(super) type Texts = BTreeSet<usize>;

/// Returns the texts that a reader must keep, of those in a value or a text.
pub(super) fn kept(text: &str) -> Texts {
    numbers(text, KEPT)
}

/// Returns each text that a reader must keep, as often as it is there.
pub(super) fn each_kept(text: &str) -> Vec<usize> {
    each(text, KEPT).collect()
}

/// Returns the texts that it must name.
pub(super) fn named(text: &str) -> Texts {
    numbers(text, NAMED)
}

/// Returns the texts that were withdrawn.
pub(super) fn gone(text: &str) -> Texts {
    numbers(text, GONE)
}

fn numbers(text: &str, start: &str) -> Texts {
    each(text, start).collect()
}

fn each(text: &str, start: &str) -> impl Iterator<Item = usize> {
    let number = |rest: &str| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok().filter(|_| rest.get(digits.len()..).is_some_and(|rest| rest.starts_with(END)))
    };
    text.split(start).skip(1).filter_map(number)
}

/// Writes texts that are found again by their numbers.
#[derive(Debug)]
pub(super) struct TextWriter<'d> {
    pub(super) dice: &'d mut Dice,
    words: Words,
    number: usize,
}

impl<'d> TextWriter<'d> {
    pub(super) fn new(dice: &'d mut Dice) -> Self {
        Self { dice, words: Words::default(), number: 0 }
    }

    /// Returns the next number.
    pub(super) fn number(&mut self) -> usize {
        self.number += 1;
        self.number
    }

    /// Writes a text that a reader must keep.
    pub(super) fn item(&mut self) -> String {
        self.write(KEPT)
    }

    /// Writes a text that is no memory.
    pub(super) fn host(&mut self) -> String {
        self.write(NAMED)
    }

    /// Writes a text that is withdrawn.
    pub(super) fn gone(&mut self) -> String {
        self.write(GONE)
    }

    fn write(&mut self, start: &str) -> String {
        let number = self.number();
        let length = 3 + self.dice.below(9);
        let words: Vec<String> = (0..length).map(|_| self.words.draw(self.dice)).collect();
        format!("{start}{number}{END} {}.", words.join(" "))
    }

    /// Returns true so many times in a hundred.
    pub(super) fn is(&mut self, percent: usize) -> bool {
        self.dice.below(100) < percent
    }

    /// Returns a number of `from` to `to`.
    pub(super) fn some(&mut self, from: usize, to: usize) -> usize {
        from + self.dice.below(to - from + 1)
    }

    /// Returns a time, later for each call.
    pub(super) fn time(&mut self) -> String {
        let number = self.number();
        format!("2026-03-{:02}T{:02}:{:02}:00.000Z", 1 + number / 600 % 28, number / 60 % 24, number % 60)
    }

    /// Returns a time in seconds since 1970, later for each call.
    pub(super) fn seconds(&mut self) -> f64 {
        1_772_355_000.5 + self.number() as f64 * 60.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_kinds_and_numbers() {
        let mut dice = Dice::new(1);
        let mut pen = TextWriter::new(&mut dice);
        let all = [pen.item(), pen.host(), pen.gone(), pen.item()].join("\n");
        assert_eq!(kept(&all), Texts::from([1, 4]));
        assert_eq!(named(&all), Texts::from([2]));
        assert_eq!(gone(&all), Texts::from([3]));
        assert!(kept("Item 12").is_empty());
    }
}
