//! Exact duplicates pass.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{BackgroundPermit, Learning, LearningFilter, LearningStore, Pass, PassOutcome, Result};

use super::{can_stay, retire};
use crate::note::{maker, open};

/// Proposes to retire copies of a text in favor of the oldest that may replace them. Case and punctuation count; white
/// space does not.
#[derive(Clone, Debug)]
pub struct ExactDuplicatesPass {
    learnings: Arc<dyn LearningStore>,
}

impl ExactDuplicatesPass {
    /// Creates the pass over these notes.
    pub fn new(learnings: Arc<dyn LearningStore>) -> Self {
        Self { learnings }
    }
}

#[async_trait]
impl Pass for ExactDuplicatesPass {
    fn name(&self) -> &'static str {
        "copies"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let rows = self.learnings.all(&LearningFilter::all()).await?;
        let mut groups: BTreeMap<(String, &str), Vec<&Learning>> = BTreeMap::new();
        for row in open(&rows) {
            let text = row.content.split_whitespace().collect::<Vec<_>>().join(" ");
            groups.entry((text, row.category.as_str())).or_default().push(row);
        }
        let mut looked = PassOutcome::default();
        for group in groups.into_values().filter(|group| group.len() > 1) {
            looked.proposals.extend(retire_copies(&group));
        }
        Ok(looked)
    }
}

/// One proposal per copy, so that a cycle can stop within a group.
fn retire_copies(group: &[&Learning]) -> Vec<mnemal_core::Proposal> {
    let is_last = |place: usize, row: &Learning| {
        // The oldest that can replace this one; each level and owner has its own.
        group
            .iter()
            .enumerate()
            .find(|(other, stays)| *other != place && can_stay(stays, row) && !goes(group, *other))
    };
    let copies = group.iter().enumerate().filter(|(place, _)| goes(group, *place));
    copies
        .filter_map(|(place, row)| {
            let (_, stays) = is_last(place, row)?;
            Some(retire("copies", maker(row)?, maker(stays)?, "it has the same text"))
        })
        .collect()
}

/// Whether a note is retired: an earlier one can replace it, or a later one with more trust.
fn goes(group: &[&Learning], place: usize) -> bool {
    let Some(row) = group.get(place) else { return false };
    group.iter().enumerate().any(|(other, stays)| {
        other != place && can_stay(stays, row) && (other < place || stays.trust > row.trust)
    })
}
