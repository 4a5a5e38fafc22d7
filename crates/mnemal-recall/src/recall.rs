//! Recall pipeline: load the index, search with every available arm, rank, and hydrate the hits.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{
    Cursor, Degraded, Embedder, Error, ErrorKind, Event, EventId, EventStore, Gap, GapCause, Gaps,
    GraphStore, IndexStore, Layer, LearningStore, ModelId, Result, Role, Seq, Slot, Timestamp, TokenCounter,
};
use mnemal_text::{Analyzer, Language};

use crate::evidence::DEFAULT_FLOOR;
use crate::graph::{GraphArm, GraphSignals, LOOKED_AT};
use crate::lexical::{self, LexicalIndex, LexicalScores};
use crate::note_status;
use crate::pause::pause;
use crate::question::Query;
use crate::request::{Mode, RecallRequest, RecallResult, UsedMode};
use crate::rows::RowSet;
use crate::search::{Arms, Search};
use crate::signal::Weights;
use crate::state::{SharedIndex, Snapshot};
use crate::vector::{QueryVector, VectorIndex};
use crate::{answer, filter, substring};

/// Fewest rows that each arm proposes. Source: own measurement; 50 lose .002 R@10, 200 gain nothing.
const CANDIDATES: usize = 100;
/// Newest events that the substring scan reads. Source: PB-30, the fallback when the index finds nothing.
pub const NEWEST_SCANNED: NonZeroUsize = NonZeroUsize::new(10_000).expect("it is not zero");

/// Most rows loaded during one answer. Source: measured, some 110 ms of processor time, once after a space is opened (ADR 14).
pub const AT_ONCE: NonZeroUsize = NonZeroUsize::new(131_072).expect("it is not zero");

/// The parts of recall, for one space.
#[derive(Clone, Debug)]
pub struct RecallParts {
    /// The store of index blocks.
    pub index: Slot<dyn IndexStore>,
    /// The store of event texts.
    pub events: Arc<dyn EventStore>,
    /// The graph of entities and facts; without it its signals do not count.
    pub graph: Slot<dyn GraphStore>,
    /// The status of note versions.
    pub learnings: Slot<dyn LearningStore>,
    /// The embedder of queries.
    pub embedder: Slot<dyn Embedder>,
    /// The token counter for hits; without it a token is assumed to have two bytes.
    pub counter: Slot<dyn TokenCounter>,
}

/// Recall settings.
#[derive(Clone, Debug)]
pub struct RecallSettings {
    /// Language of the analyzer; must match the indexing side.
    pub language: Language,
    /// Newest events that the substring scan reads.
    pub scanned: NonZeroUsize,
    /// Most index rows that one answer loads. If more are missing it reports how many, and later calls load the rest.
    pub at_once: NonZeroUsize,
    /// The weight of each signal in the score.
    pub weights: Weights,
    /// Cosine from which vector similarity alone is evidence, -1 to 1; overrides the floor that each embedder declares.
    pub min_similarity: Option<f32>,
}

impl Default for RecallSettings {
    /// English, 10,000 events, 131,072 rows, the shipped weights, the floors of the embedders.
    fn default() -> Self {
        Self {
            language: Language::English,
            scanned: NEWEST_SCANNED,
            at_once: AT_ONCE,
            weights: Weights::default(),
            min_similarity: None,
        }
    }
}

/// Finds events of one space.
///
/// A read calls no model except the in-process embedder, and no network. All calls share the in-memory index; it is
/// synchronized with the store before each answer, and a finished call leaves no background work.
#[derive(Debug)]
pub struct Recall {
    pub(crate) parts: RecallParts,
    settings: RecallSettings,
    analyzer: Analyzer,
    pub(crate) shared: SharedIndex,
    graph: GraphArm,
}

