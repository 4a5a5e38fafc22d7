//! Consolidation runner: runs passes, checks their proposals, writes the accepted ones as events, and keeps the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mnemal_core::{
    BackgroundPermit, ChannelId, ClaimSpans, Clock, Cursor, EventId, EventKind, EventStore, Learning,
    LearningFilter, LearningStatus, LearningStore, LedgerKind, LedgerLine, LedgerStore, Level, MOST_CLAIMS,
    Metadata, NewEvent, Operation, OperationKind, Origin, Pass, Proposal, Result, SessionId, SkippedGroup,
    Slot, Timestamp, TokenCount, Zone, named_id,
};

use crate::audit::Severity;
use crate::auditor::{Inspector, MERGE, TIMES};
use crate::check::{self, Notes, Refusal};
use crate::cycle::{Cycle, CycleMode, ProposalOutcome};
use crate::history::{History, operation_identity};
use crate::note::{fingerprint, is_note, maker, open};
use crate::retry_backoff::RetryBackoff;
use crate::settings::DreamSettings;
use crate::wording::RewriteRules;

/// Session and place of the engine's own events.
const PLACE: &str = "dream";
/// The ledger key of the reason why changes are paused.
const WHOLE: &str = "cycle";
/// Retention of skipped groups. Source: own choice; longer than any retry delay, so that no delay restarts.
const LEFT: Duration = Duration::from_hours(400 * 24);
/// Model calls per cycle. Source: AD-61, the permit of a cycle.
const CALLS: u32 = 20;
/// Model tokens per cycle. Source: AD-61, the permit of a cycle.
const TOKENS: TokenCount = TokenCount(60_000);
/// An upper bound for the lines of a ledger that is read in full. Source: own default; passes and pauses have a few.
const LINES: NonZeroUsize = NonZeroUsize::new(10_000).expect("10,000 is not zero");

/// Writes accepted proposals.
///
/// Guarantees: when it returns, the events are in the log and folded into the notes, all or none of them.
#[async_trait]
pub trait Journal: std::fmt::Debug + Send + Sync + 'static {
    /// Writes events, and returns the result of each, in order.
    ///
    /// # Errors
    /// As an append to the log; in that case nothing was written.
    async fn write(&self, events: Vec<NewEvent>) -> Result<Vec<WriteOutcome>>;
}

/// The result of writing an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOutcome {
    /// The event; `None` when nothing of it was left to store.
    pub event: Option<EventId>,
    /// Whether the write screen put it in quarantine, so that it has no effect.
    pub held_back: bool,
}

/// The parts of a [`Dreamer`].
#[derive(Clone, Debug)]
pub struct DreamParts {
    /// The log, for reading.
    pub events: Arc<dyn EventStore>,
    /// The notes, for reading.
    pub learnings: Arc<dyn LearningStore>,
    /// The ledger; without it every cycle processes everything, and nothing is known of earlier cycles.
    pub ledger: Slot<dyn LedgerStore>,
    /// The only way to write.
    pub journal: Arc<dyn Journal>,
    /// Checks the parts beyond the notes; without it an audit covers the notes only.
    pub inspector: Slot<dyn Inspector>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The name of these cycles in the ledger, with an interval of its own.
    pub name: &'static str,
    /// The passes, in order.
    pub passes: Vec<Arc<dyn Pass>>,
    /// The words that must be preserved in a text.
    pub wording: RewriteRules,
    /// Limits and intervals.
    pub settings: DreamSettings,
}

/// The results of a cycle's passes.
#[derive(Debug, Default)]
struct PassResults {
    /// Proposals, each with its pass.
    proposals: Vec<(&'static str, Proposal)>,
    /// Ledger lines.
    lines: Vec<LedgerLine>,
    /// The notes in a proposal or question.
    shown: BTreeSet<EventId>,
}

/// Runs consolidation cycles over the notes of one space. Run one process at a time: two only duplicate work.
#[derive(Clone, Debug)]
pub struct Dreamer {
    parts: DreamParts,
}

impl Dreamer {
    /// Creates a dreamer; nothing runs yet.
    pub fn new(parts: DreamParts) -> Self {
        Self { parts }
    }

    pub(crate) fn parts(&self) -> &DreamParts {
        &self.parts
    }

