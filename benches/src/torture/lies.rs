//! A lying model behind every pass: none of its claims is believed, nothing is lost, and one step undoes all of it.

mod liar;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use mnemal::dream::DreamMode;
use mnemal::graph::{EntityFilter, FactStatus};
use mnemal::learnings::LearningStatus;
use mnemal::settings::{DreamSettings, LlmSettings};
use mnemal::summaries::NodePath;
use mnemal::types::{Importance, InstallationKey, OwnerId};
use mnemal::{
    AsOf, Engine, EventFilter, EventId, FactFilter, Learning, LearningFilter, LearningKind, Memory, Message,
    Scope, SessionId, Settings, SpaceId, Timestamp, Within,
};
use mnemal_core::{Document, Metadata, Passage};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::vfs::Dice;
use mnemal_testkit::{ManualClock, SeededIds};
use mnemal_text::uncovered;

use self::liar::Liar;
use self::words::{MARKS, SAYINGS};
use super::verdict::Fault;
use super::{Order, Report};

/// Cycles of a space with the model. Source: own choice; a conversation is kept as it was after three failures.
const CYCLES: u64 = 5;
/// Cycles without a model afterwards, next to the twin. Source: own choice; deferred work is done in the second.
const AFTER: u64 = 3;
/// The conversation that is compressed.
const TALK: &str = "talk";

/// Runs the program: `order.runs` spaces, each with a twin that has no model. The details count questions, accepted output of
/// the model, and undone operations.
///
/// # Errors
/// When the program itself cannot run; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start a runtime")?.block_on(spaces(order))
}

async fn spaces(order: &Order) -> Result<Report> {
    #[expect(clippy::disallowed_methods, reason = "a programme has a time to end")]
    let start = Instant::now();
    let mut report = Report::of("lies", order);
    while report.runs < order.runs && start.elapsed() < order.time {
        let seed = order.seed + order.first + report.runs;
        one(seed, &mut report).await?;
        report.runs += 1;
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// A space and what it is made of, so that it can be opened again without its model.
struct Space {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    seed: u64,
    memory: Memory,
    owner: OwnerId,
}

impl Space {
    fn new(seed: u64, model: Option<&Arc<Liar>>) -> Result<Self> {
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::default()));
        let memory = opened(&store, &clock, seed, model)?;
        Ok(Self { store, clock, seed, memory, owner: OwnerId::new("lies")? })
    }

    /// The same without a model.
    fn alone(self) -> Result<Self> {
        let memory = opened(&self.store, &self.clock, self.seed ^ 1, None)?;
        Ok(Self { memory, ..self })
    }

    /// Tells it what happened: a conversation, a task, texts, and notes of which some are nearly alike.
    async fn tell(&self, dice: &mut Dice) -> Result<()> {
        for turn in 0..12 {
            let text = said(dice);
            let session = SessionId::new(TALK)?;
            self.clock.advance(Duration::from_secs(30));
            let message = if turn % 3 == 2 { Message::assistant(text) } else { Message::user(text) };
            let _ack = self.memory.log(message.session(session)).await?;
        }
        for (kind, text) in
            [("task_created", said(dice)), ("", said(dice)), ("", said(dice)), ("task_completed", said(dice))]
        {
            self.clock.advance(Duration::from_secs(30));
            let step = Message::observation(text).metadata("kind", kind).metadata("task_id", "T1");
            let _ack = self.memory.log(step.session(SessionId::new("task")?)).await?;
        }
        for number in 0..5 {
            self.clock.advance(Duration::from_secs(30));
            let text = format!("{} {}", said(dice), said(dice));
            let _read = self.memory.events().ingest(&document(&format!("text-{number}.txt"), text)).await?;
        }
        for number in 0..4_u64 {
            let saying = dice.below(SAYINGS.len());
            let text = SAYINGS.get(saying).map_or_else(String::new, |one| one.said(100 + number));
            let near = [text.clone(), format!("{text} It smells of tar.")];
            for note in near {
                self.clock.advance(Duration::from_secs(30));
                let _stored = self.memory.remember(note).importance(Importance::new(0.4)?).await?;
            }
        }
        Ok(())
    }

    /// What a process does now and then: a cycle, and the conversation is compressed.
    async fn maintain(&self) -> Result<()> {
        self.clock.advance(Duration::from_hours(7));
        let _cycle = self.memory.admin().engine().dream(&self.owner, DreamMode::Asked).await?;
        let _entry = self.memory.events().compress(SessionId::new(TALK)?).keep_last(2).await?;
        let _gaps = self.memory.admin().engine().refresh_summaries().await?;
        Ok(())
    }

    async fn notes(&self) -> Result<Vec<Learning>> {
        Ok(self.memory.preferences().all_learnings(&LearningFilter::all()).await?)
    }

    async fn events(&self) -> Result<BTreeSet<EventId>> {
        let live = EventFilter::live();
        let events = self
            .memory
            .events()
            .scan(&live, mnemal::events::Cursor::START, std::num::NonZeroUsize::MAX)
            .await?;
        Ok(events.into_iter().map(|event| event.id).collect())
    }
}