impl Recall {
    /// Combines the parts. Loads nothing.
    pub fn new(parts: RecallParts, settings: RecallSettings) -> Self {
        let analyzer = Analyzer::new(settings.language);
        Self { parts, settings, analyzer, shared: SharedIndex::new(analyzer), graph: GraphArm::default() }
    }

    /// Returns the analyzer of texts and questions.
    pub(crate) fn analyzer(&self) -> Analyzer {
        self.analyzer
    }

    /// Answers a request.
    ///
    /// Degradation ladder: lexical and vector search; lexical only if vectors are missing; the newest events if a large
    /// space is not fully loaded; the last known index if the store does not answer; a substring scan of the newest events
    /// if there is no index, or it contains none of the words. Each step below the first is reported as a gap or in
    /// [`RecallResult::used`].
    ///
    /// # Errors
    /// `Invalid` for a query vector without direction; otherwise the errors of the event store, which holds the texts.
    pub async fn recall(&self, request: &RecallRequest) -> Result<Degraded<RecallResult>> {
        let own = own_vector(request)?;
        let query = Query::read(&request.query, self.analyzer);
        let mut gaps = Gaps::default();
        let Some(snapshot) = self.snapshot(&mut gaps).await else {
            if request.mode != Mode::Lexical {
                gaps.keep(Layer::Vector, self.parts.embedder.part().map(|_| ()));
            }
            let found = self.scan(request, &query, &mut gaps).await?;
            return Ok(gaps.attach(found));
        };
        if snapshot.lacks > 0 {
            gaps.add(Gap { layer: Layer::Lexical, cause: GapCause::Stale { behind: snapshot.lacks } });
        }
        let query = match now(request, &snapshot) {
            Some(now) => query.seen_from((now, &request.zone), &request.query, self.analyzer),
            None => query,
        };
        let query = self.with_role_names(request, query, &mut gaps).await;
        let vector = match request.mode {
            Mode::Lexical => None,
            Mode::Auto | Mode::Vector => self.query_vector(&request.query, own, &mut gaps).await,
        };
        let search = self.search(request, &query, snapshot, vector).await;
        let search = self.with_graph(request, &query, search, &mut gaps).await;
        if let Some(behind) = search.lacks_vectors() {
            gaps.add(Gap { layer: Layer::Vector, cause: GapCause::Stale { behind } });
        }
        if search.ranked.is_empty() && query.asks_something && request.mode != Mode::Vector {
            let scanned = self.scan(request, &query, &mut gaps).await?;
            if !scanned.hits.is_empty() {
                return Ok(gaps.attach(scanned));
            }
        }
        let found = answer::answer(self, request, &query, &search, &mut gaps).await?;
        Ok(gaps.attach(found))
    }

    /// Loads the rest of the index, yielding to other tasks between steps, so that later answers need not. Answers
    /// meanwhile use the newest events; if the future is dropped, the loaded rows are kept.
    ///
    /// # Errors
    /// Those of the store; without an index there is nothing to load.
    pub async fn load(&self) -> Result<()> {
        match self.parts.index.part() {
            Ok(store) => self.whole_index(store).await.map(|_whole| ()),
            Err(_) => Ok(()),
        }
    }

    /// Synchronizes the index completely.
    pub(crate) async fn whole_index(&self, store: &dyn IndexStore) -> Result<Snapshot> {
        loop {
            let snapshot = self.caught_up(store).await?;
            if snapshot.lacks == 0 {
                return Ok(snapshot);
            }
        }
    }

    /// Synchronizes the index, or loads the most rows allowed at once.
    async fn caught_up(&self, store: &dyn IndexStore) -> Result<Snapshot> {
        self.shared.caught_up(store, self.settings.at_once).await
    }

    /// Synchronizes the index; on failure returns the last known one, if any.
    async fn snapshot(&self, gaps: &mut Gaps) -> Option<Snapshot> {
        let caught_up = match self.parts.index.part() {
            Ok(store) => self.caught_up(store).await.map_err(GapCause::from),
            Err(cause) => Err(cause),
        };
        match caught_up {
            Ok(snapshot) => Some(snapshot),
            Err(cause) => {
                gaps.add(Gap { layer: Layer::Lexical, cause });
                let last = self.shared.snapshot(Cursor::START);
                (last.index.rows() > 0).then_some(last)
            }
        }
    }

