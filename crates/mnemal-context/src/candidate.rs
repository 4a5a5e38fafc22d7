//! Context candidates: fragments with their precomputed features.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use mnemal_core::{
    BlockKind, Fragment, InclusionReason, Level, RecordRef, Section, TokenCount, TokenCounter, TokenParts,
};
use mnemal_text::{fold, sentences, shingles};

use crate::line::{line, numbered};
use crate::line_cache::RenderedLine;
use crate::{ContextSettings, Format};

/// Consecutive words per shingle. Source: mnemal-text, `similarity` compares pairs of words.
const SHINGLE: usize = 2;
/// The line number used for counting; real contexts have no longer one. Source: own choice.
const WIDEST: usize = 999;
/// Marks truncated text.
const CUT: &str = "…";

/// A fragment that may become a line.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The original fragment.
    pub(crate) fragment: Fragment,
    /// Its untruncated line, with cached features.
    pub(crate) rendered_line: Arc<RenderedLine>,
    /// The block that it belongs to.
    pub(crate) block: BlockKind,
    /// Its index among all fragments.
    pub(crate) offered: usize,
    /// The rendered line, without a line break.
    pub(crate) line: Arc<str>,
    /// Tokens of the line with its number and its line break.
    pub(crate) tokens: TokenCount,
    /// The same before rounding, if lines can be counted separately.
    pub(crate) parts: Option<TokenParts>,
    /// The place of the recalled turn that it stands for: a learning in the words of a turn that answers.
    pub(crate) stands_for: Option<usize>,
}

/// Features for near-duplicate detection.
#[derive(Debug)]
pub(crate) struct TextFeatures {
    /// Hashes of word pairs, ascending.
    pub(crate) shingles: Vec<u64>,
    /// Bloom bits of the shingles, which distinguish most texts without a comparison of shingles.
    pub(crate) bits: [u64; 4],
    /// Hash of the words in order: texts with a different word, or another order, are never duplicates.
    words: u64,
}

impl TextFeatures {
    pub(crate) fn of(text: &str) -> Self {
        let shingles = shingles(text, SHINGLE);
        let mut bits = [0_u64; 4];
        for shingle in &shingles {
            if let Some(word) = bits.get_mut((shingle >> 6) as usize & 3) {
                *word |= 1 << (shingle & 63);
            }
        }
        let mut words = DefaultHasher::new();
        for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
            fold(word).hash(&mut words);
        }
        Self { shingles, bits, words: words.finish() }
    }

    /// Returns the leading word pairs; any near-duplicate shares at least one of them with its own leading pairs.
    ///
    /// Two sets with a Jaccard index of t share t of the larger one, so they cannot differ in all of the first n − ⌈t·n⌉ +
    /// 1 of either, if both are in the same order.
    pub(crate) fn telling(&self, threshold: f32) -> &[u64] {
        let count = self.shingles.len();
        // Rounding must not drop a needed pair.
        let shared = (f64::from(threshold) * count as f64 - 1e-3).ceil().max(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
        let first = (count + 1).saturating_sub(shared as usize).min(count);
        self.shingles.get(..first).unwrap_or_default()
    }

    /// Whether two texts are near-duplicates: a Jaccard index of at least `threshold`, and the same words in the same
    /// order. A single word can invert a sentence in any language, and so can the order.
    pub(crate) fn is_near(&self, other: &Self, threshold: f32) -> bool {
        let (here, there) = (self.shingles.len() as f32, other.shingles.len() as f32);
        if here.min(there) < threshold * here.max(there) || self.shingles.is_empty() {
            return false;
        }
        let alone: u32 =
            self.bits.iter().zip(other.bits).map(|(here, there)| (here & !there).count_ones()).sum();
        let allowed = here - threshold * (here + there) / (1.0 + threshold);
        alone as f32 <= allowed + 0.5
            && self.words == other.words
            && mnemal_text::jaccard(&self.shingles, &other.shingles) >= threshold
    }
}

impl Candidate {
    /// Combines a fragment with its line.
    pub(crate) fn new(
        fragment: Fragment,
        rendered_line: Arc<RenderedLine>,
        offered: usize,
        block: BlockKind,
    ) -> Self {
        let RenderedLine { rendered, tokens, parts, .. } = &*rendered_line;
        let (line, tokens, parts) = (Arc::clone(rendered), *tokens, *parts);
        Self { fragment, rendered_line, block, offered, line, tokens, parts, stands_for: None }
    }

    /// Truncates the line to at most `room` tokens, at a sentence end if half of the text remains, else at a character;
    /// returns `false` if fewer than `least` tokens of text would remain, and then changes nothing.
    pub(crate) fn shorten(
        &mut self,
        room: u32,
        least: u32,
        settings: &ContextSettings,
        counter: &dyn TokenCounter,
    ) -> bool {
        let (bare, _) = cost(settings.format, &line(settings.format, &self.fragment, CUT), counter);
        let mut target = TokenCount(room).minus(bare);
        while target.0 >= least {
            let text = cut(self.rendered_line.text.clone(), target, counter);
            let line = line(settings.format, &self.fragment, &text);
            let (tokens, parts) = cost(settings.format, &line, counter);
            if tokens.0 <= room {
                (self.line, self.tokens, self.parts) = (line.into(), tokens, parts);
                return true;
            }
            let over = tokens.minus(TokenCount(room)).0.max(target.0 / 8);
            target = target.minus(TokenCount(over.max(1)));
        }
        false
    }

    /// Whether it belongs to the external lines.
    pub(crate) fn is_external(&self) -> bool {
        self.fragment.label.level == Level::External
    }

    /// Whether it comes from another space than the requested one.
    pub(crate) fn is_secondary(&self) -> bool {
        is_secondary(&self.fragment)
    }

