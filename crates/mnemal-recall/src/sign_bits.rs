//! Sign bits around the mean: a first look at many vectors, rescored by their int8 codes.

use mnemal_core::VectorColumn;

use crate::best::Best;
use crate::kernel;
use crate::pause::pause;
use crate::rows::RowSet;
use crate::vector::{FlatIndex, Near, QueryVector, VectorIndex};

/// Fewest rows that are rescored. Source: RECALL 9.2, .91 of the exact top 10 lie within the best 2,000 by centred bits.
const FEWEST: usize = 2_000;
/// Share of the vectors that is rescored, in percent. Source: RECALL 9.2; real text vectors hardly cluster.
const SHARE: usize = 6;
/// From how many vectors on the first look pays. Source: RECALL 9.5, to be confirmed by `bench latency`.
pub const SIGN_BITS_FROM: u32 = 30_000;

/// Blocks between two pauses while the signs are taken. Source: own choice; some 2 ms of 128 dimensions.
const BLOCKS_A_STEP: usize = 8;

/// Rows that tell where the threshold lies. Source: own choice; 6 % of them are 480, which is right within some 5 %.
const SAMPLED: usize = 8_192;
/// Rows whose distances are taken at once, so that they stay near the processor.
const TOGETHER: usize = 1_024;

/// One sign a dimension and row, taken around the mean of all vectors.
///
/// Where the filter leaves fewer than [`SIGN_BITS_FROM`] rows, all of them are looked at instead.
#[derive(Clone, Debug)]
pub struct SignBits {
    flat: FlatIndex,
    mean: Vec<f32>,
    words: usize,
    /// `words` words a row; rows without a vector have none of their bits set and are left out when they are rescored.
    bits: Vec<u64>,
    vectors: usize,
}

impl SignBits {
    /// Takes the signs of all vectors of `dimensions` values. Costs two passes over their codes.
    pub fn new(flat: FlatIndex, dimensions: usize) -> Self {
        let mut mean = Mean::new(dimensions);
        flat.columns().for_each(|(_, column)| mean.add(column));
        let mut signs = Self::empty(mean);
        flat.columns().for_each(|(first, column)| signs.add(first, column));
        Self { flat, ..signs }
    }

    /// The same, giving way to other tasks after every few blocks.
    pub(crate) async fn built(flat: FlatIndex, dimensions: usize) -> Self {
        let mut mean = Mean::new(dimensions);
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
        Self { flat, ..signs }
    }

    fn empty(mean: Mean) -> Self {
        let words = mean.sum.len().div_ceil(64);
        let vectors = mean.vectors;
        Self { flat: FlatIndex::default(), mean: mean.values(), words, bits: Vec::new(), vectors }
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

    /// The some `limit` rows of the filter that share most signs with the query, ascending.
    fn likely(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<u32> {
        let mut signs = vec![0_u64; self.words];
        set_signs(&mut signs, query.values().iter().zip(&self.mean).map(|(value, mean)| value > mean));
        let last = self.threshold(&signs, filter, limit);
        let mut likely: Vec<u32> = Vec::with_capacity(limit + limit / 2);
        let (mut distances, mut found) = ([0_u16; TOGETHER], [0_u32; TOGETHER]);
        for (bits, first) in self.bits.chunks(TOGETHER * self.words.max(1)).zip((0_u32..).step_by(TOGETHER)) {
            let rows = bits.len() / self.words.max(1);
            kernel::distances(&signs, bits, &mut distances);
            // Written whether or not it counts: which rows are likely cannot be foreseen, and a wrong guess costs more.
            let mut count = 0;
            for (distance, row) in distances.iter().take(rows).zip(first..) {
                if let Some(place) = found.get_mut(count) {
                    *place = row;
                }
                count += usize::from(*distance <= last);
            }
            let found = found.get(..count).unwrap_or_default();
            if filter.is_all() {
                likely.extend_from_slice(found);
            } else {
                likely.extend(found.iter().filter(|row| filter.has(**row)));
            }
        }
        likely
    }

    /// The distance within which some `limit` rows of the filter lie, seen from a sample; the largest one where there are
    /// fewer.
    fn threshold(&self, signs: &[u64], filter: &RowSet, limit: usize) -> u16 {
        let words = self.words.max(1);
        let rows = self.bits.len() / words;
        let step = (rows / SAMPLED).max(1);
        let mut bits: Vec<u64> = Vec::with_capacity((rows / step + 1) * words);
        for row in (0..rows).step_by(step) {
            if u32::try_from(row).is_ok_and(|row| filter.has(row)) {
                bits.extend_from_slice(self.bits.get(row * words..(row + 1) * words).unwrap_or_default());
            }
        }
        let mut distances = vec![0_u16; bits.len() / words];
        kernel::distances(signs, &bits, &mut distances);
        let mut counts = vec![0_usize; words * 64 + 1];
        for distance in distances {
            if let Some(count) = counts.get_mut(usize::from(distance)) {
                *count += step;
            }
        }
        let mut total = 0;
        let last = counts.iter().position(|count| {
            total += count;
            total >= limit
        });
        last.and_then(|last| u16::try_from(last).ok()).unwrap_or(u16::MAX)
    }
}

impl VectorIndex for SignBits {
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<Near> {
        if filter.len() < SIGN_BITS_FROM || query.dimensions() != self.mean.len() {
            return self.flat.nearest(query, filter, limit);
        }
        let rescored = FEWEST.max(self.vectors * SHARE / 100).max(limit);
        let mut best = Best::new(limit);
        self.flat.for_each_cosine(query, &self.likely(query, filter, rescored), |row, cosine| {
            best.offer(cosine, row);
        });
        best.into_sorted().into_iter().map(Near::from).collect()
    }

    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        self.flat.cosine(query, row)
    }
}

/// The mean of all vectors, while it is summed up.
struct Mean {
    sum: Vec<f64>,
    vectors: usize,
}

impl Mean {
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
        // Half of the signs are set, in no order that could be foreseen: a branch would cost more than the shift.
        if let Some(word) = bits.get_mut(place / 64) {
            *word |= u64::from(is_above) << (place % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mnemal_core::{EventId, IndexBlock, ModelId, Seq};

    use super::*;

    const DIMENSIONS: usize = 128;

    #[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
    /// Vectors around 40 directions, in blocks of 1,000 rows; each tenth row has none.
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
