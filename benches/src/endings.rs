//! Endings: pairs whose second turn ends what the first said, and look-alikes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use mnemal::{Builder, Context, EventId, Memory, Timestamp};
use mnemal_testkit::ManualClock;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::attribution::Half;
use crate::count::{Count, Table};
use crate::learned::{self, EntityFilter, Item, says};
use crate::life::context_lines::{self, Line};
use crate::neutral::lines;
use crate::spaces;

/// 2026-07-18T09:00:00Z, when the first turn is said.
const FIRST: i64 = 1_784_365_200_000_000;
/// Between the turns of a pair.
const MONTH: Duration = Duration::from_hours(33 * 24);
/// Between the turns of a pair that follow each other.
const MINUTE: Duration = Duration::from_mins(1);
/// Between the second turn and the look at what holds.
const DAY: Duration = Duration::from_hours(24);
/// Tokens of a context.
const BUDGET: u32 = 1_000;

/// Two turns.
#[derive(Clone, Debug, Deserialize)]
pub struct Pair {
    /// Its id.
    pub id: String,
    /// The language.
    pub lang: String,
    /// The half.
    pub half: Half,
    /// The kind of ending, or of look-alike.
    pub kind: String,
    /// The first turn.
    pub first: String,
    /// The second turn, a month later.
    pub second: String,
    /// Whether the second turn follows at once, in the same conversation, and not a month later.
    #[serde(default)]
    pub follows: bool,
    /// Strings of the first turn that must not be shown as current afterwards; none if nothing ends.
    #[serde(default)]
    pub gone: Vec<String>,
    /// Strings that must be shown as current afterwards.
    #[serde(default)]
    pub still: Vec<String>,
}

impl Pair {
    /// Whether the second turn ends the first statement.
    pub fn ends(&self) -> bool {
        !self.gone.is_empty()
    }

    /// Whether the second turn says and takes back a value.
    fn puts_itself_right(&self) -> bool {
        let is_of_second =
            |gone: &String| self.second.contains(gone.as_str()) && !self.first.contains(gone.as_str());
        self.ends() && self.gone.iter().all(is_of_second)
    }
}

/// Reads the pairs of a folder.
///
/// # Errors
/// A file that is missing or broken.
pub fn read(folder: &Path) -> Result<Vec<Pair>> {
    lines(&folder.join("pairs.jsonl"))
}

/// The state before the second turn, and the output after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Whether something was learned of the first turn.
    pub learned: bool,
    /// Items and lines of contexts that tell as present what ended.
    pub present: Vec<String>,
    /// Whether the learned statement is no longer valid.
    pub lost: bool,
    /// Whether what holds in its place is held; `None` where nothing does.
    pub replaced: Option<bool>,
}

impl Outcome {
    /// Says a pair in a new space.
    ///
    /// # Errors
    /// A space that does not answer.
    pub async fn of(pair: &Pair, builder: &Builder) -> Result<Self> {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(FIRST)?));
        let memory = spaces::memory(builder.clone().with_clock(clock.clone()))?;
        let first = learned::say(&memory, &pair.first, "s1", memory.admin().engine().now()).await?;
        let before = of_event(held(&memory).await?, first, pair);
        clock.advance(if pair.follows { MINUTE } else { MONTH });
        let session = if pair.follows { "s1" } else { "s2" };
        let second = learned::say(&memory, &pair.second, session, memory.admin().engine().now()).await?;
        clock.advance(DAY);
        let held = held(&memory).await?;
        let replaced = (pair.ends() && !pair.still.is_empty())
            .then(|| held.iter().any(|item| says(&item.words, &pair.still)));
        let mut after = of_event(held.clone(), first, pair);
        let mut outcome = Self { learned: !before.is_empty(), replaced, ..Self::default() };
        if pair.puts_itself_right() {
            after = of_event(held, second, pair);
            // A sentence that is quoted whole shows what was meant.
            after.retain(|item| !says(&item.words, &pair.still));
            outcome.learned = outcome.replaced == Some(true) || !after.is_empty();
        }
        outcome.lost = outcome.learned && after.is_empty();
        if pair.ends() {
            outcome.present = after.iter().map(Item::line).collect();
            for query in [pair.first.as_str(), ""] {
                let context = memory.context(query).budget(BUDGET).await?;
                outcome.present.extend(standing(&context, &pair.first));
            }
        }
        Ok(outcome)
    }
}

