//! Recall as a part of a context.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Because, Body, ContextRequest, ContextSource, Degraded, Event, EventFilter, Fragment, Importance, Label,
    Layer, Level, NewEvent, OmittedReason, Origin, RecordRef, Result, Role, Section, Source, Span,
};
use mnemal_extract::foreign_remark;
use mnemal_text::{fold, sentences};

use crate::course::{Course, Line};
use crate::evidence::EVIDENCE_FLOOR;
use crate::excerpt::{Excerpt, Excerpts};
use crate::recall::Recall;
use crate::request::{Hit, RecallRequest, Recalled};

/// Hits that a context is offered; what fits of them is up to its budget.
///
/// Source: measured with `bench recall --context 4000` on the development half of `LoCoMo`, share of a question's evidence that is
/// in the context: 8 hits .723, 24 hits .832 (ADR 21).
pub const INJECT_LIMIT: NonZeroUsize = NonZeroUsize::new(24).expect("24 is not zero");
/// Most hits that a context is offered. Source: own choice.
const MOST: NonZeroUsize = NonZeroUsize::new(80).expect("80 is not zero");
/// Tokens of a short line, with what stands around its words. Source: own choice.
const LINE_TOKENS: u32 = 40;
/// Hits that may have a name which counts as rare, and of all hits one in so many. Source: own choice.
const RARE: usize = 3;
const RARE_ONE_IN: usize = 8;
/// Bytes of a token. Source: English has about four.
const TOKEN_BYTES: usize = 4;
/// Of the budget a hit may take one part in so many.
///
/// Source: measured on the development half of BEAM-100K, share of the evidence in contexts of 1,000 tokens: one in 10 .648, one in
/// 16 .685, one in 24 .700 (ADR 21).
const ONE_IN: usize = 20;
/// Bytes that every hit may have. Source: own choice, two sentences.
const SHORTEST: usize = 200;
/// Part of what the best hit must reach that each hit beside it must have, where few lines are wanted. Source: own choice; a
/// question of several parts is covered by several hits, each of which answers one part.
const BESIDE: f32 = 0.5;
/// Notes that are offered for a question however little evidence they have: what somebody kept on purpose is worth a line where its
/// words are other ones. Source: GB-39, `recall.inject_limit`.
const NOTES: usize = 5;
/// Evidence that the best hit must have where few lines are wanted, as by a host that asks on every prompt: there silence is
/// the usual answer. Source: own choice; one shared word of three, as in "the checkout page", stays below it. On `LoCoMo` .96 of
/// the questions that were put to another conversation stay below, .55 on BEAM-100K (ADR 20).
const FEW_FLOOR: f32 = 0.45;

/// Offers what matches the query of a context, best first.
///
/// Turns of the asking conversation are never offered: they stand in its window already, which its notes need not. What has too
/// little evidence, or is no longer true, is offered as withheld, so that the receipt names it; but of the notes among the hits the
/// first five stand, unless the host wants few lines.
/// A context may hold several spaces, so each score is weighed with the evidence of the best hit of its space.
///
/// Where a question asks how something went over time, the best hits do not answer it: there a sentence of each of many more
/// is offered too, and the assembler puts them in the order in which they were said.
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

    /// Sets how many hits are offered.
    #[must_use]
    pub fn with_most(mut self, most: NonZeroUsize) -> Self {
        self.most = most;
        self
    }
}

/// Microseconds of a day: who asks as of a day asks with what was said on it.
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
        // A host that wants few lines asks on every prompt, and has no room for a course.
        let course = Course::read(query).filter(|_| request.lines.is_none());
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
            limit: course.map_or(most(request), |_| Course::most()).max(self.most),
            as_of: Some(request.as_of),
            ..RecallRequest::new(query.clone())
        };
        let recalled = self.recall.recall(&asked).await?;
        Ok(recalled.map(|recalled| self.offered(recalled, request, course, query)))
    }
}

