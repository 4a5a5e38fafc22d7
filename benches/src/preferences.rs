//! Preference recall: whether a preference, stated among other conversations, is in the context that needs it.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use mnemal::context::{InclusionReason, RecordRef, Section};
use mnemal::learnings::LearningStatus;
use mnemal::recall::RecallMode;
use mnemal::types::{Degraded, GapCause};
use mnemal::{Builder, Context, EventId, Gap, Learning, LearningFilter};
use serde_json::{Map, Value, json};

use crate::neutral::{DataSet, lines};
use crate::spaces::{Layout, QueryOptions, Spaces};

/// Preferences per topic for a user with few. Source: own choice; ten topics give fifty preferences.
const OF_A_TOPIC: usize = 5;
/// Hits of the plain search for comparison.
const HITS: usize = 10;
/// The one conversation of a space.
const CONV: &str = "user";
/// The section of a context with the user's preferences, selected for the question.
const STATED: &str = "stated";

/// How often the right preference was in the context, and where it was lost otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreferenceScore {
    /// Questions.
    pub asked: usize,
    /// Those whose preference is in the context.
    pub in_context: usize,
    /// Those whose preference is among the ten best hits of a plain search.
    pub in_recall: usize,
    /// Misses whose preference was not extracted.
    pub unread: usize,
    /// Those whose preference was read and does not hold: another took its place, or it was said too seldom.
    pub ended: usize,
    /// Those whose preference holds and was not offered for the question.
    pub unchosen: usize,
    /// Those whose preference was offered and found no room.
    pub unpacked: usize,
    /// Tokens of all contexts.
    pub tokens: u64,
    /// Tokens and lines of each part of all contexts; the user's own words chosen for a question are a part of their own.
    pub parts: BTreeMap<&'static str, (u64, usize)>,
    /// Preferences that hold, with those of the noise; the largest number of one person.
    pub holding: usize,
    /// Contexts that lacked something.
    pub degraded: usize,
}

impl PreferenceScore {
    fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.in_context += other.in_context;
        self.in_recall += other.in_recall;
        self.unread += other.unread;
        self.ended += other.ended;
        self.unchosen += other.unchosen;
        self.unpacked += other.unpacked;
        self.tokens += other.tokens;
        for (part, (tokens, lines)) in other.parts {
            self.add_part(part, tokens, lines);
        }
        self.holding = self.holding.max(other.holding);
        self.degraded += other.degraded;
    }

    fn add_part(&mut self, part: &'static str, tokens: u64, lines: usize) {
        let (of_tokens, of_lines) = self.parts.entry(part).or_default();
        *of_tokens += tokens;
        *of_lines += lines;
    }

    /// Counts what a context shows.
    fn add_context(&mut self, context: &Degraded<Context>) {
        self.tokens += u64::from(context.tokens.0);
        // Layers that this build does not have lack in every context.
        let is_gap = |gap: &Gap| gap.cause != GapCause::NotConfigured;
        self.degraded += usize::from(context.gaps.iter().any(is_gap));
        for line in &context.receipt.lines {
            let is_stated =
                line.section == Section::Recall && line.because == InclusionReason::ExplicitPreference;
            let part = if is_stated { STATED } else { line.section.as_str() };
            self.add_part(part, u64::from(line.tokens.0), 1);
        }
    }

    /// Counts why a context lacks the preference that was read as these rows.
    fn add_miss(&mut self, rows: &[Learning], context: &Context) {
        let offered = |row: &Learning| {
            let record = RecordRef::Learning(row.id);
            context.receipt.omitted.iter().any(|omitted| omitted.record == record)
        };
        let holds = |row: &&Learning| row.status == LearningStatus::Active;
        let place = match rows {
            [] => &mut self.unread,
            rows if !rows.iter().any(|row| holds(&row)) => &mut self.ended,
            rows if rows.iter().filter(holds).any(offered) => &mut self.unpacked,
            _ => &mut self.unchosen,
        };
        *place += 1;
    }

    /// Returns the shares and means.
    pub fn json(&self) -> Value {
        let asked = self.asked.max(1) as f64;
        let part = |(name, (tokens, lines)): (&&str, &(u64, usize))| {
            let mean = json!({"tokens": *tokens as f64 / asked, "lines": *lines as f64 / asked});
            ((*name).to_owned(), mean)
        };
        json!({
            "questions": self.asked, "in_context": self.in_context as f64 / asked,
            "recall_at_10": self.in_recall as f64 / asked, "tokens": self.tokens as f64 / asked,
            "lost": {
                "unread": self.unread, "ended": self.ended, "unchosen": self.unchosen, "unpacked": self.unpacked,
            },
            "holding": self.holding, "parts": self.parts.iter().map(part).collect::<Map<_, _>>(),
            "degraded": self.degraded,
        })
    }
}

