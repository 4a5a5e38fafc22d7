//! Admission of claims from outside the rules (a model, a host), checked against the same gates.

use mnemal_core::{ExtractedFact, Object, Subject, Utterance};
use mnemal_text::sentences;

use crate::authorship::OwnWords;
use crate::claims::objects::key;
use crate::clause::AnalyzedSentence;
use crate::extractor::{is_code, not_eligible, overlaps};
use crate::language::{Pack, language};
use crate::names::{clean_name, mentions};
use crate::predicate;

/// Admits a claim from outside the rules if the words of its span plainly state it. Returns it with the whole sentence, the
/// normalized name, and the object key that a rule would have produced.
///
/// # Errors
/// The reason for a refusal: an untrusted event, or a sentence that asks, denies, wishes, reports, plays or quotes.
pub fn admit(utterance: &Utterance<'_>, claim: ExtractedFact) -> Result<ExtractedFact, &'static str> {
    let said = utterance.event.body().ok_or("erased")?;
    if let Some(why) = not_eligible(utterance.event, said) {
        return Err(why);
    }
    let own = OwnWords::of_event(said);
    let text = own.as_str();
    let (start, end) = (claim.span.start as usize, claim.span.end as usize);
    let sentence =
        sentences(text).into_iter().find(|one| one.range().start <= start && end <= one.range().end);
    let sentence = sentence.ok_or("copied words, or not within one sentence")?;
    let range = sentence.range();
    if utterance.event.echo.iter().any(|span| overlaps(&range, *span)) {
        return Err("memory that came back");
    }
    if is_code(text, &range) || text.get(start..end) != said.content.get(start..end) {
        return Err("copied words");
    }
    let code = language(text);
    let is_mixed = code != "en" || !text.is_ascii();
    let pack = Pack::of_sentence(sentence.of(text), code, is_mixed).ok_or("a language without gates")?;
    pack.rules().ok_or("a language without gates")?;
    let gates = AnalyzedSentence::new(sentence.of(text), pack.gates()).gates();
    if let Some(gate) = gates.names().next() {
        return Err(gate);
    }
    predicate::of(claim.predicate.as_str()).ok_or("an unknown predicate")?;
    let place = |at: usize| u32::try_from(at).map_err(|_| "too long");
    let named =
        mentions(&said.content, utterance.known).into_iter().find(|name| name.span == claim.object.span);
    let kind = named.map(|name| name.kind);
    Ok(ExtractedFact {
        subject: match claim.subject {
            Subject::Named(name) => Subject::Named(clean_name(&name).ok_or("no name")?),
            other => other,
        },
        object: Object { key: key(&claim.object.text, kind.is_some(), code), kind, ..claim.object },
        sentence: mnemal_core::Span { start: place(range.start)?, end: place(range.end)? },
        ..claim
    })
}

#[cfg(test)]
mod tests;
