//! Recall as a part of a context.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Because, ContextRequest, ContextSource, Degraded, EventFilter, Fragment, Importance, Label, Layer,
    OmittedReason, RecordRef, Result, Role, Section, Source, Span,
};

use crate::evidence::EVIDENCE_FLOOR;
use crate::recall::Recall;
use crate::request::{Hit, RecallRequest};

/// Hits that a context is offered. Source: CF-09, recall section of a context.
pub const INJECT_LIMIT: NonZeroUsize = NonZeroUsize::new(8).expect("eight is not zero");
/// How many more are asked for, because those of the asking conversation are not offered. Source: own choice.
const MARGIN: usize = 3;

/// Offers what matches the query of a context, best first.
///
/// Turns of the asking conversation are never offered: they stand in its window already, which its notes need not. A hit below
/// [`EVIDENCE_FLOOR`] is offered as withheld, so that the receipt names it.
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
        let known = request.as_of.world.min(request.as_of.belief).plus_micros(1);
        let asked = RecallRequest {
            query_vector: request.query_vector.clone(),
            filter: EventFilter {
                channel: request.channel.clone(),
                user: request.user.clone(),
                agent: request.agent.clone(),
                until: (!request.as_of.is_present()).then_some(known),
                ..EventFilter::live()
            },
            limit: self.most.saturating_mul(NonZeroUsize::MIN.saturating_add(MARGIN - 1)),
            ..RecallRequest::new(query.clone())
        };
        let recalled = self.recall.recall(&asked).await?;
        Ok(recalled.map(|recalled| {
            let offered = recalled.hits.iter().filter(|hit| is_elsewhere(hit, request));
            offered.take(self.most.get()).filter_map(fragment).collect()
        }))
    }
}

fn is_elsewhere(hit: &Hit, request: &ContextRequest) -> bool {
    hit.event.recorded_at <= request.as_of.belief
        && hit.event.kept().is_some_and(|kept| {
            let own = kept.session == request.session && hit.event.role != Role::Decision;
            !own && !kept.content.trim().is_empty()
        })
}

fn fragment(hit: &Hit) -> Option<Fragment> {
    let event = &hit.event;
    let kept = event.kept()?;
    Some(Fragment {
        section: Section::Recall,
        record: RecordRef::Event(event.id),
        producer: None,
        sources: vec![Source { event: event.id, span: Span::whole(&kept.content).ok()? }],
        text: kept.content.clone(),
        label: Label {
            level: event.level,
            at: kept.occurred_at,
            zone: kept.zone.clone(),
            speaker: kept.speaker.clone(),
        },
        trust: event.trust,
        importance: Importance::DEFAULT,
        score: hit.score,
        parts: hit.parts.clone(),
        because: Because::Query,
        withheld: (hit.evidence < EVIDENCE_FLOOR).then_some(OmittedReason::BelowFloor),
    })
}
