//! Calibration of the rules: each rule's shift from its prior, and the precision at each score.

use std::collections::HashMap;

use mnemal_core::{Confidence, Error, Result, RuleId};

use crate::extractor::RuleExtractor;
use crate::section::Section;

/// Returns the calibration name of a rule's claims in plain words.
pub(crate) fn plain(rule: &RuleId) -> RuleId {
    RuleId::new(format!("{}{}", rule.as_str(), RuleExtractor::IN_PLAIN_WORDS))
        .unwrap_or_else(|_| rule.clone())
}

/// What is added to scores, by the id of a rule; by its language (`en`) for rules of which no claim was measured.
type Shifts = HashMap<Box<str>, f32>;

/// Score corrections, fitted on labeled turns; empty for a language without such turns.
#[derive(Debug, Default)]
pub(crate) struct Calibration {
    /// For claims in any words.
    shifts: Shifts,
    /// For claims in plain words.
    plain: Shifts,
    /// Scores in rising order with the share of right claims there, which never falls.
    curve: Vec<(f32, f32)>,
}

impl Calibration {
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
        let curve = scores.into_iter().zip(shares).collect();
        Ok(Self { shifts: shifts(section, "shift")?, plain: shifts(section, "plain")?, curve })
    }

    /// Returns the calibrated confidence of a rule's claim with a score.
    ///
    /// The calibration can make a claim active or keep it from being so; it never drops a claim, because the turns that it was
    /// measured on are harder than ordinary ones.
    #[expect(clippy::fn_params_excessive_bools, reason = "how a claim is said")]
    pub(crate) fn weighed(&self, rule: &str, is_plain: bool, score: Confidence) -> Confidence {
        if score < Confidence::CANDIDATE {
            return score;
        }
        let shifts = if is_plain { &self.plain } else { &self.shifts };
        let share = self.share(score.get() + shift(shifts, rule));
        Confidence::new(share.max(Confidence::CANDIDATE.get()))
    }

    /// Whether nothing was measured of the rules of the language.
    pub(crate) fn is_empty(&self) -> bool {
        self.curve.is_empty()
    }

    /// Returns how likely a claim with a shifted score is right.
    fn share(&self, score: f32) -> f32 {
        let score = score.clamp(0.0, 1.0);
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

fn shifts(section: Section<'_>, name: &str) -> Result<Shifts> {
    let mut shifts = Shifts::new();
    if let Some(section) = section.section(name)? {
        for rule in section.keys() {
            shifts.insert(rule.into(), section.number(rule)?.unwrap_or_default());
        }
    }
    Ok(shifts)
}

/// Returns the shift of a rule, else that of its language, else none.
fn shift(shifts: &Shifts, rule: &str) -> f32 {
    let language = rule.split('.').next().unwrap_or_default();
    shifts.get(rule).or_else(|| shifts.get(language)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::PackFile;

    fn read(text: &str) -> Result<Calibration> {
        let file = PackFile::parse(text)?;
        Calibration::read(file.root().section("measured")?)
    }

    #[test]
    fn a_score_is_shifted_and_mapped() {
        let text = "[measured]\nscore = [0.5, 0.9]\nshare = [0.4, 0.8]\n[measured.shift]\n'en.a.x' = -0.2\n";
        let measured = read(text).unwrap();
        let share =
            |rule: &str, is_plain, score| measured.weighed(rule, is_plain, Confidence::new(score)).get();
        let near = |found: f32, right: f32| (found - right).abs() < 1e-6;
        assert!(near(share("en.b.x", false, 0.7), 0.6) && near(share("en.a.x", false, 0.9), 0.6));
        assert!(near(share("en.b.x", false, 1.0), 0.8) && near(share("en.a.x", false, 0.6), 0.5));
        assert!(near(share("en.a.x", false, 0.4), 0.4) && near(share("en.a.x", true, 0.9), 0.8));
        assert_eq!(Calibration::default().share(0.7).to_bits(), 0.7_f32.to_bits());
    }

    #[test]
    fn a_rule_that_was_not_measured_is_shifted_as_its_language() {
        let text = "[measured]\nscore = [0.0, 1.0]\nshare = [0.0, 1.0]\n[measured.shift]\n'en' = -0.1\n'en.a.x' = -0.3\n";
        let measured = read(text).unwrap();
        for (rule, share) in [("en.a.x", 0.6), ("en.a.new", 0.8), ("de.b.new", 0.9)] {
            let found = measured.weighed(rule, false, Confidence::new(0.9)).get();
            assert!((found - share).abs() < 1e-6, "{rule}: {found}");
        }
    }

    #[test]
    fn a_falling_curve_is_refused() {
        assert!(read("[measured]\nscore = [0.5, 0.9]\nshare = [0.8, 0.4]\n").is_err());
        assert!(read("[measured]\nscore = [0.5]\nshare = []\n").is_err());
    }
}