impl RecallSource {
    fn offered(
        &self,
        recalled: Recalled,
        request: &ContextRequest,
        course: Option<Course>,
        query: &str,
    ) -> Vec<Fragment> {
        let floors = Floors::of(&recalled, request);
        let Recalled { hits, withheld, evidence, .. } = recalled;
        // Where the best hit is no evidence, nothing was said of what is asked.
        let steps: Vec<Fragment> = match course.filter(|_| evidence >= EVIDENCE_FLOOR) {
            Some(course) => {
                let known = hits.iter().filter(|hit| is_known(hit, request));
                let lines = course.lines(known, query, self.recall.analyzer());
                let step = |(hit, line): (&Hit, Line)| Some(line.fragment(fragment(hit.clone())?, evidence));
                lines.into_iter().filter_map(step).collect()
            }
            None => Vec::new(),
        };
        let named = Named::of(query, &hits, request);
        let mut notes = if request.lines.is_none() { NOTES } else { 0 };
        let best = hits.into_iter().take(most(request).max(self.most).get()).map(|hit| {
            let is_kept = notes > 0 && is_note(&hit) && hit.event.level > Level::External;
            notes -= usize::from(is_kept);
            (floors.refuse(&hit).filter(|_| !is_kept && !named.carries(&hit)), hit)
        });
        let ended = withheld.into_iter().map(|ended| (Some(ended.reason), ended.hit));
        let offered = best.chain(ended).filter(|(_, hit)| is_known(hit, request));
        let offered = offered
            .filter_map(|(withheld, hit)| Some(Fragment { withheld, ..fragment(hit.weighed(evidence))? }));
        let excerpts = Excerpts::new(query, self.recall.analyzer(), longest(request));
        offered.map(|whole| shown(whole, &excerpts)).chain(steps).collect()
    }
}

/// Returns how many hits are offered: as many short lines as a budget holds.
fn most(request: &ContextRequest) -> NonZeroUsize {
    let lines = usize::try_from(request.budget.0 / LINE_TOKENS).unwrap_or(usize::MAX);
    NonZeroUsize::new(lines).map_or(INJECT_LIMIT, |lines| lines.clamp(INJECT_LIMIT, MOST))
}

/// Returns how many bytes of a hit are shown: a part of the budget.
fn longest(request: &ContextRequest) -> usize {
    (request.budget.0 as usize * TOKEN_BYTES / ONE_IN).max(SHORTEST)
}

/// Returns a fragment with the sentences that answer alone.
fn shown(whole: Fragment, excerpts: &Excerpts) -> Fragment {
    let Some(Excerpt { spans, text }) = excerpts.cut(&whole.text) else { return whole };
    let sources =
        whole.sources.iter().flat_map(|source| spans.iter().map(|span| Source { span: *span, ..*source }));
    Fragment { sources: sources.collect(), text, ..whole }
}

/// What a hit must have to be offered.
#[derive(Clone, Copy, Debug)]
struct Floors {
    /// Evidence of words of the user or the agent.
    own: f32,
    /// Evidence of what a page or a tool said.
    external: f32,
}

impl Floors {
    /// Where the best hit answers, the room that is left is for the next best: share of the evidence in contexts of 1,000 tokens,
    /// development half of `LoCoMo`, .792 with a floor beside it and .823 without one (ADR 20).
    ///
    /// Where few lines are wanted, what a page or a tool said is no reason to break the silence, and beside other words it must
    /// have all the evidence that is asked of the best.
    fn of(recalled: &Recalled, request: &ContextRequest) -> Self {
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

/// The rare names and numbers of a question: a turn that has one is about what is asked, however its other words are.
#[derive(Clone, Debug, Default)]
struct Named(Vec<String>);

impl Named {
    /// Finds them; where few lines are wanted, silence is the usual answer, and a name is no reason to break it.
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
    let content = hit.event.kept().map_or("", |kept| kept.content.as_str());
    let mut words = content.split(|c: char| !c.is_alphanumeric());
    words.any(|word| fold(word) == name)
}

/// Whether the event was known then, has words to show, and is no turn of the asking conversation.
fn is_known(hit: &Hit, request: &ContextRequest) -> bool {
    let has_words = hit.event.kept().is_some_and(|kept| !kept.content.trim().is_empty());
    // The scan for a substring, which stands in where no words match, knows no asking conversation.
    // A note stands, whoever was told it where; what the engine made of a conversation is that conversation.
    let is_own = hit.event.kept().is_some_and(|kept| kept.session == request.session) && !is_note(hit);
    has_words && !is_own && hit.event.recorded_at <= request.as_of.belief
}

/// Whether somebody kept it on purpose, and not the engine.
fn is_note(hit: &Hit) -> bool {
    let is_made = hit.event.kept().is_none_or(|kept| kept.origin == Origin::Engine);
    hit.event.role == Role::Decision && !is_made
}

fn fragment(hit: Hit) -> Option<Fragment> {
    let Event { id, level, trust, body: Body::Kept(kept), .. } = hit.event else { return None };
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
        because: Because::Query,
        withheld: None,
    })
}
