//! What was done before, and what a person took back.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    Cursor, Decision, Deed, EntityId, EventFilter, EventId, EventKind, EventStore, Result, Role, Within,
    named_id,
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

/// What the log says of operations.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Those that a person took back, by [`same`].
    pub(crate) taken_back: BTreeSet<u128>,
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
        let mut deeds: BTreeMap<EventId, u128> = BTreeMap::new();
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
                        deeds.insert(event.id, same(&operation.deed));
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
                        history.taken_back.extend(deeds.get(decision).copied());
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
