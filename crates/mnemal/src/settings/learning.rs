//! Settings of what is learnt.

use mnemal_core::{Error, Result};
use mnemal_learnings::Decay;
use serde::{Deserialize, Serialize};

/// What is learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearningSettings {
    /// Whether anything is learnt from what people say and tools answer; notes that somebody stores are kept in any case.
    pub enabled: bool,
    /// Days after which what is inferred weighs half.
    #[serde(alias = "decay_days")]
    pub half_life_days: f64,
    /// What no weight falls below, 0 to 1.
    pub floor: f32,
    /// Most learnings about the work and about tools; the lowest inferred ones are left out first.
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
    /// Returns how learnings fade.
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
