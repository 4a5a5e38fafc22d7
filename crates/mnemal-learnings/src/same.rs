//! Whether rows are those of the time before.

use std::sync::{Arc, Weak};

use mnemal_core::Learning;

/// Which rows something was computed of. They are told from others by where they stand in memory, which is cheap and never wrong:
/// the place of a row is not used again as long as it is remembered here, though the row itself may go.
#[derive(Debug)]
pub(crate) struct Same(Vec<Weak<Learning>>);

impl Same {
    pub(crate) fn new(rows: &[Arc<Learning>]) -> Self {
        Self(rows.iter().map(Arc::downgrade).collect())
    }

    /// Whether these are the rows, in the same order.
    pub(crate) fn is(&self, rows: &[Arc<Learning>]) -> bool {
        let is_one = |(of, row): (&Weak<Learning>, &Arc<Learning>)| of.as_ptr() == Arc::as_ptr(row);
        self.0.len() == rows.len() && self.0.iter().zip(rows).all(is_one)
    }
}
