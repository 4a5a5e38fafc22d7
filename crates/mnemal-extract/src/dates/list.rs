//! Days of a list that only one member names in full: "the 10th, 12th and 14th of July", "May 20 and 22".

use std::rc::Rc;

use super::chart::{Node, Run};
use super::expr::{Cal, Expr, Kind, Value};
use super::{DateRules, is_followed_by_pause};

impl DateRules {
    /// Adds the days of lists to the readings that were taken.
    pub(super) fn add_listed(
        &self,
        text: &str,
        run: Run<'_>,
        chart: &[Vec<Node>],
        taken: &mut Vec<(usize, Node)>,
    ) {
        for (start, nodes) in chart.iter().enumerate().rev() {
            for node in nodes {
                let Some(day) = short_day(node) else { continue };
                let end = node.end;
                let is_free = taken.iter().all(|(from, other)| end <= *from || other.end <= start);
                let is_number = matches!(node.value, Value::Number { .. });
                if is_free
                    && (self.goes_on(run, node, taken)
                        || self.went_before(run, start, taken)
                            && (!is_number || is_followed_by_pause(text, run, end)))
                {
                    let value = Value::Time(Kind::Day, Rc::new(Expr::Cal(day)));
                    taken.push((start, Node { value, ..node.clone() }));
                }
            }
        }
    }

    /// Returns whether a list goes on behind a token with a day in full; behind a bare number not with a comma alone.
    fn goes_on(&self, run: Run<'_>, day: &Node, taken: &[(usize, Node)]) -> bool {
        let (from, mut place) = (day.end, day.end);
        let is_number = matches!(day.value, Value::Number { .. });
        while self.is_list_word(run.word(place)) {
            place += 1;
        }
        let is_comma = place == from + 1 && run.word(from) == ",";
        let next = taken.iter().find(|(start, _)| *start == place).map(|(_, node)| node);
        place > from
            && next.is_some_and(|node| {
                is_full_day(&node.value) && !(is_number && is_comma) || short_day(node).is_some()
            })
    }

    /// Returns whether a list with a day in full stands before a token.
    fn went_before(&self, run: Run<'_>, start: usize, taken: &[(usize, Node)]) -> bool {
        let Some(word) = start.checked_sub(1) else { return false };
        let is_joined = self.pack.list_words.iter().any(|known| known == run.word(word));
        let ends_in_day = |node: &Node| {
            node.end == word
                && is_full_day(&node.value)
                && (run.is_digits(node.end - 1) || run.is_digits(node.end.saturating_sub(2)))
        };
        is_joined && taken.iter().any(|(_, node)| ends_in_day(node))
    }

    fn is_list_word(&self, word: &str) -> bool {
        word == "," || self.pack.list_words.iter().any(|known| known == word)
    }
}

/// A day of an unnamed month: "the 10th", "12".
fn short_day(node: &Node) -> Option<Cal> {
    match &node.value {
        Value::Number { value: day @ 1..=31, is_word: false, is_fuzzy: false } => {
            Some(Cal { day: i8::try_from(*day).ok(), ..Cal::default() })
        }
        Value::Time(Kind::Day, expr) => match **expr {
            Expr::Cal(cal @ Cal { year: None, month: None, day: Some(_), weekday: None }) => Some(cal),
            _ => None,
        },
        _ => None,
    }
}

fn is_full_day(value: &Value) -> bool {
    matches!(value, Value::Time(_, expr) if matches!(**expr, Expr::Cal(Cal { month: Some(_), day: Some(_), .. })))
}
