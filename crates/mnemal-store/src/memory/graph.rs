//! Entities, facts and mentions, and the cursor that moves with them.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Advance, AsOf, Cursor, DeadLetter, Edition, Entity, EntityFilter, EntityId, Error, ErrorKind, EventId,
    Fact, FactFilter, FactId, GraphDelta, GraphStore, MentionFilter, MentionRow, Projection, Result, Within,
    facts_as_of, strongest_facts,
};

use super::{MemoryStore, SpaceState};

/// The rows of the graph.
#[derive(Debug, Default)]
pub(super) struct GraphRows {
    entities: BTreeMap<EntityId, Entity>,
    facts: BTreeMap<FactId, Fact>,
    mentions: BTreeMap<(EventId, EntityId), MentionRow>,
    cursor: Cursor,
    dead: BTreeMap<EventId, DeadLetter>,
    edition: Edition,
}

#[async_trait]
impl Projection<GraphDelta> for MemoryStore {
    async fn cursor(&self) -> Result<Cursor> {
        Ok(self.state().graph.cursor)
    }

    async fn apply(&self, delta: &GraphDelta, advance: &Advance) -> Result<()> {
        let mut state = self.state();
        let rows = &mut state.graph;
        if rows.cursor != advance.expect {
            return Err(Error::new(ErrorKind::Conflict, "cannot apply the graph: its cursor has moved"));
        }
        delta.remove_entities.iter().for_each(|id| drop(rows.entities.remove(id)));
        delta.remove_facts.iter().for_each(|id| drop(rows.facts.remove(id)));
        delta.remove_mentions.iter().for_each(|place| drop(rows.mentions.remove(place)));
        rows.entities.extend(delta.entities.iter().map(|entity| (entity.id, entity.clone())));
        rows.facts.extend(delta.facts.iter().map(|fact| (fact.id, fact.clone())));
        let place = |row: &MentionRow| (row.source.event, row.entity);
        rows.mentions.extend(delta.mentions.iter().map(|row| (place(row), row.clone())));
        advance.revived.iter().for_each(|event| drop(rows.dead.remove(event)));
        rows.dead.extend(advance.dead.iter().map(|letter| (letter.event, letter.clone())));
        if let Some(edition) = &delta.edition {
            rows.edition = edition.clone();
        }
        rows.cursor = advance.next;
        state.drop_erased_graph();
        Ok(())
    }

    async fn reset(&self) -> Result<()> {
        self.state().graph = GraphRows::default();
        Ok(())
    }

    async fn dead_letters(&self, limit: NonZeroUsize) -> Result<Vec<DeadLetter>> {
        let state = self.state();
        let mut letters: Vec<DeadLetter> = state.graph.dead.values().cloned().collect();
        letters.sort_by_key(|letter| (state.places.get(&letter.event), letter.event));
        letters.truncate(limit.get());
        Ok(letters)
    }
}

#[async_trait]
impl GraphStore for MemoryStore {
    async fn edition(&self) -> Result<Edition> {
        Ok(self.state().graph.edition.clone())
    }

    async fn entities(&self, filter: &EntityFilter) -> Result<Vec<Arc<Entity>>> {
        let state = self.state();
        let fitting = state.graph.entities.values().filter(|entity| filter.accepts(entity));
        Ok(fitting.cloned().map(Arc::new).collect())
    }

    async fn facts(&self, filter: &FactFilter, as_of: AsOf) -> Result<Vec<Arc<Fact>>> {
        Ok(facts_as_of(self.state().facts(filter).into_iter().map(Arc::new), as_of))
    }

    async fn strongest(&self, of: &[EntityId], most: NonZeroUsize, as_of: AsOf) -> Result<Vec<Fact>> {
        let about = FactFilter { subjects: Within::Only(of.to_vec()), ..FactFilter::all() };
        let leading = FactFilter { objects: Within::Only(of.to_vec()), ..FactFilter::all() };
        let state = self.state();
        let mut facts = state.facts(&about);
        facts.extend(state.facts(&leading));
        facts.retain(|fact| fact.is_believed_at(as_of.belief));
        let strongest = strongest_facts(facts, most).into_iter().map(Arc::new);
        Ok(facts_as_of(strongest, as_of).into_iter().map(Arc::unwrap_or_clone).collect())
    }

    async fn history(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        let mut facts = self.state().facts(filter);
        facts.sort_by_key(|fact| (fact.created_at, fact.id));
        Ok(facts)
    }

    async fn believed(&self, filter: &FactFilter) -> Result<Vec<Fact>> {
        let mut facts = self.state().facts(filter);
        facts.retain(|fact| fact.expired_at.is_none());
        Ok(facts)
    }

    async fn mentions(&self, filter: &MentionFilter) -> Result<Vec<MentionRow>> {
        let state = self.state();
        Ok(state.graph.mentions.values().filter(|row| filter.accepts(row)).cloned().collect())
    }
}

impl SpaceState {
    /// Removes every record that rests on an erased event; the projector derives again what also rests on others.
    pub(super) fn drop_erased_graph(&mut self) {
        if !self.has_erased() {
            return;
        }
        let mut rows = std::mem::take(&mut self.graph);
        rows.entities.retain(|_, entity| !entity.sources.iter().any(|event| self.is_erased(*event)));
        rows.facts.retain(|_, fact| !fact.supports.iter().any(|one| self.is_erased(one.source.event)));
        rows.mentions.retain(|(event, _), _| !self.is_erased(*event));
        self.graph = rows;
    }

    /// Facts that pass a filter, by id.
    fn facts(&self, filter: &FactFilter) -> Vec<Fact> {
        self.graph.facts.values().filter(|fact| filter.accepts(fact)).cloned().collect()
    }
}
