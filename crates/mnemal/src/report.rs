//! Report of a period: its contexts and their cost, the records in them, and what was learned, erased and contradicted.
//!
//! It counts what the space has stored. Figures that nothing stores are listed in [`Report::UNRECORDED`] and have no number.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    AsOf, Decision, Degraded, Error, ErrorKind, Event, EventFilter, EventKind, Fact, FactFilter, FactStatus,
    Gap, Gaps, InclusionReason, Judgment, Layer, LearningFilter, LearningStatus, Level, OmittedReason,
    Reason, Receipt, ReceiptId, RecordRef, Result, Role, Timestamp, Zone,
};

use crate::areas::AdminHandle;
use crate::diff::BeliefDiff;
use crate::memory::Memory;

/// Days of a report without a start. Source: own choice, a week.
const DAYS: u32 = 7;
/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;
/// Events per page. Source: own default, the largest batch of one append (1,000 events).
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("a page holds something");
/// Receipts per page. Source: own choice, about four megabytes.
const RECEIPTS: NonZeroUsize = NonZeroUsize::new(200).expect("200 is not zero");
/// Maximum number of examples in a list. Source: own choice, what a page shows without scrolling.
const EXAMPLES: usize = 5;

/// The period of a report: from its start on, before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportPeriod {
    since: Timestamp,
    until: Timestamp,
}

impl ReportPeriod {
    /// Creates a period from its start, inclusive, and its end, exclusive.
    ///
    /// # Errors
    /// `Invalid` when the end is not after the start.
    pub fn new(since: Timestamp, until: Timestamp) -> Result<Self> {
        if until <= since {
            return Err(Error::invalid("the end of the period must be after its start"));
        }
        Ok(Self { since, until })
    }

    /// Creates the period of the last days before a moment, 7 without a number.
    ///
    /// # Errors
    /// `Invalid` for 0 days.
    pub fn last_days(days: Option<u32>, until: Timestamp) -> Result<Self> {
        let days = days.unwrap_or(DAYS);
        if days == 0 {
            return Err(Error::invalid("days: at least 1 is meant"));
        }
        Self::new(until.plus_micros(i64::from(days).saturating_mul(-DAY)), until)
    }

    /// Returns its start, inclusive.
    pub fn since(self) -> Timestamp {
        self.since
    }

    /// Returns its end, exclusive.
    pub fn until(self) -> Timestamp {
        self.until
    }

    /// Whether a moment lies in it.
    pub fn contains(self, at: Timestamp) -> bool {
        self.since <= at && at < self.until
    }
}

/// A figure that nothing stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unrecorded {
    /// Its stable name.
    pub name: &'static str,
    /// The reason, and where else to look.
    pub why: &'static str,
}

/// What a space did in a period.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The period.
    pub period: ReportPeriod,
    /// The contexts; `None` without a store of receipts.
    pub contexts: Option<ContextUsage>,
    /// Verdicts on lines of contexts.
    pub verdicts: Verdicts,
    /// The stored events.
    pub stored: StoredEvents,
    /// The erased events.
    pub erased: ErasedEvents,
    /// Changes of belief; `None` without a graph or notes, or when they cannot be read, which is a gap.
    pub beliefs: Option<BeliefDiff>,
    /// Notes and learnings of the period that wait for a decision of a person; `None` without notes.
    pub candidates: Option<u64>,
    /// Contradictions among facts; `None` as for `beliefs`.
    pub contradictions: Option<Contradictions>,
}

impl Report {
    /// Figures that a report lacks because nothing stores them.
    pub const UNRECORDED: [Unrecorded; 4] = [
        Unrecorded {
            name: "milliseconds",
            why: "no receipt says how long a context took; `GET /metrics` of a server has it since its start",
        },
        Unrecorded {
            name: "model_tokens",
            why: "calls of a language model are kept for one day; `mnemal model status` shows them",
        },
        Unrecorded {
            name: "lines_used_by_the_agent",
            why: "only verdicts on lines are stored; the page of a context estimates it from the next answer",
        },
        Unrecorded {
            name: "questions",
            why: "a receipt keeps no question and `ask` stores no answer; only contexts without a match are counted",
        },
    ];
}

