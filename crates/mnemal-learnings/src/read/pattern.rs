//! Anti-patterns: corrections that qualify, and their parts.

use mnemal_core::AntiPattern;
use mnemal_extract::{Aspect, Feedback, FeedbackAct, OwnWords, Polarity, Turn, feedback};

use super::topic_key::WHOLE_ANSWER;

/// Returns the anti-pattern in feedback: a correction or a directive that names a tool or an action. Without an alternative
/// only a correction counts, and it is never active. Source: RB-24, an anti-pattern needs a known alternative.
pub(super) fn pattern(said: &Feedback) -> Option<AntiPattern> {
    let forbids = said.polarity == Polarity::DoNot;
    let is_order = said.act.is_correction() || said.act == FeedbackAct::Directive;
    let named = said.avoid.clone().filter(|_| is_order);
    let left = said.value.clone().filter(|_| forbids);
    let names_work = said.target != WHOLE_ANSWER || said.aspect == Aspect::Tool || named.is_some();
    let avoid = named.or(left).filter(|_| names_work)?;
    let wanted = said.value.as_ref().filter(|_| said.act == FeedbackAct::Repair && !forbids);
    let instead = said.alternative.as_ref().or(wanted).filter(|instead| !avoid.contains(instead.as_str()));
    // Without an alternative, words about length, tone and similar are an ordinary wish.
    let is_of_work = matches!(said.aspect, Aspect::Tool | Aspect::Other);
    let is_open = said.act.is_correction() && is_of_work && said.avoid.is_some();
    (instead.is_some() || is_open).then(|| AntiPattern {
        avoid: avoid.trim_start_matches("to ").to_owned(),
        reason: said.reason.clone(),
        instead: instead.cloned(),
    })
}

/// Returns the parts of an anti-pattern stored in these words.
pub(crate) fn stored_pattern(text: &str) -> Option<AntiPattern> {
    let said = || feedback(Turn { user: &OwnWords::whole(text), assistant: None, earlier: &[] });
    AntiPattern::read(text).or_else(|| said().iter().find_map(pattern))
}

/// Whether a text by itself instructs its reader, whoever wrote it.
pub(crate) fn orders(text: &str) -> bool {
    let said = feedback(Turn { user: &OwnWords::whole(text), assistant: None, earlier: &[] });
    said.iter().any(|said| said.act == FeedbackAct::Directive)
}
