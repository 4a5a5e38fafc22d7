//! Background upkeep: one step of maintenance, run by one process of a space at a time.

use std::num::NonZeroUsize;
use std::time::Duration;

use mnemal_core::{
    Acquisition, BLOCK_ROWS, Cursor, Degraded, ErrorKind, Event, EventFilter, Gap, GapCause, Gaps, Indexer,
    Integrity, Layer, Lease, LeaseName, NewEvent, OwnerId, Result, Seq, Within,
};

use crate::embedding::EmbeddedBy;
use crate::engine::{Engine, FOLD_WAIT, missing};

/// Name of the lease of background work. Source: own choice.
pub(crate) const BACKGROUND: &str = "background";
/// Lifetime of the lease without renewal. Source: own default, ADR 7.
pub(crate) const TTL: Duration = Duration::from_secs(30);
/// Number of events reindexed at once. Source: a full block.
const PAGE: NonZeroUsize = NonZeroUsize::new(BLOCK_ROWS).expect("a block has rows");

/// Time limit for the vectors of one embedder. Source: own default; both fit into the lease.
const VECTORS: Duration = Duration::from_secs(12);

/// Time limit for inbox files per step; the next step continues. Source: own default.
const INBOX: Duration = Duration::from_secs(5);

/// Time limit for notes and learnings, and for a rebuild of the graph's rows; the next step continues. Source: own default, which
/// fits into the lease.
pub(crate) const RENEWAL: Duration = Duration::from_secs(5);

/// Time slice of folding, after which other work and foreground calls go first. Source: own choice, a few steps.
pub(crate) const SLICE: Duration = Duration::from_millis(20);

/// The result of one step of upkeep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceReport {
    /// The current holder of the lease; then nothing was done.
    pub held_by: Option<OwnerId>,
    /// The previous holder that did not release the lease: it crashed, and the space was checked.
    pub left_by: Option<OwnerId>,
    /// Expired receipts that were removed.
    pub swept: u64,
    /// Events that retention forgot, if it is enabled.
    pub outdated: u64,
    /// Expired working memory entries that were removed.
    pub expired: u64,
    /// Index blocks that were merged.
    pub sealed: u64,
    /// Index rows that were rebuilt, because their block was damaged.
    pub reindexed: u64,
    /// Events that were written from inbox files.
    pub ingested: u64,
    /// Vectors that were made for events without one.
    pub embedded: u64,
    /// Events that remain until the graph is rebuilt, after a forget or with another extractor version.
    pub unrenewed: u64,
    /// Lag of the graph or the summaries, whichever is greater, in events: a step folds for a fraction of a second, and the next
    /// one continues.
    pub unread: u64,
    /// Operations of a cycle, if one was due.
    pub dreamt: u64,
    /// Result of the integrity check; only after a crash.
    pub check: Option<Integrity>,
}

impl MaintenanceReport {
    /// Whether the next step should run at once: there is lag, and less than after the step before.
    pub fn has_more(&self, before: Option<u64>) -> bool {
        self.unread > 0 && before.is_none_or(|before| self.unread < before)
    }

    /// Records the lag of a layer; every other problem is a gap.
    fn goes_on(&mut self, told: Vec<Gap>, gaps: &mut Gaps) {
        for gap in told {
            match unread(&gap) {
                Some(behind) => self.unread = self.unread.max(behind),
                None => gaps.add(gap),
            }
        }
    }
}

