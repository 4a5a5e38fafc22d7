//! Trust audit of a space: quarantined events, hours with bursts, and records with more trust than their sources.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    AsOf, Decision, ErrorKind, Event, EventFilter, EventId, EventKind, FactFilter, LearningFilter, Level,
    NewEvent, RecordRef, Result, Timestamp, Trust, Within,
};
use mnemal_dream::{CycleMode, Finding};

use crate::areas::AdminHandle;
use crate::memory::Memory;

/// Newest events that are scanned. Source: own choice, some seconds of work.
const NEWEST: NonZeroUsize = NonZeroUsize::new(100_000).expect("100,000 is not zero");
/// Events listed for each rule. Source: own choice, one screen.
const NAMED: usize = 20;
/// Standard deviations above the mean from which an hour is a burst. Source: the three-sigma rule of control charts.
const DEVIATIONS: f64 = 3.0;
/// Minimum number of events of a burst. Source: own choice, the rate limit of agent items per hour.
const LEAST: u64 = 60;
/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// Events quarantined by one rule of the write screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantineCount {
    /// The id of the rule.
    pub rule: String,
    /// Number of events.
    pub count: u64,
    /// The newest twenty of them.
    pub events: Vec<EventId>,
}

/// An hour with more events of a level than the mean of the active hours plus three standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// The level of the events.
    pub level: Level,
    /// Start of the hour.
    pub from: Timestamp,
    /// Number of events.
    pub count: u64,
    /// Mean over the hours with any event of the level.
    pub usual: f64,
}

/// A record with more trust than its sources allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustViolation {
    /// The record.
    pub record: RecordRef,
    /// Its trust and level.
    pub has: (Trust, Level),
    /// The maximum that its sources allow.
    pub may: (Trust, Level),
}

/// The result of a trust audit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrustAudit {
    /// Number of scanned events, at most the newest 100,000.
    pub read: u64,
    /// Quarantined events by rule, without released ones.
    pub held_back: Vec<QuarantineCount>,
    /// Bursts, oldest first.
    pub bursts: Vec<Burst>,
    /// Violations, by record.
    pub violations: Vec<TrustViolation>,
    /// Violated invariants of the notes, each with its meaning and a recommended fix.
    pub findings: Vec<Finding>,
}

impl Memory {
    async fn violations(&self, events: &[Event]) -> Result<Vec<TrustViolation>> {
        let given: HashMap<EventId, (Trust, Level)> =
            events.iter().map(|event| (event.id, (event.trust, event.level))).collect();
        let mut found = Vec::new();
        let mut judge = |record: RecordRef,
                         has: (Trust, Level),
                         sources: &mut dyn Iterator<Item = EventId>| {
            // A record with sources outside the scanned events is not judged.
            let Some(sources) = sources.map(|source| given.get(&source).copied()).collect::<Option<Vec<_>>>()
            else {
                return;
            };
            let trust = sources.iter().map(|(trust, _)| *trust).max();
            let level = sources.iter().map(|(_, level)| *level).max();
            if let Some(may) = trust.zip(level).filter(|(trust, level)| has.0 > *trust || has.1 > *level) {
                found.push(TrustViolation { record, has, may });
            }
        };
        match self.preferences().learnings(&LearningFilter::all(), AsOf::present(self.engine.now())).await {
            Ok(notes) => {
                for note in notes.into_iter().map(|note| note.item) {
                    let sources = &mut note.sources.iter().map(|source| source.event);
                    judge(RecordRef::Learning(note.id), (note.trust, note.level), sources);
                }
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
        match self.facts().graph().await {
            Ok(graph) => {
                let now = AsOf::present(self.engine.now());
                for fact in graph.value.facts(&FactFilter::all(), now).await? {
                    let sources = &mut fact.supports.iter().map(|support| support.source.event);
                    judge(RecordRef::Fact(fact.id), (fact.trust, fact.level), sources);
                }
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
        found.sort_unstable_by_key(|violation| violation.record);
        Ok(found)
    }
}

impl AdminHandle<'_> {
    /// Audits a space: quarantined events, bursts, records with more trust than their sources, and the invariants of the notes.
    /// It writes nothing and asks no model.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn audit(self) -> Result<TrustAudit> {
        self.memory.must_be_whole("an audit")?;
        let mut audit = TrustAudit::default();
        let all = EventFilter { erased: Within::Only(false), quarantined: Within::All, ..EventFilter::all() };
        let events = self.memory.engine.events()?.latest(&all, NEWEST).await?;
        audit.read = events.len() as u64;
        audit.held_back = held_back(&events);
        audit.bursts = bursts(&events);
        audit.violations = self.memory.violations(&events).await?;
        audit.findings = match self.memory.engine.dreamer(Vec::new()) {
            Ok(dreamer) => dreamer.cycle(CycleMode::Dry).await?.findings,
            Err(error) if error.kind() == ErrorKind::Unsupported => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(audit)
    }
}

fn held_back(events: &[Event]) -> Vec<QuarantineCount> {
    let released = released(events);
    let mut rules: BTreeMap<String, QuarantineCount> = BTreeMap::new();
    for event in events {
        let Some(rule) = event.quarantined.as_ref().filter(|_| !released.contains(&event.id)) else {
            continue;
        };
        let rule = rule.to_string();
        let held =
            rules.entry(rule.clone()).or_insert(QuarantineCount { rule, count: 0, events: Vec::new() });
        held.count += 1;
        if held.events.len() < NAMED {
            held.events.push(event.id);
        }
    }
    rules.into_values().collect()
}

/// Returns the events that a person released, unless the release was undone.
fn released(events: &[Event]) -> HashSet<EventId> {
    let living: HashMap<EventId, &NewEvent> =
        events.iter().filter_map(|event| Some((event.id, event.body()?))).collect();
    let released = |kept: &&NewEvent| match &kept.kind {
        EventKind::Decision(Decision::Release { event, copy }) => living.contains_key(copy).then_some(*event),
        _ => None,
    };
    living.values().filter_map(released).collect()
}

fn bursts(events: &[Event]) -> Vec<Burst> {
    let mut hours: BTreeMap<(Level, i64), u64> = BTreeMap::new();
    for event in events.iter().filter(|event| event.level < Level::User) {
        *hours.entry((event.level, event.recorded_at.as_micros().div_euclid(HOUR))).or_default() += 1;
    }
    let mut found = Vec::new();
    for level in [Level::External, Level::Agent] {
        let counts: Vec<(i64, u64)> = hours
            .iter()
            .filter(|((of, _), _)| *of == level)
            .map(|((_, hour), count)| (*hour, *count))
            .collect();
        let n = counts.len().max(1) as f64;
        let usual = counts.iter().map(|(_, count)| *count as f64).sum::<f64>() / n;
        let variance = counts.iter().map(|(_, count)| (*count as f64 - usual).powi(2)).sum::<f64>() / n;
        let most = usual + DEVIATIONS * variance.sqrt();
        for (hour, count) in counts {
            if count >= LEAST && count as f64 > most {
                let from = Timestamp::from_micros(hour.saturating_mul(HOUR)).unwrap_or(Timestamp::MAX);
                found.push(Burst { level, from, count, usual });
            }
        }
    }
    found.sort_by_key(|burst| burst.from);
    found
}
