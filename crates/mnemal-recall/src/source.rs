//! Recall context source.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Body, ContextRequest, ContextSource, Degraded, Event, EventFilter, Fragment, Importance, InclusionReason,
    Label, Layer, Level, NewEvent, OmittedReason, Origin, RecordRef, Result, Role, Section, Source, Span,
};
use mnemal_extract::foreign_remark;
use mnemal_text::{fold, sentences};

use crate::evidence::EVIDENCE_FLOOR;
use crate::excerpt::{Excerpt, Excerpts};
use crate::recall::Recall;
use crate::request::{Hit, RecallRequest, RecallResult};
use crate::timeline_answer::{Timeline, TimelineLine};

/// Default number of hits offered to a context; its budget decides how many fit.
///
/// Source: measured with `bench recall --context 4000` on the development half of `LoCoMo`, share of a question's evidence
/// that is in the context: 8 hits .723, 24 hits .832 (ADR 21).
pub const INJECT_LIMIT: NonZeroUsize = NonZeroUsize::new(24).expect("24 is not zero");
/// Most hits offered to a context. Source: own choice.
const MOST: NonZeroUsize = NonZeroUsize::new(80).expect("80 is not zero");
/// Tokens of a short line, including its markup. Source: own choice.
const LINE_TOKENS: u32 = 40;
/// Most hits with a name that still counts as rare, and the limit as one of this many hits. Source: own choice.
const RARE: usize = 3;
const RARE_ONE_IN: usize = 8;
/// Bytes of a token. Source: English has about four.
const TOKEN_BYTES: usize = 4;
/// A hit may take one part in this many of the budget.
///
/// Source: measured on the development half of BEAM-100K, share of the evidence in contexts of 1,000 tokens: one in 10
/// .648, one in 16 .685, one in 24 .700 (ADR 21).
const ONE_IN: usize = 20;
/// Bytes that every hit may have. Source: own choice, two sentences.
const SHORTEST: usize = 200;
/// Fraction of the best hit's required evidence that each further hit needs, if few lines are wanted. Source: own choice;
/// the parts of a question are answered by several hits, one each.
const BESIDE: f32 = 0.5;
/// Notes offered for a question regardless of their evidence: a deliberately stored note may answer in other words. Source:
/// GB-39, five memories per question.
const NOTES: usize = 5;
/// Evidence that the best hit needs if few lines are wanted, as by a host that sends a request on every prompt: there
/// silence is the usual answer. Source: own choice; one shared word of three, as in "the checkout page", stays below it. On
/// `LoCoMo` .96 of the questions that were put to another conversation stay below, .55 on BEAM-100K (ADR 20).
const FEW_FLOOR: f32 = 0.45;

/// Offers the hits for the query of a context, best first.
///
/// Turns of the asking session are never offered, because its window holds them already; its notes are. Hits with too
/// little evidence, or that are no longer valid, are offered as withheld, so that the receipt lists them; but the first
/// five notes among the hits are offered anyway, unless the host wants few lines. A context may combine several spaces, so
/// each score is weighted by the evidence of the best hit of its space.
///
/// If a question asks for a course of events, the best hits do not answer it: one sentence from each of many more hits is
/// offered too, and the assembler sorts them chronologically.
#[derive(Clone, Debug)]
pub struct RecallSource {
    recall: Arc<Recall>,
    most: NonZeroUsize,
}

impl RecallSource {
    /// Offers up to [`INJECT_LIMIT`] hits.
    pub fn new(recall: Arc<Recall>) -> Self {
        Self { recall, most: INJECT_LIMIT }
    }

    /// Sets the number of offered hits.
    #[must_use]
    pub fn with_most(mut self, most: NonZeroUsize) -> Self {
        self.most = most;
        self
    }
}

/// Microseconds in a day: a question as of a day includes what was said on that day.
const DAY: i64 = 86_400_000_000;

