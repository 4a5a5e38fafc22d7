//! Sign-bit prefilter: two cheap passes over many vectors, then exact int8 scores of the likely nearest.

mod estimate;

use std::borrow::Cow;
use std::sync::Arc;

use mnemal_core::VectorColumn;

use crate::kernel;
use crate::pause::pause;
use crate::rows::RowSet;
use crate::top_k::TopK;
use crate::vector::{FlatIndex, Neighbor, QueryVector, VectorIndex};

use self::estimate::Estimate;

/// Selectivity of a pass.
#[derive(Clone, Copy, Debug)]
struct Selectivity {
    /// Fewest rows kept.
    fewest: usize,
    /// Share of the vectors kept, in thousandths.
    share: usize,
}

/// Hamming distance to the query's signs.
///
/// Source: measured (ADR 15), 127,038 sentences of real conversations, 300 questions: with [`SECOND`] .985 of the exact ten
/// nearest are found, as many as with a single pass that keeps 6 %.
const FIRST: Selectivity = Selectivity { fewest: 4_000, share: 60 };
/// Product of the query's values with the signs; the codes of the remaining rows are read. Source: as [`FIRST`].
const SECOND: Selectivity = Selectivity { fewest: 1_000, share: 15 };

impl Selectivity {
    /// Rows kept out of `vectors`, if `limit` are requested.
    fn of(self, vectors: usize, limit: usize) -> usize {
        self.fewest.max(vectors * self.share / 1_000).max(limit)
    }
}
/// Number of vectors from which on the prefilter is faster than a full scan. Source: own measurement of int8 scans.
pub const SIGN_BITS_FROM: u32 = 30_000;

/// Blocks processed between two yields. Source: own choice; some 2 ms of 128 dimensions.
const BLOCKS_A_STEP: usize = 8;

/// Sample size for the thresholds. Source: own choice; 1.5 % of them are 120, which is accurate within some 9 %.
const SAMPLED: usize = 8_192;
/// Rows per batch of distances, so that they stay in the cache.
const TOGETHER: usize = 1_024;

/// One sign per dimension and row, relative to the mean of all vectors.
///
/// If the filter leaves fewer than [`SIGN_BITS_FROM`] rows, all of them are scanned instead.
#[derive(Clone, Debug)]
pub struct SignBits {
    flat: FlatIndex,
    mean: Vec<f32>,
    words: usize,
    /// `words` words per row; rows without a vector have no bits set and are skipped at rescoring.
    bits: Vec<u64>,
    vectors: usize,
    /// The bits of the sample rows, contiguous.
    sample: Vec<u64>,
    /// Distance between sample rows.
    step: usize,
}

impl SignBits {
    /// Computes the signs of all vectors of `dimensions` values. Costs two passes over their codes.
    pub fn new(flat: FlatIndex, dimensions: usize) -> Self {
        let mut mean = RunningMean::new(dimensions);
        flat.columns().for_each(|(_, column)| mean.add(column));
        let mut signs = Self::empty(mean);
        flat.columns().for_each(|(first, column)| signs.add(first, column));
        signs.over(flat)
    }

    /// The same, yielding to other tasks every few blocks.
    pub(crate) async fn built(flat: FlatIndex, dimensions: usize) -> Self {
        let mut mean = RunningMean::new(dimensions);
        for (place, (_, column)) in flat.columns().enumerate() {
            mean.add(column);
            if place % BLOCKS_A_STEP == 0 {
                pause().await;
            }
        }
        let mut signs = Self::empty(mean);
        for (place, (first, column)) in flat.columns().enumerate() {
            signs.add(first, column);
            if place % BLOCKS_A_STEP == 0 {
                pause().await;
            }
        }
        signs.over(flat)
    }

    /// Completes the computation.
    fn over(mut self, flat: FlatIndex) -> Self {
        let words = self.words.max(1);
        self.step = (self.bits.len() / words / SAMPLED).max(1);
        self.sample = self.bits.chunks_exact(words).step_by(self.step).flatten().copied().collect();
        Self { flat, ..self }
    }

    fn empty(mean: RunningMean) -> Self {
        let words = mean.sum.len().div_ceil(64);
        let vectors = mean.vectors;
        Self {
            flat: FlatIndex::default(),
            mean: mean.values(),
            words,
            bits: Vec::new(),
            vectors,
            sample: Vec::new(),
            step: 1,
        }
    }

    fn add(&mut self, first: u32, column: &VectorColumn) {
        let (words, dimensions) = (self.words, self.mean.len());
        let rows = first as usize + column.scales.len();
        self.bits.resize(rows * words, 0);
        if column.dimensions != dimensions {
            return;
        }
        let codes = column.codes.chunks_exact(dimensions.max(1)).zip(&column.scales);
        for ((codes, scale), row) in codes.zip(first as usize..) {
            let Some(bits) = self.bits.get_mut(row * words..(row + 1) * words) else { continue };
            if *scale <= 0.0 {
                continue;
            }
            let values = codes.iter().map(|code| f32::from(*code) * scale);
            set_signs(bits, values.zip(&self.mean).map(|(value, mean)| value > *mean));
        }
    }

