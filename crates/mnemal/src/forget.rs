//! Forgetting: compute the closure, log the decision, erase the bodies, notify every layer, scrub the bytes.

mod receipt;
mod scrub;
mod select;
mod withdraw;

use std::collections::BTreeSet;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use mnemal_core::{
    Decision, Error, ErrorKind, Event, EventId, EventKind, Forget, Gap, GapCause, Gaps, Layer, OperationKind,
    Origin, Result, Selector, Tombstone,
};
use mnemal_dream::DigestsPass;
use mnemal_events::ErasedTexts;

pub use self::receipt::{ErasureReceipt, VerifiedReceipt};
pub use self::select::{Description, Similar};
use crate::audit::{AuditAct, AuditRecord};
use crate::engine::Engine;
use crate::memory::Memory;
use crate::message::Message;
use crate::span::Operation;

/// Shortest text that is searched for in the file; shorter ones occur by chance in packed bytes. Source: own default, eight bytes
/// collide by chance once in 2⁶⁴.
pub(crate) const TELLING: usize = 8;

/// Events that one transaction erases; what is left of a forget is finished after a crash. Source: ADR 9, so that it stays below
/// 5 ms.
const AT_ONCE: usize = 4;

/// Time limit for rebuilding the graph's rows. Source: own default, some thousand events.
const RENEWAL: Duration = Duration::from_secs(2);

/// The result of a forget, or of its preview.
#[derive(Clone, Debug, PartialEq)]
pub struct Erasure {
    /// The status of the erasure.
    pub status: ErasureStatus,
    /// The decision in the log; `None` for a preview.
    pub event: Option<EventId>,
    /// The affected events, ascending.
    pub ids: Vec<EventId>,
    /// Number of bodies that were, or would be, erased.
    pub events: u64,
    /// Number of notes that rested on these events alone.
    pub learnings: u64,
    /// Number of lines removed from receipts and from the records shown to sessions.
    pub receipts: u64,
    /// Number of cached model answers that used these events as sources.
    pub completions: u64,
    /// Number of working memory entries that repeated them, or belonged to a session or a user that was forgotten entirely.
    pub working: u64,
    /// Number of processed inbox files that were removed.
    pub files: u64,
    /// Whether the write-ahead log was emptied.
    pub truncated: bool,
    /// What is known of the bytes of the erased texts.
    pub grade: ErasureGrade,
    /// Residual content: copies that the engine cannot reach, records that were not selected, and rows that are not rebuilt yet;
    /// one sentence each.
    pub residual: Vec<String>,
    /// In a preview: near-duplicates that are not selected, most similar first, at most 20.
    pub similar: Vec<Similar>,
    /// The receipt that [`ErasureReceipt::verify`] checks; `None` for a preview.
    pub receipt: Option<ErasureReceipt>,
}

/// The status of a forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErasureStatus {
    /// Nothing was erased: a dry run.
    Preview,
    /// All of it is erased.
    Erased,
    /// No read returns it any more; a reader still holds the write-ahead log, and the bytes disappear with the next checkpoint.
    ErasedPendingCheckpoint,
}

/// What is known of the bytes of erased texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErasureGrade {
    /// Nothing was searched.
    Unsearched,
    /// Something was found that should be gone, or the index could not be compared.
    Found,
    /// No statement returns any of them, from any server; the files of the database are out of reach.
    Gone,
    /// All bytes of the space were searched and hold none of them.
    Verified,
}

impl ErasureGrade {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unsearched => "unsearched",
            Self::Found => "found",
            Self::Gone => "gone",
            Self::Verified => "verified",
        }
    }
}

impl ErasureStatus {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preview => "preview",
            Self::Erased => "erased",
            Self::ErasedPendingCheckpoint => "erased_pending_checkpoint",
        }
    }
}

impl Erasure {
    /// Whether all bytes of the space were searched and hold none of the erased texts.
    pub fn verified(&self) -> bool {
        self.grade == ErasureGrade::Verified
    }

    /// Creates the result for these events.
    fn of(status: ErasureStatus, ids: Vec<EventId>) -> Self {
        Self {
            status,
            event: None,
            events: ids.len() as u64,
            ids,
            learnings: 0,
            receipts: 0,
            completions: 0,
            working: 0,
            files: 0,
            truncated: false,
            grade: ErasureGrade::Unsearched,
            residual: Vec::new(),
            similar: Vec::new(),
            receipt: None,
        }
    }

    /// Adds the sentences about rows that are not rebuilt, and sets the status.
    fn finished(mut self, unmade: Vec<String>) -> Self {
        self.residual.extend(unmade);
        if !self.truncated {
            self.status = ErasureStatus::ErasedPendingCheckpoint;
        }
        self
    }
}

/// A pending forget; awaiting it erases.
#[derive(Debug)]
#[must_use = "nothing is forgotten until it is awaited"]
pub struct ForgetCall {
    memory: Memory,
    selector: Selector,
    names: Vec<String>,
    origin: Origin,
    preview: bool,
}

