//! Secondary spaces: read beside the one that is asked, labelled with their names, and never written.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use mnemal_core::{
    ContextRequest, ContextSource, Degraded, ErrorKind, EventFilter, EventId, Fragment, Gap, GapCause, Gaps,
    Layer, Learning, Result, Scope, Section, Slot, SpaceId, Within,
};
use mnemal_events::EventLog;
use mnemal_recall::{Hit, RecallRequest, Recalled, Withheld};

use crate::memory::Memory;
use crate::user::both;

/// What another space may add to a context: notes and what matches the question, never what was said there just now.
const OFFERED: [Section; 5] =
    [Section::Identity, Section::Preferences, Section::Knowledge, Section::Insights, Section::Recall];

/// The spaces that are read beside a memory; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secondary(Arc<Read>);

#[derive(Debug, Default)]
struct Read {
    memories: Vec<Memory>,
    /// Why spaces that should be read cannot be.
    gaps: Vec<Gap>,
}

impl Memory {
    /// Returns the same memory, whose [`recall`](Self::recall) and [`context`](Self::context) also ask these spaces, in
    /// place of those it asked before.
    ///
    /// Each is asked once for each question, within its own scope and that of the request; what it answers carries its name.
    /// In a context they take at most the share `context.secondary_share` of the budget together, and add notes and hits,
    /// never their recent turns. One that fails is a gap. Whatever writes, writes to this memory's own space; everything
    /// else reads it alone. A memory of this very space is left out.
    #[must_use]
    pub fn with_secondary(&self, others: impl IntoIterator<Item = Self>) -> Self {
        self.reading_beside(others, Vec::new())
    }

    /// Returns the same memory, to whose answers a space should add that cannot be read: it is a gap of each of them.
    #[must_use]
    pub fn without_secondary(&self, why: ErrorKind) -> Self {
        let read = &self.secondary.0;
        let gap = Gap { layer: Layer::Events, cause: GapCause::Failed(why) };
        let gaps = read.gaps.iter().copied().chain([gap]).collect();
        self.reading_beside(read.memories.clone(), gaps)
    }

    /// Returns the names of the spaces that are read beside this memory's own, in the order in which they are asked.
    pub fn secondary(&self) -> impl Iterator<Item = &SpaceId> {
        self.secondary.0.memories.iter().map(|memory| &memory.scope.space)
    }

    /// Returns every version of the notes that were read in these events, of all spaces that are read; a failing space has
    /// none.
    pub(crate) async fn notes_of(&self, events: &[EventId]) -> Result<Vec<Learning>, GapCause> {
        let mut notes = self.engine.notes_of(events).await?;
        for other in &self.secondary.0.memories {
            notes.extend(other.engine.notes_of(events).await.unwrap_or_default());
        }
        Ok(notes)
    }

    /// Returns this memory's own log, which knows what the other spaces have shown.
    pub(crate) fn event_log(&self) -> Result<EventLog> {
        let log = self.engine.log()?;
        let others = self.secondary.0.memories.iter();
        let stores = others.filter_map(|other| match &other.engine.guarded().events {
            Slot::Filled(store) => Some(Arc::clone(store)),
            Slot::Empty => None,
        });
        Ok(log.with_elsewhere(stores.collect()))
    }

    /// As [`with_secondary`](Self::with_secondary), with what is known to be missing.
    pub(crate) fn reading_beside(&self, others: impl IntoIterator<Item = Self>, gaps: Vec<Gap>) -> Self {
        let mut memories: Vec<Self> = Vec::new();
        for other in others {
            let known = memories.iter().map(|memory| &memory.scope.space);
            if !known.chain([&self.scope.space]).any(|space| *space == other.scope.space) {
                memories.push(Self { secondary: Secondary::default(), ..other });
            }
        }
        Self { secondary: Secondary(Arc::new(Read { memories, gaps })), ..self.clone() }
    }
}

impl Secondary {
    /// Returns why spaces that should be read cannot be.
    pub(crate) fn gaps(&self) -> &[Gap] {
        &self.0.gaps
    }

    /// Returns what these spaces offer for a context.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Arc<dyn ContextSource>> {
        self.0.memories.iter().flat_map(|memory| {
            let sources = memory.engine.parts().context.sources.iter();
            // Whom a name means is known within a space only, so the facts of one are none of another.
            let sources = sources.filter(|source| source.layer() != Layer::Graph);
            sources.map(|source| {
                let (source, scope) = (Arc::clone(source), memory.scope.clone());
                Arc::new(Labelled { source, scope }) as Arc<dyn ContextSource>
            })
        })
    }

    /// Asks each space once; one that fails is a gap.
    pub(crate) async fn recall(&self, request: &RecallRequest) -> Degraded<Vec<(SpaceId, Recalled)>> {
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

/// Puts the answers of several spaces into one, best first; of equal scores that of the space that was asked.
///
/// Scores are shares of the best hit of their own space; they are weighed with the evidence of that hit, the largest of
/// which keeps its scores.
pub(crate) fn merged(own: Recalled, others: Vec<(SpaceId, Recalled)>, request: &RecallRequest) -> Recalled {
    if others.is_empty() {
        return own;
    }
    let evidence = others.iter().fold(own.evidence, |largest, (_, other)| other.evidence.max(largest));
    let weight = |of: f32| if evidence > 0.0 { of / evidence } else { 1.0 };
    let of_own = weight(own.evidence);
    let mut whole = Recalled { evidence, hits: Vec::new(), withheld: Vec::new(), ..own };
    whole.hits.extend(own.hits.into_iter().map(|hit| hit.weighed(of_own)));
    let weighed = |ended: Withheld| Withheld { hit: ended.hit.weighed(of_own), ..ended };
    whole.withheld.extend(own.withheld.into_iter().map(weighed));
    for (space, other) in others {
        let weight = weight(other.evidence);
        let label = |hit: Hit| Hit { space: Some(space.clone()), ..hit.weighed(weight) };
        whole.hits.extend(other.hits.into_iter().map(label));
        let label = |ended: Withheld| Withheld { hit: label(ended.hit), ..ended };
        whole.withheld.extend(other.withheld.into_iter().map(label));
    }
    let least = request.min_score.unwrap_or(f32::NEG_INFINITY);
    whole.hits.retain(|hit| hit.score.get() >= least);
    whole.hits.sort_by(|a, b| b.score.get().total_cmp(&a.score.get()));
    whole.hits.truncate(NonZeroUsize::get(request.limit));
    whole.withheld.sort_by(|a, b| b.hit.score.get().total_cmp(&a.hit.score.get()));
    whole
}

/// What a source of another space offers, with that space's name and within its scope.
#[derive(Debug)]
struct Labelled {
    source: Arc<dyn ContextSource>,
    scope: Scope,
}

#[async_trait]
impl ContextSource for Labelled {
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

/// Narrows a filter to a scope; `None` when nothing lies in both.
fn narrowed_filter(filter: &EventFilter, scope: &Scope) -> Option<EventFilter> {
    Some(EventFilter {
        session: both(&filter.session, &scope.session)?,
        user: both(&filter.user, &scope.user)?,
        agent: both(&filter.agent, &scope.agent)?,
        ..filter.clone()
    })
}

/// Narrows a request to a scope and to what another space may add; `None` when nothing is left. A context cannot be narrowed
/// to conversations, so a scope of one has nothing to offer.
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
