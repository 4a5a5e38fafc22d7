//! Index synchronization with the store, shared by all readers of a space.
//!
//! An answer loads at most as many rows as its caller allows. If a newly opened space has more, the newest rows are loaded
//! first and answer meanwhile; each call continues with the rest, oldest first, until both meet.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mnemal_core::{Cursor, IndexBlock, IndexMark, IndexStore, ModelId, Result, Seq};
use mnemal_text::Analyzer;

use crate::built::{BuiltVectors, OwnLexical};
use crate::index_ports::VectorSearch;
use crate::lexical::LexicalIndex as _;
use crate::memory::{MemoryIndex, PlacedBlock};
use crate::pause::pause;
use crate::sign_bits::{SIGN_BITS_FROM, SignBits, Vectors};
use crate::vector::{FlatIndex, VectorIndex};

/// Rows per step of synchronization. Source: own choice; eight blocks are loaded in less than 5 ms.
const STEP: NonZeroUsize = NonZeroUsize::new(8_192).expect("it is not zero");
/// Fraction of rows, one in this many, that may be newer than the sign bits before these are rebuilt. Source: own choice.
const FRESH_PART: u32 = 8;

/// Version of an index by erasures and late vectors; increases with both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Generation {
    forgets: u64,
    vectors: u64,
}

impl Generation {
    fn of(mark: &IndexMark) -> Self {
        Self { forgets: mark.forgets, vectors: mark.vectors }
    }

    pub(crate) fn is_behind(self, other: Self) -> bool {
        self.forgets < other.forgets || self.vectors < other.vectors
    }

    /// Whether nothing was erased between both, so that rows keep their numbers.
    pub(crate) fn has_the_rows_of(self, other: Self) -> bool {
        self.forgets == other.forgets
    }

    fn with(self, other: Self) -> Self {
        Self { forgets: self.forgets.max(other.forgets), vectors: self.vectors.max(other.vectors) }
    }
}

#[derive(Debug, Default)]
struct State {
    generation: Generation,
    /// From the beginning of the log.
    whole: IndexRange,
    /// The newest rows, until an opened space is fully loaded.
    newest: Option<IndexRange>,
    columns: Option<Columns>,
    signs: Option<CachedSignBits>,
    searches: u64,
}

/// The vector columns of an index, while it is current.
#[derive(Clone, Debug)]
struct Columns {
    model: ModelId,
    of: Weak<MemoryIndex>,
    found: FlatIndex,
}

/// An index of the rows after a position.
#[derive(Clone, Debug, Default)]
struct IndexRange {
    /// Its start position.
    after: Cursor,
    /// Everything from the start up to here is indexed, or not indexable.
    seen: Cursor,
    index: Arc<MemoryIndex>,
}

impl IndexRange {
    fn behind(after: Cursor) -> Self {
        Self { after, seen: after, index: Arc::default() }
    }

    fn is_level(&self, head: Cursor) -> bool {
        self.seen.count() >= head.count()
    }

    /// Adds blocks; if they have fewer rows than `asked`, the head is reached.
    fn add_blocks(&mut self, blocks: Vec<IndexBlock>, asked: usize, head: Cursor, analyzer: Analyzer) {
        let loaded = rows(&blocks);
        if loaded > 0 {
            let index = Arc::make_mut(&mut self.index);
            for block in blocks {
                index.push(block, analyzer);
            }
        }
        let last = self.index.head().count();
        let reached = if loaded < asked { head.count().max(last) } else { last };
        self.seen = Cursor((reached > 0).then_some(Seq(reached)));
    }

    /// Appends the rows of a later stretch, once this one has reached it; a block that begins within this one completes it.
    fn join(&mut self, later: &Self, analyzer: Analyzer) {
        if !self.is_level(later.after) {
            return;
        }
        let index = Arc::make_mut(&mut self.index);
        for PlacedBlock { block, .. } in &later.index.blocks {
            let (Some(first), Some(last)) = (block.seqs.first(), block.seqs.last()) else { continue };
            if first.0 <= self.seen.count() && last.0 > self.seen.count() {
                return;
            }
            if first.0 > self.seen.count() {
                index.push(Arc::clone(block), analyzer);
                self.seen = Cursor(Some(*last));
            }
        }
        self.seen = self.seen.max(later.seen);
    }
}

