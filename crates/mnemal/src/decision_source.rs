//! Sources of a decision: the spans behind its target, so that every layer that read them applies it.

use std::collections::BTreeSet;

use mnemal_core::{
    Decision, FactDecision, FactFilter, LearningFilter, NoteTarget, Result, Slot, Source, Support, Within,
};

use crate::memory::Memory;

/// Maximum number of sources of one decision, the newest. Source: own choice; one source is enough for a layer to find all equal
/// statements.
const MOST_SOURCES: usize = 256;

impl Memory {
    /// Adds the sources of the decision's target, unless the decision has some.
    pub(crate) async fn with_sources(&self, decision: Decision) -> Result<Decision> {
        Ok(match decision {
            Decision::Reject(target) => Decision::Reject(self.with_words(target).await?),
            Decision::Restore(target) => Decision::Restore(self.with_words(target).await?),
            Decision::Fact(fact) if fact.sources.is_empty() => {
                let sources = self.words_of_fact(&fact).await?;
                Decision::Fact(FactDecision { sources, ..fact })
            }
            other => other,
        })
    }

    async fn with_words(&self, target: NoteTarget) -> Result<NoteTarget> {
        let Some(key) = target.key.clone().filter(|_| target.sources.is_empty()) else { return Ok(target) };
        let mut rows = self.preferences().all_learnings(&LearningFilter::all()).await?;
        rows.retain(|row| row.key.as_ref() == Some(&key));
        let sources = newest(rows.into_iter().flat_map(|row| row.sources));
        Ok(NoteTarget { sources, ..target })
    }

    /// Returns the source spans of a fact, over all of its versions.
    async fn words_of_fact(&self, fact: &FactDecision) -> Result<Vec<Source>> {
        if !matches!(self.engine.guarded().graph, Slot::Filled(_)) {
            return Ok(Vec::new());
        }
        let filter = FactFilter {
            subjects: Within::Only(vec![fact.subject]),
            predicates: Within::Only(vec![fact.predicate.clone()]),
            ..FactFilter::all()
        };
        let mut facts = self.facts().graph().await?.value.history(&filter).await?;
        facts.retain(|known| known.topic == fact.topic && known.object.key() == fact.object.key());
        let is_read = |support: &Support| !support.is_decided() && !support.is_withdrawal();
        let supports = facts.into_iter().flat_map(|known| known.supports).filter(is_read);
        Ok(newest(supports.map(|support| support.source)))
    }
}

/// Deduplicates sources and keeps the newest; ids of events are ordered by time.
fn newest(sources: impl Iterator<Item = Source>) -> Vec<Source> {
    let mut sources: Vec<Source> = sources.collect::<BTreeSet<_>>().into_iter().collect();
    sources.drain(..sources.len().saturating_sub(MOST_SOURCES));
    sources
}