impl ForgetCall {
    pub(crate) fn new(memory: Memory, selector: Selector) -> Self {
        Self { memory, selector, names: Vec::new(), origin: Origin::UserDirect, preview: false }
    }

    /// Sets the names of a person or thing that is forgotten entirely: working memory entries with such a name are erased too,
    /// and the byte search verifies that no byte holds one.
    pub fn called(mut self, names: Vec<String>) -> Self {
        self.names = names;
        self
    }

    /// Attributes the forget to the agent; by default it is the user's.
    pub fn by_agent(mut self) -> Self {
        self.origin = Origin::Assistant;
        self
    }

    /// Makes this a dry run, which returns a preview.
    pub fn dry_run(mut self) -> Self {
        self.preview = true;
        self
    }

    async fn run(mut self) -> Result<Erasure> {
        let asked = self.selector.clone();
        self.selector = Box::pin(self.memory.own_selector(self.selector)).await?;
        let engine = &self.memory.engine;
        let working = self.memory.working_of(&asked).await?;
        let ids = match engine.log()?.closure(&self.selector).await {
            Err(error) if error.kind() == ErrorKind::NotFound && working > 0 => Vec::new(),
            found => found?,
        };
        let ids = self.memory.without_others(ids).await?;
        if ids.is_empty() && working == 0 {
            return Err(Error::not_found("nothing matches what should be forgotten"));
        }
        let learnings = match engine.notes_of(&ids).await {
            Ok(notes) => notes.len() as u64,
            Err(GapCause::NotConfigured) => 0,
            Err(_) => {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    "cannot forget: the notes do not answer; retry",
                ));
            }
        };
        if self.preview {
            let similar = self.memory.similar_to(&ids).await;
            return Ok(Erasure { learnings, working, similar, ..Erasure::of(ErasureStatus::Preview, ids) });
        }
        // Finish interrupted forgets first, because this one may include their decisions.
        engine.finish_forgets().await?;
        // The name of a session or a key can be as confidential as its content, so the log stores ids only.
        let selector = Selector::Events(Vec::new());
        let decision = Decision::Forget(Forget { selector, events: ids.clone() });
        let ack = self.memory.log(Message::of(EventKind::Decision(decision), self.origin, "")).await?;
        // Before the bytes are searched, so that the write-ahead log is emptied of it too.
        let removed = self.memory.forget_working_of(&asked).await?;
        let mut done = engine.erase_called(&ids, &self.names).await?;
        done.working += removed;
        if done.truncated {
            engine.upkeep()?.forgets_finished(&[ack.id]).await?;
        }
        let mut done = Erasure { event: Some(ack.id), learnings, ..done };
        done.receipt = Some(ErasureReceipt::of(&done, &self.memory));
        let act = AuditRecord::new(AuditAct::Forget, self.origin).space(&self.memory.scope.space).id(ack.id);
        engine.audit(&act.count("events", done.events).count("notes", learnings))?;
        Ok(done)
    }
}

impl IntoFuture for ForgetCall {
    type Output = Result<Erasure>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let observed = self.memory.observed(Operation::Delete);
        Box::pin(observed.run(self.run(), |done, observed| observed.records(done.ids.iter())))
    }
}

impl Engine {
    /// Erases events of a logged forget; idempotent, so it can be repeated after a crash.
    pub(crate) async fn erase(&self, ids: &[EventId]) -> Result<Erasure> {
        self.erase_called(ids, &[]).await
    }

    /// As [`erase`](Self::erase), for an entity with these names that is forgotten entirely.
    async fn erase_called(&self, ids: &[EventId], names: &[String]) -> Result<Erasure> {
        let kept = self.events()?.get(ids).await?;
        let (key, now) = (&self.parts().key, self.now());
        let mut done = if self.log()?.are_copies(&kept).await? {
            let tombstones = mnemal_events::bare_tombstones_for(&kept, key, now);
            let (mut done, unmade) = self.erase_derived(&kept, &tombstones).await?;
            // The words are still in the log, so the byte search is skipped.
            self.scrub(&ErasedTexts::default(), &mut done).await?;
            done.finished(unmade)
        } else {
            let tombstones = mnemal_events::tombstones_for(&kept, key, now);
            let mut done = self.bury_called(&kept, &tombstones, names).await?;
            done.residual.extend(self.copies_of(&kept).await?);
            done
        };
        done.ids = ids.to_vec();
        Ok(done)
    }

    /// Erases events with everything derived from them, and verifies it: events of a forget, and events of a backup that were
    /// forgotten since.
    pub(crate) async fn erase_with_proof(&self, kept: &[Event], tombstones: &[Tombstone]) -> Result<Erasure> {
        self.bury_called(kept, tombstones, &[]).await
    }

