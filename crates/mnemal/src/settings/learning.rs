//! Settings of learning.

use mnemal_core::{Error, Result};
use mnemal_learnings::Decay;
use serde::{Deserialize, Serialize};

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
}

impl Default for LearningSettings {
    fn default() -> Self {
        let Decay { half_life_days, floor, most, .. } = Decay::default();
        Self { enabled: true, half_life_days, floor, max_active: most }
    }
}

impl LearningSettings {
    /// Returns the decay of learnings.
    pub(crate) fn decay(&self) -> Decay {
        Decay { half_life_days: self.half_life_days, floor: self.floor, most: self.max_active }
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(self.half_life_days.is_finite() && self.half_life_days > 0.0) {
            return Err(Error::invalid("learning.half_life_days must be more than 0"));
        }
        if !(0.0..=1.0).contains(&self.floor) {
            return Err(Error::invalid("learning.floor must lie in 0 to 1"));
        }
        Ok(())
    }
}
