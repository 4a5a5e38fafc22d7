//! A data set in spaces: imported as a user's own history, queried as a host would query.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use mnemal::events::{Ack, Cursor, OwnHistory};
use mnemal::ports::{Clock as _, SystemClock};
use mnemal::recall::RecallMode;
use mnemal::types::{Degraded, GapCause, InstallationKey, Layer};
use mnemal::{
    AsOf, Builder, Engine, ErrorKind, EventFilter, EventId, FactFilter, Gap, Hit, ImportFormat,
    ImportOptions, Memory, Scope, Settings, SpaceId, Within,
};
use mnemal_core::Timestamp;
use mnemal_extract::RuleExtractor;
use mnemal_reader::{TrainedReader, VotingExtractor};
use mnemal_recall::EvidenceFeatures;
use mnemal_testkit::ManualClock;
use serde::Deserialize;

use crate::dates::civil::seconds;
use crate::neutral::{DataSet, Question, Row};

/// Ids of imported events follow from the key; a fixed one makes two runs equal, ties included.
const KEY: [u8; 32] = [0x5a; 32];
/// Most time for one part, in milliseconds; quality is measured, so nothing may be cut off on a busy machine, and a
/// transformer needs minutes for the turns of one import.
const PART_DEADLINE_MS: u64 = 3_600_000;
/// Events that are read at once while the ids are collected.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Which conversations share a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One space for each conversation, the standard setting.
    Apart,
    /// One space for all of them, which is harder.
    Pooled,
}

/// How answers are asked for.
#[derive(Clone, Copy, Debug)]
pub struct QueryOptions {
    /// Most turns that are ranked.
    pub limit: usize,
    /// The arms.
    pub mode: RecallMode,
}

/// Answers to all questions of a data set.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// One row per question, in the order of the data set.
    pub rows: Vec<Row>,
    /// Answers that lacked something.
    pub degraded: usize,
    /// Tokens of the lines of all contexts, by section; empty for rankings.
    pub tokens: BTreeMap<&'static str, u64>,
    /// Tokens of all contexts, including the text around their lines.
    pub whole_tokens: u64,
}

/// The spaces of one data set.
#[derive(Debug)]
pub struct Spaces {
    spaces: Vec<Space>,
    /// The place of the space of each conversation.
    of: HashMap<String, usize>,
}

#[derive(Debug)]
struct Space {
    memory: Memory,
    /// The clock of the space, for turns that are replayed at their original times.
    clock: Option<Arc<ManualClock>>,
    /// Lines of the corpus that are not imported yet.
    waiting: Vec<Line>,
    /// The place behind the last event that is named.
    named: Cursor,
    sources: HashMap<EventId, String>,
}

/// What the clock of a space shows.
#[derive(Clone, Copy, Debug)]
enum Time {
    Now,
    OfQuestions,
}

/// One line of the corpus with what says where and when it is imported.
#[derive(Clone, Debug)]
struct Line {
    at: LineMeta,
    text: String,
}

#[derive(Clone, Debug, Deserialize)]
struct LineMeta {
    conv: String,
    #[serde(default)]
    ts: Option<String>,
}

impl Spaces {
    /// Imports the corpus into memory, with the turns of human speakers as the owner's own history.
    ///
    /// `builder` configures every space.
    ///
    /// # Errors
    /// A corpus that is not read in full: a broken line, a turn that could not be stored.
    pub async fn import(data: &DataSet, layout: Layout, builder: &Builder) -> Result<Self> {
        let mut spaces = Self::make(data, layout, builder, Time::Now)?;
        for space in &mut spaces.spaces {
            space.take(None).await?;
        }
        Ok(spaces)
    }

    /// Makes spaces that hold nothing yet: [`advance`](Self::advance) imports what was said when questions are asked. The clock
    /// of a space that is asked at moments shows these.
    ///
    /// # Errors
    /// A corpus with a broken line.
    pub fn begin(data: &DataSet, layout: Layout, builder: &Builder) -> Result<Self> {
        let is_moment = |question: &Question| question.before.is_some();
        let time = if data.questions.iter().any(is_moment) { Time::OfQuestions } else { Time::Now };
        Self::make(data, layout, builder, time)
    }

