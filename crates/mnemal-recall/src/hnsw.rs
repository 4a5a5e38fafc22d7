//! HNSW index based on `hnsw_rs`: a graph that is built in the background and grows with the log.
//!
//! ADR 15 compares it with sign bits.

mod graph;

use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::Seq;

use crate::index_ports::{VectorIndexBuilder, VectorIndexFactory};
use crate::rows::RowSet;
use crate::vector::{FlatIndex, Neighbor, QueryVector, VectorIndex};

use self::graph::{Graph, point};

/// Number of vectors from which on recall searches a graph. Source: own choice; at 20,000 an exact scan is eight times faster
/// (ADR 15).
pub const HNSW_FROM: u32 = 100_000;
/// Least search width of a query. Source: own choice, twice the 128 of the first measurement.
const WIDTH: usize = 256;
/// Most points that a search fetches; where the filter needs more, a scan of all rows is as fast. Source: own choice.
const MOST_FETCHED: usize = 4_096;
/// Points that a search fetches in addition, one in this many, because a filter is not spread evenly. Source: own choice.
const SPARE_PART: usize = 4;
/// Fraction of dead points, one in this many of the living, from which on the graph is built anew. Source: own choice.
const DEAD_PART: usize = 8;

/// Makes [`HnswIndex`]es for recall.
#[derive(Clone, Copy, Debug)]
pub struct HnswFactory {
    /// Number of vectors from which on a space gets a graph.
    pub from: u32,
}

impl Default for HnswFactory {
    /// A graph from [`HNSW_FROM`] vectors on.
    fn default() -> Self {
        Self { from: HNSW_FROM }
    }
}

impl VectorIndexFactory for HnswFactory {
    fn pays_from(&self) -> u32 {
        self.from
    }

    fn builder(&self, dimensions: usize) -> Box<dyn VectorIndexBuilder> {
        Box::new(HnswBuilder::new(dimensions))
    }
}

/// The log positions in a graph, one bit each.
#[derive(Debug, Default)]
struct Positions(Vec<u64>);

impl Positions {
    fn has(&self, seq: Seq) -> bool {
        let word = usize::try_from(seq.0 / 64).ok().and_then(|word| self.0.get(word));
        word.is_some_and(|word| word >> (seq.0 % 64) & 1 == 1)
    }

    fn add(&mut self, seq: Seq) {
        let Ok(word) = usize::try_from(seq.0 / 64) else { return };
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << (seq.0 % 64);
        }
    }
}

/// A graph with the positions that it holds.
#[derive(Debug)]
struct Grown {
    graph: Arc<Graph>,
    positions: Positions,
}

impl Grown {
    fn new(room: usize) -> Self {
        Self { graph: Arc::new(Graph::new(room)), positions: Positions::default() }
    }
}

/// Builder of a graph for one space.
///
/// A point stays in the graph when its event is erased, without its row: no search returns it. When one point in nine is
/// dead, a new graph is built, and the old one serves until that is complete.
#[derive(Debug)]
struct HnswBuilder {
    dimensions: usize,
    serving: Grown,
    /// The graph that will replace it.
    next: Option<Grown>,
    /// The rows of the last update.
    flat: FlatIndex,
    /// Number of vectors among these rows.
    alive: usize,
    /// The rows that the growing graph lacks, last one first.
    lacking: Vec<u32>,
}

impl HnswBuilder {
    fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            serving: Grown::new(0),
            next: None,
            flat: FlatIndex::default(),
            alive: 0,
            lacking: Vec::new(),
        }
    }

    /// Compares the graph with a new state of the rows.
    fn compare(&mut self, flat: &FlatIndex) {
        let is_meant = |codes: &[i8]| codes.len() == self.dimensions;
        self.alive = flat.vectors().filter(|stored| is_meant(stored.codes)).count();
        let known = |grown: &Grown| {
            flat.vectors().filter(|stored| is_meant(stored.codes) && grown.positions.has(stored.seq)).count()
        };
        let dead = self.serving.graph.held().saturating_sub(known(&self.serving));
        if self.next.is_none() && dead > self.alive / DEAD_PART {
            self.next = Some(Grown::new(self.alive));
        }
        let growing = self.next.as_ref().unwrap_or(&self.serving);
        let lacks = flat
            .vectors()
            .filter(|stored| is_meant(stored.codes) && !growing.positions.has(stored.seq))
            .map(|stored| stored.row);
        self.lacking = lacks.collect();
        self.lacking.reverse();
        self.flat = flat.clone();
    }

    /// Makes the index over the rows of the last update.
    fn made(&self) -> HnswIndex {
        HnswIndex {
            flat: self.flat.clone(),
            dimensions: self.dimensions,
            graph: Arc::clone(&self.serving.graph),
            held: self.serving.graph.held(),
            alive: self.alive,
        }
    }
}

