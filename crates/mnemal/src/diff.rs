//! Belief diff: facts and notes that were added, dropped, or changed between two moments, with their evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::Range;

use mnemal_core::{
    AsOf, Cursor, Error, Event, EventFilter, EventId, EventStore, Fact, FactFilter, FactStatus, Learning,
    LearningFilter, LearningStatus, Result, Seq, Source, Timestamp,
};
use mnemal_graph::Graph;

use crate::areas::FactsHandle;
use crate::entity_profile::{FactView, SourceSentence};
use crate::memory::Memory;
use crate::report::ReportPeriod;

/// The kind of a change of belief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// Newly believed.
    Believed,
    /// No longer believed.
    Dropped,
    /// Believed before, with another value.
    Changed,
}

impl ChangeKind {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Believed => "believed",
            Self::Dropped => "dropped",
            Self::Changed => "changed",
        }
    }
}

/// One change of belief.
#[derive(Clone, Debug, PartialEq)]
pub struct BeliefChange {
    /// The moment of the change.
    pub at: Timestamp,
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The id of the new record, or of the old one if it was dropped: `fct_…`, `mem_…`.
    pub record: String,
    /// The old belief, as a sentence.
    pub before: Option<String>,
    /// The new belief, as a sentence.
    pub after: Option<String>,
    /// The event that caused the change, if it is still in the log.
    pub cause: Option<EventId>,
    /// The source sentences of the new belief, or of the old one if it was dropped.
    pub evidence: Vec<SourceSentence>,
}

/// The changes between two moments of belief, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeliefDiff {
    /// Changes of facts.
    pub facts: Vec<BeliefChange>,
    /// Changes of notes and learnings.
    pub learnings: Vec<BeliefChange>,
}

/// Reads that find an event by its recording time. Source: the logarithm of a log of 16 million events.
const STEPS: usize = 24;

impl Memory {
    /// Sets the causes of changes between two moments: the events that were recorded when they came about. A few changes are
    /// looked up in a long log, many of them in all that was recorded.
    async fn set_causes(&self, changes: &mut [BeliefChange], from: Timestamp, to: Timestamp) -> Result<()> {
        let moments: BTreeSet<Timestamp> = changes.iter().map(|change| change.at).collect();
        let log = self.log_to_read()?;
        let end = log.head().await?.count() + 1;
        let n_steps = u64::try_from(moments.len() * STEPS).unwrap_or(u64::MAX);
        let causes = if n_steps < end {
            let (mut causes, mut begin) = (BTreeMap::new(), 1);
            for at in moments {
                let (place, event) = recorded_from(log.as_ref(), at, begin..end).await?;
                begin = place;
                let event = event.filter(|event| event.recorded_at == at && event.body().is_some());
                causes.extend(event.map(|event| (at, event.id)));
            }
            causes
        } else {
            self.causes(from, to).await?
        };
        for change in changes {
            change.cause = causes.get(&change.at).copied();
        }
        Ok(())
    }

    /// Returns the events recorded in the interval, by their recording times, which are unique; erased events are left out.
    async fn causes(&self, from: Timestamp, to: Timestamp) -> Result<BTreeMap<Timestamp, EventId>> {
        let (from, to) = (from.plus_micros(1), to.plus_micros(1));
        let mut causes = BTreeMap::new();
        let take = |event: &Event| {
            if event.body().is_some() {
                causes.insert(event.recorded_at, event.id);
            }
        };
        self.recorded(ReportPeriod::new(from, to)?, take).await?;
        Ok(causes)
    }

    async fn facts_changed(
        &self,
        graph: &Graph,
        (from, to): (Timestamp, Timestamp),
    ) -> Result<Vec<BeliefChange>> {
        let believed = |fact: &Fact, at: Timestamp| {
            fact.created_at <= at
                && fact.expired_at.is_none_or(|end| at < end)
                && fact.status != FactStatus::Rejected
        };
        let mut all = graph.history(&FactFilter::all()).await?;
        all.retain(|fact| believed(fact, from) != believed(fact, to));
        let told = self.facts().describe_facts(graph, all, AsOf::present(Timestamp::MAX)).await?;
        let (before, after): (Vec<FactView>, Vec<FactView>) =
            told.into_iter().partition(|one| believed(&one.fact, from));
        let about = |one: &FactView| {
            let fact = &one.fact;
            (fact.subject, fact.predicate.clone(), fact.topic.clone(), fact.object.key())
        };
        // Pair records with the same statement first, as two versions of one belief; then those in which one value replaces
        // another.
        let pairs = paired(&before, &after, about);
        let mut changes = Vec::new();
        for (before, after) in pairs {
            let at = match (before, after) {
                (_, Some(after)) => after.fact.created_at,
                (Some(before), None) => before.fact.expired_at.unwrap_or(to),
                (None, None) => continue,
            };
            let Some(shown) = after.or(before) else { continue };
            changes.push(BeliefChange {
                at,
                kind: kind(before.as_ref(), after.as_ref()),
                record: shown.fact.id.to_string(),
                before: before.map(FactView::line),
                after: after.map(FactView::line),
                cause: None,
                evidence: shown.sentences.clone(),
            });
        }
        // A version with the same text, made because one more event supports it, is no change of belief.
        changes.retain(|change| change.before != change.after);
        changes.sort_by(|one, other| (one.at, &one.record).cmp(&(other.at, &other.record)));
        Ok(changes)
    }

