//! Cache of entities and of their believed facts, kept until the database reports a possible change.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mnemal_core::{
    Advance, Entity, EntityId, Fact, FactFilter, FactId, GraphDelta, Predicate, Within, sort_facts,
};

use crate::port::projection::LayerVersion;

/// Most cached facts; beyond it the cache is cleared. Source: own default, some five megabytes.
const MOST: usize = 8_192;
/// Most cached entities; beyond it the cache is cleared. Source: own default; a context reads the names of some hundred.
const MOST_ENTITIES: usize = 4_096;

/// A lookup of facts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FactLookup {
    /// About one, with one predicate.
    Slot(EntityId, Predicate),
    /// About one.
    About(EntityId),
    /// With one as object.
    LeadingTo(EntityId),
}

impl FactLookup {
    /// Returns the lookups of a filter, in the order of their facts, so that the concatenated results are nearly sorted; `None`
    /// for a filter that asks for more than that, or otherwise.
    pub(crate) fn of(filter: &FactFilter) -> Option<Vec<Self>> {
        let mut places = Self::in_any_order(filter)?;
        places.sort_unstable();
        Some(places)
    }

    fn in_any_order(filter: &FactFilter) -> Option<Vec<Self>> {
        let FactFilter { subjects, objects, predicates, sources } = filter;
        match (subjects, objects, predicates, sources) {
            (Within::Only(subjects), Within::All, Within::Only(predicates), Within::All) => {
                let [subject] = subjects.as_slice() else { return None };
                Some(predicates.iter().map(|one| Self::Slot(*subject, one.clone())).collect())
            }
            (Within::Only(subjects), Within::All, Within::All, Within::All) => {
                Some(subjects.iter().copied().map(Self::About).collect())
            }
            (Within::All, Within::Only(objects), Within::All, Within::All) => {
                Some(objects.iter().copied().map(Self::LeadingTo).collect())
            }
            _ => None,
        }
    }

    /// Returns the filter for uncached lookups.
    pub(crate) fn filter(missing: &[Self]) -> FactFilter {
        let mut filter = FactFilter::all();
        for place in missing {
            match place {
                Self::Slot(subject, predicate) => {
                    filter.subjects = Within::Only(vec![*subject]);
                    push(&mut filter.predicates, predicate.clone());
                }
                Self::About(subject) => push(&mut filter.subjects, *subject),
                Self::LeadingTo(object) => push(&mut filter.objects, *object),
            }
        }
        filter
    }

    fn includes(&self, fact: &Fact) -> bool {
        match self {
            Self::Slot(subject, predicate) => fact.subject == *subject && fact.predicate == *predicate,
            Self::About(subject) => fact.subject == *subject,
            Self::LeadingTo(object) => fact.object.entity() == Some(*object),
        }
    }
}

fn push<T>(within: &mut Within<Vec<T>>, value: T) {
    match within {
        Within::Only(values) => values.push(value),
        Within::All => *within = Within::Only(vec![value]),
    }
}

/// The cached facts and entities, with the version of the graph.
///
/// With each query a context reads the facts of the user and of the named entities. An entity that is named often has a
/// thousand facts, which take ten milliseconds to read and refer to hundreds of others, whose names are read as well. A fold
/// through this handle updates the cache. A fold of another process is detected by the graph's cursor, by the forget generation
/// or by the number of writes.
#[derive(Debug, Default)]
pub(crate) struct FactCache(Mutex<Option<CachedFacts>>);

#[derive(Debug)]
struct CachedFacts {
    version: LayerVersion,
    /// Each in answer order, so that the results of several lookups are sorted by merging.
    by_place: HashMap<FactLookup, Vec<Arc<Fact>>>,
    /// `None` for a missing entity: a context asks for it again with every query.
    entities: HashMap<EntityId, Option<Arc<Entity>>>,
}

impl CachedFacts {
    fn new(version: LayerVersion) -> Self {
        Self { version, by_place: HashMap::new(), entities: HashMap::new() }
    }
}

impl FactCache {
    fn lock(&self) -> MutexGuard<'_, Option<CachedFacts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the cached facts of these lookups at this version, each once; returns the uncached lookups.
    pub(crate) fn find(
        &self,
        version: LayerVersion,
        places: &[FactLookup],
        found: &mut Vec<Arc<Fact>>,
    ) -> Vec<FactLookup> {
        let kept = self.lock();
        let Some(kept) = kept.as_ref().filter(|kept| kept.version == version) else {
            return places.to_vec();
        };
        let mut missing = Vec::new();
        for place in places {
            match kept.by_place.get(place) {
                Some(facts) => found.extend(facts.iter().cloned()),
                None => missing.push(place.clone()),
            }
        }
        missing
    }

