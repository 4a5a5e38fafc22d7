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

/// Number of vectors from which on recall searches a graph. Source: own choice; far below it, an exact scan is faster (ADR 15).
pub const HNSW_FROM: u32 = 100_000;
/// Least search width of a query. Source: own choice, twice the 128 of the first measurement.
const WIDTH: usize = 256;
/// Most points that a search fetches; where the filter needs more, a scan of all rows is as fast. Source: own choice.
const MOST_FETCHED: usize = 4_096;
/// Points that a search fetches in addition, one in this many, because a filter is not spread evenly. Source: own choice.
const SPARE_PART: usize = 4;

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
        Box::new(HnswBuilder::new(dimensions, 0))
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

/// Builder of a graph for one space.
#[derive(Debug)]
struct HnswBuilder {
    dimensions: usize,
    graph: Arc<Graph>,
    /// The positions in the graph.
    positions: Positions,
    /// The rows of the last update.
    flat: FlatIndex,
    /// The rows that the graph lacks, last one first.
    lacking: Vec<u32>,
}

impl HnswBuilder {
    /// Makes a builder with room for some points; it takes more.
    fn new(dimensions: usize, room: usize) -> Self {
        Self {
            dimensions,
            graph: Arc::new(Graph::new(room)),
            positions: Positions::default(),
            flat: FlatIndex::default(),
            lacking: Vec::new(),
        }
    }

    /// Compares the graph with a new state of the rows.
    fn compare(&mut self, flat: &FlatIndex) {
        let lacks = flat
            .vectors()
            .filter(|stored| stored.codes.len() == self.dimensions && !self.positions.has(stored.seq))
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
            graph: Arc::clone(&self.graph),
            held: self.graph.held(),
        }
    }
}

impl VectorIndexBuilder for HnswBuilder {
    fn update(&mut self, rows: &FlatIndex, most: NonZeroUsize) -> usize {
        if !self.flat.is_same(rows) {
            self.compare(rows);
        }
        let start = self.lacking.len().saturating_sub(most.get());
        for row in self.lacking.split_off(start).into_iter().rev() {
            let Some(stored) = self.flat.vector(row) else { continue };
            if !self.graph.insert(stored.seq, &point(stored.codes.iter().copied(), stored.scale)) {
                // Without a graph every row is scanned.
                self.lacking.clear();
                break;
            }
            self.positions.add(stored.seq);
        }
        self.lacking.len()
    }

    fn index(&self) -> Option<Arc<dyn VectorIndex>> {
        let is_complete = self.lacking.is_empty() && self.graph.is_whole();
        is_complete.then(|| Arc::new(self.made()) as Arc<dyn VectorIndex>)
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
}

impl HnswIndex {
    /// Builds the graph of all vectors of `dimensions` values at once.
    pub fn new(flat: &FlatIndex, dimensions: usize) -> Self {
        let mut builder = HnswBuilder::new(dimensions, flat.vectors().count());
        let _lacking = builder.update(flat, NonZeroUsize::MAX);
        builder.made()
    }

    /// The number of points to fetch so that `limit` rows of the filter are among them; `None` where a scan is better.
    fn fetched(&self, filter: &RowSet, limit: usize) -> Option<usize> {
        if limit == 0 || limit >= self.held || filter.is_empty() {
            return None;
        }
        let mut fetched = limit;
        if !filter.is_all() {
            let rows = limit.saturating_mul(filter.rows() as usize);
            fetched = rows.checked_div(filter.len() as usize)?.saturating_add(1);
            fetched = fetched.saturating_add(fetched / SPARE_PART);
        }
        (fetched <= MOST_FETCHED && fetched < self.held).then_some(fetched)
    }

    /// The rows of the filter that the graph finds, ascending; `None` if it finds too few.
    fn found(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Option<Vec<u32>> {
        let fetched = self.fetched(filter, limit)?;
        let near = self.graph.nearest(&query.point(), fetched, WIDTH)?;
        // A point that is newer than these rows has no row here.
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
