//! The engine builder: components, settings, and their wiring.

mod files;
mod grounding;
mod model;
#[cfg(feature = "sqlite")]
mod open;
mod ports;

use std::num::NonZeroUsize;
#[cfg(feature = "sqlite")]
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mnemal_context::{AssemblerParts, ContextSettings};
use mnemal_core::{
    BackgroundEmbedder, Clock, ContextSource, Embedder, EventStore, Extractor, GraphStore, IdSource, Inbox,
    IndexStore, Indexer, InstallationKey, LanguageModel, Layer, LearningStore, Projector, ReceiptStore,
    Reranker, Result, Slot, SummaryStore, TokenCounter, WorkingStore,
};
use mnemal_events::{Cleaner, EventLog, EventLogParts, HourlyLimits, LogSettings, RecentSource};
use mnemal_extract::{Mode, RuleExtractor, SecretRules};
use mnemal_graph::{GraphProjector, GraphSource};
use mnemal_learnings::{Inference, LearningProjector, NotesSource, Owner};
use mnemal_recall::{EventIndexer, Recall, RecallParts, RecallSettings, RecallSource, Weights};
use mnemal_store::{MemoryStore, Stores};
use mnemal_summaries::{ModelSummaries, SummaryProjector, SummarySource};
use mnemal_text::Language;
use mnemal_working::SteadyClock;

use crate::audit::AuditLog;
use crate::clock::{RandomIds, SystemClock, random_key};
use crate::counter::EstimateCounter;
use crate::embedding::{BackfillCursors, Local};
use crate::engine::{Engine, EngineParts, GuardedParts};
use crate::foreground::ForegroundCalls;
use crate::guard::GuardedPort;
use crate::outdated_turns;
use crate::reader::SharedReader;
use crate::settings::{EmbeddingProvider, EmbeddingSettings, SecretMode, Settings, SummaryBy, Tokenizer};
use crate::user::{UserGraphs, UserSource};
use crate::working::{self, RedactingStore};

/// Time limit of the reranker. Source: own choice; a small cross-encoder scores twenty turns in 350 ms.
const RERANK_DEADLINE: Duration = Duration::from_millis(500);

/// Maximum number of preferences that a transformer embeds during one read. Source: own choice; a short text takes some 3 ms.
const EMBEDDED_AT_ONCE: usize = 32;

/// Collects the parts of an engine; every part that is not given has a default that works offline.
#[derive(Clone, Debug)]
#[must_use = "an engine is not there until it is built"]
pub struct Builder {
    stores: Option<Stores>,
    embedder: Option<Arc<dyn Embedder>>,
    local: Local,
    reader: SharedReader,
    reranker: Slot<dyn Reranker>,
    background: Option<Arc<dyn BackgroundEmbedder>>,
    model: Option<Arc<dyn LanguageModel>>,
    #[cfg(feature = "http")]
    endpoint_key: Option<mnemal_providers::ApiKey>,
    #[cfg(feature = "http")]
    model_key: Option<mnemal_providers::ApiKey>,
    counter: Option<Arc<dyn TokenCounter>>,
    extractor: Option<Arc<dyn Extractor>>,
    inbox: Slot<dyn Inbox>,
    #[cfg(feature = "inbox")]
    guarded: Option<mnemal_providers::Program>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    key: Option<InstallationKey>,
    #[cfg(feature = "sqlite")]
    key_file: Option<PathBuf>,
    settings: Settings,
    tally: Arc<mnemal_providers::RequestTally>,
    audit: Option<AuditLog>,
    weights: Weights,
    ports: Box<ports::Ports>,
    owner: Vec<String>,
    without: Vec<Layer>,
    switch: StorageSwitch,
    #[cfg(feature = "sqlite")]
    file: Option<mnemal_store::SqliteStore>,
    #[cfg(feature = "postgres")]
    database: Option<mnemal_store::PostgresStore>,
}

