//! Shadow rebuild: folds the log again in memory, compares the result with the stored rows, and replaces them.
//!
//! It advances in steps: fold a page, compare a page, write a small transaction. The old rows stay until everything is read
//! and the difference is stored; then the rows of a few events are replaced at a time, so a reader finds each event's facts
//! once, old or new. Any interruption (a new event, another process, a restart) only causes a new comparison.
//!
//! Memory: every version of every fact once, the believed ones twice, plus mentions and names; measured in ADR 36.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroUsize;

use mnemal_core::{
    Advance, Cursor, DeadLetter, Difference, Edition, EntityFilter, EventFilter, EventId, FactFilter,
    GraphDelta, MentionFilter, Producer, Result, Role, Within,
};

use super::difference::{Rows, compare_entities};
use super::knowledge::Knowledge;
use super::reader::{IntakeError, Reader};
use crate::graph::own;
use crate::names::Names;

use super::{BROKEN, PAGE, ROWS, UNREAD, forgotten_by};

/// Events whose rows are compared and replaced in one transaction. Source: own measurement, under [`ROWS`] rows.
const AT_ONCE: usize = 20;

/// A fold of the log up to a position, and the progress of its comparison.
#[derive(Debug)]
pub(super) struct Shadow {
    producer: Producer,
    known: Knowledge,
    rows: Rows,
    at: Cursor,
    events: Vec<EventId>,
    forgotten: BTreeSet<EventId>,
    broken: BTreeSet<EventId>,
    dead: Vec<DeadLetter>,
    comparison: Option<Comparison>,
}

/// The comparison so far.
#[derive(Debug, Default)]
struct Comparison {
    compared: usize,
    difference: Difference,
    /// The changes from the stored rows to the new ones, in write order.
    deltas: VecDeque<GraphDelta>,
    is_announced: bool,
    /// Entities to remove last, when no row refers to them.
    gone: GraphDelta,
}

impl Shadow {
    /// Starts at the beginning of the log.
    pub(super) async fn start(
        reader: &Reader,
        producer: Producer,
        broken: BTreeSet<EventId>,
        names: Names,
    ) -> Result<Self> {
        Ok(Self {
            producer,
            known: Knowledge::whole(names),
            rows: Rows::default(),
            at: Cursor::START,
            events: Vec::new(),
            forgotten: forgotten(reader).await?,
            broken,
            dead: Vec::new(),
            comparison: None,
        })
    }

    /// Whether it was made by this producer.
    pub(super) fn is_of(&self, producer: &Producer) -> bool {
        self.producer == *producer
    }

    /// Discards the comparison: the stored rows have changed.
    pub(super) fn compare_again(&mut self) {
        self.comparison = None;
    }

    /// Returns how many events are still to read and compare up to a position.
    pub(super) fn behind(&self, end: Cursor) -> u64 {
        let compared = self.comparison.as_ref().map_or(0, |comparison| comparison.compared);
        self.at.behind(end) + (self.events.len() - compared.min(self.events.len())) as u64
    }

    /// Folds, then compares, up to `limit` events; returns the difference when both are complete up to `end`.
    pub(super) async fn go_on(
        &mut self,
        reader: &Reader,
        limit: NonZeroUsize,
        end: Cursor,
    ) -> Result<Option<&Difference>> {
        if self.at < end {
            // The comparison used rows that are out of date.
            self.comparison = None;
            self.fold(reader, limit, end).await?;
            return Ok(None);
        }
        if self.comparison.is_none() {
            self.comparison = Some(self.compare_entities(reader).await?);
        }
        let Some(comparison) = &mut self.comparison else { return Ok(None) };
        let until = comparison.compared.saturating_add(limit.get());
        while comparison.compared < until.min(self.events.len()) {
            let page = self.events.get(comparison.compared..).unwrap_or_default();
            let page = page.get(..AT_ONCE.min(page.len())).unwrap_or_default();
            let facts = FactFilter { sources: Within::Only(page.to_vec()), ..FactFilter::all() };
            let mentions = MentionFilter { events: Within::Only(page.to_vec()), ..MentionFilter::all() };
            let (facts, mentions) =
                (reader.graph.history(&facts).await?, reader.graph.mentions(&mentions).await?);
            let delta = self.rows.compare(page, &facts, mentions, &mut comparison.difference);
            if !delta.is_empty() {
                comparison.deltas.push_back(delta);
            }
            comparison.compared += page.len();
        }
        Ok((comparison.compared == self.events.len()).then_some(&comparison.difference))
    }

