//! Outdated turns in a context: turns whose facts have all ended are marked, and what ended them stands beside.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    ContextRequest, ContextSource, Degraded, Event, EventFilter, EventId, EventStore, Fact, FactFilter,
    FactStatus, Fragment, GapCause, Gaps, GraphStore, InclusionReason, Inventory, Layer, Level, RecordRef,
    Remark, Result, Score, ScorePart, Slot, Source, Span, Within,
};
use mnemal_text::{Sentence, sentences};

/// The score part of a line that stands beside an outdated one, because it ended what that states.
pub(crate) const REPLACES: &str = "replaces";
/// Share of the outdated line's score that such a line has. Source: `bench life`; with more of it, it takes the place of lines
/// that answer.
const SHARE: f32 = 0.5;
/// Outdated turns whose successors are looked up, at most. Source: own choice; a context shows few of them.
const LOOKED_UP: usize = 4;

/// The predicate of names, which do not end with what else was said.
const NAME: &str = "name";

/// Wraps a context source, and marks the user's turns whose facts have all ended.
#[derive(Debug)]
struct OutdatedMarker {
    source: Arc<dyn ContextSource>,
    graph: Arc<dyn GraphStore>,
    /// The log, where the turns that ended them are offered too.
    events: Option<Arc<dyn EventStore>>,
}

/// Wraps a source so that outdated turns are marked; without a graph it returns the source itself.
pub(crate) fn marked(source: Arc<dyn ContextSource>, graph: &Slot<dyn GraphStore>) -> Arc<dyn ContextSource> {
    match graph {
        Slot::Filled(graph) => Arc::new(OutdatedMarker { source, graph: Arc::clone(graph), events: None }),
        Slot::Empty => source,
    }
}

/// As [`marked`], and the turn that ended them is offered with each outdated one.
pub(crate) fn with_successors(
    source: Arc<dyn ContextSource>,
    graph: &Slot<dyn GraphStore>,
    events: &Slot<dyn EventStore>,
) -> Arc<dyn ContextSource> {
    match (graph, events) {
        (Slot::Filled(graph), Slot::Filled(events)) => {
            let events = Some(Arc::clone(events));
            Arc::new(OutdatedMarker { source, graph: Arc::clone(graph), events })
        }
        _ => marked(source, graph),
    }
}

impl OutdatedMarker {
    /// Adds the sentences that ended the facts of the outdated turns, as far as they are not there.
    async fn add_successors(
        &self,
        request: &ContextRequest,
        facts: &[Fact],
        fragments: &mut Vec<Fragment>,
    ) -> Result<()> {
        let Some(events) = &self.events else { return Ok(()) };
        let mut ended: Vec<(usize, Source)> = Vec::new();
        for (place, fragment) in fragments.iter().enumerate() {
            let is_shown = fragment.withheld.is_none();
            let Some(turn) = turn(fragment).filter(|turn| is_shown && is_past(*turn, facts)) else {
                continue;
            };
            let of_turn = facts.iter().filter(|fact| states(fact, turn));
            let last = of_turn.filter_map(successor).max_by_key(|source| source.event);
            ended.extend(
                last.filter(|one| ended.iter().all(|(_, known)| known.event != one.event))
                    .map(|one| (place, one)),
            );
            if ended.len() == LOOKED_UP {
                break;
            }
        }
        if ended.is_empty() {
            return Ok(());
        }
        let ids: Vec<EventId> = ended.iter().map(|(_, source)| source.event).collect();
        let (user, agent, channel) = (request.user.clone(), request.agent.clone(), request.channel.clone());
        let scope = EventFilter { user, agent, channel, ..EventFilter::live() };
        let turns = events.get(&ids).await?;
        for (place, source) in ended {
            let is_meant = |event: &&Event| {
                let is_own = event.body().is_some_and(|kept| kept.session == request.session);
                event.id == source.event && event.level == Level::User && scope.accepts(event) && !is_own
            };
            let Some((event, of)) = turns.iter().find(is_meant).zip(fragments.get(place)) else { continue };
            let added = successor_line(event, source.span, of);
            match fragments.iter_mut().find(|one| one.record == RecordRef::Event(event.id)) {
                Some(known) => known.parts.push(replaces(0.0)),
                None => fragments.extend(added),
            }
        }
        Ok(())
    }
}

