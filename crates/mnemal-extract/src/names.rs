//! Name recognition without a model: lists, capitals, and neighboring words.
//!
//! Precision comes first: a possible name without evidence for a kind is skipped.

mod clean;
mod code;
mod gazetteer;
mod homonym;
mod identifier;
mod kind;
mod kind_agreement;
mod lexicon;
mod name_search;
mod neighbors;
mod opener;
mod pack;
pub(crate) mod quantity;
mod role;
mod run;
mod shape;
mod small_head;
mod title;
mod token;
mod trim;
mod weights;
mod word_cache;
mod word_flags;

use std::ops::Range;

use mnemal_core::{EntityKind, Gazetteer, Mention, Span};

pub use clean::clean_name;
pub use lexicon::{NameList, name_lists};

use kind::weigh;
use lexicon::Lexicon;
use name_search::{Capitalization, NameSearch};
use opener::Openers;
use pack::Words;
use run::Run;
use token::{Gap, POSSESSIVES, Shape, Token};
use word_cache::WordEntry;
use word_flags::WordFlags;

/// Whether a word in lower case is listed as a program or a brand, and as no place.
pub(crate) fn is_only_product(word: &str) -> bool {
    let known = Lexicon::built_in().of(&lexicon::key(word));
    known.has(WordFlags::PRODUCT) && !known.has(WordFlags::PLACE)
}

/// Returns the names, identifiers and quantities of a text, by position; they do not overlap.
///
/// Identifiers, quantities and the names of `known` are found in every script; other names if a list, a capital and the
/// neighboring words agree, in English first. Names of `known` match as whole words, the longest first, in any case; an
/// everyday word ("Will") counts only with a capital, and a name of one or two letters only in its exact form. Every occurrence
/// is a mention. The cost is linear in the length of the text.
///
/// ```
/// use mnemal_core::{EntityKind, Gazetteer};
///
/// let found = mnemal_extract::mentions("My sister Anna moved to Lyon last May.", &Gazetteer::default());
/// let names: Vec<_> = found.iter().map(|mention| (mention.name.as_str(), mention.kind)).collect();
/// assert_eq!(names, [("Anna", EntityKind::Person), ("Lyon", EntityKind::Location)]);
/// ```
#[must_use]
pub fn mentions(text: &str, known: &Gazetteer) -> Vec<Mention> {
    let mut found: Vec<(Range<usize>, EntityKind)> = Vec::new();
    let tokens = token::tokens(text);
    let of_space = gazetteer::known_names(text, &tokens, known);
    found.extend(of_space.into_iter().map(|name| (name.span, name.kind)));
    found.extend(identifier::identifiers(text).into_iter().map(|range| (range, EntityKind::Identifier)));
    found.extend(quantity::quantities(text).into_iter().map(|range| (range, EntityKind::Quantity)));
    disjoint(&mut found);
    let mut reading = reading(text, tokens, &found);
    found.extend(titles(&mut reading).into_iter().map(|range| (range, EntityKind::Work)));
    for (range, kind) in unlisted_names(&reading) {
        found.push((range, kind));
    }
    disjoint(&mut found);
    found.into_iter().filter_map(|(range, kind)| mention(text, &range, kind)).collect()
}

/// Whether a word is an everyday word and no known given name: "tired", but not "grace".
pub(crate) fn is_everyday_word(word: &str) -> bool {
    let known = Lexicon::built_in().of(&mnemal_text::fold(word));
    known.has(WordFlags::ORDINARY) && !known.has(WordFlags::FIRST.with(WordFlags::SURNAME))
}

/// Sorts by position and drops nested ones; of two with the same start the first of the list stays.
fn disjoint(found: &mut Vec<(Range<usize>, EntityKind)>) {
    found.sort_by_key(|(range, _)| range.start);
    let mut free = 0;
    found.retain(|(range, _)| {
        let is_free = range.start >= free;
        free = if is_free { range.end } else { free };
        is_free
    });
}

fn mention(text: &str, range: &Range<usize>, kind: EntityKind) -> Option<Mention> {
    let written = text.get(range.clone())?;
    let mut name = clean_name(written)?;
    // Only a listed name keeps its ending here: "Trader Joe's".
    if kind != EntityKind::Identifier && ["'s", "’s"].iter().any(|ending| written.ends_with(ending)) {
        name.push_str("'s");
    }
    let span = Span { start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? };
    let is_another = homonym::is_another(text, range.start, kind);
    Some(Mention { name, kind, span, is_another, kind_word: None })
}

