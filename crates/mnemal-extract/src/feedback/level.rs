//! Irritation level of a user, from counted cues.

use super::Line;
use super::kinds::{FeedbackAct, Irritation, Polarity};
use super::pack::{Pack, Rule};
use crate::word::words;

/// Points from which a complaint is very irritated. Source: a repeated complaint alone, or two weaker cues.
const VERY_FROM: u8 = 3;
/// Points of a complaint that comes again. Source: the strongest of the counted cues.
pub(crate) const AGAIN_POINTS: u8 = 3;
/// Points of several marks in a row. Source: the labeled exchanges, in which they alone make a correction very irritated.
const LOUD_POINTS: u8 = 3;
/// Words in capitals, in a row, that shout. Source: one may be an abbreviation.
const SHOUTED_WORDS: usize = 2;
/// Letters of a word in capitals that can shout. Source: shorter ones are mostly abbreviations.
const SHOUTED_LETTERS: usize = 3;

/// The points of a message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cues {
    points: u8,
}

impl Cues {
    /// Counts the cues of a message; each kind of cue counts once.
    pub(crate) fn count(pack: &Pack, text: &str, lines: &[Line]) -> Self {
        let mut hits: Vec<u8> = lines
            .iter()
            .flat_map(|line| pack.levels.find(&line.tokens, &pack.lexicon))
            .map(|hit| hit.tag)
            .collect();
        hits.sort_unstable();
        hits.dedup();
        let is_loud = lines.iter().flat_map(|line| &line.tokens).any(|token| token.is_loud);
        let marks = if is_loud { LOUD_POINTS } else { 0 };
        let points = hits.into_iter().fold(marks + u8::from(shouts(text)), u8::saturating_add);
        Self { points }
    }

    /// Returns the level of a rule's match; `again` are the points of a complaint that comes again.
    ///
    /// Evidence from cue families alone is never very irritated, so that it must come from two sessions to be learned.
    pub(crate) fn level(self, rule: &Rule, polarity: Polarity, again: u8) -> Irritation {
        let points = self.points.saturating_add(rule.points).saturating_add(again);
        let is_complaint =
            rule.act.is_correction() || matches!(rule.act, FeedbackAct::Directive | FeedbackAct::GiveUp);
        match rule.act {
            _ if is_complaint && points >= VERY_FROM && !rule.is_weighed => Irritation::Very,
            _ if rule.is_casual => Irritation::Casual,
            FeedbackAct::Reject | FeedbackAct::Repair | FeedbackAct::GiveUp => Irritation::Mild,
            FeedbackAct::Directive if points > 0 || polarity == Polarity::DoNot => Irritation::Mild,
            _ => Irritation::Casual,
        }
    }
}

/// Returns whether words in a row are in capitals.
fn shouts(text: &str) -> bool {
    let mut run = 0;
    for word in words(text) {
        let word = text.get(word.span).unwrap_or_default();
        let is_loud = word.chars().filter(|c| c.is_alphabetic()).count() >= SHOUTED_LETTERS
            && word.chars().all(|c| !c.is_lowercase());
        run = if is_loud { run + 1 } else { 0 };
        if run == SHOUTED_WORDS {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_in_a_row_shout_and_abbreviations_do_not() {
        assert!(shouts("I said DO NOT TOUCH it"));
        for text in ["use the REST API", "", "STOP", "It is OK", "我的 文件"] {
            assert_eq!(shouts(text), text.contains("REST API"), "{text}");
        }
    }
}
