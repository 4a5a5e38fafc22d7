//! The composed machine: wiring, in the order of the picture in the crate's document, and nothing that decides.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mnemal_context::AssemblerParts;
use mnemal_core::{
    AsOf, BackgroundEmbedder, Clock, Degraded, Embedder, Error, ErrorKind, EventId, EventStore, Extractor,
    Gap, GapCause, GraphStore, Inbox, IndexStore, Indexer, InstallationKey, Layer, Learning, LearningFilter,
    LearningStore, NewEvent, NoteKey, Projector, Receipt, ReceiptId, ReceiptStore, Reranker, Result, Scope,
    Seq, Slot, SummaryStore, Timestamp, Upkeep, WorkingStore,
};
use mnemal_events::{Ack, Durability, EventLog};
use mnemal_graph::GraphProjector;
use mnemal_recall::Recall;
use mnemal_store::Stores;
use mnemal_summaries::{SummaryProjector, Writings};
use mnemal_working::SteadyClock;

use crate::audit::AuditLog;
use crate::builder::{Builder, Switch};
use crate::embedding::Tried;
use crate::guard::Guarded;
use crate::memory::Memory;
use crate::model::Model;
use crate::secondary::Secondary;
use crate::served::{Piece, Served, Serving};
use crate::settings::Settings;
use crate::user::UserGraphs;

/// Most rows of a count. Source: own default.
pub(crate) const MANY: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Events after which an append folds though none of them is a decision, which only moves the cursor. Source: own default;
/// a fold is a transaction with a flush of its own, and what stands behind the cursor is looked through by every answer.
pub(crate) const FOLD_EVERY: u64 = 256;
/// How long a call that stores a decision may wait for the fold. Source: ARCHITECTURE 6.
pub(crate) const FOLD_WAIT: Duration = Duration::from_millis(200);

/// The composed machine of one space; cheap to clone.
#[derive(Clone, Debug)]
pub struct Engine(Arc<Wired>);

/// The parts as they were given: what writes, and what upkeep needs.
#[derive(Debug)]
pub(crate) struct Wired {
    #[cfg(feature = "sqlite")]
    pub(crate) file: Option<mnemal_store::SqliteStore>,
    pub(crate) settings: Settings,
    pub(crate) audit: Option<AuditLog>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) key: InstallationKey,
    pub(crate) stores: Stores,
    /// The parts of answers that do without what is late.
    pub(crate) answering: Parts,
    /// The same for whoever waits because there is no other answer.
    pub(crate) guarded: Parts,
    pub(crate) log: Option<EventLog>,
    pub(crate) indexer: Slot<dyn Indexer>,
    pub(crate) projectors: Vec<Arc<dyn Projector>>,
    /// The embedder in process without its guard: upkeep has more time than an answer.
    pub(crate) embedder: Slot<dyn Embedder>,
    /// The language model, if there is one.
    pub(crate) model: Option<Model>,
    /// What was asked of models outside the process.
    pub(crate) tally: Arc<mnemal_providers::Tally>,
    /// What makes vectors outside the process.
    pub(crate) background: Option<Guarded<dyn BackgroundEmbedder>>,
    pub(crate) tried: Tried,
    /// Whether cycles that nobody asks for look for insights, as in an always-on space.
    pub(crate) insights: AtomicBool,
    pub(crate) graph_projector: Slot<GraphProjector>,
    /// Entities and facts of single users.
    pub(crate) user_graphs: Option<Arc<UserGraphs>>,
    pub(crate) summary_projector: Slot<SummaryProjector>,
    /// Texts that a model wrote of summaries, where they are asked for.
    pub(crate) writings: Option<Arc<Writings>>,
    pub(crate) recall: Option<Arc<Recall>>,
    pub(crate) context: AssemblerParts,
    pub(crate) extractor: Arc<dyn Extractor>,
    /// Files that wait to be read.
    pub(crate) inbox: Slot<dyn Inbox>,
    /// By which working memory expires.
    pub(crate) steady: Arc<SteadyClock>,
    /// When what is outdated was looked for last, by the monotonic clock.
    pub(crate) retained: Mutex<Option<Duration>>,
    /// When working memory was swept last, by the monotonic clock.
    pub(crate) swept: Mutex<Option<Duration>>,
    /// Events that this process has appended since the last fold.
    pub(crate) unfolded: AtomicU64,
    /// Who is served now; background work gives way.
    pub(crate) served: Served,
    /// Whether anything is remembered.
    pub(crate) switch: Switch,
    /// Whether contexts are assembled.
    pub(crate) assembles: bool,
}