    /// Returns the cosine from which similarity alone is evidence for a question; 1 if the embedder does not support its
    /// language.
    fn floor(&self, embedder: &dyn Embedder, question: &str) -> f32 {
        if embedder.reads(Language::of_question(question).code()) {
            self.settings.min_similarity.unwrap_or(embedder.floor())
        } else {
            1.0
        }
    }

    async fn query_vector(
        &self,
        text: &str,
        own: Option<(ModelId, QueryVector)>,
        gaps: &mut Gaps,
    ) -> Option<EmbeddedQuery> {
        if let Some((model, vector)) = own {
            let floor = self.parts.embedder.part().ok().filter(|embedder| *embedder.model() == model);
            let floor = floor
                .map_or(self.settings.min_similarity.unwrap_or(DEFAULT_FLOOR), |own| self.floor(own, text));
            return Some(EmbeddedQuery { model, vector, floor });
        }
        let made = match self.parts.embedder.part() {
            Ok(embedder) => embedder.embed_query(text).await.map_err(GapCause::from).map(|values| {
                let vector = values.and_then(|values| QueryVector::new(&values));
                vector.map(|vector| EmbeddedQuery {
                    model: embedder.model().clone(),
                    vector,
                    floor: self.floor(embedder, text),
                })
            }),
            Err(cause) => Err(cause),
        };
        gaps.keep(Layer::Vector, made)
    }

    /// Runs the arms, one step each, and ranks the union of their candidates.
    async fn search(
        &self,
        request: &RecallRequest,
        query: &Query,
        snapshot: Snapshot,
        vector: Option<EmbeddedQuery>,
    ) -> Search {
        let index = Arc::clone(&snapshot.index);
        let own = self.shared.lexical.index(&index);
        let lexical: &dyn LexicalIndex = own.as_deref().unwrap_or(&*index);
        let filter = filter::rows(&index, &request.filter, request.except_session.as_ref());
        let candidates = CANDIDATES.max(request.limit.get());
        pause().await;
        let mut words = (request.mode != Mode::Vector || vector.is_none()).then(|| {
            let of_asker = query.about_self || query.about_us;
            let says_nothing = |term| index.is_name(term) || of_asker && query.general.contains(&term);
            lexical::score(lexical, &index.columns, &query.terms, &says_nothing, (&filter, candidates))
        });
        pause().await;
        let mut rows: Vec<u32> = words.iter().flat_map(LexicalScores::best).collect();
        let mut near = None;
        if let Some(asked) = &vector {
            let vectors = self.shared.vectors(&snapshot, &asked.model, asked.vector.dimensions()).await;
            rows.extend(nearest(&vectors, &asked.vector, &filter, candidates));
            pause().await;
            near = Some(vectors);
        }
        rows.sort_unstable();
        rows.dedup();
        if let Some(words) = &mut words {
            words.complete(lexical, &index.columns, &rows);
        }
        let arms = Arms { words, vectors: near.zip(vector) };
        Search::rank(snapshot, query, arms, &rows, &self.settings.weights.boosted(request.boosts))
    }

