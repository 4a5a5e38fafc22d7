//! Own indexes of one space: the vector indexes that are built in the background, and a lexical index of the host.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mnemal_core::{ModelId, Result};

use crate::index_ports::{LexicalIndexFactory, VectorIndexBuilder, VectorIndexFactory, VectorSearch};
use crate::lexical::LexicalIndex;
use crate::memory::MemoryIndex;
use crate::recall::Recall;
use crate::state::{Generation, Snapshot};
use crate::vector::{FlatIndex, VectorIndex};

/// Most models of searches that have an index, besides that of the embedder. Source: own choice; while a space goes over to another
/// model it has two.
const SEARCHED: usize = 4;

/// The vector indexes that are built in the background, one for each model. A read takes only locks that are held for a
/// moment.
#[derive(Debug, Default)]
pub(crate) struct BuiltVectors {
    /// The models of the last searches, the latest last; at most [`SEARCHED`].
    searched: Mutex<Vec<ModelId>>,
    /// Locked during a step of the construction.
    growing: Mutex<Growing>,
    ready: Mutex<HashMap<ModelId, Ready>>,
}

/// The indexes under construction.
#[derive(Debug, Default)]
struct Growing {
    /// How often everything was dropped.
    drops: u64,
    by_model: HashMap<ModelId, GrowingIndex>,
}

/// An index under construction, of rows that keep their numbers.
#[derive(Debug)]
struct GrowingIndex {
    dimensions: usize,
    generation: Generation,
    builder: Box<dyn VectorIndexBuilder>,
}

/// A complete index of the first rows.
#[derive(Debug)]
struct Ready {
    generation: Generation,
    rows: u32,
    index: Arc<dyn VectorIndex>,
}

/// One step of the construction.
#[derive(Clone, Copy, Debug)]
struct Step<'a> {
    factory: &'a dyn VectorIndexFactory,
    snapshot: &'a Snapshot,
    /// How often everything had been dropped before the snapshot was taken.
    drops: u64,
    /// The most vectors to add.
    most: NonZeroUsize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BuiltVectors {
    /// Returns the complete index for a model, and how many of the rows it covers.
    pub(crate) fn ready(&self, snapshot: &Snapshot, model: &ModelId) -> Option<(u32, Arc<dyn VectorIndex>)> {
        // A name that no stored vector has is not worth remembering.
        if snapshot.index.vectors_of(model) > 0 {
            self.note_search(model);
        }
        let mut ready = lock(&self.ready);
        // An erasure renumbers the rows, and what it erased must not stay in memory.
        let is_outdated = |known: &Ready| known.generation.is_behind(snapshot.generation);
        let outdated = if ready.get(model).is_some_and(is_outdated) { ready.remove(model) } else { None };
        let covers = |known: &&Ready| known.covers_part_of(snapshot);
        let found = ready.get(model).filter(covers).map(|known| (known.rows, Arc::clone(&known.index)));
        // Dropping an index can take long, so other reads do not wait for it.
        drop(ready);
        drop(outdated);
        found
    }

    /// Remembers the model of a search, and forgets the one that was searched longest ago.
    fn note_search(&self, model: &ModelId) {
        let mut searched = lock(&self.searched);
        if searched.last() == Some(model) {
            return;
        }
        searched.retain(|known| known != model);
        searched.push(model.clone());
        let surplus = searched.len().saturating_sub(SEARCHED);
        searched.drain(..surplus);
    }

    /// Returns the models of the last searches that still have vectors.
    fn searched(&self, snapshot: &Snapshot) -> Vec<ModelId> {
        let mut searched = lock(&self.searched);
        searched.retain(|model| snapshot.index.vectors_of(model) > 0);
        searched.clone()
    }

    /// Drops what was built for other models than these.
    fn keep_only(&self, models: &[ModelId]) {
        let is_other = |model: &ModelId| !models.contains(model);
        let growing: Vec<_> = lock(&self.growing).by_model.extract_if(|model, _| is_other(model)).collect();
        let ready: Vec<_> = lock(&self.ready).extract_if(|model, _| is_other(model)).collect();
        drop((growing, ready));
    }

    /// Whether the index for a model is complete in this state of the space.
    fn is_complete(&self, snapshot: &Snapshot, model: &ModelId) -> bool {
        let is_whole = |known: &Ready| known.covers_part_of(snapshot) && known.rows == snapshot.index.rows();
        lock(&self.ready).get(model).is_some_and(is_whole)
    }

    /// Adds up to `step.most` vectors; returns how many are lacking then.
    fn grow(&self, step: &Step<'_>, model: &ModelId, flat: &FlatIndex) -> usize {
        let Some(dimensions) = flat.columns().next().map(|(_, column)| column.dimensions) else { return 0 };
        let generation = step.snapshot.generation;
        let mut growing = lock(&self.growing);
        if growing.drops != step.drops {
            // The rows may hold what was erased meanwhile; the next step reads them again.
            return step.snapshot.index.vectors_of(model) as usize;
        }
        let fits = |known: &GrowingIndex| {
            known.dimensions == dimensions && known.generation.has_the_rows_of(generation)
        };
        if !growing.by_model.get(model).is_some_and(fits) {
            let builder = step.factory.builder(dimensions);
            growing.by_model.insert(model.clone(), GrowingIndex { dimensions, generation, builder });
        }
        let Some(known) = growing.by_model.get_mut(model) else { return 0 };
        let lacking = known.builder.update(flat, step.most);
        if lacking == 0
            && let Some(index) = known.builder.index()
        {
            let ready = Ready { generation, rows: step.snapshot.index.rows(), index };
            let replaced = lock(&self.ready).insert(model.clone(), ready);
            drop(replaced);
        }
        lacking
    }

    /// How often everything was dropped.
    fn drops(&self) -> u64 {
        lock(&self.growing).drops
    }

    /// Drops what was built for a model.
    fn drop_model(&self, model: &ModelId) {
        let growing = lock(&self.growing).by_model.remove(model);
        let ready = lock(&self.ready).remove(model);
        drop((growing, ready));
    }

    /// Drops everything that was built; a step whose rows are older adds nothing any more.
    fn drop_all(&self) {
        let mut growing = lock(&self.growing);
        growing.drops += 1;
        let grown = std::mem::take(&mut growing.by_model);
        drop(growing);
        let ready = std::mem::take(&mut *lock(&self.ready));
        drop((grown, ready));
    }
}