/// One who said a preference in each of these lines, and asks these questions.
#[derive(Debug, Default)]
struct Person {
    preferences: Vec<Value>,
    questions: Vec<Value>,
}

/// A data set of preferences, and the turns among which they are said.
#[derive(Debug)]
pub struct PreferenceSet {
    all: Person,
    noise: Vec<Value>,
}

impl PreferenceSet {
    /// Reads the preferences of one folder and the turns of others.
    ///
    /// # Errors
    /// A file that is missing, or a line that is no JSON.
    pub fn read(data: &Path, noise: &[PathBuf]) -> Result<Self> {
        let preferences = lines(&data.join("corpus.jsonl"))?;
        let questions = lines(&data.join("questions.jsonl"))?;
        let mut turns = Vec::new();
        for folder in noise {
            turns.extend(lines::<Value>(&folder.join("corpus.jsonl"))?);
        }
        Ok(Self { all: Person { preferences, questions }, noise: turns })
    }

    /// Asks one user with all preferences; `builder` configures the space.
    ///
    /// # Errors
    /// As [`Spaces`].
    pub async fn one_user(&self, builder: &Builder, budget: u32) -> Result<PreferenceScore> {
        self.ask(&self.all, builder, budget).await
    }

    /// Asks users with five preferences of each topic each; the last ones have the rest.
    ///
    /// # Errors
    /// As [`Spaces`].
    pub async fn users_of_few(&self, builder: &Builder, budget: u32) -> Result<PreferenceScore> {
        let mut found = PreferenceScore::default();
        for person in self.few() {
            found.add(self.ask(&person, builder, budget).await?);
        }
        Ok(found)
    }

    fn few(&self) -> Vec<Person> {
        let mut told: BTreeMap<String, usize> = BTreeMap::new();
        let mut whose: BTreeMap<String, usize> = BTreeMap::new();
        let mut people: Vec<Person> = Vec::new();
        for preference in &self.all.preferences {
            let count = told.entry(text(preference, "session")).or_default();
            let place = *count / OF_A_TOPIC;
            *count += 1;
            people.resize_with(people.len().max(place + 1), Person::default);
            whose.insert(text(preference, "id"), place);
            if let Some(person) = people.get_mut(place) {
                person.preferences.push(preference.clone());
            }
        }
        for question in &self.all.questions {
            let evidence = question.get("evidence").and_then(|all| all.get(0)).and_then(Value::as_str);
            let place = evidence.and_then(|id| whose.get(id));
            if let Some(person) = place.and_then(|place| people.get_mut(*place)) {
                person.questions.push(question.clone());
            }
        }
        people
    }