fn rows(blocks: &[IndexBlock]) -> usize {
    blocks.iter().map(IndexBlock::len).sum()
}

impl State {
    /// The stretch that answers now.
    fn answers(&self) -> &IndexRange {
        self.newest.as_ref().unwrap_or(&self.whole)
    }

    /// The stretch to load next, and how many rows of it are useful.
    fn loads(&mut self, head: Cursor) -> (&mut IndexRange, usize) {
        let Self { newest, whole, .. } = self;
        let Some(newest) = newest else { return (whole, usize::MAX) };
        if !newest.is_level(head) {
            return (newest, usize::MAX);
        }
        let missing = usize::try_from(whole.seen.behind(newest.after)).unwrap_or(usize::MAX);
        (whole, if missing > 0 { missing } else { usize::MAX })
    }

    /// Joins the newest rows to the others when these have reached them, and drops them once those are current.
    fn settle(&mut self, head: Cursor, analyzer: Analyzer) {
        let Some(newest) = self.newest.take() else { return };
        self.whole.join(&newest, analyzer);
        self.newest = Some(newest).filter(|_| !self.whole.is_level(head));
    }
}

/// Sign bits of the first rows of the index.
#[derive(Clone, Debug)]
struct CachedSignBits {
    model: ModelId,
    rows: u32,
    bits: Arc<SignBits>,
}

/// The index at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) index: Arc<MemoryIndex>,
    pub(crate) head: Cursor,
    /// Events not loaded, because loading them would have taken too long.
    pub(crate) lacks: u64,
    pub(crate) generation: Generation,
}

/// Position to continue loading from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoadRequest {
    /// Start of the stretch.
    of: Cursor,
    /// The position after which to load.
    after: Cursor,
    /// Useful rows.
    rows: usize,
    generation: Generation,
}

/// The shared index. No lock is held across an await.
#[derive(Debug, Default)]
pub(crate) struct SharedIndex {
    state: Mutex<State>,
    analyzer: Analyzer,
    pub(crate) search: VectorSearch,
    pub(crate) built: BuiltVectors,
    pub(crate) lexical: OwnLexical,
}

