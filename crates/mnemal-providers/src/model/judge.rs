//! Model judgments of notes and messages, each checked against what the model was shown.

use std::collections::BTreeSet;

use mnemal_core::{
    Category, Completion, Learning, NoteJudge, Opinion, Producer, Prompt, Result, Span, Tag, TokenCount,
    unusable,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::instructions::Instructions;
use super::json_object::find;
use super::numbered;

/// Tokens of an answer, for each shown note and message. Source: own choice; a path and some tags, or a quotation.
const TOKENS_EACH: u32 = 40;
/// Tokens of an answer in addition. Source: own choice.
const TOKENS: u32 = 100;
/// Most tags per note. Source: own choice; more would be a text.
const TAGS: usize = 8;

/// Prompt and parser for judgments on notes and messages.
///
/// A judgment is accepted only if it concerns a shown note or message, names a valid category, or quotes words of the message.
/// Whether it is applied is checked by the consolidation.
#[derive(Clone, Debug)]
pub struct ModelJudge {
    instructions: Instructions,
}

impl ModelJudge {
    /// Makes a judge.
    pub fn new(instructions: Instructions) -> Self {
        Self { instructions }
    }
}

fn schema() -> Value {
    let note = json!({
        "type": "object",
        "properties": {
            "category": {"type": "string"},
            "noise": {"type": "boolean"},
            "note": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["category", "noise", "note", "tags"],
        "additionalProperties": false,
    });
    let preference = json!({
        "type": "object",
        "properties": {"message": {"type": "integer"}, "quote": {"type": "string"}},
        "required": ["message", "quote"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "notes": {"type": "array", "items": note},
            "preferences": {"type": "array", "items": preference},
        },
        "required": ["notes", "preferences"],
        "additionalProperties": false,
    })
}

const FORM: &str = "Answer with one JSON object and nothing else: {\"notes\": [{\"note\": its number, \"category\": its path, \
    \"tags\": its tags, \"noise\": true or false}], \"preferences\": [{\"message\": its number, \"quote\": the words of the \
    message that say it, copied exactly}]}";

/// Header of the user's recent praise and corrections; omitted if there are none.
const FEEDBACK: &str =
    "What the user praised and corrected lately shows what matters to him; you are not asked about it:";

impl NoteJudge for ModelJudge {
    fn producer(&self) -> Producer {
        self.instructions.producer.clone()
    }

    fn prompt(&self, notes: &[&Learning], messages: &[&str], feedback: &[&str]) -> Prompt {
        let note = |row: &&Learning| {
            let tags: Vec<&str> = row.tags.iter().map(Tag::as_str).collect();
            format!("[{}; {}] {}", row.category, tags.join(", "), row.content)
        };
        let listed: Vec<String> = notes.iter().map(note).collect();
        let told = match feedback {
            [] => String::new(),
            told => format!("\n\n{FEEDBACK}{}", numbered(told.iter().copied())),
        };
        let each = u32::try_from(notes.len() + messages.len()).unwrap_or(u32::MAX);
        Prompt {
            purpose: self.instructions.purpose,
            producer: self.producer(),
            instructions: format!("{}\n\n{FORM}", self.instructions.text),
            material: format!(
                "Notes:{}\n\nMessages:{}{told}",
                numbered(listed.iter().map(String::as_str)),
                numbered(messages.iter().copied())
            ),
            schema: Some(schema().to_string()),
            most: TokenCount(each.saturating_mul(TOKENS_EACH).saturating_add(TOKENS)),
        }
    }

    fn parse(&self, notes: &[&Learning], messages: &[&str], completion: &Completion) -> Result<Vec<Opinion>> {
        let answer: JudgmentAnswer = find(&completion.text)?;
        let said = answer.notes.len() + answer.preferences.len();
        let (mut opinions, mut dropped, mut judged) = (Vec::new(), Vec::new(), BTreeSet::new());
        for value in &answer.notes {
            match of_note(value, notes.len()) {
                Ok((note, opinion)) if judged.insert(note) => opinions.push(opinion),
                Ok(_) => dropped.push("a note was judged twice"),
                Err(why) => dropped.push(why),
            }
        }
        for value in &answer.preferences {
            match of_message(value, messages) {
                Ok(opinion) if !opinions.contains(&opinion) => opinions.push(opinion),
                Ok(_) => dropped.push("a message was quoted twice"),
                Err(why) => dropped.push(why),
            }
        }
        if dropped.len() * 2 > said {
            let why = dropped.first().copied().unwrap_or_default();
            return Err(unusable(format!("more than half of it could not be: {why}")));
        }
        Ok(opinions)
    }
}

fn of_note(value: &Value, notes: usize) -> Result<(usize, Opinion), &'static str> {
    let said = NoteFiling::deserialize(value).map_err(|_| "a note has not the form that was asked for")?;
    let note = said.note.checked_sub(1).filter(|note| *note < notes).ok_or("a note was not shown")?;
    if said.noise {
        return Ok((note, Opinion::Noise { note }));
    }
    let category = Category::new(said.category.trim().to_lowercase());
    let category = category.map_err(|_| "a note has a category that is none")?;
    let mut tags: Vec<Tag> = Vec::new();
    for tag in said.tags.iter().filter_map(|tag| Tag::new(tag.trim()).ok()) {
        if tags.len() < TAGS && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok((note, Opinion::Files { note, category, tags }))
}

fn of_message(value: &Value, messages: &[&str]) -> Result<Opinion, &'static str> {
    let said =
        Preference::deserialize(value).map_err(|_| "a preference has not the form that was asked for")?;
    let message = said.message.checked_sub(1).ok_or("a message was not shown")?;
    let text = messages.get(message).ok_or("a message was not shown")?;
    let whole = Span::whole(text).map_err(|_| "a message is too long")?;
    let quote =
        whole.find(text, &said.quote).ok_or("a preference quotes words that the message does not say")?;
    Ok(Opinion::Prefers { message, quote })
}

#[derive(Deserialize)]
struct JudgmentAnswer {
    notes: Vec<Value>,
    preferences: Vec<Value>,
}

#[derive(Deserialize)]
struct NoteFiling {
    note: usize,
    #[serde(default)]
    category: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    noise: bool,
}

#[derive(Deserialize)]
struct Preference {
    message: usize,
    quote: String,
}
