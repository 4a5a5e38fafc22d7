//! Subjects of feedback: target, aspect, and the words that state the request.

use mnemal_text::{Analyzer, Language};

use super::kinds::{Aspect, Polarity};
use super::pack::Pack;
use super::pattern::Hit;
use super::token::Token;

/// The target of feedback that names none. Source: own choice; a bare rejection is about the previous answer.
pub(crate) const WHOLE_ANSWER: &str = "answer";
/// Bytes of a value. Source: own choice; longer values are cut at a word.
const LONGEST_VALUE: usize = 200;

/// The value of the target.
#[derive(Debug)]
pub(crate) struct StatedValue {
    pub(crate) value: Option<String>,
    pub(crate) alternative: Option<String>,
    pub(crate) avoid: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) polarity: Polarity,
}

/// Returns the name of the target closest to the match.
pub(crate) fn target(pack: &Pack, tokens: &[Token], hit: &Hit<usize>) -> String {
    let mut named = pack.targets.find(tokens, &pack.lexicon);
    named.sort_by_key(|target| (target.to <= hit.from, target.from.abs_diff(hit.from), target.tag));
    let name = named.first().and_then(|target| pack.target_names.get(target.tag));
    name.map_or_else(|| WHOLE_ANSWER.to_owned(), Clone::clone)
}

/// Returns the first aspect, in the order of the pack's kinds, that a word of the sentence names.
pub(crate) fn aspect(pack: &Pack, tokens: &[Token]) -> Aspect {
    let named = pack.aspects.find(tokens, &pack.lexicon);
    named.iter().map(|hit| hit.tag).min().unwrap_or(Aspect::Other)
}

/// Returns the request: the words from the mark of the pattern, or after the match, to the end of the clause; the forbidden
/// act, the alternative, and the reason, from anywhere in the sentence.
pub(crate) fn stated_value(pack: &Pack, text: &str, tokens: &[Token], hit: &Hit<usize>) -> StatedValue {
    let from = hit.value.unwrap_or(hit.from);
    let closes = pack.closes_value.find(tokens, &pack.lexicon);
    let instead = pack.instead.find(tokens, &pack.lexicon);
    let reasons = pack.reasons.find(tokens, &pack.lexicon);
    let alternative = instead.iter().rev().find_map(|hit| {
        // A reason that follows is none.
        let from = hit.value.filter(|from| reasons.iter().all(|reason| reason.from != *from))?;
        taken(pack, text, tokens, from, &closes)
    });
    let forbidden = forbidden(pack, tokens);
    let alternative = alternative.or_else(|| {
        let from = done_instead(text, tokens, forbidden?)?;
        taken(pack, text, tokens, from, &closes)
    });
    let reason = reasons.iter().find_map(|hit| {
        let from = hit.value?;
        words(text, tokens, from, end_of_value(text, tokens, from, &instead))
    });
    let negations = pack.negations.find(tokens, &pack.lexicon);
    let is_left = negations.iter().any(|negation| negation.from <= from && negation.from + 6 > hit.from);
    StatedValue {
        value: words(text, tokens, from, end_of_value(text, tokens, from, &closes)),
        alternative,
        avoid: forbidden
            .and_then(|from| words(text, tokens, from, end_of_value(text, tokens, from, &closes)))
            .or_else(|| displaced(pack, text, tokens, &closes)),
        reason,
        polarity: if is_left { Polarity::DoNot } else { Polarity::Do },
    }
}

/// Returns the start of the forbidden act: its verb; it extends to the end of the clause.
fn forbidden(pack: &Pack, tokens: &[Token]) -> Option<usize> {
    pack.avoided.find(tokens, &pack.lexicon).iter().find_map(|hit| hit.value)
}

/// Returns where a later clause begins with the verb of the act that is forbidden: "stop using tabs, use spaces".
fn done_instead(text: &str, tokens: &[Token], forbidden: usize) -> Option<usize> {
    let analyzer = Analyzer::new(Language::guess(text));
    let stem = |at: usize| {
        let word = text.get(tokens.get(at)?.span.clone())?;
        analyzer.terms(word).into_iter().next().map(|term| term.text)
    };
    let verb = stem(forbidden)?;
    let begins = |at: &usize| tokens.get(*at).is_some_and(|token| token.is_parted);
    (forbidden + 1..tokens.len()).filter(begins).find(|at| stem(*at).as_ref() == Some(&verb))
}

/// Returns the alternative from a position on, without a verb that only means to take it.
fn taken(pack: &Pack, text: &str, tokens: &[Token], from: usize, closes: &[Hit<()>]) -> Option<String> {
    let taking = pack.taking.find(tokens, &pack.lexicon);
    let end = end_of_value(text, tokens, from, closes);
    let start = taking.iter().find(|verb| verb.from == from && verb.to < end).map_or(from, |verb| verb.to);
    let taken = words(text, tokens, start, end)?;
    // A verb has a capital at the start of its sentence alone.
    let mut letters = taken.chars();
    match letters.next().filter(|_| start == 0) {
        Some(first) => Some(first.to_lowercase().chain(letters).collect()),
        None => Some(taken),
    }
}

/// Returns the replaced thing, with the verb of the wanted one.
fn displaced(pack: &Pack, text: &str, tokens: &[Token], closes: &[Hit<()>]) -> Option<String> {
    let displaced = pack.displaced.find(tokens, &pack.lexicon);
    let (at, from) = displaced.iter().find_map(|hit| Some((hit.from, hit.value?)))?;
    let verbs = pack.verbs.find(tokens, &pack.lexicon);
    let verb = verbs.iter().map(|verb| verb.from).filter(|verb| (at..from).contains(verb)).min()?;
    let verb = words(text, tokens, verb, verb + 1)?.to_lowercase();
    // What is written together with it before an apostrophe denies it: "n'utilise".
    let verb = verb.rsplit(['\'', '’']).next().unwrap_or(&verb);
    let thing = words(text, tokens, from, end_of_value(text, tokens, from, closes))?;
    Some(format!("{verb} {thing}"))
}

/// Returns where a value that starts at a place ends: at a sign, at words of others, or at a word that closes values.
fn end_of_value(text: &str, tokens: &[Token], from: usize, closes: &[Hit<()>]) -> usize {
    let is_parted = |at: usize| tokens.get(at).is_none_or(|token| token.is_parted);
    let is_closed = |at: &usize| {
        is_parted(*at)
            || closes.iter().any(|close| close.from == *at)
            || is_behind_foreign_words(text, tokens, *at)
    };
    (from + 1..=tokens.len()).find(is_closed).unwrap_or(tokens.len())
}

/// Whether words of others were left out before a word: several blanks stand there.
fn is_behind_foreign_words(text: &str, tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let between =
        before.zip(tokens.get(at)).and_then(|(before, token)| text.get(before.span.end..token.span.start));
    between.is_some_and(|between| between.contains("  "))
}

fn words(text: &str, tokens: &[Token], from: usize, to: usize) -> Option<String> {
    let tokens = tokens.get(from..to)?;
    let start = tokens.first()?.span.start;
    let fitting = tokens.iter().take_while(|token| token.span.end - start <= LONGEST_VALUE);
    text.get(start..fitting.last()?.span.end).map(str::to_owned)
}