    async fn learnings_changed(&self, (from, to): (Timestamp, Timestamp)) -> Result<Vec<BeliefChange>> {
        let holds =
            |row: &Learning, at: Timestamp| row.is_believed_at(at) && row.status != LearningStatus::Candidate;
        let mut all = self.preferences().all_learnings(&LearningFilter::all()).await?;
        all.retain(|row| holds(row, from) != holds(row, to));
        let (before, after): (Vec<Learning>, Vec<Learning>) =
            all.into_iter().partition(|row| holds(row, from));
        let about = |row: &Learning| match &row.key {
            Some(key) => key.to_string(),
            None => row.id.to_string(),
        };
        let mut changes = Vec::new();
        for (before, after) in paired(&before, &after, about) {
            let at = match (before, after) {
                (_, Some(after)) => after.held_since(to),
                (Some(before), None) => before.ended_at(to).unwrap_or(to),
                (None, None) => continue,
            };
            let Some(shown) = after.or(before) else { continue };
            let sources: BTreeSet<Source> = shown.sources.iter().copied().collect();
            let sources: Vec<Source> = sources.into_iter().collect();
            changes.push(BeliefChange {
                at,
                kind: kind(before.as_ref(), after.as_ref()),
                record: shown.id.to_string(),
                before: before.map(|row| row.content.clone()),
                after: after.map(|row| row.content.clone()),
                cause: None,
                evidence: self.sentences_of(&sources).await?,
            });
        }
        changes.sort_by(|one, other| (one.at, &one.record).cmp(&(other.at, &other.record)));
        Ok(changes)
    }
}

impl FactsHandle<'_> {
    /// Returns the difference of belief between two moments of the belief time; world time is ignored. Records that were
    /// forgotten in between appear in neither state.
    ///
    /// # Errors
    /// `Invalid` when the second moment is not after the first; `Unsupported` without graph or notes; `Unavailable` when the
    /// store does not answer, or the graph is behind the log.
    pub async fn diff(self, from: Timestamp, to: Timestamp) -> Result<BeliefDiff> {
        if to <= from {
            return Err(Error::invalid("the second moment must be after the first"));
        }
        let graph = self.memory.graph_of_all().await?;
        let mut facts = self.memory.facts_changed(&graph, (from, to)).await?;
        let mut learnings = self.memory.learnings_changed((from, to)).await?;
        self.memory.set_causes(&mut facts, from, to).await?;
        self.memory.set_causes(&mut learnings, from, to).await?;
        Ok(BeliefDiff { facts, learnings })
    }
}

/// Returns the first event of these places that was recorded at a moment or later, with its place, or the end of the places
/// without one: recording times grow with the places.
async fn recorded_from(
    log: &dyn EventStore,
    at: Timestamp,
    places: Range<u64>,
) -> Result<(u64, Option<Event>)> {
    let (mut low, mut high, mut found) = (places.start, places.end, None);
    while low < high {
        let middle = low + (high - low) / 2;
        let after = Cursor(middle.checked_sub(1).filter(|place| *place > 0).map(Seq));
        let event = log.scan(&EventFilter::all(), after, NonZeroUsize::MIN).await?.pop();
        match event {
            Some(event) if event.recorded_at < at => low = event.seq.0 + 1,
            event => {
                high = middle;
                found = event.or(found);
            }
        }
    }
    Ok((low, found))
}

fn kind<T>(before: Option<&T>, after: Option<&T>) -> ChangeKind {
    match (before, after) {
        (Some(_), Some(_)) => ChangeKind::Changed,
        (Some(_), None) => ChangeKind::Dropped,
        _ => ChangeKind::Believed,
    }
}

/// Pairs old with new records of the same key, in order; the remaining ones stay unpaired.
fn paired<'r, R, K: Ord>(
    before: &'r [R],
    after: &'r [R],
    about: impl Fn(&R) -> K,
) -> Vec<(Option<&'r R>, Option<&'r R>)> {
    let mut open: BTreeMap<K, std::collections::VecDeque<&'r R>> = BTreeMap::new();
    for one in before {
        open.entry(about(one)).or_default().push_back(one);
    }
    let mut pairs: Vec<(Option<&R>, Option<&R>)> = after
        .iter()
        .map(|one| (open.get_mut(&about(one)).and_then(std::collections::VecDeque::pop_front), Some(one)))
        .collect();
    pairs.extend(open.into_values().flatten().map(|one| (Some(one), None)));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_the_same_is_one_change() {
        let about = |one: &(&'static str, u32)| one.0;
        let (before, after) = ([("a", 1), ("b", 1), ("b", 2)], [("b", 3), ("c", 1)]);
        let pairs = paired(&before, &after, about);
        let said: Vec<_> = pairs.into_iter().map(|(was, is)| (was.copied(), is.copied())).collect();
        assert_eq!(
            said,
            [
                (Some(("b", 1)), Some(("b", 3))),
                (None, Some(("c", 1))),
                (Some(("a", 1)), None),
                (Some(("b", 2)), None),
            ]
        );
    }
}
