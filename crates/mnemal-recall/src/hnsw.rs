//! HNSW index based on `hnsw_rs`; an optional engine that recall itself does not use.
//!
//! ADR 15 compares it with sign bits.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use hnsw_rs::anndists::dist::distances::Distance;
use hnsw_rs::hnsw::Hnsw;

use crate::rows::RowSet;
use crate::vector::{FlatIndex, Neighbor, QueryVector, VectorIndex};

/// Connections of a row in each layer except the lowest, which has twice as many; the library aborts above 256.
///
/// Source: the usual `M` of HNSW, as measured.
const CONNECTIONS: usize = 16;
/// Search width at insertion. Source: the usual `ef_construction` of HNSW, as measured.
const BUILD_WIDTH: usize = 200;
/// Most layers. Source: the maximum of the library.
const LAYERS: usize = 16;
/// Least search width of a query. Source: own choice, twice the 128 of the first measurement.
const WIDTH: usize = 256;
/// Distance for vectors without direction: farther than any real distance.
const FAR: f32 = 2.0;

/// A node of the graph: a row number, whose codes stay in the blocks, or the query.
#[derive(Clone, Debug)]
enum Spot {
    Row(u32),
    Query(Arc<QueryVector>),
}

/// `1 − cosine`, never negative and never NaN: the library panics on either.
struct Clamped(FlatIndex);

impl Distance<Spot> for Clamped {
    fn eval(&self, one: &[Spot], other: &[Spot]) -> f32 {
        let cosine = match (one, other) {
            ([Spot::Row(one)], [Spot::Row(other)]) => self.0.between(*one, *other),
            ([Spot::Query(query)], [Spot::Row(row)]) | ([Spot::Row(row)], [Spot::Query(query)]) => {
                self.0.cosine(query, *row)
            }
            _ => None,
        };
        cosine.map_or(FAR, |cosine| (1.0 - cosine).clamp(0.0, FAR))
    }
}

type Graph = Hnsw<'static, Spot, Clamped>;

/// A graph over all rows of a [`FlatIndex`], for queries without a filter; every other query scans all rows.
///
/// It is built from the stored codes and never persisted, and it does not include later rows: erased rows disappear with
/// the index from which it was built. Panics of the library are caught here: the graph is dropped, and queries scan the
/// rows from then on; the process's panic hook is still called. When a graph is dropped, the library starts rayon's global
/// threads.
pub struct HnswIndex {
    flat: FlatIndex,
    dimensions: usize,
    vectors: usize,
    graph: RwLock<Option<Graph>>,
}

impl fmt::Debug for HnswIndex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("HnswIndex").field("vectors", &self.vectors).finish_non_exhaustive()
    }
}

impl HnswIndex {
    /// Builds the graph of all vectors of `dimensions` values. Costs about a millisecond per row (ADR 15).
    pub fn new(flat: FlatIndex, dimensions: usize) -> Self {
        let fits = flat.columns().filter(|(_, column)| column.dimensions == dimensions);
        let rows = fits.flat_map(|(first, column)| {
            (first..).zip(&column.scales).filter(|(_, scale)| **scale > 0.0).map(|(row, _)| row)
        });
        let rows: Vec<u32> = rows.collect();
        let distance = Clamped(flat.clone());
        let graph = guarded(move || {
            let graph = Graph::new(CONNECTIONS, rows.len(), LAYERS, BUILD_WIDTH, distance);
            for row in &rows {
                graph.insert((&[Spot::Row(*row)], *row as usize));
            }
            (graph, rows.len())
        });
        let (graph, vectors) = graph.map_or((None, 0), |(graph, vectors)| (Some(graph), vectors));
        Self { flat, dimensions, vectors, graph: RwLock::new(graph.filter(|_| vectors > 0)) }
    }

    /// The rows that the graph finds; `None` if there is no graph, or it fails.
    fn search_rows(&self, query: &QueryVector, limit: usize) -> Option<Vec<u32>> {
        let asked = [Spot::Query(Arc::new(query.clone()))];
        let near = {
            let graph = self.graph.read().unwrap_or_else(PoisonError::into_inner);
            let graph = graph.as_ref()?;
            guarded(|| graph.search(&asked, limit, WIDTH.max(limit)))
        };
        if near.is_none() {
            self.let_go();
        }
        Some(near?.iter().filter_map(|near| u32::try_from(near.d_id).ok()).collect())
    }

    fn let_go(&self) {
        let graph = self.graph.write().unwrap_or_else(PoisonError::into_inner).take();
        // A panic during drop cannot be handled.
        let _gone = guarded(|| drop(graph));
    }
}

impl Drop for HnswIndex {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl VectorIndex for HnswIndex {
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<Neighbor> {
        let is_for_all = filter.is_all() && query.dimensions() == self.dimensions;
        let rows = if is_for_all && limit > 0 && limit < self.vectors {
            self.search_rows(query, limit)
        } else {
            None
        };
        // An unreachable part of the graph would leave the limit unfilled.
        let Some(mut rows) = rows.filter(|rows| rows.len() == limit) else {
            return self.flat.nearest(query, filter, limit);
        };
        rows.sort_unstable();
        let mut near: Vec<Neighbor> = Vec::with_capacity(limit);
        self.flat.for_each_cosine(query, &rows, |row, cosine| near.push(Neighbor { row, cosine }));
        near.sort_by(|one, other| other.cosine.total_cmp(&one.cosine).then(other.row.cmp(&one.row)));
        near
    }

    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        self.flat.cosine(query, row)
    }
}