async fn held(memory: &Memory) -> Result<Vec<Item>> {
    let mut items = learned::facts(memory, EntityFilter::All).await?;
    items.extend(learned::preferences(memory).await?);
    Ok(items)
}

/// Returns the items that rest on an event and say what the pair is about.
fn of_event(mut items: Vec<Item>, event: EventId, pair: &Pair) -> Vec<Item> {
    let keys = if pair.ends() { &pair.gone } else { &pair.still };
    items.retain(|item| item.events.contains(&event) && !item.is_denied && says(&item.words, keys));
    items
}

/// Returns the lines of a context that give a sentence as what holds: lines of every kind but dated quotes of the log.
fn standing(context: &Context, sentence: &str) -> Vec<String> {
    let lines = context_lines::lines(context);
    let sentence = [sentence.to_owned()];
    let tells = |line: &Line| line.is_standing && line.tells(&sentence, &[]);
    lines.into_iter().filter(tells).map(|line| format!("context: {}", line.text)).collect()
}

/// The figures of a half.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pairs: usize,
    present: Count,
    ended: Count,
    unreplaced: Count,
    present_by_kind: Table,
    present_by_language: Table,
    ended_by_kind: Table,
    ended_by_language: Table,
    unlearned: BTreeMap<String, usize>,
    /// The errors, pair by pair.
    pub wrong: Vec<Value>,
}

impl Figures {
    /// Measures a half, in engines of this builder.
    ///
    /// # Errors
    /// A space that does not answer.
    pub async fn measure(pairs: &[Pair], half: Half, builder: &Builder) -> Result<Self> {
        let mut figures = Self::default();
        for pair in pairs.iter().filter(|pair| pair.half == half) {
            figures.add(pair, &Outcome::of(pair, builder).await?);
        }
        Ok(figures)
    }

    fn add(&mut self, pair: &Pair, outcome: &Outcome) {
        self.pairs += 1;
        if let Some(replaced) = outcome.replaced {
            self.unreplaced.add(usize::from(!replaced));
        }
        if !outcome.learned && outcome.present.is_empty() {
            *self.unlearned.entry(pair.lang.clone()).or_default() += 1;
            return;
        }
        let is_wrong = if pair.ends() { !outcome.present.is_empty() } else { outcome.lost };
        let (all, by_kind, by_language) = if pair.ends() {
            (&mut self.present, &mut self.present_by_kind, &mut self.present_by_language)
        } else {
            (&mut self.ended, &mut self.ended_by_kind, &mut self.ended_by_language)
        };
        all.add(usize::from(is_wrong));
        by_kind.add(&pair.kind, usize::from(is_wrong));
        by_language.add(&pair.lang, usize::from(is_wrong));
        if is_wrong {
            let wrong = json!({
                "id": pair.id, "kind": pair.kind, "first": pair.first, "second": pair.second,
                "present": outcome.present, "lost": outcome.lost,
            });
            self.wrong.push(wrong);
        }
    }

    /// Returns the shares and counts.
    pub fn json(&self) -> Value {
        json!({
            "pairs": self.pairs,
            "still_present": self.present.share(),
            "ended_wrongly": self.ended.share(),
            "ends": self.present.json(),
            "guards": self.ended.json(),
            "replacement_missing": self.unreplaced.json(),
            "still_present_by_kind": self.present_by_kind.json(),
            "still_present_by_language": self.present_by_language.json(),
            "ended_wrongly_by_kind": self.ended_by_kind.json(),
            "ended_wrongly_by_language": self.ended_by_language.json(),
            "first_not_learned_by_language": self.unlearned,
        })
    }
}
