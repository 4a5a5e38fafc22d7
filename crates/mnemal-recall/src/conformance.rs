//! Cases that every implementation of this crate's traits must pass; the macros make tests of them.
//!
//! ```
//! # use std::sync::Arc;
//! # use mnemal_core::{IndexBlock, ModelId};
//! # use mnemal_recall::FlatIndex;
//! // In a test module; the maker gets blocks and the model whose vectors are searched.
//! mnemal_recall::vector_index_conformance!(|blocks: Vec<IndexBlock>, model: ModelId| {
//!     FlatIndex::new(blocks.into_iter().map(Arc::new), model)
//! });
//! ```

use mnemal_core::{Error, ErrorKind, IndexBlock, ModelId, Posting, Result, Seq, TermHash, VectorColumn};

use crate::lexical::LexicalIndex;
use crate::rows::RowSet;
use crate::vector::{QueryVector, VectorIndex};

/// Makes the tests of a [`LexicalIndex`]; takes a function from blocks to the index.
#[macro_export]
macro_rules! lexical_index_conformance {
    ($make:expr) => {
        #[test]
        fn a_lexical_index_shows_each_row_once_ascending() {
            let blocks = $crate::conformance::blocks();
            $crate::conformance::check_lexical(&$make(blocks.clone()), &blocks).unwrap();
        }

        #[test]
        fn an_empty_lexical_index_knows_no_term() {
            $crate::conformance::check_lexical(&$make(Vec::new()), &[]).unwrap();
        }
    };
}

/// Makes the tests of a [`VectorIndex`]; takes a function from blocks and a model to the index.
#[macro_export]
macro_rules! vector_index_conformance {
    ($make:expr) => {
        #[test]
        fn a_vector_index_answers_within_filter_and_limit() {
            let blocks = $crate::conformance::blocks();
            $crate::conformance::check_vectors(&$make(blocks.clone(), $crate::conformance::model()), &blocks)
                .unwrap();
        }

        #[test]
        fn an_empty_vector_index_is_near_nothing() {
            $crate::conformance::check_vectors(&$make(Vec::new(), $crate::conformance::model()), &[])
                .unwrap();
        }
    };
}

/// Rows of the cases.
const ROWS: usize = 300;
/// Values of the cases' vectors.
const DIMENSIONS: usize = 16;

/// Returns the model of the cases.
///
/// # Errors
/// None; the signature of names asks for it.
pub fn model() -> ModelId {
    ModelId::new("conformance-1").expect("it is a valid name")
}

