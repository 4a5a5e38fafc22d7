//! File format of a life. Optional members have defaults, and a string may replace a list.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use mnemal::Timestamp;
use serde_json::{Map, Value};

use super::{Half, lines, plain};
use crate::dates::civil::seconds;

/// How a turn came in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InputPath {
    /// With an import of the owner's own history.
    Import,
    /// Message by message.
    Log,
}

/// One turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Its name.
    pub id: String,
    /// Its conversation.
    pub session: String,
    /// Who said it; `assistant` and `tool` are machines.
    pub speaker: String,
    /// When.
    pub at: Timestamp,
    /// Its words.
    pub text: String,
    /// How it came in.
    pub way: InputPath,
    /// The line of the file.
    pub record: Value,
}

/// One question.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its name.
    pub id: String,
    /// Its category.
    pub category: String,
    /// Its words.
    pub text: String,
    /// Names of the turns that answer it.
    pub evidence: Vec<String>,
    /// Groups of strings; one of each must be in the context.
    pub needs: Vec<Vec<String>>,
    /// Strings that must not be shown as current.
    pub outdated: Vec<String>,
    /// Its half, if the set is halved.
    pub half: Option<Half>,
}

impl Question {
    /// Whether nothing answers it.
    pub fn wants_silence(&self) -> bool {
        self.category == "never"
    }
}

/// A fact or preference that is right at the end.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What, for people.
    pub text: String,
    /// Groups of strings; one of each must be in the text.
    pub needs: Vec<Vec<String>>,
    /// Whether it is right but optional.
    pub is_optional: bool,
}

/// Letters from which on a word of an entry without groups counts.
const WORD: usize = 4;

impl Entry {
    /// Whether a line says it.
    pub fn is_in(&self, line: &str) -> bool {
        let line = plain(line);
        let has = |group: &Vec<String>| group.iter().any(|one| line.contains(&plain(one)));
        !self.needs.is_empty() && self.needs.iter().all(has)
    }

    fn read(record: &Value) -> Result<Self> {
        let text = first(record, &["text", "preference", "fact", "statement", "content"]);
        let strings = ["strings", "any", "keys"].iter().find_map(|name| record.get(*name)).map(strings);
        let mut needs = record.get("needs").map(groups).unwrap_or_default();
        needs.extend(strings.filter(|strings| !strings.is_empty()));
        if needs.is_empty() {
            let parts = ["subject", "object"].iter().filter_map(|name| record.get(*name)?.as_str());
            needs = parts.filter(|part| *part != "user").map(|part| vec![part.to_owned()]).collect();
        }
        if needs.is_empty() {
            needs = words(&text).into_iter().map(|word| vec![word]).collect();
        }
        ensure!(!needs.is_empty(), "an entry says nothing: {record}");
        let text = if text.is_empty() { format!("{needs:?}") } else { text };
        let is_optional = record.get("optional").and_then(Value::as_bool).unwrap_or_default();
        Ok(Self { text, needs, is_optional })
    }
}

fn words(text: &str) -> Vec<String> {
    let all: Vec<String> = text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_owned).collect();
    let long: Vec<String> = all.into_iter().filter(|word| word.chars().count() >= WORD).collect();
    if long.is_empty() && !text.is_empty() { vec![text.to_owned()] } else { long }
}

/// A life.
#[derive(Clone, Debug)]
pub struct Life {
    /// Its turns, by time.
    pub turns: Vec<Turn>,
    /// Its questions.
    pub questions: Vec<Question>,
    /// Strings of other people's words.
    pub foreign: Vec<String>,
    /// The preferences that hold at the end; `None` if not stated.
    pub preferences: Option<Vec<Entry>>,
    /// The facts that hold at the end; `None` if not stated.
    pub facts: Option<Vec<Entry>>,
}

impl Life {
    /// Reads a folder with `turns.jsonl` and `questions.jsonl`, and with `foreign.jsonl`, `preferences.jsonl` and
    /// `facts.jsonl` where there are.
    ///
    /// # Errors
    /// A file that is missing, or a line that is no such record.
    pub fn read(folder: &Path) -> Result<Self> {
        let turns: Vec<Value> = lines(&folder.join("turns.jsonl"))?;
        let questions: Vec<Value> = lines(&folder.join("questions.jsonl"))?;
        let foreign = optional(folder, "foreign.jsonl")?.unwrap_or_default();
        let entries = |name| -> Result<Option<Vec<Entry>>> {
            optional(folder, name)?.map(|rows| rows.iter().map(Entry::read).collect()).transpose()
        };
        let mut turns: Vec<Turn> = turns.into_iter().map(turn).collect::<Result<_>>()?;
        turns.sort_by_key(|turn| turn.at);
        Ok(Self {
            turns,
            questions: questions.iter().map(question).collect::<Result<_>>()?,
            foreign: foreign.iter().flat_map(own_strings).collect(),
            preferences: entries("preferences.jsonl")?,
            facts: entries("facts.jsonl")?,
        })
    }
}

