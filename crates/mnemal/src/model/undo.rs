//! Undo of all operations of the language model.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, Degraded, EventFilter, EventId, EventKind, Gaps, Operation, Result, Role, Scope,
    SpaceId, Within,
};
use mnemal_dream::{DigestsPass, InsightsPass};

use crate::engine::Engine;

/// Events per page. Source: own default, the largest batch of one append (1,000 events).
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

impl Engine {
    /// Undoes all valid operations of a language model, newest first: notes, filing, archiving, claims, summary texts, timeline
    /// entries; and the later operations that build on them. Returns the undone operations, in the order of their undo.
    ///
    /// The logged turns do not change. The rules read again the texts and notes that they had left to the model; the model is not
    /// asked again about undone work.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer; operations that were already undone stay undone.
    pub async fn undo_model(&self) -> Result<Degraded<Vec<EventId>>> {
        let memory = self.memory(Scope::whole(SpaceId::new("model")?));
        let mut gaps = Gaps::default();
        let mut done = self.done_by_model().await?;
        done.reverse();
        for event in &done {
            let _ack = gaps.merge(memory.facts().decide(Decision::Undo { decision: *event }).await?);
        }
        if !done.is_empty()
            && let Ok(ledger) = self.stores().ledger.part()
        {
            let now = self.now();
            ledger.put(&[DigestsPass::again(now), InsightsPass::again(now)]).await?;
        }
        Ok(gaps.attach(done))
    }

    /// Returns the valid operations of a model, and those that build on one of them, in log order.
    async fn done_by_model(&self) -> Result<Vec<EventId>> {
        let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        let (mut done, mut touched, mut undone) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut after = Cursor::START;
        loop {
            let page = self.events()?.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for event in &page {
                match event.body().map(|kept| &kept.kind) {
                    Some(EventKind::Operation(operation)) if is_of_model(operation, &touched) => {
                        touched.extend(operation.kind.changes());
                        touched.insert(event.id);
                        done.push(event.id);
                    }
                    Some(EventKind::Decision(Decision::Undo { decision })) => {
                        undone.insert(*decision);
                    }
                    _ => {}
                }
            }
        }
        done.retain(|event| !undone.contains(event));
        Ok(done)
    }
}

/// Whether an operation was produced by a model, or refers to a note that such an operation changed or made.
fn is_of_model(operation: &Operation, touched: &BTreeSet<EventId>) -> bool {
    operation.prompt.is_some() || operation.kind.names().iter().any(|name| touched.contains(name))
}
