//! Life simulation: months of turns, questions at the end, and the correct preferences and facts by then.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use mnemal::context::{InclusionReason, Section};
use mnemal::events::{Cursor, OwnHistory};
use mnemal::types::Degraded;
use mnemal::{
    Builder, Context, EventFilter, EventId, ImportFormat, ImportOptions, Memory, Message, SessionId, Speaker,
    Timestamp, Zone,
};
use mnemal_testkit::{ManualClock, SeededIds};
use serde_json::{Map, Value, json};

use crate::attribution::Half;
use crate::learned::{self, EntityFilter, Item, plain, says};
use crate::neutral::lines;
use crate::spaces::{self, is_behind};

pub mod context_lines;
pub mod format;

use context_lines::Line;
use format::{Entry, InputPath, Life, Question, Turn};

/// Ids decide between lines that are equally good; fixed ones make two runs equal.
const SEED: u64 = 30;
/// Token budget of the contexts.
pub const BUDGETS: [u32; 2] = [1_000, 400];
/// Hits that count for recall.
const DEPTHS: [usize; 3] = [1, 3, 10];
/// From the last turn to the questions.
const REST: Duration = Duration::from_hours(24);
/// Events that are read at once while their names are collected.
const PAGE: std::num::NonZeroUsize = std::num::NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// A life in a space, some time after its last turn.
#[derive(Debug)]
pub struct LifeSpace {
    life: Life,
    memory: Memory,
    turns: HashMap<EventId, usize>,
    /// What no context may tell as present, whatever is asked.
    outdated: Vec<String>,
}

impl LifeSpace {
    /// Lives it: turns are imported as the owner's history or logged, as each says, in their order.
    ///
    /// # Errors
    /// A turn that is not stored, or a layer that does not read it.
    pub async fn live(life: Life, builder: Builder) -> Result<Self> {
        let start = life.turns.first().map_or(Timestamp::EPOCH, |turn| turn.at);
        let clock = Arc::new(ManualClock::at(start));
        let memory =
            spaces::memory(builder.with_clock(clock.clone()).with_ids(Arc::new(SeededIds::new(SEED))))?;
        let mut named = HashMap::new();
        for part in life.turns.chunk_by(|one, other| one.way == other.way) {
            for turn in part {
                if turn.way == InputPath::Log {
                    clock.jump(clock_after(turn.at));
                    named.insert(log(&memory, turn).await?, turn.id.clone());
                }
            }
            if let Some(last) = part.last().filter(|turn| turn.way == InputPath::Import) {
                clock.jump(clock_after(last.at));
                import(&memory, part).await?;
            }
            learned::settle(&memory).await?;
        }
        let end = life.turns.iter().map(|turn| turn.at).max().unwrap_or(start);
        clock.jump(end);
        clock.advance(REST);
        learned::settle(&memory).await?;
        named.extend(imported(&memory).await?);
        let places: HashMap<&str, usize> =
            life.turns.iter().enumerate().map(|(place, turn)| (turn.id.as_str(), place)).collect();
        let turns = named
            .into_iter()
            .filter_map(|(event, name)| Some((event, *places.get(name.as_str())?)))
            .collect();
        let outdated = life.questions.iter().flat_map(|question| question.outdated.clone()).collect();
        Ok(Self { life, memory, turns, outdated })
    }

    fn turn(&self, event: EventId) -> Option<&Turn> {
        self.turns.get(&event).and_then(|place| self.life.turns.get(*place))
    }

