//! `mnemal context`.

use std::fmt::Write as _;

use anyhow::Result;
use mnemal::{
    Context, Degraded, Error, Format, Memory, OmittedReason, ReceiptLine, SessionId, TokenCount, UserId,
};
use serde::Serialize;

use crate::args::{self, Global};
use crate::output::Output;
use crate::wire::{self, ReceiptForm};

#[derive(Serialize)]
struct Answer<'a> {
    id: String,
    text: &'a str,
    tokens: u32,
    budget: u32,
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

/// Prints the context, and with `--explain` the account of it.
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
        Error::invalid(format!("no format {:?}; there are markdown, xml and json", call.format))
    })?;
    let mut request = memory.context(call.query.clone().unwrap_or_default());
    request = request.format(format);
    if let Some(session) = &call.session {
        request = request.session(SessionId::new(session)?);
    }
    if let Some(budget) = call.budget {
        request = request.budget(budget);
    }
    if call.skip_injected {
        request = request.skip_injected();
    }
    if let Some(query) = call.query.as_ref().filter(|_| call.ask_endpoint) {
        request = request.embedded(memory.embed_query(query, super::ENDPOINT_DEADLINE).await);
    }
    let context = request.await?;
    output.answer(&answer(&context), || human(&context, call))?;
    if context.text.is_empty() {
        output.say("nothing relevant");
    }
    Ok(super::gaps(&context.gaps, global, output))
}

fn answer(context: &Degraded<Context>) -> Answer<'_> {
    let sections = context.sections.iter().map(|one| SectionForm {
        section: one.section.as_str(),
        share: one.share.0,
        tokens: one.tokens.0,
        lines: one.lines,
    });
    Answer {
        id: context.receipt.id.to_string(),
        text: &context.text,
        tokens: context.tokens.0,
        budget: context.budget.0,
        sections: sections.collect(),
        receipt: ReceiptForm::from(&context.receipt),
        gaps: wire::gaps(&context.gaps),
    }
}

fn human(context: &Context, call: &args::Context) -> String {
    if call.explain {
        format!("{}\n{}\n{}", context.text, bars(context), account(context))
    } else {
        context.text.clone()
    }
}

/// The budget as bars, one a section.
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

/// The receipt for people: where each line comes from, and what was left out.
pub(super) fn account(context: &Context) -> String {
    let receipt = &context.receipt;
    let mut text = format!("receipt {}\n", receipt.id);
    for line in &receipt.lines {
        let _written = writeln!(text, "  {}", source(line));
    }
    if !receipt.omitted_counts.is_empty() {
        let counts: Vec<String> = receipt.omitted_counts.iter().copied().map(reason).collect();
        let _written = writeln!(text, "  left out: {}", counts.join(", "));
    }
    text
}

fn source(line: &ReceiptLine) -> String {
    let spans: Vec<String> = line
        .sources
        .iter()
        .map(|one| format!("{}[{}..{}]", one.event, one.span.start, one.span.end))
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