/// Whether an engine stores anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StorageSwitch {
    #[default]
    On,
    /// Writes are accepted and dropped.
    Off,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            stores: None,
            embedder: None,
            local: Local::default(),
            reader: SharedReader::default(),
            reranker: Slot::Empty,
            background: None,
            model: None,
            #[cfg(feature = "http")]
            endpoint_key: None,
            #[cfg(feature = "http")]
            model_key: None,
            counter: None,
            extractor: None,
            inbox: Slot::Empty,
            #[cfg(feature = "inbox")]
            guarded: None,
            clock: Arc::new(SystemClock::default()),
            ids: Arc::new(RandomIds::default()),
            key: None,
            #[cfg(feature = "sqlite")]
            key_file: None,
            settings: Settings::default(),
            tally: Arc::default(),
            audit: None,
            weights: Weights::default(),
            ports: Box::default(),
            owner: Vec::new(),
            without: Vec::new(),
            switch: StorageSwitch::On,
            #[cfg(feature = "sqlite")]
            file: None,
            #[cfg(feature = "postgres")]
            database: None,
        }
    }
}

impl Builder {
    /// Sets the audit log of administrative acts; it overrides the settings.
    pub fn with_audit_log(mut self, log: AuditLog) -> Self {
        self.audit = Some(log);
        self
    }

    /// Sets the storage; an empty slot is a gap of its layer.
    pub fn with_stores(mut self, stores: impl Into<Stores>) -> Self {
        self.stores = Some(stores.into());
        self
    }

