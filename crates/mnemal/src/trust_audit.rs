//! Trust audit: quarantined events, hours with much more than usual, and records that claim more than their sources.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroUsize;

use mnemal_core::{
    AsOf, Decision, ErrorKind, Event, EventFilter, EventId, EventKind, FactFilter, LearningFilter, Level,
    NewEvent, RecordRef, Result, Timestamp, Trust, Within,
};
use mnemal_dream::{Finding, Run};

use crate::memory::Memory;

/// Newest events that are read. Source: own choice, some seconds of work.
const NEWEST: NonZeroUsize = NonZeroUsize::new(100_000).expect("100,000 is not zero");
/// Events that are named for each rule. Source: own choice, a screen.
const NAMED: usize = 20;
/// Deviations above the mean from which an hour is a burst. Source: RELIABILITY 7.
const DEVIATIONS: f64 = 3.0;
/// Least events of a burst. Source: own choice; the anomaly cap for level agent, RELIABILITY 7.
const LEAST: u64 = 60;
/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// What one rule of the write screen held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// The rule.
    pub rule: String,
    /// How many events.
    pub count: u64,
    /// The newest twenty of them.
    pub events: Vec<EventId>,
}

/// An hour in which more came of one level than the mean of the hours with any, and three deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct Burst {
    /// Of what came.
    pub level: Level,
    /// Where the hour begins.
    pub from: Timestamp,
    /// How many events.
    pub count: u64,
    /// The mean of the hours in which anything of the level came.
    pub usual: f64,
}

/// A record that claims more than its sources give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustViolation {
    /// The record.
    pub record: RecordRef,
    /// The trust and level that it has.
    pub has: (Trust, Level),
    /// The most that its sources give.
    pub may: (Trust, Level),
}

/// What an audit of a space found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrustAudit {
    /// Events that were read, at most the newest 100,000.
    pub read: u64,
    /// By rule, without what was released.
    pub held_back: Vec<HeldBack>,
    /// Oldest first.
    pub bursts: Vec<Burst>,
    /// By record.
    pub violations: Vec<TrustViolation>,
    /// Invariants of the notes that do not hold, each with what it means and what a person can do.
    pub findings: Vec<Finding>,
}

impl Memory {
    /// Audits a space: what the write screen held back, bursts, records that are trusted more than their sources, and the
    /// invariants of the notes. It writes nothing and asks no model.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn audit(&self) -> Result<TrustAudit> {
        self.must_be_whole("an audit")?;
        let mut audit = TrustAudit::default();
        let all = EventFilter { erased: Within::Only(false), quarantined: Within::All, ..EventFilter::all() };
        let events = self.engine.events()?.latest(&all, NEWEST).await?;
        audit.read = events.len() as u64;
        audit.held_back = held_back(&events);
        audit.bursts = bursts(&events);
        audit.violations = self.violations(&events).await?;
        audit.findings = match self.engine.dreamer(Vec::new()) {
            Ok(dreamer) => dreamer.cycle(Run::Dry).await?.findings,
            Err(error) if error.kind() == ErrorKind::Unsupported => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(audit)
    }

    async fn violations(&self, events: &[Event]) -> Result<Vec<TrustViolation>> {
        let given: HashMap<EventId, (Trust, Level)> =
            events.iter().map(|event| (event.id, (event.trust, event.level))).collect();
        let mut found = Vec::new();
        let mut judge = |record: RecordRef,
                         has: (Trust, Level),
                         sources: &mut dyn Iterator<Item = EventId>| {
            // What rests on events beyond those that were read is not judged.
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
        match self.learnings(&LearningFilter::all(), AsOf::present(self.engine.now())).await {
            Ok(notes) => {
                for note in notes.into_iter().map(|note| note.item) {
                    let sources = &mut note.sources.iter().map(|source| source.event);
                    judge(RecordRef::Learning(note.id), (note.trust, note.level), sources);
                }
            }
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
        match self.graph().await {
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

fn held_back(events: &[Event]) -> Vec<HeldBack> {
    let released = released(events);
    let mut rules: BTreeMap<String, HeldBack> = BTreeMap::new();
    for event in events {
        let Some(rule) = event.quarantined.as_ref().filter(|_| !released.contains(&event.id)) else {
            continue;
        };
        let rule = rule.to_string();
        let held = rules.entry(rule.clone()).or_insert(HeldBack { rule, count: 0, events: Vec::new() });
        held.count += 1;
        if held.events.len() < NAMED {
            held.events.push(event.id);
        }
    }
    rules.into_values().collect()
}

/// Returns what a person released of these events, and did not hold back again.
fn released(events: &[Event]) -> HashSet<EventId> {
    let living: HashMap<EventId, &NewEvent> =
        events.iter().filter_map(|event| Some((event.id, event.kept()?))).collect();
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