impl Engine {
    /// Runs one step of upkeep if the lease is free, then releases it: ingests inbox files, folds the projections, finishes
    /// interrupted forgets, removes expired receipts and working memory entries, checks the space after a crash of another
    /// process, rebuilds damaged index blocks, merges small ones, embeds events that lack a vector of a configured model, and
    /// runs a consolidation cycle if one is due and no conversation is active. It builds no vector index:
    /// [`build_vector_index`](Self::build_vector_index) does, in each process that searches.
    ///
    /// Spawns nothing: a long-running process calls it from time to time, with an owner id of its own. Dropping the future leaves
    /// the lease to expire after 30 s, which counts as a crash.
    ///
    /// # Errors
    /// `Unavailable` when the lease store does not answer; later failures are gaps of their layers.
    pub async fn maintain(&self, owner: &OwnerId) -> Result<Degraded<MaintenanceReport>> {
        let mut gaps = Gaps::default();
        let mut tended = MaintenanceReport::default();
        // Without a lease store there is only this process.
        let Ok(leases) = self.stores().leases.part() else {
            self.step(None, &mut tended, &mut gaps).await;
            return Ok(gaps.attach(tended));
        };
        match leases.acquire(&LeaseName::new(BACKGROUND)?, owner, self.now(), TTL).await? {
            Acquisition::Held(lease) => tended.held_by = Some(lease.owner),
            Acquisition::Acquired { lease, left_by } => {
                tended.left_by = left_by;
                if let Some(lease) = self.step(Some(lease), &mut tended, &mut gaps).await {
                    let released = leases.release(lease).await.map_err(GapCause::from);
                    gaps.keep(Layer::Events, released);
                }
            }
        }
        Ok(gaps.attach(tended))
    }

    /// Runs the parts of a step in order while the lease holds; returns the lease unless it was lost.
    async fn step(
        &self,
        mut lease: Option<Lease>,
        tended: &mut MaintenanceReport,
        gaps: &mut Gaps,
    ) -> Option<Lease> {
        let parts = [
            StepPart::Inbox,
            StepPart::Fold,
            StepPart::Forgets,
            StepPart::Sweep,
            StepPart::Check,
            StepPart::Seal,
            StepPart::Graph,
            StepPart::Retention,
            StepPart::Summaries,
            StepPart::Vectors,
            StepPart::Dream,
        ];
        for part in parts {
            if let Some(held) = lease.take() {
                lease = Some(self.renew(held, gaps).await?);
            }
            self.do_part(part, tended, gaps).await;
        }
        lease
    }

    /// Renews a lease to its full lifetime; `None` when it is lost.
    async fn renew(&self, lease: Lease, gaps: &mut Gaps) -> Option<Lease> {
        let leases = self.stores().leases.part().ok()?;
        match leases.renew(&lease, self.now(), TTL).await {
            Ok(lease) => Some(lease),
            // Another process continues the work.
            Err(error) if error.kind() == ErrorKind::Conflict => None,
            Err(error) => {
                gaps.add(Gap { layer: Layer::Events, cause: error.into() });
                None
            }
        }
    }

