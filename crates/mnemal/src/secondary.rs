//! Secondary spaces: read together with the primary space, labelled with their names, and never written.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use mnemal_core::{
    ContextRequest, ContextSource, Degraded, ErrorKind, EventFilter, EventId, Fragment, Gap, GapCause, Gaps,
    Layer, Learning, Result, Scope, Section, Slot, SpaceId, Within,
};
use mnemal_events::EventLog;
use mnemal_recall::{Hit, RecallRequest, RecallResult, WithheldHit};

use crate::areas::AdminHandle;
use crate::memory::Memory;
use crate::user::both;

/// The sections that another space may contribute to: notes and matching records, never its recent turns.
const OFFERED: [Section; 5] =
    [Section::Identity, Section::Preferences, Section::Knowledge, Section::Insights, Section::Recall];

/// The secondary spaces of a memory; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secondary(Arc<ReadSpaces>);

#[derive(Debug, Default)]
struct ReadSpaces {
    memories: Vec<Memory>,
    /// Gaps of spaces that cannot be read.
    gaps: Vec<Gap>,
}

impl Memory {
    /// Returns every version of the notes that were read from these events, over all read spaces; a failing space is skipped.
    pub(crate) async fn notes_of(&self, events: &[EventId]) -> Result<Vec<Learning>, GapCause> {
        let mut notes = self.engine.notes_of(events).await?;
        for other in &self.secondary.0.memories {
            notes.extend(other.engine.notes_of(events).await.unwrap_or_default());
        }
        Ok(notes)
    }

    /// Returns this memory's own log, with the texts that other spaces have shown.
    pub(crate) fn event_log(&self) -> Result<EventLog> {
        let log = self.engine.log()?;
        let others = self.secondary.0.memories.iter();
        let stores = others.filter_map(|other| match &other.engine.guarded().events {
            Slot::Filled(store) => Some(Arc::clone(store)),
            Slot::Empty => None,
        });
        Ok(log.with_elsewhere(stores.collect()))
    }

    /// As [`with_secondary`](crate::areas::AdminHandle::with_secondary), with known gaps.
    pub(crate) fn reading_beside(&self, others: impl IntoIterator<Item = Self>, gaps: Vec<Gap>) -> Self {
        let mut memories: Vec<Self> = Vec::new();
        for other in others {
            let known = memories.iter().map(|memory| &memory.scope.space);
            if !known.chain([&self.scope.space]).any(|space| *space == other.scope.space) {
                memories.push(Self { secondary: Secondary::default(), ..other });
            }
        }
        Self { secondary: Secondary(Arc::new(ReadSpaces { memories, gaps })), ..self.clone() }
    }
}

impl<'a> AdminHandle<'a> {
    /// Returns the same memory with these secondary spaces, which replace the earlier ones; [`recall`](crate::Memory::recall) and
    /// [`context`](crate::Memory::context) query them too.
    ///
    /// Each is queried once per question, within its own scope and that of the request; its records carry its name. In a context
    /// they take at most the share `context.secondary_share` of the budget together, and add notes and hits, never their recent
    /// turns. A failing one is a gap. Writes go to this memory's own space, and other reads use it alone. A memory of this space
    /// itself is left out.
    #[must_use]
    pub fn with_secondary(self, others: impl IntoIterator<Item = Memory>) -> Memory {
        self.memory.reading_beside(others, Vec::new())
    }

    /// Returns the same memory with a gap in every answer, for a secondary space that cannot be read.
    #[must_use]
    pub fn without_secondary(self, why: ErrorKind) -> Memory {
        let read = &self.memory.secondary.0;
        let gap = Gap { layer: Layer::Events, cause: GapCause::Failed(why) };
        let gaps = read.gaps.iter().copied().chain([gap]).collect();
        self.memory.reading_beside(read.memories.clone(), gaps)
    }

    /// Returns the names of the secondary spaces, in query order.
    pub fn secondary(self) -> impl Iterator<Item = &'a SpaceId> {
        self.memory.secondary.0.memories.iter().map(|memory| &memory.scope.space)
    }
}

impl Secondary {
    /// Returns the gaps of spaces that cannot be read.
    pub(crate) fn gaps(&self) -> &[Gap] {
        &self.0.gaps
    }