impl SharedIndex {
    pub(crate) fn new(analyzer: Analyzer) -> Self {
        Self { analyzer, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current index; missing events are counted up to `head`.
    pub(crate) fn snapshot(&self, head: Cursor) -> Snapshot {
        let state = self.state();
        let IndexRange { after, seen, index } = state.answers();
        let lacks = after.count() + seen.behind(head);
        Snapshot { index: Arc::clone(index), head: *seen, lacks, generation: state.generation }
    }

    /// Loads new rows from the store, about `most` of them, and starts again after an erasure or late vectors.
    ///
    /// Concurrent readers share the rows that each of them loads. If the future is dropped, the loaded part is kept, and
    /// the next call completes it.
    pub(crate) async fn caught_up(&self, store: &dyn IndexStore, most: NonZeroUsize) -> Result<Snapshot> {
        let mark = store.mark().await?;
        let mut left = most.get();
        while let Some(request) = self.next_load(&mark, most)
            && let Some(step) = NonZeroUsize::new(left.min(STEP.get()).min(request.rows))
        {
            let blocks = store.load(request.after, step).await?;
            left = left.saturating_sub(rows(&blocks));
            self.add_blocks(blocks, step, request, &mark);
            pause().await;
        }
        Ok(self.snapshot(mark.head))
    }

    /// The next rows to load; `None` if nothing is missing.
    fn next_load(&self, mark: &IndexMark, most: NonZeroUsize) -> Option<LoadRequest> {
        let mut state = self.state();
        let generation = Generation::of(mark);
        if state.generation.is_behind(generation) {
            *state = State {
                generation: state.generation.with(generation),
                searches: state.searches,
                ..State::default()
            };
        }
        if state.whole.is_level(mark.head) {
            state.newest = None;
            return None;
        }
        let before = mark.head.count().saturating_sub(most.get() as u64);
        if before > 0 && state.newest.is_none() && state.whole.seen == Cursor::START {
            state.newest = Some(IndexRange::behind(Cursor(Some(Seq(before)))));
        }
        let generation = state.generation;
        let (IndexRange { after: of, seen: after, .. }, rows) = state.loads(mark.head);
        Some(LoadRequest { of: *of, after: *after, rows, generation })
    }

    /// Adds blocks, unless another reader was faster or an erasure happened since the request.
    fn add_blocks(
        &self,
        blocks: Vec<IndexBlock>,
        asked: NonZeroUsize,
        request: LoadRequest,
        mark: &IndexMark,
    ) {
        let mut state = self.state();
        let generation = state.generation;
        let (range, rows) = state.loads(mark.head);
        if (LoadRequest { of: range.after, after: range.seen, rows, generation }) == request {
            range.add_blocks(blocks, asked.get(), mark.head, self.analyzer);
        }
        state.settle(mark.head, self.analyzer);
    }

    /// Returns the best search engine for the vectors of a model.
    ///
    /// A large index gets sign bits at the second search of a process, because a process with a single query is faster
    /// without; an index that is not fully loaded gets none.
    pub(crate) async fn vectors(&self, snapshot: &Snapshot, model: &ModelId, dimensions: usize) -> Vectors {
        let flat = self.flat(snapshot, model);
        match self.search {
            VectorSearch::Flat => return Vectors { flat, index: None },
            VectorSearch::Built(_) => {
                return Vectors { flat, index: self.built.ready(snapshot, model) };
            }
            VectorSearch::SignBits => {}
        }
        if snapshot.index.vectors_of(model) < SIGN_BITS_FROM || snapshot.lacks > 0 {
            return Vectors { flat, index: None };
        }
        let (known, is_first) = self.signs(snapshot, model);
        if known.is_some() || is_first {
            return Vectors { flat, index: known.map(|(rows, bits)| (rows, bits as Arc<dyn VectorIndex>)) };
        }
        let bits = Arc::new(SignBits::built(flat.clone(), dimensions).await);
        let signs = CachedSignBits { model: model.clone(), rows: snapshot.index.rows(), bits };
        let mut state = self.state();
        if state.generation == snapshot.generation {
            state.signs = Some(signs.clone());
        }
        drop(state);
        let bits: Arc<dyn VectorIndex> = signs.bits;
        Vectors { flat, index: Some((signs.rows, bits)) }
    }

    /// Finds the columns of a model, once per state of the index.
    pub(crate) fn flat(&self, snapshot: &Snapshot, model: &ModelId) -> FlatIndex {
        let of = Arc::downgrade(&snapshot.index);
        let fits = |columns: &&Columns| columns.model == *model && columns.of.ptr_eq(&of);
        if let Some(known) = self.state().columns.as_ref().filter(fits) {
            return known.found.clone();
        }
        let found = FlatIndex::over(&snapshot.index, model);
        self.state().columns = Some(Columns { model: model.clone(), of, found: found.clone() });
        found
    }

    fn signs(&self, snapshot: &Snapshot, model: &ModelId) -> (Option<(u32, Arc<SignBits>)>, bool) {
        let mut state = self.state();
        state.searches += 1;
        let rows = snapshot.index.rows();
        let fits = |signs: &&CachedSignBits| {
            signs.model == *model && signs.rows <= rows && rows - signs.rows <= rows / FRESH_PART
        };
        let is_same = state.generation == snapshot.generation;
        let known = state.signs.as_ref().filter(|_| is_same).filter(fits);
        (known.map(|signs| (signs.rows, Arc::clone(&signs.bits))), state.searches == 1)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use async_trait::async_trait;
    use mnemal_core::{EventId, Vector};

    use super::*;
    use crate::fixture::{block, chat, ready};
    use crate::rows::RowSet;
    use crate::vector::QueryVector;

    /// A store with a settable forget generation that counts its loads.
    #[derive(Debug, Default)]
    struct Counting {
        blocks: Mutex<Vec<IndexBlock>>,
        forgets: AtomicU64,
        loads: AtomicU64,
    }

    #[async_trait]
    impl IndexStore for Counting {
        async fn mark(&self) -> Result<IndexMark> {
            let blocks = self.blocks.lock().unwrap();
            let head = Cursor(blocks.last().and_then(|block| block.seqs.last().copied()));
            Ok(IndexMark { head, forgets: self.forgets.load(Ordering::Relaxed), vectors: 0 })
        }

        async fn load(&self, after: Cursor, limit: NonZeroUsize) -> Result<Vec<IndexBlock>> {
            self.loads.fetch_add(1, Ordering::Relaxed);
            let blocks = self.blocks.lock().unwrap();
            let is_new = |block: &&IndexBlock| block.seqs.last().is_some_and(|seq| seq.0 > after.count());
            let mut missing = limit.get();
            let mut is_asked = |block: &&IndexBlock| {
                let is_asked = missing > 0;
                missing = missing.saturating_sub(block.len());
                is_asked
            };
            Ok(blocks.iter().filter(is_new).take_while(|block| is_asked(block)).cloned().collect())
        }

        async fn put_vectors(&self, _model: &ModelId, _rows: &[(EventId, Vector)]) -> Result<u64> {
            Ok(0)
        }
    }

    #[test]
    fn an_index_that_is_level_loads_nothing_and_a_new_row_only_itself() {
        let turns = chat();
        let store = Counting::default();
        store.blocks.lock().unwrap().push(block(&turns[..10], 1));
        let shared = SharedIndex::default();
        assert_eq!(ready(shared.caught_up(&store, NonZeroUsize::MAX)).unwrap().index.rows(), 10);
        assert_eq!(ready(shared.caught_up(&store, NonZeroUsize::MAX)).unwrap().head.count(), 10);
        assert_eq!(store.loads.load(Ordering::Relaxed), 1);
        store.blocks.lock().unwrap().push(block(&turns[10..11], 11));
        assert_eq!(ready(shared.caught_up(&store, NonZeroUsize::MAX)).unwrap().index.rows(), 11);
        assert_eq!(store.loads.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn an_erasure_starts_the_index_anew_and_old_snapshots_stay_whole() {
        let turns = chat();
        let store = Counting::default();
        store.blocks.lock().unwrap().push(block(&turns, 1));
        let shared = SharedIndex::default();
        let before = ready(shared.caught_up(&store, NonZeroUsize::MAX)).unwrap();
        *store.blocks.lock().unwrap() = vec![block(&turns[..5], 1), block(&turns[6..], 7)];
        store.forgets.store(1, Ordering::Relaxed);
        let after = ready(shared.caught_up(&store, NonZeroUsize::MAX)).unwrap();
        assert_eq!((before.index.rows(), after.index.rows()), (22, 21));
    }

    #[test]
    fn blocks_that_were_asked_for_before_an_erasure_are_not_taken_over() {
        let store = Counting::default();
        store.blocks.lock().unwrap().push(block(&chat(), 1));
        let shared = SharedIndex::default();
        let old = ready(store.mark()).unwrap();
        let asked = shared.next_load(&old, NonZeroUsize::MAX).unwrap();
        let new = IndexMark { forgets: 1, ..old };
        assert!(shared.next_load(&new, NonZeroUsize::MAX).is_some());
        shared.add_blocks(vec![block(&chat(), 1)], STEP, asked, &old);
        assert_eq!(shared.snapshot(old.head).index.rows(), 0);
    }

    /// The chat in blocks of one row.
    fn rows_of_one() -> Vec<IndexBlock> {
        let turns = chat();
        (1..).zip(turns.chunks(1)).map(|(seq, turn)| block(turn, seq)).collect()
    }

    /// The state of a snapshot: rows, newest position, and missing events.
    fn seen(snapshot: &Snapshot) -> (u32, u64, u64) {
        (snapshot.index.rows(), snapshot.head.count(), snapshot.lacks)
    }

    #[test]
    fn the_first_answers_of_a_large_space_know_the_newest_rows_and_say_what_they_lack() {
        let store = Counting { blocks: Mutex::new(rows_of_one()), ..Counting::default() };
        let (shared, most) = (SharedIndex::default(), NonZeroUsize::new(8).unwrap());
        let ask = || seen(&ready(shared.caught_up(&store, most)).unwrap());
        assert_eq!(ask(), (8, 22, 14));
        assert_eq!(shared.snapshot(Cursor(Some(Seq(22)))).index.event(0), Some(crate::fixture::id(15)));
        store.blocks.lock().unwrap().push(block(&chat()[..1], 23));
        assert_eq!(ask(), (9, 23, 14), "what is new is known at once, and seven others are loaded meanwhile");
        assert_eq!(ask(), (23, 23, 0), "and then all of it");
        let whole = shared.snapshot(Cursor::START).index;
        assert!((0..23).all(|row| whole.event(row) == Some(crate::fixture::id(u64::from(row) + 1))));
        let loads = store.loads.load(Ordering::Relaxed);
        assert_eq!(ask(), (23, 23, 0));
        assert_eq!(store.loads.load(Ordering::Relaxed), loads);
    }

    #[test]
    fn an_erasure_while_a_space_is_loaded_starts_both_parts_anew() {
        let store = Counting { blocks: Mutex::new(rows_of_one()), ..Counting::default() };
        let (shared, most) = (SharedIndex::default(), NonZeroUsize::new(8).unwrap());
        let ask = || seen(&ready(shared.caught_up(&store, most)).unwrap());
        assert_eq!(ask(), (8, 22, 14));
        store.blocks.lock().unwrap().remove(20);
        store.forgets.store(1, Ordering::Relaxed);
        assert_eq!(ask(), (7, 22, 14), "the row that was erased is gone at once");
        let (_second, _third) = (ask(), ask());
        assert_eq!(ask(), (21, 22, 0));
    }

    #[test]
    fn a_long_tail_is_loaded_in_parts_and_what_was_known_still_answers() {
        let mut rows = rows_of_one();
        let tail = rows.split_off(4);
        let store = Counting { blocks: Mutex::new(rows), ..Counting::default() };
        let (shared, most) = (SharedIndex::default(), NonZeroUsize::new(8).unwrap());
        let ask = || seen(&ready(shared.caught_up(&store, most)).unwrap());
        assert_eq!(ask(), (4, 4, 0));
        store.blocks.lock().unwrap().extend(tail);
        assert_eq!(ask(), (12, 12, 10));
        assert_eq!(ask(), (20, 20, 2));
        assert_eq!(ask(), (22, 22, 0));
    }

    #[test]
    fn rows_newer_than_the_sign_bits_are_found_too() {
        let blocks = crate::conformance::blocks();
        let mut index = MemoryIndex::default();
        for block in blocks {
            index.push(block, Analyzer::default());
        }
        let flat = FlatIndex::over(&index, &crate::conformance::model());
        let bits = Arc::new(SignBits::new(flat.clone(), 16));
        let query = QueryVector::new(&[1.0; 16]).unwrap();
        let filter = RowSet::all(index.rows());
        let expected = flat.nearest(&query, &filter, 20);
        for rows in [0, 100, 121, 300] {
            let signs: Arc<dyn VectorIndex> = Arc::<SignBits>::clone(&bits);
            let vectors = Vectors { flat: flat.clone(), index: Some((rows, signs)) };
            assert_eq!(vectors.nearest(&query, &filter, 20), expected, "{rows} rows have sign bits");
        }
    }

    #[test]
    fn columns_are_found_once_and_again_when_the_index_has_grown() {
        let (turns, model) = (chat(), ModelId::new("m").unwrap());
        let with_vector = |turn: usize| {
            let mut block = block(&turns[turn..=turn], turn as u64 + 1);
            let (model, codes) = (model.clone(), vec![i8::try_from(turn).unwrap() + 1; 4]);
            block.vectors =
                vec![mnemal_core::VectorColumn { model, dimensions: 4, scales: vec![0.1], codes }];
            block
        };
        let store = Counting { blocks: Mutex::new(vec![with_vector(0)]), ..Counting::default() };
        let shared = SharedIndex::default();
        let query = QueryVector::new(&[1.0; 4]).unwrap();
        let found = || {
            let snapshot = ready(shared.caught_up(&store, NonZeroUsize::MAX)).unwrap();
            let vectors = ready(shared.vectors(&snapshot, &model, 4));
            (0..3).filter(|row| vectors.cosine(&query, *row).is_some()).count()
        };
        assert_eq!((found(), found()), (1, 1));
        store.blocks.lock().unwrap().push(with_vector(1));
        assert_eq!((found(), found()), (2, 2));
    }
}