/// Use and cost of contexts, from their receipts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextUsage {
    /// Number of contexts, including those that `ask` reads and those that a person previews.
    pub contexts: u64,
    /// Tokens of their texts, with the configured counter.
    pub tokens: u64,
    /// Sum of their token budgets.
    pub budget: u64,
    /// Lines in them.
    pub lines: u64,
    /// Tokens of lines from external content.
    pub external_tokens: u64,
    /// Contexts without a line.
    pub empty: u64,
    /// Contexts with lines, none of which the question matched; a context without a question is one of them.
    pub unmatched: u64,
    /// Contexts that lost lines to a forget; they count neither as empty nor as unmatched.
    pub cut: u64,
    /// Contexts in which a layer could not answer in full.
    pub incomplete: u64,
    /// Candidates that did not become lines, by reason, in the order of the reasons; reasons without one are left out.
    pub omitted: Vec<(OmittedReason, u64)>,
    /// Distinct events in them.
    pub events: u64,
    /// Distinct notes and learnings in them.
    pub learnings: u64,
    /// Distinct facts in them.
    pub facts: u64,
    /// The records that stood in most of them, at most 5, most frequent first.
    pub most_shown: Vec<ShownRecord>,
    /// Receipts from before this moment are deleted, so that earlier contexts are missing; `None` if the period begins later.
    pub kept_since: Option<Timestamp>,
}

/// A record with the number of contexts that it stood in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownRecord {
    /// The record.
    pub record: RecordRef,
    /// Number of contexts.
    pub contexts: u64,
    /// Its text; `None` if it is gone.
    pub text: Option<String>,
}

/// Verdicts on lines of contexts; for each line the last one of the user and of an agent counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Lines that helped.
    pub useful: u64,
    /// Lines unrelated to the question.
    pub irrelevant: u64,
    /// Lines that are false.
    pub wrong: u64,
}

/// Events that were stored in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredEvents {
    /// Their number, including those erased since.
    pub events: u64,
    /// Their number by role; roles without one are left out.
    pub by_role: BTreeMap<Role, u64>,
    /// Their number by day in UTC, `2026-05-04`; days without one are left out.
    pub by_day: BTreeMap<String, u64>,
    /// Bytes of their texts as UTF-8, without those erased since.
    pub text_bytes: u64,
    /// Those that a rule holds back, without those erased since.
    pub quarantined: u64,
}

/// Erasures of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedEvents {
    /// Decisions to forget.
    pub forgets: u64,
    /// Events that were erased, by a forget or by retention, whenever they were stored.
    pub events: u64,
}

/// Contradictions among facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contradictions {
    /// Facts whose value another value replaced in the period.
    pub replaced: u64,
    /// The newest of them as sentences, at most 5, newest first.
    pub replaced_lines: Vec<String>,
    /// Facts that were disputed at the end of the period: a person must decide.
    pub disputed: u64,
    /// Some of them as sentences, at most 5.
    pub disputed_lines: Vec<String>,
}