#[async_trait]
impl ContextSource for RecallSource {
    fn layer(&self) -> Layer {
        Layer::Lexical
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let is_wanted = request.sections.only().is_none_or(|sections| sections.contains(&Section::Recall));
        let Some(query) = request.query.as_ref().filter(|_| is_wanted) else {
            return Ok(Degraded::whole(Vec::new()));
        };
        // A host that wants few lines sends a request on every prompt, and has no room for a timeline.
        let timeline = Timeline::read(query).filter(|_| request.lines.is_none());
        let known = request.as_of.world.plus_micros(DAY).min(request.as_of.belief.plus_micros(1));
        let asked = RecallRequest {
            query_vector: request.query_vector.clone(),
            filter: EventFilter {
                user: request.user.clone(),
                agent: request.agent.clone(),
                until: Some(known),
                ..EventFilter::live()
            },
            except_session: Some(request.session.clone()),
            limit: timeline.map_or(most(request), |_| Timeline::most()).max(self.most),
            as_of: Some(request.as_of),
            ..RecallRequest::new(query.clone())
        };
        let recalled = self.recall.recall(&asked).await?;
        Ok(recalled.map(|recalled| self.select_fragments(recalled, request, timeline, query)))
    }
}

impl RecallSource {
    fn select_fragments(
        &self,
        recalled: RecallResult,
        request: &ContextRequest,
        timeline: Option<Timeline>,
        query: &str,
    ) -> Vec<Fragment> {
        let floors = Floors::of(&recalled, request);
        let RecallResult { hits, withheld, evidence, .. } = recalled;
        // If the best hit is no evidence, the topic was not discussed.
        let steps: Vec<Fragment> = match timeline.filter(|_| evidence >= EVIDENCE_FLOOR) {
            Some(timeline) => {
                let known = hits.iter().filter(|hit| is_known(hit, request));
                let lines = timeline.lines(known, query, self.recall.analyzer());
                let step =
                    |(hit, line): (&Hit, TimelineLine)| Some(line.fragment(fragment(hit.clone())?, evidence));
                lines.into_iter().filter_map(step).collect()
            }
            None => Vec::new(),
        };
        let named = QueryNames::of(query, &hits, request);
        let mut notes = if request.lines.is_none() { NOTES } else { 0 };
        let best = hits.into_iter().take(most(request).max(self.most).get()).map(|hit| {
            let is_kept = notes > 0 && is_note(&hit) && hit.event.level > Level::External;
            notes -= usize::from(is_kept);
            (floors.refuse(&hit).filter(|_| !is_kept && !named.carries(&hit)), hit)
        });
        let ended = withheld.into_iter().map(|ended| (Some(ended.reason), ended.hit));
        let offered = best.chain(ended).filter(|(_, hit)| is_known(hit, request));
        let offered = offered
            .filter_map(|(withheld, hit)| Some(Fragment { withheld, ..fragment(hit.scaled(evidence))? }));
        let excerpts = Excerpts::new(query, self.recall.analyzer(), longest(request));
        offered.map(|whole| excerpted(whole, &excerpts)).chain(steps).collect()
    }
}

/// Returns the number of offered hits: as many short lines as fit the budget.
fn most(request: &ContextRequest) -> NonZeroUsize {
    let lines = usize::try_from(request.budget.0 / LINE_TOKENS).unwrap_or(usize::MAX);
    NonZeroUsize::new(lines).map_or(INJECT_LIMIT, |lines| lines.clamp(INJECT_LIMIT, MOST))
}

/// Returns the most bytes of a hit: a part of the budget.
fn longest(request: &ContextRequest) -> usize {
    (request.budget.0 as usize * TOKEN_BYTES / ONE_IN).max(SHORTEST)
}

/// Returns a fragment shortened to the answering sentences.
fn excerpted(whole: Fragment, excerpts: &Excerpts) -> Fragment {
    let Some(Excerpt { spans, text }) = excerpts.cut(&whole.text) else { return whole };
    let sources =
        whole.sources.iter().flat_map(|source| spans.iter().map(|span| Source { span: *span, ..*source }));
    Fragment { sources: sources.collect(), text, ..whole }
}

/// Evidence floors for a hit.
#[derive(Clone, Copy, Debug)]
struct Floors {
    /// For words of the user or the agent.
    own: f32,
    /// For words of a page or a tool.
    external: f32,
}

