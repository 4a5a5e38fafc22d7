//! What was done before, and what a person took back.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, Deed, EntityId, EventFilter, EventId, EventKind, EventStore, Operation, Result, Role,
    Within, named_id,
};

/// Events a page. Source: own default; the size of a batch, RELIABILITY 12.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");

/// Names a deed by its kind and its notes, in whatever order; what it files and says may differ. What is said of a predicate is
/// named by both, and a pair by its two.
pub(crate) fn same(deed: &Deed) -> u128 {
    let mut names = deed.names();
    names.sort_unstable();
    let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
    if let Deed::Cardinality { predicate, cardinality } = deed {
        names.extend([predicate.to_string(), cardinality.as_str().to_owned()]);
    }
    if let Deed::Suggest { one, into } = deed {
        names.extend(pair(*one, *into).map(|id| id.to_string()));
    }
    let parts: Vec<&str> = [deed.as_str()].into_iter().chain(names.iter().map(String::as_str)).collect();
    named_id("dream/deed", &parts)
}

/// Returns two in one order.
pub(crate) fn pair(one: EntityId, other: EntityId) -> [EntityId; 2] {
    [one.min(other), one.max(other)]
}

impl History {
    /// Whether a person took the same back; of what a model says in its words, also if these were other ones.
    pub(crate) fn is_taken_back(&self, operation: &Operation) -> bool {
        let deed = same(&operation.deed);
        self.taken_back.contains(&deed)
            || (operation.prompt.is_some() && self.words_taken_back.contains(&deed))
    }
}

/// What the log says of operations.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Those that a person took back, by [`same`].
    pub(crate) taken_back: BTreeSet<u128>,
    /// Conclusions and digests of a model that a person took back, by [`same`]: rules may say it in their words.
    pub(crate) words_taken_back: BTreeSet<u128>,
    /// Events that were forgotten or taken back: why their notes may be gone.
    pub(crate) explained: BTreeSet<EventId>,
    /// Entities that a person merged or split, whatever became of that.
    pub(crate) decided: BTreeSet<[EntityId; 2]>,
    /// Operations that nobody took back, in the order of the log.
    pub(crate) operations: Vec<(EventId, Deed)>,
}

impl History {
    /// Reads the decisions and operations of the log. Costs one walk over them.
    pub(crate) async fn read(events: &dyn EventStore) -> Result<Self> {
        let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
        let mut deeds: BTreeMap<EventId, (u128, bool)> = BTreeMap::new();
        let explained = events.tombstones().await?.into_iter().map(|one| one.event).collect();
        let mut history = Self { explained, ..Self::default() };
        let mut after = Cursor::START;
        loop {
            let page = events.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            for event in &page {
                match event.kept().map(|kept| &kept.kind) {
                    Some(EventKind::Operation(operation)) => {
                        let is_wording = operation.prompt.is_some()
                            && matches!(operation.deed, Deed::Infer { .. } | Deed::Digest { .. });
                        deeds.insert(event.id, (same(&operation.deed), is_wording));
                        history.operations.push((event.id, operation.deed.clone()));
                    }
                    Some(EventKind::Decision(
                        Decision::Merge { one, into: other } | Decision::Split { one, from: other },
                    )) => {
                        history.decided.insert(pair(*one, *other));
                    }
                    // What a person took out again is not put away again for the same reason.
                    Some(EventKind::Decision(Decision::Restore(target))) => {
                        let changes =
                            |deed: &Deed| target.maker().is_some_and(|note| deed.changes().contains(&note));
                        let again = history.operations.iter().filter(|(_, deed)| changes(deed));
                        history.taken_back.extend(again.map(|(_, deed)| same(deed)));
                    }
                    Some(EventKind::Decision(Decision::Undo { decision })) => {
                        if let Some((deed, is_wording)) = deeds.get(decision).copied() {
                            let of = if is_wording {
                                &mut history.words_taken_back
                            } else {
                                &mut history.taken_back
                            };
                            of.insert(deed);
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
