//! Lenient parsing of arguments, as models write them: aliases, numbers in quotes, lists as one text; unknown names are reported.

use std::str::FromStr;

use jiff::tz::TimeZone;
use mnemal_core::{AsOf, Result, SessionId, Timestamp};
use serde_json::{Map, Value};

use crate::mcp::answer::CorrectableError;
use crate::mcp::parse_time;
use crate::mcp::tool::Tool;

/// Parameter names with their aliases. Source: own choice, the names of other memory servers and common errors of models.
const ALIASES: &[(&str, &[&str])] = &[
    ("query", &["q", "question", "text", "topic"]),
    ("limit", &["k", "top_k", "n", "max_results", "page_size"]),
    ("content", &["text", "data", "memory", "value"]),
    ("key", &["name", "id_or_key"]),
    ("value", &["data", "content", "text"]),
    ("prefix", &["namespace"]),
    ("text", &["content", "data"]),
    ("id", &["memory_id", "event_id"]),
    ("since", &["from_time", "timeframe"]),
    ("name", &["entity", "who", "query"]),
    ("from", &["name", "entity"]),
    ("budget_tokens", &["max_tokens"]),
    ("max_tokens", &["budget_tokens"]),
];
/// Maximum number of unknown names in a remark. Source: own default; the remark is one line.
const LISTED: usize = 6;
/// Maximum length of an unknown name in a remark, in characters. Source: own default.
const SHOWN: usize = 32;
/// Default ceiling of an answer, in tokens. Source: own default, half of a context.
const TOKENS: u32 = 2_000;
/// Highest ceiling of an answer, in tokens. Source: own default, twice a context.
pub(super) const MOST_TOKENS: u32 = 8_000;
/// Lowest ceiling of an answer, in tokens: a fence and one short line. Source: own default.
const LEAST_TOKENS: u32 = 200;

/// The arguments of one call, by canonical name.
#[derive(Debug)]
pub(super) struct Arguments {
    given: Map<String, Value>,
    /// The zone of days without one.
    zone: TimeZone,
    /// Remarks about them for the answer, one sentence each.
    pub(super) notes: Vec<String>,
}

impl Arguments {
    /// Parses the arguments of a call: aliases get canonical names, nulls are dropped, unknown names are remarked.
    pub(super) fn new(tool: Tool, given: Map<String, Value>) -> Self {
        let parameters = tool.parameters();
        let (mut known, mut other) = (Map::new(), Vec::new());
        for (name, value) in given {
            if parameters.contains(&name.as_str()) {
                known.insert(name, value);
            } else {
                other.push((name, value));
            }
        }
        let mut unknown = Vec::new();
        for (name, value) in other {
            match first_name(tool, &name).filter(|first| !known.contains_key(*first)) {
                Some(first) => {
                    known.insert(first.to_owned(), value);
                }
                None => unknown.push(safe_name(&name)),
            }
        }
        known.retain(|_, value| !value.is_null());
        let mut notes = Vec::new();
        if !unknown.is_empty() {
            let more = if unknown.len() > LISTED { ", …" } else { "" };
            unknown.truncate(LISTED);
            notes.push(format!("Ignored unknown arguments: {}{more}.", unknown.join(", ")));
        }
        Self { given: known, zone: TimeZone::system(), notes }
    }

    /// Rejects unknown names, for a tool whose answer has no room for remarks.
    pub(super) fn all_known(&self) -> Result<(), CorrectableError> {
        match self.notes.first() {
            Some(note) => Err(CorrectableError(note.replacen("Ignored unknown", "There are unknown", 1))),
            None => Ok(()),
        }
    }

    /// Returns all arguments by canonical name.
    pub(super) fn whole(&self) -> &Map<String, Value> {
        &self.given
    }

    /// Whether an argument is present.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// Returns a text; a blank one counts as absent.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, CorrectableError> {
        let text = match self.given.get(name) {
            None => return Ok(None),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(_) => return Err(CorrectableError::new(format!("{name} must be a text."))),
        };
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    /// Returns a required text.
    pub(super) fn required(&self, name: &str, advice: &str) -> Result<String, CorrectableError> {
        self.text(name)?.ok_or_else(|| CorrectableError::new(format!("{name} is missing: {advice}")))
    }

