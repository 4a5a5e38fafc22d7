//! Own indexes of one space: the vector index that is built in the background, and a lexical index of the host.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mnemal_core::{ModelId, Result};

use crate::index_ports::{LexicalIndexFactory, VectorIndexBuilder, VectorIndexFactory, VectorSearch};
use crate::lexical::LexicalIndex;
use crate::memory::MemoryIndex;
use crate::recall::Recall;
use crate::state::{Generation, Snapshot};
use crate::vector::{FlatIndex, VectorIndex};

/// The vector index that is built in the background. A read takes only locks that are held for a moment.
#[derive(Debug, Default)]
pub(crate) struct BuiltVectors {
    /// The model of the last search.
    searched: Mutex<Option<ModelId>>,
    /// Held during a step of the construction.
    growing: Mutex<Option<Growing>>,
    ready: Mutex<Option<Ready>>,
}

/// An index under construction.
#[derive(Debug)]
struct Growing {
    model: ModelId,
    dimensions: usize,
    builder: Box<dyn VectorIndexBuilder>,
}

/// A complete index of the first rows.
#[derive(Clone, Debug)]
struct Ready {
    model: ModelId,
    generation: Generation,
    rows: u32,
    index: Arc<dyn VectorIndex>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BuiltVectors {
    /// Returns the complete index for a model, and how many of the rows it covers.
    pub(crate) fn ready(&self, snapshot: &Snapshot, model: &ModelId) -> Option<(u32, Arc<dyn VectorIndex>)> {
        let mut searched = lock(&self.searched);
        if searched.as_ref() != Some(model) {
            *searched = Some(model.clone());
        }
        drop(searched);
        let mut ready = lock(&self.ready);
        // An erasure renumbers the rows, and what it erased must not stay in memory.
        if ready.as_ref().is_some_and(|known| known.generation.is_behind(snapshot.generation)) {
            *ready = None;
        }
        let found = ready.as_ref().filter(|known| known.covers_part_of(snapshot, model))?;
        Some((found.rows, Arc::clone(&found.index)))
    }

    /// Adds up to `most` vectors; returns how many are lacking then.
    fn step(
        &self,
        factory: &dyn VectorIndexFactory,
        (snapshot, flat): (&Snapshot, &FlatIndex),
        model: &ModelId,
        most: NonZeroUsize,
    ) -> usize {
        let Some(dimensions) = flat.columns().next().map(|(_, column)| column.dimensions) else { return 0 };
        let mut growing = lock(&self.growing);
        let known = growing.take().filter(|known| known.model == *model && known.dimensions == dimensions);
        let growing = growing.insert(known.unwrap_or_else(|| Growing {
            model: model.clone(),
            dimensions,
            builder: factory.builder(dimensions),
        }));
        let lacking = growing.builder.update(flat, most);
        let is_known = lock(&self.ready).as_ref().is_some_and(|known| known.covers_part_of(snapshot, model));
        if (lacking == 0 || !is_known)
            && let Some(index) = growing.builder.index()
        {
            let (rows, generation) = (snapshot.index.rows(), snapshot.generation);
            *lock(&self.ready) = Some(Ready { model: model.clone(), generation, rows, index });
        }
        lacking
    }
}

impl Ready {
    /// Whether its rows are the first ones of the snapshot.
    fn covers_part_of(&self, snapshot: &Snapshot, model: &ModelId) -> bool {
        // A space that is loaded in part numbers its rows from its newest part.
        snapshot.lacks == 0
            && self.model == *model
            && self.generation == snapshot.generation
            && self.rows <= snapshot.index.rows()
    }
}

/// An index of the host, with the state of the space that it is of.
type LexicalOfState = (Weak<MemoryIndex>, Arc<dyn LexicalIndex>);

/// A lexical index of the host, made once for each state of the space.
#[derive(Debug, Default)]
pub(crate) struct OwnLexical {
    factory: Option<Arc<dyn LexicalIndexFactory>>,
    made: Mutex<Option<LexicalOfState>>,
}

impl OwnLexical {
    pub(crate) fn new(factory: Arc<dyn LexicalIndexFactory>) -> Self {
        Self { factory: Some(factory), made: Mutex::default() }
    }

    /// Returns the index of the host; `None` if it has none.
    pub(crate) fn index(&self, of: &Arc<MemoryIndex>) -> Option<Arc<dyn LexicalIndex>> {
        let factory = self.factory.as_ref()?;
        let state = Arc::downgrade(of);
        if let Some((_, index)) = lock(&self.made).as_ref().filter(|(known, _)| known.ptr_eq(&state)) {
            return Some(Arc::clone(index));
        }
        let blocks: Vec<_> = of.blocks.iter().map(|placed| Arc::clone(&placed.block)).collect();
        let index = factory.index(&blocks);
        *lock(&self.made) = Some((state, Arc::clone(&index)));
        Some(index)
    }
}

impl Recall {
    /// Sets the search for the nearest vectors; by default sign bits.
    #[must_use]
    pub fn with_vector_search(mut self, search: VectorSearch) -> Self {
        self.shared.search = search;
        self
    }

    /// Sets the lexical index; by default one over the stored blocks as they are. Marks, names and neighbors are always
    /// read from those.
    #[must_use]
    pub fn with_lexical_index(mut self, factory: Arc<dyn LexicalIndexFactory>) -> Self {
        self.shared.lexical = OwnLexical::new(factory);
        self
    }

    /// Whether its vector index is built in the background.
    pub fn builds_vectors(&self) -> bool {
        matches!(self.shared.search, VectorSearch::Built(_))
    }

    /// Adds up to `most` vectors to the index that is built in the background, and returns how many it lacks then; 0 for
    /// the other kinds of search, and in a space that is too small for an index.
    ///
    /// It is built for the model of the last search, before the first one for that of the embedder. Until it is complete,
    /// answers scan all vectors. Call it from one task at a time, until it returns 0, and again when the log has grown.
    ///
    /// # Errors
    /// Those of the index store.
    pub async fn build_vectors(&self, most: NonZeroUsize) -> Result<usize> {
        let VectorSearch::Built(factory) = &self.shared.search else { return Ok(0) };
        let Ok(store) = self.parts.index.part() else { return Ok(0) };
        let searched = lock(&self.shared.built.searched).clone();
        let own = || self.parts.embedder.part().ok().map(|embedder| embedder.model().clone());
        let Some(model) = searched.or_else(own) else { return Ok(0) };
        let snapshot = self.whole_index(store).await?;
        if snapshot.index.vectors_of(&model) < factory.pays_from() {
            return Ok(0);
        }
        let flat = self.shared.flat(&snapshot, &model);
        Ok(self.shared.built.step(factory.as_ref(), (&snapshot, &flat), &model, most))
    }
}