    /// Asks the questions of one half, or all of them, and compares the state of the space with the expected one.
    ///
    /// # Errors
    /// A layer that does not answer.
    pub async fn ask(&self, half: Option<Half>) -> Result<Report> {
        let mut report = Report::default();
        let is_asked =
            |question: &&Question| half.is_none_or(|half| question.half.is_none_or(|of| of == half));
        for question in self.life.questions.iter().filter(is_asked) {
            report.recall.push(self.recall(question).await?);
            for budget in BUDGETS {
                let context = self.memory.context(&question.text).budget(budget).await?;
                report.answers.push(self.judge(question, budget, &context));
            }
            report.asked.push(self.answer(question).await?);
        }
        let preferences = learned::preferences(&self.memory).await?;
        let facts = learned::facts(&self.memory, EntityFilter::All).await?;
        let active =
            |items: &[Item]| items.iter().filter(|item| item.is_active()).cloned().collect::<Vec<_>>();
        let (preferences, facts) = (active(&preferences), active(&facts));
        let mut all = preferences.clone();
        all.extend(facts.iter().cloned());
        report.preferences =
            self.life.preferences.as_ref().map(|right| StateComparison::of(&preferences, &all, right));
        report.facts = self.life.facts.as_ref().map(|right| StateComparison::of(&facts, &facts, right));
        Ok(report)
    }

    async fn recall(&self, question: &Question) -> Result<RecallResult> {
        let most = DEPTHS.into_iter().max().unwrap_or_default();
        let found = self.memory.recall(&question.text).limit(most).await?;
        let turns = found.hits.iter().map(|hit| self.turn(hit.event.id).map(|turn| turn.id.as_str()));
        let is_evidence =
            |turn: Option<&str>| turn.is_some_and(|id| question.evidence.iter().any(|one| one == id));
        Ok(RecallResult {
            asked: !question.evidence.is_empty(),
            place: turns.into_iter().position(is_evidence),
        })
    }

    /// Asks for an answer in quotes.
    async fn answer(&self, question: &Question) -> Result<QuotedAnswer> {
        let answer = self.memory.ask(&question.text).await?;
        let said: Vec<&str> = answer.quotes.iter().map(|quote| quote.text.as_str()).collect();
        let text = plain(&said.join("\n"));
        let is_met = |group: &&Vec<String>| group.iter().any(|one| text.contains(&plain(one)));
        let met = question.needs.iter().filter(is_met).count();
        let is_known = !said.is_empty();
        let verdict = match (question.wants_silence(), is_known) {
            (true, false) => Verdict::Yes,
            (false, false) => Verdict::Unknown,
            (false, true) if met == question.needs.len() => Verdict::Yes,
            (false, true) if met > 0 => Verdict::Partly,
            (_, true) => Verdict::No,
        };
        Ok(QuotedAnswer {
            id: question.id.clone(),
            question: question.text.clone(),
            category: question.category.clone(),
            verdict,
            said: answer.quotes.iter().map(|quote| format!("{:.2} {}", quote.evidence, quote.text)).collect(),
        })
    }

    fn judge(&self, question: &Question, budget: u32, context: &Degraded<Context>) -> Answer {
        let lines = context_lines::lines(context);
        let text = plain(&context.text);
        let met =
            question.needs.iter().filter(|group| group.iter().any(|one| text.contains(&plain(one)))).count();
        let standing = || lines.iter().filter(|line| line.is_standing);
        let contradicts = standing().any(|line| line.tells(&question.outdated, &question.needs));
        let outdated: Vec<&Line> =
            standing().filter(|line| line.tells(&self.outdated, &question.needs)).collect();
        let foreign: Vec<&Line> = lines.iter().filter(|line| self.is_foreign(line)).collect();
        let strict = lines.iter().any(|line| {
            line.is_of_user
                && (line.tells(&self.outdated, &question.needs) || says(&line.text, &self.life.foreign))
        });
        let verdict = if question.wants_silence() {
            if is_silent(context) { Verdict::Yes } else { Verdict::No }
        } else if met == question.needs.len() && !contradicts {
            Verdict::Yes
        } else if met > 0 {
            Verdict::Partly
        } else {
            Verdict::No
        };
        let told = |lines: &[&Line]| lines.iter().map(|line| line.text.clone()).collect();
        Answer {
            id: question.id.clone(),
            category: question.category.clone(),
            question: question.text.clone(),
            budget,
            verdict,
            outdated: told(&outdated),
            foreign: told(&foreign),
            strict,
        }
    }

