//! Entity identity: merges and splits as a function of all identity statements that were not undone.
//!
//! Merges and evidence in texts link one entity to another; a split ends the last link between two, and keeps texts from
//! linking them again until a person does. The statements are replayed in their original order, so undoing one leaves the
//! result of the others.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{EntityId, EventId, Joined, Says, Tie, Timestamp};

use super::{Names, Said, note};

/// An identity statement of one event about two unmerged entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Saying {
    pub(crate) one: EntityId,
    pub(crate) other: EntityId,
    pub(crate) says: Says,
}

/// The identity changes that an event causes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shift {
    said: Vec<(EntityId, Tie)>,
    gone: Vec<(EntityId, EventId)>,
    /// The new canonical entity of each changed one, with the event that says so.
    into: BTreeMap<EntityId, Option<(EntityId, EventId)>>,
    /// Former canonical entities that were replaced.
    pub(crate) from: BTreeSet<EntityId>,
    /// Canonical entities that replace another.
    pub(crate) to: BTreeSet<EntityId>,
}

/// The combined result of all identity statements.
#[derive(Clone, Debug, Default)]
struct Bonds {
    /// The links between entities, in the order in which they were stated; they form no cycle.
    links: Vec<(EntityId, EntityId, EventId)>,
    into: BTreeMap<EntityId, (EntityId, EventId)>,
    /// Pairs that only a person can merge.
    parted: Vec<(EntityId, EntityId)>,
}

impl Bonds {
    fn of(ties: &BTreeMap<u32, (EntityId, Tie)>) -> Self {
        let mut bonds = Self::default();
        for (one, tie) in ties.values() {
            match tie.says {
                Says::Read if bonds.are_parted(*one, tie.other) => {}
                Says::Read | Says::Merged => bonds.link(*one, tie.other, tie.source),
                Says::Split => bonds.split(*one, tie.other),
            }
        }
        bonds
    }

    /// Returns the canonical entity.
    fn whole(&self, id: EntityId) -> EntityId {
        let mut at = id;
        while let Some((next, _)) = self.into.get(&at) {
            at = *next;
        }
        at
    }

    /// Returns the canonical entities of two, the smaller id first.
    fn wholes(&self, one: EntityId, other: EntityId) -> (EntityId, EntityId) {
        let (one, other) = (self.whole(one), self.whole(other));
        (one.min(other), one.max(other))
    }

    fn are_parted(&self, one: EntityId, other: EntityId) -> bool {
        let wholes = self.wholes(one, other);
        self.parted.iter().any(|(one, other)| self.wholes(*one, *other) == wholes)
    }

    fn link(&mut self, one: EntityId, other: EntityId, source: EventId) {
        let (from, to) = (self.whole(one), self.whole(other));
        if from == to {
            return;
        }
        let mut parted = std::mem::take(&mut self.parted);
        parted.retain(|(one, other)| self.wholes(*one, *other) != (from.min(to), from.max(to)));
        self.parted = parted;
        self.links.push((one, other, source));
        self.into.insert(from, (to, source));
    }

    /// Ends the last link on the path between two.
    fn split(&mut self, one: EntityId, other: EntityId) {
        if self.whole(one) == self.whole(other) {
            let links = std::mem::take(&mut self.links);
            let parted = std::mem::take(&mut self.parted);
            self.into.clear();
            for (from, to, source) in links {
                // There is one path, so the link that would close it is the last on it.
                if self.wholes(from, to) != self.wholes(one, other) {
                    self.link(from, to, source);
                }
            }
            self.parted = parted;
        }
        self.parted.push((one, other));
    }
}

