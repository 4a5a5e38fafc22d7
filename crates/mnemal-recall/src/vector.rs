//! Vector arm: cosine similarity over int8 codes.

mod stored;

use std::fmt::Debug;
use std::sync::Arc;

use mnemal_core::{IndexBlock, ModelId, VectorColumn};

use crate::kernel::{products, products_at};
use crate::memory::{MemoryIndex, PlacedBlock};
use crate::rows::RowSet;
use crate::top_k::{ScoredRow, TopK};

pub use self::stored::StoredVector;

/// Rows, and parts of an index, that are prefetched together. Source: measured, 100,000 rows of 128 dimensions; 8 and 32
/// are no better.
const TOGETHER: usize = 16;
/// Bytes of a cache line. Source: x86-64 and most ARM; with a longer line some reads are redundant.
const CACHE_LINE: usize = 64;

/// A row with its cosine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// The row.
    pub row: u32,
    /// The cosine, −1 to 1, as the int8 codes give it.
    pub cosine: f32,
}

/// Nearest-neighbor search. Rows are numbered from 0 in log order.
///
/// Guarantees that an implementation must give: `nearest` returns rows of the filter only, each once, best first, at most
/// `limit`, and fills the limit while the filter has rows with vectors; `cosine` is exact for the stored codes and agrees
/// with the result of `nearest`; every number is finite. Not guaranteed: that `nearest` finds the very best rows; an
/// approximate index may miss some.
pub trait VectorIndex: Debug + Send + Sync {
    /// Returns the rows of the filter nearest to the query.
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<Neighbor>;

    /// Returns the cosine of a row; `None` if it has no vector.
    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32>;
}

/// A query vector, quantized like the rows.
#[derive(Clone, Debug)]
pub struct QueryVector {
    codes: Vec<i16>,
    scale: f32,
    values: Vec<f32>,
}

impl QueryVector {
    /// Quantizes a vector of any length above 0; `None` for one that is empty, zero or not finite.
    pub fn new(values: &[f32]) -> Option<Self> {
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        if !length.is_finite() || length <= f32::EPSILON {
            return None;
        }
        let values: Vec<f32> = values.iter().map(|value| value / length).collect();
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = largest / 127.0;
        #[expect(clippy::cast_possible_truncation, reason = "the quotient lies in −127 to 127")]
        let codes = values.iter().map(|value| (value / scale).round() as i16).collect();
        Some(Self { codes, scale, values })
    }

    /// Returns the number of values.
    pub fn dimensions(&self) -> usize {
        self.codes.len()
    }

    /// Returns the values, normalized to length 1.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The codes, −127 to 127, and the value of one code step.
    #[cfg(feature = "hnsw")]
    pub(crate) fn codes_and_scale(&self) -> (&[i16], f32) {
        (&self.codes, self.scale)
    }

    /// The cosine of a row with this dot product.
    #[inline]
    fn cosine(&self, sum: i32, scale: f32) -> f32 {
        (sum as f32 * self.scale * scale).clamp(-1.0, 1.0)
    }
}

/// Exact scan of every row; fast enough for some 30,000 vectors.
///
/// Cheap to clone: the searched data is shared.
#[derive(Clone, Debug, Default)]
pub struct FlatIndex {
    parts: Arc<[BlockVectors]>,
}

/// The vectors of one block.
#[derive(Clone, Debug)]
struct BlockVectors {
    /// The number of its first row.
    first: u32,
    block: Arc<IndexBlock>,
    /// The index of the model's column in the block.
    column: usize,
}

impl BlockVectors {
    /// `None` for a block without a vector of the model.
    fn of(first: u32, block: Arc<IndexBlock>, model: &ModelId) -> Option<Self> {
        let is_meant = |column: &VectorColumn| column.model == *model && column.dimensions > 0;
        let column = block.vectors.iter().position(is_meant)?;
        Some(Self { first, block, column })
    }

    fn column(&self) -> Option<&VectorColumn> {
        self.block.vectors.get(self.column)
    }
}

impl FlatIndex {
    /// Numbers the rows of these blocks from 0 and searches the vectors of one model.
    #[expect(clippy::needless_pass_by_value, reason = "as the cases of `conformance` hand it over")]
    pub fn new(blocks: impl IntoIterator<Item = Arc<IndexBlock>>, model: ModelId) -> Self {
        let mut first = 0_u32;
        let parts = blocks.into_iter().filter_map(|block| {
            let start = first;
            first = first.saturating_add(u32::try_from(block.len()).unwrap_or(u32::MAX));
            BlockVectors::of(start, block, &model)
        });
        Self { parts: parts.collect() }
    }