    /// Runs one cycle, and returns its result.
    ///
    /// If the future is dropped, the log has all of a cycle's operations or none, and the ledger lets the cycle run again.
    ///
    /// # Errors
    /// `Unavailable` when the log or the notes do not answer. A failing pass is no error: it is listed, and runs again.
    pub async fn cycle(&self, run: CycleMode) -> Result<Cycle> {
        let (at, started) = (self.parts.clock.now(), self.parts.clock.monotonic());
        let mut cycle = Cycle::new(at);
        let passes = self.ledger_lines(LedgerKind::Pass).await?;
        if let Some(why) = self.waits(run, at, &passes).await? {
            return Ok(Cycle { idle: Some(why), ..cycle });
        }
        let unread = self.parts.wording.malformed.iter();
        cycle.failed.extend(unread.map(|list| format!("{list}: cannot be read, and does nothing")));
        let before = self.rows().await?;
        let corpus = fingerprint(&before);
        let notes = open(&before);
        cycle.live = notes.len() as u64;
        let last = passes.iter().find(|line| line.key == self.parts.name).map(|line| line.at);
        let is_new = |row: &&&Learning| last.is_none_or(|last| row.created_at > last);
        cycle.created_since = notes.iter().filter(is_new).count() as u64;
        let makers: BTreeSet<EventId> = notes.into_iter().filter_map(maker).collect();
        let refused = self.ledger_lines(LedgerKind::Refused).await?;
        let PassResults { proposals, mut lines, shown } =
            self.propose(run, corpus, &passes, &mut cycle).await?;
        cycle.reviewed = makers.intersection(&shown).count() as u64;
        let put_off = self.judge(proposals, &before, &mut cycle).await?;
        // A pass does not advance past deferred proposals, if it finds them again without a model.
        lines.retain(|line| line.through() == Cursor::START || !put_off.contains(line.key.as_str()));
        if run == CycleMode::Dry {
            cycle.ms = millis(self.parts.clock.monotonic().saturating_sub(started));
            return Ok(cycle);
        }
        self.carry_out(&before, &mut cycle).await?;
        let (after, history) = (self.rows().await?, History::read(self.parts.events.as_ref()).await?);
        cycle.measure(&before, &after, &history.explained);
        let refused = refusals(&refused, &passes, &cycle);
        lines.extend(self.refused_left(&cycle).await?);
        lines.extend(self.audit(&after, &history, &refused, &mut cycle).await?);
        lines.extend(refused.into_iter().filter(|line| line.at == cycle.at));
        cycle.ms = millis(self.parts.clock.monotonic().saturating_sub(started));
        lines.extend(lines_of(self.parts.name, run, &cycle));
        self.write(&lines).await?;
        Ok(cycle)
    }

    /// Returns the lines of a ledger, newest first.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn ledger_lines(&self, kind: LedgerKind) -> Result<Vec<LedgerLine>> {
        match &self.parts.ledger {
            Slot::Filled(ledger) => ledger.lines(kind, LINES).await,
            Slot::Empty => Ok(Vec::new()),
        }
    }

    pub(crate) async fn rows(&self) -> Result<Vec<Learning>> {
        self.parts.learnings.all(&LearningFilter::all()).await
    }

    /// Returns the reason why a scheduled cycle does not run now.
    async fn waits(&self, run: CycleMode, at: Timestamp, passes: &[LedgerLine]) -> Result<Option<String>> {
        if run != CycleMode::Due {
            return Ok(None);
        }
        if let Some(pause) =
            self.ledger_lines(LedgerKind::Pause).await?.into_iter().find(|line| !line.note.is_empty())
        {
            return Ok(Some(format!("background changes wait for a person: {}", pause.note)));
        }
        let last = passes.iter().find(|line| line.key == self.parts.name).map(|line| line.at);
        // A time in the future comes from a wrong clock.
        let is_soon = last.is_some_and(|last| last <= at && since(last, at) < self.parts.settings.interval);
        Ok(is_soon.then(|| "the last cycle is too near".to_owned()))
    }

