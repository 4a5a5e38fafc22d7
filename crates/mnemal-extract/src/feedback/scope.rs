//! The part of a message that counts as the user's own plain words.

use super::pack::{Gate, Pack, Rule};
use super::pattern::Hit;
use super::token::Token;
use super::{Line, Turn};
use crate::word::without_closing_marks;

/// The kind of the preceding message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrecedingMessage {
    /// No message.
    Nothing,
    /// It ends with a question, so that "no" may be an answer.
    Question,
    /// It states or does something.
    Statement,
}

impl PrecedingMessage {
    /// Reads the message of the assistant.
    pub(crate) fn of(assistant: Option<&str>) -> Self {
        match assistant.map(|text| without_closing_marks(text.trim())) {
            None | Some("") => Self::Nothing,
            Some(text) if text.ends_with(['?', '？']) => Self::Question,
            Some(_) => Self::Statement,
        }
    }
}

/// The gates of one sentence.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Whether nothing in it counts.
    pub(crate) is_closed: bool,
    /// Whether a question mark ends it.
    pub(crate) is_marked: bool,
    is_question: bool,
    gates: Vec<Hit<Gate>>,
}

impl Scope {
    /// Reads a sentence.
    pub(crate) fn of(pack: &Pack, turn: Turn<'_>, line: &Line) -> Self {
        let text = turn.words().get(line.span.clone()).unwrap_or_default();
        let gates = pack.gates.find(&line.tokens, &pack.lexicon);
        let is_tag = || {
            let tags = pack.tags.find(&line.tokens, &pack.lexicon);
            tags.iter().any(|tag| tag.to == line.tokens.len())
        };
        let is_marked = without_closing_marks(text).ends_with(['?', '？']) && !is_tag();
        let is_question = gates.iter().any(|hit| hit.tag == Gate::Question);
        Self { is_closed: text.starts_with(['>', '|', '{', '$']), is_marked, is_question, gates }
    }

    /// Returns whether it tells someone else's words.
    pub(crate) fn is_reported(&self) -> bool {
        self.gates.iter().any(|gate| gate.tag == Gate::Reported)
    }

    /// Returns whether it tells someone else's words before a byte of the text.
    pub(crate) fn is_reported_before(&self, tokens: &[Token], byte: usize) -> bool {
        let starts = |gate: &Hit<Gate>| tokens.get(gate.from).is_some_and(|token| token.span.start < byte);
        self.gates.iter().any(|gate| gate.tag == Gate::Reported && starts(gate))
    }

    /// Returns whether it tells what holds on another occasion.
    pub(crate) fn is_of_another_occasion(&self) -> bool {
        self.gates.iter().any(|gate| gate.tag == Gate::Elsewhere)
    }

    /// Returns whether it is hypothetical.
    pub(crate) fn is_supposed(&self) -> bool {
        self.gates.iter().any(|gate| gate.tag == Gate::Hypothetical)
    }

    /// Returns whether a match of a rule counts here.
    pub(crate) fn admits(&self, rule: &Rule, hit: &Hit<usize>, asked: PrecedingMessage) -> bool {
        let is_gated = self.gates.iter().any(|gate| match gate.tag {
            Gate::Elsewhere => true,
            Gate::Reported | Gate::Dictated => gate.from < hit.from,
            Gate::Hypothetical => gate.from < hit.from && !rule.stands_alone,
            Gate::Question => false,
        });
        let has_context = rule.stands_alone || asked != PrecedingMessage::Nothing;
        let is_answer = rule.is_no_answer && asked == PrecedingMessage::Question;
        has_context && !is_answer && !is_gated && self.admits_question(rule)
    }

    fn admits_question(&self, rule: &Rule) -> bool {
        rule.may_ask || !self.is_question && (rule.is_polite || !self.is_marked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_of_the_assistant_is_known_by_its_end() {
        assert_eq!(PrecedingMessage::of(None), PrecedingMessage::Nothing);
        assert_eq!(PrecedingMessage::of(Some(" ")), PrecedingMessage::Nothing);
        assert_eq!(PrecedingMessage::of(Some("Done. Shall I send it?")), PrecedingMessage::Question);
        assert_eq!(PrecedingMessage::of(Some("Why? Because.")), PrecedingMessage::Statement);
    }
}
