//! `mnemal memory-tool`.

use anyhow::{Context as _, Result};
use mnemal::types::ChannelId;
use mnemal::{Error, Memory};
use mnemal_server::memory_tool::{self, MemoryToolCommand};

use crate::args::Global;
use crate::output::Output;

/// Exit code for an invalid command of the model; the answer explains it.
const WRONG: u8 = 1;

/// Runs the command on stdin.
pub(super) async fn run(memory: &Memory, global: &Global, output: &Output) -> Result<u8> {
    let text = super::text_or_stdin("-".to_owned(), global)?;
    let command: MemoryToolCommand = serde_json::from_str(&text)
        .map_err(|wrong| Error::invalid(format!("this is no command of the memory tool: {wrong}")))
        .context("stdin")?;
    let done = memory_tool::run(memory, &ChannelId::new("cli")?, &command).await?;
    output.answer(&done, || done.output.clone())?;
    Ok(if done.is_error { WRONG } else { 0 })
}