    /// Searches the in-memory index. Costs one step per block.
    pub(crate) fn over(index: &MemoryIndex, model: &ModelId) -> Self {
        let part = |placed: &PlacedBlock| BlockVectors::of(placed.first, Arc::clone(&placed.block), model);
        Self { parts: index.blocks.iter().filter_map(part).collect() }
    }

    /// Visits the cosine of each of these rows, ascending, that has a vector.
    ///
    /// The rows are far apart, so a few of them, and before that their positions, are prefetched together.
    pub(crate) fn for_each_cosine(
        &self,
        query: &QueryVector,
        mut rows: &[u32],
        mut show: impl FnMut(u32, f32),
    ) {
        for parts in self.parts.chunks(TOGETHER) {
            let lengths = parts.iter().filter_map(BlockVectors::column).map(|column| column.scales.len());
            std::hint::black_box(lengths.sum::<usize>());
            let mut wanted: [&[u32]; TOGETHER] = [&[]; TOGETHER];
            for ((first, column), wanted) in columns_of(parts, query).zip(&mut wanted) {
                let end =
                    u32::try_from(column.scales.len()).map_or(u32::MAX, |len| first.saturating_add(len));
                let before = rows.partition_point(|row| *row < first);
                let behind = rows.partition_point(|row| *row < end);
                *wanted = rows.get(before..behind).unwrap_or_default();
                fetch((first, column), wanted);
                rows = rows.get(behind..).unwrap_or_default();
            }
            for (column, wanted) in columns_of(parts, query).zip(wanted) {
                for some in wanted.chunks(TOGETHER) {
                    cosines(query, column, some, &mut show);
                }
            }
        }
    }

    /// The cosines of rows, ascending; `None` for a row without a vector.
    pub(crate) fn cosines(&self, query: &QueryVector, rows: &[u32]) -> Vec<Option<f32>> {
        let mut cosines = vec![None; rows.len()];
        let mut left = rows.iter().zip(&mut cosines);
        self.for_each_cosine(query, rows, |row, cosine| {
            if let Some((_, place)) = left.find(|(of, _)| **of == row) {
                *place = Some(cosine);
            }
        });
        cosines
    }

    /// The cosine of two rows by their codes; `None` if one has no vector.
    pub(crate) fn between(&self, one: u32, other: u32) -> Option<f32> {
        let ((a, scale), (b, other_scale)) = (self.codes(one)?, self.codes(other)?);
        let sum: i32 = a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        (a.len() == b.len()).then(|| (sum as f32 * scale * other_scale).clamp(-1.0, 1.0))
    }

    fn codes(&self, row: u32) -> Option<(&[i8], f32)> {
        let (column, place) = self.place(row)?;
        let scale = *column.scales.get(place).filter(|scale| **scale > 0.0)?;
        Some((column.codes.get(place * column.dimensions..(place + 1) * column.dimensions)?, scale))
    }

    /// The column that may hold the vector of a row, and the row's index in it.
    fn place(&self, row: u32) -> Option<(&VectorColumn, usize)> {
        let at = self.parts.partition_point(|part| part.first <= row).checked_sub(1)?;
        let part = self.parts.get(at)?;
        Some((part.column()?, (row - part.first) as usize))
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = (u32, &VectorColumn)> {
        columns(&self.parts)
    }

    /// The nearest of the rows from `start` on.
    pub(crate) fn nearest_from(
        &self,
        start: u32,
        query: &QueryVector,
        filter: &RowSet,
        limit: usize,
    ) -> Vec<Neighbor> {
        let mut best = TopK::new(limit);
        let mut sums: Vec<i32> = Vec::new();
        let older = self.parts.partition_point(|part| part.first <= start).saturating_sub(1);
        let parts = self.parts.get(older..).unwrap_or_default();
        for (first, column) in columns_of(parts, query) {
            let skipped = start.saturating_sub(first) as usize;
            let (Some(codes), Some(scales)) =
                (column.codes.get(skipped * column.dimensions..), column.scales.get(skipped..))
            else {
                continue;
            };
            sums.resize(scales.len(), 0);
            products(&query.codes, codes, &mut sums);
            for ((sum, scale), row) in sums.iter().zip(scales).zip(first.max(start)..) {
                if *scale > 0.0 && filter.has(row) {
                    best.offer(query.cosine(*sum, *scale), row);
                }
            }
        }
        best.into_sorted().into_iter().map(Neighbor::from).collect()
    }
}

impl VectorIndex for FlatIndex {
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<Neighbor> {
        self.nearest_from(0, query, filter, limit)
    }

    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        let (column, place) = self.place(row)?;
        if column.dimensions == query.dimensions() { cosine_in(column, place, query) } else { None }
    }
}

fn columns(parts: &[BlockVectors]) -> impl Iterator<Item = (u32, &VectorColumn)> {
    parts.iter().filter_map(|part| Some((part.first, part.column()?)))
}

