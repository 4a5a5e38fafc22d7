//! Parsing of mem0's requests: owner, conditions, limit, and turns.

use mnemal_core::{Metadata, Timestamp};
use serde_json::Value;

use super::form::TurnForm;
use super::{DAY, LIMIT, MOST, OWN_FIELDS, SECOND};
use crate::http::call::Call;
use crate::http::problem::Problem;
use crate::http::routes::condition::{Condition, OWNERS};
use crate::http::routes::events::text_of;
use crate::wire::{self, Fields};

/// The owner of memories.
#[derive(Clone, Default)]
pub(super) struct MemoryOwner {
    pub(super) user: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) app: Option<String>,
    pub(super) run: Option<String>,
}

impl MemoryOwner {
    /// Returns the owner of a request: user, agent, app and run. A key of one user implies the user.
    pub(super) fn of(call: &Call, [user, agent, app, run]: [Option<String>; 4]) -> Self {
        let user = user.or_else(|| call.principal.user.as_ref().map(ToString::to_string));
        Self { user, agent, app, run }
    }

    /// Adds the owner fields of `filters`, which must contain nothing else.
    pub(super) fn with_filters(mut self, filters: Option<&Value>) -> Result<Self, Problem> {
        for (name, value) in filters.and_then(Value::as_object).into_iter().flatten() {
            let place = format!("filters.{name}");
            let text = match value {
                Value::String(text) if text != "*" => text.clone(),
                _ => return Err(Problem::invalid(format!("{place}: one name is meant here"))),
            };
            let known = match name.as_str() {
                "user_id" => &mut self.user,
                "agent_id" => &mut self.agent,
                "app_id" => &mut self.app,
                "run_id" => &mut self.run,
                _ => {
                    return Err(Problem::invalid(format!(
                        "{place}: there are user_id, agent_id, app_id and run_id here"
                    )));
                }
            };
            if known.as_ref().is_some_and(|known| *known != text) {
                return Err(Problem::invalid(format!("{place}: {name} is said twice, and not the same")));
            }
            *known = Some(text);
        }
        match filters {
            None | Some(Value::Null | Value::Object(_)) => Ok(self),
            Some(_) => Err(Problem::invalid("filters: an object is meant")),
        }
    }

    /// Checks that some owner field is given.
    pub(super) fn named(self) -> Result<Self, Problem> {
        if self.condition() == Condition::always() { Err(nobody()) } else { Ok(self) }
    }

    pub(super) fn condition(&self) -> Condition {
        let said = OWNERS.into_iter().zip([&self.user, &self.agent, &self.app, &self.run]);
        let said = said.filter_map(|(name, value)| Some(Condition::is(name, value.as_deref()?)));
        said.fold(Condition::always(), Condition::and)
    }
}

/// Returns the error for a request without an owner.
pub(super) fn nobody() -> Problem {
    Problem::invalid(
        "at least one of user_id, agent_id, app_id and run_id must be said, also within every part of an OR",
    )
}

/// Parses conditions: owners of the request, and its filters.
pub(super) fn condition(owner: &MemoryOwner, filters: Option<&Value>) -> Result<Condition, Problem> {
    let filters = match filters {
        None | Some(Value::Null) => Condition::always(),
        Some(filters) => Condition::read(filters, "filters")?,
    };
    let condition = owner.condition().and(filters);
    if condition.names_owner() { Ok(condition) } else { Err(nobody()) }
}

/// Parses filters in the query string.
pub(super) fn filters(text: Option<&str>) -> Result<Option<Value>, Problem> {
    let read = |text: &str| {
        serde_json::from_str(text)
            .map_err(|_| Problem::invalid("filters: a JSON object is meant, {\"user_id\": \"…\"}"))
    };
    text.map(read).transpose()
}

/// Parses the limit.
pub(super) fn limit(limit: Option<u32>, top_k: Option<u32>) -> Result<usize, Problem> {
    if limit.is_some() && top_k.is_some() && limit != top_k {
        return Err(Problem::invalid("limit and top_k are two names of one number"));
    }
    let limit = limit.or(top_k).map_or(Ok(LIMIT), usize::try_from).unwrap_or_default();
    if (1..=MOST).contains(&limit) {
        Ok(limit)
    } else {
        Err(Problem::invalid(format!("limit must be 1..={MOST}")))
    }
}

