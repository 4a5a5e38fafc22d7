//! Multi-row statements in a few fixed row counts, so that each text is built and prepared once.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::sql::{Step, Value};

/// Row counts of a statement, largest first.
///
/// Source: own choice; with threes and thirties the forty lines of a receipt need half as many statements.
const LENGTHS: [usize; 5] = [100, 30, 10, 3, 1];

/// The same statement for 100, 30, 10, 3 and one row. The placeholders are bare `?`: SQLite would look up each of 2,700
/// numbered ones in a list of all names. A driver that supports only `$1` numbers them when it reads the text.
#[derive(Debug)]
pub(crate) struct BulkStatement {
    texts: [LazyLock<String>; 5],
}

/// The parts of a statement with rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatementParts {
    /// The text before the rows.
    pub(crate) head: &'static str,
    /// The text of one row.
    pub(crate) row: &'static str,
    /// The text after the rows.
    pub(crate) tail: &'static str,
}

impl StatementParts {
    fn text(&self, rows: usize) -> String {
        let mut text = String::with_capacity(self.head.len() + rows * (self.row.len() + 1));
        text.push_str(self.head);
        for place in 0..rows {
            text.push_str(if place == 0 { "" } else { "," });
            text.push_str(self.row);
        }
        text.push_str(self.tail);
        text
    }
}

impl BulkStatement {
    /// Builds each text on first use.
    pub(crate) const fn new(makers: [fn() -> String; 5]) -> Self {
        let [hundred, thirty, ten, three, one] = makers;
        let texts = [
            LazyLock::new(hundred),
            LazyLock::new(thirty),
            LazyLock::new(ten),
            LazyLock::new(three),
            LazyLock::new(one),
        ];
        Self { texts }
    }

    /// The text of a form for the row count at this index.
    pub(crate) fn make(form: &StatementParts, place: usize) -> String {
        form.text(LENGTHS.get(place).copied().unwrap_or(1))
    }

    /// All texts, for the test that prepares them.
    #[cfg(test)]
    pub(crate) fn texts(&'static self) -> impl Iterator<Item = &'static str> {
        self.texts.iter().map(|text| text.as_str())
    }

    /// Returns the statements that write all rows, each row with the same number of values.
    pub(crate) fn steps(&'static self, rows: Vec<Vec<Value>>) -> Vec<Step> {
        let mut rest = rows.into_iter();
        let mut steps = Vec::new();
        for (length, text) in LENGTHS.into_iter().zip(&self.texts) {
            while rest.len() >= length {
                steps.push(Step::new(text, rest.by_ref().take(length).flatten().collect()));
            }
        }
        steps
    }

    /// Returns the statements that write all rows over those with the same key, which are the first `columns` values. Of rows with
    /// one key the last is written: PostgreSQL refuses to write a row twice in one statement.
    pub(crate) fn upserts(&'static self, columns: usize, rows: Vec<Vec<Value>>) -> Vec<Step> {
        let mut keys: HashSet<Vec<Value>> = HashSet::with_capacity(rows.len());
        let is_last = |row: &Vec<Value>| keys.insert(row.iter().take(columns).cloned().collect());
        let mut last: Vec<Vec<Value>> = rows.into_iter().rev().filter(is_last).collect();
        last.reverse();
        self.steps(last)
    }

    /// Returns the statements that remove all values; the last one is filled with nulls, which match nothing.
    pub(crate) fn removals(&'static self, values: Vec<Value>) -> impl Iterator<Item = Step> {
        self.lookups(values).into_iter().map(|(text, args)| Step::new(text, args))
    }

    /// Returns the statements that look up all values; the last one is padded with nulls, which match nothing.
    pub(crate) fn lookups(&'static self, values: Vec<Value>) -> Vec<(&'static str, Vec<Value>)> {
        let mut rest = values.into_iter();
        let mut lookups = Vec::new();
        while rest.len() > 0 {
            let fitting =
                LENGTHS.into_iter().zip(&self.texts).rev().find(|(length, _)| *length >= rest.len());
            let Some((length, text)) = fitting.or_else(|| LENGTHS.into_iter().zip(&self.texts).next()) else {
                break;
            };
            let mut args: Vec<Value> = rest.by_ref().take(length).collect();
            args.resize(length, Value::Null);
            lookups.push((text.as_str(), args));
        }
        lookups
    }
}

/// Declares a [`BulkStatement`]: text before the rows, one row, text after them.
macro_rules! many {
    ($head:expr, $row:expr, $tail:expr) => {{
        const FORM: $crate::bulk::StatementParts =
            $crate::bulk::StatementParts { head: $head, row: $row, tail: $tail };
        $crate::bulk::BulkStatement::new([
            || $crate::bulk::BulkStatement::make(&FORM, 0),
            || $crate::bulk::BulkStatement::make(&FORM, 1),
            || $crate::bulk::BulkStatement::make(&FORM, 2),
            || $crate::bulk::BulkStatement::make(&FORM, 3),
            || $crate::bulk::BulkStatement::make(&FORM, 4),
        ])
    }};
}
pub(crate) use many;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_rows_with_one_key_the_last_is_written() {
        static PUT: BulkStatement = many!("insert into t (a, b, c) values ", "(?,?,?)", "");
        let row = |a: i64, b: &str, c: i64| vec![Value::Int(a), b.into(), Value::Int(c)];
        let rows = vec![row(1, "x", 1), row(1, "y", 2), row(1, "x", 3), row(2, "x", 4)];
        let steps = PUT.upserts(2, rows);
        let written: Vec<Value> = steps.into_iter().flat_map(|step| step.args).collect();
        assert_eq!(written, [row(1, "y", 2), row(1, "x", 3), row(2, "x", 4)].concat());
    }
}
