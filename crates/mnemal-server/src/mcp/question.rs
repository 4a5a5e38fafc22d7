//! `memory_answer`: extractive answers to a question.

use jiff::tz::TimeZone;
use mnemal::Memory;
use mnemal_core::{Error, ErrorKind};
use serde_json::{Map, Value};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::tool::Tool;
use crate::wire::{AnswerForm, NOT_KNOWN, quoted_by};

/// Ceiling of the answer, in tokens. Source: own default, as for every answer.
const CEILING: u32 = 2_000;

/// Answers a question with quotations.
pub(super) async fn call(
    memory: &Memory,
    given: Map<String, Value>,
    zone: &TimeZone,
) -> Result<ToolAnswer, CorrectableError> {
    let arguments = Arguments::new(Tool::Answer, given).within(zone);
    let query = arguments.required("query", "say what is asked.")?;
    let engine = memory.admin().engine();
    let mut request = memory.ask(query);
    if let Some(session) = arguments.session()? {
        request = request.session(session);
    }
    if arguments.has("as_of") || arguments.has("believed_at") {
        request = request.as_of(arguments.as_of(engine.now())?);
    }
    let mut tail = Remarks::new(arguments.notes);
    let found = request.await?;
    let lines: Vec<String> = found
        .quotes
        .iter()
        .map(|quote| format!("{} {}: {}", quote.number, quoted_by(quote), quote.text))
        .collect();
    let shown = memory.admin().fence(&lines, tail.room(engine, CEILING));
    tail.gaps(&found.gaps);
    let head = if shown.text.is_empty() { NOT_KNOWN } else { shown.text.as_str() };
    let structured = serde_json::to_value(AnswerForm::new(&found, &found.gaps))
        .map_err(|cause| Error::new(ErrorKind::Internal, "an answer has no form").because(cause))?;
    Ok(ToolAnswer { text: tail.behind(head, engine, CEILING), structured })
}
