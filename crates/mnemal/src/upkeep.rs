//! Background upkeep: one step of what one process of a space does for all of them.

use std::num::NonZeroUsize;
use std::time::Duration;

use mnemal_core::{
    BLOCK_ROWS, Cursor, Degraded, ErrorKind, Event, EventFilter, Gap, GapCause, Gaps, Indexer, Integrity,
    Layer, Lease, LeaseName, NewEvent, OwnerId, Result, Seq, Turn, Within,
};

use crate::embedding::EmbeddedBy;
use crate::engine::{Engine, FOLD_WAIT, missing};

/// The lease of background work. Source: ARCHITECTURE 8.
pub(crate) const BACKGROUND: &str = "background";
/// How long the lease lasts without being renewed. Source: own default, ADR 7.
pub(crate) const TTL: Duration = Duration::from_secs(30);
/// Events that are indexed anew at once. Source: a full block.
const PAGE: NonZeroUsize = NonZeroUsize::new(BLOCK_ROWS).expect("a block has rows");

/// Most time for the vectors of one embedder. Source: own default; both fit into the lease.
const VECTORS: Duration = Duration::from_secs(12);

/// Most time for files of the inbox before the other parts have their turn; the next step goes on. Source: own default.
const INBOX: Duration = Duration::from_secs(5);

/// Most time for notes and learnings, and for making the graph's rows anew; the next step goes on. Source: own default, which fits into the lease.
pub(crate) const RENEWAL: Duration = Duration::from_secs(5);

/// Most time of folding in one piece, before other work and whoever is served go first. Source: own choice, a few steps.
pub(crate) const SLICE: Duration = Duration::from_millis(20);

/// What one step of upkeep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tended {
    /// Whose turn it is instead; then nothing was done.
    pub held_by: Option<OwnerId>,
    /// Who had the turn before and did not give it back: that owner came to an unclean end, and the space was checked.
    pub left_by: Option<OwnerId>,
    /// Receipts that were older than their retention.
    pub swept: u64,
    /// Events that retention forgot, where it is enabled.
    pub outdated: u64,
    /// Entries of working memory that had expired.
    pub expired: u64,
    /// Index blocks that were merged.
    pub sealed: u64,
    /// Index rows that were made anew, because their block was damaged.
    pub reindexed: u64,
    /// Events that were written of files of the inbox.
    pub ingested: u64,
    /// Vectors that were made for events without one of the model.
    pub embedded: u64,
    /// Events that must still be read before the graph's rows are what the log gives, after a forget or with another version
    /// of what reads them.
    pub unrenewed: u64,
    /// Events that the graph or the summaries have not read yet, of the one that is further behind: a step reads for a part of a
    /// second, and the next one goes on.
    pub unread: u64,
    /// Operations that a cycle carried out, when it was time for one.
    pub dreamt: u64,
    /// What the check found; only after an unclean end.
    pub check: Option<Integrity>,
}

impl Tended {
    /// Whether the next step should come at once: more is to be read, and less than after the step before.
    pub fn has_more(&self, before: Option<u64>) -> bool {
        self.unread > 0 && before.is_none_or(|before| self.unread < before)
    }

    /// Notes what a layer has not read yet; everything else that it told is a gap.
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
    /// Does one step of upkeep if it is nobody else's turn, then gives the turn back: reads files of the inbox, folds the projections, finishes
    /// interrupted forgets, drops old receipts and expired entries of working memory, checks the space where a process before came to an unclean end, makes
    /// damaged index blocks anew, merges small ones, makes vectors for events that have none of a configured model, and runs a cycle of the passes
    /// over the notes when it is time and nobody talks.
    ///
    /// Starts nothing: a process that lives long calls it every now and then, under a name that it made for itself. A
    /// dropped future leaves the turn to run out after 30 s, which counts as an unclean end.
    ///
    /// # Errors
    /// `Unavailable` when the store cannot say whose turn it is; what fails afterwards is a gap of its layer.
    pub async fn tend(&self, owner: &OwnerId) -> Result<Degraded<Tended>> {
        let mut gaps = Gaps::default();
        let mut tended = Tended::default();
        // Without leases there is nobody to share with.
        let Ok(leases) = self.stores().leases.part() else {
            self.step(None, &mut tended, &mut gaps).await;
            return Ok(gaps.attach(tended));
        };
        match leases.acquire(&LeaseName::new(BACKGROUND)?, owner, self.now(), TTL).await? {
            Turn::Held(lease) => tended.held_by = Some(lease.owner),
            Turn::Taken { lease, left_by } => {
                tended.left_by = left_by;
                if let Some(lease) = self.step(Some(lease), &mut tended, &mut gaps).await {
                    let released = leases.release(lease).await.map_err(GapCause::from);
                    gaps.keep(Layer::Events, released);
                }
            }
        }
        Ok(gaps.attach(tended))
    }

    /// Does the parts of a step one after the other as long as the lease holds; returns it unless it was lost.
    async fn step(&self, mut lease: Option<Lease>, tended: &mut Tended, gaps: &mut Gaps) -> Option<Lease> {
        let parts = [
            Part::Inbox,
            Part::Fold,
            Part::Forgets,
            Part::Sweep,
            Part::Check,
            Part::Seal,
            Part::Graph,
            Part::Retention,
            Part::Summaries,
            Part::Vectors,
            Part::Dream,
        ];
        for part in parts {
            if let Some(held) = lease.take() {
                lease = Some(self.renewed(held, gaps).await?);
            }
            self.do_part(part, tended, gaps).await;
        }
        lease
    }