fn opened(
    store: &Arc<MemoryStore>,
    clock: &Arc<ManualClock>,
    seed: u64,
    model: Option<&Arc<Liar>>,
) -> Result<Memory> {
    let dream = DreamSettings { digests: Some(true), insights: Some(true), ..DreamSettings::default() };
    let llm = LlmSettings {
        max_requests_per_hour: 100_000,
        max_tokens_per_day: 1_000_000_000,
        ..LlmSettings::default()
    };
    let mut settings = Settings { dream, llm, ..Settings::default() };
    // The notes come at one time, and each of them must be used.
    settings.privacy.agent_items_per_hour = 0;
    let mut builder = Engine::builder()
        .with_settings(settings)
        .with_stores(Stores::all(Arc::clone(store)))
        .with_clock(Arc::<ManualClock>::clone(clock))
        .with_ids(Arc::new(SeededIds::new(seed)))
        .with_key(InstallationKey::new([7; 32]));
    if let Some(model) = model {
        builder = builder.with_language_model(Arc::<Liar>::clone(model));
    }
    Ok(builder.build()?.memory(Scope::whole(SpaceId::new("lies")?)))
}

fn said(dice: &mut Dice) -> String {
    let saying = SAYINGS.get(dice.below(SAYINGS.len()));
    let number = 10 + dice.below(80) as u64;
    saying.map_or_else(String::new, |one| one.said(number))
}

fn document(name: &str, text: String) -> Document {
    let mut hash = [0_u8; 32];
    hash.iter_mut().zip(text.bytes().rev().cycle()).for_each(|(one, byte)| *one = byte);
    Document {
        name: name.to_owned(),
        kind: "text".to_owned(),
        hash,
        written_at: None,
        fields: Metadata::new(),
        passages: vec![Passage { text, ..Passage::default() }],
        location: Some(name.to_owned()),
        undescribed: None,
    }
}

async fn one(seed: u64, report: &mut Report) -> Result<()> {
    let model = Arc::new(Liar::new(seed)?);
    let (space, twin) = (Space::new(seed, Some(&model))?, Space::new(seed, None)?);
    for one in [&space, &twin] {
        one.tell(&mut Dice::new(seed)).await?;
    }
    for _ in 0..CYCLES {
        space.maintain().await?;
        twin.maintain().await?;
        believed(&space, &model, report).await?;
        lost((&space, &twin), report).await?;
    }
    count(&space, &model, report).await?;
    let undone = space.memory.admin().engine().undo_model().await?;
    report.count("taken back", undone.value.len() as u64);
    let space = space.alone()?;
    still_of_model(&space, report).await?;
    for _ in 0..AFTER {
        space.maintain().await?;
        twin.maintain().await?;
    }
    let (is, was) = (state(&space).await?, state(&twin).await?);
    for row in was.difference(&is) {
        report.count("not undone", 1);
        report.blame(Fault::Lost, format_args!("after taking back there is no more: {row}"));
    }
    for row in is.difference(&was) {
        report.count("not undone", 1);
        report.blame(Fault::SilentWrong, format_args!("after taking back there is still: {row}"));
    }
    Ok(())
}

