//! What a model found in a turn: claims by the places of their words, held against the gates of the rules.

use mnemal_core::{
    Act, Confidence, ExtractedFact, Extraction, Object, Pointed, RuleId, Span, Subject, Support, Utterance,
};
use mnemal_extract::admit;

/// How likely a claim of a model is faithful. Source: ADR 52; it stays a candidate until somebody else says the same.
const CONFIDENCE: f32 = 0.6;
/// What nobody is called because a model says so.
const NAME: &str = "name";
/// How words about somebody of the speaker's begin.
const MINE: &str = "my ";

/// Returns the places of a claim's words; `None` for one that an operation cannot carry.
pub(crate) fn pointed(text: &str, fact: &ExtractedFact) -> Option<Pointed> {
    if fact.predicate.as_str() == NAME {
        return None;
    }
    let subject = match &fact.subject {
        Subject::Speaker => None,
        Subject::Relation { role, .. } => Some(place_of(text, fact.span, &format!("{MINE}{role}"))?),
        Subject::Named(name) => Some(place_of(text, fact.span, name)?),
    };
    let (predicate, quote) = (fact.predicate.clone(), fact.span);
    let claim = Pointed { predicate, quote, value: fact.object.span, subject };
    claim.fits(text).then_some(claim)
}

/// Returns what the gates let through of claims that point at the words of a turn.
pub(crate) fn read(utterance: &Utterance<'_>, claims: &[Pointed]) -> Extraction {
    let text = utterance.event.kept().map_or("", |kept| kept.content.as_str());
    let facts = claims.iter().filter(|claim| claim.fits(text) && claim.predicate.as_str() != NAME);
    let facts = facts.filter_map(|claim| admit(utterance, said(text, claim)?).ok()).collect();
    Extraction { facts, ..Extraction::default() }
}

fn said(text: &str, claim: &Pointed) -> Option<ExtractedFact> {
    let words = whole(text, claim.value)?.trim();
    let subject = match claim.subject {
        None => Subject::Speaker,
        Some(span) => {
            let name = whole(text, span)?;
            match name.to_lowercase().strip_prefix(MINE) {
                Some(role) => Subject::Relation { role: role.to_owned(), name: None },
                None => Subject::Named(name.to_owned()),
            }
        }
    };
    Some(ExtractedFact {
        rule: RuleId::new(Support::model_rule()).ok()?,
        predicate: claim.predicate.clone(),
        subject,
        object: Object {
            text: words.to_owned(),
            key: words.to_lowercase(),
            kind: None,
            topic: None,
            span: claim.value,
        },
        act: Act::Assert,
        attributed_to: None,
        time: None,
        confidence: Confidence::new(CONFIDENCE),
        span: claim.quote,
        sentence: claim.quote,
    })
}

/// Returns the words of a place that cuts none in two; scripts without spaces have no such words.
fn whole(text: &str, span: Span) -> Option<&str> {
    let words = span.of(text)?;
    let is_cut = |near: Option<char>, own: Option<char>| {
        near.is_some_and(char::is_alphanumeric) && own.is_some_and(|own| own.is_ascii_alphanumeric())
    };
    let (before, behind) = (text.get(..span.start as usize)?, text.get(span.end as usize..)?);
    let begins = is_cut(before.chars().next_back(), words.chars().next());
    let ends = is_cut(behind.chars().next(), words.chars().next_back());
    (!begins && !ends).then_some(words)
}

/// Returns where words stand within a quote, without regard to the case of ASCII letters.
fn place_of(text: &str, quote: Span, words: &str) -> Option<Span> {
    let quoted = quote.of(text)?.to_ascii_lowercase();
    let wanted = words.to_ascii_lowercase();
    let places = quoted.match_indices(&wanted).filter_map(|(start, _)| {
        let start = quote.start.checked_add(u32::try_from(start).ok()?)?;
        Some(Span { start, end: start.checked_add(u32::try_from(wanted.len()).ok()?)? })
    });
    places.filter(|span| whole(text, *span).is_some()).min_by_key(|span| span.start)
}
