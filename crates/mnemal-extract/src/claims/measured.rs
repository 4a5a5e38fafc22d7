//! What was measured of the rules: how far each is from its prior, and what share of claims of a score is right.

use std::collections::HashMap;

use mnemal_core::{Confidence, Error, Result};

use crate::section::Section;

/// Corrections of scores, fitted on labelled turns; empty for a language without such turns.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// What is added to the score of a rule, by its id.
    shifts: HashMap<Box<str>, f32>,
    /// Scores in rising order with the share of right claims there, which never falls.
    curve: Vec<(f32, f32)>,
}

impl Measured {
    /// Reads the table `measured` of a pack.
    ///
    /// # Errors
    /// `Invalid` for a curve that falls, or whose lists differ in length.
    pub(crate) fn read(section: Option<Section<'_>>) -> Result<Self> {
        let Some(section) = section else { return Ok(Self::default()) };
        let scores = section.numbers("score")?;
        let shares = section.numbers("share")?;
        let rises = |of: &[f32]| of.windows(2).all(|pair| matches!(pair, [a, b] if a <= b));
        if scores.len() != shares.len() || !rises(&scores) || !rises(&shares) {
            return Err(Error::invalid("a pack: `score` and `share` must rise together"));
        }
        let mut shifts = HashMap::new();
        if let Some(section) = section.section("shift")? {
            for rule in section.keys() {
                shifts.insert(rule.into(), section.number(rule)?.unwrap_or_default());
            }
        }
        Ok(Self { shifts, curve: scores.into_iter().zip(shares).collect() })
    }

    /// Returns the confidence of a claim of a rule with a score.
    ///
    /// What was measured can make a claim active or keep it from being so; it never drops one that its rule keeps, because the
    /// turns that it was measured on are harder than ordinary ones.
    pub(crate) fn weighed(&self, rule: &str, score: Confidence) -> Confidence {
        if score < Confidence::CANDIDATE {
            return score;
        }
        Confidence::new(self.share(rule, score.get()).max(Confidence::CANDIDATE.get()))
    }

    /// Returns how likely a claim of a rule with a score is right.
    fn share(&self, rule: &str, score: f32) -> f32 {
        let score = (score + self.shifts.get(rule).copied().unwrap_or_default()).clamp(0.0, 1.0);
        let Some((first, last)) = self.curve.first().zip(self.curve.last()) else { return score };
        let above = self.curve.iter().position(|(of, _)| *of > score);
        let pair = above.and_then(|above| {
            let below = above.checked_sub(1)?;
            self.curve.get(below).zip(self.curve.get(above))
        });
        match pair {
            Some(((from, low), (to, high))) => low + (high - low) * (score - from) / (to - from),
            None if above == Some(0) => first.1 * score / first.0,
            None => last.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::PackFile;

    fn read(text: &str) -> Result<Measured> {
        let file = PackFile::parse(text)?;
        Measured::read(file.root().section("measured")?)
    }

    #[test]
    fn a_score_is_shifted_and_mapped() {
        let text = "[measured]\nscore = [0.5, 0.9]\nshare = [0.4, 0.8]\n[measured.shift]\n'en.a' = -0.2\n";
        let measured = read(text).unwrap();
        let near = |rule, score, share: f32| (measured.share(rule, score) - share).abs() < 1e-6;
        assert!(near("en.b", 0.7, 0.6) && near("en.a", 0.9, 0.6));
        assert!(near("en.b", 1.0, 0.8) && near("en.b", 0.25, 0.2) && near("en.a", 0.1, 0.0));
        assert_eq!(Measured::default().share("en.a", 0.7).to_bits(), 0.7_f32.to_bits());
        let weighed = |score| measured.weighed("en.a", Confidence::new(score)).get();
        assert!((weighed(0.9) - 0.6).abs() < 1e-6 && (weighed(0.6) - 0.5).abs() < 1e-6);
        assert!((weighed(0.4) - 0.4).abs() < 1e-6);
    }

    #[test]
    fn a_falling_curve_is_refused() {
        assert!(read("[measured]\nscore = [0.5, 0.9]\nshare = [0.8, 0.4]\n").is_err());
        assert!(read("[measured]\nscore = [0.5]\nshare = []\n").is_err());
    }
}