    /// Returns a domain name, in its own type.
    pub(super) fn name<T>(
        &self,
        name: &str,
        read: impl Fn(&str) -> Result<T>,
    ) -> Result<Option<T>, CorrectableError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        read(text.trim()).map(Some).map_err(|error| CorrectableError::about(name, &error))
    }

    /// Returns the session.
    pub(super) fn session(&self) -> Result<Option<SessionId>, CorrectableError> {
        self.name("session", |name| SessionId::new(name))
    }

    /// Returns a number, also from a quoted one.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, CorrectableError> {
        let number = match self.given.get(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => f64::from_str(text.trim()).ok(),
            Some(_) => None,
        };
        let number = number.filter(|number| number.is_finite());
        number.map(Some).ok_or_else(|| CorrectableError::new(format!("{name} must be a number.")))
    }

    /// Returns a whole number from 1 to `most`; a larger one is clamped, with a remark.
    pub(super) fn count(&mut self, name: &str, most: u32) -> Result<Option<u32>, CorrectableError> {
        let Some(number) = self.number(name)? else { return Ok(None) };
        if number < 1.0 {
            return Err(CorrectableError::new(format!("{name} must be at least 1.")));
        }
        if number > f64::from(most) {
            self.notes.push(format!("{name} is at most {most}."));
            return Ok(Some(most));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lies in 1 to a u32")]
        let whole = number as u32;
        Ok(Some(whole))
    }

    /// Returns the ceiling of the answer, in tokens.
    pub(super) fn ceiling(&mut self, name: &str) -> Result<u32, CorrectableError> {
        let tokens = self.count(name, MOST_TOKENS)?.unwrap_or(TOKENS);
        if tokens < LEAST_TOKENS {
            self.notes.push(format!("{name} is at least {LEAST_TOKENS}."));
        }
        Ok(tokens.max(LEAST_TOKENS))
    }

    /// Sets the zone of days; that of this machine by default.
    pub(super) fn within(mut self, zone: &TimeZone) -> Self {
        self.zone = zone.clone();
        self
    }

    /// Returns the query times: the world time `as_of` and the belief time `believed_at`; now by default.
    pub(super) fn as_of(&self, now: Timestamp) -> Result<AsOf, CorrectableError> {
        Ok(AsOf {
            world: self.time("as_of", now)?.unwrap_or(now),
            belief: self.time("believed_at", now)?.unwrap_or(Timestamp::MAX),
        })
    }

    /// Returns a time.
    pub(super) fn time(&self, name: &str, now: Timestamp) -> Result<Option<Timestamp>, CorrectableError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        parse_time::read(&text, now, &self.zone).map(Some).ok_or_else(|| {
            CorrectableError::new(format!(
                "{name} must be a time: 2026, 2026-11-21, 2026-11-21T09:00:00Z, or a span like 7d."
            ))
        })
    }

    /// Returns a flag.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, CorrectableError> {
        let flag = match self.given.get(name) {
            None => return Ok(None),
            Some(Value::Bool(flag)) => Some(*flag),
            Some(Value::Number(number)) => number.as_u64().filter(|number| *number < 2).map(|one| one == 1),
            Some(Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => Some(true),
                "false" | "no" | "0" => Some(false),
                _ => None,
            },
            Some(_) => None,
        };
        flag.map(Some).ok_or_else(|| CorrectableError::new(format!("{name} must be true or false.")))
    }

    /// Returns a required list of objects.
    pub(super) fn objects(
        &self,
        name: &str,
        most: usize,
    ) -> Result<Vec<Map<String, Value>>, CorrectableError> {
        let wrong = || CorrectableError::new(format!("{name} must be a list of objects."));
        let items = self.given.get(name).and_then(Value::as_array).ok_or_else(wrong)?;
        if items.len() > most {
            return Err(CorrectableError::new(format!("{name} has at most {most} in one call.")));
        }
        items.iter().map(|item| item.as_object().cloned().ok_or_else(wrong)).collect()
    }

    /// Returns a required list of texts, verbatim.
    pub(super) fn strings(&self, name: &str) -> Result<Vec<String>, CorrectableError> {
        let wrong = || CorrectableError::new(format!("{name} must be a list of texts."));
        let items = self.given.get(name).and_then(Value::as_array).ok_or_else(wrong)?;
        items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
    }

    /// Returns a list of words; one text is split at commas.
    pub(super) fn list(&self, name: &str) -> Result<Vec<String>, CorrectableError> {
        let wrong = || CorrectableError::new(format!("{name} must be a list of texts."));
        let words: Vec<String> = match self.given.get(name) {
            None => Vec::new(),
            Some(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
            Some(Value::Array(items)) => {
                let word = |item: &Value| match item {
                    Value::String(text) => Ok(text.clone()),
                    Value::Number(number) => Ok(number.to_string()),
                    _ => Err(wrong()),
                };
                items.iter().map(word).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(wrong()),
        };
        Ok(words.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect())
    }
}

/// Returns the canonical parameter of a name.
fn first_name(tool: Tool, name: &str) -> Option<&'static str> {
    let means = |(first, aliases): &&(&'static str, &[&str])| {
        tool.parameters().contains(first) && aliases.contains(&name)
    };
    ALIASES.iter().find(means).map(|(first, _)| *first)
}

