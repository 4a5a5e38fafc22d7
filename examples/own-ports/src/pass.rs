//! Pass of the dream: proposes to archive drafts. Every proposal is checked, logged, and can be undone.

use std::sync::Arc;

use mnemal::events::{Operation, OperationKind};
use mnemal::learnings::LearningStatus;
use mnemal::model::BackgroundPermit;
use mnemal::ports::{LearningStore, Pass, PassOutcome, Proposal, async_trait};
use mnemal::types::Producer;
use mnemal::{LearningFilter, Result};

#[derive(Debug)]
pub struct Drafts(pub Arc<dyn LearningStore>);

#[async_trait]
impl Pass for Drafts {
    fn name(&self) -> &'static str {
        "drafts"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let rows = self.0.all(&LearningFilter::all()).await?;
        let is_draft = |row: &&mnemal::Learning| {
            row.status == LearningStatus::Active && row.content.starts_with("draft:")
        };
        let archive = |row: &mnemal::Learning| {
            let note = row.sources.first()?.event;
            let operation = Operation {
                kind: OperationKind::Retire { notes: vec![note], into: None },
                producer: Producer { id: "own/drafts".to_owned(), version: 1 },
                prompt: None,
                shown: vec![note],
                because: "it is a draft".to_owned(),
            };
            Some(Proposal { operation, text: String::new() })
        };
        let proposals = rows.iter().filter(is_draft).filter_map(archive).collect();
        Ok(PassOutcome { proposals, ..PassOutcome::default() })
    }
}