    async fn do_part(&self, part: StepPart, tended: &mut MaintenanceReport, gaps: &mut Gaps) {
        // The other parts take their turn piece by piece.
        let _piece = match part {
            StepPart::Sweep | StepPart::Seal => self.piece().await,
            StepPart::Check if tended.left_by.is_some() => self.piece().await,
            _ => None,
        };
        match part {
            StepPart::Inbox => tended.ingested = self.tend_inbox(INBOX, gaps).await,
            StepPart::Fold => {
                let failed = self.in_turns(RENEWAL, || self.fold_within(SLICE)).await;
                for gap in failed {
                    gaps.add(gap);
                }
            }
            // The next step continues after the time limit; a lagging graph reports a gap in its answers.
            StepPart::Graph => {
                let failed = self.in_turns(FOLD_WAIT, || self.fold_graph_within(SLICE)).await;
                tended.goes_on(failed, gaps);
                let renewed = self.renewed_in_turns().await.map_err(GapCause::from);
                tended.unrenewed = gaps.keep(Layer::Graph, renewed);
            }
            StepPart::Summaries => {
                let failed = self.in_turns(FOLD_WAIT, || self.fold_summaries_within(SLICE)).await;
                tended.goes_on(failed, gaps);
            }
            StepPart::Forgets => {
                gaps.keep(Layer::Events, self.finish_forgets().await.map_err(GapCause::from));
            }
            StepPart::Sweep => {
                tended.swept = gaps.keep(Layer::Receipts, self.sweep().await);
                tended.expired = gaps.keep(Layer::Working, self.sweep_working().await);
            }
            // Retention runs after the graph, which knows the sources of facts.
            StepPart::Retention => {
                let outdated = self.retain().await.map_err(GapCause::from);
                tended.outdated = gaps.keep(Layer::Events, outdated);
            }
            StepPart::Seal => {
                let sealed = self.sealed(tended).await.map_err(GapCause::from);
                tended.sealed = gaps.keep(Layer::Lexical, sealed);
            }
            StepPart::Vectors => {
                if tended.reindexed > 0 {
                    self.parts().tried.clear();
                }
                for by in [EmbeddedBy::InProcess, EmbeddedBy::Background] {
                    let made = tokio::time::timeout(VECTORS, self.fill_a_little(by)).await;
                    let made =
                        made.map_or(Err(GapCause::TimedOut(VECTORS)), |made| made.map_err(GapCause::from));
                    tended.embedded += gaps.keep(Layer::Vector, made);
                }
            }
            StepPart::Check if tended.left_by.is_some() => {
                let found = self.check().await.map(Some).map_err(GapCause::from);
                tended.check = gaps.keep(Layer::Events, found);
                if tended.check.as_ref().is_some_and(|check| !check.findings.is_empty()) {
                    let made = self.reindex_damaged().await.map_err(GapCause::from);
                    tended.reindexed = gaps.keep(Layer::Lexical, made);
                }
            }
            StepPart::Dream => {
                let made = self.digest().await.map_err(GapCause::from);
                tended.dreamt = gaps.keep(Layer::Learnings, made);
                tended.dreamt += gaps.keep(Layer::Learnings, self.dream_if_due().await);
            }
            StepPart::Check => {}
        }
    }

    /// Folds in slices, each as its own piece of work, until nothing is left, nothing progresses or the time is over.
    pub(crate) async fn in_turns<F>(&self, budget: Duration, fold: impl Fn() -> F) -> Vec<Gap>
    where
        F: Future<Output = Vec<Gap>>,
    {
        let clock = &self.parts().clock;
        let (until, mut before) = (clock.monotonic() + budget, None);
        loop {
            let piece = self.piece().await;
            let gaps = fold().await;
            drop(piece);
            let left: u64 = gaps.iter().filter_map(unread).sum();
            let moves = before.is_none_or(|before| left < before);
            if left == 0 || !moves || clock.monotonic() >= until {
                return gaps;
            }
            before = Some(left);
        }
    }

    /// Rebuilds the graph's rows piece by piece; returns the number of remaining events.
    async fn renewed_in_turns(&self) -> Result<u64> {
        let clock = &self.parts().clock;
        let until = clock.monotonic() + RENEWAL;
        loop {
            let piece = self.piece().await;
            let behind = self.renew_graph(SLICE).await?;
            drop(piece);
            if behind == 0 || clock.monotonic() >= until {
                return Ok(behind);
            }
        }
    }

