//! Row sets of the in-memory index.

/// The rows that may be found: all, or one bit per row.
#[derive(Clone, Debug)]
pub struct RowSet {
    bits: Option<Vec<u64>>,
    rows: u32,
    len: u32,
}

impl RowSet {
    /// Returns the set of all of `rows` rows.
    pub fn all(rows: u32) -> Self {
        Self { bits: None, rows, len: rows }
    }

    /// Returns the set of the rows for which `passes` is true; called in ascending order.
    pub fn of(rows: u32, mut passes: impl FnMut(u32) -> bool) -> Self {
        let mut bits = vec![0_u64; rows.div_ceil(64) as usize];
        let mut len = 0;
        for (word, start) in bits.iter_mut().zip((0..rows).step_by(64)) {
            for (bit, row) in (start..rows.min(start + 64)).enumerate() {
                if passes(row) {
                    *word |= 1 << bit;
                    len += 1;
                }
            }
        }
        Self { bits: Some(bits), rows, len }
    }

    /// Returns the set of all rows except these, which must be distinct.
    pub(crate) fn all_but(rows: u32, these: impl Iterator<Item = u32>) -> Self {
        let mut bits = vec![u64::MAX; rows.div_ceil(64) as usize];
        if let Some(last) = bits.last_mut().filter(|_| !rows.is_multiple_of(64)) {
            *last = (1 << (rows % 64)) - 1;
        }
        let mut len = rows;
        for row in these {
            if let Some(word) = bits.get_mut((row / 64) as usize) {
                *word &= !(1 << (row % 64));
                len = len.saturating_sub(1);
            }
        }
        Self { bits: Some(bits), rows, len }
    }

    /// Whether a row is in the set.
    #[inline]
    pub fn has(&self, row: u32) -> bool {
        match &self.bits {
            None => row < self.rows,
            Some(bits) => bits.get((row / 64) as usize).is_some_and(|word| word >> (row % 64) & 1 == 1),
        }
    }

    /// Whether every row is in the set.
    pub fn is_all(&self) -> bool {
        self.len == self.rows
    }

    /// Returns how many rows there are, in the set or not.
    #[cfg(feature = "hnsw")]
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns how many rows are in the set.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether no row is in the set.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Returns the 64 bits from an index on; bits beyond the end are 0.
#[inline]
pub(crate) fn window(bits: &[u64], from: u32) -> u64 {
    let word = |place: usize| bits.get(place).copied().unwrap_or_default();
    let (place, shift) = ((from / 64) as usize, from % 64);
    let behind = if shift == 0 { 0 } else { word(place + 1) << (64 - shift) };
    word(place) >> shift | behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_shows_the_bits_from_any_place_on() {
        let bits = [1 << 63, 0b101];
        assert_eq!(window(&bits, 0), 1 << 63);
        assert_eq!(window(&bits, 63), 0b1011);
        assert_eq!((window(&bits, 64), window(&bits, 65), window(&bits, 128)), (0b101, 0b10, 0));
    }

    #[test]
    fn a_set_holds_what_passed_and_nothing_behind_its_end() {
        let odd = RowSet::of(130, |row| row % 2 == 1);
        assert_eq!(odd.len(), 65);
        assert!(odd.has(1) && odd.has(129) && !odd.has(0) && !odd.has(131));
        let all = RowSet::all(3);
        assert!(all.has(2) && !all.has(3) && !all.is_empty());
        assert!(RowSet::of(0, |_| true).is_empty());
        for rows in [0, 63, 64, 65, 130] {
            let (left, alike) =
                (RowSet::all_but(rows, (3..rows).step_by(7)), RowSet::of(rows, |row| row % 7 != 3));
            assert_eq!(left.len(), alike.len());
            assert!((0..rows + 70).all(|row| left.has(row) == alike.has(row)), "{rows}");
        }
    }
}