    async fn fold(&mut self, reader: &Reader, limit: NonZeroUsize, end: Cursor) -> Result<()> {
        let mut page = reader.events.scan(&EventFilter::all(), self.at, limit).await?;
        page.retain(|event| Cursor(Some(event.seq)) <= end);
        let forgets = page.iter().filter_map(forgotten_by).flatten();
        if forgets.into_iter().any(|event| !self.forgotten.contains(event)) {
            let names = self.known.fold.names.of_nobody();
            *self = Self::start(reader, self.producer.clone(), self.broken.clone(), names).await?;
            return Ok(());
        }
        for event in page {
            self.events.push(event.id);
            self.at = Cursor(Some(event.seq));
            if self.forgotten.contains(&event.id) {
                continue;
            }
            let letter = |why: &str| DeadLetter { event: event.id, why: why.to_owned() };
            match reader.take_in(&mut self.known, &event, &self.producer, &self.broken).await {
                Ok(()) if self.broken.contains(&event.id) => self.dead.push(letter(BROKEN)),
                Ok(()) => {}
                Err(IntakeError::Unread) => self.dead.push(letter(UNREAD)),
                // The state is corrupt; start again from the beginning, without this event.
                Err(IntakeError::Broken) => {
                    self.broken.insert(event.id);
                    let names = self.known.fold.names.of_nobody();
                    *self = Self::start(reader, self.producer.clone(), self.broken.clone(), names).await?;
                    return Ok(());
                }
                Err(IntakeError::Store(error)) => return Err(error),
            }
        }
        self.rows.take(self.known.fold.take_delta());
        self.known.trim_recent();
        Ok(())
    }

    async fn compare_entities(&self, reader: &Reader) -> Result<Comparison> {
        let stored = own(reader.graph.entities(&EntityFilter::all()).await?);
        let mut comparison = Comparison::default();
        comparison.difference.by = Some(self.producer.clone());
        let delta = compare_entities(stored, self.known.fold.names.all(), &mut comparison.difference);
        let parts = delta.entities.chunks(ROWS);
        comparison
            .deltas
            .extend(parts.map(|part| GraphDelta { entities: part.to_vec(), ..GraphDelta::default() }));
        comparison.gone.remove_entities = delta.remove_entities;
        Ok(comparison)
    }

    /// Writes the next transaction of a complete comparison; returns whether it was the last.
    pub(super) async fn exchange(&mut self, reader: &Reader) -> Result<bool> {
        let Some(comparison) = &mut self.comparison else { return Ok(false) };
        let (difference, predicates) = (&comparison.difference, self.known.fold.held.rows());
        let edition = |producer| {
            let (difference, predicates) = (Some(difference.clone()), predicates.clone());
            Some(Edition { producer, difference, predicates })
        };
        let mut advance = Advance { expect: self.at, next: self.at, ..Advance::default() };
        if !comparison.is_announced {
            let delta = GraphDelta { edition: edition(None), ..GraphDelta::default() };
            reader.graph.apply(&delta, &advance).await?;
            comparison.is_announced = true;
            return Ok(false);
        }
        if let Some(delta) = comparison.deltas.pop_front() {
            reader.graph.apply(&delta, &advance).await?;
            return Ok(false);
        }
        let mut gone = std::mem::take(&mut comparison.gone);
        if gone.remove_entities.len() > ROWS {
            let rest = gone.remove_entities.split_off(ROWS);
            comparison.gone.remove_entities = rest;
            reader.graph.apply(&gone, &advance).await?;
            return Ok(false);
        }
        gone.edition = edition(Some(self.producer.clone()));
        let letters = reader.graph.dead_letters(super::MANY).await?;
        let is_dead = |event: &EventId| self.dead.iter().any(|letter| letter.event == *event);
        advance.revived =
            letters.into_iter().map(|letter| letter.event).filter(|event| !is_dead(event)).collect();
        advance.dead.clone_from(&self.dead);
        reader.graph.apply(&gone, &advance).await?;
        Ok(true)
    }

    /// Returns the fold state, to continue from it.
    pub(super) fn into_known(self) -> (Cursor, Knowledge) {
        (self.at, self.known)
    }
}

/// Returns the events that the log marks as forgotten.
async fn forgotten(reader: &Reader) -> Result<BTreeSet<EventId>> {
    let decisions = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::all() };
    let (mut all, mut after) = (BTreeSet::new(), Cursor::START);
    loop {
        let page = reader.events.scan(&decisions, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(all) };
        after = Cursor(Some(last.seq));
        all.extend(page.iter().filter_map(forgotten_by).flatten().copied());
    }
}