    /// Makes a lease last as long as from the beginning; `None` when it is lost.
    async fn renewed(&self, lease: Lease, gaps: &mut Gaps) -> Option<Lease> {
        let leases = self.stores().leases.part().ok()?;
        match leases.renew(&lease, self.now(), TTL).await {
            Ok(lease) => Some(lease),
            // Somebody else goes on where this stops.
            Err(error) if error.kind() == ErrorKind::Conflict => None,
            Err(error) => {
                gaps.add(Gap { layer: Layer::Events, cause: error.into() });
                None
            }
        }
    }

    async fn do_part(&self, part: Part, tended: &mut Tended, gaps: &mut Gaps) {
        // The others take their turn piece by piece.
        let _piece = match part {
            Part::Sweep | Part::Seal => self.piece().await,
            Part::Check if tended.left_by.is_some() => self.piece().await,
            _ => None,
        };
        match part {
            Part::Inbox => tended.ingested = self.tend_inbox(INBOX, gaps).await,
            Part::Fold => {
                let failed = self.in_turns(RENEWAL, || self.fold_within(SLICE)).await;
                for gap in failed {
                    gaps.add(gap);
                }
            }
            // The next step goes on where time was over; a graph that is behind says so in what it answers.
            Part::Graph => {
                let failed = self.in_turns(FOLD_WAIT, || self.fold_graph_within(SLICE)).await;
                tended.goes_on(failed, gaps);
                let renewed = self.renewed_in_turns().await.map_err(GapCause::from);
                tended.unrenewed = gaps.keep(Layer::Graph, renewed);
            }
            Part::Summaries => {
                let failed = self.in_turns(FOLD_WAIT, || self.fold_summaries_within(SLICE)).await;
                tended.goes_on(failed, gaps);
            }
            Part::Forgets => gaps.keep(Layer::Events, self.finish_forgets().await.map_err(GapCause::from)),
            Part::Sweep => {
                tended.swept = gaps.keep(Layer::Receipts, self.sweep().await);
                tended.expired = gaps.keep(Layer::Working, self.sweep_working().await);
            }
            // Behind the graph, which says what an event carries.
            Part::Retention => {
                let outdated = self.retain().await.map_err(GapCause::from);
                tended.outdated = gaps.keep(Layer::Events, outdated);
            }
            Part::Seal => {
                let sealed = self.sealed(tended).await.map_err(GapCause::from);
                tended.sealed = gaps.keep(Layer::Lexical, sealed);
            }
            Part::Vectors => {
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
            Part::Check if tended.left_by.is_some() => {
                let found = self.check().await.map(Some).map_err(GapCause::from);
                tended.check = gaps.keep(Layer::Events, found);
                if tended.check.as_ref().is_some_and(|check| !check.findings.is_empty()) {
                    let made = self.reindex_damaged().await.map_err(GapCause::from);
                    tended.reindexed = gaps.keep(Layer::Lexical, made);
                }
            }
            Part::Dream => {
                let made = self.digest().await.map_err(GapCause::from);
                tended.dreamt = gaps.keep(Layer::Learnings, made);
                tended.dreamt += gaps.keep(Layer::Learnings, self.dream_if_due().await);
            }
            Part::Check => {}
        }
    }

    /// Folds a little again and again, each time as a piece of its own, until nothing is left, nothing moves or time is over.
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

    /// Makes the graph's rows anew, a piece at a time; returns the events that are left.
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

    /// Merges index blocks; one that cannot be read is made anew first.
    async fn sealed(&self, tended: &mut Tended) -> Result<u64> {
        let Ok(upkeep) = self.upkeep() else { return Ok(0) };
        match upkeep.seal().await {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                tended.reindexed += self.reindex_damaged().await?;
                upkeep.seal().await
            }
            sealed => sealed,
        }
    }

    /// Drops receipts that are older than their retention; returns how many.
    async fn sweep(&self) -> Result<u64, GapCause> {
        let Ok(receipts) = self.stores().receipts.part() else { return Ok(0) };
        let kept = self.settings().retention.recalls();
        let micros = i64::try_from(kept.as_micros()).unwrap_or(i64::MAX);
        Ok(receipts.sweep(self.now().plus_micros(-micros)).await?)
    }

    /// Makes the index anew where it lacks the newest events, because its rows were lost: else nothing would be found, and nobody
    /// told. A failure is told by the state of the layer.
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

    /// Makes every index block anew that cannot be read or does not hold the rows of its events; returns how many rows
    /// were written. What it cannot repair because an event itself is damaged stays as it is.
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

    /// Returns the living events of a stretch with new index entries.
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
            let bodies: Vec<NewEvent> = page.iter().filter_map(Event::kept).map(shortened).collect();
            rows.extend(page.into_iter().zip(indexer.index(&bodies).await?));
            if !whole {
                return Ok(rows);
            }
        }
    }
}

/// What a step consists of.
#[derive(Clone, Copy, Debug)]
enum Part {
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

/// Returns how many events a layer has not read yet, if that is all that is wrong with it.
fn unread(gap: &Gap) -> Option<u64> {
    match gap.cause {
        GapCause::Stale { behind } => Some(behind),
        _ => None,
    }
}

/// Copies an event as far as its text is indexed.
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
        let (mut tended, mut gaps) = (Tended::default(), Gaps::default());
        assert!(!tended.has_more(None), "nothing was left");
        tended.goes_on(vec![behind(90)], &mut gaps);
        tended.goes_on(vec![behind(40), lost], &mut gaps);
        assert_eq!((tended.unread, gaps.attach(()).gaps.len()), (90, 1));
        assert!(tended.has_more(None) && tended.has_more(Some(91)));
        assert!(!tended.has_more(Some(90)), "nothing moves");
    }
}
