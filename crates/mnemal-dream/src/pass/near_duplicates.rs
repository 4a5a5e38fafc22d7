//! Near-duplicates pass.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, EventId, Learning, LearningFilter, LearningStore, Pass, PassOutcome, Result,
};
use mnemal_text::{fold, jaccard, shingles};

use super::{can_stay, retire};
use crate::check::{NEAR, stands_for};
use crate::note::{is_of_one, maker, open};
use crate::wording::{RewriteRules, WordCounts};

/// Most notes that are compared, the newest. Source: RockBot, up to 1,000 live memories per run.
const MOST: usize = 1_000;

/// Negation words. Source: own choice, English.
const DENIALS: [&str; 10] =
    ["not", "no", "never", "none", "nobody", "nothing", "without", "cannot", "nor", "neither"];

/// Proposes to retire a note in favor of one that contains all of it: similar by words, with every one of its words in the
/// same order and nothing between them that could limit it, and with its names, numbers and dates. No text is rewritten, so
/// nothing is lost.
///
/// Near notes of which neither contains the other are skipped; only a model could merge them.
#[derive(Clone, Debug)]
pub struct NearDuplicatesPass {
    learnings: Arc<dyn LearningStore>,
    wording: RewriteRules,
}

impl NearDuplicatesPass {
    /// Creates the pass over these notes.
    pub fn new(learnings: Arc<dyn LearningStore>, wording: RewriteRules) -> Self {
        Self { learnings, wording }
    }
}

#[async_trait]
impl Pass for NearDuplicatesPass {
    fn name(&self) -> &'static str {
        "near_copies"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let rows = self.learnings.all(&LearningFilter::all()).await?;
        let words = self.wording.of(&rows).await;
        let notes = open(&rows);
        let notes: Vec<(&Learning, Vec<u64>)> = notes
            .iter()
            .skip(notes.len().saturating_sub(MOST))
            .map(|row| (*row, shingles(&row.content, 1)))
            .collect();
        let mut looked = PassOutcome::default();
        let mut gone: BTreeSet<EventId> = BTreeSet::new();
        for (place, (one, terms)) in notes.iter().enumerate() {
            for (other, others) in notes.iter().skip(place + 1) {
                if !is_of_one(one, other) || jaccard(terms, others) < NEAR {
                    continue;
                }
                let (Some(a), Some(b)) = (maker(one), maker(other)) else { continue };
                if gone.contains(&a) || gone.contains(&b) {
                    continue;
                }
                match pair(one, other, &words) {
                    Some(RetiredSide::First) => {
                        gone.insert(a);
                        looked.proposals.push(retire(self.name(), a, b, "the other says all of it"));
                    }
                    Some(RetiredSide::Second) => {
                        gone.insert(b);
                        looked.proposals.push(retire(self.name(), b, a, "the other says all of it"));
                    }
                    None => {}
                }
            }
        }
        Ok(looked)
    }
}

enum RetiredSide {
    First,
    Second,
}

/// Whether two near notes are copies, or one of them contains the other.
pub(super) fn is_said_by_one(one: &Learning, other: &Learning, words: &WordCounts) -> bool {
    one.content.split_whitespace().eq(other.content.split_whitespace()) || pair(one, other, words).is_some()
}

/// Returns which of two near notes is retired; the newer one if either could be.
fn pair(one: &Learning, other: &Learning, words: &WordCounts) -> Option<RetiredSide> {
    let is_copy = one.content.split_whitespace().eq(other.content.split_whitespace());
    if is_copy || denials(&one.content) != denials(&other.content) {
        return None;
    }
    let says = |stays: &Learning, away: &Learning| can_stay(stays, away) && stands_for(stays, away, words);
    if says(one, other) {
        return Some(RetiredSide::Second);
    }
    says(other, one).then_some(RetiredSide::First)
}

/// Returns the negation words, in order.
pub(super) fn denials(text: &str) -> Vec<String> {
    let text = text.replace('’', "'");
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'').map(fold);
    words.filter(|word| DENIALS.contains(&word.as_str()) || word.ends_with("n't")).collect()
}
