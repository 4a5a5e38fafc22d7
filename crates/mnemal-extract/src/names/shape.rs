//! Evidence for a name's kind from capitals, digits and single words.

use mnemal_core::EntityKind;

use crate::names::kind::is_ordinary;
use crate::names::name_search::NameSearch;
use crate::names::neighbors::is_object_of_place;
use crate::names::run::Run;
use crate::names::token::{Gap, Shape};
use crate::names::weights::Weights;
use crate::names::word_flags::WordFlags;

pub(crate) fn shape(reading: &NameSearch<'_>, run: &Run, own: &mut Weights) {
    let last = run.words.end - 1;
    let known = reading.known(last);
    let is_long = run.words.len() > 1;
    if is_long && !run.is_phrase {
        for (head, kind) in [
            (WordFlags::ORGANIZATION_HEAD, EntityKind::Organization),
            (WordFlags::LOCATION_HEAD, EntityKind::Location),
            (WordFlags::EVENT_HEAD, EntityKind::Event),
        ] {
            // A small head joined the name for being one.
            let is_small = reading.token(last).is_some_and(|token| token.shape == Shape::Lower);
            let weight = if is_small { 16 } else { 10 };
            own.add(kind, if known.has(head) { weight } else { 0 });
        }
        members(reading, run, own);
    }
    if run.listed.has(WordFlags::NAMED) || is_ordinary(reading, run) {
        return;
    }
    let Some(token) = reading.token(run.words.start) else { return };
    let is_weak = token.is_initial && !is_long;
    match token.shape {
        _ if is_weak => own.add_all(-2),
        Shape::Number => own.add_all(-8),
        Shape::Mixed | Shape::Shout
            if is_code(&token.lower, token.shape, reading.text.get(token.span.clone())) =>
        {
            own.add_all(-8);
        }
        Shape::Mixed => {
            own.add(EntityKind::Product, 2);
            own.add(EntityKind::Location, -4);
        }
        Shape::Shout if !is_long => own.add_all(-3),
        _ => own.add(
            EntityKind::Person,
            match (is_full_name(reading, run), reading.known(run.words.start).has(WordFlags::FIRST)) {
                (true, true) if !is_object_of_place(reading, run) => 5,
                (true, false) if is_body(reading, run) => 0,
                _ => 3,
            },
        ),
    }
}

/// Two or three capitals after an article or "at", or joined by "&", name an organization rather than a person.
fn is_body(reading: &NameSearch<'_>, run: &Run) -> bool {
    let before = reading.before(run.words.start);
    before.is_some_and(|before| {
        matches!(
            before.lower.as_ref(),
            "the" | "at" | "in" | "on" | "from" | "for" | "our" | "a" | "an" | "ex"
        )
    })
}

/// "Hollin & Wade": a firm.
fn is_joined_by_and(reading: &NameSearch<'_>, run: &Run) -> bool {
    run.words.clone().skip(1).any(|at| reading.token(at).is_some_and(|token| token.gap == Gap::Joint))
}

/// "the Bergenians", "some Okvites": people of a place or of a belief.
pub(crate) fn is_people(reading: &NameSearch<'_>, run: &Run) -> bool {
    reading.token(run.words.start).is_some_and(|token| {
        token.key().len() > 6
            && !token.is_possessive
            && ["ians", "eans", "ites", "ists", "ese"].iter().any(|end| token.key().ends_with(end))
    })
}

/// Two or three words that no list knows, capitalized and without a particle, are a person's name most often.
fn is_full_name(reading: &NameSearch<'_>, run: &Run) -> bool {
    (2..=3).contains(&run.words.len())
        && run.words.clone().all(|at| {
            let is_plain =
                reading.token(at).is_some_and(|token| token.shape == Shape::Capital && token.key().len() > 1);
            is_plain
                && !reading
                    .known(at)
                    .has(WordFlags::ORDINARY.with(WordFlags::PARTICLE).with(WordFlags::PLACE))
        })
}

/// "useEffect" and "E0499" are words of machines.
fn is_code(lower: &str, shape: Shape, written: Option<&str>) -> bool {
    let starts_small = written.and_then(|word| word.chars().next()).is_some_and(char::is_lowercase);
    let has_digit = lower.bytes().any(|b| b.is_ascii_digit());
    starts_small || has_digit && shape == Shape::Shout
}

/// Evidence of the single words in a longer run.
fn members(reading: &NameSearch<'_>, run: &Run, own: &mut Weights) {
    let (first, last) = (reading.known(run.words.start), reading.known(run.words.end - 1));
    let is_surname = last.has(WordFlags::SURNAME) || !last.has(WordFlags::ORDINARY.with(WordFlags::NAMED));
    if is_joined_by_and(reading, run) {
        own.add(EntityKind::Organization, 8);
        return;
    }
    let is_headed =
        reading.ends_with_head(&run.words) && !(run.words.len() == 2 && last.has(WordFlags::SURNAME));
    if is_headed {
        own.add(EntityKind::Person, -6);
    }
    if first.has(WordFlags::FIRST) && run.words.len() <= 4 && !is_headed {
        own.add(
            EntityKind::Person,
            if first.has(WordFlags::ORDINARY) && !last.has(WordFlags::SURNAME) { 3 } else { 7 },
        );
        own.add(EntityKind::Person, 2 * i32::from(is_surname));
    } else if last.has(WordFlags::SURNAME) {
        own.add(EntityKind::Person, 2);
    }
    if first.has(WordFlags::LOCATION_FIRST) {
        own.add(EntityKind::Location, 5);
    }
    if run.keeps_ending {
        // "St Anselm's": a school, a church or a hospital.
        own.add(EntityKind::Organization, 10);
    }
    if first.has(WordFlags::ORGANIZATION_FIRST) {
        own.add(EntityKind::Organization, 8);
    }
    if last.has(WordFlags::PLACE) && !last.has(WordFlags::FIRST) {
        own.add(EntityKind::Location, 3);
    }
    if first.has(WordFlags::PLACE) {
        own.add(EntityKind::Location, 2);
        own.add(EntityKind::Organization, 2);
    }
    if first.has(WordFlags::PRODUCT) && !first.has(WordFlags::FIRST.with(WordFlags::PLACE)) {
        own.add(EntityKind::Product, 6);
    } else if first.has(WordFlags::ORGANIZATION) && !first.has(WordFlags::FIRST.with(WordFlags::PLACE)) {
        own.add(EntityKind::Product, 4);
        own.add(EntityKind::Organization, 3);
    }
    if reading
        .token(run.words.end - 1)
        .is_some_and(|token| token.shape == Shape::Number || token.key().bytes().any(|b| b.is_ascii_digit()))
    {
        own.add(EntityKind::Product, 5);
    }
    let is_of = run
        .words
        .clone()
        .any(|at| reading.token(at).is_some_and(|token| matches!(token.lower.as_ref(), "of" | "for")));
    if is_of {
        own.add(EntityKind::Organization, 5);
    }
}
