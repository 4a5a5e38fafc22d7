//! Co-occurrence of entities: counts, first and last time.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    AsOf, EntityFilter, EntityId, EventId, MentionFilter, MentionRow, Result, Timestamp, Within,
};

use crate::Graph;

/// Mention statistics of an entity or a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MentionStats {
    /// Events that mention it, each counted once.
    pub events: usize,
    /// Time of the first mention.
    pub first_at: Timestamp,
    /// Time of the last mention.
    pub last_at: Timestamp,
}

/// An entity with mention statistics: of a pair that occurs in the same events, or its own in a census.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cooccurrence {
    /// The entity.
    pub entity: EntityId,
    /// Number and times of the events.
    pub stats: MentionStats,
}

/// Events that mention an entity, each with the time at which it was said.
pub(crate) type MentionTimes = BTreeMap<EventId, Timestamp>;

/// Counts events; `None` if there are none.
pub(crate) fn count(named: &MentionTimes) -> Option<MentionStats> {
    let (first, last) = (named.values().min()?, named.values().max()?);
    Some(MentionStats { events: named.len(), first_at: *first, last_at: *last })
}

impl Graph {
    /// Returns the mention statistics of an entity, including the entities merged into it, up to the world time; `None` if
    /// it was never mentioned.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn mention_stats(&self, id: EntityId, as_of: AsOf) -> Result<Option<MentionStats>> {
        let rows = self.mentions(id, as_of).await?;
        Ok(count(&rows.iter().filter(|row| row.occurred_at <= as_of.world).map(at).collect()))
    }

    /// Returns the entities mentioned in the same events as this one up to the world time: most frequent first, then
    /// latest, then by id. Each entry covers all entities merged into it.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn cooccurrences(&self, id: EntityId, as_of: AsOf) -> Result<Vec<Cooccurrence>> {
        let own = self.mentions(id, as_of).await?;
        let events: BTreeSet<EventId> = own.iter().map(|row| row.source.event).collect();
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let filter =
            MentionFilter { events: Within::Only(events.into_iter().collect()), ..MentionFilter::all() };
        let named = self.named_in(&filter, as_of).await?;
        Ok(rank(named.into_iter().filter(|(other, _)| *other != id)))
    }

    /// Returns every entity with its mention statistics up to the world time, most frequent first, then latest, then by id.
    /// The cost is linear in the number of mentions.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn census(&self, as_of: AsOf) -> Result<Vec<Cooccurrence>> {
        Ok(rank(self.named_in(&MentionFilter::all(), as_of).await?.into_iter()))
    }

    /// Returns the events of the mentions that pass the filter, by canonical entity.
    pub(crate) async fn named_in(
        &self,
        filter: &MentionFilter,
        as_of: AsOf,
    ) -> Result<BTreeMap<EntityId, MentionTimes>> {
        let mut rows = self.store().mentions(filter).await?;
        rows.retain(|row| row.occurred_at <= as_of.world);
        let wholes = self.wholes(rows.iter().map(|row| row.entity).collect(), as_of).await?;
        let mut named: BTreeMap<EntityId, MentionTimes> = BTreeMap::new();
        for row in &rows {
            let whole = wholes.get(&row.entity).copied().unwrap_or(row.entity);
            named.entry(whole).or_default().extend([at(row)]);
        }
        Ok(named)
    }

    /// Returns the canonical entity of each of these at the belief time; an unmerged entity is its own.
    pub(crate) async fn wholes(
        &self,
        ids: BTreeSet<EntityId>,
        as_of: AsOf,
    ) -> Result<BTreeMap<EntityId, EntityId>> {
        let mut next: BTreeMap<EntityId, EntityId> = BTreeMap::new();
        let mut open = ids.clone();
        while !open.is_empty() {
            let wanted = Within::Only(std::mem::take(&mut open).into_iter().collect());
            for entity in self.store().entities(&EntityFilter { ids: wanted, ..EntityFilter::all() }).await? {
                let into = entity.merged_into_at(as_of.belief).unwrap_or(entity.id);
                next.insert(entity.id, into);
                if !next.contains_key(&into) {
                    open.insert(into);
                }
            }
        }
        let whole = |id: EntityId| {
            let mut at = id;
            // Merges form no cycle; the bound protects against corrupt rows.
            for _ in 0..next.len() {
                match next.get(&at) {
                    Some(into) if *into != at => at = *into,
                    _ => break,
                }
            }
            (id, at)
        };
        Ok(ids.into_iter().map(whole).collect())
    }
}

fn at(row: &MentionRow) -> (EventId, Timestamp) {
    (row.source.event, row.occurred_at)
}

fn rank(named: impl Iterator<Item = (EntityId, MentionTimes)>) -> Vec<Cooccurrence> {
    let mut ranked: Vec<Cooccurrence> =
        named.filter_map(|(entity, events)| Some(Cooccurrence { entity, stats: count(&events)? })).collect();
    ranked.sort_by(|one, other| {
        let by_count = other.stats.events.cmp(&one.stats.events);
        by_count.then(other.stats.last_at.cmp(&one.stats.last_at)).then(one.entity.cmp(&other.entity))
    });
    ranked
}