    /// Whether a line gives words of others as the user's: cut out of what showed whose they are, and with no other name.
    fn is_foreign(&self, line: &Line) -> bool {
        if !line.is_of_user || !says(&line.text, &self.life.foreign) {
            return false;
        }
        let turn = line.event.and_then(|event| self.turn(event));
        !turn.is_some_and(|turn| line.shows_start_of(&turn.text))
    }
}

fn clock_after(at: Timestamp) -> Timestamp {
    at.plus_micros(1_000_000)
}

async fn log(memory: &Memory, turn: &Turn) -> Result<EventId> {
    let message = match turn.speaker.to_lowercase().as_str() {
        "assistant" => Message::assistant(turn.text.as_str()),
        "tool" => Message::observation(turn.text.as_str()),
        "" | "user" => Message::user(turn.text.as_str()),
        _ => Message::user(turn.text.as_str()).speaker(Speaker::new(turn.speaker.as_str())?),
    };
    let message = message.session(SessionId::new(turn.session.as_str())?).occurred_at(turn.at, Zone::utc());
    let ack = memory.log(message).await?;
    ensure!(ack.gaps.iter().all(is_behind), "turn {} was not stored in full: {ack:?}", turn.id);
    Ok(ack.id)
}

async fn import(memory: &Memory, turns: &[Turn]) -> Result<()> {
    let records: Vec<String> = turns.iter().map(|turn| turn.record.to_string()).collect();
    let file = records.join("\n");
    let now = memory.admin().engine().now();
    let options = ImportOptions { origin: OwnHistory::Yes, ..ImportOptions::new("turns.jsonl", now) };
    let report = memory.events().import(file.as_bytes(), ImportFormat::Neutral, options, &mut |_| {}).await?;
    let is_whole =
        report.skipped_total == 0 && report.taken.refused.is_empty() && report.gaps.iter().all(is_behind);
    ensure!(is_whole, "the turns were not imported in full: {report:?}");
    Ok(())
}

async fn imported(memory: &Memory) -> Result<Vec<(EventId, String)>> {
    let mut named = Vec::new();
    let mut after = Cursor::START;
    loop {
        let page = memory.events().scan(&EventFilter::all(), after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(named) };
        after = Cursor(Some(last.seq));
        let name = |event: &mnemal::Event| Some((event.id, event.body()?.metadata.get("source_id")?.clone()));
        named.extend(page.iter().filter_map(name));
    }
}

/// Whether a context offers nothing as the answer: no hit of recall, and nothing of an entity or a topic in question.
fn is_silent(context: &Context) -> bool {
    let is_offered = |section| matches!(section, Section::Recall | Section::Entity | Section::Topics);
    let mut lines = context.receipt.lines.iter();
    !lines.any(|line| is_offered(line.section) && line.because != InclusionReason::ExplicitPreference)
}

/// How well a context serves its question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Whether everything needed is in it, and nothing outdated is shown as current.
    Yes,
    /// A part of it.
    Partly,
    /// Nothing of it.
    No,
    /// It is not known; only of an answer in quotes.
    Unknown,
}

/// What was answered in quotes.
#[derive(Clone, Debug)]
struct QuotedAnswer {
    id: String,
    question: String,
    category: String,
    verdict: Verdict,
    said: Vec<String>,
}

/// The context of a question.
#[derive(Clone, Debug)]
pub struct Answer {
    id: String,
    category: String,
    question: String,
    budget: u32,
    verdict: Verdict,
    outdated: Vec<String>,
    foreign: Vec<String>,
    strict: bool,
}

impl Answer {
    fn is_wrong(&self) -> bool {
        !self.outdated.is_empty() || !self.foreign.is_empty()
    }
}

