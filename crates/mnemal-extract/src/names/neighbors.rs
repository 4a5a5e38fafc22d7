//! Evidence for a name's kind from the neighboring words.

use mnemal_core::EntityKind;

use crate::names::name_search::NameSearch;
use crate::names::pack::Words;
use crate::names::role::{described, role};
use crate::names::run::Run;
use crate::names::token::{Gap, Shape};
use crate::names::weights::Weights;
use crate::names::word_flags::WordFlags;

pub(crate) fn weigh_neighbors(reading: &NameSearch<'_>, run: &Run, beside: &mut Weights) {
    let words = Words::english();
    let mut before = Weights::default();
    let mut after = Weights::default();
    let mut nothing = 0;
    let at = without_determiner(reading, run.words.start);
    let is_joined = |at: usize| {
        reading.token(at).is_some_and(|token| matches!(token.gap, Gap::Space | Gap::Hyphen | Gap::Open))
    };
    if is_joined(run.words.start) && is_joined(at) {
        let is_determined = at != run.words.start;
        words.before(&reading.tokens, at, |kind, weight| {
            // "the Andersons" are no one person.
            before.raise(kind, if is_determined && kind == EntityKind::Person { 0 } else { weight });
            nothing = if kind == EntityKind::Concept { nothing.max(weight) } else { nothing };
        });
        if is_determined {
            words.before(&reading.tokens, run.words.start, |kind, weight| before.raise(kind, weight));
        }
    }
    words.after(&reading.tokens, run.words.end, |kind, weight| after.raise(kind, weight));
    if is_object_of_place(reading, run) {
        after.quiet(EntityKind::Person);
    }
    if is_inhabitant(reading, run) {
        before.quiet(EntityKind::Product);
    }
    let is_at = reading.before(run.words.start);
    let is_at = is_at.is_some_and(|before| matches!(before.lower.as_ref(), "at" | "with" | "joined"));
    if is_at && run.listed.has(WordFlags::PLACE) && before.of(EntityKind::Organization) >= 8 {
        // "a student at Leiden" is at its university.
        before.add(EntityKind::Organization, 1);
    }
    if is_make(reading, run) {
        before.add(EntityKind::Product, 9);
    }
    if is_saint_at(reading, run) {
        before.add(EntityKind::Organization, 10);
    }
    role(reading, run, &mut before);
    described(reading, run, &mut before);
    beside.join(&before);
    beside.join(&after);
    if run.is_phrase && run.listed.has(WordFlags::NAMED) {
        beside.halve_unlisted(run.listed);
    }
    // "fluent in German" names a language, "fluent in SQL" a tool.
    beside.add_all(if run.listed.has(WordFlags::PRODUCT) { 0 } else { -nothing });
}

/// "a Lindvik tablet", "her old Lindvik": a thing of a listed maker.
fn is_make(reading: &NameSearch<'_>, run: &Run) -> bool {
    let is_maker = run.is_phrase
        && run.listed.has(WordFlags::ORGANIZATION)
        && !run.listed.has(WordFlags::PLACE.with(WordFlags::FIRST).with(WordFlags::WORK));
    let before = reading.before(run.words.start);
    let is_one = before.is_some_and(|before| {
        matches!(
            before.lower.as_ref(),
            "a" | "an" | "my" | "his" | "her" | "old" | "new" | "second-hand" | "used"
        )
    });
    let thing =
        reading.token(run.words.end).filter(|next| next.gap == Gap::Space && next.shape == Shape::Lower);
    let is_thing = thing.is_some_and(|next| {
        !mnemal_text::is_stop_word(mnemal_text::Language::English, &next.lower)
            && !NO_THINGS.contains(&next.lower.as_ref())
    });
    is_maker && !run.is_lower && is_one && is_thing
}

/// Words that make something else of a maker's name: "a Lindvik store". Source: own choice.
const NO_THINGS: [&str; 22] = [
    "store",
    "shop",
    "branch",
    "job",
    "interview",
    "employee",
    "girl",
    "guy",
    "customer",
    "flight",
    "office",
    "delivery",
    "voucher",
    "fan",
    "order",
    "cruise",
    "warehouse",
    "line",
    "top",
    "shirt",
    "game",
    "member",
];

/// "at St Camillus": a school, a church or a hospital.
fn is_saint_at(reading: &NameSearch<'_>, run: &Run) -> bool {
    let before = reading.before(run.words.start);
    let is_at = before.is_some_and(|before| matches!(before.lower.as_ref(), "at" | "for" | "choir"));
    run.words.len() > 1
        && is_at
        && reading.token(run.words.start).is_some_and(|token| matches!(token.key(), "st" | "saint"))
}

/// "a house in Brodmere is dear": the object of a preposition of place is no agent.
pub(crate) fn is_object_of_place(reading: &NameSearch<'_>, run: &Run) -> bool {
    let last = run.words.end.checked_sub(1).and_then(|last| reading.token(last));
    let is_joined = reading.token(run.words.start).is_some_and(|token| token.gap == Gap::Space);
    let before = reading.before(run.words.start);
    let is_place = before.is_some_and(|before| PLACE_PREPOSITIONS.contains(&before.lower.as_ref()));
    is_joined && is_place && last.is_some_and(|last| !last.is_possessive)
}

/// "she is a Bergener", "an ABC meeting": a member of a place or belief, or an abbreviation, and no name.
fn is_inhabitant(reading: &NameSearch<'_>, run: &Run) -> bool {
    let before = reading.before(run.words.start);
    let is_one = before.is_some_and(|before| matches!(before.lower.as_ref(), "a" | "an"));
    let ends = reading.token(run.words.start).is_some_and(|token| {
        token.shape == Shape::Shout
            || token.shape == Shape::Capital
                && ["er", "ian", "ese", "ist", "ite", "mason"].iter().any(|end| token.key().ends_with(end))
    });
    is_one && ends && run.words.len() == 1 && !run.listed.has(WordFlags::NAMED)
}

/// Words that usually precede a place, an organization or a tool, and rarely a person. Source: own choice.
const PLACE_PREPOSITIONS: [&str; 12] = [
    "in",
    "at",
    "near",
    "around",
    "outside",
    "across",
    "through",
    "towards",
    "via",
    "using",
    "into",
    "throughout",
];

/// The position after which cues are searched: "the", "our" and "my" are skipped.
fn without_determiner(reading: &NameSearch<'_>, at: usize) -> usize {
    let Some(before) =
        at.checked_sub(1).filter(|_| reading.token(at).is_some_and(|token| token.gap == Gap::Space))
    else {
        return at;
    };
    let is_determiner =
        reading.token(before).is_some_and(|token| matches!(token.lower.as_ref(), "the" | "our" | "a" | "an"));
    if is_determiner { before } else { at }
}
