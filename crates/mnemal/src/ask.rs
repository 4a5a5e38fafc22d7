//! Extractive question answering: the best lines of a context that answer a question, or no answer.

use std::collections::HashMap;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use futures_util::future::try_join;
use mnemal_context::{Context, Line};
use mnemal_core::{
    AsOf, Degraded, EventId, Gaps, InclusionReason, Receipt, RecordRef, Result, Section, SessionId, Source,
};
use mnemal_extract::foreign_remark;
use mnemal_recall::{Hit, MatchReason};
use mnemal_text::sentences;

use crate::answer::{ContextCall, RecallCall};
use crate::embedding::EmbeddedQuestion;
use crate::memory::Memory;

/// Token budget of the context that is searched for the answer. Source: own choice, more lines than an answer may have.
const BUDGET: u32 = 600;
/// Maximum number of lines in an answer. Source: own choice.
const LINES: usize = 3;
/// Hits whose evidence is read. Source: as many as a context of [`BUDGET`] is offered.
const HITS: usize = 24;
/// Minimum evidence of a sentence that answers. A fact, and a sentence quoted by the graph, needs none: it was retrieved for the
/// question.
///
/// Source: `bench life` on its first three lives.
const FLOOR: f32 = 0.7;

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The lines that answer, best first; empty when the answer is unknown.
    pub quotes: Vec<Quote>,
    /// The receipt of the context that the lines come from.
    pub receipt: Receipt,
}

/// One line of an answer: a logged sentence or a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Quote {
    /// Its line number in the context.
    pub number: usize,
    /// The day, `2026-05-04`.
    pub day: String,
    /// The speaker and any caveats; empty for the user's own words without a speaker name.
    pub label: String,
    /// The text of the line.
    pub text: String,
    /// The record that the line comes from.
    pub record: RecordRef,
    /// The source spans of its text.
    pub sources: Vec<Source>,
    /// Strength of the evidence, 0 to 1.
    pub evidence: f32,
}

/// A pending question; awaiting it answers.
#[derive(Debug)]
#[must_use = "nothing is asked until it is awaited"]
pub struct AskCall {
    context: ContextCall,
    recall: RecallCall,
}

impl AskCall {
    pub(crate) fn new(memory: &Memory, question: &str) -> Self {
        let sections = vec![Section::Entity, Section::Topics, Section::Recall];
        Self {
            context: memory.context(question).budget(BUDGET).sections(sections),
            recall: memory.recall(question).limit(HITS),
        }
    }

    /// Sets the session that asks; its own turns are already in its window and are not used as answers.
    pub fn session(mut self, session: SessionId) -> Self {
        self.context = self.context.session(session);
        self
    }

    /// Passes the answer of [`embed_query`](crate::areas::AdminHandle::embed_query).
    pub fn embedded(mut self, asked: Degraded<Option<EmbeddedQuestion>>) -> Self {
        self.context = self.context.embedded(asked.clone());
        self.recall = self.recall.embedded(asked);
        self
    }

    /// Answers as of a moment (bi-temporal).
    pub fn as_of(mut self, as_of: AsOf) -> Self {
        self.context = self.context.as_of(as_of);
        self.recall = self.recall.as_of(as_of);
        self
    }

    async fn run(self) -> Result<Degraded<Answer>> {
        let (context, found) = try_join(self.context.into_future(), self.recall.into_future()).await?;
        let mut gaps = Gaps::default();
        let (context, found) = (gaps.merge(context), gaps.merge(found));
        let hits = found.hits.into_iter().map(|hit| (hit.event.id, hit)).collect();
        let quotes = quotes(&context, &hits);
        Ok(gaps.attach(Answer { quotes, receipt: context.receipt }))
    }
}

impl IntoFuture for AskCall {
    type Output = Result<Degraded<Answer>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// Returns the lines that answer, best first.
fn quotes(context: &Context, hits: &HashMap<EventId, Hit>) -> Vec<Quote> {
    let quote = |line: Line| {
        let receipt = context.receipt.lines.get(line.number.checked_sub(1)?)?;
        let hit = match receipt.record {
            RecordRef::Event(event) => hits.get(&event),
            _ => None,
        };
        let evidence = match (receipt.section, receipt.record, hit) {
            // A neighbor of a hit contains no word of the question.
            (Section::Recall, _, hit) => {
                hit.filter(|hit| hit.found_by != MatchReason::Neighbor).map_or(0.0, |hit| hit.evidence)
            }
            // The graph quotes a sentence only for a question it fully resolves, whatever the words of the sentence.
            (_, RecordRef::Event(_), _) => 1.0,
            _ => receipt.parts.iter().find(|part| part.name == "words").map_or(0.0, |part| part.raw),
        };
        let is_own = hit.and_then(|hit| hit.event.body()).is_none_or(|kept| foreign_remark(kept).is_none());
        let answers = receipt.because == InclusionReason::Query && is_own && !only_asks(&line.text);
        (answers && evidence >= FLOOR).then(|| Quote {
            number: line.number,
            day: line.day,
            label: line.label,
            text: line.text,
            record: receipt.record,
            sources: receipt.sources.clone(),
            evidence,
        })
    };
    context.lines().into_iter().filter_map(quote).take(LINES).collect()
}

/// Whether a text consists of questions only.
fn only_asks(text: &str) -> bool {
    sentences(text).iter().all(|sentence| sentence.of(text).trim_end().ends_with(['?', '？', '…']))
}
