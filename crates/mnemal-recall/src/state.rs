//! Keeps the index in memory level with the store, shared by all readers of a space.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mnemal_core::{Cursor, IndexBlock, IndexMark, IndexStore, ModelId, Result, Seq};
use mnemal_text::Analyzer;

use crate::best::Best;
use crate::lexical::LexicalIndex as _;
use crate::memory::MemoryIndex;
use crate::pause::pause;
use crate::rows::RowSet;
use crate::sign_bits::{SIGN_BITS_FROM, SignBits};
use crate::vector::{FlatIndex, Near, QueryVector, VectorIndex};

/// Rows that one step of catching up asks for. Source: own choice; eight blocks are taken over in less than 5 ms.
const STEP: NonZeroUsize = NonZeroUsize::new(8_192).expect("it is not zero");
/// One part in so many rows may be newer than the sign bits before they are made anew. Source: own choice.
const FRESH_PART: u32 = 8;

/// Which erasures and late vectors an index knows of; counts up in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Generation {
    forgets: u64,
    vectors: u64,
}

impl Generation {
    fn of(mark: &IndexMark) -> Self {
        Self { forgets: mark.forgets, vectors: mark.vectors }
    }

    fn is_behind(self, other: Self) -> bool {
        self.forgets < other.forgets || self.vectors < other.vectors
    }

    fn with(self, other: Self) -> Self {
        Self { forgets: self.forgets.max(other.forgets), vectors: self.vectors.max(other.vectors) }
    }
}

#[derive(Debug, Default)]
struct State {
    generation: Generation,
    /// Everything up to here is in the index, or is in no index.
    seen: Cursor,
    index: Arc<MemoryIndex>,
    signs: Option<Signs>,
    searches: u64,
}

/// Sign bits of the first rows of the index.
#[derive(Clone, Debug)]
struct Signs {
    model: ModelId,
    rows: u32,
    bits: Arc<SignBits>,
}

/// The index as it was at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) index: Arc<MemoryIndex>,
    pub(crate) head: Cursor,
    generation: Generation,
}

/// The shared index. No lock is held while anything waits.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    analyzer: Analyzer,
}

impl Shared {
    pub(crate) fn new(analyzer: Analyzer) -> Self {
        Self { state: Mutex::default(), analyzer }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index as it is now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let state = self.state();
        Snapshot { index: Arc::clone(&state.index), head: state.seen, generation: state.generation }
    }

    /// Loads what the store has and the index lacks, and starts anew after an erasure or late vectors.
    ///
    /// Readers that catch up at the same time share what each of them loads. A dropped future leaves a part of the index,
    /// which the next one completes.
    pub(crate) async fn caught_up(&self, store: &dyn IndexStore) -> Result<Snapshot> {
        let mark = store.mark().await?;
        while let Some((after, generation)) = self.missing(&mark) {
            let blocks = store.load(after, STEP).await?;
            self.take(blocks, (after, generation), &mark);
            pause().await;
        }
        Ok(self.snapshot())
    }

    /// Where loading must go on, and for which generation; `None` when nothing is missing.
    fn missing(&self, mark: &IndexMark) -> Option<(Cursor, Generation)> {
        let mut state = self.state();
        let generation = Generation::of(mark);
        if state.generation.is_behind(generation) {
            *state = State {
                generation: state.generation.with(generation),
                searches: state.searches,
                ..State::default()
            };
        }
        (state.seen.count() < mark.head.count()).then_some((state.seen, state.generation))
    }

    /// Takes blocks over, unless another reader was quicker or something was erased since they were asked for.
    fn take(&self, blocks: Vec<IndexBlock>, (after, generation): (Cursor, Generation), mark: &IndexMark) {
        let mut state = self.state();
        if state.generation != generation || state.seen != after {
            return;
        }
        let loaded: usize = blocks.iter().map(IndexBlock::len).sum();
        if loaded > 0 {
            let index = Arc::make_mut(&mut state.index);
            for block in blocks {
                index.push(block, self.analyzer);
            }
        }
        let head = state.index.head();
        let reached = if loaded < STEP.get() { mark.head.count().max(head.count()) } else { head.count() };
        state.seen = Cursor((reached > 0).then_some(Seq(reached)));
    }

    /// Returns how the vectors of a model are searched best.
    ///
    /// Many vectors get sign bits at the second search of a process, because a process that asks once is done sooner without.
    pub(crate) async fn vectors(&self, snapshot: &Snapshot, model: &ModelId, dimensions: usize) -> Vectors {
        let flat = FlatIndex::over(&snapshot.index, model);
        if snapshot.index.vectors_of(model) < SIGN_BITS_FROM {
            return Vectors { flat, signs: None };
        }
        let (known, is_first) = self.signs(snapshot, model);
        if known.is_some() || is_first {
            return Vectors { flat, signs: known };
        }
        let bits = Arc::new(SignBits::built(flat.clone(), dimensions).await);
        let signs = Signs { model: model.clone(), rows: snapshot.index.rows(), bits };
        let mut state = self.state();
        if state.generation == snapshot.generation {
            state.signs = Some(signs.clone());
        }
        drop(state);
        Vectors { flat, signs: Some((signs.rows, signs.bits)) }
    }

