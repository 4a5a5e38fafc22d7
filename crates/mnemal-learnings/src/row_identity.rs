//! Identity check for cached row sets.

use std::sync::{Arc, Weak};

/// The rows from which something was computed. They are compared by memory address, which is cheap and never wrong: the
/// address of a row is not reused while a weak reference exists, though the row itself may be dropped.
#[derive(Debug)]
pub(crate) struct RowIdentity<T>(Vec<Weak<T>>);

impl<T> RowIdentity<T> {
    pub(crate) fn new(rows: &[Arc<T>]) -> Self {
        Self(rows.iter().map(Arc::downgrade).collect())
    }

    /// Whether these are the same rows, in the same order.
    pub(crate) fn is(&self, rows: &[Arc<T>]) -> bool {
        let is_one = |(of, row): (&Weak<T>, &Arc<T>)| of.as_ptr() == Arc::as_ptr(row);
        self.0.len() == rows.len() && self.0.iter().zip(rows).all(is_one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_same_as_long_as_none_came_went_or_was_read_again() {
        let rows = [1, 2, 3].map(Arc::new);
        let same = RowIdentity::new(&rows);
        assert!(same.is(&rows) && same.is(&rows.clone()));
        assert!(!same.is(&rows[..2]) && !same.is(&[rows[0].clone(), rows[2].clone(), rows[1].clone()]));
        assert!(!same.is(&[rows[0].clone(), rows[1].clone(), Arc::new(3)]), "read again");
        drop(rows);
        let other: Vec<[Arc<i32>; 3]> = (0..100).map(|_| [1, 2, 3].map(Arc::new)).collect();
        assert!(!other.iter().any(|rows| same.is(rows)), "the places of what is gone are not used again");
    }
}
