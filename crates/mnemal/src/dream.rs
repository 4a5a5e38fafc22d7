//! Consolidation in the background.

pub use mnemal_dream::{
    Assessment, Cycle as DreamCycle, CycleMode as DreamMode, Dreamer, Family as DreamFamily, Finding,
    INVARIANTS, Invariant, Pace, ProposalOutcome as DreamOutcome, Refusal, Sample as DreamSample, Severity,
};

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    Acquisition, BackgroundPermit, Cursor, Decision, Digest, Error, ErrorKind, Event, EventFilter, EventId,
    EventKind, GapCause, Gaps, LONGEST_DIGEST, Layer, Learning, LearningId, LearningStore, LeaseName,
    LedgerKind, LedgerLine, NewEvent, Operation, OwnerId, Pass, PassOutcome, Result, Role, Slot, Tag,
    Timestamp, Within,
};
use mnemal_dream::{
    Cycle, CycleMode, DigestWriter, Digester, DigestsPass, DreamParts, ExactDuplicatesPass, ExpiryPass,
    InsightWriter, InsightsPass, InspectionCounts, Inspector, Journal, Namer, NearDuplicatesPass,
    RewriteRules, Sample, TagSpellingsPass, WriteOutcome,
};
use mnemal_extract::{OwnWords, summarize_text};
use mnemal_graph::{CardinalityPass, DuplicateEntityPass};

use crate::engine::{Engine, missing};
use crate::extract::named_in;
use crate::memory::Memory;
use crate::settings::DreamSchedule;
use crate::upkeep::{BACKGROUND, RENEWAL, SLICE, TTL};

/// Events per page. Source: own default, the largest batch of one append (1,000 events).
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// Idle time before a scheduled cycle. Source: nanobot v2, which backs off for 60 s after the last activity.
const QUIET: Duration = Duration::from_mins(1);
/// Name of the cycles that only make digests.
const DIGESTS: &str = "reading";
/// Lease of the passes that ask a model; separate, so that other background work does not wait for them.
const MODELS: &str = "models";
/// Minimum interval between two scheduled cycles that ask a model. Source: the pass ledger of RockBot, which merges with a model
/// at most every 6 h.
const BY_MODEL: Duration = Duration::from_hours(6);

impl Engine {
    /// Runs one consolidation cycle now, or previews it, over notes, graph and summaries that have caught up with the log: an
    /// explicit cycle ignores the interval, and reviews again the groups that earlier cycles gave up. Nothing is deleted, and
    /// [`FactsHandle::undoing`](crate::areas::FactsHandle::undoing) can undo every operation.
    /// A configured language model is asked too, also in a preview; scheduled cycles do not wait for one.
    /// A preview stores the cost and answers of the model, and lets layers catch up as any read does; it writes nothing else.
    ///
    /// # Errors
    /// `Conflict` when another process runs background work now; `Unsupported` without notes or a log.
    pub async fn dream(&self, owner: &OwnerId, run: CycleMode) -> Result<Cycle> {
        self.dream_with(Vec::new(), owner, run).await
    }

    /// Runs one explicit cycle, as [`dream`](Self::dream), that always looks for insights, whatever the settings say: in the 20
    /// oldest notes that have not been reviewed yet, and not in fewer than two.
    ///
    /// # Errors
    /// As [`dream`](Self::dream).
    pub async fn consolidate(&self, owner: &OwnerId) -> Result<Cycle> {
        let Slot::Filled(learnings) = &self.stores().learnings else { return Err(missing("notes")) };
        let mut more: Vec<Arc<dyn Pass>> = Vec::new();
        if !self.looks_for_insights() {
            more.push(self.insights_alone(Arc::clone(learnings))?);
        }
        self.dream_with(more, owner, CycleMode::Asked).await
    }

    async fn dream_with(
        &self,
        mut more: Vec<Arc<dyn Pass>>,
        owner: &OwnerId,
        run: CycleMode,
    ) -> Result<Cycle> {
        let _gaps = self.in_turns(RENEWAL, || self.fold_within(SLICE)).await;
        let _gaps = self.in_turns(RENEWAL, || self.fold_graph_within(SLICE)).await;
        if let Some(digests) = self.digests_by_model()? {
            more.push(digests);
        }
        if let Some(insights) = self.insights_by_model()? {
            more.push(insights);
        }
        more.extend(self.model_passes());
        let _gaps = self.in_turns(RENEWAL, || self.fold_summaries_within(SLICE)).await;
        let dreamer = self.dreamer(more)?;
        if run == CycleMode::Dry {
            return Box::pin(dreamer.cycle(run)).await;
        }
        match self.in_turn(BACKGROUND, owner, log_cycle(Box::pin(dreamer.cycle(run)))).await? {
            LeaseOutcome::Done(cycle) => cycle,
            LeaseOutcome::By(holder) => {
                let what = format!("{holder} does background work now; try again");
                Err(Error::new(ErrorKind::Conflict, what))
            }
        }
    }

