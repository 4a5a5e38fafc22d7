//! Operation history: earlier operations, and those that a person undid.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, EntityId, EventFilter, EventId, EventKind, EventStore, Operation, OperationKind,
    Result, Role, Within, named_id,
};

/// Events per page. Source: own default; the largest batch that an append accepts.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

/// Returns the identity of an operation: its kind and its notes, in any order, without filing and text. A cardinality
/// ruling is identified by predicate and value, a merge suggestion by its two entities.
pub(crate) fn operation_identity(kind: &OperationKind) -> u128 {
    let mut names = kind.names();
    names.sort_unstable();
    let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
    if let OperationKind::Cardinality { predicate, cardinality } = kind {
        names.extend([predicate.to_string(), cardinality.as_str().to_owned()]);
    }
    if let OperationKind::Suggest { one, into } = kind {
        names.extend(pair(*one, *into).map(|id| id.to_string()));
    }
    let parts: Vec<&str> = [kind.as_str()].into_iter().chain(names.iter().map(String::as_str)).collect();
    named_id("dream/deed", &parts)
}

/// Returns a pair in a fixed order.
pub(crate) fn pair(one: EntityId, other: EntityId) -> [EntityId; 2] {
    [one.min(other), one.max(other)]
}

impl History {
    /// Whether a person undid the same operation; for a model's text, also in other words.
    pub(crate) fn is_taken_back(&self, operation: &Operation) -> bool {
        let kind = operation_identity(&operation.kind);
        self.taken_back.contains(&kind)
            || (operation.prompt.is_some() && self.words_taken_back.contains(&kind))
    }
}

/// The operations in the log.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Operations that a person undid, by [`operation_identity`].
    pub(crate) taken_back: BTreeSet<u128>,
    /// A model's conclusions and digests that a person undid, by [`operation_identity`]: rules may state the same in their words.
    pub(crate) words_taken_back: BTreeSet<u128>,
    /// Events that were forgotten or undone, which explains missing notes.
    pub(crate) explained: BTreeSet<EventId>,
    /// Entity pairs that a person merged or split, even if it was undone.
    pub(crate) decided: BTreeSet<[EntityId; 2]>,
    /// Operations that were not undone, in log order.
    pub(crate) operations: Vec<(EventId, OperationKind)>,
}

impl History {
    /// Reads the decisions and operations of the log. Costs one scan over them.
    pub(crate) async fn read(events: &dyn EventStore) -> Result<Self> {
        let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        let mut kinds: BTreeMap<EventId, (u128, bool)> = BTreeMap::new();
        let explained = events.tombstones().await?.into_iter().map(|one| one.event).collect();
        let mut history = Self { explained, ..Self::default() };
        let mut after = Cursor::START;
        loop {
            let page = events.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for event in &page {
                match event.body().map(|kept| &kept.kind) {
                    Some(EventKind::Operation(operation)) => {
                        let is_wording = operation.prompt.is_some()
                            && matches!(
                                operation.kind,
                                OperationKind::Infer { .. } | OperationKind::Digest { .. }
                            );
                        kinds.insert(event.id, (operation_identity(&operation.kind), is_wording));
                        history.operations.push((event.id, operation.kind.clone()));
                    }
                    Some(EventKind::Decision(
                        Decision::Merge { one, into: other } | Decision::Split { one, from: other },
                    )) => {
                        history.decided.insert(pair(*one, *other));
                    }
                    // A note that a person restored is not archived again for the same reason.
                    Some(EventKind::Decision(Decision::Restore(target))) => {
                        let changes = |kind: &OperationKind| {
                            target.maker().is_some_and(|note| kind.changes().contains(&note))
                        };
                        let again = history.operations.iter().filter(|(_, kind)| changes(kind));
                        history.taken_back.extend(again.map(|(_, kind)| operation_identity(kind)));
                    }
                    Some(EventKind::Decision(Decision::Undo { decision })) => {
                        if let Some((kind, is_wording)) = kinds.get(decision).copied() {
                            let of = if is_wording {
                                &mut history.words_taken_back
                            } else {
                                &mut history.taken_back
                            };
                            of.insert(kind);
                        }
                        history.explained.insert(*decision);
                    }
                    _ => {}
                }
            }
        }
        history.operations.retain(|(event, _)| !history.explained.contains(event));
        Ok(history)
    }
}
