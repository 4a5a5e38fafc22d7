//! Prompts, completions, and their cost. Plain data.

use std::fmt;

use crate::{Error, ErrorKind, LedgerKind, LedgerLine, ModelId, Producer, PromptHash, Timestamp, TokenCount};

/// A question to a language model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prompt {
    /// The purpose of the answer.
    pub purpose: Purpose,
    /// The asking pass; changed instructions are a new version.
    pub producer: Producer,
    /// The instructions, the same for every question of a producer.
    pub instructions: String,
    /// The material: stored words, which are data and never instructions.
    pub material: String,
    /// JSON Schema of the answer; `None` for plain text.
    pub schema: Option<String>,
    /// Most tokens of the answer.
    pub most: TokenCount,
}

impl Prompt {
    /// Returns the same question with an error message about the last answer, for a retry.
    #[must_use]
    pub fn repaired(&self, wrong: &str) -> Self {
        let material = format!(
            "{}\n\nYour last answer could not be used: {wrong}. Answer again, exactly in the form that was asked for.",
            self.material
        );
        Self { material, ..self.clone() }
    }
}

/// The purpose of a language model's answer.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Claims that the rules did not find.
    Extract,
    /// The text of a summary.
    Summarize,
    /// Duplicate notes, categories, and lessons from tasks.
    Consolidate,
    /// A test question of the operator, to check that the model answers.
    Check,
}

impl Purpose {
    /// All purposes, in declaration order.
    pub const ALL: [Self; 4] = [Self::Extract, Self::Summarize, Self::Consolidate, Self::Check];

    /// Returns the name on the wire and in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::Summarize => "summarize",
            Self::Consolidate => "consolidate",
            Self::Check => "check",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.as_str() == name)
    }
}

impl PromptHash {
    /// Hashes a question to one model: BLAKE3 over the model and everything that the model receives, each part with its length.
    pub fn of(model: &ModelId, prompt: &Prompt) -> Self {
        let mut hash = blake3::Hasher::new();
        let schema = prompt.schema.as_deref().unwrap_or_default();
        for part in [
            model.as_str(),
            prompt.purpose.as_str(),
            &prompt.producer.id,
            &prompt.instructions,
            &prompt.material,
            schema,
        ] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.update(&prompt.producer.version.to_le_bytes());
        hash.update(&prompt.most.0.to_le_bytes());
        Self(*hash.finalize().as_bytes())
    }
}

impl fmt::Display for PromptHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// The answer of a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text, unchanged.
    pub text: String,
    /// The model that was asked.
    pub model: ModelId,
    /// Its cost.
    pub usage: Usage,
}

/// Tokens sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens that were sent.
    pub sent: TokenCount,
    /// Tokens of the answer.
    pub received: TokenCount,
}

/// One paid question, whatever its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// Its id.
    pub id: u128,
    /// Time of the question.
    pub at: Timestamp,
    /// Its purpose.
    pub purpose: Purpose,
    /// Its outcome.
    pub outcome: CallOutcome,
    /// Requests that left the process, retries included; while open, the reserved number.
    pub requests: u32,
    /// Its cost; while open, the reserved cost.
    pub usage: Usage,
}

impl ModelCall {
    /// Converts it into a line of the ledger.
    pub fn line(&self) -> LedgerLine {
        let counts =
            [(REQUESTS, self.requests), (SENT, self.usage.sent.0), (RECEIVED, self.usage.received.0)];
        LedgerLine {
            kind: LedgerKind::Call,
            key: format!("{:032x}", self.id),
            at: self.at,
            hash: 0,
            counts: counts.into_iter().map(|(name, count)| (name.to_owned(), u64::from(count))).collect(),
            note: format!("{} {}", self.purpose.as_str(), self.outcome.as_str()),
        }
    }

