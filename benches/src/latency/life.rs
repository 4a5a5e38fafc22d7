//! A seeded space with data in every layer: a life told to an assistant over years.

use std::io::{Result as IoResult, Write};
use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use mnemal::types::{Category, ChannelId, Importance, Layer, ToolName};
use mnemal::working::{KeyPrefix, PutOptions};
use mnemal::{EventFilter, Memory, Message, NoteKey, SessionId};

use super::{CorpusSpace, SEED};
use crate::chat::Chat;
use crate::cpu::Watch;
use crate::figure::Figure;
use crate::words::{Dice, Words};

/// First names, and as many family names. Source: own choice; 900 people in a life.
const NAMES: usize = 30;
/// Distinct places. Source: own choice.
const PLACES: usize = 200;
/// Lead of the first person over the rest: every sixth sentence is about that person. Source: own choice.
const SKEW: i32 = 4;
/// Share of the user's turns with a statement about a person. Source: own choice.
const TOLD: f64 = 0.15;
/// Share of the person's turns that say how things shall be. Source: own choice; some 500 in 100,000 turns, as in `PrefEval`.
const WISHED: f64 = 0.01;
/// Additional notes. Source: own choice; a handful of them matters, and a handful identifies a person.
const NOTES: usize = 300;
/// Uses of each tool, of which every third one succeeds. Source: own choice.
const USES: usize = 12;
/// Turns of the conversation that asks. Source: those that are offered for replay, `context.recent_turns`.
const LIVE_TURNS: usize = 20;
/// Most time for folding everything, in minutes.
const PATIENCE_MINUTES: u64 = 60;
/// Entries of each namespace of working memory. Source: own choice, below the most that fit.
const ENTRIES: usize = 10;

/// Things with a name of their own.
const THINGS: [&str; 6] = ["Rust", "Python", "Docker", "Kubernetes", "PostgreSQL", "Linux"];

const SUBJECTS: [&str; 8] =
    ["trains", "dinner", "music", "books", "presents", "letters", "holidays", "exercise"];

/// The conversation that asks.
pub(crate) const LIVE: &str = "live";

/// What is made up once for a life.
#[derive(Debug)]
struct Vocabulary {
    dice: Dice,
    words: Words,
    first: Vec<String>,
    last: Vec<String>,
    places: Vec<String>,
}

impl Vocabulary {
    fn new() -> Self {
        let (mut dice, words) = (Dice::new(SEED), Words::default());
        let mut some = |count| (0..count).map(|_| capital(&words.rare(&mut dice))).collect::<Vec<_>>();
        let (first, last, places) = (some(NAMES), some(NAMES), some(PLACES));
        Self { dice, words, first, last, places }
    }

    fn person(&mut self) -> String {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
        let rank = (self.dice.unit().powi(SKEW) * (NAMES * NAMES) as f64) as usize;
        let name = |of: &[String], place: usize| of.get(place).cloned().unwrap_or_default();
        format!("{} {}", name(&self.first, rank % NAMES), name(&self.last, rank / NAMES))
    }

    fn place(&mut self) -> String {
        self.places.get(self.dice.below(PLACES)).cloned().unwrap_or_default()
    }

    fn thing(&mut self) -> String {
        self.words.rare(&mut self.dice)
    }

    /// A sentence with a statement about a person.
    fn told(&mut self) -> String {
        let (one, other, place, thing) = (self.person(), self.person(), self.place(), self.thing());
        match self.dice.below(8) {
            0 => format!("{one} uses {}.", self.dice.one_of(&THINGS)),
            1 => format!("{one} likes {thing}."),
            2 => format!("My friend {one} moved to {place}. {other} likes {thing}."),
            3 => format!("{one} works at {place} and knows {other}."),
            4 => format!("I met {one} in {place}."),
            5 => format!("I like {thing}."),
            6 => format!("{one} lives in {place}."),
            _ => format!("{one} is married to {other}."),
        }
    }

    /// A sentence that says how things shall be.
    fn wished(&mut self) -> String {
        let (one, other) = (self.thing(), self.thing());
        let subject = self.dice.one_of(&SUBJECTS);
        match self.dice.below(4) {
            0 => format!("I prefer {one} to {other} when it comes to {subject}."),
            1 => format!("I really dislike {one}, so no {subject} with {other} for me."),
            2 => format!("Please never suggest {subject} with {one} to me."),
            _ => format!("I am allergic to {one}, remember that for {subject}."),
        }
    }
}

/// Writes this many turns of a person and an assistant as a corpus.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_life(turns: usize, out: &mut impl Write) -> IoResult<()> {
    let mut world = Vocabulary::new();
    for mut turn in Chat::new(SEED).take(turns) {
        turn.speaker = if turn.number % 2 == 0 { "user" } else { "assistant" };
        let chance = world.dice.unit();
        match turn.speaker {
            "user" if chance < TOLD => turn.text = world.told(),
            "user" if chance < TOLD + WISHED => turn.text = world.wished(),
            _ => {}
        }
        writeln!(out, "{}", turn.line())?;
    }
    Ok(())
}

/// Makes questions: for something that was said, about people, for advice, about things, in turn.
pub(crate) fn questions(turns: usize, count: usize) -> Vec<String> {
    let mut world = Vocabulary::new();
    let said = crate::chat::questions(SEED, turns, count);
    let ask = |(place, said): (usize, String)| match place % 5 {
        0 => said,
        1 => format!("Where does {} live, and what does {} like?", world.person(), world.person()),
        2 => format!("Can you recommend some {} for next week?", world.dice.one_of(&SUBJECTS)),
        3 => format!("Who uses {}?", world.dice.one_of(&THINGS)),
        _ => format!("What should I bring when I meet {} in {}?", world.person(), world.place()),
    };
    said.into_iter().enumerate().map(ask).collect()
}