/// Checks that the requested response format and kind are supported.
pub(super) fn expected(
    output_format: Option<&str>,
    version: Option<&str>,
    show_expired: Option<bool>,
) -> Result<(), Problem> {
    if output_format.is_some_and(|format| format != "v1.1") {
        return Err(Problem::invalid("output_format: answers have the form v1.1"));
    }
    if version.is_some_and(|version| !["v1", "v2", "v3"].contains(&version)) {
        return Err(Problem::invalid("version: there are v1, v2 and v3"));
    }
    if show_expired == Some(true) {
        return Err(Problem::invalid("show_expired: what has ended is not told here"));
    }
    Ok(())
}

/// The content of a turn.
pub(super) struct TurnContent {
    pub(super) role: String,
    pub(super) text: String,
    pub(super) speaker: Option<String>,
}

/// Returns the contents of turns, without system messages and empty ones.
pub(super) fn turn_contents(messages: Value) -> Result<Vec<TurnContent>, Problem> {
    let turns = match messages {
        Value::String(text) => return Ok(vec![TurnContent { role: "user".to_owned(), text, speaker: None }]),
        Value::Object(_) => vec![messages],
        Value::Array(turns) => turns,
        _ => return Err(Problem::invalid("messages: a text, a turn or a list of turns is meant")),
    };
    let mut said = Vec::new();
    for (place, turn) in turns.into_iter().enumerate() {
        let inside = |problem: Problem| problem.inside(&format!("messages[{place}]"));
        let turn: TurnForm =
            serde_json::from_value(turn).map_err(|wrong| inside(Problem::invalid(wrong.to_string())))?;
        let role = turn.role.unwrap_or_else(|| "user".to_owned());
        let text = text_of(&turn.content).map_err(inside)?;
        if role != "system" && !text.trim().is_empty() {
            said.push(TurnContent { role, text, speaker: turn.name });
        }
    }
    Ok(said)
}

/// Parses the time of a turn: Unix seconds, or a time.
pub(super) fn timestamp(call: &Call, value: Option<&Value>) -> Result<Option<Timestamp>, Problem> {
    let wrong = || Problem::new("invalid_time", "timestamp: whole Unix seconds or a time are meant");
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => call.time("timestamp", Some(text)),
        Some(value) => {
            let seconds = value.as_i64().ok_or_else(wrong)?;
            let micros = seconds.checked_mul(SECOND).ok_or_else(wrong)?;
            Timestamp::from_micros(micros).map(Some).map_err(|_| wrong())
        }
    }
}

/// Parses the last day of validity, and returns its end.
pub(super) fn end(call: &Call, day: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let Some(day) = day else { return Ok(None) };
    let wrong =
        || Problem::new("invalid_time", "expiration_date: a day from today on is meant, such as 2027-01-31");
    let date: jiff::civil::Date = day.parse().map_err(|_| wrong())?;
    let begin = date.to_zoned(jiff::tz::TimeZone::UTC).map_err(|_| wrong())?.timestamp().as_microsecond();
    let end = Timestamp::from_micros(begin.saturating_add(DAY)).map_err(|_| wrong())?;
    if end > call.host.now() { Ok(Some(end)) } else { Err(wrong()) }
}

/// Converts the writer's metadata for storage, and rejects reserved names.
pub(super) fn stored(metadata: Fields) -> Result<Metadata, Problem> {
    if let Some(name) = metadata.keys().find(|name| name.starts_with(OWN_FIELDS)) {
        return Err(Problem::invalid(format!(
            "metadata.{name}: names that begin with {OWN_FIELDS} are used here"
        )));
    }
    Ok(wire::stored(metadata)?)
}

/// Checks that no older versions are requested.
pub(super) fn latest(latest_only: Option<bool>) -> Result<(), Problem> {
    if latest_only == Some(false) {
        return Err(Problem::invalid(
            "latest_only: older versions are told by the history of a memory alone",
        ));
    }
    Ok(())
}
