//! The engine of one space: the wired parts, and forwarding without decisions of its own.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mnemal_context::AssemblerParts;
use mnemal_core::{
    AsOf, BackgroundEmbedder, Clock, Degraded, Embedder, Error, ErrorKind, EventId, EventStore, Extractor,
    Gap, GapCause, GraphStore, Inbox, IndexStore, Indexer, InstallationKey, Layer, Learning, LearningFilter,
    LearningStore, NewEvent, NoteKey, Pass, Projector, Receipt, ReceiptId, ReceiptStore, Reranker, Result,
    Scope, Seq, Slot, SummaryStore, Timestamp, Upkeep, WorkingStore,
};
use mnemal_events::{Ack, Durability, EventLog};
use mnemal_graph::GraphProjector;
use mnemal_recall::Recall;
use mnemal_store::Stores;
use mnemal_summaries::{ModelSummaries, SummaryProjector};
use mnemal_working::SteadyClock;

use crate::audit::AuditLog;
use crate::builder::{Builder, StorageSwitch};
use crate::embedding::BackfillCursors;
use crate::foreground::{ForegroundCalls, ForegroundGuard, WorkSlot};
use crate::guard::GuardedPort;
use crate::memory::Memory;
use crate::model::Model;
use crate::secondary::Secondary;
use crate::settings::Settings;
use crate::status::HeldBackCount;
use crate::user::UserGraphs;

/// Maximum number of rows of a count. Source: own default.
pub(crate) const MANY: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Number of appended events after which an append folds even without a decision among them, which only moves the cursor. Source:
/// own default; a fold is a transaction with its own flush, and every answer scans the events after the cursor.
pub(crate) const FOLD_EVERY: u64 = 256;
/// How long a call that stores a decision may wait for the fold. Source: own default; the remaining lag is a gap.
pub(crate) const FOLD_WAIT: Duration = Duration::from_millis(200);

/// The wired engine of one space; cheap to clone.
#[derive(Clone, Debug)]
pub struct Engine(Arc<EngineParts>);

/// The unguarded parts, for writes and upkeep.
#[derive(Debug)]
pub(crate) struct EngineParts {
    #[cfg(feature = "sqlite")]
    pub(crate) file: Option<mnemal_store::SqliteStore>,
    #[cfg(feature = "postgres")]
    pub(crate) database: Option<mnemal_store::PostgresStore>,
    pub(crate) settings: Settings,
    pub(crate) audit: Option<AuditLog>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) key: InstallationKey,
    pub(crate) stores: Stores,
    /// The guarded parts of answers, which go on without a late part.
    pub(crate) answering: GuardedParts,
    /// The guarded parts with a longer deadline, for calls that have no answer without them.
    pub(crate) guarded: GuardedParts,
    pub(crate) log: Option<EventLog>,
    pub(crate) indexer: Slot<dyn Indexer>,
    pub(crate) projectors: Vec<Arc<dyn Projector>>,
    /// The passes of the host.
    pub(crate) passes: Vec<Arc<dyn Pass>>,
    /// The in-process embedder without its guard: upkeep has a longer deadline than an answer.
    pub(crate) embedder: Slot<dyn Embedder>,
    /// The language model, if there is one.
    pub(crate) model: Option<Model>,
    /// Counters of requests to models outside the process.
    pub(crate) tally: Arc<mnemal_providers::RequestTally>,
    /// The embedder outside the process.
    pub(crate) background: Option<GuardedPort<dyn BackgroundEmbedder>>,
    pub(crate) tried: BackfillCursors,
    /// Whether scheduled cycles look for insights, as in an always-on space.
    pub(crate) insights: AtomicBool,
    pub(crate) graph_projector: Slot<GraphProjector>,
    /// Entity and fact graphs of single users.
    pub(crate) user_graphs: Option<Arc<UserGraphs>>,
    pub(crate) summary_projector: Slot<SummaryProjector>,
    /// Model-written summary texts, if they are enabled.
    pub(crate) model_summaries: Option<Arc<ModelSummaries>>,
    pub(crate) recall: Option<Arc<Recall>>,
    pub(crate) context: AssemblerParts,
    pub(crate) extractor: Arc<dyn Extractor>,
    /// Files that wait for ingestion.
    pub(crate) inbox: Slot<dyn Inbox>,
    /// The steady clock for the expiry of working memory.
    pub(crate) steady: Arc<SteadyClock>,
    /// Time of the last retention scan, by the monotonic clock.
    pub(crate) retained: Mutex<Option<Duration>>,
    /// Time of the last sweep of working memory, by the monotonic clock.
    pub(crate) swept: Mutex<Option<Duration>>,
    /// Quarantined events of the log, as far as they were counted.
    pub(crate) held_back: Mutex<HeldBackCount>,
    /// Events that this process has appended since the last fold.
    pub(crate) unfolded: AtomicU64,
    /// Foreground calls in progress; background work gives way to them.
    pub(crate) served: ForegroundCalls,
    /// Whether anything is stored.
    pub(crate) switch: StorageSwitch,
    /// Whether contexts are assembled.
    pub(crate) assembles: bool,
}