    /// Runs the passes that ask the model, if they are due and no conversation is active: insights at the interval of the
    /// settings, the others less often. Returns the cycles; none when they are not due, or when another process runs them.
    pub(crate) async fn dream_by_model(&self, owner: &OwnerId) -> Result<Vec<Cycle>> {
        let limits = || self.settings().dream.limits();
        let seldom = mnemal_dream::DreamSettings { interval: limits().interval.max(BY_MODEL), ..limits() };
        let insights = self.insights_by_model()?.into_iter().collect();
        let mut cycles = Vec::new();
        if self.makes_digests() && self.digest_writer().is_some() {
            // Digests of newly ingested texts ignore the interval.
            if let LeaseOutcome::Done(made) =
                self.in_turn(MODELS, owner, Box::pin(self.digest_with(self.digests()?))).await?
            {
                made?;
            }
        }
        for (name, passes, limits) in
            [("insights", insights, limits()), ("model", self.model_passes(), seldom)]
        {
            let dream = &self.settings().dream;
            let is_off = !dream.enabled || dream.schedule == DreamSchedule::Off;
            if passes.is_empty() || is_off || !self.is_quiet().await? {
                continue;
            }
            let dreamer = self.dreamer_of(name, passes, limits)?;
            if let LeaseOutcome::Done(cycle) =
                self.in_turn(MODELS, owner, log_cycle(Box::pin(dreamer.cycle(CycleMode::Due)))).await?
            {
                cycles.push(cycle?);
            }
        }
        Ok(cycles)
    }

    /// Runs some work while this owner holds the lease, however long it takes; none of it runs when another owner holds the
    /// lease, and it stops when the lease is lost.
    async fn in_turn<T>(
        &self,
        name: &str,
        owner: &OwnerId,
        work: impl Future<Output = T>,
    ) -> Result<LeaseOutcome<T>> {
        // Without a lease store there is only this process.
        let Ok(leases) = self.stores().leases.part() else { return Ok(LeaseOutcome::Done(work.await)) };
        let mut lease = match leases.acquire(&LeaseName::new(name)?, owner, self.now(), TTL).await? {
            Acquisition::Held(lease) => return Ok(LeaseOutcome::By(lease.owner)),
            Acquisition::Acquired { lease, .. } => lease,
        };
        let mut work = pin!(work);
        loop {
            match tokio::time::timeout(TTL / 3, &mut work).await {
                Ok(done) => {
                    leases.release(lease).await?;
                    return Ok(LeaseOutcome::Done(done));
                }
                Err(_elapsed) => lease = leases.renew(&lease, self.now(), TTL).await?,
            }
        }
    }

    /// Returns a dreamer over this space, with the passes that need no model first and the given ones after them.
    ///
    /// # Errors
    /// `Unsupported` without notes or a log.
    pub fn dreamer(&self, more: Vec<Arc<dyn Pass>>) -> Result<Dreamer> {
        let Slot::Filled(learnings) = &self.stores().learnings else { return Err(missing("notes")) };
        let rows = || Arc::clone(learnings);
        let mut passes: Vec<Arc<dyn Pass>> = vec![
            Arc::new(ExactDuplicatesPass::new(rows())),
            Arc::new(NearDuplicatesPass::new(rows(), self.wording())),
            Arc::new(ExpiryPass::new(rows(), Arc::clone(&self.parts().clock))),
            Arc::new(TagSpellingsPass::new(rows())),
        ];
        // With a model, insights are among the passes that ask it.
        if self.looks_for_insights() && self.insight_writer().is_none() {
            passes.push(Arc::new(self.insights(rows())?));
        }
        if self.makes_digests() && self.digest_writer().is_none() {
            passes.push(Arc::new(self.digests()?));
        }
        if let Slot::Filled(graph) = &self.stores().graph {
            passes.push(Arc::new(CardinalityPass::new(Arc::clone(graph), Arc::clone(&self.parts().clock))));
            if let Slot::Filled(events) = &self.stores().events {
                let (events, graph) = (Arc::clone(events), Arc::clone(graph));
                passes.push(Arc::new(DuplicateEntityPass {
                    events,
                    graph,
                    ledger: self.stores().ledger.clone(),
                }));
            }
        }
        passes.extend(self.parts().passes.iter().cloned());
        let mut passes: Vec<Arc<dyn Pass>> = passes
            .into_iter()
            .map(|pass| Arc::new(BackgroundPass(self.clone(), pass)) as Arc<dyn Pass>)
            .collect();
        // Passes that ask a model are not pieces: other work does not wait for the model.
        passes.extend(more);
        self.dreamer_of("cycle", passes, self.settings().dream.limits())
    }