    fn signs(&self, snapshot: &Snapshot, model: &ModelId) -> (Option<(u32, Arc<SignBits>)>, bool) {
        let mut state = self.state();
        state.searches += 1;
        let rows = snapshot.index.rows();
        let fits = |signs: &&Signs| {
            signs.model == *model && signs.rows <= rows && rows - signs.rows <= rows / FRESH_PART
        };
        let is_same = state.generation == snapshot.generation;
        let known = state.signs.as_ref().filter(|_| is_same).filter(fits);
        (known.map(|signs| (signs.rows, Arc::clone(&signs.bits))), state.searches == 1)
    }
}

/// The vectors of one model: sign bits for the older rows where there are many, the codes themselves for the rest.
#[derive(Debug)]
pub(crate) struct Vectors {
    flat: FlatIndex,
    signs: Option<(u32, Arc<SignBits>)>,
}

impl Vectors {
    /// The cosine of two rows; `None` where one has no vector.
    pub(crate) fn between(&self, one: u32, other: u32) -> Option<f32> {
        self.flat.between(one, other)
    }
}

impl VectorIndex for Vectors {
    fn nearest(&self, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<Near> {
        let Some((rows, bits)) = &self.signs else { return self.flat.nearest(query, filter, limit) };
        let mut best = Best::new(limit);
        for near in bits.nearest(query, filter, limit).into_iter().filter(|near| near.row < *rows) {
            best.offer(near.cosine, near.row);
        }
        for near in self.flat.nearest_from(*rows, query, filter, limit) {
            best.offer(near.cosine, near.row);
        }
        best.into_sorted().into_iter().map(Near::from).collect()
    }

    fn cosine(&self, query: &QueryVector, row: u32) -> Option<f32> {
        self.flat.cosine(query, row)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use async_trait::async_trait;
    use mnemal_core::{EventId, Vector};

    use super::*;
    use crate::fixture::{block, chat, ready};

    /// A store whose forget generation can be raised, and which counts its loads.
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

        async fn load(&self, after: Cursor, _limit: NonZeroUsize) -> Result<Vec<IndexBlock>> {
            self.loads.fetch_add(1, Ordering::Relaxed);
            let blocks = self.blocks.lock().unwrap();
            let is_new = |block: &&IndexBlock| block.seqs.last().is_some_and(|seq| seq.0 > after.count());
            Ok(blocks.iter().filter(is_new).cloned().collect())
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
        let shared = Shared::default();
        assert_eq!(ready(shared.caught_up(&store)).unwrap().index.rows(), 10);
        assert_eq!(ready(shared.caught_up(&store)).unwrap().head.count(), 10);
        assert_eq!(store.loads.load(Ordering::Relaxed), 1);
        store.blocks.lock().unwrap().push(block(&turns[10..11], 11));
        assert_eq!(ready(shared.caught_up(&store)).unwrap().index.rows(), 11);
        assert_eq!(store.loads.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn an_erasure_starts_the_index_anew_and_old_snapshots_stay_whole() {
        let turns = chat();
        let store = Counting::default();
        store.blocks.lock().unwrap().push(block(&turns, 1));
        let shared = Shared::default();
        let before = ready(shared.caught_up(&store)).unwrap();
        *store.blocks.lock().unwrap() = vec![block(&turns[..5], 1), block(&turns[6..], 7)];
        store.forgets.store(1, Ordering::Relaxed);
        let after = ready(shared.caught_up(&store)).unwrap();
        assert_eq!((before.index.rows(), after.index.rows()), (22, 21));
    }

    #[test]
    fn blocks_that_were_asked_for_before_an_erasure_are_not_taken_over() {
        let store = Counting::default();
        store.blocks.lock().unwrap().push(block(&chat(), 1));
        let shared = Shared::default();
        let old = ready(store.mark()).unwrap();
        let asked = shared.missing(&old).unwrap();
        let new = IndexMark { forgets: 1, ..old };
        assert!(shared.missing(&new).is_some());
        shared.take(vec![block(&chat(), 1)], asked, &old);
        assert_eq!(shared.snapshot().index.rows(), 0);
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
            let vectors = Vectors { flat: flat.clone(), signs: Some((rows, Arc::clone(&bits))) };
            assert_eq!(vectors.nearest(&query, &filter, 20), expected, "{rows} rows have sign bits");
        }
    }
}
