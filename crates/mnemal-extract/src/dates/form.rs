//! Forms: the patterns of a pack, such as `<length> ago` or `(the) <ord> {of} <month>`.
//!
//! An element is a word, several words with `|` between them, a class of words in braces, or a category in angle
//! brackets; an element in round brackets may be missing. `<2:time>` puts what it matched second among the arguments.

use std::collections::HashMap;

use mnemal_core::{Error, Result};

/// What an element matches: a category of values, or a class of words.
pub(super) type Cat = u16;

/// The categories of values, by name; their place is their number.
pub(super) const CATS: [&str; 42] = [
    "n",
    "w",
    "d",
    "frac",
    "ord",
    "unit",
    "length",
    "month",
    "weekday",
    "part",
    "zone",
    "year",
    "time",
    "day",
    "period",
    "date",
    "clock",
    "apart",
    "daypart",
    "moment",
    "range",
    "clockrange",
    "stretch",
    "open",
    "clockopen",
    "item",
    "cal",
    "set",
    "loose",
    "looseday",
    "clocks",
    "anyday",
    "shift",
    "days",
    "clockish",
    "fuzzy",
    "dn",
    "weekdays",
    "season",
    "units",
    "era",
    "stay",
];

/// Names of categories and classes, with a number each.
#[derive(Debug)]
pub(super) struct Cats(HashMap<String, Cat>);

impl Cats {
    pub(super) fn new() -> Self {
        Self((0u16..).zip(CATS).map(|(number, name)| (format!("<{name}>"), number)).collect())
    }

    /// Returns the number of a name, a new one where it is new.
    pub(super) fn number(&mut self, name: &str) -> Cat {
        let next = Cat::try_from(self.0.len()).unwrap_or(Cat::MAX);
        *self.0.entry(name.to_owned()).or_insert(next)
    }

    pub(super) fn known(&self, name: &str) -> Option<Cat> {
        self.0.get(name).copied()
    }
}

/// Returns the number of a fixed category.
pub(super) fn cat(name: &str) -> Cat {
    let place = CATS.iter().position(|known| *known == name);
    place.and_then(|place| Cat::try_from(place).ok()).unwrap_or(Cat::MAX)
}

/// One element after the optional ones have been decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) cat: Cat,
    /// The place among the arguments, for an element that is one.
    pub(super) argument: Option<u8>,
}

/// Expands one form into every sequence that it describes; new words are passed to `literal`.
pub(super) fn sequences(
    form: &str,
    cats: &mut Cats,
    literal: &mut dyn FnMut(&str, Cat),
) -> Result<Vec<Vec<Element>>> {
    let mut open: Vec<Vec<Element>> = vec![Vec::new()];
    let mut argument = 0u8;
    for part in form.split_whitespace() {
        let inner =
            part.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|rest| !rest.is_empty());
        let element = element(inner.unwrap_or(part), &mut argument, cats, literal)
            .ok_or_else(|| Error::invalid(format!("a pack: `{part}` in the form `{form}` means nothing")))?;
        let shorter = if inner.is_some() { open.clone() } else { Vec::new() };
        for sequence in &mut open {
            sequence.push(element);
        }
        open.extend(shorter);
    }
    open.retain(|sequence| !sequence.is_empty());
    Ok(open)
}

fn element(
    part: &str,
    argument: &mut u8,
    cats: &mut Cats,
    literal: &mut dyn FnMut(&str, Cat),
) -> Option<Element> {
    if let Some(name) = part.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        let (place, name) = match name.split_once(':') {
            Some((place, name)) => (place.parse::<u8>().ok()?.checked_sub(1)?, name),
            None => (*argument, name),
        };
        *argument += 1;
        return Some(Element { cat: cats.known(&format!("<{name}>"))?, argument: Some(place) });
    }
    if part.starts_with('{') && part.ends_with('}') {
        return Some(Element { cat: cats.known(part)?, argument: None });
    }
    let cat = cats.number(&format!("={part}"));
    for word in part.split('|').filter(|word| !word.is_empty()) {
        literal(word, cat);
    }
    if part == "|" {
        literal(part, cat);
    }
    Some(Element { cat, argument: None })
}
