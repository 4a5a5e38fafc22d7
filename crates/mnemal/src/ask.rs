//! Answers in words that were said: the best line of a context for a question, or that it is not known.

use std::collections::HashMap;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use futures_util::future::try_join;
use mnemal_context::{Context, Line};
use mnemal_core::{
    AsOf, Because, Degraded, EventId, Gaps, Receipt, RecordRef, Result, Section, SessionId, Source,
};
use mnemal_extract::foreign_remark;
use mnemal_recall::{FoundBy, Hit};
use mnemal_text::sentences;

use crate::answer::{ContextCall, RecallCall};
use crate::embedding::QueryVector;
use crate::memory::Memory;

/// Tokens of the context that is looked at. Source: own choice, as many lines as an answer may have and more.
const BUDGET: u32 = 600;
/// Most lines of an answer. Source: own choice.
const LINES: usize = 3;
/// Hits whose evidence is looked up. Source: as many as a context of [`BUDGET`] is offered.
const HITS: usize = 24;
/// Evidence that a sentence must have to answer; a fact, and what the graph quotes, is there because it is asked for.
///
/// Source: `bench life` on its first three lives.
const FLOOR: f32 = 0.7;

/// What answers a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The lines that answer, the best first; empty where it is not known.
    pub quotes: Vec<Quote>,
    /// The account of the context that they stand in.
    pub receipt: Receipt,
}

/// One line of an answer: a sentence that was said, or a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Quote {
    /// Its number in the context.
    pub number: usize,
    /// The day, `2026-05-04`.
    pub day: String,
    /// Who said it, and what must be known of it; empty for the user's own words without a name.
    pub label: String,
    /// The words.
    pub text: String,
    /// The record.
    pub record: RecordRef,
    /// Where its words stand.
    pub sources: Vec<Source>,
    /// How much speaks for it, 0 to 1.
    pub evidence: f32,
}

/// A question on its way; awaiting it answers.
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

    /// Sets the conversation that asks; its own turns are in its window already and answer nothing.
    pub fn session(mut self, session: SessionId) -> Self {
        self.context = self.context.session(session);
        self
    }

    /// Hands in what [`embed_query`](Memory::embed_query) answered.
    pub fn embedded(mut self, asked: Degraded<Option<QueryVector>>) -> Self {
        self.context = self.context.embedded(asked.clone());
        self.recall = self.recall.embedded(asked);
        self
    }

    /// Says what held, as known when.
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
            // What stands next to words of the question says none of them.
            (Section::Recall, _, hit) => {
                hit.filter(|hit| hit.found_by != FoundBy::Neighbour).map_or(0.0, |hit| hit.evidence)
            }
            // The graph quotes a sentence where nothing further is asked, in whatever words it was said.
            (_, RecordRef::Event(_), _) => 1.0,
            _ => receipt.parts.iter().find(|part| part.name == "words").map_or(0.0, |part| part.raw),
        };
        let is_own = hit.and_then(|hit| hit.event.kept()).is_none_or(|kept| foreign_remark(kept).is_none());
        let answers = receipt.because == Because::Query && is_own && !only_asks(&line.text);
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

/// Whether a text does nothing but ask.
fn only_asks(text: &str) -> bool {
    sentences(text).iter().all(|sentence| sentence.of(text).trim_end().ends_with(['?', '？', '…']))
}
