//! Importer for Gemini: session files of its CLI, and the app's activity in a Google Takeout export.
//!
//! Shapes: `ConversationRecord` in `packages/core/src/services/chatRecordingTypes.ts` of google-gemini/gemini-cli 0.3x, one
//! object (`session-*.json`) or one record per line (`session-*.jsonl`); `My Activity.json` as Takeout writes it in 2025 and
//! 2026.

use std::collections::HashMap;

use mnemal_core::{EventId, EventKind, Metadata, ToolName, marker};
use serde_json::Value;

use super::json::{self, Object};
use super::parse_time::TimeParser;
use super::turn::{ParsedRecord, Turns};

/// State of a CLI session while it is read.
#[derive(Debug, Default)]
pub(super) struct GeminiCli {
    session: Option<String>,
    is_side: bool,
    /// Message names, in order.
    messages: Vec<String>,
    /// Each message's text and events.
    given: HashMap<String, MessageOutput>,
}

impl GeminiCli {
    pub(super) fn read(
        &mut self,
        record: &Object,
        moments: &TimeParser,
        turns: &mut Turns,
    ) -> Result<(), String> {
        if let Some(target) = json::loose(record, "$rewindTo") {
            self.rewind(target, turns);
            return Ok(());
        }
        let fields = record.get("$set").and_then(Value::as_object).unwrap_or(record);
        if let Some(session) = json::loose(fields, "sessionId") {
            self.session = Some(session.to_owned());
            self.is_side |= json::loose(fields, "kind") == Some("subagent");
            if let Some((at, _)) = turns.time(moments.read(fields.get("startTime"))) {
                turns.note_time(session, None, at);
            }
        }
        let Some(messages) = fields.get("messages").and_then(Value::as_array) else {
            return if record.contains_key("type") {
                self.message(record, moments, turns)
            } else {
                turns.remark("an entry of the program");
                Ok(())
            };
        };
        for (place, message) in messages.iter().enumerate() {
            let read = message.as_object().ok_or_else(|| "it is not an object".to_owned());
            if let Err(why) = read.and_then(|message| self.message(message, moments, turns)) {
                turns.fail(format!("message {}: {why}", place + 1));
            }
        }
        Ok(())
    }

    /// Withdraws a message with all that followed it; everything if it is unknown.
    fn rewind(&mut self, target: &str, turns: &mut Turns) {
        let from = self.messages.iter().position(|name| name == target).unwrap_or_default();
        for name in self.messages.split_off(from) {
            turns.withdrawn.extend(self.given.remove(&name).map(|given| given.ids).unwrap_or_default());
        }
        turns.remark("an entry of the program");
    }