    fn insights(&self, learnings: Arc<dyn LearningStore>) -> Result<InsightsPass> {
        let stores = self.stores();
        let Slot::Filled(events) = &stores.events else { return Err(missing("a log")) };
        Ok(InsightsPass {
            events: Arc::clone(events),
            learnings,
            namer: Arc::new(RuleNames),
            ledger: stores.ledger.clone(),
            writer: self.insight_writer(),
        })
    }

    /// Returns the insight pass of an explicit consolidation. With a model it is not a piece: other work does not wait for it.
    fn insights_alone(&self, learnings: Arc<dyn LearningStore>) -> Result<Arc<dyn Pass>> {
        let insights = Arc::new(self.insights(learnings)?);
        Ok(if insights.writer.is_some() {
            insights
        } else {
            Arc::new(BackgroundPass(self.clone(), insights))
        })
    }

    /// Returns the insight pass with a model, if it is enabled and a model is configured.
    fn insights_by_model(&self) -> Result<Option<Arc<dyn Pass>>> {
        match &self.stores().learnings {
            Slot::Filled(learnings) if self.looks_for_insights() && self.insight_writer().is_some() => {
                Ok(Some(Arc::new(self.insights(Arc::clone(learnings))?)))
            }
            _ => Ok(None),
        }
    }

    fn digests(&self) -> Result<DigestsPass> {
        let stores = self.stores();
        let Slot::Filled(events) = &stores.events else { return Err(missing("a log")) };
        Ok(DigestsPass {
            events: Arc::clone(events),
            ledger: stores.ledger.clone(),
            digester: Arc::new(RuleDigests),
            writer: self.digest_writer(),
        })
    }

    /// Returns the digest pass with a model, if it is enabled and a model is configured.
    fn digests_by_model(&self) -> Result<Option<Arc<dyn Pass>>> {
        let is_wanted = self.makes_digests() && self.digest_writer().is_some();
        Ok(if is_wanted { Some(Arc::new(self.digests()?)) } else { None })
    }

    fn makes_digests(&self) -> bool {
        self.settings().dream.digests.unwrap_or_else(|| self.parts().insights.load(Ordering::Relaxed))
    }

    /// Returns the model-based digest writer, if it is enabled and configured.
    fn digest_writer(&self) -> Option<DigestWriter> {
        let model = self.parts().model.as_ref().filter(|_| self.settings().dream.digests_by_model)?;
        Some(DigestWriter { caller: model.caller.clone(), writer: Arc::clone(&model.digester) })
    }

    /// Makes rule-based digests of the texts ingested since the last ones; none when digests are off, or when a model makes them.
    /// Returns their number.
    pub(crate) async fn digest(&self) -> Result<u64> {
        if !self.makes_digests() || self.digest_writer().is_some() {
            return Ok(0);
        }
        self.digest_with(self.digests()?).await
    }

    async fn digest_with(&self, digests: DigestsPass) -> Result<u64> {
        if !digests.is_due().await? {
            return Ok(0);
        }
        let is_by_model = digests.writer.is_some();
        let pass: Arc<dyn Pass> = Arc::new(digests);
        let pass = if is_by_model { pass } else { Arc::new(BackgroundPass(self.clone(), pass)) };
        let dreamer = self.dreamer_of(DIGESTS, vec![pass], self.settings().dream.limits())?;
        let cycle = log_cycle(Box::pin(dreamer.cycle(CycleMode::Asked))).await?;
        match cycle.failed.first() {
            Some(why) => Err(Error::new(ErrorKind::Unavailable, format!("digests are not made: {why}"))),
            None => Ok(cycle.accepted().count() as u64),
        }
    }

