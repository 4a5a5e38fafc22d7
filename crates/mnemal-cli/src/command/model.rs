//! `mnemal model status|check|undo`.

use anyhow::Result;
use mnemal::Memory;
use mnemal::model::{ModelCalls, ModelStatus};
use serde::Serialize;

use crate::args::Model;
use crate::output::Output;
use crate::wire::{self, GapForm};

#[derive(Serialize)]
struct StatusForm {
    /// `None` if no model is configured.
    model: Option<String>,
    requests_of_the_hour: u32,
    max_requests_per_hour: u32,
    tokens_of_the_day: u32,
    max_tokens_per_day: u32,
    calls: Vec<CallsForm>,
    /// Outcome of the newest request of the last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<&'static str>,
}

#[derive(Serialize)]
struct CallsForm {
    purpose: &'static str,
    outcome: &'static str,
    calls: u64,
    requests: u64,
    sent: u32,
    received: u32,
}

#[derive(Serialize)]
struct UndoForm {
    /// Undone operations, in the order of their undo.
    undone: Vec<String>,
    gaps: Vec<GapForm>,
}

#[derive(Serialize)]
struct CheckForm {
    model: String,
    answer: String,
    sent: u32,
    received: u32,
}

/// Prints the model's cost, checks it, or undoes its operations.
pub(super) async fn run(memory: &Memory, call: &Model, output: &Output) -> Result<u8> {
    match call {
        Model::Status => {
            let form = status(&memory.admin().engine().model_status().await?);
            output.answer(&form, || text(&form))?;
        }
        Model::Undo => {
            let done = memory.admin().engine().undo_model().await?;
            let undone = done.value.iter().map(ToString::to_string).collect();
            let form = UndoForm { undone, gaps: wire::gaps(&done.gaps) };
            output.answer(&form, || match form.undone.len() {
                0 => "the model has done nothing that still stands".to_owned(),
                count => format!("taken back: {count} operations of the model, and what built on them"),
            })?;
        }
        Model::Check => {
            let answer = memory.admin().engine().check_model().await?;
            let form = CheckForm {
                model: answer.model.to_string(),
                answer: answer.text,
                sent: answer.usage.sent.0,
                received: answer.usage.received.0,
            };
            output.answer(&form, || {
                format!(
                    "{} answers: {}  ({} tokens sent, {} received)",
                    form.model, form.answer, form.sent, form.received
                )
            })?;
        }
    }
    Ok(0)
}

fn status(of: &ModelStatus) -> StatusForm {
    StatusForm {
        model: of.model.as_ref().map(ToString::to_string),
        requests_of_the_hour: of.spent.requests,
        max_requests_per_hour: of.caps.requests_per_hour,
        tokens_of_the_day: of.spent.tokens.0,
        max_tokens_per_day: of.caps.tokens_per_day.0,
        calls: of.calls.iter().map(calls).collect(),
        last: of.last.as_ref().map(|call| call.outcome.as_str()),
    }
}

fn calls(of: &ModelCalls) -> CallsForm {
    CallsForm {
        purpose: of.purpose.as_str(),
        outcome: of.outcome.as_str(),
        calls: of.calls,
        requests: of.requests,
        sent: of.usage.sent.0,
        received: of.usage.received.0,
    }
}

fn text(of: &StatusForm) -> String {
    let mut lines = vec![
        format!("model       {}", of.model.as_deref().unwrap_or("none")),
        format!("last hour   {} of {} requests", of.requests_of_the_hour, of.max_requests_per_hour),
        format!("last day    {} of {} tokens", of.tokens_of_the_day, of.max_tokens_per_day),
    ];
    lines.extend(of.calls.iter().map(|one| {
        format!(
            "{:<11} {} {} in {} requests, {} tokens sent, {} received",
            one.purpose, one.calls, one.outcome, one.requests, one.sent, one.received
        )
    }));
    lines.join("\n")
}
