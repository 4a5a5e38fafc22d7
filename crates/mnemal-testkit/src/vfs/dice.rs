//! Randomness that follows from a seed.

/// A small generator (`SplitMix64`) for tests: the same seed gives the same throws.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Starts with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        let thrown = self.throw();
        thrown.checked_rem(end as u64).and_then(|rest| usize::try_from(rest).ok()).unwrap_or_default()
    }

    /// Whether something happens that happens `of_ten` times out of ten.
    pub fn happens(&mut self, of_ten: usize) -> bool {
        self.below(10) < of_ten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence_within_its_bounds() {
        let throws = |seed| {
            let mut dice = Dice::new(seed);
            (0..100).map(|_| dice.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(throws(3), throws(3));
        assert_ne!(throws(3), throws(4));
        assert!((0..7).all(|face| throws(3).contains(&face)));
        assert_eq!(Dice::new(1).below(0), 0);
    }
}
