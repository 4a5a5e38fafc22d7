//! Graph arm: facts about entities in the question, and entities of the requested kind, in the best turns.
//!
//! The graph is queried for a bounded number of turns by event id, and once per turn: its results are cached, and only
//! turns that the graph has not processed yet are queried again.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mnemal_core::{
    EntityFilter, EntityId, EntityKind, EventId, FactFilter, GraphStore, MentionFilter, Result, TermHash,
    Within,
};
use mnemal_text::{Analyzer, term_hash};

use crate::answer_type::PredicateBit;
use crate::memory::MemoryIndex;
use crate::question::Query;
use crate::state::Generation;

/// Turns for which the graph is queried, the best by all other signals.
///
/// Source: measured (ADR 19): with 200 no metric of either set improves by .001, with 40 `LoCoMo` loses .002.
pub(crate) const LOOKED_AT: usize = 64;
/// Turns and entities in the cache before it is cleared. Source: own choice; some 20 MB.
const KEPT: usize = 65_536;

/// A fact that rests on a turn.
#[derive(Clone, Copy, Debug)]
struct TurnFact {
    predicate: PredicateBit,
    subject: EntityId,
    object: Option<EntityId>,
}

/// The graph's result for a turn.
#[derive(Clone, Debug, Default)]
struct TurnFacts {
    facts: Vec<TurnFact>,
    named: Vec<EntityId>,
}

/// The kind of an entity, and the terms of each of its names.
#[derive(Clone, Debug)]
struct EntityTerms {
    kind: EntityKind,
    names: Vec<Vec<TermHash>>,
}

#[derive(Debug, Default)]
struct GraphCache {
    generation: Generation,
    turns: HashMap<EventId, TurnFacts>,
    entities: HashMap<EntityId, EntityTerms>,
}

/// Graph signals of a candidate; both 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GraphSignals {
    /// A requested fact about an entity in the question rests on it.
    pub(crate) fact_support: f32,
    /// A speaker whom the question names mentions an entity of the requested kind.
    pub(crate) kind: f32,
}

/// Cache of graph results; no lock is held across an await.
#[derive(Debug, Default)]
pub(crate) struct GraphArm(Mutex<GraphCache>);

impl GraphArm {
    fn lock(&self) -> MutexGuard<'_, GraphCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queries the graph for the rows that are not cached yet. Cancellation-safe.
    pub(crate) async fn read(
        &self,
        store: &dyn GraphStore,
        (index, generation): (&MemoryIndex, Generation),
        rows: &[u32],
        analyzer: Analyzer,
    ) -> Result<()> {
        let unknown = self.unknown(index, generation, rows);
        if unknown.is_empty() {
            return Ok(());
        }
        let read = store.cursor().await?.count();
        let unread: Vec<PendingTurn> = unknown.into_iter().filter(|unread| unread.seq <= read).collect();
        if unread.is_empty() {
            return Ok(());
        }
        let turns = turns(store, &unread).await?;
        let entities = self.entities(store, &turns, analyzer).await?;
        let mut cache = self.lock();
        if cache.generation == generation {
            cache.turns.extend(turns);
            cache.entities.extend(entities);
        }
        Ok(())
    }

    /// The rows that are not cached; an erasure clears the cache.
    fn unknown(&self, index: &MemoryIndex, generation: Generation, rows: &[u32]) -> Vec<PendingTurn> {
        let mut cache = self.lock();
        if cache.generation != generation || cache.turns.len().max(cache.entities.len()) > KEPT {
            *cache = GraphCache { generation, ..GraphCache::default() };
        }
        let placed = rows.iter().filter_map(|row| {
            let (block, place) = index.place(*row)?;
            let (seq, event) = (block.seqs.get(place)?.0, *block.events.get(place)?);
            Some(PendingTurn { seq, event, has_speaker: !index.speaker(*row).is_empty() })
        });
        placed.filter(|unread| !cache.turns.contains_key(&unread.event)).collect()
    }

