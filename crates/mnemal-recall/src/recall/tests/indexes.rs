//! Indexes that are built in the background, and those of a host.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, Weak};

use mnemal_core::{Posting, TermHash};

use super::*;
use crate::request::MatchReason;
use crate::{
    FlatIndex, LexicalIndex, LexicalIndexFactory, Neighbor, QueryVector, VectorIndex, VectorIndexBuilder,
    VectorIndexFactory, VectorSearch,
};

/// Makes indexes that scan, and counts their searches.
#[derive(Clone, Debug, Default)]
struct Watched {
    searches: Arc<AtomicUsize>,
    from: u32,
}

#[derive(Debug, Default)]
struct Growing {
    searches: Arc<AtomicUsize>,
    rows: FlatIndex,
    lacking: usize,
    held: usize,
}

/// Ignores every filter, which recall does not rely on.
#[derive(Debug)]
struct Scan(FlatIndex, Arc<AtomicUsize>);

impl VectorIndexFactory for Watched {
    fn pays_from(&self) -> u32 {
        self.from
    }

    fn builder(&self, _dimensions: usize) -> Box<dyn VectorIndexBuilder> {
        Box::new(Growing { searches: Arc::clone(&self.searches), ..Growing::default() })
    }
}

impl VectorIndexBuilder for Growing {
    fn update(&mut self, rows: &FlatIndex, most: NonZeroUsize) -> usize {
        self.rows = rows.clone();
        let all = rows.vectors().count();
        self.held = all.min(self.held + most.get());
        self.lacking = all - self.held;
        self.lacking
    }

    fn index(&self) -> Option<Arc<dyn VectorIndex>> {
        let index = Scan(self.rows.clone(), Arc::clone(&self.searches));
        (self.lacking == 0).then(|| Arc::new(index) as Arc<dyn VectorIndex>)
    }
}

impl VectorIndex for Scan {
    fn nearest(&self, query: &QueryVector, _filter: &RowSet, limit: usize) -> Vec<Neighbor> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let rows = self.0.vectors().last().map_or(0, |stored| stored.row + 1);
        self.0.nearest(query, &RowSet::all(rows), limit)
    }

    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        self.0.cosine(query, row)
    }
}

const SOME: NonZeroUsize = NonZeroUsize::new(8).expect("it is not zero");

/// Builds until nothing is lacking; returns the number of steps.
fn build(recall: &Recall) -> usize {
    (1..10_000).find(|_| ready(recall.build_vectors(SOME)).unwrap() == 0).unwrap()
}

fn by_meaning(words: &str) -> RecallRequest {
    RecallRequest { mode: Mode::Vector, ..RecallRequest::new(words) }
}

#[test]
fn an_index_answers_once_it_is_built_and_rows_behind_it_are_scanned() {
    let (store, watched) = (store(&chat()), Watched::default());
    let searches = || watched.searches.load(Ordering::Relaxed);
    let recall = recall(&store).with_vector_search(VectorSearch::Built(Arc::new(watched.clone())));
    let request = by_meaning("astronomy");
    let scanned = ask(&recall, &request).0;
    assert_eq!((scanned[0], searches()), (place(1), 0), "there is no index yet");
    assert!(ready(recall.build_vectors(SOME)).unwrap() > 0);
    assert_eq!((ask(&recall, &request).0 == scanned, searches()), (true, 0), "it lacks rows");
    assert!(build(&recall) > 1);
    assert_eq!((ask(&recall, &request).0 == scanned, searches()), (true, 1));

    append(&store, &[turn("four", "Ada", "astronomy")], embedder());
    assert_eq!((ask(&recall, &request).0[0], searches()), (place(22), 2), "a newer row is scanned");
    assert_eq!(build(&recall), 1);
    assert_eq!((ask(&recall, &request).0[0], searches()), (place(22), 3));
}

#[test]
fn what_is_erased_is_never_found_again() {
    let (store, watched) = (store(&chat()), Watched::default());
    let searches = || watched.searches.load(Ordering::Relaxed);
    let recall = recall(&store).with_vector_search(VectorSearch::Built(Arc::new(watched.clone())));
    let request = by_meaning("astronomy");
    let _steps = build(&recall);
    assert_eq!((ask(&recall, &request).0[0], searches()), (place(1), 1));
    erase(&store, place(1));
    assert!(!ask(&recall, &request).0.contains(&place(1)));
    assert_eq!(searches(), 1, "its rows have other numbers now");
    let _steps = build(&recall);
    assert!(!ask(&recall, &request).0.contains(&place(1)));
    assert_eq!(searches(), 2);
}

