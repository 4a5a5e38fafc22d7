//! `mnemal ask`.

use std::fmt::Write as _;

use anyhow::Result;
use mnemal::recall::Quote;
use mnemal::{Answer, Memory, SessionId, UserId};

use crate::args::{Ask, Global};
use crate::command::fact;
use crate::output::Output;
use crate::wire::{AnswerForm, NOT_KNOWN, quoted_by};

/// Prints the lines that answer, best first, or that the answer is unknown.
pub(super) async fn run(memory: &Memory, global: &Global, call: &Ask, output: &Output) -> Result<u8> {
    let memory = match &call.user {
        Some(user) => memory.for_user(UserId::new(user)?),
        None => memory.clone(),
    };
    let mut request = memory.ask(&call.question);
    if let Some(session) = &call.session {
        request = request.session(SessionId::new(session)?);
    }
    if call.when.as_of.is_some() || call.when.believed_at.is_some() {
        request = request.as_of(fact::moment(&memory, &call.when)?);
    }
    if call.endpoint {
        request =
            request.embedded(memory.admin().embed_query(&call.question, super::ENDPOINT_DEADLINE).await);
    }
    let answer = request.await?;
    output.answer(&AnswerForm::new(&answer, &answer.gaps), || human(&answer))?;
    Ok(super::gaps(&answer.gaps, global, output))
}

fn human(answer: &Answer) -> String {
    if answer.quotes.is_empty() {
        return NOT_KNOWN.to_owned();
    }
    let mut text = String::new();
    for quote in &answer.quotes {
        // Writing into a string cannot fail.
        let _written = writeln!(text, "{}", line(quote));
    }
    let _written = write!(text, "receipt {}", answer.receipt.id);
    text
}

/// Formats day, speaker, text, and the provenance: the number in the receipt, and the record.
fn line(quote: &Quote) -> String {
    let words: String =
        quote.text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    format!("{}: \"{words}\"  ({}, {})", quoted_by(quote), quote.number, quote.record)
}
