//! Entity identity: merges and splits as a function of all identity statements that were not undone.
//!
//! Merges and evidence in texts link one entity to another; a split ends the last link between two, and keeps texts from
//! linking them again until a person does. The statements are replayed in their original order, so undoing one leaves the
//! result of the others.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{EntityId, EntityMerge, EventId, IdentityClaim, IdentityKind, Timestamp};

use super::{Names, Statement, note};

/// An identity statement of one event about two unmerged entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdentityStatement {
    pub(crate) one: EntityId,
    pub(crate) other: EntityId,
    pub(crate) kind: IdentityKind,
}

/// The identity changes that an event causes.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdentityChange {
    said: Vec<(EntityId, IdentityClaim)>,
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
struct IdentityLinks {
    /// The links between entities, in the order in which they were stated; they form no cycle.
    links: Vec<(EntityId, EntityId, EventId)>,
    into: BTreeMap<EntityId, (EntityId, EventId)>,
    /// Pairs that only a person can merge.
    parted: Vec<(EntityId, EntityId)>,
}

impl IdentityLinks {
    fn of(claims: &BTreeMap<u32, (EntityId, IdentityClaim)>) -> Self {
        let mut bonds = Self::default();
        for (one, claim) in claims.values() {
            match claim.kind {
                IdentityKind::Read if bonds.are_parted(*one, claim.other) => {}
                IdentityKind::Read | IdentityKind::Merged => bonds.link(*one, claim.other, claim.source),
                IdentityKind::Split => bonds.split(*one, claim.other),
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
    pub(crate) fn shift(
        &self,
        said: &[IdentityStatement],
        by: EventId,
        undone: Option<EventId>,
    ) -> IdentityChange {
        let mut shift = IdentityChange::default();
        if said.is_empty() && undone.is_none() {
            return shift;
        }
        if let Some(undone) = undone {
            let gone = self
                .claims
                .values()
                .filter(|(_, claim)| claim.source == undone && claim.kind != IdentityKind::Read);
            shift.gone.extend(gone.map(|(one, claim)| (*one, claim.source)));
        }
        let mut claims = self.claims.clone();
        claims.retain(|_, (one, claim)| !shift.gone.contains(&(*one, claim.source)));
        for IdentityStatement { one, other, kind } in said {
            let is_said = |(of, claim): &(EntityId, IdentityClaim)| {
                (*of, claim.other, claim.kind) == (*one, *other, *kind)
            };
            if one == other || *kind == IdentityKind::Read && claims.values().any(is_said) {
                continue;
            }
            let ordinal = claims.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
            let claim = IdentityClaim { other: *other, kind: *kind, source: by, ordinal };
            claims.insert(ordinal, (*one, claim));
            shift.said.push((*one, claim));
        }
        if shift.said.is_empty() && shift.gone.is_empty() {
            return shift;
        }
        let bonds = IdentityLinks::of(&claims);
        let concerned =
            self.claims.values().chain(claims.values()).flat_map(|(one, claim)| [*one, claim.other]);
        for id in concerned.collect::<BTreeSet<_>>() {
            let into = bonds.into.get(&id).copied();
            let holding = self.get(id).and_then(|entity| entity.merges.iter().find(|one| one.holds()));
            if holding.map(|merge| (merge.into, merge.source)) != into {
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
    pub(crate) fn follow(&mut self, shift: &IdentityChange, said: Statement<'_>) {
        for (one, source) in &shift.gone {
            self.claims.retain(|_, (of, claim)| (*of, claim.source) != (*one, *source));
            self.change(*one, said, |entity| entity.identity_claims.retain(|claim| claim.source != *source));
        }
        for (one, claim) in &shift.said {
            self.claims.insert(claim.ordinal, (*one, *claim));
            self.change(*one, said, |entity| entity.identity_claims.push(*claim));
        }
        let now = said.event.recorded_at;
        for (id, into) in &shift.into {
            self.change(*id, said, |entity| {
                for merge in entity.merges.iter_mut().filter(|merge| merge.holds()) {
                    merge.expired_at = Some(now);
                }
                let new = into.map(|(into, source)| EntityMerge {
                    into,
                    source,
                    created_at: now,
                    expired_at: None,
                });
                entity.merges.extend(new);
            });
            if let Some((into, _)) = into {
                self.members.entry(*into).or_default().insert(*id);
            }
        }
    }

    fn change(&mut self, id: EntityId, said: Statement<'_>, change: impl FnOnce(&mut mnemal_core::Entity)) {
        if let Some(entity) = self.entities.get_mut(&id) {
            change(entity);
            note(entity, said.event);
            self.changed.insert(id);
        }
    }

    /// Loads the identity statements of an entity. Rows from before statements were stored have only the resulting merges,
    /// which then count as a person's decision.
    pub(super) fn know_ties(&mut self) {
        let mut claims: Vec<(EntityId, IdentityClaim)> = Vec::new();
        let mut before: Vec<(Timestamp, EntityId, IdentityClaim)> = Vec::new();
        let known: BTreeSet<EventId> = self
            .entities
            .values()
            .flat_map(|entity| &entity.identity_claims)
            .map(|claim| claim.source)
            .collect();
        for entity in self.entities.values() {
            claims.extend(entity.identity_claims.iter().map(|claim| (entity.id, *claim)));
            for EntityMerge { into, source, created_at, .. } in entity.merges.iter().filter(|one| one.holds())
            {
                let claim =
                    IdentityClaim { other: *into, kind: IdentityKind::Merged, source: *source, ordinal: 0 };
                if !known.contains(source) {
                    before.push((*created_at, entity.id, claim));
                }
            }
        }
        if before.is_empty() {
            self.claims = claims.into_iter().map(|(one, claim)| (claim.ordinal, (one, claim))).collect();
            return;
        }
        before.sort_by_key(|(at, one, _)| (*at, *one));
        claims.sort_by_key(|(_, claim)| claim.ordinal);
        let all = before.into_iter().map(|(_, one, claim)| (one, claim)).chain(claims);
        for (ordinal, (one, claim)) in (0..).zip(all) {
            let claim = IdentityClaim { ordinal, ..claim };
            self.claims.insert(ordinal, (one, claim));
        }
        for entity in self.entities.values_mut() {
            let own = self.claims.values().filter(|(one, _)| *one == entity.id);
            entity.identity_claims = own.map(|(_, claim)| *claim).collect();
        }
        self.changed.extend(self.claims.values().map(|(one, _)| *one));
    }

    /// Whether a person declared two entities distinct: by a split, or by undoing a merge.
    pub(crate) fn is_parted(&self, one: EntityId, other: EntityId) -> bool {
        let ended = |of: EntityId, into: EntityId| {
            let entity = self.entities.get(&of).into_iter();
            entity.flat_map(|entity| &entity.merges).any(|merge| merge.into == into && !merge.holds())
        };
        let says_so = |of: EntityId, other: EntityId| {
            let entity = self.entities.get(&of).into_iter();
            entity
                .flat_map(|entity| &entity.identity_claims)
                .any(|claim| claim.other == other && claim.kind == IdentityKind::Split)
        };
        ended(one, other) || ended(other, one) || says_so(one, other) || says_so(other, one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(said: &[(u128, IdentityKind, u128)]) -> IdentityLinks {
        let claim = |(n, (one, kind, other)): (usize, &(u128, IdentityKind, u128))| {
            let ordinal = u32::try_from(n).unwrap();
            let claim =
                IdentityClaim { other: EntityId(*other), kind: *kind, source: EventId(n as u128), ordinal };
            (ordinal, (EntityId(*one), claim))
        };
        IdentityLinks::of(&said.iter().enumerate().map(claim).collect())
    }

    fn wholes(said: &[(u128, IdentityKind, u128)]) -> Vec<u128> {
        (1..=4).map(|id| claims(said).whole(EntityId(id)).0).collect()
    }

    #[test]
    fn sayings_come_to_who_stands_for_whom() {
        use IdentityKind::{Merged, Read, Split};
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