    /// Caches facts that were read after this version was seen.
    pub(crate) fn keep(&self, version: LayerVersion, places: &[FactLookup], facts: &[Arc<Fact>]) {
        let mut kept = self.lock();
        let known = kept.take().filter(|kept| kept.version == version);
        let mut known = known.unwrap_or_else(|| CachedFacts::new(version));
        let count: usize = known.by_place.values().map(|facts| facts.len() + 1).sum();
        if count + facts.len() + places.len() > MOST {
            known.by_place.clear();
        }
        if facts.len() + places.len() <= MOST {
            let mut sorted: HashMap<FactLookup, Vec<Arc<Fact>>> =
                places.iter().map(|place| (place.clone(), Vec::new())).collect();
            for fact in facts {
                for place in places_of(fact) {
                    if let Some(facts) = sorted.get_mut(&place) {
                        facts.push(Arc::clone(fact));
                    }
                }
            }
            for facts in sorted.values_mut() {
                sort_facts(facts);
            }
            known.by_place.extend(sorted);
        }
        *kept = Some(known);
    }

    /// Adds the cached entities at this version; returns the uncached ones.
    pub(crate) fn find_entities(
        &self,
        version: LayerVersion,
        ids: &[EntityId],
        found: &mut Vec<Arc<Entity>>,
    ) -> Vec<EntityId> {
        let kept = self.lock();
        let Some(kept) = kept.as_ref().filter(|kept| kept.version == version) else {
            return ids.to_vec();
        };
        let mut missing = Vec::new();
        for id in ids {
            match kept.entities.get(id) {
                Some(entity) => found.extend(entity.clone()),
                None => missing.push(*id),
            }
        }
        missing
    }

    /// Caches entities that were read after this version was seen.
    pub(crate) fn keep_entities(&self, version: LayerVersion, ids: &[EntityId], entities: &[Arc<Entity>]) {
        let mut kept = self.lock();
        let known = kept.take().filter(|kept| kept.version == version);
        let mut known = known.unwrap_or_else(|| CachedFacts::new(version));
        if known.entities.len() + ids.len() > MOST_ENTITIES {
            known.entities.clear();
        }
        if ids.len() <= MOST_ENTITIES {
            known.entities.extend(ids.iter().map(|id| (*id, None)));
            known.entities.extend(entities.iter().map(|entity| (entity.id, Some(Arc::clone(entity)))));
        }
        *kept = Some(known);
    }

    /// Updates the cache after a fold.
    pub(crate) fn applied(&self, delta: &GraphDelta, advance: &Advance) {
        let mut guard = self.lock();
        if delta.edition.is_some() {
            *guard = None;
        }
        let Some(kept) = guard.as_mut() else { return };
        kept.version.moved(advance);
        for id in &delta.remove_entities {
            kept.entities.remove(id);
        }
        for entity in &delta.entities {
            if let Some(known) = kept.entities.get_mut(&entity.id) {
                *known = Some(Arc::new(entity.clone()));
            }
        }
        if delta.facts.is_empty() && delta.remove_facts.is_empty() {
            return;
        }
        let changed: HashSet<FactId> =
            delta.facts.iter().map(|fact| fact.id).chain(delta.remove_facts.iter().copied()).collect();
        for (place, facts) in &mut kept.by_place {
            facts.retain(|fact| !changed.contains(&fact.id));
            let new = delta.facts.iter().filter(|fact| fact.expired_at.is_none() && place.includes(fact));
            let kept = facts.len();
            facts.extend(new.cloned().map(Arc::new));
            if facts.len() > kept {
                sort_facts(facts);
            }
        }
    }

    pub(crate) fn clear(&self) {
        *self.lock() = None;
    }
}

/// Returns the lookups that find a fact.
fn places_of(fact: &Fact) -> impl Iterator<Item = FactLookup> {
    let leading = fact.object.entity().map(FactLookup::LeadingTo);
    [FactLookup::Slot(fact.subject, fact.predicate.clone()), FactLookup::About(fact.subject)]
        .into_iter()
        .chain(leading)
}
