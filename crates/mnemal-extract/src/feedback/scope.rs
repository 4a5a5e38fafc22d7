//! What of a message counts as the user's own plain words.

use std::ops::Range;

use super::pack::{Gate, Pack, Rule};
use super::pattern::Hit;
use super::{Line, Turn};
use crate::word::without_closing_marks;

/// Words within quotation marks that make them somebody's words. Source: own choice; names and terms are shorter.
const QUOTED_WORDS: usize = 4;

/// What the message before is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// There is none.
    Nothing,
    /// It ends with a question, so that "no" may be its answer.
    Question,
    /// It says or does something.
    Statement,
}

impl Asked {
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
    /// Nothing in it counts.
    pub(crate) is_closed: bool,
    /// A mark of asking stands behind it.
    pub(crate) is_marked: bool,
    is_question: bool,
    gates: Vec<Hit<Gate>>,
}

impl Scope {
    /// Reads a sentence.
    pub(crate) fn of(pack: &Pack, turn: Turn<'_>, line: &Line) -> Self {
        let text = turn.user.get(line.span.clone()).unwrap_or_default();
        let gates = pack.gates.find(&line.tokens, &pack.lexicon);
        let is_tag = || {
            let tags = pack.tags.find(&line.tokens, &pack.lexicon);
            tags.iter().any(|tag| tag.to == line.tokens.len())
        };
        let is_marked = without_closing_marks(text).ends_with(['?', '？']) && !is_tag();
        let is_question = gates.iter().any(|hit| hit.tag == Gate::Question);
        Self { is_closed: text.starts_with(['>', '|', '{', '$']), is_marked, is_question, gates }
    }

    /// Says whether it tells somebody else's words.
    pub(crate) fn is_reported(&self) -> bool {
        self.gates.iter().any(|gate| gate.tag == Gate::Reported)
    }

    /// Says whether it speaks of what could be.
    pub(crate) fn is_supposed(&self) -> bool {
        self.gates.iter().any(|gate| gate.tag == Gate::Hypothetical)
    }

    /// Says whether a match of a rule counts here.
    pub(crate) fn admits(&self, rule: &Rule, hit: &Hit<usize>, asked: Asked) -> bool {
        let is_gated = self.gates.iter().any(|gate| {
            gate.from < hit.from
                && match gate.tag {
                    Gate::Reported | Gate::Dictated => true,
                    Gate::Hypothetical => !rule.stands_alone,
                    Gate::Question => false,
                }
        });
        let has_context = rule.stands_alone || asked != Asked::Nothing;
        let is_answer = rule.is_no_answer && asked == Asked::Question;
        has_context && !is_answer && !is_gated && self.admits_question(rule)
    }

    fn admits_question(&self, rule: &Rule) -> bool {
        rule.may_ask || !self.is_question && (rule.is_polite || !self.is_marked)
    }
}

/// Returns the bytes that are not the user's own words: fenced code, lines of a quotation, words in quotation marks.
pub(crate) fn unread(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    let mut fence: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let body = line.trim_start();
        let end = at + line.len();
        if body.starts_with("```") {
            match fence.take() {
                Some(start) => ranges.push(start..end),
                None => fence = Some(at),
            }
        } else if fence.is_none() && body.starts_with('>') {
            ranges.push(at..end);
        }
        at = end;
    }
    ranges.extend(fence.map(|start| start..text.len()));
    quoted(text, &mut ranges);
    ranges
}

fn quoted(text: &str, ranges: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(open) =
        text.get(from..).and_then(|rest| rest.find(['"', '“', '«', '„'])).map(|at| from + at)
    {
        let mark = text.get(open..).and_then(|rest| rest.chars().next()).unwrap_or('"');
        let inside = open + mark.len_utf8();
        let closing: &[char] = match mark {
            '“' => &['”', '"'],
            '«' => &['»'],
            '„' => &['“', '”', '"'],
            _ => &['"'],
        };
        let Some(close) = text.get(inside..).and_then(|rest| rest.find(closing)).map(|at| inside + at) else {
            return;
        };
        let words = text.get(inside..close).unwrap_or_default().split_whitespace().count();
        // A message that is one quotation from end to end is the user's own.
        let is_all = text.get(..open).is_some_and(|before| before.trim().is_empty())
            && text.get(close..).is_some_and(|after| after.trim().chars().count() == 1);
        if words >= QUOTED_WORDS && !is_all {
            ranges.push(open..close);
        }
        from = close + text.get(close..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let found: Vec<&str> =
            unread(text).into_iter().map(|range| text.get(range).unwrap().trim()).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn code_quotations_and_long_quotes_are_not_the_users_words() {
        check("see\n```\nnever do it\n```\nok", &["```\nnever do it\n```"]);
        check("see\n```\nopen", &["```\nopen"]);
        check("> wrote this\nno", &["> wrote this"]);
        check("it says “stop all of this now” there", &["“stop all of this now"]);
        check("call it \"Main Street\" and \"B\"", &[]);
        check("a \" b", &[]);
        check("\"never do it like this\"", &[]);
    }

    #[test]
    fn a_question_of_the_assistant_is_known_by_its_end() {
        assert_eq!(Asked::of(None), Asked::Nothing);
        assert_eq!(Asked::of(Some(" ")), Asked::Nothing);
        assert_eq!(Asked::of(Some("Done. Shall I send it?")), Asked::Question);
        assert_eq!(Asked::of(Some("Why? Because.")), Asked::Statement);
    }
}