    /// Sets whether scheduled cycles look for insights; an explicit setting overrides it.
    #[cfg(feature = "sqlite")]
    pub(crate) fn look_for_insights(&self, space: crate::admin::AlwaysOn) {
        self.parts().insights.store(space == crate::admin::AlwaysOn::Yes, Ordering::Relaxed);
    }

    fn looks_for_insights(&self) -> bool {
        self.settings().dream.insights.unwrap_or_else(|| self.parts().insights.load(Ordering::Relaxed))
    }

    /// Returns the model-based insight writer, if it is enabled and configured.
    fn insight_writer(&self) -> Option<InsightWriter> {
        let model = self.parts().model.as_ref().filter(|_| self.settings().dream.insights_by_model)?;
        Some(InsightWriter { caller: model.caller.clone(), writer: Arc::clone(&model.connector) })
    }

    /// Returns which of these notes were already reviewed for insights: those whose event is at or before the position of that
    /// pass in the log.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn consolidated(&self, notes: &[Learning]) -> Result<HashSet<LearningId>> {
        let through = self.consolidated_through().await?;
        let mut consolidated = HashSet::new();
        for some in notes.chunks(PAGE.get()) {
            let made: BTreeSet<EventId> = some.iter().filter_map(mnemal_dream::maker).collect();
            let mut events = self.events()?.get(&made.into_iter().collect::<Vec<_>>()).await?;
            events.retain(|event| Cursor(Some(event.seq)) <= through);
            let before: HashSet<EventId> = events.iter().map(|event| event.id).collect();
            let is_before =
                |row: &&Learning| mnemal_dream::maker(row).is_some_and(|one| before.contains(&one));
            consolidated.extend(some.iter().filter(is_before).map(|row| row.id));
        }
        Ok(consolidated)
    }

    /// Returns the log position up to which insights were looked for; the start if they never were, or without a ledger.
    async fn consolidated_through(&self) -> Result<Cursor> {
        let Slot::Filled(ledger) = &self.stores().ledger else { return Ok(Cursor::START) };
        let lines = ledger.lines(LedgerKind::Pass, PAGE).await?;
        Ok(lines
            .iter()
            .find(|line| line.key == InsightsPass::NAME)
            .map_or(Cursor::START, LedgerLine::through))
    }

    /// Returns the rules for what a merge must keep of a note's text.
    pub(crate) fn wording(&self) -> RewriteRules {
        self.settings().dream.wording(self.stores().graph.clone())
    }

    fn dreamer_of(
        &self,
        name: &'static str,
        passes: Vec<Arc<dyn Pass>>,
        settings: mnemal_dream::DreamSettings,
    ) -> Result<Dreamer> {
        let stores = self.stores();
        let Slot::Filled(learnings) = &stores.learnings else { return Err(missing("notes")) };
        let Slot::Filled(events) = &stores.events else { return Err(missing("a log")) };
        Ok(Dreamer::new(DreamParts {
            events: Arc::clone(events),
            learnings: Arc::clone(learnings),
            ledger: stores.ledger.clone(),
            journal: Arc::new(OperationWriter(self.clone())),
            inspector: Slot::Filled(Arc::new(LayerStates(self.clone()))),
            clock: Arc::clone(&self.parts().clock),
            name,
            passes,
            wording: self.wording(),
            settings,
        }))
    }

    /// Clears the record of note groups that were skipped because the model's answer was unusable, so that the next cycle with a
    /// model asks about them at once; returns their number.
    ///
    /// # Errors
    /// `Unsupported` without a ledger; `Unavailable` when the store does not answer.
    pub async fn retry_left(&self) -> Result<u64> {
        let ledger = self.stores().ledger.part().map_err(|_| missing("a ledger"))?;
        let groups = ledger.sweep(LedgerKind::Left, Timestamp::MAX).await?;
        // Unchanged notes are reviewed again, and turns are read again from the start of the log.
        for pass in self.model_passes() {
            let lines = ledger.lines(LedgerKind::Pass, PAGE).await?;
            let known = lines.into_iter().filter(|line| line.key == pass.name());
            let again = |line| LedgerLine { hash: 0, counts: BTreeMap::new(), ..line };
            let again: Vec<LedgerLine> = known.map(again).collect();
            ledger.put(&again).await?;
        }
        Ok(groups)
    }

    /// Returns the ledger line of the last completed cycle, if there are one and a ledger; its numbers are those of
    /// [`Cycle::counts`].
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn last_cycle(&self) -> Result<Option<LedgerLine>> {
        let Slot::Filled(ledger) = &self.stores().ledger else { return Ok(None) };
        Ok(ledger.lines(LedgerKind::Cycle, NonZeroUsize::MIN).await?.pop())
    }

    /// Returns the lines of one ledger of background work, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn dream_ledger(&self, kind: LedgerKind) -> Result<Vec<LedgerLine>> {
        self.dreamer(Vec::new())?.ledger_lines(kind).await
    }

    /// Returns this week's sample of consolidation decisions for human review, as [`Dreamer::sample`].
    ///
    /// # Errors
    /// `Unsupported` without notes or a log; `Unavailable` when the store does not answer.
    pub async fn dream_sample(&self) -> Result<Vec<Sample>> {
        let _gaps = self.in_turns(RENEWAL, || self.fold_within(SLICE)).await;
        self.dreamer(Vec::new())?.sample().await
    }

    /// Records a person's opinion on one of them, as [`Dreamer::note_opinion`].
    ///
    /// # Errors
    /// As [`Dreamer::note_opinion`], and `Unsupported` without notes or a log.
    pub async fn note_opinion(&self, id: u128, opinion: Assessment, words: &str) -> Result<()> {
        self.dreamer(Vec::new())?.note_opinion(id, opinion, words).await
    }

    /// Runs a cycle if it is due and no conversation is active; returns the number of its operations.
    pub(crate) async fn dream_if_due(&self) -> Result<u64, GapCause> {
        let Ok(dreamer) = self.dreamer(Vec::new()) else { return Ok(0) };
        if self.settings().dream.schedule == DreamSchedule::Off || !self.is_quiet().await? {
            return Ok(0);
        }
        let cycle = log_cycle(Box::pin(dreamer.cycle(CycleMode::Due))).await?;
        Ok(cycle.accepted().count() as u64)
    }

    /// Whether the space has been idle for a while.
    async fn is_quiet(&self) -> Result<bool> {
        Ok(self.quiet().await?.is_none_or(|quiet| quiet >= QUIET))
    }

    /// Returns the time since the last turn; `None` when there was none, or the clock went back by more than a minute since.
    pub(crate) async fn quiet(&self) -> Result<Option<Duration>> {
        let said =
            EventFilter { roles: Within::Only(vec![Role::User, Role::Assistant]), ..EventFilter::all() };
        let last = self.events()?.latest(&said, NonZeroUsize::MIN).await?;
        let Some(last) = last.first() else { return Ok(None) };
        let since = self.now().as_micros() - last.recorded_at.as_micros();
        // Events of one microsecond get consecutive recording times, ahead of the clock.
        let is_ahead = since < 0 && Duration::from_micros(since.unsigned_abs()) < QUIET;
        let since = if is_ahead { 0 } else { since };
        Ok(u64::try_from(since).ok().map(Duration::from_micros))
    }
}