    async fn bury_called(
        &self,
        kept: &[Event],
        tombstones: &[Tombstone],
        names: &[String],
    ) -> Result<Erasure> {
        let erasing = ErasedTexts::of(kept, TELLING).with_names(names, TELLING);
        let (mut done, unmade) = self.erase_derived(kept, tombstones).await?;
        done.working = self.forget_working(&erasing).await?;
        done.files = self.forget_files(kept).await?;
        self.scrub(&erasing, &mut done).await?;
        Ok(done.finished(unmade))
    }

    /// Erases events with every row derived from them; also returns a sentence for each layer that is not rebuilt.
    async fn erase_derived(
        &self,
        kept: &[Event],
        tombstones: &[Tombstone],
    ) -> Result<(Erasure, Vec<String>)> {
        let ids: Vec<EventId> = kept.iter().map(|event| event.id).collect();
        let mut done = Erasure::of(ErasureStatus::Erased, ids.clone());
        done.events = 0;
        for some in tombstones.chunks(AT_ONCE) {
            done.events += self.events()?.erase(some).await?;
        }
        self.parts().context.line_cache.clear();
        if let Some(recall) = &self.parts().recall {
            recall.drop_built();
        }
        let unmade = self.rebuild_derived().await;
        if let Ok(receipts) = self.stores().receipts.part() {
            done.receipts = receipts.erase(&ids).await?;
        }
        done.completions = self.erase_completions(&ids).await?;
        if let (Ok(ledger), true) = (self.stores().ledger.part(), kept.iter().any(is_digest)) {
            ledger.put(&[DigestsPass::again(self.now())]).await?;
        }
        Ok((done, unmade))
    }

    /// Folds the decision, and rebuilds the rows that rested on erased events and on others too; returns one sentence for each
    /// unfinished layer, which upkeep finishes.
    async fn rebuild_derived(&self) -> Vec<String> {
        let mut gaps = Gaps::default();
        // A projector drops what was forgotten when it reads the decision, so its lag counts.
        self.fold().await.into_iter().for_each(|gap| gaps.add(gap));
        // Events that the graph has not read yet have left nothing in it.
        let failed = self.fold_graph().await.into_iter();
        failed.filter(|gap| !matches!(gap.cause, GapCause::Stale { .. })).for_each(|gap| gaps.add(gap));
        match self.renew_graph(RENEWAL).await {
            Ok(0) => {}
            Ok(behind) => gaps.add(Gap { layer: Layer::Graph, cause: GapCause::Stale { behind } }),
            Err(error) => gaps.add(Gap { layer: Layer::Graph, cause: error.into() }),
        }
        if let Err(error) = self.rebuild_erased_summaries().await {
            gaps.add(Gap { layer: Layer::Summaries, cause: error.into() });
        }
        let left = |gap: &Gap| format!("what rested on them is not all dropped or made anew yet: {gap}");
        gaps.attach(()).gaps.iter().map(left).collect()
    }

    /// Finishes forgets that a crash interrupted; [`Builder::open`](crate::Builder) calls it before the first read.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer; call it again.
    pub async fn finish_forgets(&self) -> Result<()> {
        let Ok(upkeep) = self.upkeep() else { return Ok(()) };
        let unfinished = upkeep.unfinished_forgets().await?;
        if unfinished.is_empty() {
            return Ok(());
        }
        let named = self.named_by(&unfinished).await?;
        let mut done = true;
        if !named.is_empty() {
            let erasure = self.erase(&named).await?;
            done = erasure.truncated;
            tracing::info!(
                layer = Layer::Events.as_str(),
                events = erasure.events,
                "finished an interrupted forget"
            );
        }
        // While the write-ahead log is still held, the forgets stay unfinished, and the next call continues.
        if done { upkeep.forgets_finished(&unfinished).await } else { Ok(()) }
    }

    /// Returns the events of this space that forget decisions list, ascending.
    async fn named_by(&self, decisions: &[EventId]) -> Result<Vec<EventId>> {
        let mut named = BTreeSet::new();
        for decision in self.existing_events(decisions).await? {
            if let Some(EventKind::Decision(Decision::Forget(forget))) =
                decision.body().map(|kept| &kept.kind)
            {
                named.extend(forget.events.iter().copied());
            }
        }
        let named: Vec<_> = named.into_iter().collect();
        Ok(self.existing_events(&named).await?.into_iter().map(|event| event.id).collect())
    }

    /// Returns those of the given events that exist in this space.
    pub(crate) async fn existing_events(&self, ids: &[EventId]) -> Result<Vec<Event>> {
        let events = self.events()?;
        match events.get(ids).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            answer => return answer,
        }
        let mut known = Vec::new();
        for id in ids {
            match events.get(&[*id]).await {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                found => known.extend(found?),
            }
        }
        Ok(known)
    }
}

/// Whether an event is a digest of a text.
fn is_digest(event: &Event) -> bool {
    let kind = event.body().map(|kept| &kept.kind);
    matches!(kind, Some(EventKind::Operation(done)) if matches!(done.kind, OperationKind::Digest { .. }))
}
