//! Taking back at once what a language model did.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, Degraded, EventFilter, EventId, EventKind, Gaps, Operation, Result, Role, Scope,
    SpaceId, Within,
};
use mnemal_dream::{Digests, Insights};

use crate::engine::Engine;

/// Events a page. Source: own default; the size of a batch, RELIABILITY 12.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

impl Engine {
    /// Takes back everything that a language model did and that still stands, the newest first: notes, filing, what was put away,
    /// claims, texts of summaries, entries of conversations; and what later operations built on it. Returns these operations, in
    /// the order in which they were taken back.
    ///
    /// What was said is as it was. Rules look again at texts and notes of which they left the words to the model; what it did not
    /// do again is not asked again.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer; what was taken back before stays so.
    pub async fn undo_model(&self) -> Result<Degraded<Vec<EventId>>> {
        let memory = self.memory(Scope::whole(SpaceId::new("model")?));
        let mut gaps = Gaps::default();
        let mut done = self.done_by_model().await?;
        done.reverse();
        for event in &done {
            let _ack = gaps.merge(memory.decide(Decision::Undo { decision: *event }).await?);
        }
        if !done.is_empty()
            && let Ok(ledger) = self.stores().ledger.part()
        {
            let now = self.now();
            ledger.put(&[Digests::again(now), Insights::again(now)]).await?;
        }
        Ok(gaps.attach(done))
    }

    /// Returns the operations of a model that hold, and those that build on one of them, in the order of the log.
    async fn done_by_model(&self) -> Result<Vec<EventId>> {
        let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        let (mut done, mut touched, mut undone) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut after = Cursor::START;
        loop {
            let page = self.events()?.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for event in &page {
                match event.kept().map(|kept| &kept.kind) {
                    Some(EventKind::Operation(operation)) if is_of_model(operation, &touched) => {
                        touched.extend(operation.deed.changes());
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

/// Whether an operation came of a question to a model, or names a note that such a one changed or made.
fn is_of_model(operation: &Operation, touched: &BTreeSet<EventId>) -> bool {
    operation.prompt.is_some() || operation.deed.names().iter().any(|name| touched.contains(name))
}