/// Runs a cycle, and logs its numbers in one line if it changed anything.
async fn log_cycle(cycle: impl Future<Output = Result<Cycle>>) -> Result<Cycle> {
    let cycle = cycle.await?;
    if cycle.idle.is_none() {
        tracing::info!(
            live = cycle.live,
            reviewed = cycle.reviewed,
            created_since = cycle.created_since,
            merged = cycle.merged(),
            repaired = cycle.repaired,
            rejected = cycle.refused().count() as u64,
            archived = cycle.archived,
            protected = cycle.protected(),
            model_calls = cycle.model_calls,
            tokens = cycle.tokens,
            ms = cycle.ms,
            "a cycle ended"
        );
    }
    Ok(cycle)
}

/// Extracts names with the built-in rules.
#[derive(Debug)]
struct RuleNames;

impl Namer for RuleNames {
    fn names(&self, text: &str) -> Vec<String> {
        named_in(text)
    }
}

/// Makes digests with the built-in rules.
#[derive(Debug)]
struct RuleDigests;

impl Digester for RuleDigests {
    fn digest(&self, text: &NewEvent) -> Option<Digest> {
        let gist = summarize_text(&OwnWords::of_event(text), text.occurred_at, &text.zone);
        let sentences = gist.summary.iter().filter_map(|span| span.of(&text.content));
        let words: Vec<&str> = sentences.flat_map(str::split_whitespace).collect();
        let said: String = words.join(" ").chars().take(LONGEST_DIGEST).collect();
        let topics = gist.topics.into_iter().filter_map(|topic| Tag::new(topic).ok());
        (!said.is_empty()).then(|| Digest {
            text: said,
            entities: named_in(&text.content),
            topics: topics.collect(),
            importance: gist.importance,
        })
    }
}

