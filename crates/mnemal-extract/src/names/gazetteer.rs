//! Gazetteer match: names that the space knows, found again in a text.

use std::borrow::Cow;
use std::ops::Range;

use mnemal_core::{EntityKind, Gazetteer};

use crate::names::identifier::is_unspaced;
use crate::names::lexicon::Lexicon;
use crate::names::token::{Gap, Token, lower};
use crate::names::word_flags::WordFlags;

/// A known name at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GazetteerMatch {
    pub(crate) span: Range<usize>,
    pub(crate) kind: EntityKind,
}

/// Shortest name that matches in any case; a shorter name must match exactly. Source: RockBot's mention matching (RB-74).
const SHORT: usize = 3;
/// The longest name that is searched for in a script without spaces, in characters. Source: own choice.
const LONGEST_UNSPACED: usize = 16;

/// Returns the known names of a text by their place, whole words only, the longest first.
pub(crate) fn known_names(text: &str, tokens: &[Token<'_>], known: &Gazetteer) -> Vec<GazetteerMatch> {
    if known.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    among_tokens(text, tokens, known, &mut found);
    among_chunks(text, known, &mut found);
    without_spaces(text, known, &mut found);
    found.sort_by(|a, b| a.span.start.cmp(&b.span.start).then_with(|| b.span.end.cmp(&a.span.end)));
    let mut end = 0;
    found.retain(|name| {
        let is_free = name.span.start >= end;
        end = if is_free { name.span.end } else { end };
        is_free
    });
    found
}

fn among_tokens(text: &str, tokens: &[Token<'_>], known: &Gazetteer, found: &mut Vec<GazetteerMatch>) {
    let words: Vec<&str> = tokens.iter().map(|token| token.lower.as_ref()).collect();
    let mut at = 0;
    while let (Some(rest), Some(of_rest)) = (words.get(at..), tokens.get(at..)) {
        let Some(first) = of_rest.first() else { break };
        let hit = known.longest_at(rest).filter(|hit| {
            let names = of_rest.get(..hit.words).unwrap_or_default();
            let is_joined = names.iter().skip(1).all(|token| matches!(token.gap, Gap::Space | Gap::Hyphen));
            is_joined && is_meant(text, names, hit.name)
        });
        let Some(hit) = hit else {
            at += 1;
            continue;
        };
        let last = of_rest.get(hit.words - 1).unwrap_or(first);
        found.push(GazetteerMatch { span: first.span.start..last.span.end, kind: hit.kind });
        at += hit.words;
    }
}

/// A word of everyday language is a name only with its capital; a very short name only as it is written.
fn is_meant(text: &str, names: &[Token<'_>], name: &str) -> bool {
    let [only] = names else { return true };
    let written = text.get(only.span.clone()).unwrap_or_default();
    if name.chars().count() < SHORT && !name.chars().any(is_unspaced) {
        return written == name;
    }
    let is_capitalised = name.chars().next().is_some_and(char::is_uppercase);
    let is_ordinary = || Lexicon::built_in().of(only.key()).has(WordFlags::ORDINARY);
    only.shape.is_capital() || !is_capitalised || !is_ordinary()
}

/// Names with signs in them ("St. Pauli", "Yahoo!") are found by what white space separates.
fn among_chunks(text: &str, known: &Gazetteer, found: &mut Vec<GazetteerMatch>) {
    let mut spans: Vec<(usize, &str, bool)> = Vec::new();
    for chunk in text.split_whitespace() {
        let start = chunk.as_ptr() as usize - text.as_ptr() as usize;
        if chunk.bytes().all(|b| b.is_ascii_alphanumeric()) {
            spans.push((start, chunk, true));
            continue;
        }
        let opened = chunk.trim_start_matches(['(', '[', '"', '\'', '“', '‘', '«', '*', '`', '<']);
        let start = start + chunk.len() - opened.len();
        let closed =
            opened.trim_end_matches([',', ';', ':', '?', ')', ']', '"', '\'', '”', '’', '»', '*', '`', '>']);
        let bare = ["'s", "’s"].iter().find_map(|ending| closed.strip_suffix(ending)).unwrap_or(closed);
        if !bare.is_empty() {
            spans.push((start, bare, bare.len() == opened.len()));
        }
    }
    let words: Vec<Cow<'_, str>> = spans.iter().map(|(_, word, _)| lower(word)).collect();
    let has_sign = |word: &str| word.chars().any(|c| !c.is_alphanumeric() && !matches!(c, '\'' | '-'));
    for at in 0..words.len() {
        let Some(hit) = words.get(at..).and_then(|rest| known.longest_at(rest)) else { continue };
        let Some(names) = spans.get(at..at + hit.words) else { continue };
        let is_joined = names.iter().rev().skip(1).all(|(.., is_whole)| *is_whole);
        if let (Some((start, ..)), Some((last, word, _))) = (names.first(), names.last())
            && is_joined
            && has_sign(hit.name)
        {
            found.push(GazetteerMatch { span: *start..last + word.len(), kind: hit.kind });
        }
    }
}

/// In scripts without spaces every character may begin a name; Korean endings follow a name at once.
fn without_spaces(text: &str, known: &Gazetteer, found: &mut Vec<GazetteerMatch>) {
    if text.is_ascii() {
        return;
    }
    let mut skip = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c.is_ascii() {
            before = c;
            continue;
        }
        let is_hangul = ('\u{ac00}'..='\u{d7a3}').contains(&c);
        let begins = is_unspaced(c) || is_hangul && !before.is_alphanumeric();
        before = c;
        if !begins || at < skip {
            continue;
        }
        let Some(rest) = text.get(at..) else { break };
        if let Some((length, kind)) = longest_prefix(rest, known) {
            found.push(GazetteerMatch { span: at..at + length, kind });
            skip = at + length;
        }
    }
}

fn longest_prefix(rest: &str, known: &Gazetteer) -> Option<(usize, EntityKind)> {
    let ends: Vec<usize> = rest
        .char_indices()
        .take(LONGEST_UNSPACED)
        .take_while(|(_, c)| !c.is_whitespace())
        .map(|(at, c)| at + c.len_utf8())
        .collect();
    ends.iter().skip(1).rev().find_map(|&end| {
        let word = lower(rest.get(..end)?);
        let hit = known.longest_at(&[word.as_ref()])?;
        Some((end, hit.kind))
    })
}
