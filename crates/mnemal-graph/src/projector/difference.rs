//! Difference between rebuilt and stored rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mnemal_core::{
    Change, Counts, Difference, Entity, EntityId, EventId, Example, Fact, FactId, GraphDelta, MentionRow,
    Producer, Source, Timestamp,
};

/// Rebuilt rows, except entities.
#[derive(Debug, Default)]
pub(super) struct Rows {
    facts: BTreeMap<FactId, Fact>,
    /// Facts by the event of their first source.
    by_event: HashMap<EventId, BTreeSet<FactId>>,
    mentions: BTreeMap<(EventId, EntityId), MentionRow>,
}

/// Returns the first source of a fact.
fn first(fact: &Fact) -> Option<Source> {
    fact.supports.first().map(|support| support.source)
}

impl Rows {
    /// Merges a delta into the rows; entities are kept by the fold.
    pub(super) fn take(&mut self, delta: GraphDelta) {
        for fact in delta.facts {
            let (id, source) = (fact.id, first(&fact));
            let before = self.facts.insert(id, fact).as_ref().and_then(first);
            if before.map(|of| of.event) == source.map(|of| of.event) {
                continue;
            }
            if let Some(ids) = before.and_then(|of| self.by_event.get_mut(&of.event)) {
                ids.remove(&id);
            }
            if let Some(of) = source {
                self.by_event.entry(of.event).or_default().insert(id);
            }
        }
        let place = |row: &MentionRow| (row.source.event, row.entity);
        self.mentions.extend(delta.mentions.into_iter().map(|row| (place(&row), row)));
    }

    /// Returns and counts the changes from the stored facts and mentions of some events to these. A fact belongs to the
    /// event of its first source, so each is counted once.
    pub(super) fn compare(
        &self,
        events: &[EventId],
        facts: &[Fact],
        mentions: Vec<MentionRow>,
        difference: &mut Difference,
    ) -> GraphDelta {
        let meant: BTreeSet<EventId> = events.iter().copied().collect();
        let is_meant = |fact: &&Fact| first(fact).is_some_and(|of| meant.contains(&of.event));
        let old: BTreeMap<FactId, &Fact> =
            facts.iter().filter(is_meant).map(|fact| (fact.id, fact)).collect();
        let ids = events.iter().filter_map(|event| self.by_event.get(event)).flatten();
        let new: BTreeMap<FactId, &Fact> = ids.filter_map(|id| Some((*id, self.facts.get(id)?))).collect();
        count_facts(&old, &new, difference);
        let mut delta = GraphDelta::default();
        let changed = new.iter().filter(|(id, fact)| old.get(id) != Some(fact));
        delta.facts.extend(changed.map(|(_, fact)| (*fact).clone()));
        // A fact whose first source moved to another event is written with that event, perhaps an earlier one.
        delta.remove_facts.extend(old.keys().filter(|id| !self.facts.contains_key(id)));
        let old: BTreeMap<_, _> =
            mentions.into_iter().map(|row| ((row.source.event, row.entity), row)).collect();
        let of_event = |event: &EventId| {
            self.mentions.range((*event, EntityId(u128::MIN))..=(*event, EntityId(u128::MAX)))
        };
        let new: BTreeMap<_, _> = meant.iter().flat_map(of_event).collect();
        let changed = new.iter().filter(|(place, row)| old.get(place) != Some(row));
        delta.mentions.extend(changed.map(|(_, row)| (*row).clone()));
        delta.remove_mentions.extend(old.keys().filter(|place| !new.contains_key(place)));
        difference.rows += delta.len() as u64;
        delta
    }
}

/// Returns and counts the changes from the stored entities to these.
pub(super) fn compare_entities<'e>(
    stored: Vec<Entity>,
    new: impl Iterator<Item = &'e Entity>,
    difference: &mut Difference,
) -> GraphDelta {
    let mut old: BTreeMap<EntityId, Entity> = stored.into_iter().map(|entity| (entity.id, entity)).collect();
    let mut delta = GraphDelta::default();
    let producer = Producer { id: String::new(), version: 0 };
    for entity in new {
        let before = old.remove(&entity.id);
        let says = |of: &Entity| Entity { producer: producer.clone(), ..of.clone() };
        match &before {
            None => difference.entities.added += 1,
            Some(before) if says(before) == says(entity) => difference.entities.same += 1,
            Some(_) => difference.entities.changed += 1,
        }
        if before.as_ref() != Some(entity) {
            delta.entities.push(entity.clone());
        }
    }
    difference.entities.gone += old.len() as u64;
    delta.remove_entities = old.into_keys().collect();
    difference.rows += delta.len() as u64;
    delta
}

/// Identity of a fact version across producers.
type VersionIdentity<'f> = (EventId, EntityId, &'f str, Option<&'f str>, String, Timestamp);

fn identity(fact: &Fact) -> Option<VersionIdentity<'_>> {
    let event = first(fact)?.event;
    let (predicate, topic) = (fact.predicate.as_str(), fact.topic.as_deref());
    Some((event, fact.subject, predicate, topic, fact.object.key(), fact.created_at))
}

fn count_facts(old: &BTreeMap<FactId, &Fact>, new: &BTreeMap<FactId, &Fact>, difference: &mut Difference) {
    let (mut old, new) = (by_identity(old), by_identity(new));
    for (key, facts) in new {
        let mut before = old.remove(&key).unwrap_or_default().into_iter();
        for fact in facts {
            match before.next() {
                None => note(Change::Added, fact, difference),
                Some(before) if says_the_same(before, fact) => difference.facts.same += 1,
                Some(_) => note(Change::Changed, fact, difference),
            }
        }
        before.for_each(|fact| note(Change::Gone, fact, difference));
    }
    old.into_values().flatten().for_each(|fact| note(Change::Gone, fact, difference));
}

fn by_identity<'f>(
    facts: &BTreeMap<FactId, &'f Fact>,
) -> BTreeMap<Option<VersionIdentity<'f>>, Vec<&'f Fact>> {
    let mut all: BTreeMap<_, Vec<&Fact>> = BTreeMap::new();
    for fact in facts.values() {
        all.entry(identity(fact)).or_default().push(fact);
    }
    all
}

fn says_the_same(one: &Fact, other: &Fact) -> bool {
    let says = |fact: &Fact| (fact.act, fact.valid_at, fact.invalid_at, fact.expired_at, fact.status);
    says(one) == says(other) && one.object == other.object
}

fn note(change: Change, fact: &Fact, difference: &mut Difference) {
    let Counts { added, gone, changed, .. } = &mut difference.facts;
    *match change {
        Change::Added => added,
        Change::Gone => gone,
        Change::Changed => changed,
    } += 1;
    let shown = difference.examples.iter().filter(|example| example.change == change).count();
    if let (Some(source), true) = (first(fact), shown < Difference::EXAMPLES) {
        difference.examples.push(Example { change, predicate: fact.predicate.clone(), source });
    }
}