    /// Sets the in-process embedder; it replaces the one that the settings name.
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Sets the reranker of the best hits, used by searches that ask for it
    /// ([`RecallCall::reranked`](crate::recall::RecallCall::reranked)); there is none by default.
    pub fn with_reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Slot::Filled(reranker);
        self
    }

    /// Sets the embedder outside the process; it replaces the endpoint that the settings name.
    ///
    /// Upkeep, [`Engine::fill`] and [`AdminHandle::embed_query`](crate::areas::AdminHandle::embed_query) use it; no read calls it.
    pub fn with_background_embedder(mut self, embedder: Arc<dyn BackgroundEmbedder>) -> Self {
        self.background = Some(embedder);
        self
    }

    /// Sets the API key of the embedding endpoint that the settings name.
    #[cfg(feature = "http")]
    pub fn with_endpoint_key(mut self, key: mnemal_providers::ApiKey) -> Self {
        self.endpoint_key = Some(key);
        self
    }

    /// Sets the token counter; it replaces the calibrated estimate or the exact counter of this build.
    pub fn with_token_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// Sets the weights of the recall signals; they replace the shipped table.
    pub fn with_recall_weights(mut self, weights: Weights) -> Self {
        self.weights = weights;
        self
    }

    /// Sets the extractor of entities and claims; it replaces the built-in rules and the extraction settings.
    pub fn with_extractor(mut self, extractor: Arc<dyn Extractor>) -> Self {
        self.extractor = Some(extractor);
        self
    }

    /// Sets the clock.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the source of ids.
    pub fn with_ids(mut self, ids: Arc<dyn IdSource>) -> Self {
        self.ids = ids;
        self
    }

    /// Sets the installation's key.
    pub fn with_key(mut self, key: InstallationKey) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets the file of the installation's key, which is created if it does not exist.
    #[cfg(feature = "sqlite")]
    pub fn with_key_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.key_file = Some(path.into());
        self
    }

    /// Sets the settings; check them first with [`Settings::check`].
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self.local = Local::default();
        self.reader = SharedReader::default();
        self
    }

    /// Removes `Lexical`, `Vector`, `Learnings`, `Graph`, `Summaries`, `Receipts`, `Working` or `Context`; answers then have its
    /// gap. Other layers are not affected.
    pub fn without(mut self, layer: Layer) -> Self {
        self.without.push(layer);
        self
    }

    /// Builds with an in-memory storage and a fresh key.
    ///
    /// # Errors
    /// `Invalid` for settings out of range, `Unavailable` when the operating system has no randomness for the key.
    pub fn in_memory(self) -> Result<Engine> {
        self.settings.check()?;
        self.with_stores(MemoryStore::new()).build()
    }

    /// Builds an engine that stores nothing: writes are accepted and dropped, and answers are empty, with the gaps of the absent
    /// layers.
    ///
    /// # Errors
    /// As [`in_memory`](Self::in_memory).
    pub fn disabled(mut self) -> Result<Engine> {
        self.settings.check()?;
        self.switch = StorageSwitch::Off;
        self.with_stores(Stores::none()).build()
    }

    /// Builds; an absent part is a gap and not an error, except for a model that the settings name.
    ///
    /// # Errors
    /// `Unavailable` when no key was given and the operating system has no randomness for one; `Invalid` for an endpoint setting
    /// that is not a valid endpoint.
    pub fn build(self) -> Result<Engine> {
        let key = match &self.key {
            Some(key) => key.clone(),
            None => InstallationKey::new(random_key()?),
        };
        let stores = self.stores();
        let embedder = self.in_process()?;
        let answering = self.guarded(&stores, &embedder, &key, self.settings.recall.part_deadline());
        let guarded = self.guarded(&stores, &embedder, &key, self.settings.recall.patience());
        let language = Language::from_code(&self.settings.recall.language).unwrap_or(Language::English);
        let indexer = self.indexer(language, &embedder);
        let log = self.log(&stores, &indexer, &key);
        let recall = self.recall(&answering, language)?;
        let steady = Arc::new(SteadyClock::new(Arc::clone(&self.clock)));
        let model_summaries = self.model_summaries(&answering);
        let extractor = self.extractor()?;
        let read_by = (recall.as_ref(), model_summaries.as_ref(), &extractor);
        let user_graphs = user_graphs(&stores, &extractor, &self.owner, &self.clock);
        let context = self.context(&answering, (read_by, user_graphs.as_ref()), &steady, key.clone());
        let mut projectors = projectors(&stores, &self.settings);
        projectors.extend(self.own_projectors());
        let background = self.background()?;
        let model = self.model(&stores, &key)?;
        let graph_projector = graph_projector(&stores, &extractor, &self.owner);
        let summary_projector = summary_projector(&stores, language, self.settings.summaries.at_once());
        let assembles = self.has(Layer::Context);
        Ok(Engine::wired(EngineParts {
            #[cfg(feature = "sqlite")]
            file: self.file,
            #[cfg(feature = "postgres")]
            database: self.database,
            tally: self.tally,
            insights: AtomicBool::default(),
            settings: self.settings,
            audit: self.audit,
            assembles,
            clock: self.clock,
            key,
            stores,
            answering,
            guarded,
            log,
            indexer,
            projectors,
            passes: self.ports.passes,
            embedder,
            model,
            background,
            tried: BackfillCursors::default(),
            graph_projector,
            user_graphs,
            summary_projector,
            model_summaries,
            recall,
            context,
            extractor,
            inbox: self.inbox,
            steady,
            retained: Mutex::default(),
            swept: Mutex::new(None),
            held_back: Mutex::default(),
            unfolded: AtomicU64::new(0),
            served: ForegroundCalls::default(),
            switch: self.switch,
        }))
    }

    /// Returns the given key, or that of the key file, which is in the folder of `path` unless another one was set.
    #[cfg(feature = "sqlite")]
    pub(crate) fn installation_key(&self, path: &Path) -> Result<InstallationKey> {
        if let Some(key) = &self.key {
            return Ok(key.clone());
        }
        crate::key_file::read_or_make(&self.key_path(path))
    }

    /// Returns the file of the installation's key.
    #[cfg(feature = "sqlite")]
    pub(crate) fn key_path(&self, path: &Path) -> PathBuf {
        self.key_file.clone().unwrap_or_else(|| path.with_file_name(crate::key_file::NAME))
    }

    /// Returns the audit log, if the settings ask for one: the given one, or the one in the folder of the installation's key.
    #[cfg(feature = "sqlite")]
    pub(crate) fn audit_log(&self, path: &Path) -> Result<Option<AuditLog>> {
        if self.audit.is_some() || !self.settings.privacy.audit_log {
            return Ok(self.audit.clone());
        }
        let file = self.key_path(path).with_file_name(crate::audit::NAME);
        Ok(Some(AuditLog::new(file, self.installation_key(path)?)))
    }

    /// Sets the speaker names of the memory's owner, in addition to turns without a speaker and labels such as `user`. Turns
    /// under these names count as the user's own; the wishes of other speakers are not instructions. Existing graph rows change
    /// only when they are rebuilt.
    pub fn with_owner<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.owner = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the minimum interval between two scheduled cycles, in minutes.
    pub(crate) fn with_interval(mut self, mins: u32) -> Self {
        self.settings.dream.interval_mins = mins;
        self
    }

    /// Returns the settings.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the clock.
    #[cfg(feature = "sqlite")]
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Sets the file of the installation's key, if neither the key nor its file was given.
    #[cfg(feature = "sqlite")]
    pub(crate) fn with_key_file_unless_known(mut self, path: PathBuf) -> Self {
        if self.key.is_none() {
            self.key_file.get_or_insert(path);
        }
        self
    }

    /// Returns the time limit of a context source, which may wait for two guarded parts in sequence, and of a host's projector.
    fn source_deadline(&self) -> Duration {
        self.settings.recall.part_deadline() * 3
    }

    fn has(&self, layer: Layer) -> bool {
        !self.without.contains(&layer) && self.settings.has_layer(layer)
    }

    /// Empties the slots of the removed layers.
    fn stores(&self) -> Stores {
        let mut stores = self.stores.clone().unwrap_or_else(Stores::none);
        if !self.has(Layer::Lexical) {
            stores.index = Slot::Empty;
        }
        if !self.has(Layer::Learnings) {
            stores.learnings = Slot::Empty;
        }
        if !self.has(Layer::Graph) {
            stores.graph = Slot::Empty;
        }
        if !self.has(Layer::Summaries) {
            stores.summaries = Slot::Empty;
        }
        if !self.has(Layer::Receipts) {
            stores.receipts = Slot::Empty;
        }
        if !self.has(Layer::Working) {
            stores.working = Slot::Empty;
        }
        stores
    }

    /// Returns the extractor: the given one, or the built-in rules that the settings enable, with the trained reader that they
    /// name.
    pub(crate) fn extractor(&self) -> Result<Arc<dyn Extractor>> {
        if let Some(given) = &self.extractor {
            return Ok(Arc::clone(given));
        }
        let settings = &self.settings.extract;
        let rules = RuleExtractor::new().without(settings.disabled_rules.iter().cloned());
        if settings.reader.is_empty() {
            Ok(Arc::new(rules))
        } else {
            self.reader.extractor(&settings.reader, rules)
        }
    }

    /// Returns the embedder for reads and appends, unless vectors are switched off: the given one, or the one that the settings
    /// name; with an endpoint configured, that is the built-in table.
    fn in_process(&self) -> Result<Slot<dyn Embedder>> {
        let settings = &self.settings.embedding;
        match (&self.embedder, settings.provider) {
            _ if !self.has(Layer::Vector) => Ok(Slot::Empty),
            (_, EmbeddingProvider::None) => Ok(Slot::Empty),
            (Some(given), _) => Ok(Slot::Filled(Arc::clone(given))),
            (None, EmbeddingProvider::Local) => self.local.embedder(settings),
            (None, EmbeddingProvider::OpenaiCompatible) => self.local.embedder(&EmbeddingSettings::default()),
        }
    }

    /// Returns the embedder outside the process: the given one, or the endpoint that the settings name.
    fn background(&self) -> Result<Option<GuardedPort<dyn BackgroundEmbedder>>> {
        let given = match &self.background {
            _ if !self.has(Layer::Vector) => None,
            Some(given) => Some(Arc::clone(given)),
            None => self.endpoint()?,
        };
        Ok(given.map(|part| GuardedPort::new(part, &self.clock, self.settings.embedding.timeout())))
    }

    #[cfg(feature = "http")]
    fn endpoint(&self) -> Result<Option<Arc<dyn BackgroundEmbedder>>> {
        use mnemal_providers::{EndpointEmbedder, EndpointSettings};
        let settings = &self.settings.embedding;
        if settings.provider != EmbeddingProvider::OpenaiCompatible {
            return Ok(None);
        }
        let embedder = EndpointEmbedder::new(EndpointSettings {
            base_url: settings.base_url.clone(),
            model: settings.model.clone(),
            api_key: self.endpoint_key.clone(),
            timeout: settings.timeout(),
            max_input_chars: settings.max_input_chars,
            seed: self.seed(),
        })?;
        Ok(Some(Arc::new(embedder)))
    }

    /// Seed for the jitter of pauses.
    #[cfg(feature = "http")]
    fn seed(&self) -> u64 {
        let bits = self.ids.next(self.clock.now());
        u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default()
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the same call as with the feature")]
    fn endpoint(&self) -> Result<Option<Arc<dyn BackgroundEmbedder>>> {
        Ok(None)
    }

    /// Wraps every part that reads use in its own guard with this deadline. The log has a longer one, because every answer needs
    /// texts.
    fn guarded(
        &self,
        stores: &Stores,
        embedder: &Slot<dyn Embedder>,
        key: &InstallationKey,
        deadline: Duration,
    ) -> GuardedParts {
        let (clock, patience) = (&self.clock, self.settings.recall.patience());
        let question = self.settings.embedding.query_deadline();
        GuardedParts {
            events: guard(&stores.events, |part| {
                Arc::new(GuardedPort::new(part, clock, patience)) as Arc<dyn EventStore>
            }),
            index: guard(&stores.index, |part| {
                Arc::new(GuardedPort::new(part, clock, deadline)) as Arc<dyn IndexStore>
            }),
            learnings: guard(&stores.learnings, |part| {
                Arc::new(GuardedPort::new(part, clock, deadline)) as Arc<dyn LearningStore>
            }),
            graph: guard(&stores.graph, |part| {
                Arc::new(GuardedPort::new(part, clock, deadline)) as Arc<dyn GraphStore>
            }),
            summaries: guard(&stores.summaries, |part| {
                Arc::new(GuardedPort::new(part, clock, deadline)) as Arc<dyn SummaryStore>
            }),
            receipts: guard(&stores.receipts, |part| {
                Arc::new(GuardedPort::new(part, clock, deadline)) as Arc<dyn ReceiptStore>
            }),
            working: guard(&stores.working, |part| {
                let cleaner = Cleaner::new(log_settings(&self.settings), key.clone());
                let store = Arc::new(RedactingStore { store: part, cleaner }) as Arc<dyn WorkingStore>;
                Arc::new(GuardedPort::new(store, clock, deadline)) as Arc<dyn WorkingStore>
            }),
            embedder: guard(embedder, |part| {
                Arc::new(GuardedPort::new(part, clock, question)) as Arc<dyn Embedder>
            }),
            reranker: guard(&self.reranker, |part| {
                Arc::new(GuardedPort::new(part, clock, RERANK_DEADLINE)) as Arc<dyn Reranker>
            }),
        }
    }

    /// Builds the indexer of new events.
    fn indexer(&self, language: Language, embedder: &Slot<dyn Embedder>) -> Slot<dyn Indexer> {
        let embedder = guard(embedder, |part| {
            Arc::new(GuardedPort::new(part, &self.clock, self.settings.recall.part_deadline()))
                as Arc<dyn Embedder>
        });
        let indexer: Arc<dyn Indexer> = Arc::new(EventIndexer::new(language, embedder));
        if self.has(Layer::Lexical) { Slot::Filled(indexer) } else { Slot::Empty }
    }

    /// Builds the append pipeline.
    fn log(&self, stores: &Stores, indexer: &Slot<dyn Indexer>, key: &InstallationKey) -> Option<EventLog> {
        let Slot::Filled(store) = &stores.events else { return None };
        Some(EventLog::new(EventLogParts {
            store: Arc::clone(store),
            marks: stores.index.clone(),
            indexer: indexer.clone(),
            receipts: stores.receipts.clone(),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            key: key.clone(),
            settings: log_settings(&self.settings),
        }))
    }

    fn recall(&self, guarded: &GuardedParts, language: Language) -> Result<Option<Arc<Recall>>> {
        let Slot::Filled(events) = &guarded.events else { return Ok(None) };
        let parts = RecallParts {
            index: guarded.index.clone(),
            events: Arc::clone(events),
            graph: guarded.graph.clone(),
            learnings: guarded.learnings.clone(),
            embedder: guarded.embedder.clone(),
            counter: Slot::Filled(
                self.counter.clone().unwrap_or_else(|| counter(self.settings.context.tokenizer)),
            ),
        };
        let at_once = NonZeroUsize::new(self.settings.recall.load_at_once).unwrap_or(mnemal_recall::AT_ONCE);
        let min_similarity = self.settings.recall.min_similarity;
        let weights = self.weights;
        let settings = RecallSettings { language, at_once, weights, min_similarity, ..Default::default() };
        Ok(Some(Arc::new(self.with_indexes(Recall::new(parts, settings))?)))
    }

    /// Builds the reader of model-written summary texts, if they are enabled.
    fn model_summaries(&self, guarded: &GuardedParts) -> Option<Arc<ModelSummaries>> {
        let Slot::Filled(events) = &guarded.events else { return None };
        (self.settings.summaries.summarizer == SummaryBy::Llm)
            .then(|| Arc::new(ModelSummaries::new(Arc::clone(events))))
    }

    fn context(
        &self,
        guarded: &GuardedParts,
        ((recall, model_summaries, extractor), user_graphs): (LayerReaders<'_>, Option<&Arc<UserGraphs>>),
        steady: &Arc<SteadyClock>,
        key: InstallationKey,
    ) -> AssemblerParts {
        let mut sources: Vec<Arc<dyn ContextSource>> = Vec::new();
        if let Slot::Filled(notes) = &guarded.learnings {
            let is_table = self.settings.embedding.model.is_empty();
            let at_once = if is_table { usize::MAX } else { EMBEDDED_AT_ONCE };
            let notes = NotesSource::new(Arc::clone(notes))
                .with_decay(self.settings.learning.decay())
                .at_most(self.settings.recall.inject_limit)
                .with_preferences(guarded.embedder.clone(), at_once)
                .of_owner(match &guarded.events {
                    Slot::Filled(events) => Owner::new(&self.owner).with_events(Arc::clone(events)),
                    Slot::Empty => Owner::new(&self.owner),
                });
            sources.push(Arc::new(notes));
        }
        if let Slot::Filled(events) = &guarded.events {
            let recent = RecentSource::new(Arc::clone(events)).of_owner(&self.owner);
            sources.push(outdated_turns::marked(Arc::new(recent), &guarded.graph));
        }
        if let (Slot::Filled(events), Slot::Filled(graph)) = (&guarded.events, &guarded.graph) {
            let source = GraphSource::new(Arc::clone(graph), Arc::clone(events));
            let whole = source.with_extractor(Arc::clone(extractor));
            sources.push(match user_graphs.cloned() {
                Some(graphs) => {
                    Arc::new(UserSource { whole, graphs, within: self.settings.recall.catch_up() })
                }
                None => Arc::new(whole),
            });
        }
        if let Slot::Filled(summaries) = &guarded.summaries {
            let source = SummarySource::new(Arc::clone(summaries));
            sources.push(Arc::new(match model_summaries {
                Some(model_summaries) => source.with_model_summaries(Arc::clone(model_summaries)),
                None => source,
            }));
        }
        if let Some(recall) = recall {
            let recalled: Arc<dyn ContextSource> = Arc::new(RecallSource::new(Arc::clone(recall)));
            sources.push(outdated_turns::with_successors(recalled, &guarded.graph, &guarded.events));
        }
        if let Slot::Filled(store) = &guarded.working {
            sources.push(Arc::new(working::source(store, steady)));
        }
        sources.extend(self.ports.sources.iter().cloned());
        let deadline = self.source_deadline();
        let guard =
            |source| Arc::new(GuardedPort::new(source, &self.clock, deadline)) as Arc<dyn ContextSource>;
        AssemblerParts {
            sources: sources.into_iter().map(guard).collect(),
            counter: self.counter.clone().unwrap_or_else(|| counter(self.settings.context.tokenizer)),
            receipts: guarded.receipts.clone(),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            key,
            line_cache: Arc::default(),
            settings: ContextSettings {
                low_trust_share: self.settings.context.low_trust_share,
                secondary_share: self.settings.context.secondary_share,
                always_include_preferences: self.settings.context.always_include_preferences,
                identity: self.settings.identity.texts(),
                ..ContextSettings::default()
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: guarded.embedder.part().ok().map(|embedder| embedder.model().clone()),
        }
    }
}

/// The recall layer, the reader of model-written summaries, and the extractor.
type LayerReaders<'a> = (Option<&'a Arc<Recall>>, Option<&'a Arc<ModelSummaries>>, &'a Arc<dyn Extractor>);

fn guard<P: ?Sized>(slot: &Slot<P>, wrap: impl FnOnce(Arc<P>) -> Arc<P>) -> Slot<P> {
    match slot {
        Slot::Empty => Slot::Empty,
        Slot::Filled(part) => Slot::Filled(wrap(Arc::clone(part))),
    }
}

/// Configures the learning projector from the settings and the stores.
pub(crate) fn as_set(
    projector: LearningProjector,
    settings: &Settings,
    stores: &Stores,
) -> LearningProjector {
    let projector = projector.with_marks(stores.index.clone());
    let projector = if settings.learning.enabled { projector } else { projector.of_notes_alone() };
    let is_inferred = settings.dream.infer_preferences;
    projector.with_inference(if is_inferred { Inference::On } else { Inference::Off })
}

fn projectors(stores: &Stores, settings: &Settings) -> Vec<Arc<dyn Projector>> {
    match (&stores.events, &stores.learnings) {
        (Slot::Filled(events), Slot::Filled(notes)) => {
            let projector = LearningProjector::new(Arc::clone(events), Arc::clone(notes));
            vec![Arc::new(as_set(projector, settings, stores))]
        }
        _ => Vec::new(),
    }
}

fn graph_projector(
    stores: &Stores,
    extractor: &Arc<dyn Extractor>,
    owner: &[String],
) -> Slot<GraphProjector> {
    match (&stores.events, &stores.graph) {
        (Slot::Filled(events), Slot::Filled(graph)) => {
            let (events, graph) = (Arc::clone(events), Arc::clone(graph));
            let projector = GraphProjector::new(events, graph, Arc::clone(extractor));
            Slot::Filled(Arc::new(projector.of_owner(owner).with_marks(stores.index.clone())))
        }
        _ => Slot::Empty,
    }
}

/// A space without a graph has no user graphs either.
fn user_graphs(
    stores: &Stores,
    extractor: &Arc<dyn Extractor>,
    owner: &[String],
    clock: &Arc<dyn Clock>,
) -> Option<Arc<UserGraphs>> {
    let (Slot::Filled(events), Slot::Filled(_)) = (&stores.events, &stores.graph) else { return None };
    Some(Arc::new(UserGraphs::new(Arc::clone(events), Arc::clone(extractor), owner, Arc::clone(clock))))
}

fn summary_projector(stores: &Stores, language: Language, at_once: NonZeroUsize) -> Slot<SummaryProjector> {
    match (&stores.events, &stores.summaries) {
        (Slot::Filled(events), Slot::Filled(summaries)) => {
            let (events, summaries) = (Arc::clone(events), Arc::clone(summaries));
            let projector = SummaryProjector::new(events, summaries, language);
            Slot::Filled(Arc::new(projector.with_leaves_at_once(at_once)))
        }
        _ => Slot::Empty,
    }
}

pub(crate) fn log_settings(settings: &Settings) -> LogSettings {
    let extra: Vec<(&str, &str)> = settings
        .privacy
        .extra_patterns
        .iter()
        .map(|(name, pattern)| (name.as_str(), pattern.as_str()))
        .collect();
    let rules = if extra.is_empty() { SecretRules::built_in() } else { SecretRules::with_patterns(&extra) };
    let rules = match settings.privacy.secrets {
        SecretMode::Redact => rules,
        SecretMode::Block => rules.with_default_mode(Mode::Block),
        SecretMode::Allow => rules.with_default_mode(Mode::Allow),
    };
    let privacy = &settings.privacy;
    let hourly =
        HourlyLimits { agent: privacy.agent_items_per_hour, external: privacy.external_items_per_hour };
    LogSettings { secrets: Arc::new(rules), hourly, ..LogSettings::default() }
}

/// Returns the exact counter if it is asked for and part of this build, else the estimate.
fn counter(of: Tokenizer) -> Arc<dyn TokenCounter> {
    match of {
        #[cfg(feature = "tokens-exact")]
        Tokenizer::O200k => {
            Arc::new(mnemal_providers::BpeTokenCounter::new(mnemal_providers::BpeEncoding::O200k))
        }
        #[cfg(feature = "tokens-exact")]
        Tokenizer::Cl100k => {
            Arc::new(mnemal_providers::BpeTokenCounter::new(mnemal_providers::BpeEncoding::Cl100k))
        }
        _ => Arc::new(EstimateCounter),
    }
}
