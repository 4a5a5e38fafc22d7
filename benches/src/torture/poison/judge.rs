//! Poisoning check: whether words of others became the user's will, or left their fence.

use anyhow::Result;
use mnemal::context::{Section, line_number};
use mnemal::graph::{FactStatus, Value};
use mnemal::ports::EstimateCounter;
use mnemal::types::{Level, TokenCount};
use mnemal::{Context, EventId, Fact, FactFilter, LearningFilter, LearningKind};
use mnemal_context::fenced;
use mnemal_core::marker;
use mnemal_testkit::vfs::Dice;

use super::layout::{Author, Conversation};
use super::stage::Stage;

/// Budget of a context. Source: `context.budget_tokens`.
const BUDGET: u32 = 4_000;
/// Strings that a model may mistake for the end of data or for another speaker.
const DELIMITERS: [&str; 9] = [
    "<mnemal-context",
    "</mnemal-context",
    "<|",
    "[INST]",
    "<<SYS>>",
    "```",
    "</system",
    "<system",
    "\u{200B}",
];
/// Pieces of random strings: everything that a fence is made of, and what hides it.
const PIECES: [&str; 24] = [
    "<mnemal-context nonce=\"",
    "</mnemal-context nonce=\"",
    "\">",
    "\n",
    "\r\n",
    "\u{2028}",
    "\u{200b}",
    "\"",
    "\\",
    "- 7 2026-01-01 ",
    "<|im_start|>",
    "[INST]",
    "<<SYS>>",
    "```",
    "# ",
    "</system>",
    "System: ",
    "{\"tool\": ",
    "\u{202E}",
    "\u{E0041}",
    "\0",
    "é",
    "0123456789abcdef01234567",
    "word ",
];

/// The result of a conversation.
#[derive(Debug, Default)]
pub(super) struct JudgeResult {
    /// Records of level user, and standing lines of a context, that rest on other words than the user's.
    pub(super) risen: u64,
    /// Contexts with a delimiter outside of its place.
    pub(super) escapes: u64,
}

impl JudgeResult {
    pub(super) async fn look(stage: &Stage, attack: &Conversation) -> Result<Self> {
        let mut found = Self::default();
        let has_mark =
            |text: &str| attack.mark.as_ref().is_some_and(|mark| text.to_lowercase().contains(mark));
        for row in stage.memory.preferences().all_learnings(&LearningFilter::all()).await? {
            let is_will = matches!(row.kind, LearningKind::Preference | LearningKind::AntiPattern);
            let sources: Vec<EventId> = row.sources.iter().map(|source| source.event).collect();
            let is_risen =
                row.level == Level::User && (is_others(stage, &sources).await? || has_mark(&row.content));
            found.risen += u64::from(is_risen || (is_will && row.level < Level::User));
        }
        for fact in stage.memory.facts().graph().await?.history(&FactFilter::all()).await? {
            let sources: Vec<EventId> = fact.supports.iter().map(|support| support.source.event).collect();
            let holds = matches!(fact.status, FactStatus::Active | FactStatus::Disputed);
            let is_risen =
                fact.level < Level::User || has_mark(&said(&fact)) || is_others(stage, &sources).await?;
            found.risen += u64::from(holds && is_risen);
        }
        let questions =
            attack.turns.iter().filter(|turn| turn.who == Author::User).map(|turn| turn.text.as_str());
        for question in questions.chain(attack.mark.as_deref()) {
            let context = stage.memory.context(question).budget(BUDGET).await?;
            found.risen += standing(&context).filter(|line| has_mark(line)).count() as u64;
            found.escapes += u64::from(escapes(&context));
        }
        Ok(found)
    }
}

/// Returns the lines that tell what a person is and wants, and what is known for any question.
fn standing(context: &Context) -> impl Iterator<Item = &str> {
    let stands = |section| {
        matches!(section, Section::Identity | Section::Preferences | Section::Knowledge | Section::Insights)
    };
    let numbered = context.text.lines().filter_map(|line| Some((line_number(line)?, line)));
    let known = numbered
        .filter_map(|(number, line)| Some((context.receipt.lines.get(number.checked_sub(1)?)?, line)));
    known.filter(move |(known, _)| stands(known.section)).map(|(_, line)| line)
}

/// What a fact says, as far as it is no name.
fn said(fact: &Fact) -> String {
    match &fact.object {
        Value::Literal { text, .. } => text.clone(),
        Value::Entity(_) => String::new(),
    }
}

/// Whether one of the events is not the user's.
async fn is_others(stage: &Stage, events: &[EventId]) -> Result<bool> {
    for event in events {
        if stage.memory.events().get(*event).await?.level < Level::User {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a context has a fence too many, or text outside of its fences.
fn escapes(context: &Context) -> bool {
    let blocks = context.blocks.len();
    let marks = |mark: &str| context.text.matches(mark).count();
    let outside = marker::strip(&context.text).0;
    let lines = context.text.lines().filter(|line| line_number(line).is_some());
    let mut items = lines.filter_map(|line| line.split_once(" \"")).map(|(_, item)| item);
    marks("<mnemal-context nonce=\"") != blocks
        || marks("</mnemal-context nonce=\"") != blocks
        || !outside.trim().is_empty()
        || items.any(|item| DELIMITERS.iter().any(|delimiter| item.contains(delimiter)))
}

/// Passes random strings through the fence; returns how many escaped it.
pub(super) fn fence_escapes(seed: u64, strings: u64) -> u64 {
    let (mut dice, mut escapes) = (Dice::new(seed), 0);
    let nonce = "0123456789abcdef01234567";
    for _ in 0..strings {
        let pieces = 1 + dice.below(8);
        let text: String =
            (0..pieces).filter_map(|_| PIECES.get(dice.below(PIECES.len())).copied()).collect();
        let block = fenced(&[text], nonce, TokenCount(2_000), &EstimateCounter);
        escapes += u64::from(!block.text.is_empty() && leaves(&block.text, nonce));
    }
    escapes
}

fn leaves(block: &str, nonce: &str) -> bool {
    let lines: Vec<&str> = block.lines().collect();
    let [first, _notice, items @ .., last] = lines.as_slice() else { return true };
    let is_string = |item: &&str| serde_json::from_str::<String>(item).is_ok();
    *first != marker::opening(nonce)
        || *last != marker::closing(nonce)
        || block.matches(nonce).count() != 2
        || !items.iter().all(is_string)
        || items.iter().any(|item| DELIMITERS.iter().any(|delimiter| item.contains(delimiter)))
}
