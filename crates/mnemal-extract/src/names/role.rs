//! Roles of a name: titles, relatives, trades and animals before or after it.

use mnemal_core::EntityKind;

use crate::names::name_search::NameSearch;
use crate::names::run::Run;
use crate::names::token::{Gap, Shape, Token};
use crate::names::weights::{ROLE, Weights};
use crate::names::word_flags::WordFlags;

/// Evidence of an animal before a name: "our dog". Source: own choice; more than a list, a role and a cue together.
const PET: i32 = 14;

/// Titles, relatives and animals before (or, behind a comma, after) a name.
pub(crate) fn role(reading: &NameSearch<'_>, run: &Run, before: &mut Weights) {
    let Some(last) = run.words.start.checked_sub(1) else { return };
    let (Some(token), Some(word)) = (reading.token(run.words.start), reading.token(last)) else { return };
    let known = reading.known(last);
    let is_close =
        matches!(token.gap, Gap::Space | Gap::Open) || token.gap == Gap::Comma && follows_my(reading, last);
    if !is_close || word.is_possessive {
        return;
    }
    let is_title = known.has(WordFlags::TITLE)
        && (word.shape.is_capital() || run.listed.has(WordFlags::FIRST))
        && token.gap != Gap::Comma;
    if is_title {
        before.raise(EntityKind::Person, ROLE);
    }
    if word.lower == "the" && is_family(run, token) {
        before.raise(EntityKind::Person, 5);
    }
    let is_plain = token.shape.is_capital() && token.gap == Gap::Space && !run.is_phrase_of_things();
    if is_plain && is_worker(reading, last) {
        before.raise(EntityKind::Person, 6);
    }
    if known.has(WordFlags::ANIMAL) {
        before.raise(EntityKind::Animal, PET);
    } else if known.has(WordFlags::KIN) {
        before.raise(EntityKind::Person, ROLE);
    }
    named_pet(reading, last, before);
    naming(reading, run, before);
    if before.of(EntityKind::Animal) >= PET {
        before.quiet(EntityKind::Person);
    }
}

/// "the Okvists": a family, which no list knows.
fn is_family(run: &Run, token: &Token<'_>) -> bool {
    run.words.len() == 1
        && token.shape == Shape::Capital
        && token.key().len() > 4
        && token.key().ends_with('s')
        && !run.listed.has(WordFlags::NAMED.with(WordFlags::ORDINARY).with(WordFlags::NATIONALITY))
}

/// Words before "named him" among which an animal is searched. Source: own choice, a long sentence.
const PET_REACH: usize = 20;

/// "our terrier barks, so we named him Brusk".
fn named_pet(reading: &NameSearch<'_>, last: usize, before: &mut Weights) {
    let is_pronoun =
        reading.token(last).is_some_and(|word| matches!(word.lower.as_ref(), "him" | "her" | "it" | "them"));
    let is_verb = reading
        .before(last)
        .is_some_and(|verb| matches!(verb.lower.as_ref(), "named" | "called" | "call" | "name"));
    let mut near = last.saturating_sub(PET_REACH)..last;
    if is_pronoun && is_verb && near.any(|at| reading.known(at).has(WordFlags::ANIMAL)) {
        before.raise(EntityKind::Animal, PET);
    }
}

/// "a colleague called", "my dog is", "a cat by the name of": a role some words before the name.
fn naming(reading: &NameSearch<'_>, run: &Run, before: &mut Weights) {
    let (start, word) = (run.words.start, reading.before(run.words.start));
    let is_capital = reading.token(start).is_some_and(|token| token.shape.is_capital());
    let (reach, is_sure) = match word.map(|word| word.lower.as_ref()) {
        Some("named" | "called") => (4, true),
        Some("is" | "was" | "him" | "her" | "it") => (4, false),
        Some("of") if reading.before(start - 1).is_some_and(|name| name.lower == "name") => (6, true),
        _ => return,
    };
    for back in 2..=reach {
        let Some(at) = start.checked_sub(back) else { break };
        if reading.token(at + 1).is_some_and(|token| token.gap == Gap::Stop) {
            break;
        }
        let (known, is_named) = (reading.known(at), back == 2 || is_sure);
        if known.has(WordFlags::ANIMAL) && is_named {
            before.raise(EntityKind::Animal, PET);
        } else if known.has(WordFlags::KIN) && is_named && back <= 3 && is_capital {
            before.raise(EntityKind::Person, 7);
        }
    }
}

/// "our gardener", "my physicist": an agent noun by its ending, with a possessive.
fn is_worker(reading: &NameSearch<'_>, at: usize) -> bool {
    let owner = reading.before(at);
    let is_own =
        owner.is_some_and(|owner| matches!(owner.lower.as_ref(), "my" | "our" | "his" | "her" | "their"));
    is_own
        && reading.token(at).is_some_and(|noun| {
            let word = noun.lower.as_ref();
            let fits = WORKER_ENDINGS.iter().any(|end| word.ends_with(end));
            noun.gap == Gap::Space
                && noun.shape == Shape::Lower
                && word.len() > 5
                && fits
                && !THINGS.contains(&word)
        })
}

/// Endings of words for who does something. Source: English word formation.
const WORKER_ENDINGS: [&str; 9] = ["er", "or", "ist", "ian", "man", "woman", "mate", "ant", "tee"];

/// Things that end like workers. Source: own choice.
const THINGS: [&str; 16] = [
    "printer", "computer", "server", "scooter", "tracker", "router", "cooker", "mixer", "trailer", "camper",
    "folder", "order", "letter", "paper", "summer", "dinner",
];

/// "Rex is our dog", "Anna, my sister": a role right after a name.
pub(crate) fn described(reading: &NameSearch<'_>, run: &Run, found: &mut Weights) {
    let end = run.words.end;
    let Some(first) = reading.token(end) else { return };
    let (is_verb, is_comma) = (matches!(first.lower.as_ref(), "is" | "was"), first.gap == Gap::Comma);
    if !(is_verb && first.gap == Gap::Space || is_comma) {
        return;
    }
    let at = end + usize::from(is_verb);
    let is_own =
        reading.token(at).is_some_and(|token| matches!(token.lower.as_ref(), "my" | "our" | "his" | "her"));
    let is_some = reading.token(at).is_some_and(|token| matches!(token.lower.as_ref(), "a" | "an" | "the"));
    for noun in at + 1..=at + 3 {
        if reading.token(noun).is_none_or(|token| token.gap != Gap::Space || token.is_possessive) {
            break;
        }
        let known = reading.known(noun);
        if known.has(WordFlags::ANIMAL) && (is_own || is_some) {
            return found.raise(EntityKind::Animal, PET);
        }
        if known.has(WordFlags::KIN) && is_own {
            return found.raise(EntityKind::Person, ROLE);
        }
    }
}

/// "our dog, Rex": a comma means "called" after "my", "our" and "a".
fn follows_my(reading: &NameSearch<'_>, at: usize) -> bool {
    (1..=3).any(|back| {
        at.checked_sub(back).and_then(|at| reading.token(at)).is_some_and(|token| {
            matches!(
                token.lower.as_ref(),
                "my" | "our" | "his" | "her" | "their" | "a" | "an" | "two" | "three" | "four" | "the"
            )
        })
    })
}