    /// Runs the passes that have input.
    async fn propose(
        &self,
        run: CycleMode,
        corpus: u128,
        known: &[LedgerLine],
        cycle: &mut Cycle,
    ) -> Result<PassResults> {
        let PassResults { mut proposals, mut lines, mut shown } = PassResults::default();
        // One permit for all passes; passes without a model never use it.
        let mut permit = BackgroundPermit::issue(CALLS, TOKENS);
        for pass in &self.parts.passes {
            let last = known.iter().find(|line| line.key == pass.name());
            let is_known = last.is_some_and(|line| {
                line.hash == corpus
                    && line.at <= cycle.at
                    && since(line.at, cycle.at) < self.parts.settings.forced
            });
            if is_known && run == CycleMode::Due {
                continue;
            }
            match pass.run(&mut permit).await {
                Ok(looked) => {
                    cycle.ran.push(pass.name().to_owned());
                    cycle.waiting += looked.waiting;
                    cycle.repaired += looked.repaired;
                    shown.extend(looked.left.iter().flat_map(|left| &left.notes));
                    shown.extend(looked.proposals.iter().flat_map(|one| &one.operation.shown));
                    // A hash that no corpus has, so that the remaining input is processed in the next cycle.
                    let is_whole = looked.waiting == 0 && looked.stopped.is_none();
                    // The same for a pass that follows the log, because a turn changes no note.
                    let hash = if is_whole && looked.through.is_none() { corpus } else { 0 };
                    let known = LedgerLine { hash, ..line(LedgerKind::Pass, pass.name(), cycle.at) };
                    match looked.through {
                        // It has read nothing since, so there is nothing new to record.
                        Some(through)
                            if last.is_some_and(|line| line.through() == through)
                                && looked.proposals.is_empty() => {}
                        Some(through) => lines.push(known.with_through(through)),
                        None => lines.push(known),
                    }
                    cycle.skipped.extend(looked.skipped.map(|why| format!("{}: {why}", pass.name())));
                    if let Some(kind) = looked.stopped {
                        cycle.failed.push(format!("{}: {}", pass.name(), kind.as_str()));
                    }
                    if !looked.left.is_empty() {
                        let settled = RetryBackoff::read(&self.parts.ledger, pass.name()).await?;
                        lines
                            .extend(looked.left.iter().map(|left| settled.line(pass.name(), left, cycle.at)));
                    }
                    proposals.extend(looked.proposals.into_iter().map(|proposal| (pass.name(), proposal)));
                }
                Err(error) => cycle.failed.push(format!("{}: {}", pass.name(), error.kind().as_str())),
            }
        }
        let (calls, tokens) = permit.left();
        cycle.model_calls = u64::from(CALLS.saturating_sub(calls));
        cycle.tokens = u64::from(TOKENS.minus(tokens).0);
        Ok(PassResults { proposals, lines, shown })
    }

    /// Skips groups with a refused model proposal: the model would be asked for the same again.
    async fn refused_left(&self, cycle: &Cycle) -> Result<Vec<LedgerLine>> {
        let mut lines = Vec::new();
        for judged in cycle.refused().filter(|judged| judged.proposal.operation.prompt.is_some()) {
            let Some(why) = &judged.refused else { continue };
            let settled = RetryBackoff::read(&self.parts.ledger, judged.pass).await?;
            let left =
                SkippedGroup { notes: judged.proposal.operation.kind.names(), why: why.as_str().to_owned() };
            lines.push(settled.line(judged.pass, &left, cycle.at));
        }
        Ok(lines)
    }