/// A pass that runs as one piece of background work, so that foreground calls go first.
#[derive(Debug)]
struct BackgroundPass(Engine, Arc<dyn Pass>);

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Pass for BackgroundPass {
    fn name(&self) -> &'static str {
        self.1.name()
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let _piece = self.0.piece().await;
        self.1.run(permit).await
    }
}

/// The result of work that needs a lease.
enum LeaseOutcome<T> {
    /// The work ran.
    Done(T),
    /// Another owner holds the lease.
    By(OwnerId),
}

/// Supplies the audit of notes with the state of the other layers.
#[derive(Debug)]
struct LayerStates(Engine);

#[async_trait]
impl Inspector for LayerStates {
    async fn inspect(&self) -> Result<InspectionCounts> {
        let _piece = self.0.piece().await;
        let stores = self.0.stores();
        let head = self.0.events()?.head().await?;
        let mut cursors = Vec::new();
        if let Slot::Filled(learnings) = &stores.learnings {
            cursors.push(learnings.cursor().await?);
        }
        if let Slot::Filled(graph) = &stores.graph {
            cursors.push(graph.cursor().await?);
        }
        if let Slot::Filled(summaries) = &stores.summaries {
            cursors.push(summaries.cursor().await?);
        }
        let mut inspected = InspectionCounts {
            unbalanced: cursors.into_iter().filter(|cursor| *cursor > head).count() as u64,
            ..InspectionCounts::default()
        };
        if let Ok(upkeep) = self.0.upkeep() {
            let damaged = upkeep.damaged_index().await?;
            inspected.unindexed =
                damaged.iter().map(|(first, last)| last.0.saturating_sub(first.0) + 1).sum();
            inspected.undecodable = upkeep.check().await?.findings.len() as u64;
        }
        Ok(inspected)
    }
}

/// Appends operations to the log of an engine, and folds them.
#[derive(Debug)]
struct OperationWriter(Engine);

#[async_trait]
impl Journal for OperationWriter {
    async fn write(&self, events: Vec<NewEvent>) -> Result<Vec<WriteOutcome>> {
        let acks = self.0.log()?.append(events).await?.value;
        let mut gaps = Gaps::default();
        self.0.fold_within(RENEWAL).await.into_iter().for_each(|gap| gaps.add(gap));
        let written = acks.into_iter().map(|ack| match ack {
            Ok(ack) => WriteOutcome { event: Some(ack.id), held_back: ack.quarantined.is_some() },
            Err(_) => WriteOutcome { event: None, held_back: true },
        });
        match gaps.attach(()).gaps.into_iter().find(|gap| gap.layer == Layer::Learnings) {
            Some(gap) => {
                Err(Error::new(ErrorKind::Unavailable, format!("the notes have not caught up ({gap})")))
            }
            None => Ok(written.collect()),
        }
    }
}

/// Returns the valid operations that refer to a note which this operation changed or made, oldest first.
pub(crate) async fn built_on(memory: &Memory, of: &Event, operation: &Operation) -> Result<Vec<EventId>> {
    let mut touched: BTreeSet<EventId> = operation.kind.changes().into_iter().collect();
    touched.insert(of.id);
    let filter = EventFilter { roles: Within::Only(vec![Role::Decision]), ..EventFilter::live() };
    let (mut built, mut undone) = (Vec::new(), BTreeSet::new());
    let mut after = Cursor(Some(of.seq));
    loop {
        let page = memory.events().scan(&filter, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Cursor(Some(last.seq));
        for event in &page {
            match event.body().map(|kept| &kept.kind) {
                Some(EventKind::Operation(later))
                    if later.kind.names().iter().any(|note| touched.contains(note)) =>
                {
                    built.push(event.id);
                }
                Some(EventKind::Decision(Decision::Undo { decision })) => {
                    undone.insert(*decision);
                }
                _ => {}
            }
        }
    }
    built.retain(|event| !undone.contains(event));
    Ok(built)
}
