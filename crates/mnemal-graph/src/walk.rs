//! Graph traversal: neighborhoods and paths. Distance is the number of facts in between.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{AsOf, EntityId, Fact, Result};

use crate::Graph;

/// Most facts on a path. Source: BA-39, connections of depth 3.
const LONGEST_PATH: u8 = 3;
/// Most paths between two entities. Source: BA-39, at most five.
const MOST_PATHS: usize = 5;

/// A reached entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReachedEntity {
    /// The entity.
    pub entity: EntityId,
    /// The least number of facts on the way; 0 for a starting entity.
    pub hops: u8,
}

/// The neighborhood of some entities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighborhood {
    /// Entities, nearest first, then by id.
    pub reached: Vec<ReachedEntity>,
    /// The facts on the way, nearest first, then strongest; each once.
    pub facts: Vec<Fact>,
}

/// A path from one entity to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The entities on the path, both ends included.
    pub entities: Vec<EntityId>,
    /// The facts between them; one fewer.
    pub facts: Vec<Fact>,
}

impl Graph {
    /// Traverses breadth first, in both directions of each fact that is valid and believed at a moment, and stops after
    /// `hops` steps or `limit` facts. A cycle is traversed once.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn neighborhood(
        &self,
        seeds: &[EntityId],
        hops: u8,
        limit: NonZeroUsize,
        as_of: AsOf,
    ) -> Result<Neighborhood> {
        let mut around = Neighborhood::default();
        let mut seen: BTreeSet<EntityId> = seeds.iter().copied().collect();
        let mut known = BTreeSet::new();
        around.reached.extend(seen.iter().map(|id| ReachedEntity { entity: *id, hops: 0 }));
        let mut edge: Vec<EntityId> = seen.iter().copied().collect();
        for hop in 1..=hops {
            let mut facts = self.store().strongest(&edge, limit, as_of).await?;
            facts.retain(|fact| known.insert(fact.id));
            facts.sort_by(|one, other| {
                other.strength().total_cmp(&one.strength()).then(one.id.cmp(&other.id))
            });
            facts.truncate(limit.get().saturating_sub(around.facts.len()));
            let mut next: Vec<EntityId> = facts.iter().flat_map(ends).filter(|id| seen.insert(*id)).collect();
            next.sort_unstable();
            around.reached.extend(next.iter().map(|id| ReachedEntity { entity: *id, hops: hop }));
            around.facts.append(&mut facts);
            edge = next;
            if edge.is_empty() || around.facts.len() >= limit.get() {
                break;
            }
        }
        Ok(around)
    }

    /// Returns up to 5 paths from one entity to another over at most 3 facts, shortest first, without a repeated entity.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn paths(&self, from: EntityId, to: EntityId, as_of: AsOf) -> Result<Vec<Path>> {
        let mut facts_of: BTreeMap<EntityId, Vec<Fact>> = BTreeMap::new();
        let mut open = vec![Path { entities: vec![from], facts: Vec::new() }];
        let mut found = Vec::new();
        for _ in 0..LONGEST_PATH {
            let edge: BTreeSet<EntityId> =
                open.iter().filter_map(|path| path.entities.last()).copied().collect();
            for id in edge {
                if let std::collections::btree_map::Entry::Vacant(entry) = facts_of.entry(id) {
                    entry.insert(self.about(&[id], as_of).await?);
                }
            }
            let longer: Vec<Path> = open.iter().flat_map(|path| steps(path, &facts_of)).collect();
            let (there, on_the_way) = longer.into_iter().partition(|path| path.entities.last() == Some(&to));
            let there: Vec<Path> = there;
            found.extend(there);
            if found.len() >= MOST_PATHS {
                break;
            }
            open = on_the_way;
        }
        found.truncate(MOST_PATHS);
        Ok(found)
    }
}

/// Returns a path extended by each step to a new entity; among facts between the same two the strongest is used.
fn steps(path: &Path, facts_of: &BTreeMap<EntityId, Vec<Fact>>) -> Vec<Path> {
    let Some(at) = path.entities.last() else { return Vec::new() };
    let mut facts: Vec<&Fact> = facts_of.get(at).into_iter().flatten().collect();
    facts.sort_by(|one, other| other.confidence().get().total_cmp(&one.confidence().get()));
    let mut next: Vec<Path> = Vec::new();
    for fact in facts {
        for end in ends(fact).filter(|end| !path.entities.contains(end)) {
            if next.iter().any(|known| known.entities.last() == Some(&end)) {
                continue;
            }
            let mut longer = path.clone();
            longer.entities.push(end);
            longer.facts.push(fact.clone());
            next.push(longer);
        }
    }
    next
}

fn ends(fact: &Fact) -> impl Iterator<Item = EntityId> {
    [Some(fact.subject), fact.object.entity()].into_iter().flatten()
}
