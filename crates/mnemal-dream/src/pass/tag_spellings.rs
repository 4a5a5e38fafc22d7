//! Tag spelling pass.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Classification, LearningFilter, LearningStore, OperationKind, Pass, PassOutcome,
    Result, Tag,
};
use mnemal_text::fold;

use super::proposal;
use crate::note::{maker, open};

/// Proposes to unify spellings of a tag to the most frequent one: `CI`, `ci` and `c-i` are one.
#[derive(Clone, Debug)]
pub struct TagSpellingsPass {
    learnings: Arc<dyn LearningStore>,
}

impl TagSpellingsPass {
    /// Creates the pass over these notes.
    pub fn new(learnings: Arc<dyn LearningStore>) -> Self {
        Self { learnings }
    }
}

#[async_trait]
impl Pass for TagSpellingsPass {
    fn name(&self) -> &'static str {
        "spellings"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let rows = self.learnings.all(&LearningFilter::all()).await?;
        let notes = open(&rows);
        let mut uses: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
        for tag in notes.iter().flat_map(|row| &row.tags) {
            *uses.entry(key(tag)).or_default().entry(tag.as_str()).or_default() += 1;
        }
        let best = |tag: &Tag| {
            let ways = uses.get(&key(tag))?;
            ways.iter()
                .min_by_key(|(way, count)| (Reverse(**count), **way))
                .and_then(|(way, _)| Tag::new(*way).ok())
        };
        let mut looked = PassOutcome::default();
        for row in &notes {
            let mut tags: Vec<Tag> = Vec::with_capacity(row.tags.len());
            for tag in row.tags.iter().map(|tag| best(tag).unwrap_or_else(|| tag.clone())) {
                if !tags.contains(&tag) {
                    tags.push(tag);
                }
            }
            let Some(note) = maker(row).filter(|_| tags != row.tags) else { continue };
            let classification =
                Classification { category: row.category.clone(), tags, importance: row.importance };
            let kind = OperationKind::Refine { note, classification };
            looked.proposals.push(proposal(
                self.name(),
                kind,
                "its tags are written otherwise elsewhere",
                String::new(),
            ));
        }
        Ok(looked)
    }
}

/// Returns the common key of a tag's spellings.
fn key(tag: &Tag) -> String {
    fold(tag.as_str()).chars().filter(|letter| letter.is_alphanumeric()).collect()
}