#[test]
fn nothing_that_was_built_stays_where_too_few_vectors_are_left() {
    for (from, left) in [(0, 0), (2, 1)] {
        let (store, watched) = (store(&chat()), Watched { from, ..Watched::default() });
        let recall = recall(&store).with_vector_search(VectorSearch::Built(Arc::new(watched.clone())));
        let held = || Arc::strong_count(&watched.searches);
        let before = held();
        let _steps = build(&recall);
        assert!(held() > before);
        (left..ROWS as usize).for_each(|row| erase(&store, place(row)));
        assert_eq!(build(&recall), 1);
        assert_eq!(held(), before, "{left} of the events are left");
    }
}

#[test]
fn what_was_built_is_dropped_when_it_shall_be_and_built_anew() {
    let (store, watched) = (store(&chat()), Watched::default());
    let searches = || watched.searches.load(Ordering::Relaxed);
    let recall = recall(&store).with_vector_search(VectorSearch::Built(Arc::new(watched.clone())));
    let held = || Arc::strong_count(&watched.searches);
    let before = held();
    let steps = build(&recall);
    assert!(held() > before);
    recall.drop_built();
    assert_eq!(held(), before);
    assert_eq!((ask(&recall, &by_meaning("astronomy")).0[0], searches()), (place(1), 0));
    assert_eq!(build(&recall), steps);
    assert_eq!((ask(&recall, &by_meaning("astronomy")).0[0], searches()), (place(1), 1));
}

/// An index during whose answers everything that was built is dropped.
#[derive(Debug)]
struct Dropping {
    store: MemoryStore,
    of: OnceLock<Weak<Recall>>,
}

#[async_trait]
impl IndexStore for Dropping {
    async fn mark(&self) -> Result<IndexMark> {
        if let Some(recall) = self.of.get().and_then(Weak::upgrade) {
            recall.drop_built();
        }
        IndexStore::mark(&self.store).await
    }

    async fn load(&self, after: Cursor, limit: NonZeroUsize) -> Result<Vec<IndexBlock>> {
        IndexStore::load(&self.store, after, limit).await
    }

    async fn put_vectors(&self, model: &ModelId, rows: &[(EventId, Vector)]) -> Result<u64> {
        IndexStore::put_vectors(&self.store, model, rows).await
    }
}

#[test]
fn a_step_that_began_before_an_erasure_adds_nothing_of_what_it_has_read() {
    let store = store(&chat());
    let dropping = Arc::new(Dropping { store: store.clone(), of: OnceLock::new() });
    let (watched, index) = (Watched::default(), Arc::<Dropping>::clone(&dropping) as Arc<dyn IndexStore>);
    let search = VectorSearch::Built(Arc::new(watched.clone()));
    let recall = Arc::new(over(&store, index.into(), embedder()).with_vector_search(search));
    dropping.of.set(Arc::downgrade(&recall)).unwrap();
    let before = Arc::strong_count(&watched.searches);
    assert!(ready(recall.build_vectors(SOME)).unwrap() > 0, "all of them are lacking");
    assert_eq!(Arc::strong_count(&watched.searches), before);
}

#[test]
fn each_model_that_is_searched_has_an_index_of_its_own() {
    let (store, watched) = (store(&chat()), Watched::default());
    let searches = || watched.searches.load(Ordering::Relaxed);
    let model = ModelId::new("other-1").unwrap();
    let rows: Vec<(EventId, Vector)> =
        (0..ROWS as usize).map(|row| (place(row), Vector::from_unit(&[0.6, 0.8]).unwrap())).collect();
    ready(IndexStore::put_vectors(&store, &model, &rows)).unwrap();
    let recall = recall(&store).with_vector_search(VectorSearch::Built(Arc::new(watched.clone())));
    let own = by_meaning("astronomy");
    let other = RecallRequest { query_vector: Some((model, vec![0.6, 0.8])), ..by_meaning("astronomy") };
    let asked = || (ask(&recall, &own).0[0], ask(&recall, &other).0.is_empty());
    assert_eq!((asked(), searches()), ((place(1), false), 0));
    let _steps = build(&recall);
    assert_eq!((asked(), searches()), ((place(1), false), 2));
    assert_eq!(build(&recall), 1);
    assert_eq!((asked(), searches()), ((place(1), false), 4));
}

#[test]
fn of_many_models_only_those_searched_last_have_an_index() {
    let (store, watched) = (store(&chat()), Watched::default());
    let recall = recall(&store).with_vector_search(VectorSearch::Built(Arc::new(watched.clone())));
    let held = || Arc::strong_count(&watched.searches);
    let none = held();
    let _steps = build(&recall);
    let own = held() - none;
    let mut most = 0;
    for number in 0..9 {
        let model = ModelId::new(format!("other-{number}")).unwrap();
        let rows: Vec<(EventId, Vector)> =
            (0..ROWS as usize).map(|row| (place(row), Vector::from_unit(&[0.6, 0.8]).unwrap())).collect();
        ready(IndexStore::put_vectors(&store, &model, &rows)).unwrap();
        let vector = Some((model, vec![0.6, 0.8]));
        let _found = ask(&recall, &RecallRequest { query_vector: vector, ..by_meaning("astronomy") });
        let _steps = build(&recall);
        most = most.max(held() - none);
    }
    assert_eq!((held() - none, most), (5 * own, 5 * own), "the embedder's and the last four");
}