/// Returns blocks with terms, gaps and vectors; every seventh row has no vector.
pub fn blocks() -> Vec<IndexBlock> {
    let mut state = 7_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    [1_usize, 120, 5, ROWS - 126]
        .into_iter()
        .scan(0_usize, |first, rows| {
            let block = block(*first, rows, &mut random);
            *first += rows;
            Some(block)
        })
        .collect()
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits of a random number are wanted")]
fn block(first: usize, rows: usize, random: &mut impl FnMut() -> u64) -> IndexBlock {
    let mut block = IndexBlock { starts: vec![0], ..IndexBlock::default() };
    block.seqs = (first..first + rows).map(|row| Seq(row as u64 + 1)).collect();
    block.events = block.seqs.iter().map(|seq| mnemal_core::EventId(u128::from(seq.0))).collect();
    for term in 0..20_u64 {
        let held = (0..rows).filter(|_| random().is_multiple_of(term + 2));
        let postings: Vec<Posting> = held.map(|row| Posting::new(row as u16, 1 + (row % 3) as u16)).collect();
        if !postings.is_empty() {
            block.terms.push(TermHash(term * 1_000));
            block.postings.extend(postings);
            block.starts.push(u32::try_from(block.postings.len()).unwrap_or(u32::MAX));
        }
    }
    let scales = (first..first + rows).map(|row| if row % 7 == 0 { 0.0 } else { 1.0 / 400.0 }).collect();
    let codes = (0..rows * DIMENSIONS).map(|_| ((random() >> 20) as i8).max(-127)).collect();
    block.vectors.push(VectorColumn { model: model(), dimensions: DIMENSIONS, scales, codes });
    block
}

/// Ends a check with the guarantee that does not hold.
macro_rules! ensure {
    ($holds:expr, $what:literal $(,)?) => {
        if !$holds {
            return Err(Error::new(ErrorKind::Internal, $what));
        }
    };
}

/// Checks an index over these blocks.
///
/// # Errors
/// `Internal` names the first guarantee that does not hold.
pub fn check_lexical(index: &dyn LexicalIndex, blocks: &[IndexBlock]) -> Result<()> {
    let rows: usize = blocks.iter().map(IndexBlock::len).sum();
    ensure!(index.rows() as usize == rows, "rows() is the number of rows");
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for term in (0..21_u64).map(|term| TermHash(term * 1_000)) {
        let mut expected: Vec<(u32, u16)> = Vec::new();
        let mut first = 0_u32;
        for block in blocks {
            expected.extend(block.postings(term).iter().map(|p| (first + u32::from(p.row()), p.count())));
            first += u32::try_from(block.len()).unwrap_or(u32::MAX);
        }
        let mut shown: Vec<(u32, u16)> = Vec::new();
        index.visit(term, &mut |first, postings| {
            shown.extend(postings.iter().map(|p| (first + u32::from(p.row()), p.count())));
        });
        ensure!(shown == expected, "visit() shows each row of a term once, ascending, with its count");
        ensure!(index.frequency(term) as usize == expected.len(), "frequency() is the number of rows shown");
        index.visit(term, &mut |first, postings| {
            let last = postings.last().map_or(first, |posting| first + u32::from(posting.row()));
            runs.push((first, last));
        });
    }
    runs.sort_unstable();
    let share = |(one, next): (&(u32, u32), &(u32, u32))| one.0 != next.0 && one.1 >= next.0;
    ensure!(
        !runs.iter().zip(runs.iter().skip(1)).any(share),
        "runs that begin at different rows have no row in common"
    );
    Ok(())
}

/// Checks an index over these blocks; one that approximates must find at least the best row of each query.
///
/// # Errors
/// `Internal` names the first guarantee that does not hold.
pub fn check_vectors(index: &dyn VectorIndex, blocks: &[IndexBlock]) -> Result<()> {
    let rows = u32::try_from(blocks.iter().map(IndexBlock::len).sum::<usize>()).unwrap_or(u32::MAX);
    let everything = RowSet::all(rows);
    let some = RowSet::of(rows, |row| row % 3 == 1);
    for turn in 0..8_usize {
        let values: Vec<f32> =
            (0..DIMENSIONS).map(|place| ((place * 7 + turn * 5) % 11) as f32 - 5.0).collect();
        let Some(query) = QueryVector::new(&values) else { continue };
        let with_vector = |filter: &RowSet| {
            (0..rows).filter(|row| filter.has(*row) && index.cosine(&query, *row).is_some()).count()
        };
        for filter in [&everything, &some] {
            for limit in [0, 1, 10, rows as usize + 5] {
                let near = index.nearest(&query, filter, limit);
                ensure!(near.len() == limit.min(with_vector(filter)), "nearest() fills its limit");
                ensure!(near.iter().all(|near| filter.has(near.row)), "nearest() stays within the filter");
                ensure!(near.iter().all(|near| near.cosine.is_finite()), "cosines are finite");
                ensure!(near.is_sorted_by(|a, b| a.cosine >= b.cosine), "nearest() is best first");
                let agrees = |near: &crate::Near| {
                    index.cosine(&query, near.row).is_some_and(|cosine| (cosine - near.cosine).abs() < 1e-5)
                };
                ensure!(near.iter().all(agrees), "nearest() and cosine() agree");
                let best =
                    (0..rows).filter(|row| filter.has(*row)).filter_map(|row| index.cosine(&query, row));
                let best = best.fold(f32::MIN, f32::max);
                ensure!(
                    near.first().is_none_or(|near| near.cosine >= best - 1e-5),
                    "nearest() finds the best row",
                );
            }
        }
    }
    let expected = rows - rows.div_ceil(7);
    let query = QueryVector::new(&[1.0; DIMENSIONS]);
    let found = query.map_or(0, |query| (0..rows).filter(|row| index.cosine(&query, *row).is_some()).count());
    ensure!(found == expected as usize, "a row without a vector has no cosine");
    let other = QueryVector::new(&[1.0; 3]);
    let near = other.map(|query| index.nearest(&query, &everything, 5)).unwrap_or_default();
    ensure!(near.is_empty(), "a query of other dimensions is near nothing");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::memory::MemoryIndex;
    use crate::{FlatIndex, SignBits};

    fn memory(blocks: Vec<IndexBlock>) -> MemoryIndex {
        let mut index = MemoryIndex::default();
        for block in blocks {
            index.push(block, mnemal_text::Analyzer::default());
        }
        index
    }

    fn flat(blocks: Vec<IndexBlock>, model: ModelId) -> FlatIndex {
        FlatIndex::new(blocks.into_iter().map(Arc::new), model)
    }

    mod lexical {
        crate::lexical_index_conformance!(super::memory);
    }

    mod exact {
        crate::vector_index_conformance!(super::flat);
    }

    mod signs {
        crate::vector_index_conformance!(|blocks, model| crate::SignBits::new(
            super::flat(blocks, model),
            16
        ));
    }

    #[test]
    fn sign_bits_find_most_of_what_the_exact_scan_finds() {
        let blocks = blocks();
        let flat = flat(blocks, model());
        let signs = SignBits::new(flat.clone(), DIMENSIONS);
        let filter = RowSet::all(u32::try_from(ROWS).unwrap());
        let query = QueryVector::new(&[1.0; DIMENSIONS]).unwrap();
        assert_eq!(signs.nearest(&query, &filter, 10), flat.nearest(&query, &filter, 10));
    }
}