    /// Merges index blocks; an unreadable one is rebuilt first.
    async fn sealed(&self, tended: &mut MaintenanceReport) -> Result<u64> {
        let Ok(upkeep) = self.upkeep() else { return Ok(0) };
        match upkeep.seal().await {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                tended.reindexed += self.reindex_damaged().await?;
                upkeep.seal().await
            }
            sealed => sealed,
        }
    }

    /// Removes expired receipts; returns their number.
    async fn sweep(&self) -> Result<u64, GapCause> {
        let Ok(receipts) = self.stores().receipts.part() else { return Ok(0) };
        let kept = self.settings().retention.recalls();
        let micros = i64::try_from(kept.as_micros()).unwrap_or(i64::MAX);
        Ok(receipts.sweep(self.now().plus_micros(-micros)).await?)
    }

    /// Rebuilds the index if it lacks the newest events because its rows were lost; otherwise recall would silently find nothing.
    /// A failure shows in the health of the layer.
    #[cfg(feature = "sqlite")]
    pub(crate) async fn restore_index(&self) {
        let Ok(upkeep) = self.upkeep() else { return };
        let has_indexer = self.parts().indexer.is_filled();
        if !has_indexer || !matches!(upkeep.lacks_index().await, Ok(true)) {
            return;
        }
        match self.reindex_damaged().await {
            Ok(rows) => tracing::warn!(rows, "the index had lost rows and is made anew"),
            Err(error) => tracing::warn!(error = error.what(), "the index has lost rows"),
        }
    }

    /// Rebuilds every index block that is unreadable or does not match its events; returns the number of written rows. A block
    /// with a damaged event stays as it is.
    ///
    /// # Errors
    /// `Unsupported` without a store or an index, `Corrupt` when an event of a damaged block is damaged too, `Unavailable`
    /// when the store does not answer.
    pub async fn reindex_damaged(&self) -> Result<u64> {
        let upkeep = self.upkeep()?;
        let indexer = self.parts().indexer.part().map_err(|_| missing("an index"))?;
        let (mut written, mut failed) = (0, None);
        for stretch in upkeep.damaged_index().await? {
            match self.indexed_anew(indexer, stretch).await {
                Ok(rows) => written += upkeep.reindex(stretch, &rows).await?,
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(written), Err)
    }

    /// Returns the live events of a range with new index entries.
    async fn indexed_anew(
        &self,
        indexer: &dyn Indexer,
        (first, last): (Seq, Seq),
    ) -> Result<Vec<(Event, mnemal_core::IndexEntry)>> {
        let living = EventFilter { erased: Within::Only(false), ..EventFilter::live() };
        let mut after = Cursor(first.0.checked_sub(1).filter(|seq| *seq > 0).map(Seq));
        let mut rows = Vec::new();
        loop {
            let mut page = self.events()?.scan(&living, after, PAGE).await?;
            let more = page.len() == PAGE.get();
            page.retain(|event| event.seq <= last);
            let whole = more && page.len() == PAGE.get();
            after = page.last().map_or(after, |event| Cursor(Some(event.seq)));
            let bodies: Vec<NewEvent> = page.iter().filter_map(Event::body).map(shortened).collect();
            rows.extend(page.into_iter().zip(indexer.index(&bodies).await?));
            if !whole {
                return Ok(rows);
            }
        }
    }
}

/// The parts of a step.
#[derive(Clone, Copy, Debug)]
enum StepPart {
    Inbox,
    Fold,
    Graph,
    Retention,
    Summaries,
    Forgets,
    Sweep,
    Check,
    Seal,
    Vectors,
    Dream,
}

/// Returns the lag of a layer, if lag is its only problem.
fn unread(gap: &Gap) -> Option<u64> {
    match gap.cause {
        GapCause::Stale { behind } => Some(behind),
        _ => None,
    }
}

/// Copies an event with its text truncated to the indexed length.
pub(crate) fn shortened(event: &NewEvent) -> NewEvent {
    let mut event = event.clone();
    let cut = event.content.floor_char_boundary(mnemal_events::LONGEST_INDEXED);
    event.content.truncate(cut);
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_step_comes_at_once_while_less_and_less_is_left() {
        let behind = |behind| Gap { layer: Layer::Graph, cause: GapCause::Stale { behind } };
        let lost = Gap { layer: Layer::Summaries, cause: GapCause::NotConfigured };
        let (mut tended, mut gaps) = (MaintenanceReport::default(), Gaps::default());
        assert!(!tended.has_more(None), "nothing was left");
        tended.goes_on(vec![behind(90)], &mut gaps);
        tended.goes_on(vec![behind(40), lost], &mut gaps);
        assert_eq!((tended.unread, gaps.attach(()).gaps.len()), (90, 1));
        assert!(tended.has_more(None) && tended.has_more(Some(91)));
        assert!(!tended.has_more(Some(90)), "nothing moves");
    }
}
