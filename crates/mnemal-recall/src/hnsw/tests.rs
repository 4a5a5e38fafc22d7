//! Tests of the graph: conformance, panics, filters, erasures and growth, each beside the exact scan.

use std::sync::Arc;

use hnsw_rs::anndists::dist::distances::Distance as _;
use mnemal_core::{EventId, IndexBlock, ModelId, Seq, Vector, VectorColumn};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRng, TestRunner};

use super::graph::{Clamped, FAR, guarded, point};
use super::*;
use crate::conformance::{blocks, model};

const DIMENSIONS: usize = 16;
/// Rows of a block in these tests.
const BLOCK: usize = 150;

fn flat(blocks: &[IndexBlock]) -> FlatIndex {
    FlatIndex::new(blocks.iter().cloned().map(Arc::new), model())
}

fn index(blocks: Vec<IndexBlock>, model: ModelId) -> HnswIndex {
    HnswIndex::new(&FlatIndex::new(blocks.into_iter().map(Arc::new), model), DIMENSIONS)
}

mod at_once {
    crate::vector_index_conformance!(super::index);
}

mod in_steps {
    use super::*;

    crate::vector_index_conformance!(|blocks: Vec<IndexBlock>, _| {
        let mut builder = HnswBuilder::new(DIMENSIONS, 0);
        grow(&mut builder, &flat(&blocks));
        builder.made()
    });
}

/// Updates until nothing is lacking; returns the number of updates.
fn grow(builder: &mut HnswBuilder, flat: &FlatIndex) -> usize {
    let step = NonZeroUsize::new(64).unwrap();
    (1..10_000).find(|_| builder.update(flat, step) == 0).unwrap()
}

/// A linear congruential generator of values from −1 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 40) as f32) / 8_388_608.0 - 1.0
    }

    fn direction(&mut self) -> Vec<f32> {
        (0..DIMENSIONS).map(|_| self.next()).collect()
    }

    /// A unit vector in the cluster around this direction.
    fn near(&mut self, center: &[f32]) -> Vec<f32> {
        let values: Vec<f32> = center.iter().map(|value| value + 0.4 * self.next()).collect();
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        values.into_iter().map(|value| value / length).collect()
    }
}

/// A row: its position, and its vector if it has one.
type Row = (Seq, Option<Vector>);

/// Rows in clusters, as topics follow each other in a log; every ninth has no vector.
fn clustered(random: &mut Random, centers: &[Vec<f32>], (rows, first): (usize, u64)) -> Vec<Row> {
    let row = |at: usize| {
        let center = &centers[(at * centers.len() / rows + at % 3) % centers.len()];
        let vector = Vector::from_unit(&random.near(center)).unwrap();
        (Seq(first + at as u64), Some(vector).filter(|_| at % 9 != 4))
    };
    (0..rows).map(row).collect()
}

fn blocks_of(rows: &[Row]) -> Vec<IndexBlock> {
    let block = |rows: &[Row]| {
        let vectors = || rows.iter().map(|(_, vector)| vector.as_ref());
        let scales = vectors().map(|vector| vector.map_or(0.0, Vector::scale)).collect();
        let codes =
            |vector: Option<&Vector>| vector.map_or(vec![0; DIMENSIONS], |vector| vector.codes().to_vec());
        let codes = vectors().flat_map(codes).collect();
        let seqs: Vec<Seq> = rows.iter().map(|(seq, _)| *seq).collect();
        let events = seqs.iter().map(|seq| EventId(u128::from(seq.0))).collect();
        let column = VectorColumn { model: model(), dimensions: DIMENSIONS, scales, codes };
        IndexBlock { events, seqs, vectors: vec![column], ..IndexBlock::default() }
    };
    rows.chunks(BLOCK).map(block).collect()
}