fn optional(folder: &Path, name: &str) -> Result<Option<Vec<Value>>> {
    let file = folder.join(name);
    if file.exists() { lines(&file).map(Some) } else { Ok(None) }
}

fn turn(record: Value) -> Result<Turn> {
    let id = first(&record, &["id"]);
    ensure!(!id.is_empty(), "a turn has no id: {record}");
    let session = first(&record, &["session", "conv"]);
    let at = record.get("ts").with_context(|| format!("turn {id} has no time"))?;
    let at = moment(at).with_context(|| format!("turn {id}"))?;
    let way = match first(&record, &["by"]).as_str() {
        "" | "import" => InputPath::Import,
        "log" => InputPath::Log,
        other => bail!("turn {id} came in by {other:?}; there are import and log"),
    };
    let session = if session.is_empty() { "s".to_owned() } else { session };
    let (speaker, text) = (first(&record, &["speaker", "role"]), first(&record, &["text", "content"]));
    Ok(Turn { id, session, speaker, at, text, way, record })
}

fn moment(value: &Value) -> Result<Timestamp> {
    if let Some(seconds) = value.as_i64() {
        return Ok(Timestamp::from_micros(seconds.saturating_mul(1_000_000))?);
    }
    let text = value.as_str().with_context(|| format!("no time: {value}"))?;
    parse(text)
}

/// Reads a time of RFC 3339; one without a zone is in UTC, and a day begins at midnight.
fn parse(text: &str) -> Result<Timestamp> {
    let (seconds, _) = seconds(text.trim()).with_context(|| format!("no time: {text:?}"))?;
    Ok(Timestamp::from_micros(seconds.saturating_mul(1_000_000))?)
}

fn question(record: &Value) -> Result<Question> {
    let text = first(record, &["question", "text"]);
    let id = first(record, &["id"]);
    ensure!(!text.is_empty(), "question {id} asks nothing");
    let half = first(record, &["half"]);
    let needs = record.get("needs").map(groups).unwrap_or_default();
    let category = first(record, &["category"]);
    let answer = first(record, &["answer"]);
    let has_answer = category != "never" && needs.is_empty() && !answer.is_empty();
    Ok(Question {
        id,
        text,
        needs: if has_answer { vec![vec![answer]] } else { needs },
        category,
        evidence: record.get("evidence").map(strings).unwrap_or_default(),
        outdated: record.get("outdated").map(strings).unwrap_or_default(),
        half: Half::parse(&half).ok(),
    })
}

/// Returns the first of these fields that is a string.
fn first(record: &Value, names: &[&str]) -> String {
    let field = |name: &&str| record.get(*name).and_then(Value::as_str);
    names.iter().find_map(field).unwrap_or_default().to_owned()
}

/// Returns a string, or the strings of a list.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) => all.iter().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Returns a list of lists; what is no list is a group of its own.
fn groups(value: &Value) -> Vec<Vec<String>> {
    match value {
        Value::Array(all) => all.iter().map(strings).filter(|group| !group.is_empty()).collect(),
        other => Some(strings(other)).filter(|group| !group.is_empty()).into_iter().collect(),
    }
}

/// Returns the strings of a line of `foreign.jsonl`: a string, a list, or an object with one of them.
fn own_strings(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => from_fields(fields),
        other => strings(other),
    }
}

fn from_fields(fields: &Map<String, Value>) -> Vec<String> {
    let names = ["text", "string", "strings", "words", "foreign"];
    names.iter().filter_map(|name| fields.get(*name)).flat_map(strings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_may_stand_where_a_list_may_and_a_zone_may_be_left_out() {
        let record =
            serde_json::json!({"id": "q", "question": "Who?", "needs": ["a", ["b", "c"]], "outdated": "d"});
        let question = question(&record).unwrap();
        assert_eq!(question.needs, [vec!["a".to_owned()], vec!["b".to_owned(), "c".to_owned()]]);
        assert_eq!(question.outdated, ["d"]);
        let times =
            ["2026-01-02", "2026-01-02T00:00:00", "2026-01-02T00:00:00Z", "2026-01-02T01:00:00+01:00"];
        let times: Vec<Timestamp> = times.iter().map(|text| parse(text).unwrap()).collect();
        assert!(times.windows(2).all(|pair| pair[0] == pair[1]), "{times:?}");
    }

    #[test]
    fn an_entry_is_in_a_line_that_has_one_string_of_each_group() {
        let entry = Entry::read(&serde_json::json!({"text": "home", "needs": [["lives", "moved"], ["Rab"]]}))
            .unwrap();
        assert!(entry.is_in("user lives in Rab"));
        assert!(!entry.is_in("user lives in Zadar"));
        let plain = Entry::read(&serde_json::json!({"text": "no calls after eight"})).unwrap();
        assert!(plain.is_in("No calls after eight, please."));
    }
}
