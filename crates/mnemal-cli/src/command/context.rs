//! `mnemal context`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use anyhow::Result;
use mnemal::context::{BlockKind, Format, OmittedReason, ReceiptLine};
use mnemal::types::{Degraded, TokenCount, ToolName};
use mnemal::{Context, Error, EventId, Memory, SessionId, UserId};
use serde::Serialize;

use crate::args::{self, Global};
use crate::output::Output;
use crate::wire::{self, ReceiptForm};

#[derive(Serialize)]
struct ContextAnswer<'a> {
    id: String,
    text: &'a str,
    tokens: u32,
    budget: u32,
    /// The query is not empty, and no record matches it.
    no_match: bool,
    /// Expected share of the tokens that a prompt cache can reuse while nothing new is learned or corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_prefix: Option<f64>,
    sections: Vec<SectionForm>,
    receipt: ReceiptForm,
    gaps: Vec<wire::GapForm>,
}

#[derive(Serialize)]
struct SectionForm {
    section: &'static str,
    share: u32,
    tokens: u32,
    lines: u32,
}

/// Prints the context, and with `--explain` its receipt.
pub(super) async fn run(
    memory: &Memory,
    global: &Global,
    call: &args::Context,
    output: &Output,
) -> Result<u8> {
    let memory = match &call.user {
        Some(user) => memory.for_user(UserId::new(user)?),
        None => memory.clone(),
    };
    let format = Format::from_name(&call.format);
    let format = format.ok_or_else(|| {
        let names = Format::ALL.map(Format::as_str).join(", ");
        Error::invalid(format!("no format {:?}; there are {names}", call.format))
    })?;
    let mut request = memory.context(call.query.clone().unwrap_or_default());
    request = request.format(format);
    if let Some(session) = &call.session {
        request = request.session(SessionId::new(session)?);
    }
    if let Some(tool) = &call.tool {
        request = request.tool(ToolName::new(tool)?);
    }
    if let Some(budget) = call.budget {
        request = request.budget(budget);
    }
    if call.skip_injected || call.session.is_some() && !call.again {
        request = request.skip_injected();
    }
    if let Some(query) = call.query.as_ref().filter(|_| call.ask_endpoint) {
        request = request.embedded(memory.admin().embed_query(query, super::ENDPOINT_DEADLINE).await);
    }
    let context = request.await?;
    let places = places(&memory, &context).await;
    output.answer(&answer(&context, &places), || human(&context, call, &places))?;
    if context.text.is_empty() {
        output.say("nothing relevant");
    }
    Ok(super::gaps(&context.gaps, global, output))
}

/// Locations of file texts among the sources of a context.
pub(super) type FileLocations = HashMap<EventId, String>;

/// Looks up the sources that come from files, and the locations of their text.
async fn places(memory: &Memory, context: &Context) -> FileLocations {
    let sources = context.receipt.lines.iter().flat_map(|line| &line.sources);
    let events: HashSet<EventId> = sources.map(|source| source.event).collect();
    let mut places = FileLocations::new();
    for id in events {
        // A source in another space, or one forgotten meanwhile, is not found here.
        let Ok(event) = memory.events().get(id).await else { continue };
        if let Some(place) = event.body().and_then(super::place_of) {
            places.insert(id, place);
        }
    }
    places
}

fn answer<'c>(context: &'c Degraded<Context>, places: &FileLocations) -> ContextAnswer<'c> {
    let sections = context.sections.iter().map(|one| SectionForm {
        section: one.section.as_str(),
        share: one.share.0,
        tokens: one.tokens.0,
        lines: one.lines,
    });
    ContextAnswer {
        id: context.receipt.id.to_string(),
        text: &context.text,
        tokens: context.tokens.0,
        budget: context.budget.0,
        no_match: context.no_match,
        expected_prefix: expected_reuse(context),
        sections: sections.collect(),
        receipt: ReceiptForm::with_places(&context.receipt, places),
        gaps: wire::gaps(&context.gaps),
    }
}

fn human(context: &Context, call: &args::Context, places: &FileLocations) -> String {
    if call.explain {
        format!("{}\n{}{}\n{}", context.text, bars(context), format_reuse(context), account(context, places))
    } else {
        context.text.clone()
    }
}

/// Formats the budget as bars, one per section.
pub(super) fn bars(context: &Context) -> String {
    let mut text = format!("{} of {} tokens\n", context.tokens.0, context.budget.0);
    let fence = context.tokens.minus(context.sections.iter().map(|one| one.tokens).sum());
    let rows = context.sections.iter().map(|one| (one.section.as_str(), one.tokens, one.lines));
    for (name, tokens, lines) in rows.chain([("fences", fence, 0)]).filter(|row| row.1 > TokenCount(0)) {
        let width = u64::from(tokens.0) * 40 / u64::from(context.budget.0.max(1));
        let bar = "█".repeat(usize::try_from(width).unwrap_or_default().max(1));
        let lines = if lines > 0 { format!("  {lines} lines") } else { String::new() };
        // Writing into a string cannot fail.
        let _written = writeln!(text, "  {name:<12}{:>6}  {bar}{lines}", tokens.0);
    }
    text
}

/// Formats how much of the next context a prompt cache can reuse while nothing new is learned or corrected.
fn format_reuse(context: &Context) -> String {
    let Some(share) = expected_reuse(context) else { return String::new() };
    format!(
        "  {:.0} % stands before what changes with the question: a prompt cache keeps that\n",
        share * 100.0
    )
}

/// Returns the share of the tokens before the volatile block, 0 to 1; `None` for an empty context.
fn expected_reuse(context: &Context) -> Option<f64> {
    let front = context.blocks.iter().filter(|block| block.kind != BlockKind::Volatile);
    let front: u32 = front.map(|block| block.tokens.0).sum();
    (context.tokens.0 > 0).then(|| f64::from(front) / f64::from(context.tokens.0))
}

/// Formats the receipt for people: the source of each line, and the omissions.
pub(super) fn account(context: &Context, places: &FileLocations) -> String {
    let receipt = &context.receipt;
    let mut text = format!("receipt {}\n", receipt.id);
    for line in &receipt.lines {
        let _written = writeln!(text, "  {}", source(line, places));
    }
    if !receipt.omitted_counts.is_empty() {
        let counts: Vec<String> = receipt.omitted_counts.iter().copied().map(reason).collect();
        let _written = writeln!(text, "  left out: {}", counts.join(", "));
    }
    text
}

fn source(line: &ReceiptLine, places: &FileLocations) -> String {
    let spans: Vec<String> = line
        .sources
        .iter()
        .map(|one| {
            let place = places.get(&one.event).map(|place| format!(" ({place})")).unwrap_or_default();
            format!("{}[{}..{}]{place}", one.event, one.span.start, one.span.end)
        })
        .collect();
    format!(
        "{:<12} {:.3}  {}  ← {}",
        line.section.as_str(),
        line.score,
        line.because.as_str(),
        spans.join(" ")
    )
}

fn reason((reason, count): (OmittedReason, u32)) -> String {
    format!("{count} {}", reason.as_str())
}
