//! Chart parser: every reading of a run of words by the forms of a pack, from right to left.

use std::borrow::Cow;

use super::expr::Value;
use super::form::{Cat, Element, cat};
use super::number::numerals;
use super::pack::{DateForm, Meaning, Pack, cats_of, may_be_short};
use super::token::{Token, TokenKind};

/// No place of a run may have more readings; more would be a text made to exhaust.
const READINGS_AT: usize = 300;

/// What it costs to read four digits that may be a year as a time of day; more than any form that dates have in common.
const YEAR_AS_CLOCK: u16 = 4;

/// A reading of some tokens.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// One past its last token, counted in the run.
    pub(super) end: usize,
    pub(super) value: Value,
    pub(super) cost: u16,
    /// A single word that names no date alone.
    pub(super) is_weak: bool,
    pub(super) cats: Vec<Cat>,
}

/// Tokens that may belong to dates, with their words in lower case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'t> {
    pub(super) tokens: &'t [Token],
    pub(super) words: &'t [Cow<'t, str>],
    /// The word before the first, if there is one.
    pub(super) previous: Option<&'t str>,
    pub(super) text: &'t str,
}

impl<'t> Run<'t> {
    /// Returns the word of a token; empty after the end.
    pub(super) fn word(self, place: usize) -> &'t str {
        self.words.get(place).map_or("", AsRef::as_ref)
    }

    /// Returns the word before a token.
    pub(super) fn before(self, place: usize) -> Option<&'t str> {
        match place.checked_sub(1) {
            Some(before) => Some(self.word(before)),
            None => self.previous,
        }
    }

    /// Returns whether a token begins with a small letter.
    pub(super) fn is_small(self, place: usize) -> bool {
        let start = self.tokens.get(place).map_or(0, |token| token.start);
        self.text.get(start..).and_then(|rest| rest.chars().next()).is_some_and(char::is_lowercase)
    }

    /// Returns whether nothing lies between a token and the one before.
    pub(super) fn touches(self, place: usize) -> bool {
        let before = place.checked_sub(1).and_then(|before| self.tokens.get(before));
        matches!((before, self.tokens.get(place)), (Some(before), Some(token)) if before.end == token.start)
    }

    pub(super) fn is_digits(self, place: usize) -> bool {
        self.tokens.get(place).is_some_and(|token| token.kind == TokenKind::Digits)
    }
}

/// All readings of a run, by the place where they begin.
pub(super) fn readings(run: Run<'_>, pack: &Pack) -> Vec<Vec<Node>> {
    let mut chart = Chart { pack, nodes: vec![Vec::new(); run.tokens.len()] };
    for place in (0..run.tokens.len()).rev() {
        chart.begin(run, place);
    }
    chart.nodes
}

struct Chart<'p> {
    pack: &'p Pack,
    nodes: Vec<Vec<Node>>,
}