    fn make(data: &DataSet, layout: Layout, builder: &Builder, time: Time) -> Result<Self> {
        let text = std::fs::read_to_string(&data.corpus)?;
        let line = |text: &str| -> Result<Line> {
            Ok(Line { at: serde_json::from_str(text)?, text: text.to_owned() })
        };
        let lines: Vec<Line> =
            text.lines().filter(|line| !line.trim().is_empty()).map(line).collect::<Result<_>>()?;
        let space = |waiting: Vec<Line>| Space::new(waiting, builder, time);
        let (mut spaces, mut of) = (Vec::new(), HashMap::new());
        match layout {
            Layout::Pooled => {
                of.extend(data.conversations.iter().map(|conv| (conv.clone(), 0)));
                spaces.push(space(lines)?);
            }
            Layout::Apart => {
                for conv in &data.conversations {
                    of.insert(conv.clone(), spaces.len());
                    spaces.push(space(lines.iter().filter(|line| line.at.conv == *conv).cloned().collect())?);
                }
            }
        }
        Ok(Self { spaces, of })
    }

    /// Imports what was said before the moment of these questions, of the conversations that they are asked of; everything where
    /// they have none.
    ///
    /// # Errors
    /// As [`import`](Self::import).
    pub async fn advance(&mut self, questions: &[Question]) -> Result<()> {
        for question in questions {
            let place = self.place(question)?;
            if let Some(space) = self.spaces.get_mut(place) {
                space.take(question.before.as_deref()).await?;
            }
        }
        Ok(())
    }

    /// Folds every log into its graph to the end, and returns the number of believed facts.
    ///
    /// # Errors
    /// A space without a graph, or one that is not folded to the end.
    pub async fn fold_graphs(&self) -> Result<usize> {
        let mut facts = 0;
        for Space { memory, .. } in &self.spaces {
            let graph = loop {
                let graph = memory.facts().graph().await?;
                match graph.gaps.iter().find(|gap| gap.layer == Layer::Graph) {
                    None => break graph,
                    Some(gap) if matches!(gap.cause, GapCause::Stale { .. }) => {}
                    Some(gap) => bail!("the graph is not folded: {gap:?}"),
                }
            };
            facts +=
                graph.facts(&FactFilter::all(), AsOf::present(memory.admin().engine().now())).await?.len();
        }
        Ok(facts)
    }

