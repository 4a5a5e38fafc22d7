//! Answers of tools: text for the model, structured content for programs, and errors with advice.

use mnemal::Engine;
use mnemal_core::{Error, ErrorKind, Gap, GapCause, Layer};
use serde_json::Value;

/// The answer of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToolAnswer {
    /// For the model.
    pub(super) text: String,
    /// For programs, following the tool's output schema.
    pub(super) structured: Value,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// An answer.
    Said(ToolAnswer),
    /// An answer for programs, with a remark for the model only.
    Noted(ToolAnswer, String),
    /// A person must confirm first.
    Ask {
        /// The question for the person.
        message: String,
        /// The state that the client must return with the person's answer.
        state: String,
    },
}

/// An error that the model can correct, with its reason and advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CorrectableError(pub(crate) String);

impl CorrectableError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Creates the error for one argument.
    pub(super) fn about(argument: &str, error: &Error) -> Self {
        Self(format!("{argument} cannot be used: {}.", error.what()))
    }
}

/// Errors of the engine: the message is passed on for errors of the caller, but not for internal ones.
impl From<Error> for CorrectableError {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::Conflict => {
                Self(format!("{}.", sentence(error.what())))
            }
            ErrorKind::Unsupported => Self::new("This memory cannot do that."),
            ErrorKind::Unavailable => {
                Self::new("The memory does not answer right now. Try again in a moment.")
            }
            ErrorKind::Corrupt => {
                Self::new("The memory's file is damaged. Ask the user to run `mnemal doctor`.")
            }
            _ => Self::new("The memory failed to do that. Go on without it."),
        }
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The remarks after the quoted part of an answer.
#[derive(Debug, Default)]
pub(super) struct Remarks(Vec<String>);

impl Remarks {
    /// Creates it with the remarks about the arguments.
    pub(super) fn new(notes: Vec<String>) -> Self {
        Self(notes)
    }

    /// Adds a sentence.
    pub(super) fn say(&mut self, sentence: impl Into<String>) {
        self.0.push(sentence.into());
    }

    /// Adds one line about unexpected gaps, if there are any.
    pub(super) fn gaps(&mut self, gaps: &[Gap]) {
        let mut said: Vec<String> = Vec::new();
        for line in gaps.iter().filter_map(gap) {
            if !said.contains(&line) {
                said.push(line);
            }
        }
        if !said.is_empty() {
            self.0.push(format!("{}.", sentence(&said.join("; "))));
        }
    }

    /// Returns the part of `ceiling` that is left for quotations, with room for a few more sentences.
    pub(super) fn room(&self, engine: &Engine, ceiling: u32) -> u32 {
        /// Reserve for later sentences, in tokens. Source: own default, the longest of them.
        const TO_COME: u32 = 60;
        let taken = engine.count_tokens(&self.0.join("\n")).0 + TO_COME;
        ceiling.saturating_sub(taken).max(ceiling / 2)
    }

    /// Builds the text; sentences that exceed the ceiling are dropped, earliest first.
    pub(super) fn behind(mut self, head: &str, engine: &Engine, ceiling: u32) -> String {
        loop {
            let mut lines: Vec<&str> = vec![head.trim_end_matches('\n')];
            lines.extend(self.0.iter().map(String::as_str));
            lines.retain(|line| !line.is_empty());
            let text = lines.join("\n");
            if self.0.is_empty() || engine.count_tokens(&text).0 <= ceiling {
                return text;
            }
            self.0.remove(0);
        }
    }
}

/// Describes a gap; `None` for a layer that this build lacks, and for truncation, which the answer reports itself.
fn gap(gap: &Gap) -> Option<String> {
    let what = match gap.layer {
        Layer::Vector => "vector recall unavailable; keyword results only",
        Layer::Rerank => "the second look unavailable; hits stand in their first order",
        Layer::Lexical => "keyword recall unavailable; results may be missing",
        Layer::Learnings => "notes unavailable; results may be missing",
        Layer::Events => "the log unavailable; results may be missing",
        Layer::Receipts => "the record of what was shown could not be kept",
        other => return plain(other, gap.cause),
    };
    match gap.cause {
        GapCause::Failed(_) | GapCause::TimedOut(_) => Some(what.to_owned()),
        cause => plain(gap.layer, cause),
    }
}

fn plain(layer: Layer, cause: GapCause) -> Option<String> {
    match cause {
        GapCause::Failed(_) | GapCause::TimedOut(_) => Some(format!("{} unavailable", layer.as_str())),
        GapCause::Stale { behind } => Some(format!("{} {behind} events behind", layer.as_str())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn gaps_are_one_line_and_only_those_that_should_not_be() {
        let all = [
            (Layer::Vector, GapCause::TimedOut(Duration::from_millis(200))),
            (Layer::Vector, GapCause::Failed(ErrorKind::Internal)),
            (Layer::Learnings, GapCause::Stale { behind: 30 }),
            (Layer::Graph, GapCause::NotConfigured),
            (Layer::Context, GapCause::Truncated { dropped: mnemal_core::TokenCount(9) }),
        ];
        let mut tail = Remarks::default();
        tail.gaps(&all.map(|(layer, cause)| Gap { layer, cause }));
        assert_eq!(tail.0, ["Vector recall unavailable; keyword results only; learnings 30 events behind."]);
        let mut none = Remarks::default();
        none.gaps(&[Gap { layer: Layer::Graph, cause: GapCause::NotConfigured }]);
        assert!(none.0.is_empty());
    }

    // proves: F4 (no inner word of an error reaches the model)
    #[test]
    fn errors_of_the_engine_keep_what_is_inside_inside() {
        for kind in [ErrorKind::Unavailable, ErrorKind::Corrupt, ErrorKind::Internal, ErrorKind::Unsupported]
        {
            let CorrectableError(text) =
                Error::new(kind, "no such table: nodes in /home/eve/space.db").into();
            assert!(!text.contains("table") && !text.contains("/home"), "{text}");
        }
        let CorrectableError(text) = Error::invalid("a tag must not be empty").into();
        assert_eq!(text, "A tag must not be empty.");
    }
}