#[derive(Clone, Copy, Debug)]
struct RecallResult {
    asked: bool,
    place: Option<usize>,
}

/// Whether a document lists the errors.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lists {
    /// It does.
    Shown,
    /// It has figures only.
    Hidden,
}

/// The state of the space next to the expected one.
#[derive(Clone, Debug, Default)]
pub struct StateComparison {
    listed: usize,
    stated: usize,
    found: usize,
    wrong: Vec<String>,
    missing: Vec<String>,
}

impl StateComparison {
    /// Compares what is listed with the entries; an entry may also be held by one of `all`.
    fn of(listed: &[Item], all: &[Item], right: &[Entry]) -> Self {
        let is_right = |item: &&Item| right.iter().any(|entry| entry.is_in(&item.text));
        let wrong = listed.iter().filter(|item| !is_right(item)).map(|item| item.text.clone()).collect();
        let stated: Vec<&Entry> = right.iter().filter(|entry| !entry.is_optional).collect();
        let is_held = |entry: &&Entry| all.iter().any(|item| entry.is_in(&item.text));
        let n_stated = stated.len();
        let (found, missing): (Vec<&Entry>, Vec<&Entry>) = stated.into_iter().partition(is_held);
        let missing = missing.into_iter().map(|entry| entry.text.clone()).collect();
        Self { listed: listed.len(), stated: n_stated, found: found.len(), wrong, missing }
    }

    fn add(&mut self, other: &Self) {
        self.listed += other.listed;
        self.stated += other.stated;
        self.found += other.found;
        self.wrong.extend(other.wrong.iter().cloned());
        self.missing.extend(other.missing.iter().cloned());
    }

    fn json(&self, lists: Lists) -> Value {
        let right = self.listed - self.wrong.len();
        let mut document = json!({
            "right": share(right, self.listed), "held": share(self.found, self.stated),
            "n_listed": self.listed, "n_right": right, "n_stated": self.stated, "n_held": self.found,
        });
        if let (Lists::Shown, Some(fields)) = (lists, document.as_object_mut()) {
            fields.insert("wrong".to_owned(), json!(self.wrong));
            fields.insert("missing".to_owned(), json!(self.missing));
        }
        document
    }
}

fn share(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64
}

/// The figures of lives.
#[derive(Clone, Debug, Default)]
pub struct Report {
    answers: Vec<Answer>,
    asked: Vec<QuotedAnswer>,
    recall: Vec<RecallResult>,
    preferences: Option<StateComparison>,
    facts: Option<StateComparison>,
}

impl Report {
    /// Adds the figures of another life.
    pub fn add(&mut self, other: Self) {
        self.answers.extend(other.answers);
        self.asked.extend(other.asked);
        self.recall.extend(other.recall);
        for (mine, others) in [(&mut self.preferences, &other.preferences), (&mut self.facts, &other.facts)] {
            if let Some(others) = others {
                mine.get_or_insert_default().add(others);
            }
        }
    }

    /// Returns the document; [`Lists::Shown`] adds the errors, question by question and row by row.
    pub fn json(&self, lists: Lists) -> Value {
        let mut document = Map::new();
        for budget in BUDGETS {
            document.insert(format!("budget_{budget}"), self.budget(budget));
        }
        let [main, ..] = BUDGETS;
        let of_main: Vec<&Answer> = self.answers.iter().filter(|answer| answer.budget == main).collect();
        let count = |is_so: fn(&Answer) -> bool| of_main.iter().filter(|answer| is_so(answer)).count();
        let n = of_main.len();
        let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
        put("contexts", json!(n));
        put("contexts_with_foreign_or_outdated", json!(share(count(Answer::is_wrong), n)));
        put("contexts_with_foreign", json!(share(count(|answer| !answer.foreign.is_empty()), n)));
        put("contexts_with_outdated", json!(share(count(|answer| !answer.outdated.is_empty()), n)));
        put("contexts_with_foreign_or_outdated_anywhere", json!(share(count(|answer| answer.strict), n)));
        put("recall", self.recall_json());
        put("ask", self.asked_json(lists));
        for (name, held) in [("preferences", &self.preferences), ("facts", &self.facts)] {
            if let Some(held) = held {
                put(name, held.json(lists));
            }
        }
        if lists == Lists::Shown {
            put("failures", self.failures());
        }
        Value::Object(document)
    }

