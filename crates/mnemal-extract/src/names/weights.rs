//! Evidence for the kinds of a name, in halves of a point.

use mnemal_core::EntityKind;

use crate::names::word_flags::WordFlags;

/// The kinds of names, in the order in which ties are decided.
pub(crate) const KINDS: [EntityKind; 7] = [
    EntityKind::Person,
    EntityKind::Location,
    EntityKind::Organization,
    EntityKind::Product,
    EntityKind::Work,
    EntityKind::Event,
    EntityKind::Animal,
];

/// Lowest evidence for a name. Source: own choice, the best balance on the development half of the gold set.
pub(crate) const ENOUGH: i32 = 4;

/// Evidence of a role before a name: "my sister", "Dr". Source: own choice; more than any list.
pub(crate) const ROLE: i32 = 9;

/// Evidence of the lists. Source: own choice, on the development halves of the gold sets; see `kind`.
pub(crate) const LISTED: [(WordFlags, EntityKind, i32); 6] = [
    (WordFlags::PLACE, EntityKind::Location, 8),
    (WordFlags::ORGANIZATION, EntityKind::Organization, 7),
    (WordFlags::PRODUCT, EntityKind::Product, 8),
    (WordFlags::WORK, EntityKind::Work, 8),
    (WordFlags::EVENT, EntityKind::Event, 9),
    (WordFlags::FIRST, EntityKind::Person, 7),
];

/// Evidence for each kind, in halves of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weights([i32; 7]);

impl Weights {
    pub(crate) fn add(&mut self, kind: EntityKind, weight: i32) {
        for (place, of) in self.0.iter_mut().zip(KINDS) {
            *place += if of == kind { weight } else { 0 };
        }
    }

    pub(crate) fn raise(&mut self, kind: EntityKind, weight: i32) {
        for (place, of) in self.0.iter_mut().zip(KINDS) {
            *place = if of == kind { weight.max(*place) } else { *place };
        }
    }

    pub(crate) fn quiet(&mut self, kind: EntityKind) {
        for (place, of) in self.0.iter_mut().zip(KINDS) {
            *place = if of == kind { (*place).min(0) } else { *place };
        }
    }

    pub(crate) fn add_all(&mut self, weight: i32) {
        for place in &mut self.0 {
            *place += weight;
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        for (place, of_other) in self.0.iter_mut().zip(other.0) {
            *place += of_other;
        }
    }

    /// A listed word is rarely something else, whatever its neighbors.
    pub(crate) fn halve_unlisted(&mut self, listed: WordFlags) {
        for (known, kind, _) in LISTED {
            for (place, of) in self.0.iter_mut().zip(KINDS) {
                let is_shared = match of {
                    EntityKind::Person => *place >= ROLE,
                    // A maker and its product share a name, a town and its university or club do.
                    EntityKind::Organization => {
                        *place >= 8 && listed.has(WordFlags::PRODUCT.with(WordFlags::PLACE))
                    }
                    EntityKind::Product => listed.has(WordFlags::ORGANIZATION),
                    _ => false,
                };
                if of == kind && !listed.has(known) && !is_shared {
                    *place /= 2;
                }
            }
        }
    }

    pub(crate) fn of(&self, kind: EntityKind) -> i32 {
        self.0.iter().zip(KINDS).find(|(_, of)| *of == kind).map_or(0, |(weight, _)| *weight)
    }

    /// Returns the kind with the most evidence, the first of equals.
    pub(crate) fn best(&self) -> (EntityKind, i32) {
        let mut best = (EntityKind::Person, i32::MIN);
        for (kind, weight) in KINDS.into_iter().zip(self.0) {
            if weight > best.1 {
                best = (kind, weight);
            }
        }
        best
    }
}