    /// The entities of these turns that are not cached, each with the names of its canonical entity.
    async fn entities(
        &self,
        store: &dyn GraphStore,
        turns: &HashMap<EventId, TurnFacts>,
        analyzer: Analyzer,
    ) -> Result<HashMap<EntityId, EntityTerms>> {
        let of_facts = |turn: &TurnFacts| -> Vec<EntityId> {
            turn.facts
                .iter()
                .flat_map(|turn_fact| [Some(turn_fact.subject), turn_fact.object])
                .flatten()
                .collect()
        };
        let wanted: HashSet<EntityId> =
            turns.values().flat_map(|turn| turn.named.iter().copied().chain(of_facts(turn))).collect();
        let wanted: Vec<EntityId> = {
            let cache = self.lock();
            wanted.into_iter().filter(|id| !cache.entities.contains_key(id)).collect()
        };
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let by_id = |ids: Vec<EntityId>| EntityFilter { ids: Within::Only(ids), ..EntityFilter::all() };
        let found = store.entities(&by_id(wanted)).await?;
        let taken: HashSet<EntityId> =
            found.iter().filter_map(|entity| entity.merges.last()).map(|merge| merge.into).collect();
        let wholes = if taken.is_empty() {
            Vec::new()
        } else {
            store.entities(&by_id(taken.into_iter().collect())).await?
        };
        let terms = |text: &str| -> Vec<TermHash> {
            analyzer.query_terms(text).iter().map(|term| TermHash(term_hash(term))).collect()
        };
        let known = found.iter().map(|entity| {
            let last = entity.merges.last().filter(|merge| merge.expired_at.is_none());
            let whole = wholes.iter().filter(|whole| last.is_some_and(|merge| merge.into == whole.id));
            let names = whole.chain([entity]).flat_map(|one| &one.names).map(|name| terms(&name.text));
            (
                entity.id,
                EntityTerms { kind: entity.kind, names: names.filter(|name| !name.is_empty()).collect() },
            )
        });
        Ok(known.collect())
    }

    /// Returns the graph signals of each row, in row order; 0 for rows that are not processed.
    pub(crate) fn signals(&self, index: &MemoryIndex, rows: &[u32], query: &Query) -> Vec<GraphSignals> {
        let cache = self.lock();
        rows.iter().map(|row| cache.signals_of(index, *row, query).unwrap_or_default()).collect()
    }
}

/// A turn to query the graph for.
#[derive(Clone, Copy, Debug)]
struct PendingTurn {
    seq: u64,
    event: EventId,
    /// Its speaker has a name; other mentions are never used, and machines mention many entities.
    has_speaker: bool,
}

/// Returns the graph's results for these turns; an empty one where it found nothing.
async fn turns(store: &dyn GraphStore, unread: &[PendingTurn]) -> Result<HashMap<EventId, TurnFacts>> {
    let events: Vec<EventId> = unread.iter().map(|unread| unread.event).collect();
    let mut turns: HashMap<EventId, TurnFacts> =
        events.iter().map(|event| (*event, TurnFacts::default())).collect();
    let resting = FactFilter { sources: Within::Only(events), ..FactFilter::all() };
    for fact in store.believed(&resting).await? {
        let Some(predicate) = PredicateBit::of(fact.predicate.as_str()) else { continue };
        let turn_fact = TurnFact { predicate, subject: fact.subject, object: fact.object.entity() };
        for support in &fact.supports {
            if let Some(turn) = turns.get_mut(&support.source.event) {
                turn.facts.push(turn_fact);
            }
        }
    }
    let spoken: Vec<EventId> =
        unread.iter().filter(|unread| unread.has_speaker).map(|unread| unread.event).collect();
    if spoken.is_empty() {
        return Ok(turns);
    }
    let named = MentionFilter { events: Within::Only(spoken), ..MentionFilter::all() };
    for mention in store.mentions(&named).await? {
        if let Some(turn) = turns.get_mut(&mention.source.event) {
            turn.named.push(mention.entity);
        }
    }
    Ok(turns)
}

impl GraphCache {
    fn signals_of(&self, index: &MemoryIndex, row: u32, query: &Query) -> Option<GraphSignals> {
        let turn = self.turns.get(&index.event(row)?)?;
        let is_about = |turn_fact: &TurnFact| {
            self.is_named(turn_fact.subject, query)
                || turn_fact.object.is_some_and(|id| self.is_named(id, query))
        };
        let is_supported = turn
            .facts
            .iter()
            .any(|turn_fact| query.answer_type.has_fact(turn_fact.predicate) && is_about(turn_fact));
        let kind = index.is_spoken_by(row, &query.terms.words)
            && turn.named.iter().any(|id| self.is_wanted(*id, index, query));
        Some(GraphSignals {
            fact_support: f32::from(u8::from(is_supported)),
            kind: f32::from(u8::from(kind)),
        })
    }

    /// Whether the question contains all words of one of its names.
    fn is_named(&self, id: EntityId, query: &Query) -> bool {
        let names = self.entities.get(&id).map(|known| known.names.as_slice()).unwrap_or_default();
        names.iter().any(|name| name.iter().all(|term| query.terms.words.contains(term)))
    }

    /// Whether it has a requested kind and is not a speaker here.
    fn is_wanted(&self, id: EntityId, index: &MemoryIndex, query: &Query) -> bool {
        self.entities.get(&id).is_some_and(|known| {
            let speaks = |name: &Vec<TermHash>| name.iter().all(|term| index.is_name(*term));
            query.answer_type.has_kind(known.kind) && !known.names.iter().any(speaks)
        })
    }
}
