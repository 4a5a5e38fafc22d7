//! Settings of learning.

use std::collections::BTreeMap;

use mnemal_core::{Error, Result, SpaceId};
use mnemal_learnings::Decay;
use serde::{Deserialize, Serialize};

pub use crate::review::ReviewScope;

/// Settings of learning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearningSettings {
    /// Whether learnings are inferred from turns and tool results; explicitly stored notes are kept in any case.
    pub enabled: bool,
    /// Half-life of the weight of inferred learnings, in days.
    #[serde(alias = "decay_days")]
    pub half_life_days: f64,
    /// Lower bound of every weight, 0 to 1.
    pub floor: f32,
    /// Maximum number of learnings about work and tools; the inferred ones of least weight are left out first.
    #[serde(alias = "max_learnings")]
    pub max_active: usize,
    /// What of the learned memories waits for a person's review: `all`, `unsure` (candidates, which do not count yet) or `none`.
    /// It says what is listed and counted, and changes nothing that is believed.
    pub review: ReviewScope,
    /// The same for single spaces, by name.
    pub review_in: BTreeMap<String, ReviewScope>,
}

impl Default for LearningSettings {
    fn default() -> Self {
        let Decay { half_life_days, floor, most, .. } = Decay::default();
        let (review, review_in) = (ReviewScope::default(), BTreeMap::new());
        Self { enabled: true, half_life_days, floor, max_active: most, review, review_in }
    }
}

impl LearningSettings {
    /// Returns the decay of learnings.
    pub(crate) fn decay(&self) -> Decay {
        Decay { half_life_days: self.half_life_days, floor: self.floor, most: self.max_active }
    }

    /// Returns what waits for a review in a space.
    pub(crate) fn review_of(&self, space: &str) -> ReviewScope {
        self.review_in.get(space).copied().unwrap_or(self.review)
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(self.half_life_days.is_finite() && self.half_life_days > 0.0) {
            return Err(Error::invalid("learning.half_life_days must be more than 0"));
        }
        if !(0.0..=1.0).contains(&self.floor) {
            return Err(Error::invalid("learning.floor must lie in 0 to 1"));
        }
        for space in self.review_in.keys() {
            let _name = SpaceId::new(space)
                .map_err(|error| Error::invalid(format!("learning.review_in: {}", error.what())))?;
        }
        Ok(())
    }
}