/// Compares an index with the exact scan: what filter and erasure exclude never returns, limits are filled, cosines are
/// exact. Returns how many of the exact ten nearest it found, and of how many.
fn compared(index: &dyn VectorIndex, flat: &FlatIndex, rows: u32, asked: &[Vec<f32>]) -> (usize, usize) {
    let filters = [
        RowSet::all(rows),
        RowSet::of(rows, |row| row % 2 == 0),
        RowSet::of(rows, |row| row % 5 == 1),
        RowSet::of(rows, |row| row < rows / 3),
        RowSet::of(rows, |row| row % 97 == 3),
    ];
    let (mut found, mut all) = (0, 0);
    for (query, filter) in asked.iter().flat_map(|query| filters.iter().map(move |filter| (query, filter))) {
        let query = QueryVector::new(query).unwrap();
        let (near, exact) = (index.nearest(&query, filter, 10), flat.nearest(&query, filter, 10));
        assert_eq!(near.len(), exact.len());
        for one in &near {
            assert!(filter.has(one.row), "row {} does not pass the filter", one.row);
            let cosine = flat.cosine(&query, one.row).expect("an erased row has no vector");
            assert!((cosine - one.cosine).abs() < 1e-6);
        }
        let worst = exact.last().map_or(0.0, |last| last.cosine);
        found += near.iter().filter(|near| near.cosine >= worst).count();
        all += exact.len();
    }
    (found, all)
}

fn count(rows: &[Row]) -> u32 {
    u32::try_from(rows.len()).unwrap()
}

fn is_good((found, all): (usize, usize)) -> bool {
    found * 100 >= all * 95
}

/// One space: filled, partly erased and built anew, and continued.
fn lives(seed: u64, rows: usize, clusters: usize, erased: u64) -> Result<(), TestCaseError> {
    let mut random = Random(seed);
    let centers: Vec<Vec<f32>> = (0..clusters).map(|_| random.direction()).collect();
    let asked: Vec<Vec<f32>> = centers.iter().take(6).map(|center| random.near(center)).collect();
    let mut known = clustered(&mut random, &centers, (rows, 1));
    let mut builder = HnswBuilder::new(DIMENSIONS, 0);
    let before = flat(&blocks_of(&known));
    let _updates = grow(&mut builder, &before);
    let first = builder.index().expect("nothing is lacking");
    let found = compared(first.as_ref(), &before, count(&known), &asked);
    prop_assert!(is_good(found), "{found:?} of a whole space");

    known.retain(|(seq, _)| seq.0 % erased != 0);
    let after = flat(&blocks_of(&known));
    let mut builder = HnswBuilder::new(DIMENSIONS, 0);
    let _updates = grow(&mut builder, &after);
    let index = builder.index().expect("nothing is lacking");
    let found = compared(index.as_ref(), &after, count(&known), &asked);
    prop_assert!(is_good(found), "{found:?} after an erasure");

    known.extend(clustered(&mut random, &centers, (rows / 4, rows as u64 + 1)));
    let later = flat(&blocks_of(&known));
    prop_assert!(builder.update(&later, NonZeroUsize::MIN) > 0);
    prop_assert!(builder.index().is_none(), "it lacks rows");
    let _updates = grow(&mut builder, &later);
    let last = builder.index().expect("nothing is lacking");
    let found = compared(last.as_ref(), &later, count(&known), &asked);
    prop_assert!(is_good(found), "{found:?} of a grown space");
    Ok(())
}