    fn budget(&self, budget: u32) -> Value {
        let answers: Vec<&Answer> = self.answers.iter().filter(|answer| answer.budget == budget).collect();
        let mut categories: BTreeMap<&str, Vec<&Answer>> = BTreeMap::new();
        for answer in &answers {
            categories.entry(&answer.category).or_default().push(answer);
        }
        let mut document = verdicts(&answers);
        let by: Map<String, Value> =
            categories.into_iter().map(|(name, answers)| (name.to_owned(), verdicts(&answers))).collect();
        if let Some(fields) = document.as_object_mut() {
            fields.insert("by_category".to_owned(), Value::Object(by));
        }
        document
    }

    fn recall_json(&self) -> Value {
        let asked: Vec<&RecallResult> = self.recall.iter().filter(|one| one.asked).collect();
        let at = |depth: usize| {
            let found = asked.iter().filter(|one| one.place.is_some_and(|place| place < depth)).count();
            (format!("at_{depth}"), json!(share(found, asked.len())))
        };
        let mut rows: Map<String, Value> = DEPTHS.into_iter().map(at).collect();
        rows.insert("n".to_owned(), json!(asked.len()));
        Value::Object(rows)
    }

    fn asked_json(&self, lists: Lists) -> Value {
        let of = |verdict| {
            let n = self.asked.iter().filter(|one| one.verdict == verdict).count();
            share(n, self.asked.len())
        };
        let mut document = json!({
            "right": of(Verdict::Yes), "partly": of(Verdict::Partly), "wrong": of(Verdict::No),
            "not_known": of(Verdict::Unknown), "n": self.asked.len(),
        });
        if let (Lists::Shown, Some(fields)) = (lists, document.as_object_mut()) {
            let row = |one: &QuotedAnswer| {
                json!({"id": one.id, "category": one.category, "question": one.question,
                    "verdict": name(one.verdict), "said": one.said})
            };
            fields.insert("answers".to_owned(), self.asked.iter().map(row).collect());
        }
        document
    }

    fn failures(&self) -> Value {
        let is_failure = |answer: &&Answer| answer.verdict != Verdict::Yes || answer.is_wrong();
        let row = |answer: &Answer| {
            json!({
                "id": answer.id, "category": answer.category, "question": answer.question,
                "budget": answer.budget, "verdict": name(answer.verdict), "outdated": answer.outdated,
                "foreign": answer.foreign,
            })
        };
        self.answers.iter().filter(is_failure).map(row).collect()
    }
}

fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Yes => "yes",
        Verdict::Partly => "partly",
        Verdict::No => "no",
        Verdict::Unknown => "not known",
    }
}

fn verdicts(answers: &[&Answer]) -> Value {
    let of = |verdict| share(answers.iter().filter(|one| one.verdict == verdict).count(), answers.len());
    let wrong = answers.iter().filter(|one| one.is_wrong()).count();
    json!({
        "yes": of(Verdict::Yes), "partly": of(Verdict::Partly), "no": of(Verdict::No), "n": answers.len(),
        "contexts_with_foreign_or_outdated": share(wrong, answers.len()),
    })
}

/// Reads a folder.
///
/// # Errors
/// As [`Life::read`].
pub fn read(folder: &Path) -> Result<Life> {
    Life::read(folder).with_context(|| format!("no life in {}", folder.display()))
}