    /// The rows of the filter that pass both passes, ascending.
    fn likely(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<u32> {
        let mut signs = vec![0_u64; self.words];
        set_signs(&mut signs, query.values().iter().zip(&self.mean).map(|(value, mean)| value > mean));
        let values = query.values().iter().zip(&self.mean).map(|(value, mean)| value - mean);
        let estimate = Estimate::of(values);
        let wanted = SECOND.of(self.vectors, limit);
        let (farthest, least) =
            self.thresholds((&signs, &estimate), filter, (FIRST.of(self.vectors, limit), wanted));
        let mut likely: Vec<u32> = Vec::with_capacity(wanted + wanted / 2);
        let (mut distances, mut passed) = ([0_u16; TOGETHER], [0_u64; TOGETHER / 64]);
        let (mut near, mut products) = (Vec::with_capacity(TOGETHER), Vec::with_capacity(TOGETHER));
        let words = self.words.max(1);
        for (bits, first) in self.bits.chunks(TOGETHER * words).zip((0_u32..).step_by(TOGETHER)) {
            kernel::distances(&signs, bits, &mut distances);
            kernel::within(&distances, farthest, &mut passed);
            // After the last row there are leftover distances of earlier rows.
            let rows = u32::try_from(bits.len() / words).unwrap_or(u32::MAX);
            near.clear();
            for (passed, start) in passed.iter().zip((0_u32..).step_by(64)) {
                let mut left = *passed;
                while left != 0 {
                    near.push(start + left.trailing_zeros());
                    left &= left - 1;
                }
            }
            estimate.products(bits, &near, &mut products);
            let is_likely = |(row, product): (&u32, &i32)| {
                let whole = first + *row;
                (*product >= least && *row < rows && filter.has(whole)).then_some(whole)
            };
            likely.extend(near.iter().zip(&products).filter_map(is_likely));
        }
        likely
    }

    /// The thresholds of both passes, estimated from the sample: the largest Hamming distance, and the smallest product.
    /// Everything passes if there are fewer rows than wanted.
    fn thresholds(
        &self,
        (signs, estimate): (&[u64], &Estimate),
        filter: &RowSet,
        (first, second): (usize, usize),
    ) -> (u16, i32) {
        let (words, step) = (self.words.max(1), self.step);
        let sample = self.sampled(filter);
        let mut distances = vec![0_u16; sample.len() / words];
        kernel::distances(signs, &sample, &mut distances);
        let farthest = nth(&distances, first / step);
        let near = (0_u32..).zip(&distances).filter(|(_, distance)| **distance <= farthest);
        let (near, mut products): (Vec<u32>, Vec<i32>) = (near.map(|(row, _)| row).collect(), Vec::new());
        estimate.products(&sample, &near, &mut products);
        let place = products.len().checked_sub(second / step + 1);
        (farthest, place.map_or(i32::MIN, |place| *products.select_nth_unstable(place).1))
    }

    /// The bits of the sample rows in the filter.
    fn sampled(&self, filter: &RowSet) -> Cow<'_, [u64]> {
        if filter.is_all() {
            return Cow::Borrowed(&self.sample);
        }
        let rows = self.sample.chunks_exact(self.words.max(1)).zip((0_usize..).step_by(self.step));
        let passes = |row: usize| u32::try_from(row).is_ok_and(|row| filter.has(row));
        let mut sample = Vec::with_capacity(self.sample.len());
        for (bits, _) in rows.filter(|(_, row)| passes(*row)) {
            sample.extend_from_slice(bits);
        }
        Cow::Owned(sample)
    }
}

/// The distance at this index in ascending order; the largest number if there are fewer.
fn nth(distances: &[u16], place: usize) -> u16 {
    let largest = distances.iter().max().copied().unwrap_or_default();
    let mut counts = vec![0_usize; usize::from(largest) + 1];
    for distance in distances {
        if let Some(count) = counts.get_mut(usize::from(*distance)) {
            *count += 1;
        }
    }
    let mut left = place;
    for (distance, count) in (0..).zip(counts) {
        let Some(behind) = left.checked_sub(count) else { return distance };
        left = behind;
    }
    u16::MAX
}

impl VectorIndex for SignBits {
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<Neighbor> {
        if filter.len() < SIGN_BITS_FROM || query.dimensions() != self.mean.len() {
            return self.flat.nearest(query, filter, limit);
        }
        let mut best = TopK::new(limit);
        self.flat.for_each_cosine(query, &self.likely(query, filter, limit), |row, cosine| {
            best.offer(cosine, row);
        });
        let near = best.into_sorted();
        if near.len() < limit {
            // Both passes only estimate how many rows they keep.
            return self.flat.nearest(query, filter, limit);
        }
        near.into_iter().map(Neighbor::from).collect()
    }

    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        self.flat.cosine(query, row)
    }
}

