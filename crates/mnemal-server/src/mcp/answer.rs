//! Answers of tools: text for the model, the same for programs, and mistakes that say what to do next.

use mnemal::Engine;
use mnemal_core::{Error, ErrorKind, Gap, GapCause, Layer};
use serde_json::Value;

/// What a tool says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    /// For the model.
    pub(super) text: String,
    /// For programs, as the tool's output schema says.
    pub(super) structured: Value,
}

/// What comes of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// An answer.
    Said(Answer),
    /// An answer that programs read, and what only a model has to know of it.
    Noted(Answer, String),
    /// A person is to be asked first.
    Ask {
        /// What the person reads.
        message: String,
        /// What the client must give back with the person's answer.
        state: String,
    },
}

/// A call that cannot be answered; the model reads why and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake(pub(crate) String);

impl Mistake {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Says what is wrong with one argument.
    pub(super) fn about(argument: &str, error: &Error) -> Self {
        Self(format!("{argument} cannot be used: {}.", error.what()))
    }
}

/// Errors of the engine: what the caller did wrong is told, what went wrong inside is not.
impl From<Error> for Mistake {
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

/// What stands behind the quoted part of an answer.
#[derive(Debug, Default)]
pub(super) struct Tail(Vec<String>);

impl Tail {
    /// Starts with the notes about the arguments.
    pub(super) fn new(notes: Vec<String>) -> Self {
        Self(notes)
    }

    /// Adds a sentence.
    pub(super) fn say(&mut self, sentence: impl Into<String>) {
        self.0.push(sentence.into());
    }

    /// Adds one line about what is missing from the answer, if something is that should not be.
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

    /// Returns what is left of `ceiling` for the quoted part, when a few more sentences may follow.
    pub(super) fn room(&self, engine: &Engine, ceiling: u32) -> u32 {
        /// Tokens of the sentences that are still to come. Source: own default, the longest of them.
        const TO_COME: u32 = 60;
        let taken = engine.count_tokens(&self.0.join("\n")).0 + TO_COME;
        ceiling.saturating_sub(taken).max(ceiling / 2)
    }

    /// Puts the text together; sentences that do not fit under the ceiling are left out, the first ones first.
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

/// Returns what an answer lacks, in words; nothing for a part that this build does not have, and for what was cut, which the
/// answer says itself.
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
        let mut tail = Tail::default();
        tail.gaps(&all.map(|(layer, cause)| Gap { layer, cause }));
        assert_eq!(tail.0, ["Vector recall unavailable; keyword results only; learnings 30 events behind."]);
        let mut none = Tail::default();
        none.gaps(&[Gap { layer: Layer::Graph, cause: GapCause::NotConfigured }]);
        assert!(none.0.is_empty());
    }

    // proves: F4 (no inner word of an error reaches the model)
    #[test]
    fn errors_of_the_engine_keep_what_is_inside_inside() {
        for kind in [ErrorKind::Unavailable, ErrorKind::Corrupt, ErrorKind::Internal, ErrorKind::Unsupported]
        {
            let Mistake(text) = Error::new(kind, "no such table: nodes in /home/eve/space.db").into();
            assert!(!text.contains("table") && !text.contains("/home"), "{text}");
        }
        let Mistake(text) = Error::invalid("a tag must not be empty").into();
        assert_eq!(text, "A tag must not be empty.");
    }
}