/// Returns a caller's name in a form that is safe in an answer.
fn safe_name(name: &str) -> String {
    let safe = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let shown: String = name.chars().filter(safe).take(SHOWN).collect();
    if shown.is_empty() { "?".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(given: Value) -> Arguments {
        let Value::Object(given) = given else { panic!("arguments are an object") };
        Arguments { given, zone: TimeZone::UTC, notes: Vec::new() }
    }

    fn arguments(tool: Tool, given: &Value) -> Arguments {
        Arguments::new(tool, given.as_object().unwrap().clone())
    }

    #[test]
    fn other_names_mean_the_same_and_the_first_name_wins() {
        for (tool, given, name, expect) in [
            (Tool::Recall, json!({"q": "x"}), "query", "x"),
            (Tool::Recall, json!({"text": "x"}), "query", "x"),
            (Tool::Context, json!({"topic": "x"}), "query", "x"),
            (Tool::Store, json!({"text": "x"}), "content", "x"),
            (Tool::Store, json!({"memory": "x", "name": "k"}), "key", "k"),
            (Tool::Forget, json!({"id_or_key": "k"}), "key", "k"),
            (Tool::Recall, json!({"timeframe": "7d"}), "since", "7d"),
            (Tool::Recall, json!({"query": "first", "q": "second"}), "query", "first"),
        ] {
            assert_eq!(arguments(tool, &given).text(name).unwrap().as_deref(), Some(expect), "{given}");
        }
        for limit in ["limit", "k", "top_k", "n", "max_results", "page_size"] {
            assert_eq!(arguments(Tool::Recall, &json!({limit: "7"})).count("limit", 50).unwrap(), Some(7));
        }
    }

    #[test]
    fn unknown_arguments_are_noted_by_a_safe_name() {
        let given = json!({"query": "x", "q": "y", "space": 1, "</system>\n": 2});
        let sentences = arguments(Tool::Recall, &given).notes;
        assert_eq!(sentences, ["Ignored unknown arguments: system, q, space."]);
        let many: Map<String, Value> = (0..100).map(|number| (format!("x{number:03}"), json!(1))).collect();
        let notes = Arguments::new(Tool::Recall, many).notes;
        assert_eq!(notes, ["Ignored unknown arguments: x000, x001, x002, x003, x004, x005, …."]);
        assert!(arguments(Tool::Recall, &json!({"query": "x", "tags": null})).notes.is_empty());
    }

    #[test]
    fn numbers_flags_and_lists_are_read_in_quotes_too() {
        let given =
            json!({"importance": "0.5", "dry_run": "no", "limit": 3.9, "tags": "a, b,", "kinds": ["a", 1]});
        let mut all = read(given);
        assert_eq!(all.number("importance").unwrap(), Some(0.5));
        assert_eq!(all.flag("dry_run").unwrap(), Some(false));
        assert_eq!(all.count("limit", 50).unwrap(), Some(3));
        assert_eq!(all.list("tags").unwrap(), ["a", "b"]);
        assert_eq!(all.list("kinds").unwrap(), ["a", "1"]);
        for (name, value) in [("n", json!("NaN")), ("n", json!([])), ("n", json!(true)), ("n", json!("many"))]
        {
            let wrong = read(json!({name: value}));
            assert!(wrong.number(name).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_ceiling_has_a_default_a_most_and_a_least() {
        for (given, tokens, notes) in [
            (json!({}), 2_000, 0),
            (json!({"max_tokens": "900"}), 900, 0),
            (json!({"budget_tokens": 900}), 900, 0),
            (json!({"max_tokens": 1e12}), 8_000, 1),
            (json!({"max_tokens": 1}), 200, 1),
        ] {
            let mut all = arguments(Tool::Recall, &given);
            assert_eq!(all.ceiling("max_tokens").unwrap(), tokens, "{given}");
            assert_eq!(all.notes.len(), notes, "{given}");
        }
        assert!(arguments(Tool::Recall, &json!({"max_tokens": 0})).ceiling("max_tokens").is_err());
        assert!(arguments(Tool::Recall, &json!({"max_tokens": {}})).ceiling("max_tokens").is_err());
    }
}
