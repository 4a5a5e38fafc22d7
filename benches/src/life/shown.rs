//! The lines of a context, as one who reads it sees them.

use mnemal::EventId;

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

/// What a line without a label is: both begin with their day.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bare {
    /// What the user said of how he wants things.
    Wish,
    /// A step of how something went.
    Step,
}

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

/// Returns the lines of a context that say something; `bare` says of those without a label, in turn, what they are.
pub fn lines(context: &str, bare: &[Bare]) -> Vec<Line> {
    let mut bare = bare.iter().copied();
    let says = context.lines().filter_map(|line| line.strip_prefix("- "));
    let read = |line: &str| read(line, if line.starts_with('[') { None } else { bare.next() });
    says.map(read).collect()
}

fn read(line: &str, bare: Option<Bare>) -> Line {
    let label = line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(label, _)| label);
    let before = label.or_else(|| line.split_once('"').map(|(before, _)| before));
    let before = before.unwrap_or_default().to_lowercase();
    let event = before.split(", ").find_map(|part| part.trim().parse::<EventId>().ok());
    // What a fact says stands in no quotes of its own, so that its words may say that it is over.
    let said = if before.contains("fct_") { line.to_lowercase() } else { before.clone() };
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    Line {
        text: line.to_owned(),
        event,
        is_standing: event.is_none() && bare != Some(Bare::Step),
        is_of_user: label.is_none_or(|label| label.starts_with("user")) && !has(&before, &OTHERS),
        is_ended: has(&said, &ENDED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dated_quote_is_no_standing_line_and_a_wish_is_one() {
        let text = "now 2026-11-28\n- [user, 2026-01-02, evt_01m8g30gj63vvxh6jep68wq5vy] \"I live in Zadar.\"\n\
            - [user, 2026-01-02, mem_569h6qp89xfnkbvttpqyjq5bqp] \"I never eat meat.\"\n\
            - 2026-01-03 Ben: \"Call me Ben.\"\n- 2026-01-04 Ben: \"We packed.\"\n";
        let standing: Vec<bool> =
            lines(text, &[Bare::Wish, Bare::Step]).iter().map(|line| line.is_standing).collect();
        assert_eq!(standing, [false, true, true, false]);
        let fact = "[user, 2026-01-02, fct_786m1j10enqjjx9nn1c603cvsm] \"user lived in Zadar until 2026-06\"";
        assert!(!read(fact, None).tells(&["Zadar".to_owned()], &[]));
    }

    #[test]
    fn a_remark_says_whose_the_words_are_and_that_they_are_past() {
        let text = "- 2026-01-03 Ben (no longer so): \"Call me Ben.\"\n\
            - [user, 2026-01-02, evt_01m8g30gj63vvxh6jep68wq5vy, Ben, pasted] \"I live in Zadar.\"\n";
        let lines = lines(text, &[Bare::Wish]);
        assert!(lines.first().is_some_and(|line| line.is_ended && line.is_of_user));
        assert!(lines.last().is_some_and(|line| !line.is_of_user));
    }
}
