//! Product of a query with the signs of a row: closer to the cosine than the Hamming distance.

/// Quantization steps per unit of a query value. Source: own choice; sums of 4,096 values between −2 and 2 stay below 2³¹.
const STEPS: f32 = 65_536.0;
/// Combinations of eight signs.
const CASES: usize = 256;

/// Partial sums of the query's values for every combination of eight signs.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    /// One table per byte of a row, in byte order.
    tables: Vec<[i32; CASES]>,
}

impl Estimate {
    /// Builds the tables: 256 sums for every eight values.
    pub(super) fn of(values: impl Iterator<Item = f32>) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "differences of unit vectors lie in −2 to 2")]
        let steps: Vec<i32> = values.map(|value| (value * STEPS).round() as i32).collect();
        let table = |eight: &[i32]| {
            let mut table = [0_i32; CASES];
            for (bit, step) in eight.iter().chain(std::iter::repeat(&0)).take(u8::BITS as usize).enumerate() {
                // With this sign set, each sum grows by the sign's value.
                let (without, with) = table.split_at_mut(1 << bit);
                for (with, without) in with.iter_mut().zip(without) {
                    *with = *without + step;
                }
            }
            table
        };
        Self { tables: steps.chunks(u8::BITS as usize).map(table).collect() }
    }

    /// Returns for each row the sum of the values whose signs are set, for the rows at these indexes of `bits`; of two rows
    /// the one with the larger sum is likely nearer. A missing index has the sum 0.
    ///
    /// The case of two words is written out: sixteen table lookups and additions without a branch.
    pub(super) fn products(&self, bits: &[u64], places: &[u32], sums: &mut Vec<i32>) {
        sums.clear();
        if let (Ok(tables), (rows, [])) = (<&[_; 16]>::try_from(self.tables.as_slice()), bits.as_chunks()) {
            sums.extend(
                places.iter().map(|place| rows.get(*place as usize).map_or(0, |row| of_two(tables, *row))),
            );
            return;
        }
        let words = self.tables.len().div_ceil(size_of::<u64>());
        let row = |place: usize| bits.get(place * words..(place + 1) * words).unwrap_or_default();
        sums.extend(places.iter().map(|place| self.product(row(*place as usize))));
    }

    fn product(&self, bits: &[u64]) -> i32 {
        let words = self.tables.chunks(size_of::<u64>()).zip(bits);
        let sum = |(tables, word): (&[[i32; CASES]], &u64)| -> i32 {
            let of = |(table, byte): (&[i32; CASES], u8)| {
                table.get(usize::from(byte)).copied().unwrap_or_default()
            };
            tables.iter().zip(word.to_le_bytes()).map(of).sum()
        };
        words.map(sum).sum()
    }
}

/// The sum of the values whose signs are set in a row of two words.
#[inline]
fn of_two(tables: &[[i32; CASES]; 16], [first, second]: [u64; 2]) -> i32 {
    let bytes = (u128::from(first) | u128::from(second) << u64::BITS).to_le_bytes();
    let of = |(table, byte): (&[i32; CASES], u8)| table.get(usize::from(byte)).copied().unwrap_or_default();
    tables.iter().zip(bytes).map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_the_signs_that_are_set_are_added() {
        let values: Vec<f32> =
            (0..70).map(|place| f32::from(i8::try_from(place - 30).unwrap()) / 64.0).collect();
        let estimate = Estimate::of(values.iter().copied());
        for (bits, set) in [
            ([0, 0], vec![]),
            ([1 << 63 | 5, 1 << 5], vec![0, 2, 63, 69]),
            ([u64::MAX; 2], (0..70).collect()),
        ] {
            let sum: f32 = set.iter().map(|place: &usize| values[*place]).sum();
            assert!((estimate.product(&bits) as f32 / STEPS - sum).abs() < 1e-3, "{bits:?}");
        }
        assert_eq!(Estimate::of([].into_iter()).product(&[u64::MAX]), 0);
    }

    #[test]
    fn rows_of_two_words_are_added_as_one_by_one_and_a_place_that_is_not_there_has_nothing() {
        for dimensions in [64_usize, 70, 121, 128, 192] {
            let values = (0_i16..).take(dimensions).map(|place| f32::from(place * 37 % 101 - 50) / 64.0);
            let estimate = Estimate::of(values);
            let words = dimensions.div_ceil(64);
            let bits: Vec<u64> =
                (1..=7 * words as u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let mut sums = vec![7; 3];
            estimate.products(&bits, &[6, 0, 3, 7], &mut sums);
            let row = |place: usize| estimate.product(&bits[place * words..(place + 1) * words]);
            assert_eq!(sums, [row(6), row(0), row(3), 0], "{dimensions}");
        }
    }
}
