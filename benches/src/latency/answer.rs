//! Read latency: recall and contexts, one query after the other in a long-lived process.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use mnemal::context::Section;
use mnemal::types::{ChannelId, Degraded, GapCause, Layer};
use mnemal::{Context, Gap, Memory, SessionId};

use super::life::{LIVE, channel};
use super::{CorpusSpace, builder};
use crate::cpu::{Cost, Watch, quantile};
use crate::figure::{Figure, TargetBound};

/// Calls before the first one that counts.
const WARM_UP: usize = 10;
/// Hits of a recall.
const HITS: usize = 10;
/// Tokens of a context.
const TOKENS: u32 = 4_000;
/// Size, and CPU time of a recall at it, p50 and p99, in milliseconds.
const ASKED_RECALL: &[(usize, f64, f64)] = &[(100_000, 1.5, 4.0), (1_000_000, 10.0, 25.0)];
/// The same of a context.
const ASKED_CONTEXT: &[(usize, f64, f64)] = &[(100_000, 5.0, 15.0)];

/// Asks one question after the other for ten hits, words and vectors.
///
/// # Errors
/// A recall that fails, or of which an arm does.
pub async fn recall(bed: &CorpusSpace, memory: &Memory) -> Result<Vec<Figure>> {
    let questions = bed.questions();
    let mut costs = Vec::with_capacity(questions.len());
    let mut stale = 0;
    for question in warmed(&questions) {
        let watch = Watch::start()?;
        let found = memory.recall(question).limit(HITS).await?;
        costs.push(watch.stop()?);
        let is_stale = |gap: &Gap| matches!(gap.cause, GapCause::Stale { .. });
        ensure!(found.gaps.iter().all(is_stale), "a recall lacks an arm: {:?}", found.gaps);
        stale += usize::from(!found.gaps.is_empty());
    }
    let mut figures = figures(&format!("recall of {HITS}"), bed.size(), counted(&costs), ASKED_RECALL);
    figures.push(Figure::new(
        "recall, answers with a layer that is behind",
        bed.size(),
        stale as f64,
        "answers",
    ));
    Ok(figures)
}

/// Assembles a context of 4,000 tokens for one question after the other.
///
/// # Errors
/// A context that fails.
pub async fn context(bed: &CorpusSpace, memory: &Memory) -> Result<Vec<Figure>> {
    let questions = bed.questions();
    let mut costs = Vec::with_capacity(questions.len());
    let mut tokens = 0.0;
    for question in warmed(&questions) {
        let watch = Watch::start()?;
        let context = memory.context(question).budget(TOKENS).await?;
        costs.push(watch.stop()?);
        tokens += f64::from(context.tokens.0);
    }
    let mut figures =
        figures(&format!("context of {TOKENS} tokens"), bed.size(), counted(&costs), ASKED_CONTEXT);
    figures.push(Figure::new("context, mean size", bed.size(), tokens / costs.len().max(1) as f64, "tokens"));
    Ok(figures)
}

/// Most of what a context costs that may be for its receipt, 0 to 1.
const ASKED_RECEIPT: f64 = 0.2;

