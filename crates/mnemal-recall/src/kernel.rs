//! SIMD kernels of the vector arm, compiled for the baseline processor and again for newer ones.
//!
//! The version is chosen once per process. Each call processes several rows, because the dispatch costs a jump.
//!
//! The loops are written out: `Iterator::sum` calls functions of the standard library that the compiler may place in
//! another codegen unit than the vectorized loop; then they are neither vectorized nor inlined without link-time
//! optimization.

use multiversion::multiversion;

/// Writes the dot product of the query with each row: rows × `query.len()` codes, row-major, one sum per row.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+popcnt"))]
pub(crate) fn products(query: &[i16], codes: &[i8], sums: &mut [i32]) {
    for (codes, sum) in codes.chunks_exact(query.len().max(1)).zip(sums) {
        *sum = product(query, codes);
    }
}

/// The same for single rows, by index; a missing index has the sum 0.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+popcnt"))]
pub(crate) fn products_at(query: &[i16], codes: &[i8], places: &[u32], sums: &mut [i32]) {
    for (place, sum) in places.iter().zip(sums) {
        let start = *place as usize * query.len();
        *sum = product(query, codes.get(start..start + query.len()).unwrap_or_default());
    }
}

/// Dot product of two rows; vectorized when called from a vectorized loop.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the instructions of its caller are what makes it fast")]
fn product(query: &[i16], codes: &[i8]) -> i32 {
    let mut sum = 0;
    for (a, b) in query.iter().zip(codes) {
        sum += i32::from(*a) * i32::from(i16::from(*b));
    }
    sum
}

/// Writes the Hamming distance of each row: rows × `signs.len()` words, row-major, one distance per row.
///
/// The case of two words is written out, so that it compiles to vector instructions; newer processors count the bits of
/// eight words at once.
#[multiversion(targets(
    "x86_64+avx2+avx512bw+avx512f+avx512vl+avx512vpopcntdq+bmi1+bmi2+fma+popcnt",
    "x86_64+avx2+bmi1+bmi2+fma+popcnt"
))]
pub(crate) fn distances(signs: &[u64], bits: &[u64], distances: &mut [u16]) {
    if let [first, second] = *signs {
        let (rows, _) = bits.as_chunks::<2>();
        for ([a, b], distance) in rows.iter().zip(distances) {
            *distance = differ(*a, first) + differ(*b, second);
        }
        return;
    }
    for (bits, distance) in bits.chunks_exact(signs.len().max(1)).zip(distances) {
        *distance = 0;
        for (a, b) in bits.iter().zip(signs) {
            *distance += differ(*a, *b);
        }
    }
}

/// Writes which distances are at most `farthest`: one bit each, 64 per word, the first in the lowest bit; an incomplete
/// last word is not written.
///
/// Eight distances become the lowest bits of eight bytes, which a multiplication gathers into one byte.
#[multiversion(targets(
    "x86_64+avx2+avx512bw+avx512f+avx512vl+avx512vpopcntdq+bmi1+bmi2+fma+popcnt",
    "x86_64+avx2+bmi1+bmi2+fma+popcnt"
))]
pub(crate) fn within(distances: &[u16], farthest: u16, passed: &mut [u64]) {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = distances.as_chunks::<64>();
    for (distances, passed) in words.iter().zip(passed) {
        let mut are_near = [0_u8; 64];
        for (is_near, distance) in are_near.iter_mut().zip(distances) {
            *is_near = u8::from(*distance <= farthest);
        }
        let (eights, _) = are_near.as_chunks::<8>();
        *passed = 0;
        for (eight, place) in eights.iter().zip((0..).step_by(8)) {
            *passed |= (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) << place;
        }
    }
}

/// Hamming distance of two words.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as of `product`")]
#[expect(clippy::cast_possible_truncation, reason = "at most 64 signs a word")]
fn differ(a: u64, b: u64) -> u16 {
    (a ^ b).count_ones() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_give_what_the_plain_sums_give() {
        for dimensions in [1_usize, 3, 64, 128, 200, 256] {
            let rows = 19;
            let query: Vec<i16> = (0_i16..).take(dimensions).map(|at| at * 37 % 255 - 127).collect();
            let codes: Vec<i8> = (0_i32..)
                .take(dimensions * rows)
                .map(|at| i8::try_from(at * 101 % 255 - 127).unwrap())
                .collect();
            let plain = |row: usize| -> i32 {
                (0..dimensions).map(|at| i32::from(query[at]) * i32::from(codes[row * dimensions + at])).sum()
            };
            let mut sums = vec![0; rows];
            products(&query, &codes, &mut sums);
            assert_eq!(sums, (0..rows).map(plain).collect::<Vec<_>>());
            let mut some = [7; 3];
            products_at(&query, &codes, &[18, 2, 19], &mut some);
            assert_eq!(some, [plain(18), plain(2), 0]);
        }
        for words in 1..5_usize {
            let signs: Vec<u64> =
                (0..words as u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let bits: Vec<u64> =
                (0..words as u64 * 7).map(|at| (at + 3).wrapping_mul(0xd134_2543_de82_ef95)).collect();
            let mut found = [0; 7];
            distances(&signs, &bits, &mut found);
            for (row, found) in found.iter().enumerate() {
                let expected: u32 =
                    (0..words).map(|at| (bits[row * words + at] ^ signs[at]).count_ones()).sum();
                assert_eq!(u32::from(*found), expected);
            }
        }
    }

    #[test]
    fn a_bit_tells_which_distances_are_near_enough() {
        let distances: Vec<u16> = (0_u32..200).map(|at| (at * 37 % 129) as u16).collect();
        for farthest in [0, 1, 63, 64, 127, 128, u16::MAX] {
            let mut passed = [7; 4];
            within(&distances, farthest, &mut passed);
            for (place, distance) in distances.iter().take(192).enumerate() {
                let is_near = passed[place / 64] >> (place % 64) & 1 == 1;
                assert_eq!(is_near, *distance <= farthest, "{place}: {distance} and {farthest}");
            }
            assert_eq!(passed[3], 7, "a word that is not full");
        }
    }

    #[test]
    fn two_words_of_signs_are_counted_as_one_by_one_in_any_number_of_rows() {
        let signs = [0x9e37_79b9_7f4a_7c15_u64, 0xd134_2543_de82_ef95];
        for rows in 0..70_u64 {
            let bits: Vec<u64> =
                (0..rows * 2).map(|at| (at + 5).wrapping_mul(0xa076_1d64_78bd_642f)).collect();
            let mut found = vec![0_u16; bits.len() / 2];
            distances(&signs, &bits, &mut found);
            let one = |row: &[u64]| (row[0] ^ signs[0]).count_ones() + (row[1] ^ signs[1]).count_ones();
            let expected: Vec<u32> = bits.chunks(2).map(one).collect();
            assert_eq!(found.iter().map(|found| u32::from(*found)).collect::<Vec<_>>(), expected);
        }
    }
}