    /// Checks every proposal against the current notes, in order, up to the change limit; returns the passes with a
    /// deferred proposal that needed no model.
    async fn judge(
        &self,
        proposals: Vec<(&'static str, Proposal)>,
        rows: &[Learning],
        cycle: &mut Cycle,
    ) -> Result<BTreeSet<&'static str>> {
        let mut put_off = BTreeSet::new();
        if proposals.is_empty() {
            return Ok(put_off);
        }
        let history = History::read(self.parts.events.as_ref()).await?;
        let holds = |row: &&Learning| row.status == LearningStatus::Active && is_note(row);
        let notes: Notes<'_> = rows.iter().filter(holds).filter_map(|row| Some((maker(row)?, row))).collect();
        let words = self.parts.wording.of(rows).await;
        if let Some(kind) = words.without_names {
            cycle.failed.push(format!("names: {}", kind.as_str()));
        }
        let mut room = self.parts.settings.budget(open(rows).len());
        let mut touched = AffectedNotes::default();
        for (pass, proposal) in proposals {
            let operation_kind = &proposal.operation.kind;
            let is_crossed = touched.is_crossed_by(operation_kind);
            let checked = match operation_kind {
                OperationKind::Claim { turn, claims } => {
                    self.check_claims(&proposal, *turn, claims, &history).await?
                }
                OperationKind::Cardinality { predicate, .. } => {
                    check::check_cardinality(predicate, operation_kind, &history)
                }
                OperationKind::Suggest { one, into } => check::check_pair((*one, *into), &proposal, &history),
                OperationKind::Summarize { .. }
                | OperationKind::Prefer { .. }
                | OperationKind::Assess { .. }
                | OperationKind::Digest { .. } => self.check_said(&proposal, &history).await?,
                _ => check::check(&proposal, &notes, &words),
            };
            let refused = match checked {
                Err(why) => Some(why),
                Ok(()) if history.is_taken_back(&proposal.operation) => Some(Refusal::TakenBack),
                Ok(()) => None,
            };
            if refused.is_none() {
                let cost = cost(&proposal.operation);
                if is_crossed || cost > room {
                    cycle.waiting += 1;
                    put_off.extend(proposal.operation.prompt.is_none().then_some(pass));
                    continue;
                }
                room -= cost;
                touched.add(operation_kind);
            }
            cycle.judged.push(ProposalOutcome { pass, proposal, refused, event: None });
        }
        Ok(put_off)
    }

    /// Checks claims against the words of their turn. Their meaning is checked by the gates of the fold.
    async fn check_claims(
        &self,
        proposal: &Proposal,
        turn: EventId,
        claims: &[ClaimSpans],
        history: &History,
    ) -> Result<Result<(), Refusal>> {
        if !proposal.operation.shown.contains(&turn) {
            return Ok(Err(Refusal::Unknown));
        }
        let known = |(_, operation_kind): &(EventId, OperationKind)| matches!(operation_kind, OperationKind::Claim { turn: of, .. } if *of == turn);
        if history.operations.iter().any(known) {
            return Ok(Err(Refusal::Nothing));
        }
        let event = self.parts.events.get(&[turn]).await?.pop();
        let Some(said) = event.as_ref().and_then(mnemal_core::Event::body) else {
            return Ok(Err(Refusal::Unknown));
        };
        let fits = |claim: &ClaimSpans| claim.fits(&said.content);
        let is_whole = (1..=MOST_CLAIMS).contains(&claims.len()) && claims.iter().all(fits);
        Ok(if is_whole { Ok(()) } else { Err(Refusal::Malformed) })
    }

    /// Checks a summary text, quoted words, or a task evaluation against the turns that they cite.
    async fn check_said(&self, proposal: &Proposal, history: &History) -> Result<Result<(), Refusal>> {
        let operation_kind = &proposal.operation.kind;
        if history.operations.iter().any(|(_, known)| known == operation_kind) {
            return Ok(Err(Refusal::Nothing));
        }
        let said = self.parts.events.get(&operation_kind.names()).await?;
        Ok(match operation_kind {
            OperationKind::Prefer { turn, quote } => check::check_quote(proposal, (*turn, *quote), &said),
            OperationKind::Assess { .. } => check::check_evaluation(proposal, &said, history),
            OperationKind::Digest { .. } => check::digest(proposal, &said, history),
            _ => check::summary(proposal, &said),
        })
    }

    /// Writes the accepted proposals, and records the results.
    async fn carry_out(&self, rows: &[Learning], cycle: &mut Cycle) -> Result<()> {
        let by_maker: BTreeMap<EventId, &Learning> =
            rows.iter().filter_map(|row| Some((maker(row)?, row))).collect();
        let accepted = cycle.judged.iter().filter(|judged| judged.refused.is_none());
        let mut events: Vec<NewEvent> = Vec::new();
        for judged in accepted {
            let mut event = event(&judged.proposal, &by_maker, cycle.at)?;
            let operation_kind = &judged.proposal.operation.kind;
            if matches!(
                operation_kind,
                OperationKind::Summarize { .. }
                    | OperationKind::Prefer { .. }
                    | OperationKind::Assess { .. }
                    | OperationKind::Digest { .. }
            ) {
                let said = self.parts.events.get(&operation_kind.names()).await?;
                if said.iter().any(|event| event.level == Level::External) {
                    event.origin = Origin::Echo;
                }
                if let OperationKind::Digest { .. } = operation_kind {
                    // A digest has the date of its text.
                    let written = said.iter().filter_map(|part| part.body()).map(|part| part.occurred_at);
                    event.occurred_at = written.max().unwrap_or(event.occurred_at);
                }
                if let (
                    OperationKind::Prefer { .. }
                    | OperationKind::Assess { .. }
                    | OperationKind::Digest { .. },
                    Some(turn),
                ) = (operation_kind, said.iter().find_map(|turn| turn.body()))
                {
                    (event.user, event.agent) = (turn.user.clone(), turn.agent.clone());
                }
            }
            events.push(event);
        }
        if events.is_empty() {
            return Ok(());
        }
        let written = self.parts.journal.write(events).await?;
        let accepted = cycle.judged.iter_mut().filter(|judged| judged.refused.is_none());
        for (judged, written) in accepted.zip(written) {
            judged.event = written.event;
            if written.held_back || written.event.is_none() {
                judged.refused = Some(Refusal::HeldBack);
            }
        }
        Ok(())
    }