    /// Returns the context sources of these spaces.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Arc<dyn ContextSource>> {
        self.0.memories.iter().flat_map(|memory| {
            let sources = memory.engine.parts().context.sources.iter();
            // Names are resolved within one space only, so facts of different spaces are not combined.
            let sources = sources.filter(|source| source.layer() != Layer::Graph);
            sources.map(|source| {
                let (source, scope) = (Arc::clone(source), memory.scope.clone());
                Arc::new(LabeledSource { source, scope }) as Arc<dyn ContextSource>
            })
        })
    }

    /// Queries each space once; a failing one is a gap.
    pub(crate) async fn recall(&self, request: &RecallRequest) -> Degraded<Vec<(SpaceId, RecallResult)>> {
        let asked = self.0.memories.iter().filter_map(|memory| {
            let filter = narrowed_filter(&request.filter, &memory.scope)?;
            let request = RecallRequest { filter, ..request.clone() };
            Some(async move { (memory.scope.space.clone(), memory.engine.recalled(&request).await) })
        });
        let mut gaps = Gaps::default();
        let mut answers = Vec::new();
        for (space, answer) in join_all(asked).await {
            match answer {
                Ok(answer) => answers.push((space, gaps.merge(answer))),
                Err(error) => gaps.add(Gap { layer: Layer::Events, cause: error.into() }),
            }
        }
        for gap in self.gaps() {
            gaps.add(*gap);
        }
        gaps.attach(answers)
    }
}

/// Merges the answers of several spaces, best first; the primary space wins ties.
///
/// Scores are relative to the best hit of their own space; they are scaled by the evidence of that hit, so that the answer with
/// the strongest evidence keeps its scores.
pub(crate) fn merged(
    own: RecallResult,
    others: Vec<(SpaceId, RecallResult)>,
    request: &RecallRequest,
) -> RecallResult {
    if others.is_empty() {
        return own;
    }
    let evidence = others.iter().fold(own.evidence, |largest, (_, other)| other.evidence.max(largest));
    let weight = |of: f32| if evidence > 0.0 { of / evidence } else { 1.0 };
    let of_own = weight(own.evidence);
    let mut whole = RecallResult { evidence, hits: Vec::new(), withheld: Vec::new(), ..own };
    whole.hits.extend(own.hits.into_iter().map(|hit| hit.scaled(of_own)));
    let weighed = |ended: WithheldHit| WithheldHit { hit: ended.hit.scaled(of_own), ..ended };
    whole.withheld.extend(own.withheld.into_iter().map(weighed));
    for (space, other) in others {
        let weight = weight(other.evidence);
        let label = |hit: Hit| Hit { space: Some(space.clone()), ..hit.scaled(weight) };
        whole.hits.extend(other.hits.into_iter().map(label));
        let label = |ended: WithheldHit| WithheldHit { hit: label(ended.hit), ..ended };
        whole.withheld.extend(other.withheld.into_iter().map(label));
    }
    let least = request.min_score.unwrap_or(f32::NEG_INFINITY);
    whole.hits.retain(|hit| hit.score.get() >= least);
    whole.hits.sort_by(|a, b| b.score.get().total_cmp(&a.score.get()));
    whole.hits.truncate(NonZeroUsize::get(request.limit));
    whole.withheld.sort_by(|a, b| b.hit.score.get().total_cmp(&a.hit.score.get()));
    whole
}

/// The context source of another space, with its name and within its scope.
#[derive(Debug)]
struct LabeledSource {
    source: Arc<dyn ContextSource>,
    scope: Scope,
}

#[async_trait]
impl ContextSource for LabeledSource {
    fn layer(&self) -> Layer {
        self.source.layer()
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let Some(request) = narrowed_request(request, &self.scope) else {
            return Ok(Degraded::whole(Vec::new()));
        };
        let label = |mut fragment: Fragment| {
            fragment.label.space = Some(self.scope.space.clone());
            fragment
        };
        let answer = self.source.fragments(&request).await?;
        Ok(answer.map(|fragments| {
            fragments.into_iter().filter(|one| OFFERED.contains(&one.section)).map(label).collect()
        }))
    }
}

/// Intersects a filter with a scope; `None` when the result is empty.
fn narrowed_filter(filter: &EventFilter, scope: &Scope) -> Option<EventFilter> {
    Some(EventFilter {
        session: both(&filter.session, &scope.session)?,
        user: both(&filter.user, &scope.user)?,
        agent: both(&filter.agent, &scope.agent)?,
        ..filter.clone()
    })
}

/// Narrows a request to a scope and to the sections of secondary spaces; `None` when nothing is left. A context cannot be
/// narrowed to sessions, so a scope of one session contributes nothing.
fn narrowed_request(request: &ContextRequest, scope: &Scope) -> Option<ContextRequest> {
    let by_default = |section: &Section| *section != Section::Insights;
    let wanted = |section: &Section| match request.sections.only() {
        Some(wanted) => wanted.contains(section),
        None => by_default(section),
    };
    let sections: Vec<Section> = OFFERED.into_iter().filter(wanted).collect();
    if sections.is_empty() || scope.session != Within::All {
        return None;
    }
    Some(ContextRequest {
        user: both(&request.user, &scope.user)?,
        agent: both(&request.agent, &scope.agent)?,
        sections: Within::Only(sections),
        ..request.clone()
    })
}