/// The vectors of one model: an index for the older rows of a large space, exact codes for the rest.
#[derive(Debug)]
pub(crate) struct Vectors {
    pub(crate) flat: FlatIndex,
    /// The index, and the number of rows it covers.
    pub(crate) index: Option<(u32, Arc<dyn VectorIndex>)>,
}

impl Vectors {
    /// The cosine of two rows; `None` if one has no vector.
    pub(crate) fn between(&self, one: u32, other: u32) -> Option<f32> {
        self.flat.between(one, other)
    }
}

impl VectorIndex for Vectors {
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<Neighbor> {
        let Some((rows, index)) = &self.index else { return self.flat.nearest(query, filter, limit) };
        let mut best = TopK::new(limit);
        let is_meant = |near: &Neighbor| near.row < *rows && filter.has(near.row);
        for near in index.nearest(query, filter, limit).into_iter().filter(is_meant) {
            best.offer(near.cosine, near.row);
        }
        for near in self.flat.nearest_from(*rows, query, filter, limit) {
            best.offer(near.cosine, near.row);
        }
        best.into_sorted().into_iter().map(Neighbor::from).collect()
    }

    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        self.flat.cosine(query, row)
    }
}

/// Running mean of all vectors.
struct RunningMean {
    sum: Vec<f64>,
    vectors: usize,
}

impl RunningMean {
    fn new(dimensions: usize) -> Self {
        Self { sum: vec![0.0; dimensions], vectors: 0 }
    }

    fn add(&mut self, column: &VectorColumn) {
        if column.dimensions != self.sum.len() {
            return;
        }
        for (codes, scale) in column.codes.chunks_exact(column.dimensions.max(1)).zip(&column.scales) {
            self.vectors += usize::from(*scale > 0.0);
            for (sum, code) in self.sum.iter_mut().zip(codes) {
                *sum += f64::from(*code) * f64::from(*scale);
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a mean of values between −1 and 1")]
    fn values(self) -> Vec<f32> {
        let vectors = self.vectors.max(1) as f64;
        self.sum.into_iter().map(|sum| (sum / vectors) as f32).collect()
    }
}

fn set_signs(bits: &mut [u64], signs: impl Iterator<Item = bool>) {
    for (place, is_above) in signs.enumerate() {
        // Half of the signs are set, unpredictably: a branch would cost more than the shift.
        if let Some(word) = bits.get_mut(place / 64) {
            *word |= u64::from(is_above) << (place % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use mnemal_core::{EventId, IndexBlock, ModelId, Seq};

    use super::*;

    const DIMENSIONS: usize = 128;

    #[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
    /// Vectors around 40 directions, in blocks of 1,000 rows; every tenth row has none.
    fn flat(rows: usize) -> FlatIndex {
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            ((state >> 40) as f32) / 8_388_608.0 - 1.0
        };
        let centres: Vec<Vec<f32>> = (0..40).map(|_| (0..DIMENSIONS).map(|_| random()).collect()).collect();
        let model = ModelId::new("m").unwrap();
        let blocks = (0..rows / 1_000).map(|block| {
            let seqs: Vec<Seq> = (0..1_000).map(|row| Seq((block * 1_000 + row + 1) as u64)).collect();
            let mut column = VectorColumn {
                model: model.clone(),
                dimensions: DIMENSIONS,
                scales: Vec::new(),
                codes: Vec::new(),
            };
            for row in 0..1_000_usize {
                let centre = &centres[row % centres.len()];
                column.scales.push(if row % 10 == 9 { 0.0 } else { 1.0 / 900.0 });
                column.codes.extend(centre.iter().map(|value| ((value + random() + 0.3) * 50.0) as i8));
            }
            let events = seqs.iter().map(|seq| EventId(u128::from(seq.0))).collect();
            Arc::new(IndexBlock { events, seqs, vectors: vec![column], ..IndexBlock::default() })
        });
        FlatIndex::new(blocks.collect::<Vec<_>>(), model.clone())
    }

    #[test]
    fn the_first_look_finds_most_of_the_nearest_rows() {
        let rows = SIGN_BITS_FROM + 2_000;
        let flat = flat(rows as usize);
        let signs = SignBits::new(flat.clone(), DIMENSIONS);
        let everything = RowSet::all(rows);
        let most = RowSet::of(rows, |row| row % 50 != 0);
        let mut found = 0;
        for turn in 0..10_usize {
            let values: Vec<f32> =
                (0..DIMENSIONS).map(|place| ((place * 7 + turn * 31) % 13) as f32 - 6.0).collect();
            let query = QueryVector::new(&values).unwrap();
            for filter in [&everything, &most] {
                let (exact, quick) = (flat.nearest(&query, filter, 10), signs.nearest(&query, filter, 10));
                assert!(quick.iter().all(|near| filter.has(near.row) && near.row % 10 != 9));
                assert_eq!(quick.len(), 10);
                found += exact.iter().filter(|near| quick.contains(near)).count();
            }
        }
        assert!(found >= 170, "{found} of 200");
    }
}