    async fn write(&self, lines: &[LedgerLine]) -> Result<()> {
        let Slot::Filled(ledger) = &self.parts.ledger else { return Ok(()) };
        ledger.put(lines).await?;
        let kept = i64::try_from(self.parts.settings.kept.as_micros()).unwrap_or(i64::MAX);
        let before = self.parts.clock.now().plus_micros(kept.saturating_neg());
        for kind in [LedgerKind::Cycle, LedgerKind::Refused] {
            ledger.sweep(kind, before).await?;
        }
        let left = i64::try_from(LEFT.as_micros()).unwrap_or(i64::MAX);
        ledger.sweep(LedgerKind::Left, self.parts.clock.now().plus_micros(-left)).await?;
        Ok(())
    }
}

/// Returns the ledger lines of refusals, of this cycle and before.
fn refusals(before: &[LedgerLine], passes: &[LedgerLine], cycle: &Cycle) -> Vec<LedgerLine> {
    let mut lines: BTreeMap<String, LedgerLine> =
        before.iter().map(|line| (line.key.clone(), line.clone())).collect();
    for judged in cycle.refused() {
        let Some(why) = &judged.refused else { continue };
        let operation = &judged.proposal.operation;
        let hash = operation_identity(&operation.kind);
        let key = format!("{hash:032x}");
        let run = passes.iter().find(|line| line.key == judged.pass).map(|line| line.at);
        let earlier = lines.get(&key).filter(|line| Some(line.at) == run && *why != Refusal::TakenBack);
        let times =
            earlier.and_then(|line| line.counts.get(TIMES)).map_or(1, |times| times.saturating_add(1));
        let merge = u64::from(matches!(operation.kind, OperationKind::Merge { .. }));
        let counts = BTreeMap::from([(TIMES.to_owned(), times), (MERGE.to_owned(), merge)]);
        let note = format!("{}: {}", operation.producer.id, why.as_str());
        lines.insert(
            key.clone(),
            LedgerLine { hash, counts, note, ..line(LedgerKind::Refused, &key, cycle.at) },
        );
    }
    lines.into_values().collect()
}

/// Returns the ledger lines of a cycle.
fn lines_of(name: &str, run: CycleMode, cycle: &Cycle) -> Vec<LedgerLine> {
    let mut lines = vec![line(LedgerKind::Pass, name, cycle.at)];
    let key = format!("{:020}-{name}", cycle.at.as_micros());
    let note = cycle.failed.join(", ");
    lines.push(LedgerLine { counts: cycle.counts(), note, ..line(LedgerKind::Cycle, &key, cycle.at) });
    let alert = cycle.findings.iter().find(|finding| finding.severity == Severity::Alert);
    let why = match alert {
        _ if cycle.vanished > 0 => Some(format!("{} notes are gone that nobody forgot", cycle.vanished)),
        Some(alert) => Some(format!("the audit found {} of {}", alert.name, alert.rows)),
        None => None,
    };
    if let Some(why) = why {
        lines.push(LedgerLine { note: why, ..line(LedgerKind::Pause, WHOLE, cycle.at) });
    } else if run == CycleMode::Asked {
        lines.push(line(LedgerKind::Pause, WHOLE, cycle.at));
    }
    lines
}

