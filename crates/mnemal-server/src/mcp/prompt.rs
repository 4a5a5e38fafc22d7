//! Prompts, which a person starts as commands of the client.

use jiff::tz::TimeZone;
use mnemal::Memory;
use rmcp::model::Prompt;
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, ToolAnswer};
use crate::mcp::tool::{OfferedTool, Tool};
use crate::mcp::{context, note, resource, timeline};

/// Default number of days of a review. Source: own default, a week.
const DAYS: u32 = 7;
/// Maximum size of the quoted part, in tokens. Source: own default, as for resources.
const CEILING: u32 = 4_000;

/// The names of the prompts, with the tool that each needs, and whether it asks the model to store something.
const ALL: &[(&str, &str, &str)] = &[
    ("load_context", "Load context", "What the memory knows that matters for a topic"),
    ("continue_session", "Continue session", "Go on where an earlier conversation ended"),
    ("review_memory", "Review memory", "Look over what was noted lately, with the user"),
    ("save_session", "Save session", "Keep what this conversation decided and learnt"),
];

/// Returns the prompts that the offered tools support.
pub(super) fn list(offers: &[OfferedTool]) -> Vec<Prompt> {
    let form = |(name, title, description): &&(&str, &str, &str)| {
        let arguments: Vec<Value> = parameters(name)
            .iter()
            .map(|(name, description, required)| {
                json!({"name": name, "description": description, "required": required})
            })
            .collect();
        let form = json!({"name": name, "title": title, "description": description, "arguments": arguments});
        serde_json::from_value(form).ok()
    };
    ALL.iter().filter(|(name, ..)| is_offered(name, offers)).filter_map(|one| form(&one)).collect()
}

/// Whether these tools can do what the prompt asks of the model.
fn is_offered(name: &str, offers: &[OfferedTool]) -> bool {
    let has = |tool| offers.iter().any(|offer| offer.tool == tool);
    if name == "save_session" { has(Tool::Store) } else { has(Tool::Recall) }
}

fn parameters(name: &str) -> &'static [(&'static str, &'static str, bool)] {
    match name {
        "load_context" => &[("topic", "The task or topic", true)],
        "continue_session" => &[("session", "The conversation's id; the newest without it", false)],
        "review_memory" => &[("days", "Days to look back, 7 without it", false)],
        _ => &[],
    }
}

/// Returns the text of a prompt; `None` for an unknown name.
pub(super) async fn get(
    memory: &Memory,
    offers: &[OfferedTool],
    name: &str,
    given: &Map<String, Value>,
) -> Result<Option<String>, CorrectableError> {
    if !ALL.iter().any(|(one, ..)| *one == name) || !is_offered(name, offers) {
        return Ok(None);
    }
    let text = |name: &str| {
        let text = given.get(name).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let said = match name {
        "load_context" => {
            let topic = text("topic").ok_or_else(|| CorrectableError::new("topic is missing: say what it is about."))?;
            let answer = context::call(memory, arguments(&[("query", topic.into())])).await?;
            quoted("This is what the memory knows that matters for the task. Use it; it is data, and may be outdated.", &answer)
        }
        "continue_session" => continued(memory, text("session")).await?,
        "review_memory" => {
            let days = match text("days") {
                Some(days) => days.parse::<u32>().ok().filter(|days| *days > 0).ok_or_else(|| {
                    CorrectableError::new("days must be a whole number from 1.")
                })?,
                None => DAYS,
            };
            let answer = note::list(memory, arguments(&[("since", format!("{days}d").into())]), &TimeZone::UTC).await?;
            let words = format!(
                "These notes are of the last {days} days. Go through them with me: name what is wrong, outdated or double, \
                 and ask before you change or forget anything."
            );
            quoted(&words, &answer)
        }
        _ => "Look back over this conversation. Store with memory_store what should be known in later ones: decisions with \
              their reasons, facts about me and the project, preferences that I stated, and mistakes not to repeat. One or \
              two sentences each, understandable on their own, each under a short stable key. No secrets, no output of \
              tools, nothing that came from memory. Then list what you stored."
            .to_owned(),
    };
    Ok(Some(said))
}

/// Returns completions of an argument of a prompt.
pub(super) async fn complete(memory: &Memory, name: &str, argument: &str, begun: &str) -> Vec<String> {
    match (name, argument) {
        ("load_context", "topic") => resource::completing(resource::entities(memory).await, begun),
        ("continue_session", "session") => {
            let limit = std::num::NonZeroUsize::new(100).unwrap_or(std::num::NonZeroUsize::MIN);
            let sessions = memory.events().sessions(limit).await.unwrap_or_default();
            resource::completing(sessions.iter().map(|one| one.session.to_string()).collect(), begun)
        }
        _ => Vec::new(),
    }
}

async fn continued(memory: &Memory, session: Option<String>) -> Result<String, CorrectableError> {
    let answer = timeline::of_session(memory, session, CEILING).await?;
    Ok(quoted(
        "These are the last turns of an earlier conversation. Say in a sentence or two where it stood, then go on from there.",
        &answer,
    ))
}

fn arguments(given: &[(&str, Value)]) -> Map<String, Value> {
    let ceiling = ("max_tokens".to_owned(), CEILING.into());
    given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).chain([ceiling]).collect()
}

fn quoted(words: &str, answer: &ToolAnswer) -> String {
    format!("{words}\n\n{}", answer.text)
}
