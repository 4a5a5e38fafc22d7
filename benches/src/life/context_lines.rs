//! The lines of a context, as its reader sees them.

use mnemal::context::{ReceiptLine, RecordRef, line_number};
use mnemal::types::Level;
use mnemal::{Context, EventId};

use super::{plain, says};

/// Words in a line that say that something is over. Source: the words that lines of facts and quotes use.
const ENDED: [&str; 10] = [
    "until ",
    "no longer",
    "ended",
    "over since",
    "former",
    "earlier",
    "taken back",
    "not any more",
    "outdated",
    "past",
];
/// Words in the label of a line that say that its words are another's.
const OTHERS: [&str; 7] = ["assistant", "quote", "another", "other", "document", "pasted", "someone"];
/// Letters of a turn's beginning that show the reader what the turn is.
const START: usize = 12;

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The whole of it.
    pub text: String,
    /// The event that it quotes with its day.
    pub event: Option<EventId>,
    /// Whether it says what holds: everything but dated quotes of the log.
    pub is_standing: bool,
    /// Whether its words are given as the user's own.
    pub is_of_user: bool,
    /// Whether it says that it is over.
    pub is_ended: bool,
}

impl Line {
    /// Whether it tells one of these strings as what holds: without a word of the answer, and without a word of an end.
    pub fn tells(&self, strings: &[String], needs: &[Vec<String>]) -> bool {
        let answers = || needs.iter().flatten().any(|one| says(&self.text, std::slice::from_ref(one)));
        says(&self.text, strings) && !self.is_ended && !answers()
    }

    /// Whether it quotes a turn from its beginning, so that a reader sees what the turn is.
    pub fn shows_start_of(&self, turn: &str) -> bool {
        let start: String = plain(turn).chars().take(START).collect();
        plain(&self.text).contains(&start)
    }
}

/// Returns the lines of a context, each with what its receipt says of it.
pub fn lines(context: &Context) -> Vec<Line> {
    let numbered = context.text.lines().filter_map(|line| Some((line_number(line)?, line)));
    let known = numbered
        .filter_map(|(number, line)| Some((line, context.receipt.lines.get(number.checked_sub(1)?)?)));
    known.map(|(line, known)| read(line, known)).collect()
}

fn read(line: &str, known: &ReceiptLine) -> Line {
    let before = line.split_once('"').map_or(line, |(before, _)| before).to_lowercase();
    let event = match known.record {
        RecordRef::Event(event) => Some(event),
        _ => None,
    };
    // What a fact says is in no quotes of its own, so that its words may say that it is over.
    let is_fact = matches!(known.record, RecordRef::Fact(_));
    let said = if is_fact { line.to_lowercase() } else { before.clone() };
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    Line {
        text: line.to_owned(),
        event,
        is_standing: event.is_none(),
        is_of_user: known.level == Level::User && !has(&before, &OTHERS),
        is_ended: has(&said, &ENDED),
    }
}

#[cfg(test)]
mod tests {
    use mnemal::context::{BlockKind, InclusionReason, Section};
    use mnemal::types::{FactId, LearningId, TokenCount, Trust};

    use super::*;

    fn account(record: RecordRef) -> ReceiptLine {
        ReceiptLine {
            block: BlockKind::Volatile,
            section: Section::Recall,
            record,
            producer: None,
            sources: Vec::new(),
            trust: Trust::User,
            level: Level::User,
            parts: Vec::new(),
            score: 0.0,
            because: InclusionReason::Query,
            tokens: TokenCount(0),
            content_hash: [0; 16],
        }
    }

    #[test]
    fn a_dated_quote_is_no_standing_line_and_a_wish_is_one() {
        let (turn, wish) =
            (account(RecordRef::Event(EventId(1))), account(RecordRef::Learning(LearningId(2))));
        assert!(!read("- 1 2026-01-02 \"I live in Zadar.\"", &turn).is_standing);
        assert!(read("- 2 2026-01-02 \"I never eat meat.\"", &wish).is_standing);
        let fact = account(RecordRef::Fact(FactId(3)));
        let line = read("- 3 2026-01-02 \"user lived in Zadar until 2026-06\"", &fact);
        assert!(!line.tells(&["Zadar".to_owned()], &[]));
    }

    #[test]
    fn a_remark_says_whose_the_words_are_and_that_they_are_past() {
        let turn = account(RecordRef::Event(EventId(1)));
        let past = read("- 1 2026-01-03 Ben (no longer so) \"Call me Ben.\"", &turn);
        assert!(past.is_ended && past.is_of_user);
        assert!(!read("- 2 2026-01-02 Ben (pasted) \"I live in Zadar.\"", &turn).is_of_user);
    }
}
