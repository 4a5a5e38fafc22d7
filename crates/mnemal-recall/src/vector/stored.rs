//! Stored vectors, by row and by log position.

use mnemal_core::Seq;

use super::FlatIndex;

/// A vector as it is stored: value `i` is `codes[i] · scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredVector<'a> {
    /// The row; rows are renumbered after an erasure.
    pub row: u32,
    /// The log position of its event, which never changes.
    pub seq: Seq,
    /// The codes, −127 to 127.
    pub codes: &'a [i8],
    /// The value of one code step, above 0.
    pub scale: f32,
}

impl FlatIndex {
    /// Returns every vector, by row.
    pub fn vectors(&self) -> impl Iterator<Item = StoredVector<'_>> {
        let columns = self.parts.iter().filter_map(|part| Some((part, part.column()?)));
        columns.flat_map(|(part, column)| {
            let places = (part.first..).zip(&part.block.seqs);
            let codes = column.codes.chunks_exact(column.dimensions.max(1)).zip(&column.scales);
            let stored = places.zip(codes).filter(|(_, (_, scale))| **scale > 0.0);
            stored.map(|((row, seq), (codes, scale))| StoredVector { row, seq: *seq, codes, scale: *scale })
        })
    }

    /// Returns the vector of a row, if it has one.
    pub fn vector(&self, row: u32) -> Option<StoredVector<'_>> {
        let at = self.parts.partition_point(|part| part.first <= row).checked_sub(1)?;
        let part = self.parts.get(at)?;
        let seq = *part.block.seqs.get((row - part.first) as usize)?;
        let (codes, scale) = self.codes(row)?;
        Some(StoredVector { row, seq, codes, scale })
    }

    /// Returns the row at a log position, if it has a vector.
    pub fn row_at(&self, seq: Seq) -> Option<u32> {
        let starts_before =
            |part: &super::BlockVectors| part.block.seqs.first().is_some_and(|first| *first <= seq);
        let at = self.parts.partition_point(starts_before).checked_sub(1)?;
        let part = self.parts.get(at)?;
        let place = part.block.seqs.binary_search(&seq).ok()?;
        let has_vector = part.column()?.scales.get(place).is_some_and(|scale| *scale > 0.0);
        if has_vector { part.first.checked_add(u32::try_from(place).ok()?) } else { None }
    }

    /// Whether both search the same state of the rows.
    #[cfg(feature = "hnsw")]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        std::sync::Arc::ptr_eq(&self.parts, &other.parts)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conformance::{blocks, model};
    use crate::vector::{QueryVector, VectorIndex as _};

    #[test]
    fn a_vector_is_found_by_its_row_and_by_its_position() {
        let flat = FlatIndex::new(blocks().into_iter().map(Arc::new), model());
        let query = QueryVector::new(&[1.0; 16]).unwrap();
        let mut shown = 0;
        for stored in flat.vectors() {
            assert_eq!(stored.seq, Seq(u64::from(stored.row) + 1));
            assert_eq!(flat.row_at(stored.seq), Some(stored.row));
            assert_eq!(flat.vector(stored.row), Some(stored));
            assert!(flat.cosine(&query, stored.row).is_some());
            shown += 1;
        }
        assert_eq!(shown, (0..300).filter(|row| flat.cosine(&query, *row).is_some()).count());
        assert_eq!((flat.row_at(Seq(0)), flat.row_at(Seq(1)), flat.row_at(Seq(301))), (None, None, None));
        assert_eq!((flat.vector(7), flat.vector(300)), (None, None), "every seventh row has none");
    }

    #[test]
    fn a_position_keeps_its_vector_while_rows_are_renumbered() {
        let whole = FlatIndex::new(blocks().into_iter().map(Arc::new), model());
        let fewer = FlatIndex::new(blocks().into_iter().skip(2).map(Arc::new), model());
        assert_eq!((whole.row_at(Seq(130)), fewer.row_at(Seq(130))), (Some(129), Some(8)));
        assert_eq!(whole.vector(129).map(|one| one.codes), fewer.vector(8).map(|one| one.codes));
        assert_eq!(fewer.row_at(Seq(3)), None, "its block is gone");
    }
}