    /// Makes all summaries of every space.
    ///
    /// # Errors
    /// A summary that could not be made.
    pub async fn make_summaries(&self) -> Result<()> {
        for Space { memory, .. } in &self.spaces {
            loop {
                let gaps = memory.admin().engine().refresh_summaries().await?;
                match gaps.iter().find(|gap| !matches!(gap.cause, GapCause::Stale { .. })) {
                    Some(gap) => bail!("summaries are missing: {gap:?}"),
                    None if gaps.is_empty() => break,
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the memory that a question is put to.
    ///
    /// # Errors
    /// A question of a conversation that is not in the corpus.
    pub fn memory(&self, question: &Question) -> Result<&Memory> {
        Ok(&self.of(question)?.memory)
    }

    /// Returns the name of the turn that an event of a question's space came from.
    pub fn turn(&self, question: &Question, event: EventId) -> Option<&str> {
        self.of(question).ok()?.sources.get(&event).map(String::as_str)
    }

    /// Asks every question and ranks the turns that were found.
    ///
    /// # Errors
    /// A question of a conversation that is not in the corpus, or a recall that fails.
    pub async fn recall(&self, questions: &[Question], asking: QueryOptions) -> Result<Answers> {
        let mut answers = Answers::default();
        for question in questions {
            let Space { memory, sources, .. } = self.asked(question)?;
            let found = memory.recall(&question.question).limit(asking.limit).mode(asking.mode).await?;
            let ranked = found.hits.iter().filter_map(|hit| sources.get(&hit.event.id)).cloned().collect();
            answers.degraded += usize::from(!found.gaps.is_empty());
            answers.add(question, ranked);
        }
        Ok(answers)
    }

    /// Asks a question and returns its hits with the names of their turns, best first.
    ///
    /// # Errors
    /// As [`recall`](Self::recall).
    pub async fn hits(&self, question: &Question, asking: QueryOptions) -> Result<Vec<(String, Hit)>> {
        let Space { memory, sources, .. } = self.asked(question)?;
        let found = memory.recall(&question.question).limit(asking.limit).mode(asking.mode).await?;
        let named = |hit: Hit| Some((sources.get(&hit.event.id)?.clone(), hit));
        Ok(found.value.hits.into_iter().filter_map(named).collect())
    }

    /// Assembles a context for every question and lists the source turns of its lines.
    ///
    /// # Errors
    /// As [`recall`](Self::recall).
    pub async fn contexts(&self, questions: &[Question], budget: u32) -> Result<Answers> {
        let mut answers = Answers::default();
        for question in questions {
            let Space { memory, sources, .. } = self.asked(question)?;
            let context = memory.context(&question.question).budget(budget).await?;
            let stands_on = context.receipt.lines.iter().flat_map(|line| &line.sources);
            let ranked = stands_on.filter_map(|source| sources.get(&source.event)).cloned().collect();
            // Layers that this build does not have lack in every context.
            let is_gap = |gap: &Gap| gap.cause != GapCause::NotConfigured;
            answers.degraded += usize::from(context.gaps.iter().any(is_gap));
            answers.whole_tokens += u64::from(context.tokens.0);
            for one in &context.sections {
                *answers.tokens.entry(one.section.as_str()).or_default() += u64::from(one.tokens.0);
            }
            answers.add(question, ranked);
        }
        Ok(answers)
    }

    /// Asks a question in a conversation and returns the signals of each hit, as many as recall returns by default.
    ///
    /// # Errors
    /// As [`recall`](Self::recall).
    pub async fn features(&self, conv: &str, question: &str) -> Result<Vec<EvidenceFeatures>> {
        let space = self.of.get(conv).and_then(|place| self.spaces.get(*place));
        let space = space.with_context(|| format!("no conversation {conv}"))?;
        let found = space.memory.recall(question).await?;
        Ok(found.hits.iter().map(|hit| hit.features).collect())
    }

    fn place(&self, question: &Question) -> Result<usize> {
        let place = self.of.get(&question.conv).copied();
        place.with_context(|| format!("question {}: no conversation {}", question.id, question.conv))
    }

    fn of(&self, question: &Question) -> Result<&Space> {
        self.spaces.get(self.place(question)?).context("a conversation without a space")
    }

    /// Returns the space of a question, whose clock says when it is asked.
    fn asked(&self, question: &Question) -> Result<&Space> {
        let space = self.of(question)?;
        if let (Some(clock), Some(at)) =
            (&space.clock, question.asked_at.as_ref().or(question.before.as_ref()))
        {
            clock.jump(moment(at)?);
        }
        Ok(space)
    }
}

impl Answers {
    fn add(&mut self, question: &Question, ranked: Vec<String>) {
        self.rows.push(Row { id: question.id.clone(), ranked });
    }

    /// Puts answers to further questions behind these.
    pub fn extend(&mut self, others: Self) {
        self.rows.extend(others.rows);
        self.degraded += others.degraded;
        self.whole_tokens += others.whole_tokens;
        for (section, tokens) in others.tokens {
            *self.tokens.entry(section).or_default() += tokens;
        }
    }

    /// Returns the mean tokens of a context.
    pub fn mean_tokens(&self) -> f64 {
        let mean = self.whole_tokens as f64 / self.rows.len().max(1) as f64;
        (mean * 10.0).round() / 10.0
    }
}

impl Space {
    fn new(waiting: Vec<Line>, builder: &Builder, time: Time) -> Result<Self> {
        let clock = match time {
            Time::Now => None,
            Time::OfQuestions => Some(Arc::new(ManualClock::at(Timestamp::EPOCH))),
        };
        let builder = match &clock {
            Some(clock) => builder.clone().with_clock(clock.clone()),
            None => builder.clone(),
        };
        let (named, sources) = (Cursor::START, HashMap::new());
        Ok(Self { memory: memory(builder)?, clock, waiting, named, sources })
    }

    /// Imports what was said before a moment, or everything, and notes the names of its events.
    async fn take(&mut self, before: Option<&str>) -> Result<()> {
        let is_due =
            |line: &Line| before.is_none_or(|before| line.at.ts.as_deref().unwrap_or_default() < before);
        let (due, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(is_due);
        self.waiting = waiting;
        if let (Some(clock), Some(before)) = (&self.clock, before) {
            clock.jump(moment(before)?);
        }
        if due.is_empty() {
            return Ok(());
        }
        let text: String = due.into_iter().flat_map(|line| [line.text, "\n".to_owned()]).collect();
        let options = own_history(Within::All);
        let report =
            self.memory.events().import(text.as_bytes(), ImportFormat::Neutral, options, &mut |_| {}).await?;
        if report.skipped_total > 0 || !report.taken.refused.is_empty() || !report.gaps.iter().all(is_behind)
        {
            bail!("the corpus was not imported in full: {report:?}");
        }
        fold(&self.memory).await?;
        loop {
            let page = self.memory.events().scan(&EventFilter::all(), self.named, PAGE).await?;
            let Some(last) = page.last() else { break };
            self.named = Cursor(Some(last.seq));
            let named = page
                .iter()
                .filter_map(|event| Some((event.id, event.body()?.metadata.get("source_id")?.clone())));
            self.sources.extend(named);
        }
        Ok(())
    }
}

/// Reads a moment of a data set; without an offset it is UTC, as the import reads it.
fn moment(text: &str) -> Result<Timestamp> {
    let (at, _) = seconds(text).with_context(|| format!("no moment: {text}"))?;
    Ok(Timestamp::from_micros(at.saturating_mul(1_000_000))?)
}

/// Lets learnings and the graph read everything, as upkeep would; an engine without a graph has nothing more to read.
pub(crate) async fn fold(memory: &Memory) -> Result<()> {
    let unread = memory.admin().engine().fold_within(Duration::from_millis(PART_DEADLINE_MS)).await;
    ensure!(unread.is_empty(), "the learnings are not folded: {unread:?}");
    // A few unread events are no gap: they are read by the call after the one that told of none.
    let mut calls_without_gap = 0;
    while calls_without_gap < 2 {
        match memory.facts().graph().await {
            Ok(graph) if graph.gaps.is_empty() => calls_without_gap += 1,
            Ok(graph) => ensure!(graph.gaps.iter().all(is_behind), "the graph failed: {:?}", graph.gaps),
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Whether a gap only says that something is yet to be read.
pub(crate) fn is_behind(gap: &Gap) -> bool {
    matches!(gap.cause, GapCause::Stale { .. })
}

/// Rejects an acknowledgment of a duplicate, or one with gaps beyond layers that read it later.
pub(crate) fn is_logged(ack: &Degraded<Ack>) -> Result<()> {
    let is_whole = ack.gaps.iter().all(is_behind) && !ack.duplicate;
    ensure!(is_whole, "an event was not logged in full: {ack:?}");
    Ok(())
}

/// Returns the options of an import whose human speakers the owner vouches for.
pub fn own_history(conv: Within<String>) -> ImportOptions {
    let now = SystemClock::default().now();
    ImportOptions { origin: OwnHistory::Yes, conv, ..ImportOptions::new("corpus.jsonl", now) }
}

/// Returns a builder whose extraction rules vote with the trained reader in a file, if one is given.
///
/// # Errors
/// Those of [`TrainedReader::open`].
pub fn voting(reader: Option<&Path>) -> Result<Builder> {
    let builder = Engine::builder();
    let Some(file) = reader else { return Ok(builder) };
    let extractor = VotingExtractor::new(RuleExtractor::new(), TrainedReader::open(file)?);
    Ok(builder.with_extractor(Arc::new(extractor)))
}

/// Builds a space in memory that answers the same in every run and is never cut off.
///
/// # Errors
/// None with these settings.
pub fn memory(builder: Builder) -> Result<Memory> {
    let mut settings = Settings::default();
    settings.recall.part_deadline_ms = PART_DEADLINE_MS;
    settings.embedding.query_deadline_ms = PART_DEADLINE_MS;
    let builder = builder.with_key(InstallationKey::new(KEY)).with_settings(settings);
    let engine = builder.in_memory()?;
    Ok(engine.memory(Scope::whole(SpaceId::new("bench")?)))
}
