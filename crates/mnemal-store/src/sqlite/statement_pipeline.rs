//! Statement pipeline to the connection's thread: a round trip costs more than most statements.

use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteConnection;

use mnemal_core::Result;

use super::driver::rows;
use crate::sql::{Row, Value};

/// Most values of statements that share a round trip; a statement with more is sent alone, so that no large text is copied
/// twice.
///
/// Source: own default, two events with their index rows.
const MOST_VALUES: usize = 64;
/// Most statements of a round trip; bounds the number of texts.
///
/// Source: own default, twice those that write one event.
const MOST_STATEMENTS: usize = 6;

/// Statements that run one after the other, up to the first failure.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipeline {
    texts: Vec<&'static str>,
    values: Vec<Value>,
    /// Whether values are numbered, counting from the start of the trip.
    numbered: bool,
}

impl Pipeline {
    /// Whether a statement fits in.
    pub(super) fn fits(&self, sql: &str, values: &[Value]) -> bool {
        let room = self.texts.len() < MOST_STATEMENTS && self.values.len() + values.len() <= MOST_VALUES;
        let in_order = if sql.contains('$') { self.values.is_empty() } else { !self.numbered };
        self.texts.is_empty() || (room && (values.is_empty() || in_order))
    }

    /// Adds a statement that fits in.
    pub(super) fn add(&mut self, sql: &'static str, values: Vec<Value>) {
        self.numbered |= !values.is_empty() && sql.contains('$');
        self.texts.push(sql);
        if self.values.is_empty() {
            self.values = values;
        } else {
            self.values.extend(values);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Runs the statements and returns all their rows.
    pub(super) async fn run(self, connection: &mut SqliteConnection) -> Result<Vec<Row>> {
        match self.texts.as_slice() {
            [] => Ok(Vec::new()),
            [one] => rows(connection, *one, self.values).await,
            texts => rows(connection, AssertSqlSafe(texts.join("; ")), self.values).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(statements: &[(&'static str, usize)]) -> Pipeline {
        let mut pipeline = Pipeline::default();
        for (sql, count) in statements {
            pipeline.add(sql, vec![Value::Null; *count]);
        }
        pipeline
    }

    #[test]
    fn numbered_values_are_the_only_ones_of_their_trip() {
        let none = |count| vec![Value::Null; count];
        assert!(pipeline(&[("begin", 0)]).fits("a $1", &none(1)));
        assert!(pipeline(&[("begin", 0), ("a $1", 1)]).fits("commit", &[]));
        assert!(!pipeline(&[("a $1", 1)]).fits("b ?", &none(1)));
        assert!(!pipeline(&[("b ?", 1)]).fits("a $1", &none(1)));
        assert!(pipeline(&[("b ?", 1)]).fits("b ?", &none(1)));
    }

    #[test]
    fn a_large_statement_goes_alone() {
        assert!(pipeline(&[]).fits("a ?", &vec![Value::Null; MOST_VALUES + 1]));
        assert!(!pipeline(&[("a ?", MOST_VALUES)]).fits("a ?", &[Value::Null]));
        assert!(!pipeline(&[("a", 0); MOST_STATEMENTS]).fits("commit", &[]));
    }
}