impl Names {
    /// Returns the identity changes of an event, from what it states and what it undoes.
    pub(crate) fn shift(&self, said: &[Saying], by: EventId, undone: Option<EventId>) -> Shift {
        let mut shift = Shift::default();
        if said.is_empty() && undone.is_none() {
            return shift;
        }
        if let Some(undone) = undone {
            let gone = self.ties.values().filter(|(_, tie)| tie.source == undone && tie.says != Says::Read);
            shift.gone.extend(gone.map(|(one, tie)| (*one, tie.source)));
        }
        let mut ties = self.ties.clone();
        ties.retain(|_, (one, tie)| !shift.gone.contains(&(*one, tie.source)));
        for Saying { one, other, says } in said {
            let is_said = |(of, tie): &(EntityId, Tie)| (*of, tie.other, tie.says) == (*one, *other, *says);
            if one == other || *says == Says::Read && ties.values().any(is_said) {
                continue;
            }
            let ordinal = ties.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
            let tie = Tie { other: *other, says: *says, source: by, ordinal };
            ties.insert(ordinal, (*one, tie));
            shift.said.push((*one, tie));
        }
        if shift.said.is_empty() && shift.gone.is_empty() {
            return shift;
        }
        let bonds = Bonds::of(&ties);
        let concerned = self.ties.values().chain(ties.values()).flat_map(|(one, tie)| [*one, tie.other]);
        for id in concerned.collect::<BTreeSet<_>>() {
            let into = bonds.into.get(&id).copied();
            let holding = self.get(id).and_then(|entity| entity.joined.iter().find(|one| one.holds()));
            if holding.map(|joined| (joined.into, joined.source)) != into {
                shift.into.insert(id, into);
            }
            let (from, to) = (self.canon(id), bonds.whole(id));
            if from != to {
                shift.from.insert(from);
                shift.to.insert(to);
            }
        }
        shift
    }

    /// Applies an identity change.
    pub(crate) fn follow(&mut self, shift: &Shift, said: Said<'_>) {
        for (one, source) in &shift.gone {
            self.ties.retain(|_, (of, tie)| (*of, tie.source) != (*one, *source));
            self.change(*one, said, |entity| entity.ties.retain(|tie| tie.source != *source));
        }
        for (one, tie) in &shift.said {
            self.ties.insert(tie.ordinal, (*one, *tie));
            self.change(*one, said, |entity| entity.ties.push(*tie));
        }
        let now = said.event.recorded_at;
        for (id, into) in &shift.into {
            self.change(*id, said, |entity| {
                for joined in entity.joined.iter_mut().filter(|joined| joined.holds()) {
                    joined.expired_at = Some(now);
                }
                let new =
                    into.map(|(into, source)| Joined { into, source, created_at: now, expired_at: None });
                entity.joined.extend(new);
            });
            if let Some((into, _)) = into {
                self.members.entry(*into).or_default().insert(*id);
            }
        }
    }

    fn change(&mut self, id: EntityId, said: Said<'_>, change: impl FnOnce(&mut mnemal_core::Entity)) {
        if let Some(entity) = self.entities.get_mut(&id) {
            change(entity);
            note(entity, said.event);
            self.changed.insert(id);
        }
    }

    /// Loads the identity statements of an entity. Rows from before statements were stored have only the resulting merges,
    /// which then count as a person's decision.
    pub(super) fn know_ties(&mut self) {
        let mut ties: Vec<(EntityId, Tie)> = Vec::new();
        let mut before: Vec<(Timestamp, EntityId, Tie)> = Vec::new();
        let known: BTreeSet<EventId> =
            self.entities.values().flat_map(|entity| &entity.ties).map(|tie| tie.source).collect();
        for entity in self.entities.values() {
            ties.extend(entity.ties.iter().map(|tie| (entity.id, *tie)));
            for Joined { into, source, created_at, .. } in entity.joined.iter().filter(|one| one.holds()) {
                let tie = Tie { other: *into, says: Says::Merged, source: *source, ordinal: 0 };
                if !known.contains(source) {
                    before.push((*created_at, entity.id, tie));
                }
            }
        }
        if before.is_empty() {
            self.ties = ties.into_iter().map(|(one, tie)| (tie.ordinal, (one, tie))).collect();
            return;
        }
        before.sort_by_key(|(at, one, _)| (*at, *one));
        ties.sort_by_key(|(_, tie)| tie.ordinal);
        let all = before.into_iter().map(|(_, one, tie)| (one, tie)).chain(ties);
        for (ordinal, (one, tie)) in (0..).zip(all) {
            let tie = Tie { ordinal, ..tie };
            self.ties.insert(ordinal, (one, tie));
        }
        for entity in self.entities.values_mut() {
            let own = self.ties.values().filter(|(one, _)| *one == entity.id);
            entity.ties = own.map(|(_, tie)| *tie).collect();
        }
        self.changed.extend(self.ties.values().map(|(one, _)| *one));
    }