/// Looks for what the model made up among what is believed.
async fn believed(space: &Space, model: &Liar, report: &mut Report) -> Result<()> {
    let lies: Vec<String> = model.lies().iter().map(|lie| plain(lie)).collect();
    let mut texts: Vec<(&str, String)> = Vec::new();
    for note in space.notes().await?.into_iter().filter(|note| note.status == LearningStatus::Active) {
        let tags = note.tags.iter().map(ToString::to_string).chain(note.topics.iter().cloned());
        texts.push(("a note", note.content.clone()));
        texts.push(("the place of a note", note.category.to_string()));
        texts.extend(tags.map(|tag| ("a tag", tag)));
    }
    for (kind, row) in believed_rows(space).await? {
        texts.push((kind, row));
    }
    for (kind, text) in texts {
        let text = plain(&text);
        let is_lie =
            lies.iter().any(|lie| text.contains(lie)) || MARKS.iter().any(|mark| text.contains(mark));
        if is_lie {
            report.count("unsupported", 1);
            report.blame(Fault::SilentWrong, format_args!("{kind} holds what nobody said: {text}"));
        }
    }
    Ok(())
}

/// Facts that stand, entities, and texts of summaries.
async fn believed_rows(space: &Space) -> Result<Vec<(&'static str, String)>> {
    let graph = space.memory.facts().graph().await?.value;
    let now = AsOf::present(Timestamp::MAX);
    let mut rows = Vec::new();
    for fact in graph.facts(&FactFilter::all(), now).await? {
        let is_of_model = fact.supports.iter().all(mnemal::graph::Support::is_of_model);
        if fact.status != FactStatus::Candidate || !is_of_model {
            rows.push(("a fact", format!("{} {} {}", fact.subject, fact.predicate, fact.object.key())));
        }
        if is_of_model && fact.status != FactStatus::Candidate {
            rows.push(("a fact that only a model read", "zebulon".to_owned()));
        }
    }
    for entity in graph.all(&EntityFilter::all(), now).await? {
        rows.push(("an entity", entity.name));
    }
    for standing in space.memory.summaries().stored_tree(&NodePath::Root, 3).await?.value {
        rows.push(("a summary", standing.text()));
    }
    Ok(rows)
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Looks for what is there without the model and not with it.
async fn lost((space, twin): (&Space, &Space), report: &mut Report) -> Result<()> {
    let gone = {
        let has = space.events().await?;
        let written = EventFilter {
            roles: Within::Only(vec![mnemal::Role::User, mnemal::Role::Assistant, mnemal::Role::Document]),
            ..EventFilter::live()
        };
        let said = twin
            .memory
            .events()
            .scan(&written, mnemal::events::Cursor::START, std::num::NonZeroUsize::MAX)
            .await?;
        said.iter().filter(|event| !has.contains(&event.id)).count()
    };
    if gone > 0 {
        report.blame(Fault::Lost, format_args!("{gone} events are gone"));
    }
    let holds = |rows: Vec<Learning>| -> Vec<String> {
        let rows = rows.into_iter().filter(|row| row.status == LearningStatus::Active);
        rows.filter(|row| !is_written(row)).map(|row| row.content).collect()
    };
    let all = space.notes().await?;
    let live: Vec<String> = all
        .iter()
        .filter(|row| row.status == LearningStatus::Active)
        .map(|row| row.content.clone())
        .collect();
    for note in holds(twin.notes().await?) {
        if !live.iter().any(|text| uncovered(text, &[&note]).is_empty()) {
            report.blame(Fault::Lost, format_args!("nothing carries the note {note}"));
        }
    }
    let (is, was) = (facts(space).await?, facts(twin).await?);
    for fact in was.difference(&is) {
        report.blame(Fault::Lost, format_args!("a fact is gone: {fact}"));
    }
    Ok(())
}

/// Whether the rules write it, so that a model may have written it in other words.
fn is_written(row: &Learning) -> bool {
    let first = row.category.as_str().split('/').next().unwrap_or_default();
    ["insights", "documents", "timeline"].contains(&first)
}

async fn facts(space: &Space) -> Result<BTreeSet<String>> {
    let graph = space.memory.facts().graph().await?.value;
    let all = graph.facts(&FactFilter::all(), AsOf::present(Timestamp::MAX)).await?;
    let says = |fact: &mnemal::Fact| {
        let (one, what) = (&fact.subject, &fact.predicate);
        format!("{one} {what} {} {:?}", fact.object.key(), fact.status)
    };
    Ok(all.iter().map(says).collect())
}

/// Counts what was asked and what the model is believed.
async fn count(space: &Space, model: &Liar, report: &mut Report) -> Result<()> {
    for (what, times) in model.asked() {
        let what = match what.as_str() {
            "model/digest" => "asked for digests",
            "model/node" => "asked for texts of summaries",
            "model/appraise" => "asked about tasks",
            "model/judge" => "asked about filing and preferences",
            "model/extract" => "asked for claims",
            "model/merge" => "asked for one note of two",
            "model/insight" => "asked for insights",
            _ => "asked for entries of conversations",
        };
        report.count(what, times);
    }
    report.count("lies", model.lies().len() as u64);
    let notes = space.notes().await?;
    let raw = notes.iter().filter(|note| note.content.contains("[RAW]")).count();
    report.count("conversations kept as they were", raw as u64);
    Ok(())
}

/// Looks for notes that still come from a model.
async fn still_of_model(space: &Space, report: &mut Report) -> Result<()> {
    for note in space.notes().await?.into_iter().filter(|note| note.status == LearningStatus::Active) {
        let Some(source) = note.sources.first() else { continue };
        let made = space.memory.events().get(source.event).await?;
        let is_of_model = made.body().is_some_and(|kept| {
            matches!(&kept.kind, mnemal::EventKind::Operation(operation) if operation.prompt.is_some())
        });
        if is_of_model {
            report.blame(Fault::SilentWrong, format_args!("a note of the model stands: {}", note.content));
        }
    }
    Ok(())
}

/// Everything that is believed: notes with all that is said of them, facts, entities, summaries.
async fn state(space: &Space) -> Result<BTreeSet<String>> {
    let mut rows = facts(space).await?;
    // Which notes a line of the rules joins follows from which of them were there first.
    let is_line = |note: &Learning| note.kind == LearningKind::Insight;
    for note in space.notes().await?.into_iter().filter(|note| !is_line(note)) {
        let tags: Vec<&str> = note.tags.iter().map(mnemal::types::Tag::as_str).collect();
        rows.insert(format!(
            "note {} {:?} {} {tags:?} {:?} {:?} {:?} {:?}",
            note.content, note.kind, note.category, note.importance, note.status, note.level, note.topics
        ));
    }
    rows.extend(believed_rows(space).await?.into_iter().map(|(kind, row)| format!("{kind}: {row}")));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn nothing_that_a_model_makes_up_is_believed_and_all_of_it_is_taken_back() {
        let time = Duration::from_mins(3);
        let report = run(&Order { runs: 4, first: 0, seed: 7, time, program: PathBuf::new() }).unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(report.runs, 4, "{report:?}");
        // Every use of a model, and something of it was believed.
        assert_eq!(report.details.keys().filter(|what| what.starts_with("asked")).count(), 8, "{report:?}");
        assert!(report.details["taken back"] > 0 && report.details["lies"] > 100, "{report:?}");
    }
}