    /// Parses it from a line of the ledger; `None` for any other line.
    pub fn read(line: &LedgerLine) -> Option<Self> {
        let (purpose, outcome) = line.note.split_once(' ')?;
        let count = |name| u32::try_from(line.counts.get(name).copied()?).ok();
        Some(Self {
            id: u128::from_str_radix(&line.key, 16).ok()?,
            at: line.at,
            purpose: Purpose::from_name(purpose)?,
            outcome: CallOutcome::from_name(outcome)?,
            requests: count(REQUESTS)?,
            usage: Usage { sent: TokenCount(count(SENT)?), received: TokenCount(count(RECEIVED)?) },
        })
    }
}

/// Names of the counts of a call in the ledger.
const REQUESTS: &str = "requests";
const SENT: &str = "tokens sent";
const RECEIVED: &str = "tokens received";

/// The outcome of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallOutcome {
    /// In progress, or the process ended first.
    Open,
    /// A usable answer arrived.
    Answered,
    /// No answer arrived.
    Failed,
    /// The answer was unusable.
    Invalid,
    /// The key, the model or the question was refused.
    Refused,
}

impl CallOutcome {
    /// All outcomes, in declaration order.
    pub const ALL: [Self; 5] = [Self::Open, Self::Answered, Self::Failed, Self::Invalid, Self::Refused];

    /// Returns the outcome for this error.
    pub fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Unsupported => Self::Invalid,
            ErrorKind::Invalid => Self::Refused,
            _ => Self::Failed,
        }
    }

    /// Returns the name on the wire and in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Refused => "refused",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}

/// Makes the error for an unusable answer; `why` is sent to the model, and contains none of its words.
pub fn unusable(why: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Unsupported, why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt() -> Prompt {
        Prompt {
            purpose: Purpose::Extract,
            producer: Producer { id: "model/extract".to_owned(), version: 1 },
            instructions: "Find claims.".to_owned(),
            material: "1: I moved to Lyon.".to_owned(),
            schema: None,
            most: TokenCount(100),
        }
    }

    #[test]
    fn every_part_of_a_question_and_the_model_is_in_its_hash() {
        type Edit = fn(&mut Prompt);
        const EDITS: [Edit; 7] = [
            |prompt| prompt.purpose = Purpose::Summarize,
            |prompt| prompt.producer.id.push('x'),
            |prompt| prompt.producer.version = 2,
            |prompt| prompt.instructions.push('x'),
            |prompt| prompt.material.push('x'),
            |prompt| prompt.schema = Some("{}".to_owned()),
            |prompt| prompt.most = TokenCount(101),
        ];
        let (one, other) = (ModelId::new("a").unwrap(), ModelId::new("b").unwrap());
        let hash = PromptHash::of(&one, &prompt());
        assert_eq!(hash, PromptHash::of(&one, &prompt()));
        assert_ne!(hash, PromptHash::of(&other, &prompt()));
        for edit in EDITS {
            let mut edited = prompt();
            edit(&mut edited);
            assert_ne!(hash, PromptHash::of(&one, &edited), "{edited:?}");
        }
        let mut moved = prompt();
        let first = moved.material.remove(0);
        moved.instructions.push(first);
        assert_ne!(hash, PromptHash::of(&one, &moved), "parts have borders");
    }

    #[test]
    fn a_call_comes_back_from_its_line() {
        let call = ModelCall {
            id: u128::MAX - 1,
            at: Timestamp::EPOCH,
            purpose: Purpose::Summarize,
            outcome: CallOutcome::Invalid,
            requests: 3,
            usage: Usage { sent: TokenCount(70), received: TokenCount(9) },
        };
        assert_eq!(ModelCall::read(&call.line()), Some(call.clone()));
        let other = LedgerLine { note: "merge 3".to_owned(), ..call.line() };
        assert_eq!(ModelCall::read(&other), None);
    }

    #[test]
    fn names_of_the_wire_are_read_back() {
        assert!(
            Purpose::ALL.into_iter().all(|purpose| Purpose::from_name(purpose.as_str()) == Some(purpose))
        );
        assert!(CallOutcome::ALL.into_iter().all(|one| CallOutcome::from_name(one.as_str()) == Some(one)));
    }
}
