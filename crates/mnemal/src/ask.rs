//! Answers in words that were said: the best line of a context for a question, or that it is not known.

use std::collections::HashMap;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use futures_util::future::try_join;
use mnemal_context::Context;
use mnemal_core::{
    AsOf, Because, Degraded, EventId, Gaps, Receipt, ReceiptLine, RecordRef, Result, Section, SessionId,
    Source,
};

use crate::answer::{ContextCall, RecallCall};
use crate::embedding::QueryVector;
use crate::memory::Memory;

/// Tokens of the context that is looked at. Source: own choice, as many lines as an answer may have and more.
const BUDGET: u32 = 600;
/// Most lines of an answer. Source: own choice.
const LINES: usize = 3;
/// Hits whose evidence is looked up. Source: as many as a context of [`BUDGET`] is offered.
const HITS: usize = 24;

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
        let evidence: HashMap<EventId, f32> =
            found.hits.iter().map(|hit| (hit.event.id, hit.evidence)).collect();
        let quotes = quotes(&context, &evidence);
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

fn quotes(context: &Context, evidence: &HashMap<EventId, f32>) -> Vec<Quote> {
    let lines = context.lines();
    lines
        .into_iter()
        .filter_map(|line| {
            let receipt = context.receipt.lines.get(line.number.checked_sub(1)?)?;
            let evidence = match receipt.record {
                RecordRef::Event(event) => evidence.get(&event).copied().unwrap_or(0.0),
                _ => 1.0,
            };
            answers(receipt).then(|| Quote {
                number: line.number,
                day: line.day,
                label: line.label,
                text: line.text,
                record: receipt.record,
                sources: receipt.sources.clone(),
                evidence,
            })
        })
        .take(LINES)
        .collect()
}

/// Whether a line is there for what is asked: no wish that holds for many questions.
fn answers(line: &ReceiptLine) -> bool {
    line.because == Because::Query
}
