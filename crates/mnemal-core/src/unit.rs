//! Small numeric types.

use std::iter::Sum;
use std::ops::Add;

use crate::{Error, Result};

/// A number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenCount(pub u32);

impl TokenCount {
    /// Subtracts, stopping at zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for TokenCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for TokenCount {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

/// Token cost of lines before rounding, in hundredths of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenParts(pub u64);

impl TokenParts {
    /// Parts of one token.
    pub const PER_TOKEN: u64 = 100;

    /// Returns whole tokens, rounded up.
    #[must_use]
    pub fn rounded_up(self) -> TokenCount {
        TokenCount(u32::try_from(self.0.div_ceil(Self::PER_TOKEN)).unwrap_or(u32::MAX))
    }
}

impl Add for TokenParts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for TokenParts {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

/// A ranking value; finite, larger is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Score(f32);

impl Score {
    /// Keeps a finite number; anything else becomes 0, so that sorting is total.
    pub fn new(value: f32) -> Self {
        Self(if value.is_finite() { value } else { 0.0 })
    }

    /// Returns the number.
    pub fn get(self) -> f32 {
        self.0
    }
}

/// A record together with its ranking value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored<T> {
    /// The record, or its id.
    pub item: T,
    /// Its value.
    pub score: Score,
}

/// The importance of a note, given when it is stored; 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Importance(f32);

impl Importance {
    /// The importance of a note without an explicit one.
    ///
    /// Source: own default, the middle of the range.
    pub const DEFAULT: Self = Self(0.5);

    /// Checks the range once.
    ///
    /// # Errors
    /// `Invalid` outside 0 to 1.
    pub fn new(value: f32) -> Result<Self> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(Error::invalid("importance must lie in 0 to 1"))
        }
    }

    /// Returns the number, 0 to 1.
    pub fn get(self) -> f32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_finite_and_importance_has_a_range() {
        assert!(Score::new(f32::NAN).get().abs() < f32::EPSILON);
        assert!(Importance::new(1.0).is_ok());
        for wrong in [-0.1, 1.1, f32::NAN] {
            assert!(Importance::new(wrong).is_err());
        }
    }
}
