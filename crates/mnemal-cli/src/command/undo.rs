//! `mnemal undo`.

use anyhow::Result;
use mnemal::Memory;

use super::decided;
use crate::args::Undo;
use crate::confirm::RunMode;
use crate::output::Output;

/// Undoes a decision.
pub(super) async fn run(memory: &Memory, call: &Undo, output: &Output) -> Result<u8> {
    let decision = memory.facts().undoing(call.event.parse()?).await?;
    let text = format!("taken back: {}", call.event);
    let of = std::slice::from_ref(&call.event);
    decided(memory, decision, RunMode::Really, output, ("undo", of, &text)).await
}