/// The notes that a cycle's proposals change, and those that they rely on.
#[derive(Debug, Default)]
struct AffectedNotes {
    changed: BTreeSet<EventId>,
    kept: BTreeSet<EventId>,
}

impl AffectedNotes {
    /// Whether an operation changes what another relies on, or the reverse. Several notes may be retired in favor of one.
    fn is_crossed_by(&self, operation_kind: &OperationKind) -> bool {
        let (changes, keeps) = parts(operation_kind);
        let is_taken = |name: &EventId| self.changed.contains(name);
        changes.iter().any(|name| is_taken(name) || self.kept.contains(name)) || keeps.iter().any(is_taken)
    }

    fn add(&mut self, operation_kind: &OperationKind) {
        let (changes, keeps) = parts(operation_kind);
        self.changed.extend(changes);
        self.kept.extend(keeps);
    }
}

/// Returns the notes that an operation changes, and those that must stay unchanged for it.
fn parts(operation_kind: &OperationKind) -> (Vec<EventId>, Vec<EventId>) {
    match operation_kind {
        OperationKind::Retire { notes, into } => (notes.clone(), into.iter().copied().collect()),
        OperationKind::Infer { from, .. } => (Vec::new(), from.clone()),
        _ => (operation_kind.changes(), Vec::new()),
    }
}

pub(crate) fn line(kind: LedgerKind, key: &str, at: Timestamp) -> LedgerLine {
    LedgerLine { kind, key: key.to_owned(), at, hash: 0, counts: BTreeMap::new(), note: String::new() }
}

/// Returns how many notes an operation changes, for the change limit of a cycle. A note refiled by a model keeps its text,
/// and the number of them is bounded by its question.
fn cost(operation: &Operation) -> usize {
    match &operation.kind {
        OperationKind::Merge { notes, .. } => notes.len().saturating_sub(1),
        OperationKind::Retire { notes, .. } => notes.len(),
        OperationKind::Refine { .. } if operation.prompt.is_some() => 0,
        OperationKind::Claim { .. }
        | OperationKind::Summarize { .. }
        | OperationKind::Prefer { .. }
        | OperationKind::Assess { .. }
        | OperationKind::Digest { .. }
        | OperationKind::Cardinality { .. }
        | OperationKind::Suggest { .. } => 0,
        _ => 1,
    }
}

/// Makes the event of an accepted proposal; its level is the lowest of its sources.
fn event(proposal: &Proposal, rows: &BTreeMap<EventId, &Learning>, at: Timestamp) -> Result<NewEvent> {
    let names = proposal.operation.kind.names();
    let of = || names.iter().filter_map(|name| rows.get(name));
    let is_external = of().any(|row| row.level == Level::External);
    let ids: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut parts: Vec<&str> = ids.iter().map(String::as_str).collect();
    let shown: Vec<String> = proposal.operation.shown.iter().map(ToString::to_string).collect();
    parts.extend(shown.iter().map(String::as_str));
    parts.extend([proposal.operation.kind.as_str(), &proposal.operation.because, &proposal.text]);
    let stamp = at.as_micros().to_string();
    parts.push(&stamp);
    // Nodes with the same sentences may have the same text, and predicates and pairs have none.
    let other = match &proposal.operation.kind {
        OperationKind::Summarize { node, .. } => Some(node.to_string()),
        OperationKind::Cardinality { predicate, .. } => Some(predicate.to_string()),
        OperationKind::Suggest { one, into } => Some(format!("{one} {into}")),
        _ => None,
    };
    parts.extend(other.as_deref());
    Ok(NewEvent {
        kind: EventKind::Operation(proposal.operation.clone()),
        content: proposal.text.clone(),
        session: SessionId::new(PLACE)?,
        channel: ChannelId::new(PLACE)?,
        parent: None,
        speaker: None,
        user: of().next().and_then(|row| row.user.clone()),
        agent: of().next().and_then(|row| row.agent.clone()),
        occurred_at: at,
        zone: Zone::utc(),
        origin: if is_external { Origin::Echo } else { Origin::Engine },
        idempotency_key: Some(format!("dream-{:032x}", named_id("dream/event", &parts))),
        metadata: Metadata::new(),
    })
}

pub(crate) fn since(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::from_micros(
        u64::try_from(later.as_micros().saturating_sub(earlier.as_micros())).unwrap_or_default(),
    )
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