/// Runs library code; `None` if it panics.
fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

#[cfg(test)]
mod tests {
    use mnemal_core::{EventId, IndexBlock, ModelId, Seq, VectorColumn};

    use super::*;
    use crate::conformance::{blocks, model};

    fn index(blocks: Vec<IndexBlock>, model: ModelId) -> HnswIndex {
        HnswIndex::new(FlatIndex::new(blocks.into_iter().map(Arc::new), model), 16)
    }

    mod graph {
        crate::vector_index_conformance!(super::index);
    }

    /// Rows with identical vectors.
    fn alike(rows: usize) -> IndexBlock {
        let seqs: Vec<Seq> = (0..rows).map(|row| Seq(row as u64 + 1)).collect();
        let codes = (0..rows).flat_map(|_| [90, -90, 10]).collect();
        let column = VectorColumn { model: model(), dimensions: 3, scales: vec![1.0 / 127.5; rows], codes };
        let events = seqs.iter().map(|seq| EventId(u128::from(seq.0))).collect();
        IndexBlock { events, seqs, vectors: vec![column], ..IndexBlock::default() }
    }

    #[test]
    fn equal_vectors_are_no_distance_apart_and_never_less() {
        let flat = FlatIndex::new([Arc::new(alike(300))], model());
        let distance = Clamped(flat.clone());
        assert_eq!(distance.eval(&[Spot::Row(1)], &[Spot::Row(2)]).to_bits(), 0.0_f32.to_bits());
        assert!(
            (distance.eval(&[Spot::Row(1)], &[Spot::Row(300)]) - FAR).abs() < 1e-6,
            "there is no such row"
        );
        let index = HnswIndex::new(flat, 3);
        let query = QueryVector::new(&[0.9, -0.9, 0.1]).unwrap();
        let near = index.nearest(&query, &RowSet::all(300), 10);
        assert!(near.len() == 10 && near.iter().all(|near| near.cosine > 0.99), "{near:?}");
        assert!(index.graph.read().unwrap().is_some(), "nothing panicked");
    }

    #[test]
    fn what_panics_loses_its_graph_and_is_answered_all_the_same() {
        assert_eq!(guarded(|| 1), Some(1));
        assert_eq!(guarded(|| -> u8 { panic!("as the library does") }), None);
        let index = index(blocks(), model());
        let (query, everything) = (QueryVector::new(&[1.0; 16]).unwrap(), RowSet::all(300));
        let exact = index.flat.nearest(&query, &everything, 10);
        assert!(index.search_rows(&query, 10).is_some());
        index.let_go();
        assert_eq!((index.search_rows(&query, 10), index.nearest(&query, &everything, 10)), (None, exact));
    }

    #[test]
    fn readers_ask_at_the_same_time() {
        let index = index(blocks(), model());
        let everything = RowSet::all(300);
        let ask = |turn: u8| {
            let values: Vec<f32> =
                (0..16_u8).map(|place| f32::from((place * 7 + turn * 5) % 11) - 5.0).collect();
            let query = QueryVector::new(&values).unwrap();
            (index.nearest(&query, &everything, 10), index.flat.nearest(&query, &everything, 10))
        };
        let found = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4_u8).map(|turn| scope.spawn(move || ask(turn))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        for (near, exact) in found {
            assert!(near.iter().filter(|near| exact.contains(near)).count() >= 9, "{near:?} {exact:?}");
        }
    }

    /// Random rows, none near all others.
    fn random(rows: usize) -> IndexBlock {
        let mut state = 9_u64;
        let mut code = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            i8::try_from(i64::try_from((state >> 40) % 201).unwrap() - 100).unwrap()
        };
        let codes: Vec<i8> = (0..rows * 16).map(|_| code()).collect();
        let length = |row: &[i8]| row.iter().map(|code| f32::from(*code).powi(2)).sum::<f32>().sqrt();
        let scales = codes.chunks(16).map(|row| 1.0 / length(row)).collect();
        let seqs: Vec<Seq> = (0..rows).map(|row| Seq(row as u64 + 1)).collect();
        let events = seqs.iter().map(|seq| EventId(u128::from(seq.0))).collect();
        let column = VectorColumn { model: model(), dimensions: 16, scales, codes };
        IndexBlock { events, seqs, vectors: vec![column], ..IndexBlock::default() }
    }

    #[test]
    fn the_graph_finds_nearly_all_of_the_nearest_where_nothing_is_near_everything() {
        let index = index(vec![random(1_000), random(1_500)], model());
        let everything = RowSet::all(2_500);
        let (mut found, mut all) = (0, 0);
        for turn in 0..20_u8 {
            let values: Vec<f32> =
                (0..16_u8).map(|place| f32::from((place * 7 + turn * 5) % 11) - 5.0).collect();
            let query = QueryVector::new(&values).unwrap();
            let rows = index.search_rows(&query, 10).unwrap();
            let exact = index.flat.nearest(&query, &everything, 10);
            all += exact.len();
            found += exact.iter().filter(|near| rows.contains(&near.row)).count();
        }
        assert!(found * 10 >= all * 9, "{found} of {all}");
    }
}