    /// Whether it is a stated preference of the user, selected for this question.
    pub(crate) fn is_stated(&self) -> bool {
        is_stated(&self.fragment)
    }

    /// Whether it is a step of a timeline.
    pub(crate) fn is_step(&self) -> bool {
        is_step(&self.fragment)
    }

    /// Whether it answers the question: a recall hit, or a graph fact.
    pub(crate) fn answers(&self) -> bool {
        !self.is_short() && (self.fragment.section == Section::Recall || self.is_known())
    }

    /// Whether it is a graph fact about an entity in the question.
    pub(crate) fn is_known(&self) -> bool {
        let of_graph = matches!(self.fragment.section, Section::Entity | Section::Topics);
        of_graph && self.fragment.because == InclusionReason::Query
    }

    /// Its group within the block: timeline steps, answers, preferences, general facts, and insights under their own
    /// heading.
    pub(crate) fn group(&self, format: Format) -> usize {
        let is_learnt =
            format.is_headed() && matches!(self.fragment.section, Section::Insights | Section::Learnings);
        match () {
            () if is_learnt => 4,
            () if self.is_step() => 0,
            () if self.answers() || self.stands_for.is_some() => 1,
            () if self.is_stated() => 2,
            () => 3,
        }
    }

    /// Whether it is filled from a share of its own before the general fill.
    pub(crate) fn is_short(&self) -> bool {
        self.is_stated() || self.is_step()
    }

    /// Whether it is a learning, not an event.
    pub(crate) fn is_learning(&self) -> bool {
        matches!(self.fragment.record, RecordRef::Learning(_))
    }
}

/// Whether a fragment comes from another space than the requested one.
pub(crate) fn is_secondary(fragment: &Fragment) -> bool {
    fragment.label.space.is_some()
}

/// Whether a fragment is a stated preference of the user, selected for a question; such lines are many and short.
pub(crate) fn is_stated(fragment: &Fragment) -> bool {
    fragment.section == Section::Recall
        && fragment.because == InclusionReason::ExplicitPreference
        && fragment.label.level == Level::User
}

/// Whether a fragment is a step of a timeline; such lines are many and short, and keep their order.
pub(crate) fn is_step(fragment: &Fragment) -> bool {
    fragment.section == Section::Recall
        && fragment.because == InclusionReason::Time
        && fragment.label.level > Level::External
}

/// The block of a section: for a question, all sections are in the volatile block.
pub(crate) fn block_of(section: Section, query: Option<&str>) -> BlockKind {
    match section {
        _ if query.is_some() => BlockKind::Volatile,
        Section::Identity | Section::Preferences | Section::Knowledge | Section::Insights => {
            BlockKind::Stable
        }
        Section::Channel | Section::Entity | Section::Topics => BlockKind::Session,
        _ => BlockKind::Volatile,
    }
}

/// Counts a line with its number and line break, also unrounded, if lines can be counted separately.
pub(crate) fn cost(
    format: Format,
    line: &str,
    counter: &dyn TokenCounter,
) -> (TokenCount, Option<TokenParts>) {
    let line = format!("{}\n", numbered(format, WIDEST, line));
    let parts = counter.parts(&line);
    (parts.map_or_else(|| counter.count(&line), TokenParts::rounded_up), parts)
}

/// Truncates a text that exceeds a budget, at a sentence end if half of it remains, else at a character.
pub(crate) fn cut(mut text: String, budget: TokenCount, counter: &dyn TokenCounter) -> String {
    if text.len() <= budget.0 as usize {
        return text;
    }
    let end = counter.prefix(&text, budget).end.min(text.len());
    let end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    if end == text.len() {
        return text;
    }
    text.truncate(end);
    let last = sentences(&text).iter().rev().nth(1).map(|sentence| sentence.end);
    if let Some(last) = last.filter(|last| *last * 2 >= end) {
        text.truncate(last);
    }
    text.truncate(text.trim_end().len());
    text.push_str(CUT);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: &str, b: &str) -> bool {
        TextFeatures::of(a).is_near(&TextFeatures::of(b), 0.9)
    }

    #[test]
    fn what_is_near_shares_a_telling_pair() {
        let words = |from: u64, to: u64| -> Vec<u64> { (from..to).collect() };
        let features = |shingles: Vec<u64>| TextFeatures { shingles, ..TextFeatures::of("") };
        for threshold in [0.3, 0.5, 0.8, 0.9, 1.0] {
            for length in 1..40 {
                for (from, to) in
                    (0..length).flat_map(|from| (from + 1..length + 9).map(move |to| (from, to)))
                {
                    let (one, other) = (features(words(0, length)), features(words(from, to)));
                    let is_like = mnemal_text::jaccard(&one.shingles, &other.shingles) >= threshold;
                    let shares =
                        one.telling(threshold).iter().any(|pair| other.telling(threshold).contains(pair));
                    assert!(shares || !is_like, "{threshold}: 0..{length} and {from}..{to}");
                }
            }
        }
        assert!(features(Vec::new()).telling(0.9).is_empty());
        assert_eq!(features(words(0, 9)).telling(0.9).len(), 1);
    }

    #[test]
    fn the_same_words_are_near_and_another_number_or_word_is_not() {
        assert!(near("The build runs on Tuesdays.", "the build runs on tuesdays"));
        assert!(!near("The build runs on Tuesdays.", "The build runs on Fridays."));
        assert!(!near("I like tea", "I do not like tea"));
        let long = |number: u32| {
            format!("{} in room {number} {}", "one two three four ".repeat(20), "and so on ".repeat(20))
        };
        assert!(near(&long(4), &long(4)));
        assert!(!near(&long(4), &long(5)));
        assert!(!near("", ""));
    }
}