#[test]
fn what_a_filter_excludes_is_not_found_even_if_an_index_ignores_the_filter() {
    let (store, watched) = (store(&chat()), Watched::default());
    let recall = recall(&store).with_vector_search(VectorSearch::Built(Arc::new(watched.clone())));
    let _steps = build(&recall);
    let filter = EventFilter { session: Within::Only(SessionId::new("two").unwrap()), ..EventFilter::live() };
    let (_, found, _) = ask(&recall, &RecallRequest { filter, ..by_meaning("astronomy") });
    assert!(watched.searches.load(Ordering::Relaxed) > 0);
    assert!(found.hits.iter().all(|hit| hit.event.body().unwrap().session.as_str() == "two"));
}

#[test]
fn a_small_space_and_the_other_kinds_of_search_get_no_index() {
    let store = store(&chat());
    let small = Watched { from: 23, ..Watched::default() };
    let searches = [VectorSearch::Built(Arc::new(small.clone())), VectorSearch::Flat, VectorSearch::SignBits];
    for search in searches {
        let recall = recall(&store).with_vector_search(search);
        assert_eq!(build(&recall), 1);
        assert_eq!(ask(&recall, &by_meaning("astronomy")).0[0], place(1));
    }
    assert_eq!(small.searches.load(Ordering::Relaxed), 0);
}

#[cfg(feature = "hnsw")]
#[test]
fn a_graph_answers_as_the_scan_does() {
    let store = store(&chat());
    let graph = VectorSearch::Built(Arc::new(crate::HnswFactory { from: 1 }));
    let (graph, scan) =
        (recall(&store).with_vector_search(graph), recall(&store).with_vector_search(VectorSearch::Flat));
    let _steps = build(&graph);
    for (question, _) in QUESTIONS {
        let request = RecallRequest::new(question);
        assert_eq!(ask(&graph, &request).0, ask(&scan, &request).0, "{question}");
    }
    erase(&store, place(1));
    let _steps = build(&graph);
    assert_eq!(ask(&graph, &by_meaning("astronomy")).0, ask(&scan, &by_meaning("astronomy")).0);
}

/// The stored postings without those of one term.
#[derive(Debug)]
struct Without(TermHash);

#[derive(Debug)]
struct Rest {
    blocks: Vec<Arc<IndexBlock>>,
    without: TermHash,
}

impl LexicalIndexFactory for Without {
    fn index(&self, blocks: &[Arc<IndexBlock>]) -> Arc<dyn LexicalIndex> {
        Arc::new(Rest { blocks: blocks.to_vec(), without: self.0 })
    }
}

impl LexicalIndex for Rest {
    fn rows(&self) -> u32 {
        self.blocks.iter().map(|block| u32::try_from(block.len()).unwrap()).sum()
    }

    fn frequency(&self, term: TermHash) -> u32 {
        let mut rows = 0;
        self.visit(term, &mut |_, postings| rows += u32::try_from(postings.len()).unwrap());
        rows
    }

    fn visit<'a>(&'a self, term: TermHash, run: &mut dyn FnMut(u32, &'a [Posting])) {
        let mut first = 0;
        for block in self.blocks.iter().filter(|_| term != self.without) {
            let postings = block.postings(term);
            if !postings.is_empty() {
                run(first, postings);
            }
            first += u32::try_from(block.len()).unwrap();
        }
    }
}

#[test]
fn a_lexical_index_of_the_host_is_searched_in_place_of_the_stored_one() {
    let store = store(&chat());
    let word = query("cactus").words[0];
    let request = RecallRequest { mode: Mode::Lexical, ..RecallRequest::new("cactus") };
    assert!(ask(&recall(&store), &request).1.hits.iter().any(|hit| hit.found_by == MatchReason::Words));
    let without = recall(&store).with_lexical_index(Arc::new(Without(word)));
    assert!(ask(&without, &request).1.hits.iter().all(|hit| hit.found_by != MatchReason::Words));
    let tomatoes = RecallRequest { mode: Mode::Lexical, ..RecallRequest::new("tomatoes") };
    assert_eq!(ask(&without, &tomatoes).0, ask(&recall(&store), &tomatoes).0);
    append(&store, &[turn("four", "Ada", "Another row of tomatoes")], embedder());
    assert!(ask(&without, &tomatoes).0.contains(&place(22)), "a new state of the space has its own index");
}

mod rest {
    crate::lexical_index_conformance!(|blocks: Vec<mnemal_core::IndexBlock>| super::Rest {
        blocks: blocks.into_iter().map(std::sync::Arc::new).collect(),
        without: mnemal_core::TermHash(u64::MAX),
    });
}