    fn message(&mut self, message: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
        let kind = match json::text(message, "type")? {
            _ if self.is_side => {
                turns.remark("a side conversation");
                return Ok(());
            }
            "user" => EventKind::UserMessage,
            "gemini" => EventKind::AssistantMessage,
            "info" | "error" | "warning" => {
                turns.remark("an entry of the program");
                return Ok(());
            }
            _ => return Err("field `type` is none of user, gemini, info, error, warning".to_owned()),
        };
        let session = self.session.clone().unwrap_or_else(|| turns.stem());
        let name = json::loose_name(message, "id").unwrap_or_else(|| format!("{}", turns.start));
        // What its person typed, without what the program put beside it.
        let shown = message.get("displayContent").filter(|shown| !shown.is_null());
        let content = parts(shown.or_else(|| message.get("content")));
        // The program puts the words of hooks beside a prompt, and its own about the session.
        let own = marker::without_host_context(&content);
        let is_cut = kind == EventKind::UserMessage && own.len() < content.len();
        let content = if is_cut { own.trim().to_owned() } else { content };
        let calls = message.get("toolCalls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // The program rewrites a message whenever something about it changes.
        let mut given = match self.given.remove(&name) {
            Some(given) if given.content == content => given,
            Some(given) => {
                turns.withdrawn.extend(given.ids);
                MessageOutput::default()
            }
            None => {
                self.messages.push(name.clone());
                MessageOutput::default()
            }
        };
        turns.said.clear();
        let said = ParsedRecord {
            user: None,
            human: kind == EventKind::UserMessage,
            kind,
            content,
            session: session.clone(),
            conv: None,
            speaker: None,
            at: turns.time(moments.read(message.get("timestamp"))),
            source: vec![session, name.clone()],
            parent: given.text,
            metadata: Metadata::from([("source_id".to_owned(), name.clone())]),
        };
        let is_empty = said.content.trim().is_empty();
        if is_cut && !is_empty {
            turns.remark("a text of the program beside what was said");
        }
        if is_empty && calls.is_empty() {
            turns.remark(if is_cut { "a text of the program" } else { "no text" });
        } else if !is_empty && given.text.is_none() {
            given.text = Some(turns.emit(&ParsedRecord { parent: None, ..said.clone() })?);
        }
        let said = ParsedRecord { parent: given.text, ..said };
        for (place, call) in calls.iter().enumerate() {
            self::call(&said, (place, call), (moments, turns), &mut given.calls)?;
        }
        given.content = said.content;
        given.ids.append(&mut turns.said);
        self.given.insert(name, given);
        Ok(())
    }
}

/// The output of a message.
#[derive(Debug, Default)]
struct MessageOutput {
    content: String,
    ids: Vec<EventId>,
    text: Option<EventId>,
    /// Its calls by index, each with its event, and whether its result was stored.
    calls: HashMap<usize, (EventId, bool)>,
}

/// Stores a tool call and its result, each once.
fn call(
    said: &ParsedRecord,
    (place, call): (usize, &Value),
    (moments, turns): (&TimeParser, &mut Turns),
    known: &mut HashMap<usize, (EventId, bool)>,
) -> Result<(), String> {
    let Some(call) = call.as_object() else { return Err("a call is not an object".to_owned()) };
    let tool = ToolName::new(json::loose(call, "name").unwrap_or("tool")).map_err(|why| why.to_string())?;
    let at = turns.time(moments.read(call.get("timestamp"))).or_else(|| said.at.clone());
    let one = |kind: EventKind, content: String, parent: Option<EventId>, what: &str| ParsedRecord {
        user: None,
        kind,
        human: false,
        content,
        at: at.clone(),
        source: said.source.iter().cloned().chain([format!("{what} {place}")]).collect(),
        parent,
        ..said.clone()
    };
    let (asked, is_answered) = if let Some(known) = known.get(&place) {
        *known
    } else {
        let input = call.get("args").map(ToString::to_string).unwrap_or_default();
        (turns.emit(&one(EventKind::ToolCall { tool: tool.clone() }, input, said.parent, "call"))?, false)
    };
    let answer = call.get("result").filter(|answer| !answer.is_null() && !is_answered);
    if let Some(answer) = answer {
        let ok = json::loose(call, "status").is_none_or(|status| status == "success");
        let text = match answer.as_str() {
            Some(text) => text.to_owned(),
            None => outputs(answer).unwrap_or_else(|| match parts(Some(answer)) {
                text if text.is_empty() => answer.to_string(),
                text => text,
            }),
        };
        turns.emit(&one(EventKind::ToolResult { tool, ok }, text, Some(asked), "answer"))?;
    }
    known.insert(place, (asked, is_answered || answer.is_some()));
    Ok(())
}

/// Returns tool results: `[{"functionResponse": {"response": {"output": …}}}]`.
fn outputs(answer: &Value) -> Option<String> {
    let of = |part: &Value| -> Option<String> {
        let response = part.get("functionResponse")?.get("response")?;
        let output = response.get("output").or_else(|| response.get("error"))?;
        Some(output.as_str().map_or_else(|| output.to_string(), str::to_owned))
    };
    let texts: Vec<String> = answer.as_array()?.iter().filter_map(of).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Joins the texts of a content: a string, a part, or a list of both.
fn parts(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<String> = parts.iter().map(|part| self::parts(Some(part))).collect();
            texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Some(Value::Object(part)) if !json::is_set(part, "thought") => {
            json::loose(part, "text").unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

/// Starts of an entry that is a prompt. Source: exports of Takeout in English; in other languages the word before the prompt
/// stays, because nothing distinguishes it from the prompt.
const PROMPTS: [&str; 5] = ["Prompted ", "Asked: ", "Asked ", "Said ", "Branched "];
/// Starts of an entry that is not a prompt.
const OTHERS: [&str; 6] = ["Used ", "Created ", "Gave ", "Selected ", "Added ", "Viewed "];

/// Reads an entry of the activity: a prompt and its answer.
pub(super) fn activity(record: &Object, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
    let title = json::loose(record, "text").map_or_else(|| json::text(record, "title"), Ok)?;
    let of_gemini =
        |field: &Value| field.as_str().is_some_and(|name| name.contains("Gemini") || name.contains("Bard"));
    let products = record.get("products").and_then(Value::as_array).into_iter().flatten();
    if !record.get("header").into_iter().chain(products).any(of_gemini) {
        turns.remark("an entry of another program");
        return Ok(());
    }
    if OTHERS.iter().any(|start| title.starts_with(start)) {
        turns.remark("an entry of the program");
        return Ok(());
    }
    let prompt = PROMPTS.iter().find_map(|start| title.strip_prefix(start)).unwrap_or(title);
    let at = turns.time(moments.read(record.get("time")));
    let time = json::loose(record, "time").unwrap_or_default();
    let address = json::loose(record, "titleUrl").and_then(|address| address.split("/app/").nth(1));
    // The export says of few entries which conversation they are of; the others are those of a day.
    let session = match address.map(|rest| rest.split(['?', '/', '#']).next().unwrap_or_default()) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("gemini:{}", time.get(..10).unwrap_or("undated")),
    };
    let mut said = ParsedRecord {
        user: None,
        kind: EventKind::UserMessage,
        human: true,
        content: prompt.trim().to_owned(),
        session,
        conv: None,
        speaker: None,
        at,
        source: vec![time.to_owned(), "prompt".to_owned()],
        parent: None,
        metadata: Metadata::new(),
    };
    let asked = if said.content.is_empty() {
        turns.remark("no text");
        None
    } else {
        Some(turns.emit(&said)?)
    };
    let items = record.get("safeHtmlItem").filter(|items| !items.is_null());
    let answers: Vec<Option<&str>> = match items {
        None => Vec::new(),
        Some(Value::Array(items)) => {
            items.iter().map(|item| item.get("html").and_then(Value::as_str)).collect()
        }
        Some(_) => vec![None],
    };
    if answers.contains(&None) {
        turns.fail("an answer is not text".to_owned());
    }
    let answers = answers.into_iter().flatten().map(plain);
    let answer = answers.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    if !answer.is_empty() {
        (said.kind, said.human, said.content, said.parent) =
            (EventKind::AssistantMessage, false, answer, asked);
        said.source = vec![time.to_owned(), "answer".to_owned()];
        turns.emit(&said)?;
    }
    Ok(())
}

/// Block-level elements.
const BLOCKS: [&str; 14] =
    ["p", "br", "div", "li", "ul", "ol", "tr", "table", "pre", "hr", "blockquote", "h1", "h2", "h3"];

/// Returns the text of an HTML fragment, one line per block.
pub(super) fn plain(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        text.push_str(rest.get(..start).unwrap_or_default());
        let Some(end) = rest.get(start..).and_then(|tag| tag.find('>')) else { break };
        let tag = rest.get(start + 1..start + end).unwrap_or_default().trim_start_matches('/');
        let name = tag.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if BLOCKS.contains(&name.as_str()) {
            text.push('\n');
        } else if matches!(name.as_str(), "td" | "th") {
            text.push(' ');
        }
        rest = rest.get(start + end + 1..).unwrap_or_default();
    }
    text.push_str(rest);
    let lines: Vec<String> = text.lines().map(|line| entities(line.trim())).collect();
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Decodes the HTML character references that text needs.
fn entities(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(rest.get(..start).unwrap_or_default());
        rest = rest.get(start..).unwrap_or_default();
        let end = rest.find(';').filter(|end| *end <= 10);
        let letter = end.and_then(|end| letter(rest.get(1..end).unwrap_or_default()));
        if let (Some(letter), Some(end)) = (letter, end) {
            out.push(letter);
            rest = rest.get(end + 1..).unwrap_or_default();
        } else {
            out.push('&');
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

fn letter(name: &str) -> Option<char> {
    let number = name.strip_prefix('#');
    let hex = number.and_then(|number| number.strip_prefix(['x', 'X']));
    match (name, hex, number) {
        ("amp", ..) => Some('&'),
        ("lt", ..) => Some('<'),
        ("gt", ..) => Some('>'),
        ("quot", ..) => Some('"'),
        ("apos", ..) => Some('\''),
        ("nbsp", ..) => Some(' '),
        (_, Some(hex), _) => u32::from_str_radix(hex, 16).ok().and_then(char::from_u32),
        (_, None, Some(number)) => number.parse().ok().and_then(char::from_u32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_html_is_read_as_a_person_reads_it() {
        let html = "<p>Naxos &amp; Crete</p><div>Shoulder season.<br />Less&nbsp;crowded, 2 &lt; 3 &#39;q&#x27; & so</div>";
        assert_eq!(plain(html), "Naxos & Crete\nShoulder season.\nLess crowded, 2 < 3 'q' & so");
    }
}