    async fn ask(&self, person: &Person, builder: &Builder, budget: u32) -> Result<PreferenceScore> {
        let folder = tempfile::tempdir()?;
        write(&folder.path().join("corpus.jsonl"), &scattered(&person.preferences, &self.noise))?;
        write(&folder.path().join("questions.jsonl"), &person.questions)?;
        let data = DataSet::read(folder.path(), "questions.jsonl")?;
        let spaces = Spaces::import(&data, Layout::Pooled, builder).await?;
        let asking = QueryOptions { limit: HITS, mode: RecallMode::default() };
        let recalled = spaces.recall(&data.questions, asking).await?;
        let rows = match data.questions.first() {
            Some(question) => {
                spaces.memory(question)?.preferences().all_learnings(&LearningFilter::all()).await?
            }
            None => Vec::new(),
        };
        let holding = rows.iter().filter(|row| row.status == LearningStatus::Active).count();
        let rows = by_event(rows);
        let mut found = PreferenceScore { holding, ..PreferenceScore::default() };
        for (question, hits) in data.questions.iter().zip(&recalled.rows) {
            let context = spaces.memory(question)?.context(&question.question).budget(budget).await?;
            let is_evidence = |event: EventId| {
                let turn = spaces.turn(question, event);
                turn.is_some_and(|turn| question.evidence.iter().any(|id| id == turn))
            };
            let mut stands_on = context.receipt.lines.iter().flat_map(|line| &line.sources);
            found.asked += 1;
            found.add_context(&context);
            found.in_recall += usize::from(question.evidence.iter().any(|id| hits.ranked.contains(id)));
            if stands_on.any(|source| is_evidence(source.event)) {
                found.in_context += 1;
            } else {
                let read = rows.iter().find(|(event, _)| is_evidence(**event));
                found.add_miss(read.map_or(&[], |(_, rows)| rows), &context);
            }
        }
        ensure!(found.asked == person.questions.len(), "a question has no evidence");
        Ok(found)
    }
}

fn by_event(rows: Vec<Learning>) -> HashMap<EventId, Vec<Learning>> {
    let mut of: HashMap<EventId, Vec<Learning>> = HashMap::new();
    for row in rows {
        for source in &row.sources {
            of.entry(source.event).or_default().push(row.clone());
        }
    }
    of
}

/// Puts the preferences among the other turns, as evenly as can be.
fn scattered(preferences: &[Value], noise: &[Value]) -> Vec<Value> {
    let step = noise.len() / preferences.len().max(1);
    let mut turns = noise.iter();
    let mut all = Vec::with_capacity(noise.len() + preferences.len());
    for preference in preferences {
        all.push(preference.clone());
        all.extend(turns.by_ref().take(step).cloned());
    }
    all.extend(turns.cloned());
    all
}

/// Writes rows, all of one conversation.
fn write(path: &Path, rows: &[Value]) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for row in rows {
        let mut row = row.clone();
        if let Some(fields) = row.as_object_mut() {
            fields.insert("conv".to_owned(), CONV.into());
        }
        writeln!(file, "{row}")?;
    }
    file.flush().with_context(|| format!("cannot write {}", path.display()))
}

fn text(row: &Value, field: &str) -> String {
    row.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the document of a run.
pub fn document(few: &PreferenceScore, one: &PreferenceScore, tokens: u32) -> Value {
    json!({"users_of_50": few.json(), "one_user": one.json(), "tokens": tokens})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated() -> PreferenceSet {
        let row = |id: String, session: &str| json!({"id": id, "conv": "p", "session": session, "text": "x"});
        let preferences: Vec<Value> = (0..12)
            .map(|number| row(format!("a/{number}"), "a"))
            .chain((0..3).map(|number| row(format!("b/{number}"), "b")))
            .collect();
        let questions =
            vec![json!({"id": "q", "evidence": ["a/7"]}), json!({"id": "r", "evidence": ["b/0"]})];
        let noise = (0..100).map(|number| row(format!("n/{number}"), "n")).collect();
        PreferenceSet { all: Person { preferences, questions }, noise }
    }

    #[test]
    fn a_user_of_few_has_five_of_each_topic_and_asks_about_his_own() {
        let people = stated().few();
        let sizes: Vec<usize> = people.iter().map(|person| person.preferences.len()).collect();
        assert_eq!(sizes, [8, 5, 2]);
        let asked: Vec<usize> = people.iter().map(|person| person.questions.len()).collect();
        assert_eq!(asked, [1, 1, 0]);
    }

    #[test]
    fn preferences_stand_apart_among_the_noise_and_nothing_is_lost() {
        let stated = stated();
        let all = scattered(&stated.all.preferences, &stated.noise);
        assert_eq!(all.len(), 115);
        let places: Vec<usize> =
            (0..all.len()).filter(|place| !text(&all[*place], "id").starts_with('n')).collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] == 7), "{places:?}");
    }
}
