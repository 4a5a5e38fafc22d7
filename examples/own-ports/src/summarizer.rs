//! Summarizer of conversations: what a language model is asked, and how its answer is read.

use mnemal::Result;
use mnemal::model::{Completion, Prompt, Purpose, unusable};
use mnemal::ports::Summarizer;
use mnemal::types::{Producer, TokenCount};

#[derive(Debug)]
pub struct OneLine;

impl Summarizer for OneLine {
    fn producer(&self) -> Producer {
        Producer { id: "own/one-line".to_owned(), version: 1 }
    }

    fn prompt(&self, previous: Option<&str>, parts: &[&str], budget: TokenCount) -> Prompt {
        Prompt {
            purpose: Purpose::Summarize,
            producer: self.producer(),
            instructions: "Say in one line what was said. Add nothing.".to_owned(),
            material: previous.into_iter().chain(parts.iter().copied()).collect::<Vec<_>>().join("\n"),
            schema: None,
            most: budget,
        }
    }

    fn parse(
        &self,
        _previous: Option<&str>,
        _parts: &[&str],
        _budget: TokenCount,
        completion: &Completion,
    ) -> Result<String> {
        match completion.text.trim() {
            "" => Err(unusable("it is empty")),
            text if text.contains('\n') => Err(unusable("it has more than one line")),
            text => Ok(text.to_owned()),
        }
    }
}