impl Memory {
    /// Calls a function with every event that was recorded in a period, newest first.
    pub(crate) async fn recorded(&self, period: ReportPeriod, mut take: impl FnMut(&Event)) -> Result<()> {
        let mut filter = EventFilter::all();
        loop {
            let page = self.events().latest(&filter, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            let is_over = last.recorded_at < period.since;
            page.iter().filter(|event| period.contains(event.recorded_at)).for_each(&mut take);
            if is_over || page.len() < PAGE.get() {
                return Ok(());
            }
            filter.before = Some(last.seq);
        }
    }

    /// Calls a function with every receipt of a period, newest first.
    async fn receipts_between(&self, period: ReportPeriod, mut take: impl FnMut(&Receipt)) -> Result<()> {
        let Ok(store) = self.engine.guarded().receipts.part() else { return Ok(()) };
        let (mut until, mut known) = (period.until, BTreeSet::<ReceiptId>::new());
        loop {
            let page = store.between(period.since, until, RECEIPTS).await?;
            let Some(oldest) = page.last() else { return Ok(()) };
            page.iter().filter(|receipt| !known.contains(&receipt.id)).for_each(&mut take);
            // Receipts of one moment may be on both sides of a page's end.
            let next = oldest.at.plus_micros(1);
            if page.len() < RECEIPTS.get() || next >= until {
                return Ok(());
            }
            known = page.iter().filter(|receipt| receipt.at == oldest.at).map(|receipt| receipt.id).collect();
            until = next;
        }
    }

    async fn context_usage(&self, period: ReportPeriod) -> Result<Option<ContextUsage>> {
        if self.engine.guarded().receipts.part().is_err() {
            return Ok(None);
        }
        let mut count = UsageCount::default();
        self.receipts_between(period, |receipt| count.take(receipt)).await?;
        let kept = i64::try_from(self.engine.settings().retention.recalls().as_micros()).unwrap_or(i64::MAX);
        let kept_since = self.engine.now().plus_micros(kept.saturating_neg());
        let mut usage = count.usage;
        usage.kept_since = Some(kept_since).filter(|since| *since > period.since);
        for record in count.shown.keys() {
            match record {
                RecordRef::Event(_) => usage.events += 1,
                RecordRef::Learning(_) => usage.learnings += 1,
                RecordRef::Fact(_) => usage.facts += 1,
                _ => {}
            }
        }
        usage.omitted = OmittedReason::ALL
            .into_iter()
            .filter_map(|reason| Some((reason, count.omitted.get(&reason).copied()?)))
            .filter(|(_, number)| *number > 0)
            .collect();
        let mut shown: Vec<(RecordRef, u64)> = count.shown.into_iter().collect();
        shown.sort_by_key(|(record, contexts)| (std::cmp::Reverse(*contexts), *record));
        for (record, contexts) in shown.into_iter().take(EXAMPLES) {
            let text = self.text_of(record).await?;
            usage.most_shown.push(ShownRecord { record, contexts, text });
        }
        Ok(Some(usage))
    }

    /// Counts the events and the verdicts of a period.
    async fn event_count(&self, period: ReportPeriod) -> Result<EventCount> {
        let mut count = EventCount::default();
        self.recorded(period, |event| count.take(event)).await?;
        let erased = self.log_to_read()?.tombstones().await?;
        count.erased.events = erased.iter().filter(|stone| period.contains(stone.at)).count() as u64;
        Ok(count)
    }

    async fn contradictions_of(&self, period: ReportPeriod) -> Result<Contradictions> {
        let graph = self.graph_of_all().await?;
        let facts = graph.history(&FactFilter::all()).await?;
        let mut first: BTreeMap<_, &Fact> = BTreeMap::new();
        for fact in facts.iter().filter(|fact| is_replaced(fact)) {
            let about = (fact.subject, fact.predicate.clone(), fact.topic.clone(), fact.object.key());
            let known = first.entry(about).or_insert(fact);
            if fact.created_at < known.created_at {
                *known = fact;
            }
        }
        let mut replaced: Vec<&Fact> =
            first.into_values().filter(|fact| period.contains(fact.created_at)).collect();
        replaced.sort_by_key(|fact| std::cmp::Reverse((fact.created_at, fact.id)));
        let is_open = |fact: &&Fact| {
            fact.status == FactStatus::Disputed
                && fact.created_at < period.until
                && fact.expired_at.is_none_or(|end| end >= period.until)
        };
        let disputed: Vec<&Fact> = facts.iter().filter(is_open).collect();
        let lines = async |facts: &[&Fact]| -> Result<Vec<String>> {
            let mut lines = Vec::new();
            for fact in facts.iter().take(EXAMPLES) {
                let one = vec![Fact::clone(fact)];
                let told = self.facts().describe_facts(&graph, one, AsOf::present(Timestamp::MAX)).await?;
                lines.extend(told.iter().map(crate::entity_profile::FactView::line));
            }
            Ok(lines)
        };
        Ok(Contradictions {
            replaced: replaced.len() as u64,
            replaced_lines: lines(&replaced).await?,
            disputed: disputed.len() as u64,
            disputed_lines: lines(&disputed).await?,
        })
    }

    /// Counts the notes and learnings that became known in a period and wait for a person.
    async fn candidates_of(&self, period: ReportPeriod) -> Result<u64> {
        let rows = self.preferences().all_learnings(&LearningFilter::all()).await?;
        let waiting = rows.iter().filter(|row| row.status == LearningStatus::Candidate);
        Ok(waiting.filter(|row| period.contains(row.created_at)).count() as u64)
    }

    /// Returns the text of a record; `None` if it is gone.
    async fn text_of(&self, record: RecordRef) -> Result<Option<String>> {
        match self.admin().why(record, None).await {
            Ok(why) => Ok(Some(why.text)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Unsupported) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether another value replaced a fact; one that ended or was rejected is no contradiction.
fn is_replaced(fact: &Fact) -> bool {
    fact.superseded.as_ref().is_some_and(|superseded| {
        matches!(superseded.reason, Reason::NewerValue | Reason::UserCorrection | Reason::Backfill)
    })
}

/// Sums over receipts.
#[derive(Debug, Default)]
struct UsageCount {
    usage: ContextUsage,
    omitted: BTreeMap<OmittedReason, u64>,
    /// Number of contexts by record.
    shown: BTreeMap<RecordRef, u64>,
}

impl UsageCount {
    fn take(&mut self, receipt: &Receipt) {
        let usage = &mut self.usage;
        usage.contexts += 1;
        usage.tokens += u64::from(receipt.tokens.0);
        usage.budget += u64::from(receipt.budget.0);
        usage.lines += receipt.lines.len() as u64;
        usage.incomplete += u64::from(!receipt.gaps.is_empty());
        let outside = receipt.lines.iter().filter(|line| line.level == Level::External);
        usage.external_tokens += outside.map(|line| u64::from(line.tokens.0)).sum::<u64>();
        let is_cut = receipt.seal.is_some_and(|seal| seal.lines as usize > receipt.lines.len());
        let is_matched = receipt.lines.iter().any(|line| line.because == InclusionReason::Query);
        let of = match (is_cut, receipt.lines.is_empty(), is_matched) {
            (true, _, _) => Some(&mut usage.cut),
            (false, true, _) => Some(&mut usage.empty),
            (false, false, false) => Some(&mut usage.unmatched),
            (false, false, true) => None,
        };
        if let Some(of) = of {
            *of += 1;
        }
        for (reason, count) in &receipt.omitted_counts {
            *self.omitted.entry(*reason).or_default() += u64::from(*count);
        }
        let records: BTreeSet<RecordRef> = receipt.lines.iter().map(|line| line.record).collect();
        for record in records {
            *self.shown.entry(record).or_default() += 1;
        }
    }
}

/// Sums over events.
#[derive(Debug, Default)]
struct EventCount {
    stored: StoredEvents,
    erased: ErasedEvents,
    verdicts: Verdicts,
    /// Lines with a later verdict of the same level.
    judged: BTreeSet<(ReceiptId, RecordRef, Level)>,
}

impl EventCount {
    /// Adds an event; the newest must come first.
    fn take(&mut self, event: &Event) {
        self.stored.events += 1;
        *self.stored.by_role.entry(event.role).or_default() += 1;
        let day = event.recorded_at.civil(&Zone::utc()).day_text();
        *self.stored.by_day.entry(day).or_default() += 1;
        let Some(kept) = event.body() else { return };
        self.stored.text_bytes += kept.content.len() as u64;
        self.stored.quarantined += u64::from(event.quarantined.is_some());
        match &kept.kind {
            EventKind::Decision(Decision::Forget(_)) => self.erased.forgets += 1,
            EventKind::Decision(Decision::Feedback { recall, record, verdict })
                if self.judged.insert((*recall, *record, event.level)) =>
            {
                match verdict {
                    Judgment::Useful => self.verdicts.useful += 1,
                    Judgment::Irrelevant => self.verdicts.irrelevant += 1,
                    Judgment::Wrong => self.verdicts.wrong += 1,
                }
            }
            _ => {}
        }
    }
}

impl AdminHandle<'_> {
    /// Returns what the space did in a period: the cost of its contexts, the records in them, what was stored, learned, erased
    /// and contradicted. Belief time counts: what was recorded in the period, whenever it happened. Reads the events and the
    /// receipts of the period, and all facts, notes and tombstones; writes nothing.
    ///
    /// # Errors
    /// `Unsupported` in a memory of one user; `Unavailable` when the log or the receipts do not answer. A graph or notes that do
    /// not answer are gaps.
    pub async fn report(self, period: ReportPeriod) -> Result<Degraded<Report>> {
        self.memory.must_be_whole("a report")?;
        let mut gaps = Gaps::default();
        let count = self.memory.event_count(period).await?;
        let contexts = self.memory.context_usage(period).await?;
        // A diff is of what was believed after its first moment, and up to its second one.
        let (from, to) = (period.since.plus_micros(-1), period.until.plus_micros(-1));
        let beliefs = if from < to {
            part(self.memory.facts().diff(from, to).await, Layer::Graph, &mut gaps)?
        } else {
            Some(BeliefDiff::default())
        };
        let contradictions = part(self.memory.contradictions_of(period).await, Layer::Graph, &mut gaps)?;
        let candidates = part(self.memory.candidates_of(period).await, Layer::Learnings, &mut gaps)?;
        let EventCount { stored, erased, verdicts, .. } = count;
        let report =
            Report { period, contexts, verdicts, stored, erased, beliefs, candidates, contradictions };
        Ok(gaps.attach(report))
    }
}

/// Returns a part of a report: `None` for one that this build lacks, and with a gap for one that does not answer.
fn part<T>(found: Result<T>, layer: Layer, gaps: &mut Gaps) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            gaps.add(Gap { layer, cause: error.into() });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