/// The parts behind their guards: what reading uses.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) events: Slot<dyn EventStore>,
    pub(crate) index: Slot<dyn IndexStore>,
    pub(crate) learnings: Slot<dyn LearningStore>,
    pub(crate) graph: Slot<dyn GraphStore>,
    pub(crate) summaries: Slot<dyn SummaryStore>,
    pub(crate) receipts: Slot<dyn ReceiptStore>,
    pub(crate) working: Slot<dyn WorkingStore>,
    pub(crate) embedder: Slot<dyn Embedder>,
    pub(crate) reranker: Slot<dyn Reranker>,
}

impl Engine {
    /// Starts to put an engine together.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn wired(wired: Wired) -> Self {
        Self(Arc::new(wired))
    }

    /// Returns the handle for one scope; its space must be the one that the stores were opened for.
    pub fn memory(&self, scope: Scope) -> Memory {
        Memory { engine: self.clone(), scope, secondary: Secondary::default() }
    }

    /// Returns what reads names and claims.
    pub(crate) fn extractor(&self) -> &dyn Extractor {
        self.0.extractor.as_ref()
    }

    /// Whether somebody else has it too.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Empties the write-ahead log and closes the files; every later call fails. Without it nothing is lost either.
    ///
    /// # Errors
    /// `Unavailable` when the write-ahead log could not be emptied; what was acknowledged is safe nevertheless.
    pub async fn close(&self) -> Result<()> {
        #[cfg(feature = "sqlite")]
        if let Some(file) = &self.0.file {
            return file.close().await;
        }
        Ok(())
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Stores events, as [`append_to`](Self::append_to), where nothing of another space was shown.
    pub(crate) async fn append(&self, events: Vec<NewEvent>) -> Result<Degraded<Vec<Ack>>> {
        self.append_to(self.log()?, events).await
    }

    /// Stores events through a log of this engine, folds the notes if there is a decision among them, and answers in order.
    pub(crate) async fn append_to(
        &self,
        log: &EventLog,
        events: Vec<NewEvent>,
    ) -> Result<Degraded<Vec<Ack>>> {
        let decided = events.iter().any(|event| event.kind.role() == mnemal_core::Role::Decision);
        let _serving = self.serves();
        let mut answer = log.append_whole(events).await?;
        let waiting = self.0.unfolded.fetch_add(answer.value.len() as u64, Ordering::Relaxed)
            + answer.value.len() as u64;
        if decided || waiting >= FOLD_EVERY {
            answer.gaps.extend(self.fold().await);
        }
        Ok(answer)
    }

    /// Steps the notes until they have caught up or 200 ms are over; what is left is a gap.
    pub(crate) async fn fold(&self) -> Vec<Gap> {
        self.fold_within(self.settings().recall.catch_up()).await
    }

    /// Reads what waits into notes and learnings until they have caught up or time is over; what is left is a gap.
    ///
    /// A program that lives long leaves this to [`tend`](Self::tend).
    pub async fn fold_within(&self, budget: Duration) -> Vec<Gap> {
        self.0.unfolded.store(0, Ordering::Relaxed);
        let Ok(events) = self.events() else { return Vec::new() };
        let head = match events.head().await {
            Ok(head) => head,
            Err(error) => return vec![Gap { layer: Layer::Learnings, cause: error.into() }],
        };
        mnemal_events::catch_up(&self.0.projectors, head, budget, self.0.clock.as_ref()).await
    }

    /// Reads what waits into notes, graph and summaries, one after the other, until all have caught up or time is over; what is
    /// left is a gap.
    ///
    /// For a program that ends soon and has brought much; one that lives long leaves it to [`tend`](Self::tend).
    pub async fn read_within(&self, budget: Duration) -> Vec<Gap> {
        let clock = &self.0.clock;
        let until = clock.monotonic() + budget;
        let left = || until.saturating_sub(clock.monotonic());
        let mut gaps = self.fold_within(left()).await;
        gaps.extend(self.fold_graph_within(left()).await);
        gaps.extend(self.fold_summaries_within(left()).await);
        gaps
    }

    /// Steps the graph until it has caught up or time is over; what is left is a gap.
    ///
    /// Reading events costs more than a note, so nobody who writes waits for it: upkeep does it, and whoever wants to know.
    pub(crate) async fn fold_graph(&self) -> Vec<Gap> {
        self.fold_graph_within(self.settings().recall.catch_up()).await
    }

    /// The same within another time.
    pub(crate) async fn fold_graph_within(&self, budget: Duration) -> Vec<Gap> {
        let Slot::Filled(projector) = &self.0.graph_projector else { return Vec::new() };
        self.stepped(Arc::<GraphProjector>::clone(projector), budget).await
    }

    /// Steps the summaries until they have caught up or time is over, as [`fold_graph`](Self::fold_graph).
    pub(crate) async fn fold_summaries(&self) -> Vec<Gap> {
        self.fold_summaries_within(self.settings().recall.catch_up()).await
    }

    /// The same within another time.
    pub(crate) async fn fold_summaries_within(&self, budget: Duration) -> Vec<Gap> {
        let Slot::Filled(projector) = &self.0.summary_projector else { return Vec::new() };
        self.stepped(Arc::<SummaryProjector>::clone(projector), budget).await
    }

    /// Notes that somebody waits for an answer, as long as what it returns lives.
    pub(crate) fn serves(&self) -> Serving<'_> {
        self.0.served.serve()
    }

    /// Waits for the turn of one piece of background work, and while somebody is served, up to 100 ms; the turn lasts as long as
    /// what it returns lives.
    pub(crate) async fn piece(&self) -> Option<Piece<'_>> {
        self.0.served.piece().await
    }

    /// Steps the summaries until no node is left that an erase made hollow, however long it takes: the path of such a node names
    /// its conversation. What fails is left to upkeep, and the search behind a forget finds it.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, or a step leaves a node as it is; what was made anew stays.
    pub(crate) async fn regrow_summaries(&self) -> Result<()> {
        let (Slot::Filled(projector), Slot::Filled(summaries)) =
            (&self.0.summary_projector, &self.0.stores.summaries)
        else {
            return Ok(());
        };
        let mut before = Vec::new();
        loop {
            let hollow = summaries.hollow(NonZeroUsize::MIN).await?;
            if hollow.is_empty() {
                return Ok(());
            }
            if hollow == before {
                return Err(Error::new(ErrorKind::Unavailable, "a summary was not made anew"));
            }
            before = hollow;
            let _progress = projector.step(mnemal_summaries::CYCLE).await?;
        }
    }

    async fn stepped(&self, projector: Arc<dyn Projector>, budget: Duration) -> Vec<Gap> {
        let Ok(events) = self.events() else { return Vec::new() };
        let head = match events.head().await {
            Ok(head) => head,
            Err(error) => return vec![Gap { layer: projector.layer(), cause: error.into() }],
        };
        mnemal_events::catch_up(&[projector], head, budget, self.0.clock.as_ref()).await
    }

    /// Returns every version of the notes that were read in these events.
    pub(crate) async fn notes_of(&self, events: &[EventId]) -> Result<Vec<Learning>, GapCause> {
        Ok(self.guarded().learnings.part()?.all(&crate::remember::read_in(events)).await?)
    }

    /// Returns the notes that hold now.
    pub(crate) async fn notes(&self, filter: &LearningFilter) -> Result<Vec<Learning>> {
        let notes = self.guarded().learnings.part().map_err(|_| missing("notes"))?;
        let rows = notes.active(filter, AsOf::present(self.now())).await?;
        Ok(rows.iter().map(|row| Learning::clone(row)).collect())
    }

    pub(crate) async fn history(&self, key: &NoteKey) -> Result<Vec<Learning>> {
        self.guarded().learnings.part().map_err(|_| missing("notes"))?.history(key).await
    }

    pub(crate) async fn receipt(&self, id: ReceiptId) -> Result<Receipt> {
        self.guarded().receipts.part().map_err(|_| missing("receipts"))?.get(id).await
    }

    /// Returns what becomes of events in an engine that remembers nothing; `None` in every other one.
    pub(crate) fn dropped(&self, events: &[NewEvent]) -> Option<Degraded<Vec<Ack>>> {
        if self.0.switch == Switch::On {
            return None;
        }
        let ack = |_: &NewEvent| Ack {
            id: EventId(self.0.context.ids.next(self.now())),
            seq: Seq(0),
            durability: Durability::Dropped,
            duplicate: false,
            redactions: 0,
            quarantined: None,
        };
        let gaps = vec![Gap { layer: Layer::Events, cause: GapCause::NotConfigured }];
        Some(Degraded { value: events.iter().map(ack).collect(), gaps })
    }

    /// Returns the pipeline through which everything enters.
    pub(crate) fn log(&self) -> Result<&EventLog> {
        self.0.log.as_ref().ok_or_else(|| missing("a log"))
    }

    pub(crate) fn events(&self) -> Result<&dyn EventStore> {
        self.0.stores.events.part().map_err(|_| missing("a log"))
    }

    pub(crate) fn upkeep(&self) -> Result<&dyn Upkeep> {
        self.0.stores.upkeep.part().map_err(|_| missing("upkeep"))
    }

    pub(crate) fn stores(&self) -> &Stores {
        &self.0.stores
    }

    pub(crate) fn guarded(&self) -> &Parts {
        &self.0.guarded
    }

    pub(crate) fn answering(&self) -> &Parts {
        &self.0.answering
    }

    pub(crate) fn parts(&self) -> &Wired {
        &self.0
    }
}

pub(crate) fn missing(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("this engine was built without {what}"))
}