#[test]
fn a_space_is_searched_nearly_as_by_a_scan_whatever_was_erased_or_filtered() {
    let config = Config { cases: 16, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let spaces = (any::<u64>(), 200_usize..900, 1_usize..12, 2_u64..40);
    runner.run(&spaces, |(seed, rows, clusters, erased)| lives(seed, rows, clusters, erased)).unwrap();
}

#[test]
fn the_same_rows_give_the_same_graph() {
    let mut random = Random(5);
    let centers: Vec<Vec<f32>> = (0..5).map(|_| random.direction()).collect();
    let rows = blocks_of(&clustered(&mut random, &centers, (600, 1)));
    let (one, other) = (index(rows.clone(), model()), index(rows, model()));
    let query = QueryVector::new(&random.near(&centers[2])).unwrap();
    let everything = RowSet::all(600);
    assert_eq!(one.found(&query, &everything, 20), other.found(&query, &everything, 20));
    assert!(one.found(&query, &everything, 20).is_some());
}

#[test]
fn a_narrow_filter_and_a_deep_search_scan_all_rows() {
    let index = index(blocks(), model());
    let fetched = |filter: &RowSet, limit| index.fetched(filter, limit);
    assert_eq!(fetched(&RowSet::all(300), 10), Some(10));
    assert_eq!(fetched(&RowSet::of(300, |row| row % 2 == 0), 10), Some(26), "half pass, and some to spare");
    assert_eq!(fetched(&RowSet::of(300, |row| row == 1), 10), None, "all points would be fetched");
    assert_eq!((fetched(&RowSet::all(300), 0), fetched(&RowSet::all(300), 400)), (None, None));
    assert_eq!(fetched(&RowSet::of(300, |_| false), 10), None);
}

#[test]
fn equal_vectors_are_no_distance_apart_and_never_less() {
    let like = |codes: [i8; 3]| point(codes, 1.0 / 127.5);
    let distance = |one: &[i8], other: &[i8]| Clamped.eval(one, other);
    let one = like([90, -90, 10]);
    assert_eq!(distance(&one, &one).to_bits(), 0.0_f32.to_bits());
    assert!((distance(&one, &like([-90, 90, -10])) - FAR).abs() < 1e-2);
    assert!((distance(&one, &point([90; 5], 1.0)) - FAR).abs() < 1e-6, "of other dimensions");
    assert!((distance(&one, &point([90; 3], f32::NAN)) - FAR).abs() < 1e-6);
    assert!((distance(&one, &[1]) - FAR).abs() < 1e-6, "no point at all");
    let alike: Vec<Row> =
        (1..=300).map(|seq| (Seq(seq), Some(Vector::from_unit(&[0.25; DIMENSIONS]).unwrap()))).collect();
    let index = index(blocks_of(&alike), model());
    let query = QueryVector::new(&[0.3; DIMENSIONS]).unwrap();
    let near = index.nearest(&query, &RowSet::all(300), 10);
    assert!(near.len() == 10 && near.iter().all(|near| near.cosine > 0.99), "{near:?}");
    assert!(index.graph.is_whole(), "nothing panicked");
}

#[test]
fn what_panics_loses_its_graph_and_is_answered_all_the_same() {
    assert_eq!(guarded(|| 1), Some(1));
    assert_eq!(guarded(|| -> u8 { panic!("as the library does") }), None);
    let mut builder = HnswBuilder::new(DIMENSIONS, 0);
    let _updates = grow(&mut builder, &flat(&blocks()));
    let index = builder.made();
    let (query, everything) = (QueryVector::new(&[1.0; DIMENSIONS]).unwrap(), RowSet::all(300));
    assert!(index.found(&query, &everything, 10).is_some());
    index.graph.let_go();
    assert_eq!(index.found(&query, &everything, 10), None);
    assert_eq!(index.nearest(&query, &everything, 10), index.flat.nearest(&query, &everything, 10));
    assert_eq!(grow(&mut builder, &flat(&blocks())), 1);
    assert!(builder.index().is_none(), "every row is scanned");
}

#[test]
fn readers_ask_while_the_graph_grows() {
    let mut random = Random(3);
    let centers: Vec<Vec<f32>> = (0..4).map(|_| random.direction()).collect();
    let known = clustered(&mut random, &centers, (600, 1));
    let (half, whole) = (flat(&blocks_of(&known[..300])), flat(&blocks_of(&known)));
    let mut builder = HnswBuilder::new(DIMENSIONS, 0);
    let _updates = grow(&mut builder, &half);
    let index = builder.index().unwrap();
    let asked: Vec<Vec<f32>> = centers.iter().map(|center| random.near(center)).collect();
    std::thread::scope(|scope| {
        let reader = || is_good(compared(index.as_ref(), &half, 300, &asked));
        let readers: Vec<_> = (0..3).map(|_| scope.spawn(reader)).collect();
        let _updates = grow(&mut builder, &whole);
        assert!(readers.into_iter().all(|reader| reader.join().unwrap()));
    });
    let grown = builder.index().unwrap();
    assert!(is_good(compared(grown.as_ref(), &whole, 600, &asked)));
}
