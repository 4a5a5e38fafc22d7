//! Classification of a name from lists, its own shape and the neighboring words.
//!
//! The numbers here and in `shape`, `beside` and `role` are halves of a point. Source of each: own choice, by hand on the
//! development halves of the gold sets (`cargo xtask bench extraction` measures them); only their order of size matters.

use mnemal_core::EntityKind;

use crate::names::name_search::{Capitalization, NameSearch};
use crate::names::neighbors::weigh_neighbors;
use crate::names::run::Run;
use crate::names::shape::{is_people, shape};
use crate::names::token::{Gap, Shape};
use crate::names::weights::{LISTED, Weights};
use crate::names::word_flags::WordFlags;

/// Evidence that a run is a name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evidence {
    /// From lists and shape.
    pub(crate) own: Weights,
    /// From the words beside it.
    pub(crate) beside: Weights,
}

impl Evidence {
    pub(crate) fn total(&self) -> Weights {
        let mut total = self.own;
        total.join(&self.beside);
        total
    }
}

/// Weighs a run.
pub(crate) fn weigh(reading: &NameSearch<'_>, run: &Run) -> Evidence {
    let mut evidence = Evidence { own: own(reading, run), beside: Weights::default() };
    weigh_neighbors(reading, run, &mut evidence.beside);
    evidence
}

fn own(reading: &NameSearch<'_>, run: &Run) -> Weights {
    let mut own = Weights::default();
    let (first, is_single) = (run.words.start, run.words.len() == 1);
    let is_ordinary = is_ordinary(reading, run);
    let is_listed = run.is_phrase && run.listed.has(WordFlags::NAMED) && !is_wrongly_written(reading, run);
    if is_listed {
        listed(reading, run, &mut own);
    }
    if is_single && reading.known(first).has(WordFlags::REJECT) {
        // "May" and "April" are months unless a role says otherwise.
        own.add_all(-7);
    }
    if run.keeps_ending && is_single && !(run.is_phrase && run.listed.has(WordFlags::ORGANIZATION)) {
        // "at Hobb's": a shop or a firm.
        own.add(EntityKind::Organization, 8);
    }
    if is_ordinary && !is_listed && is_single {
        own.add_all(if run.is_lower { -30 } else { -6 });
        return own;
    }
    if !is_listed && is_single && is_people(reading, run) {
        own.add_all(-6);
    }
    if run.is_lower {
        lower(reading, run, &mut own);
        return own;
    }
    shape(reading, run, &mut own);
    // A text of one word answers "which tool?".
    let is_answer = run.listed.has(WordFlags::PRODUCT)
        && !run.listed.has(WordFlags::FIRST.with(WordFlags::PLACE))
        && reading.tokens.len() == 1;
    let is_initial = reading.token(first).is_some_and(|token| token.is_initial);
    if is_ordinary && is_initial && is_single && !is_answer {
        own.add_all(-5);
    }
    own
}

/// Adds the evidence of the lists; an everyday word counts half, or two thirds if its capital is deliberate.
fn listed(reading: &NameSearch<'_>, run: &Run, own: &mut Weights) {
    let is_ordinary = is_ordinary(reading, run);
    let is_meant = is_ordinary && is_plain_capital(reading, run);
    for (_, kind, weight) in LISTED.into_iter().filter(|(known, ..)| run.listed.has(*known)) {
        let is_person = kind == EntityKind::Person && run.listed.has(WordFlags::PERSON_FIRST);
        let weight = match (is_ordinary, is_meant) {
            (false, _) => weight,
            (true, true) => weight * 2 / 3,
            (true, false) => weight / 2,
        };
        own.add(kind, weight + 2 * i32::from(is_person));
    }
    if run.words.len() > 1 {
        return;
    }
    if reading.token(run.words.start).is_some_and(|token| token.shape == Shape::Shout) {
        own.add(EntityKind::Person, -4);
    }
    if is_ordinary && run.listed.has(WordFlags::WORK) {
        own.add(EntityKind::Work, -3);
    }
}

/// Words whose capital is weak evidence: a month, a verb, a title, a brand of things. Source: own choice.
const AMBIGUOUS: [&str; 4] = ["may", "will", "queen", "diamond"];

