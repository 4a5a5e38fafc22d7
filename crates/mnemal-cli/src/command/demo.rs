//! `mnemal demo`: a 30-second tour on a sample conversation.

use std::fmt::Write as _;
use std::io::Cursor;

use anyhow::{Context as _, Result};
use mnemal::events::OwnHistory;
use mnemal::types::TokenCount;
use mnemal::{Engine, ImportFormat, ImportOptions, Memory, Scope, SessionId, SpaceId};
use serde::Deserialize;

use super::{context, recall};
use crate::output::Output;

/// An invented sample conversation: 15 sessions over nine months, in English and German.
const CONVERSATION: &str = include_str!("../../demo/conversation.jsonl");
/// Questions about it with their expected answers.
const QUESTIONS: &str = include_str!("../../demo/questions.jsonl");
/// Number of them that the demo asks.
const ASKED: usize = 4;
/// Token budget of the shown context. Source: own choice, one screen.
const BUDGET: u32 = 1_000;
/// The user turn that the context is assembled for.
const TURN: &str =
    "Jonas comes for dinner on our deploy day. Which day is that, and what must not be in the cake?";

#[derive(Deserialize)]
struct DemoQuestion {
    question: String,
    answer: String,
    evidence: Vec<String>,
}

/// Imports the sample into a temporary space, asks questions, and shows a context with its budget and its receipt.
pub(super) async fn run(output: &Output) -> Result<u8> {
    let folder = std::env::temp_dir().join(format!("mnemal-demo-{}", std::process::id()));
    let shown = show(&folder, output).await;
    // A leftover temporary folder is harmless.
    let _removed = std::fs::remove_dir_all(&folder);
    shown.map(|()| 0)
}

async fn show(folder: &std::path::Path, output: &Output) -> Result<()> {
    let file = folder.join("demo.db");
    let engine = Engine::builder().open(&file).await.context("cannot make a temporary space")?;
    let memory = engine.memory(Scope::whole(SpaceId::new("demo")?));
    import(&memory, output).await?;
    let questions =
        QUESTIONS.lines().take(ASKED).map(serde_json::from_str).collect::<Result<Vec<DemoQuestion>, _>>()?;
    for asked in &questions {
        ask(&memory, asked, output).await?;
    }
    assemble(&memory, output).await?;
    secret(&memory, output).await?;
    output.print(
        "\nnext: mnemal init · mnemal import --own-history FILE · mnemal recall \"…\" --explain · mnemal context \"…\" --explain",
    )
}

async fn import(memory: &Memory, output: &Output) -> Result<()> {
    let started = memory.admin().engine().now();
    let text = CONVERSATION.replace("{{SECRET}}", &pasted_key());
    let options = ImportOptions { origin: OwnHistory::Yes, ..ImportOptions::new("demo", started) };
    let report =
        memory.events().import(Cursor::new(text), ImportFormat::Neutral, options, &mut |_| ()).await?;
    let millis = (memory.admin().engine().now().as_micros() - started.as_micros()) / 1_000;
    let sessions = memory.admin().stats().await?.sessions;
    output.print(&format!(
        "mnemal remembers {} turns of {sessions} conversations, imported and durable in {millis} ms, offline, with no model.\n",
        report.taken.stored
    ))
}

/// Builds a fake key of a cloud provider's format at run time, so that secret scanners do not flag the source.
fn pasted_key() -> String {
    ["AK", "IA"].concat() + &"DEMO7QX2".repeat(2)
}

async fn ask(memory: &Memory, asked: &DemoQuestion, output: &Output) -> Result<()> {
    let hits = memory.recall(&asked.question).limit(3).await?;
    let mut text = format!("? {}\n  (the answer: {})\n", asked.question, asked.answer);
    for (rank, hit) in (1..).zip(&hits.hits) {
        let evidence = hit.event.body().and_then(|event| event.metadata.get("source_id"));
        let mark = if evidence.is_some_and(|id| asked.evidence.contains(id)) { "✓" } else { " " };
        // Writing into a string cannot fail.
        let _written = writeln!(text, "{mark} {rank}  {}", recall::line(hit));
    }
    output.print(&text)?;
    output.print(" ")
}

async fn assemble(memory: &Memory, output: &Output) -> Result<()> {
    let session = SessionId::new("tonight")?;
    let _note =
        memory.remember("Answers should be short").by_user().kind(mnemal::LearningKind::Preference).await?;
    let context = memory.context(TURN).session(session).budget(BUDGET).await?;
    output.print(&format!("> {TURN}\n\n{}", context.text))?;
    output.print(&format!("\n{}", context::bars(&context)))?;
    output.print(&context::account(&context, &context::FileLocations::new()))?;
    debug_assert!(context.tokens <= TokenCount(BUDGET));
    Ok(())
}

async fn secret(memory: &Memory, output: &Output) -> Result<()> {
    let filter = mnemal::EventFilter::live();
    let many = std::num::NonZeroUsize::new(500).unwrap_or(std::num::NonZeroUsize::MIN);
    let events = memory.events().latest(&filter, many).await?;
    let kept =
        events.iter().filter_map(|event| event.body()).find(|event| event.content.contains("[secret:"));
    let Some(kept) = kept else { return Ok(()) };
    output.print(&format!("\nA pasted key never reached the disk: {:?}", kept.content))
}