/// Assembles contexts of a conversation that goes on, in its channel, with a question and at the beginning without one, in a
/// space in which every layer holds something; then what of it the receipts cost, by turns with an engine that stores none. The
/// last figures are the lines of each section.
///
/// # Errors
/// A context that fails or lacks a part.
pub async fn life_contexts(bed: &CorpusSpace, memory: &Memory) -> Result<Vec<Figure>> {
    let live = memory.for_session(SessionId::new(LIVE)?);
    let channel = channel(memory).await?;
    let questions = bed.questions();
    let mut lines = Lines::default();
    let mut all = Vec::new();
    let bare = builder().without(Layer::Receipts).open(bed.space()).await?;
    bare.load().await?;
    let bare = bare.memory(memory.admin().scope().clone()).for_session(SessionId::new(LIVE)?);
    for (name, asks) in [("context of everything", true), ("context without a question", false)] {
        let query = |question| if asks { question } else { "" };
        let mut costs = Vec::with_capacity(questions.len());
        for question in warmed(&questions) {
            let (context, cost) = timed(&live, query(question), &channel).await?;
            costs.push(cost);
            ensure!(context.gaps.is_empty(), "a context lacks a part: {:?}", context.gaps);
            lines.add(&context);
        }
        all.extend(figures(name, bed.size(), counted(&costs), ASKED_CONTEXT));
        let median = |costs: &[Cost]| {
            let cpu: Vec<_> = counted(costs).iter().map(|cost| cost.cpu).collect();
            quantile(&cpu, 0.5).as_secs_f64()
        };
        // Both have been asked everything once before they are compared.
        for question in warmed(&questions) {
            let _answer = timed(&bare, query(question), &channel).await?;
        }
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for question in warmed(&questions) {
            with.push(timed(&live, query(question), &channel).await?.1);
            without.push(timed(&bare, query(question), &channel).await?.1);
        }
        let share = 1.0 - median(&without) / median(&with).max(f64::EPSILON);
        let figure = Figure::new(format!("{name}, share of its receipt, CPU"), bed.size(), share, "");
        all.push(figure.asked_if(TargetBound::AtMost(ASKED_RECEIPT), |_| true));
    }
    all.extend(lines.figures(bed.size()));
    Ok(all)
}

async fn timed(memory: &Memory, query: &str, channel: &ChannelId) -> Result<(Degraded<Context>, Cost)> {
    let watch = Watch::start()?;
    let context = memory.context(query).channel(channel.clone()).budget(TOKENS).await?;
    Ok((context, watch.stop()?))
}

/// Lines of all contexts by section.
#[derive(Debug, Default)]
struct Lines {
    contexts: usize,
    of: BTreeMap<&'static str, u64>,
}

impl Lines {
    fn add(&mut self, context: &Context) {
        self.contexts += 1;
        for used in &context.sections {
            *self.of.entry(used.section.as_str()).or_default() += u64::from(used.lines);
        }
    }

    fn figures(&self, size: usize) -> Vec<Figure> {
        let figure = |section: Section| {
            let lines = self.of.get(section.as_str()).copied().unwrap_or_default();
            let mean = lines as f64 / self.contexts.max(1) as f64;
            Figure::new(format!("context, mean lines of {}", section.as_str()), size, mean, "lines")
        };
        Section::ALL.into_iter().map(figure).collect()
    }
}

/// Some of the questions, then all of them.
fn warmed(questions: &[String]) -> impl Iterator<Item = &str> {
    questions.iter().take(WARM_UP).chain(questions).map(String::as_str)
}

fn counted(costs: &[Cost]) -> &[Cost] {
    costs.get(WARM_UP.min(costs.len())..).unwrap_or_default()
}

fn figures(name: &str, size: usize, costs: &[Cost], asked: &[(usize, f64, f64)]) -> Vec<Figure> {
    let cpu: Vec<_> = costs.iter().map(|cost| cost.cpu).collect();
    let wall: Vec<_> = costs.iter().map(|cost| cost.wall).collect();
    let (p50, p99) = asked
        .iter()
        .find(|(at, ..)| *at == size)
        .map_or((TargetBound::Nothing, TargetBound::Nothing), |(_, p50, p99)| {
            (TargetBound::AtMost(*p50), TargetBound::AtMost(*p99))
        });
    vec![
        Figure::time(format!("{name}, CPU p50"), size, quantile(&cpu, 0.5)).asked_if(p50, |_| true),
        Figure::time(format!("{name}, CPU p99"), size, quantile(&cpu, 0.99)).asked_if(p99, |_| true),
        Figure::time(format!("{name}, wall p50"), size, quantile(&wall, 0.5)),
    ]
}