/// A capital within a lower-case sentence, which is always deliberate.
fn is_plain_capital(reading: &NameSearch<'_>, run: &Run) -> bool {
    let at = run.words.start;
    let is_capital = reading.token(at).is_some_and(|token| {
        token.shape == Shape::Capital
            && !token.is_initial
            && token.gap == Gap::Space
            && token.key().len() > 2
            && !AMBIGUOUS.contains(&token.key())
    });
    let is_beside = |at: Option<usize>| {
        at.and_then(|at| reading.token(at))
            .is_some_and(|token| token.shape == Shape::Capital && !token.is_initial)
    };
    is_capital
        && !run.is_lower
        && (run.words.len() > 1
            || !reading.known(at).has(WordFlags::REJECT.with(WordFlags::NATIONALITY).with(WordFlags::TITLE)))
        && reading.case(at) == Capitalization::Usual
        && !is_beside(at.checked_sub(1))
        && !is_beside(Some(run.words.end))
}

/// "It" is no "IT".
fn is_wrongly_written(reading: &NameSearch<'_>, run: &Run) -> bool {
    let Some(token) = reading.token(run.words.start) else { return true };
    let is_short = token.key().len() <= 2 || run.listed.has(WordFlags::ORDINARY.with(WordFlags::FIRST));
    run.words.len() == 1 && run.listed.has(WordFlags::SHOUTED) && token.shape != Shape::Shout && is_short
}

pub(crate) fn is_ordinary(reading: &NameSearch<'_>, run: &Run) -> bool {
    run.words.clone().all(|at| {
        let known = reading.known(at);
        known.has(WordFlags::ORDINARY.with(WordFlags::NATIONALITY).with(WordFlags::PARTICLE))
            || reading.token(at).is_some_and(|token| token.shape == Shape::Number)
    })
}

/// Lower-case letters are evidence against a name; less so in a text without capitals.
fn lower(reading: &NameSearch<'_>, run: &Run, own: &mut Weights) {
    let is_usual = reading.case(run.words.start) != Capitalization::None;
    if is_ordinary(reading, run) {
        own.add_all(-8);
        let is_tool = run.listed.has(WordFlags::PRODUCT);
        own.add(EntityKind::Product, if is_tool { 1 + version(reading, run) } else { 0 });
        return;
    }
    if run.words.len() > 1 {
        own.add_all(if is_usual { -4 } else { 0 });
        return;
    }
    let rest = if is_usual { -7 } else { -6 };
    let is_long = reading.token(run.words.start).is_some_and(|token| token.key().len() >= 4);
    let is_sure = !is_usual && is_long && !run.listed.has(WordFlags::PRODUCT);
    own.add(EntityKind::Person, -8);
    own.add(EntityKind::Location, if is_sure && !run.listed.has(WordFlags::FIRST) { -5 } else { rest });
    own.add(EntityKind::Organization, if is_sure { -3 } else { rest });
    own.add(EntityKind::Work, rest);
    own.add(EntityKind::Event, rest);
    own.add(EntityKind::Animal, rest);
    let is_person = run.listed.has(WordFlags::FIRST.with(WordFlags::SURNAME).with(WordFlags::PLACE));
    own.add(EntityKind::Product, if is_person { rest } else { 0 });
}

/// Words for counted things after a number that is no version: "go 10 times". Source: own choice.
const COUNTED: [&str; 11] =
    ["times", "minutes", "hours", "days", "years", "pm", "am", "weeks", "months", "people", "of"];

/// "fedora 41", "go 1.22": a number after a lower-case tool is its version.
fn version(reading: &NameSearch<'_>, run: &Run) -> i32 {
    let Some(next) = reading.token(run.words.end) else { return 0 };
    let ends = reading
        .token(run.words.end + 1)
        .is_none_or(|after| after.gap != Gap::Space || !COUNTED.contains(&after.lower.as_ref()));
    let is_number = next.shape == Shape::Number && next.gap == Gap::Space && ends;
    match (is_number, next.key().contains('.')) {
        (true, true) => 8,
        (true, false) => 5,
        _ => 0,
    }
}