    /// Adds graph signals to the best candidates, if the graph can hold the answer, and unless the matching words seem to
    /// be another person's: the graph would then add facts about the named person that are no answer (ADR 19).
    ///
    /// A missing or failing graph is a gap, and its weights go to the other signals; a graph that is behind adds nothing
    /// for the newest events.
    async fn with_graph(
        &self,
        request: &RecallRequest,
        query: &Query,
        search: Search,
        gaps: &mut Gaps,
    ) -> Search {
        if !query.asks_graph() || search.ranked.is_empty() || search.is_of_another() {
            return search;
        }
        let rows: Vec<u32> = search.ranked.iter().take(LOOKED_AT).map(|fused| fused.row).collect();
        let at = (&*search.snapshot.index, search.snapshot.generation);
        let read = match self.parts.graph.part() {
            Ok(store) => self.graph.read(store, at, &rows, self.analyzer).await.map_err(GapCause::from),
            Err(cause) => Err(cause),
        };
        gaps.keep(Layer::Graph, read);
        let signals = self.graph.signals(at.0, &rows, query);
        if signals.iter().all(|signal| *signal == GraphSignals::default()) {
            return search;
        }
        search.with_graph_signals(&rows, &signals, &self.settings.weights.boosted(request.boosts))
    }

    async fn scan(&self, request: &RecallRequest, query: &Query, gaps: &mut Gaps) -> Result<RecallResult> {
        let live = mnemal_core::EventFilter {
            quarantined: mnemal_core::Within::Only(false),
            erased: mnemal_core::Within::Only(false),
            ..request.filter.clone()
        };
        if !query.asks_something {
            return Ok(nothing());
        }
        let events = self.parts.events.latest(&live, self.settings.scanned).await?;
        let mut found = substring::scan(request, self.analyzer, events);
        (found.hits, found.withheld) = note_status::exclude(self, found.hits, request.as_of, gaps).await;
        Ok(found)
    }

    /// Fetches events, without those missing from the log; a damaged one is a gap.
    pub(crate) async fn fetch(
        &self,
        places: &[(EventId, Seq)],
        gaps: &mut Gaps,
    ) -> Result<HashMap<EventId, Event>> {
        let by_id = |events: Vec<Event>| events.into_iter().map(|event| (event.id, event));
        match self.parts.events.get_at(places).await {
            Ok(events) => Ok(by_id(events).collect()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Corrupt) => {
                let mut found = HashMap::new();
                for (id, _) in places {
                    match self.parts.events.get(&[*id]).await {
                        Ok(events) => found.extend(by_id(events)),
                        Err(error) if error.kind() == ErrorKind::NotFound => {}
                        Err(error) => gaps.add(Gap { layer: Layer::Events, cause: error.into() }),
                    }
                }
                Ok(found)
            }
            Err(error) => Err(error),
        }
    }
}

/// The query vector with the metadata of its model.
#[derive(Clone, Debug)]
pub(crate) struct EmbeddedQuery {
    pub(crate) model: ModelId,
    pub(crate) vector: QueryVector,
    pub(crate) floor: f32,
}

/// Query time: the world time of the request, else the time of the newest event; recall reads no clock.
fn now(request: &RecallRequest, snapshot: &Snapshot) -> Option<Timestamp> {
    let newest = || snapshot.index.occurred_at(snapshot.index.rows().checked_sub(1)?);
    request.as_of.map(|as_of| as_of.world).or_else(newest)
}

fn own_vector(request: &RecallRequest) -> Result<Option<(ModelId, QueryVector)>> {
    let Some((model, values)) = &request.query_vector else { return Ok(None) };
    let vector = QueryVector::new(values)
        .ok_or_else(|| Error::invalid(format!("the query vector of model {model} has no direction")))?;
    Ok(Some((model.clone(), vector)))
}

fn nearest(vectors: &dyn VectorIndex, query: &QueryVector, filter: &RowSet, limit: usize) -> Vec<u32> {
    vectors.nearest(query, filter, limit).into_iter().map(|near| near.row).collect()
}

pub(crate) fn nothing() -> RecallResult {
    RecallResult {
        hits: Vec::new(),
        withheld: Vec::new(),
        used: UsedMode::Nothing,
        evidence: 0.0,
        head: Cursor::START,
        model: None,
    }
}

/// Whether events of this role hold a person's words.
pub(crate) fn is_person(role: Role) -> bool {
    matches!(role, Role::User | Role::Decision)
}

#[cfg(test)]
mod tests;