impl Chart<'_> {
    fn begin(&mut self, run: Run<'_>, place: usize) {
        self.words(run, place);
        for (end, value) in numerals(run, place, self.pack) {
            let cats = cats_of(&value);
            // "3h" is a length, unless more of a time of day is beside it.
            let is_weak = matches!(value, Value::Time(..)) && run.word(end - 1) == "h";
            // "2024" is a year rather than a time of day.
            let is_year = run.word(place).len() == 4
                && matches!(value, Value::Loose(at) if (19..=20).contains(&at.hour));
            let cost = if is_year { YEAR_AS_CLOCK } else { 0 };
            self.add(place, Node { end, value, cost, is_weak, cats });
        }
        let mut next = 0;
        while let Some(node) = self.nodes.get(place).and_then(|nodes| nodes.get(next)).cloned() {
            next += 1;
            for cat in &node.cats {
                let pack = self.pack;
                for form in pack.forms.get(cat).into_iter().flatten() {
                    self.apply(form, place, &node);
                }
            }
        }
    }

    /// Adds the lexicon entries of the tokens from a position on.
    fn words(&mut self, run: Run<'_>, place: usize) {
        let Some(word) = self.pack.word(run.word(place)) else { return };
        for entry in &word.entries {
            let Some(end) = matched(run, place + 1, &entry.rest) else { continue };
            let is_day_name = matches!(entry.meaning, Meaning::Month(_) | Meaning::Weekday(_));
            if is_day_name
                && entry.is_weak
                && run.is_small(place)
                && run.before(place).is_some_and(|word| self.pack.not_after.iter().any(|not| not == word))
            {
                continue;
            }
            let value = entry.meaning.value();
            let cats = match entry.meaning {
                Meaning::Word(cat) => vec![cat],
                Meaning::Units(_) => vec![cat("unit"), cat("units")],
                _ => cats_of(&value),
            };
            let node = Node { end, value, cost: 0, is_weak: entry.is_weak, cats };
            let is_name = matches!(entry.meaning, Meaning::Month(_) | Meaning::Weekday(_));
            let kind = run.tokens.get(place).map_or(TokenKind::Sign, |token| token.kind);
            if is_name
                && end == place + 1
                && may_be_short(kind, run.word(place))
                && run.word(end) == "."
                && run.touches(end)
            {
                self.add(place, Node { end: end + 1, ..node.clone() });
            }
            self.add(place, node);
        }
    }

    fn apply(&mut self, form: &DateForm, place: usize, first: &Node) {
        // Most forms end here, so that nothing is set up before.
        if form.elements.get(1).is_some_and(|second| !self.follows(first.end, *second)) {
            return;
        }
        let mut found = Vec::new();
        let mut chosen = vec![first];
        self.complete(form, &mut chosen, &mut found);
        for node in found {
            self.add(place, node);
        }
    }

    /// Extends a partly matched form by every node that fits.
    fn complete<'n>(&'n self, form: &DateForm, chosen: &mut Vec<&'n Node>, found: &mut Vec<Node>) {
        let end = chosen.last().map_or(0, |node| node.end);
        let Some(element) = form.elements.get(chosen.len()) else {
            found.extend(made(form, chosen));
            return;
        };
        let following = self.nodes.get(end).map_or(&[][..], Vec::as_slice);
        for node in following.iter().filter(|node| node.cats.contains(&element.cat)) {
            chosen.push(node);
            self.complete(form, chosen, found);
            chosen.pop();
        }
    }

    fn follows(&self, place: usize, element: Element) -> bool {
        let nodes = self.nodes.get(place).map_or(&[][..], Vec::as_slice);
        nodes.iter().any(|node| node.cats.contains(&element.cat))
    }

    fn add(&mut self, place: usize, node: Node) {
        let Some(nodes) = self.nodes.get_mut(place) else { return };
        if nodes.len() >= READINGS_AT {
            return;
        }
        let same = nodes
            .iter_mut()
            .find(|known| known.end == node.end && known.cats == node.cats && known.value == node.value);
        match same {
            Some(known) => {
                known.is_weak &= node.is_weak;
                known.cost = known.cost.min(node.cost);
            }
            None => nodes.push(node),
        }
    }
}

/// Returns the end of an entry whose later words begin at `place`; hyphens between words do not count.
fn matched(run: Run<'_>, mut place: usize, rest: &[Box<str>]) -> Option<usize> {
    for word in rest {
        if run.word(place) == "-" && &**word != "-" {
            place += 1;
        }
        if run.word(place) != &**word {
            return None;
        }
        place += 1;
    }
    Some(place)
}

fn made(form: &DateForm, chosen: &[&Node]) -> Option<Node> {
    let mut arguments: Vec<(u8, &Value)> = (form.elements.iter().zip(chosen))
        .filter_map(|(element, node): (&Element, &&Node)| Some((element.argument?, &node.value)))
        .collect();
    arguments.sort_by_key(|(place, _)| *place);
    let arguments: Vec<&Value> = arguments.into_iter().map(|(_, value)| value).collect();
    let value = (form.make)(&arguments)?;
    let cost = chosen.iter().fold(form.cost, |sum, node| sum.saturating_add(node.cost));
    let arguments_are_weak = || chosen.iter().all(|node| node.is_weak || matches!(node.value, Value::Word));
    let is_weak = form.is_weak
        || chosen.len() == 1 && chosen.iter().all(|node| node.is_weak)
        || form.keeps_weak && arguments_are_weak();
    let cats = cats_of(&value);
    Some(Node { end: chosen.last()?.end, value, cost, is_weak, cats })
}

impl Node {
    /// Returns whether the reading is one that is handed out.
    pub(super) fn is_time(&self) -> bool {
        matches!(self.value, Value::Time(..) | Value::Length(_) | Value::Stay(_) | Value::Recurring)
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.cats.contains(&cat(name))
    }
}
