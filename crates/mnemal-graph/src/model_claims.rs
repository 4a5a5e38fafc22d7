//! Model-extracted claims of a turn, given as positions of words and checked by the same gates as rule claims.

use mnemal_core::{ClaimSpans, ExtractedFact, Extraction, Subject, Utterance};
use mnemal_extract::admit;

/// Predicate that a model may not assert.
const NAME: &str = "name";
/// Prefix of phrases for the speaker's own relations.
const MINE: &str = "my ";

/// Returns the positions of a claim's words; `None` if an operation cannot carry them.
pub(crate) fn claim_spans(text: &str, fact: &ExtractedFact) -> Option<ClaimSpans> {
    if fact.predicate.as_str() == NAME {
        return None;
    }
    let subject = match &fact.subject {
        Subject::Speaker => None,
        Subject::Relation { role, .. } => Some(fact.span.find(text, &format!("{MINE}{role}"))?),
        Subject::Named(name) => Some(fact.span.find(text, name)?),
    };
    let (predicate, quote) = (fact.predicate.clone(), fact.span);
    let claim = ClaimSpans { predicate, quote, value: fact.object.span, subject };
    claim.fits(text).then_some(claim)
}

/// Returns the claims over the words of a turn that pass the gates.
pub(crate) fn read(utterance: &Utterance<'_>, claims: &[ClaimSpans]) -> Extraction {
    let text = utterance.event.body().map_or("", |kept| kept.content.as_str());
    let facts = claims.iter().filter(|claim| claim.fits(text) && claim.predicate.as_str() != NAME);
    let facts = facts.filter_map(|claim| admit(utterance, extracted_fact(text, claim)?).ok()).collect();
    Extraction { facts, ..Extraction::default() }
}

fn extracted_fact(text: &str, claim: &ClaimSpans) -> Option<ExtractedFact> {
    let words = claim.value.words_of(text)?.trim();
    let subject = match claim.subject {
        None => Subject::Speaker,
        Some(span) => {
            let name = span.words_of(text)?;
            match name.to_lowercase().strip_prefix(MINE) {
                Some(role) => Subject::Relation { role: role.to_owned(), name: None },
                None => Subject::Named(name.to_owned()),
            }
        }
    };
    Some(ExtractedFact::of_model(claim.predicate.clone(), subject, (words, claim.value), claim.quote))
}
