//! Reads the graph: whom a name means, what is known of it, and from where.

use std::collections::BTreeSet;
use std::sync::Arc;

use mnemal_core::{
    AsOf, Entity, EntityFilter, EntityId, EntityKind, Fact, FactFilter, GraphStore, MentionFilter,
    MentionRow, Result, Within,
};

use crate::key::name_key;
use crate::names::Names;
use crate::suggest::{self, Suggestion};

/// Reads the graph of one space.
#[derive(Clone, Debug)]
pub struct Graph {
    store: Arc<dyn GraphStore>,
}

impl Graph {
    /// Reads these rows.
    pub fn new(store: Arc<dyn GraphStore>) -> Self {
        Self { store }
    }

    /// Returns the entities of which a name is this one, whatever its spelling, title or ending; each as what it is taken
    /// for at the belief time, by id. A part of a name finds nobody.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn named(&self, name: &str, as_of: AsOf) -> Result<Vec<Entity>> {
        let kinds = [EntityKind::Person, EntityKind::Organization, EntityKind::Location];
        let keys: BTreeSet<String> = kinds.into_iter().map(|kind| name_key(name, kind)).collect();
        let mut found = BTreeSet::new();
        for key in keys {
            let filter = EntityFilter { key: Within::Only(key), ..EntityFilter::all() };
            found.extend(self.store.entities(&filter).await?.into_iter().map(|entity| entity.id));
        }
        self.entities(found, as_of).await
    }

    /// Returns what these entities are taken for at the belief time, by id; those that were not known then are left out.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn entities(
        &self,
        ids: impl IntoIterator<Item = EntityId>,
        as_of: AsOf,
    ) -> Result<Vec<Entity>> {
        let mut wanted: BTreeSet<EntityId> = ids.into_iter().collect();
        let mut found: Vec<Entity> = Vec::new();
        while !wanted.is_empty() {
            let ids = Within::Only(std::mem::take(&mut wanted).into_iter().collect());
            for entity in self.store.entities(&EntityFilter { ids, ..EntityFilter::all() }).await? {
                match entity.joined_at(as_of.belief) {
                    Some(into) if !found.iter().any(|known| known.id == into) => drop(wanted.insert(into)),
                    Some(_) => {}
                    None if found.iter().any(|known| known.id == entity.id) => {}
                    None => found.push(entity),
                }
            }
        }
        found.retain(|entity| entity.created_at <= as_of.belief);
        found.sort_by_key(|entity| entity.id);
        Ok(found)
    }

    /// Returns every entity that stands for itself at the belief time, by name.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn all(&self, filter: &EntityFilter, as_of: AsOf) -> Result<Vec<Entity>> {
        let mut all = self.store.entities(filter).await?;
        all.retain(|entity| entity.created_at <= as_of.belief && entity.joined_at(as_of.belief).is_none());
        all.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
        Ok(all)
    }

    /// Returns the facts that hold and are believed as of a moment, about an entity and leading to it.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn about(&self, ids: &[EntityId], as_of: AsOf) -> Result<Vec<Fact>> {
        let about = FactFilter { subjects: Within::Only(ids.to_vec()), ..FactFilter::all() };
        let leading = FactFilter { objects: Within::Only(ids.to_vec()), ..FactFilter::all() };
        let mut facts = self.store.facts(&about, as_of).await?;
        let mut known: BTreeSet<_> = facts.iter().map(|fact| fact.id).collect();
        let more = self.store.facts(&leading, as_of).await?;
        facts.extend(more.into_iter().filter(|fact| known.insert(fact.id)));
        Ok(facts)
    }

    /// Returns the facts that pass the filter, hold and are believed as of a moment.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Fact>> {
        self.store.facts(filter, as_of).await
    }

    /// Returns every version of the facts that pass the filter, by belief time.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        self.store.history(filter).await
    }

    /// Returns where an entity is named, or one that is taken for it at the belief time, by event.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn mentions(&self, id: EntityId, as_of: AsOf) -> Result<Vec<MentionRow>> {
        let (mut all, mut open) = (BTreeSet::from([id]), vec![id]);
        while let Some(into) = open.pop() {
            let filter = EntityFilter { joined: Within::Only(into), ..EntityFilter::all() };
            for entity in self.store.entities(&filter).await? {
                if entity.joined_at(as_of.belief) == Some(into) && all.insert(entity.id) {
                    open.push(entity.id);
                }
            }
        }
        let filter =
            MentionFilter { entities: Within::Only(all.into_iter().collect()), ..MentionFilter::all() };
        self.store.mentions(&filter).await
    }

    /// Returns pairs of entities that may be one, the likeliest first, at most `most`: names that differ in form, spelling or
    /// script, by who stands with them and when both were named last.
    ///
    /// They are derived from all rows each time, which takes time in proportion to the names and mentions of the space; nothing
    /// is stored. A pair is gone once it is merged (`Decision::Merge` with `one` and `into`), and for good once that is undone
    /// or a person has split the two.
    /// Nothing merges by itself; where [`Likeness::is_for_people`](crate::Likeness::is_for_people) holds, no pass may do it
    /// either.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn suggestions(&self, most: usize) -> Result<Vec<Suggestion>> {
        let names = Names::from_rows(self.store.entities(&EntityFilter::all()).await?);
        let mentions = self.store.mentions(&MentionFilter::all()).await?;
        Ok(suggest::suggestions(&names, &mentions, most))
    }
}