fn reading<'t>(
    text: &'t str,
    mut tokens: Vec<Token<'t>>,
    found: &[(Range<usize>, EntityKind)],
) -> NameSearch<'t> {
    let lexicon = Lexicon::built_in();
    for token in tokens.iter_mut().filter(|token| token.is_possessive && token.shape.is_capital()) {
        let whole = format!("{}'s", token.key());
        if lexicon.of(&whole).has(WordFlags::NAMED) {
            token.span.end += ending(text, token);
            token.is_possessive = false;
            token.lower = whole.into();
        }
    }
    let (mut known, mut begins) = (Vec::with_capacity(tokens.len()), Vec::with_capacity(tokens.len()));
    let openers = Openers::default();
    for token in &tokens {
        if openers.has(text, token) {
            let of_word = Lexicon::built_in().of(token.key());
            known.push(of_word.without(WordFlags::NAMED).with(WordFlags::REJECT));
            begins.push(false);
            continue;
        }
        let WordEntry { listed, classes } = WordEntry::of(token.key());
        known.push(if classes == WordFlags::NOTHING { plural(lexicon, token) } else { classes });
        begins.push(listed.has(WordFlags::BEGINS));
    }
    let mut is_taken = vec![false; tokens.len()];
    take(&tokens, found.iter().map(|(range, _)| range.clone()), &mut is_taken);
    take(&tokens, code::code(text).into_iter(), &mut is_taken);
    for (token, taken) in tokens.iter().zip(is_taken.iter_mut()) {
        *taken |= is_glued(text, token) || is_zone(text, token);
    }
    let has_case = cases(&tokens, &known, &is_taken);
    NameSearch { text, tokens, known, begins, is_taken, has_case }
}

/// "two Teslas": several things of a listed make.
fn plural(lexicon: &Lexicon, token: &Token<'_>) -> WordFlags {
    let single = token.key().strip_suffix('s').filter(|single| token.shape.is_capital() && single.len() > 3);
    let known = single.map_or(WordFlags::NOTHING, |single| lexicon.of(single));
    let is_made = known.has(WordFlags::PRODUCT.with(WordFlags::ORGANIZATION)) && !known.has(WordFlags::FIRST);
    if is_made { WordFlags::PRODUCT } else { WordFlags::NOTHING }
}

/// Marks the words that lie in one of the ranges, which come by position.
fn take(tokens: &[Token<'_>], ranges: impl Iterator<Item = Range<usize>>, is_taken: &mut [bool]) {
    let mut from = 0;
    for range in ranges {
        while tokens.get(from).is_some_and(|token| token.span.end <= range.start) {
            from += 1;
        }
        for (token, taken) in tokens.iter().zip(is_taken.iter_mut()).skip(from) {
            if token.span.start >= range.end {
                break;
            }
            *taken = true;
        }
    }
}

/// Prefixes of time zone names. Source: the areas of the tz database.
const AREAS: [&str; 9] =
    ["africa", "america", "antarctica", "asia", "atlantic", "australia", "europe", "indian", "pacific"];

/// A part of a time zone: "Asia/Tokyo".
fn is_zone(text: &str, token: &Token<'_>) -> bool {
    let before = text.get(..token.span.start).unwrap_or_default();
    let goes_on = || {
        let after = text.get(token.span.end..).and_then(|after| after.strip_prefix('/'));
        after.is_some_and(|after| after.starts_with(char::is_uppercase))
    };
    let opens = goes_on() && AREAS.contains(&token.lower.as_ref());
    opens
        || before
            .strip_suffix('/')
            .is_some_and(|before| AREAS.iter().any(|area| ends_with_word(before, area)))
}

/// Returns whether a text ends with a word of lower case that is written with a capital there.
fn ends_with_word(text: &str, word: &str) -> bool {
    let Some(start) = text.len().checked_sub(word.len()) else { return false };
    text.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(word) && end.starts_with(char::is_uppercase))
}

