//! Confidence score of a claim: the rule's prior plus adjustments.

use std::ops::Range;

use mnemal_core::{Act, Confidence};

use crate::claims::hints::Hints;
use crate::claims::objects::Cut;
use crate::claims::rule::Rule;
use crate::claims::rules::Rules;
use crate::claims::subjects::SubjectForm;
use crate::clause::AnalyzedSentence;

/// Explicit wording. Source: start value of the calibration, own choice.
const EXPLICIT: f32 = 0.10;
/// The object holds a name. Source: start value of the calibration, own choice.
const NAMED: f32 = 0.10;
/// The clause holds a date. Source: start value of the calibration, own choice.
const DATED: f32 = 0.08;
/// The object has two content words. Source: start value of the calibration, own choice.
const TELLING: f32 = 0.07;
/// The object holds a vague adjective. Source: own choice, half of the penalty for an object that is one vague word.
const BLAND: f32 = -0.10;
/// A hedge. Source: start value of the calibration, own choice.
const HEDGED: f32 = -0.15;
/// A resolved pronoun. Source: start value of the calibration, own choice.
const PRONOUN: f32 = -0.10;
/// "We". Source: own choice; small, because in chats with an assistant "we" usually includes the speaker.
const GROUP: f32 = -0.03;
/// An implicit subject. Source: own choice.
const UNSAID: f32 = -0.05;
/// The object was cut for its length. Source: start value of the calibration, own choice.
const LONG: f32 = -0.10;
/// A plan without date and name. Source: start value of the calibration, own choice.
const VAGUE_PLAN: f32 = -0.15;
/// A long clause. Source: start value of the calibration, own choice.
const LONG_CLAUSE: f32 = -0.05;
/// Fewest words of a long clause. Source: own choice.
const MANY_WORDS: usize = 25;

/// The properties to be weighed.
pub(crate) struct ClaimFeatures<'c> {
    pub(crate) rule: &'c Rule,
    pub(crate) how: SubjectForm,
    pub(crate) act: Act,
    pub(crate) cut: &'c Cut,
    pub(crate) words: &'c Range<usize>,
    pub(crate) bytes: &'c Range<usize>,
    pub(crate) is_dated: bool,
}

/// Returns the confidence of a claim.
pub(crate) fn confidence(
    reading: &AnalyzedSentence<'_>,
    rules: &Rules,
    hints: &Hints<'_>,
    case: &ClaimFeatures<'_>,
) -> Confidence {
    let has_capital = reading.words.get(case.cut.words.clone()).is_some_and(|words| {
        words.iter().any(|word| word.span.start > 0 && word.is_capitalised(reading.text) && word.lower != "i")
    });
    let is_named = has_capital || hints.has_name(case.bytes);
    let is_hedged = rules.hedges.stand_in(reading.words.get(case.words.clone()).unwrap_or_default());
    let how = match case.how {
        SubjectForm::Pronoun => PRONOUN,
        SubjectForm::Group => GROUP,
        SubjectForm::Unsaid => UNSAID,
        SubjectForm::Speaker | SubjectForm::Relation | SubjectForm::Named => 0.0,
    };
    let points = [
        (case.rule.is_explicit, EXPLICIT),
        (is_named, NAMED),
        (case.is_dated, DATED),
        (case.cut.content >= 2, TELLING),
        (is_hedged, HEDGED),
        (case.cut.is_bland && !is_named, BLAND),
        (case.cut.is_long, LONG),
        (case.act == Act::Plan && !is_named && !case.is_dated, VAGUE_PLAN),
        (case.words.len() > MANY_WORDS, LONG_CLAUSE),
    ];
    let sum: f32 = points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum();
    Confidence::new(case.rule.prior + how + sum)
}