/// Returns a line with the sentence that ended what an outdated line states.
fn successor_line(event: &Event, span: Span, of: &Fragment) -> Option<Fragment> {
    let mut line = Fragment::of_event(event, of.section, InclusionReason::Query)?;
    let sentences = sentences(&line.text);
    let is_meant = |sentence: &&Sentence| sentence.range().contains(&(span.start as usize));
    if let Some(range) = sentences.iter().find(is_meant).map(Sentence::range) {
        let span = Span { start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? };
        let text = line.text.get(range)?.to_owned();
        (line.text, line.sources) = (text, vec![Source { event: event.id, span }]);
    }
    let score = of.score.get() * SHARE;
    let less = score - of.score.get();
    line.parts = of.parts.iter().copied().chain([replaces(less)]).collect();
    line.score = Score::new(score);
    Some(line)
}

fn replaces(value: f32) -> ScorePart {
    ScorePart { name: REPLACES, raw: 1.0, normalized: 1.0, weight: value, value }
}

/// Returns the words that ended a fact, of another turn.
fn successor(fact: &Fact) -> Option<Source> {
    let by = fact.superseded.as_ref()?.by;
    let words = fact.supports.iter().map(|support| support.source).find(|source| source.event == by);
    Some(words.unwrap_or(Source { event: by, span: Span { start: 0, end: 1 } }))
}

#[async_trait]
impl ContextSource for OutdatedMarker {
    fn layer(&self) -> Layer {
        self.source.layer()
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let found = self.source.fragments(request).await?;
        let turns: BTreeSet<EventId> = found.value.iter().filter_map(turn).collect();
        if turns.is_empty() || !request.as_of.is_present() {
            return Ok(found);
        }
        let filter = FactFilter { sources: Within::Only(turns.into_iter().collect()), ..FactFilter::all() };
        // Without the graph the turns are shown with their dates only, and the answer has the gap.
        let mut gaps = Gaps::default();
        let facts = gaps.keep(Layer::Graph, self.graph.believed(&filter).await.map_err(GapCause::from));
        let mut value = gaps.merge(found);
        let added = self.add_successors(request, &facts, &mut value).await;
        gaps.keep(Layer::Graph, added.map_err(GapCause::from));
        for fragment in &mut value {
            let is_past = turn(fragment).is_some_and(|turn| is_past(turn, &facts));
            if is_past && fragment.label.remark.is_none() {
                fragment.label.remark = Some(Remark::Past);
            }
        }
        Ok(gaps.attach(value))
    }

    async fn inventories(&self, request: &ContextRequest) -> Result<Vec<Inventory>> {
        self.source.inventories(request).await
    }
}

/// Returns the user's turn that a fragment quotes.
fn turn(fragment: &Fragment) -> Option<EventId> {
    match fragment.record {
        RecordRef::Event(event) if fragment.label.level == Level::User => Some(event),
        _ => None,
    }
}

fn states(fact: &Fact, turn: EventId) -> bool {
    fact.supports.iter().any(|one| one.source.event == turn && one.says_so())
}

/// Whether a turn states some fact that another event ended or that was rejected, and none that still holds.
fn is_past(turn: EventId, facts: &[Fact]) -> bool {
    let mut said: Vec<&Fact> = facts.iter().filter(|fact| states(fact, turn)).collect();
    // "My boss is called Claire" is over with her being the boss, though she keeps the name.
    if said.iter().any(|fact| fact.predicate.as_str() != NAME) {
        said.retain(|fact| fact.predicate.as_str() != NAME);
    }
    let is_over = |fact: &&Fact| {
        let by_another = fact.superseded.as_ref().is_some_and(|by| by.by != turn);
        by_another || fact.status == FactStatus::Rejected
    };
    !said.is_empty() && said.iter().all(is_over)
}