/// Lets every layer read the log to its end, and puts into the others what no log can give; says how long that took and what
/// there is now.
///
/// # Errors
/// A layer that does not catch up, and those of the engine.
pub async fn furnish(bed: &CorpusSpace, memory: &Memory) -> Result<Vec<Figure>> {
    noted(memory).await?;
    used(memory).await?;
    let channel = channel(memory).await?;
    let live = memory.for_session(SessionId::new(LIVE)?);
    for (number, turn) in Chat::new(!SEED).take(LIVE_TURNS).enumerate() {
        let said = if number % 2 == 0 { Message::user(turn.text) } else { Message::assistant(turn.text) };
        let _ack = live.log(said.channel(channel.clone())).await?;
    }
    let taught = Message::user("From now on, always answer in two sentences.");
    let _ack = live.log(taught.channel(channel.clone())).await?;
    kept(memory).await?;
    let mut figures = folded(bed, memory).await?;
    figures.extend(held(bed, memory).await?);
    Ok(figures)
}

/// The place where the life was told.
pub(crate) async fn channel(memory: &Memory) -> Result<ChannelId> {
    let first =
        memory.events().scan(&EventFilter::live(), mnemal::events::Cursor::START, NonZeroUsize::MIN).await?;
    let event = first.first().and_then(mnemal::Event::body).context("a space without events")?;
    Ok(event.channel.clone())
}

async fn noted(memory: &Memory) -> Result<()> {
    let mut world = Vocabulary::new();
    for number in 0..NOTES {
        let category = match number % 10 {
            0 => "identity",
            1 => "skills/office",
            2 => "knowledge/home",
            _ => "general",
        };
        let importance = if number % 20 == 2 { 0.9 } else { 0.5 };
        let _stored = memory
            .remember(format!("{} {}", world.told(), world.thing()))
            .key(NoteKey::new(format!("note-{number}"))?)
            .category(Category::new(category)?)
            .importance(Importance::new(importance)?)
            .by_user()
            .await?;
    }
    Ok(())
}

/// Lets tools answer and fail.
async fn used(memory: &Memory) -> Result<()> {
    for tool in ["search", "calendar", "mail"] {
        for number in 0..USES {
            let name = ToolName::new(tool)?;
            let result = if number % 3 > 0 {
                Message::tool_failure(name, format!("timeout {number}"))
            } else {
                Message::tool_result(name, format!("result {number}"))
            };
            let _ack = memory.log(result).await?;
        }
    }
    Ok(())
}

async fn kept(memory: &Memory) -> Result<()> {
    for own in ["session/live", "patrol/disk", "subagent/review"] {
        let working = memory.admin().engine().working(KeyPrefix::new(own)?)?;
        for number in 0..ENTRIES {
            let keep = PutOptions { ttl: Some(Duration::from_hours(48)), ..PutOptions::default() };
            let _kept = working.put(&format!("entry-{number}"), format!("value {number}"), keep).await?;
        }
    }
    Ok(())
}

/// Folds notes, the graph and the summaries; the time of each is that of what upkeep does.
async fn folded(bed: &CorpusSpace, memory: &Memory) -> Result<Vec<Figure>> {
    let engine = memory.admin().engine();
    let watch = Watch::start()?;
    let unread = engine.fold_within(Duration::from_mins(PATIENCE_MINUTES)).await;
    ensure!(unread.is_empty(), "the notes did not catch up: {unread:?}");
    let notes = watch.stop()?.cpu;
    let watch = Watch::start()?;
    // A few unread events are no gap: they are read by the call after the one that told of none.
    let mut calls_without_gap = 0;
    while calls_without_gap < 2 {
        let is_behind = memory.facts().graph().await?.gaps.iter().any(|gap| gap.layer == Layer::Graph);
        calls_without_gap = if is_behind { 0 } else { calls_without_gap + 1 };
    }
    let graph = watch.stop()?.cpu;
    let watch = Watch::start()?;
    while !engine.refresh_summaries().await?.is_empty() {}
    let summaries = watch.stop()?.cpu;
    Ok(vec![
        Figure::time("fold of all notes and learnings, CPU", bed.size(), notes),
        Figure::time("fold of the whole graph, CPU", bed.size(), graph),
        Figure::time("fold of all summaries, CPU", bed.size(), summaries),
    ])
}

/// Counts what the layers hold, and that none is behind.
async fn held(bed: &CorpusSpace, memory: &Memory) -> Result<Vec<Figure>> {
    let health = memory.admin().health().await?;
    for part in &health.parts {
        ensure!(part.cause.is_none() && part.behind == 0, "a layer is behind: {part:?}");
    }
    let as_of = mnemal::AsOf::present(memory.admin().engine().now());
    let learnings = memory.preferences().learnings(&mnemal::LearningFilter::all(), as_of).await?.len();
    let graph = memory.facts().graph().await?.value;
    let entities = graph.all(&mnemal::graph::EntityFilter::all(), as_of).await?.len();
    let summaries = memory.summaries().reader().await?.value;
    let below = summaries.tree(&mnemal::summaries::NodePath::Root, 1).await?.len();
    let count = |name: &str, value: usize| Figure::new(name, bed.size(), value as f64, "rows");
    Ok(vec![
        count("notes and learnings that hold", learnings),
        count("entities", entities),
        count("nodes at the root of the summaries", below),
    ])
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