/// The columns with vectors comparable to the query.
fn columns_of<'a>(
    parts: &'a [BlockVectors],
    query: &QueryVector,
) -> impl Iterator<Item = (u32, &'a VectorColumn)> {
    let dimensions = query.dimensions();
    columns(parts).filter(move |(_, column)| column.dimensions == dimensions)
}

/// Visits the cosines of at most [`TOGETHER`] rows of a column, for those with a vector.
fn cosines(
    query: &QueryVector,
    (first, column): (u32, &VectorColumn),
    rows: &[u32],
    mut show: impl FnMut(u32, f32),
) {
    let (mut places, mut scales, mut sums) = ([0; TOGETHER], [0.0; TOGETHER], [0; TOGETHER]);
    for ((place, scale), row) in places.iter_mut().zip(&mut scales).zip(rows) {
        *place = *row - first;
        *scale = column.scales.get(*place as usize).copied().unwrap_or_default();
    }
    let places = places.get(..rows.len()).unwrap_or_default();
    products_at(&query.codes, &column.codes, places, &mut sums);
    for ((row, scale), sum) in rows.iter().zip(scales).zip(sums) {
        if scale > 0.0 {
            show(*row, query.cosine(sum, scale));
        }
    }
}

/// Reads one byte of each cache line of these rows, so that the memory reads run in parallel.
fn fetch((first, column): (u32, &VectorColumn), rows: &[u32]) {
    let mut met = 0;
    for row in rows {
        let place = (*row - first) as usize;
        let start = place * column.dimensions;
        let codes = column.codes.get(start..start + column.dimensions).unwrap_or_default();
        let mut at = 0;
        while let Some(code) = codes.get(at) {
            met ^= code;
            at += CACHE_LINE;
        }
        met ^= codes.last().copied().unwrap_or_default();
        met ^= i8::from(column.scales.get(place).is_some_and(|scale| *scale > 0.0));
    }
    std::hint::black_box(met);
}

fn cosine_in(column: &VectorColumn, place: usize, query: &QueryVector) -> Option<f32> {
    let scale = *column.scales.get(place).filter(|scale| **scale > 0.0)?;
    let codes = column.codes.get(place * column.dimensions..(place + 1) * column.dimensions)?;
    let mut sum = [0];
    products(&query.codes, codes, &mut sum);
    let [sum] = sum;
    Some(query.cosine(sum, scale))
}

impl From<ScoredRow> for Neighbor {
    fn from(ranked: ScoredRow) -> Self {
        Self { row: ranked.row, cosine: ranked.score }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_vector_has_a_direction() {
        assert!(QueryVector::new(&[]).is_none());
        assert!(QueryVector::new(&[0.0, 0.0]).is_none());
        assert!(QueryVector::new(&[f32::NAN]).is_none());
        let query = QueryVector::new(&[3.0, 4.0]).unwrap();
        assert!((query.values()[0] - 0.6).abs() < 1e-6);
        let sum = query.codes.iter().zip([76, 102]).map(|(a, b)| i32::from(*a) * b).sum();
        assert!((query.cosine(sum, 1.0 / 127.0) - 1.0).abs() < 0.02);
    }

    #[test]
    fn cosines_of_many_rows_are_those_of_each_alone() {
        let model = ModelId::new("m").unwrap();
        let vectors = |number: i8| VectorColumn {
            model: model.clone(),
            dimensions: 2,
            scales: (0..7).map(|row| if row % 3 == 1 { 0.0 } else { 1.0 / 127.0 }).collect(),
            codes: (0..14).map(|value: i8| value.wrapping_mul(29).wrapping_add(number)).collect(),
        };
        let block = |number: i8| {
            // Every fifth block has no vectors of the model.
            let vectors = if number % 5 == 4 { Vec::new() } else { vec![vectors(number)] };
            let events = (0..7).map(mnemal_core::EventId).collect();
            Arc::new(IndexBlock { events, vectors, ..IndexBlock::default() })
        };
        let flat = FlatIndex::new((0..40).map(block), model.clone());
        let query = QueryVector::new(&[0.8, -0.6]).unwrap();
        for step in [1, 2, 3, 11, 300] {
            let rows: Vec<u32> = (0..290).step_by(step).collect();
            let alone: Vec<Option<f32>> = rows.iter().map(|row| flat.cosine(&query, *row)).collect();
            assert_eq!(flat.cosines(&query, &rows), alone);
        }
        let all: Vec<u32> = (0..280).collect();
        let found = flat.cosines(&query, &all);
        let (some, none) = (found.iter().flatten().count(), found.iter().filter(|one| one.is_none()).count());
        assert_eq!(
            (some, none),
            (32 * 5, 32 * 2 + 8 * 7),
            "of seven rows two have no vector, of eight blocks none"
        );
    }
}
