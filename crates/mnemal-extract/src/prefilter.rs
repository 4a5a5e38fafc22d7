//! Fast prefilter that excludes most words that are not in a list.

/// A Bloom-like filter of word beginnings with 128 marks: a word whose mark is missing is not in the list.
///
/// Most words of a text are in none of the hundreds of lists and patterns of a language; this check takes a few cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prefilter(u128);

impl Prefilter {
    /// The prefilter that lets everything pass.
    pub(crate) const ALL: Self = Self(u128::MAX);

    /// Returns the prefilter of one beginning, as [`start`](crate::word::start) gives it.
    pub(crate) fn of(start: u64) -> Self {
        // The seven highest bits of the product depend on every letter. Source: the multiplier of `FxHash`.
        Self(1 << (start.wrapping_mul(0x517c_c1b7_2722_0a95) >> 57))
    }

    /// Returns the union of two prefilters.
    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the two may have a word in common.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the number of set marks; with fewer it excludes more.
    pub(crate) fn width(self) -> u32 {
        self.0.count_ones()
    }
}

impl FromIterator<u64> for Prefilter {
    fn from_iter<I: IntoIterator<Item = u64>>(starts: I) -> Self {
        starts.into_iter().fold(Self::default(), |prefilter, start| prefilter.with(Self::of(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::start;

    #[test]
    fn a_sieve_lets_its_own_words_through_and_holds_back_most_others() {
        let own = ["live", "lives", "moved", "am"];
        let prefilter: Prefilter = own.into_iter().map(start).collect();
        assert!(own.into_iter().all(|word| prefilter.meets(Prefilter::of(start(word)))));
        let others = ["the", "a", "on", "house", "yesterday", "my", "sister", "likes", "painting", "and"];
        let passed = others.into_iter().filter(|word| prefilter.meets(Prefilter::of(start(word)))).count();
        assert!(passed <= 1, "{passed}");
        assert!(
            Prefilter::ALL.meets(prefilter)
                && !Prefilter::default().meets(prefilter)
                && prefilter.width() <= 4
        );
    }
}
