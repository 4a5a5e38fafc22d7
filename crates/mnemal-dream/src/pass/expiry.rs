//! Expiry pass: archives notes whose validity has ended.

use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, Clock, LearningFilter, LearningStore, OperationKind, Pass, PassOutcome, Result,
};

use super::proposal;
use crate::note::{is_dear, maker, open};

/// Proposes to archive notes whose end date has passed; protected ones stay, and are rendered as ended.
#[derive(Clone, Debug)]
pub struct ExpiryPass {
    learnings: Arc<dyn LearningStore>,
    clock: Arc<dyn Clock>,
}

impl ExpiryPass {
    /// Creates the pass over these notes, with this clock.
    pub fn new(learnings: Arc<dyn LearningStore>, clock: Arc<dyn Clock>) -> Self {
        Self { learnings, clock }
    }
}

#[async_trait]
impl Pass for ExpiryPass {
    fn name(&self) -> &'static str {
        "ended"
    }

    async fn run(&self, _permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let (rows, now) = (self.learnings.all(&LearningFilter::all()).await?, self.clock.now());
        let ended =
            open(&rows).into_iter().filter(|row| row.expires_at.is_some_and(|at| at <= now) && !is_dear(row));
        let away = ended.filter_map(|row| {
            let kind = OperationKind::Retire { notes: vec![maker(row)?], into: None };
            Some(proposal(self.name(), kind, "its time is over", String::new()))
        });
        Ok(PassOutcome { proposals: away.collect(), ..PassOutcome::default() })
    }
}