impl Floors {
    /// If the best hit answers, the rest of the budget goes to the next best: share of the evidence in contexts of 1,000
    /// tokens, development half of `LoCoMo`, .792 with a floor for further hits and .823 without one (ADR 20).
    ///
    /// If few lines are wanted, words of a page or a tool do not justify an injection by themselves, and next to others
    /// they need the full evidence of a best hit.
    fn of(recalled: &RecallResult, request: &ContextRequest) -> Self {
        if request.lines.is_none() {
            let floor = if recalled.evidence < EVIDENCE_FLOOR { EVIDENCE_FLOOR } else { 0.0 };
            return Self { own: floor, external: floor };
        }
        let own = recalled.hits.iter().filter(|hit| hit.event.level != Level::External);
        let best = own.fold(0.0, |best: f32, hit| best.max(hit.evidence));
        let external = if best < FEW_FLOOR { f32::INFINITY } else { FEW_FLOOR };
        Self { own: if best < FEW_FLOOR { FEW_FLOOR } else { FEW_FLOOR * BESIDE }, external }
    }

    fn refuse(self, hit: &Hit) -> Option<OmittedReason> {
        let floor = if hit.event.level == Level::External { self.external } else { self.own };
        (hit.evidence < floor).then_some(OmittedReason::BelowFloor)
    }
}

/// The rare names and numbers of a question: a turn with one of them is relevant whatever its other words are.
#[derive(Clone, Debug, Default)]
struct QueryNames(Vec<String>);

impl QueryNames {
    /// Finds them; empty if few lines are wanted, where silence is the usual answer and a name does not justify an
    /// injection.
    fn of(query: &str, hits: &[Hit], request: &ContextRequest) -> Self {
        if request.lines.is_some() {
            return Self::default();
        }
        let mut names = Vec::new();
        for sentence in sentences(query) {
            let words: Vec<&str> = sentence
                .of(query)
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .collect();
            for (place, word) in words.iter().enumerate() {
                let is_first = place == 0 && words.len() > 1;
                let is_capital =
                    word.chars().next().is_some_and(char::is_uppercase) && word.chars().count() > 1;
                if word.chars().any(char::is_numeric) || is_capital && !is_first {
                    names.push(fold(word));
                }
            }
        }
        let most = RARE.max(hits.len() / RARE_ONE_IN);
        names.retain(|name| hits.iter().filter(|hit| has(hit, name)).count() <= most);
        Self(names)
    }

    fn carries(&self, hit: &Hit) -> bool {
        self.0.iter().any(|name| has(hit, name))
    }
}

fn has(hit: &Hit, name: &str) -> bool {
    let content = hit.event.body().map_or("", |kept| kept.content.as_str());
    let mut words = content.split(|c: char| !c.is_alphanumeric());
    words.any(|word| fold(word) == name)
}

/// Whether the event was known at the time, has text to show, and is not a turn of the asking session.
fn is_known(hit: &Hit, request: &ContextRequest) -> bool {
    let has_words = hit.event.body().is_some_and(|kept| !kept.content.trim().is_empty());
    // The substring scan, the fallback without a lexical match, does not exclude the asking session. A note is kept,
    // whatever its session; a record that the engine derived from a session counts as a part of it.
    let is_own = hit.event.body().is_some_and(|kept| kept.session == request.session) && !is_note(hit);
    has_words && !is_own && hit.event.recorded_at <= request.as_of.belief
}

/// Whether it was stored deliberately and not by the engine.
fn is_note(hit: &Hit) -> bool {
    let is_made = hit.event.body().is_none_or(|kept| kept.origin == Origin::Engine);
    hit.event.role == Role::Decision && !is_made
}

fn fragment(hit: Hit) -> Option<Fragment> {
    let Event { id, level, trust, body: Body::Present(kept), .. } = hit.event else { return None };
    let remark = foreign_remark(&kept);
    let NewEvent { content, occurred_at, zone, speaker, .. } = *kept;
    Some(Fragment {
        section: Section::Recall,
        record: RecordRef::Event(id),
        producer: None,
        sources: vec![Source { event: id, span: Span::whole(&content).ok()? }],
        text: content,
        label: Label { level, at: occurred_at, zone, speaker, space: None, remark },
        trust,
        importance: Importance::DEFAULT,
        score: hit.score,
        parts: hit.parts,
        because: InclusionReason::Query,
        withheld: None,
    })
}