impl VectorIndexBuilder for HnswBuilder {
    fn update(&mut self, rows: &FlatIndex, most: NonZeroUsize) -> usize {
        if !self.flat.is_same(rows) {
            self.compare(rows);
        }
        let growing = self.next.as_mut().unwrap_or(&mut self.serving);
        let start = self.lacking.len().saturating_sub(most.get());
        for row in self.lacking.split_off(start).into_iter().rev() {
            let Some(stored) = self.flat.vector(row) else { continue };
            if !growing.graph.insert(stored.seq, &point(stored.codes.iter().copied(), stored.scale)) {
                // Without a graph every row is scanned.
                self.lacking.clear();
                break;
            }
            growing.positions.add(stored.seq);
        }
        if self.lacking.is_empty()
            && let Some(next) = self.next.take()
        {
            self.serving = next;
        }
        self.lacking.len()
    }

    fn index(&self) -> Option<Arc<dyn VectorIndex>> {
        let is_complete = match &self.next {
            None => self.lacking.is_empty(),
            Some(_) => self.flat.vectors().all(|stored| {
                stored.codes.len() != self.dimensions || self.serving.positions.has(stored.seq)
            }),
        };
        (is_complete && self.serving.graph.is_whole()).then(|| Arc::new(self.made()) as Arc<dyn VectorIndex>)
    }
}

/// A graph over the rows of a [`FlatIndex`].
///
/// A search fetches as many points as should pass the filter, and keeps those that do. Where the filter is too narrow for
/// that, or fewer pass than were asked for, it scans all rows. Every cosine is computed from the stored codes.
///
/// The graph is built from the stored codes and never persisted. A panic of the library drops it, and queries scan the rows
/// from then on; the process's panic hook is still called.
#[derive(Debug)]
pub struct HnswIndex {
    flat: FlatIndex,
    dimensions: usize,
    graph: Arc<Graph>,
    /// Points in the graph when this was made.
    held: usize,
    /// Rows with a vector.
    alive: usize,
}

impl HnswIndex {
    /// Builds the graph of all vectors of `dimensions` values at once. Costs about a millisecond per row (ADR 15).
    pub fn new(flat: &FlatIndex, dimensions: usize) -> Self {
        let mut builder = HnswBuilder::new(dimensions);
        builder.serving = Grown::new(flat.vectors().count());
        let _lacking = builder.update(flat, NonZeroUsize::MAX);
        builder.made()
    }

    /// The number of points to fetch so that `limit` rows of the filter are among them; `None` where a scan is better.
    fn fetched(&self, filter: &RowSet, limit: usize) -> Option<usize> {
        if limit == 0 || limit >= self.alive || filter.is_empty() {
            return None;
        }
        let share = |count: usize, of: usize, passing: usize| {
            count.saturating_mul(of).checked_div(passing).map(|count| count.saturating_add(1))
        };
        let mut fetched = limit;
        if !filter.is_all() {
            fetched = share(fetched, filter.rows() as usize, filter.len() as usize)?;
            fetched = fetched.saturating_add(fetched / SPARE_PART);
        }
        if self.held > self.alive {
            fetched = share(fetched, self.held, self.alive)?;
            fetched = fetched.saturating_add(fetched / SPARE_PART);
        }
        (fetched <= MOST_FETCHED && fetched < self.alive).then_some(fetched)
    }

    /// The rows of the filter that the graph finds, ascending; `None` if it finds too few.
    fn found(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Option<Vec<u32>> {
        let fetched = self.fetched(filter, limit)?;
        let near = self.graph.nearest(&query.point(), fetched, WIDTH)?;
        // A dead point, and one that is newer than these rows, has no row here.
        let rows = near.into_iter().filter_map(|seq| self.flat.row_at(seq));
        let mut rows: Vec<u32> = rows.filter(|row| filter.has(*row)).collect();
        rows.sort_unstable();
        rows.dedup();
        (rows.len() >= limit).then_some(rows)
    }
}

impl VectorIndex for HnswIndex {
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<Neighbor> {
        let is_meant = query.dimensions() == self.dimensions;
        let found = if is_meant { self.found(query, filter, limit) } else { None };
        let Some(rows) = found else { return self.flat.nearest(query, filter, limit) };
        let mut near: Vec<Neighbor> = Vec::with_capacity(rows.len());
        self.flat.for_each_cosine(query, &rows, |row, cosine| near.push(Neighbor { row, cosine }));
        near.sort_by(|one, other| other.cosine.total_cmp(&one.cosine).then(other.row.cmp(&one.row)));
        near.truncate(limit);
        near
    }

    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        self.flat.cosine(query, row)
    }
}

impl QueryVector {
    /// The query in the form of a point.
    fn point(&self) -> Vec<i8> {
        let (codes, scale) = self.codes_and_scale();
        point(codes.iter().map(|code| i8::try_from(*code).unwrap_or_default()), scale)
    }
}

#[cfg(test)]
mod tests;