impl Ready {
    /// Whether its rows are the first ones of the snapshot.
    fn covers_part_of(&self, snapshot: &Snapshot) -> bool {
        // A space that is loaded in part numbers its rows from its newest part.
        snapshot.lacks == 0 && self.generation == snapshot.generation && self.rows <= snapshot.index.rows()
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
        let replaced = lock(&self.made).replace((state, Arc::clone(&index)));
        drop(replaced);
        Some(index)
    }

    /// Drops the index that was made last.
    fn drop_made(&self) {
        let made = lock(&self.made).take();
        drop(made);
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

    /// Drops the indexes that were built, and that the host made, so that nothing of an erased event stays in them. Call it
    /// after an erasure; the next steps build them anew.
    ///
    /// In another process, the next search and the next step do so.
    pub fn drop_built(&self) {
        self.shared.built.drop_all();
        self.shared.lexical.drop_made();
    }

    /// Adds up to `most` vectors to an index that is built in the background, and returns how many that one lacks then; 0
    /// when all are complete, for the other kinds of search, and in a space that is too small for an index.
    ///
    /// There is an index for the model of the embedder, and for the four others that were searched last. Until it is complete,
    /// answers scan all vectors. Call it from one task at a time, until it returns 0, and again when the log has grown.
    ///
    /// # Errors
    /// Those of the index store.
    pub async fn build_vectors(&self, most: NonZeroUsize) -> Result<usize> {
        let VectorSearch::Built(factory) = &self.shared.search else { return Ok(0) };
        let Ok(store) = self.parts.index.part() else { return Ok(0) };
        let built = &self.shared.built;
        let drops = built.drops();
        let snapshot = self.whole_index(store).await?;
        let step = Step { factory: factory.as_ref(), snapshot: &snapshot, drops, most };
        let mut models = built.searched(&snapshot);
        let own = self.parts.embedder.part().ok().map(|embedder| embedder.model().clone());
        models.extend(own.filter(|own| !models.contains(own)));
        built.keep_only(&models);
        for model in &models {
            if snapshot.index.vectors_of(model) < factory.pays_from().max(1) {
                built.drop_model(model);
            } else if !built.is_complete(&snapshot, model) {
                let lacking = built.grow(&step, model, &self.shared.flat(&snapshot, model));
                if lacking > 0 {
                    return Ok(lacking);
                }
            }
        }
        Ok(0)
    }
}