    /// Whether a person declared two entities distinct: by a split, or by undoing a merge.
    pub(crate) fn is_parted(&self, one: EntityId, other: EntityId) -> bool {
        let ended = |of: EntityId, into: EntityId| {
            let entity = self.entities.get(&of).into_iter();
            entity.flat_map(|entity| &entity.joined).any(|joined| joined.into == into && !joined.holds())
        };
        let says_so = |of: EntityId, other: EntityId| {
            let entity = self.entities.get(&of).into_iter();
            entity.flat_map(|entity| &entity.ties).any(|tie| tie.other == other && tie.says == Says::Split)
        };
        ended(one, other) || ended(other, one) || says_so(one, other) || says_so(other, one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ties(said: &[(u128, Says, u128)]) -> Bonds {
        let tie = |(n, (one, says, other)): (usize, &(u128, Says, u128))| {
            let ordinal = u32::try_from(n).unwrap();
            let tie = Tie { other: EntityId(*other), says: *says, source: EventId(n as u128), ordinal };
            (ordinal, (EntityId(*one), tie))
        };
        Bonds::of(&said.iter().enumerate().map(tie).collect())
    }

    fn wholes(said: &[(u128, Says, u128)]) -> Vec<u128> {
        (1..=4).map(|id| ties(said).whole(EntityId(id)).0).collect()
    }

    #[test]
    fn sayings_come_to_who_stands_for_whom() {
        use Says::{Merged, Read, Split};
        for (said, expect) in [
            (&[][..], [1, 2, 3, 4]),
            (&[(1, Merged, 2)], [2, 2, 3, 4]),
            (&[(1, Merged, 2), (2, Merged, 3)], [3, 3, 3, 4]),
            // A statement about an entity that is merged already, and about two that are merged.
            (&[(1, Merged, 2), (1, Merged, 3)], [3, 3, 3, 4]),
            (&[(1, Merged, 2), (2, Merged, 1)], [2, 2, 3, 4]),
            // A split ends the last link between the two, wherever it is.
            (&[(1, Merged, 2), (1, Split, 2)], [1, 2, 3, 4]),
            (&[(1, Merged, 2), (2, Merged, 3), (1, Split, 2)], [1, 3, 3, 4]),
            (&[(1, Merged, 2), (2, Merged, 3), (1, Split, 3)], [2, 2, 3, 4]),
            (&[(1, Merged, 2), (1, Merged, 2), (2, Split, 1)], [1, 2, 3, 4]),
            (&[(1, Split, 2)], [1, 2, 3, 4]),
            // Then only a person can merge the two, or the entities merged with them.
            (&[(1, Split, 2), (1, Read, 2)], [1, 2, 3, 4]),
            (&[(1, Split, 2), (3, Read, 1), (3, Read, 2)], [1, 2, 1, 4]),
            (&[(1, Split, 2), (1, Merged, 2)], [2, 2, 3, 4]),
            (&[(1, Merged, 2), (1, Split, 2), (3, Read, 2)], [1, 2, 2, 4]),
        ] {
            assert_eq!(wholes(said), expect, "{said:?}");
        }
    }
}