/// A word within "org.gradle.caching=true" or "print(x)".
fn is_glued(text: &str, token: &Token<'_>) -> bool {
    let before = text.get(..token.span.start).and_then(|before| before.chars().next_back());
    let mut after = text.get(token.span.end..).unwrap_or_default().chars();
    let (sign, next) = (after.next(), after.next());
    let is_inside =
        matches!(before, Some('.' | '=' | '$' | '#' | '@' | '_' | '\\')) && !token.shape.is_capital();
    is_inside
        || matches!(sign, Some('.' | '=' | '(' | '_')) && next.is_some_and(|c| c.is_lowercase() || c == ')')
}

/// Fewest words of a sentence whose own use of capitals counts. Source: own choice, as few words prove nothing.
const SHORTEST_SENTENCE: usize = 5;

/// Determines for each word how its sentence uses capitals.
fn cases(tokens: &[Token<'_>], known: &[WordFlags], is_taken: &[bool]) -> Vec<Capitalization> {
    let mut cases = Vec::with_capacity(tokens.len());
    let whole = case(tokens, known, is_taken);
    let mut start = 0;
    while start < tokens.len() {
        let next = tokens.iter().skip(start + 1).position(|token| token.gap == Gap::Stop);
        let end = next.map_or(tokens.len(), |offset| start + 1 + offset);
        let of = |list: Range<usize>| (tokens.get(list.clone()), known.get(list.clone()), is_taken.get(list));
        let case = match of(start..end) {
            (Some(tokens), Some(known), Some(taken)) if end - start >= SHORTEST_SENTENCE => {
                case(tokens, known, taken)
            }
            _ => whole,
        };
        // A text with capitals elsewhere has a sentence without one by chance.
        let case = if case == Capitalization::None && whole != Capitalization::None {
            Capitalization::Usual
        } else {
            case
        };
        cases.resize(end, case);
        start = end;
    }
    cases
}

/// Says how words use capitals. They say nothing where fewer than three small words in five are known (another language),
/// where more everyday words are shouted than small, or where four and more than the small ones have a capital (a heading).
/// Source of the shares: own choice.
fn case(tokens: &[Token<'_>], known: &[WordFlags], is_taken: &[bool]) -> Capitalization {
    let (mut small, mut small_known, mut shouted, mut capital, mut capital_ordinary) = (0, 0, 0, 0, 0);
    for ((token, known), taken) in tokens.iter().zip(known).zip(is_taken) {
        if *taken || token.lower.len() < 2 {
            continue;
        }
        let is_ordinary = known.has(WordFlags::ORDINARY);
        match token.shape {
            Shape::Lower => {
                small += 1;
                small_known += usize::from(known.has(
                    WordFlags::ORDINARY.with(WordFlags::NAMED).with(WordFlags::REJECT).with(WordFlags::KIN),
                ));
            }
            Shape::Shout => shouted += usize::from(is_ordinary && !known.has(WordFlags::REJECT)),
            Shape::Capital | Shape::Mixed => {
                capital += 1;
                capital_ordinary += usize::from(is_ordinary && !token.is_initial);
            }
            Shape::Number => {}
        }
    }
    let is_foreign = small >= 3 && small_known * 5 < small * 3;
    let is_shouted = shouted >= 2 && shouted > small;
    let is_title_case = capital_ordinary >= 4 && capital_ordinary > small;
    if is_foreign || is_shouted || is_title_case {
        Capitalization::Useless
    } else if capital == 0 && shouted == 0 && small > 0 {
        Capitalization::None
    } else {
        Capitalization::Usual
    }
}

/// Words for books, films, songs and the like, before a quoted title. Source: own choice.
const WORK_WORDS: [&str; 48] = [
    "read", "reading", "watch", "watched", "watching", "book", "books", "novel", "film", "movie", "song",
    "songs", "hymn", "poem", "play", "piece", "album", "track", "story", "series", "episode", "chapter",
    "lyrics", "poster", "opera", "musical", "essay", "article", "thesis", "paper", "title", "titled",
    "symphony", "sing", "singing", "sang", "anthem", "psalm", "carol", "ballad", "painting", "podcast",
    "show", "borrowed", "quote", "review", "author", "ending",
];

/// The longest title that needs no cue, in words. Source: own choice.
const LONGEST_TITLE: usize = 7;

/// How many words before a title a word of `WORK_WORDS` may be. Source: own choice, "a book I have just read called".
const WORK_REACH: usize = 6;

/// Every word of some length is capitalized, and there is no verb: "The Long Furrow", but not "I am late".
fn is_title_case(reading: &NameSearch<'_>, words: Range<usize>) -> bool {
    let tokens = reading.tokens.get(words).unwrap_or_default();
    let is_speech = tokens.iter().any(|token| {
        matches!(
            token.lower.as_ref(),
            "i" | "i'm" | "i've" | "you" | "we" | "she" | "he" | "they" | "my" | "is" | "are"
        )
    });
    tokens.len() <= LONGEST_TITLE
        && !is_speech
        && tokens.iter().all(|token| token.shape != Shape::Lower || token.lower.len() <= 4)
}

/// Returns the quotations after "reading", "the film" and the like, and consumes their words.
fn titles(reading: &mut NameSearch<'_>) -> Vec<Range<usize>> {
    let mut titles = Vec::new();
    for range in title::quoted(reading.text) {
        let inside = |token: &Token<'_>| range.start <= token.span.start && token.span.end <= range.end;
        let first = reading.tokens.partition_point(|token| token.span.start < range.start);
        let end = first + reading.tokens.iter().skip(first).take_while(|token| inside(token)).count();
        let is_capital = reading
            .token(first)
            .is_some_and(|token| token.shape.is_capital() || token.shape == Shape::Number);
        let is_free = reading.is_taken.get(first..end).is_some_and(|taken| taken.iter().all(|taken| !taken));
        if first == end || !is_capital || !is_free {
            continue;
        }
        let mut work = 0;
        Words::english().before(&reading.tokens, first, |kind, weight| {
            work = if kind == EntityKind::Work { work.max(weight) } else { work };
        });
        let is_near = (first.saturating_sub(WORK_REACH)..first)
            .any(|at| reading.token(at).is_some_and(|token| WORK_WORDS.contains(&token.lower.as_ref())));
        if is_near && is_title_case(reading, first..end) {
            work = work.max(1);
        }
        if work > 0 {
            reading.is_taken.iter_mut().take(end).skip(first).for_each(|taken| *taken = true);
            titles.push(range);
        }
    }
    titles
}

/// Returns the names that no list of the space knows, by position.
fn unlisted_names(reading: &NameSearch<'_>) -> Vec<(Range<usize>, EntityKind)> {
    let runs: Vec<Run> = reading.runs().into_iter().filter(|run| may_be(reading, run)).collect();
    let evidence: Vec<_> = runs.iter().map(|run| weigh(reading, run)).collect();
    let kinds = kind_agreement::settle(reading, &runs, &evidence);
    let spans = runs.iter().zip(kinds).filter_map(|(run, kind)| {
        let first = reading.token(run.words.start)?;
        let last = reading.token(run.words.end.checked_sub(1)?)?;
        let ending = if run.keeps_ending { ending(reading.text, last) } else { 0 };
        Some((first.span.start..last.span.end + ending, kind?))
    });
    spans.collect()
}

/// Returns the length of the possessive ending after a word.
fn ending(text: &str, token: &Token<'_>) -> usize {
    let rest = text.get(token.span.end..).unwrap_or_default();
    POSSESSIVES.iter().find(|ending| rest.starts_with(**ending)).map_or(0, |ending| ending.len())
}

/// Where capitals are no evidence, only listed names count.
fn may_be(reading: &NameSearch<'_>, run: &Run) -> bool {
    let at = run.words.start;
    let is_useless = reading.case(at) == Capitalization::Useless;
    let is_listed = run.is_phrase && run.listed.has(WordFlags::NAMED) && !run.listed.has(WordFlags::ORDINARY);
    !is_useless || is_listed && !run.is_lower && reading.token(at).is_some_and(|token| token.lower.len() > 3)
}
/// Whether a capitalized word is a first name and not in any other dictionary.
pub(crate) fn is_first_name(word: &str) -> bool {
    let known = Lexicon::built_in().of(&lexicon::key(word));
    word.starts_with(char::is_uppercase) && known.has(WordFlags::FIRST) && !known.has(WordFlags::ORDINARY)
}