/// The parts behind their guards, for reads.
#[derive(Clone, Debug)]
pub(crate) struct GuardedParts {
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
    /// Creates a builder.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn wired(wired: EngineParts) -> Self {
        Self(Arc::new(wired))
    }

    /// Returns the handle for one scope; its space must be that of the stores.
    pub fn memory(&self, scope: Scope) -> Memory {
        Memory { engine: self.clone(), scope, secondary: Secondary::default() }
    }

    /// Returns the extractor of names and claims.
    pub(crate) fn extractor(&self) -> &dyn Extractor {
        self.0.extractor.as_ref()
    }

    /// Whether another handle to this engine exists.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Returns the path of its database; `None` in memory and in PostgreSQL.
    #[cfg(feature = "sqlite")]
    pub(crate) fn file(&self) -> Option<&std::path::Path> {
        self.0.file.as_ref().map(mnemal_store::SqliteStore::path)
    }

    /// Empties the write-ahead log and closes the files, or stores what is queued for PostgreSQL; every later call fails.
    /// Dropping the engine without it loses nothing either.
    ///
    /// # Errors
    /// `Unavailable` when the write-ahead log could not be emptied; acknowledged events are safe nevertheless.
    pub async fn close(&self) -> Result<()> {
        #[cfg(feature = "sqlite")]
        if let Some(file) = &self.0.file {
            return file.close().await;
        }
        #[cfg(feature = "postgres")]
        if let Some(database) = &self.0.database {
            return database.close().await;
        }
        Ok(())
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Returns the current time of the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Appends events, as [`append_to`](Self::append_to), with no other spaces involved.
    pub(crate) async fn append(&self, events: Vec<NewEvent>) -> Result<Degraded<Vec<Ack>>> {
        self.append_to(self.log()?, events).await
    }

    /// Appends events through a log of this engine, folds the notes if a decision is among them, and returns the acknowledgements
    /// in order.
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

    /// Folds the notes until they have caught up or 200 ms have passed; the remaining lag is a gap.
    pub(crate) async fn fold(&self) -> Vec<Gap> {
        self.fold_within(self.settings().recall.catch_up()).await
    }

    /// Folds notes and learnings until they have caught up or the time is over; the remaining lag is a gap.
    ///
    /// A long-running program leaves this to [`maintain`](Self::maintain).
    pub async fn fold_within(&self, budget: Duration) -> Vec<Gap> {
        self.0.unfolded.store(0, Ordering::Relaxed);
        let Ok(events) = self.events() else { return Vec::new() };
        let head = match events.head().await {
            Ok(head) => head,
            Err(error) => return vec![Gap { layer: Layer::Learnings, cause: error.into() }],
        };
        mnemal_events::catch_up(&self.0.projectors, head, budget, self.0.clock.as_ref()).await
    }

    /// Folds notes, graph and summaries, one after the other, until all have caught up or the time is over; the remaining lag is
    /// a gap.
    ///
    /// For a short-lived program that has appended many events; a long-running one leaves it to [`maintain`](Self::maintain).
    pub async fn read_within(&self, budget: Duration) -> Vec<Gap> {
        let clock = &self.0.clock;
        let until = clock.monotonic() + budget;
        let left = || until.saturating_sub(clock.monotonic());
        let mut gaps = self.fold_within(left()).await;
        gaps.extend(self.fold_graph_within(left()).await);
        gaps.extend(self.fold_summaries_within(left()).await);
        gaps
    }

    /// Folds the graph until it has caught up or the time is over; the remaining lag is a gap.
    ///
    /// Extraction costs more than folding a note, so appends do not wait for it: upkeep does it, and reads of the graph.
    pub(crate) async fn fold_graph(&self) -> Vec<Gap> {
        self.fold_graph_within(self.settings().recall.catch_up()).await
    }

    /// As [`fold_graph`](Self::fold_graph), with another time limit.
    pub(crate) async fn fold_graph_within(&self, budget: Duration) -> Vec<Gap> {
        let Slot::Filled(projector) = &self.0.graph_projector else { return Vec::new() };
        let mut gaps = self.stepped(Arc::<GraphProjector>::clone(projector), budget).await;
        gaps.extend(Box::pin(self.regained_rows(projector, budget)).await);
        gaps
    }

    /// Makes the rows anew that an interrupted forget removed with others, within the time; returns the gap of what is left.
    pub(crate) async fn regained_rows(&self, projector: &GraphProjector, budget: Duration) -> Option<Gap> {
        let renewed = match projector.lacks_rows().await {
            Ok(false) => return None,
            Ok(true) => self.renew_graph(budget).await,
            Err(error) => Err(error),
        };
        let cause = match renewed {
            Ok(0) => return None,
            Ok(behind) => GapCause::Stale { behind },
            Err(error) => error.into(),
        };
        Some(Gap { layer: Layer::Graph, cause })
    }

    /// Folds the summaries until they have caught up or the time is over, as [`fold_graph`](Self::fold_graph).
    pub(crate) async fn fold_summaries(&self) -> Vec<Gap> {
        self.fold_summaries_within(self.settings().recall.catch_up()).await
    }

    /// As [`fold_summaries`](Self::fold_summaries), with another time limit.
    pub(crate) async fn fold_summaries_within(&self, budget: Duration) -> Vec<Gap> {
        let Slot::Filled(projector) = &self.0.summary_projector else { return Vec::new() };
        self.stepped(Arc::<SummaryProjector>::clone(projector), budget).await
    }

    /// Marks a foreground call as in progress, until the guard is dropped.
    pub(crate) fn serves(&self) -> ForegroundGuard<'_> {
        self.0.served.serve()
    }

    /// Waits for the turn of one piece of background work, and up to 100 ms for foreground calls; the turn lasts until the permit
    /// is dropped.
    pub(crate) async fn piece(&self) -> Option<WorkSlot<'_>> {
        self.0.served.piece().await
    }

    /// Rebuilds the summaries until no node is left stale after an erasure, however long it takes: the path of such a node
    /// contains the name of its session. Failures are left to upkeep, and the byte search of a forget reports them.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, or a step does not rebuild a node; nodes that were rebuilt stay.
    pub(crate) async fn rebuild_erased_summaries(&self) -> Result<()> {
        let (Slot::Filled(projector), Slot::Filled(summaries)) =
            (&self.0.summary_projector, &self.0.stores.summaries)
        else {
            return Ok(());
        };
        let mut before = Vec::new();
        loop {
            let erased = summaries.erased_nodes(NonZeroUsize::MIN).await?;
            if erased.is_empty() {
                return Ok(());
            }
            if erased == before {
                return Err(Error::new(ErrorKind::Unavailable, "a summary was not made anew"));
            }
            before = erased;
            let _progress = projector.step(mnemal_summaries::CYCLE).await?;
        }
    }

    /// Steps a projector until it has caught up or the time is over; the remaining lag, or what failed, is a gap.
    pub(crate) async fn stepped(&self, projector: Arc<dyn Projector>, budget: Duration) -> Vec<Gap> {
        let Ok(events) = self.events() else { return Vec::new() };
        let head = match events.head().await {
            Ok(head) => head,
            Err(error) => return vec![Gap { layer: projector.layer(), cause: error.into() }],
        };
        mnemal_events::catch_up(&[projector], head, budget, self.0.clock.as_ref()).await
    }

    /// Returns every version of the notes that were read from these events.
    pub(crate) async fn notes_of(&self, events: &[EventId]) -> Result<Vec<Learning>, GapCause> {
        Ok(self.guarded().learnings.part()?.all(&crate::remember::read_in(events)).await?)
    }

    /// Returns the currently valid notes.
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

    /// Returns the acknowledgements of a disabled engine, which drops events; `None` in every other one.
    pub(crate) fn dropped(&self, events: &[NewEvent]) -> Option<Degraded<Vec<Ack>>> {
        if self.0.switch == StorageSwitch::On {
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

    /// Returns the append pipeline.
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

    pub(crate) fn guarded(&self) -> &GuardedParts {
        &self.0.guarded
    }

    pub(crate) fn answering(&self) -> &GuardedParts {
        &self.0.answering
    }

    pub(crate) fn parts(&self) -> &EngineParts {
        &self.0
    }
}

pub(crate) fn missing(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("this engine was built without {what}"))
}
